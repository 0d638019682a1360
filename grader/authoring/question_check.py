"""Check question files; each finding has the file and the line at which the question or its key begins.

A question that counts is checked together with its key. Checked are the schema, the rules of the item lint, every variant,
ids that do not exist, words left over from the template and, if asked for, the ``verify`` snippets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from course.core.catalog import BY_ID
from course.core.suggest import did_you_mean
from course.questions.items import BankError, Item, completed, parse_item, redrawn, with_key
from course.questions.lint import SEEDS, Finding, lint_items, lint_variants
from course.questions.variants import alternatives
from course.questions.verify import run_verify
from grader.project import Project, ProjectError, beliefs, checkpoint_items, read_yaml
from grader.project.task import tasks

TEMPLATE = Path(__file__).with_name("question_template.yaml")
YOURS = ("CHANGE ME", "请改写", "change-me")
"""What stands in a template for the words of its author."""
MUST = frozenset(
    "schema yaml key-missing id-taken unknown-id verify trap-overlaps traps-coincide trap-reversed value-outside number-too-wide "
    "too-few-variants variants-alike why-missing unknown-misconception template-words".split()
)
"""Rules whose breach makes marking or what a student reads wrong: they keep a checkpoint from being built and released."""


@dataclass(frozen=True)
class Files:
    """Files that are checked together. own: whether they are an instructor's own questions, which may be in one language. keys: None for
    practice questions.
    """

    lesson: str
    items: Path
    keys: Path | None
    own: bool = False


def check(project: Project, files: Files, run: bool = False, seeds: int = SEEDS) -> list[Finding]:
    """All findings in the files of a lesson, in their order. run: also run the verify snippets."""
    try:
        raw, keys = read_yaml(files.items) or [], (read_yaml(files.keys) if files.keys else None) or {}
    except ProjectError as error:
        return [Finding("yaml", str(error))]
    if not isinstance(raw, list):
        return [Finding("yaml", f"{files.items}:1: must be a list of questions, each starting with `- id:`.")]
    if not isinstance(keys, dict):
        return [Finding("yaml", f"{files.keys}:1: must be `id:` and the key below it.")]
    return _Check(project, files, keys).all(raw, run, seeds)


class _Check:
    """The check of one pair of files; ``found`` grows."""

    def __init__(self, project: Project, files: Files, keys: dict[str, Any]) -> None:
        self.project, self.files, self.keys, self.beliefs = project, files, keys, beliefs(project)
        self.counts = files.keys is not None
        self.found: list[Finding] = []

    def all(self, raw: list[Any], run: bool, seeds: int) -> list[Finding]:
        """Every finding. raw: the entries of the questions' file."""
        sound: list[Item] = []
        for entry in raw:
            sound += self._items(completed(entry, self.files.lesson, self.counts), sound)
        own = sorted(self.files.items.parent.glob("*.*")) if self.files.own else [self.files.items, self.files.keys]
        for path in filter(None, own):
            if rows := _template_rows(path):
                said = f"line {', '.join(map(str, rows))}: still the template's words; write your own."
                self.found.append(Finding("template-words", f"{path}:{rows[0]}: {said}"))
        for item in sound:
            if self._one(item, seeds) and run and item.verify:
                self._verify(item)
        if len(sound) >= len(raw):
            for identity in sorted(set(self.keys) - {item.key for item in sound}):
                self._say(self.files.keys, identity, "key-unused", "is the key of no question; delete it.")
        return self.found

    def _say(self, path: Path, identity: str, rule: str, text: str) -> None:
        text = re.sub(rf"^(?:[^,]*, item |key of )?{re.escape(identity)}(?:, |: )", "", text)
        self.found.append(Finding(rule, f"{path}:{_line_of(path, identity)}: {identity}: {text}"))

    def _items(self, entry: Any, before: list[Item]) -> list[Item]:
        """The questions of an entry, with their keys; none where it cannot be read, and then its faults are said."""
        identity = str(entry.get("id", "?")) if isinstance(entry, Mapping) else "?"
        try:
            parse_item(entry, self.files.items.name, self.counts)
            found = [parse_item(one, self.files.items.name, self.counts) for one in alternatives(entry)]
        except BankError as error:
            for fault in str(error).split("\n"):
                inner = re.search(r"(?:item|question) ([\w-]+),", fault)
                self._say(self.files.items, inner[1] if inner else identity, "schema", fault)
            return []
        if identity in {item.id for item in before}:
            self._say(self.files.items, identity, "id-taken", "occurs twice; give one of them another id.")
        return [self._with_key(item) for item in found] if self.counts else found

    def _with_key(self, item: Item) -> Item:
        key = self.keys.get(item.key)
        if not isinstance(key, Mapping):
            self._say(self.files.items, item.key, "key-missing", f"has no key in {self.files.keys.name}.")
            return item
        try:
            return with_key(item, key)
        except BankError as error:
            for fault in str(error).split("\n"):
                self._say(self.files.keys, item.key, "schema", fault)
            return item

    def _drawn(self, item: Item, seed: str) -> Item:
        other, key = redrawn(item, seed, check=True), self.keys.get(item.key)
        return with_key(other, key) if key is not None else other

    def _one(self, item: Item, seeds: int) -> bool:
        """Say what is to be said of one question whose fields are sound; returns whether it can be drawn."""
        own, known, found = self.files.own, _experiments(self.project), []
        if item.experiment and item.experiment not in known:
            said = f"there is no experiment {item.experiment}.{did_you_mean(item.experiment, known)}"
            found.append(Finding("unknown-id", f"{item.id}: field experiment: {said}"))
        if item.varies and item.keyed:
            found += lint_variants(lambda seed: self._drawn(item, seed), self.beliefs, seeds, own)
        else:
            found += lint_items([item], self.beliefs, own)
        for finding in found:
            if finding.rule == "one-language" and own:
                continue
            key = f" (Its key: {self.files.keys.name}:{_line_of(self.files.keys, item.key)}.)" if self.counts else ""
            self._say(self.files.items, item.key, finding.rule, finding.text + key)
        return not any(one.rule == "schema" for one in found)

    def _verify(self, item: Item) -> None:
        """Run the snippet of a question, for two drawings where it varies; say what came out otherwise."""
        drawn = [self._drawn(item, f"verify {n}") for n in (1, 2)] if item.varies else []
        for variant in [item, *drawn]:
            outcome = run_verify(variant)
            if not outcome.ok:
                values = f" (drawn: {dict(variant.values)})" if variant.values else ""
                said = f"{outcome.message}{values}"
                return self._say(self.files.keys or self.files.items, item.key, "verify", said)


