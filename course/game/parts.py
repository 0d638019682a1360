"""Widgets that games share: a row of choices, the question about the cause, what is being done. Core ipywidgets only.

Everything is a button, a field or text: reached with Tab, pressed with Enter or Space; what is chosen stands in words too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import ipywidgets as w

from course.cards.inputs import Choices
from course.cards.render import in_language
from course.cards.widgets import classed, focus, light, name_of, show
from course.core.i18n import Text, pick, t
from course.core.markup import inline, plain
from course.game.play import Play
from course.game.view import cause_said, whys_html


def button(name: str, words: str, press: Callable[[], None], main: bool = False) -> w.Button:
    """An ordinary button. name: its class on the page. main: the one that goes on."""
    made = light(w.Button, description=words, layout={"width": "auto", "height": "auto"})
    made.on_click(lambda _: press())
    return classed(made, "tbq-go", name, *([] if main else ["tbq-sub"]))


def row(*buttons: w.Button) -> w.Box:
    """Buttons side by side; the one that goes on stands out."""
    return classed(light(w.Box, list(buttons)), "tbg-go", "tbq-ready")


def choice_button(*names: str, press: Callable[[], None]) -> w.Button:
    """A button that is chosen: its words change (see ``mark``). names: its classes on the page."""
    made = classed(light(w.Button, layout={"width": "auto", "height": "auto"}), *names)
    made.on_click(lambda _: press())
    return made


def mark(widget: w.DOMWidget, name: str, on: bool) -> None:
    """Put a class on a widget, or take it away."""
    (widget.add_class if on else widget.remove_class)(name)


class Picker:
    """One choice out of a few: a row of buttons; the chosen one has a full dot and says so. chosen: its id, "" for none.
    yours: a bet, drawn as every bet. pressed: called after a button was pressed.
    """

    def __init__(
        self,
        name: str,
        values: Mapping[str, Text],
        chosen: str = "",
        says: str = "",
        notes: Mapping[str, str] | None = None,
        yours: bool = False,
        pressed: Callable[[], None] = lambda: None,
    ) -> None:
        self.name, self.values, self.notes, self.chosen = name, values, notes or {}, ""
        self.pressed = pressed
        says = inline(says).replace("torch.backends.", "torch.backends.<wbr>")
        small = f"<small>{says}</small>" if says else ""
        self.head = light(w.HTML, in_language(f"<p><strong>{inline(name)}</strong>{small}</p>"))
        self.buttons = {one: choice_button("tbg-value", press=partial(self._press, one)) for one in values}
        listed = classed(light(w.Box, list(self.buttons.values())), "tbg-values")
        self.widget = classed(light(w.Box, [self.head, listed]), "tbg-row", *(["tbg-yours"] if yours else []))
        self.choose(chosen)

    def _press(self, value: str) -> None:
        self.choose(value)
        self.pressed()

    def choose(self, value: str) -> None:
        """Choose a value; "" takes the choice back."""
        self.chosen = value
        for name, one in self.buttons.items():
            on, words = name == value, plain(pick(self.values[name]))
            one.description = f"{'● ' if on else ''}{words}{self.notes.get(name, '')}"
            name_of(one, f"{plain(self.name)}: {words}{t(' (chosen)', '（已选）') if on else ''}")
            mark(one, "tbg-on", on)


class Doing:
    """What is being done now, in words, over a bar that fills in the time announced."""

    def __init__(self) -> None:
        self.widget = light(w.HTML)

    def start(self, words: str, seconds: float) -> None:
        bar = f'<div class="tbg-wait" aria-hidden="true"><i style="animation-duration:{seconds:.1f}s"></i></div>'
        self.widget.value = in_language(f"<p>{inline(words)}</p>{bar}", "", ' role="status"')

    def clear(self) -> None:
        self.widget.value = ""


class CauseBox:
    """The question about the cause: choose, press, read; the wrong ones explain themselves, and one may try again."""

    def __init__(self, play: Play, on_answer: Callable[[], None]) -> None:
        self.play, self.on_answer = play, on_answer
        self.choices = Choices(play.case.cause, lambda: None)
        self.say = light(w.HTML)
        self.go = button("tbg-cause", t("💡 This is the cause", "💡 原因就是它"), self.press, main=True)
        ask = t("💡 Why did it come out so?", "💡 为什么会这样？")
        head = light(w.HTML, in_language(f"<h4>{ask}</h4><p>{inline(pick(play.case.cause.stem))}</p>"))
        inside = [head, self.choices.widget, row(self.go), self.say]
        self.widget = classed(light(w.VBox, inside), "tbg-panel")
        self.show()

    def focus(self) -> None:
        """Send the keyboard here."""
        focus(next(iter(self.choices.rows.values())).button)

    def press(self) -> None:
        """Answer with what is chosen."""
        chosen = self.choices.response().options
        if self.play.attempt.cause_found:
            return
        if not chosen:
            self._say(t("Choose an answer first.", "先选一个答案。"))
            return
        self.play.cause(chosen[0])
        self.on_answer()

    def show(self) -> None:
        """Draw what was answered in this attempt."""
        tried = self.play.attempt.causes
        if not tried:
            return
        found = self.play.attempt.cause_found
        if found:
            self.choices.lock(True)
        shown = {
            one.id: (one.id in tried, bool(one.correct))
            for one in self.play.case.cause.options
            if found or one.id in tried
        }
        self.choices.reveal(shown, False)
        self._say(cause_said(found), whys_html(self.play))
        show(self.go, not found)

    def _say(self, head: str, told: str = "") -> None:
        self.say.value = in_language(
            f'<p class="tbq-notice"><strong>{head}</strong></p>{told}', "tbq-say", ' role="status"'
        )
