"""One test over everything: the mark is that of the work, or the hand-in is held with a true sentence; never lower, never silent. And
submissions as they come: deleted, copied and tampered cells, half files, no file at all.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from course.core.i18n import set_language
from course.learning.harvesting import MIME, harvest
from course.learning.marking import Response
from course.learning.sheet import AnswerSheet
from grader.cli import main
from grader.course import Course, init
from grader.handin.importing import import_submissions
from grader.handin.reading import Files, files_of, handed_in, read, unpacked
from grader.handin.stock import before_autograde
from grader.marking.autograde import How, autograde
from grader.marking.held import why_held
from grader.marking.restored_cells import restore_cells
from grader.marking.step import grade_id, notes, reasons, state
from grader.project import Infrastructure
from grader.project.build import checkpoint_notebook, practice_notebook, text_of
from grader.release.run import release
from grader.reporting.give_out import feedback
from grader.reporting.summary import stale
from tests.support.grading_corpus.base import REPORT, RIGHT, SOLVED, cell_of, dumped, sheet
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project
from tests.support.hand_ins import ANSWERS, NAME, PACKINGS, TOOLS, Work, packed, sheet_in, zipped

SEED, DRAWN = 20261126, 24


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("project"))


def work_of(project, who: str = "") -> Work:
    """The whole work, as it lies on a student's disk. who: told backwards in a comment, since students who differ in
    nothing but their id have copied.
    """
    released = checkpoint_notebook(project, LESSON, "en")
    notebook = copy.deepcopy(released)
    cell_of(notebook, "90-t-contrast-answer").source = f"{SOLVED}# {who[::-1]} é 你好\n"
    cell_of(notebook, "90-t-report-answer").source = REPORT
    data = json.loads(text_of(notebook))
    sheet_in(data, sheet(*RIGHT))
    untouched = text_of(released).encode()
    return Work(data, dumped(sheet(*RIGHT)), untouched, text_of(practice_notebook(project, LESSON, "en")).encode())


def reading_of(project, files: dict[str, bytes]):
    return read(unpacked(Files(files)), LESSON, text_of(checkpoint_notebook(project, LESSON, "en")))


def marked(course: Course, *who: str, **how) -> dict:
    return {one.student: one for one in autograde(course, LESSON, who or None, How(jobs=1, **how), lambda line: None)}


def put(course: Course, student: str, data: bytes) -> None:
    folder = course.root / "submitted" / student / LESSON
    folder.mkdir(parents=True)
    (folder / NAME).write_bytes(data)


@pytest.mark.parametrize("packing", PACKINGS)
def test_whatever_saved_it_and_however_it_is_packed_the_work_is_what_is_read(project, packing):
    work = work_of(project)
    code = {identity: "".join(cell["source"]).strip() for cell in work.notebook["cells"] if (identity := cell["id"])}
    for name, tool in TOOLS.items():
        found = reading_of(project, packed(packing, work, tool))
        assert found.held is None and found.works and found.sheet, (name, found.held)
        assert {item: (one["options"], one["number"]) for item, one in found.answers.items()} == {
            one["item"]: (one["options"], one["number"]) for one in RIGHT
        }, name
        there = [cell.source.strip() for cell in found.notebook.cells]
        assert all(there.count(source) == 1 for source in code.values()), name
        assert not any("left out" in sentence["en"] for _, sentence in found.said), name
        nbformat.validate(found.notebook)


@pytest.mark.parametrize(
    ("files", "code", "words"),
    [
        (lambda work: {NAME: work.lesson}, "wrong-file", f"the lesson {LESSON}, not its checkpoint"),
        (lambda work: {NAME: b"<!DOCTYPE html><html>"}, "wrong-file", "a web page (HTML)"),
        (lambda work: {"x.rar": b"Rar!\x1a\7\1\0"}, "wrong-file", "x.rar, a RAR archive"),
        (lambda work: {"x.tar.gz": b"\x1f\x8b\x08\0"}, "wrong-file", "tar.gz"),
        (lambda work: {"x.py": b"print(1)"}, "wrong-file", "a Python script"),
        (lambda work: {"x.docx": b"PK\3\4"}, "wrong-file", "Office file"),
        (lambda work: {ANSWERS: work.answers}, "wrong-file", "answers without its notebook"),
        (lambda work: {"empty.ipynb": b'{"cells": []}'}, "wrong-file", "a notebook without a cell"),
        (lambda work: {}, "wrong-file", "nothing that can be read"),
        (lambda work: {f"{NAME}.lnk": b"L\0\0\0\1\x14\2\0"}, "wrong-file", "a shortcut to a file"),
        (lambda work: {NAME: gzip.compress(work.untouched)}, "wrong-file", "a packed file"),
        (lambda work: {NAME: b'{"nbformat": 3, "worksheets": [{"cells": []}]}'}, "damaged", "a very old format"),
        (lambda work: {NAME: b""}, "damaged", "was empty"),
        (lambda work: {NAME: bytes(range(256)) * 50}, "damaged", "cannot be read as JSON"),
        (lambda work: {NAME: json.dumps(work.cleared).encode(), ANSWERS: work.answers[:-99]}, "damaged", "answers in"),
        (lambda work: {NAME: json.dumps(work.notebook).encode()[:-400]}, "damaged", "ends in the middle"),
        (lambda work: {NAME: work.untouched, "x.rar": b"Rar!\x1a\7\1\0"}, "wrong-file", "with no work in it"),
        (
            lambda work: {NAME: work.untouched, "w.ipynb": json.dumps(work.notebook)[:-9].encode()},
            "damaged",
            "ends in the middle",
        ),
    ],
)
def test_what_holds_no_work_that_can_be_read_is_held_and_says_what_came(project, files, code, words):
    found = reading_of(project, files(work_of(project)))
    assert found.held[0] == code and words in found.held[1]["en"] and not found.works
    assert found.held[1]["zh"] != found.held[1]["en"]


def test_a_checkpoint_as_it_was_handed_out_holds_no_work_and_is_not_held_back(project):
    found = reading_of(project, {NAME: work_of(project).untouched})
    assert found.held is None and found.name == NAME and not found.works


def test_of_several_notebooks_with_other_work_none_is_chosen_and_both_are_named(project):
    one, other = (json.dumps(work_of(project, who).notebook).encode() for who in ("one", "other"))
    found = reading_of(project, {NAME: one, "b.ipynb": other})
    held = found.held
    assert held[0] == "two-works" and NAME in held[1]["en"] and "b.ipynb" in held[1]["zh"]
    assert not found.said, "nobody is told that one of them was marked"
    half = json.loads(one)
    half["cells"] = [cell for cell in half["cells"] if cell["id"] != "90-t-report-answer"]
    found = reading_of(project, {NAME: json.dumps(half).encode(), "later.ipynb": one})
    assert found.held is None and found.name == "later.ipynb", "an earlier state of the same work is no other work"


def class_of(tmp_path: Path, project) -> Course:
    init(tmp_path / "class", "en", "all", project=project)
    course = Course(tmp_path / "class")
    release(course, LESSON)
    return course


def enrolled(course: Course, names) -> None:
    with course.gradebook as gradebook:
        for name in names:
            gradebook.update_or_create_student(name, first_name="A", last_name=name)


@pytest.mark.slow
def test_drawn_at_random_through_import_and_marking_everybody_gets_the_mark_of_the_work(tmp_path, project):
    course, rng = class_of(tmp_path, project), random.Random(SEED)
    drawn = {f"s{number:02d}": (rng.choice([*TOOLS]), rng.choice([*PACKINGS])) for number in range(DRAWN)}
    enrolled(course, drawn)
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for student, (tool, packing) in drawn.items():
            for name, data in packed(packing, work_of(project, student), TOOLS[tool]).items():
                file.writestr(f"class 5/{student}/{name}", data)
    done = import_submissions(course, archive, LESSON)
    assert not (done.unclear or done.kept or done.held), done
    found = marked(course)
    wrong = {name: (drawn[name], one.points, one.problems) for name, one in found.items() if one.points != 13}
    assert not wrong and {*found} == {*drawn}, wrong


@pytest.mark.slow
def test_what_holds_no_work_leaves_the_earlier_mark_and_has_no_page_with_answers(tmp_path, project):
    course, work = class_of(tmp_path, project), work_of(project)
    bad = {
        "html": {NAME: b"<!DOCTYPE html><html><title>Sign in</title></html>"},
        "half": {NAME: json.dumps(work.notebook).encode()[:-400]},
        "lesson": {NAME: work.lesson},
        "rar": {"x.rar": b"Rar!\x1a\7\1\0"},
        "untouched": {NAME: work.untouched},
    }
    alone = {f"{name}-alone": files for name, files in bad.items() if name != "untouched"}
    enrolled(course, [*bad, *alone])

    def bring(sent: dict[str, dict[str, bytes]], name: str):
        files = {f"{student}/{path}": data for student, files in sent.items() for path, data in files.items()}
        (tmp_path / name).write_bytes(zipped(files))
        return import_submissions(course, tmp_path / name, LESSON)

    bring({name: {NAME: json.dumps(work_of(project, name).notebook).encode()} for name in bad}, "first.zip")
    done = bring({**bad, **alone}, "second.zip")
    assert {*done.kept} == {*bad} and all("stays" in why for why in done.kept.values())
    found = marked(course)
    assert feedback(course, LESSON, lambda line: None) == []
    for name, one in found.items():
        page = (course.root / "feedback" / name / LESSON / f"{NOTEBOOK}.html").read_text("utf-8")
        if name in alone:
            assert one.points is None and one.reason == "held", name
            assert "secret" not in page and "YOUR CODE HERE" not in page and "Not marked yet" in page, name
        else:
            assert one.points == 13 and "secret reason" in page, name


@pytest.mark.slow
def test_files_that_belong_together_stay_together_and_the_machine_that_marks_costs_nothing(tmp_path, project):
    course = class_of(tmp_path, project)
    cases = {  # name -> how the student's cell begins, points, what is said
        "helper": ("from helpers import twice\nassert open('data/a.csv').read() == '1'\n", 13, ""),
        "large": ("open('data/big.bin')\n", None, "`hw.zip/hw/data/big.bin`, which was not taken: too large"),
        "colab": ("from google.colab import files\n", None, "`google.colab`"),
        "gpu": ("import torch\ntorch.zeros(1, device='cuda')\n", None, "device that this machine lacks"),
        "mac": ("import torch\ntorch.zeros(1, device='mps')\n", None, "device that this machine lacks"),
        "newer": ("x = {'a': 1}\nprint(f'{x['a']}')\n", None, "newer Python 3.99"),
        "wrong": ("1 / 0\n", 10, "ZeroDivisionError: division by zero"),
    }
    enrolled(course, cases)
    for name, (start, _, _) in cases.items():
        work = work_of(project, name)
        cell = next(cell for cell in work.notebook["cells"] if cell["id"] == "90-t-contrast-answer")
        cell["source"] = start + "".join(cell["source"])
        if name == "newer":
            work.notebook["metadata"]["language_info"] = {"name": "python", "version": "3.99.1"}
        beside = {"hw/helpers.py": b"def twice(x): return 2 * x\n", "hw/data/a.csv": b"1"} if name == "helper" else {}
        beside |= {"hw/data/big.bin": bytes(21 << 20)} if name == "large" else {}
        folder = tmp_path / "in" / name
        folder.mkdir(parents=True)
        (folder / "hw.zip").write_bytes(zipped({f"hw/{NAME}": json.dumps(work.notebook).encode(), **beside}))
    import_submissions(course, tmp_path / "in", LESSON)
    found = marked(course)
    for name, (_, points, words) in cases.items():
        assert found[name].points == points and words in " ".join(found[name].problems), found[name]
    graded = nbformat.read(course.autograded("wrong", LESSON), as_version=4)
    assert graded.metadata.course_marking.verdicts["90-t-contrast"].state == "incorrect", "it was attempted"
    assert marked(course, "gpu", accept=frozenset(["gpu"]))["gpu"].points == 10, "accepted, it is marked as it is"


@pytest.mark.slow
def test_marks_of_two_keys_do_not_stand_there_unseen(tmp_path, capsys):
    project = make_project(tmp_path / "project")
    course, keys = class_of(tmp_path, project), project.keys(LESSON)
    put(course, "ada", json.dumps(work_of(project, "ada").notebook).encode())
    assert stale(course, LESSON, [*marked(course).values()]) == []
    keys.write_text(keys.read_text("utf-8").replace("value: 3", "value: 4").replace("low: 3", "low: 2"), "utf-8")
    put(course, "ben", json.dumps(work_of(project, "ben").notebook).encode())
    (said,) = stale(course, LESSON, [*marked(course).values()])
    assert "(ada)" in said and f"autograde {LESSON} --again" in said
    assert main(["export", "--dir", str(course.root)]) == 0 and said in capsys.readouterr().out


@pytest.mark.slow
def test_everybody_in_a_group_gets_the_mark_of_what_one_of_them_handed_in(tmp_path, project):
    course = class_of(tmp_path, project)
    (course.root / "groups.yaml").write_text(f"{LESSON}:\n  - [ada, bob]\n  - [cyd, dee]\n", "utf-8")
    for name, whose in {"ada": "", "bob": "bob", "cyd": "cyd", "dee": "cyd"}.items():
        work = work_of(project, whose)
        put(course, name, json.dumps(work.notebook).encode() if whose else work.untouched)
    enrolled(course, ["eve"])
    points = {name: one.points for name, one in marked(course).items()}
    assert points == {"ada": 13, "bob": 13, "cyd": 13, "dee": 13, "eve": None}
    assert feedback(course, LESSON, lambda line: None) == []
    assert (course.root / "feedback" / "ada" / LESSON / f"{NOTEBOOK}.html").exists()
    (course.root / "groups.yaml").write_text(f"{LESSON}:\n  - ada\n", "utf-8")
    with pytest.raises(Infrastructure, match="for each group"):
        marked(course)


@pytest.fixture
def released(project):
    return checkpoint_notebook(project, LESSON, "en")


def repaired(released, change):
    notebook = copy.deepcopy(released)
    change(notebook)
    restore_cells(notebook, released, "en", {"90-t-contrast-answer": "contrast", "90-t-report-answer": "report"})
    graded = [grade_id(cell) for cell in notebook.cells if cell.metadata.get("nbgrader")]
    assert sorted(graded) == sorted(grade_id(cell) for cell in released.cells if grade_id(cell))
    for cell in notebook.cells:
        if grade_id(cell):
            twin = next(other for other in released.cells if grade_id(other) == grade_id(cell))
            assert cell.metadata.nbgrader == twin.metadata.nbgrader and cell.cell_type == twin.cell_type
            assert twin.metadata.nbgrader.solution or cell.source == twin.source
    return notebook, " ".join(notes(notebook, "en"))


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
        (WORK, [WORK, "# done\n" + WORK], WORK, False),
        (WORK, ["print(contrast(1, 2))"], WORK, False),
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
    assert twice or (reasons(notebook) == ["copied"] and "`90-t-contrast-answer`" in said)
    assert state(notebook)["twice"] == (["90-t-contrast-answer"] if twice else [])
    assert twice or cell_of(notebook, "90-t-contrast-answer").source.strip() == counts.strip()
    held = why_held(notebook, {}, 0, None)
    assert (held[0] == "two-cells" and "`90-t-contrast-answer`" in held[1]["zh"]) if twice else held is None
    sources = [cell.source for cell in notebook.cells]
    assert twice or "NotImplementedError" not in [source for source in sources if "def contrast" in source][-1]
    assert all(source is None or source in sources for source in copies), "nothing a student wrote is gone"


@pytest.mark.parametrize("parts", [["a = 1\nb = a", "report = {'a': b}"], ["report = {}", "report['a'] = 1", "report"]])
def test_the_parts_of_an_answer_cell_that_was_split_all_run_where_they_stand(released, parts):
    def split(notebook):
        place = notebook.cells.index(cell_of(notebook, "90-t-report-answer"))
        notebook.cells[place : place + 1] = (copy.deepcopy(notebook.cells[place]) for _ in parts)
        for number, source in enumerate(parts):
            notebook.cells[place + number].update(id=f"part-{number}", source=source)

    notebook, _ = repaired(released, split)
    assert [cell.source for cell in notebook.cells if cell.source in parts] == parts and not state(notebook)["twice"]


@pytest.mark.parametrize(
    ("identity", "wrote"),
    [
        ("90-t-contrast", "def distinct(things):\n    return len(set(things))"),
        ("90-t-report", "import torch"),
        ("90-c-single", WORK.strip()),  # above the answer cell as it was handed out, which would undo it
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
    assert wrote != WORK.strip() or [one for one in notebook.cells if "def contrast" in one.source][-1].source == wrote
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
        (lambda notebook: cell_of(notebook, "90-c-order").metadata.nbgrader.update(points=3), []),
        (lambda notebook: cell_of(notebook, "90-t-report").update(source='\ncheck("90-t-report")  \n'), []),
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
    (folder / "data.csv").write_text("kept")
    (folder / "timestamp.txt").write_text("2026-04-01 10:00:00 UTC")
    (folder / name).write_bytes(data)
    text = text_of(checkpoint_notebook(project, LESSON, "en"))
    before, came = read(files_of(folder, LESSON), LESSON, text), handed_in(tmp_path, LESSON, "ada").digest
    for _ in range(2):  # again changes nothing
        notebooks = [str(folder / "x.ipynb")]
        before_autograde(assignment=LESSON, student="*", notebooks=notebooks)
        assert notebooks == [str(folder / f"{NOTEBOOK}.ipynb")]
        nbformat.read(notebooks[0], as_version=4)
        after = read(files_of(folder, LESSON), LESSON, text)
        assert (after.held, after.works, after.notebook) == (before.held, before.works, before.notebook)
        assert handed_in(tmp_path, LESSON, "ada").digest == came, "what was accepted stays accepted"
        assert handed_in(tmp_path, LESSON, "ada").when == "2026-04-01 10:00:00 UTC"
    (tmp_path / "link").symlink_to(folder)
    linked = files_of(tmp_path / "link", LESSON)
    assert not linked.there and linked.unread, "no link is followed, and that is said"
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
    for kind, mangled in (
        ("text/html", lambda text: text.replace("<t", "\r\n<t").replace("✓", "&#10003;").replace("</th>", "</td>")),
        ("text/plain", lambda text: text.replace("\n  ", "\r\n")),
        ("text/html", str),
        ("text/plain", str),
        ("stream", str),
    ):
        damaged = {} if mangled is str else {MIME: '{"answers": '}
        output = {"data": {kind: mangled(bundle.get(kind, "")).splitlines(True), **damaged}}
        output = {"output_type": kind, "text": bundle["text/plain"]} if kind == "stream" else output
        content = {"cells": [{"outputs": [output]}]}
        found, problems = harvest(content, None, LESSON)
        assert {item: (one["options"], one["number"], one.get("student", "")) for item, one in found.items()} == {
            item: ([*one.options], one.number, student) for item, one in given.items()
        }
        assert len(problems) == 1 + len(damaged) and problems[-1]["en"].startswith("Unconfirmed: 3 answers")
    assert harvest(content, dumped(sheet(*RIGHT)).decode(), LESSON)[1] == [], "the file beside it is better"
    assert harvest({"cells": [{"outputs": [{"data": bundle}]}]}, None, LESSON)[1] == []
