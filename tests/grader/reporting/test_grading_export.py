"""Marks for a spreadsheet, and in a column of the platform's own file."""

from __future__ import annotations

import csv
import io

import pytest

from grader.cli import main
from grader.course.marks import Totals
from grader.handin.roster import Roster
from grader.project import ProjectError
from grader.reporting.export import into
from tests.support.grading_fixtures import LESSON, NOTEBOOK

TOTALS = Totals("01_map", 10.0, {"ada": 7.25, "bob": None, "cyd": 0.0})
CANVAS = (  # the gradebook, with a row for what is posted by hand
    "Student,ID,SIS User ID,SIS Login ID,Section,Old (7),Checkpoint 1 (4711),Current Score,Final Score\n"
    ",,,,,,Manual Posting,,\n    Points Possible,,,,,5,10.00,(read only),(read only)\n"
    '"Lovelace, Ada",101,S1,ada,A,4.00,,80.00,40.00\n"Moore, Bob",102,S2,bob,A,5.00,3.50,,\n'
    '"Idle, Ida",103,S3,ida,B,EX,N/A,,\n"Student, Test",9,,x,A,,,,\n'
)
MOODLE = (  # the grading worksheet of one assignment
    "Identifier,Full name,Email address,Status,Grade,Maximum grade,Last modified (grade),Feedback comments\n"
    "Participant 4711,Ada Lovelace,ada@x.org,Submitted,-,10.00,-,\n"
    "Participant 4712,Bob Moore,bob@x.org,No submission,-,10.00,-,\n"
    "Participant 4713,Kim Lee,kim@x.org,Submitted,4.00,10.00,-,\n"
)


def filled(tmp_path, text, column=None, encoding="utf-8-sig"):
    known, path = Roster(), tmp_path / "theirs.csv"
    known.add("ada", ["ada", "ada@x.org", "Ada Lovelace", "101"])
    known.add("bob", ["bob", "bob@x.org", "Bob Moore"])
    known.add("cyd", ["cyd"])
    path.write_text(text, encoding=encoding)
    said, missing, strange = into(path, known, TOTALS, column)
    assert missing == ["cyd"]
    return [*csv.reader(io.StringIO(said))], strange


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_one_column_of_canvas_gradebook_is_filled_and_nothing_else_changes(tmp_path, encoding):
    rows, strange = filled(tmp_path, CANVAS, "Checkpoint 1", encoding)
    before = [*csv.reader(io.StringIO(CANVAS))]
    before[3][6] = "7.25"
    assert rows == before, "bob has a mark there, and none here: it stays"
    assert any("Idle, Ida" in one for one in strange)


def test_moodles_worksheet_comes_back_with_the_marks_and_without_a_dash(tmp_path):
    rows, _ = filled(tmp_path, MOODLE, "Grade")
    assert [row[4] for row in rows[1:]] == ["7.25", "", "4.00"], "a dash would be read as 0"
    assert rows[0] == MOODLE.splitlines()[0].split(",")


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        (CANVAS, None, "in no heading"),
        (CANVAS, "Score", "in more than one"),
        (MOODLE + "Participant 4714,Ada Lovelace,ada@x.org,,-,10.00,-,\n", "Grade", "two rows are ada's"),
    ],
)
def test_what_is_not_clear_is_refused(tmp_path, text, column, words):
    with pytest.raises(ProjectError, match=words):
        filled(tmp_path, text, column)


@pytest.mark.slow
def test_the_command_writes_what_the_gradebook_says_and_why_a_mark_is_missing(course, tmp_path, capsys):
    there, to = tmp_path / "theirs.csv", tmp_path / "out.csv"
    there.write_text("Username,Note\nada,\nbob,-\ncyd,3\nfay,\n", "utf-8")
    plain = ["export", "--dir", str(course.root), "--to", str(to)]
    words = [*plain, "--into", str(there)]
    assert main([*words, "--lesson", "77_none"]) == 1 and "77_none: not released" in capsys.readouterr().out
    assert main([*words, "--column", "Note"]) == 1
    said = capsys.readouterr().out
    assert "NOT IN THE FILE, left out: dee" in said and "name no one student, left as they were: 1 (fay" in said
    assert to.read_text("utf-8") == "Username,Note\nada,13.00\nbob,7.67\ncyd,0.67\nfay,\n"
    with course.gradebook as gradebook:
        grade = gradebook.find_grade("90-t-report", NOTEBOOK, LESSON, "bob")
        grade.auto_score, grade.needs_manual_grade = None, True
        gradebook.db.commit()
    assert main([*words, "--column", "Note"]) == 1 and "bob,\n" in to.read_text("utf-8")
    assert f"{LESSON}: no grade for bob: to be marked by hand" in capsys.readouterr().out
    assert main(plain) == 0
    assert ",ada,,,,13.0," in to.read_text() and ",bob,,,,,," in to.read_text(), "no number where there is no grade"
