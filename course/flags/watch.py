"""A notice after a notebook cell that left a global switch changed or made an attribute nobody reads."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

from course.core.i18n import t
from course.flags.leaks import baseline, changes
from course.flags.state import snapshot
from course.flags.typos import typos


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
        now, start, here = snapshot(), baseline(), typos()
        found = [change for change in changes(self.state, now) if change.after != start.get(change.name)]
        new = [f"🚩 {typo}" for typo in here if typo.name not in self.typos]
        self.state, self.typos = now, {typo.name for typo in here}
        listed = [f"{change.name} {change.before!r} → {change.after!r}" for change in found]
        said = t(
            f"🚩 This cell left a switch of the whole process changed: {', '.join(listed)}.",
            f"🚩 这个单元格改动了整个进程的开关：{'、'.join(listed)}。",
        )
        return "\n".join([said] * bool(found) + new)


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
        with contextlib.suppress(ValueError):  # somebody else cleared the events
            events.unregister("post_run_cell", _watcher)
    _watcher = None
