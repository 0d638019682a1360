"""One look at a step, which operators ran and on which device; the settings that can be tried (settings.json), with whether each can
matter for what ran; and a copy of the step under settings."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from course.core.i18n import Text, both, t
from course.flags import SWITCHES, using
from course.timing import TimingError

Step = Callable[[], Any]
BACKWARD = ["*backward*"]
BLOCK_S, SHORT_S = 0.01, 0.05
"""Shortest block of calls that is timed; and up to which length of a call cold caches would show in it."""


@dataclass
class Look:
    """What ran in a step. operators: names without their overload, each once. images: a tensor of four dimensions was convolved.

    full: no float16 or bfloat16 took part. tf32: of a GPU that has TF32. forward: a graph for a backward was recorded, whether or not the
    result still holds it, and no backward ran.
    """

    device: str = "cpu"
    operators: list[str] = field(default_factory=list)
    images: bool = False
    full: bool = True
    tf32: bool = False
    forward: bool = False

    def ran(self, patterns: Sequence[str]) -> bool:
        """Whether an operator ran whose name fits one of the patterns."""
        return any(fnmatch(name, pattern) for pattern in patterns for name in self.operators)


class LightMode(TorchDispatchMode):
    """A dispatch mode for which torch need not import its compiler."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class _Watch(LightMode):
    def __init__(self, look: Look) -> None:
        super().__init__()
        self.look = look

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with self:  # in inference mode a linear comes as a whole: its parts say what is read
            result = function.decompose(*args, **(kwargs or {}))
        if result is not NotImplemented:
            return result
        result = function(*args, **(kwargs or {}))
        name, look = function.overloadpacket.__name__, self.look
        if name not in look.operators:
            look.operators.append(name)
        look.forward = look.forward or torch.is_grad_enabled() and any(one.requires_grad for one in tensors_of(args))
        for value in tensors_of((args, result)):
            look.images = look.images or ("convolution" in name and value.dim() == 4)
            look.full = look.full and value.dtype not in (torch.float16, torch.bfloat16)
            look.device = look.device if value.device.type == "cpu" else value.device.type
        return result


def look_at(step: Callable[[], Any]) -> Look:
    """Run the step once and tell what ran."""
    look = Look()
    with _Watch(look):
        result = step()
    recorded = look.forward or any(value.requires_grad for value in tensors_of(result))
    look.forward = recorded and not look.ran(BACKWARD)
    look.tf32 = look.full and look.device == "cuda" and torch.cuda.get_device_capability() >= (8, 0)
    return look


def tensors_of(value: Any) -> list[torch.Tensor]:
    """The tensors in a result: in tuples, lists, dicts and dataclasses of them, in order."""
    held = vars(value) if hasattr(value, "__dataclass_fields__") and not isinstance(value, dict) else value
    return [one for one in tree_leaves(held) if isinstance(one, torch.Tensor)]


@dataclass(frozen=True)
class Setting:
    """One thing to try. id: its name in `only` and in rows. lines: to paste. flags: names of `course.flags` -> value.

    way: what else is done, see `under`. family: of one family only one can be taken. ran: an operator that fits
    one of these patterns must have run; condition: and this property of the `Look` must hold. kept: a process keeps what it once
    chose, or torch cannot take it back, so it needs new processes. lossy: fewer digits are the point of it.
    """

    id: str
    name: Text
    lines: Sequence[str | Text]
    devices: Sequence[str] = ("cpu", "cuda", "mps")
    flags: Mapping[str, Any] = field(default_factory=dict)
    way: str = ""
    family: str = ""
    ran: Sequence[str] = ()
    condition: str = ""
    kept: bool = False
    lossy: bool = False

    @property
    def words(self) -> set[str]:
        """What `only` may call it: its id, its family, the switches it writes."""
        return {self.id, self.family or self.id, *self.flags}

    def why_not(self, look: Look) -> Text:
        """Why it cannot matter for what ran, in words; empty where it can."""
        now = {name: SWITCHES[name].read() for name in self.flags}
        if look.device not in self.devices:
            return both("for another device", "属于其他设备")
        if now and now == self.flags:
            return both("already set", "已经是这样")
        matters = (not self.condition or getattr(look, self.condition)) and (not self.ran or look.ran(self.ran))
        return "" if matters else both("seems not to matter here", "这一步看来用不上")


def all_settings() -> list[Setting]:
    """Everything that can be tried on this machine."""
    listed = [Setting(**row) for row in json.loads(Path(__file__).with_name("settings.json").read_text("utf-8"))]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for count in sorted({1, max(1, cores // 2), cores}):
        name, line = both(f"{count} thread{'s' * (count > 1)}", f"{count} 个线程"), f"torch.set_num_threads({count})"
        flags = {"torch.num_threads": count}
        listed.append(Setting(f"threads-{count}", name, [line], ["cpu"], flags, family="threads"))
    return listed


def chosen(only: str | Sequence[str] | None) -> list[Setting]:
    """The settings that are asked for, by default all but torch.compile. Raises TimingError for a word of `only` that names none."""
    known = all_settings()
    if only is None:
        return [one for one in known if one.way != "compile"]
    wanted = {str(word) for word in (only if isinstance(only, (list, tuple, set)) else [only])} or {""}
    words = set().union(*(one.words for one in known))
    listed = ", ".join(sorted({one.family or one.id for one in known}))
    for word in sorted(wanted - words):
        english = f'"{word}" cannot be tried. only= takes a switch, such as "mkldnn.enabled", or {listed}.'
        raise TimingError(t(english, f"“{word}”不能试。only= 可以写开关名（如 mkldnn.enabled），或 {listed}。"))
    return [one for one in known if one.words & wanted]


# --- the step under settings --------------------------------------------------------------------------------------


@contextlib.contextmanager
def under(
    step: Step, settings: Iterable[Setting], tensors: Sequence[torch.Tensor], device: str
) -> Iterator[Callable[[], Any]]:
    """Gives what to call for the step under these settings, in the block. tensors: of the step; those that a setting moves to another
    layout or type stay so, because the step is a copy.
    """
    settings, run = list(settings), step
    floats = [one for one in tensors if one.is_leaf and one.layout is torch.strided and one.is_floating_point()]
    with using({name: value for one in settings for name, value in one.flags.items()}):
        for way in (one.way for one in settings):
            if way == "compile":
                run = torch.compile(run, mode="reduce-overhead" if device == "cuda" else None)
            elif way == "inference_mode":
                run = torch.inference_mode()(run)
            elif way in ("bfloat16", "float16"):
                run = torch.autocast(device, getattr(torch, way))(run)
            elif way == "float64":
                for one in floats:
                    one.data = one.data.double()
            elif way == "channels_last":
                for one in (one for one in floats if one.dim() == 4):
                    one.data = one.data.contiguous(memory_format=torch.channels_last)
        yield run
