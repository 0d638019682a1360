"""The map as rows of plain text, and one switch in a few sentences."""

from __future__ import annotations

from typing import Any

from course.core.i18n import Text, pick
from course.flags.catalogue import GROUPS, SWITCHES, find
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


class Said(dict):
    """A text in both languages that shows itself in the learner's."""

    def __repr__(self) -> str:
        return pick(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


def describe(name: str) -> Text:
    """What the switch or query `name` does, who reads it, its default and its value here, in both languages.

    Raises FlagError, with what was probably meant, for an unknown name.
    """
    switch = find(name)
    return Said(en=_sentences(switch, "en"), zh=_sentences(switch, "zh"))


def _sentences(switch: Switch, code: str) -> str:
    english = code == "en"
    parts = [f"`{switch.path}`{': ' if english else '：'}{pick(switch.text, code)}"]
    if switch.changeable:
        readers = pick(switch.readers, code)
        parts.append(f"Read by: {readers}." if english else f"谁会读它：{readers}。")
        parts.append(_default(switch, code))
    if switch.kind != "tool":
        parts.append(_here(switch.read(), english))
    if switch.new_in:
        parts.append(f"Since torch {switch.new_in}." if english else f"torch {switch.new_in} 起才有。")
    if switch.note:
        parts.append(pick(switch.note, code))
    return (" " if english else "").join(parts)


def _default(switch: Switch, code: str) -> str:
    english = code == "en"
    if switch.depends:
        return f"Default: {pick(switch.depends, code)}." if english else f"默认值：{pick(switch.depends, code)}。"
    return f"Default: `{switch.default!r}`." if english else f"默认值：`{switch.default!r}`。"


def _here(value: Any, english: bool) -> str:
    if isinstance(value, Absent):
        return "This build of torch does not have it." if english else "当前的 torch 构建没有它。"
    if isinstance(value, Unreadable):
        why = pick(value.why, "en" if english else "zh")
        return f"Here torch does not tell its value: {why}." if english else f"在这里 torch 不给出它的值：{why}。"
    return f"Here: `{value!r}`." if english else f"此处：`{value!r}`。"
