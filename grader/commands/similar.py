"""``python -m grader similar``: pairs of submissions with something rare in common. Look at them; it is no verdict."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.commands.course import directory
from grader.course import Course


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("similar")
    parser.add_argument("lesson", help="such as 05_cudnn_benchmark")
    parser.add_argument("--to", type=Path, help="also a page with the code side by side; it has names in it")
    parser.add_argument("--top", type=int, default=20, metavar="N", help="how many pairs (default: 20)")
    directory(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from grader.similarity.collect import gather
    from grader.similarity.evidence import looks
    from grader.similarity.show import page, text

    works, known = gather(Course(arguments.dir), arguments.lesson)
    found = looks(works, known)
    print(text(found, arguments.top))
    if arguments.to:
        arguments.to.write_text(page(arguments.lesson, found, works, arguments.top), encoding="utf-8")
        print(f"wrote {arguments.to}")
    return 0
