"""Timing: a switch that a candidate leaves on, and a function whose results are kept."""

from __future__ import annotations

import functools
import itertools

import pytest
import torch

from course.i18n import speaking
from course.timing import compare, leftovers

PATH = "torch.use_deterministic_algorithms"


@pytest.fixture(autouse=True)
def as_before():
    yield
    torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("language, words", [("en", "leaves"), ("zh", "没有还原")])
def test_a_switch_left_on_is_named_put_back_and_never_on_for_the_other(language, words):
    seen = set()

    def leaves():
        torch.use_deterministic_algorithms(True)

    def other():
        seen.add(torch.are_deterministic_algorithms_enabled())

    with speaking(language):
        found = compare({"leaves": leaves, "other": other}, max_time=0.1, same=False, device="cpu")
    assert seen == {False} and not torch.are_deterministic_algorithms_enabled()
    [note] = [note for note in found.notes if "deterministic" in note]
    assert note.startswith("leaves") and words in note


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


def test_a_switch_that_is_put_back_or_stays_gets_no_remark():
    def tidy():
        torch.use_deterministic_algorithms(True)
        torch.use_deterministic_algorithms(False)

    torch.use_deterministic_algorithms(True)
    found = compare({"a": lambda: sum(range(99)), "b": lambda: sum(range(98))}, max_time=0.05, same=False, device="cpu")
    assert torch.are_deterministic_algorithms_enabled() and not any("deterministic" in note for note in found.notes)
    torch.use_deterministic_algorithms(False)
    found = compare({"tidy": tidy, "b": lambda: sum(range(98))}, max_time=0.05, same=False, device="cpu")
    assert not any("deterministic" in note for note in found.notes)


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
