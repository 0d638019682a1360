"""``python -m grader author items``: all questions on a page, and what is wrong with them."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.project import LANGUAGES, Project


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("items")
    parser.add_argument("--to", type=Path, default=Path("build/items.html"), metavar="FILE")
    parser.add_argument("--keys", action="store_true", help="also the keys of checkpoint questions: for instructors")
    parser.add_argument("--language", choices=LANGUAGES, default="en", help="of the headings; texts come in both")
    parser.add_argument(
        "--check",
        nargs="?",
        const=True,
        metavar="FILE",
        help="instead of the page: look through this file of questions, or through all of them, and run their verify snippets",
    )
    parser.add_argument("--root", type=Path, help=argparse.SUPPRESS)
    parser.set_defaults(run=run_items)


def run_items(arguments: argparse.Namespace) -> int:
    """0; with --check 1 where something is to be mended."""
    project = Project(arguments.root) if arguments.root else Project()
    if arguments.check:
        return _check(project, None if arguments.check is True else Path(arguments.check))
    from grader.authoring.item_page import write_page

    print(write_page(project, arguments.to, arguments.keys, arguments.language))
    return 0


def _check(project: Project, path: Path | None) -> int:
    from grader.authoring.question_check import check, files_of

    if path is not None and not path.exists():
        print(f"{path}: there is no such file; copy entries from grader/authoring/question_template.yaml")
        return 1
    found = 0
    for files in files_of(project, path):
        for finding in check(project, files, run=True):
            print(finding.removeprefix(f"{Path.cwd()}/"), flush=True)
            found += 1
    print(f"{found} finding{'s' * (found != 1)}" if found else "nothing to mend")
    return int(found > 0)
