"""``python -m grader report`` and ``class``: what marked checkpoints say about the teaching, as pages and as JSON."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from grader.commands.course import directory
from grader.course import Course
from grader.project import LANGUAGES


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("report")
    parser.add_argument("lesson", help="such as 05_cudnn_benchmark")
    parser.add_argument("--to", type=Path, help="the page (default: report-LESSON.html in the course directory)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the numbers, too")
    parser.add_argument("--language", choices=LANGUAGES, help="default: the course's")
    parser.add_argument(
        "--names", action="store_true", help="name the students without a grade; then show it to nobody else"
    )
    directory(parser)
    parser.set_defaults(run=run)
    parser = commands.add_parser("class")
    parser.add_argument("--to", type=Path, help="the page (default: class.html in the course directory)")
    parser.add_argument("--language", choices=LANGUAGES, help="default: the course's")
    directory(parser)
    parser.set_defaults(run=run_class)


def run_class(arguments: argparse.Namespace) -> int:
    from grader.reporting.classroom import page, picture

    course = Course(arguments.dir)
    to = arguments.to or course.root / "class.html"
    to.write_text(page(picture(course), arguments.language or course.language), encoding="utf-8")
    print(f"wrote {to}")
    return 0


def run(arguments: argparse.Namespace) -> int:
    from course.i18n import pick
    from course.markup import plain
    from grader.reporting.write import write_report

    course = Course(arguments.dir)
    to, found, again = write_report(course, arguments.lesson, arguments.to, arguments.language, arguments.names)
    if arguments.json:
        shown = (
            found
            if arguments.names
            else {**found, **{name: len(found[name]) for name in ("without_grade", "blank", "idle", "lost")}}
        )
        arguments.json.write_text(json.dumps(shown, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    for one in again:
        print(plain(pick(one.text, arguments.language or course.language)))
    print(f"wrote {to}" + (f" and {arguments.json}" if arguments.json else ""))
    return 0
