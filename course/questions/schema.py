"""The JSON Schema (draft 2020-12) of question files, and a small reader of it.

The schemas are plain dicts, so any JSON Schema tool can use them. ``violations`` supports only the keywords
used here, needs no package, and returns sentences; the tests compare it with the jsonschema package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

KINDS = ("single", "multiple", "number", "order", "predict")
PRACTICE_ID = r"^\d\d(-[a-z0-9]+)+$"
CHECKPOINT_ID = r"^\d\d-c(-[a-z0-9]+)+$"

_LINE = {"type": "string", "minLength": 1}
TEXT: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "minLength": 1},
        {
            "type": "object",
            "required": ["en", "zh"],
            "additionalProperties": False,
            "properties": {"en": _LINE, "zh": _LINE},
        },
    ],
    "description": 'a text in both languages, {en: "...", zh: "..."} (a plain string for code and numbers)',
}
_SLUG = {"type": "string", "pattern": r"^[a-z0-9]+(-[a-z0-9]+)*$", "x-such-as": "first-call"}
_OPTION_ID = {"type": "string", "pattern": "^[a-z]$"}
_NUMBER = {"type": "number"}


def object_of(required: list[str], **properties: Any) -> dict[str, Any]:
    """The schema of an object with exactly these properties."""
    return {"type": "object", "required": required, "additionalProperties": False, "properties": properties}


def _keyless(schema: dict[str, Any]) -> dict[str, Any]:
    """Mark an object of a checkpoint question, so that the message says "key" where somebody writes one into it."""
    return {**schema, "x-keyless": True}


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
CHECKPOINT = _keyless(
    object_of(
        [*_NEEDED, "points"],
        id={"type": "string", "pattern": CHECKPOINT_ID},
        **{**_COMMON, "kind": {"type": "string", "enum": ["single", "multiple", "number", "order"]}},
        points={"type": "number", "minimum": 0.5},
        options=_list(_keyless(object_of(["id", "text"], id=_OPTION_ID, text=TEXT)), 2),
        number=_keyless(object_of(["unit"], unit=TEXT)),
    )
)
TEMPLATE = object_of(
    ["id"],
    id=_LINE,
    draw={"type": "object"},
    where=_list(_LINE),
    let={"type": "object"},
    standard={"type": "object"},
    show={"type": "number"},
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

_TYPES = {"string": str, "object": dict, "array": list, "boolean": bool, "number": (int, float)}
_KEY_FIELDS = ("correct", "why", "misconception", "order", "verify", "value", "low", "high", "factor", "traps")


def _is(value: Any, name: str) -> bool:
    return isinstance(value, _TYPES[name]) and not (name == "number" and isinstance(value, bool))


def violations(value: Any, schema: dict[str, Any], where: str = "") -> Iterator[tuple[str, str]]:
    """Yield (field, sentence) for each violation of ``schema`` in ``value``; nothing if it fits."""
    if "anyOf" in schema:
        if all(list(violations(value, one, where)) for one in schema["anyOf"]):
            yield where, f"must be {schema['description']}"
        return
    names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(_is(value, name) for name in names):
        yield where, f"must be of type {' or '.join(names)}, and is {value!r}"
    elif isinstance(value, dict):
        yield from _object_violations(value, schema, where)
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield where, f"must have at least {schema['minItems']} entries"
        for number, one in enumerate(value):
            label = one.get("id", number) if isinstance(one, dict) else number
            yield from violations(one, schema["items"], f"{where}[{label}]")
    else:
        yield from _scalar_violations(value, schema, where)


def _object_violations(value: dict[str, Any], schema: dict[str, Any], where: str) -> Iterator[tuple[str, str]]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield _join(where, name), "is missing: write it"
    for name, one in value.items():
        if name in properties:
            yield from violations(one, properties[name], _join(where, name))
        elif not schema.get("additionalProperties", True):
            yield _join(where, name), _unknown(name, schema)


def _unknown(name: Any, schema: dict[str, Any]) -> str:
    if name in _KEY_FIELDS and schema.get("x-keyless"):
        return "does not belong here: a checkpoint question carries no key, it stands in keys.yaml of grader/lessons"
    return f"is not a known field: delete it or use one of {', '.join(schema['properties'])}"


def _scalar_violations(value: Any, schema: dict[str, Any], where: str) -> Iterator[tuple[str, str]]:
    if "enum" in schema and value not in schema["enum"]:
        yield where, f"must be one of {', '.join(schema['enum'])}, and is {value!r}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield where, f"must look like {schema.get('x-such-as', schema['pattern'])}, and is {value!r}"
    if isinstance(value, str) and len(value.strip()) < schema.get("minLength", 0):
        yield where, "is empty: write it"
    if _is(value, "number") and value < schema.get("minimum", value):
        yield where, f"must be at least {schema['minimum']}, and is {value!r}"


def _join(where: str, name: Any) -> str:
    return f"{where}.{name}" if where else str(name)
