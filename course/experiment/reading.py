"""What the rows of an experiment say: the one judgement from which headline, bet, picture and advice follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reading:
    """What came out.

    outcome: a key under ``outcomes`` in experiments.yaml; its first word is the option of the bet that came true. None
    where nothing can be told. numbers: what the sentences name in braces. drawn: rows for the picture, such as medians;
    None for the rows of the record. bets: bet -> option or value, for a bet that the first word does not settle (a second
    bet, or one on a scale).
    """

    outcome: str | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)
    drawn: Sequence[Mapping[str, Any]] | None = None
    bets: Mapping[str, str | float | None] = field(default_factory=dict)

    def settled(self, bet: str) -> str | float | None:
        """The option or the value that came true of this bet; None where it stays open."""
        return self.bets[bet] if bet in self.bets else self.outcome and self.outcome.split()[0]
