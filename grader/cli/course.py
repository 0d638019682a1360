"""The instructor's commands: init, release, collect, autograde, feedback."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

from grader.course import Course, command, init
from grader.project import LANGUAGES


def add(commands: argparse._SubParsersAction) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser("init")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--language", choices=LANGUAGES, default="en")
    parser.add_argument("--course-id", default="torch-backends")
    parser.add_argument(
        "--timezone", metavar="NAME", help="of all dates, such as Europe/Berlin (default: this machine's)"
    )
    parser.add_argument("--exchange", type=Path, help="where assignments are handed out (default: DIR/exchange)")
    parser.set_defaults(run=run_init)
    _of_lessons(commands, "collect", run_collect)
    parser = _of_lessons(commands, "feedback", run_feedback)
    parser.add_argument("--early", action="store_true", help="also while somebody may still hand in")
    _add_release(_of_lessons(commands, "release", run_release))
    _add_autograde(_of_lessons(commands, "autograde", run_autograde))


def _of_lessons(
    commands: argparse._SubParsersAction, name: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name)
    parser.add_argument("lesson", nargs="+", help="such as 05_cudnn_benchmark")
    parser.set_defaults(run=run)
    directory(parser)
    return parser


def _add_release(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--due", metavar="WHEN", help='such as "2026-12-01 23:59", in the time zone of the course')
    parser.add_argument(
        "--hold",
        action="store_true",
        help="prepare it only: neither the exchange nor a bundle holds it until it is released without this",
    )
    parser.add_argument(
        "--personal",
        action="store_true",
        help="a notebook for each student of the gradebook, the id in it; implies --hold",
    )
    parser.add_argument(
        "--unfinished",
        action="store_true",
        help="also a checkpoint of your own in which words of the template are left",
    )


def _add_autograde(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--student", action="append", help="this student only; may be given several times")
    parser.add_argument(
        "--again",
        action="store_true",
        help="mark all anew; keeps a copy of the gradebook, and names each mark that differs",
    )
    parser.add_argument(
        "--accept",
        action="append",
        default=[],
        metavar="STUDENT",
        help="mark a submission as it is that was held back; you have looked at it",
    )
    parser.add_argument(
        "--jobs",
        type=_count,
        default=0,
        metavar="N",
        help="processes on this machine (default: as many as it has cores)",
    )
    parser.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler instead, such as tcp://host:8786")
    parser.add_argument(
        "--no-sandbox",
        action="store_true",
        help="run student code with your own rights; only for submissions you trust",
    )


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes")
    return int(text)


def directory(parser: argparse.ArgumentParser) -> None:
    """Which course directory."""
    parser.add_argument("--dir", type=Path, default=Path("."), help="the course directory (default: here)")


def run_init(arguments: argparse.Namespace) -> int:
    for sentence in init(
        arguments.directory, arguments.language, arguments.course_id, arguments.exchange, timezone=arguments.timezone
    ):
        print(sentence)
    return 0


def run_release(arguments: argparse.Namespace) -> int:
    from grader.authoring.scaffold import left_over
    from grader.course.student_config import for_students
    from grader.project.dates import shown, utc
    from grader.release.personal import personal
    from grader.release.run import release
    from grader.release.varied import WHICH_ID, told_of, varied

    course = Course(arguments.dir)
    due = None if arguments.due is None else utc(arguments.due, course.timezone)
    for lesson in arguments.lesson:
        said = release(course, lesson, due, arguments.hold or arguments.personal, arguments.unfinished)
        if arguments.personal:
            said += personal(course, lesson)
        elif arguments.hold:
            said.append(
                f"held back: neither the exchange nor a bundle holds it until {command('release ' + lesson, course.root)}"
            )
        past = ", WHICH IS PAST" if due and due < datetime.now(timezone.utc).replace(tzinfo=None) else ""
        print(f"released {lesson}" + (f", due {shown(due, course.timezone)}{past}" if due else ""))
        for sentence in [*said, *left_over(course.project, lesson)]:
            print(sentence)
        if (found := varied(course.project, lesson)).questions:
            print(f"{lesson}: {told_of(found)}" + ("" if arguments.personal else f"\n{WHICH_ID}"))
    if not (arguments.hold or arguments.personal):
        print("\n".join(for_students(course)))
    return 0


def run_collect(arguments: argparse.Namespace) -> int:
    from grader.gradebook.marks import require
    from grader.steps.pipeline import collect

    course = Course(arguments.dir)
    require(course, *arguments.lesson)
    for lesson in arguments.lesson:
        found = collect(course, lesson)
        print(f"{lesson}: {found} submission{'s' * (found != 1)}")
    return 0


def run_autograde(arguments: argparse.Namespace) -> int:
    """1 if a submission was left without a grade."""
    from grader.steps import pool

    if arguments.cluster is None:
        pool.prepare(arguments.jobs or pool.cores(), not arguments.no_sandbox)
    from grader.gradebook.marks import require
    from grader.steps.autograding import How, autograde
    from grader.steps.pipeline import stale, strays, summary

    course, lost = Course(arguments.dir), False
    require(course, *arguments.lesson)
    how = How(
        arguments.jobs or pool.cores(),
        arguments.cluster,
        arguments.again,
        not arguments.no_sandbox,
        frozenset(arguments.accept),
    )
    for lesson in arguments.lesson:
        found = autograde(course, lesson, arguments.student, how)
        print(f"\n{lesson}\n{summary(found)}")
        for sentence in stale(course, lesson):
            print(sentence)
        lost = lost or any(outcome.reason == "no-grade" for outcome in found)
    for sentence in strays(course):
        print(sentence)
    return int(lost)


def run_feedback(arguments: argparse.Namespace) -> int:
    """1 if the feedback of a submission could not be made, or it is too early for it."""
    from grader.gradebook.marks import require
    from grader.steps.pipeline import feedback

    course, failed = Course(arguments.dir), False
    require(course, *arguments.lesson)
    for lesson in arguments.lesson:
        too_early = not arguments.early and _too_early(course, lesson)
        failed = too_early or bool(feedback(course, lesson)) or failed
    return int(failed)


def _too_early(course: Course, lesson: str) -> bool:
    """True if a due date is still open and the instructor did not confirm."""
    from grader.project.dates import shown
    from grader.steps.late import open_until

    last = open_until(course, lesson)
    if last is None:
        return False
    when = (
        "and no due date is set, so nobody knows whether all have handed in"
        if last == datetime.max
        else f"and there is time to hand in until {shown(last, course.timezone)} (due date and extensions)"
    )
    print(f"{lesson}: feedback shows the right answers, {when}.")
    if (
        sys.stdin.isatty()
        and sys.stdout.isatty()
        and input("Hand it out now all the same? [y/N] ").strip().lower() in ("y", "yes")
    ):
        return False
    due = command(f'release {lesson} --due "2026-12-01 23:59"', course.root)
    print(
        "Nothing was handed out; "
        + (f"set the date with {due}, or" if last == datetime.max else "run it again then, or")
        + " say --early."
    )
    return True
