"""The state of the verbs in one kernel: the present lesson, the log, the bank, the answer sheet of a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from course.learning.log import AnswerLog, Entry, answer_log
from course.questions.bank import Bank


@dataclass
class State:
    """The state of one kernel. lesson: id of the present lesson; sheet: the answer sheet of the checkpoint, if any; tasks: task
    id -> the name it asks for, from the notebook of the checkpoint.
    """

    lesson: str | None = None
    sheet: Any = None
    records: dict[str, Any] = field(default_factory=dict)
    cards: dict[str, Any] = field(default_factory=dict)
    tasks: dict[str, str] = field(default_factory=dict)

    @cached_property
    def bank(self) -> Bank:
        return Bank()

    @property
    def log(self) -> AnswerLog:
        return answer_log()

    def write(self, event: str, item: str, **fields: Any) -> None:
        """Append one event to the learner's log."""
        self.log.append(event, item, lesson=self.lesson, **fields)

    def seen(self, event: str, item: str) -> list[Entry]:
        """The log's entries of one kind about one item, oldest first."""
        return [entry for entry in self.log.entries() if entry.event == event and entry.item == item]


now = State()


def learner_object(name: str, missing: Any) -> Any:
    """The global ``name`` of the notebook this kernel runs, or ``missing``."""
    shell = running_shell()
    return shell.user_ns.get(name, missing) if shell else missing


def running_shell() -> Any:
    """The IPython shell this code runs in, or None in plain Python."""
    import sys

    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None
