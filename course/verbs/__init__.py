"""The verbs of the notebooks, such as ``observe`` and ``review``: functions that call other modules and show the result."""

from course.verbs.bets import bets
from course.verbs.experiments import observe
from course.verbs.games import board, case, share
from course.verbs.interviewing import interview
from course.verbs.keeping import keep, what
from course.verbs.lessons import finish, language, lesson
from course.verbs.passport import passport
from course.verbs.practice import check, hint, solution
from course.verbs.progress import export_progress, import_progress, progress
from course.verbs.questions import answer, checkpoint, explain, predict, question, review
from course.verbs.student_id import i_am
from course.verbs.taking import cheat_sheet, poster, take_home

__all__ = [
    "answer",
    "bets",
    "board",
    "case",
    "cheat_sheet",
    "check",
    "checkpoint",
    "explain",
    "export_progress",
    "finish",
    "hint",
    "i_am",
    "import_progress",
    "interview",
    "keep",
    "language",
    "lesson",
    "observe",
    "passport",
    "poster",
    "predict",
    "progress",
    "question",
    "review",
    "share",
    "solution",
    "take_home",
    "what",
]
