"""``python -m grader late``: take late points anew by late.yaml, without marking, and show who changes."""

from __future__ import annotations

import argparse

from course.units import format_points
from grader.commands.course import directory
from grader.course import Course


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("late")
    parser.add_argument("lesson", nargs="+", help="such as 05_cudnn_benchmark")
    parser.add_argument("--dry-run", action="store_true", help="only say who loses how much, and change nothing")
    directory(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from grader.dates import shown
    from grader.late_recompute import foreseen, recompute
    from grader.late_rules import course_zone

    course = Course(arguments.dir)
    zone = course_zone(course.root, course.config)
    for lesson in arguments.lesson:
        if arguments.dry_run:
            found = foreseen(course, lesson)
            for one in found:
                print(
                    f"{one.student}: {format_points(one.old)} -> {format_points(one.new)} points taken; {one.late}, "
                    f"due {shown(one.due, zone)}"
                )
            losing = sum(bool(one.new) for one in found)
            print(f"{lesson}: {len(found)} late, {losing} would lose points; nothing was changed")
            continue
        changes, losing = recompute(course, lesson)
        for change in changes:
            print(
                f"{change.student}: {format_points(change.old)} -> {format_points(change.new)} points taken for lateness"
            )
        print(f"{lesson}: {len(changes)} change, {losing} lose points for lateness")
    return 0
