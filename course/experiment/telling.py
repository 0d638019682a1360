"""The words of a lesson's experiments: ``experiments.yaml`` beside them holds title, sentences, picture and bets as data."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from course.core.catalog import lesson_folder
from course.core.i18n import LANGUAGES, Text, language, pick, speaking
from course.core.units import fold, one_in, ratio_words, time_change, time_words, times
from course.experiment.reading import Reading
from course.questions.bank import read_yaml


class TellingError(ValueError):
    """An entry of experiments.yaml that cannot be used; the sentence says which, and what is wrong."""


WIDE = 40
"""Signs of a text that pushes other columns out of sight."""


@dataclass(frozen=True)
class Telling:
    """The entry of one experiment.

    title: what it asks. outcomes: outcome -> headline. bets: bet -> option -> how the picture shows it (`drawing`).
    picture: kind and columns (`drawing`), {} where the module draws it
    itself. names: value in a row -> how people call it. columns: column -> heading in the table of the numbers. so: one
    line of advice, or one for each outcome.
    """

    title: Text
    outcomes: Mapping[str, Text]
    bets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    picture: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[Any, Text] = field(default_factory=dict)
    columns: Mapping[str, Text] = field(default_factory=dict)
    so: Text | Mapping[str, Text] = ""

    def headline(self, reading: Reading) -> Text:
        """The sentence of what came out, in both languages. Raises KeyError for an outcome that is not in the file."""
        return sentence(self.outcomes[reading.outcome], self.called(reading.numbers))

    def called(self, one: Any) -> Any:
        """Numbers of a sentence with every text that has a name replaced by it, also inside mappings and lists."""
        if isinstance(one, (list, tuple)):
            return [self.called(each) for each in one]
        if isinstance(one, Mapping):
            return {key: self.called(each) for key, each in one.items()}
        return self.names.get(one, one) if isinstance(one, str) else one

    def advice(self, reading: Reading) -> Text:
        """The line of advice, "" where there is none."""
        one_for_all = isinstance(self.so, str) or set(self.so) == set(LANGUAGES)
        found = self.so if one_for_all else self.so.get(reading.outcome or "", "")
        return sentence(found, self.called(reading.numbers)) if found and reading.outcome else ""

    def name(self, value: Any) -> str:
        """How people call a value of a row, in the language in use."""
        return pick(self.names.get(value, str(value)))

    def numbers(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The rows as the table of the numbers shows them: columns and values by the names that people use, long texts last."""
        words = {key: pick(text) for key, text in (self.names | self.columns).items()}
        named = set(map(str, self.names))
        wide = {key for row in rows for key, value in row.items() if isinstance(value, str) and len(value) > WIDE}
        return [
            {
                words.get(key, key): self.name(value) if str(value) in named else value
                for key, value in sorted(row.items(), key=lambda item: item[0] in wide)
            }
            for row in rows
        ]


def telling(lesson: str, experiment: str) -> Telling:
    """What the lesson's experiments.yaml says of an experiment. Raises TellingError."""
    path = lesson_folder(lesson) / "experiments.yaml"
    try:
        return Telling(**_entries(path)[experiment])
    except (KeyError, TypeError) as error:
        raise TellingError(
            f"{path.parent.name}/{path.name}, {experiment}: missing, or not as it must be: {error}"
        ) from None


@lru_cache(maxsize=64)
def _entries(path: Path) -> dict[str, dict[str, Any]]:
    """The entries of a file, by the names of the experiments."""
    return read_yaml(path)


def sentence(text: Text, numbers: Mapping[str, Any]) -> Text:
    """The text in both languages, each name in braces replaced by its number: ``{ratio:times}`` is "2.1 times"."""
    found = {}
    for code in LANGUAGES:
        with speaking(code):
            found[code] = filled(pick(text), numbers)
    return found


def filled(text: str, numbers: Mapping[str, Any]) -> str:
    """The text with its numbers, in the language in use. Raises KeyError for a number that is not there."""
    return _Filler().vformat(text, (), numbers)


def joined(names: Sequence[str], code: str) -> str:
    """A list in words, with the comma of the language."""
    return (", " if code == "en" else "、").join(names)


FORMS: Mapping[str, Callable[[Any], str]] = {
    "times": lambda ratio: pick(fold(ratio, "{}", "{}")),  # twice, 2.1 times; 两倍, " 2.1 倍"
    "whole": lambda ratio: pick(fold(ratio, "{}", "{}", whole=True)),
    "x": times,  # 2.1
    "ms": lambda ms: time_words(ms / 1e3),  # 6.1 ms, 0.12 s
    "us": lambda us: time_words(us / 1e6),
    "change": ratio_words,  # 43 % less, the same, 7 % more, 2.1× as long
    "time": time_change,  # 43 % less time, the same time, twice as long
    "percent": lambda share: f"{100 * share:.0f}",
    "one_in": one_in,  # 1 in 340
    "s": lambda count: "s" * (count != 1),  # plan{n:s}
    "verb": lambda count: "s" * (count == 1),  # need{n:verb}
    "es": lambda count: "es" * (count != 1),
}
"""How a number is written after a colon in braces; any other form is one of Python's, such as ``,.0f``."""


class _Filler(string.Formatter):
    def format_field(self, value: Any, form: str) -> str:
        if form in FORMS:
            return FORMS[form](value)
        if isinstance(value, Mapping):
            value = pick(value)
        if isinstance(value, (list, tuple)):
            value = joined([pick(one) for one in value], language())
        return super().format_field(value, form)
