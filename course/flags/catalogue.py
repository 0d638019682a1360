"""All switches and queries by name, the submodules they belong to, and what a mistyped name probably meant.

What they are stands in switches.json and groups.json: plain data, and JSON because a machine that only records has no YAML. Sources of
the groups: the modules under torch/backends/, https://docs.pytorch.org/docs/stable/backends.html
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from course.core.i18n import Text, both
from course.flags.access import GET, SET
from course.flags.switch import Switch, wrong

WHOLE = 0.2
"""What the likeness of whole names counts beside that of their last parts."""


def _row(given: dict[str, Any]) -> Switch:
    name = given["name"]
    return Switch(**{**given, "also": tuple(given.get("also", ()))}, get=GET.get(name), set=SET.get(name))


TABLE: dict[str, Switch] = {
    row["name"]: _row(row) for row in json.loads(Path(__file__).with_name("switches.json").read_text(encoding="utf-8"))
}
"""Everything there is: also environment variables, and what shows in torch.backends but is for torch alone."""

SWITCHES: dict[str, Switch] = {name: one for name, one in TABLE.items() if one.kind not in ("env", "internal")}

ALIASES = {other: one.name for one in SWITCHES.values() for other in one.also}

# Names that many people expect and that do not exist.
EXPECTED = {
    "nnpack.enabled": "nnpack.set_flags",
    "mha.fastpath_enabled": "mha.set_fastpath_enabled",
    "python_native.enabled": "python_native.triton.enabled",
    "onednn.enabled": "mkldnn.enabled",
    "cuda.allow_tf32": "cuda.matmul.allow_tf32",
    "cuda.fp32_precision": "cudnn.fp32_precision",
    "cudnn.matmul.fp32_precision": "cuda.matmul.fp32_precision",
    "cublas.allow_tf32": "cuda.matmul.allow_tf32",
    "cuda.enabled": "cudnn.enabled",
    "cuda.benchmark": "cudnn.benchmark",
    "cuda.deterministic": "cudnn.deterministic",
    "mkldnn.benchmark": "cudnn.benchmark",
}


def plain_name(name: str) -> str:
    """`torch.backends.cudnn.version()` and `backends.cudnn.version` are both `cudnn.version`."""
    name = name.strip().removesuffix("()")
    for prefix in ("torch.backends.", "backends."):
        name = name.removeprefix(prefix)
    return ALIASES.get(name, name)


def closest(name: str, changeable: bool = False) -> str | None:
    """The switch or query that `name` probably meant, or None: its last part is alike, then the whole of it. changeable: switches only."""
    name = plain_name(name)
    if name in EXPECTED:
        return EXPECTED[name]
    group, _, last = name.rpartition(".")
    scores = {}
    for known, switch in SWITCHES.items():
        beside, _, end = known.rpartition(".")
        near, elsewhere = _alike(last, end), group.split(".")[0] != beside.split(".")[0]
        if near >= (0.7 if elsewhere else 0.55) and (switch.changeable or not changeable):
            scores[known] = near + WHOLE * _alike(name, known)
    if name.startswith("mps."):  # queries alone; nothing of another group is meant
        scores = {known: score for known, score in scores.items() if known.startswith("mps.") and score > 0.95}
    return max(scores, key=scores.__getitem__, default=None)


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()


def find(name: str) -> Switch:
    """The switch or query called `name`. Raises FlagError with what was probably meant."""
    if not isinstance(name, str):
        raise wrong(
            f'A switch is named by a string such as "cudnn.benchmark", not by {type(name).__name__}.',
            f'开关要用字符串指定，例如 "cudnn.benchmark"，而不是 {type(name).__name__}。',
        )
    known = SWITCHES.get(plain_name(name))
    if known is not None:
        return known
    meant = closest(name)
    if meant:
        raise wrong(
            f'There is no "{name}" in torch.backends. Did you mean "{meant}"?',
            f'torch.backends 里没有 "{name}"。是不是想写 "{meant}"？',
        )
    raise wrong(
        f'There is no "{name}" in torch.backends. `course.flags.SWITCHES` lists every name.',
        f'torch.backends 里没有 "{name}"。所有名字都列在 `course.flags.SWITCHES` 里。',
    )


# --- the submodules, in the order of the map ------------------------------------------------------------------

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
