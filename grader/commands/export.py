"""``python -m grader export``: the marks for a spreadsheet, for Canvas or for Moodle."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from grader.commands.course import directory
from grader.course import Course

if TYPE_CHECKING:
    from grader.marks import Totals


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("export")
    parser.add_argument("--format", choices=("csv", "canvas", "moodle"), default="csv")
    parser.add_argument(
        "--to", type=Path, help="default: grades.csv in the course directory, grades-FORMAT.csv for Canvas and Moodle"
    )
    parser.add_argument("--details", type=Path, help="also one row for each student and graded cell")
    parser.add_argument(
        "--roster",
        type=Path,
        help="who is who: a gradebook exported by Canvas, participants of Moodle, or either with a column student_id",
    )
    parser.add_argument("--lesson", action="append", help="this checkpoint only; may be given several times")
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="LESSON=NAME",
        help='the name of its column there, such as "05_cudnn_benchmark=Checkpoint 5 (4711)"',
    )
    parser.add_argument(
        "--scale",
        action="store_true",
        help="where the assignment there has other points: multiply the marks, do not refuse",
    )
    directory(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """1 if somebody with a grade is not in the roster."""
    from grader.marks import released, require, totals
    from grader.pipeline import details, export
    from grader.project import ProjectError

    course = Course(arguments.dir)
    ending = "" if arguments.format == "csv" else f"-{arguments.format}"
    arguments.to = arguments.to or course.root / f"grades{ending}.csv"
    require(course, *(arguments.lesson or ()))
    if wrong := [word for word in arguments.column if "=" not in word]:
        raise ProjectError(f'--column {wrong[0]}: write LESSON=NAME, such as "05_cudnn_benchmark=Checkpoint 5 (4711)"')
    if arguments.format == "csv" and (arguments.roster or arguments.column or arguments.scale):
        raise ProjectError(
            "--roster, --column and --scale are for --format canvas and moodle; the plain CSV names students as we do"
        )
    if arguments.format != "csv" and not arguments.roster:
        raise ProjectError(
            f"--format {arguments.format} needs --roster FILE, the platform's own file: the gradebook that Canvas exports, "
            "or Moodle's grading worksheet or participants"
        )
    if arguments.details:
        details(course, arguments.details)
    if arguments.format == "csv":
        export(course, arguments.to, lessons=arguments.lesson)
        print(f"wrote {arguments.to}")
        for lesson in arguments.lesson or released(course):
            _say_ungraded(course, totals(course, lesson))
        return 0
    return _for_lms(course, arguments)


def _for_lms(course: Course, arguments: argparse.Namespace) -> int:
    from grader import lms
    from grader.importing import who
    from grader.marks import released, require, totals
    from grader.project import ProjectError

    names = dict(word.split("=", 1) for word in arguments.column)
    require(course, *names)
    found = [totals(course, lesson) for lesson in arguments.lesson or released(course)]
    students = sorted({student for one in found for student in one.points})
    table = lms.read_table(arguments.roster)
    lesson = found[0].lesson if len(found) == 1 else None
    known = who.everybody(course, arguments.roster, arguments.format, lesson)
    matched, nobody = who.matched(students, known), known.without_id
    if arguments.format == "moodle" and table.is_worksheet:
        if lesson is None:
            raise ProjectError("a grading worksheet is of one assignment: say which checkpoint with --lesson")
        rows = lms.into_worksheet(table, matched, found[0], arguments.scale)
    elif arguments.format == "moodle":
        rows = lms.moodle(matched, found, names)
    elif table.is_gradebook:
        rows = lms.into_canvas(table, matched, found, names, arguments.scale)
    else:
        raise ProjectError(
            f"{arguments.roster} is not the gradebook that Canvas exports, which goes back with the marks in it"
        )
    as_it_is = arguments.format == "moodle" and table.is_worksheet
    arguments.to.write_text(lms.text_of(rows, as_it_is), encoding="utf-8")
    print(f"wrote {arguments.to}: {len(found)} checkpoints, {len(matched.rows)} students with a submission")
    for one in found:
        _say_ungraded(course, one)
    if matched.idle or nobody:
        without = [*map(lms.called, matched.idle), *nobody]
        print(f"in the roster without a submission: {len(without)}; what they have there stays: {', '.join(without)}")
    if matched.strangers:
        print(f"NOT IN THE ROSTER, left out: {', '.join(matched.strangers)}")
    return int(bool(matched.strangers))


def _say_ungraded(course: Course, found: Totals) -> None:
    from grader.pipeline import stale

    for sentence in stale(course, found.lesson):
        print(sentence)
    if without := [student for student, points in found.points.items() if points is None]:
        print(f"{found.lesson}: no grade for {', '.join(without)}; what they have there stays; autograde says why")
