"""Submissions as they come: deleted, copied and tampered cells, half files, no file at all."""

from __future__ import annotations

import copy
import json
import re

import pytest
from nbformat.v4 import new_code_cell

from grader import ingest
from grader.authoring.build import checkpoint_notebook
from grader.authoring.publish import text_of
from grader.ingest import before_autograde, examine, reason_of, take_in
from grader.marking.repair import repair
from grader.marking.step import grade_id, notes, reasons, state
from tests.grading_fixtures import LESSON, make_project


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("project"))


@pytest.fixture
def released(project):
    return checkpoint_notebook(project, LESSON, "en")


def repaired(released, change):
    notebook = copy.deepcopy(released)
    change(notebook)
    repair(notebook, released, "en")
    graded = [grade_id(cell) for cell in notebook.cells if cell.metadata.get("nbgrader")]
    assert sorted(graded) == sorted(grade_id(cell) for cell in released.cells if grade_id(cell))
    for cell in notebook.cells:
        if grade_id(cell):
            twin = next(other for other in released.cells if grade_id(other) == grade_id(cell))
            assert cell.metadata.nbgrader == twin.metadata.nbgrader and cell.cell_type == twin.cell_type
            assert twin.metadata.nbgrader.solution or cell.source == twin.source
    return notebook, " ".join(notes(notebook, "en"))


def cell_of(notebook, identity):
    return next(cell for cell in notebook.cells if grade_id(cell) == identity)


def test_an_untouched_notebook_needs_no_repair(released):
    notebook, said = repaired(released, lambda notebook: None)
    assert said == "" and notebook.cells == released.cells


def test_deleted_cells_come_back_in_their_place_and_an_answer_cell_inert(released):
    def delete(notebook):
        notebook.cells = [
            cell
            for cell in notebook.cells
            if cell.get("id") not in ("90-c-single", "90-t-contrast-answer", "90-t-report")
        ]

    notebook, said = repaired(released, delete)
    assert [cell.id for cell in notebook.cells] == [cell.id for cell in released.cells]
    assert "`90-c-single`, `90-t-contrast-answer`, `90-t-report`" in said
    assert "raise" not in cell_of(notebook, "90-t-contrast-answer").source


def test_everything_deleted_still_gives_a_notebook_that_can_be_marked(released):
    repaired(released, lambda notebook: notebook.cells.clear())


def test_what_came_after_a_copy_was_handed_out_is_not_called_missing_from_it(released):
    def earlier(notebook):
        asked = notebook.metadata.course
        asked.questions = [one for one in asked.questions if one["id"] != "90-c-order"]
        del asked.tasks["90-t-report"]
        gone = ("90-c-order", "90-t-report", "90-t-report-answer", "90-c-single")
        notebook.cells = [cell for cell in notebook.cells if grade_id(cell) not in gone]

    notebook, said = repaired(released, earlier)
    missing, later = notes(notebook, "en")
    assert reasons(notebook) == ["missing", "later"]
    assert re.findall("`(.*?)`", missing) == ["90-c-single"]
    for said in (later, notes(notebook, "zh")[1]):
        assert re.findall("`(.*?)`", said) == ["90-c-order", "90-t-report"]
    assert state(notebook)["later"] == ["90-c-order", "90-t-report"]
    for rubbish in (None, ["zh"], {"questions": 7, "tasks": {}}, {"questions": ["x"]}):

        def unsaid(notebook, rubbish=rubbish):
            earlier(notebook)
            notebook.metadata.course = rubbish

        notebook, said = repaired(released, unsaid)
        assert reasons(notebook) == ["missing"] and "`90-c-order`" in said and state(notebook)["later"] == []


def test_points_of_an_earlier_release_are_nobodys_doing(released):
    notebook, _ = repaired(released, lambda one: cell_of(one, "90-c-order").metadata.nbgrader.update(points=3))
    assert reasons(notebook) == ["points"]


def test_of_copies_the_original_is_graded(released):
    def paste(notebook):
        extra = copy.deepcopy(cell_of(notebook, "90-c-number"))
        extra.id, extra.source = "pasted", "print('mine')"
        notebook.cells.insert(0, extra)

    notebook, said = repaired(released, paste)
    assert notebook.cells[0].source == "print('mine')" and "`90-c-number`" in said and reasons(notebook) == ["copied"]


@pytest.mark.parametrize(
    "tamper",
    [
        lambda cell: cell.metadata.nbgrader.update(points=100),
        lambda cell: cell.metadata.nbgrader.update(grade_id="another"),
        lambda cell: cell.metadata.nbgrader.update(grade=False, solution=True),
        lambda cell: cell.metadata.update(nbgrader="text"),
        lambda cell: cell.metadata.pop("nbgrader"),
        lambda cell: cell.update(source="1.0"),
        lambda cell: (cell.update(cell_type="markdown"), cell.pop("outputs"), cell.pop("execution_count")),
    ],
)
def test_tampering_is_undone(released, tamper):
    repaired(released, lambda notebook: tamper(cell_of(notebook, "90-t-contrast")))


