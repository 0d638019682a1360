"""The points of an attempt at a case of the tuning game, and where a learner stands with the case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from course.core.i18n import Text, both
from course.core.units import format_points
from course.game import moves, score
from course.game.board import OPEN, Standing
from course.game.cases import Case
from course.learning.entry import Entry
from course.lessons.l10_tuning_master.tuning_attempt import (
    Attempt,
    Bet,
    attempt_of,
    is_closed,
    open_bets,
    over,
    settled_bets,
)
from course.lessons.l10_tuning_master.tuning_outcome import FEW, came_out
from course.lessons.l10_tuning_master.tuning_plan import Plan, config_in, key, plan_of

HINT_POINTS = 0.5
"""What a hint costs."""


def score_of(case: Case, one: Attempt) -> score.Score | None:
    """The score of an attempt; None before the hand-in is decided."""
    if one.handed is None:
        return None
    hand = key(one.handed.config)
    reached = max(0.0, one.table.points(hand) - HINT_POINTS * one.hints)
    bets = [(bet.confidence, bet.came and bet.came == bet.bet) for bet in open_bets(one)]
    right = [answer == case.cause.right.id for answer in one.causes]
    shown = evidence(one)
    return score.Score(
        (
            score.Part(both("outcome", "结果"), reached, 5, _outcome_words(one.table.gained(hand), one.hints)),
            score.Part(both("evidence", "证据"), sum(shown.values()), 2, _evidence_words(one, shown)),
            score.Part(both("bets", "下注"), score.bet_points(bets), 2),
            score.Part(both("cause", "原因"), score.tries_points(right), 1),
        )
    )


def _outcome_words(gain: float | None, hints: int) -> Text:
    """How good the outcome is, and what hints cost."""
    cost = f"{HINT_POINTS * hints:g}"
    hinted = both(f"; less {cost} for hints", f"；提示扣 {cost}") if hints else both("", "")
    if gain is None:
        return both(f"a requirement is broken{hinted['en']}", f"违反了要求{hinted['zh']}")
    if gain == 1:
        return both(f"among the best{hinted['en']}", f"最好的一档{hinted['zh']}")
    share = f"{100 * gain:.0f}"
    return both(f"{share} % of the best possible gain{hinted['en']}", f"最多能省的，你省到了 {share}%{hinted['zh']}")


def evidence(one: Attempt) -> dict[str, float]:
    """What was known before the hand-in, in points; empty where the hand-in brings nothing.

    measured: a run of the setting handed in, or, where all is left as it is, of its strongest rival. shown: a run beside it that
    differs only in a control that the cause is about; today's setting runs along each time. waste: runs of what was decided already.
    """
    table, today, hand = one.table, one.table.today, key(one.handed.config)
    if not table.points(hand):
        return {}
    about = set(one.plan.about)
    told = {key(run.config) for run in one.runs if tells(one.plan, run)}
    wanted = {hand} if hand != today else set(table.best_of([name for name in table.permitted() if name != today]))
    measured = bool(told & wanted)
    pairs = [config_in(name).items() ^ one.handed.config.items() for name in {*told, today}]
    differ = [{name for name, _ in pair} for pair in pairs]
    shown = measured and (not about or any(len(names) == 1 and names <= about for names in differ))
    again = sum(
        any(run.config == earlier.config and earlier.came for earlier in one.runs[:place])
        for place, run in enumerate(one.runs)
    )
    return {"measured": float(measured), "shown": float(shown), "waste": -min(0.5 * again, float(measured + shown))}


def tells(plan: Plan, run: Bet) -> bool:
    """Whether a run is evidence: it decided, or it kept what today breaks, however wide its interval."""
    return bool(run.came or run.outcome["verdict"] != FEW and came_out(plan, run.today, run.today) == "breaks")


def _evidence_words(one: Attempt, found: Mapping[str, float]) -> Text:
    """What earned the evidence, and what did not."""
    if not found:
        return both("counts only if the outcome is above 0", "结果大于 0 才计分")
    alone = key(one.handed.config) == one.table.today
    said = [EVIDENCE_SAID["rival" if alone else "measured", bool(found["measured"])]]
    said.append(EVIDENCE_SAID["shown", bool(found["shown"])])
    said += [EVIDENCE_SAID["waste", True]] if found["waste"] else []
    return both("; ".join(text["en"] for text in said), "；".join(text["zh"] for text in said))


EVIDENCE_SAID = {
    ("measured", True): both("what you handed in was measured", "交的方案测过"),
    ("measured", False): both("no clear result for what you handed in", "交的方案没有测出明确结果"),
    ("rival", True): both("today's strongest rival was measured", "现在这套设置的最强对手测过"),
    ("rival", False): both(
        "no clear result for the strongest rival of today's setting", "现在这套设置的最强对手没有测出明确结果"
    ),
    ("shown", True): both("a setting one control away was measured", "只差一个控件的对照也测过"),
    ("shown", False): both(
        "no clear result for a neighbour that differs only in the control behind the cause",
        "只差那个关键控件的对照没有测出明确结果",
    ),
    ("waste", True): both(
        "half a point off for each run of a setting whose result was already known", "重测结果已知的设置，每次扣半分"
    ),
}


def standing(case: Case, entries: Sequence[Entry]) -> Standing:
    """Where a learner stands with a case: in words, the scores of the attempts that are closed, the bets of the first."""
    plan = plan_of(case)
    tries = moves.attempts(case.id, entries, lambda done: is_closed(case, plan, done))
    found = [attempt_of(plan, one) for one in tries]
    scores = tuple(score_of(case, one) for one in found if over(case, one))
    ends = (moves.closed_at(one, lambda done: is_closed(case, plan, done)) for one in tries)
    words = _state_words(case, plan, found[-1], scores)
    return Standing(case, words, scores, closed=tuple(filter(None, ends)), bets=settled_bets(case, found[0]))


def _state_words(case: Case, plan: Plan, last: Attempt, scores: Sequence[score.Score]) -> Text:
    """How a case stands: what waits in the last attempt, else the points of the first."""
    if last.handed and not over(case, last):
        return both("handed in; the cause is open", "方案已交，原因待答")
    if last.waits:
        return both("handed in; waits for a measurement that decides", "方案已交，等一次分得出高下的测量")
    if scores:
        points = format_points(scores[0].points)
        apart = both(" (a warm-up, not counted)", "（热身，不计入总分）") if case.tutorial else both("", "")
        return both(f"closed: {points} of 10{apart['en']}", f"已完成：{points} / 10{apart['zh']}")
    if last.runs:
        return both(f"{last.spent} of {plan.runs} runs used", f"已用 {last.spent}/{plan.runs} 次测量")
    return OPEN
