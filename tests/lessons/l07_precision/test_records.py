"""Live records of lesson 07: their rows say what the lesson says."""

from __future__ import annotations

import pytest
import torch

from tests.lessons.live import measured

ONEDNN = torch.backends.mkldnn.is_available()
TREE = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 13)


@pytest.mark.skipif(not ONEDNN, reason="this build of PyTorch has no oneDNN")
def test_onednn_is_asked_without_a_trace():
    rows = measured("07-onednn", 60).rows
    assert {row["operation"] for row in rows} == {"matmul", "conv", "rnn", "simulated"}
    exact = [row for row in rows if row["permission"] in ("none", "ieee")]
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
