"""Check question files; each finding has the file and the line at which the question or its key begins.

A question that counts is checked together with its key. Checked are the schema, the rules of the item lint, every variant,
ids that do not exist, words left over from the template and, if asked for, the ``verify`` snippets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from course.core.catalog import BY_ID
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


def check(project: Project, lesson: str, counts: bool, run: bool = False, seeds: int = SEEDS) -> list[Finding]:
    """All findings in the practice questions of a lesson, or in those that count and their keys, in their order. run: also run the
    verify snippets.
    """
    found = _Check(project, lesson, counts)
    try:
        raw, found.known = read_yaml(found.items) or [], read_yaml(found.keys) or {} if counts else {}
    except ProjectError as error:
        return [Finding("yaml", str(error))]
    if not isinstance(raw, list):
        return [Finding("yaml", f"{found.items}:1: must be a list of questions, each starting with `- id:`.")]
    if not isinstance(found.known, dict):
        return [Finding("yaml", f"{found.keys}:1: must be `id:` and the key below it.")]
    return found.all(raw, run, seeds)


class _Check:
    """The check of the questions of a lesson; ``found`` grows. counts: whether they have keys."""

    def __init__(self, project: Project, lesson: str, counts: bool) -> None:
        self.project, self.lesson, self.counts, self.beliefs = project, lesson, counts, beliefs(project)
        self.items = project.checkpoint_items(lesson) if counts else project.items(lesson)
        self.keys = project.keys(lesson)
        self.own = counts and project.own_folder(lesson) is not None  # an instructor's own may be in one language
        self.known: Any = {}
        self.found: list[Finding] = []

    def all(self, raw: list[Any], run: bool, seeds: int) -> list[Finding]:
        """Every finding. raw: the entries of the questions' file."""
        sound: list[Item] = []
        for entry in raw:
            sound += self._items(completed(entry, self.lesson, self.counts), sound)
        written = [self.items, *([self.keys] if self.counts else [])]
        for path in sorted(self.items.parent.glob("*.*")) if self.own else filter(Path.exists, written):
            lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if rows := [number for number, line in lines if any(one in line for one in YOURS)]:
                said = f"line {', '.join(map(str, rows))}: still the template's words; write your own."
                self.found.append(Finding("template-words", f"{path}:{rows[0]}: {said}"))
        for item in sound:
            if self._one(item, seeds) and run and item.verify:
                self._verify(item)
        return self.found

    def _say(self, path: Path, identity: str, rule: str, text: str) -> None:
        text = re.sub(rf"^(?:[^,]*, item |key of )?{re.escape(identity)}(?:, |: )", "", text)
        self.found.append(Finding(rule, f"{path}:{_line_of(path, identity)}: {identity}: {text}"))

    def _items(self, entry: Any, before: list[Item]) -> list[Item]:
        """The questions of an entry, with their keys; none where it cannot be read, and then its faults are said."""
        identity = str(entry.get("id", "?")) if isinstance(entry, Mapping) else "?"
        try:
            parse_item(entry, self.items.name, self.counts)
            found = [parse_item(one, self.items.name, self.counts) for one in alternatives(entry)]
        except BankError as error:
            for fault in str(error).split("\n"):
                inner = re.search(r"(?:item|question) ([\w-]+),", fault)
                self._say(self.items, inner[1] if inner else identity, "schema", fault)
            return []
        if identity in {item.id for item in before}:
            self._say(self.items, identity, "id-taken", "occurs twice; give one of them another id.")
        return [self._with_key(item) for item in found] if self.counts else found

    def _with_key(self, item: Item) -> Item:
        key = self.known.get(item.key)
        if not isinstance(key, Mapping):
            self._say(self.items, item.key, "key-missing", f"has no key in {self.keys.name}.")
            return item
        try:
            return with_key(item, key)
        except BankError as error:
            for fault in str(error).split("\n"):
                self._say(self.keys, item.key, "schema", fault)
            return item

    def _drawn(self, item: Item, seed: str) -> Item:
        other, key = redrawn(item, seed, check=True), self.known.get(item.key)
        return with_key(other, key) if key is not None else other

    def _one(self, item: Item, seeds: int) -> bool:
        """Say what is to be said of one question whose fields are sound; returns whether it can be drawn."""
        found = []
        if item.experiment and item.experiment not in _experiments(self.project):
            found.append(
                Finding("unknown-id", f"{item.id}: field experiment: there is no experiment {item.experiment}.")
            )
        if item.varies and item.keyed:
            found += lint_variants(lambda seed: self._drawn(item, seed), self.beliefs, seeds, self.own)
        else:
            found += lint_items([item], self.beliefs, self.own)
        for finding in found:
            if not (finding.rule == "one-language" and self.own):
                self._say(self.items, item.key, finding.rule, finding.text)
        return not any(one.rule == "schema" for one in found)

    def _verify(self, item: Item) -> None:
        """Run the snippet of a question, for two drawings where it varies; say what came out otherwise."""
        drawn = [self._drawn(item, f"verify {n}") for n in (1, 2)] if item.varies else []
        for variant in [item, *drawn]:
            outcome = run_verify(variant)
            if not outcome.ok:
                values = f" (drawn: {dict(variant.values)})" if variant.values else ""
                place = self.keys if self.counts else self.items
                return self._say(place, item.key, "verify", f"{outcome.message}{values}")


