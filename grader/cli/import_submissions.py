"""``python -m grader import``, ``roster``, ``give-back``: what comes from a learning platform, and feedback back to it."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.cli.course import directory
from grader.course import Course


def add(commands: argparse._SubParsersAction) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser("import")
    parser.add_argument(
        "file", type=Path, help="a ZIP or a folder with the hand-ins of a class, as any platform gives it"
    )
    parser.add_argument("--lesson", help="such as 05_cudnn_benchmark (default: found out from the notebooks)")
    directory(parser)
    parser.set_defaults(run=run_import)
    parser = commands.add_parser("roster")
    parser.add_argument("file", type=Path, nargs="?", help="who is in the class: any table of the platform as CSV")
    parser.add_argument(
        "--extend",
        nargs=3,
        action="append",
        default=[],
        metavar=("STUDENT", "LESSON", "HOURS"),
        help="give a student more time after the due date; 0 takes it back",
    )
    directory(parser)
    parser.set_defaults(run=run_roster)
    parser = commands.add_parser("give-back")
    parser.add_argument("lesson", help="such as 05_cudnn_benchmark")
    parser.add_argument("--to", type=Path, help="default: feedback-LESSON.zip in the course directory")
    directory(parser)
    parser.set_defaults(run=run_give_back)


def run_import(arguments: argparse.Namespace) -> int:
    """1 if a hand-in is not in place: it is not clear whose it is, or it cannot be read."""
    from grader.steps.importing import import_submissions, report

    course = Course(arguments.dir)
    imported = import_submissions(course, arguments.file, arguments.lesson)
    print(report(course, imported, arguments.file))
    return int(not imported.complete)


def run_roster(arguments: argparse.Namespace) -> int:
    """1 if somebody of the roster has no id that can be used. Gives extensions after that."""
    from grader.project import ProjectError
    from grader.steps.late import extend

    course, left = Course(arguments.dir), 0
    if arguments.file is None and not arguments.extend:
        raise ProjectError(
            "name the file with your class, or give somebody more time with --extend STUDENT LESSON HOURS"
        )
    if arguments.file is not None:
        left = _read_roster(course, arguments.file)
    for student, lesson, hours in arguments.extend:
        try:
            print(extend(course, lesson, student, float(hours)))
        except ValueError:
            raise ProjectError(f"--extend {student} {lesson} {hours}: HOURS is a number, such as 48") from None
    return left


def _read_roster(course: Course, file: Path) -> int:
    from grader.gradebook.roster import FILE, enrol, keep, roster
    from grader.marking.step import printable

    roster(course, file)  # a fault in it is said before it is kept
    keep(course, file)
    known = roster(course)
    new, left = enrol(course, known)
    names = {
        one: f"{said.get('first_name', '')} {said.get('last_name', '')}".strip() for one, said in known.details.items()
    }
    wide = max([len(names[one]) for one in known.listed] + [7])
    print(f"{'student':<{wide}}  id to type")
    for student in sorted(known.listed, key=lambda one: (names[one].casefold(), one)):
        print(f"{printable(names[student]):<{wide}}  {printable(student)}")
    print(f"{len(known.listed)} students, {len(new)} new in the gradebook; kept as {FILE} for import and export")
    for sentence in (*left, *(f"NO ID: {name}: add a column student_id to the file" for name in known.nameless)):
        print(sentence)
    return int(bool(left or known.nameless))


def run_give_back(arguments: argparse.Namespace) -> int:
    from grader.steps.importing import give_back

    to, lacking, idle = give_back(Course(arguments.dir), arguments.lesson, arguments.to)
    print(f"wrote {to}")
    if idle:
        print(f"handed in nothing: {', '.join(idle)}")
    if lacking:
        print(
            f"no feedback since the last marking, so left out: {', '.join(lacking)}; autograde and feedback come first"
        )
    return 0
