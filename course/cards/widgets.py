"""What ipywidgets 7 (Google Colab) and ipywidgets 8 do not share, in one place.

Colab's page draws the widgets of ipywidgets 7 only, and the course never replaces what is installed there. In 7 the
keyboard focus cannot be sent to a widget and a button cannot leave the tab order: there a learner presses Tab more often.
"""

from __future__ import annotations

import time
from typing import Any

VIEW = "application/vnd.jupyter.widget-view+json"
DOUBLE_CLICK_S = 0.6


def second_click(done_at: float) -> bool:
    """Whether a press comes so soon after what the last one did that it is half of a double click, or waited while the kernel
    was busy. done_at: when that was done, by time.monotonic(), in s.
    """
    return time.monotonic() - done_at < DOUBLE_CLICK_S


def view_of(widget: Any, name: str) -> dict[str, Any]:
    """MIME bundle that shows a widget, from now on answered in order. name: the words for a place without widgets."""
    in_order(widget)
    return {VIEW: widget.get_view_spec(), "text/plain": name}


def in_order(widget: Any) -> None:
    """What the page sends through a widget, its children, and those that join later is answered by the main thread, in the order
    in which it was sent.

    ipykernel 7.4 lets the thread answer that last wrote to a widget (``BaseComm._reply_subshell_for``): there a press overtakes the
    text of the field beside it, runs beside a measurement, and cannot be interrupted. Other versions know one thread for all.
    """
    comm = getattr(widget, "comm", None)
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = _main_thread
    if widget.has_trait("children"):
        widget.observe(_joined, "children")
        for child in widget.children:
            in_order(child)


def _main_thread(data: Any, default: str | None) -> None:
    """The main thread has no id."""


def _joined(change: Any) -> None:
    for child in change["new"]:
        in_order(child)


def focus(widget: Any) -> None:
    """Send the keyboard focus to a widget, where that is possible."""
    if hasattr(widget, "focus"):
        widget.focus()


def name_of(field: Any, words: str) -> None:
    """Give a field its words as a tooltip, where that is possible; a screen reader reads them too."""
    if field.has_trait("tooltip"):
        field.tooltip = words


def by_mouse_only(button: Any) -> Any:
    """The button, out of the tab order where that is possible."""
    if button.has_trait("tabbable"):
        button.tabbable = False
    return button
