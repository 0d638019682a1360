"""Progress bars over a budget in seconds, only where somebody watches."""

from __future__ import annotations

import sys
from typing import Any


def somebody_watches() -> bool:
    """Whether somebody can see a progress bar: in a terminal or a notebook, not in a log file."""
    if sys.stderr is None:
        return False
    return "ipykernel" in sys.modules or sys.stderr.isatty()


def progress(budget_s: float, title: str) -> Any:
    """A progress bar over `budget_s` seconds; silent for budgets up to 2 s, or where nobody watches."""
    from tqdm.auto import tqdm

    silent = budget_s <= 2 or not somebody_watches()
    form = "{desc}: {bar} {n:.1f}/{total:.1f} s"
    return tqdm(total=round(budget_s, 1), desc=title, leave=False, disable=silent, delay=1, bar_format=form)


def reach(bar: Any, spent_s: float, budget_s: float) -> None:
    """Move the bar on to these seconds of the budget, at most five times a second."""
    if spent_s - bar.n > 0.2:
        bar.update(min(spent_s, budget_s) - bar.n)


def end_progress(bar: Any) -> None:
    """Remove the bar. If it is done early, the bar would otherwise stay in red, as after a failure."""
    bar.total = bar.n
    bar.close()
