"""Variants of a question: draw numbers for each student and fill them into the texts. The same student gets the same numbers
everywhere.

A question file says what is drawn; it contains no code, and its formulas are those of ``expressions``::

    draw:                                  # name -> what it is drawn from
      channels: [16, 32, 64]               #   one of a list (numbers, texts, truth values, {en, zh})
      size: {from: 28, to: 56, step: 4}    #   one of a range, both ends included
      steps: {each: 5, of: [224, 192]}     #   a list, each entry drawn anew
      "samples, batch": [[1000, 64], [1200, 128]]   # several that belong together
    where: ["samples % batch > 0"]         # a condition; values are drawn again until it holds
    standard: {channels: 32, size: 28}     # the variant for everybody without a paper (optional)
    stem: {en: "A layer of {{channels}} channels, {{samples:,}} images ..."}

``{{name}}`` is replaced by a value, ``{{name:,}}`` by a formatted one. A practice question, which contains its key, may also have
``{{channels * 2}}``, ``let: {macs: "channels * size ** 2"}``, ``value: "macs"``, ``correct: "size > 30"``. A question that counts
may not: its formulas are in keys.yaml, which learners do not get, so a learner's copy contains the values but no
formula for the answer. There ``correct`` may be ``{a: formula, b: formula}``.

``show: 5`` in a question of kind multiple shows each student five of its options. An option has the same letter on every
paper, in the key, the logs and the report; ``shown`` holds the letters. The standard variant shows the first ones.

``one_of`` makes a question a place on the paper: each student gets one of the questions listed there, each of which may
have ``draw``. Its key is under its own id; the answer and the mark are under the id of the place.

The seed: ``Paper(student, lesson, salt).seed(item)`` is the SHA-256 of the four. The salt is made from the course's secret and
written into the released notebook. A choice is that hash modulo the number of choices; no random generator is used, so
machine and version of Python make no difference. A student can find out which questions a classmate has, but cannot choose
the seed of a submission: the grader takes the student from the submission's folder and the salt from its own release. Without a
salt (the notebooks of the repository, checkpoints released before there were variants) everybody has the ``standard`` variant.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from course.questions.expressions import FormulaError, compute
from course.questions.schema import TEMPLATE, violations

Raw = Mapping[str, Any]
Values = dict[str, Any]
MARK = re.compile(r"\{\{(.+?)(?::([,.0-9+%efgd]+))?\}\}")
OWN = ("draw", "where", "let", "standard", "show")  # fields that only a question with variants has
NUMBERS = ("value", "low", "high", "factor")  # fields that may be formulas, in a number and its traps
OF_OPTIONS = ("correct", "why", "misconception")  # of a key
UNTOUCHED = ("id", "lesson", "source", "verify")
TRIES = 1000
LONGEST_STUDENT = 100


class VariantError(ValueError):
    """The variants of a question cannot be drawn; the message names the field and the next step."""


@dataclass(frozen=True)
class Paper:
    """The paper of one student for one checkpoint. salt: of the release, "" where there is none. questions: id -> the entry as it
    was released; values are drawn from it, also if the question files have changed since.
    """

    student: str
    lesson: str
    salt: str
    questions: Mapping[str, Raw] = field(default_factory=dict, compare=False, repr=False)

    def seed(self, item: str) -> str:
        """The seed that the variant of one question is drawn with."""
        return _digest(self.lesson, self.salt, same_student(self.student), item).hex()


def same_student(student: str) -> str:
    """A student's id in the form used for the seed: lower case, normal width, no spaces around it."""
    return unicodedata.normalize("NFKC", student).strip().casefold()[:LONGEST_STUDENT]


def is_template(raw: Raw) -> bool:
    """Whether a question has variants."""
    return any(name in raw for name in ("draw", "one_of", "show"))


def alternatives(raw: Raw) -> list[Raw]:
    """The questions that a student may get in this place, each under its own id: the question itself, or those of ``one_of``."""
    place = {name: raw[name] for name in ("lesson", "points") if name in raw}
    return [{**place, **one} for one in raw["one_of"]] if "one_of" in raw else [raw]


