"""Lesson 14: what it teaches holds here, and where the packages for ONNX are missing it says so with the next step."""

from __future__ import annotations

import contextlib
import sys

import pytest
import torch

from course import flags
from course.core.i18n import speaking
from course.core.machine import ONNX, can, next_step
from course.experiment import base
from course.lessons.l14_export import experiments
from course.lessons.l14_export.experiments import AROUND, MODEL, SENT, _layers
from course.verbs import state
from tests.lessons.live import as_rows

pytestmark = pytest.mark.slow

VERSION = tuple(map(int, torch.__version__.split(".")[:2]))
NEEDS_ONNX = pytest.mark.skipif(not can("onnx"), reason="onnx, onnxscript, onnxruntime: pip install -e .[export]")


def test_without_the_packages_the_rest_runs_and_no_setting_around_the_network_is_in_the_program(monkeypatch):
    for name in ONNX:
        monkeypatch.setitem(sys.modules, name, None)
    rows = {row["setting"]: row for row in base.run("14-what-it-keeps").rows}
    assert {row["onnx"] for row in rows.values()} == {-1}
    noted = {"cudnn.enabled"} if VERSION < (2, 11) else set()  # an argument of the batch norm, in older versions
    assert {name for name in AROUND if rows[name]["export"]} == noted
    assert {name: rows[name]["export"] for name in MODEL} == {**dict.fromkeys(MODEL, 1), "hook": 0}
    written = {name for name in AROUND if rows[name]["trace"]}
    assert written == {
        "cudnn.enabled",
        "cudnn.benchmark",
        "cudnn.deterministic",
        "deterministic algorithms",
        "autocast",
    }


@NEEDS_ONNX
def test_no_switch_is_in_an_onnx_file_and_an_autocast_block_is():
    plain = experiments._says("onnx", *experiments._changed("nothing"))
    with contextlib.ExitStack() as together:
        for setting in {*AROUND} - {"autocast"}:
            together.enter_context(experiments._around(setting))
        assert experiments._says("onnx", *experiments._changed("nothing")) == plain
    assert experiments._says("onnx", *experiments._changed("float64")) != plain
    with experiments._around("autocast"):
        assert experiments._says("onnx", *experiments._changed("nothing")) != plain


def test_a_trace_takes_the_wrong_branch_and_export_refuses_it():
    record = base.run("14-branch")
    rows = {(row["way"], row["input"]): row for row in record.rows}
    assert rows["trace", "the other side"]["result"] == -1.0 and rows["export", "the other side"]["error"]
    assert rows["where", "the other side"]["result"] == rows["python", "the other side"]["result"] == -1.5


@NEEDS_ONNX
def test_whole_numbers_come_back_with_equal_bits_and_rounding_stays_far_below_a_fault():
    bits = {row["layer"]: row for row in base.run("14-same-bits", budget_s=60).rows}
    assert bits["ReLU"]["differ_share"] == bits["MaxPool2d"]["differ_share"] == 0
    assert bits["Linear, whole numbers"]["differ_share"] == 0
    assert bits["SmallNet"]["largest"] < 1e-5
    faults = {row["sent"]: row["largest"] for row in base.run("14-tolerance", budget_s=60).rows}
    assert min(value for name, value in faults.items() if name != "as it should be") > 100 * faults["as it should be"]


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("code", ["en", "zh"])
def test_missing_packages_get_a_sentence_and_a_command_that_moves_nothing(monkeypatch, capsys, code, recorded):
    import numpy

    from course.verbs.experiments import observe

    for name in ONNX:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setenv("COURSE_TEXT", "1")
    monkeypatch.setattr(state, "now", state.State())
    if not recorded:
        monkeypatch.setattr(base, "recording", lambda experiment: None)
    assert not can("onnx") and next_step("cuda")["en"] == ""
    with speaking(code):
        shown = observe("14-same-bits", bet=False)
    assert not shown.live if recorded else shown is None
    said = capsys.readouterr().out
    assert "%pip install" in said and " ".join(ONNX) in said and f"numpy=={numpy.__version__}" in said
    assert "Traceback" not in said and "What others" not in said and "别人公布" not in said


