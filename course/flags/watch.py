"""A notice after a notebook cell that left a global switch changed or made an attribute nobody reads."""

from __future__ import annotations

import sys
from typing import Any

from course.core.i18n import pick, t
from course.flags.leaks import Change, baseline, changes
from course.flags.state import snapshot
from course.flags.switch import Unreadable
from course.flags.typos import Typo, typos

SHOWN = 3


class _Watcher:
    """Remembers the state after the last cell."""

    def __init__(self) -> None:
        self.state = snapshot()
        self.typos = {typo.name for typo in typos()}

    def __call__(self, result: Any = None) -> None:
        """IPython calls this after every cell. Must never disturb a cell."""
        try:
            notice = self.notice()
        except Exception:  # noqa: BLE001  (a notice is never worth an error in the learner's cell)
            return
        if notice:
            print(notice)

    def notice(self) -> str:
        """The sentence for what the last cell left behind; empty when nothing, or when it put things back."""
        now, start = snapshot(), baseline()
        found = [change for change in changes(self.state, now) if change.after != start.get(change.name)]
        here = typos()
        new = [typo for typo in here if typo.name not in self.typos]
        self.state, self.typos = now, {typo.name for typo in here}
        return "\n".join([*_changed(found), *(_typo(typo) for typo in new)])


def _changed(found: list[Change]) -> list[str]:
    if not found:
        return []
    listed = [f"{change.name} {_short(change.before)} → {_short(change.after)}" for change in found[:SHOWN]]
    more = len(found) - SHOWN
    if more > 0:
        listed.append(t(f"{more} more", f"另有 {more} 个"))
    return [
        t(
            f"🚩 This cell left a switch of the whole process changed: {', '.join(listed)}.",
            f"🚩 这个单元格改动了整个进程的开关：{'、'.join(listed)}。",
        )
    ]


def _short(value: Any) -> str:
    return t("(unreadable)", "（无法读取）") if isinstance(value, Unreadable) else repr(value)


def _typo(typo: Typo) -> str:
    return "🚩 " + pick(typo.text)


_watcher: _Watcher | None = None


def _events() -> Any:
    """The events of the running IPython, or None in plain Python."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "events", None)


def watch() -> bool:
    """From now on, say one short sentence after each cell that changes a switch. False outside a notebook."""
    global _watcher
    events = _events()
    if events is None:
        return False
    unwatch()
    _watcher = _Watcher()
    events.register("post_run_cell", _watcher)
    return True


def unwatch() -> None:
    """Stop the notices. Does nothing when there are none."""
    global _watcher
    events = _events()
    if _watcher is not None and events is not None:
        try:
            events.unregister("post_run_cell", _watcher)
        except ValueError:  # somebody else cleared the events
            pass
    _watcher = None
