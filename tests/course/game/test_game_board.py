"""The board of a game, cases that come back, what is shared, and what a case loads."""

# ruff: noqa: F811  (fixtures of another file)

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import datetime, timedelta, timezone
from email.message import Message

import pytest

import course
from course.core import version
from course.core.i18n import LANGUAGES, both, pick, set_language
from course.core.markup import plain
from course.core.units import format_points
from course.game import board, cases, score, sharing
from course.game.board_page import BoardPage
from course.game.returning import coming_back
from course.learning.entry import stamp, to_line
from course.learning.progress import summary
from course.lessons.l10_tuning_master import tuning_plan
from course.lessons.l10_tuning_master.tuning_player import Measured, Tuning
from course.questions.item_lint import language_faults
from course.verbs import state
from course.verbs.bets import every_bet
from tests.conftest import loaded_by
from tests.course.game.test_game import LIVE, PLAN, RULED, bank, close, learner, outcome  # noqa: F401


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_board_knows_state_and_rank(language, capsys, learner):
    set_language(language)
    course.board()
    assert "10-museum" in capsys.readouterr().out
    close(learner, "gan", confidence=1, enabled="off", sdp="off")
    close(learner, "detector", confidence=1, benchmark="on", sizes="ten")
    course.board()
    told = capsys.readouterr().out
    found = board.career(board.standings("10_tuning_master", learner.entries()))
    assert found.closed == 2 and score.rank(found.mean, 2)[1][language] in told
    course.board("09_mkldnn")
    assert "10_tuning_master" in capsys.readouterr().out
    course.case("voyce")
    assert "voice" in capsys.readouterr().out


def test_a_tile_opens_its_case_and_the_board_knows_what_was_played(log):
    page = BoardPage("10_tuning_master", log, text=False)
    page.build()
    assert list(page.tiles)[:2] == ["10-voice", "10-archive"], "twins are joined"
    assert not any("tbb-case" in one for one in page.place._dom_classes)
    page.tiles["10-gan"].click()
    assert page.opened.id == "10-gan" and page.place.children[1].children[0].value.count("10-gan")
    played = close(log, "gan", enabled="off", sdp="off")
    page.back()
    assert format_points(played.attempt.score().points) in page.tiles["10-gan"].description


def closed_case(name: str, points: float, *days: int) -> board.Standing:
    """A case with these points in its first attempt, closed on these days of March."""
    done = score.Score((score.Part("all", points, 10),))
    when = tuple(datetime(2026, 3, day, 12, tzinfo=timezone.utc) for day in days)
    return board.Standing(cases.find(name), "", (done,) * len(days), closed=when)


@pytest.mark.parametrize(
    ("standings", "back"),
    [
        ([closed_case("school", 4.9, 1), closed_case("detector", 0)], [("10-detector", 8)]),
        ([closed_case("school", 5, 1), closed_case("detector", 0)], []),
        ([closed_case("school", 0, 2), closed_case("detector", 9, 1)], [("10-detector", 9)]),
        ([closed_case("school", 0, 1), closed_case("detector", 9, 2)], []),
        ([closed_case("school", 0, 1), closed_case("detector", 0, 2)], [("10-school", 9)]),
        ([closed_case("laptop", 0, 3), closed_case("gan", 0, 1)], [("10-gan", 8), ("10-laptop", 10)]),
        ([closed_case("laptop", 0, 3, 4)], []),
        ([closed_case("museum", 0, 1)], []),
    ],
)
def test_a_lost_case_comes_back_after_a_week_as_its_twin_until_that_is_closed(standings, back):
    assert [(one.asked.id, one.due.day) for one in coming_back(standings)] == back


@pytest.mark.parametrize("language", LANGUAGES)
def test_review_finish_and_take_home_know_the_cases(language, learner, monkeypatch, capsys, tmp_path):
    log = learner

    def said(verb, *args) -> str:
        verb(*args)
        return capsys.readouterr().out

    monkeypatch.setenv("COURSE_DEBUG", "1")
    set_language(language)
    school, detector = (plain(pick(cases.find(name).title)) for name in ("school", "detector"))
    assert "board()" in said(course.finish) and detector not in said(course.review)
    close(log, "school", run=True, benchmark="on")
    reviewed = said(course.review)
    assert detector not in reviewed, "a week has not passed"
    assert pick(both("The next case comes back on", "下一道题")) in reviewed
    assert pick(both("answer a few cards", "答几张卡片")) not in (reviewed + said(course.finish)).lower()
    (placed,) = every_bet(log.entries())
    won = pick(both(f"Bets: {int(placed.state == 'won')} won", f"押中 {int(placed.state == 'won')}，"))
    known = said(course.progress)
    assert won in known and pick(both("1 of 8 cases closed", "做完 1 个（共 8 个）")) in known
    assert pick(both("1 due", "1 项到期")) not in known and "10_tuning_master" in known
    told = said(course.finish)
    assert school in told and detector in told and "4.5" in told
    moved = [replace(one, time=stamp(one.when - timedelta(days=8))) for one in log.entries()]
    log.path.write_bytes(b"".join(map(to_line, moved)))
    assert 'case("detector")' in said(course.review)
    assert pick(both("1 lost case has come back", "有 1 道没做好的题回来了")) in said(lambda: course.review(due=3))
    assert pick(both("1 due", "1 项到期")) in said(course.progress)
    done = next(one for one in summary(log.entries(), state.now.bank).lessons if one.lesson == "10_tuning_master").done
    assert done, "a lesson of cases is finished without a card"
    said(course.take_home, tmp_path / "mine.html")
    page = (tmp_path / "mine.html").read_text("utf-8")
    assert all(pick(cases.find("school").debrief.trap, code) in page for code in LANGUAGES)
    assert all(pick(cases.find("detector").debrief.trap, code) not in page for code in LANGUAGES), "not closed yet"
    close(log, "detector", run=True, benchmark="on")
    assert 'case("detector")' not in said(course.review)


