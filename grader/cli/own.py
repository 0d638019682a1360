"""``python -m grader author new-checkpoint``: questions, tasks and keys of an instructor's own, in the course directory."""

from __future__ import annotations

import argparse

from grader.cli.course import directory
from grader.course import Course, command
from grader.project import LANGUAGES


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("new-checkpoint")
    parser.add_argument("name", help="such as 50_our_cluster")
    parser.add_argument("--language", choices=(*LANGUAGES, "both"), help="default: the course's")
    directory(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """1 if there is something to mend."""
    from grader.authoring.scaffold import left_over, new_checkpoint

    course = Course(arguments.dir)
    chosen = arguments.language or course.language
    folder, problems = new_checkpoint(course.project, arguments.name, LANGUAGES if chosen == "both" else (chosen,))
    print(
        f"{folder}: checkpoint.md (what students see), checkpoint.yaml (questions), keys.yaml, tasks.py and tasks.yaml (hidden tests)"
    )
    for sentence in problems:
        print(sentence)
    for sentence in (unchanged := left_over(course.project, arguments.name)):
        print(sentence)
    if not problems and unchanged:
        again = command(f"author new-checkpoint {arguments.name}", course.root)
        print(f"it can be marked as it is; change these lines before you release it, then run {again}")
    elif not problems:
        print(f"nothing to mend; hand it out with {command(f'release {arguments.name}', course.root)}")
    return int(bool(problems))
