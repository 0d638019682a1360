"""What is said of a hand-in, in both languages (``sentences.yaml``)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from course.core.i18n import Text, both
from grader.project import filled, read_yaml
from grader.project.names import printable

TEXTS: dict[str, Any] = read_yaml(Path(__file__).with_name("sentences.yaml"))
KINDS = [(kind["begins"].encode("latin-1"), kind) for kind in TEXTS["kinds"]]
ARCHIVES = tuple(sign for sign, kind in KINDS if kind.get("archive"))
MOST_NAMED = 4  # files in a sentence


def said(name: str, /, **values: object) -> Text:
    """A sentence with its values; a value may have two languages itself."""
    return filled(TEXTS[name], values)


def joined(first: Text, second: Text) -> Text:
    """Join two sentences in both languages."""
    return both(f"{first['en']} {second['en']}", f"{first['zh']}{second['zh']}")


def kind_of(data: bytes) -> Text | None:
    """The kind of a file by how it begins; None for a kind that is not known."""
    begin = data[:200].lstrip(b"\xef\xbb\xbf\r\n\t ").lower()
    found = next((kind for sign, kind in KINDS if data.startswith(sign) or begin.startswith(sign)), None)
    return found and both(found["en"], found["zh"])


def kind_in_words(name: str, data: bytes) -> Text:
    """The kind of a file by how it begins, else by its ending."""
    otherwise = said("other") if data.strip() else said("empty")
    return kind_of(data) or TEXTS["endings"].get(PurePosixPath(name).suffix.lower()) or otherwise


def printed(name: str) -> str:
    """A file's name, which may hold any bytes, in printable form."""
    name = printable(name)
    return name if len(name) <= 80 else f"{name[:60]} ... {name[-15:]}"


def named(names: Iterable[str]) -> Text:
    """Files by their names, at most ``MOST_NAMED``."""
    listed = [printed(name) for name in names]
    listed = [*listed[:MOST_NAMED], *(["..."] if len(listed) > MOST_NAMED else [])]
    return both(", ".join(listed), "、".join(listed))
