"""The page a student gets, and the report on a class whose figures were worked out by hand: in the language, nothing from elsewhere;
marks for a spreadsheet, and in a column of the platform's own file.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from datetime import datetime

import nbformat
import pytest

from course.core.i18n import both, pick
from course.experiment.base import load_all
from course.questions.bank import load_bank
from course.questions.items import Trap
from grader.cli import main
from grader.course import Course
from grader.course.marks import CellMark
from grader.handin.answers import keyed_items
from grader.handin.roster import Roster
from grader.project import MOST_REMEDIES, Project, ProjectError, remedies
from grader.project.task import tasks
from grader.reporting.export import into
from grader.reporting.give_out import feedback
from grader.reporting.report import page, tally
from tests.support.grading_class import make_class
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project

ELSEWHERE = re.compile(
    r"""(?:src|href)\s*=\s*["']?(?:https?:)?//|@import|url\(\s*["']?http|<script|<link""", re.IGNORECASE
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Student -> page; bob's in Chinese, with a comment and a mark by hand."""
    course = make_class(tmp_path_factory.mktemp("pages"), "Europe/Berlin")[1]
    path = course.autograded("bob", LESSON)
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata.course.language = "zh"
    path.chmod(0o644)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    with (course.root / "nbgrader_config.py").open("a", encoding="utf-8") as settings:
        settings.write("\nc.LatePoints.per_day_percent = 100 / 13\n")
    course = Course(course.root)
    with course.gradebook as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=datetime(2030, 12, 1, 22, 59))
        gradebook.find_grade("90-c-number", NOTEBOOK, LESSON, "bob").manual_score = 0.5
        gradebook.find_comment("90-t-contrast-answer", NOTEBOOK, LESSON, "bob").manual_comment = "Well <b>done</b>"
        gradebook.find_submission(LESSON, "ada").timestamp = datetime(2030, 12, 2)
        gradebook.db.commit()
    assert feedback(course, LESSON, lambda line: None) == []
    found = {path.name: path / LESSON / f"{NOTEBOOK}.html" for path in (course.root / "feedback").iterdir()}
    return {student: path.read_text(encoding="utf-8") for student, path in found.items()}


@pytest.mark.slow
def test_it_stands_alone_in_the_language_of_the_notebook(pages):
    for student, text in pages.items():
        assert not ELSEWHERE.search(text), student
        assert f'<html class="tb-page" lang="{"zh-Hans" if student == "bob" else "en"}">' in text
    chinese = re.sub(r"<style>.*?</style>", "", pages["bob"], flags=re.DOTALL)
    assert not re.search(r"Score:|Test cell|Student's answer|Comments:|to the top|Question \d|No response\.", chinese)


@pytest.mark.slow
def test_marks_are_seen_at_a_glance_with_names_and_points(pages):
    ada, bob, dee = pages["ada"], pages["bob"], pages["dee"]
    assert "12 of 13 points" in ada and "taken off for handing in late: 1." in ada and "0 of 13 points" in dee
    assert ada.count('class="state correct"') == 6 and dee.count('class="state not-attempted"') == 6
    assert "Which letter is second?" in ada and "<code>contrast</code>" in ada
    assert '<p class="soft">ada' in ada and "due 2030-12-01 23:59 Europe/Berlin" in ada
    assert bob.count("以人工评分为准：0.5 / ") == 1 and "What counts, marked by hand" not in ada + dee
    assert 'class="state partly">◐ 部分正确（人工评分）' in bob and "0.5 / 1</td>" in bob and "Well <b>done</b>" in bob
    for row in re.findall(r'<a href="#([^"]+)"', ada):
        assert row == "top" or f'id="{row}"' in ada


CHOICE, NUMBER, TASK = "90-c-single", "90-c-number", "90-t-contrast"
RIGHT, WRONG, NOT = "correct", "incorrect", "not attempted"


