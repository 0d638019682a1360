"""What happens to an instructor in a semester: files by mail, typing errors, Ctrl-C, a full disk, a lost gradebook; and the commands."""

from __future__ import annotations

import re
import sqlite3
from datetime import datetime, timedelta, timezone
from unittest.mock import Mock

import pytest

from grader.cli import COMMANDS, classes, main
from grader.course import Course
from grader.course.late import extend
from grader.marking.autograde import How, autograde
from grader.reporting.summary import strays
from tests.support.grading_class import rows
from tests.support.grading_fixtures import LESSON, NOTEBOOK


def again(root, *students) -> dict:
    said: list[str] = []
    found = autograde(Course(root), LESSON, students or None, How(jobs=1), said.append)
    return {"said": "\n".join(said), **{one.student: one for one in found}}


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
def test_faults_of_the_disk_the_gradebook_and_the_settings_are_sentences(root, capsys):
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
    monkeypatch.setattr(classes, "run_export", Mock(side_effect=error))
    assert main(["export", "--dir", str(tmp_path)]) == status
    assert words in capsys.readouterr().out


def test_every_command_is_listed_in_both_languages_and_has_help(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    said = capsys.readouterr().out
    for name in [name for commands in COMMANDS.values() for name in commands]:
        assert re.search(rf"^  {name} +\w.*[\u4e00-\u9fff]", said, re.MULTILINE), name
        with pytest.raises(SystemExit) as ended:
            main([*name.split(), "--help"])
        assert ended.value.code == 0


def test_a_folder_that_is_no_course_is_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", LESSON]) == 1 and "is no course directory" in capsys.readouterr().out
