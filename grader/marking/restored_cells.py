"""Restore the graded cells of a submission that were deleted, copied or changed, and say so in a sentence for each."""

from __future__ import annotations

import copy

from nbformat import NotebookNode

from course.i18n import both
from grader.authoring.build import answer_id
from grader.marking.step import grade_id, note, state

FIXED = ("grade", "grade_id", "locked", "solution", "task", "schema_version")
DELETED = both(
    "# This cell was not in the submission; there is nothing to run.", "# 提交里没有这个单元格；没有可运行的内容。"
)

SENTENCES = {
    "copied": both(
        "In the notebook more than once, and only the original is graded: {}.",
        "在 notebook 里出现了多次，只有原来的一份计分：{}。",
    ),
    "missing": both(
        "Missing from the notebook, and put back as released: {}.", "notebook 里缺少，已按发布时的样子补回：{}。"
    ),
    "later": both(
        "This copy comes from an earlier release, which did not have {} yet. It was added here for marking; nobody made a mistake.",
        "这份 notebook 来自较早发布的版本，那时还没有 {}：评分时补了进来，不是谁的错。",
    ),
    "metadata": both("The grading data had been changed and was restored: {}.", "评分信息被改动过，已恢复：{}。"),
    "points": both(
        "The points in this copy differ from the release; those of the release count: {}.",
        "这份 notebook 里写的分值与发布的不同，以发布的为准：{}。",
    ),
    "locked": both("The locked text had been changed and was restored: {}.", "锁定的内容被改动过，已恢复：{}。"),
}


def restore_cells(notebook: NotebookNode, released: NotebookNode, language: str) -> None:
    """Change ``notebook`` so that it has each graded cell of ``released`` exactly once. Notes what was changed, and stores which
    graded cells were added to the checkpoint after this copy was released (``later``), and which cells for code or text were
    gone (``missing``).
    """
    _modern(notebook)
    wanted = {grade_id(cell): cell for cell in released.cells if grade_id(cell)}
    found, later = _found(notebook, wanted), _later(notebook, wanted)
    changed: dict[str, list[str]] = {kind: [] for kind in SENTENCES}
    for identity, cells in found.items():
        original, *copies = sorted(cells, key=lambda cell: cell.get("id") != wanted[identity].get("id"))
        for extra in copies:
            extra.metadata.pop("nbgrader", None)
            changed["copied"].append(identity)
        for kind in _restore(original, wanted[identity]):
            changed[kind].append(identity)
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata and grade_id(cell) not in wanted:
            del cell.metadata["nbgrader"]
    for identity, cell in wanted.items():
        if identity not in found:
            notebook.cells.insert(_place(notebook, released, identity), _stand_in(cell, language))
            if identity not in later:
                changed["missing"].append(identity)
            elif cell.metadata.nbgrader.grade:
                changed["later"].append(identity)
    state(notebook)["later"] = changed["later"]
    state(notebook)["missing"] = [one for one in changed["missing"] if wanted[one].metadata.nbgrader.solution]
    for kind, identities in changed.items():
        if identities:
            names = [f"`{identity}`" for identity in dict.fromkeys(identities)]
            note(
                notebook,
                kind,
                both(SENTENCES[kind]["en"].format(", ".join(names)), SENTENCES[kind]["zh"].format("、".join(names))),
            )


def _later(notebook: NotebookNode, wanted: dict[str, NotebookNode]) -> set[str]:
    """The graded cells that were added after this copy was released. A copy contains the list of its graded cells; for one
    without the list the result is empty.
    """
    said = notebook.metadata.get("course")
    said = said if isinstance(said, dict) else {}
    questions, tasks, essays = said.get("questions"), said.get("tasks"), said.get("essays", [])
    if not (isinstance(questions, list) and isinstance(tasks, dict) and isinstance(essays, list)):
        return set()
    asked = {*tasks, *map(str, essays), *(str(one.get("id")) for one in questions if isinstance(one, dict))}
    return {*wanted} - asked - {*map(answer_id, asked)}


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


def _restore(cell: NotebookNode, released: NotebookNode) -> list[str]:
    """Restore the grading data of a cell and, where it is locked, its source; returns which kinds of change there were."""
    data, right, changed = cell.metadata.get("nbgrader"), released.metadata.nbgrader, []
    if not isinstance(data, dict) or any(data.get(field) != right.get(field) for field in FIXED):
        changed.append("metadata")
    elif data.get("points") != right.get("points"):
        changed.append("points")
    cell.metadata["nbgrader"] = copy.deepcopy(right)
    if cell.cell_type != released.cell_type:
        cell.cell_type = released.cell_type
        cell.update(outputs=[], execution_count=None)
        cell.pop("attachments", None)
    if not right.solution and cell.source != released.source:
        cell.source = released.source
        changed.append("locked")
    return changed


def _place(notebook: NotebookNode, released: NotebookNode, identity: str) -> int:
    """The index at which to insert a missing cell: after the nearest cell before it in the released notebook that is still
    there, else at the end.
    """
    before = []
    for cell in released.cells:
        if grade_id(cell) == identity:
            break
        before.append((grade_id(cell), cell.get("id")))
    for previous, cell_id in reversed(before):
        for index, cell in enumerate(notebook.cells):
            if (previous and grade_id(cell) == previous) or cell.get("id") == cell_id:
                return index + 1
    return len(notebook.cells)


def _stand_in(cell: NotebookNode, language: str) -> NotebookNode:
    """The released cell to insert. An answer cell becomes a comment, so that it cannot overwrite the student's function."""
    made = copy.deepcopy(cell)
    if made.metadata.nbgrader.solution:
        made.source = DELETED[language]
    return made
