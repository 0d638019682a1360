"""Restore the graded cells of a submission that were deleted, copied or changed, and say so in a sentence for each.

Of an answer cell that is there more than once the one with work counts; where two hold different work, the submission is held back.
What a student wrote into a locked cell becomes a cell of its own before it, and runs.
"""

from __future__ import annotations

import copy
import re

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from course.core.i18n import both, pick
from grader.handin.reading import untouched
from grader.marking.said import SAID, say
from grader.marking.step import grade_id, note, state

BINDS = re.compile(r"^(?:async\s+)?(?:def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
FIXED = (
    "grade",
    "grade_id",
    "locked",
    "solution",
    "task",
    "schema_version",
)  # points may be those of an earlier release


def restore_cells(notebook: NotebookNode, released: NotebookNode, language: str) -> None:
    """Change ``notebook`` so that it has each graded cell of ``released`` exactly once. Notes what was changed, and stores which cells
    for code or text were gone (``missing``), and which are there with different work (``twice``).
    """
    _modern(notebook)
    wanted = {grade_id(cell): cell for cell in released.cells if grade_id(cell)}
    found = _found(notebook, wanted)
    changed: dict[str, list[str]] = {kind: [] for kind in SAID["restored"]}
    twice = []
    for identity, cells in found.items():
        right = wanted[identity]
        cells.sort(key=lambda cell: (cell.get("id") != right.get("id"), grade_id(cell) != identity))
        works = [cell for cell in cells if _works(cell, right)]
        if len({cell.source.strip() for cell in works}) > 1:
            twice.append(identity)
        original = (works or cells)[0]
        for extra in (cell for cell in cells if cell is not original):
            extra.metadata.pop("nbgrader", None)
            changed["copied"].append(identity)
            if untouched(extra.source, right.source):  # it would run, and undo the work
                notebook.cells = [cell for cell in notebook.cells if cell is not extra]
        own = _own_part(original, right)
        for kind in _restore(original, right):
            changed[kind].append(identity)
        if own:
            place = next(n for n, cell in enumerate(notebook.cells) if cell is original)
            make = new_code_cell if right.cell_type == "code" else new_markdown_cell
            notebook.cells.insert(place, make(own, id=f"own-{identity}"[:64]))
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata and grade_id(cell) not in wanted:
            del cell.metadata["nbgrader"]
    place = 0  # after the nearest cell before it in the release that is still there
    for cell in released.cells:
        identity, number = grade_id(cell), cell.get("id")
        if identity and identity not in found:
            notebook.cells.insert(place, _stand_in(cell, language))
            changed["missing"].append(identity)
        same = (
            n
            for n, one in enumerate(notebook.cells, 1)
            if (number and number == one.get("id")) or (identity and identity == grade_id(one))
        )
        place = next(same, place)
    state(notebook)["twice"] = twice
    state(notebook)["missing"] = [one for one in changed["missing"] if wanted[one].metadata.nbgrader.solution]
    for kind, identities in changed.items():
        if identities:
            names = [f"`{identity}`" for identity in dict.fromkeys(identities)]
            note(notebook, kind, say(f"restored.{kind}", cells=both(", ".join(names), "、".join(names))))


def _modern(notebook: NotebookNode) -> None:
    """Raise the format of an older notebook to 4.5: the cells we add have ids, which older formats do not allow."""
    if notebook.get("nbformat_minor", 0) < 5:
        notebook.nbformat_minor = 5
        for number, cell in enumerate(notebook.cells):
            cell.setdefault("id", f"cell-{number}")


def _found(notebook: NotebookNode, wanted: dict[str, NotebookNode]) -> dict[str, list[NotebookNode]]:
    """The submitted cells for each released grade id."""
    by_cell_id = {cell.get("id"): identity for identity, cell in wanted.items()}
    by_source = {cell.source.strip(): i for i, cell in wanted.items() if not cell.metadata.nbgrader.solution}
    found: dict[str, list[NotebookNode]] = {}
    for cell in notebook.cells:
        said = grade_id(cell)
        identity = by_cell_id.get(cell.get("id")) or (said if said in wanted else None)
        identity = identity or by_source.get(cell.source.strip())
        if identity is not None:
            found.setdefault(identity, []).append(cell)
    return found


def _works(cell: NotebookNode, released: NotebookNode) -> bool:
    """Whether somebody has worked in this copy of an answer cell. A copy in which something else stands than what the cell is for is a
    cell of the student's own: it binds none of the names that the released one binds.
    """
    names = {one for found in BINDS.findall(released.source) for one in found if one}
    binds = {one for found in BINDS.findall(cell.source) for one in found if one}
    about = cell.cell_type != "code" or not names or bool(names & binds)
    return bool(released.metadata.nbgrader.solution and about and cell.source.strip()) and not untouched(
        cell.source, released.source
    )


def _own_part(cell: NotebookNode, released: NotebookNode) -> str:
    """What a student wrote into a locked cell; empty for none, for comments and for an answer cell."""
    if released.metadata.nbgrader.solution or cell.cell_type != released.cell_type:
        return ""
    own = cell.source.replace(released.source, "").strip()
    said = [line for line in own.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return own if said or cell.cell_type != "code" else ""


def _restore(cell: NotebookNode, released: NotebookNode) -> list[str]:
    """Restore the grading data of a cell and, where it is locked, its source; returns which kinds of change there were."""
    data, right, changed = cell.metadata.get("nbgrader"), released.metadata.nbgrader, []
    if not isinstance(data, dict) or any(data.get(field) != right.get(field) for field in FIXED):
        changed.append("metadata")
    cell.metadata["nbgrader"] = copy.deepcopy(right)
    if cell.cell_type != released.cell_type:
        cell.cell_type = released.cell_type
        cell.update(outputs=[], execution_count=None)
        cell.pop("attachments", None)
    if not right.solution and cell.source != released.source:
        cell.source = released.source
        changed.append("locked")
    return changed


def _stand_in(cell: NotebookNode, language: str) -> NotebookNode:
    """The released cell to insert. An answer cell becomes a comment, so that it cannot overwrite the student's function."""
    made = copy.deepcopy(cell)
    if made.metadata.nbgrader.solution:
        made.source = pick(say("restored.deleted"), language)
    return made
