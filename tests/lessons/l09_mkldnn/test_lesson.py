"""Lesson 09: its rule, logs and live experiments give what they should. No speed is asserted."""

from __future__ import annotations

import platform
from types import SimpleNamespace

import pytest
import torch

from course import flags
from course.core.records import nearest
from course.exercises.exercise import all_exercises, judge
from course.exercises.slips import arguments
from course.experiment import base
from course.experiment.new_process import answer_of
from course.lessons.l09_mkldnn.experiments import X86
from course.lessons.l09_mkldnn.probes import ROUTES, route, routes_of
from course.trace.onednn_log import log_of, recorded_log
from tests.lessons.live import check_shown, measured

LESSON = "09_mkldnn"
RULE = all_exercises()["09-goes-to-onednn"].cases
NAMES = [name for name, one in base.load_all().items() if one.lesson == LESSON]
ONEDNN = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this build of PyTorch has no oneDNN")


def test_without_onednn_nothing_can_lose(monkeypatch):
    monkeypatch.setattr(torch._C, "_has_mkldnn", False)
    verdict = judge(
        all_exercises()["09-make-it-lose"], {"call": lambda: None, "race": SimpleNamespace(low=1, high=2, rounds=9)}
    )
    assert (verdict.state, verdict.reason) == ("inconclusive", "no-onednn")


def test_without_onednn_a_recorded_log_is_read_and_named(monkeypatch, capsys):
    assert bool(recorded_log("conv")) is (not torch.backends.mkldnn.is_available())
    monkeypatch.setattr(torch._C, "_has_mkldnn", False)
    calls = {call: recorded_log(call) for call in ("conv", *(f"cache {n}" for n in (1, 2, 3, 4)), "lstm 1", "lstm 64")}
    assert "recorded on" in capsys.readouterr().out and all(calls.values())
    assert {"reorder", "convolution"} == {line.primitive for line in calls["conv"]}
    made = [line.event for n in (1, 2, 3, 4) for line in calls[f"cache {n}"] if line.primitive == "convolution"]
    assert made == ["create:cache_miss", "exec"] * 2 + ["create:cache_hit", "exec"] * 2
    assert "rnn" in {line.primitive for line in calls["lstm 64"]} and not recorded_log("no such call")


def test_there_is_something_to_replay_where_this_build_has_no_onednn():
    for name in NAMES:
        experiment = base.get(name)
        if experiment.needs == "mkldnn" and name != "09-threads":  # wants a quiet machine
            record = nearest(name, {}, version=experiment.version)
            assert record is not None and record.rows and record.complete, name
            check_shown(record)


