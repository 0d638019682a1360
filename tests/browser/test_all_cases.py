"""Every case of every game, played to its end in a real JupyterLab: by mouse, by keys alone, by typed calls; measured and replayed."""

from __future__ import annotations

import pytest

from course.core.i18n import LANGUAGES, pick
from course.core.units import format_points
from course.game.board import game, games
from course.game.cases import Case, cases, is_recorded
from course.lessons.l10_tuning_master import game as measuring
from course.lessons.l10_tuning_master import tuning_outcome, tuning_plan
from tests.browser.conftest import REPLAY, Notebook
from tests.browser.desks import QUICK, DeskOnPage, HuntOnPage, TypedDesk, TypedHunt, answer_log

pytestmark = pytest.mark.long
WAYS = ("mouse", "keys", "typed")
BUSY = """
import os
from course.core import load
os.environ.pop("COURSE_REPLAY")
load.busy = lambda: True
"""
"""A busy machine asks before each run: the mouse measures anyway, the keys take the recording (see ``DeskOnPage.measures``)."""
REPLY = {"en": "Dear colleague, here is what I measured and why.", "zh": "你好，这是我测到的结果和原因，欢迎复测。"}
TALLEST = 1260
"""Pixels: a closed case, in a window 1,280 wide."""


def in_notebooks() -> dict[tuple[str, str, bool], list[tuple[Case, str]]]:
    """(lesson, language, replayed) -> the cases of that notebook, each with the way in which it is played.

    Languages and ways take turns. What can be measured is measured in one language, and replayed in the other in another way.
    """
    found: dict[tuple[str, str, bool], list[tuple[Case, str]]] = {}
    for lesson in games():
        for place, case in enumerate(cases(lesson).values()):
            for replayed in (False, True) if is_recorded(case) else (False,):
                turn = place + replayed
                notebook = (lesson, LANGUAGES[turn % len(LANGUAGES)], replayed)
                found.setdefault(notebook, []).append((case, WAYS[(turn // 2 + replayed) % len(WAYS)]))
    return found


NOTEBOOKS = in_notebooks()


def test_every_case_is_played_and_every_way_is_used_in_both_games():
    played = [(case.id, way) for each in NOTEBOOKS.values() for case, way in each]
    assert {case for case, _ in played} == set(cases())
    for number in ("10", "11"):
        ways = [way for case, way in played if case[:2] == number]
        assert min(map(ways.count, WAYS)) >= 5


@pytest.mark.parametrize(("lesson", "language", "replayed"), list(NOTEBOOKS))
def test_cases_are_played_to_the_end(page, lab, lesson, language, replayed):
    lab.forget()
    played = NOTEBOOKS[lesson, language, replayed]
    start = f"from course import *\nlanguage({language!r})\n" + (REPLAY if replayed else QUICK)
    start += BUSY if language == "zh" and not replayed else ""
    cells = [cell for case, _ in played for cell in (case.call, "")]
    name = f"{lesson}.{language}.{'replayed' if replayed else 'live'}"
    book = Notebook(page, lab, lab.write(f"{name}.ipynb", start, *cells)).open()
    book.run_all()
    wrong, pictured = [], set()
    for case, way in played:
        player, picture = PLAYERS[lesson][way](book, case.id), None if way in pictured else f"{case.id}-{language}"
        pictured.add(way)
        player.start()
        if picture:
            book.shot(f"{picture}-1-ticket", player.box)
        PLAYS[lesson](player, language, picture)
        player.closed()
        if (high := player.box.bounding_box()["height"]) > TALLEST:
            wrong.append(f"{case.id}: {high:.0f} px tall")
        if case.letter:
            player.reply(REPLY[language])
        wrong += [f"{case.id} ({way}): {fault}" for fault in faults(player, sure=replayed or case.evidence != "live")]
    for kind in ("error", "stderr"):
        shown = page.locator(f'.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.{kind}"]')
        wrong += [f"{kind}: {one}" for one in shown.all_inner_texts()]
    page.set_viewport_size({"width": 1280, "height": 2600})  # a whole case on one picture
    for case, _ in played:
        box = page.locator(f".tbq-live-{case.id}").first
        book.shot(f"{case.id}-{language}-{'replayed' if replayed else 'live'}-closed", box)
    book.shots_in_both_themes(f"{name}-closed", box)
    assert not wrong, "\n".join(wrong)


def tune(desk: DeskOnPage, language: str, picture: str | None) -> None:
    """Measure what was best elsewhere, or the strongest rival of today's; then a neighbour; hand in, name the cause."""
    plan = desk.plan
    outcomes = tuning_outcome.ruled(plan) if plan.rules else measuring.recorded(desk.case).outcomes
    plan = tuning_plan.as_played(plan, outcomes)
    table = tuning_outcome.Table(plan, outcomes)
    best, today = table.best_set(), table.today
    others = [one for one in table.permitted() if one != today]
    looked = (table.best_of(others) if today in best else best)[0]
    handed = today if today in best else looked
    bets = {name: table.came_out(name) or "same" for name in outcomes}

    def differs(name: str) -> set[str]:
        return {one for one, _ in tuning_plan.config_in(name).items() ^ tuning_plan.config_in(handed).items()}

    runs = [looked]
    if not any(len(differs(name)) == 1 and differs(name) <= set(plan.about) for name in (looked, today)):
        runs.append(next(name for name in outcomes if len(differs(name)) == 1 and differs(name) <= set(plan.about)))
    for name in runs:
        desk.run(tuning_plan.config_in(name), bets[name], 3)
    if picture:
        desk.book.shot(f"{picture}-2-run", desk.box)
    desk.hand_in(tuning_plan.config_in(handed), bets[handed], 3)
    if picture:
        desk.book.shot(f"{picture}-3-verdict", desk.box)
    desk.cause(desk.case.cause.right.id)


def hunt(case: HuntOnPage, language: str, picture: str | None) -> None:
    """Point at the line, name the cause, repair or prove."""
    case.line(case.bug.lines[0] if case.bug.lines else 0)
    case.cause(case.case.cause.right.id)
    if picture:
        case.book.shot(f"{picture}-2-repair", case.box)
    if case.bug.innocent:
        case.prove()
    else:
        case.repair(pick(case.case.commented(case.bug.repair), language))


PLAYS = {"10_tuning_master": tune, "11_bug_hunt": hunt}
PLAYERS = {
    "10_tuning_master": {
        "mouse": DeskOnPage,
        "keys": lambda book, case: DeskOnPage(book, case, keys=True),
        "typed": TypedDesk,
    },
    "11_bug_hunt": {
        "mouse": HuntOnPage,
        "keys": lambda book, case: HuntOnPage(book, case, keys=True),
        "typed": TypedHunt,
    },
}


def faults(player: DeskOnPage | HuntOnPage, sure: bool) -> list[str]:
    """What is wrong with a case that was played without a slip. sure: no clock of this machine takes part."""
    case = player.case
    found = game(case.lesson).standing(case, answer_log(player.book).entries())
    if len(found.scores) != 1:
        return [f"{len(found.scores)} scores"]
    (score,), wrong = found.scores, []
    lacking = [part.name["en"] for part in score.parts if sure and part.points < part.most]
    if lacking and (lacking != ["bets"] or any(bet.state != "inconclusive" for bet in found.bets)):
        wrong.append(f"points lack: {', '.join(lacking)}")
    shown = player.box.locator(".tbg-score b").inner_text()
    if shown != format_points(score.points):
        wrong.append(f"shows {shown}, the log says {format_points(score.points)}")
    return wrong
