"""Checks that an exercise states as data: cases with a reference and slips, the form of an answer, an example, a report.

An entry of ``exercises.yaml`` holds one of four keys; `Cases` judges by the first, `visible_check` makes a check of the others:

``cases``
    The arguments of each call, as text: ``"(16, 3, 64, 64), 2"``, or ``{call: ..., why: {en, zh}, half: true}`` where a
    sentence belongs to the case, or where missing this case alone costs half. What the solution gives is right. A **slip**
    is a wrong solution that people write: an answer whose first fault it makes, and that gives what it gives wherever it
    is wrong, gets its sentence.
    ``draws`` is an expression for a tuple of arguments drawn at random with ``draw``; sixty calls come of it. ``setup``
    is code that the solution needs before it; ``keeps: true``: the arguments must stay as they are; ``any_order: true``:
    the order of a list does not matter. ``through`` names a function of ``setup`` that tries the answer: it is called as
    ``through(answer, *arguments)``, and what it gives is compared; ``shown`` is then the call in a sentence, and
    ``differs`` the sentence after the first difference, where "should give, and it gave" does not fit.
``form``
    ``{call: ..., gives: [number, none]}`` or ``one_of: [faster, slower]``: the kind of what comes back (a graded task).
``example``
    ``{call: ..., right: "[1.0, 7.0]"}``: one visible example of a graded task.
``report``
    The fields that a report needs.

In a sentence ``{call}`` is the case, ``{got}`` what was given back, ``{right}`` what is right, ``{why}`` the case's own
sentence, ``{wrong}`` the number of wrong cases of ``{cases}``.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any

from course.core.i18n import Text, both, pick
from course.core.verdict import Verdict, correct, incorrect, partly
from course.exercises.told import Told, judged, listed, placeholder_in, shared, verdict


def data(value: Any) -> Any:
    """What somebody gave back, as marking reads it: arrays and tensors as lists or numbers, tuples as lists, a device as its name."""
    if type(value).__name__ == "device":
        return str(value)
    if hasattr(value, "tolist"):
        return data(value.tolist())
    if isinstance(value, Mapping):
        return {key: data(one) for key, one in value.items()}
    if hasattr(value, "__next__"):
        value = list(islice(value, 10_000))
    return [data(one) for one in value] if isinstance(value, (list, tuple)) else value


def same(actual: Any, expected: Any) -> bool:
    """Whether two values are equal as plain data: ints, strings, bools and lists exactly, floats within a relative 1e-6."""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return actual is expected
    if isinstance(expected, float) and isinstance(actual, (int, float)):
        if math.isnan(expected):
            return math.isnan(actual)
        return math.isclose(actual, expected, rel_tol=1e-6, abs_tol=1e-12)
    if isinstance(expected, list) and isinstance(actual, list):
        return len(actual) == len(expected) and all(map(same, actual, expected))
    if isinstance(expected, dict) and isinstance(actual, dict):
        return actual.keys() == expected.keys() and all(same(actual[key], expected[key]) for key in expected)
    if isinstance(expected, int) and isinstance(actual, (int, float)):
        return actual == expected
    return type(actual) is type(expected) and actual == expected


# --- cases and slips --------------------------------------------------------------------------------------------


class Changed(Exception):
    """The outcome of a call that changed its arguments."""


@dataclass(frozen=True)
class Slip:
    """A wrong solution that people write. name: its reason code. says: what it overlooks. half: half of the points stay."""

    name: str
    code: str
    says: Text
    half: bool


@dataclass(frozen=True)
class Cases:
    """An exercise whose answer is a function, judged on calls: what its solution gives is right.

    name: of the function. calls: the arguments of each call as Python text; why, half: what belongs to single calls, by
    the text. right: said where all is right. wrong: said after the first difference.
    """

    name: str
    setup: str
    solution: str
    calls: tuple[str, ...]
    why: Mapping[str, Text]
    half: frozenset[str]
    slips: tuple[Slip, ...]
    right: Text
    wrong: Text
    keeps: bool
    any_order: bool
    through: str
    shown: str
    differs: Text

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Cases:
        """The cases of an entry of ``exercises.yaml``. Raises ValueError where a slip changes what the solution does not hold."""
        cases = [case if isinstance(case, Mapping) else {"call": case} for case in entry["cases"]]
        slips = [
            Slip(name, _swapped(entry["solution"], one, name), one["says"], one.get("half", False))
            for name, one in entry.get("slips", {}).items()
        ]
        draws = [_drawn(entry["draws"], number) for number in range(60)] if "draws" in entry else []
        return cls(
            name=entry["name"],
            setup=entry.get("setup", ""),
            solution=entry["solution"],
            calls=(*(case["call"] for case in cases), *draws),
            why={case["call"]: case["why"] for case in cases if "why" in case},
            half=frozenset(case["call"] for case in cases if case.get("half")),
            slips=tuple(slips),
            right=entry["right"],
            wrong=entry.get("wrong", both("", "")),
            keeps=entry.get("keeps", False),
            any_order=entry.get("any_order", False),
            through=entry.get("through", ""),
            shown=entry.get("shown", ""),
            differs=entry.get("differs", ""),
        )

    def outcomes(self, function: Callable[..., Any]) -> dict[str, Any]:
        """By call: what ``function`` gives, as plain data; the exception where it raises one."""
        if self.through:
            space: dict[str, Any] = {}
            exec(self.setup, space)
            function = partial(space[self.through], function)
        found = {}
        for call in self.calls:
            given, named = arguments(call)
            try:
                got = data(function(*given, **named))
            except Exception as error:
                found[call] = error
                continue
            found[call] = sorted(got, key=repr) if self.any_order and isinstance(got, list) else got
            if self.keeps and not same(data([given, named]), data(list(arguments(call)))):
                found[call] = Changed()
        return found

    def made(self, code: str) -> dict[str, Any]:
        """By call: what the function that ``code`` defines gives."""
        space: dict[str, Any] = {}
        exec(self.setup, space)
        exec(compile(code, f"<{self.name}>", "exec"), space)
        return self.outcomes(space[self.name])

    def judge(self, function: Callable[..., Any]) -> Verdict:
        """The verdict on a learner's function. Raises what it raises where a blank is left in it."""
        got, right = self.outcomes(function), self.made(self.solution)
        wrong = [call for call in self.calls if not _alike(got[call], right[call])]
        if not wrong:
            return correct(self.right)
        if all(value is None or value is ... or isinstance(value, list) and ... in value for value in got.values()):
            return verdict(Told("placeholder"))
        call = wrong[0]
        marks = self._marks(call, got, right) | {"{wrong}": str(len(wrong)), "{cases}": str(len(self.calls))}
        if slip := self._met(call, got, right):
            return _said(slip.half, slip.name, _filled(slip.says, marks))
        if isinstance(got[call], NotImplementedError) or "ellipsis" in str(got[call]).lower():
            raise got[call]
        reason, told = _difference(got[call])
        if self.differs and reason in ("wrong", "raised"):
            text = self.differs if reason == "wrong" else shared()["raised, through"]
        else:
            text = both(f"{told['en']} {marks['{why}']['en']}".strip(), told["zh"] + marks["{why}"]["zh"])
        half = set(wrong) <= self.half or reason == "input-changed"
        return _said(half, reason, _filled(text, marks))

    def _met(self, first: str, got: Mapping[str, Any], right: Mapping[str, Any]) -> Slip | None:
        """The slip that is wrong on the answer's first wrong call and gives what the answer gives wherever it is wrong: of
        several, the one that is wrong most often.
        """
        met: list[tuple[int, Slip]] = []
        for slip in self.slips:
            made = self.made(slip.code)
            wrong = [call for call in self.calls if not _alike(made[call], right[call])]
            if first in wrong and all(_alike(got[call], made[call]) for call in wrong):
                met.append((len(wrong), slip))
        return max(met, key=lambda pair: pair[0])[1] if met else None

    def _marks(self, call: str, got: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Text]:
        """What stands for each mark of a sentence."""
        return {
            "{why}": self.why.get(call, self.wrong),
            "{call}": self.shown or f"{self.name}({call})",
            "{got}": _shown(got[call]),
            "{right}": _shown(right[call]),
        }


