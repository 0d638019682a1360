"""A class really through nbgrader, the stock command, `make demo`; and what happens to an instructor in a semester: typing errors,
Ctrl-C, a full disk, a lost gradebook.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from unittest.mock import Mock

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from sqlalchemy.exc import DataError, OperationalError

from course.learning.sheet import AnswerSheet
from grader.cli import COMMANDS, commands, main
from grader.cli.made_up import CLASS, demo, right
from grader.course import Course
from grader.course.late import extend
from grader.course.marks import CellMark, cell_marks
from grader.handin.answers import keyed_items
from grader.handin.exchange import collect
from grader.handin.guard import guarded
from grader.marking.autograde import How, autograde
from grader.marking.step import grade_id
from grader.project import Infrastructure, Project, ProjectError
from grader.project.build import answer_id, checkpoint_notebook
from grader.project.task import tasks
from grader.reporting.give_out import feedback
from tests.support.grading_class import rows, stock
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("project"))


def cell_of(notebook, identity):
    return next(cell for cell in notebook.cells if grade_id(cell) == identity)


@pytest.fixture(scope="module")
def graded(tmp_path_factory, project):
    root, said = tmp_path_factory.mktemp("course") / "demo", []
    assert demo(root, "zh", project, [LESSON], say=said.append) == [], "\n".join(said)
    return Course(root)


@pytest.mark.slow
def test_the_class_gets_what_it_deserves_and_the_pages_are_there(graded, project):
    learner = checkpoint_notebook(project, LESSON, "zh")
    assert nbformat.read(graded.root / "release" / LESSON / f"{NOTEBOOK}.ipynb", as_version=4) == learner
    assert ",perfect,,,,13.0,0.0,13.0,13.0" in (graded.root / "grades.csv").read_text()
    for student in CLASS:
        notebook = nbformat.read(graded.autograded(student.name, LESSON), as_version=4)
        assert cell_of(notebook, "90-t-contrast").source == 'check("90-t-contrast")'
        outputs = [cell.outputs for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
        assert all(len(shown) == 1 and shown[0].output_type == "execute_result" for shown in outputs)
    page = (graded.root / "feedback" / "partly" / LESSON / f"{NOTEBOOK}.html").read_text()
    assert "选项 b 的秘密理由写在这里。" in page and "未作答" in page and "哪个字母排第二？" in page
    half = (graded.root / "submitted" / "half-a-file" / LESSON / f"{NOTEBOOK} as handed in.ipynb").read_text()
    assert half and not half.endswith("}\n")


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same_marks_and_our_own_faults_give_none(graded, project):
    course = Course(graded.root)

    def mark(student: str, **how):
        found = autograde(course, LESSON, [student], How(jobs=1, **how), lambda line: None)
        return next(one for one in found if one.student == student)

    before = cell_marks(course, LESSON)
    assert before["partly"]["90-t-contrast"] == CellMark(3.0, top=3.0)
    stock(course, LESSON, "partly")
    assert cell_marks(course, LESSON) == before
    marked = course.autograded("partly", LESSON).stat().st_mtime_ns
    mark("partly")
    assert course.autograded("partly", LESSON).stat().st_mtime_ns == marked, "marked already"
    key = project.keys(LESSON)
    text = key.read_text()
    try:
        key.write_text("{}")
        outcome = mark("perfect", again=True)
    finally:
        key.write_text(text)
    assert outcome.points is None and "has no key" in " ".join(outcome.problems)
    assert mark("perfect").points == 13


@pytest.mark.one_of_each  # a class of three, graded and given back
@pytest.mark.slow
def test_a_class_is_graded_as_deserved_and_nothing_of_others_is_cleared(tmp_path):
    project, root = make_project(tmp_path / "project"), tmp_path / "demo"
    assert demo(root, "en", project, [LESSON], CLASS[:3], say=(said := []).append) == []
    assert (root / "feedback" / "partly" / LESSON / f"{NOTEBOOK}.html").exists() and "grades.csv" in "\n".join(said)
    (root / "made-by-grader-demo").unlink()
    with pytest.raises(ProjectError, match="another folder"):
        demo(root, "en", project, [LESSON])
    assert (root / "grades.csv").exists()


@pytest.mark.slow
def test_nbgrader_validate_as_students_run_it_an_untouched_checkpoint_does_not_validate_and_a_finished_one_does(
    tmp_path,
):
    real, lesson = Project(), "08_mps"
    untouched, finished = (tmp_path / name / f"{lesson}_checkpoint.ipynb" for name in ("untouched", "finished"))
    released = (real.notebooks / "en" / "checkpoints" / f"{lesson}_checkpoint.ipynb").read_text(encoding="utf-8")
    items, hidden = keyed_items(real, lesson), tasks(real, lesson)
    untouched.parent.mkdir()
    untouched.write_text(released, encoding="utf-8")
    finished.parent.mkdir()
    notebook = nbformat.reads(released, as_version=4)
    for cell in notebook.cells:
        for identity, task in hidden.items():
            if grade_id(cell) == answer_id(identity):
                cell.source = task.solution
    nbformat.write(notebook, finished)
    sheet = AnswerSheet(lesson, items, finished.parent)
    for identity, item in items.items():
        sheet.record(identity, right(item))

    command = [sys.executable, "-m", "nbgrader", "validate", str(untouched), str(finished)]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    of_untouched, success, rest = ran.stdout.partition("Success! Your notebook passes all the tests.")
    assert f"FAILED ON {len(items) + len(hidden)} CELL(S)" in of_untouched, ran.stdout + ran.stderr
    assert all(f"{identity}: not" in of_untouched for identity in (*items, *hidden)), ran.stdout + ran.stderr
    assert success and not rest.strip(), ran.stdout + ran.stderr


def again(root, *students) -> dict:
    said: list[str] = []
    found = autograde(Course(root), LESSON, students or None, How(jobs=1), said.append)
    return {"said": "\n".join(said), **{one.student: one for one in found}}


@pytest.mark.slow
def test_a_lost_gradebook_is_filled_again_and_a_renamed_student_counts_once(root, capsys):
    before = rows(root)
    (root / "gradebook.db").unlink()
    assert main(["release", LESSON, "--dir", str(root), "--due", "2020-01-01 12:00"]) == 0
    assert "due 2020-01-01 12:00 UTC, WHICH IS PAST" in capsys.readouterr().out
    assert again(root)["ada"].points == 13 and rows(root) == before
    (root / "submitted" / "ada").rename(root / "submitted" / "lovelace")
    found = again(root)
    assert found["lovelace"].points == 13
    assert found["ada"].reason == "gone" and found["ada"].points == 13
    with Course(root).gradebook as gradebook:
        gradebook.remove_student("ada")
    assert "ada" not in again(root) and not main(["report", LESSON, "--dir", str(root)])
    assert "4 of 4 submissions" in (root / f"report-{LESSON}.html").read_text()


@pytest.mark.slow
def test_a_mark_by_hand_that_outlives_its_submission_is_named(root):
    with Course(root).gradebook as gradebook:
        gradebook.find_grade("90-c-single", NOTEBOOK, LESSON, "bob").manual_score = 1.5
        gradebook.db.commit()
    assert (again(root)["bob"].reason, again(root)["bob"].problems) == ("", [])
    (root / "submitted" / "bob" / LESSON / "more.txt").write_text("handed in anew")
    bob = again(root)["bob"]
    assert bob.reason == "manual" and "90-c-single" in bob.problems[0]


@pytest.mark.slow
def test_faults_of_the_disk_the_gradebook_and_the_settings_are_sentences(root, capsys):
    def said(*words: str) -> str:
        assert main([*words, "--dir", str(root)]) == 1
        return capsys.readouterr().out

    assert "Name a place that exists" in said("export", "--to", str(root / "no" / "grades.csv"))
    for name in ("collect", "autograde", "feedback"):
        assert "77_none: not released" in said(name, "77_none")
    (root / "submitted" / ".import").mkdir(parents=True)
    assert "did not come to its end, or runs; run it again" in said("autograde", LESSON)
    (root / "submitted" / ".import").rmdir()
    config = root / "nbgrader_config.py"
    sound = config.read_text()
    impatient = f"sqlite:///{root / 'gradebook.db'}?timeout=0.1"  # else SQLite waits for five seconds
    config.write_text(sound + f"c.CourseDirectory.db_url = {impatient!r}\n")
    with sqlite3.connect(root / "gradebook.db", isolation_level=None) as db:
        db.execute("begin exclusive")
        assert "locked" in said("report", LESSON)
        db.execute("rollback")
    config.write_text(sound)
    (root / "gradebook.db").write_bytes(b"no database" * 100)
    assert "file is not a database." in said("autograde", LESSON)
    config.write_text(sound + "c.Exchange.timezone = \n")
    assert "nbgrader_config.py cannot be read: SyntaxError" in said("report", LESSON)


@pytest.mark.slow
def test_the_right_answers_are_not_handed_out_while_somebody_may_still_hand_in(root, capsys):
    def told(*words: str) -> tuple[int, str]:
        return main(["feedback", LESSON, "--dir", str(root), *words]), capsys.readouterr().out

    def due(moment: datetime) -> None:
        with Course(root).gradebook as gradebook:
            gradebook.update_or_create_assignment(LESSON, duedate=moment)

    now, page = datetime.now(timezone.utc).replace(tzinfo=None), root / "feedback" / "ada" / LESSON / f"{NOTEBOOK}.html"
    due(now + timedelta(days=1))
    status, said = told()
    assert status == 1 and "feedback shows the right answers" in said and not page.exists()
    due(now - timedelta(days=1))
    extend(Course(root), LESSON, "bob", 72)
    status, said = told()
    assert status == 1 and f"{now + timedelta(days=2):%Y-%m-%d %H:%M} UTC" in said
    assert told("--early")[0] == 0 and page.exists()
    extend(Course(root), LESSON, "bob", 0)
    assert told()[0] == 0


@pytest.mark.parametrize(
    ("error", "words", "status"),
    [
        (KeyboardInterrupt(), "Stopped. What is marked is kept", 130),
        (OSError(28, "No space left on device", "/x/g.csv"), "/x/g.csv: No space left on device. What is marked", 1),
    ],
)
def test_ctrl_c_and_a_full_disk_are_sentences(error, words, status, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(commands, "run_export", Mock(side_effect=error))
    assert main(["export", "--dir", str(tmp_path)]) == status
    assert words in capsys.readouterr().out


def test_every_command_is_listed_in_both_languages_and_has_help(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    said = capsys.readouterr().out
    for name in [name for those in COMMANDS.values() for name in those]:
        assert re.search(rf"^  {name} +\w.*[\u4e00-\u9fff]", said, re.MULTILINE), name
        with pytest.raises(SystemExit) as ended:
            main([*name.split(), "--help"])
        assert ended.value.code == 0
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["author", "--help"])
    assert "author demo" in (said := capsys.readouterr().out) and "autograde" not in said


def test_a_folder_that_is_no_course_is_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", LESSON]) == 1 and "is no course directory" in capsys.readouterr().out


# --- whatever one student's files do to a step, it is named, and the other students' turn comes ---


def outcome(act, seconds: float = 60) -> str:
    """What a guarded step says of the student."""
    failed: dict[str, str] = {}
    with guarded("ada", failed.__setitem__, seconds):
        act()
    return failed.get("ada", "")


@pytest.mark.parametrize(
    "error", [ValueError("x\n\ny\ud800"), MemoryError(), SystemExit(3), DataError("insert", {}, Exception("too long"))]
)
def test_what_one_student_caused_is_a_sentence_about_that_student(error):
    said = outcome(Mock(side_effect=error))
    assert said.startswith(type(error).__name__) and "\n" not in said and said.encode("utf-8")


@pytest.mark.parametrize(
    "error",
    [
        ProjectError("x"),
        Infrastructure("x"),
        KeyboardInterrupt(),
        OSError(errno.ENOSPC, "full"),
        OperationalError("insert", {}, sqlite3.OperationalError("database is locked")),
    ],
)
def test_what_would_meet_everybody_ends_the_run(error):
    with pytest.raises(type(error)):
        outcome(Mock(side_effect=error))


@pytest.mark.slow
def test_a_step_without_end_is_stopped_also_where_it_waits_or_swallows_that(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    def swallow() -> None:
        try:
            time.sleep(60)
        except Exception:
            time.sleep(60)

    for act in (lambda: time.sleep(60), lambda: (tmp_path / "pipe").read_bytes(), swallow):
        assert "0.05 seconds" in outcome(act, 0.05)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert outcome(lambda: None) == ""


@pytest.mark.slow
def test_feedback_of_huge_notebooks_and_strange_names_costs_the_others_nothing(course):
    picture = new_output("display_data", data={"image/png": "A" * 9_000_000})
    for student, cells in (
        ("ada", [new_code_cell("x = 1\n" * 2_500_000, outputs=[picture]), *([new_markdown_cell("#")] * 1000)]),
        ("bob", [new_markdown_cell("![mine](attachment:lost.png)\n\nand words")]),
    ):
        path = course.autograded(student, LESSON)
        notebook = nbformat.read(path, as_version=4)
        notebook.cells = cells + notebook.cells
        path.chmod(0o644)
        nbformat.write(notebook, path)
    course.autograded("cyd", LESSON).unlink()
    course.autograded("cyd", LESSON).mkdir()
    for name in ("[a-s]*", "?ob", "*"):
        for folder in ("submitted", "autograded"):
            shutil.copytree(course.root / folder / "dee", course.root / folder / name)
    said: list[str] = []
    assert feedback(course, LESSON, said.append) == ["cyd"]
    assert [line.split(":")[0] for line in said if "did not work" in line] == ["feedback for cyd did not work"]
    pages = {path.name: path / LESSON / f"{NOTEBOOK}.html" for path in (course.root / "feedback").iterdir()}
    assert sorted(pages) == ["ada", "bob", "dee"]
    assert pages["ada"].stat().st_size < 2_000_000 and "Which letter is second?" in pages["ada"].read_text("utf-8")
    page = pages["bob"].read_text("utf-8")
    assert "![mine](attachment:lost.png)" in page and "and words" in page


@pytest.mark.slow
def test_report_and_export_name_whom_they_cannot_read_and_go_on(course, capsys):
    course.autograded("ada", LESSON).unlink()
    course.autograded("ada", LESSON).write_text("{broken", encoding="utf-8")
    answers = course.root / "submitted" / "bob" / LESSON / f"{LESSON}.answers.json"
    answers.unlink()
    os.mkfifo(answers)
    for command in (["report", LESSON], ["export"]):
        assert main([*command, "--dir", str(course.root)]) == 0, command
        assert ("ada is left out: " in capsys.readouterr().out) == (command[0] == "report")
    found = {one.student: one for one in autograde(course, LESSON, say=lambda line: None)}
    assert found["ada"].points == 13, "the broken one is marked anew"


@pytest.mark.slow
def test_collecting_goes_on_behind_one_that_cannot_be_taken_in(course, monkeypatch):
    from grader.handin import exchange

    inbound = course.root / "exchange" / "tools" / "inbound"
    for student in ("ann", "ben", "cat"):
        folder = inbound / f"{student}+{LESSON}+2026-04-01 10:00:00 UTC+x"
        folder.mkdir()
        shutil.copy(course.root / "release" / LESSON / f"{NOTEBOOK}.ipynb", folder)
        (folder / "timestamp.txt").write_text("2026-04-01 10:00:00 UTC")
    (inbound / f"dan+{LESSON}+2026-04-01 10:00:00 UTC+x").write_text("a file")
    work = (course.root / "submitted" / "ada" / LESSON / f"{NOTEBOOK}.ipynb").read_bytes()
    (inbound / f"ben+{LESSON}+2026-04-01 10:00:00 UTC+x" / f"{NOTEBOOK}.ipynb").write_bytes(work)
    later = inbound / f"ben+{LESSON}+2026-05-01 10:00:00 UTC+x"
    shutil.copytree(inbound / f"cat+{LESSON}+2026-04-01 10:00:00 UTC+x", later)
    prepare = exchange.prepare

    def failing(root: Path, project, lesson: str, student: str):
        if student == "ann":
            raise PermissionError(13, "Permission denied", "L.ipynb.new")
        prepare(root, project, lesson, student)

    monkeypatch.setattr(exchange, "prepare", failing)
    said: list[str] = []
    assert collect(course, LESSON, said.append) == 8
    empty, failed = sorted(said, key=lambda line: line.startswith("ann"))
    assert empty.startswith("ben: what came last holds no work")
    assert failed.startswith("ann could not be collected: PermissionError")
    assert (course.root / "submitted" / "ben" / LESSON / f"{NOTEBOOK}.ipynb").read_bytes() == work
    assert (course.root / "submitted" / "dan" / LESSON / f"{NOTEBOOK}.ipynb").exists()
