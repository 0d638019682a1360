"""Where the course asks, shows or teaches something: its questions, interview, reports and lessons, ranked like its answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from course.core.catalog import BY_ID, LESSONS
from course.core.i18n import Text, t
from course.experiment.reports import reports
from course.questions.answers import in_both
from course.questions.bank import default_bank
from course.questions.ranking import Ranking

TAUGHT = 0.6
"""The part of the words from which a question, a report or a lesson is worth naming."""


def taught(words: str, most: int = 2) -> list[str]:
    """Where the course asks, shows or teaches what the words say most of, the best first: calls in backticks, names of lessons."""
    found = [hit.key for hit in _lessons().hits(words) if hit.share >= TAUGHT and not hit.alone]
    return [t(f"lesson {one[:2]}", f"第 {one[:2]} 课") if one in BY_ID else f"`{one}`" for one in found[:most]]


@cache
def _lessons() -> Ranking[str]:
    """call -> texts, in both languages."""
    bank = default_bank()
    texts: dict[str, tuple[Sequence[Text], Sequence[Text]]] = {}
    beliefs = bank.misconceptions()
    for item in bank.items():
        verb = "predict" if item.kind == "predict" else "review"
        said = [text for one in item.options for text in (one.text, one.why)]
        said += [item.number.why] if item.number else []
        for belief in (beliefs[one.misconception] for one in item.options if one.misconception in beliefs):
            said += [belief, belief.get("truth", "")]
        texts[f'{verb}("{item.id}")'] = (item.stem,), said
    for one in bank.interview():
        texts[f'interview("{one.id}")'] = (one.stem,), (one.short, *one.full)
    for one in reports():
        call = f'observe("{one.experiments[0]}")'
        front, body = texts.get(call, ((), ()))
        texts[call] = front, (*body, one.what, one.does_not_show, one.machine)
    for one in LESSONS:
        texts[one.id] = (one.question,), ()
    return Ranking({call: (list(in_both(*front)), " ".join(in_both(*body))) for call, (front, body) in texts.items()})
