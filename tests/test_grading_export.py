"""The files for Canvas and Moodle, and who is who."""

from __future__ import annotations

import csv
import io
from datetime import datetime

import pytest

from grader import lms
from grader.commands import main
from grader.importing.names import people
from grader.importing.who import joined
from grader.importing.who import matched as matched_by
from grader.marks import Totals
from grader.project import ProjectError
from tests.graded_class import make_class
from tests.grading_fixtures import LESSON, NOTEBOOK

TOTALS = [Totals("01_map", 10.0, {"ada": 7.25, "bob": None}), Totals("02_timing", 12.5, {"ada": 12.5, "cyd": 0.0})]
ADA = {"student_id": "ada", "First name": "Ada", "Last name": "Lovelace", "Email address": "ada@x.org"}
EXPORTED = (  # as lib/gradebook_exporter.rb writes it, with a row for what is posted by hand
    "Student,ID,SIS User ID,SIS Login ID,Section,Old (7),Checkpoint 1 (4711),Current Score,Final Score\n"
    ",,,,,,Manual Posting,,\n    Points Possible,,,,,5,10.00,(read only),(read only)\n"
    '"Lovelace, Ada",101,S1,ada,A,4.00,,80.00,40.00\n"Moore, Bob",102,S2,bob,A,5.00,3.50,,\n'
    '"Idle, Ida",103,S3,ida,B,EX,N/A,,\n"Student, Test",9,,x,A,,,,\n'
)
WORKSHEET = (  # as mod/assign/feedback/offline writes it
    "Identifier,Full name,Email address,Status,Grade,Maximum grade,Grade can be changed,Last modified (submission),"
    "Last modified (grade),Feedback comments\n"
    'Participant 4711,Ada Lovelace,Ada@X.org,Submitted for grading,-,10.00,Yes,"Monday, 23 November 2026, 11:59 PM",-,\n'
    "Participant 4712,Idle Ida,ida@x.org,No submission,-,10.00,Yes,-,-,\n"
    'Participant 4713,Kim Lee,kim.lee@x.org,Submitted for grading,4.00,10.00,Yes,"Tuesday, 24 November 2026, 1:02 AM",-,\n'
)


