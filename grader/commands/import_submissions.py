"""``python -m grader import``, ``roster``, ``give-back``: what comes out of a learning platform, and feedback into it."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.commands.course import directory
from grader.course import Course
from grader.importing.names import PLATFORMS


def add(commands: argparse._SubParsersAction) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser("import")
    parser.add_argument("file", type=Path, help="the platform's ZIP, or a folder")
    parser.add_argument(
        "--lms",
        choices=PLATFORMS,
        help="default: told by the names; plain: a folder or file for each, by id, mail or name",
    )
    parser.add_argument("--lesson", help="such as 05_cudnn_benchmark (default: found out from the notebooks)")
    parser.add_argument(
        "--roster",
        type=Path,
        help="who is who: the platform's participants, grading worksheet or gradebook "
        "(default: roster.csv in the course directory, where there is one)",
    )
    parser.add_argument(
        "--as",
        action="append",
        default=[],
        dest="said",
        metavar="NAME=STUDENT",
        help="whose a submission is that the roster does not tell, or a file with such lines; may be given several times",
    )
    directory(parser)
    parser.set_defaults(run=run_import)
    parser = commands.add_parser("roster")
    parser.add_argument(
        "file", type=Path, nargs="?", help="the platform's participants, grading worksheet or gradebook, as CSV"
    )
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
    parser.add_argument("--to", type=Path, help="default: feedback-LESSON-PLATFORM.zip in the course directory")
    directory(parser)
    parser.set_defaults(run=run_give_back)


def run_import(arguments: argparse.Namespace) -> int:
    """1 if a hand-in is not in place: it is not clear whose it is, or it cannot be read."""
    from grader.importing.run import import_submissions, report

    course = Course(arguments.dir)
    said = names_said(arguments.said)
    imported = import_submissions(course, arguments.file, arguments.lms, arguments.lesson, arguments.roster, said)
    print(report(course, imported, arguments.file))
    return int(not imported.complete)


def names_said(words: list[str]) -> dict[str, str]:
    """What ``--as`` says: the platform's name -> student. A word without = is a file of such lines. Raises ProjectError."""
    from grader.project import ProjectError

    lines = []
    for word in words:
        if "=" not in word and Path(word).is_file():
            text = Path(word).read_text(encoding="utf-8-sig", errors="replace")
            lines += [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
        else:
            lines.append(word)
    if wrong := [line for line in lines if "=" not in line]:
        raise ProjectError(
            f'--as {wrong[0]}: write NAME=STUDENT, such as "Ada Lovelace=ada", or name a file of such lines'
        )
    return {name.strip(): student.strip() for name, student in (line.rsplit("=", 1) for line in lines)}


def run_roster(arguments: argparse.Namespace) -> int:
    """1 if somebody of the roster has no id that can be used. Gives extensions after that."""
    from grader.late import extend
    from grader.project import ProjectError

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
    from grader.files import replace
    from grader.importing import who
    from grader.importing.run import enrol
    from grader.lms import read_table
    from grader.marking.step import printable
    from grader.names import fault

    lms = "canvas" if read_table(file).column("SIS Login ID") is not None else "moodle"
    people = who.everybody(course, file, lms)
    enrolled, differing = enrol(course, people)
    replace(course.root, course.root / "roster.csv", file.read_bytes())
    wide = max([len(person.called) for person in people.listed] + [7])
    print(f"{'student':<{wide}}  id to type")
    for person in sorted(people.listed, key=lambda one: one.called.casefold()):
        print(f"{printable(person.called):<{wide}}  {printable(person.student)}")
    print(
        f"{len(people.listed)} students, {len(enrolled)} new in the gradebook; kept as roster.csv for import and export"
    )
    for sentence in (*differing, *who.alike(people)):
        print(sentence)
    for name in people.without_id:
        print(f"NO ID: {name or 'a row'}: add a column student_id to the file")
    return int(bool(people.without_id or any(fault(person.student) for person in people.listed)))


def run_give_back(arguments: argparse.Namespace) -> int:
    from grader.importing.run import give_back

    to, lacking, idle = give_back(Course(arguments.dir), arguments.lesson, arguments.to)
    print(f"wrote {to}")
    if idle:
        print(f"handed in nothing: {', '.join(idle)}")
    if lacking:
        print(
            f"no feedback since the last marking, so left out: {', '.join(lacking)}; autograde and feedback come first"
        )
    return 0