def test_new_cell_ids_do_not_matter(released):
    def renew(notebook):
        for number, cell in enumerate(notebook.cells):
            cell.id = f"new-{number}"

    assert repaired(released, renew)[1] == ""


def good(released):
    return text_of(released).encode()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda data: b"", ingest.EMPTY),
        (lambda data: b" \n", ingest.EMPTY),
        (lambda data: data[: len(data) // 2], ingest.HALF),
        (lambda data: data[:-3], ingest.HALF),
        (lambda data: b"\x89PNG\x00\xff", ingest.NOT_JSON),
        (lambda data: b"<html>", ingest.NOT_JSON),
        (lambda data: data.replace(b'"cells"', b'"cells" oops', 1), ingest.NOT_JSON),
        (lambda data: b"[1, 2]", ingest.NOT_NOTEBOOK),
        (lambda data: b'{"a": 1}', ingest.NOT_NOTEBOOK),
        (lambda data: b'{"cells": 7}', ingest.NOT_NOTEBOOK),
        (lambda data: b"[" * 10**5, ingest.CROWDED),
    ],
)
def test_what_is_no_notebook_is_recognised(released, make, said):
    assert examine(make(good(released))) == (None, said)


def test_single_broken_cells_cost_only_themselves(released):
    data = json.loads(good(released))
    data["cells"][2:2] = [None, {"cell_type": "cat"}, {"cell_type": "code", "source": 7}]
    notebook, reason = examine(json.dumps(data).encode())
    assert [cell.source for cell in notebook.cells] == [cell.source for cell in released.cells]
    assert reason == ingest.CELLS_LOST
    assert examine(good(released))[1] is None


def test_intake_keeps_the_bytes_and_puts_something_gradable_there(tmp_path, project, released):
    folder = tmp_path / "submitted" / "ann" / LESSON
    folder.mkdir(parents=True)
    path, answers = folder / f"{LESSON}.ipynb", folder / f"{LESSON}.answers.json"
    answers.write_text("kept")
    path.write_bytes(b"{broken")
    assert take_in(tmp_path, project, LESSON, "ann") is not None
    assert take_in(tmp_path, project, LESSON, "ann") is None  # again changes nothing
    assert (tmp_path / "damaged" / "ann" / LESSON / path.name).read_bytes() == b"{broken"
    assert examine(path.read_bytes())[1] is None and answers.read_text() == "kept"
    assert reason_of(tmp_path, "ann", LESSON)["en"].startswith(ingest.NOT_JSON["en"])
    path.write_bytes(b"worse")  # a later submission, damaged in another way
    take_in(tmp_path, project, LESSON, "ann")
    assert (tmp_path / "damaged" / "ann" / LESSON / f"{LESSON}.2.ipynb").read_bytes() == b"worse"
    path.write_bytes(good(released) + b"\n")  # and a good one: the old reason is no longer said
    assert take_in(tmp_path, project, LESSON, "ann") is None
    assert reason_of(tmp_path, "ann", LESSON) is None


def test_a_missing_or_renamed_notebook_is_found_or_replaced(tmp_path, project, released):
    for student, name in (("bea", None), ("cem", "final version.ipynb")):
        folder = tmp_path / "submitted" / student / LESSON
        folder.mkdir(parents=True)
        if name:
            changed = copy.deepcopy(released)
            changed.cells.append(new_code_cell("mine = 1"))
            (folder / name).write_text(text_of(changed))
    assert take_in(tmp_path, project, LESSON, "bea")["en"].startswith(ingest.MISSING["en"])
    assert "final version.ipynb" in take_in(tmp_path, project, LESSON, "cem")["en"]
    assert "mine = 1" in (tmp_path / "submitted" / "cem" / LESSON / f"{LESSON}.ipynb").read_text()
    assert (tmp_path / "submitted" / "bea" / LESSON / f"{LESSON}.ipynb").exists()


def test_the_hook_of_the_stock_command_takes_in_what_lies_there(tmp_path, project, released):
    folder = tmp_path / "submitted" / "dan" / LESSON
    folder.mkdir(parents=True)
    (folder / "other.ipynb").write_bytes(b"")
    notebooks = [str(folder / "other.ipynb")]
    before_autograde(str(project.root))(assignment=LESSON, student="*", notebooks=notebooks)
    assert notebooks[1:] == [str(folder / f"{LESSON}.ipynb")]
    assert examine((folder / f"{LESSON}.ipynb").read_bytes())[1] is None
