"""Lesson 05: the toy searches as it should, live experiments settle their bets. Nothing is timed."""

from __future__ import annotations

import pytest
import torch

from course.lessons.l05_cudnn_benchmark import survey
from course.lessons.l05_cudnn_benchmark.experiments import SCHEDULES
from course.lessons.l05_cudnn_benchmark.search_tree import search_tree
from course.models import toy_search
from tests.lessons.live import as_rows, measured

ONEDNN = torch.backends.mkldnn.is_available()


def test_all_candidates_compute_the_same_convolution():
    x, weight = toy_search.image(17), toy_search.kernel()
    for candidate in toy_search.CANDIDATES.values():
        torch.testing.assert_close(candidate(x, weight), toy_search.direct(x, weight), atol=1e-4, rtol=1e-4)


def test_the_toy_asks_the_cache_before_the_switch():
    x, weight = toy_search.image(16), toy_search.kernel()
    conv = toy_search.ToyConv(benchmark=False)
    conv(x, weight)
    conv.benchmark = True
    conv(x, weight)
    assert conv.searches == 0 and list(conv.plans.values()) == [toy_search.ranked(x)[0]]
    conv(toy_search.image(20), weight)
    assert conv.searches == 1
    assert set(toy_search.run_schedule([16], True, limit=1).plans.values()) == {toy_search.ranked(x)[0]}


@pytest.mark.parametrize("sizes", SCHEDULES.values(), ids=SCHEDULES)
def test_the_toy_searches_once_per_size(sizes):
    assert toy_search.run_schedule(sizes[:6], benchmark=True).searches == len(set(sizes[:6]))


@pytest.mark.skipif(not ONEDNN, reason="this build of PyTorch has no oneDNN")
def test_with_the_cache_off_everything_is_made_anew():
    rows = measured("05-primitive-cache", 60).rows
    assert [row["event"] for row in rows if row["setting"] == "cache off"] == ["miss"] * 4


def test_the_tree_keeps_what_the_clock_says_and_times_nothing_with_the_search_off():
    searched, trusted = toy_search.ToyConv(benchmark=True, limit=3), toy_search.ToyConv()
    with pytest.raises(ValueError, match="key"):
        search_tree(searched)
    for conv in (searched, trusted):
        conv(toy_search.image(24), toy_search.kernel())
    assert list(searched.last.times_ms) == list(searched.last.ranked[:3])
    assert searched.last.times_ms[searched.last.plan] == min(searched.last.times_ms.values())
    assert trusted.last.times_ms == {} and trusted.last.plan == trusted.last.ranked[0]
    for conv in (searched, trusted):
        drawn = search_tree(conv)
        words = (
            f"{conv.last.plan}: {conv.last.times_ms[conv.last.plan]:.3g} ms"
            if conv is searched
            else "first in the list"
        )
        assert f"{words}: kept" in drawn.picture.alt and ("nothing was timed" in drawn.headline) == (conv is trusted)


def test_the_survey_of_an_h100_is_the_raw_data():
    """Counted by hand from the three columns of each way: apart in every process, by 3 %; else processes of one side by 10 %."""
    found = survey.on_an_h100()
    assert survey.counted(found) == {"faster": 5, "slower": 34, "unsteady": 31, "same": 102, "all": 172}
    assert "34 of 172" in survey.h100().headline


# --- invented rows that settle each bet on each of its options (tests/course/experiment); nothing was measured ---


def visits(story, times, size=128, process=0):
    columns = "story process call benchmark batch size call_ms peak_reserved_mib peak_allocated_mib reserved_mib"
    benchmark = int(story != "off")
    lines = enumerate(times, start=1)
    return as_rows(columns, *((story, process, n, benchmark, 8, size, ms, 100.0 + ms, 80.0, 90.0) for n, ms in lines))


def flip_rows(at_flip, after, control=1.0):
    """control: how long the calls after number 10 are that never saw a flip, against those before."""
    new = [500.0, 2.0, 2.0, 2.0]
    return [
        row
        for process in range(3)
        for row in visits("off", [9.0] + [1.0] * 9 + [control] * 10 + [6.0, 2.0, 2.0, 2.0], process=process)
        + visits("flipped", [9.0] + [1.0] * 9 + [at_flip] + [after] * 9 + new, process=process)
        + visits("on", [400.0] + [0.7] * 19 + new, process=process)
    ]


def sizes(*dear):
    """Three sizes that come three times; these calls take long with the search on."""
    return [
        {**row, "size": (128, 256, 512)[(row["call"] - 1) % 3]}
        for story, slow in (("off", ()), ("on", dear))
        for row in visits(story, [50.0 if call in slow else 1.0 for call in range(1, 10)])
    ]


def steps(first_on, later_on):
    """A first step and 149 later ones, which take 20 ms and 3 ms without the search."""
    off, on = [20.0] + [3.0] * 149, [first_on] + [later_on] * 149
    return as_rows("story process samples_ms", ("off", 0, off), ("on", 0, on))


