"""Timing: a function that changes what it takes from outside is named; one that fills an output is not."""

from __future__ import annotations

import functools
from collections import deque

import numpy as np
import pytest
import torch

from course.i18n import set_language
from course.timing import captured, compare, measure

AT_MODULE = [3, 1, 2]


def sorts_a_global():
    AT_MODULE.sort()


def named(f, calls=1, again=False):
    found = []
    for _ in range(calls):
        with captured.changes(f, found, again=again):
            f()
    return found


def made():
    """Functions and the names of what they change."""
    shuffled = [3, 1, 2]
    numbers, tensor, memo, queue = np.array([3.0, 1.0, 2.0]), torch.tensor([3.0, 1.0]), {}, deque([1, 2])
    return {
        "a list in a closure": (lambda: shuffled.sort(), ["shuffled"]),
        "a global": (sorts_a_global, ["AT_MODULE"]),
        "a bound method": ([3, 1, 2].sort, ["self"]),
        "an array put into order": (lambda: numbers.sort(), ["numbers"]),
        "a cache that is filled": (lambda: memo.setdefault(1, 2), ["memo"]),
        "a queue": (lambda: queue.popleft(), ["queue"]),
        "an argument of a partial": (functools.partial(lambda v: v.append(1), [1]), ["argument 1"]),
        "a tensor, the first time": (lambda: tensor.add_(1), []),
    }


@pytest.mark.parametrize("case", made())
def test_what_a_call_changes_is_named(case):
    f, names = made()[case]
    AT_MODULE[:] = [3, 1, 2]
    assert named(f) == names


def test_an_output_is_filled_once_and_an_input_changes_again():
    x, out, total = torch.ones(5), torch.empty(5).fill_(7), torch.zeros(5)
    assert named(lambda: torch.add(x, 1, out=out)) == named(lambda: torch.add(x, 1, out=out), again=True) == []
    assert named(lambda: total.add_(x)) == [] and named(lambda: total.add_(x), again=True) == ["total"]


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor([float("nan"), 1.0]),
        torch.empty(3, device="meta"),
        torch.eye(3).to_sparse(),
        np.array(["a"]),
        [],
        {},
    ],
)
def test_what_cannot_be_read_or_stays_is_left_alone(value):
    assert named(lambda: value, again=True) == []


@pytest.mark.parametrize("language, words", [("en", "sort changes L"), ("zh", "sort 会改动它从外部取用的 L")])
def test_compare_names_the_list_that_is_sorted_in_place(language, words):
    numbers = torch.randn(500, generator=torch.Generator().manual_seed(1)).tolist()
    L = list(numbers)
    set_language(language)
    try:
        found = compare({"sorted": lambda: sorted(L), "sort": lambda: (L.sort(), L)[1]}, max_time=0.05, device="cpu")
    finally:
        set_language("en")
    assert [note for note in found.notes if words in note] and "setup=" in found.notes[-1]
    fair = compare({"sorted": sorted, "sort": lambda v: (v.sort(), v)[1]}, setup=lambda: list(numbers), max_time=0.05)
    assert not fair.notes


def test_measure_with_arguments_gets_the_right_form():
    with pytest.raises(ValueError, match=r"measure\(lambda: f\(x\)\)"):
        measure(torch.relu, torch.ones(3))
