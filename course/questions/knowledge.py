"""Knowledge cards as data: what a switch is, its default, how to set it, when it pays, when not.

They are in ``knowledge.yaml`` of their lesson's folder; ``course/cards/knowledge_view.py`` shows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from course.core.catalog import FOLDER
from course.core.i18n import Text, both, pick
from course.questions.bank import read_yaml

ROWS: tuple[tuple[str, Text], ...] = (
    ("what", both("What it is", "是什么")),
    ("default", both("Default", "默认")),
    ("how", both("How to do it", "怎么做")),
    ("pays", both("Pays when", "什么时候划算")),
    ("costs", both("Costs; when not", "代价，何时别用")),
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


@cache
def read() -> dict[str, Knowledge]:
    """The knowledge cards by id, in the order of the lessons."""
    found: dict[str, Knowledge] = {}
    for path in sorted(FOLDER.glob("l[0-9][0-9]_*/knowledge.yaml")):
        for raw in read_yaml(path) or ():
            raw = {**raw, "lesson": path.parent.name.removeprefix("l"), "switches": tuple(raw["switches"])}
            found[raw["id"]] = Knowledge(**raw)
    return found
