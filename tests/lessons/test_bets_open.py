"""Protects the learner's bet: nothing that stands above it in the notebook says its right answer.

Above a bet stand texts, comments, cards with the reason that they give, and what earlier experiments found. A sentence there gives the
bet away where it says in few words what only the reason of the right option says. In Chinese, where words are not set apart, the same
run of characters does. Which option is right is what the recordings say. A person's eye finds more; these are the ones that a machine sees.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import nbformat
import pytest

from course.core.catalog import LESSONS
from course.core.i18n import LANGUAGES
from course.core.records import recorded
from course.experiment import base
from course.questions.bank import default_bank
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

COMMON = set(
    "the and are was were its this that these those for with but not nor from what which who how where when than then you your they "
    "their them there here one two only all each every same more less most much can could may might will would has have had does did "
    "into over out down about after before also just both too".split()
)
RUN = 7
"""So many Chinese characters in a row, alike in a reason and above its bet, are no chance."""


class Above(NamedTuple):
    """A sentence that a learner has read before the bet."""

    cell: int
    text: str


def words(text: str) -> set[str]:
    """What an English sentence speaks of: its longer words, without their endings."""
    return {word[:6] for word in re.findall(r"[a-z_0-9]+", text.lower()) if len(word) > 2 and word not in COMMON}


def runs(text: str) -> set[str]:
    """Every run of RUN Chinese characters, signs between them left out."""
    joined = re.sub(r"[，、。：；“”]", "", text)
    return {part[i : i + RUN] for part in re.findall(r"[一-鿿]+", joined) for i in range(len(part) - RUN + 1)}


def sentences(text: str) -> Iterator[str]:
    text = re.sub(r"<[^>]*>", "", text)
    for line in text.splitlines():
        yield from filter(str.strip, re.split(r"(?<=[.!?:;]) |(?<=[。！？；：])", line))


def gives_away(sentence: str, reason: str, others: str, language: str) -> bool:
    """Whether a sentence says what of a bet's options only `reason` says."""
    if language == "zh":
        return bool(runs(sentence) & runs(reason) - runs(others))
    said, told = words(sentence), words(reason) - words(others)
    shared = len(said & told)
    heading = sentence.startswith("#") and shared >= 2 and 2 * shared > len(said)
    return heading or shared >= 3 and 2 * shared >= len(told)


@functools.cache
def right_options() -> dict[str, set[str]]:
    """The options that a recording settled, for each bet."""
    found: dict[str, set[str]] = {}
    for name, experiment in base.load_all().items():
        for _, record in recorded(name):
            for bet, option in experiment.settles(record).items():
                if isinstance(option, str):
                    found.setdefault(bet, set()).add(option)
    return found


def said_by(option: Any, language: str) -> str:
    """An option and its reason; an option of code has one text for both languages."""
    text = option.text if isinstance(option.text, str) else option.text[language]
    return f"{text} {option.why[language]}"


def told_by(name: str, language: str) -> str:
    """What a card or an experiment of this name leaves on the screen."""
    experiments = base.load_all()
    if name in experiments:
        record = base.recording(experiments[name])
        return experiments[name].headline(record)[language] if record else ""
    options = getattr(default_bank().get(name), "options", ())
    return " ".join(said_by(option, language) for option in options if getattr(option, "correct", False))


def given_away(lesson: str, language: str) -> Iterator[str]:
    cells = nbformat.read(ROOT / f"notebooks/{language}/lessons/{lesson}.ipynb", 4).cells
    above: list[Above] = []
    for number, cell in enumerate(cells):
        if cell.cell_type == "markdown":
            above += [Above(number, sentence) for sentence in sentences(cell.source)]
            continue
        above += [Above(number, line) for line in re.findall("# (.*)", cell.source)]
        for name in re.findall(r'"(\d\d-[a-z0-9-]+)"', cell.source):
            for right in right_options().get(name, ()):
                bet = default_bank()[name]
                said = {option.id: said_by(option, language) for option in bet.options}
                reason = said.pop(right, "")
                others = " ".join([bet.stem[language], *said.values()])
                for cell_above, text in above:
                    if gives_away(text, reason, others, language):
                        yield f"{name}: cell {cell_above} says {text!r}"
            above += [Above(number, sentence) for sentence in sentences(told_by(name, language))]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("lesson", [lesson.id for lesson in LESSONS])
def test_nothing_above_a_bet_gives_it_away(lesson, language):
    assert list(given_away(lesson, language)) == []


@pytest.mark.parametrize(
    ("bet", "option", "sentence", "language"),
    [
        ("07-bet-onednn", "b", "## A permission is not a command", "en"),
        ("07-bet-onednn", "b", "## 这是许可，不是命令：可以不用它", "zh"),
        ("12-bet-total", "c", "`conv2d` calls `convolution`, that calls `_convolution`, and each has a row.", "en"),
    ],
)
def test_a_sentence_that_once_did_is_found(bet, option, sentence, language):
    item = default_bank()[bet]
    said = {one.id: said_by(one, language) for one in item.options}
    reason = said.pop(option)
    assert gives_away(sentence, reason, " ".join([item.stem[language], *said.values()]), language)
