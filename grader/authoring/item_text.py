"""A question as YAML text in the style of the question files; what was there before stays to the byte."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from course.files import replace_file
from grader.project import LOADER, ProjectError

PLAIN = re.compile(r"[A-Za-z0-9_][\w./-]*")
SHORT = 84  # a text in both languages up to this length stands on one line


def item_block(item: Mapping[str, Any]) -> str:
    """One entry of a list of items."""
    lines = _mapping(item, 2)
    return "- " + lines[2:]


def key_block(identity: str, key: Mapping[str, Any]) -> str:
    """One entry of a file of keys."""
    return f"{_quoted(identity)}:\n{_mapping(key, 2)}"


def _mapping(data: Mapping[str, Any], indent: int) -> str:
    return "".join(_field(name, value, indent) for name, value in data.items())


def _field(name: str, value: Any, indent: int) -> str:
    pad = " " * indent
    if name == "id" and isinstance(value, str) and len(value) > 1:
        return f"{pad}id: {_quoted(value)}\n"
    if isinstance(value, Mapping):
        if name == "misconception" or (set(value) == {"en", "zh"} and _width(value) <= SHORT):
            inside = ", ".join(f"{key}: {_scalar(one, name != 'misconception')}" for key, one in value.items())
            return f"{pad}{name}: {{{inside}}}\n"
        return f"{pad}{name}:\n{_mapping(value, indent + 2)}"
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        entries = "".join(f"{pad}  - {_mapping(one, indent + 4)[indent + 4 :]}" for one in value)
        return f"{pad}{name}:\n{entries}"
    if isinstance(value, list):
        return f"{pad}{name}: [{', '.join(_scalar(one, False) for one in value)}]\n"
    if isinstance(value, str) and "\n" in value and _fits_a_block(value):
        body = "".join(f"{pad}  {line}\n" if line else "\n" for line in value.rstrip("\n").split("\n"))
        return f"{pad}{name}: |\n{body}" if value.endswith("\n") else f"{pad}{name}: |-\n{body}"
    return f"{pad}{name}: {_scalar(value, name in ('source', 'experiment', 'en', 'zh'))}\n"


def _fits_a_block(value: str) -> bool:
    """Whether a literal block gives it back as it is: no blank at the start or at a line's end, no odd signs."""
    odd = any(ord(letter) < 32 and letter != "\n" or letter in "\x7f\x85\u2028\u2029\ufeff" for letter in value)
    return not odd and value[0] not in " \n" and not re.search(r" +$|\n\n\Z", value, re.M)


def _width(text: Mapping[str, Any]) -> int:
    return sum(2 if ord(letter) > 0x2E7F else 1 for one in text.values() for letter in str(one))


def _scalar(value: Any, quoted: bool) -> str:
    if isinstance(value, str):
        plain = not quoted and PLAIN.fullmatch(value) and yaml.safe_load(value) == value
        return value if plain else _quoted(value)
    return json.dumps(value)


def _quoted(value: str) -> str:
    """A double-quoted YAML scalar; JSON's form is one."""
    return (
        json.dumps(value, ensure_ascii=False)
        .replace("\x7f", "\\x7f")
        .replace("\x85", "\\x85")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
        .replace("\ufeff", "\\ufeff")
    )


def appended(path: Path, block: str, entry: Any) -> bytes:
    """The content of the file with the block at its end.

    entry: the item (list files) or {id: key} (mapping files) that the block must read back as. Raises
    ProjectError, naming the file, where the result would not be exactly the old entries and the new one.
    """
    before = path.read_bytes() if path.exists() else b""
    text = before.decode("utf-8")
    ending = "\r\n" if "\r\n" in text else "\n"
    joint = "" if not text.strip() else ending if text.endswith("\n") else ending * 2
    after = text + joint + block.replace("\n", ending)
    try:
        old, new = (yaml.load(one, Loader=LOADER) for one in (text, after))
    except yaml.YAMLError as error:
        raise ProjectError(f"{path}: this is not valid YAML, mend it first: {error}") from None
    expected = [*(old or []), entry] if isinstance(entry, Mapping) and "id" in entry else {**(old or {}), **entry}
    if new != expected:
        raise ProjectError(f"{path}: the entry cannot be added at the end without changing what is there")
    return after.encode()


def write_all(contents: Mapping[Path, bytes]) -> None:
    """Write all the files or none. Raises ProjectError."""
    before = {path: path.read_bytes() if path.exists() else None for path in contents}
    done: list[Path] = []
    try:
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, content)
            done.append(path)
    except OSError as error:
        for path in done:
            old = before[path]
            path.unlink() if old is None else replace_file(path, old)
        raise ProjectError(
            f"{error.filename or path}: cannot be written ({error.strerror}); nothing was changed"
        ) from None
