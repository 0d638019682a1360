"""The map as rows of plain text."""

from __future__ import annotations

from typing import Any

from course.core.i18n import pick
from course.flags.catalogue import GROUPS, SWITCHES
from course.flags.leaks import baseline
from course.flags.switch import DEPENDS, Absent, Switch, Unreadable


def is_changed(switch: Switch, value: Any, start: dict[str, Any]) -> bool:
    """Whether `value` differs from the default, or, where that varies, from the start of the lesson."""
    if not switch.changeable or isinstance(value, Absent):
        return False
    if switch.default is DEPENDS:
        return value != start.get(switch.name, value)
    return value != switch.default


def map_rows() -> list[dict[str, Any]]:
    """One flat row for each switch, query and tool, grouped by submodule.

    Keys: name, group, path, kind, value, default, changed (bool), absent (bool), unreadable (bool), text,
    readers, note ('' when none), since, frozen. value and default are as torch gives them; text, readers and
    note are in the learner's language.
    """
    start, order = baseline(), list(GROUPS)
    rows = []
    for switch in sorted(SWITCHES.values(), key=lambda one: order.index(one.group)):
        value = switch.read()
        rows.append(
            {
                "name": switch.name,
                "group": switch.group,
                "path": switch.path,
                "kind": switch.kind,
                "value": value,
                "default": switch.default,
                "changed": is_changed(switch, value, start),
                "absent": isinstance(value, Absent),
                "unreadable": isinstance(value, Unreadable),
                "text": pick(switch.text),
                "readers": pick(switch.readers),
                "note": pick(switch.note or ""),
                "since": switch.new_in,
                "frozen": switch.frozen,
            }
        )
    return rows
