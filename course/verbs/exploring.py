"""The verb ``explore``, which shows something to touch: controls, a picture that follows them, one sentence to keep."""

from __future__ import annotations

from course.core import arguments
from course.core.i18n import both
from course.experiment.explorables.page import NAMES, explorable
from course.verbs.say import in_words, present


@in_words
def explore(name: str) -> None:
    """Show one explorable: ``explore("floats")``. It works without a kernel and without a network once it is on the page."""
    arguments.one_of(both("explorable", "可动手的图"), name, NAMES)
    present(explorable(name))
