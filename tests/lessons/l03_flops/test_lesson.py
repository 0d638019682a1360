"""Lesson 03: its references agree with the counter, its bets follow their records, what is live gives whole rows."""

from __future__ import annotations

import random

import pytest

from course.core.i18n import speaking
from course.experiment.base import load_all, run
from course.experiment.result import block
from grader.project import Project
from grader.project.task import tasks
from tests.lessons.l03_flops.rows import roofs
from tests.lessons.live import measured, record_of

pytestmark = pytest.mark.slow

LESSON = "03_flops"
TASK = tasks(Project(), LESSON)


# --- checkpoint tasks ----------------------------------------------------------------------------------


def test_the_solutions_agree_with_the_counter():
    import torch
    from torch import nn

    from course.flops import count

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


# --- live, small ---------------------------------------------------------------------------------------


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


def test_a_busy_machine_is_said():
    for code, words in (("en", "busy"), ("zh", "机器正忙")):
        with speaking(code):
            said = [block(record_of("03-roof", roofs(3, 4, busy)), load_all()["03-roof"]).so for busy in (1, 0)]
        assert words in said[0] and not said[1]


def test_the_race_gives_whole_rows():
    rows = run("03-depthwise", 1.0).rows
    assert rows and all(0 < row["low"] <= row["ratio"] <= row["high"] for row in rows)
    assert all(row["macs_ratio"] == pytest.approx(1 / row["groups"]) and row["threads"] == 1 for row in rows)
