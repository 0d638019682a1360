"""Read a notebook file, whatever program saved it.

Only what a grader or a person needs is taken: the cells with their texts, the outputs as they are, and what the course and
nbgrader have written into the metadata. A key that is missing or unknown costs nothing. Pure functions without nbformat, which
refuses whole notebooks for one key that it does not know.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from course.core.i18n import Text, both
from course.learning.harvesting import crowded

EMPTY = both("The notebook file was empty.", "notebook 文件是空的。")
HALF = both("The notebook file ends in the middle.", "notebook 文件只有一半。")
NOT_JSON = both("The file is not a notebook: it cannot be read as JSON.", "这个文件不是 notebook：无法按 JSON 读取。")
CROWDED = both(
    "The notebook file is made of far too many parts, or nests them far too deeply, and was not read.",
    "notebook 文件的组成部分过多或嵌套过深，未读取。",
)
OTHER_CODE = both(
    "The file is not saved in plain UTF-8; it was read all the same.", "文件不是以纯 UTF-8 保存的；仍然照常读取。"
)
NOT_NOTEBOOK = both(
    "The file is valid JSON but not a notebook, or one of a very old format.",
    "文件是合法的 JSON，但不是 notebook，或者是很旧格式的 notebook。",
)
CELLS_LOST = both(
    "Some cells of the notebook could not be read and were left out.", "notebook 中有些单元格无法读取，已略去。"
)
IDS_LOST = both(
    "Some cells of the notebook had ids that no notebook may have; these ids were left out, the cells are there.",
    "notebook 中有些单元格的 id 不合规定；这些 id 已略去，单元格都在。",
)
NEWER = both(
    "The notebook has a newer format than this course knows; the cells were read, anything unknown was left out.",
    "notebook 的格式比本课程认识的更新；单元格都已读取，不认识的内容已略去。",
)
STUB = {"en": "# YOUR CODE HERE\nraise NotImplementedError", "zh": "# 在这里写你的代码\nraise NotImplementedError"}
"""What stands in the cell of a task where a student's code belongs; without the second line where a value is asked for."""
LITERALS = ("true", "false", "null")  # what a file can end in the middle of, beside strings
METADATA = ("course", "course_placeholder")  # of a notebook
OF_CELL = ("nbgrader", "tags")
KINDS = ("code", "markdown", "raw")
ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
MARKUP = re.compile(r"[<>&\"']")
FORMAT = 4


def read_notebook(data: bytes) -> tuple[dict[str, Any] | None, Text | None]:
    """Read a notebook. Returns (notebook, None), or (what could be read, what is wrong), or (None, what is wrong).

    notebook: {"metadata", "cells"}. Each cell has "id", "cell_type" (one of ``KINDS``), "metadata", "source" (one text) and
    "outputs" (a list, as it came), and "attachments" where it has pictures.
    """
    if not data.strip(b"\0\r\n\t "):
        return None, EMPTY
    if crowded(data):
        return None, CROWDED
    code = json.detect_encoding(data)  # an editor or a shell may have saved it as UTF-16, or with a byte order mark
    text, wrong = _decoded(data, code)
    if code != "utf-8" and crowded(text):
        return None, CROWDED
    try:  # NaN and Infinity are no JSON: no page could read them
        content = json.loads(text, parse_constant=lambda name: None)
    except (ValueError, RecursionError) as error:
        return None, HALF if _cut(wrong or error) else NOT_JSON
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        return None, NOT_NOTEBOOK
    if re.search(r"\\u[dD][89a-fA-F]", text):  # half surrogates end here
        text = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
        content = json.loads(text)
    cells, lost, ids_lost = _cells(content["cells"])
    metadata = content.get("metadata")
    own = {name: metadata[name] for name in METADATA if name in metadata} if _is(metadata) else {}
    python = metadata.get("language_info") if _is(metadata) else None
    if _is(python) and isinstance(python.get("version"), str):
        own["language_info"] = {"name": "python", "version": python["version"]}
    newer = isinstance(content.get("nbformat"), int) and content["nbformat"] > FORMAT
    other = code != "utf-8" or wrong is not None
    happened = ((lost, CELLS_LOST), (newer, NEWER), (ids_lost, IDS_LOST), (other, OTHER_CODE))
    return {"metadata": own, "cells": cells}, next((why for did, why in happened if did), None)


def as_handed_out(source: str) -> bool:
    """Whether nobody has written into the cell of a task yet."""
    lines = [line.strip() for line in source.strip().splitlines()] or [""]
    for stub in STUB.values():
        first, second = stub.splitlines()
        if lines[-1] in ("", first) or lines[-2:] == [first, second]:
            return True
    return False


def _decoded(data: bytes, code: str) -> tuple[str, UnicodeDecodeError | None]:
    """The text of the file, and what is wrong with its encoding; then each character that cannot be read is replaced."""
    try:
        return data.decode(code).rstrip("\0"), None
    except UnicodeDecodeError as error:
        return data.decode(code, "replace").rstrip("\0"), error


def _cells(raw: list[Any]) -> tuple[list[dict[str, Any]], bool, bool]:
    """(the cells, whether one could not be read, whether one had an id that no notebook may have)."""
    made, seen, lost, odd = [], set(), False, False
    for number, one in enumerate(raw):
        cell = _cell(one)
        if cell is None:
            lost = True
            continue
        name = one.get("id")
        if not (isinstance(name, str) and ID.fullmatch(name)):
            odd |= isinstance(name, str) and MARKUP.search(name) is not None
            name = f"cell-{number}"
        while name in seen:
            name = f"{name[:50]}-{number}"
        seen.add(name)
        made.append({"id": name, **cell})
    return made, lost, odd


def _cell(raw: Any) -> dict[str, Any] | None:
    """One cell in the form of the format, without its id; None where it is no cell, or its text cannot be read."""
    if not _is(raw):
        return None
    kind, source = raw.get("cell_type"), raw.get("source")
    if source is None and kind in KINDS:
        source = ""
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        return None
    if kind not in KINDS:
        kind = "code" if "outputs" in raw else "raw"
    metadata = raw.get("metadata")
    own = {name: metadata[name] for name in OF_CELL if name in metadata} if _is(metadata) else {}
    if "tags" in own:
        tags = own.pop("tags")
        if isinstance(tags, list) and (texts := [*dict.fromkeys(tag for tag in tags if isinstance(tag, str))]):
            own["tags"] = texts
    made: dict[str, Any] = {"cell_type": kind, "metadata": own, "source": source}
    outputs = raw.get("outputs")
    made["outputs"] = outputs if isinstance(outputs, list) else []
    pictures = raw.get("attachments")
    if _is(pictures) and all(_is(one) and all(isinstance(x, str) for x in one.values()) for one in pictures.values()):
        made["attachments"] = pictures
    return made


def _is(value: Any) -> bool:
    return isinstance(value, Mapping)


def _cut(error: Exception) -> bool:
    """Whether reading failed because the text ends too early, not because of a fault in it."""
    if isinstance(error, UnicodeDecodeError):
        return error.end == len(error.object) and "end of data" in error.reason
    return (
        isinstance(error, json.JSONDecodeError)
        and error.doc.lstrip().startswith("{")
        and (
            error.msg.startswith("Unterminated")
            or any(word.startswith(error.doc[error.pos :].strip()) for word in LITERALS)
        )
    )
