"""``python -m grader author claims``: the page of common claims, and which of them no question meets."""

from __future__ import annotations

import argparse

from grader.project import Project


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("claims")
    parser.add_argument("--check", action="store_true", help="write nothing; fail unless everything is in step")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print a sentence for every problem; 1 if there is one."""
    from grader.authoring import claims

    project = Project()
    found = claims.problems(project)
    if arguments.check:
        found += claims.out_of_step(project)
    elif claims.write(project):
        print(f"wrote {claims.page_path(project).relative_to(project.root)}")
    for sentence in found:
        print(sentence)
    print(f"{len(claims.read(project)[0])} claims, {len(found)} problems")
    return 1 if found else 0
