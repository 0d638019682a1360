"""Damaged and hostile submissions, each with what it deserves. ``CLASS`` is all of them."""

from __future__ import annotations

from tests.support.grading_corpus import answers, cheating, damaged, escaping, exhausting, honest
from tests.support.grading_corpus.base import Hostile, hand_in

CLASS: tuple[Hostile, ...] = tuple(
    case for module in (damaged, answers, exhausting, escaping, cheating, honest) for case in module.CASES
)

__all__ = ["CLASS", "Hostile", "hand_in"]
