"""What a check found, as a code and values; the words of a code stand in `says` of the exercise's entry in ``exercises.yaml``::

    says:
      built: {en: "On “{where}” it picks {kind}: ...", zh: "在“{where}”上选了 {kind}：..."}
      "dtype, too wide": {half: true, en: "The seconds are right. But ...", zh: "秒数对了。但 ..."}
      right: {en: "Right on all six machines.", zh: "六台机器上都对。"}

``half: true`` leaves half of the points, ``undecided: true`` says that the evidence decides neither way. What stands behind
a comma tells two sentences with one reason apart. Codes of several exercises have their words in ``words.yaml`` here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from course.core.i18n import LANGUAGES, Text, both, pick
from course.core.verdict import Verdict, correct, inconclusive, incorrect, not_attempted, not_marked, partly
from course.questions.bank import read_yaml


class Told(Exception):
    """Raised by a check that has found something. codes: of the sentences to say, the reason first. points: (got, of),
    where it is neither none nor half. values: what the sentences name; a text in both languages is said in each.
    """

    def __init__(self, *codes: str, points: tuple[float, float] | None = None, **values: Any) -> None:
        super().__init__(*codes)
        self.codes, self.points, self.values = codes, points, values


Check = Callable[[Any], Mapping[str, Any] | None]
"""A check of a learner's object: it raises Told, or returns what the sentence of `right` names."""


def placeholder_in(*values: Any) -> None:
    """Raises Told where one of these is None or still the three dots of a blank."""
    if any(value is None or value is ... for value in values):
        raise Told("placeholder")


def listed(names: Iterable[Any]) -> Text:
    """Names one after the other, in both languages."""
    names = list(map(str, names))
    return both(", ".join(names), "、".join(names))


def judged(check: Check, says: Mapping[str, Any], found: Any) -> Verdict:
    """The verdict of a check on what the learner made, in the words of ``says``."""
    try:
        return verdict(Told("right", **(check(found) or {})), says)
    except Told as told:
        return verdict(told, says)


NO_ATTEMPT = ("placeholder", "missing", "not-implemented")


def verdict(told: Told, says: Mapping[str, Any] | None = None) -> Verdict:
    """What was found, in the words of ``says``, or of all exercises."""
    entries = [(says or {}).get(code) or shared()[code] for code in told.codes]
    texts = [_filled(entry, told.values) for entry in entries]
    reason = told.codes[0].split(",")[0]
    if reason == "right":
        return correct(*texts)
    if reason == "fine":
        return not_marked(*texts)
    if reason in NO_ATTEMPT:
        return not_attempted(*texts, reason=reason)
    if entries[0].get("undecided"):
        return inconclusive(*texts, reason=reason)
    got, of = told.points or (0.5 if entries[0].get("half") else 0, 1.0)
    return partly(got, of, *texts, reason=reason) if got else incorrect(*texts, reason=reason)


def _filled(words: Mapping[str, str], values: Mapping[str, Any]) -> Text:
    said = {code: {name: _in(value, code) for name, value in values.items()} for code in LANGUAGES}
    return {code: words[code].format(**said[code]) for code in LANGUAGES}


def _in(value: Any, code: str) -> Any:
    return pick(value, code) if isinstance(value, Mapping) and set(value) == set(LANGUAGES) else value


@cache
def shared() -> dict[str, Any]:
    """The words of codes that several exercises have."""
    return read_yaml(Path(__file__).with_name("words.yaml"))
