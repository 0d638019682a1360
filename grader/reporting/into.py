"""Put the marks of one checkpoint into a column of a platform's own table, and change nothing else in it.

Rows are matched by the roster (``grader.handin.roster``). A cell gets a mark where there is one here, else it
stays; a dash, which Moodle would read as 0, becomes empty.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from grader.course import Course
from grader.course.marks import Totals, totals
from grader.handin.roster import Roster, Row, read_table, roster
from grader.project import ProjectError

GRADE = ("grade", "bewertung", "成绩")  # Moodle's grading worksheet
MOST = ("maximum grade", "bestwertung", "最高分")
POINTS_POSSIBLE = "Points Possible"  # Canvas: the first cell of the row with the most points
CHECKPOINT = re.compile(r"checkpoint|测验", re.IGNORECASE)


def into(path: Path, known: Roster, totals: Totals, column: str | None = None) -> tuple[str, list[str], list[str]]:
    """(the table as CSV text, students with a mark who are not in it, rows that nobody is in). column: its heading there; None to find
    it. Raises ProjectError where the column is not clear, or has other points than the checkpoint.
    """
    rows, separator = read_table(path)
    head, *rows = rows or [[]]
    place = _column(head, totals.lesson, column, path)
    filled, strange = {}, []
    for row in rows:
        row += [""] * (len(head) - len(row))
        if row[0].strip().startswith(POINTS_POSSIBLE):
            _same_points(row[place], totals, head[place])
            continue
        found = _whose(row, known)
        if found is None:
            strange.append(" ".join(row[:3]).strip())
        elif found in filled:
            raise ProjectError(
                f"{path}: two rows are {found}'s, {filled[found]!r} and {row[0]!r}; take one out. Nothing was written."
            )
        else:
            filled[found] = row[0]
            points = totals.points.get(found)
            if points is not None:
                for most in (n for n, name in enumerate(head) if name.strip().casefold() in MOST):
                    _same_points(row[most], totals, head[place])
                row[place] = f"{points:.2f}"
        if row[place].strip() == "-":
            row[place] = ""
    file = io.StringIO()
    csv.writer(file, delimiter=separator, lineterminator="\n").writerows([head, *rows])
    missing = sorted(
        student for student, points in totals.points.items() if points is not None and student not in filled
    )
    return file.getvalue(), missing, strange


def fill(course: Course, lesson: str, path: Path, to: Path, column: str | None = None) -> tuple[list[str], list[str]]:
    """Write the platform's table with the marks of a checkpoint in it. Returns (sentences, students with a mark who are not in it)."""
    text, missing, strange = into(path, roster(course), totals(course, lesson), column)
    to.write_text(text, encoding="utf-8")
    said = []
    if strange:
        said.append(f"rows that name no one student, left as they were: {len(strange)} ({'; '.join(strange[:20])})")
    if missing:
        said.append(f"NOT IN THE FILE, left out: {', '.join(missing)}")
    return said, missing


def _whose(row: Row, known: Roster) -> str | None:
    """The student of a row: whom its cells name when nothing else stands in them; None for nobody or several."""
    named = [found.students for found in map(known.named, row) if found.whole]
    both = frozenset.intersection(*named) if named else frozenset()
    everybody = both or frozenset().union(*(one for one in named if len(one) == 1))
    return min(everybody) if len(everybody) == 1 else None


def _column(head: Row, lesson: str, column: str | None, path: Path) -> int:
    wanted = [n for n, name in enumerate(head) if name.strip() == column] if column else _like(head, lesson)
    if len(wanted) == 1:
        return wanted[0]
    there = ", ".join(name for name in head if name.strip())
    raise ProjectError(
        f'{path}: say which column is that of {lesson} with --column "NAME" (there are: {there}). Nothing was written.'
    )


def _like(head: Row, lesson: str) -> list[int]:
    """The columns that may be a checkpoint's: named after it, by its id or as "Checkpoint 5", else the only one for a grade."""
    number = int(lesson.split("_")[0])
    titles = [re.sub(r"\(\d+\)\s*$", "", name).casefold() for name in head]  # Canvas: "Checkpoint 5 (4711)"
    named = [n for n, name in enumerate(titles) if lesson in name]
    named = named or [
        n
        for n, name in enumerate(titles)
        if CHECKPOINT.search(name) and [*map(int, re.findall(r"\d+", name))] == [number]
    ]
    return named or [n for n, name in enumerate(titles) if name.strip() in GRADE]


def _same_points(there: str, totals: Totals, column: str) -> None:
    try:
        most = float(there.strip().replace(",", "."))
    except ValueError:
        return
    if most != totals.top:
        raise ProjectError(
            f"{totals.lesson}: {totals.top:g} points here, {most:g} in {column!r} there. Set the assignment to {totals.top:g} points "
            "there, and download the file again. Nothing was written."
        )
