"""The misconceptions that questions may name: the course's list and the instructor's own list."""

from __future__ import annotations

from course.core.i18n import Text
from course.questions.bank import Bank
from grader.project import Project, ProjectError, read_yaml

FILE = (
    "misconceptions.yaml"  # of ``checkpoints/`` in the course directory: `id: a sentence`, or `id: {en: ..., zh: ...}`
)


def known_beliefs(project: Project) -> dict[str, Text]:
    """All misconceptions: id -> statement. Raises ProjectError where the instructor's list uses an id of the course's."""
    shared = Bank(project.learner_folder).misconceptions()
    path = project.own / FILE if project.own else None
    own = (read_yaml(path) if path else None) or {}
    if not isinstance(own, dict) or not all(_is_statement(one) for one in own.values()):
        raise ProjectError(f"{path}: write `id: a sentence`, or `id: {{en: ..., zh: ...}}`, a line for each")
    if taken := sorted(set(own) & set(shared)):
        raise ProjectError(f"{path}: {taken[0]} is the id of one of the course's; choose another")
    return {**shared, **own}


def _is_statement(value: object) -> bool:
    texts = value.values() if isinstance(value, dict) and set(value) == {"en", "zh"} else [value]
    return all(isinstance(one, str) and one.strip() for one in texts)
