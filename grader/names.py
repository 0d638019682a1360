"""Which folder names are taken for a student's. Whoever hands in can choose one, and it goes into tables that a
spreadsheet opens, pages, terminals and the gradebook.
"""

from __future__ import annotations

LONGEST = 100  # characters; a gradebook may hold 128
FORMULA = "=+-@"  # a spreadsheet would compute what begins so
MARKUP = '<>&"'


def fault(student: str) -> str | None:
    """Why a name is not taken, in words; None for a sound one."""
    if not student or len(student) > LONGEST:
        return f"it is not 1 to {LONGEST} characters long"
    if not student.isprintable():  # control characters, half surrogates, what turns the direction of writing
        return "it holds signs that cannot be printed"
    if student[0] in FORMULA or student[0] == ".":
        return f"it begins with {student[0]!r}"
    if set(student) & set(MARKUP):
        return "it holds markup"
    return None
