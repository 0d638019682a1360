"""The submodules of torch.backends in the order of the map: what each is about, and where it computes.

Sources: the modules under torch/backends/, https://docs.pytorch.org/docs/stable/backends.html
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from course.core.i18n import Text, both

PLACES: dict[str, Text] = {
    "all": both("everywhere", "哪里都管"),
    "gpu": both("GPU of NVIDIA or AMD", "NVIDIA 或 AMD 的 GPU"),
    "apple": both("Apple GPU", "苹果 GPU"),
    "cpu": both("CPU", "CPU"),
}
"""Where a submodule computes."""


@dataclass(frozen=True)
class Group:
    """One submodule. place: a key of PLACES. text: what it is about, in one sentence."""

    place: str
    text: Text


GROUPS: dict[str, Group] = {
    row["id"]: Group(row["place"], row["text"])
    for row in json.loads(Path(__file__).with_name("groups.json").read_text("utf-8"))
}
"""Every group of the table of switches, in the order of the map."""


def module_of(group: str) -> str:
    """The name a learner types: `torch.backends.cudnn`; `torch.backends` for the root, `torch` for what stands beside it."""
    return {"root": "torch.backends", "torch": "torch"}.get(group, f"torch.backends.{group}")