@pytest.fixture(scope="module")
def subjects(tmp_path_factory) -> dict:
    """Three of the fixture's questions: one of the options and a number of the second stand for an idea."""
    project = make_project(tmp_path_factory.mktemp("project"))
    items = keyed_items(project, LESSON)
    number = replace(items[NUMBER].number, traps=(Trap(4.0, 4.0, "four", "x"),))
    return {CHOICE: items[CHOICE], NUMBER: replace(items[NUMBER], number=number), TASK: tasks(project, LESSON)[TASK]}


def figures_of(subjects, without=()) -> dict:
    """A class of five, one of them without a grade; without: what all papers but the first do not ask."""

    def seen(points, states, wrong=((), (), ()), without=without):
        cells = [*zip(subjects, points, states, wrong, strict=True)]
        verdicts = {name: {"state": state, "key": name, "wrong": own} for name, _, state, own in cells}
        marks = {name: CellMark(float(point), top=subjects[name].points) for name, point, *_ in cells}
        return (marks, {name: one for name, one in verdicts.items() if name not in without})

    found = [
        seen((2, 1, 3), (RIGHT,) * 3, without=()),
        seen((0, 0, 2), (WRONG, WRONG, "partly"), (["a"], ["x"], ["edge"])),
        seen((0, 0, 0), (WRONG, NOT, NOT), (["a", "b", "gone"], [], [])),
        seen((0, 0, 0), (NOT,) * 3),
    ]
    about = {"lesson": LESSON, "handed_in": 5, "beliefs": {"x": both("All is X.", "都是 X。")}}
    about["remedies"] = {"x": ['observe("90-see")', 'review("90-one")']}
    return {**about, **tally(subjects, found)}


def test_the_figures_of_a_class_worked_out_by_hand(subjects):
    found = figures_of(subjects)
    assert found["counted"] == 4
    assert [row.subject.id for row in found["rows"]] == [CHOICE, NUMBER, TASK], "the fewest points first"
    assert [row.share for row in found["rows"]] == pytest.approx([1 / 4, 1 / 4, 5 / 12])
    assert {row.n for row in found["rows"]} == {4}
    choice, number, task = (row.worst for row in found["rows"])
    assert choice == {"count": 2, "text": subjects[CHOICE].option("a").text, "belief": "x"}
    assert number == {"count": 1, "text": "", "belief": "x"}
    assert (task["count"], task["text"]["en"]) == (1, "Wrong where one is zero or both equal.")


def test_what_a_paper_does_not_ask_and_what_was_lost_is_no_fault_of_the_class(subjects):
    row = next(row for row in figures_of(subjects, [CHOICE])["rows"] if row.subject.id == CHOICE)
    assert (row.n, row.share, row.worst) == (1, 1.0, {})
    nobody = {**figures_of(subjects), **tally({}, [])}
    assert "No marked submission" in page(nobody) and "还没有已评分" in page(nobody, "zh")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_loads_nothing_and_runs_nothing(language, subjects):
    script = "<script>alert(1)</script>"
    found = figures_of({**subjects, NUMBER: replace(subjects[NUMBER], stem=script)})
    text = page({**found, "beliefs": {"x": both("All is X." + script, "都是 X。" + script)}}, language)
    assert not re.search(r"""(src|href|data)\s*=|@import|url\(|<script|<link""", text, re.IGNORECASE)
    assert "25 %" in text and "observe(&#34;90-see&#34;)" in text and "review(&#34;90-one&#34;)" in text
    assert pick(subjects[CHOICE].option("a").text, language) in text
    assert {"en": "All is X.", "zh": "都是 X。"}[language] in text


def test_what_meets_a_belief_exists_in_the_course():
    found, known = remedies(Project(), "05_cudnn_benchmark"), load_bank()
    calls = [re.fullmatch(r'(observe|review)\("(.+)"\)', one).groups() for some in found.values() for one in some]
    assert len(found) > 50 and all(len(some) <= 2 * MOST_REMEDIES for some in found.values())
    assert all(known[name].kind != "predict" for verb, name in calls if verb == "review")
    assert {name for verb, name in calls if verb == "observe"} <= set(load_all())


