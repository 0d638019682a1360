"""``docs/messages.md`` and its Chinese twin: every message of ``course/lessons/messages.yaml``, by what it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from course.core.i18n import LANGUAGES, both, pick
from course.questions import messages
from grader.project import Project

TITLE = both("🚑 Errors and warnings", "🚑 报错与警告")
INTRO = both(
    "What a message of PyTorch, cuDNN, cuBLAS, cuFFT, oneDNN or MPS means, which switch has to do with it (often none), how to tell "
    'its causes apart, and what to do. In a notebook `what("part of the message")` finds it. '
    "Where a CPU can say a message, the tests make torch say it; every code below is run by the tests. "
    "Written by `python -m grader author notebooks`.",
    "PyTorch、cuDNN、cuBLAS、cuFFT、oneDNN、MPS 的报错和警告：是什么意思，和哪个开关有关（常常无关），怎么分辨原因，怎么办。"
    '在 notebook 里用 `what("报错里的一段")` 就能查到。能在 CPU 上出现的报错，测试会让 torch 真的报一次；'
    "下面的代码也都由测试跑过。本页由 `python -m grader author notebooks` 生成。",
)
SEE, VERSIONS, SOURCE = both("See it", "动手看"), both("torch", "torch 版本"), both("Source", "依据")


def blocks(code: str) -> Iterator[str]:
    """The page without its title: a heading for each group, one below it for each message."""
    yield pick(INTRO, code)
    known = list(messages.read()[0].values())
    colon = both(": ", "：")[code]
    for group, name in messages.GROUPS.items():
        yield f"## {pick(name, code)}"
        for one in (one for one in known if one.group == group):
            yield f"### {one.says[0].strip(' :')}"
            if one.says[1:]:
                yield "  \n".join(f"`` {said.strip(' :')} ``" for said in one.says[1:])
            rows = [f"- **{label}**{colon}{text}" for label, text in one.rows(code)]
            rows += [f'- **{pick(SEE, code)}**{colon}`observe("{one.experiment}")`'] if one.experiment else []
            yield "\n".join([*rows, f"- **{pick(VERSIONS, code)}**{colon}{pick(one.versions, code)}"])
            if one.cure_code:
                yield f"```python\n{one.cure_code.strip()}\n```"
            yield f"{pick(SOURCE, code)}{colon}{'; '.join(map(_source, one.source.split('; ')))}"


def _source(one: str) -> str:
    return f"<{one}>" if one.startswith("https://") else f"`{one}`"


def pages(project: Project) -> dict[Path, str]:
    """Both pages and their texts."""
    names = {"en": "messages.md", "zh": "messages.zh-CN.md"}
    return {
        project.root / "docs" / names[code]: f"# {pick(TITLE, code)}\n\n" + "\n\n".join(blocks(code)) + "\n"
        for code in LANGUAGES
    }
