"""What changed: between two readings, since the start of the lesson, and how to take it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from course.core.i18n import Text, both, pick
from course.flags import state
from course.flags.catalogue import SWITCHES, find
from course.flags.precision import LINKED
from course.flags.switch import DEPENDS, Absent, Unreadable


@dataclass(frozen=True, repr=False)
class Change:
    """One switch that has another value than before; `text` says so in both languages."""

    name: str
    before: Any
    after: Any

    @property
    def text(self) -> Text:
        path = find(self.name).path
        if isinstance(self.after, Unreadable):
            en, zh = (pick(self.after.why, code) for code in ("en", "zh"))
            return both(
                f"`{path}` was {self.before!r}; torch no longer tells its value: {en}.",
                f"`{path}` 原来是 {self.before!r}，现在 torch 不再给出它的值：{zh}。",
            )
        return both(
            f"`{path}` is now {self.after!r}; it was {self.before!r}.",
            f"`{path}` 现在是 {self.after!r}，原来是 {self.before!r}。",
        )

    def __str__(self) -> str:
        return pick(self.text)

    __repr__ = __str__


_baseline: dict[str, Any] | None = None
_saved: state.Saved | None = None


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    """The switches whose values differ between two readings (`read()` or `snapshot()`)."""
    return [
        Change(name, before[name], after[name])
        for name in SWITCHES
        if name in before and name in after and _differs(name, before[name], after[name])
    ]


def _differs(name: str, before: Any, after: Any) -> bool:
    """Whether a change of value is news: a value that merely became readable (CUDA has started) is none."""
    if isinstance(before, Absent) or isinstance(after, Absent):
        return False
    if isinstance(before, Unreadable) and name not in LINKED:
        return False
    return before != after


def remember() -> None:
    """Take the present state as the one `leaks()` compares with and `restore()` goes back to."""
    global _baseline, _saved
    _baseline = state.snapshot()
    _saved = state.Saved(_baseline)


def baseline() -> dict[str, Any]:
    """The state at the last `remember()`; without one, the known defaults of a fresh process."""
    if _baseline is not None:
        return dict(_baseline)
    now = state.snapshot()
    known = {
        name for name, value in now.items() if SWITCHES[name].default is not DEPENDS and not isinstance(value, Absent)
    }
    return {name: SWITCHES[name].default if name in known else value for name, value in now.items()}


def leaks() -> list[Change]:
    """What differs from the state at the start of the lesson; empty when nothing does."""
    return changes(baseline(), state.snapshot())


def restore() -> list[Change]:
    """Put every switch back to the state at the start of the lesson; gives what had leaked."""
    found = leaks()
    if _saved is not None:
        _saved.put_back()
    else:
        for change in found:
            state.assign(change.name, change.before)
    return found
