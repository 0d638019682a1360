"""Wrong ideas and right variants: what people write who believe something false, or solve a task in another way.

They stand in ``grader/lessons/lNN/ideas.py``, beside tasks and solutions (learners get none of it), as code under
markers: ``# %% wrong ID loses=PART,PART`` for a task, ``# %% wrong ID gets=STATE reason=CODE`` for an exercise (by default
``incorrect``; ``not_attempted`` for the state with a space; without a code the reason is not asked), ``# %% right ID``.
The first comment says the idea.
The tests hold every idea against its task (tests/lessons/test_ideas.py); the made-up people of the demonstration
hand them in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from grader.project import Project, ProjectError

MARKER = re.compile(r"^# %% (?P<kind>wrong|right) (?P<of>\S+)(?P<rest>( \w+=\S+)*)$")


@dataclass(frozen=True)
class Idea:
    """One way to answer the task or exercise ``of``: ``code`` defines the name it asks for.

    loses: the parts of a task that it must lose, and no others. gets: the state of an exercise's verdict, reason: its
    code where one is expected.
    """

    of: str
    right: bool
    says: str
    code: str
    loses: frozenset[str] = frozenset()
    gets: str = ""
    reason: str = ""

    def defined(self, name: str, given: dict | None = None) -> object:
        """The object that the code defines under ``name``; ``given`` are the names its notebook has already."""
        space = dict(given or {})
        exec(compile(self.code, f"{self.of}: {self.says}", "exec"), space)
        return space[name]


def read(project: Project, lesson: str) -> list[Idea]:
    """All ideas of a lesson; empty where it has none. Raises ProjectError, naming file and line."""
    path = project.ideas(lesson)
    return parse(path.read_text(encoding="utf-8"), path) if path.exists() else []


def parse(text: str, path: Path) -> list[Idea]:
    """The ideas of one file."""
    found: list[Idea] = []
    head, body, start = None, [], 0
    for number, line in enumerate([*text.split("\n"), "# %%"], start=1):
        if not line.startswith("# %%"):
            body.append(line)
            continue
        if head is not None:
            found.append(_idea(head, body, f"{path}:{start}"))
        head, body, start = MARKER.match(line), [], number
        if head is None and line != "# %%":
            raise ProjectError(
                f"{path}:{number}: unknown marker {line!r}; use `# %% wrong ID loses=a,b` or `# %% right ID`"
            )
    return found


def _idea(head: re.Match, body: list[str], where: str) -> Idea:
    told = dict(word.split("=", 1) for word in head["rest"].split())
    if unknown := set(told) - {"loses", "gets", "reason"}:
        raise ProjectError(f"{where}: unknown setting {', '.join(sorted(unknown))}; there are loses, gets and reason")
    says = next((line[2:] for line in body if line.startswith("# ")), "")
    if not says:
        raise ProjectError(f"{where}: the first comment says the idea in words")
    right = head["kind"] == "right"
    return Idea(
        head["of"],
        right,
        says,
        "\n".join(body).strip("\n") + "\n",
        frozenset(filter(None, told.get("loses", "").split(","))),
        told.get("gets", "correct" if right else "incorrect").replace("_", " "),
        told.get("reason", ""),
    )
