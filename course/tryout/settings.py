"""The settings that can be tried (settings.json), and whether each can matter for what ran in a step."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course.core.i18n import Text, both, t
from course.core.suggest import did_you_mean
from course.flags import ABSENT, SWITCHES
from course.timing import TimingError
from course.tryout.look import Look

OTHER_DEVICE = both("for another device", "属于其他设备")


@dataclass(frozen=True)
class Setting:
    """One thing to try. id: its name in `only` and in rows. lines: to paste. flags: names of `course.flags` -> value.

    way: what else is done, see `course.tryout.step`. family: of one family only one can be taken. ran: an operator that fits
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
        """What `only` may call it: its id, its name, its family, the switches it writes."""
        names = self.name.values() if isinstance(self.name, Mapping) else [self.name]
        return {self.id, *names, self.family or self.id, *self.flags}

    def why_not(self, look: Look) -> Text:
        """Why it cannot matter for what ran, in words; empty where it can."""
        now = {name: SWITCHES[name].read() for name in self.flags}
        if look.device not in self.devices:
            return OTHER_DEVICE
        if ABSENT in now.values():
            return both("not in this torch", "当前 torch 没有")
        if now and now == self.flags:
            return both("already set", "已经是这样")
        if self.condition == "forward" and not look.forward:
            return (
                both("the step runs a backward", "这一步要做反向")
                if look.backward
                else both("the step records no gradients anyway", "这一步本来就不记录梯度")
            )
        if not look.operators:
            return both("no operator of torch ran where it can be seen", "没有看到 torch 的算子运行")
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
    """The settings that are asked for, by default all. Raises TimingError for a word of `only` that names none."""
    known = all_settings()
    if only is None:
        return known
    wanted = {str(word) for word in (only if isinstance(only, (list, tuple, set)) else [only])} or {""}
    words = set().union(*(one.words for one in known))
    listed = ", ".join(sorted({one.family or one.id for one in known}))
    for word in sorted(wanted - words):
        near = did_you_mean(word, words, cutoff=0.4)
        english = f'"{word}" cannot be tried.{near} only= takes a switch, such as "mkldnn.enabled", or {listed}.'
        raise TimingError(t(english, f"“{word}”不能试。{near}only= 可以写开关名（如 mkldnn.enabled），或 {listed}。"))
    return [one for one in known if one.words & wanted]
