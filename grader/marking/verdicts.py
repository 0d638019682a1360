"""The words for what happened to a submission, for students and for the summary. The gravest comes last."""

from __future__ import annotations

from collections.abc import Iterable

from grader.marking.said import SAID

WORDS = SAID["verdict"]
LEGEND = (
    "ok: marked, and nobody needs to look at it. pending: a text waits for your points. look: read its line and decide. Every "
    "other word says what went wrong while it ran; its marks count."
)
OF_KERNEL = {"died": "killed", "memory": "memory", "stuck": "timeout", "flood": "output"}  # Ran.ended -> word


def gravest(words: Iterable[str]) -> str:
    """The gravest of these words; ``ok`` where there is none."""
    order = list(WORDS)
    return max((word for word in words if word in WORDS), key=order.index, default="ok")
