"""``python -m grader report``: what to teach again after a checkpoint, as one page."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.cli.course import directory
from grader.course import Course
from grader.project import LANGUAGES


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("report")
    parser.add_argument("lesson", help="such as 05_cudnn_benchmark")
    parser.add_argument("--to", type=Path, help="the page (default: report-LESSON.html in the course directory)")
    parser.add_argument("--language", choices=LANGUAGES, help="default: the course's")
    directory(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from grader.reporting.report import write_report

    print(f"wrote {write_report(Course(arguments.dir), arguments.lesson, arguments.to, arguments.language)}")
    return 0
