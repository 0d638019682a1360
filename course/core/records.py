"""A measurement as data: rows, the machine, when; saved as JSON that comes back byte for byte."""

from __future__ import annotations

import json
import math
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from reprlib import repr as short
from typing import Any

from course.core import home
from course.core.home import replace_file
from course.core.i18n import Text, both, t

SCHEMA = 1
KINDS: dict[str, Any] = {
    "schema": int,
    "experiment": str,
    "experiment_version": int,
    "lesson": str,
    "created": str,
    "complete": bool,
    "budget_s": (int, float),
    "machine": dict,
    "rows": list,
}
"""The fields of a file in their order, and what they hold."""
LESSONS = Path(__file__).parents[1] / "lessons"
"""The recordings that come with the course lie in ``recordings`` of each lesson."""


class RecordError(ValueError):
    """A record that cannot be written or read. A notebook shows its sentence alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def now() -> str:
    """The time in UTC to the second, such as 2026-05-01T09:30:00Z."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Record:
    """What one run of an experiment measured.

    rows: flat dicts of plain numbers and strings, units in the names (`median_ms`); a value may be a list
    of raw samples (`samples_ms`). machine: `course.core.machine.passport()`. created: UTC, ISO 8601.
    complete: False when time ran out or the run was interrupted. live: measured in this session (never
    stored; a loaded record is a replay). interrupted: stopped by hand (never stored). few: rounds of rows that were left out
    because so few carry no interval (never stored).
    Raises RecordError for values JSON cannot hold (NaN, infinity, tensors).
    """

    experiment: str
    experiment_version: int
    lesson: str
    machine: dict[str, Any]
    rows: list[dict[str, Any]]
    created: str = field(default_factory=now)
    complete: bool = True
    budget_s: float = 0.0
    schema: int = SCHEMA
    live: bool = field(default=False, compare=False)
    interrupted: bool = field(default=False, compare=False)
    few: tuple[int, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "machine", _plain(dict(self.machine), "machine"))
        object.__setattr__(self, "rows", [_plain(dict(row), f"row {i}") for i, row in enumerate(self.rows)])
        object.__setattr__(self, "budget_s", _plain(self.budget_s, "budget_s"))

    def to_json(self) -> str:
        """Canonical JSON: fixed field order, one row a line, a newline at the end."""

        def dump(value: Any) -> str:
            return json.dumps(value, ensure_ascii=False, allow_nan=False)

        rows = ",\n".join(f"  {dump(row)}" for row in self.rows)
        lines = [f' "{key}": {dump(getattr(self, key))}' for key in KINDS if key != "rows"]
        lines.append(f' "rows": [\n{rows}\n ]' if rows else ' "rows": []')
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @classmethod
    def from_json(cls, text: str, where: str = "") -> Record:
        """The record in `text`; `where` (a file name) goes into the sentence of a RecordError."""
        source = where or t("this record", "这份记录")
        try:
            data = json.loads(text)
            schema = data["schema"]
        except (ValueError, KeyError, TypeError):
            raise RecordError(
                t(
                    f"{source} is damaged: it is no whole record. Record it again or fetch it anew.",
                    f"{source} 已损坏：不是完整的记录。请重新录制，或重新获取该文件。",
                )
            ) from None
        if schema != SCHEMA:
            raise RecordError(
                t(
                    f"{source} was written by another version of the course (schema {schema}, this one reads {SCHEMA}). Update the course.",
                    f"{source} 由另一个版本的课程写成（schema {schema}，当前读 {SCHEMA}）。请更新课程。",
                )
            )
        if wrong := [key for key in {**KINDS, **data} if not isinstance(data.get(key), KINDS.get(key, ()))]:
            raise RecordError(
                t(
                    f"{source} is not a record: wrong are {', '.join(wrong)}. Record it again or fetch it anew.",
                    f"{source} 不是有效的记录，不对的有：{'、'.join(wrong)}。请重新录制，或重新获取该文件。",
                )
            )
        return cls(**data)

    @property
    def machine_name(self) -> str:
        """What the machine is called: its GPU or its processor."""
        return str(self.machine.get("device_name") or self.machine.get("device") or "?")

    def label(self) -> Text:
        """One line on where the numbers come from: measured here, or recorded elsewhere and when."""
        name, version, date = self.machine_name, self.machine.get("torch", "?"), self.created[:10]
        if self.live:
            text = both(
                f"live: measured here on {name} with torch {version}", f"实测：在本机 {name} 上测得，torch {version}"
            )
        else:
            text = both(
                f"replay: recorded on {name} with torch {version} on {date}, not on this machine",
                f"回放：{date} 在 {name} 上录制，torch {version}，不是本机的结果",
            )
        if not self.complete:
            text = both(text["en"] + "; incomplete: the run was cut short", text["zh"] + "；不完整：运行提前结束")
        return text

    def file_name(self) -> str:
        """`<experiment>--<device>--<time>.json`, safe on every file system."""
        device = str(self.machine.get("device_name") or self.machine.get("device") or "machine")
        stamp = re.sub(r"[^0-9TZ]", "", self.created)
        return f"{_slug(self.experiment)}--{_slug(device)}--{stamp}.json"


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.").lower()[:60] or "x"


