"""Timing: what calls leave behind is put back and named, what a first call keeps is named, and first results are compared."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import itertools

import numpy as np
import pytest
import torch

from course.core.i18n import speaking
from course.timing import TimingError, compare, leftovers, measure
from course.timing.sameness import SAMPLE, difference, digest
from tests.support.timing_clocks import NoisyClock


@pytest.fixture(autouse=True)
def as_before():
    yield
    torch.use_deterministic_algorithms(False)


def test_a_switch_left_on_is_named_put_back_and_never_on_for_the_other():
    seen = set()

    def leaves():
        torch.use_deterministic_algorithms(True)

    def other():
        seen.add(torch.are_deterministic_algorithms_enabled())

    with speaking("zh"):
        found = compare({"leaves": leaves, "other": other}, max_time=0.1, same=False, device="cpu")
    assert seen == {False} and not torch.are_deterministic_algorithms_enabled()
    [note] = [note for note in found.notes if "deterministic" in note]
    assert note.startswith("leaves") and "没有还原" in note


def test_after_every_block_the_same_is_done_whoever_left_a_switch(monkeypatch):
    """What follows one candidate alone leaves cold caches to the others: one call in two settings differed by 3 to 8 % on a Xeon."""
    done = []

    def noted(name):
        method = getattr(leftovers.Left, name)
        monkeypatch.setattr(leftovers.Left, name, lambda self: (done.append(name), method(self))[1])

    def leaves():
        torch.use_deterministic_algorithms(True)
        done.append("leaves")

    noted("restore")
    noted("put_back")  # of the first calls, the search for the number of calls, and the end
    compare({"other": lambda: done.append("other"), "leaves": leaves}, max_time=0.1, same=False, device="cpu")
    rounds = "".join(f"{one} " for one in done).split("put_back ")[-2].split()
    steps = [step for step, _ in itertools.groupby(rounds)]
    assert set(steps[::2]) == {"restore"} and set(steps[1::2]) == {"leaves", "other"}


def test_default_dtype_and_gradients_are_put_back_and_named():
    weight, kept = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    kept.grad = torch.full((3,), 5.0)
    grad, seen = kept.grad, set()

    def step():
        torch.set_default_dtype(torch.float64)
        (weight * kept).sum().backward()

    def other():
        seen.add((torch.get_default_dtype(), weight.grad is None, kept.grad is grad, float(grad[0])))

    found = compare({"step": step, "other": other}, max_time=0.1, same=False, device="cpu")
    [note] = [note for note in found.notes if note.startswith("step leaves")]
    assert "torch.set_default_dtype" in note and "the .grad of 2 tensors" in note
    assert seen == {(torch.float32, True, True, 5.0)}
    alone = measure(step, max_time=0.05, device="cpu")
    assert "the .grad of 2 tensors" in " ".join(alone.notes)
    assert torch.get_default_dtype() == torch.float32 and weight.grad is None and kept.grad is grad and grad[0] == 5


@pytest.mark.parametrize("ends", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("calls", [1, 30])
def test_what_was_left_is_put_back_after_an_error_and_an_interrupt(ends, calls):
    left = iter(range(calls - 1))

    def stops():
        torch.use_deterministic_algorithms(True)
        if next(left, None) is None:
            raise ends

    for run in (
        lambda: compare({"a": stops, "b": int}, max_time=0.5, device="cpu"),
        lambda: measure(stops, device="cpu"),
    ):
        left = iter(range(calls - 1))
        with contextlib.suppress(TimingError, KeyboardInterrupt):
            run()
        assert not torch.are_deterministic_algorithms_enabled()


class Anchors:
    """Keeps its result, as torchvision's AnchorGenerator does (pytorch/vision#3667)."""

    def __init__(self):
        self.cache = {}

    def __call__(self):
        return self.cache.setdefault("boxes", X @ X)


class Cached(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.seen = torch.nn.Linear(8, 8), {}

    def forward(self, x):
        if "y" not in self.seen:
            self.seen["y"] = self.inner(x)
        return self.seen["y"]


X = torch.ones(8, 8)
AT_MODULE = {}


@functools.lru_cache
def work(size):
    return sum(range(size))


@functools.lru_cache(maxsize=1)
def forgetful(size):
    return sum(range(size))


def keeps_in_a_global():
    return AT_MODULE.setdefault("y", X @ X)


def through_another():
    return keeps_in_a_global()


def made():
    """Functions whose first call changes what later ones find, and what of it is named."""
    numbers, batches, lazy, cached = [3, 1, 2], iter([X, X]), (X for _ in range(3)), Cached()
    return {
        "a cache on self": (Anchors(), "self.cache"),
        "a cache of a module": (lambda: cached(X), "cached.seen"),
        "a global": (keeps_in_a_global, "AT_MODULE"),
        "a global of another function": (through_another, "AT_MODULE"),
        "an iterator": (lambda: [x @ x for x in batches], "batches"),
        "a generator": (lambda: [x @ x for x in lazy], "lazy"),
        "a list that is sorted": (lambda: numbers.sort(), "numbers"),
        "an argument of a partial": (functools.partial(lambda v: v.append(1), [1]), "argument 1"),
        "a cache of functools": (lambda: work(5000), "work"),
        "a partial of a cached function": (functools.partial(work, 6000), ""),
    }


@pytest.mark.parametrize("case", made())
def test_what_the_first_call_keeps_is_named(case):
    f, name = made()[case]
    AT_MODULE.clear()
    found = compare({"plain": lambda: X @ X, "kept": f}, max_time=0.02, same=False, device="cpu")
    [note] = [note for note in found.notes if "first call of kept changes" in note]
    assert name in note


def ordinary():
    """Functions that do the same work in each call."""
    model, out, x = (
        torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8)),
        torch.empty(8, 8),
        torch.ones(8, 8),
    )
    kept, never = [X], iter([X])
    optimizer = torch.optim.SGD(model.parameters(), 0.0)

    def step():
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    return {
        "a training step": step,
        "an output": lambda: torch.mm(x, x, out=out),
        "a list that is read": lambda: [x @ x for x in kept],
        "an iterator of its own": lambda: [x @ x for x in iter(kept)],
        "an iterator that nobody asks": lambda: never and x @ x,
        "a method": x.exp,
        "past a cache of functools": lambda: work.__wrapped__(5000),
        "a cache that forgets": lambda: (forgetful(10), forgetful(20)),
    }


