"""Write a file for a learner to take along, and say where it is."""

from __future__ import annotations

from pathlib import Path

from course.core import colab
from course.core.files import replace_file
from course.core.i18n import t
from course.verbs import colab_notice
from course.verbs.say import say


def write_file(path: Path, content: bytes, note: str = "") -> None:
    """Write the file and say where; a folder or a full disk is answered by a sentence. note: what to do with it."""
    try:
        replace_file(path, content)
    except OSError as error:
        say(
            t(
                f"`{path}` could not be written ({error.strerror or error}). Choose another file name and try again.",
                f"无法写入 `{path}`（{error.strerror or error}）。请换个文件名再试。",
            )
        )
        return
    size = f"{len(content) / 1e3:,.0f} kB"
    say(t(f"📦 Written: `{path}` ({size}). {note}", f"📦 已写好：`{path}`（{size}）。{note}").strip())
    warn_where_it_goes(path)


def warn_where_it_goes(path: Path) -> None:
    """On Colab: say that a file goes with the runtime, and how it is downloaded."""
    if not colab_notice.outlives_runtime(path):
        line = colab.download(path)
        say(
            t(
                f"⚠️ This file goes when the Colab runtime ends. Download it now: `{line}`.",
                f"⚠️ Colab 运行时一结束，这个文件就会消失。请现在下载：`{line}`。",
            )
        )
