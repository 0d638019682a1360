"""What a lesson is."""

from __future__ import annotations

from dataclasses import dataclass

from course.i18n import Text


@dataclass(frozen=True)
class Lesson:
    """One notebook, its checkpoint and all that belongs to them.

    id: the notebook's file stem, such as ``05_cudnn_benchmark``; the lesson's folders are called ``l`` and the id.
    question: the one question it answers. checkpoint: whether it has one.
    """

    id: str
    question: Text
    checkpoint: bool = True