@pytest.mark.parametrize("case", ordinary())
def test_ordinary_work_gets_no_remark(case):
    found = compare({"plain": lambda: X @ X, "f": ordinary()[case]}, max_time=0.02, same=False, device="cpu")
    assert not [note for note in found.notes if "f " in note and ("change" in note or "leaves" in note)]


ROW = torch.linspace(-2, 2, 1000)
Named = collections.namedtuple("Named", "loss logits")


@dataclasses.dataclass
class Plain:
    value: object


def told(one, two, tolerance=None):
    return difference(digest(one), digest(two), tolerance)


@pytest.mark.parametrize(
    "one, two",
    [
        (ROW.relu(), ROW.relu() + 1),
        (ROW, ROW[:-1]),
        (ROW, ROW.bfloat16()),
        (torch.tensor([1, 2]), torch.tensor([1, 3])),
        (torch.tensor([True]), torch.tensor([False])),
        ({"a": ROW}, {"b": ROW}),
        ([ROW, ROW], [ROW, ROW + 1]),
        (Named(1.0, ROW), Named(2.0, ROW)),
        (1, 2),
        ("a", "b"),
        (None, ROW),
        (ROW, ROW.numpy() + 1),
        (torch.tensor([1.0, float("nan")]), torch.tensor([1.0, 2.0])),
        (torch.tensor([1 + 1j]), torch.tensor([1 - 1j])),
        (np.float32(1), np.float32(2)),
        ({1}, [1]),
        ((ROW, 3), (ROW, 3, 4)),
        (Plain(ROW), Plain(ROW + 1)),
    ],
)
def test_a_difference_is_seen_and_said(one, two):
    assert told(one, two) and told(two, one)


@pytest.mark.parametrize(
    "one, two",
    [
        (ROW, ROW * (1 + 1e-5)),
        (Plain(ROW), Plain(ROW.clone())),
        (ROW.bfloat16(), ROW.bfloat16() * 1.01),
        (ROW, ROW.numpy()),
        ("a", "a"),
        (torch.tensor([float("nan"), float("inf")]), torch.tensor([float("nan"), float("inf")])),
        (1.0, 1.0 + 1e-12),
        ({"a": [ROW, 1]}, {"a": [ROW, 1]}),
        (object(), object()),
        (torch.empty(0), torch.empty(0)),
        (ROW.to_sparse(), ROW.to_sparse()),
        (torch.empty(3, device="meta"), torch.empty(3, device="meta")),
        (torch.tensor([1 + 1j]), torch.tensor([1 + 1j])),
        (torch.zeros(5), torch.zeros(5)),
    ],
)
def test_what_agrees_up_to_half_its_digits_or_cannot_be_read_is_no_difference(one, two):
    assert told(one, two) is None


def test_a_tolerance_allows_coarser_results_and_other_floating_types():
    coarse = ROW.bfloat16()
    assert told(ROW, coarse) and told(ROW, coarse, 0.01) is None and told(ROW, coarse, 1e-5)
    assert told(ROW.long(), ROW, 0.9), "whole numbers and fractions are no matter of precision"


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

    difference_, said = notes(ROW.relu(), ROW.relu() + 1)
    assert "largest difference 1" in difference_ and len(said) == 1
    assert notes(ROW, ROW.clone()) == ("", [])
    assert notes(ROW, ROW + 1, same=False) == (None, [])
    assert notes(ROW, ROW * 1.01, same=0.1) == ("", [])
    assert notes(ROW, ROW * 1.01, same=0.001)[0]


class Own:
    def __init__(self, value):
        self.value = value


@pytest.mark.parametrize(
    "result", [lambda: Own(ROW), lambda: [1, Own(ROW)], lambda: {"out": (Own(ROW),)}, lambda: ROW.to_sparse()]
)
def test_results_that_cannot_be_read_are_named_with_a_way_out(result):
    with speaking("zh"):
        found = compare({"a": result, "b": result}, max_time=0.02, device="cpu")
    said = [note for note in found.notes if "没有比较" in note]
    assert len(said) == 1 and ("Own" in said[0] or "sparse" in said[0]) and "same=False" in said[0]
    assert found["b"].difference is None and found["b"].not_compared
    quiet = compare({"a": result, "b": result}, max_time=0.02, device="cpu", same=False).notes
    assert not any("compared" in note for note in quiet)
