"""Check question files; each finding has the file and the line of the fault.

A question that counts is checked together with its key. Checked are the schema, the rules of the item lint, every variant,
ids that do not exist, words left over from the template and, if asked for, the ``verify`` snippets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from course.core.catalog import BY_ID
from course.core.suggest import did_you_mean
from course.questions.bank import read_yaml
from course.questions.finding import Finding
from course.questions.item_lint import lint_items, lint_lesson
from course.questions.items import BankError, Item, completed, parse_item, redrawn, with_key
from course.questions.variant_lint import SEEDS, lint_variants
from course.questions.variants import alternatives
from course.questions.verify import run_verify
from grader.authoring.ids import known_ids
from grader.authoring.yaml_lines import Lines, rows_with, way_of
from grader.project import Project
from grader.project.beliefs import known_beliefs

TEMPLATE = Path(__file__).with_name("question_template.yaml")
YOURS = ("CHANGE ME", "请改写", "change-me")
"""What stands in a template for the words of its author."""
OF_KEYS = re.compile(
    r"\b(why|trap|traps|misconceptions?\.yaml|misconception|value|accepts|right options?|number)\b|in \d+% of all pairs"
)
MUST = frozenset(
    "schema yaml key-missing id-taken unknown-id verify trap-overlaps traps-coincide trap-reversed value-outside number-too-wide "
    "too-few-variants variants-alike".split()
)
"""Rules whose breach makes marking wrong: they keep a checkpoint from being built and released."""
OWN_MUST = MUST | {"why-missing", "unknown-misconception"}


@dataclass(frozen=True)
class Files:
    """Files that are checked together. own: whether they are an instructor's own questions. keys: None for practice questions."""

    lesson: str
    items: Path
    keys: Path | None
    own: bool = False
    one_language: bool = False


@dataclass
class _Check:
    files: Files
    beliefs: Mapping[str, Any]
    found: list[Finding] = field(default_factory=list)

    def say(self, where: Lines, identity: str, finding: Finding, way: Iterable[str] | None = None) -> None:
        text = re.sub(rf"^(?:[^,]*, item |key of ){re.escape(identity)}(?:, |: )", f"{identity}: ", finding.text)
        steps = way_of(finding.text) if way is None else list(way)
        self.found.append(Finding(finding.rule, f"{where.path}:{where.of(identity, steps)}: {text}"))


def check(project: Project, files: Files, run: bool = False, seeds: int = SEEDS) -> list[Finding]:
    """All findings in the files of a lesson, in their order. run: also run the verify snippets. Raises ProjectError where
    the list of misconceptions cannot be read.
    """
    made = _Check(files, known_beliefs(project))
    raw, keys = _loaded(made, files.items, list), _loaded(made, files.keys, dict) if files.keys else None
    if raw is None or files.keys and keys is None:
        return made.found
    at, at_keys = Lines(files.items), Lines(files.keys) if files.keys else None
    sound: list[Item] = []
    for entry in raw:
        entry = completed(entry, files.lesson, files.keys is not None)
        identity = str(entry.get("id", "?")) if isinstance(entry, Mapping) else "?"
        if not _parsed(made, at, identity, entry):
            continue
        if identity in {item.id for item in sound}:
            made.say(at, identity, Finding("id-taken", f"{identity}: occurs twice; give one of them another id."))
        for one in alternatives(entry):
            item = parse_item(one, files.items.name, files.keys is not None)
            sound.append(item if keys is None else _with_key(made, at, at_keys, item, keys) or item)
    for where in filter(None, (at, at_keys)):
        if rows := rows_with(where.path, YOURS):
            said = f"line {', '.join(map(str, rows))}: still the template's words; write your own."
            made.found.append(Finding("template-words", f"{where.path}:{rows[0]}: {said}"))
    for item in sound:
        _one(made, project, at, at_keys, item, (keys or {}).get(item.key), run, seeds)
    for identity in sorted(set(keys or ()) - {item.key for item in sound}) if len(sound) >= len(raw) else ():
        made.say(at_keys, identity, Finding("key-unused", f"{identity}: is the key of no question; delete it."))
    if files.items.is_relative_to(project.learner_folder) and len(sound) >= len(raw):
        for finding in lint_lesson(files.lesson, sound, files.keys is not None):
            made.found.append(finding.at(f"{files.items}:1"))
    return made.found


def _loaded(made: _Check, path: Path, kind: type) -> Any:
    """The content of a file; None, and a finding, where it is no list of questions or no mapping of keys."""
    try:
        data = read_yaml(path)
    except BankError as error:
        line = re.search(r", line (\d+)", str(error))
        made.found.append(Finding("yaml", f"{path}:{line[1] if line else 1}: {str(error).split(': ', 1)[1]}"))
        return None
    if data is not None and not isinstance(data, kind):
        what = "a list of questions, each starting with `- id:`" if kind is list else "`id:` and the key below it"
        made.found.append(Finding("yaml", f"{path}:1: must be {what}."))
        return None
    return data or kind()


