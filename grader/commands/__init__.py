"""The commands of ``python -m grader``, one file a group."""

from __future__ import annotations

import argparse

from grader.project import ProjectError


def main(arguments: list[str] | None = None) -> int:
    """Parse, run, return the exit status; a problem of the files or the course directory is one sentence."""
    from grader.commands import claims, course, demo, items, notebooks

    parser = argparse.ArgumentParser(prog="python -m grader", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for group in (notebooks, items, claims, course, demo):
        group.add(commands)
    chosen = parser.parse_args(arguments)
    try:
        return chosen.run(chosen)
    except ProjectError as error:
        print(error)
        return 1