@ONEDNN
@pytest.mark.parametrize(("call", "taught"), RULE.made(RULE.solution).items())
def test_the_taught_rule_is_the_dispatchers(call, taught):
    batch, channels, height, width, kernel, groups = (*arguments(call)[0], 1)[:6]
    weight = torch.zeros(16, channels // groups, kernel, kernel)
    named = route(torch.zeros(batch, channels, height, width), weight, groups=groups)
    if not named:
        pytest.skip("this torch does not name its choice")
    assert (named == "Mkldnn") == taught


@ONEDNN
def test_a_rung_answers_from_a_new_process():
    record = measured("09-bf16", 0.001)  # the first rung only
    assert len(record.rows) == 1 and record.rows[0]["ratio"] > 0 and "implementation" in record.rows[0]
    assert not record.complete
    check_shown(record)


@pytest.mark.slow
@ONEDNN
@pytest.mark.skipif(platform.machine() not in X86, reason="the ladder is that of x86")
def test_the_variable_counts_in_a_new_process_and_not_later():
    code = (
        "import os, torch\nfrom course.trace.onednn_log import log_of\nlayer = torch.nn.Conv2d(16, 16, 3)\n"
        "def names(): return [one.implementation for one in log_of(lambda: layer(torch.zeros(2, 16, 20, 20)))\n"
        "                     if one.primitive == 'convolution']\n"
        "first = names()\nos.environ['ONEDNN_MAX_CPU_ISA'] = 'DEFAULT'\nassert first == names(), first\nanswer(first)"
    )
    held, _ = answer_of(code, variables={"ONEDNN_MAX_CPU_ISA": "SSE41"})
    assert held == ["jit:sse41"]


@ONEDNN
def test_routes_agree_with_the_log():
    seen = {case: routes_of(case) for case in ROUTES}
    for row in seen.values():
        if row["on"]:
            assert (row["on"] == "Mkldnn") == bool(row["convolution_lines"]), row
    assert seen["float64"]["convolution_lines"] == seen["one small image"]["convolution_lines"] == 0
    torch.backends.mkldnn.enabled = True


@ONEDNN
def test_the_switch_without_a_reader_and_the_trap():
    mkldnn, layer, image = torch.backends.mkldnn, torch.nn.Conv2d(16, 16, 3), torch.randn(4, 16, 24, 24)
    plain, lines = layer(image), len(log_of(lambda: layer(image)))
    with flags.using({"mkldnn.deterministic": True}):
        assert len(log_of(lambda: layer(image))) == lines > 0 and torch.equal(layer(image), plain)
    with mkldnn.flags(deterministic=True):
        assert not mkldnn.enabled and len(log_of(lambda: layer(image))) == 0


# --- invented rows that settle each bet on each of its options (tests/course/experiment); nothing was measured ---


SPAN = {"faster": (0.4, 0.6), "same": (0.99, 1.01), "slower": (1.4, 1.6), "undecided": (0.8, 1.3)}


def report(*primitives: str) -> list[dict]:
    """Lines of oneDNN's report, made up."""
    line = (
        "onednn_verbose,v1,primitive,exec,cpu,{},jit:made_up,undef,src:f32::blocked:abcd::f0 "
        "dst:f32::blocked:aBcd16b::f0,attr-scratchpad:user,,8x16x64x64,1.0"
    )
    return [{"call": "conv", "line": line.format(name)} for name in primitives]


def ratio(kind):
    low, high = SPAN[kind]
    return {"ratio": (low + high) / 2, "low": low, "high": high, "verdict": kind}


def race_rows(kinds):
    layers = ("Conv2d", "LSTM", "GRU", "Linear")
    times = {"on_ms": 1.0, "off_ms": 2.0, "rounds": 40, "threads": 1}
    return [{"layer": layer, **ratio(kind), **times} for layer, kind in zip(layers, kinds.split(), strict=True)]


def steps(kinds):
    times = {"on_ms": 1.0, "off_ms": 1.0, "rounds": 40, "reorder_share": 0.5}
    return [{"steps": 4**at, **ratio(kind), **times} for at, kind in enumerate(kinds.split())]


def layouts(of_one, last=None, kind="faster"):
    """Reorders of one convolution, and of the channels_last chain, which takes so long."""
    chains = {
        "NCHW": (3 * of_one, "faster"),
        "channels_last": (last or 3 * of_one, kind),
        "to_mkldnn": (3 * of_one, "faster"),
    }
    times = {"reorder_ms": 0.1, "compute_ms": 1.0, "reorders_of_one_conv": of_one}
    return [{"layout": name, "reorders": count, **ratio(one), **times} for name, (count, one) in chains.items()]


def routes(backend, lines=0, off="Slow2d", case="one small image"):
    return [{"case": case, "on": backend, "off": off, "convolution_lines": lines}]


def half(kind):
    other = {"process": 0, "median_ms": 1.0, "baseline_ms": 1.0, "implementation": "made up"}
    kinds = {"DEFAULT": "faster", "AVX512_CORE": kind, "AVX2": "faster"}
    return [{"rung": rung, **ratio(one), **other} for rung, one in kinds.items()]


def threads(small, large, count=2, times=1.0):
    rows = [{"size": size, "threads": count, **ratio(kind)} for size, kind in (("small", small), ("large", large))]
    moved = [{name: row[name] * times for name in ("ratio", "low", "high")} for row in rows]
    return [{**row, **far, "one_ms": 1.0, "all_ms": 1.5} for row, far in zip(rows, moved, strict=True)]


def few(rows):
    """The same with too few rounds for an interval."""
    return [{**row, "low": None, "high": None, "rounds": 4} for row in rows]


ROWS = {
    "09-bet-who": {
        "a": race_rows("faster faster faster faster"),
        "b": race_rows("faster faster same faster"),
        "c": race_rows("faster faster same same"),
        "d": race_rows("faster slower same same"),
    },
    "09-bet-reorders": {"a": layouts(0), "b": layouts(1), "c": layouts(3)},
    "09-bet-small": {"a": routes("Mkldnn", 1), "b": routes("Slow2d"), "c": routes("NnpackSpatial")},
    "09-bet-bf16": {"a": half("faster"), "b": half("same"), "c": half("slower")},
}
FURTHER = {
    "09-bet-who": [
        (race_rows("same same same same"), None),
        (race_rows("faster faster undecided same"), None),
        (race_rows("undecided same same same"), None),
        (few(race_rows("faster faster same same")), None),
    ],
    "09-bet-reorders": [
        (layouts(2), "c"),
        (layouts(3, 3, "faster"), "c"),
        (layouts(3, 3, "same"), "c"),
        (layouts(1, 9, "slower"), "b"),
        (few(layouts(3)), "c"),
    ],
    "09-bet-small": [
        (routes("", 1, off=""), "a"),  # a torch that does not name its choice
        (routes("", off=""), "b"),
        ([*routes("Slow2d"), *routes("Mkldnn", 1, case="batch")], "b"),
    ],
    "09-bet-bf16": [
        (half("undecided"), None),
        *(([{**half("same")[0], **ratio(kind)}], None) for kind in SPAN),
        ([{**row, **ratio("slower")} for row in half("slower")], "c"),
        (few(half("slower")), None),
    ],
}
BRANCHES = {
    "09-one-step": [
        steps("slower undecided faster"),
        *(steps(f"{kind} {kind} {kind}") for kind in SPAN),
        steps("same faster faster"),
        steps("slower same same"),
        steps("faster undecided"),
        few(steps("slower faster")),
    ],
    "09-logs": [report("convolution"), report("reorder", "convolution"), report("reorder", "reorder", "convolution")],
    "09-threads": [
        threads("slower", "slower"),
        threads("slower", "faster"),
        threads("undecided", "faster"),
        threads("same", "same", count=1),
        threads("slower", "slower", times=40.0),
    ],
}
