"""``python -m grader import`` and ``give-back``: submissions out of a learning platform, feedback back into it."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.commands.course import directory
from grader.course import Course

LMS = ("moodle", "canvas", "plain")


def add(commands: argparse._SubParsersAction) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser("import", help="bring in the submissions that Moodle, Canvas or a folder holds")
    parser.add_argument("file", type=Path, help="the platform's ZIP, or a folder")
    parser.add_argument(
        "--lms", choices=LMS, required=True, help="plain: a folder or file for each student, by id, mail or name"
    )
    parser.add_argument("--lesson", help="such as 05_cudnn_benchmark (default: found out from the notebooks)")
    parser.add_argument(
        "--roster",
        type=Path,
        help="who is who: the platform's participants, grading worksheet or gradebook "
        "(default: roster.csv in the course directory, where there is one)",
    )
    parser.add_argument(
        "--as",
        action="append",
        default=[],
        dest="said",
        metavar="NAME=STUDENT",
        help="whose a submission is that the roster does not tell; may be given several times",
    )
    directory(parser)
    parser.set_defaults(run=run_import)
    parser = commands.add_parser(
        "give-back", help="one ZIP of the feedback, for the platform the submissions came from"
    )
    parser.add_argument("lesson", help="such as 05_cudnn_benchmark")
    parser.add_argument("--to", type=Path, help="default: feedback-LESSON-PLATFORM.zip in the course directory")
    directory(parser)
    parser.set_defaults(run=run_give_back)


def run_import(arguments: argparse.Namespace) -> int:
    """1 if it is not clear whose a submission is."""
    from grader.importing.run import bring, report
    from grader.project import ProjectError

    if wrong := [word for word in arguments.said if "=" not in word]:
        raise ProjectError(f'--as {wrong[0]}: write NAME=STUDENT, such as "Ada Lovelace=ada"')
    course = Course(arguments.dir)
    said = dict(word.rsplit("=", 1) for word in arguments.said)
    brought = bring(course, arguments.file, arguments.lms, arguments.lesson, arguments.roster, said)
    print(report(course, brought, arguments.file, arguments.lms))
    return int(bool(brought.unclear))


def run_give_back(arguments: argparse.Namespace) -> int:
    from grader.importing.run import give_back

    to, lacking, idle = give_back(Course(arguments.dir), arguments.lesson, arguments.to)
    print(f"wrote {to}")
    if idle:
        print(f"handed in nothing: {', '.join(idle)}")
    if lacking:
        print(f"no feedback yet for {', '.join(lacking)}; autograde and feedback come first")
    return 0
