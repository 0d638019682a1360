"""Lesson 03: every difference between counters is explained to the last digit, page faults are told apart from work, references agree."""

from __future__ import annotations

import contextlib
import platform
import random
import sys
import time
import warnings

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import prune

from course import models
from course.core.i18n import set_language
from course.experiment.base import run
from course.figures import plot
from course.flops import count
from course.lessons.l03_flops.crosscheck import CrossCheck, cross_check
from course.lessons.l03_flops.experiments import draw_roof
from grader.project import Project
from grader.project.task import tasks
from tests.lessons.live import as_rows, measured

pytestmark = pytest.mark.slow


def _pieces(check: CrossCheck) -> None:
    """The reasons of every tool add up to its difference, and none of them is "not explained"."""
    for row in check.tools:
        assert row.note is None, row
        assert sum(reason.amount for reason in row.reasons) == row.difference, row
        assert not any("not explained" in reason.text["en"] for reason in row.reasons), row
        assert all(reason.text["zh"] for reason in row.reasons)


def test_vgg16_known_numbers() -> None:
    check = cross_check(models.vgg16(), torch.zeros(1, 3, 224, 224))
    _pieces(check)
    macs, conv_bias, linear_bias = 15_470_264_320, 13_547_520, 9_192
    relu = conv_bias + 8192
    pool = sum(c * s * s for c, s in ((64, 224), (128, 112), (256, 56), (512, 28), (512, 14))) + 512 * 49
    assert check.ours.macs == macs
    assert check["thop"].macs == macs + 2 * 512 * 49
    assert check["ptflops pytorch"].macs == macs + conv_bias + linear_bias + 2 * (relu + pool)
    assert check["ptflops aten"].macs == macs + conv_bias + linear_bias
    assert check["torch"].reported == 2 * macs and check["torch"].difference == 0
    told = [row for row in check.tools if row.difference is not None]
    far = max(told, key=lambda row: abs(row.difference))
    assert far.tool in check.sentence() and f"of {len(told)} tools" in repr(check)


@pytest.mark.parametrize(
    ("model", "x"),
    [
        (models.resnet18(), torch.zeros(2, 3, 64, 64)),
        (models.gpt_block(32, 4), torch.zeros(1, 6, 32)),
        (models.unet(), torch.zeros(1, 3, 32, 32)),
        (models.lstm(50, 8, 16), torch.zeros(3, 7, dtype=torch.long)),
        (nn.Conv2d(3, 4, 3), torch.zeros(1, 3, 8, 8)),
        (nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), torch.zeros(1, 7, 16)),
    ],
    ids=["resnet18", "gpt", "unet", "lstm", "conv", "encoder"],
)
def test_every_difference_is_explained(model: nn.Module, x: Tensor) -> None:
    model.train()
    state = {name: value.clone() for name, value in model.state_dict().items()}
    generator = torch.get_rng_state()
    before = torch.nn.functional.relu, torch.matmul, torch.Tensor.matmul, "matmul" in torch.Tensor.__dict__
    _pieces(cross_check(model, x))
    assert model.training and list(state) == list(model.state_dict())
    assert all(torch.equal(value, model.state_dict()[name]) for name, value in state.items())
    assert torch.equal(generator, torch.get_rng_state())
    assert before == (torch.nn.functional.relu, torch.matmul, torch.Tensor.matmul, "matmul" in torch.Tensor.__dict__)


def test_missing_package_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "thop.profile", None)
    check = cross_check(nn.Linear(3, 3), torch.zeros(1, 3))
    assert check["thop"].macs is None and "pip install thop" in str(check)
    assert check["ptflops aten"].macs == 12


