"""Look at a checkpoint's file before handing it in, as the grader will.

It says which checkpoint the file is, how many answers are in it, which tasks have code, and when it was saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from course.core.i18n import both, pick, t
from course.learning.harvesting import harvest
from course.learning.notebook_file import as_handed_out, read_notebook

MOST_BYTES = 20 << 20


def told(path: Path) -> list[str]:
    """What a grader will find in this file, in sentences. Raises OSError."""
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        return [t("The file is larger than 20 MB; no grader takes it.", "文件超过 20 MB，评分程序不收。")]
    notebook, wrong = read_notebook(data)
    if notebook is None:
        save = t("Open your notebook, save it, and look again.", "请打开自己的 notebook，保存，再检查一次。")
        return [pick(wrong), save]
    said = notebook["metadata"].get("course")
    said = said if isinstance(said, dict) else {}
    lesson, kind = said.get("lesson"), said.get("kind")
    if kind == "lesson":
        return [
            t(
                f"This is the lesson {lesson}, not its checkpoint: the wrong file to hand in.",
                f"这是课程 {lesson}，不是它的测验：交这个文件就交错了。",
            )
        ]
    if kind != "checkpoint" or not isinstance(lesson, str):
        return [t("This notebook is no checkpoint of the course.", "这个 notebook 不是本课程的测验。")]
    sidecar = path.with_name(f"{lesson}.answers.json")
    beside = sidecar.read_text("utf-8", "replace") if sidecar.is_file() else None
    saved = f"{datetime.fromtimestamp(path.stat().st_mtime):%Y-%m-%d %H:%M:%S}"
    lines = [t(f"Checkpoint {lesson}, saved {saved}.", f"测验 {lesson}，保存于 {saved}。")]
    lines += [pick(wrong)] if wrong is not None else []
    return [*lines, *_answers(notebook, beside, lesson, said), *_tasks(notebook, said)]


def missing_in(path: Path, answers: Mapping[str, Any]) -> int:
    """How many of these answers, given in this kernel, are neither in the file nor beside it: given since it was saved."""
    notebook, _ = read_notebook(path.read_bytes())
    there = harvest(notebook)[0] if notebook is not None else {}
    return sum(there.get(item, {}).get("time", "") < one["time"] for item, one in answers.items())


def _answers(notebook: Any, beside: str | None, lesson: str, said: Mapping[str, Any]) -> list[str]:
    answers, problems = harvest(notebook, beside, lesson)
    alone, _ = harvest(notebook, None, lesson)
    asked = said.get("questions")
    asked = len(asked) if isinstance(asked, list) else "?"
    lines = [t(f"Answers: {len(answers)} of {asked}.", f"已作答：{len(answers)} / {asked}。")]
    if len(answers) > len(alone):
        lines.append(
            t(
                f"{len(answers) - len(alone)} of them are only in {lesson}.answers.json: hand in that file too.",
                f"其中 {len(answers) - len(alone)} 个只在 {lesson}.answers.json 里：请把那个文件一起交。",
            )
        )
    return lines + [pick(problem) for problem in problems[:3]]


def _tasks(notebook: Any, said: Mapping[str, Any]) -> list[str]:
    """For each task whether there is code for it."""
    tasks, lines = said.get("tasks"), []
    for identity, name in tasks.items() if isinstance(tasks, dict) else ():
        cells = [cell for cell in notebook["cells"] if _of(cell, f"{identity}-answer")]
        written = any(not as_handed_out(cell["source"]) for cell in cells)
        state = both("has code", "有代码") if written else both("has no code yet", "还没有代码")
        lines.append(f"`{name}`{t(': ', '：')}{pick(state)}")
    return lines


def _of(cell: Mapping[str, Any], identity: str) -> bool:
    said = cell["metadata"].get("nbgrader")
    return cell["id"] == identity or (isinstance(said, dict) and said.get("grade_id") == identity)
