"""The page a student gets and the page a class gets: in the language, nothing from elsewhere, marks where they can be seen."""

from __future__ import annotations

import re
from datetime import datetime

import nbformat
import pytest

from grader.course import Course
from grader.reporting.give_out import feedback
from tests.support.grading_class import make_class
from tests.support.grading_fixtures import LESSON, NOTEBOOK

pytestmark = pytest.mark.slow
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


def test_it_stands_alone_in_the_language_of_the_notebook(pages):
    for student, text in pages.items():
        assert not ELSEWHERE.search(text), student
        assert f'<html class="tb-page" lang="{"zh-Hans" if student == "bob" else "en"}">' in text
    chinese = re.sub(r"<style>.*?</style>", "", pages["bob"], flags=re.DOTALL)
    assert not re.search(r"Score:|Test cell|Student's answer|Comments:|to the top|Question \d|No response\.", chinese)


def test_marks_are_seen_at_a_glance_with_names_and_points(pages):
    ada, bob, dee = pages["ada"], pages["bob"], pages["dee"]
    assert "12 of 13 points" in ada and "1 point taken off" in ada and "0 of 13 points" in dee
    assert ada.count('class="state correct"') == 6 and dee.count('class="state not-attempted"') == 6
    assert "Which letter is second?" in ada and "<code>contrast</code>" in ada
    assert '<p class="soft">ada' in ada and "due 2030-12-01 23:59 Europe/Berlin" in ada
    assert bob.count("以人工评分为准：0.5 / ") == 1 and "What counts, marked by hand" not in ada + dee
    assert 'class="state partly">◐ 部分正确（人工评分）' in bob and "0.5 / 1 分" in bob and "Well <b>done</b>" in bob
    for row in re.findall(r'<a href="#([^"]+)"', ada):
        assert row == "top" or f'id="{row}"' in ada


def test_what_the_answers_suggest_stands_on_top_and_not_where_all_is_right(pages):
    assert 'class="ideas"' not in pages["ada"]
    assert pages["cyd"].index('class="ideas"') < pages["cyd"].index('class="graded')
