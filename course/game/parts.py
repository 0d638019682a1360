"""Widgets that games share: a row of choices, the question about the cause, the letter, the steps of a run. Core ipywidgets only.

Everything is a button, a field or text: reached with Tab, pressed with Enter or Space; what is chosen stands in words too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial

import ipywidgets as w

from course.cards.card_choice import Choices
from course.cards.render import in_language
from course.cards.widgets import classed, focus, light, name_of, show
from course.core.i18n import Text, pick, t
from course.core.markup import inline, plain
from course.game.cases import Case
from course.game.play import CRITERIA, MoveError, Play
from course.game.view import cause_button, cause_said, letter_ask, letter_help, model_html
from course.questions.items import Item, Option


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


class Steps:
    """A small timeline of what is being done: seconds since the start, words; a bar that fills in the time announced."""

    def __init__(self) -> None:
        self.told, self._lines = light(w.HTML), []
        self.widget = self.told

    def start(self, words: str, seconds: float) -> None:
        self._began, self._seconds, self._lines = time.monotonic(), seconds, []
        self.tell(words)

    def tell(self, words: str) -> None:
        """One more thing is being done now."""
        self._lines.append((time.monotonic() - self._began, words))
        self._draw(
            f'<div class="tbg-wait" aria-hidden="true"><i style="animation-duration:{self._seconds:.1f}s"></i></div>'
        )

    def done(self, words: str) -> None:
        """The run is over; the timeline stays, if there is one."""
        if not self.told.value:
            return
        self._lines.append((time.monotonic() - self._began, words))
        self._draw("")

    def clear(self) -> None:
        self.told.value = ""

    def _draw(self, bar: str) -> None:
        lines = "".join(f"<li><b>{at:.1f} s</b><span>{inline(words)}</span></li>" for at, words in self._lines)
        self.told.value = in_language(f'<ol class="tbg-steps">{lines}</ol>{bar}', "", ' role="status"')


class CauseBox:
    """The question about the cause: choose, press, read; the wrong ones explain themselves, and one may try again."""

    def __init__(self, play: Play, on_answer: Callable[[], None]) -> None:
        self.play, self.on_answer = play, on_answer
        question = play.case.cause
        item = Item(
            f"{play.case.id}-cause",
            play.case.lesson,
            "cause",
            "single",
            question.stem,
            tuple(Option(one.id, one.text, one.right, one.why) for one in question.answers),
        )
        self.choices = Choices(item, lambda: None)
        self.say = light(w.HTML)
        self.go = button("tbg-cause", cause_button(), self.press, main=True)
        ask = t("💡 Why did it come out so?", "💡 为什么会这样？")
        head = light(w.HTML, in_language(f"<h4>{ask}</h4><p>{inline(pick(question.stem))}</p>"))
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
        self.show()
        self.on_answer()

    def show(self) -> None:
        """Draw what was answered in this attempt."""
        tried, question = self.play.attempt.causes, self.play.case.cause
        if not tried:
            return
        found = self.play.attempt.cause_found
        if found:
            self.choices.lock(True)
        shown = {one.id: (one.id in tried, one.right) for one in question.answers if found or one.id in tried}
        self.choices.reveal(shown, False)
        whys = [one for one in question.answers if one.id in tried or found]
        told = "".join(f"<p><b>{one.id}</b> {inline(pick(one.why))}</p>" for one in whys)
        self._say(cause_said(found), told)
        show(self.go, not found)

    def _say(self, head: str, told: str = "") -> None:
        self.say.value = in_language(
            f'<p class="tbq-notice"><strong>{head}</strong></p>{told}', "tbq-say", ' role="status"'
        )


class LetterBox:
    """The reply to a sceptical colleague: a field, then a model to compare with and criteria to tick. A reply of before is folded."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self.head = light(w.HTML)
        self.field = light(
            w.Textarea,
            description=t("Your reply", "你的回信"),
            placeholder=t("Dear colleague, ...", "你好，……"),
            layout={"width": "100%", "height": "auto"},
            continuous_update=False,
        )
        keep = t("✉️ Keep my reply and show the model", "✉️ 保存回信，看范文")
        self.keep = button("tbg-send", keep, self.press, main=True)
        self.ticks = {one: choice_button("tbg-value", press=partial(self._tick, one)) for one in CRITERIA}
        self.ticked: set[str] = set()
        self._drawn: tuple[str, set[str]] | None = None
        listed = classed(light(w.Box, list(self.ticks.values())), "tbg-ticks")
        self.model, self.say, self.asks = light(w.HTML), light(w.HTML), light(w.HTML)
        self.below = classed(light(w.VBox, [self.asks, listed], layout={"display": "none"}), "tbg-asks")
        keeping = row(self.keep)
        keeping.children += (self.say,)
        self.mine = light(w.VBox, [self.field, keeping])
        self.replies = classed(light(w.Box, [self.mine]), "tbg-replies")
        self.fold = row(button("tbg-reply", t("✉️ Your reply and a model", "✉️ 你的回信和范文"), self._unfold))
        self.parts = (self.head, self.replies, self.below)
        self.widget = classed(light(w.VBox, [self.head, self.fold] if play.written() else self.parts), "tbg-panel")
        self._ask(f"<p><small>{letter_help()}</small></p>")
        self.show()

    def focus(self) -> None:
        """Send the keyboard here."""
        focus(self.fold.children[0] if self.fold in self.widget.children else self.field)

    def _unfold(self) -> None:
        self.widget.children = self.parts
        self.focus()

    def press(self) -> None:
        """Keep what is written."""
        if self._kept(self.ticked):
            self._say(t("✓ Kept. Compare, and tick what yours does.", "✓ 已保存。对照一下，勾出你做到的。"))
            self.show()

    def _tick(self, name: str) -> None:
        if self._kept(self.ticked ^ {name}):
            self._draw()
            count = len(self.ticked)
            self._say(t(f"✓ {count} of {len(CRITERIA)} ticked.", f"✓ 已勾 {count}/{len(CRITERIA)} 条。"))

    def _kept(self, ticked: set[str]) -> bool:
        """Write the letter down with these ticks; a slip gets its sentence, and nothing is ticked."""
        try:
            self.play.letter(self.field.value, sorted(ticked))
        except MoveError as slip:
            self._say(str(slip))
            return False
        self.ticked = ticked
        return True

    def _ask(self, help_html: str = "") -> None:
        self.head.value = in_language(f"<h4>{inline(letter_ask(self.play.case))}</h4>{help_html}")

    def show(self) -> None:
        """Once a reply is in the log: the model beside it, and the criteria below."""
        written = self.play.written()
        if written is None or (written.text, set(written.choice)) == self._drawn:
            return
        self._drawn = written.text, set(written.choice)
        self.field.value, self.ticked = written.text, set(written.choice)
        self._ask()
        asks = t("Tick what your reply does:", "你的回信做到了哪几条？")
        self.asks.value = in_language(f"<p><strong>{asks}</strong></p>")
        self.model.value = in_language(model_html(self.play.case))
        self.replies.children = (self.mine, self.model)
        self.replies.add_class("tbg-kept")
        self.keep.description = t("✉️ Keep changes", "✉️ 保存改动")
        show(self.below, True)
        self._draw()

    def _draw(self) -> None:
        for name, one in self.ticks.items():
            on = name in self.ticked
            one.description = f"{'☑' if on else '☐'} {pick(CRITERIA[name])}"
            mark(one, "tbg-on", on)

    def _say(self, words: str) -> None:
        self.say.value = in_language(f'<p class="tbq-notice">{inline(words)}</p>', "tbq-say", ' role="status"')


def ticket_of(case: Case) -> str:
    """Name of a case for a place without widgets."""
    return t(f"[{case.id}] a case; its text follows", f"[{case.id}] 文字版在下面")
