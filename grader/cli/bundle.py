"""``python -m grader bundle``: what a class gets, in one ZIP."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.project import HERE, LANGUAGES


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("bundle")
    parser.add_argument(
        "--dir", type=Path, help="the course directory whose released checkpoints go in (default: none, lessons only)"
    )
    parser.add_argument("--language", choices=(*LANGUAGES, "both"), default="both")
    parser.add_argument(
        "--to",
        type=Path,
        default=HERE / "build" / "bundle",
        help="the folder it is written into (default: build/bundle)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from grader.course import Course
    from grader.project import Project
    from grader.release.bundling.build import bundle

    course = Course(arguments.dir) if arguments.dir else None
    languages = LANGUAGES if arguments.language == "both" else (arguments.language,)
    target, looked = bundle(Project(), languages, arguments.to, course, print)
    print(f"wrote {target} ({target.stat().st_size / 1e6:.1f} MB), the same as a folder beside it")
    print(f"looked through {looked} files, also inside the wheel: no key, no solution, no hidden task, no source")
    if course is None:
        print("without checkpoints: --dir names the course directory that has released some")
    return 0
