"""``python -m grader export``: the marks for a spreadsheet, for Canvas or for Moodle."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.commands.course import directory
from grader.course import Course


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("export", help="write the marks as CSV, also for Canvas and Moodle")
    parser.add_argument("--format", choices=("csv", "canvas", "moodle"), default="csv")
    parser.add_argument("--to", type=Path, default=Path("grades.csv"))
    parser.add_argument("--details", type=Path, help="also one row for each student and graded cell")
    parser.add_argument("--roster", type=Path, help="who is who: a gradebook exported by Canvas, participants of Moodle, "
                                                    "or either with a column student_id")
    parser.add_argument("--lesson", action="append", help="this checkpoint only; may be given several times")
    parser.add_argument("--column", action="append", default=[], metavar="LESSON=NAME",
                        help='the name of its column there, such as "05_cudnn_benchmark=Checkpoint 5 (4711)"')
    directory(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """1 if somebody with a grade is not in the roster."""
    from grader.marks import require
    from grader.pipeline import details, export

    course = Course(arguments.dir)
    require(course, *(arguments.lesson or ()))
    if arguments.details:
        details(course, arguments.details)
    if arguments.format == "csv":
        export(course, arguments.to, lessons=arguments.lesson)
        print(f"wrote {arguments.to}")
        return 0
    return _for_lms(course, arguments)


def _for_lms(course: Course, arguments: argparse.Namespace) -> int:
    from grader import lms
    from grader.marks import released, require, totals

    names = dict(word.split("=", 1) for word in arguments.column if "=" in word)
    require(course, *names)
    found = [totals(course, lesson) for lesson in arguments.lesson or released(course)]
    students = sorted({student for one in found for student in one.points})
    roster = lms.read_roster(arguments.roster) if arguments.roster else None
    matched = lms.match(students, roster, arguments.format)
    rows = {"canvas": lms.canvas, "moodle": lms.moodle}[arguments.format](matched, found, names)
    arguments.to.write_text(lms.text_of(rows), encoding="utf-8")
    print(f"wrote {arguments.to}: {len(found)} checkpoints, {len(matched.rows)} students with a submission")
    for one in found:
        without = [student for student in matched.rows if one.points.get(student) is None]
        if without:
            print(f"{one.lesson}: no grade for {', '.join(without)}; their cells hold none")
    if matched.idle:
        print(f"in the roster without a submission: {len(matched.idle)}; their cells hold no grade")
    if matched.strangers:
        print(f"NOT IN THE ROSTER, left out: {', '.join(matched.strangers)}")
    return int(bool(matched.strangers))
