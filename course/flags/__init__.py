"""Every switch of torch.backends: read, set for a block, restore, notice leaks and typos.

`import course.flags` loads no torch; the first reading does.
"""

from __future__ import annotations

from course.flags.catalogue import GROUPS, PLACES, SWITCHES, TABLE, closest, find, module_of
from course.flags.leaks import Change, baseline, changes, leaks, remember, restore
from course.flags.rows import map_rows
from course.flags.state import assign, preserved, read, snapshot, using
from course.flags.switch import ABSENT, DEPENDS, WHEN, FlagError, Switch, Unreadable
from course.flags.typos import Typo, typos
from course.flags.watch import unwatch, watch

__all__ = [
    "ABSENT",
    "DEPENDS",
    "SWITCHES",
    "TABLE",
    "WHEN",
    "Change",
    "GROUPS",
    "PLACES",
    "FlagError",
    "Switch",
    "Typo",
    "Unreadable",
    "assign",
    "baseline",
    "changes",
    "closest",
    "find",
    "leaks",
    "map_rows",
    "module_of",
    "preserved",
    "read",
    "remember",
    "restore",
    "snapshot",
    "typos",
    "unwatch",
    "using",
    "watch",
]