def _plain(value: Any, where: str) -> Any:
    """`value` as JSON gives it back. numpy scalars become Python numbers; NaN, infinity, objects raise."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, int) or isinstance(value, float) and math.isfinite(value):
        return value if isinstance(value, int) else float(value)
    if isinstance(value, Mapping):
        return {str(k): _plain(v, f"{where}, {k}") for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v, f"{where}[{i}]") for i, v in enumerate(value)]
    raise RecordError(
        t(
            f"{where} is {short(value)}; a record holds finite numbers, texts and lists. Leave it out, or convert it with .tolist().",
            f"{where} 的值是 {short(value)}；记录里只能放有限的数、文本和列表。请去掉它，或用 .tolist() 转换。",
        )
    )


def save(record: Record, folder: str | os.PathLike[str]) -> Path:
    """Write `record` into `folder` (made if missing) in one step, so that no half file is ever seen."""
    directory = Path(folder)
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / record.file_name()
    replace_file(target, record.to_json().encode())
    return target


def own_folder() -> Path:
    """Where the learner's own measurements are kept, the newest of each experiment."""
    return home.folder() / "records"


def save_own(record: Record) -> Path:
    """Keep what the learner measured, in place of an older record of the same experiment. Raises OSError."""
    target = save(record, own_folder())
    for path in own_folder().glob(f"{_slug(record.experiment)}--*.json"):
        if path != target:
            path.unlink(missing_ok=True)
    return target


def own(experiment: str, version: int | None = None) -> Record | None:
    """What the learner measured last with this experiment (of this version), or None."""
    return nearest(experiment, {}, [own_folder()], version)


def load(path: str | os.PathLike[str]) -> Record:
    """The record in the file. Raises RecordError when it is missing, damaged or from a newer course."""
    file = Path(path)
    try:
        text = file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise RecordError(t(f"There is no record at {file}.", f"{file} 处没有记录。")) from None
    except UnicodeDecodeError:
        raise RecordError(
            t(f"{file.name} is damaged: it is not text. Fetch it anew.", f"{file.name} 已损坏：不是文本。请重新获取。")
        ) from None
    return Record.from_json(text, file.name)


def recorded(experiment: str, folders: Iterable[str | os.PathLike[str]] | None = None) -> Iterator[tuple[Path, Record]]:
    """Its recordings with their files, without `folders` those of its lesson, which its first two digits name. Damaged files are
    passed over with a warning.
    """
    for folder in folders if folders is not None else sorted(LESSONS.glob(f"l{experiment[:2]}_*/recordings")):
        for path in sorted(Path(folder).glob(f"{experiment}--*.json")):
            try:
                record = load(path)
            except RecordError as error:
                warnings.warn(str(error), stacklevel=3)
                continue
            if record.experiment == experiment:
                yield path, record


def nearest(
    experiment: str,
    machine: Mapping[str, Any],
    folders: Iterable[str | os.PathLike[str]] | None = None,
    version: int | None = None,
) -> Record | None:
    """The recording of `experiment` closest to `machine`; None when there is none.

    machine: its `device` and `device_name`. Same device name first, then same kind of device, then any; among equals complete
    ones, then the newest. version: only recordings of this version of the experiment.
    """
    found = [record for _, record in recorded(experiment, folders) if version in (None, record.experiment_version)]
    kind, name = machine.get("device"), machine.get("device_name") or "unnamed"
    return max(
        found,
        key=lambda one: (
            one.machine.get("device_name") == name,
            one.machine.get("device") == kind,
            one.complete,
            one.created,
        ),
        default=None,
    )