class Sleeper(nn.Module):
    """Fast the first three times, for our own count and the real run; then it hangs."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.layer, self.how = nn.Linear(3, 3), how
        self.register_buffer("mark", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        if "total_ops" in self.layer._buffers:  # thop is at work
            if self.how == "sleeps":
                time.sleep(40)
            elif self.how == "exits":
                raise SystemExit(3)
            while self.how == "loops":
                with contextlib.suppress(Exception):
                    sum(range(1000))
        return self.layer(x)


@pytest.mark.parametrize("how", ["sleeps", "loops"])
def test_a_tool_that_hangs_is_left_behind_and_named(how: str) -> None:
    model, x = Sleeper(how), torch.zeros(1, 3)
    start = time.monotonic()
    check = cross_check(model, x, max_time=1.0)
    assert time.monotonic() - start < 30
    assert check["thop"].macs is None and "thop was cut off after 1 s" in str(check)
    assert "max_time=10" in check["thop"].note["zh"]
    assert check["torch"].macs == 9
    assert not hasattr(model.layer, "total_ops") and not model.layer._forward_hooks


def test_a_tool_that_ends_the_program_is_named() -> None:
    check = cross_check(Sleeper("exits"), torch.zeros(1, 3))
    assert "thop stopped with SystemExit: 3" in str(check) and check["ptflops aten"].macs == 12


@pytest.mark.filterwarnings("ignore")
def test_pruned_compiled_and_choosing_models() -> None:
    pruned = prune.l1_unstructured(nn.Linear(6, 4), "weight", amount=0.5)
    for model in (nn.Sequential(pruned, nn.ReLU()), torch.compile(nn.Linear(6, 4))):
        check = cross_check(model, torch.zeros(2, 6))
        _pieces(check)
        assert check["torch"].macs == 48


LESSON = "03_flops"
TASK = tasks(Project(), LESSON)


def test_the_solutions_agree_with_the_counter():
    layer, step = TASK["03-t-layer"].reference, TASK["03-t-step"].reference
    for case in TASK["03-t-layer"].draw(random.Random(5)):
        kind, n, c_in, c_out, kernel, size, stride, padding, groups = case.args
        kind = nn.Conv2d if kind == "conv" else nn.ConvTranspose2d
        module = kind(c_in, c_out, kernel, stride=stride, padding=padding, groups=groups)
        assert count(module, torch.zeros(n, c_in, size, size)).macs == layer(*case.args)
    for trained in ([True] * 3, [False, True, True], [True, False, True], [False, True, False]):
        sizes = [3, 5, 2, 4]
        layers = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:], strict=False)]
        for module, learns in zip(layers, trained, strict=True):
            module.requires_grad_(learns)
        work = [module.weight.numel() for module in layers]
        assert count(nn.Sequential(*layers), torch.zeros(1, 3), training=True).macs == step(work, trained)


def test_the_parts_of_a_transformer_grow_as_the_lesson_says():
    for row in measured("03-length", 60).rows:
        tokens = row["tokens"]
        assert (row["linear_macs"], row["attention_macs"]) == (12 * 768**2 * tokens, 2 * tokens**2 * 768)


def test_the_roof_is_measured_live(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_HOME", str(tmp_path))
    found = run("03-roof", 6.0)  # twelve rounds of each operation take their time
    peak, *rest = found.rows
    batches = [row for row in rest if "work_ratio" in row]
    operations = [row for row in rest if row not in batches]
    assert peak["flops_per_s"] > 0 and peak["ridge"] == pytest.approx(peak["flops_per_s"] / peak["bytes_per_s"])
    work = {row["operation"]: row for row in operations}
    expected = {
        "linear, batch 1": (2 * 4096**2, 4 * (4096**2 + 2 * 4096)),
        "linear, batch 64": (2 * 64 * 4096**2, 4 * (4096**2 + 2 * 64 * 4096)),
        "matrix product": (2 * 1024**3, 3 * 4 * 1024**2),
        "depthwise conv": (2 * 56**2 * 128 * 9, 4 * (2 * 128 * 56**2 + 128 * 9)),
        "dense conv": (2 * 56**2 * 128**2 * 9, 4 * (2 * 128 * 56**2 + 128**2 * 9)),
        "ReLU": (0, 2 * 4 * 4 * 128 * 112**2),
    }
    assert list(work) == [name for name in expected if name in work]  # on a busy machine some have too few rounds
    assert len(work) == 6 or not found.complete
    for name, row in work.items():
        assert (row["flops"], row["bytes"]) == expected[name], name
    assert batches or not found.complete
    for batch in batches:
        assert batch["work_ratio"] == 64 and 0 < batch["low"] <= batch["ratio"] <= batch["high"]
    monkeypatch.setattr(plot, "cjk_font", lambda: None)
    set_language("zh")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib warns of each sign that its fonts lack
        draw_roof(found, {"03-bet-roof": "a"}).png()


GLIBC = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the rules of glibc")


@GLIBC
def test_memory_that_is_kept_costs_no_page_faults():
    rows = run("03-page-faults").rows
    found = {(row["layer"], row["memory"]): row["page_faults"] for row in rows}
    assert len(rows) == len(found) == 4
    assert found["dense", "fresh"] > 392 and found["depthwise", "fresh"] > 392  # the pages of one result
    assert found["dense", "kept"] < 20 and found["depthwise", "kept"] < 20


@GLIBC
def test_depthwise_is_measured_without_page_faults():
    found = run("03-depthwise")  # in its own time: a new process starts late beside other work
    assert found.rows and all(row["page_faults"] <= 20 for row in found.rows)
    assert all(0 < row["low"] <= row["ratio"] <= row["high"] for row in found.rows)
    assert all(row["macs_ratio"] == pytest.approx(1 / row["groups"]) and row["threads"] == 1 for row in found.rows)


# --- invented rows that settle each bet on each of its options (tests/course/experiment); nothing was measured ---


def memories(faults: float | None) -> list[dict]:
    """Fresh memory adds 1.5 ms to either layer."""
    kept = faults and 0.0
    return as_rows(
        "layer memory call_ms low_ms high_ms threads page_faults",
        ("dense", "fresh", 3.5, 2.0, 4.0, 1, faults),
        ("depthwise", "fresh", 2.0, 0.5, 2.5, 1, faults),
        ("dense", "kept", 2.0, 2.0, 4.0, 1, kept),
        ("depthwise", "kept", 0.5, 0.5, 2.5, 1, kept),
    )


def timed(fresh_ms: float, kept_ms: float) -> list[dict]:
    """A depthwise layer with fresh memory and with kept memory, each within 1 %."""
    times = {"fresh": fresh_ms, "kept": kept_ms}
    return [
        {**row, "call_ms": ms, "low_ms": 0.99 * ms, "high_ms": 1.01 * ms}
        for row in memories(1100.0)
        for ms in (times[row["memory"]],)
    ]


def tools(*reported: int) -> list[dict]:
    units = ["MACs"] + ["FLOPs"] * (len(reported) - 1)
    return [
        *as_rows(
            "part tool unit reported macs difference",
            *(("tool", f"tool {i}", units[i], number, number, 1) for i, number in enumerate(reported)),
        ),
        {"part": "reason", "tool": "tool 0", "macs": 5, "reason_en": "bias", "reason_zh": "偏置"},
        {"part": "missing", "tool": "thop", "reason_en": "not installed", "reason_zh": "没有安装"},
    ]


def lstm(on: int, off: int) -> list[dict]:
    return as_rows("layer mkldnn torch_flops exact_flops", ("LSTM", 1, on, 100), ("LSTM", 0, off, 100))


def lengths(at_1024: int) -> list[dict]:
    return as_rows("tokens macs linear_macs attention_macs", (256, 100, 99, 1), (1024, at_1024, at_1024 - 1, 1))


def shares(low: float, high: float) -> list[dict]:
    return as_rows(
        "channels size groups macs macs_ratio low ratio high verdict threads",
        (128, 28, 128, 10, 1 / 128, low, (low + high) / 2, high, "faster", 1),
    )


def roofs(low: float, high: float, busy: int = 0) -> list[dict]:
    operations = as_rows(
        "operation flops flops_per_byte bound",
        ("linear, batch 1", 10**6, 1.0, "memory"),
        ("linear, batch 64", 64 * 10**6, 64.0, "compute"),
        ("matrix product", 10**8, 100.0, "compute"),
        ("ReLU", 0, 0.0, "memory"),
    )
    alike = {"part": "operation", "bytes": 10**6, "time_ms": 1.0, "kind": "", "overhead_ms": 0.0}
    share = {"share_of_roof": 0.1, "share_of_roof_low": 0.09, "share_of_roof_high": 0.11}
    return [
        *as_rows(
            "part flops_per_s bytes_per_s ridge dtype busy device threads precision created",
            ("peak", 1e11, 1e10, 10.0, "float32", busy, "cpu", 1, "none", "2026-05-01T09:30:00Z"),
        ),
        *(row | alike | share | {"flops_per_s": 1e3 * row["flops"]} for row in operations),
        *as_rows(
            "part work_ratio ratio low high verdict threads", ("batch", 64.0, (low + high) / 2, low, high, "slower", 1)
        ),
    ]


ROWS = {
    "03-bet-roof": {"a": roofs(60, 66), "b": roofs(3.9, 4.1), "c": roofs(1.1, 1.4)},
    "03-bet-vgg": {"a": tools(100, 101), "b": tools(100, 130), "c": tools(100, 200)},
    "03-bet-lstm": {"a": lstm(0, 100), "b": lstm(100, 100), "c": lstm(100, 0)},
    "03-bet-length": {"a": lengths(400), "b": lengths(1600), "c": lengths(463)},
    "03-bet-depthwise": {"a": shares(0.007, 0.01), "b": shares(0.05, 0.06), "c": shares(0.6, 0.9)},
}
FURTHER = {
    "03-bet-roof": [(roofs(1.5, 2.5), None), (roofs(30, 40), None), (roofs(2.1, 2.7), "b")],
    "03-bet-vgg": [(tools(100), None), (tools(), None), (tools(100, 260), "c")],
    "03-bet-lstm": [(lstm(0, 0), None), (lstm(50, 100), None)],
    "03-bet-length": [(lengths(1000), None)],
    "03-bet-depthwise": [(shares(0.01, 0.02), None), (shares(0.4, 0.6), None), (shares(1.2, 1.4), "c")],
}
BRANCHES = {"03-page-faults": [memories(1100.0), timed(2.0, 0.5), timed(2.0, 1.5), timed(1.5, 2.0), timed(1.0, 1.01)]}
