"""``python -m grader author book``: the course as a site of static pages."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.project import Project


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("book")
    parser.add_argument("--to", type=Path, default=Path("build/book"), metavar="DIR", help="default build/book")
    parser.add_argument("--lesson", action="append", metavar="ID", help="only this lesson; may be given several times")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print where the site stands and how large it is."""
    from grader.authoring.book import site

    project = Project()
    made = site.build(project, arguments.to.resolve(), arguments.lesson or project.lessons())
    print(f"{made / 'index.html'}  {site.sizes(made)}")
    return 0
