"""Progress bars over a budget in seconds, only where somebody watches."""

from __future__ import annotations

import sys
from typing import Any


def somebody_watches() -> bool:
    """Whether somebody can see a progress bar: in a terminal or a notebook, not in a log file."""
    if sys.stderr is None:
        return False
    return "ipykernel" in sys.modules or sys.stderr.isatty()


def vanishing() -> Any:
    """tqdm for here. In a notebook a bar that is done leaves an empty place: a widget that is gone would say so after a reload."""
    from tqdm.auto import tqdm
    from tqdm.notebook import tqdm_notebook

    if not issubclass(tqdm, tqdm_notebook):
        return tqdm
    from IPython.display import display

    class Vanishing(tqdm):
        place: Any = None

        def __init__(self, **how: Any) -> None:
            super().__init__(**how, display=False)

        def display(self, *args: Any, close: bool = False, check_delay: bool = True, **look: Any) -> None:
            super().display(*args, close=close, check_delay=False, **look)
            if close and self.place:
                self.place.update({"text/html": "", "text/plain": ""}, raw=True)
            elif self.place is None and not close and (check_delay or not self.delay):
                self.place = display(self.container, display_id=True)

    return Vanishing


def progress(budget_s: float, title: str) -> Any:
    """A progress bar over `budget_s` seconds; silent for budgets up to 2 s, or where nobody watches."""
    silent = budget_s <= 2 or not somebody_watches()
    form = "{desc}: {bar} {n:.1f}/{total:.1f} s"
    return vanishing()(total=round(budget_s, 1), desc=title, leave=False, disable=silent, delay=1, bar_format=form)


def reach(bar: Any, spent_s: float, budget_s: float) -> None:
    """Move the bar on to these seconds of the budget, at most five times a second."""
    if spent_s - bar.n > 0.2:
        bar.update(min(spent_s, budget_s) - bar.n)


def end_progress(bar: Any) -> None:
    """Remove the bar. If it is done early, the bar would otherwise stay in red, as after a failure."""
    bar.total = bar.n
    bar.close()
