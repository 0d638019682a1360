"""A question as data (``Item``), with its options and numbers, and how it is made from a YAML entry.

Practice questions contain their key; checkpoint questions do not, and ``with_key`` merges it in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from course.core.i18n import Text
from course.questions import schema, variants


class BankError(ValueError):
    """A question file cannot be used; the message names file, item, field and the next step."""


class UnknownItem(LookupError):
    """The bank has no item with this id; the message suggests similar ids."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Option:
    """One option. correct is None where no key is known (checkpoint) or none exists (predict, order).

    experiment: the one that shows whether this option is true; without it, the item's experiment is used.
    """

    id: str
    text: Text
    correct: bool | None = None
    why: Text = ""
    misconception: str | None = None
    pairs_with: str | None = None
    experiment: str | None = None


@dataclass(frozen=True)
class Trap:
    """A tempting wrong number: low <= answer <= high. why: why it is tempting; misconception: the false belief behind it, if any."""

    low: float
    high: float
    why: Text
    misconception: str | None = None


@dataclass(frozen=True)
class Number:
    """What a number item accepts: low..high, both included (a factor f means value/f..value*f)."""

    unit: Text
    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: Text = ""
    traps: tuple[Trap, ...] = ()


@dataclass(frozen=True)
class Item:
    """One question. ``keyed``: whether it can be marked.

    For a question with variants (``course.questions.variants``) this is one variant: ``template`` is the entry as written,
    ``seed`` what the values were drawn with ("" for the standard variant), ``values`` the drawn values, ``key`` the id of its
    key.
    """

    id: str
    lesson: str
    concept: str
    kind: str
    stem: Text
    options: tuple[Option, ...] = ()
    code: Text | None = None
    number: Number | None = None
    order: tuple[str, ...] = ()
    experiment: str | None = None
    source: str = ""
    verify: str | None = None
    points: float = 1.0
    checkpoint: bool = False
    template: Mapping[str, Any] | None = field(default=None, repr=False)
    seed: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    key: str = ""

    def option(self, option_id: str) -> Option | None:
        """The option with that id, or None."""
        return next((one for one in self.options if one.id == option_id), None)

    @property
    def varies(self) -> bool:
        """Whether it is one of several variants."""
        return self.template is not None

    @property
    def correct(self) -> tuple[str, ...]:
        """Ids of the right options (single, multiple), in the order they are shown."""
        return tuple(one.id for one in self.options if one.correct)

    @property
    def keyed(self) -> bool:
        """Whether the item contains the key that marking needs."""
        if self.kind == "number":
            return self.number is not None and self.number.value is not None
        return bool(self.order) if self.kind == "order" else bool(self.correct)


def _number(raw: Mapping[str, Any]) -> Number:
    value, factor = raw.get("value"), raw.get("factor")
    low, high = raw.get("low", value), raw.get("high", value)
    if factor is not None and value is not None:
        low, high = sorted((value / factor, value * factor))
    traps = tuple(Trap(**trap) for trap in raw.get("traps", ()))
    return Number(raw["unit"], value, low, high, raw.get("why", ""), traps)


FORMER = ("asks", "difficulty")
"""Fields of the questions of checkpoints that earlier versions released. Nothing reads them."""


def completed(raw: Any, lesson: str, checkpoint: bool = False) -> Any:
    """An entry of a question file with its lesson, which its folder says, and the kind of a practice question, which its parts say:
    more than one right option is `multiple`, an experiment and no right option a bet. The source of a bet is its experiment.
    """
    if not isinstance(raw, Mapping):
        return raw
    right = sum(isinstance(one, Mapping) and bool(one.get("correct")) for one in raw.get("options") or ())
    if "number" in raw or "order" in raw:
        kind = "number" if "number" in raw else "order"
    elif "experiment" in raw and not right:
        kind = "predict"
    else:
        kind = "multiple" if right > 1 else "single"
    said = {} if checkpoint else {"kind": kind}
    if kind == "predict":
        said["source"] = f"experiment {raw['experiment']}"
    return {**said, **raw, "lesson": lesson}


def parse_item(
    raw: Mapping[str, Any], where: str, checkpoint: bool = False, seed: str = "", check: bool = True
) -> Item:
    """Make an Item from one YAML entry, ``completed``. seed: which variant, where the question has variants.

    Raises BankError with every fault and its field where the entry violates the schema. check: False for an entry that has been
    held against the schema before.
    """
    name = raw.get("id", "?") if isinstance(raw, Mapping) else "?"
    template, values, key = None, {}, name
    if isinstance(raw, Mapping) and variants.is_template(raw):
        template = raw
        raw, values, key = _drawn(raw, where, checkpoint, seed, check)
    if checkpoint and isinstance(raw, Mapping):
        raw = {name: value for name, value in raw.items() if name not in FORMER}
    if check:
        _checked(raw, f"{where}, item {name}", checkpoint)
    fields = {k: v for k, v in raw.items() if k not in ("options", "number", "order")}
    return Item(
        **fields,
        checkpoint=checkpoint,
        template=template,
        seed=seed if template else "",
        values=values,
        key=key,
        options=tuple(Option(**one) for one in raw.get("options", ())),
        number=_number(raw["number"]) if "number" in raw else None,
        order=tuple(raw.get("order", ())),
    )


def _drawn(
    raw: Mapping[str, Any], where: str, checkpoint: bool, seed: str, check: bool
) -> tuple[Mapping[str, Any], variants.Values, str]:
    """(the entry with values filled in, the drawn values, the id of its key). check: whether what it says about drawing is checked, and
    for the standard variant all questions of ``one_of``. Raises BankError.
    """
    name = f"{where}, item {raw.get('id', '?')}"
    found = list(variants.faults(raw, keyless=checkpoint)) if check else []
    if check and "one_of" in raw and not seed and not found:
        for one in variants.alternatives(raw):
            parse_item(one, where, checkpoint)
    try:
        made = ({}, {}, "") if found else variants.variant(raw, seed)
    except variants.VariantError as error:
        found = [str(error)]
    if found:
        raise BankError("\n".join(f"{name}, {fault}." for fault in found))
    return made


