"""Lessons 00 and 01: live experiments settle their bets, and leave switches and processes as they were."""

from __future__ import annotations

import multiprocessing
import os

import pytest
import torch

from course import flags
from course.experiment import base
from course.lessons.l01_map import experiments
from course.lessons.l01_map import probes as map_probes
from course.records import Record

FORKS = "fork" in multiprocessing.get_all_start_methods()


# --- experiments --------------------------------------------------------------------------------------------

EXPECTED = {
    "00-same-numbers": {"00-bet-sums": "c"},
    "01-typos": {"01-bet-typos": "c"},
    "01-who-sees": {"01-bet-who-sees": "c" if FORKS else None},
    "01-flags-trap": {"01-bet-flags": "d"},
    "01-frozen": {"01-bet-frozen": "c"},
    "01-not-a-switch": {"01-bet-mps": "c"},
}


def check_shown(experiment, record):
    """The sentence exists in both languages, and the picture can be drawn."""
    from matplotlib.figure import Figure

    sentence = experiment.finding(record)
    assert all(len(sentence[code]) > 20 for code in ("en", "zh"))
    experiment.draw(record, Figure().subplots())


@pytest.mark.parametrize("name", EXPECTED)
def test_live_experiment_settles_its_bet(name):
    before, seed = flags.read(), torch.initial_seed()
    experiment, record = base.get(name), base.run(name)
    assert record.complete and experiment.settles(record) == EXPECTED[name]
    check_shown(experiment, record)
    assert (flags.read(), torch.initial_seed(), torch.backends.flags_frozen()) == (before, seed, False)


def test_what_is_overwritten_in_one_line_does_not_spoil_the_next():
    assert [row["accepted"] for row in base.run("01-not-a-switch").rows] == [1] * 6


def test_a_child_process_that_dies_ends_the_wait():
    with pytest.raises(EOFError):
        map_probes._in_child("spawn", _dies)


def _dies(_pipe):
    os._exit(1)


def test_polite_request_runs_and_leaves_no_trace():
    if not torch.backends.mkldnn.is_available():
        pytest.skip("this build of PyTorch has no oneDNN")
    before = flags.read()
    experiment, record = base.get("01-polite-request"), base.run("01-polite-request", 1.5)
    assert set(experiment.settles(record)) == {"01-bet-polite"}
    check_shown(experiment, record)
    assert flags.read() == before


@pytest.mark.parametrize(
    ("low", "high", "option"), [(1.4, 1.6, "c"), (0.6, 0.8, "a"), (0.98, 1.03, "b"), (0.9, 1.3, None)]
)
def test_polite_bet_follows_the_interval(low, high, option):
    rows = [{"request": name, "ratio": 1.0, "low": low, "high": high} for name in ("deterministic", "both named")]
    record = Record("01-polite-request", 1, "01_map", {}, rows)
    assert experiments.settle_polite_request(record) == {"01-bet-polite": option}
    inconclusive = "Inconclusive" in experiments.say_polite_request(record)["en"]
    assert inconclusive == (option is None)


def test_flags_raises_beside_the_newer_precision_api_and_the_bracketed_assignment_does_not():
    cudnn = torch.backends.cudnn
    with flags.preserved():
        cudnn.conv.fp32_precision = "ieee"
        with pytest.raises(RuntimeError), cudnn.flags(enabled=cudnn.enabled, deterministic=True):
            pass
        old = cudnn.deterministic
        try:
            cudnn.deterministic = True
            assert cudnn.deterministic and cudnn.enabled
        finally:
            cudnn.deterministic = old
    assert not cudnn.deterministic
