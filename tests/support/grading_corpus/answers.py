"""Answers that were forged, torn, contradictory or meant for something else."""

from __future__ import annotations

from nbformat import NotebookNode
from nbformat.v4 import new_output

from course.learning.sheet import MIME
from tests.support.grading_corpus.base import ANSWERS, RIGHT, Hostile, answer, dumped, sheet


def in_notebook(*payloads):
    """Sheets in the output of the first code cell."""

    def change(notebook: NotebookNode) -> None:
        first = next(cell for cell in notebook.cells if cell.cell_type == "code")
        first.outputs = [new_output("display_data", data={MIME: payload}) for payload in payloads]

    return change


ODD = {
    "schema": 1,
    "checkpoint": "90_fixture",
    "answers": {
        "90-c-single": ["b"],
        "90-c-multiple": {"options": [["a"], "e"]},
        "90-c-number": {"number": "three"},
        "90-c-order": {"options": {"c": 1}},
        "90-c-<script>": {"options": 7},
    },
}


def with_a_deep_time(depth: int = 300) -> str:
    """A sheet whose time is a deep list."""
    answer = f'{{"options": ["b"], "time": {"[" * depth + "]" * depth}}}'
    return f'{{"checkpoint": "90_fixture", "answers": {{"90-c-single": {answer}}}}}'


MANY = {"schema": 1, "checkpoint": "90_fixture", "answers": {f"x{n}": {"options": ["a"]} for n in range(20_000)}}
TORN = {"schema": 1, "checkpoint": "90_fixture", "answers": {f"x{n}": 7 for n in range(100_000)}}

CASES = (
    Hostile("answers-in-the-notebook", points=13, change=in_notebook(sheet(*RIGHT))),
    Hostile("answers-of-wrong-kinds", points=None, verdict="look", says="damaged", files={ANSWERS: dumped(ODD)}),
    Hostile("answers-too-deep", points=None, verdict="look", says="damaged", files={ANSWERS: b"[" * 100_000}),
    Hostile(
        "answers-contradict",
        points=6 + 2,
        says="disagree",
        change=in_notebook(sheet(answer("90-c-single", "a", time="2026-01-01T09:00:00.000Z"))),
        files={ANSWERS: dumped(sheet(RIGHT[0]))},
    ),
    Hostile(
        "answers-of-another-checkpoint",
        points=None,
        verdict="look",
        says="another checkpoint",
        files={ANSWERS: dumped(sheet(*RIGHT, checkpoint="05_cudnn_benchmark"))},
    ),
    Hostile(
        "answers-from-a-newer-version",
        points=13,
        says="newer course version",
        files={ANSWERS: dumped(sheet(*RIGHT, schema=9))},
    ),
    Hostile(
        "answers-with-all-options",
        points=6 + 0.67,
        files={
            ANSWERS: dumped(
                sheet(
                    answer("90-c-single", "a", "b", "c"),
                    answer("90-c-multiple", "a", "b", "e", "z"),
                    answer("90-c-order", "a", "b", "c", "a", "b"),
                )
            )
        },
    ),
    Hostile("answers-by-the-thousand", files={ANSWERS: dumped(MANY)}),
    Hostile(
        "answers-torn-by-the-thousand",
        points=None,
        verdict="look",
        says="more than 1000",
        files={ANSWERS: dumped(TORN)},
    ),
    Hostile(
        "answers-with-endless-options",
        files={ANSWERS: dumped(sheet(answer("90-c-order", *(str(number) * 100_000 for number in range(40)))))},
    ),
    Hostile(
        "answers-in-a-thousand-sheets", points=None, verdict="look", says="damaged", change=in_notebook(*[7] * 3_000)
    ),
    Hostile("answers-with-a-byte-order-mark", points=13, files={ANSWERS: b"\xef\xbb\xbf" + dumped(sheet(*RIGHT))}),
    Hostile("answers-with-a-deep-time", points=6 + 2, says="no valid time", files={ANSWERS: with_a_deep_time()}),
    Hostile(
        "answers-given-twice",
        points=6 + 2,
        files={ANSWERS: b'{"answers": {"90-c-single": {"options": ["a"]}, "90-c-single": {"options": ["b"]}}}'},
    ),
    Hostile(
        "answers-under-lookalikes",
        files={
            ANSWERS: dumped(
                sheet(
                    answer("\uff19\uff10-c-single", "b"),
                    answer("90-c-single\u200b", "b"),
                    answer("90\u2010c\u2010single", "b"),
                    answer("90-c-multiple", "\uff41", "\u0435"),
                    answer("90-c-order", "\u0441", "b\u0300", "a "),
                )
            )
        },
    ),
    Hostile(
        "answers-from-the-future",
        says="disagree",
        change=in_notebook(sheet(RIGHT[0])),
        files={ANSWERS: dumped(sheet(answer("90-c-single", "a", time="9999-12-31T23:59:59Z")))},
    ),
    Hostile(
        "answers-with-marks-beside",
        points=6,
        files={ANSWERS: dumped(sheet(marks={"90-c-single": 2}, points=13, correct=["b"]))},
    ),
)
