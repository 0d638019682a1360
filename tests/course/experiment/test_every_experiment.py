"""What every experiment owes, in every lesson: a sentence and a picture, with rows and without, in both languages.

The rows are the invented ones of ``rows.py`` of each lesson's tests: those that settle a bet, and for experiments without a bet
``BRANCHES``, experiment -> the rows of each outcome. Nothing was measured. What the numbers of a sentence have to be is tested
with the lesson.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from course.core.i18n import LANGUAGES, set_language
from course.core.records import LESSONS, load
from course.experiment import base
from course.experiment.reading import OPEN
from course.experiment.result import outcome
from tests.course.experiment.test_bet_rows import BETS, FURTHER, MODULES, ROWS
from tests.lessons.live import check_picture, check_sentence, record_of

EXPERIMENTS = base.load_all()
BRANCHES = {name: found for module in MODULES.values() for name, found in getattr(module, "BRANCHES", {}).items()}
RECORDED = {name: said for module in MODULES.values() for name, said in getattr(module, "RECORDED", {}).items()}


def examples(name):
    """All rows there are for this experiment, each once: those of its bets, those of its branches."""
    found = []
    for bet in (bet for bet, item in BETS.items() if item.experiment == name):
        found += [*ROWS.get(bet, {}).values(), *(rows for rows, _ in FURTHER.get(bet, []) if rows)]
    found += BRANCHES.get(name, [])
    return [rows for place, rows in enumerate(found) if rows not in found[:place]]


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_rows_exist_for_every_outcome_and_a_sentence_for_every_reading(name):
    experiment = EXPERIMENTS[name]
    read = {experiment.reading(record_of(name, rows)).outcome for rows in examples(name)} - {None}
    assert read == set(experiment.telling.outcomes)


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_every_outcome_has_a_sentence_and_a_picture(name):
    """The pictures in turn in each language; a single one in both."""
    import matplotlib

    matplotlib.use("Agg")
    shown = examples(name)
    for number, rows in enumerate(shown * (2 if len(shown) == 1 else 1)):
        found = record_of(name, rows)
        check_sentence(found)
        set_language(LANGUAGES[number % 2])
        try:
            check_picture(found)
        except Exception:
            assert outcome(found, EXPERIMENTS[name]).headline in OPEN  # too little to tell may be too little to draw


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_an_empty_record_settles_each_bet_on_nothing_and_still_speaks(name):
    found = record_of(name, [])
    assert EXPERIMENTS[name].settles(found) == {bet: None for bet, item in BETS.items() if item.experiment == name}
    check_sentence(found)


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_rows_left_out_for_want_of_an_interval_harm_nothing(name):
    """`course.experiment.base` leaves out a row whose rounds were too few; the others still speak and settle."""
    for rows in examples(name):
        with_one = [row for row in rows if not base.has_interval(row | dict.fromkeys(base.ENDS & row.keys()))]
        for missing in [[row] for row in with_one] + [with_one]:
            found = replace(record_of(name, [row for row in rows if row not in missing]), complete=False)
            EXPERIMENTS[name].settles(found)
            check_sentence(found)


def gpu_recordings():
    """name -> the recording of the present version made on a GPU."""
    found = [load(path) for path in sorted(LESSONS.glob("*/recordings/*.json"))]
    return {
        one.experiment: one
        for one in found
        if one.machine.get("device") == "cuda" and one.experiment_version == EXPERIMENTS[one.experiment].version
    }


def test_what_was_recorded_on_a_gpu_says_what_its_rows_say_by_hand():
    for name, record in gpu_recordings().items():
        said = (EXPERIMENTS[name].headline(record)["en"], EXPERIMENTS[name].settles(record))
        assert said == RECORDED.get(name), f"{name}: RECORDED in rows.py of its lesson's tests"
    assert set(RECORDED) <= set(gpu_recordings())
