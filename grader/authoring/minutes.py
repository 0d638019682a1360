"""How long the main line of a lesson takes, counted: what is read, answered, written and run, cell by cell.

Reading: 170 words a minute in English, 255 characters in Chinese, where the lessons have 1.55 characters for an English word: the
same text takes about the same time. That it does is measured: Lu and Zhang, "Reading efficiency", Reading Research and
Instruction 38(4), 1999; and Trauzettel-Klosinski and Dietz, "Standardized Assessment of Reading Performance", IOVS 53(9), 2012,
where easy texts are read aloud at 228 words and 255 characters. What is folded is not counted, nor what is *deeper, optional*.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache

from course.core.i18n import pick, speaking
from course.core.markup import plain
from course.exercises.exercise import all_exercises
from course.experiment import base
from course.experiment.result import block
from course.questions import knowledge
from course.verbs.reported import reported
from grader.authoring.ids import used_ids
from grader.project.source import Cell

A_MINUTE = {"en": 170, "zh": 255}
"""Words, in Chinese characters, that are read in a minute."""
CARD_S = 25
SPOKEN_S = 120
"""A question of the interview: read, answered aloud in half a minute, compared, rated."""
CASE = 4
"""The minutes given to a case of a game, as an author gives them to an exercise."""
WRITING = 1.3
"""An exercise takes as many times the minutes that its author gives it."""
MOST = 45
HEADING = re.compile(r"^#+ .*", re.MULTILINE)
DEEPER = re.compile(r"#+ (Deeper, optional|选读)", re.IGNORECASE)
CLAIMED = re.compile(r"⏱️\D*?(\d+)")


@dataclass(frozen=True)
class Minutes:
    """The minutes of the main line of a lesson in one language, by what is done."""

    reading: float = 0
    cards: float = 0
    exercises: float = 0
    runs: float = 0

    def __add__(self, other: Minutes) -> Minutes:
        return Minutes(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    @property
    def total(self) -> float:
        return self.reading + self.cards + self.exercises + self.runs


def words(text: str, language: str) -> int:
    """The length of a text: words; in Chinese, characters, where a run of Latin letters counts as one."""
    text = re.sub(r"\]\([^)]*\)|<[^>]*>", " ", text)
    if language == "en":
        return len(re.findall(r"\S*\w\S*", text))
    return len(re.findall(r"[\u3400-\u9fff]", text)) + len(re.findall(r"[A-Za-z0-9_.]+", text))


def main_line(cells: list[Cell]) -> Iterator[Cell]:
    """The cells that are not deeper, optional: such a part ends at the next heading. A fork that leads to one belongs to the
    main line.
    """
    deeper = False
    for cell in cells:
        headings = HEADING.findall(cell.body) if cell.kind == "markdown" else []
        deeper = bool(DEEPER.match(headings[0])) if headings and cell.body.startswith("#") else deeper and not headings
        if not deeper:
            yield cell
        deeper = bool(DEEPER.match(headings[-1])) if headings else deeper


def minutes(cells: list[Cell], language: str) -> Minutes:
    """The minutes of the main line of a lesson for somebody who reads, answers, writes and runs everything."""
    found, met = Minutes(), set()
    for cell in main_line(cells):
        if cell.language in (None, language):
            found += _of_cell(cell, language, met)
    return found


def _of_cell(cell: Cell, language: str, met: set[tuple[str, str]]) -> Minutes:
    """The minutes of one cell. met: (kind, id) of the cards counted so far; this function adds to it."""
    if cell.kind == "bootstrap":
        return Minutes()
    used = {(kind, name) for kind, name, _ in used_ids(cell)} - met
    met |= used
    names = {kind: [name for one, name in used if one == kind] for kind, _ in used}
    exercises, experiments = all_exercises(), names.get("experiment", ())
    read_here = words(cell.body if cell.language else cell.code(language), language) + sum(
        unfolded(one, language) for one in experiments
    )
    return Minutes(
        (read_here + sum(_front(one, language) for one in _kept(cell))) / A_MINUTE[language],
        (
            (len(names.get("item", ())) + _number(cell, "review", "due")) * CARD_S
            + _number(cell, "interview", "count") * SPOKEN_S
        )
        / 60,
        (sum(exercises[one].minutes for one in names.get("exercise", ())) + len(names.get("case", ())) * CASE)
        * WRITING,
        sum(_run_s(one) for one in experiments) / 60,
    )


def _calls(cell: Cell, verb: str) -> list[ast.Call]:
    nodes = ast.walk(ast.parse(cell.body)) if cell.kind == "code" else ()
    return [one for one in nodes if isinstance(one, ast.Call) and getattr(one.func, "id", "") == verb]


def _number(cell: Cell, verb: str, name: str) -> int:
    """The sum of a named argument of all calls of a verb: how many cards a warm-up or an interview shows at most."""
    return sum(one.value.value for call in _calls(cell, verb) for one in call.keywords if one.arg == name)


def _kept(cell: Cell) -> list[str]:
    """The ids of the knowledge cards that this cell shows."""
    return [one.value for call in _calls(cell, "keep") for one in call.args]


def _front(card: str, language: str) -> int:
    """Words on the front of a knowledge card; its back is folded."""
    one = knowledge.read()[0][card]
    return words(plain(f"{pick(one.title, language)} {pick(one.asks, language)}"), language)


def _run_s(name: str) -> float:
    """Seconds that a run takes at most on a computer without a GPU; a recording comes at once."""
    experiment = base.get(name)
    return 0.0 if experiment.needs in ("cuda", "mps") else experiment.seconds


@cache
def unfolded(name: str, language: str) -> int:
    """Words of what an experiment shows above its folds: of its recording, else of the reports of others."""
    experiment = base.get(name)
    record = base.recording(experiment)
    with speaking(language):
        shown = (block(record, experiment, {}, ()) if record else reported(experiment))._repr_html_()
    shown = re.sub(r"<style.*?</style>", " ", shown, flags=re.DOTALL)
    return words(re.sub(r"<details(?! open).*</details>", " ", shown, flags=re.DOTALL), language)


def claimed(cells: list[Cell], language: str) -> int:
    """The minutes that the first cell of a lesson promises."""
    return int(CLAIMED.search(next(one.body for one in cells if one.language == language))[1])
