"""``python -m grader second-look``: who asks for a second look at which mark, and why."""

from __future__ import annotations

import argparse

from grader.commands.course import directory
from grader.course import Course


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("second-look")
    directory(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from grader.reporting.second_look import FOLDER, listed

    course = Course(arguments.dir)
    lines = listed(course)
    print(
        "\n".join(lines)
        if lines
        else f"nobody asks: {course.root / FOLDER} holds no file; the feedback page says what to send"
    )
    return 0
