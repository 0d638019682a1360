"""What was recorded says something, in both languages; a picture shows every bet there can be, and all of its words.

Looked at: the invented rows of every branch (``ROWS``, ``FURTHER`` and ``BRANCHES`` of each lesson's ``rows.py``) and the recordings.
"""

from __future__ import annotations

import re

import pytest

from course.core.i18n import LANGUAGES, set_language
from course.core.machine import passport
from course.core.records import LESSONS, load
from course.core.tables import Table
from course.experiment.reading import OPEN
from course.experiment.result import NoPicture, block, outcome
from course.figures.svg import SvgPicture
from tests.course.experiment.test_bet_rows import BETS
from tests.course.experiment.test_every_experiment import EXPERIMENTS, examples
from tests.lessons.live import check_picture, check_sentence, marks, record_of

RECORDINGS = sorted(LESSONS.glob("*/recordings/*.json"))


def records(name):
    """Every record there is of an experiment: invented rows, recordings, and one that is empty."""
    found = [record_of(name, rows) for rows in examples(name)]
    kept = [load(path) for path in RECORDINGS if path.name.startswith(f"{name}--")]
    return [*found, *(one for one in kept if one.experiment == name)]


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_a_recording_says_something_and_is_drawn(name):
    for path in RECORDINGS:
        if path.name.startswith(f"{name}--"):
            recorded = load(path)
            assert outcome(recorded, EXPERIMENTS[name]).headline not in OPEN and check_sentence(recorded)
            assert not isinstance(block(recorded, EXPERIMENTS[name]).picture, NoPicture)


@pytest.mark.slow
@pytest.mark.parametrize("bet", sorted(BETS))
def test_the_picture_shows_every_bet_there_can_be(bet):
    """On the rows of every outcome; without a bet the picture shows none."""
    item = BETS[bet]
    every = [one.id for one in item.options]
    for number, record in enumerate(records(item.experiment)):
        if outcome(record, EXPERIMENTS[item.experiment]).headline in OPEN:
            continue
        set_language(LANGUAGES[number % 2])
        plain = check_picture(record)
        for option in every:
            picture = check_picture(record, {bet: option})
            if isinstance(picture, SvgPicture):
                dashed = re.findall(r"<[^>]*--p-bet[^>]*stroke-dasharray[^>]*>", picture.svg())
                assert dashed and not re.search(r"--p-bet", plain.svg())
            elif isinstance(picture, Table):
                assert picture.bets and picture.html() != plain.html()
            else:
                assert picture.alt != plain.alt and marks(picture) > marks(plain)


def test_every_recording_is_of_an_experiment_lies_in_its_lesson_and_tells_nothing_but_the_machine():
    for path in RECORDINGS:
        record = load(path)
        assert record.experiment in EXPERIMENTS and path.name == record.file_name() and record.complete, path
        assert path.parents[1].name == f"l{record.lesson}" == f"l{EXPERIMENTS[record.experiment].lesson}", path
        assert record.experiment_version == EXPERIMENTS[record.experiment].version, path
        assert {*record.machine} <= {*passport()}, path
