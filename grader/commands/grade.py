"""``python -m grader grade``: from a platform's ZIP to marks and feedback, in one go."""

from __future__ import annotations

import argparse
import re
import zipfile
from pathlib import Path

from grader.commands.course import directory, marking_options
from grader.commands.import_submissions import LMS
from grader.course import Course, command

SIGNS = {"moodle": r"_\d+_assignsubmission_", "canvas": r"^[^/]*?_\d+_\d+_[^/]*$"}
"""What the names in the ZIP of a platform look like."""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("grade")
    parser.add_argument("file", type=Path, help="the platform's ZIP, or a folder")
    parser.add_argument("--lms", choices=LMS, help="default: told by the names in the ZIP")
    parser.add_argument("--lesson", help="such as 05_cudnn_benchmark (default: found out from the notebooks)")
    parser.add_argument("--roster", type=Path, help="who is who; default: as for import")
    parser.add_argument("--as", action="append", default=[], dest="said", metavar="NAME=STUDENT", help="as for import")
    parser.add_argument("--early", action="store_true", help="feedback also while somebody may still hand in")
    marking_options(parser)
    directory(parser)
    parser.set_defaults(run=run)


def platform(file: Path) -> str:
    """The platform that a ZIP came from, told by the names in it; "plain" for a folder and where none fits."""
    if not zipfile.is_zipfile(file):
        return "plain"
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
    return next((lms for lms, sign in SIGNS.items() if any(re.search(sign, name) for name in names)), "plain")


def run(arguments: argparse.Namespace) -> int:
    """1 where somebody has to be looked at before all marks are out."""
    main = arguments.main  # the other commands are run as if they were typed
    course, lms = Course(arguments.dir), arguments.lms or platform(arguments.file)
    where = ["--dir", str(course.root)]
    wanted = {"--lesson": [arguments.lesson], "--roster": [arguments.roster], "--as": arguments.said}
    more = [word for name, values in wanted.items() for value in values if value for word in (name, str(value))]
    before = _imported(course)
    print(f"--- import ({lms})")
    left = main(["import", str(arguments.file), "--lms", lms, *more, *where])
    now = _imported(course)
    lessons = [arguments.lesson] if arguments.lesson else [one for one in now if now[one] != before.get(one)] or [*now]
    if not lessons:
        print("nothing came in, so nothing was marked")
        return 1
    marking = [
        word
        for name in ("jobs", "cluster", "tls_ca", "tls_cert", "tls_key")
        if (value := getattr(arguments, name))
        for word in (f"--{name.replace('_', '-')}", str(value))
    ] + ["--no-sandbox"] * arguments.no_sandbox
    print(f"\n--- autograde {' '.join(lessons)}")
    left |= main(["autograde", *lessons, *marking, *where])
    print("\n--- feedback")
    if early := main(["feedback", *lessons, *["--early"] * arguments.early, *where]):
        left |= early
    else:
        for lesson in lessons:
            main(["give-back", lesson, *where])
    print("\n--- export")
    main(["export", *where])
    print(f"\nLook at:\n{what_next(course, lessons, lms)}")
    return left


def _imported(course: Course) -> dict[str, int]:
    """Lesson -> when something of it was imported last, for those of which something was."""
    there = {lesson: (course.root / "imported").rglob(f"{lesson}*") for lesson in course.project.checkpoints()}
    times = {lesson: [path.stat().st_mtime_ns for path in paths] for lesson, paths in there.items()}
    return {lesson: max(found) for lesson, found in times.items() if found}


def what_next(course: Course, lessons: list[str], lms: str) -> str:
    """What an instructor looks at now, a line each."""
    rows = [f"  {course.root / 'grades.csv'}: the marks"]
    if lms != "plain":
        rows.append(f"  {command(f'export --format {lms} --roster FILE', course.root)}: the marks as {lms} takes them")
    for lesson in lessons:
        zipped = course.root / f"feedback-{lesson}-{lms}.zip"
        rows += [f"  {zipped}: the feedback pages, for {lms}"] * zipped.exists()
        rows.append(f'  whoever is not "ok" in the summary of {lesson} above: the line says why')
        rows.append(f"  {command(f'report {lesson}', course.root)}: what to teach again")
    return "\n".join(rows)
