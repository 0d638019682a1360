"""Answers that were forged, torn, contradictory or meant for something else."""

from __future__ import annotations

from nbformat import NotebookNode
from nbformat.v4 import new_output

from course.quiz.sheet import MIME
from tests.grading_corpus.base import ANSWERS, RIGHT, Hostile, answer, dumped, sheet


def in_notebook(*payloads):
    """Sheets in the output of the first code cell."""
    def change(notebook: NotebookNode) -> None:
        first = next(cell for cell in notebook.cells if cell.cell_type == "code")
        first.outputs = [new_output("display_data", data={MIME: payload}) for payload in payloads]

    return change


ODD = {"schema": 1, "checkpoint": "90_fixture", "answers": {
    "90-c-single": ["b"], "90-c-multiple": {"options": [["a"], "e"]}, "90-c-number": {"number": "three"},
    "90-c-order": {"options": {"c": 1}}, "90-c-<script>": {"options": 7}}}
MANY = {"schema": 1, "checkpoint": "90_fixture", "answers": {f"x{n}": {"options": ["a"]} for n in range(20_000)}}

CASES = (
    Hostile("answers-in-the-notebook", points=13, change=in_notebook(sheet(*RIGHT))),
    Hostile("answers-as-text", points=13, change=in_notebook(dumped(sheet(*RIGHT)).decode())),
    Hostile("answers-torn", says="damaged", files={ANSWERS: dumped(sheet(*RIGHT))[:120]}),
    Hostile("answers-empty", says="damaged", files={ANSWERS: b""}),
    Hostile("answers-of-wrong-kinds", says="damaged", files={ANSWERS: dumped(ODD)}),
    Hostile("answers-not-json", says="damaged", files={ANSWERS: b"\xff\xfe\x00"}),
    Hostile("answers-too-deep", says="damaged", files={ANSWERS: b"[" * 100_000}),
    Hostile("answers-contradict", points=6 + 2, says="disagree", change=in_notebook(
        sheet(answer("90-c-single", "a", time="2026-01-01T09:00:00.000Z"))), files={ANSWERS: dumped(sheet(RIGHT[0]))}),
    Hostile("answers-of-another-checkpoint", says="another checkpoint", files={
        ANSWERS: dumped(sheet(*RIGHT, checkpoint="05_cudnn_benchmark"))}),
    Hostile("answers-from-a-newer-version", points=13, says="newer course version", files={
        ANSWERS: dumped(sheet(*RIGHT, schema=9))}),
    Hostile("answers-with-all-options", points=6 + 0.67, files={ANSWERS: dumped(sheet(
        answer("90-c-single", "a", "b", "c"), answer("90-c-multiple", "a", "b", "e", "z"),
        answer("90-c-order", "a", "b", "c", "a", "b")))}),
    Hostile("answers-infinite", files={ANSWERS: b'{"schema": 1, "checkpoint": "90_fixture", "answers": {"90-c-number": '
                                                b'{"number": Infinity, "time": "9999-99-99"}}}'}, says="damaged"),
    Hostile("answers-by-the-thousand", files={ANSWERS: dumped(MANY)}),
    Hostile("answers-with-marks-beside", points=6, files={ANSWERS: dumped(
        sheet(marks={"90-c-single": 2}, points=13, correct=["b"]))}),
)
