"""Submissions as they come: deleted, copied and tampered cells, half files, no file at all."""

from __future__ import annotations

import copy
import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from course.core.i18n import set_language
from course.learning.harvesting import harvest
from course.learning.marking import Response
from course.learning.sheet import AnswerSheet
from grader.course import init
from grader.handin.reading import Files, files_of, read
from grader.handin.stock import before_autograde
from grader.marking.held import why_held
from grader.marking.restored_cells import restore_cells
from grader.marking.step import grade_id, notes, reasons, state
from grader.project.build import checkpoint_notebook
from grader.project.publish import text_of
from tests.support.grading_corpus.base import RIGHT, dumped, sheet
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("project"))


@pytest.fixture
def released(project):
    return checkpoint_notebook(project, LESSON, "en")


def repaired(released, change):
    notebook = copy.deepcopy(released)
    change(notebook)
    restore_cells(notebook, released, "en")
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


WORK = "def contrast(low, high):\n    return 1\n"


@pytest.mark.parametrize(
    ("own", "copies", "counts", "twice"),
    [
        (WORK, [None], WORK, False),  # None: as handed out, which would undo the work
        (None, [WORK], WORK, False),
        (WORK, [WORK, "\n" + WORK], WORK, False),
        (WORK, ["print(contrast(1, 2))"], WORK, False),
        (None, ["print('mine')", WORK], WORK, False),
        (WORK, [WORK.replace("1", "2")], WORK, True),
        (None, [WORK, WORK.replace("1", "2")], WORK, True),
        (WORK, [WORK.replace("return 1", "return 1\n    # YOUR CODE HERE\n    raise NotImplementedError")], WORK, True),
    ],
)
def test_of_an_answer_cell_that_is_there_twice_the_one_with_work_counts_and_two_works_are_held(
    released, own, copies, counts, twice
):
    def paste(notebook):
        original = cell_of(notebook, "90-t-contrast-answer")
        for number, source in enumerate(copies):
            extra = copy.deepcopy(original)
            extra.id, extra.source = f"pasted-{number}", source or original.source
            notebook.cells.append(extra)
        original.source = own or original.source

    notebook, said = repaired(released, paste)
    assert reasons(notebook) == ["copied"] and "`90-t-contrast-answer`" in said
    assert state(notebook)["twice"] == (["90-t-contrast-answer"] if twice else [])
    assert twice or cell_of(notebook, "90-t-contrast-answer").source.strip() == counts.strip()
    held = why_held(notebook, {}, 0, "ada")
    assert (held[0] == "two-cells" and "`90-t-contrast-answer`" in held[1]["zh"]) if twice else held is None
    sources = [cell.source for cell in notebook.cells]
    assert twice or sum("NotImplementedError" in source for source in sources) == 0
    assert all(source is None or source in sources for source in copies), "nothing a student wrote is gone"


@pytest.mark.parametrize(
    ("identity", "wrote"),
    [
        ("90-t-contrast", "def distinct(things):\n    return len(set(things))"),
        ("90-t-report", "import torch"),
        ("90-c-single", "my_notes = 1"),
    ],
)
@pytest.mark.parametrize("keeps", [True, False])
def test_what_stands_in_a_locked_cell_becomes_a_cell_of_its_own_before_it(released, identity, wrote, keeps):
    def write(notebook):
        cell = cell_of(notebook, identity)
        cell.source = f"{wrote}\n{cell.source}" if keeps else wrote

    notebook, said = repaired(released, write)
    place = next(n for n, cell in enumerate(notebook.cells) if grade_id(cell) == identity)
    assert notebook.cells[place - 1].source == wrote and not notebook.cells[place - 1].metadata.get("nbgrader")
    assert reasons(notebook) == ["locked"] and f"`{identity}`" in said
    data = json.loads(text_of(released))
    cell = next(cell for cell in data["cells"] if cell["id"] == identity)
    cell["source"] = wrote
    found = read(Files({"a.ipynb": json.dumps(data).encode()}), LESSON, text_of(released))
    assert found.works and found.held is None, "it is work"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda notebook: None, []),
        (lambda notebook: [cell.update(id=f"new-{number}") for number, cell in enumerate(notebook.cells)], []),
        (lambda notebook: notebook.cells.clear(), ["missing"]),
        (lambda notebook: cell_of(notebook, "90-c-order").metadata.nbgrader.update(points=3), ["points"]),
        (lambda notebook: cell_of(notebook, "90-t-contrast").update(cell_type="markdown", source="1.0"), ["locked"]),
        (lambda notebook: cell_of(notebook, "90-t-contrast").metadata.update(nbgrader="text"), ["metadata"]),
    ],
)
def test_only_what_the_student_did_is_said(released, change, said):
    """Neither new ids nor the points of an earlier release are anybody's doing."""
    assert reasons(repaired(released, change)[0]) == said