def events(named):
    return [{"setting": "as it comes", "call": n, "size": 64, "event": event} for n, event in enumerate(named.split())]


def race(*verdicts):
    columns = "schedule verdict ratio low high off_ms on_ms rounds steps searches"
    schedules = ("one size", "always new", "three sizes")
    return as_rows(
        columns, *((*both, 0.9, 0.8, 1.1, 2.0, 1.8, 18, 36, 1) for both in zip(schedules, verdicts, strict=False))
    )


def costs(first_ms):
    """Twelve first steps next to later ones of 0.1 ms."""
    columns = "repeat search first_ms later_ms"
    return as_rows(columns, *((n, search, first_ms, 0.1) for n in range(12) for search in ("off", "on")))


def networks(*ratios):
    """A network for each ratio of its steps, and one that does not change."""
    columns = "network precision search process steps first_ms step_ms"
    return as_rows(
        columns,
        *(
            (f"made up {n}", "float32", way, process, 9, first, 5.0 * times)
            for n, ratio in enumerate((*ratios, 1.0))
            for process in range(2)
            for way, first, times in (("off", 40.0, 1.0), ("on", 900.0, ratio))
        ),
    )


ROWS = {
    "05-bet-revisit": {
        "a": events("miss miss miss miss"),
        "b": events("miss hit hit hit"),
        "c": events("miss miss hit hit"),
        "d": events("miss miss miss hit"),
    },
    "05-bet-race": {
        "a": race("faster", "faster"),
        "b": race("faster", "slower"),
        "c": race("same", "slower"),
        "d": race("slower", "faster"),
    },
    "05-bet-flip": {"a": flip_rows(400.0, 0.7), "b": flip_rows(1.0, 1.0), "c": flip_rows(0.7, 0.7)},
    "05-bet-pays": {"a": steps(220.0, 3.5), "b": steps(220.0, 2.9), "c": steps(220.0, 2.0)},
    "05-bet-price": {"a": costs(0.3), "b": costs(0.9), "c": costs(2.0)},
}
BRANCHES = {"05-sizes-cuda": [sizes(1, 2, 3), sizes()], "05-networks-cuda": [networks(0.9, 1.2), networks(1.0)[:2]]}
FURTHER = {
    "05-bet-revisit": [
        (events("miss miss hit miss"), None),
        ([{**row, "event": "not seen"} for row in events("- - - -")], None),
    ],
    "05-bet-flip": [
        (flip_rows(150.0, 1.0), None),
        # 8 % less time in every story, with a flip and without: the control takes it out
        (flip_rows(0.92, 0.92, control=0.92), "b"),
        # a process cut short does not spoil the whole ones
        ([*flip_rows(1.0, 1.0), *visits("off", [9.0, 1.0, 1.0], process=3)], "b"),
        # an unsteady control makes nothing of it: the flip cost no search, and the calls after it are no quicker
        (
            [
                {**row, "call_ms": row["call_ms"] * (1 + 0.1 * row["process"] * (10 < row["call"] < 21))}
                if row["story"] == "off"
                else row
                for row in flip_rows(1.0, 1.0)
            ],
            "b",
        ),
        # nor does a flip whose new sizes take no longer
        ([{**row, "call_ms": min(row["call_ms"], 2.0)} for row in flip_rows(1.0, 1.0)], None),
    ],
    "05-bet-pays": [
        (steps(20.0, 2.0), "c"),
        (steps(220.0, 3.0), None),
        ([*steps(220.0, 2.0), {"story": "on", "process": 1, "samples_ms": [220.0, 2.0, 2.0]}], "c"),  # cut short
    ],
    "05-bet-price": [
        (costs(0.1), "a"),
        ([{**row, "later_ms": 0.1 if row["search"] == "on" else 0.3} for row in costs(2.0)], "c"),
        (costs(2.0)[:18], None),
        # other programs disturbed half of the searches: the quick ones count
        (costs(0.9)[:12] + costs(9.0)[12:], "b"),
        # no two of the quick ones agree
        ([{**row, "first_ms": 2.0 * 1.3 ** row["repeat"]} for row in costs(2.0)], None),
    ],
    "05-bet-race": [
        (race("same", "faster"), "d"),
        (race("faster", "same"), "b"),
        (race("faster", "slower", "faster"), "b"),
        (race("undecided", "slower"), None),
        (race("same", "undecided"), None),
        ([{**row, "low": None, "high": None, "rounds": 4} for row in race("undecided", "undecided")], None),
    ],
}
RECORDED = {
    "05-flip-cuda": ("Turned on after a shape was seen, the switch does nothing for it.", {"05-bet-flip": "b"}),
    "05-pays-cuda": (
        "ResNet18 forward: the search never pays, a later step takes 3 % more time.",
        {"05-bet-pays": "a"},
    ),
    "05-sizes-cuda": ("The search makes a new size's first call up to 17 times as long, once.", {}),
}
"""What the recordings made on a GPU say, derived by hand from their rows: experiment -> headline, bets."""
