"""``python -m grader regrade``: who changes, by cell and why, after a key, points or a hidden test changed."""

from __future__ import annotations

import argparse

from grader.commands.course import directory, marking_options, tls
from grader.course import Course, command


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("regrade")
    parser.add_argument("lesson", help="such as 05_cudnn_benchmark")
    parser.add_argument("--diff", action="store_true", help="mark all again and show what would change (the default)")
    parser.add_argument("--write", action="store_true", help="write exactly what the last --diff showed")
    marking_options(parser)
    directory(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """1 if a submission could not be marked again."""
    from grader.regrading.run import diff, report, write

    course, lesson, found = Course(arguments.dir), arguments.lesson, None
    if arguments.diff or not arguments.write:
        from grader.autograding import How
        from grader.pool import cores

        found = diff(
            course,
            lesson,
            How(arguments.jobs or cores(), arguments.cluster, True, not arguments.no_sandbox, tls(arguments)),
        )
        print(report(found))
    if arguments.write:
        print(f"written: {len(write(course, lesson))} submissions")
    elif found.changes or found.ours:
        print(f"to write exactly this: {command(f'regrade {lesson} --write', course.root)}")
    return int(bool(found and found.failed))
