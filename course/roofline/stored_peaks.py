"""Measured peaks kept in the learner's home, `peaks.json` beside the answers, with the date of each.

One entry for a machine, device, type, thread count and float32 precisions. A file that cannot be read is set
aside, never deleted; a home that cannot be written costs nothing but the measuring next time.
"""

from __future__ import annotations

import contextlib
import json
import math
from pathlib import Path
from typing import Any

from course import home
from course.files import replace_file
from course.i18n import t
from course.roofline.roof import Peaks

SCHEMA = 3
"""Version of the file. Older ones mixed products with convolutions whatever their precision was: those peaks are measured again."""
MACHINE = ("device_name", "capability", "cpu", "cpu_capability", "cores", "torch", "cuda", "os")
"""Fields of the machine's passport that a peak depends on."""
ASKED = ("device", "dtype", "threads", "precision", "convolution_precision")
ROOF, APART = ("flops_per_s", "bytes_per_s"), ("products_per_s", "convolutions_per_s")
"""Rates above 0; rates that are 0 where nothing of the kind was measured."""
WORDS = ("device", "dtype", "precision", "convolution_precision", "created", "work_by", "traffic_by")
FIELDS = (*ROOF, *APART, *WORDS, "threads")


def path() -> Path:
    """Where the peaks are kept."""
    return home.folder() / "peaks.json"


def find(asked: dict[str, Any], machine: dict[str, Any]) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """The stored entry for `asked` (fields of Peaks, without machine) or None, and sentences for the learner."""
    entries, notes = _read()
    wanted = _key(asked, machine)
    for entry in entries:
        if _key(entry, entry["machine"]) == wanted:
            return {name: entry[name] for name in FIELDS}, notes
    return None, notes


def add(peaks: Peaks) -> tuple[str, ...]:
    """Keep `peaks` in place of an older entry for the same; gives sentences if it could not be written."""
    entry: dict[str, Any] = {name: getattr(peaks, name) for name in FIELDS}
    entry["machine"] = {name: peaks.machine.get(name) for name in MACHINE}
    entries, _ = _read()
    others = [e for e in entries if _key(e, e["machine"]) != _key(entry, entry["machine"])]
    content = json.dumps({"schema": SCHEMA, "peaks": [*others, entry]}, ensure_ascii=False, indent=1)
    try:
        path().parent.mkdir(parents=True, exist_ok=True)
        replace_file(path(), content.encode() + b"\n")
    except OSError as error:
        return (
            t(
                f"The peaks could not be saved in {path().name} ({error.strerror}); next time they will be measured again.",
                f"峰值没能存进 {path().name}（{error.strerror}）；下次会重新测量。",
            ),
        )
    return ()


def _key(asked: dict[str, Any], machine: dict[str, Any]) -> tuple[Any, ...]:
    return (*(asked[name] for name in ASKED), *(machine.get(name) for name in MACHINE))


def _read() -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """All entries; a damaged file is moved to peaks.json.damaged and said so."""
    try:
        content = path().read_bytes()
    except OSError:
        return [], ()
    try:
        data = json.loads(content)
        if data["schema"] < SCHEMA:
            return [], ()
        if data["schema"] == SCHEMA and all(map(_whole, data["peaks"])):
            return data["peaks"], ()
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    aside = path().with_name(path().name + ".damaged")
    with contextlib.suppress(OSError):
        path().replace(aside)
    return [], (
        t(
            f"The peaks saved in {path().name} are damaged; the file is now called {aside.name}. "
            "They are measured again, and you need not do anything.",
            f"{path().name} 里保存的峰值已损坏，文件已改名为 {aside.name}；峰值会重新测量，无需处理。",
        ),
    )


def _whole(entry: dict[str, Any]) -> bool:
    """Whether an entry holds what an entry must hold."""
    rates = [entry[name] for name in (*ROOF, *APART)]
    return (
        all(isinstance(rate, (int, float)) and 0 <= rate < math.inf for rate in rates)
        and all(entry[name] > 0 for name in ROOF)
        and all(isinstance(entry[name], str) for name in WORDS)
        and isinstance(entry["threads"], int)
        and isinstance(entry["machine"], dict)
    )