def _difference(got: Any) -> tuple[str, Text]:
    """A code and a sentence for a call that went wrong in a way that no slip does."""
    reason = "input-changed" if isinstance(got, Changed) else "raised" if isinstance(got, Exception) else "wrong"
    return reason, shared()[f"{reason}, a call"]


def _drawn(expression: str, number: int) -> str:
    """The text of a call whose arguments are drawn: the same for the same number."""
    return ", ".join(map(repr, eval(expression, {"draw": random.Random(number)})))


def arguments(call: str) -> tuple[tuple, dict[str, Any]]:
    """The arguments that the text of a call stands for, made anew: ``"2, x=[1]"`` -> ``((2,), {"x": [1]})``."""
    space: dict[str, Any] = {"_given": lambda *given, **named: (given, named)}
    if "torch." in call:
        space["torch"] = import_module("torch")
    return eval(f"_given({call})", space)


def _swapped(solution: str, slip: Mapping[str, Any], name: str) -> str:
    """The code of a slip: its own, or the solution with some of its text replaced."""
    code = slip.get("code", solution)
    for old, new in slip.get("swap", {}).items():
        if code.count(old) != 1:
            raise ValueError(f"slip {name!r}: {old!r} stands {code.count(old)} times in the solution, not once")
        code = code.replace(old, new)
    return code


