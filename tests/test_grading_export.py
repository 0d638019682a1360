"""The files for Canvas and Moodle, and who is who."""

from __future__ import annotations

import csv
import io

import pytest

from grader import lms
from grader.commands import main
from grader.marks import Totals
from grader.project import ProjectError
from tests.graded_class import make_class
from tests.grading_fixtures import LESSON

TOTALS = [Totals("01_map", 10.0, {"ada": 7.25, "bob": None}), Totals("02_timing", 12.5, {"ada": 12.5, "cyd": 0.0})]
EXPORTED = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Old (7)\n    Points Possible,,,,,5\n"
    '"Lovelace, Ada",101,S1,ada,A\n"Moore, Bob",102,S2,bob,A\n"Idle, Ida",103,S3,ida,B\n"Student, Test",9,,x,A\n'
)


def roster(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "roster.csv"
    path.write_bytes(text.encode(encoding))
    return path


def parsed(rows):
    return list(csv.reader(io.StringIO(lms.text_of(rows))))


def canvas_reads(rows):
    """What Canvas's own importer asks of a header and takes from a row (lib/gradebook_importer.rb)."""
    head = rows[0]
    assert len(head) > 3 and "Student" in head[0] and "ID" in head[1]
    assert head[2] == "SIS User ID" and head[3] == "SIS Login ID" and "Section" in head[4]
    assert "Points Possible" in rows[1][0]
    assert {len(row) for row in rows} == {len(head)}
    return {row[1] or row[3]: row[5:] for row in rows[2:]}


def test_canvas_with_its_own_export_as_roster(tmp_path):
    matched = lms.match(["ada", "bob", "cyd"], lms.read_roster(roster(tmp_path, EXPORTED, "utf-8-sig")), "canvas")
    assert matched.strangers == ["cyd"]
    rows = parsed(lms.canvas(matched, TOTALS, {"01_map": "Checkpoint 1 (4711)"}))
    assert rows[0][5:] == ["Checkpoint 1 (4711)", "02_timing"] and rows[1][5:] == ["10.00", "12.50"]
    assert canvas_reads(rows) == {"101": ["7.25", "12.50"], "102": ["", ""], "103": ["", ""]}
    assert rows[2][:5] == ["Lovelace, Ada", "101", "S1", "ada", "A"]


def test_no_name_is_computed_by_a_spreadsheet(tmp_path):
    text = 'First name,Surname,ID number,Email address\n"=HYPERLINK(""http://x.y"")",@SUM(1),-ada,+ada@x.org\n'
    rows = parsed(lms.moodle(lms.match(["-ada"], lms.read_roster(roster(tmp_path, text)), "moodle"), TOTALS, {}))
    assert rows[1] == ["", '\'=HYPERLINK("http://x.y")', "'@SUM(1)", "'-ada", "'+ada@x.org", "-", "-"]


def test_moodle_leaves_out_whom_it_would_stop_at_and_writes_a_dash_for_no_grade(tmp_path):
    text = "First name,Surname,ID number,Email address\nAda,Lovelace,ada,ada@x.org\nBob,Moore,77,bob\n"
    matched = lms.match(["ada", "bob", "cyd"], lms.read_roster(roster(tmp_path, text)), "moodle")
    rows = parsed(lms.moodle(matched, TOTALS, {}))
    assert rows == [
        ["Username", "First name", "Last name", "ID number", "Email address", "01_map", "02_timing"],
        ["", "Ada", "Lovelace", "ada", "ada@x.org", "7.25", "12.50"],
        ["", "Bob", "Moore", "77", "bob", "-", "-"],
    ]
    assert matched.strangers == ["cyd"]


def test_a_student_id_column_decides_alone(tmp_path):
    text = "student_id;Student;ID;SIS Login ID\nada;Ada L;5;bob\n"
    matched = lms.match(["ada", "bob"], lms.read_roster(roster(tmp_path, text)), "canvas")
    assert matched.rows["ada"]["ID"] == "5" and matched.strangers == ["bob"]


def test_without_a_roster_our_names_are_login_names():
    rows = parsed(lms.canvas(lms.match(["ada"], None, "canvas"), TOTALS, {}))
    assert rows[2] == ["ada", "", "", "ada", "", "7.25", "12.50"]


@pytest.mark.parametrize(
    ("text", "words"), [("name,age\nada,3\n", "column"), ("", "column"), ("student_id\nada\nada\n", "'ada' twice")]
)
def test_faults_of_a_roster_are_said(tmp_path, text, words):
    with pytest.raises(ProjectError, match=words):
        lms.match(["ada"], lms.read_roster(roster(tmp_path, text)), "canvas")
    with pytest.raises(ProjectError, match="cannot be read"):
        lms.read_roster(tmp_path / "nowhere.csv")
    with pytest.raises(ProjectError, match="UTF-8"):
        lms.read_roster(roster(tmp_path, "student_id\nJürgen\n", "latin-1"))


@pytest.mark.slow
def test_the_command_writes_what_the_gradebook_says(tmp_path, capsys):
    project, course = make_class(tmp_path)
    to = tmp_path / "out.csv"
    text = "student_id,Student,ID\nada,Ada L,1\nbob,Bob M,2\ncyd,Cyd N,3\n"
    command = ["export", "--dir", str(course.root), "--to", str(to), "--format", "canvas"]
    assert main([*command, "--roster", str(roster(tmp_path, text))]) == 1
    assert "left out: dee" in capsys.readouterr().out
    rows = list(csv.reader(to.open()))
    assert rows[1][-1] == "13.00" and canvas_reads(rows) == {"1": ["13.00"], "2": ["7.67"], "3": ["0.67"]}
    people = roster(tmp_path, "Username\nada\nbob\ncyd\ndee\nfay\n")
    more = [*command[:3], "--format", "moodle", "--roster", str(people)]
    assert main(more) == 0 and "1, without a grade: fay" in capsys.readouterr().out
    assert "dee" in (course.root / "grades-moodle.csv").read_text() and not (course.root / "grades.csv").exists()
    with course.gradebook as gradebook:
        submission = gradebook.find_submission(LESSON, "ada")
        submission.notebooks[0].late_submission_penalty = 3.0
        grade = gradebook.find_grade("90-t-report", LESSON, LESSON, "bob")
        grade.auto_score, grade.needs_manual_grade = None, True
        gradebook.db.commit()
    assert main([*command, "--column", f"{LESSON}=One"]) == 0
    said, rows = capsys.readouterr().out, list(csv.reader(to.open()))
    assert (
        canvas_reads(rows) == {"ada": ["10.00"], "bob": [""], "cyd": ["0.67"], "dee": ["0.00"]} and rows[0][-1] == "One"
    )
    assert "no grade for bob" in said
    for name in ("report", "similar", "late", "regrade", "export"):
        words = [name, "--lesson", "77_none"] if name == "export" else [name, "77_none"]
        assert main([*words, "--dir", str(course.root)]) == 1
        assert "77_none: not released" in capsys.readouterr().out
    assert main(["export", "--dir", str(course.root), "--to", str(to), "--details", str(tmp_path / "cells.csv")]) == 0
    assert ",ada,,,," in to.read_text() and "90-c-order,2.0,2.0" in (tmp_path / "cells.csv").read_text()
