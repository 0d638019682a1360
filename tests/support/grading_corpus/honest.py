"""Others of the same class: whatever stands around them, they get what they deserve."""

from __future__ import annotations

from tests.support.grading_corpus.base import ANSWERS, RIGHT, Hostile, dumped, sheet

STUB = "def contrast(low, high):\n    raise NotImplementedError\n"

CASES = (
    *(Hostile(f"honest-{number}", points=13, files={ANSWERS: dumped(sheet(*RIGHT))}) for number in range(3)),
    Hostile("honest-half", points=3 + 2, task=STUB, files={ANSWERS: dumped(sheet(RIGHT[0]))}),
    Hostile(
        "honest-wrong", points=0, verdict="wrong", task="def contrast(low, high): return low\n", report="report = {}\n"
    ),
    Hostile(
        "honest-shadows-built-ins",
        points=13,
        files={ANSWERS: dumped(sheet(*RIGHT))},
        harm="list = str = dict = type = bool = int = float = tuple = isinstance = getattr = callable = print = exec = 7\n"
        "from numpy import *\nfrom json import *",
    ),
    Hostile("honest-late-stub", points=3, report="report = None\n"),
)
