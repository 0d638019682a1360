"""The reader of oneDNN's log, and the race of on against off. No speed is asserted."""

from __future__ import annotations

import random

import pytest
import torch

from course import flags
from course.trace.onednn_log import Log, log_of, on_off, parse_line, time_in

ONEDNN = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this build of PyTorch has no oneDNN")
LINE = (
    "onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx2,forward_training,src:f32:a:blocked:aBcd8b::f0 "
    "wei:f32:a:blocked:ABcd8b8a::f0 bia:undef::undef::: dst:f32:a:blocked:aBcd8b::f0,attr-scratchpad:user,"
    "alg:convolution_direct,mb8_ic16oc32_ih64oh64kh3sh1dh0ph1_iw64ow64kw3sw1dw0pw1,1.84"
)


def test_a_line_is_read_field_by_field():
    line = parse_line(LINE)
    assert (line.event, line.primitive, line.implementation, line.time_ms) == ("exec", "convolution", "jit:avx2", 1.84)
    assert line.formats == {"src": "f32 aBcd8b", "wei": "f32 ABcd8b8a", "dst": "f32 aBcd8b"}
    assert line.problem.startswith("mb8_ic16oc32") and line.kind == "forward_training"


@pytest.mark.parametrize(
    "text",
    [
        "epoch 3",
        "onednn_verbose,v1,info,cpu,runtime:OpenMP,nthr:2",
        LINE.replace("1.84", "soon"),
        "onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation,prop_kind,memory_descriptors,"
        "attributes,auxiliary,problem_desc,exec_time",
        "onednn_verbose,v1,primitive,exec,cpu",
    ],
)
def test_what_is_no_primitive_is_passed_over(text):
    assert parse_line(text) is None


def test_creation_is_told_from_execution():
    log = Log(
        "\n".join([LINE, LINE.replace("exec", "create:cache_miss"), "hello", LINE.replace("exec", "create:cache_hit")])
    )
    assert [line.event for line in log] == ["exec", "create:cache_miss", "create:cache_hit"]
    assert time_in(log) == time_in(log, "convolution") == 1.84 and time_in(log, "reorder") == 0
    assert Log("a print without an end" + LINE + "\n").raw == (LINE,), "a line is found wherever it begins"
    assert len(log.raw) == 3 and "cache_miss" in log._repr_html_()


@ONEDNN
def test_the_log_of_a_convolution_and_what_is_left_behind(capfd):
    layer, x = torch.nn.Conv2d(16, 16, 3), torch.randn(4, 16, 24, 24)
    before, threads = flags.read(), torch.get_num_threads()
    log = log_of(lambda: (print("seen", end="", flush=True), layer(x)))
    assert [line.primitive for line in log].count("convolution") == 1
    assert len(log_of(lambda: torch.nn.Linear(8, 8).double()(torch.randn(2, 8).double()))) == 0
    layer(x)
    out = capfd.readouterr().out
    assert out.count("seen") == 1 and "onednn_verbose" not in out
    assert (flags.read(), torch.get_num_threads()) == (before, threads)


@ONEDNN
def test_an_exception_inside_gives_the_output_back(capfd):
    with pytest.raises(ZeroDivisionError):
        log_of(lambda: 1 / 0)
    print("still here", flush=True)
    assert "still here" in capfd.readouterr().out


@ONEDNN
def test_the_cache_of_primitives_is_seen():
    layer, size = torch.nn.Conv2d(16, 16, 3), random.randrange(60, 90)
    events = [
        [
            line.event
            for line in log_of(lambda: layer(torch.zeros(3, 16, size, size)), creation=True)
            if line.primitive == "convolution"
        ][0]
        for _ in range(2)
    ]
    assert events == ["create:cache_miss", "create:cache_hit"]


@ONEDNN
def test_on_off_moves_one_switch_and_puts_it_back():
    mkldnn, seen = torch.backends.mkldnn, set()
    with flags.using({"mkldnn.enabled": False}):
        race = on_off(lambda: seen.add(mkldnn.enabled), max_time=0.05)
        assert mkldnn.enabled is False
    assert seen == {True, False} and race.baseline == "off" and set(race.pairs) == {"on"}
