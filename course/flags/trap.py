"""What a `torch.backends.<module>.flags(...)` block would really set, read from its signature, not executed.

`with cudnn.flags(deterministic=True)` sets every flag of cuDNN: those not named get the defaults of the
function, and the default of `enabled` is False (torch/backends/cudnn/__init__.py, `flags`).
"""

from __future__ import annotations

import html
import inspect
import re
from dataclasses import dataclass
from typing import Any

from course.core.i18n import Text, both, pick, t
from course.core.tables import as_html
from course.core.text import text_of
from course.flags.catalogue import SWITCHES
from course.flags.switch import Absent, Unreadable, wrong

SPECIAL = {"nnpack.enabled": "nnpack.set_flags"}


@dataclass(frozen=True, repr=False)
class FlagsCall:
    """rows: one dict for each flag with name, written (or None), now, inside, surprise (bool)."""

    call: str
    rows: tuple[dict[str, Any], ...]

    @property
    def surprises(self) -> list[dict[str, Any]]:
        """The flags that would change without having been named."""
        return [row for row in self.rows if row["surprise"]]

    @property
    def text(self) -> Text:
        """The finding in one sentence."""
        blocked = next((row for row in self.rows if isinstance(row["now"], Unreadable)), None)
        if blocked:
            name, (en, zh) = blocked["name"], (pick(blocked["now"].why, code) for code in ("en", "zh"))
            return both(
                f"With the switches as they are now, `{self.call}` would raise an exception, because it reads {name}: {en}.",
                f"以开关现在的状态，`{self.call}` 会抛出异常，因为它要读取 {name}：{zh}。",
            )
        if not self.surprises:
            return both(
                f"With the switches as they are now, `{self.call}` changes only what it names.",
                f"以开关现在的状态，`{self.call}` 不会改动没写出来的开关。",
            )
        listed = ", ".join(f"{row['name']} {row['now']!r} → {row['inside']!r}" for row in self.surprises)
        return both(
            f"`{self.call}` also sets what it does not name: {listed}.",
            f"`{self.call}` 还会设置没写出来的开关：{listed.replace(', ', '、')}。",
        )

    def __str__(self) -> str:
        return text_of(self._repr_html_())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cells = [[t("switch", "开关"), t("you wrote", "你写的"), t("now", "现在"), t("inside the block", "块内"), ""]]
        for row in self.rows:
            wrote = repr(row["written"]["value"]) if row["written"] else ""
            flag = t("not named, yet it changes", "没写，却会变") * row["surprise"]
            cells.append([row["name"], wrote, repr(row["now"]), repr(row["inside"]), flag])
        said = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(pick(self.text)))
        return f"{as_html(cells, figures=False)}<p>{said}</p>"


def explain_flags_call(module: str, **named: Any) -> FlagsCall:
    """What `with torch.backends.<module>.flags(**named)` would set. Sets nothing itself.

    module: "cudnn", "mkldnn", "nnpack", "miopen", "opt_einsum" or "" (torch.backends itself).
    Raises FlagError, in words, for a module without flags() or an argument it does not take.
    """
    import torch

    path = f"torch.backends.{module}" if module else "torch.backends"
    flags = getattr(getattr(torch.backends, module, None) if module else torch.backends, "flags", None)
    if flags is None:
        raise wrong(f"{path} has no flags().", f"{path} 没有 flags()。")
    parameters = inspect.signature(flags).parameters
    for name in named:
        if name not in parameters:
            raise wrong(
                f"{path}.flags() takes no {name!r}; it takes {', '.join(parameters)}.",
                f"{path}.flags() 没有参数 {name!r}；它的参数是 {'、'.join(parameters)}。",
            )
    rows = tuple(_row(module, name, parameter.default, named) for name, parameter in parameters.items())
    return FlagsCall(f"{path}.flags({', '.join(f'{name}={value!r}' for name, value in named.items())})", rows)


def _row(module: str, name: str, default: Any, named: dict[str, Any]) -> dict[str, Any]:
    switch_name = f"{module}.{name}" if module else name
    switch = SWITCHES.get(SPECIAL.get(switch_name, switch_name))
    now = switch.read() if switch else None
    given = named.get(name, default)
    # None means "leave alone" to torch, and a switch this build lacks cannot change.
    inside = now if given is None or isinstance(now, Absent) else given
    return {
        "name": switch_name,
        "written": {"value": named[name]} if name in named else None,
        "now": now,
        "inside": inside,
        "surprise": name not in named and inside != now,
    }
