"""A fault found by a linter: one sentence for an author, with the rule that is broken."""

from __future__ import annotations


class Finding(str):
    """A sentence that ends with the code of its rule: ``05-one: option b has no why. [why-missing]``.

    rule: a short code that stays the same when the sentence is reworded. ``text``: the sentence without it.
    """

    rule: str
    text: str

    def __new__(cls, rule: str, text: str) -> Finding:
        made = super().__new__(cls, f"{text} [{rule}]")
        made.rule, made.text = rule, text
        return made

    def at(self, place: str) -> Finding:
        """The same finding with the place in front: a file and line, or an item."""
        return Finding(self.rule, f"{place}: {self.text}")
