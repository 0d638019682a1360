"""``python -m grader author demo``: a synthetic class goes the whole way through nbgrader, and the marks are checked."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.project import LANGUAGES

LESSONS = ("01_map", "05_cudnn_benchmark")


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("demo")
    parser.add_argument("--dir", type=Path, default=Path("build/demo"), help="made anew (default: build/demo)")
    parser.add_argument("--students", type=int, choices=range(1, 31), default=10, metavar="N", help="1 to 30")
    parser.add_argument("--language", choices=LANGUAGES, default="en")
    parser.add_argument(
        "--lesson",
        action="append",
        help=f"this checkpoint; may be given several times (default: {' and '.join(LESSONS)})",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """1 if a student did not get what was deserved; the last line says which."""
    from grader.steps import pool

    pool.prepare(pool.cores(), sandbox=True)
    from grader.cli.made_up.run import demo
    from grader.cli.made_up.students import class_of

    differences = demo(
        arguments.dir, arguments.language, lessons=arguments.lesson or LESSONS, students=class_of(arguments.students)
    )
    for sentence in differences:
        print(sentence)
    if arguments.language == "zh":
        print(f"{len(differences)} 处不同" if differences else "OK：每个学生都拿到了应得的分")
    else:
        print(f"{len(differences)} differences" if differences else "OK: every student got what was deserved")
    return int(bool(differences))
