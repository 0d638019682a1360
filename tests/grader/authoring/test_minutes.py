"""The minutes of a lesson are counted, and a lesson promises what was counted."""

from __future__ import annotations

import pytest

from course.core.i18n import LANGUAGES
from grader.authoring.minutes import MOST, claimed, main_line, minutes
from grader.project import Project
from grader.project.source import parse, read
from tests.support.sources import code, text

PROJECT = Project()


def test_reading_cards_exercises_cases_and_runs_are_counted_each_by_its_rule():
    words = text("word " * 170)
    cells = parse(
        words
        + code('review("05-revisit", "05-when")\nreview(due=2)')
        + code('check("05-count-searches")\ncase("typo")')
        + code('hint("05-count-searches")\nexplain("05-revisit")\ninterview(count=1)')
    )
    found = minutes(cells, "en")
    assert found.cards == pytest.approx((4 * 25 + 120) / 60)
    assert found.exercises == pytest.approx((4 + 4) * 1.3) and found.runs == 0
    assert 1 < found.reading < 1.2 and found.total == pytest.approx(found.reading + found.cards + found.exercises)


def test_a_run_takes_its_seconds_and_its_result_is_read_as_far_as_it_is_unfolded():
    live, replayed = (minutes(parse(code(f'observe("{one}")')), "en") for one in ("05-toy-race", "05-sizes-cuda"))
    assert live.runs > 0 and replayed.runs == 0
    assert 0 < live.reading < 1 and 0 < replayed.reading < 2


def test_what_is_deeper_is_not_counted_up_to_the_next_heading():
    cells = parse(
        text("☕ A fork.\n\n### Deeper, optional: one\n\ntwo")
        + code('review("05-revisit")')
        + text("still deeper")
        + text("### Deeper, optional: more")
        + text("## Main again")
    )
    kept = [cell.body.split("\n")[0] for cell in main_line(cells)]
    assert kept == ["☕ A fork.", "## Main again"]


@pytest.mark.slow
@pytest.mark.parametrize("lesson", PROJECT.lessons())
def test_a_lesson_promises_the_minutes_that_were_counted(lesson):
    cells = read(PROJECT.lesson_source(lesson))
    for language in LANGUAGES:
        counted, promised = minutes(cells, language).total, claimed(cells, language)
        assert counted <= MOST and abs(promised - counted) <= 0.1 * counted, (language, counted, promised)
