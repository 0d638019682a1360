"""``python -m grader author items``: what is to be mended in the questions."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.project import Project


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("items")
    parser.add_argument("file", nargs="?", type=Path, help="a file of questions; without one, the whole bank")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print every finding, also of the verify snippets; 1 where something is to be mended."""
    from grader.authoring.question_check import check, files_of

    if arguments.file is not None and not arguments.file.exists():
        print(f"{arguments.file}: there is no such file; copy entries from grader/authoring/question_template.yaml")
        return 1
    project, found = Project(), 0
    for files in files_of(project, arguments.file):
        for finding in check(project, files, run=True):
            print(finding.removeprefix(f"{Path.cwd()}/"), flush=True)
            found += 1
    print(f"{found} finding{'s' * (found != 1)}" if found else "nothing to mend")
    return int(found > 0)
