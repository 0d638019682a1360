"""The page a student gets and the page a class gets: in the language, nothing from elsewhere, marks where they can be seen."""

from __future__ import annotations

import re
from datetime import datetime

import nbformat
import pytest

from course.learning.marking import Response
from course.questions.bank import Bank
from grader.course import Course
from grader.marking.render import order_blocks
from grader.reporting.give_out import feedback
from tests.support.graded_class import make_class
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
    place = course.root / "feedback"
    return {
        one: (place / one / LESSON / f"{NOTEBOOK}.html").read_text(encoding="utf-8")
        for one in ("ada", "bob", "cyd", "dee")
    }, course


def test_it_stands_alone_in_the_language_of_the_notebook(pages):
    for student, text in pages[0].items():
        assert not ELSEWHERE.search(text), student
        language = "zh-Hans" if student == "bob" else "en"
        assert f'<html class="tb-page" lang="{language}">' in text and "color-scheme:light dark" in text
    english = re.sub(r"<style>.*?</style>", "", pages[0]["bob"], flags=re.DOTALL)
    assert not re.search(r"Score:|Test cell|Student's answer|Comments:|to the top|Question \d", english)


def test_marks_are_seen_at_a_glance_with_names_and_points(pages):
    ada, bob, dee = pages[0]["ada"], pages[0]["bob"], pages[0]["dee"]
    assert bob.count("以人工评分为准：0.5 / ") == 1 and "What counts, marked by hand" not in ada + dee
    assert "No response." not in bob
    assert "12 of 13 points" in ada and "1 point taken off" in ada and "0 of 13 points" in dee
    assert ada.count('class="state correct"') == 6 and dee.count('class="state not-attempted"') == 6
    assert (
        "Which letter is second?" in ada
        and "<code>contrast</code>" in ada
        and "1 of 1 point<" in ada
        and "1 points" not in ada
    )
    assert 'class="state partly">◐ 部分正确（人工评分）' in bob and "0.5 / 1 分" in bob and "Well <b>done</b>" in bob
    for row in re.findall(r'<a href="#([^"]+)"', ada):
        assert row == "top" or f'id="{row}"' in ada


def test_it_names_the_student_and_whom_to_write_to(pages):
    ada, bob = (pages[0][one] for one in ("ada", "bob"))
    assert '<p class="soft">ada' in ada and '<p class="soft">bob' in bob
    assert "due 2030-12-01 23:59 Europe/Berlin" in ada and "截止 2030-12-01 23:59 Europe/Berlin" in bob
    assert "write to your instructor" in ada and "写信给任课老师" in bob


@pytest.mark.parametrize("item", [item for item in Bank().items() if item.kind == "order"], ids=lambda item: item.id)
def test_chinese_has_its_own_punctuation(item):
    said = "\n".join(order_blocks(item, Response(item.order[::-1]), "zh"))
    assert "（" in said and "：" in said
    assert not re.search(r"[。.]: |\) → \(|[。.]：|[\u4e00-\u9fff]: ", re.sub(r"`[^`]*`", "", said)), said


def test_what_the_answers_suggest_stands_on_top_and_not_where_all_is_right(pages):
    assert 'class="ideas"' in pages[0]["cyd"] and 'class="ideas"' not in pages[0]["ada"]
    assert pages[0]["cyd"].index('class="ideas"') < pages[0]["cyd"].index('class="graded')
