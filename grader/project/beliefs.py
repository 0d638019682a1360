"""The misconceptions that questions may name: the course's list and the instructor's own list; and what helps against each."""

from __future__ import annotations

from course.core.i18n import Text
from course.questions.bank import Bank
from grader.project import Project, ProjectError, practice_items, read_yaml

FILE = (
    "misconceptions.yaml"  # of ``checkpoints/`` in the course directory: `id: a sentence`, or `id: {en: ..., zh: ...}`
)
MOST = 2  # experiments and questions named for one belief


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


def remedies(project: Project, lesson: str) -> dict[str, dict[str, list[str]]]:
    """What helps against each false belief: belief -> {"experiments", "practice"}.

    At most ``MOST`` experiments that show whether it is true, and as many practice questions with it as a wrong option; those
    of the lesson itself come first.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for item in sorted(practice_items(project).values(), key=lambda item: item.get("lesson") != lesson):
        for option in item.get("options") or ():
            if not (belief := option.get("misconception")):
                continue
            known = found.setdefault(belief, {"experiments": [], "practice": []})
            practice = None if item.get("kind") == "predict" else item["id"]
            for names, name in (
                (known["experiments"], option.get("experiment") or item.get("experiment")),
                (known["practice"], practice),
            ):
                here = not names or item.get("lesson") == lesson
                if name and here and name not in names and len(names) < MOST:
                    names.append(name)
    return found