def variant(raw: Raw, seed: str = "") -> tuple[dict[str, Any], Values, str]:
    """(the question with values filled in, the drawn values, the id of its key). seed: "" for the standard variant. Raises
    VariantError.
    """
    chosen, seed_of = raw, seed
    if "one_of" in raw:
        among = alternatives(raw)
        chosen = among[_choice(seed, "one_of", 0, len(among)) if seed else 0]
        seed_of = f"{seed} {chosen['id']}" if seed else ""
    values = drawn(chosen, seed_of)
    if "show" in chosen:
        chosen = {**chosen, "options": [one for one in chosen["options"] if one["id"] in values["shown"]]}
    try:
        known = with_let(values, chosen.get("let", {}))
        filled = {name: _filled(value, known, name) for name, value in chosen.items() if name not in OWN}
    except FormulaError as error:
        raise VariantError(str(error)) from None
    return {**filled, "id": raw["id"]}, values, chosen["id"]


def key_of(key: Raw, values: Values) -> dict[str, Any]:
    """Compute the key of one variant: its formulas and its explanations with values filled in. Raises VariantError."""
    try:
        known = with_let(values, key.get("let", {}))
        made = {name: _filled(value, known, name) for name, value in key.items() if name not in OWN}
    except FormulaError as error:
        raise VariantError(str(error)) from None
    if isinstance(made.get("correct"), Mapping):
        made["correct"] = [one for one, right in made["correct"].items() if right]
    made = _with_beliefs(made)
    if "shown" in values:
        made = {
            name: _of_shown(value, values["shown"]) if name in OF_OPTIONS else value for name, value in made.items()
        }
        if not made.get("correct"):
            raise VariantError(f"none of the options {', '.join(values['shown'])} is right: `show` more of them")
    return made


def _with_beliefs(part: Any) -> Any:
    """Remove from a key the misconceptions whose formula gave "": with these values there is none."""
    if isinstance(part, list):
        return [_with_beliefs(one) for one in part]
    if not isinstance(part, Mapping):
        return part
    return {name: _with_beliefs(one) for name, one in part.items() if name != "misconception" or one} | (
        {"misconception": {one: what for one, what in part["misconception"].items() if what}}
        if isinstance(part.get("misconception"), Mapping)
        else {}
    )


def _of_shown(value: Any, shown: list[str]) -> Any:
    """The part of a key for the options that are shown. value: a list of options, or a mapping from options."""
    if isinstance(value, Mapping):
        return {one: what for one, what in value.items() if one in shown}
    return [one for one in value if one in shown]


def drawn(raw: Raw, seed: str = "") -> Values:
    """Draw the values of one variant. Raises VariantError where no values fulfil ``where``."""
    declared = raw.get("draw", {})
    standard = raw.get("standard", {}) if not seed else {}
    for attempt in range(TRIES):
        values: Values = {}
        for name, choices in declared.items():
            _draw_one(values, name, choices, seed or "standard", attempt)
        values |= standard
        if "show" in raw:
            values["shown"] = _options_shown([one["id"] for one in raw["options"]], raw["show"], seed, attempt)
        try:
            if all(compute(rule, values) for rule in raw.get("where", ())):
                return values
        except FormulaError as error:
            raise VariantError(f"where: {error}") from None
    what = "the standard values do" if standard else f"nothing drawn in {TRIES} tries does"
    raise VariantError(f"{what} what `where` asks for: loosen it, or change what is drawn from")


def with_let(values: Values, formulas: Mapping[str, str]) -> Values:
    """The values together with those computed from them by ``let``. Raises FormulaError."""
    known = dict(values)
    for name, formula in formulas.items():
        known[name] = compute(str(formula), known)
    return known


def _draw_one(values: Values, name: str, choices: Any, seed: str, attempt: int) -> None:
    if isinstance(choices, Mapping) and "each" in choices:
        among = choices["of"]
        values[name] = [among[_choice(seed, f"{name} {k}", attempt, len(among))] for k in range(choices["each"])]
        return
    if isinstance(choices, Mapping):
        low, step = choices["from"], choices.get("step", 1)
        if choices["to"] <= low:
            raise VariantError(f"field draw.{name}: `to` must be above `from`")
        values[name] = low + step * _choice(seed, name, attempt, (choices["to"] - low) // step + 1)
        return
    one, together = choices[_choice(seed, name, attempt, len(choices))], _names_of(name)
    if len(together) > 1 and (not isinstance(one, list) or len(one) != len(together)):
        raise VariantError(f"field draw.{name}: each entry must be a list of {len(together)} values, one for each name")
    values |= dict(zip(together, one, strict=True)) if len(together) > 1 else {name: one}


def _options_shown(ids: list[str], show: int, seed: str, attempt: int) -> list[str]:
    """The ids of the options on a paper, in the order of the file; the first ones where there is no paper."""
    left, chosen = list(ids), set(ids if not seed else ())
    while seed and len(chosen) < show:
        chosen.add(left.pop(_choice(seed, f"show {len(chosen)}", attempt, len(left))))
    return [one for one in ids if one in chosen][:show]


def _names_of(name: str) -> list[str]:
    return [one.strip() for one in name.split(",")]


def _choice(seed: str, what: str, attempt: int, among: int) -> int:
    return int.from_bytes(_digest(seed, what, str(attempt)), "big") % among


def _digest(*parts: str) -> bytes:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).digest()


