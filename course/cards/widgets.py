"""The differences between ipywidgets 7 (Google Colab) and ipywidgets 8, handled in one place.

Colab's page draws the widgets of ipywidgets 7 only, and the course never replaces what is installed there. In 7 the
keyboard focus cannot be sent to a widget: there a learner presses Tab more often.
"""

from __future__ import annotations

import time
from typing import Any

_shared: dict[tuple[Any, ...], Any] = {}
VIEW = "application/vnd.jupyter.widget-view+json"
DOUBLE_CLICK_S = 0.6


def light(kind: type, *args: Any, **traits: Any) -> Any:
    """A widget that shares its layout and its style with all others that look alike, so that a saved notebook holds them once.

    layout, style: traits as a dict. What is shared never changes: `relayout` and `show` give the widget another one.
    """
    for name in {"layout", "style"} & kind.class_traits().keys():
        traits[name] = _one_for_all(kind.class_traits()[name].klass, traits.get(name, {}))
    return kind(*args, **traits)


def relayout(widget: Any, **traits: str | None) -> None:
    """Give a widget the layout that differs from its own in these traits; None: as the page has it."""
    now = {name: getattr(widget.layout, name) for name in widget.layout.keys if not name.startswith("_")}
    look = {name: value for name, value in (now | traits).items() if value is not None}
    widget.layout = _one_for_all(type(widget.layout), look)


def show(widget: Any, shown: bool, room: bool = False) -> None:
    """Show or hide a widget. room: whether its space stays reserved, so that nothing moves."""
    if room:
        relayout(widget, visibility=None if shown else "hidden")
    else:
        relayout(widget, display=None if shown else "none")


def _one_for_all(kind: type, look: dict[str, Any]) -> Any:
    """The one widget of this kind and look; made anew after it was closed."""
    key = (kind, *sorted(look.items()))
    if key not in _shared or _shared[key].comm is None:
        _shared[key] = kind(**look)
        _shared[key].observe(_refuse)
    return _shared[key]


def _refuse(change: Any) -> None:
    if change["name"] in change["owner"].keys:
        raise TypeError(f"a layout or style that many widgets share cannot change: {change['name']}={change['new']!r}")


def classed(widget: Any, *names: str) -> Any:
    """The widget, with these classes on the page."""
    for name in names:
        widget.add_class(name)
    return widget


def sheet(style: str) -> Any:
    """A style sheet as a widget: it stands on every card, and a saved notebook holds it once."""
    from ipywidgets import HTML

    key = (HTML, style)
    if key not in _shared or _shared[key].comm is None:
        _shared[key] = light(HTML, style)
    return _shared[key]


def second_click(done_at: float) -> bool:
    """Whether a press follows so soon after the last one that it is the second half of a double click, or waited while the kernel
    was busy. done_at: when the last press had been handled, by time.monotonic(), in s.
    """
    return time.monotonic() - done_at < DOUBLE_CLICK_S


def view_of(widget: Any, name: str) -> dict[str, Any]:
    """The MIME bundle that displays a widget; makes its events be handled ``in_order``. name: the text where widgets cannot be
    shown.
    """
    in_order(widget)
    return {VIEW: widget.get_view_spec(), "text/plain": name}


def in_order(widget: Any) -> None:
    """Make the main thread handle the events of a widget and of its present and later children, in the order they were sent.

    In ipykernel 7.4 they are handled by the thread that last wrote to the widget (``BaseComm._reply_subshell_for``); then a press
    may be handled before the text of the field next to it, or during a measurement, and cannot be interrupted. Other versions
    use one thread.
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