@pytest.mark.parametrize("name", [f"{NOTEBOOK}.ipynb", "other.ipynb"])
@pytest.mark.parametrize("sent", ["broken", "empty", "sound"])
def test_what_was_handed_in_stays_and_stock_nbgrader_finds_a_notebook_of_its_name(
    tmp_path, project, released, name, sent
):
    """The hook of the stock command: what it cannot open gets another name, and marking reads the same as before."""
    init(tmp_path, project=project)
    released.cells.append(new_code_cell("mine = 1", id="mine"))
    data = {"broken": b"{broken", "empty": b"", "sound": text_of(released).encode()}[sent]
    folder = tmp_path / "submitted" / "ada" / LESSON
    folder.mkdir(parents=True)
    (folder / f"{LESSON}.answers.json").write_text("kept")
    (folder / name).write_bytes(data)
    text = text_of(checkpoint_notebook(project, LESSON, "en"))
    before = read(files_of(folder, LESSON), LESSON, text)
    for _ in range(2):  # again changes nothing
        notebooks = [str(folder / "x.ipynb")]
        before_autograde(assignment=LESSON, student="*", notebooks=notebooks)
        assert notebooks == [str(folder / f"{NOTEBOOK}.ipynb")]
        nbformat.read(notebooks[0], as_version=4)
        after = read(files_of(folder, LESSON), LESSON, text)
        assert (after.held, after.works, after.notebook) == (before.held, before.works, before.notebook)
    there = [path.read_bytes() for path in folder.iterdir()]
    assert data in there and b"kept" in there
    assert bool(before.works) == (before.held is None) == (sent == "sound")


@pytest.mark.parametrize(("language", "student"), [("en", ""), ("en", "O'Neil & <b>"), ("zh", "ada"), ("zh", "李 雷")])
def test_answers_are_read_from_the_list_when_a_program_dropped_the_data(tmp_path, language, student):
    """With the id of the student whose paper it is, where each has another one."""
    set_language(language)
    given = {
        "90-c-single": Response(("b",)),
        "90-c-order": Response(("c", "b", "a")),
        "90-c-number": Response(number=3.5),
    }
    made = AnswerSheet(LESSON, [*given], tmp_path)
    made.student = student
    for identity, response in given.items():
        made.record(identity, response)
    bundle = made.bundle()
    for kind in ("text/html", "text/plain"):
        content = {"cells": [{"outputs": [{"data": {kind: bundle[kind].splitlines(keepends=True)}}]}]}
        found, problems = harvest(content, None, LESSON)
        assert {item: (one["options"], one["number"], one.get("student", "")) for item, one in found.items()} == {
            item: ([*one.options], one.number, student) for item, one in given.items()
        }
        assert len(problems) == 1 and problems[0]["en"].startswith("Unconfirmed: 3 answers")
    assert harvest(content, dumped(sheet(*RIGHT)).decode(), LESSON)[1] == [], "the file beside it is better"
    assert harvest({"cells": [{"outputs": [{"data": bundle}]}]}, None, LESSON)[1] == []
