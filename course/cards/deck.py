"""A deck: of the cards that one cell shows, one is open and the others are folded to one line; the next opens when one is answered.

The line is the ``summary`` at the head of a card (``render.foldable_head``), and the style sheet hides the rest of the card while it is
folded. So every card opens and folds by mouse and by keys, also without a kernel, and a screen reader says whether it is open.
"""

from __future__ import annotations

from typing import Any


class InDeck:
    """A card that can stand in a deck. A subclass says by ``answered`` whether it is, and draws its head by ``draw_head``.

    folded: None outside of a deck.
    """

    answered: Any = None
    deck: Deck | None = None
    folded: bool | None = None

    def draw_head(self) -> None:
        """Show the head of the card as it is now."""
        raise NotImplementedError

    def fold(self, folded: bool) -> None:
        """Fold the card, or open it."""
        if self.folded is not folded:
            self.folded = folded
            self.draw_head()

    def open_in_deck(self) -> None:
        """Keep the card open, also where the learner opened it by hand, of which the kernel knows nothing."""
        if self.deck:
            self.folded = False
            self.draw_head()


class Deck:
    """The cards of one cell, in the order shown."""

    def __init__(self) -> None:
        self.cards: list[InDeck] = []

    def add(self, card: InDeck) -> None:
        """Put a card in. Open is the first that is not answered, or the first of all; a card alone has nothing to fold."""
        self.cards.append(card)
        if len(self.cards) == 1:
            return
        chosen = next((one for one in self.cards if not one.answered), self.cards[0])
        for one in self.cards:
            one.deck = self
            one.fold(one is not chosen)

    def follow(self, card: InDeck) -> None:
        """Open the next card that waits for an answer, now that this one has got it."""
        place = self.cards.index(card)
        for one in (*self.cards[place + 1 :], *self.cards[:place]):
            if not one.answered:
                one.fold(False)
                return


_here: tuple[str, Deck] = ("", Deck())


def deck_of_cell() -> Deck:
    """The deck of what the kernel is doing now, a cell or a press of a button; a new one where there is no kernel."""
    global _here
    from IPython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    asked_by = kernel.get_parent("shell").get("header", {}).get("msg_id", "") if kernel else ""
    if not asked_by or asked_by != _here[0]:
        _here = (asked_by, Deck())
    return _here[1]
