"""The glossary: one plain sentence and one example for each term, in both languages, from ``glossary.yaml``.

A text of a lesson marks a term as ``[[id]]``, or with other words as ``[[id|words]]``. ``hover`` makes the HTML that a
notebook gets in its place.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from course.core.catalog import FOLDER
from course.core.i18n import Text, pick
from course.core.markup import plain
from course.core.suggest import nearest
from course.questions.bank import read_yaml

FILE = FOLDER / "glossary.yaml"
MARK = re.compile(r"\[\[(?P<id>[a-z0-9_.-]+)(?:\|(?P<words>[^\]|]+))?\]\]")
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.S)


@dataclass(frozen=True)
class Term:
    """One term. id: as used in marks. also: its other names. lesson: where it is taught."""

    id: str
    term: Text
    means: Text
    example: Text
    also: tuple[str, ...] = ()
    lesson: str = ""
    source: str = ""

    def names(self) -> Iterator[str]:
        """All names by which ``find`` finds it, in lower case."""
        words = [self.term] if isinstance(self.term, str) else list(self.term.values())
        yield from (one.lower() for one in (self.id, self.id.replace("-", " "), *words, *self.also))


@cache
def read() -> dict[str, Term]:
    """The terms by id, in the order of the file."""
    return {one: Term(one, **{**raw, "also": tuple(raw.get("also", ()))}) for one, raw in read_yaml(FILE).items()}


def find(words: str, terms: dict[str, Term]) -> Term | None:
    """The term with this id or name, in either language, upper or lower case; None where there is none.

    Spaces and hyphens make no difference: ``warmup``, ``warm-up``.
    """
    wanted = _joined(words)
    return next((one for one in terms.values() if wanted in map(_joined, one.names())), None) if wanted else None


def _joined(words: str) -> str:
    return re.sub(r"[\s-]+", "", str(words).lower())


def near(words: str, terms: dict[str, Term], most: int = 3) -> list[str]:
    """The ids of the terms with the most similar names."""
    names = {name: one.id for one in terms.values() for name in one.names()}
    return list(dict.fromkeys(names[name] for name in nearest(str(words).lower(), names, most, 0.55)))


def marks(text: str) -> Iterator[re.Match[str]]:
    """The marks of a text, outside its code."""
    for part in _CODE.split(text)[::2]:
        yield from MARK.finditer(part)


def replace_marks(text: str, shown: Callable[[re.Match[str]], str]) -> str:
    """Replace every mark outside code by ``shown(mark)``; returns the text."""
    parts = _CODE.split(text)
    parts[::2] = [MARK.sub(shown, part) for part in parts[::2]]
    return "".join(parts)


def hover(term: Term, words: str | None, code: str) -> str:
    """The HTML of a term in a notebook: the word, with its meaning on hover and the call that tells more."""
    said = html.escape(f'{plain(pick(term.means, code))}  → what("{term.id}")', quote=True)
    return f'<abbr title="{said}">{html.escape(words or pick(term.term, code))}</abbr>'
