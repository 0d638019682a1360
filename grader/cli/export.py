"""``python -m grader export``: the marks as CSV, or in a column of a platform's own file."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.cli.course import directory
from grader.course import Course


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("export")
    parser.add_argument("--to", type=Path, help="default: grades.csv in the course directory; with --into, grades-FILE")
    parser.add_argument("--lesson", action="append", help="this checkpoint only; may be given several times")
    parser.add_argument(
        "--into",
        type=Path,
        metavar="FILE",
        help="the platform's own file (a gradebook, a grading worksheet): it comes back with the marks of the --lesson in it",
    )
    parser.add_argument("--column", metavar="NAME", help="the heading of that column, where it is not clear")
    directory(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """1 if somebody with a grade is not in the platform's file."""
    from grader.gradebook.marks import released, require
    from grader.project import ProjectError
    from grader.steps.pipeline import export

    course = Course(arguments.dir)
    lessons = arguments.lesson or released(course)
    require(course, *lessons)
    if arguments.into is not None:
        if len(lessons) != 1:
            raise ProjectError(f"--into fills one column: say which checkpoint with --lesson ({', '.join(lessons)})")
        return _into(course, arguments, lessons[0])
    if arguments.column:
        raise ProjectError("--column names a column of the file given with --into")
    to = arguments.to or course.root / "grades.csv"
    export(course, to, lessons=arguments.lesson)
    print(f"wrote {to}")
    for lesson in lessons:
        _say_ungraded(course, lesson)
    return 0


def _into(course: Course, arguments: argparse.Namespace, lesson: str) -> int:
    from grader.gradebook.marks import totals
    from grader.gradebook.roster import roster
    from grader.reporting.into import into

    found, to = totals(course, lesson), arguments.to or course.root / f"grades-{arguments.into.name}"
    text, missing, strange = into(arguments.into, roster(course), found, arguments.column)
    to.write_text(text, encoding="utf-8")
    print(f"wrote {to}")
    _say_ungraded(course, lesson)
    if strange:
        print(f"rows that name no one student, left as they were: {len(strange)} ({'; '.join(strange[:20])})")
    if missing:
        print(f"NOT IN THE FILE, left out: {', '.join(missing)}")
    return int(bool(missing))


def _say_ungraded(course: Course, lesson: str) -> None:
    from grader.marking.step import printable
    from grader.steps.pipeline import outcomes, stale

    for sentence in stale(course, lesson):
        print(sentence)
    for one in outcomes(course, lesson):
        if one.points is None and one.reason != "absent":
            print(printable(f"{lesson}: no grade for {one.student}: {' '.join(one.problems)}"))
