"""``python -m grader author minutes``: how long each lesson takes, counted, and where a recap is missing."""

from __future__ import annotations

import argparse

from grader.project import Project


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "minutes", help="count the minutes of each lesson's main line, and the words between recaps"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the table; 0."""
    from grader.authoring.minutes import table

    print(table(Project()))
    return 0
