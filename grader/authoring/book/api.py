"""The tools for one's own code: their page of docs/, and what their functions take and give back, from the docstrings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from course.core.i18n import both, pick
from grader.project import Project

NAMES = {
    "course.verbs.trying": ("try_switches",),
    "course.tryout.result": ("Tried",),
    "course.timing": ("compare", "measure", "Comparison", "Paired", "Measurement", "clock_for"),
    "course.flops": ("count", "FlopCount", "ModuleCount"),
    "course.lessons.l03_flops.crosscheck": ("cross_check", "CrossCheck"),
    "course.roofline": ("place", "peaks", "Roofline", "Layer", "Peaks"),
    "course.trace.onednn_log": ("log_of", "on_off"),
    "course.flags": ("using", "snapshot", "changes", "describe"),
}
"""Module -> what it offers to other programs, most used first."""
HEAD = both(
    "What each function takes and returns, from the docstrings of the installed version. "
    "Most results, when printed, begin with one sentence that says what came out.",
    "每个函数接收什么、返回什么，取自所装版本的文档字符串（英文）。大多数结果打印出来，第一句就是结论。",
)
ENDING = {"en": "", "zh": ".zh-CN"}


def tools(project: Project, code: str) -> Iterator[str]:
    """The page of docs/ on the tools, without its title; what it links to in the folder of the course stays as words."""
    text = (project.root / "docs" / f"tools{ENDING[code]}.md").read_text("utf-8")
    yield re.sub(r"\[([^]]+)\]\((?!https?:)[^)]+\)", r"\1", text.partition("\n")[2])


def reference(code: str) -> Iterator[str]:
    """A directive of Sphinx for every name; a class comes with its methods."""
    yield pick(HEAD, code) + "\n"
    for module, names in NAMES.items():
        yield f"## `{module}`\n\n```{{eval-rst}}"
        for name in names:
            if name[0].isupper():
                yield f".. autoclass:: {module}.{name}\n   :members:\n   :inherited-members:"
            else:
                yield f".. autofunction:: {module}.{name}"
        yield "```\n"
