"""Find the line of a YAML file that has a field of a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Lines:
    """Finds lines in one file, which must be valid YAML."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        self._root = yaml.compose(text, Loader=LOADER)

    def of(self, identity: str, way: Sequence[str] = ()) -> int:
        """The line of a field. identity: the id of the entry; way: the fields below it, entries of lists by id or number. Where a
        field does not exist, the line of the one above it; 1 where there is no such entry.
        """
        node, line = _entry(self._root, identity)
        for step in way:
            node, deeper = _below(node, step)
            if node is None:
                break
            line = deeper
        return line


def rows_with(path: Path, texts: Iterable[str]) -> list[int]:
    """The numbers of the lines of a file that contain one of the texts; none without a file."""
    wanted, rows = list(texts), path.read_text(encoding="utf-8").splitlines() if path.exists() else ()
    return [number for number, row in enumerate(rows, 1) if any(one in row for one in wanted)]


def way_of(sentence: str) -> list[str]:
    """The steps to the field that a sentence names: ``field options[b].why: ...``, or ``option b ...``."""
    if found := re.search(r"field ([\w.\[\], -]+?):", sentence):
        return re.findall(r"[\w-]+", found[1])
    if found := re.search(r"\boption ([a-z])\b", sentence):
        return ["options", found[1]]
    if re.search(r"\btraps?\b|\baccepts\b|^[\w-]+: the value\b", sentence):
        return ["number", "traps"]
    return []


def _below(node: yaml.Node | None, step: str) -> tuple[yaml.Node | None, int]:
    """(the node of a field or entry, its line); (None, 1) where there is none."""
    if isinstance(node, yaml.MappingNode):
        return next(((value, _line(key)) for key, value in node.value if key.value == step), (None, 1))
    if isinstance(node, yaml.SequenceNode):
        named = [one for one in node.value if _id(one) == step]
        named = named or (node.value[int(step) : int(step) + 1] if step.isdigit() else [])
        return (named[0], _line(named[0])) if named else (None, 1)
    return None, 1


def _line(node: yaml.Node) -> int:
    return node.start_mark.line + 1


def _id(node: yaml.Node) -> str | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value.value for key, value in pairs if key.value == "id"), None)


def _entry(node: yaml.Node | None, identity: str) -> tuple[yaml.Node | None, int]:
    """The entry of that id: of a file of keys, of questions, or of the questions of a place."""
    found = _below(node, identity)
    for one in node.value if found[0] is None and isinstance(node, yaml.SequenceNode) else ():
        if found[0] is None:
            found = _below(_below(one, "one_of")[0], identity)
    return found