def _parsed(made: _Check, at: Lines, identity: str, entry: Any) -> bool:
    """Whether the entry can be read; else its faults are said."""
    checkpoint = made.files.keys is not None
    try:
        parse_item(entry, at.path.name, checkpoint)
        for one in alternatives(entry):
            parse_item(one, at.path.name, checkpoint)
    except BankError as error:
        for fault in str(error).split("\n"):
            inner = re.search(r"item ([\w-]+),|question ([\w-]+),", fault)
            made.say(at, next(filter(None, inner.groups()), identity) if inner else identity, Finding("schema", fault))
        return False
    return True


def _with_key(made: _Check, at: Lines, at_keys: Lines, item: Item, keys: Mapping[str, Any]) -> Item | None:
    key = keys.get(item.key)
    if not isinstance(key, Mapping):
        made.say(at, item.key, Finding("key-missing", f"{item.key}: has no key in {at_keys.path.name}."))
        return None
    try:
        return with_key(item, key)
    except BankError as error:
        for fault in str(error).split("\n"):
            made.say(at_keys, item.key, Finding("schema", fault))
        return None


def _one(
    made: _Check, project: Project, at: Lines, at_keys: Lines | None, item: Item, key: Any, run: bool, seeds: int
) -> None:
    """What is to be said of one question whose fields are sound."""
    own, known = made.files.own, _known(project)

    def drawn(seed: str) -> Item:
        other = redrawn(item, seed)
        return with_key(other, key) if key is not None else other

    found: list[Finding] = []
    if item.experiment and item.experiment not in known["experiment"]:
        hint = did_you_mean(item.experiment, known["experiment"])
        found.append(
            Finding("unknown-id", f"{item.id}: field experiment: there is no experiment {item.experiment}.{hint}")
        )
    if not own and item.lesson not in BY_ID:
        found.append(Finding("unknown-lesson", f"{item.id}: field lesson: there is no lesson {item.lesson}."))
    if item.varies and item.keyed:
        found += lint_variants(drawn, made.beliefs, seeds, own)
    else:
        found += lint_items([item], made.beliefs, own)
    for finding in found:
        if finding.rule == "one-language" and made.files.one_language:
            continue
        in_keys = at_keys is not None and OF_KEYS.search(finding.text)
        way = way_of(finding.text)
        if in_keys and way[:1] == ["options"]:
            way = ["misconception" if finding.rule == "unknown-misconception" else "why", *way[1:]]
        made.say(at_keys if in_keys else at, item.key, finding, way)
    if run and item.verify and not any(one.rule == "schema" for one in found):
        from course.experiment.base import restored

        for variant in [item, *([drawn("verify 1"), drawn("verify 2")] if item.varies else [])]:
            outcome = run_verify(variant, restored)
            if not outcome.ok:
                values = f" (drawn: {dict(variant.values)})" if variant.values else ""
                made.say(at_keys or at, item.key, Finding("verify", f"{outcome.message}{values}"), ["verify"])
                break


@cache
def _known(project: Project) -> dict[str, set[str]]:
    return known_ids(project)


def files_of(project: Project, path: Path | None = None) -> list[Files]:
    """The files to check: of the whole bank, or those that ``path`` belongs to. The keys of a draft are in keys.yaml beside it."""
    places = [
        *(Files(lesson, project.items(lesson), None) for lesson in BY_ID if project.items(lesson).exists()),
        *(_checkpoint(project, lesson) for lesson in project.checkpoints()),
    ]
    if path is None:
        return places
    path = path.resolve()
    if known := [one for one in places if path in (one.items.resolve(), one.keys and one.keys.resolve())]:
        return known
    beside = path.with_name("keys.yaml")
    return [Files(_lesson_in(path), path, beside if beside.exists() else None)]


def _checkpoint(project: Project, lesson: str) -> Files:
    own = project.own_folder(lesson) is not None
    source = project.checkpoint_source(lesson).read_text(encoding="utf-8")
    languages = set(re.findall(r'^\+\+\+ \{.*"lang": "(en|zh)"', source, re.M))
    return Files(lesson, project.checkpoint_items(lesson), project.keys(lesson), own, own and len(languages) == 1)


def checkpoint_findings(project: Project, lesson: str, seeds: int, run: bool = False) -> list[Finding]:
    """The findings in the questions and keys of a checkpoint that must be mended before its release."""
    files = _checkpoint(project, lesson)
    wanted = OWN_MUST if files.own else MUST
    return [one for one in check(project, files, run, seeds) if one.rule in wanted]


def _lesson_in(path: Path) -> str:
    """The lesson that the id of the first question of a draft begins with; "" where there is none."""
    with suppress(BankError, TypeError, KeyError, IndexError):
        number = str(read_yaml(path)[0]["id"])[:2]
        return next((lesson for lesson in BY_ID if lesson[:2] == number), "")
    return ""
