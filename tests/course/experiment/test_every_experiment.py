"""What every experiment and every bet owes: each option can come out, a sentence and a picture, with rows and without, in both
languages; what was recorded says something; a run cut short claims nothing that the whole run would not say.

The rows are invented; each lesson brings them in its tests (``test_lesson.py``, or ``rows.py`` beside it):
``ROWS`` maps bet -> option -> rows, ``FURTHER`` bet -> more rows, each with the option that they settle it on, None where they
cannot tell; ``BRANCHES``, experiment -> the rows of each outcome, for experiments without a bet. What the numbers of a sentence
have to be is tested with the lesson.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from importlib import import_module

import pytest

from course.core.i18n import LANGUAGES, set_language
from course.core.machine import passport
from course.core.records import LESSONS, Record, load
from course.core.tables import Table
from course.experiment import base
from course.experiment.reading import OPEN
from course.experiment.result import NoPicture, block, outcome
from course.figures.svg import SvgPicture
from course.questions.bank import Bank
from tests.conftest import ROOT
from tests.lessons.live import check_picture, check_sentence, marks, record_of

BETS = {item.id: item for item in Bank().items() if item.kind == "predict"}
MODULES = {
    path.name[1:3]: import_module(
        f"tests.lessons.{path.name}.{'rows' if (path / 'rows.py').exists() else 'test_lesson'}"
    )
    for path in sorted(ROOT.glob("tests/lessons/l[0-9]*"))
}
ROWS = {bet: rows for module in MODULES.values() for bet, rows in module.ROWS.items()}
FURTHER = {bet: rows for module in MODULES.values() for bet, rows in getattr(module, "FURTHER", {}).items()}
EXPERIMENTS = base.load_all()
BRANCHES = {name: found for module in MODULES.values() for name, found in getattr(module, "BRANCHES", {}).items()}
RECORDED = {name: said for module in MODULES.values() for name, said in getattr(module, "RECORDED", {}).items()}


def settled(bet, rows):
    item = BETS[bet]
    experiment = base.get(item.experiment)
    return experiment.settles(Record(experiment.name, experiment.version, experiment.lesson, {}, rows)).get(bet)


@pytest.mark.parametrize("bet", sorted(BETS))
def test_every_option_can_come_out(bet):
    rows, options = ROWS.get(bet, {}), {one.id for one in BETS[bet].options}
    assert set(rows) == options, f"add rows that settle {bet} on each option to the tests of lesson {BETS[bet].lesson}"
    assert {option: settled(bet, found) for option, found in rows.items()} == {option: option for option in rows}


@pytest.mark.parametrize("bet", sorted(FURTHER))
def test_further_rows_settle_it_on_what_they_say_or_leave_it_open(bet):
    for rows, option in FURTHER[bet]:
        assert settled(bet, rows) == option


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
        except Exception as error:  # too little to tell may be too little to draw
            assert outcome(found, EXPERIMENTS[name]).headline in OPEN, f"{name} cannot be drawn: {error!r}"


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_an_empty_record_settles_each_bet_on_nothing_and_still_speaks(name):
    found = record_of(name, [])
    assert EXPERIMENTS[name].settles(found) == {bet: None for bet, item in BETS.items() if item.experiment == name}
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
        assert said == RECORDED.get(name), f"{name}: RECORDED in its lesson's tests"
    assert set(RECORDED) <= set(gpu_recordings())


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
                assert dashed, f"{bet}, option {option}: do its `rows` name rows of the picture?"
                assert not re.search(r"--p-bet", plain.svg())
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


SAYS_HOW_MUCH = {
    "02-planted-difference": "its races are repeats: more of them tell more",
    "02-where-you-wait": "the CPU comes first, and is told alone",
    "04-onednn-ops": "it names the layer that it speaks of",
    "05-toy-cost": "its rows are repeats",
    "05-toy-race": "without the third schedule it speaks of the other two",
    "08-half-mps": "it counts the cases that it speaks of",
    "08-speed-mps": "it counts the cases that it speaks of",
    "09-on-off": "it names each layer, and those that are open",
    "11-witness": "its rows are repeats, and it says how many",
    "12-two-columns": "its rows are repeats",
}
"""Experiments whose headline is true of the rows that are there, and why."""


def may_be_cut(experiment):
    """Whether rows can be missing: the run yields them, or makes them in a loop that ends with the time."""
    run = experiment.function
    returns = str(inspect.signature(run).return_annotation)
    return "list" not in returns or inspect.isgeneratorfunction(run) or "loop" in run.__code__.co_names


def cut(record):
    """Beginnings of a record, at most twelve, and the record without each of its intervals, at most twelve."""
    count = len(record.rows)
    beginnings = [record.rows[:end] for end in range(1, count, max(1, count // 12))]
    gone = [at for at, row in enumerate(record.rows) if base.ENDS & row.keys()][:12]
    without = [record.rows[:at] + record.rows[at + 1 :] for at in gone]
    return [replace(record, rows=rows, complete=False) for rows in (*beginnings, *without) if rows]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(name for name, one in EXPERIMENTS.items() if may_be_cut(one)))
def test_a_run_cut_short_claims_no_more_than_the_whole_run(name):
    experiment = EXPERIMENTS[name]
    for record in records(name):
        said, settled = outcome(record, experiment).headline, experiment.settles(record)
        for one in cut(record):
            headline = outcome(one, experiment).headline
            assert headline in (said, *OPEN) or name in SAYS_HOW_MUCH, (headline["en"], said["en"], len(one.rows))
            for bet, option in experiment.settles(one).items():
                assert option in (None, settled[bet]) or isinstance(option, float), (bet, option, settled[bet])
            block(one, experiment)
