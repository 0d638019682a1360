"""The commands of ``python -m grader`` (``commands.yaml``), and the sentence that a fault of files, disk or gradebook becomes."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from grader.project import Infrastructure, ProjectError, read_yaml

COMMANDS: dict[str, dict[str, dict[str, Any]]] = read_yaml(Path(__file__).with_name("commands.yaml"))
GO_ON = "What is marked is kept; run the same command again to go on."
USAGE = (
    "What a command takes: python -m grader COMMAND --help               某个命令的用法：python -m grader 命令 --help"
)


def listed(only: str = "") -> str:
    """The commands, all or those under one heading, with what they do in both languages."""
    lines = []
    for when, those in COMMANDS.items():
        if only in ("", when):
            lines += ["", when, *(f"  {name:<22}{one['en']:<52}{one['zh']}" for name, one in those.items())]
    return "\n".join([*lines, "", USAGE])


def _parser() -> argparse.ArgumentParser:
    from grader.cli import commands

    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m grader", description=listed(), formatter_class=raw)
    top = parser.add_subparsers(metavar="COMMAND", required=True)
    authors = top.add_parser("author", description=listed("for authors"), formatter_class=raw)
    of_authors = authors.add_subparsers(metavar="COMMAND", required=True)
    for name, said in (one for those in COMMANDS.values() for one in those.items()):
        group, _, own = name.rpartition(" ")
        one = (of_authors if group else top).add_parser(own, description=f"{said['en']} / {said['zh']}")
        one.set_defaults(run=getattr(commands, f"run_{own.replace('-', '_')}"))
        for argument, options in said["arguments"].items():
            one.add_argument(argument, **{key: _value(key, value) for key, value in options.items()})
        if "dir" in said:
            here = None if own == "bundle" else Path(".")
            one.add_argument("--dir", type=Path, default=here, help=f"the course directory ({said['dir']})")
    return parser


def _value(key: str, value: Any) -> Any:
    if key == "type":
        return {"path": Path, "int": int}[value]
    return tuple(value) if key == "metavar" and isinstance(value, list) else value


def main(arguments: list[str] | None = None) -> int:
    """Parse, run, return the exit status; a problem of the files, the disk or the gradebook is one sentence."""
    chosen = _parser().parse_args(arguments)
    try:
        return chosen.run(chosen)
    except (ProjectError, Infrastructure) as error:
        print(error)
    except KeyboardInterrupt:
        print(f"\nStopped. {GO_ON}")
        return 130
    except BrokenPipeError:  # whoever read the output has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        wrong_name = isinstance(error, (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError))
        next_step = "Name a place that exists and that you may write to." if wrong_name else GO_ON
        print(f"{error.filename or 'reading or writing'}: {error.strerror or error}. {next_step}")
    except Exception as error:
        if (said := _of_gradebook(error)) is None:
            raise
        print(said)
    return 1


def _of_gradebook(error: Exception) -> str | None:
    """What the database said, as a sentence with the next step; None for an error of another kind."""
    database = sys.modules.get("sqlalchemy.exc")
    if database is None or not isinstance(error, (database.DBAPIError, database.ArgumentError)):
        return None
    what = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
    if "is locked" in what:
        return f"The gradebook is locked by another program (formgrader, a backup). {GO_ON}"
    return f"The gradebook cannot be used: {what}. Look at the disk and at c.CourseDirectory.db_url, or put gradebook.db back. {GO_ON}"
