"""What is wrong with the panel, the requirements and the rules of a case: for the tests and for authors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from course.core.i18n import LANGUAGES, Text
from course.game.cases import Case
from course.lessons.l10_tuning_master.tuning_plan import Plan, key, plan_of
from course.questions.item_lint import language_faults


def faults(case: Case) -> Iterator[str]:
    """What is wrong with the panel, the limits and the rules of a case, in sentences."""
    try:
        plan = plan_of(case)
    except (KeyError, TypeError, ValueError) as error:
        yield f"{case.id}: play does not fit ({type(error).__name__}: {error})"
        return
    for name, text in _texts(plan):
        yield from (f"{case.id}: {fault}" for fault in language_faults(name, text))
        if not isinstance(text, str) and set(text) != set(LANGUAGES):
            yield f"{case.id}: {name} does not stand in both languages"
    known = {one.id: set(one.values) for one in plan.controls}
    for name, config in (("today", plan.today), ("advice", plan.advice or {})):
        if any(value not in known.get(control, ()) for control, value in config.items()):
            yield f"{case.id}: {name} names a control or value that is not on the panel"
    if set(plan.today) != set(known):
        yield f"{case.id}: today does not name every control"
    for name, control in known.items():
        if not 2 <= len(control) <= 4:
            yield f"{case.id}: control {name} has {len(control)} values; two to four fit a narrow screen"
    if not set(plan.about) <= set(known) or not plan.about:
        yield f"{case.id}: about names no control that is on the panel"
    if case.evidence == "rule":
        yield from _rule_faults(case, plan, known)
    elif plan.rules:
        yield f"{case.id}: has rules and is not decided by them"


def _rule_faults(case: Case, plan: Plan, known: Mapping[str, set[str]]) -> Iterator[str]:
    used = set()
    for rule in plan.rules:
        if any(value not in known.get(name, ()) for name, value in rule.when.items()):
            yield f"{case.id}: a rule names a control or value that is not on the panel: {key(rule.when)}"
        if not 0 <= rule.share <= 1 or not rule.source:
            yield f"{case.id}: a rule has a share outside 0 to 1, or no source"
    for config in plan.configs():
        place = next((place for place, rule in enumerate(plan.rules) if rule.fits(config)), None)
        used.add(place)
        if place is None:
            yield f"{case.id}: no rule for {key(config)}"
    if None not in used and not any(plan.rules[place].share == 1 for place in used):
        yield f"{case.id}: the right answer cannot be reached"
    for place in set(range(len(plan.rules))) - used:
        yield f"{case.id}: rule {place} is never reached"


def _texts(plan: Plan) -> Iterator[tuple[str, Text]]:
    for one in plan.controls:
        yield f"control {one.id}", one.name
        yield f"what control {one.id} does", one.says
        yield from ((f"value {value} of {one.id}", text) for value, text in one.values.items())
    yield from ((f"limit {one.id}", one.name) for one in plan.limits)
    yield from ((f"rule {place}", one.says) for place, one in enumerate(plan.rules))
