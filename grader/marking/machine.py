"""Tell what the student's machine had and this one lacks from what is wrong with the code.

A cell that stops here because of a device, a module or a newer Python ran where the student wrote it. That costs nobody a point:
a submission that would lose some is held back, with the reason. So is one that may be such a case: a syntax error at what a newer
Python might read is not told from an error of the student's.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from nbformat import NotebookNode

from course.core.i18n import Text, both
from grader.handin.files import Files
from grader.marking.said import say

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
NEWER_SYNTAX = (  # since which Python; what an older one says of it; how it is written
    (
        (3, 12),  # quotes, comments and new lines inside an f-string; aliases and parameters of types
        re.compile(r"f-string: unmatched|f-string: expecting '}'|f-string expression part cannot"),
        re.compile(
            r"^\s*type\s+\w+[^=\n]*=|^\s*(?:async\s+)?(?:def|class)\s+\w+\s*\["
            r"|(?<!\w)[rR]?[fF][rR]?(?P<quote>[\"'])(?!(?P=quote){2})[^\"'\n]*\{[^}\"'\n]*$",
            re.MULTILINE,
        ),
    ),
    (
        (3, 14),  # `except` without parentheses; t-strings
        re.compile(r"multiple exception types must be parenthesized"),
        re.compile(r"(?<!\w)[rR]?[tT][rR]?[\"']"),
    ),
)
NEWER_NAMES = (  # since which Python; names of its library
    ((3, 12), re.compile(r"\bitertools\b.*\bbatched\b|\bmath\b.*\bsumprod\b|\btyping\b.*\boverride\b")),
    ((3, 13), re.compile(r"\bcopy\.replace\b|\bwarnings\b.*\bdeprecated\b")),
)
NEWEST_KNOWN = (3, 14)  # of a later Python nobody here knows what it reads
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


def lacking(nb: NotebookNode, raised: Mapping[int, Raised], files: Files) -> Text | None:
    """Why cells stopped that would have run on the student's machine, as a sentence; None where there are none.

    raised: index of a cell -> how it ended; a function of one that ran may stop later. files: the working folder's.
    """
    said, python = [], _python(nb)
    for number, cell in enumerate(nb.cells):
        error = raised.get(number, Raised())
        if cell.cell_type == "code" and (why := _why(error, cell.source, python, files)):
            said.append(say("machine.cell", number=number + 1, why=why, line=(error.line or cell.source)[:150]))
    return both("; ".join(one["en"] for one in said[:3]), "；".join(one["zh"] for one in said[:3])) if said else None


def _why(error: Raised, source: str, python: tuple[int, ...], files: Files) -> Text | None:
    if error.name == "ModuleNotFoundError" and (found := MODULE.search(error.message)):
        if found[1].split(".")[0] not in {PurePosixPath(path).parts[0].removesuffix(".py") for path in files.there}:
            return say("machine.module", name=found[1])
    for name in files.unread if error.name == "FileNotFoundError" else ():
        if re.search(rf"['/]{re.escape(PurePosixPath(name).name)}'$", error.message):
            return say("machine.file", name=name, why=files.unread[name])
    newer = error.name in ("SyntaxError", "IndentationError") and _may_be_newer(error, source, python, files.there)
    if newer or any(_may_read(since, python) and names.search(source) for since, names in NEWER_NAMES):
        return say("machine.python", version=f" {'.'.join(map(str, python))}" if python else "", here=HERE)
    kinds = {"device": DEVICE, "torch": NEWER_LIBRARY}.items()
    return next((say(f"machine.{kind}") for kind, said in kinds if said.search(error.message)), None)


def _may_be_newer(error: Raised, source: str, python: tuple[int, ...], files: Mapping[str, bytes]) -> bool:
    """Whether the Python that saved the notebook may read what is an error here. python: its version, empty where it is not known."""
    read = [source, *(data.decode("utf-8", "replace") for path, data in files.items() if path.endswith(".py"))]
    return python > NEWEST_KNOWN or any(
        _may_read(since, python) and (said.search(error.message) or any(map(written.search, read)))
        for since, said, written in NEWER_SYNTAX
    )


def _may_read(since: tuple[int, ...], python: tuple[int, ...]) -> bool:
    """Whether the Python that saved the notebook may read what is new since this one, which is newer than the one here."""
    return sys.version_info[:2] < since <= (python or since)


def _python(nb: NotebookNode) -> tuple[int, ...]:
    """The version of Python that the notebook was saved with, (3, 13); empty where it does not say."""
    said = nb.metadata.get("language_info")
    found = re.match(r"(3)\.(\d{1,2})", str(said.get("version", ""))) if isinstance(said, dict) else None
    return tuple(map(int, found.groups())) if found else ()
