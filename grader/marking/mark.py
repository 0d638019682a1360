"""After the run: every graded cell gets its points and reasons, from keys and references outside the kernel.
"""

from __future__ import annotations

from nbformat import NotebookNode

from course.language import both, pick
from course.quiz.items import Item
from course.quiz.marking import mark
from grader.marking import render
from grader.marking.answers import keyed_items, stored
from grader.marking.execute import PROBES
from grader.marking.step import CourseStep, Infrastructure, grade_id, note, notes, state
from grader.marking.tasks import judge_task

BLOCKS = {"number": render.number_blocks, "order": render.order_blocks}


class Mark(CourseStep):
    """Write one execute_result with a number into each graded cell; nothing else stays in its outputs.

    Raises Infrastructure where a key or a reference of ours is missing or broken.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        if not self.ours(resources):
            return nb, resources
        language = self.language(nb)
        for cell in nb.cells:
            if cell.metadata.get("nbgrader", {}).get("grade"):
                cell.outputs = [self._mark(nb, cell, resources, language)]
                cell.execution_count = None
        state(nb)["marked"] = True
        said = notes(nb, language)
        if said:
            nb.cells.insert(0, render.notes_cell(said, language))
        return nb, resources

    def _mark(self, nb: NotebookNode, cell: NotebookNode, resources: dict, language: str) -> NotebookNode:
        identity, top = grade_id(cell), float(cell.metadata.nbgrader.points)
        items, tasks = keyed_items(self.project, self.lesson(resources)), self.tasks(resources)
        if identity in items:
            return self._question(nb, items[identity], top, language)
        if identity in tasks:
            cases, found = resources[PROBES][identity]
            verdict = judge_task(tasks[identity], cases, found)
            if "by_hand" in verdict.evidence:
                note(
                    nb,
                    both(
                        f"`{identity}` needs a look by hand ({verdict.evidence['by_hand']}).",
                        f"`{identity}` 需要人工查看（{verdict.evidence['by_hand']}）。",
                    ),
                )
            return render.result(
                verdict.points / verdict.max_points * top,
                top,
                verdict.state,
                render.verdict_blocks(verdict, language),
                language,
            )
        raise Infrastructure(f"the graded cell {identity!r} is neither an item nor a task of this checkpoint")

    def _question(self, nb: NotebookNode, item: Item, top: float, language: str) -> NotebookNode:
        response = stored(state(nb)["answers"].get(item.id))
        verdict = mark(item, response)
        blocks = [
            pick(item.stem, language),
            *BLOCKS.get(item.kind, render.option_table)(item, response, language),
        ]
        return render.result(verdict.points / verdict.max_points * top, top, verdict.state, blocks, language)
