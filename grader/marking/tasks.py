"""Compare what the probe sent back with the reference: points and reasons, never the hidden inputs."""

from __future__ import annotations

import builtins
import json
from typing import Any

from course.core.i18n import Text, both, pick
from course.core.units import format_points
from course.core.verdict import Verdict, correct, incorrect, not_attempted, partly
from course.exercises.slips import same
from grader.marking.said import SAID, say
from grader.project import Infrastructure
from grader.project.task import Case, Task, plain

CALLS = SAID["call"]
UNREACHED = {"state": "killed"}
LOST = ("timeout", "memory", "output", "killed")  # no result came back


def judge_task(
    task: Task, cases: list[Case] | None, found: dict[int, dict[str, Any]], stopped: bool = False
) -> Verdict:
    """The verdict on one task. cases: the calls, None for a task on a value; found: call number -> result. stopped: whether
    a cell did not run to its end.

    Raises Infrastructure if the reference fails.
    """
    top = float(task.points)
    state = found.get(-1, {}).get("state")
    if state == "absent" and stopped:
        return incorrect(say("task.stopped", name=task.name), max_points=top, happened=["raised"])
    said = {"absent": "task.absent", "not callable": "task.not-callable"}.get(state)
    if said is not None:
        return not_attempted(say(said, name=task.name), max_points=top)
    if not found:
        return incorrect(say("task.not-tried", name=task.name), max_points=top)
    if task.judge is not None:
        return _judged(task, found.get(0, {}), top)
    if {result["state"] for result in found.values()} == {"stub"}:
        return not_attempted(say("task.stub", name=task.name), max_points=top)
    return _compared(task, cases, found, top)


def _judged(task: Task, result: dict[str, Any], top: float) -> Verdict:
    state, name = result.get("state"), task.name
    if state in LOST:
        return incorrect(say("task.not-read", name=name, why=CALLS[state]), max_points=top)
    if state != "value":
        return incorrect(say("task.not-plain", name=name), max_points=top)
    if result.get("value") is None:
        return not_attempted(say("task.empty", name=name), max_points=top)
    try:
        verdict = task.judge(result["value"])
    except Exception as error:
        why = f"the judge of {task.id} stopped: {type(error).__name__}: {error}"
        return incorrect(say("task.odd-form", name=name), max_points=top, by_hand=why)
    share = verdict.points / verdict.max_points if verdict.max_points else 0.0
    return Verdict(verdict.state, round(share * top, 4), top, verdict.messages, verdict.evidence)


def _compared(task: Task, cases: list[Case], found: dict[int, dict[str, Any]], top: float) -> Verdict:
    wrong: dict[str, list[str]] = {}
    for number, case in enumerate(cases):
        state = _state(task, case, found.get(number, UNREACHED))
        if state != "right":
            wrong.setdefault(case.part, []).append(state)
    parts = {name: 0.0 if name in wrong else float(part.points) for name, part in task.parts.items()}
    if not wrong:
        return correct(say("task.right"), points=sum(parts.values()), parts=parts)
    if _always_the_same(found, len(cases)):
        nothing = dict.fromkeys(task.parts, 0.0)
        return incorrect(say("task.always-the-same"), max_points=top, happened=["wrong"], parts=nothing)
    messages = [
        _reason(part.reason, part.points, wrong[name], sum(case.part == name for case in cases))
        for name, part in task.parts.items()
        if name in wrong
    ]
    happened = sorted({state for states in wrong.values() for state in states})
    if points := sum(parts.values()):
        return partly(points, top, *messages, happened=happened, parts=parts)
    return incorrect(*messages, max_points=top, happened=happened, parts=parts)


def spoilt(cases: list[Case] | None, found: dict[int, dict[str, Any]]) -> set[str]:
    """The parts that a cell below may have spoilt by taking a name that the function needs: a call raised or gave no plain data, or
    the name of the task is no function any more.
    """
    if found.get(-1, {}).get("state") == "not callable":
        return {case.part for case in cases or ()}
    parts = enumerate(case.part for case in cases or [Case("", ())])
    return {part for n, part in parts if found.get(n, {}).get("state") in ("raised", "odd")}


def settled(
    task: Task, cases: list[Case] | None, found: dict[int, dict[str, Any]], at_check: dict[int, dict[str, Any]]
) -> dict[int, dict[str, Any]]:
    """The results at the end of the notebook; those at the check of the task for spoilt parts that are right there.

    At the end such a part earned nothing, so nobody loses by it; and no call has a second value to guess with.
    """
    if cases is None:
        return at_check if at_check.get(0, {}).get("state") == "value" else found
    states = {n: _state(task, case, at_check.get(n, UNREACHED)) for n, case in enumerate(cases)}
    wrong = {case.part for n, case in enumerate(cases) if states[n] != "right"}
    right = spoilt(cases, found) - wrong
    if not right or (wrong and _always_the_same(at_check, len(cases))):
        return found
    if -1 in found:
        return at_check
    return {**found, **{n: at_check[n] for n, case in enumerate(cases) if case.part in right}}


def _always_the_same(found: dict[int, dict[str, Any]], calls: int) -> bool:
    """Whether all calls returned the same value: then it is a guess, or the function returns nothing."""
    values = [
        json.dumps(found[n].get("value"), sort_keys=True)
        for n in range(calls)
        if found.get(n, {}).get("state") == "value"
    ]
    return len(values) == calls > 1 and len(set(values)) == 1


def _state(task: Task, case: Case, result: dict[str, Any]) -> str:
    if result["state"] != "value":
        return _failure(result)
    try:
        expected = plain(task.reference(*plain(list(case.args))))
    except Exception as error:
        raise Infrastructure(f"the reference of task {task.id} failed: {type(error).__name__}: {error}") from error
    try:
        return "right" if same(result["value"], expected) else "wrong"
    except Exception:  # a forged result, or one deeper than Python compares
        return "wrong"


def _failure(result: dict[str, Any]) -> str:
    """The kind of failure. Of an exception only the name of a built-in one: another name could contain a hidden input."""
    kind = getattr(builtins, str(result.get("type")), None)
    if result["state"] == "raised" and isinstance(kind, type) and issubclass(kind, BaseException):
        return f"raised:{kind.__name__}"
    return result["state"] if result["state"] in CALLS else "odd"


def _reason(reason: Text, points: float, states: list[str], calls: int) -> Text:
    """The reason of the part, and how many calls failed in which way; never a value."""
    kinds = [CALLS.get(state) or f"`{state.removeprefix('raised:')}`" for state in dict.fromkeys(states)]
    joined = both(", ".join(pick(one, "en") for one in kinds), "、".join(pick(one, "zh") for one in kinds))
    return say("task.part", reason=reason, failed=len(states), calls=calls, kinds=joined, points=format_points(points))
