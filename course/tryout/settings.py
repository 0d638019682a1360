"""The settings that can be tried (settings.json), and whether each can matter for what ran in a step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course.flags import ABSENT, GROUPS, SWITCHES
from course.i18n import Text, both, pick, t
from course.suggest import did_you_mean
from course.tryout.look import Look

OPERATORS = {
    "products": ("mm", "addmm", "bmm", "baddbmm"),
    "recurrent": ("lstm", "gru", "rnn"),
    "attention": ("scaled_dot_product", "multi_head_attention", "transformer_encoder_layer"),
}
"""Words of settings.json that stand for several operators."""
DEVICES = {"cpu": ("cpu", "all"), "cuda": ("gpu", "all"), "mps": ("apple", "all")}
"""Device -> places of `course.flags.GROUPS` whose switches concern it."""


class TryError(ValueError):
    """Something that cannot be tried as given. A notebook shows its sentence alone, without a traceback."""

    def __init__(self, said: Text) -> None:
        super().__init__(pick(said))

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True)
class Setting:
    """One thing to try. id: its name in `only` and in rows. lines: to paste. flags: names of `course.flags` -> value.

    way: what else is done, see `course.tryout.work.Work`. family: of one family only one can be taken. ran: an operator of these
    must have run; condition: and this must hold, see `matters`. kept: a process keeps what it once chose, so the two sides need
    processes of their own. pins: torch cannot take it back, so it is not tried in the user's process. lossy: fewer digits are the
    point of it.
    """

    id: str
    name: Text
    lines: tuple[str, ...]
    devices: tuple[str, ...] = tuple(DEVICES)
    flags: Mapping[str, Any] = field(default_factory=dict)
    way: str = ""
    family: str = ""
    ran: tuple[str, ...] = ()
    condition: str = ""
    kept: bool = False
    pins: bool = False
    lossy: bool = False

    @property
    def words(self) -> set[str]:
        """What `only` may call it: its id, its family, the switches it writes."""
        return {self.id, self.family or self.id, *self.flags}

    def matters(self, look: Look) -> bool:
        """Whether it can change what ran."""
        names = [name for word in self.ran for name in OPERATORS.get(word, (word,))]
        holds = {
            "": True,
            "images": look.images,
            "full": not look.low,
            "tf32": look.tf32 and not look.low,
            "denormal": look.denormal,
            "no_backward": look.graph and not look.ran("backward"),
        }
        return holds[self.condition] and (not names or look.ran(*names))


def all_settings(cores: int) -> list[Setting]:
    """Everything that can be tried on a machine with so many processors."""
    rows = json.loads(Path(__file__).with_name("settings.json").read_text("utf-8"))
    listed = [{key: tuple(value) if isinstance(value, list) else value for key, value in row.items()} for row in rows]
    threads = [
        Setting(
            f"threads-{count}",
            both(f"{count} thread{'s' * (count > 1)}", f"{count} 个线程"),
            (f"torch.set_num_threads({count})",),
            devices=("cpu",),
            flags={"torch.num_threads": count},
            family="threads",
            kept=True,
        )
        for count in sorted({1, max(1, cores // 2), cores})
    ]
    return [Setting(condition=row.pop("if", ""), **row) for row in listed] + threads


def chosen(only: str | Sequence[str] | None, compile_: bool, cores: int) -> list[Setting]:
    """The settings that are asked for. Raises TryError for a word of `only` that names none."""
    known = [one for one in all_settings(cores) if compile_ or one.way != "compile"]
    wanted = [only] if isinstance(only, str) else list(only or ())
    words = sorted(set().union(*(one.words for one in known)))
    for word in wanted:
        if word not in words:
            near, listed = did_you_mean(word, words), ", ".join(words)
            raise TryError(
                t(
                    f'"{word}" cannot be tried.{near} only takes {listed}.',
                    f"“{word}”不能试。{near}only 可以写：{listed}。",
                )
            )
    return [one for one in known if not wanted or one.words & set(wanted)]


def why_not(setting: Setting, look: Look) -> Text:
    """Why a setting cannot matter here, in words; empty where it can."""
    now = {name: SWITCHES[name].read() for name in setting.flags}
    if look.device not in setting.devices:
        return both("for another device", "属于其他设备")
    if ABSENT in now.values():
        return both("this torch lacks it", "当前 torch 没有")
    if now and now == setting.flags:
        return both("it is so already", "现在就是这样")
    return "" if setting.matters(look) else both("nothing in the step reads it", "这一步里没有谁读它")


def untouched(settings: Sequence[Setting], device: str) -> dict[str, list[str]]:
    """The switches that no setting writes: of this device and there ("other"), else of others or missing ("away")."""
    written = {name for one in settings for name in one.flags}
    found: dict[str, list[str]] = {"other": [], "away": []}
    for name, switch in SWITCHES.items():
        if switch.changeable and name not in written:
            here = GROUPS[switch.group].place in DEVICES[device] and switch.read() != ABSENT
            found["other" if here else "away"].append(name)
    return found
