"""Recordings from another machine: packed into one ZIP to send, checked, and put into their lessons."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from course.core.catalog import lesson_folder
from course.core.machine import passport
from course.core.records import Record, RecordError, load, save
from course.experiment import base

SAME = ("cpu", "torch", "cuda", "cudnn")
"""What all recordings of one ZIP have in common: they come from one machine. Those of one device have its name in common, too."""
LARGEST = 5_000_000  # bytes of one recording, unpacked; the largest of the course has some thousand
OLDEST_TORCH = (2, 9)


def lesson_recordings(exp: base.Experiment) -> Path:
    """The folder of the recordings that come with the experiment's lesson."""
    return lesson_folder(exp.lesson) / "recordings"


def pack(folder: Path) -> Path | None:
    """Write this machine's complete recordings of a folder, the newest of each experiment, to a ZIP beside it; returns the
    ZIP, or None where there are none.
    """
    about = passport()
    found = [record for path in sorted(folder.glob("*.json")) if (record := load(path)).complete]
    newest = {
        one.experiment: one
        for one in sorted(found, key=lambda one: one.created)
        if all(one.machine.get(key) == about[key] for key in SAME)
        and one.machine["device_name"] == passport(one.machine["device"])["device_name"]
    }
    if not newest:
        return None
    target = folder.with_name(f"{folder.name}.zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(newest):
            archive.writestr(newest[name].file_name(), newest[name].to_json())
    return target


def unpack(file: Path) -> tuple[list[Record], list[str]]:
    """(the recordings in a ZIP, a sentence for each file in it that is none). Nothing is written."""
    found, faults = [], []
    try:
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                try:
                    if entry.file_size > LARGEST:
                        raise RecordError(f"{entry.filename} has {entry.file_size} bytes; a recording has less")
                    found.append(Record.from_json(archive.read(entry).decode("utf-8"), entry.filename))
                except (RecordError, UnicodeDecodeError) as error:
                    faults.append(f"{entry.filename}: {error}")
    except (OSError, zipfile.BadZipFile) as error:
        faults.append(f"{file}: {error}")
    return found, faults


def check(records: list[Record]) -> list[str]:
    """A sentence for each thing that speaks against these recordings; empty where they can be added."""
    faults = [f"{one.experiment}: {fault}" for one in records for fault in _faults(one)]
    told = [(key, {str(one.machine.get(key)) for one in records}) for key in SAME]
    for device in sorted({str(one.machine.get("device")) for one in records}):
        names = {str(one.machine.get("device_name")) for one in records if one.machine.get("device") == device}
        told.append((f"the name of its {device}", names))
    faults += [f"not one machine: {key} is {' and '.join(sorted(values))}" for key, values in told if len(values) > 1]
    names = [one.experiment for one in records]
    faults += [f"{name}: recorded {names.count(name)} times" for name in sorted({*names}) if names.count(name) > 1]
    return faults if records else ["there is no recording in it"]


def add(records: list[Record]) -> list[Path]:
    """Put recordings into their lessons; returns the files."""
    return [save(one, lesson_recordings(base.get(one.experiment))) for one in records]


def _faults(record: Record) -> Iterator[str]:
    """What speaks against one recording: its experiment, machine, versions, time, numbers, or that its sentence cannot be made."""
    exp = base.load_all().get(record.experiment)
    if exp is None:
        yield "there is no experiment of this name"
        return
    if (record.lesson, record.experiment_version) != (exp.lesson, exp.version):
        yield f"recorded for version {record.experiment_version} of {record.lesson}, now it is {exp.version} of {exp.lesson}"
    if not record.complete or not record.rows:
        yield "it is not complete"
    yield from _machine_faults(exp, record.machine)
    try:
        created = datetime.strptime(record.created, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
        if created > datetime.now(timezone.utc) + timedelta(days=1):
            yield f"created in the future: {record.created}"
    except ValueError:
        yield f"created at {record.created}, which is no time in UTC"
    for column, value in _times(record):
        if not 0 <= value < 3_600_000:
            yield f"{column} is {value:g}: no time of an experiment"
    try:
        exp.headline(record)
    except Exception as error:  # noqa: BLE001  (the sentences read the rows as they expect them)
        yield f"its rows cannot be told: {type(error).__name__}: {error}"


def _machine_faults(exp: base.Experiment, machine: dict[str, Any]) -> Iterator[str]:
    """What of the machine does not fit the experiment, or is no business of a recording."""
    if unlike := {*machine} ^ {*passport()}:
        yield f"the machine is told otherwise than by the course: {', '.join(sorted(unlike))}"
        return
    if exp.needs in ("cuda", "mps") and machine["device"] != exp.needs:
        yield f"it needs {exp.needs} and was recorded on {machine['device']}"
    if not machine["device_name"]:
        yield "the machine has no name"
    numbers = re.match(r"(\d+)\.(\d+)", str(machine["torch"]))
    if not numbers or tuple(map(int, numbers.groups())) < OLDEST_TORCH:
        yield f"torch {machine['torch']}: the course begins at 2.9"
    if machine["device"] == "cuda":
        for key in ("cuda", "cudnn", "driver", "capability"):
            if not machine[key]:
                yield f"{key} is not told"


def _times(record: Record) -> Iterator[tuple[str, float]]:
    """(column, value) of every time in the rows."""
    for row in record.rows:
        for column, value in row.items():
            if column.endswith("_ms"):
                for one in value if isinstance(value, list) else [value]:
                    if isinstance(one, int | float):
                        yield column, one
