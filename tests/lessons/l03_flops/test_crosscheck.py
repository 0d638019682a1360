"""The other counters beside ours: numbers known from their rules, and every difference explained to the
last digit.
"""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import prune

from benchmarks.zoo import ZOO
from course import models
from course.core.i18n import speaking
from course.flops import CountError
from course.lessons.l03_flops.crosscheck import CrossCheck, cross_check

pytestmark = pytest.mark.slow

thop = pytest.importorskip("thop")
ptflops = pytest.importorskip("ptflops")


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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((torch.relu, torch.zeros(1)), "需要 nn.Module"),
        ((nn.Linear(3, 3), {"input": torch.zeros(1, 3)}), "不按名字"),
        ((nn.Linear(3, 3), torch.zeros(1, 4)), "中断"),
    ],
)
def test_odd_requests(arguments: tuple[Any, ...], said: str) -> None:
    with speaking("zh"), pytest.raises(CountError, match=said):
        cross_check(*arguments)


@pytest.mark.filterwarnings("ignore")
def test_pruned_compiled_and_choosing_models() -> None:
    pruned = prune.l1_unstructured(nn.Linear(6, 4), "weight", amount=0.5)
    for model in (nn.Sequential(pruned, nn.ReLU()), torch.compile(nn.Linear(6, 4))):
        check = cross_check(model, torch.zeros(2, 6))
        _pieces(check)
        assert check["torch"].macs == 48


ZOO_HERE = [entry for entry in ZOO if entry.macs < 1_000_000 and "compile" not in entry.name]


@pytest.mark.filterwarnings("ignore")
def test_no_difference_in_the_zoo_is_left_unexplained() -> None:
    for entry in ZOO_HERE[::14]:
        for row in cross_check(*entry.make()).tools:
            if row.note is None:
                assert sum(reason.amount for reason in row.reasons) == row.difference, (entry.name, row.tool)
                assert not any("not explained" in reason.text["en"] for reason in row.reasons), (entry.name, row.tool)