def _line_of(path: Path, identity: str) -> int:
    """The line of a file at which the question or key with that id begins; 1 where there is none."""
    begins = re.compile(rf"""[\s{{-]*(?:id:\s*)?["']?{re.escape(identity)}["']?\s*(?:[:,#}}]|$)""")
    rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else ()
    return next((number for number, row in enumerate(rows, 1) if begins.match(row)), 1)


def _template_rows(path: Path) -> list[int]:
    """The numbers of the lines of a file that still have words of the template; none without a file."""
    rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else ()
    return [number for number, row in enumerate(rows, 1) if any(one in row for one in YOURS)]


def known_ids(project: Project) -> dict[str, set[str]]:
    """All existing ids: kind -> ids."""
    practice = {row["id"] for path in project.learner_folder.glob("l*/items.yaml") for row in read_yaml(path) or ()}
    checkpoint = {identity for lesson in project.checkpoints() for identity in checkpoint_items(project, lesson)}
    exercises = {name for path in project.root.glob("course/*/*/exercises.yaml") for name in read_yaml(path)}
    own = {name for lesson in project.own_checkpoints() for name in tasks(project, lesson)}
    cases = {one["id"] for path in project.learner_folder.glob("*/cases.yaml") for one in read_yaml(path)}
    return {
        "item": practice | checkpoint,
        "checkpoint item": checkpoint,
        "exercise": exercises | own,
        "experiment": _experiments(project),
        "case": cases | {one.partition("-")[2] for one in cases},  # a case of a game also has a short name
    }


@cache
def _experiments(project: Project) -> set[str]:
    return {name for path in project.learner_folder.glob("*/experiments.yaml") for name in read_yaml(path)}


def files_of(project: Project, path: Path | None = None) -> list[Files]:
    """The files to check: of the whole bank, or those that ``path`` belongs to. Raises ProjectError where it is none of them."""
    places = [
        *(Files(lesson, project.items(lesson), None) for lesson in BY_ID if project.items(lesson).exists()),
        *(_checkpoint(project, lesson) for lesson in project.checkpoints()),
    ]
    found = [
        one
        for one in places
        if path is None or path.resolve() in (one.items.resolve(), one.keys and one.keys.resolve())
    ]
    if not found:
        raise ProjectError(
            f"{path} is no file of questions of a lesson, such as {project.items('05_cudnn_benchmark')}; "
            f"copy entries from {TEMPLATE} to the end of one"
        )
    return found


def _checkpoint(project: Project, lesson: str) -> Files:
    own = project.own_folder(lesson) is not None
    return Files(lesson, project.checkpoint_items(lesson), project.keys(lesson), own)


def checkpoint_findings(project: Project, lesson: str, seeds: int, run: bool = False) -> list[Finding]:
    """The findings in the questions and keys of a checkpoint that must be mended before its release."""
    return [one for one in check(project, _checkpoint(project, lesson), run, seeds) if one.rule in MUST]
