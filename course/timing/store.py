"""Results on disk: one JSON file each, with the passport of the machine that measured."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from course.files import replace_file
from course.i18n import t
from course.machine import passport
from course.timing.validation import TimingError

FORMAT, VERSION = "course.timing", 1


def write(path: str | os.PathLike[str], kind: str, result: Mapping[str, Any]) -> Path:
    """Write a result as plain data to `path` (a file there is replaced) and return the path.

    Raises TimingError when it cannot be written there.
    """
    content = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "machine": passport(),
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "result": result,
    }
    target = _file(path)
    try:
        replace_file(target, json.dumps(content, ensure_ascii=False, default=str).encode() + b"\n")
    except OSError as error:
        raise TimingError(
            t(
                f"{target} cannot be written ({error.strerror}). Name a folder that exists and is yours.",
                f"无法写入 {target}（{error.strerror}）。请换一个存在且可写的文件夹。",
            )
        ) from error
    return target


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What `write` wrote. Raises TimingError for a file that is missing, damaged, foreign or newer than this course."""
    file = _file(path)
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise TimingError(
            t(
                f"{path} cannot be read ({error.strerror}). Write one with result.save(path) first.",
                f"无法读取 {path}（{error.strerror}）。请先用 result.save(path) 写一个。",
            )
        ) from error
    except ValueError:
        content = None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise TimingError(
            t(
                f"{path} holds no result of course.timing, or only part of one. Measure again and save anew.",
                f"{path} 里没有 course.timing 的结果，或者不完整。请重新测量并保存。",
            )
        )
    if content.get("version") != VERSION:
        raise TimingError(
            t(
                f"{path} comes from another version of the course (format {content.get('version')}; this one reads {VERSION}). "
                "Measure again and save anew.",
                f"{path} 来自另一个版本的课程（格式 {content.get('version')}，这里读的是 {VERSION}）。请重新测量并保存。",
            )
        )
    return content


def _file(path: Any) -> Path:
    if isinstance(path, (str, os.PathLike)):
        return Path(path)
    kind = type(path).__name__
    raise TimingError(
        t(
            f"A file is named by its path, not by a {kind}: write result.save(path), then load(path) or against(path, now).",
            f"文件要用路径指定，而不是 {kind}：先 result.save(path)，再 load(path) 或 against(path, now)。",
        )
    )