def _line_of(path: Path, identity: str) -> int:
    """The line of a file at which the question or key with that id begins; 1 where there is none."""
    begins = re.compile(rf"""[\s{{-]*(?:id:\s*)?["']?{re.escape(identity)}["']?\s*(?:[:,#}}]|$)""")
    rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else ()
    return next((number for number, row in enumerate(rows, 1) if begins.match(row)), 1)


def known_ids(project: Project) -> set[str]:
    """All ids that a cell may name: of questions, exercises and tasks of an own checkpoint, experiments, cases of games."""
    folder = project.learner_folder
    found = {row["id"] for path in folder.glob("l*/items.yaml") for row in read_yaml(path) or ()}
    found |= {identity for lesson in project.checkpoints() for identity in checkpoint_items(project, lesson)}
    found |= {name for path in project.root.glob("course/*/*/exercises.yaml") for name in read_yaml(path)}
    found |= {name for lesson in project.own_checkpoints() for name in tasks(project, lesson)}
    cases = {one["id"] for path in folder.glob("*/cases.yaml") for one in read_yaml(path)}
    short = {one.partition("-")[2] for one in cases}
    return found | _experiments(project) | cases | short


@cache
def _experiments(project: Project) -> set[str]:
    return {name for path in project.learner_folder.glob("*/experiments.yaml") for name in read_yaml(path)}


def places(project: Project, path: Path | None = None) -> list[tuple[str, bool]]:
    """(lesson, whether they count) of all questions, or of those in the file ``path``. Raises ProjectError where it holds none."""
    found = {
        **{(lesson, False): [project.items(lesson)] for lesson in BY_ID if project.items(lesson).exists()},
        **{(one, True): [project.checkpoint_items(one), project.keys(one)] for one in project.checkpoints()},
    }
    named = [place for place, files in found.items() if path is None or path.resolve() in map(Path.resolve, files)]
    if not named:
        raise ProjectError(
            f"{path} is no file of questions of a lesson, such as {project.items('05_cudnn_benchmark')}; "
            f"copy entries from {TEMPLATE} to the end of one"
        )
    return named


def checkpoint_findings(project: Project, lesson: str, seeds: int, run: bool = False) -> list[Finding]:
    """The findings in the questions and keys of a checkpoint that must be mended before its release."""
    return [one for one in check(project, lesson, True, run, seeds) if one.rule in MUST]