class Attends(torch.nn.Module):
    def forward(self, q):
        return torch.nn.functional.scaled_dot_product_attention(q, q, q)


def test_attentions_switch_is_read_when_a_program_is_decomposed_and_not_when_it_is_exported():
    graphs = {}
    for flash in (True, False):
        with flags.using({"cuda.enable_flash_sdp": flash}):
            program = torch.export.export(Attends(), (torch.randn(1, 2, 64, 16),))
            graphs[flash] = str(program.graph), str(program.run_decompositions().graph)
    assert graphs[True][0] == graphs[False][0] and graphs[True][1] != graphs[False][1]


class Product(torch.nn.Module):
    def forward(self, a, b, c):
        return torch.einsum("ij,jk,kl->il", a, b, c)


class AsksForItsType(torch.nn.Module):
    def forward(self, x):
        y = x @ x
        return y * 2 if y.dtype == torch.float32 else y * 100


def test_the_order_that_opt_einsum_found_stands_in_the_program():
    pytest.importorskip("opt_einsum")
    inputs = (torch.randn(8, 2), torch.randn(2, 64), torch.randn(64, 3))
    found = []
    for on in (True, False):
        with flags.using({"opt_einsum.enabled": on}):
            found.append(str(torch.export.export(Product(), inputs).graph))
    assert "path" in found[0] and found[0] != found[1]


def test_autocast_around_an_export_moves_what_asks_for_a_type():
    x = torch.ones(3, 3)
    outside = torch.export.export(AsksForItsType(), (x,)).module()(x)
    with torch.autocast("cpu", torch.bfloat16):
        inside = torch.export.export(AsksForItsType(), (x,)).module()
    assert outside[0, 0] == 6 and inside(x)[0, 0] == 300


# --- invented rows that settle each bet on each of its options (tests/course/experiment); nothing was measured ---


def kept(*noticed, onnx=0):
    return [
        {"setting": one, "trace": int(one.startswith("cudnn")), "export": int(one in noticed), "onnx": onnx}
        for one in (*AROUND, *MODEL)
    ]


def gates(result, error=""):
    ways = (("python", -1.5, ""), ("trace", result, error), ("export", 0.0, "MadeUpError"), ("where", -1.5, ""))
    return as_rows(
        "way input result error",
        *(
            (way, given, found, refused)
            for way, answer, refused in ways
            for given, found in (("like the example", 2.0), ("the other side", answer))
        ),
    )


def layers(chance, whole):
    shares = {"Linear": chance, "Linear, whole numbers": whole}
    columns = "layer differ_share largest torch_error other_error"
    return as_rows(columns, *((one, shares.get(one, 0.5), 1e-7, 1e-7, 2e-7) for one in _layers()))


def sent(least):
    return [{"sent": one, "largest": 1e-6 if one == "as it should be" else least} for one in SENT]


ROWS = {
    "14-bet-switches": {
        "a": kept("train"),
        "b": kept("autocast", "train"),
        "c": kept(*(one for one in AROUND if one.startswith("cudnn"))),
        "d": kept(*AROUND, onnx=-1),
    },
    "14-bet-branch": {"a": gates(-1.0), "b": gates(-1.5), "c": gates(0.0, "MadeUpError")},
    "14-bet-bits": {"a": layers(0.0, 0.0), "b": layers(0.4, 0.0), "c": layers(0.4, 0.3)},
    "14-bet-faults": {"a": sent(2e-6), "b": sent(5e-5), "c": sent(0.02)},
}
FURTHER = {
    "14-bet-switches": [
        ([{**row, "trace": 0} for row in kept("train")], "a"),
        (kept("cudnn.enabled"), None),
        (kept("train")[:4], None),
    ],
    "14-bet-bits": [(layers(0.0, 0.3), None), (layers(0.4, 0.0)[:1], None)],
}