def redrawn(item: Item, seed: str, check: bool = False) -> Item:
    """Another variant of a question: the one drawn with ``seed``. Its key must be merged in again. An item without variants is
    returned unchanged. check: see ``parse_item``.
    """
    return parse_item(item.template, item.lesson, item.checkpoint, seed, check) if item.template is not None else item


def every(item: Item) -> list[Item]:
    """All questions that a student may get in the place of an item: the item itself, or those of ``one_of``. Each in its standard
    variant under its own id; those of a checkpoint without a key.
    """
    if item.template is None or "one_of" not in item.template:
        return [item]
    return [parse_item(one, item.lesson, item.checkpoint) for one in variants.alternatives(item.template)]


def _checked(raw: Any, name: str, checkpoint: bool) -> None:
    """Raises BankError with every fault of an entry and its field."""
    rules = schema.CHECKPOINT if checkpoint else schema.PRACTICE
    faults = [f"{name}, field {field}: {what}." for field, what in schema.violations(raw, rules)]
    if checkpoint and any("unexpected" in one for one in faults):
        faults[-1] += " The key of a question that counts stands in keys.yaml of grader/lessons."
    if faults := faults or [f"{name}, {what}" for what in _contradictions(raw, checkpoint)]:
        raise BankError("\n".join(faults))


def _contradictions(raw: Mapping[str, Any], checkpoint: bool) -> Iterator[str]:
    """Faults that concern two fields together."""
    kind, ids = raw["kind"], [one["id"] for one in raw.get("options", ())]
    lesson = raw["lesson"]
    if raw["id"][:2] != lesson[:2]:
        yield f"field id: must start with the number of its lesson, {lesson[:2]}."
    if len(set(ids)) != len(ids):
        yield "field options: an option id occurs twice; give every option its own letter."
    if kind == "number" and "number" not in raw:
        yield "field number: is missing; a question of kind number needs it."
    if kind != "number" and not ids:
        yield f"field options: is missing; a question of kind {kind} needs it."
    if checkpoint:
        return
    right = [one for one in raw.get("options", ()) if one.get("correct")]
    if kind == "single" and len(right) != 1:
        yield f"field options: exactly one option must have `correct: true`, and {len(right)} have."
    if kind == "multiple" and not right:
        yield "field options: at least one option must have `correct: true`."
    if kind in ("predict", "order", "number") and right:
        yield f"field options: `correct` has no meaning in a question of kind {kind}; delete it."
    if kind == "predict" and "experiment" not in raw:
        yield "field experiment: is missing; name the experiment that settles the bet."
    yield from _order_faults(raw.get("order", ()), ids, kind)


def _order_faults(order: Any, ids: list[str], kind: str) -> Iterator[str]:
    if kind == "order" and not order:
        yield "field order: is missing; write the option ids in their right order."
    if unknown := [one for one in order if one not in ids]:
        yield f"field order: {', '.join(unknown)} is not an option id; use {', '.join(ids)}."
    if len(set(order)) != len(order):
        yield "field order: an option occurs twice; write every id once."


def with_key(item: Item, key: Mapping[str, Any]) -> Item:
    """A checkpoint item with its key merged in, ready to be marked.

    key: {correct: [ids] | order: [ids] | number: {value, low, high, factor, traps}, why, misconception,
    pairs_with, source, verify}; for a question with variants it may hold formulas. Raises BankError when the key does not
    fit the item.
    """
    where = f"key of {item.key}"
    if item.varies:
        try:
            key = variants.key_of(key, item.values)
        except variants.VariantError as error:
            raise BankError(f"{where}: {error}") from None
    faults = [f"{where}, field {field}: {what}." for field, what in schema.violations(dict(key), schema.KEY)]
    ids = [one.id for one in item.options]
    faults += [
        f"{where}, field {name}: {one} is not an option of the item; use {', '.join(ids)}."
        for name in ("correct", "order", "misconception", "pairs_with")
        for one in key.get(name, ())
        if one not in ids
    ]
    needed = {"number": "number", "order": "order"}.get(item.kind, "correct")
    if needed not in key:
        faults.append(f"{where}, field {needed}: is missing; a question of kind {item.kind} needs it.")
    if item.kind == "single" and 1 < len(key.get("correct", ())) < len(ids):
        faults.append(
            f"{where}, field correct: a question of kind single has one right option; all of them if it is bad."
        )
    if faults:
        raise BankError("\n".join(faults))
    why = key.get("why", {})
    options = tuple(
        replace(
            one,
            correct=one.id in key["correct"] if "correct" in key else None,
            why=why.get(one.id, ""),
            misconception=key.get("misconception", {}).get(one.id),
            pairs_with=key.get("pairs_with", {}).get(one.id),
        )
        for one in item.options
    )
    number = item.number
    if item.kind == "number":
        unit = number.unit if number else ""
        number = _number({"unit": unit, "why": why, **key["number"]})
    return replace(
        item,
        options=options,
        number=number,
        order=tuple(key.get("order", ())),
        source=key["source"],
        verify=key.get("verify"),
    )


def within(value: float, low: float, high: float) -> bool:
    """Whether low <= value <= high; a relative rounding error of 1e-9 is allowed."""
    slack = 1e-9 * max(abs(low), abs(high))
    return math.isfinite(value) and low - slack <= value <= high + slack
