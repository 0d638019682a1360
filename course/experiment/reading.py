"""What the rows of an experiment say: the one judgement from which headline, bet, picture and advice follow.

And the headlines where they say nothing; and what readings ask of rows: where an interval lies, rows in groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from course.core.i18n import both, t

if TYPE_CHECKING:
    from course.timing import Comparison, Paired

TOO_NOISY = both("Too noisy here to tell.", "这里噪声太大，说不准。")
"""The headline where nothing can be told; the block adds why, and the next step."""
TOO_FEW = both("Too few rounds to tell.", "轮数太少，说不准。")
SOME_FEW = both("Not every row has enough rounds to tell.", "有的行轮数太少，总体还说不准。")
CUT_SHORT = both("The run ended too early to tell.", "运行结束得太早，还说不准。")
EMPTY = both("Nothing was measured before the run ended.", "运行结束前什么都没测到。")
FAULT = both(
    "Something in the course is broken here, not on your machine.", "这里是课程本身出了错，不是你的机器有问题。"
)
"""The headline where complete rows could not be read: an error of the course, never told as noise."""
OPEN = (TOO_NOISY, TOO_FEW, SOME_FEW, CUT_SHORT, EMPTY, FAULT)
"""The headlines that claim nothing."""


@dataclass(frozen=True)
class Reading:
    """What came out.

    outcome: a key under ``outcomes`` in experiments.yaml; its first word is the option of the bet that came true. None
    where nothing can be told. numbers: what the sentences name in braces; ``same``: the ratio from which on this
    reading calls one longer, for a picture of ratio rows. drawn: rows for the picture, such as medians; None for the
    rows of the record. bets: bet -> option, for a bet that the first word does not settle, such as a second one.
    """

    outcome: str | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)
    drawn: Sequence[Mapping[str, Any]] | None = None
    bets: Mapping[str, str | None] = field(default_factory=dict)

    def settled(self, bet: str) -> str | None:
        """The option that came true of this bet; None where it stays open."""
        return self.bets[bet] if bet in self.bets else self.outcome and self.outcome.split()[0]


# --- rows ---

FEW = 6
"""Fewer repeats decide no bet."""
SAME = 0.02
"""Up to this share of the time to either side, two times count as the same."""


def race_row(found: Comparison | Paired) -> dict[str, Any]:
    """The ratio, its interval and the verdict of a comparison of two, or of one pair; low and high are None without an interval."""
    return {"ratio": found.ratio, "low": found.low, "high": found.high, "verdict": found.verdict}


def left_open(row: Mapping[str, Any]) -> bool:
    """Whether the comparison decided nothing although the interval keeps off 1, as where the ratio drifted."""
    return row.get("verdict") == "undecided" and row["low"] is not None and not row["low"] < 1 < row["high"]


def left_open_in_words(row: Mapping[str, Any]) -> str:
    """What a picture says of such a row in place of its ratio; empty for any other."""
    return t("undecided", "无法判定") if left_open(row) else ""


def kind_of(row: Mapping[str, Any], same: float = SAME) -> str:
    """Where the interval of a row's ratio lies: `faster` below 1 - same, `slower` above 1 + same, `same` between the two; else
    `undecided`, also where the row has no interval, or the comparison left it open.
    """
    low, high = row["low"], row["high"]
    if low is None or high is None or left_open(row):
        return "undecided"
    if high < 1 - same:
        return "faster"
    if low > 1 + same:
        return "slower"
    return "same" if 1 - same <= low and high <= 1 + same else "undecided"


def groups(rows: Sequence[dict], key: str) -> dict[Any, list[dict]]:
    """The rows by their value of ``key``, in order of appearance."""
    found: dict[Any, list[dict]] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row)
    return found
