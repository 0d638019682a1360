"""Tell what the student's machine had and this one lacks from what is wrong with the code.

A cell that stops here because of a device, a module or a newer Python ran where the student wrote it. That costs nobody a point:
a submission that would lose some is held back, with the reason.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from nbformat import NotebookNode

from course.core.i18n import Text, both
from grader.marking.newer_syntax import needs_newer
from grader.project.task import Task

DEVICE = re.compile(
    r"not compiled with CUDA|NVIDIA driver|No CUDA GPUs|CUDA (?:error|is not available|unavailable)|CUDA-capable"
    r"|\b(?:MPS|mps|XPU|xpu|ROCm|HIP)\b.*(?:not|no |without|only|cannot|support)|not linked with support for"
    r"|from the '(?:MPS|CUDA|XPU|HIP|XLA|HPU)' backend"
    r"|Cannot access accelerator|cannot pin .* without|invalid device ordinal|torch_(?:xla|npu)"
)
MODULE = re.compile(r"No module named '([\w.]+)'")
NEWER_LIBRARY = re.compile(
    r"module '(torch[\w.]*)' has no attribute '(\w+)'|cannot import name '(\w+)' from '(torch[\w.]*)'"
)
NEWEST_KNOWN = (3, 14)  # of a later Python nobody here knows what it reads
NOT_RUN = ("did not run to its end", "没有运行完")
HERE = ".".join(map(str, sys.version_info[:2]))


@dataclass(frozen=True)
class Raised:
    """How a cell ended: the name of the exception, and its message; empty where it was stopped, or did not run."""

    name: str = ""
    message: str = ""

    @property
    def line(self) -> str:
        """The last line of the traceback."""
        return f"{self.name}: {self.message}" if self.message else self.name


def lacking(nb: NotebookNode, raised: Mapping[int, Raised], files: Mapping[str, bytes]) -> Text | None:
    """Why cells stopped that would have run on the student's machine, as a sentence; None where there are none.

    raised: index of a cell -> how it ended. files: those in the working folder.
    """
    en, zh = [], []
    for index, error in raised.items():
        why = _why(error, nb.cells[index].source, _python(nb), files)
        if why is not None:
            en.append(f"cell {index + 1} {why['en']} ({error.line[:150]})")
            zh.append(f"第 {index + 1} 个单元格{why['zh']}（{error.line[:150]}）")
    return both("; ".join(en[:3]), "；".join(zh[:3])) if en else None


def broken(nb: NotebookNode, tasks: Mapping[str, Task], raised: Mapping[int, Raised]) -> dict[str, Text]:
    """For each task whose defining cell did not run to its end: the sentence that says so."""
    found = {}
    for identity, task in tasks.items():
        defines = re.compile(
            rf"^\s*(?:async\s+)?(?:def|class)\s+{re.escape(task.name)}\b|^\s*{re.escape(task.name)}\s*(?::[^=\n]+)?=(?!=)",
            re.MULTILINE,
        )
        for index, error in raised.items():
            if defines.search(nb.cells[index].source):
                en, zh = (f"stopped: {error.line[:200]}", f"中断了：{error.line[:200]}") if error.line else NOT_RUN
                found[identity] = both(
                    f"The cell that defines `{task.name}` (cell {index + 1}) {en}.",
                    f"定义 `{task.name}` 的单元格（第 {index + 1} 个）{zh}。",
                )
    return found


def _why(error: Raised, source: str, python: tuple[int, ...], files: Mapping[str, bytes]) -> Text | None:
    if error.name == "ModuleNotFoundError" and (found := MODULE.search(error.message)):
        name = found[1]
        if name.split(".")[0] not in {PurePosixPath(path).parts[0].removesuffix(".py") for path in files}:
            return both(
                f"needs the module `{name}`, which is neither here nor among the files",
                f"需要模块 `{name}`，这台机器上和交来的文件里都没有",
            )
    if error.name in ("SyntaxError", "IndentationError") and (not python or python > sys.version_info[:2]):
        helpers = [data.decode("utf-8", "replace") for path, data in files.items() if path.endswith(".py")]
        if python > NEWEST_KNOWN or any(map(needs_newer, [source, *helpers])):
            its = f" {'.'.join(map(str, python))}" if python else ""
            return both(
                f"may need the newer Python{its}; here it is {HERE}", f"可能需要更新的 Python{its}；这里是 {HERE}"
            )
    if DEVICE.search(error.message):
        return both("needs a device that this machine lacks", "需要这台机器没有的设备")
    if NEWER_LIBRARY.search(error.message):
        return both("needs another version of torch than is here", "需要的 torch 版本与这里的不同")
    return None


def _python(nb: NotebookNode) -> tuple[int, ...]:
    """The version of Python that the notebook was saved with, (3, 13); empty where it does not say."""
    said = nb.metadata.get("language_info")
    found = re.match(r"(3)\.(\d{1,2})", str(said.get("version", ""))) if isinstance(said, dict) else None
    return tuple(map(int, found.groups())) if found else ()
