"""The JSON Schema (draft 2020-12) of question files, and what is wrong with an entry by it, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from course.questions.expressions import FUNCTIONS

KINDS = ("single", "multiple", "number", "order", "predict")
PRACTICE_ID = r"^\d\d(-[a-z0-9]+)+$"
CHECKPOINT_ID = r"^\d\d-c(-[a-z0-9]+)+$"

_LINE = {"type": "string", "pattern": r"\S"}
TEXT: dict[str, Any] = {
    "anyOf": [
        _LINE,
        {
            "type": "object",
            "required": ["en", "zh"],
            "additionalProperties": False,
            "properties": {"en": _LINE, "zh": _LINE},
        },
    ],
    "description": 'a text in both languages, {en: "...", zh: "..."} (a plain string for code and numbers)',
}
_SLUG = {"type": "string", "pattern": r"^[a-z0-9]+(-[a-z0-9]+)*$"}
_OPTION_ID = {"type": "string", "pattern": "^[a-z]$"}
_NUMBER = {"type": "number"}


def object_of(required: list[str], **properties: Any) -> dict[str, Any]:
    """The schema of an object with exactly these properties."""
    return {"type": "object", "required": required, "additionalProperties": False, "properties": properties}


def _list(items: dict[str, Any], least: int = 1) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least}


_TRAP = object_of(["low", "high", "why"], low=_NUMBER, high=_NUMBER, why=TEXT, misconception=_SLUG)
NUMBER = object_of(
    ["value", "unit", "why"],
    value=_NUMBER,
    low=_NUMBER,
    high=_NUMBER,
    factor={"type": "number", "minimum": 1},
    unit=TEXT,
    why=TEXT,
    traps=_list(_TRAP, 0),
)
_OPTION = object_of(
    ["id", "text", "why"],
    id=_OPTION_ID,
    correct={"type": "boolean"},
    text=TEXT,
    why=TEXT,
    misconception=_SLUG,
    pairs_with=_OPTION_ID,
    experiment=_LINE,
)
_COMMON: dict[str, Any] = {
    "lesson": {"type": "string", "pattern": r"^\d\d_[a-z0-9_]+$"},
    "concept": _SLUG,
    "kind": {"type": "string", "enum": list(KINDS)},
    "source": _LINE,
    "stem": TEXT,
    "code": TEXT,
    "experiment": _LINE,
}
_NEEDED = ["id", "lesson", "concept", "kind", "stem"]

PRACTICE = object_of(
    [*_NEEDED, "source"],
    id={"type": "string", "pattern": PRACTICE_ID},
    **_COMMON,
    options=_list(_OPTION, 2),
    order=_list(_OPTION_ID, 2),
    number=NUMBER,
    verify=_LINE,
)
CHECKPOINT = object_of(
    [*_NEEDED, "points"],
    id={"type": "string", "pattern": CHECKPOINT_ID},
    **{**_COMMON, "kind": {"type": "string", "enum": ["single", "multiple", "number", "order"]}},
    points={"type": "number", "minimum": 0.5},
    options=_list(object_of(["id", "text"], id=_OPTION_ID, text=TEXT), 2),
    number=object_of(["unit"], unit=TEXT),
)
_WHOLE = {"type": "integer"}
_DRAW: dict[str, Any] = {
    "anyOf": [
        {"type": "array", "minItems": 2},
        object_of(["from", "to"], **{"from": _WHOLE, "to": _WHOLE, "step": {**_WHOLE, "minimum": 1}}),
        object_of(["each", "of"], each={**_WHOLE, "minimum": 1, "maximum": 50}, of={"type": "array", "minItems": 1}),
    ],
    "description": "a list of two values or more, or {from, to, step} in whole numbers, or {each, of}: 1 to 50 entries of a list",
}
TEMPLATE = object_of(
    ["id"],
    id=_LINE,
    draw={
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": r"^[^\W\d]\w*(\s*,\s*[^\W\d]\w*)*$", "not": {"enum": [*FUNCTIONS]}},
        "additionalProperties": _DRAW,
    },
    where=_list(_LINE),
    let={"type": "object"},
    standard={"type": "object"},
    show={**_WHOLE, "minimum": 3},
    one_of=_list({"type": "object", "required": ["id"], "properties": {"id": _LINE}}, 2),
)
"""What a question with variants has beside the fields of the question that it becomes once they are drawn."""
_KEY_TRAP = object_of(["low", "high", "why"], **{**_TRAP["properties"], "misconception": _LINE})
KEY = object_of(
    ["source"],
    correct=_list(_OPTION_ID),
    order=_list(_OPTION_ID, 2),
    number=object_of(
        ["value"],
        **{k: v for k, v in NUMBER["properties"].items() if k not in ("unit", "why")} | {"traps": _list(_KEY_TRAP, 0)},
    ),
    why={"type": ["object", "string"]},
    misconception={"type": "object"},
    pairs_with={"type": "object"},
    source=_LINE,
    verify=_LINE,
)


def violations(value: Any, schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (field, sentence) for each violation of ``schema`` in ``value``; nothing if it fits. Needs the package jsonschema."""
    from jsonschema import Draft202012Validator

    for error in Draft202012Validator(schema).iter_errors(value):
        said = f"must be {error.schema['description']}" if error.validator == "anyOf" else error.message
        yield _field(value, error.absolute_path), said


def _field(value: Any, path: Iterable[str | int]) -> str:
    """The name of a field by the ids of the entries around it: ``options[a].text``."""
    name = ""  # of the whole entry
    for step in path:
        value = value[step]
        if isinstance(step, int):
            name += f"[{value.get('id', step) if isinstance(value, dict) else step}]"
        else:
            name += f".{step}" if name else str(step)
    return name or "(all)"
