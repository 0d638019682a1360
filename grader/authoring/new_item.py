"""A new question: from a draft with its key to the right files, checked before a byte is written.

A draft is a practice item as in a lesson's ``items.yaml``; with ``checkpoint: true`` its key is parted from it.
``new_misconceptions: {id: {en, zh}}`` in a draft are added to the shared list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course.catalog import BY_ID
from course.questions.advice import advice
from course.questions.bank import Bank
from course.questions.finding import Finding
from course.questions.item_lint import lint_items
from course.questions.items import BankError, Item, parse_item, with_key
from course.questions.variant_lint import lint_variants
from course.questions.verify import run_verify
from course.suggest import did_you_mean
from grader import project as files
from grader.authoring.ids import known_ids
from grader.authoring.item_text import appended, item_block, key_block, write_all
from grader.project import Project, ProjectError

ORDER = (
    "id",
    "lesson",
    "concept",
    "kind",
    "difficulty",
    "asks",
    "points",
    "source",
    "experiment",
    "draw",
    "where",
    "let",
    "standard",
    "stem",
    "code",
    "options",
    "order",
    "number",
    "verify",
)
OPTION_ORDER = ("id", "correct", "text", "why", "misconception", "pairs_with")
OF_THE_KEY = ("correct", "why", "misconception", "pairs_with")


@dataclass(frozen=True)
class Entry:
    """A draft made ready: the item as it will stand in its file, its key (checkpoints), beliefs to add."""

    item: dict[str, Any]
    key: dict[str, Any] | None = None
    beliefs: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return str(self.item.get("id", "?"))


def entry_of(draft: Mapping[str, Any]) -> Entry:
    """Part a draft into what goes where; fields in the order of the files. Raises ProjectError for no mapping."""
    if not isinstance(draft, Mapping):
        raise ProjectError("the draft must be one question: a mapping with id, lesson, kind, stem, ...")
    raw = dict(draft)
    checkpoint, beliefs = raw.pop("checkpoint", False), dict(raw.pop("new_misconceptions", None) or {})
    if isinstance(raw.get("options"), list):
        raw["options"] = [_sorted(one, OPTION_ORDER) for one in raw["options"]]
    raw = _sorted(raw, ORDER)
    return Entry(*_parted(raw), beliefs) if checkpoint else Entry(raw, None, beliefs)


def _sorted(data: Any, order: tuple[str, ...]) -> Any:
    if not isinstance(data, Mapping):
        return data
    return {**{name: data[name] for name in order if name in data}, **data}


def _parted(raw: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(item without key, key)."""
    item = {name: value for name, value in raw.items() if name not in ("source", "verify", "order", "let")}
    key: dict[str, Any] = {}
    options = [one for one in raw.get("options") or () if isinstance(one, Mapping)]
    right = {one.get("id"): one["correct"] for one in options if one.get("correct")}
    if any(isinstance(formula, str) for formula in right.values()):
        key["correct"] = {one: str(formula) for one, formula in right.items()}
    elif right:
        key["correct"] = list(right)
    if "order" in raw:
        key["order"] = raw["order"]
    if isinstance(raw.get("number"), Mapping):
        key["number"] = {name: value for name, value in raw["number"].items() if name not in ("unit", "why")}
        item["number"] = {name: value for name, value in raw["number"].items() if name == "unit"}
        key["why"] = raw["number"].get("why", {})
    if options:
        item["options"] = [{k: v for k, v in one.items() if k not in OF_THE_KEY} for one in options]
        for name in OF_THE_KEY[1:]:
            if found := {one.get("id"): one[name] for one in options if name in one}:
                key[name] = found
    return item, {**key, **{name: raw[name] for name in ("let", "source", "verify") if name in raw}}


def whole(entry: Entry, seed: str = "") -> Item:
    """The item with its key, of a question with variants the one that the seed draws. Raises BankError with every fault."""
    where = "new item"
    item = parse_item(entry.item, where, entry.key is not None, seed)
    return with_key(item, entry.key) if entry.key is not None else item


def problems(project: Project, entry: Entry, run: bool = True) -> list[Finding]:
    """A finding for everything that keeps the item from being written. run: also run its verify snippet."""
    try:
        item = whole(entry)
    except BankError as error:
        return [Finding("schema", fault) for fault in str(error).split("\n")]
    found: list[Finding] = []
    lesson = BY_ID.get(item.lesson)
    if lesson is None:
        found.append(Finding("unknown-lesson", f"there is no lesson {item.lesson}.{did_you_mean(item.lesson, BY_ID)}"))
    elif item.checkpoint and not lesson.checkpoint:
        found.append(Finding("no-checkpoint", f"{item.lesson} has no checkpoint."))
    known = known_ids(project)
    if item.id in known["item"]:
        found.append(Finding("id-taken", f"the id {item.id} is taken; choose another."))
    if item.experiment and item.experiment not in known["experiment"]:
        found.append(
            Finding(
                "unknown-id",
                f"there is no experiment {item.experiment}.{did_you_mean(item.experiment, known['experiment'])}",
            )
        )
    beliefs = Bank(project.learner_rooms).misconceptions()
    for one, text in entry.beliefs.items():
        if one in beliefs:
            found.append(
                Finding(
                    "known-misconception",
                    f"the misconception {one} is in the list already; leave it out of new_misconceptions.",
                )
            )
        elif not (isinstance(text, Mapping) and set(text) == {"en", "zh"} and all(text.values())):
            found.append(
                Finding(
                    "one-language",
                    f"the new misconception {one} needs a sentence in both languages, {{en: ..., zh: ...}}.",
                )
            )
    if item.varies and item.keyed:
        found += lint_variants(lambda seed: whole(entry, seed), {**beliefs, **entry.beliefs})
    else:
        found += lint_items([item], {**beliefs, **entry.beliefs})
    if run and item.verify and not found:
        from course.experiment.base import restored

        outcome = run_verify(item, restored)
        found += [] if outcome.ok else [Finding("verify", outcome.message)]
    return found


def hints(project: Project, entry: Entry) -> list[Finding]:
    """What the author may want to look at again."""
    return advice(whole(entry), Bank(project.learner_rooms).items(str(entry.item.get("lesson")), entry.key is not None))


def text_of(entry: Entry) -> str:
    """The blocks as they will be written."""
    return item_block(entry.item) + ("\n" + key_block(entry.id, entry.key) if entry.key is not None else "")


def write(project: Project, entry: Entry) -> list[Path]:
    """Write the item, its key and new beliefs at the ends of their files: all of them, or none.

    Raises ProjectError, with every fault, where the item is not fit to be written.
    """
    if found := problems(project, entry):
        raise ProjectError("\n".join(found))
    lesson = entry.item["lesson"]
    contents: dict[Path, bytes] = {}
    if entry.beliefs:
        path = project.learner_rooms / "misconceptions.yaml"
        blocks = "".join(key_block(one, text).replace(f'"{one}"', one, 1) for one, text in entry.beliefs.items())
        contents[path] = appended(path, blocks, entry.beliefs)
    if entry.key is not None:
        path = project.keys(lesson)
        contents[path] = appended(path, key_block(entry.id, entry.key), {entry.id: entry.key})
        path = project.checkpoint_items(lesson)
    else:
        path = project.items(lesson)
    contents[path] = appended(path, item_block(entry.item), entry.item)
    write_all(contents)
    return list(contents)


def read_draft(path: Path) -> Any:
    """The draft in a YAML file. Raises ProjectError."""
    if not path.exists():
        raise ProjectError(f"{path}: there is no such file")
    return files.read_yaml(path)
