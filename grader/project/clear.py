"""Remove the solutions of a checkpoint so that an unanswered notebook still runs from top to bottom."""

from __future__ import annotations

from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions


class ClearTasks(ClearSolutions):
    """nbgrader's ClearSolutions; where the answer is a value and not a function, the stub does not raise.

    Inside a function the stub raises when the function is called. At the top level it would stop "Run All" there;
    the name simply stays undefined, and the check says so.
    """

    def _replace_solution_region(self, cell: NotebookNode, language: str) -> bool:
        replaced = super()._replace_solution_region(cell, language)
        if replaced:
            lines = cell.source.split("\n")
            cell.source = "\n".join(line for line in lines if not line.startswith("raise NotImplementedError"))
        return replaced


def preprocessors() -> list[str]:
    """nbgrader's own steps of generate_assignment, with ClearTasks in the place of ClearSolutions."""
    steps = [ClearTasks if step is ClearSolutions else step for step in GenerateAssignment.preprocessors.default()]
    return [f"{step.__module__}.{step.__name__}" for step in steps]
