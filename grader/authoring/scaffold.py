"""Make an instructor's own checkpoint in the course directory: a first version that works, for the instructor to change."""

from __future__ import annotations

import re
from pathlib import Path

from course.questions.lint import SEEDS
from grader.authoring.lint import lint
from grader.project import LANGUAGES, Project, ProjectError

NAME = re.compile(r"\d\d_[a-z0-9_]+")
TEMPLATE = Path(__file__).with_name("own_checkpoint")
"""The files of the first version, in both languages; NN stands for the digits that begin the ids."""


def new_checkpoint(project: Project, name: str, language: str) -> tuple[Path, list[str]]:
    """Make ``checkpoints/lNAME`` in a language unless it exists; returns (the folder, findings of the linter). Raises ProjectError."""
    if not NAME.fullmatch(name):
        raise ProjectError(
            f"{name!r}: two digits, an underscore, small letters, such as 50_our_cluster; the digits begin the ids of its questions"
        )
    if project.own_folder(name) is None:
        taken = [one for one in {*project.checkpoints(), *project.lessons()} if one[:2] == name[:2]]
        if taken:
            raise ProjectError(f"{name!r}: {taken[0]} has these digits already; take others, such as 50 to 99")
        folder = project.own / f"l{name}"
        folder.mkdir(parents=True, mode=0o700)
        for file in TEMPLATE.glob("*.*"):
            text = _in(file.read_text(encoding="utf-8"), language).replace("NN", name[:2])
            (folder / file.name).write_text(text, encoding="utf-8")
    return project.own / f"l{name}", lint(project, name, SEEDS, run=True)


def _in(text: str, language: str) -> str:
    """The text of a file in one of its two languages."""
    (other,) = set(LANGUAGES) - {language}
    text = re.sub(rf'\n\+\+\+ \{{"lang": "{other}".*?(?=\n\+\+\+ |\n```|\Z)', "", text, flags=re.DOTALL)
    text = re.sub(rf"^# {other}: .*\n", "", text, flags=re.MULTILINE)
    return re.sub(r'\{en: ("[^"]*"), zh: ("[^"]*")\}', lambda found: found[1 + LANGUAGES.index(language)], text)
