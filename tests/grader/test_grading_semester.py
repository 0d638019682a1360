"""What happens to an instructor in a semester: files by mail, typing errors, Ctrl-C, a full disk, a lost gradebook."""

from __future__ import annotations

import csv
import shutil
import sqlite3
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from grader.autograde.run import How, autograde
from grader.cli import classes, main
from grader.course import Course, command
from grader.gradebook.late import extend
from grader.project import ProjectError
from grader.reporting.give_out import feedback
from grader.reporting.summary import BY_HAND, Outcome, strays, summary
from tests.support.graded_class import make_class
from tests.support.grading_class import copy_of, rows
from tests.support.grading_fixtures import LESSON, NOTEBOOK


@pytest.fixture(scope="module")
def marked(tmp_path_factory) -> Path:
    return make_class(tmp_path_factory.mktemp("semester"))[1].root


@pytest.fixture
def root(marked, tmp_path) -> Path:
    return copy_of(marked, tmp_path / "class")


def again(root, *students) -> dict:
    said: list[str] = []
    found = autograde(Course(root), LESSON, students or None, How(jobs=1), said.append)
    return {"said": "\n".join(said), **{one.student: one for one in found}}


@pytest.mark.slow
def test_other_notebooks_beside_the_one_cost_nobody_the_feedback(root):
    ada = root / "submitted" / "ada" / LESSON
    shutil.copy(ada / f"{NOTEBOOK}.ipynb", ada / "scratch.ipynb")
    by_mail = root / "submitted" / "mia" / LESSON
    by_mail.mkdir(parents=True)
    work = (ada / f"{NOTEBOOK}.ipynb").read_bytes().replace(b"def contrast", b"# mia\\ndef contrast")
    (by_mail / f"{NOTEBOOK} (1).ipynb").write_bytes(work)
    (ada / "timestamp.txt").write_text("yesterday noon")
    found, said = again(root), []
    assert found["mia"].points == found["ada"].points == 13
    assert "yesterday noon" in found["said"]
    assert [path.name for path in (root / "autograded" / "mia" / LESSON).glob("*.ipynb")] == [f"{NOTEBOOK}.ipynb"]
    assert feedback(Course(root), LESSON, said.append) == []
    for student in ("ada", "mia"):
        assert (root / "feedback" / student / LESSON / f"{NOTEBOOK}.html").exists()
    assert len(said) == 2 and said[1].startswith("5 did") and "ada, bob, cyd, dee, mia" in said[1]


@pytest.mark.slow
def test_a_lost_gradebook_is_filled_again_and_a_renamed_student_counts_once(root, capsys):
    before = rows(root)
    (root / "gradebook.db").unlink()
    assert main(["release", LESSON, "--dir", str(root), "--due", "2020-01-01 12:00 UTC"]) == 0
    assert "due 2020-01-01 12:00 UTC, WHICH IS PAST" in capsys.readouterr().out
    assert again(root)["ada"].points == 13 and rows(root) == before
    (root / "submitted" / "ada").rename(root / "submitted" / "lovelace")
    found = again(root)
    assert found["lovelace"].points == 13
    assert found["ada"].reason == "gone" and found["ada"].points == 13
    with Course(root).gradebook as gradebook:
        gradebook.remove_student("ada")
    assert "ada" not in again(root) and not main(["report", LESSON, "--dir", str(root)])
    assert "3 of 4 submissions" in (root / f"report-{LESSON}.html").read_text()


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
def test_the_plain_csv_has_no_number_where_there_is_no_grade(root, tmp_path, capsys):
    with Course(root).gradebook as gradebook:
        grade = gradebook.find_grade("90-t-report", NOTEBOOK, LESSON, "bob")
        grade.auto_score, grade.needs_manual_grade = None, True
        gradebook.update_or_create_student("ada", last_name="King, Countess of Lovelace")
        gradebook.db.commit()
    assert main(["export", "--dir", str(root)]) == 0
    assert f"{LESSON}: no grade for bob" in capsys.readouterr().out
    table = {row["student_id"]: row for row in csv.DictReader((root / "grades.csv").open())}
    assert table["bob"]["score"] == table["bob"]["raw_score"] == "" and table["ada"]["score"] == "13.0"
    assert table["ada"]["last_name"] == "King, Countess of Lovelace"


@pytest.mark.slow
def test_what_lies_in_the_wrong_place_is_named(root):
    (root / "submitted" / "loose.ipynb").write_text("{}")
    (root / "submitted" / "mia").mkdir()
    (root / "submitted" / "mia" / f"{NOTEBOOK}.ipynb").write_text("{}")
    (root / "submitted" / "bob" / ".ipynb_checkpoints").mkdir()
    assert [line.split(";")[0] for line in strays(Course(root))] == [
        "NOT MARKED: submitted/loose.ipynb",
        f"NOT MARKED: submitted/mia/{NOTEBOOK}.ipynb",
    ]


