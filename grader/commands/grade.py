"""``python -m grader grade``: from a platform's ZIP to marks and feedback, in one go."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.commands.course import directory, marking_options
from grader.commands.import_submissions import names_said
from grader.course import Course, command
from grader.importing.names import PLATFORMS
from grader.lms import KEYS


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("grade")
    parser.add_argument("file", type=Path, help="the platform's ZIP, or a folder")
    parser.add_argument("--lms", choices=PLATFORMS, help="default: told by the names in the ZIP")
    parser.add_argument("--lesson", help="such as 05_cudnn_benchmark (default: found out from the notebooks)")
    parser.add_argument("--roster", type=Path, help="who is who; default: as for import")
    parser.add_argument("--as", action="append", default=[], dest="said", metavar="NAME=STUDENT", help="as for import")
    parser.add_argument("--early", action="store_true", help="feedback also while somebody may still hand in")
    marking_options(parser)
    directory(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """1 where somebody has to be looked at before all marks are out."""
    from grader.importing.run import import_submissions, report

    main = arguments.main  # the other commands are run as if they were typed
    course, where = Course(arguments.dir), ["--dir", str(Course(arguments.dir).root)]
    said = names_said(arguments.said)  # what is refused here stops everything: nothing else is marked in its place
    imported = import_submissions(course, arguments.file, arguments.lms, arguments.lesson, arguments.roster, said)
    print(f"--- import ({imported.lms})")
    print(report(course, imported, arguments.file))
    left, lessons, lms = int(not imported.complete), [imported.lesson], imported.lms
    if not course.submitted(imported.lesson):
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


def what_next(course: Course, lessons: list[str], lms: str) -> str:
    """What an instructor looks at now, a line each."""
    rows = [f"  {course.root / 'grades.csv'}: the marks"]
    if lms in KEYS:
        rows.append(f"  {command(f'export --format {lms} --roster FILE', course.root)}: the marks as {lms} takes them")
    for lesson in lessons:
        zipped = course.root / f"feedback-{lesson}-{lms}.zip"
        rows += [f"  {zipped}: the feedback pages, for {lms}"] * zipped.exists()
        rows.append(f'  whoever is not "ok" in the summary of {lesson} above: the line says why')
        rows.append(f"  {command(f'report {lesson}', course.root)}: what to teach again")
    return "\n".join(rows)
