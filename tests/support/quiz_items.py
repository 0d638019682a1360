"""A small bank of questions for the quiz tests: one of every kind."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml


def both(text: str) -> dict[str, str]:
    return {"en": text, "zh": f"中文：{text}"}


def option(letter: str, correct: bool | None = None, belief: str | None = None, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"id": letter, "text": both(f"text of {letter}"), "why": both(f"why of {letter}"), **more}
    if correct:
        found["correct"] = True
    if belief:
        found["misconception"] = belief
    return found


def item(kind: str, name: str, concept: str = "", **more: Any) -> dict[str, Any]:
    return {
        "id": f"{more.get('lesson', '05_x')[:2]}-{name}",
        "lesson": "05_x",
        "concept": concept or f"about-{name}",
        "kind": kind,
        "source": "a page",
        "stem": both(f"stem of {name}"),
        **more,
    }


SINGLE = item(
    "single",
    "one",
    options=[option("a", belief="first-belief"), option("b", True), option("c", belief="second-belief")],
    experiment="05-run",
    verify="result = ['b']",
)
MULTIPLE = item(
    "multiple",
    "many",
    options=[
        option("a", True),
        option("b", belief="first-belief"),
        option("c", True),
        option("d", belief="second-belief"),
    ],
)
NUMBER = item(
    "number",
    "count",
    number={
        "value": 9.4e6,
        "factor": 1.1,
        "unit": both("bytes"),
        "why": both("why of the number"),
        "traps": [{"low": 4.6e6, "high": 4.8e6, "why": both("half of it"), "misconception": "first-belief"}],
    },
)
ORDER = item(
    "order",
    "lines",
    order=["c", "a", "d"],
    options=[option("a"), option("b", belief="first-belief", pairs_with="a"), option("c"), option("d")],
)
PREDICT = item("predict", "wager", options=[option("a"), option("b"), option("c")], experiment="05-run")
OLDER = item(
    "single",
    "old",
    lesson="04_w",
    options=[option("a", True), option("b", belief="first-belief"), option("c", belief="first-belief")],
)
PRACTICE = [SINGLE, MULTIPLE, NUMBER, ORDER, PREDICT]


def graded(kind: str, name: str, **more: Any) -> dict[str, Any]:
    found = item(kind, f"c-{name}", points=2, **more)
    del found["source"]
    if kind != "number":
        found["options"] = [{"id": letter, "text": both(letter)} for letter in "abc"]
    return found


CHECKPOINT = [
    graded("single", "one"),
    graded("multiple", "many"),
    graded("order", "lines"),
    graded("number", "count", number={"unit": both("searches")}),
]
KEYS: dict[str, dict[str, Any]] = {
    "05-c-one": {
        "correct": ["b"],
        "source": "a page",
        "why": {letter: both(letter) for letter in "abc"},
        "misconception": {"a": "first-belief", "c": "second-belief"},
    },
    "05-c-many": {"correct": ["a", "b"], "source": "a page", "misconception": {"c": "first-belief"}},
    "05-c-lines": {"order": ["c", "b", "a"], "source": "a page"},
    "05-c-count": {"number": {"value": 3, "low": 3, "high": 3}, "why": both("counted"), "source": "a page"},
}
BELIEFS = {"first-belief": both("the first belief"), "second-belief": both("the second belief")}


def write_bank(folder: Path, practice: list[dict[str, Any]] | None = None) -> Path:
    """Write a bank into ``folder`` and return the folder."""
    for lesson in ("l04_w", "l05_x"):
        (folder / lesson).mkdir(parents=True, exist_ok=True)
    items = copy.deepcopy(PRACTICE if practice is None else practice)
    (folder / "l05_x/items.yaml").write_text(yaml.safe_dump(items, allow_unicode=True), "utf-8")
    (folder / "l04_w/items.yaml").write_text(yaml.safe_dump([OLDER], allow_unicode=True), "utf-8")
    (folder / "l05_x/checkpoint.yaml").write_text(yaml.safe_dump(CHECKPOINT, allow_unicode=True), "utf-8")
    (folder / "misconceptions.yaml").write_text(yaml.safe_dump(BELIEFS, allow_unicode=True), "utf-8")
    return folder
