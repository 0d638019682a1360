"""Google Colab: warn before the first answer that files are deleted with the runtime, and store answers on Drive."""

from __future__ import annotations

import os
from pathlib import Path

from course.core import colab
from course.core.i18n import t
from course.learning.log import home_path
from course.learning.transfer import TransferError, import_from
from course.verbs import state
from course.verbs.say import say


def outlives_runtime(path: Path) -> bool:
    """Whether a file is still there after the runtime has ended: on Colab only if it is on Drive, elsewhere always."""
    return not colab.here() or path.is_relative_to(colab.DRIVE)


def before_answering() -> list[str]:
    """A warning while answers are not stored on Drive. Once they are, earlier answers are copied there and a sentence says so."""
    log = state.now.log
    if not colab.here() or "COURSE_HOME" in os.environ:
        return []
    if outlives_runtime(log.path):
        return _taken_along()
    return [
        t(
            "⚠️ When this Colab runtime ends, its files are deleted, your answers too. "
            f"To keep them, run `{colab.MOUNT}` in a cell of its own now, then this cell again; what you answered before comes along. "
            "Without Drive, run `export_progress()` before you leave and download the file.",
            f"⚠️ 这个 Colab 运行时一结束，里面的文件就会被删除，包括你的作答。要保留，请现在就在单独的单元格里运行 `{colab.MOUNT}`，"
            "再重新运行本单元格；之前的作答会一并带过去。不用 Drive 的话，离开前请运行 `export_progress()` 并下载文件。",
        )
    ]


def _taken_along() -> list[str]:
    """Copy answers given before Drive was mounted to the log on Drive; returns a sentence."""
    log, before = state.now.log, home_path()
    if not before.exists():
        return []
    try:
        merged = import_from(log, before)
    except TransferError as error:
        return [str(error)]
    if not merged.new:
        return []
    return [
        t(
            f"Your earlier answers of this runtime are on Drive now: {merged}",
            f"本次运行时之前的作答已存到 Drive：{merged}",
        )
    ]


def warn_where_it_goes(path: Path) -> None:
    """On Colab: say that a file goes with the runtime, and how it is downloaded."""
    if not outlives_runtime(path):
        line = colab.download(path)
        say(
            t(
                f"⚠️ This file goes when the Colab runtime ends. Download it now: `{line}`.",
                f"⚠️ Colab 运行时一结束，这个文件就会消失。请现在下载：`{line}`。",
            )
        )
