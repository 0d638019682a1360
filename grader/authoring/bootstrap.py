"""The first code cell of every notebook, the same everywhere but for the lesson and the language."""

from __future__ import annotations

import re

from grader.project import Project

SENTENCE = {
    "en": "`{{missing.name}}` is not installed here. Run `{install}`, restart the kernel, "
    "run this cell again.",
    "zh": "这里还没有安装 `{{missing.name}}`。请运行 `{install}`，重启内核，再运行这个单元格。",
}


def install_command(project: Project) -> str:
    """What brings the course into a running kernel, from the name and repository in pyproject.toml."""
    path = project.root / "pyproject.toml"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    name = re.search(r'^name = "([^"]+)"', text, re.MULTILINE)
    repository = re.search(r'^[Rr]epository = "([^"]+)"', text, re.MULTILINE)
    if repository:
        return f"%pip install git+{repository[1]}"
    return f"%pip install {name[1]}" if name else "%pip install ."


def bootstrap(project: Project, verb: str, lesson: str, language: str) -> str:
    """Six lines: bring in the verbs, or say in one sentence how to install; then start the notebook."""
    sentence = SENTENCE[language].format(install=install_command(project))
    return "\n".join(
        [
            "try:",
            "    from course import *",
            "except ModuleNotFoundError as missing:",
            f'    print(f"{sentence}")',
            "else:",
            f'    {verb}("{lesson}", language="{language}")',
        ]
    )
