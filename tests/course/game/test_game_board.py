"""The board of a game, what is shared, and what a case loads."""

# ruff: noqa: F811  (fixtures of another file)

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict

import pytest

import course
from course.core.i18n import LANGUAGES, both, pick, set_language
from course.core.markup import plain
from course.core.units import format_points
from course.game import board, cases
from course.learning.progress import summary
from course.questions.lint import language_faults
from course.verbs import state
from tests.conftest import loaded_by
from tests.course.game.test_game import LIVE, PLAN, bank, close, learner  # noqa: F401


@pytest.mark.parametrize("language", LANGUAGES)
def test_board_and_finish_know_the_cases(language, capsys, learner, monkeypatch):
    def said(verb, *args) -> str:
        verb(*args)
        return capsys.readouterr().out

    set_language(language)
    assert "voice" in said(course.case, "voyce")
    monkeypatch.setenv("COURSE_DEBUG", "1")
    assert "board()" in said(course.finish) and 'case("museum")' in said(course.board)
    close(learner, "gan", confidence=1, enabled="off", sdp="off")
    close(learner, "school", run=True, benchmark="on")
    found = board.standings("10_tuning_master", learner.entries())
    points = [one.first.points for one in found if one.first]
    told = said(course.board, "10_tuning_master")
    assert all(f'case("{one.case.id[3:]}")' in told and plain(pick(one.case.title)) in told for one in found)
    assert format_points(round(sum(points) / 2, 1)) in told and all(format_points(one) in told for one in points)
    assert "10_tuning_master" in said(course.board, "09_mkldnn")
    assert plain(pick(cases.find("school").title)) in said(course.finish)
    assert said(course.review)
    done = next(one for one in summary(learner.entries(), state.now.bank).lessons if one.lesson == "10_tuning_master")
    assert done.done, "a lesson of cases is finished without a card"


# --- what one sends ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_shared_names_no_setting_and_no_cause_and_asks_for_a_bet(language, bank, learner, capsys):
    set_language(language)

    def shared(case) -> str:
        capsys.readouterr()
        course.share(case.id)
        return capsys.readouterr().out

    assert "🎲" not in shared(LIVE), "a case that is not closed is not shared"
    bank.run({"dtype": "int8"}, "faster", 3), bank.hand_in({"dtype": "bf16"}, "same", 2), bank.cause("c")
    text = shared(LIVE)
    assert (
        LIVE.call in text
        and format_points(bank.attempt.score().points) in text
        and plain(pick(LIVE.quote.text)) in text
    )
    for secret in (*PLAN.controls[0].values, LIVE.debrief.trap[language], LIVE.right.text[language]):
        assert secret not in text
    hook = text.splitlines()[0]
    assert pick(both("60 % less time", "省 60% 的时间")) in hook and "90" not in hook, "the best that breaks nothing"
    typo = board.game("11_bug_hunt").player(cases.find("typo"), learner)
    typo.give_up(), typo.cause(typo.case.right.id)
    for case in (LIVE, close(learner, "gan", enabled="off").case, typo.case):
        assert shared(case).splitlines()[0].endswith(("Your bet?", "你押哪个？", "你押哪行？")), case.id


def test_the_frame_loads_no_torch_no_widgets_and_no_matplotlib():
    code = (
        "from course.game import board, cases, view\nfrom course.lessons.l10_tuning_master import tuning\n"
        "from course.lessons.l10_tuning_master.desk import Desk\nboard.standings('10_tuning_master', [])"
    )
    assert loaded_by(code).isdisjoint({"torch", "ipywidgets", "matplotlib"})


def texts(found, name="") -> Iterator[tuple[str, dict]]:
    """Every text in both languages in the data of a case, and what it is called."""
    if isinstance(found, Mapping):
        if set(found) == set(LANGUAGES):
            yield name, found
            return
        found = found.items()
    elif isinstance(found, list | tuple):
        found = enumerate(found)
    elif isinstance(found, str) and name.split()[0] not in CODE:
        assert not re.search(r"[a-z] [a-z]", found), f"{name} stands in one language only: {found}"
    for key, one in found if not isinstance(found, str | bool | int | float | None) else ():
        yield from texts(one, f"{name} {key}".strip())


CODE = {"code", "comments", "sources", "play"}
"""Fields that hold scripts, calls and addresses."""


@pytest.mark.parametrize("case", cases.cases().values(), ids=lambda one: one.id)
def test_a_case_is_whole_and_stands_in_both_languages(case):
    found = dict(texts(asdict(case)))
    assert [fault for name, text in found.items() for fault in language_faults(name, text)] == []
    assert sum(one.correct for one in case.cause.options) == 1 and len(case.cause.options) >= 3 and len(case.hints) == 3
    assert case.evidence in cases.EVIDENCE and (not case.twin or cases.cases()[case.twin].twin == case.id)
    assert case.lesson[:2] == case.id[:2] and all(pick(one, code).strip() for one in case.sources for code in LANGUAGES)
