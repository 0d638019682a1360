"""The commands of ``python -m grader``, one file a group."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

from course.i18n import LANGUAGES, language, pick
from grader.commands.words import AUTHORS, COMMANDS, MOVED, ONCE, WEEKLY, overview
from grader.launcher import is_course, program, remember, remembered
from grader.project import Infrastructure, ProjectError

GO_ON = "What is marked is kept; run the same command again to go on."


def main(arguments: list[str] | None = None) -> int:
    """Parse, run, return the exit status; a problem of the files, the disk or the gradebook is one sentence."""
    from grader.commands import (
        book,
        bundle,
        claims,
        course,
        demo,
        export,
        import_submissions,
        items,
        minutes,
        notebooks,
        own,
        reference,
        report,
    )

    words = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog=program(), add_help=False)
    commands = parser.add_subparsers(metavar="COMMAND", dest="command")
    for group in (course, import_submissions, export, report, bundle, own):
        group.add(commands)
    of_authors = commands.add_parser(AUTHORS, add_help=False).add_subparsers(metavar="COMMAND")
    for group in (notebooks, items, claims, reference, minutes, book, demo):
        group.add(of_authors)
    if not words or words[0] in ("-h", "--help", "--language"):
        print(overview((WEEKLY, ONCE), _of_help(words)))
        return int(not words)
    if words[0] in of_authors.choices:
        moved = f"{program()} {AUTHORS} {shlex.join(words)}"
        print(pick(MOVED, _of_help(words)).format(command=moved))
        return 2
    author = words[0] == AUTHORS
    if author and (len(words) == 1 or words[1] in ("-h", "--help", "--language")):
        print(overview((AUTHORS,), _of_help(words)))
        return int(len(words) == 1)
    known, name = (of_authors, words[1]) if author else (commands, words[0])
    if {"-h", "--help"} & {*words} and (one := known.choices.get(name)):
        one.description = one.description or pick(COMMANDS[" ".join(words[: 1 + author])][1], _of_help(words))
        one.print_help()
        return 0
    chosen = parser.parse_args(words)
    try:
        _in_course(chosen)
        return chosen.run(chosen)
    except (ProjectError, Infrastructure) as error:
        print(error)
        return 1
    except KeyboardInterrupt:
        print(f"\nStopped. {GO_ON}")
        return 130
    except BrokenPipeError:  # whoever read the output has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        wrong_name = isinstance(error, (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError))
        next_step = "Name a place that exists and that you may write to." if wrong_name else GO_ON
        print(f"{error.filename or 'reading or writing'}: {error.strerror or error}. {next_step}")
        return 1
    except Exception as error:
        if (said := _of_gradebook(error)) is None:
            raise
        print(said)
        return 1


def _of_help(words: list[str]) -> str:
    """The language of a help page: the one named after --language, else the one used last."""
    named = [word for before, word in zip(words, words[1:], strict=False) if before == "--language"]
    named += [word.removeprefix("--language=") for word in words if word.startswith("--language=")]
    return next((code for code in named if code in LANGUAGES), language())


def _in_course(chosen: argparse.Namespace) -> None:
    """Where a command works on a course directory and none is named: the one we stand in, else the one used last, which is
    said. What is used is remembered.
    """
    if not getattr(chosen, "in_course", False):
        return
    if chosen.dir is None and not is_course(Path.cwd()) and (known := remembered()):
        print(f"course folder: {known} (the one used last; --dir names another)", file=sys.stderr)
        chosen.dir = known
    chosen.dir = chosen.dir or Path(".")
    if is_course(chosen.dir):
        remember(chosen.dir)


def _of_gradebook(error: Exception) -> str | None:
    """What the database said, as a sentence with the next step; None for an error of another kind."""
    if isinstance(error, ModuleNotFoundError) and error.name in (
        "psycopg",
        "psycopg2",
        "MySQLdb",
        "pymysql",
        "oracledb",
        "pyodbc",
    ):
        return f"The gradebook's address (c.CourseDirectory.db_url) needs a driver: pip install {error.name}"
    database = sys.modules.get("sqlalchemy.exc")
    if database is None or not isinstance(error, (database.DBAPIError, database.ArgumentError)):
        return None
    what = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
    if "is locked" in what:
        return f"The gradebook is locked by another program (formgrader, a backup). {GO_ON}"
    if "disk is full" in what or "disk I/O" in what:
        return f"The gradebook cannot be written: {what}. Make room on the disk. {GO_ON}"
    return (
        f"The gradebook cannot be used: {what}. Look at c.CourseDirectory.db_url, or put gradebook.db back from a copy."
    )
