"""Attempts and their points, and the moves that all games share: check the move, write it down. The same for widgets and text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

from course.core.i18n import Text, t
from course.game import moves
from course.game.cases import Case, CaseError
from course.learning.entry import Entry
from course.learning.log import AnswerLog

BET_POINTS = {1: (0.5, 0.5), 2: (1.5, 0.0), 3: (2.0, -3.0)}
"""sure -> points of a bet that came out right, and of one that did not. "Certain" pays above 86 %, "fairly sure" above 33 %."""


@dataclass(frozen=True)
class Part:
    """A part of a score: what for, points, the most there is, and why in one sentence."""

    name: Text
    points: float
    most: float
    why: Text = ""


@dataclass(frozen=True)
class Score:
    """The score of one attempt."""

    parts: tuple[Part, ...]

    @property
    def points(self) -> float:
        return sum(part.points for part in self.parts)

    @property
    def most(self) -> float:
        return sum(part.most for part in self.parts)


def bet_points(bets: Iterable[tuple[int, bool | None]]) -> float:
    """Mean over the bets (confidence, came out so), not below 0; a bet that nothing decided (None) is not counted, none give 0."""
    points = [BET_POINTS[confidence][0 if right else 1] for confidence, right in bets if right is not None]
    return max(0.0, mean(points)) if points else 0.0


def tries_points(tries: Sequence[bool], most: float = 1.0) -> float:
    """All of it for a right first try, half for a right second, then nothing."""
    return most if tries[:1] == [True] else most / 2 if tries[1:2] == [True] else 0.0


class MoveError(CaseError):
    """A move that cannot be made now; the message, in the language in use, says what to do instead."""


class Attempt:
    """One attempt at a case, read from its moves; each game reads further ones. A damaged line of the log is passed over.

    causes: the answers chosen about the cause, in order; hints: how many were opened.
    """

    def __init__(self, case: Case, done: Iterable[moves.Move]) -> None:
        self.case, self.done = case, list(done)
        self.causes, self.hints = self.chosen("cause"), len(self.of_kind("hint"))

    def of_kind(self, kind: str) -> list[moves.Move]:
        """The moves of one kind, in order."""
        return [one for one in self.done if one.kind == kind]

    def chosen(self, kind: str) -> list[str]:
        """What was chosen first in each move of one kind."""
        return [one.choice[0] for one in self.of_kind(kind) if one.choice]

    @property
    def cause_found(self) -> bool:
        """Whether the right cause was named."""
        return self.case.right.id in self.causes

    @property
    def causes_right(self) -> list[bool]:
        """Whether it was the cause, of each answer."""
        return [one == self.case.right.id for one in self.causes]

    @property
    def closed(self) -> bool:
        """Whether it is over."""
        raise NotImplementedError

    def score(self) -> Score | None:
        """The points, None where there are none yet."""
        raise NotImplementedError


Read = Callable[[Sequence[moves.Move]], Attempt]
"""How a game reads the moves of one attempt."""


def attempts(case: Case, entries: Iterable[Entry], read: Read) -> list[Attempt]:
    """All attempts at a case, oldest first; the last one is being played."""
    return [read(one) for one in moves.attempts(case.id, entries, lambda done: read(done).closed)]


class Play:
    """One case and the learner's log. Raises MoveError, and nothing is written, where a move cannot be made.

    A game overrides what its rules need.
    """

    def __init__(self, case: Case, log: AnswerLog) -> None:
        self.case, self.log = case, log

    def read(self, done: Sequence[moves.Move]) -> Attempt:
        """An attempt in the terms of its game."""
        raise NotImplementedError

    @property
    def attempts(self) -> list[Attempt]:
        """All attempts, oldest first; the last one is being played."""
        return attempts(self.case, self.log.entries(), self.read)

    @property
    def attempt(self) -> Attempt:
        """The attempt being played."""
        return self.attempts[-1]

    def write(self, kind: str, choice: Sequence[str] = (), **more) -> moves.Move:
        """Append a move (see ``moves.write``)."""
        return moves.write(self.log, self.case, kind, choice, **more)

    # --- hints ---

    def may_ask_hint(self) -> bool:
        """Whether a hint can still help."""
        return True

    def hint(self) -> None:
        """Open the next hint, while there is one. Raises MoveError when it is too late."""
        if not self.may_ask_hint():
            raise MoveError("It is too late for a hint: this try is settled.", "这一次已成定局，提示帮不上忙了。")
        if self.attempt.hints < len(self.case.hints):
            self.write("hint")

    def opened_hints(self) -> list[Text]:
        """The hints opened in this attempt."""
        return list(self.case.hints[: self.attempt.hints])

    # --- the cause ---

    def may_name_cause(self) -> bool:
        """Whether the question about the cause is open."""
        return True

    def cause(self, answer_id: str) -> bool:
        """Choose a cause; gives whether it is right. Once the right one was chosen, the question is closed."""
        answer_id = str(answer_id).strip().lower()
        if not self.may_name_cause():
            raise MoveError("The cause is asked after you have handed in.", "先交方案，再来问原因。")
        if self.case.cause.option(answer_id) is None:
            known = t(", ", "、").join(one.id for one in self.case.cause.options)
            if not answer_id:
                raise MoveError(f"Which answer is it? There are {known}.", f"选哪个答案？可选的是 {known}。")
            raise MoveError(
                f"There is no answer {answer_id!r}; there are {known}.", f"没有答案 {answer_id!r}，可选的是 {known}。"
            )
        if self.attempt.causes_right[-1:] != [True]:
            self.write("cause", (answer_id,))
        return answer_id == self.case.right.id

    # --- a new attempt ---

    def again(self) -> None:
        """Open a new attempt: practice, the first one is what counts. Raises MoveError while this one is open."""
        if not self.attempt.closed:
            raise MoveError(
                "Finish this try first: it is the one that counts, with everything it used. Another one is practice.",
                "先把这一次做完：计分的就是它，用掉的都算在内。之后再来的是练习。",
            )
        self.write(moves.AGAIN)
