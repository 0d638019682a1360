"""``docs/cards.md`` and its Chinese twin: which line was measured on which card, of ``course/lessons/cards.yaml``."""

from __future__ import annotations

from pathlib import Path

from course.core.i18n import LANGUAGES, both, pick, speaking
from course.experiment import machines
from course.experiment.machines import Cell
from grader.project import Project

TITLE = both("🖥️ Which line on which card", "🖥️ 哪张卡，写哪一行")
INTRO = both(
    "A line that helps on one card can cost on another. Each row is a situation and a line to try; each column is a machine. A cell says "
    "what became of the **time** with the line, over the time without it, and links to where that was measured: a recording of this "
    "course, one of its tables, or a report of somebody else (then the conditions are theirs: read them).\n\n"
    "**–**: nobody we know of has measured it. Find out on yours: `try_switches(model, x, only=...)` with the name in the first "
    'column; under "Measured on other machines" your machine then stands beside these. Written by `python -m grader author notebooks`.',
    "在一张卡上有用的一行，换一张卡可能反而更慢。每一行是一种情况和要试的代码，每一列是一台机器。格子里写的是：加上这一行之后，"
    "**耗时**变成了多少；链接指向它是在哪里测的：本课程录下的数据、本课程的数据表，或者别人的报告（条件以原文为准）。\n\n"
    "**–**：据我们所知还没有人测过。想知道你的卡怎么样：`try_switches(model, x, only=...)`，名字见第一列；结果里的“别的机器上”"
    "会把你的机器和它们并排列出来。本页由 `python -m grader author notebooks` 生成。",
)
FIRST, LESSON = both("situation", "情况"), both("lesson", "课")


def table(code: str, root: str | None) -> str:
    """The introduction and the table in one language. root: where the sources of this course lie; None: no link to them."""
    names, situations = machines.read()
    lines = [[pick(FIRST, code), *(pick(name, code) for name in names.values())], ["---"] * (len(names) + 1)]
    with speaking(code):
        for one in situations:
            tried = f'`only="{one.settings[0]}"`'
            about = f"**{pick(one.name)}**<br>`{one.line}`<br>{tried}; {pick(LESSON)} {one.lesson[:2]}"
            lines.append([about, *("<br>".join(_linked(cell, root) for cell in one.on(name)) or "–" for name in names)])
    rows = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"{pick(INTRO, code)}\n\n{rows}\n"


def _linked(cell: Cell, root: str | None) -> str:
    what = machines.words(cell)
    if cell.source.startswith("https://"):
        return f"[{what}]({cell.source})"
    return what if root is None else f"[{what}]({root}{cell.source})"


def pages(project: Project) -> dict[Path, str]:
    """Both pages and their texts."""
    names = {"en": "cards.md", "zh": "cards.zh-CN.md"}
    return {
        project.root / "docs" / names[code]: f"# {pick(TITLE, code)}\n\n{table(code, '../course/lessons/')}"
        for code in LANGUAGES
    }
