"""The commands of ``python -m grader``, one file a group."""

from __future__ import annotations

import argparse

from grader.project import Infrastructure, ProjectError


def main(arguments: list[str] | None = None) -> int:
    """Parse, run, return the exit status; a problem of the files or the course directory is one sentence."""
    from grader.commands import claims, course, demo, export, items, late, notebooks, regrade, report, similar

    parser = argparse.ArgumentParser(prog="python -m grader", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for group in (notebooks, items, claims, course, regrade, report, similar, late, export, demo):
        group.add(commands)
    chosen = parser.parse_args(arguments)
    try:
        return chosen.run(chosen)
    except (ProjectError, Infrastructure) as error:
        print(error)
        return 1