def _filled(value: Any, known: Values, field: str, code: str = "en") -> Any:
    """A part of a question with its marks replaced; in a number or a key, also with its formulas computed."""
    if field in UNTOUCHED:
        return value
    if isinstance(value, str):
        if field in NUMBERS or field == "correct":
            return compute(value, known)
        return MARK.sub(lambda mark: _words(compute(mark[1], known), mark[2], code), value)
    if isinstance(value, Mapping):
        twins = set(value) == {"en", "zh"}
        inner = "correct" if field == "correct" else ""
        return {
            name: _filled(one, known, inner or (field if twins else str(name)), name if twins else code)
            for name, one in value.items()
        }
    if isinstance(value, list):
        is_correct = field == "correct"  # a list of option ids
        return value if is_correct else [_filled(one, known, field, code) for one in value]
    return value


def _words(value: Any, form: str | None, code: str) -> str:
    """A value as it is written in a text."""
    if isinstance(value, Mapping):
        return str(value[code])
    if isinstance(value, list):
        return f"[{', '.join(_words(one, form, code) for one in value)}]"
    if isinstance(value, str):
        return value
    try:
        return format(value, form) if form else f"{value:.10g}" if isinstance(value, float) else str(value)
    except ValueError:
        raise FormulaError(f"{value!r} cannot be written in the format {form!r}") from None


# --- what is wrong with a template ------------------------------------------------------------------------


def faults(raw: Raw, keyless: bool) -> Iterator[str]:
    """The faults in what a question says about drawing values, as sentences that start with the field.

    keyless: the question counts, so its texts may contain names of values but no formula.
    """
    own = {name: raw[name] for name in TEMPLATE["properties"] if name in raw}
    wrong = [f"field {field}: {what}" for field, what in violations(own, TEMPLATE)]
    yield from wrong
    if wrong:
        return
    if "one_of" in raw:
        yield from _place_faults(raw, keyless)
        return
    declared = raw.get("draw", {})
    options = raw.get("options")
    if "show" in raw and not (
        raw.get("kind") == "multiple" and isinstance(options, list) and raw["show"] < len(options)
    ):
        yield "field show: belongs to a question of kind multiple, and is fewer than it has options"
    elif "show" in raw and not keyless:
        others = sum(isinstance(one, Mapping) and not one.get("correct") for one in options)
        if others >= raw["show"]:
            yield (
                f"field show: {others} options are wrong, so {raw['show']} could be shown without a right one; "
                f"show {others + 1} or more, or delete wrong ones"
            )
    known = {one for name in declared for one in _names_of(name)} | ({"shown"} if "show" in raw else set())
    if strange := set(raw.get("standard", {})) - known:
        yield f"field standard: {', '.join(sorted(strange))} is not drawn"
    if keyless and "let" in raw:
        yield "field let: does not belong here: formulas of a question that counts stand in keys.yaml of grader/lessons"
    if keyless:
        for field, formula in _marks({name: value for name, value in raw.items() if name not in OWN}):
            if formula.strip() not in known:
                yield (
                    f"field {field}: {{{{{formula}}}}} is not a drawn value; a question that counts holds no formula, "
                    "it would tell the way to the answer"
                )


def _place_faults(raw: Raw, keyless: bool) -> Iterator[str]:
    among = raw["one_of"]
    if strange := set(raw) - {"id", "lesson", "points", "one_of"}:
        yield f"field {sorted(strange)[0]}: belongs into the questions of one_of"
    ids = [one["id"] for one in among]
    if len({*ids, raw["id"]}) <= len(ids):
        yield "field one_of: every question there needs an id of its own"
    for one in among:
        if "draw" in one:
            yield from (f"question {one['id']}, {fault}" for fault in faults(one, keyless))


def _marks(value: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """(field, formula) of every mark in the texts of a question."""
    if isinstance(value, str):
        yield from ((field, mark[1]) for mark in MARK.finditer(value))
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from _marks(one, f"{field}.{name}" if field else str(name))
    elif isinstance(value, list):
        for one in value:
            yield from _marks(one, field)
