"""Timing: what calls leave behind is put back and named; what a first call keeps for later ones is named."""

from __future__ import annotations

import contextlib
import functools
import itertools

import pytest
import torch

from course.core.i18n import speaking
from course.timing import TimingError, compare, leftovers, measure


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


@functools.lru_cache
def work(size):
    return sum(range(size))


@functools.lru_cache(maxsize=1)
def forgetful(size):
    return sum(range(size))


@pytest.mark.parametrize(
    "f, told",
    [
        (lambda: work(5000), True),
        (functools.partial(work, 6000), True),
        (lambda: work.__wrapped__(5000), False),
        (lambda: (forgetful(10), forgetful(20)), False),
    ],
)
def test_only_the_first_call_did_the_work(f, told):
    found = compare({"plain": lambda: sum(range(5000)), "kept": f}, max_time=0.1, same=False, device="cpu")
    assert any("The first call of kept changes" in note for note in found.notes) is told


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
    }


@pytest.mark.parametrize("case", ordinary())
def test_ordinary_work_gets_no_remark(case):
    found = compare({"plain": lambda: X @ X, "f": ordinary()[case]}, max_time=0.02, same=False, device="cpu")
    assert not [note for note in found.notes if "f " in note and ("change" in note or "leaves" in note)]
