"""Protects who reads a trace: events as rows, what a real call gives and what is refused; the reader of oneDNN's log, and its race."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from course import flags
from course.core.profiled import since
from course.trace import CALL, LINE, parts_of, rows_of, totals, trace_of
from course.trace.onednn_log import Log, log_of, on_off, parse_line, time_in

HERE = __file__


def event(name, start, end, device="CPU", label=False):
    return SimpleNamespace(
        name=name,
        time_range=SimpleNamespace(start=float(start), end=float(end)),
        device_type=f"DeviceType.{device}",
        is_user_annotation=label or name in (CALL,) or name.startswith(LINE),
    )


EVENTS = [
    event("aten::conv2d", 110, 160),
    event(CALL, 100, 200),
    event(LINE + f"{HERE}:1", 108, 162),
    event("aten::convolution", 112, 158),
    event("aten::empty", 113, 115),
    event(LINE + "elsewhere.py:7", 116, 157),
    event("aten::mkldnn_convolution", 118, 156),
    event("my data", 165, 190, label=True),
    event("aten::add", 170, 172),
    event("void kernel<float>", 120, 230, device="CUDA"),
]


def by_name():
    return {row["name"]: row for row in rows_of(EVENTS)}


def test_nesting_gives_depth_own_time_and_kind():
    rows = by_name()
    assert [(row["depth"], row["self_us"], row["kind"]) for row in rows.values() if row["device"] == "cpu"] == [
        (0, 25.0, "call"),
        (0, 4.0, "pass"),
        (1, 6.0, "pass"),
        (2, 2.0, "prepare"),
        (2, 38.0, "work"),
        (0, 23.0, "label"),
        (1, 2.0, "work"),
    ]
    assert rows["void kernel<float>"]["kind"] == "kernel" and rows["aten::conv2d"]["start_us"] == 10.0


def test_every_microsecond_of_the_call_is_counted_once():
    rows = rows_of(EVENTS)
    parts = parts_of(rows)
    assert parts == {"work": 40.0, "prepare": 2.0, "pass": 10.0, "outside": 48.0}
    assert sum(parts.values()) == 100.0


def test_a_line_is_the_innermost_noted_one_and_its_code_is_read():
    rows = by_name()
    assert rows["aten::mkldnn_convolution"]["line"] == "elsewhere.py:7"
    assert rows["aten::mkldnn_convolution"]["code"] == ""
    assert rows["aten::conv2d"]["code"].startswith('"""Protects who reads a trace')
    assert rows["aten::add"]["line"] == rows["aten::add"]["code"] == ""
    found = totals(rows_of(EVENTS), "line")
    assert [(line["calls"], line["self_us"]) for line in found] == [(1, 38.0), (3, 12.0)]


def test_a_device_that_the_profiler_does_not_see_is_said():
    found = trace_of(lambda: torch.ones(3, device="meta") + 1, calls=1)
    assert found.unseen == ("meta",) and "meta" in found.sentence()
    assert trace_of(lambda: torch.ones(3) + 1, calls=1).unseen == ()


def step(x):
    doubled = x + x
    return torch.nn.functional.relu(doubled)


def test_a_real_call_names_its_operations_and_lines_and_draws_itself():
    x = torch.randn(16, 16)
    found = trace_of(lambda: step(x), calls=1)
    rows = found.rows()
    assert {"aten::add", "aten::relu"} <= {row["name"] for row in rows}
    code = {row["name"]: row["code"] for row in rows}
    assert code["aten::add"] == "doubled = x + x" and code["aten::relu"].startswith("return torch.nn")
    assert 0 <= found.overhead <= 1 and sum(parts_of(rows).values()) <= found.profiled_ms * 1e3 * 1.001
    assert "doubled" in str(found) and "<table" in found._repr_html_()
    assert ">add<" in found.timeline().picture.svg()


def test_backward_stands_under_the_line_that_started_it():
    weight = torch.randn(4, 4, requires_grad=True)

    def train():
        loss = (weight * 2).sum()
        loss.backward()
        weight.grad = None

    found = {row["name"]: row["code"] for row in trace_of(train, calls=1).rows()}
    assert found["autograd::engine::evaluate_function: MulBackward0"] == "loss.backward()"


@pytest.mark.parametrize(
    ("given", "calls", "words"), [(3, 1, ""), ("os:getcwd", 1, ""), (int, 0, "calls"), (int, True, "calls")]
)
def test_what_cannot_be_called_so_often_is_refused_in_words(given, calls, words):
    with pytest.raises(ValueError, match=words):
        trace_of(given, calls=calls)


def test_the_error_of_the_function_comes_through_and_the_profiler_stops():
    def broken():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        trace_of(broken)
    assert not torch.autograd._profiler_enabled()


def test_what_came_before_the_call_is_not_in_it():
    """A tiny kernel pays for the profiler's buffer first; ranges are drawn a second time beside the kernels: both are left out."""
    early = [
        event("aten::zeros", 1, 9),
        event("Activity Buffer Request", 2, 8),
        event("fill kernel", 5, 6, device="CUDA"),
    ]
    twice = event(CALL, 121, 229, device="CUDA", label=True)
    assert [one.name for one in since(CALL, [*early, *EVENTS, twice])] == [one.name for one in EVENTS]


def test_a_call_on_the_cpu_is_profiled_there_also_on_a_machine_with_a_gpu(monkeypatch):
    from course.core import profiled
    from course.experiment.probes import seen

    asked = []
    real = profiled.events_of
    monkeypatch.setattr(profiled, "accelerators_here", lambda: ["cuda"])
    for module in ("course.trace.events", "course.experiment.probes"):
        monkeypatch.setattr(
            f"{module}.events_of", lambda work, on_cuda, *more: asked.append(on_cuda) or real(work, on_cuda, *more)
        )
    x = torch.ones(8, 8)
    names = [row["kernel"] for row in seen(lambda: x @ x, warm_ups=1, calls=2)]
    assert "aten::mm" in names and profiled.WHOLE not in names
    trace_of(lambda: x @ x, calls=1)
    assert set(asked) == {False}
    assert profiled.runs_on_cuda(lambda: torch.ones(2, device="meta")) is False


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
def test_on_off_moves_one_switch_and_puts_it_back():
    mkldnn, seen = torch.backends.mkldnn, set()
    with flags.using({"mkldnn.enabled": False}):
        race = on_off(lambda: seen.add(mkldnn.enabled), max_time=0.05)
        assert mkldnn.enabled is False
    assert seen == {True, False} and race.baseline == "off" and set(race.pairs) == {"on"}