@pytest.mark.slow
def test_the_command_on_a_class_that_was_really_marked(root):
    assert main(["report", LESSON, "--dir", str(root)]) == 0
    said = (root / f"report-{LESSON}.html").read_text("utf-8")
    assert "4 of 4 submissions counted" in said
    wrong = ["letter b", "the first", "Wrong for two different brightnesses."]
    assert re.findall(r"<b>1 ×</b> ([^<]+)<", said) == wrong, "the question with the fewest points first"


POINTS = {"ada": 7.25, "bob": None, "cyd": 0.0}
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


def filled(tmp_path, text, column, encoding="utf-8-sig"):
    known, path = Roster(), tmp_path / "theirs.csv"
    known.add("ada", ["ada", "ada@x.org", "Ada Lovelace", "101"])
    known.add("bob", ["bob", "bob@x.org", "Bob Moore"])
    known.add("cyd", ["cyd"])
    path.write_text(text, encoding=encoding)
    said, missing, strange = into(path, known, POINTS, column)
    assert missing == ["cyd"]
    return [*csv.reader(io.StringIO(said))], strange


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_one_column_of_canvas_gradebook_is_filled_and_nothing_else_changes(tmp_path, encoding):
    rows, strange = filled(tmp_path, CANVAS, "Checkpoint 1", encoding)
    before = [*csv.reader(io.StringIO(CANVAS))]
    before[3][6] = "7.25"
    assert rows == before, "bob has a mark there, and none here: it stays"
    assert strange[0] == "Manual Posting" and any("Idle, Ida" in one for one in strange)


def test_moodles_worksheet_comes_back_with_the_marks_and_without_a_dash(tmp_path):
    rows, _ = filled(tmp_path, MOODLE, "Grade")
    assert [row[4] for row in rows[1:]] == ["7.25", "", "4.00"], "a dash would be read as 0"
    assert rows[0] == MOODLE.splitlines()[0].split(",")


def test_two_columns_are_one_name_and_a_mark_is_nobodys_number(tmp_path):
    """Whose first name is ada's login is not ada, and who has 1.01 points elsewhere is not number 101."""
    text = "Vorname;Nachname;Quiz (Punkte);Checkpoint 1 (Punkte)\nAda;Fremd;1,01;-\nAda;Lovelace;0,50;-\nÜnal;Öz;1,01;2,00\n"
    rows, strange = filled(tmp_path, text, "Checkpoint 1")
    assert [",".join(row) for row in rows] == text.replace("0,50;-", "0,50;7.25").replace(";-", ";").splitlines()
    assert strange == ["Ada Fremd 1,01", "Ünal Öz 1,01"]


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        (CANVAS, "01_map", "in no heading"),
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
    there.write_text("Username,Note\nada,\nbob,-\ncyd,3\nfay,\n", "utf-8-sig")
    plain = ["export", "--dir", str(course.root), "--to", str(to)]
    words = [*plain, "--into", str(there)]
    assert main([*words, "--lesson", "77_none"]) == 1 and "77_none: not released" in capsys.readouterr().out
    assert main([*words, "--column", "Note"]) == 1
    said = capsys.readouterr().out
    assert "NOT IN THE FILE, left out: dee" in said and "name no one student, left as they were: 1 (fay" in said
    assert to.read_text("utf-8") == "\ufeffUsername,Note\nada,13.00\nbob,7.67\ncyd,0.67\nfay,\n", "Excel needs the mark"
    with course.gradebook as gradebook:
        grade = gradebook.find_grade("90-t-report", NOTEBOOK, LESSON, "bob")
        grade.auto_score, grade.needs_manual_grade = None, True
        gradebook.db.commit()
    assert main([*words, "--column", "Note"]) == 1 and "bob,\n" in to.read_text("utf-8")
    assert f"{LESSON}: no grade for bob: to be marked by hand" in capsys.readouterr().out
    assert main(plain) == 0
    assert ",ada,,,,13.0," in to.read_text() and ",bob,,,,,," in to.read_text(), "no number where there is no grade"
