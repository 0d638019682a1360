"""Knowledge cards as data: what a switch is, its default, how to set it, when it pays, when not.

They are in ``knowledge.yaml`` of their lesson's folder; ``course/cards/knowledge_view.py`` shows them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from course.core.catalog import FOLDER
from course.core.i18n import LANGUAGES, Text, both, pick
from course.questions import schema
from course.questions.bank import read_yaml
from course.questions.item_lint import language_faults

CODE_LINES = 6
ROWS: tuple[tuple[str, Text], ...] = (
    ("what", both("What it is", "是什么")),
    ("default", both("Default", "默认")),
    ("how", both("How to do it", "怎么做")),
    ("pays", both("Pays when", "什么时候划算")),
    ("costs", both("Costs, not when", "代价，何时别用")),
    ("nothing", both("Nothing happens when", "什么时候没反应")),
)
"""The fields of the back in their order, and what they are called."""


@dataclass(frozen=True)
class Knowledge:
    """One knowledge card. id: the switch it is about, such as ``cudnn.benchmark``, or another name, such as ``recipe.training``.

    switches: names in the table of switches (course.flags). asks: the front. All fields below it: the back.
    asked: what people type who look for this card, separated by semicolons; it is not shown on the card.
    """

    id: str
    lesson: str
    title: Text
    asks: Text
    what: Text
    how: Text
    pays: Text
    costs: Text
    code: Text
    source: str
    switches: tuple[str, ...] = ()
    default: Text = ""
    nothing: Text = ""
    asked: Text = ""

    def rows(self) -> list[tuple[str, str]]:
        """(name, text) for each field of the back that is not empty, in the language in use."""
        return [(pick(name), pick(getattr(self, field))) for field, name in ROWS if getattr(self, field)]


_TEXT = schema.TEXT
SCHEMA = schema.object_of(
    ["id", "lesson", "switches", "title", "asks", "what", "how", "pays", "costs", "code", "source"],
    id={"type": "string", "pattern": r"^[a-z0-9_]+([.-][a-z0-9_]+)*$"},
    lesson={"type": "string", "pattern": r"^\d\d_[a-z0-9_]+$"},
    switches={"type": "array", "items": {"type": "string", "minLength": 1}},
    source={"type": "string", "minLength": 1},
    **dict.fromkeys(("title", "asks", "asked", "what", "default", "how", "pays", "costs", "nothing", "code"), _TEXT),
)


def files(folder: Path | None = None) -> list[Path]:
    """The files of knowledge cards, in the order of the lessons."""
    return sorted((folder or FOLDER).glob("l[0-9][0-9]_*/knowledge.yaml"))


def read(folder: Path | None = None) -> tuple[dict[str, Knowledge], list[str]]:
    """(knowledge cards by id, in the order of the lessons; a sentence for each fault). A faulty card is left out."""
    found, faults = _read(tuple((path, path.stat().st_mtime_ns) for path in files(folder)))
    return dict(found), list(faults)


@lru_cache(maxsize=8)
def _read(stamped: tuple[tuple[Path, int], ...]) -> tuple[dict[str, Knowledge], list[str]]:
    """What `read` gives. stamped: files with the times of their last changes, so that an edited file is read again."""
    found: dict[str, Knowledge] = {}
    faults: list[str] = []
    for path, _ in stamped:
        for raw in read_yaml(path) or ():
            where = f"{path.parent.name}/{path.name}, card {raw.get('id', '?') if isinstance(raw, dict) else '?'}"
            raw = {**raw, "lesson": path.parent.name.removeprefix("l")} if isinstance(raw, dict) else raw
            wrong = list(dict.fromkeys(_faults(raw, found)))
            faults += [f"{where}, {sentence}" for sentence in wrong]
            if not wrong:
                found[raw["id"]] = Knowledge(**{**raw, "switches": tuple(raw["switches"])})
    return found, faults


def _faults(raw: Any, known: dict[str, Knowledge]) -> Iterator[str]:
    broken = [f"field {field or '(all)'}: {what}." for field, what in schema.violations(raw, SCHEMA)]
    yield from broken
    if broken:
        return
    if raw["id"] in known:
        yield "field id: occurs twice; give one of them another id."
    for field in fields(Knowledge):
        if (
            field.name != "code"
            and isinstance(raw.get(field.name), (dict, str))
            and field.name not in ("id", "lesson", "source")
        ):
            yield from (f"field {sentence}" for sentence in language_faults(field.name, raw[field.name]))
    for code in LANGUAGES:
        source = pick(raw["code"], code).strip("\n")
        if len(source.splitlines()) > CODE_LINES:
            yield f"field code: has {len(source.splitlines())} lines; at most {CODE_LINES}."
        try:
            compile(source, raw["id"], "exec", dont_inherit=True)
        except SyntaxError as error:
            yield f"field code: is not valid Python (line {error.lineno}: {error.msg})."