def _alike(got: Any, right: Any) -> bool:
    if isinstance(got, Exception) or isinstance(right, Exception):
        return type(got) is type(right)
    return same(got, right)


def _said(half: bool, reason: str, text: Text) -> Verdict:
    return partly(0.5, 1.0, text, reason=reason) if half else incorrect(text, reason=reason)


def _filled(text: Text, values: Mapping[str, Text]) -> Text:
    filled = dict(text)
    for code in filled:
        for mark, value in values.items():
            filled[code] = filled[code].replace(mark, pick(value, code))
    return filled


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, Exception):
        return f"{type(value).__name__}: {value}"
    return repr(value) if len(repr(value)) <= 200 else repr(value)[:200] + " ..."


# --- the visible checks of graded tasks ---------------------------------------------------------------------------


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


KINDS: dict[str, tuple[Callable[[Any], bool], Text]] = {
    "number": (_number, both("a number", "一个数")),
    "whole number": (lambda value: _number(value) and value == int(value), both("a whole number", "一个整数")),
    "bool": (lambda value: isinstance(value, bool), both("`True` or `False`", "`True` 或 `False`")),
    "text": (lambda value: isinstance(value, str), both("a text", "字符串")),
    "none": (lambda value: value is None, both("`None`", "`None`")),
    "texts": (lambda value: _all(value, "text"), both("a list of texts", "字符串的列表")),
    "bools": (lambda value: _all(value, "bool"), both("a list of `True` and `False`", "由 `True`、`False` 组成的列表")),
    "lists": (
        lambda value: isinstance(value, list) and all(isinstance(one, list) for one in value),
        both("a list of lists", "由列表组成的列表"),
    ),
    "numbers by name": (
        lambda value: isinstance(value, dict) and all(map(_number, value.values())),
        both("a dictionary from names to numbers", "“名字 -> 数”的字典"),
    ),
}


def _all(value: Any, kind: str) -> bool:
    return isinstance(value, list) and all(map(KINDS[kind][0], value))


def check_form(function: Any, call: str, gives: Sequence[str] = (), one_of: Sequence[Any] = ()) -> None:
    """Whether what comes back is of one of the kinds ``gives`` (see KINDS), or is one of ``one_of``."""
    given, named = arguments(call)
    got = data(function(*given, **named))
    kinds = [KINDS[kind] for kind in gives]
    if got in one_of or any(fits(got) for fits, _ in kinds):
        raise Told("fine, form", "later")
    placeholder_in(got)
    names = {code: [name[code] for _, name in kinds] + [f'"{one}"' for one in one_of] for code in ("en", "zh")}
    raise Told("form", kinds=both(" or ".join(names["en"]), " 或 ".join(names["zh"])), got=_shown(got))


def check_example(function: Any, name: str, call: str, right: str) -> None:
    """Whether one visible example comes out right."""
    given, named = arguments(call)
    got, (expected,) = data(function(*given, **named)), arguments(right)[0]
    if same(got, data(expected)):
        raise Told("fine, example", "later")
    placeholder_in(got)
    raise Told("example", call=f"{name}({call})", right=right, got=_shown(got))


def check_report(report: Any, fields: Sequence[str]) -> None:
    """Whether a report is a dictionary with these fields filled. Their values count later."""
    if not isinstance(report, Mapping):
        raise Told("no-dictionary, a report")
    if missing := [name for name in fields if report.get(name, ...) is None or report.get(name, ...) is ...]:
        raise Told("missing-fields", missing=listed(missing))
    raise Told("fine, fields", "later")


# --- the entry of exercises.yaml ----------------------------------------------------------------------------------

KEYS = (
    "block", "moved", "cases", "draws", "setup", "right", "wrong", "keeps", "any_order", "through", "shown", "differs", "slips",
    "form", "example", "report", "says",
)  # fmt: skip
"""The keys of an entry that make its check."""


def visible_check(entry: Mapping[str, Any]) -> Callable[[Any], Verdict] | None:
    """The check of a graded task by its ``form``, ``example`` or ``report`` in ``exercises.yaml``; None where it has none."""
    if "form" in entry:
        check = partial(check_form, **entry["form"])
    elif "example" in entry:
        check = partial(check_example, name=entry["name"], **entry["example"])
    elif "report" in entry:
        check = partial(check_report, fields=entry["report"])
    else:
        return None
    return partial(judged, check, {})
