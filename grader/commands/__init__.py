"""The commands of ``python -m grader``, one file a group."""

from __future__ import annotations

import argparse
import os
import sys

from grader.project import Infrastructure, ProjectError

GO_ON = "What is marked is kept; run the same command again to go on."


def main(arguments: list[str] | None = None) -> int:
    """Parse, run, return the exit status; a problem of the files, the disk or the gradebook is one sentence."""
    from grader.commands import (
        bundle,
        claims,
        course,
        demo,
        export,
        import_submissions,
        items,
        late,
        notebooks,
        own,
        reference,
        regrade,
        report,
        similar,
    )

    parser = argparse.ArgumentParser(prog="python -m grader", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for group in (
        notebooks,
        items,
        claims,
        reference,
        course,
        regrade,
        report,
        similar,
        late,
        export,
        import_submissions,
        bundle,
        own,
        demo,
    ):
        group.add(commands)
    chosen = parser.parse_args(arguments)
    try:
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
