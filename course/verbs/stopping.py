"""The button that ends a run: its press is read by the kernel's own thread for messages while the run holds the main one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from course.cards.style import SHEET
from course.cards.text import text_mode
from course.cards.widgets import light, sheet, view_of
from course.experiment import ending
from course.verbs import asking

SHORT_S = 2.0
"""A run of no more seconds has no button."""


@contextlib.contextmanager
def stop_button(seconds: float) -> Iterator[None]:
    """Inside, a button that ends the run of about so many seconds, which keeps what it has.

    Where a kernel has no such thread (see `ending.ends_by`), and at a prompt, the notebook's own stop button and Ctrl-C do the same.
    """
    if seconds <= SHORT_S or text_mode() or not asking.somebody_there():
        yield
        return
    import ipywidgets as w
    from IPython.display import display, update_display

    button = light(w.Button, layout={"width": "auto", "height": "auto"})
    if not ending.ends_by(button):
        yield
        return
    for name in ("tbq-go", "tbq-sub"):
        button.add_class(name)
    frame = light(w.VBox, [sheet(SHEET), button])
    for name in ("tbq", "tbq-ask"):
        frame.add_class(name)
    shown = display(view_of(frame, ""), raw=True, display_id=True)
    ending.ends_by(button)  # after view_of, which says that the main thread answers
    try:
        yield
    finally:
        frame.close()
        update_display({"text/plain": "", "text/html": ""}, raw=True, display_id=shown.display_id)