# --- what one sends ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_shared_names_no_setting_and_no_cause_and_asks_for_a_bet(language, bank, learner, capsys):
    set_language(language)
    course.share("gan")
    assert "🎲" not in capsys.readouterr().out, "a case that is not closed is not shared"
    bank.run({"dtype": "int8"}, "faster", 3), bank.hand_in({"dtype": "bf16"}, "same", 2), bank.cause("c")
    shared = sharing.shared(LIVE, learner.entries())
    assert [(one.length, one.broken) for one in shared.bars] == [(0.1, True), (0.4, False)]
    text = sharing.share_text(shared)
    assert LIVE.call in text and format_points(bank.attempt.score().points) in text and "60" in text
    for secret in (*PLAN.controls[0].values, LIVE.debrief.trap[language], LIVE.cause.right.text[language]):
        assert secret not in text
    assert plain(pick(LIVE.quote.text)) in shared.hook
    assert pick(both("60 % less time", "省 60% 的时间")) in shared.hook, "the best result is the bet"
    assert "90" not in shared.hook, "what breaks a requirement is no result"
    assert shared.hook.endswith(pick(both("Your bet?", "你押哪个？")))
    typo = board.game("11_bug_hunt").player(cases.find("typo"), learner)
    typo.give_up(), typo.cause(typo.case.cause.right.id)
    for case in (close(learner, "gan", enabled="off").case, typo.case):
        hook = sharing.shared(case, learner.entries()).hook
        assert hook.endswith(("Your bet?", "你押哪个？", "你押哪行？")) and "%" not in hook
        capsys.readouterr()
        course.share(case.id)
        assert case.call in capsys.readouterr().out


@pytest.mark.parametrize(("peak", "broken"), [(0.2, False), (0.5, True)])
def test_a_limit_that_is_a_share_of_todays_is_held_against_today_on_what_is_shared(peak, broken, log):
    case = cases.find("laptop")

    def here(case, configs, tell):
        every = tuning_plan.plan_of(case).configs()
        peaks = {tuning_plan.key(one): 1.0 if one["micro_batch"] == "16" else peak for one in every}
        return Measured({name: outcome(1.0) | {"facts": {"peak": mib}} for name, mib in peaks.items()}, "live")

    played = Tuning(case, log, here)
    played.hand_in({"micro_batch": "4"}, "same", 3), played.cause(case.cause.right.id)
    (bar,) = sharing.shared(case, log.entries()).bars
    assert bar.broken == broken == (played.attempt.score().parts[0].points == 0)


ADDRESS = "https://example.org/somebody/torch-backends-course"


def test_the_address_is_the_one_that_the_package_names(monkeypatch):
    about = Message()
    monkeypatch.setattr(version.metadata, "metadata", lambda name: about)
    assert version.address() == ""
    about["Project-URL"] = f"Repository, {ADDRESS}"
    about["Project-URL"] = "Issues, https://example.org/elsewhere"
    assert version.address() == ADDRESS


def test_the_frame_loads_no_torch_no_widgets_and_no_matplotlib():
    code = (
        "from course.game import board, cases, view\nfrom course.lessons.l10_tuning_master import tuning_attempt\n"
        "from course.lessons.l10_tuning_master.tuning_desk import Desk\nboard.standings('10_tuning_master', [])"
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
    assert sum(one.right for one in case.cause.answers) == 1 and len(case.cause.answers) >= 3 and len(case.hints) == 3
    assert case.evidence in cases.EVIDENCE and (not case.twin or cases.cases()[case.twin].twin == case.id)
    assert case.lesson[:2] == case.id[:2] and all(pick(one, code).strip() for one in case.sources for code in LANGUAGES)


@pytest.mark.parametrize("case", cases.cases().values(), ids=lambda one: one.id)
def test_comments_in_code_and_scripts_stand_in_both_languages(case):
    written = f"{case.code}\n{case.play.get('script', '')}\n{case.play.get('repair', '')}"
    found = [
        one
        for one in re.findall(r"# ([^\n'\"\\]+)", written)
        if re.search(r"[A-Za-z]{2,}", one) and re.search(r"[ -]", one)
    ]
    assert set(map(str.strip, found)) <= set(case.comments)
    assert all(f"# {one}" in written for one in case.comments)
    assert pick(case.commented(written), "zh").count("# ") == written.count("# ")