@pytest.mark.slow
def test_faults_of_the_disk_the_gradebook_and_the_settings_are_sentences(root, capsys, monkeypatch):
    def said(*words: str) -> str:
        assert main([*words, "--dir", str(root)]) == 1
        return capsys.readouterr().out

    assert "Name a place that exists" in said("report", LESSON, "--to", str(root / "no" / "page.html"))
    for name in ("collect", "autograde", "feedback"):
        assert "77_none: not released" in said(name, "77_none")
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
    config.write_text(sound + 'c.CourseDirectory.db_url = "postgresql+psycopg2://u:secret@127.0.0.1/gb"\n')
    try:
        import psycopg2  # noqa: F401
    except ModuleNotFoundError:
        assert (text := said("report", LESSON)).endswith("pip install psycopg2\n") and "secret" not in text
    config.write_text(sound + "c.Exchange.timezone = \n")
    assert "nbgrader_config.py cannot be read: SyntaxError" in said("report", LESSON)


def test_who_handed_in_nothing_is_told_apart_from_whose_grade_is_missing():
    idle, lost = (
        Outcome("ada", None, 13, reason="absent"),
        Outcome("bob", None, 13, ["NO GRADE: x"], "infrastructure", "no-grade"),
    )
    assert summary([idle, lost]).splitlines()[-3:-1] == ["handed in nothing: ada", "without a grade: bob"]
    assert summary([idle]).splitlines()[-2] == "no submission is marked so far"
    waits = Outcome("cyd", None, 12, ["by hand: 50-e-why", "The notebook had another name."], reason="by-hand")
    table = summary([idle, waits, lost]).splitlines()
    assert "50-e-why. The notebook" in table[2] and f"{BY_HAND}, 1: cyd; " in table[-3] and "pending" in table[2]


@pytest.mark.slow
def test_the_right_answers_are_not_handed_out_while_somebody_may_still_hand_in(root, capsys):
    def told(*words: str) -> tuple[int, str]:
        return main(["feedback", LESSON, "--dir", str(root), *words]), capsys.readouterr().out

    def due(moment: datetime) -> None:
        with Course(root).gradebook as gradebook:
            gradebook.update_or_create_assignment(LESSON, duedate=moment)

    now = datetime.now(timezone.utc).replace(tzinfo=None)
    due(now + timedelta(days=1))
    status, said = told()
    assert status == 1 and "feedback shows the right answers" in said and not (root / "feedback" / "ada").exists()
    due(now - timedelta(days=1))
    extend(Course(root), LESSON, "bob", 72)
    status, said = told()
    assert status == 1 and f"{now + timedelta(days=2):%Y-%m-%d %H:%M} UTC" in said
    assert told("--early")[0] == 0 and (root / "feedback" / "ada" / LESSON / f"{NOTEBOOK}.html").exists()
    extend(Course(root), LESSON, "bob", 0)
    assert told()[0] == 0


@pytest.mark.parametrize(
    ("error", "words", "status"),
    [
        (KeyboardInterrupt(), "Stopped. What is marked is kept", 130),
        (
            OSError(28, "No space left on device", "/x/grades.csv"),
            "/x/grades.csv: No space left on device. What is marked is kept",
            1,
        ),
    ],
)
def test_ctrl_c_and_a_full_disk_are_sentences(error, words, status, tmp_path, monkeypatch, capsys):
    def run(arguments):
        raise error

    monkeypatch.setattr(classes, "run_export", run)
    assert main(["export", "--dir", str(tmp_path)]) == status
    assert words in capsys.readouterr().out


def test_ctrl_c_in_the_middle_of_feedback_ends_it():
    from grader.reporting.give_out import _uninterrupted

    with pytest.raises(KeyboardInterrupt):
        _uninterrupted({"success": False, "error": "Traceback ...\n  File ...\nKeyboardInterrupt\n"})
    assert _uninterrupted({"success": True}) == {"success": True}


def test_a_number_of_processes_and_the_next_command(tmp_path, monkeypatch, capsys):
    with pytest.raises(SystemExit):
        main(["autograde", LESSON, "--jobs", "-3"])
    assert "'-3'" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    assert command("report 01_map", tmp_path) == "`python -m grader report 01_map`"
    assert command("report 01_map", tmp_path / "my class") == "`python -m grader report 01_map --dir 'my class'`"
    with pytest.raises(ProjectError, match="no course directory"):
        Course(tmp_path)
