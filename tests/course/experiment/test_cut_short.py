"""A run cut short claims nothing that the whole run would not say, and settles no bet on another option.

Looked at: of every record there is (invented rows and recordings) its beginnings, and the record without one of the rows that carry
an interval, which is left out where its rounds are too few.
"""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest

from course.experiment import base
from course.experiment.reading import OPEN
from course.experiment.result import block, outcome
from tests.course.experiment.test_every_experiment import EXPERIMENTS
from tests.course.experiment.test_headlines import records

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
