"""The first code cell of every notebook, the same everywhere but for the lesson and the language."""

from __future__ import annotations

import re

from grader.project import Project

SENTENCES = {
    "en": ("`{missing.name}` is not installed in this kernel.", "{how}, restart it, run this again."),
    "zh": ("当前内核里没有安装 `{missing.name}`。", "{how}，重启内核，再运行这个单元格。"),
}
FROM_REPOSITORY = {
    "en": "Run `%pip install torch-backends-course[course]@git+{url}`",
    "zh": "请运行 `%pip install torch-backends-course[course]@git+{url}`",
}
FROM_FOLDER = {
    "en": "Choose the kernel `.venv` or run `%pip install FOLDER[course]` (the course's folder)",
    "zh": "请选择内核 `.venv`，或运行 `%pip install 文件夹[course]`（课程文件夹的路径）",
}


def how_to_install(project: Project, language: str) -> str:
    """What brings the course, with its extra for learners, into a kernel: from the repository named in pyproject.toml,
    else from the checkout.

    Never by name alone: the course is on no package index, and whoever takes the name there would be run.
    """
    path = project.root / "pyproject.toml"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    repository = re.search(r'^[Rr]epository = "([^"]+)"', text, re.MULTILINE)
    return FROM_REPOSITORY[language].format(url=repository[1]) if repository else FROM_FOLDER[language]


def bootstrap(project: Project, verb: str, lesson: str, language: str, salt: str = "") -> str:
    """Six lines: bring in the verbs and start the notebook, or say how to install. salt: of a release in which every
    student has another paper; it stands in the code because not every front end lets a kernel read its notebook.
    """
    paper = f', paper="{salt}"' if salt else ""
    missing, next_step = SENTENCES[language]
    return "\n".join(
        [
            "try:",
            "    from course import *",
            f'    {verb}("{lesson}", language="{language}"{paper})',
            "except ModuleNotFoundError as missing:",
            f'    print(f"{missing}",',
            f'          "{next_step.format(how=how_to_install(project, language))}")',
        ]
    )
