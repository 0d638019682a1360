"""The first code cell of every notebook. Only lesson and language differ."""

from __future__ import annotations

from grader.project import Project

MISSING = {"en": "`{missing.name}` is not installed in this kernel.", "zh": "当前内核里没有安装 `{missing.name}`。"}
FROM_REPOSITORY = {
    "en": ['Run `%pip install "torch-backends-course[course]@git+{url}"`,'],
    "zh": ['请运行 `%pip install "torch-backends-course[course]@git+{url}"`，'],
}
FROM_FOLDER = {
    "en": ["Choose the kernel `.venv`, or run", '`%pip install "FOLDER[course]"` (the course folder),'],
    "zh": ["请选择内核 `.venv`，或运行", '`%pip install "文件夹[course]"`（文件夹：课程路径），'],
}
THEN = {"en": "restart the kernel, run this cell again.", "zh": "重启内核，再运行这个单元格。"}

ABSENT = "except ModuleNotFoundError as missing:"


def how_to_install(project: Project, language: str) -> list[str]:
    """The lines that install the course with its extra for learners: from the repository named in pyproject.toml, else from the
    checkout.

    Never by name alone: the course is on no package index, so a stranger could publish code there under its name.
    """
    url = project.repository
    return [one.format(url=url) for one in FROM_REPOSITORY[language]] if url else FROM_FOLDER[language]


def bootstrap(project: Project, verb: str, lesson: str, language: str, salt: str = "") -> str:
    """The code of the cell: import torch (in a lesson) and the verbs and start the notebook, or say how to install the course.

    salt: of a release in which each student has another paper. It is written in the code, because a kernel cannot read its
    notebook in every front end.
    """
    paper = f', paper="{salt}"' if salt else ""
    said = ",\n          ".join(map(repr, [*how_to_install(project, language), THEN[language]]))
    return "\n".join(
        [
            "try:",
            *(["    import torch"] if verb == "lesson" else []),
            "    from course import *",
            f'    {verb}("{lesson}", language="{language}"{paper})',
            ABSENT,
            f'    print(f"{MISSING[language]}",',
            f"          {said})",
        ]
    )
