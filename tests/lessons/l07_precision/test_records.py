"""Records of lesson 07: live ones run and restore, each outcome of a bet is met on invented rows, probes keep form."""

from __future__ import annotations

import pytest
import torch

from course.experiment import base
from course.lessons.l07_precision.experiments import LESSON
from tests.lessons.live import check_shown, measured

NAMES = [name for name, one in base.load_all().items() if one.lesson == LESSON]
LIVE = [name for name in NAMES if base.get(name).needs in ("cpu", "mkldnn")]
ONEDNN = torch.backends.mkldnn.is_available()
TREE = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 13)

# Rows below that are not made by `base.run` are invented test data. Nothing was measured.


# --- live -------------------------------------------------------------------------------------------------

EXPECTED = {
    "07-neighbours": {},
    "07-solve": {"07-bet-solve": "b"},
    "07-noise": {"07-bet-noise": "c"},
    "07-mixing": {"07-bet-mixing": "c"},
    "07-tree": {"07-bet-default": "b"},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_live_experiments_settle_their_bets_and_leave_no_trace(name):
    record = measured(name, 60)
    assert base.get(name).settles(record) == EXPECTED[name]
    check_shown(record)


@pytest.mark.skipif(not ONEDNN, reason="this build of PyTorch has no oneDNN")
def test_onednn_is_asked_without_a_trace():
    record = measured("07-onednn", 60)
    check_shown(record)
    assert {row["operation"] for row in record.rows} == {"matmul", "conv", "rnn", "simulated"}
    exact = [row for row in record.rows if row["permission"] in ("none", "ieee")]
    assert all(row["relative"] < 1e-5 for row in exact)


def test_the_cliff_is_there_and_the_mean_removes_it():
    rows = measured("07-neighbours", 60).rows

    def worst(story, offset):
        return min(row["share"] for row in rows if (row["story"], row["offset"]) == (story, offset))

    assert worst("tf32", 0) > 0.9 > 0.5 > max(r["share"] for r in rows if (r["story"], r["offset"]) == ("tf32", 300))
    assert worst("tf32, mean removed", 300) > 0.9


@pytest.mark.skipif(not TREE, reason="an older torch reads otherwise")
def test_one_old_reading_does_not_notice_the_contradiction():
    """What the card 07-read-raises says of the last line of the picture."""
    read = {row["read"]: row["outcome"] for row in measured("07-mixing", 60).rows if row["api"] == "both"}
    assert read["get_float32_matmul_precision()"] == "high" and read["cuda.matmul.allow_tf32"] == "raises"


@pytest.mark.skipif(not TREE, reason="before 2.13 the root did not reach cuDNN's leaves")
def test_the_tree_answers_as_the_lesson_says():
    rows = measured("07-tree", 60).rows
    after = {(row["set"], row["node"]): row["after"] for row in rows}
    assert after["nothing", "cudnn.conv"] == after["nothing", "cudnn.rnn"] == "tf32"
    assert after["fp32_precision = ieee", "cudnn.conv"] == "ieee"
    assert after["cudnn = ieee", "cuda.matmul"] == "ieee" and after["cudnn = ieee", "mkldnn.matmul"] == "none"
    assert after["cudnn.conv = ieee, fp32_precision = tf32", "cudnn.conv"] == "ieee"
    assert after["set_float32_matmul_precision(high)", "mkldnn.matmul"] == "tf32"
    assert after["mkldnn = bf16", "fp32_precision"] == "bf16"
    assert all(row["before"] == after["nothing", row["node"]] for row in rows)


# --- CUDA: what the pictures show of invented rows --------------------------------------------------------


def test_live_names_are_listed():
    assert set(LIVE) == {*EXPECTED, "07-onednn"}
