"""``python -m grader late``: take late points anew by late.yaml, without marking, and show who changes."""

from __future__ import annotations

import argparse

from course.units import format_points
from grader.commands.course import directory
from grader.course import Course


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("late", help="apply late.yaml anew, without marking, and show who changes")
    parser.add_argument("lesson", nargs="+", help="such as 05_cudnn_benchmark")
    directory(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from grader.late_recompute import recompute

    course = Course(arguments.dir)
    for lesson in arguments.lesson:
        changes, losing = recompute(course, lesson)
        for change in changes:
            print(
                f"{change.student}: {format_points(change.old)} -> {format_points(change.new)} points taken for lateness"
            )
        print(f"{lesson}: {len(changes)} change, {losing} lose points for lateness")
    return 0
