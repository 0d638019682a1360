"""The marks in a text cell: a term ``[[plan]]`` or ``[[plan|plans]]``, the way of a fork ``[[#What counts as new?]]``.

A term becomes its word with the meaning on hover: plain HTML that JupyterLab, VS Code and Colab all show. A fork becomes the
heading in bold, and a link to it in JupyterLab's form where JupyterLab (4.6) can follow one: it finds no heading by a name
that is not ASCII, its own ¶ links neither. Elsewhere the bold words say where to go on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from course.questions import glossary
from grader.source import Cell

FORK = re.compile(r"\[\[#(?P<heading>[^\]]+)\]\]")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
NOT_SAID = {
    "分派器": "分发器",
    "派发器": "分发器",
    "调度器": "分发器",
    "门限": "阈值",
    "门槛": "阈值",
    "尚无定论": "无法判定",
    "缓存键": "缓存 key",
    "逐比特": "逐位",
    "按位一致": "逐位一致",
    "按位不一致": "逐位不一致",
    "逐位相同": "逐位一致",
    "逐位重复": "逐位复现",
    "点名": "写出来、列出来",
    "的录制": "录好的结果",
    "反传": "反向传播",
    "后向传播": "反向传播",
    "笔记本陷阱": "Notebook 里的坑",
    "笔记本里": "notebook 里",
    "保存笔记本": "保存 notebook",
    "确定模式": "确定性模式",
    "执行方案": "执行计划",
    "cuDNN 方案": "cuDNN 执行计划",
    "新的键": "新的 key",
    "新键": "新 key",
    "普通路径": "原生实现",
    "深度卷积": "逐通道卷积",
    "batch 大小": "批大小",
    "批标准化": "BatchNorm",
    "批归一化": "BatchNorm",
    "内存格式": "内存布局",
    "剖析一": "profile 一",
    "工作进程": "worker",
    "让它输": "找个反例",
    "现在你可以这样说": "这节课学到了什么",
}
"""What a Chinese text of the course does not say, and what it says instead."""
Found = tuple[int, str, str]
"""Line, code of the rule (``course.questions.finding``), sentence."""


@lru_cache(maxsize=1)
def _terms() -> dict[str, glossary.Term]:
    return glossary.read()[0]


def heading_text(heading: str) -> str:
    """A heading as a page shows it: without marks."""
    return (
        re.sub(r"\[\[[^\]|]+\|([^\]]+)\]\]", r"\1", heading).replace("`", "").replace("**", "").replace("*", "").strip()
    )


def anchor(heading: str) -> str:
    """The address of a heading inside its notebook, as JupyterLab makes it."""
    return "#" + heading_text(heading).replace(" ", "-")


def prose(text: str, language: str) -> str:
    """The text of a cell with its marks replaced, as it goes into the notebook. An unknown mark stays; ``faults`` reports it."""
    terms = _terms()

    def term(found: re.Match[str]) -> str:
        known = terms.get(found["id"])
        return glossary.hover(known, found["words"], language) if known else found[0]

    def way(found: re.Match[str]) -> str:
        bold = f"**{found['heading']}**"
        return f"[{bold}](<{anchor(found['heading'])}>)" if heading_text(found["heading"]).isascii() else bold

    return FORK.sub(way, glossary.replace_marks(text, term))


def faults(cells: list[Cell]) -> Iterator[Found]:
    """(line, rule, sentence) for each unknown mark, for languages that mark different terms, and for words not to be used."""
    headings = {
        code: {heading_text(one) for cell in cells if cell.language == code for one in _HEADING.findall(cell.body)}
        for code in ("en", "zh")
    }
    before: set[str] = set()
    for cell in cells:
        if cell.kind != "markdown":
            continue
        marked = {found["id"] for found in glossary.marks(cell.body)}
        for unknown in sorted(marked - set(_terms())):
            yield (
                cell.line,
                "unknown-term",
                f"[[{unknown}]] is not in course/lessons/glossary.yaml: add it there, or mend the mark",
            )
        if cell.language == "zh" and marked != before:
            yield cell.line, "twin-terms", f"the twins mark other terms: {', '.join(sorted(marked ^ before))}"
        before = marked
        for found in FORK.finditer(cell.body):
            if heading_text(found["heading"]) not in headings[cell.language]:
                yield (
                    cell.line,
                    "unknown-heading",
                    f"[[#{found['heading']}]]: there is no such heading in this language",
                )
        if cell.language == "zh":
            for word, better in NOT_SAID.items():
                if word in cell.body:
                    yield cell.line, "other-word", f"“{word}” is not our word: say “{better}”"
