"""The verbs of the notebooks: each tells one other module what to do and shows what comes back."""

from course.verbs.experiments import observe
from course.verbs.lessons import finish, language, lesson, progress
from course.verbs.practice import check, hint, solution
from course.verbs.questions import answer, checkpoint, explain, predict, question, review

__all__ = [
    "answer", "check", "checkpoint", "explain", "finish", "hint", "language", "lesson",
    "observe", "predict", "progress", "question", "review", "solution",
]
