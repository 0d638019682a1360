"""``python -m grader author reference``: the pages of docs/ that are made from data: switches, messages, cards."""

from __future__ import annotations

import argparse

from grader.project import Project


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("reference")
    parser.add_argument("--check", action="store_true", help="write nothing; fail unless everything is in step")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the pages written, or with --check those out of step; 1 if there is one."""
    from grader.authoring import reference

    project = Project()
    if arguments.check:
        found = reference.out_of_step(project)
        for sentence in found:
            print(sentence)
        return 1 if found else 0
    for path in reference.write(project):
        print(f"wrote {path.relative_to(project.root)}")
    return 0