IN_CHINESE = (  # the same, downloaded in Simplified Chinese (lang packs of Moodle 4.5: moodle.php, assign.php)
    "标识符,全名,电子邮件地址,状态,成绩,最高分,允许更改成绩,上次修改（作业）,上次修改（评分）,反馈评论\n"
    "参与人4711,Ada Lovelace,ada@x.org,已提交请评分,,10.00,是,2026年11月23日 星期一 23:59,-,\n"
    "参与人4712,李雷,lilei@x.org,没有作业,,10.00,是,-,-,\n"
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


def who_is_who(tmp_path, text, students, there=(), encoding="utf-8", said=None):
    """The table and the students put to its rows. there: rows of the gradebook beside the bare ids of the students."""
    path = roster(tmp_path, text, encoding)
    known = [{"student_id": name} for name in students if name not in {row["student_id"] for row in there}]
    everybody = joined(people(lms.read_roster(path)), people([*there, *known]), said or {})
    return lms.read_table(path), matched_by(students, everybody)


def test_a_worksheet_in_chinese_is_read_and_goes_back(tmp_path):
    path = roster(tmp_path, IN_CHINESE, "utf-8-sig")
    everybody = joined(people(lms.read_roster(path)), people([ADA]), {})
    table, matched = lms.read_table(path), matched_by(["ada"], everybody)
    assert table.is_worksheet and matched.strangers == [] and [*matched.rows] == ["ada"]
    assert matched.rows["ada"]["Last modified (submission)"] == "2026年11月23日 星期一 23:59"
    assert everybody.listed[0].numbers == {"4711"} and everybody.listed[1].student == "lilei@x.org"
    rows = lms.into_worksheet(table, matched, TOTALS[0])
    assert rows[0] == table.head and rows[1][4] == "7.25" and rows[2][4] == ""
    with pytest.raises(ProjectError, match="10 points here, 20 there"):
        lms.into_worksheet(lms.read_table(roster(tmp_path, IN_CHINESE.replace("10.00", "20"))), matched, TOTALS[0])


def test_canvas_gets_its_own_file_back_with_the_marks_in_it(tmp_path):
    table, matched = who_is_who(tmp_path, EXPORTED, ["ada", "bob", "cyd"], encoding="utf-8-sig")
    assert matched.strangers == ["cyd"]
    rows = parsed(lms.into_canvas(table, matched, TOTALS[:1], {}))
    assert rows[0][5:] == ["Checkpoint 1 (4711)"] and rows[1][5:] == ["10.00"]
    assert canvas_reads(rows) == {"101": ["7.25"]}, "bob has a mark there, and none here: his row is not touched"
    assert rows[2][:5] == ["Lovelace, Ada", "101", "S1", "ada", "A"]
    both = parsed(lms.into_canvas(table, matched, TOTALS, {"02_timing": "Brand new"}))
    assert both[0][5:] == ["Checkpoint 1 (4711)", "Brand new"] and canvas_reads(both) == {"101": ["7.25", "12.50"]}
    with pytest.raises(ProjectError, match="02_timing: no assignment of this file is clearly"):
        lms.into_canvas(table, matched, TOTALS, {})


@pytest.mark.parametrize(("lms_name", "scaled"), [("canvas", "14.50"), ("moodle", "14.50")])
def test_other_points_there_are_refused_or_multiplied_never_passed_over(tmp_path, lms_name, scaled):
    texts = {"canvas": EXPORTED.replace(",,,,,5,10.00", ",,,,,5,20"), "moodle": WORKSHEET.replace("10.00", "20.00")}
    table, matched = who_is_who(tmp_path, texts[lms_name], ["ada"], there=[ADA])
    write = {
        "canvas": lambda scale: lms.into_canvas(table, matched, TOTALS[:1], {}, scale)[2][5],
        "moodle": lambda scale: lms.into_worksheet(table, matched, TOTALS[0], scale)[1][4],
    }[lms_name]
    with pytest.raises(ProjectError, match="10 points here, 20 there"):
        write(False)
    assert write(True) == scaled


def test_a_worksheet_comes_back_as_it_was_with_the_marks_in_it(tmp_path):
    """After an import by another list of participants: the students have other ids, and the same mail addresses."""
    table, matched = who_is_who(tmp_path, WORKSHEET, ["ada", "bob", "kim"], [ADA], said={"Kim Lee (4713)": "kim"})
    assert [*matched.rows] == ["ada", "kim"] and matched.strangers == ["bob"]
    totals = Totals("01_map", 10.0, {"ada": 7.25, "bob": 3.0, "kim": None})
    rows = parsed(lms.into_worksheet(table, matched, totals))
    assert rows[0] == WORKSHEET.splitlines()[0].split(",")
    assert [row[4] for row in rows[1:]] == ["7.25", "", "4.00"], (
        "a dash would be read as 0, and a mark that is there stays"
    )
    assert [row[:4] + row[5:] for row in rows[1:]] == [row[:4] + row[5:] for row in table.lines]


def test_no_name_is_computed_by_a_spreadsheet(tmp_path):
    text = 'First name,Surname,ID number,Email address\n"=HYPERLINK(""http://x.y"")",@SUM(1),-ada,+ada@x.org\n'
    _, matched = who_is_who(tmp_path, text, ["-ada"])
    rows = parsed(lms.moodle(matched, [Totals("01_map", 1.0, {"-ada": 1.0})], {}))
    assert rows[1] == ["", '\'=HYPERLINK("http://x.y")', "'@SUM(1)", "'-ada", "'+ada@x.org", "1.00"]


def test_moodle_leaves_out_whom_it_would_stop_at_and_whose_mark_it_would_clear(tmp_path):
    text = "First name,Surname,ID number,Email address\nAda,Lovelace,ada,ada@x.org\nBob,Moore,77,bob\n"
    _, matched = who_is_who(tmp_path, text, ["ada", "bob", "cyd"])
    rows = parsed(lms.moodle(matched, TOTALS, {}))
    assert rows == [
        ["Username", "First name", "Last name", "ID number", "Email address", "01_map", "02_timing"],
        ["", "Ada", "Lovelace", "ada", "ada@x.org", "7.25", "12.50"],
    ]
    assert matched.strangers == ["cyd"]


def test_a_student_id_column_decides_alone(tmp_path):
    text = "student_id;Student;ID;SIS Login ID\nada;Ada L;5;bob\n"
    _, matched = who_is_who(tmp_path, text, ["ada", "bob"])
    assert matched.rows["ada"]["ID"] == "5" and matched.strangers == ["bob"]


@pytest.mark.parametrize(
    ("text", "words"), [("name,age\nada,3\n", "column"), ("", "column"), ("student_id\nada\nada\n", "'ada' twice")]
)
def test_faults_of_a_roster_are_said(tmp_path, text, words):
    with pytest.raises(ProjectError, match=words):
        who_is_who(tmp_path, text, ["ada"])
    with pytest.raises(ProjectError, match="cannot be read"):
        lms.read_roster(tmp_path / "nowhere.csv")
    with pytest.raises(ProjectError, match="UTF-8"):
        lms.read_roster(roster(tmp_path, "student_id\nJürgen\n", "latin-1"))


@pytest.mark.slow
def test_the_command_writes_what_the_gradebook_says(tmp_path, capsys):
    project, course = make_class(tmp_path)
    to = tmp_path / "out.csv"
    columns = f"student_id,{','.join(lms.CANVAS)}"
    text = f"{columns}\nada,Ada L,1,,,A\nbob,Bob M,2,,,A\ncyd,Cyd N,3,,,A\n"
    command = ["export", "--dir", str(course.root), "--to", str(to), "--format", "canvas"]
    assert main(command) == 1 and "needs --roster FILE" in capsys.readouterr().out
    assert main([*command, "--roster", str(roster(tmp_path, "student_id\nada\n"))]) == 1
    assert "is not the gradebook that Canvas exports" in capsys.readouterr().out
    command += ["--roster", str(roster(tmp_path, text)), "--column", f"{LESSON}=One"]
    assert main(command) == 1
    assert "left out: dee" in capsys.readouterr().out
    rows = list(csv.reader(to.open()))
    assert (
        rows[1][-1] == "13.00"
        and rows[0][-1] == "One"
        and canvas_reads(rows) == {"1": ["13.00"], "2": ["7.67"], "3": ["0.67"]}
    )
    people = roster(tmp_path, "Username\nada\nbob\ncyd\ndee\nfay\n")
    more = [*command[:3], "--format", "moodle", "--roster", str(people)]
    assert main(more) == 0 and "submission: 1; what they have there stays: fay" in capsys.readouterr().out
    assert "dee" in (course.root / "grades-moodle.csv").read_text() and not (course.root / "grades.csv").exists()
    with (course.root / "nbgrader_config.py").open("a", encoding="utf-8") as settings:
        settings.write("\nc.LatePoints.per_day_percent = 300 / 13\n")
    with course.gradebook as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=datetime(2026, 3, 9))
        gradebook.find_submission(LESSON, "ada").timestamp = datetime(2026, 3, 9, 12)
        grade = gradebook.find_grade("90-t-report", NOTEBOOK, LESSON, "bob")
        grade.auto_score, grade.needs_manual_grade = None, True
        gradebook.db.commit()
    roster(tmp_path, text)
    assert main(command) == 1
    said, rows = capsys.readouterr().out, list(csv.reader(to.open()))
    assert canvas_reads(rows) == {"1": ["10.00"], "3": ["0.67"]}
    assert "no grade for bob" in said
    for name in ("report", "export"):
        words = [name, "--lesson", "77_none"] if name == "export" else [name, "77_none"]
        assert main([*words, "--dir", str(course.root)]) == 1
        assert "77_none: not released" in capsys.readouterr().out
    assert main(["export", "--dir", str(course.root), "--to", str(to), "--details", str(tmp_path / "cells.csv")]) == 0
    assert ",ada,,,," in to.read_text() and "90-c-order,2.0,2.0" in (tmp_path / "cells.csv").read_text()
