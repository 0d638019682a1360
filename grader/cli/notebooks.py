"""``python -m grader author notebooks``: build the learner notebooks and the pages of docs/ that are made from data, check the sources,
look for leaks.
"""

from __future__ import annotations

import argparse

from grader.authoring import claims, reference
from grader.authoring.leaks import leaks
from grader.authoring.lint import lint
from grader.authoring.publish import build_all, leftovers, out_of_step, readmes, write
from grader.project import Project


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("notebooks")
    parser.add_argument("--check", action="store_true", help="write nothing; fail unless everything is in step")
    parser.add_argument("--only", metavar="LESSON", help="one lesson, such as 05_cudnn_benchmark")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print a sentence for every problem; 1 if there is one."""
    project = Project()
    made, problems = build_all(project, arguments.only)
    problems += [one for one in lint(project, arguments.only) if one.text not in "\n".join(problems)]
    problems += leaks(project, made)
    count = len(made)
    if arguments.only is None:
        made |= {**readmes(project), **reference.pages(project)}
        problems += claims.problems(project)
    if arguments.check:
        problems += out_of_step(project, made, arguments.only)
    else:
        for path in write(made):
            print(f"wrote {path.relative_to(project.root)}")
        if arguments.only is None:
            for path in leftovers(project, made):
                path.unlink()
                print(f"removed {path.relative_to(project.root)}: it has no source any more")
    for sentence in problems:
        print(sentence)
    print(f"{count} notebooks built, {len(problems)} problem{'s' * (len(problems) != 1)}")
    return 1 if problems else 0
