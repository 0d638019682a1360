"""The part of a question card that runs the experiment which shows why a wrong answer is wrong."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as w

from course.cards.widgets import focus, light, show
from course.i18n import t


class NextExperiment:
    """A button that runs an experiment below the feedback; hidden while there is none to run.

    run: function that takes the name of an experiment and displays its result.
    """

    def __init__(self, run: Callable[[str], object] | None) -> None:
        self.run, self.name = run, ""
        self.button = light(w.Button, layout={"width": "auto", "height": "auto"})
        self.button.add_class("tbq-go")
        self.button.add_class("tbq-sub")
        self.button.on_click(lambda _: self.press())
        self.widget = light(w.VBox, [self.button], layout={"display": "none"})
        self.widget.add_class("tbq-try")

    def offer(self, experiment: str) -> None:
        """Offer an experiment; an empty name hides the offer."""
        shown = bool(experiment and self.run)
        show(self.widget, shown)
        if experiment != self.name:
            self.widget.children = (self.button,)
        self.name = experiment
        self.button.description = t(f"▶ Run {experiment} here", f"▶ 在这里运行 {experiment}")

    def press(self) -> None:
        """Run the experiment; a second press while it runs does nothing."""
        if not self.run or not self.name or self.button.disabled:
            return
        self.button.disabled = True
        output = w.Output()  # only now: where a page cannot draw it, the card itself still works
        self.widget.children = (self.button, output)
        try:
            with output:
                self.run(self.name)
        finally:
            self.button.disabled = False
            focus(self.button)
