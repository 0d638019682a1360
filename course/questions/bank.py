"""The question bank: YAML files read into items when they are needed.

Practice questions are in ``items.yaml`` of their lesson's folder, checkpoint questions in ``checkpoint.yaml``
and interview questions in ``interview.yaml``. A file is read when one of its items is first needed, so that a card
appears at once, however large the bank is.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from course.core.catalog import FOLDER
from course.core.i18n import LANGUAGES, Text, t
from course.core.suggest import did_you_mean, no_longer
from course.questions.interview import Spoken, parse_spoken
from course.questions.items import BankError, Item, UnknownItem, completed, parse_item

FILES = ("items", "checkpoint", "interview")
"""The question files of a lesson, without their ending."""


def read_yaml(path: Path) -> Any:
    """The content of a YAML file. Raises BankError with the line of the fault."""
    import yaml

    try:
        return yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or "it cannot be read"
        raise BankError(
            f"{path}{f':{mark.line + 1}' if mark else ''}: this is not valid YAML: {what}. "
            "Check indentation, quotes and colons there and in the line above."
        ) from None
    except UnicodeDecodeError:
        raise BankError(f"{path}: this is not UTF-8; save the file in UTF-8") from None
    except OSError as error:
        raise BankError(
            f"{path}: cannot be read ({error.strerror}). Put the file back, or the right to read it."
        ) from None


@lru_cache(maxsize=256)
def _read_items(path: Path, stamp: int, check: bool) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    """(items, faults) of one file. stamp: its modification time (ns), so that an edited file is read again. check: whether each
    entry is held against the schema.
    """
    raw, name = read_yaml(path), "/".join(path.parts[-2:])
    if raw is not None and not isinstance(raw, list):
        return (), (f"{name}: must be a list of items, each starting with `- id:`.",)
    items, faults, seen = [], [], set()
    spoken, keyless = path.stem == "interview", path.stem != "items"
    for entry in raw or ():
        entry = completed(entry, path.parent.name.removeprefix("l"), keyless)
        try:
            item = parse_spoken(entry) if spoken else parse_item(entry, name, keyless, check=check)
        except BankError as error:
            faults.append(str(error))
            continue
        if item.id in seen:
            faults.append(f"{name}, item {item.id}, field id: occurs twice; give one of them another id.")
        seen.add(item.id)
        items.append(item)
    return tuple(items), tuple(faults)


@lru_cache(maxsize=8)
def _read_beliefs(path: Path, stamp: int) -> dict[str, Text]:
    """The statements of one file of misconceptions; stamp as in `_read_items`. Cached, because every answer needs it."""
    return {one: {code: raw[code] for code in LANGUAGES} for one, raw in (read_yaml(path) or {}).items()}


class Bank:
    """The questions of a folder of lessons. Files are read when needed; look an item up with ``bank["05-revisit"]``.

    Those of another folder than the course's are checked as they are read; those of the course by ``load_bank`` in its tests.
    """

    def __init__(self, folder: Path | str | None = None) -> None:
        self.folder, self._check = Path(folder or FOLDER), folder is not None
        self._embedded: dict[str, list[Item]] = {}

    def embed(self, lesson: str, items: list[Item]) -> None:
        """Use these questions for this checkpoint from now on: those embedded in its notebook."""
        self._embedded[lesson] = items

    def _files(self, name: str, lesson: str | None = None) -> list[Path]:
        """The files of this name, of all lessons or of one (the beginning of its id is enough)."""
        return sorted(self.folder.glob(f"l{lesson or '[0-9][0-9]_'}*/{name}.yaml"))

    def _read(self, path: Path, check: bool = False) -> tuple[tuple[Item, ...], tuple[str, ...]]:
        try:
            return _read_items(path, path.stat().st_mtime_ns, check or self._check)
        except BankError as error:
            return (), (str(error),)

    def items(self, lesson: str | None = None, checkpoint: bool = False) -> list[Item]:
        """The practice (or checkpoint) items of one lesson, or of all, in file order.

        Faulty items are left out.
        """
        if checkpoint and lesson in self._embedded:
            return list(self._embedded[lesson])
        return [
            item
            for path in self._files("checkpoint" if checkpoint else "items", lesson)
            for item in self._read(path)[0]
        ]

    def interview(self) -> list[Spoken]:
        """The interview questions of all lessons, in file order. Faulty ones are left out."""
        return [item for path in self._files("interview") for item in self._read(path)[0]]

    def lessons(self) -> list[str]:
        """Ids of the lessons that have practice items."""
        return [path.parent.name.removeprefix("l") for path in self._files("items")]

    def faults(self) -> list[str]:
        """A sentence for each violation of the schema in the files."""
        return [fault for name in FILES for path in self._files(name) for fault in self._read(path, True)[1]]

    def get(self, item_id: str) -> Item | None:
        """The item with this id (of practice, a checkpoint or the interview), or None."""
        start = str(item_id)[:2]
        name = {"-c-": "checkpoint", "-i-": "interview"}.get(str(item_id)[2:5], "items")
        for item in (one for items in self._embedded.values() for one in items):
            if item.id == item_id:
                return item
        for path in self._files(name, f"{start}_" if start.isdigit() else "--"):
            for item in self._read(path)[0]:
                if item.id == item_id:
                    return item
        return None

    def __getitem__(self, item_id: str) -> Item:
        """The item with this id. Raises UnknownItem with similar ids, or BankError where its file has a fault."""
        item = self.get(item_id)
        if item is not None:
            return item
        if self._check and (own := [fault for fault in self.faults() if f"item {item_id}," in fault]):
            raise BankError("\n".join(own))
        raise UnknownItem(
            _unknown_sentence(
                item_id, [one.id for one in (*self.items(), *self.items(checkpoint=True), *self.interview())]
            )
        )

    def misconceptions(self) -> dict[str, Text]:
        """Misconception id -> statement of the false belief. Empty where the file is missing."""
        path = self.folder / "misconceptions.yaml"
        return dict(_read_beliefs(path, path.stat().st_mtime_ns)) if path.exists() else {}


def _unknown_sentence(item_id: str, known: list[str]) -> str:
    if gone := no_longer(item_id):
        return gone
    hint = did_you_mean(item_id, known, 3, 0.5) or t(" Copy the id from the notebook.", "请从 notebook 里复制题号。")
    return t(f"There is no question {item_id!r}.", f"没有题号为 {item_id!r} 的题。") + hint


def load_bank(folder: Path | str | None = None) -> Bank:
    """Read and check all files of a folder (default: the course's) and return the bank; ``Bank(folder)`` reads none of them.

    Raises BankError with all faults, one a line.
    """
    bank = Bank(folder)
    if faults := bank.faults():
        raise BankError("\n".join(faults))
    return bank


@lru_cache(maxsize=1)
def default_bank() -> Bank:
    """The bank of the course."""
    return Bank()
