"""Give the feedback pages out: into the exchange, and into one ZIP for those who came by import."""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm

from grader.course import Course, command, why
from grader.course.marks import require
from grader.handin.guard import guarded
from grader.handin.importing import record
from grader.marking.outcomes import state_of
from grader.project import ProjectError, name_of


def feedback(course: Course, lesson: str, say: Callable[[str], None] = print) -> list[str]:
    """Make and release the feedback page of every marked submission; returns the students for whom that failed."""
    failed, by_exchange, others = [], [], []

    def fail(student: str, reason: str) -> None:
        failed.append(student)
        say(f"feedback for {student} did not work: {reason}")

    progress = {"desc": f"{lesson}, feedback", "unit": "page", "disable": not sys.stderr.isatty()}
    for student in tqdm(course.submitted(lesson), **progress):
        with guarded(student, fail):
            if not state_of(course, student, lesson).get("marked"):
                continue
            result = _uninterrupted(course.api.generate_feedback(lesson, student))
            through = (course.root / "feedback" / student / lesson / "submission_secret.txt").exists()
            if result["success"] and through:
                result = _uninterrupted(course.api.release_feedback(lesson, student))
            if result["success"]:
                (by_exchange if through else others).append(student)
            else:
                fail(student, why(result))
    say(f"{lesson}: feedback of {len(by_exchange)} students is in the exchange")
    if others:
        say(
            f"{len(others)} did not hand in through the exchange; their pages are feedback/STUDENT/{lesson}/{name_of(lesson)}.html, of "
            f"those who came by import in one ZIP by {command('give-back ' + lesson, course.root)}: {', '.join(others)}"
        )
    if not (by_exchange or others or failed):
        say(f"no submission of {lesson} is marked yet; run {command('autograde ' + lesson, course.root)} first")
    return failed


def _uninterrupted(result: dict) -> dict:
    """Raise KeyboardInterrupt where nbgrader's API has caught it; returns the result otherwise."""
    if (result.get("error") or "").rstrip().endswith("KeyboardInterrupt"):
        raise KeyboardInterrupt
    return result


def give_back(course: Course, lesson: str) -> tuple[Path, list[str]]:
    """Write the feedback pages of all who came by import into feedback-LESSON.zip of the course directory, each where its hand-in lay, so
    that the platform finds whose it is.

    Returns (path, students without a page since they were last marked). Raises ProjectError where nothing was imported.
    """
    require(course, lesson)
    if not (known := record(course.root, lesson)):
        raise ProjectError(f"{lesson}: nothing came by import; feedback/STUDENT/{lesson}/ holds the pages")
    to, lacking = course.root / f"feedback-{lesson}.zip", []
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, place in sorted(known.items()):
            page = course.root / "feedback" / student / lesson / f"{name_of(lesson)}.html"
            marked = course.autograded(student, lesson)
            if not page.exists() or not marked.exists() or page.stat().st_mtime_ns < marked.stat().st_mtime_ns:
                lacking.append(student)  # a page of before the last marking may say "held back", or show other marks
                continue
            archive.write(
                page, f"{place}{page.name}" if place.endswith("/") else re.sub(r"(\.\w+)?$", ".html", place, count=1)
            )
    return to, lacking
