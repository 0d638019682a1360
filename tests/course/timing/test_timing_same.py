"""Timing: the candidates' first results are compared, and a difference is said."""

from __future__ import annotations

import collections
import dataclasses

import numpy as np
import pytest
import torch

from course.core.i18n import speaking
from course.timing import compare
from course.timing.sameness import SAMPLE, difference, digest
from tests.support.timing_clocks import NoisyClock

X = torch.linspace(-2, 2, 1000)
Named = collections.namedtuple("Named", "loss logits")


@dataclasses.dataclass
class Plain:
    value: object


def told(one, two, tolerance=None):
    return difference(digest(one), digest(two), tolerance)


@pytest.mark.parametrize(
    "one, two",
    [
        (X.relu(), X.relu() + 1),
        (X, X[:-1]),
        (X, X.double()),
        (X, X.bfloat16()),
        (torch.tensor([1, 2]), torch.tensor([1, 3])),
        (torch.tensor([True]), torch.tensor([False])),
        ({"a": X}, {"b": X}),
        ([X, X], [X, X + 1]),
        (Named(1.0, X), Named(2.0, X)),
        (1, 2),
        ("a", "b"),
        (None, X),
        (X, X.numpy() + 1),
        (torch.tensor([1.0, float("nan")]), torch.tensor([1.0, 2.0])),
        (torch.tensor([1 + 1j]), torch.tensor([1 - 1j])),
        (np.float32(1), np.float32(2)),
        ({1}, [1]),
        ((X, 3), (X, 3, 4)),
        (Plain(X), Plain(X + 1)),
    ],
)
def test_a_difference_is_seen_and_said(one, two):
    assert told(one, two) and told(two, one)


@pytest.mark.parametrize(
    "one, two",
    [
        (X, X * (1 + 1e-5)),
        (X, X.clone()),
        (Plain(X), Plain(X.clone())),
        (X.bfloat16(), X.bfloat16() * 1.01),
        (X, X.numpy()),
        (None, None),
        ("a", "a"),
        (torch.tensor([float("nan"), float("inf")]), torch.tensor([float("nan"), float("inf")])),
        (1.0, 1.0 + 1e-12),
        ({"a": [X, 1]}, {"a": [X, 1]}),
        (object(), object()),
        (torch.empty(0), torch.empty(0)),
        (X.to_sparse(), X.to_sparse()),
        (torch.empty(3, device="meta"), torch.empty(3, device="meta")),
        (torch.tensor([1 + 1j]), torch.tensor([1 + 1j])),
        (torch.zeros(5), torch.zeros(5)),
    ],
)
def test_what_agrees_up_to_half_its_digits_or_cannot_be_read_is_no_difference(one, two):
    assert told(one, two) is None


def test_a_tolerance_allows_coarser_results_and_other_floating_types():
    coarse = X.bfloat16()
    assert told(X, coarse) and told(X, coarse, 0.01) is None and told(X, coarse, 1e-5)
    assert told(X.long(), X, 0.9), "whole numbers and fractions are no matter of precision"


def test_the_digest_is_small_and_leaves_the_result_alone():
    big = torch.randn(3 * SAMPLE + 5, requires_grad=True)
    before = big.detach().clone()
    assert len(digest(big)[0]["values"]) <= SAMPLE
    assert torch.equal(big, before) and big.grad is None
    assert told(big, big + 1)
    assert len(digest(list(range(10_000)))) <= 200


def test_compare_says_a_difference_and_nothing_else():
    def cost(result):
        return lambda: (result, 1e-4)[0]

    class Clock(NoisyClock):
        def block(self, f, calls):
            f()
            return super().block(lambda: 1e-4, calls)

    def notes(one, two, **more):
        found = compare({"relu": cost(one), "other": cost(two)}, clock=Clock(1), seed=1, max_time=0.2, **more)
        return found["other"].difference, [note for note in found.notes if "does not return" in note]

    difference_, said = notes(X.relu(), X.relu() + 1)
    assert "largest difference 1" in difference_ and len(said) == 1
    assert notes(X, X.clone()) == ("", [])
    assert notes(X, X + 1, same=False) == (None, [])
    assert notes(X, X * 1.01, same=0.1) == ("", [])
    assert notes(X, X * 1.01, same=0.001)[0]


class Own:
    def __init__(self, value):
        self.value = value


@pytest.mark.parametrize(
    "result", [lambda: Own(X), lambda: [1, Own(X)], lambda: {"out": (Own(X),)}, lambda: X.to_sparse()]
)
def test_results_that_cannot_be_read_are_named_with_a_way_out(result):
    with speaking("zh"):
        found = compare({"a": result, "b": result}, max_time=0.02, device="cpu")
    said = [note for note in found.notes if "没有比较" in note]
    assert len(said) == 1 and ("Own" in said[0] or "sparse" in said[0]) and "same=False" in said[0]
    assert found["b"].difference is None and found["b"].not_compared
    quiet = compare({"a": result, "b": result}, max_time=0.02, device="cpu", same=False).notes
    assert not any("compared" in note for note in quiet)
