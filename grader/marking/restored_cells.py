"""Restore the graded cells of a submission that were deleted, copied or changed, and say so in a sentence for each.

Of an answer cell that is there more than once the one with work counts; where two hold different work, the submission is held back.
One without work runs before the cell in which the work stands. What a student wrote into a locked cell becomes a cell of its own
before it.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from course.core.i18n import both, pick
from grader.handin.reading import lines_of_code, untouched
from grader.marking.said import SAID, say
from grader.marking.step import grade_id, note, state

BINDS = re.compile(r"^(?:async\s+)?(?:def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
NO_CODE = re.compile(r"%%.*|#*")  # what timed or disabled a locked cell
FIXED = ("grade", "grade_id", "locked", "solution", "task", "schema_version")  # points may be older


def restore_cells(notebook: NotebookNode, released: NotebookNode, language: str, names: Mapping[str, str]) -> None:
    """Change ``notebook`` so that it has each graded cell of ``released`` exactly once. Notes what was changed, and stores which cells
    for code or text were gone (``missing``), and which are there with different work (``twice``). names: answer cell -> what it binds.
    """
    wanted = {grade_id(cell): cell for cell in released.cells if grade_id(cell)}
    found = _found(notebook, wanted)
    changed: dict[str, list[str]] = {kind: [] for kind in SAID["restored"]}
    twice = []
    for identity, cells in found.items():
        right = wanted[identity]
        cells.sort(key=lambda cell: (cell.get("id") != right.get("id"), grade_id(cell) != identity))
        works = [cell for cell in cells if _works(cell, right, names.get(identity))]
        code = right.cell_type == "code"
        if len({tuple(lines_of_code(cell.source)) if code else cell.source.strip() for cell in works}) > 1:
            twice.append(identity)
        original = (works or cells)[0]
        for extra in (cell for cell in cells if cell is not original):
            extra.metadata.pop("nbgrader", None)
            if identity not in twice:
                changed["copied"].append(identity)
        own = "" if right.metadata.nbgrader.solution else original.source.replace(right.source, "").strip()
        make = new_code_cell if original.cell_type == "code" else new_markdown_cell
        for kind in _restore(original, right):
            changed[kind].append(identity)
        if not NO_CODE.fullmatch(own):
            place = next(n for n, cell in enumerate(notebook.cells) if cell is original)
            notebook.cells.insert(place, make(own, id=f"own-{identity}"[:64]))
    for identity in (one for one in names if one in wanted):
        _stubs_first(notebook, wanted[identity].source, names[identity])
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


def _works(cell: NotebookNode, released: NotebookNode, name: str | None) -> bool:
    """Whether somebody has worked in this copy of an answer cell. A copy that does not bind the name that the task asks for is a cell of
    the student's own, such as a part of a cell that was split.
    """
    about = cell.cell_type != "code" or name is None or _binds(cell, name)
    there = released.metadata.nbgrader.solution and about and cell.source.strip()
    return bool(there) and not untouched(cell.source, released.source)


def _binds(cell: NotebookNode, name: str) -> bool:
    return any(name in found for found in BINDS.findall(cell.source))


def _stubs_first(notebook: NotebookNode, stub: str, name: str) -> None:
    """Move each cell as it was handed out that stands below the first work on its task before that work, which it would undo."""
    binds = [n for n, cell in enumerate(notebook.cells) if cell.cell_type == "code" and _binds(cell, name)]
    works = [n for n in binds if not untouched(notebook.cells[n].source, stub)]
    order = [n for n in binds if works and n > works[0] and n not in works]
    if order:
        rest = [n for n in range(works[0], len(notebook.cells)) if n not in order]
        notebook.cells = [notebook.cells[n] for n in (*range(works[0]), *order, *rest)]


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
    if not right.solution:
        if cell.source.strip() != released.source.strip():
            changed.append("locked")
        cell.source = released.source
    return changed


def _stand_in(cell: NotebookNode, language: str) -> NotebookNode:
    """The released cell to insert. An answer cell becomes a comment, so that it cannot overwrite the student's function."""
    made = copy.deepcopy(cell)
    if made.metadata.nbgrader.solution:
        made.source = pick(say("restored.deleted"), language)
    return made
