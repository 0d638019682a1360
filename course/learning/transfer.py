"""Move progress between machines: write the log into one file, and merge such a file into a log.

A progress file has the lines of a log, so a copied ``answers.jsonl`` is one too. Merging takes the union of the lines by
their ids; no line of either side is lost.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from course.core.i18n import t
from course.learning.entry import parse, to_line
from course.learning.log import AnswerLog

FILE_NAME = "torch-backends-progress.jsonl"


class TransferError(ValueError):
    """A progress file that cannot be read or written; the message says what to do instead."""


@dataclass(frozen=True)
class Merged:
    """The result of merging a file, as numbers of lines.

    new: added to this log. known: in the log already. aside: damaged, or different from a line with the same id; copied to
    <log>.damaged.
    """

    new: int
    known: int
    aside: int

    def __str__(self) -> str:
        parts = [t(f"{self.new} new", f"新增 {self.new} 条"), t(f"{self.known} already there", f"已有 {self.known} 条")]
        if self.aside:
            parts.append(t(f"{self.aside} damaged and set aside", f"损坏 {self.aside} 条，已另存"))
        return t(", ", "，").join(parts) + t(".", "。")


def import_from(log: AnswerLog, path: Path | str) -> Merged:
    """Add the lines of a progress file that this log does not have.

    Raises TransferError without a change where the file is missing or contains no answer, and where this log cannot be written.
    """
    path = Path(path).expanduser()
    data = _read(path)
    if not parse(data)[1]:
        raise TransferError(
            t(
                f"{path} holds no answers of this course, so nothing was changed. "
                "Choose a file written by export_progress, or an answers.jsonl.",
                f"{path} 里没有本课程的作答记录，没有做任何改动。请选择 export_progress 写出的文件，"
                "或某个 answers.jsonl。",
            )
        )
    return _merge(log, data)


def export_to(log: AnswerLog, path: Path | str | None = None) -> tuple[Path, int]:
    """Write the whole log into a file, or into a file in a folder; returns (file, number of lines).

    Lines are added to an existing progress file; another existing file is not touched. Raises TransferError.
    """
    target = Path(path or FILE_NAME).expanduser().absolute()
    if target.is_dir():
        target = target / FILE_NAME
    there = _read(target) if target.exists() else b""
    if there.strip() and not parse(there)[1]:
        raise TransferError(
            t(
                f"{target} is another kind of file, so it was left alone. Choose a new name.",
                f"{target} 是别的文件，没有动它。请换一个文件名。",
            )
        )
    own = _read(log.path) if log.path.exists() else b""
    _merge(AnswerLog(target), own + b"\n" + b"".join(map(to_line, log.pending)))
    return target, len(parse(_read(target))[1])


def _merge(log: AnswerLog, data: bytes) -> Merged:
    """Add the lines that a log does not have. Raises TransferError where it cannot be written."""
    _, raws, damaged = parse(data)
    own = parse(_read(log.path))[1] if log.path.exists() else {}
    own.update({entry.id: to_line(entry) for entry in log.pending})
    fresh = {identity: raw for identity, raw in raws.items() if identity not in own}
    at_odds = [raw for identity, raw in raws.items() if identity in own and not _same(raw, own[identity])]
    try:
        if fresh or not log.path.exists():
            log.write_lines(b"".join(raw.strip(b"\r") + b"\n" for raw in fresh.values()))
    except OSError as error:
        raise TransferError(
            t(
                f"{log.path} cannot be written ({error.strerror}), so nothing was added. Free some space, or choose another folder "
                "(for your own log: set COURSE_HOME to it), and try again.",
                f"无法写入 {log.path}（{error.strerror}），没有添加任何内容。请腾出空间，或换一个文件夹"
                "（自己的记录：把 COURSE_HOME 设为它），再试一次。",
            )
        ) from None
    if aside := [*damaged, *at_odds]:
        log.set_aside(aside)
    return Merged(len(fresh), len(raws) - len(fresh) - len(at_odds), len(aside))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise TransferError(
            t(
                f"There is no file {path}. Check the name; export_progress says where it wrote.",
                f"没有文件 {path}。请检查文件名；export_progress 会说明写到了哪里。",
            )
        ) from None
    except OSError as error:
        raise TransferError(
            t(
                f"{path} cannot be read ({error.strerror}). Nothing was changed.",
                f"无法读取 {path}（{error.strerror}），没有做任何改动。",
            )
        ) from None


def _same(one: bytes, other: bytes) -> bool:
    return one.strip() == other.strip() or json.loads(one) == json.loads(other)
