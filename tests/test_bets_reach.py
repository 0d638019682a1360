"""Every option of every bet can come out: for each, rows of a record that settle the bet on it.

The rows are invented. Nothing was measured.
"""

from __future__ import annotations

import pytest

from course.experiments import base
from course.quiz import Bank
from course.records import Record
from tests.lessons.test_lesson_05_records import flip_rows

BETS = {item.id: item for item in Bank().items() if item.kind == "predict"}
UNREACHABLE: dict[str, dict[str, str]] = {}
"""Bet -> option -> why no measurement can name it, and where the learner is told."""


def flags(changed):
    return [{"switch": str(n), "named": 0, "before": 0, "inside": int(n < changed), "after": 0} for n in range(4)]


def seen(thread, fork, spawn):
    return [{"set_in": "main", "read_in": place, "sees": sees}
            for place, sees in (("thread", thread), ("fork", fork), ("spawn", spawn))]


def visits(events):
    return [{"setting": "as it comes", "call": n, "size": 64, "event": event} for n, event in enumerate(events.split())]


def race(one, new):
    return [{"schedule": "one size", "verdict": one}, {"schedule": "always new", "verdict": new}]


def waits(call_ms, read_ms):
    return [{"where": "cpu", "call_ms": call_ms, "read_ms": read_ms} for _ in range(8)]


def fences(median_ms):
    return [{"stopwatch": "fence after only", "median_ms": median_ms, "kernel_ms": 20.0, "earlier_ms": 30.0}]


def calls(first_ms):
    return [{"shape": shape, "call": call, "call_ms": 1.0 if call else first_ms} for shape in range(8) for call in range(8)]


def trials(winners):
    return [{"trial": n, "method": "means, each alone", "said": "faster" if n < winners else "same"} for n in range(20)]


ROWS = {
    "00-bet-sums": {"a": [{"numbers": "float32", "distinct": 1}], "b": [{"numbers": "float32", "distinct": 2}],
                    "c": [{"numbers": "float32", "distinct": 40}]},
    "01-bet-polite": {option: [{"request": "deterministic", "low": low, "high": high}]
                      for option, low, high in (("a", 0.7, 0.8), ("b", 0.98, 1.02), ("c", 1.4, 1.6))},
    "01-bet-typos": {option: [{"raised": int(n < raised)} for n in range(12)]
                     for option, raised in (("a", 12), ("b", 6), ("c", 1), ("d", 0))},
    "01-bet-who-sees": {"a": seen(0, 0, 0), "b": seen(1, 0, 0), "c": seen(1, 1, 0), "d": seen(1, 1, 1)},
    "01-bet-flags": {"a": flags(0), "b": flags(1), "c": flags(2), "d": flags(3)},
    "01-bet-frozen": {"a": [{"kind": "with", "open": 0}], "b": [{"kind": "with", "open": 1}],
                      "c": [{"kind": "with", "open": 1}, {"kind": "setter", "open": 1}]},
    "01-bet-mps": {option: [{"tried": "mps.is_available = False", "accepted": accepted, "after": after}]
                   for option, accepted, after in (("a", 1, "False"), ("b", 0, "True"), ("c", 1, "TypeError: no"))},
    "02-bet-cpu": {"a": waits(1, 9), "b": waits(9, 1), "c": waits(5, 5)},
    "02-bet-one-fence": {"a": fences(0.5), "b": fences(20), "c": fences(50)},
    "02-bet-first-call": {"a": calls(1.1), "b": calls(2), "c": calls(9)},
    "02-bet-same-code": {"a": trials(0), "b": trials(4), "c": trials(9)},
    "02-bet-threads": {option: [{"ratio": ratio, "all_threads": 4}] * 8 for option, ratio in
                       (("a", 3.0), ("b", 1.0), ("c", 0.5))},
    "03-bet-vgg": {option: [{"part": "tool", "reported": 100.0}, {"part": "tool", "reported": other}]
                   for option, other in (("a", 101.0), ("b", 130.0), ("c", 200.0))},
    "03-bet-lstm": {option: [{"layer": "LSTM", "mkldnn": 0, "torch_flops": off}, {"layer": "LSTM", "mkldnn": 1, "torch_flops": on}]
                    for option, off, on in (("a", 9, 0), ("b", 9, 9), ("c", 0, 9))},
    "03-bet-length": {option: [{"tokens": 256, "macs": 1.0}, {"tokens": 1024, "macs": macs}]
                      for option, macs in (("a", 4.0), ("b", 16.0), ("c", 5.5))},
    "03-bet-depthwise": {option: [{"channels": 128, "macs_ratio": 1 / 128, "low": low, "high": high}]
                         for option, low, high in (("a", 0.005, 0.01), ("b", 0.1, 0.2), ("c", 0.6, 0.8))},
    "05-bet-revisit": {"a": visits("miss miss miss miss"), "b": visits("miss hit hit hit"),
                       "c": visits("miss miss hit hit"), "d": visits("miss miss miss hit")},
    "05-bet-race": {"a": race("faster", "faster"), "b": race("faster", "slower"), "c": race("same", "slower"),
                    "d": race("slower", "faster")},
    "05-bet-winners": {option: [{"search": n, "winner": f"candidate {n % kinds}"} for n in range(12)]
                       for option, kinds in (("a", 1), ("b", 2), ("c", 3))},
    "05-bet-flip": {"a": flip_rows(400.0, 0.7), "b": flip_rows(1.0, 1.0), "c": flip_rows(0.7, 0.7)},
}


def settled(bet, rows):
    item = BETS[bet]
    experiment = base.get(item.experiment)
    return experiment.settles(Record(experiment.name, experiment.version, experiment.lesson, {}, rows)).get(bet)


@pytest.mark.parametrize("bet", sorted(BETS))
def test_every_option_can_come_out(bet):
    rows, never = ROWS.get(bet, {}), UNREACHABLE.get(bet, {})
    options = {one.id for one in BETS[bet].options}
    assert set(rows) | set(never) == options and not set(rows) & set(never), (
        f"{bet}: add rows that settle it on {sorted(options - set(rows) - set(never))}, or say why nothing can")
    assert {option: settled(bet, found) for option, found in rows.items()} == {option: option for option in rows}


@pytest.mark.parametrize("one", ["faster", "slower", "same"])
@pytest.mark.parametrize("new", ["faster", "slower", "same"])
def test_the_race_is_settled_by_every_decided_pair(one, new):
    """The bet asks where the search makes the run shorter; "the same time" is an answer to that: no."""
    expected = {(True, True): "a", (True, False): "b", (False, False): "c", (False, True): "d"}
    assert settled("05-bet-race", race(one, new)) == expected[one == "faster", new == "faster"]
    assert settled("05-bet-race", race("undecided", new)) is None


def test_more_changed_flags_than_options_leave_the_bet_open():
    assert settled("01-bet-flags", [{**row, "inside": 1} for row in flags(4)]) is None
