"""The lessons speak of the reader's own work, and quote nothing twice."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

from course.core.i18n import LANGUAGES
from grader.project import Project
from grader.project.source import read

PROJECT = Project()
OWN = {
    "en": r"colleague|supervisor|reviewer|inherited|the chat|the merge|people there",
    "zh": r"同事|导师|师兄|师弟|审稿人|组会|祖传|接手|群里|部署组",
}
"""Who is met at work: one of them stands in every lesson."""
SIGN, LONG = {"en": r"\w+", "zh": r"[\u4e00-\u9fff]"}, {"en": 6, "zh": 7}
"""What a text is compared by, and how many in a row are a quotation: “名不正，则言不顺” has 7."""


def texts(language):
    """lesson -> the text of its cells, without code."""
    return {
        lesson: "\n\n".join(
            cell.body
            for cell in read(PROJECT.lesson_source(lesson))
            if cell.kind == "markdown" and cell.language in (language, None)
        )
        for lesson in PROJECT.lessons()
    }


def runs(text, language):
    """Every run of so many signs, punctuation left out."""
    signs = re.findall(SIGN[language], text.lower())
    return {" ".join(signs[at : at + LONG[language]]) for at in range(len(signs) - LONG[language] + 1)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_quotation_stands_in_two_lessons(language):
    where = defaultdict(set)
    lessons = texts(language)
    for lesson, text in lessons.items():
        for run in runs(text, language):
            where[run].add(lesson)
    quoted = {
        run for text in lessons.values() for one in re.findall(r"“([^”\n]+)”", text) for run in runs(one, language)
    }
    assert {run: sorted(where[run]) for run in quoted if len(where[run]) > 1} == {} and len(quoted) > 100


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_lesson_meets_somebody_from_work(language):
    assert [lesson for lesson, text in texts(language).items() if not re.search(OWN[language], text)] == []
