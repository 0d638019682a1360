"""The parts of a question card that take an answer: options, three buttons for how sure, a number, lines in order."""

from __future__ import annotations

import time
from collections.abc import Callable

import ipywidgets as w

from course.cards.render import face_html
from course.cards.widgets import focus, light, relayout, second_click
from course.core.i18n import pick, t
from course.core.markup import NO_BREAK, inline, plain
from course.learning.marking import CONFIDENCE, Response
from course.learning.reporting import state_words, widest_state
from course.learning.session import parse_number
from course.questions.interview import FLUENCY
from course.questions.items import Item
from course.questions.wording import PAIR, pairs


class OptionRow:
    """One option: a button with its words for keyboard and screen reader, and on top of it the HTML that is seen."""

    def __init__(
        self, item: Item, option_id: str, on_click: Callable[[str], None], square: bool, widest: str = ""
    ) -> None:
        self.option, self.square, self.widest = item.option(option_id), square, widest
        self.button = light(w.Button, layout={"width": "100%", "height": "auto"})
        self.button.add_class("tbq-opt")
        self.button.on_click(lambda _: on_click(option_id))
        self.face = light(w.HTML)
        self.box = light(w.Box, [self.button, self.face])
        self.box.add_class("tbq-row")
        self._look = ""
        self.set("", "")

    def set(self, state: str, look: str) -> None:
        """state: words shown and read out; look: "", chosen, right or wrong."""
        words = f"{self.option.id}. {plain(pick(self.option.text))}"
        self.button.description = f"{words} ({state})" if state else words
        self.face.value = face_html(self.option, self.option.id, state, self.square, self.widest)
        if look != self._look:
            if self._look:
                self.box.remove_class(f"tbq-{self._look}")
            if look:
                self.box.add_class(f"tbq-{look}")
            self._look = look


class Chosen:
    """Which of the rows of options are chosen, in the order of the presses. Subclasses set ``rows``, and show what is chosen in ``_draw``.

    many: several may be chosen, and a second press takes one back. on_change is called when the choice changes.
    """

    rows: dict[str, OptionRow]

    def __init__(self, item: Item, many: bool, on_change: Callable[[], None]) -> None:
        self.item, self.many, self.on_change = item, many, on_change
        self.chosen: list[str] = []

    def toggle(self, option_id: str) -> None:
        """What a press of an option does."""
        if not self.many:
            self.chosen = [option_id]
        elif option_id in self.chosen:
            self.chosen.remove(option_id)
        else:
            self.chosen.append(option_id)
        self._draw()
        self.on_change()

    def choose(self, option_ids: list[str]) -> None:
        """Choose exactly these options, in this order."""
        self.chosen = list(option_ids)
        self._draw()
        self.on_change()

    def restore(self, response: Response) -> None:
        """Show an earlier answer as chosen."""
        self.chosen = [one for one in response.options if one in self.rows]
        self._draw()

    def _draw(self) -> None:
        raise NotImplementedError


class Choices(Chosen):
    """Options of a single, multiple or predict item, or criteria. tells: whether right and wrong will be said of them."""

    def __init__(self, item: Item, on_change: Callable[[], None] = lambda: None, tells: bool = True) -> None:
        super().__init__(item, item.kind in ("multiple", "spoken"), on_change)
        widest = widest_state(item.kind == "predict") if tells else self._selected()
        self.rows = {one.id: OptionRow(item, one.id, self.toggle, self.many, widest) for one in item.options}
        self.widget = light(w.VBox, [row.box for row in self.rows.values()])

    @staticmethod
    def _selected() -> str:
        return t("● selected", "● 已选")

    def _draw(self) -> None:
        for option_id, row in self.rows.items():
            picked = option_id in self.chosen
            row.set(self._selected() if picked else "", "chosen" if picked else "")

    def response(self) -> Response:
        """What is chosen now, in the order of the options."""
        return Response(tuple(one for one in self.rows if one in self.chosen))

    def lock(self, locked: bool) -> None:
        """Forbid or allow choosing."""
        for row in self.rows.values():
            row.button.disabled = locked
        if not locked:
            self._draw()

    def reveal(self, states: dict[str, tuple[bool, bool | None]], bet: bool) -> None:
        """Mark every option in words and colour: id -> (chosen, right). bet: what came out, and no right or wrong."""
        for option_id, (chosen, right) in states.items():
            look = {True: "right", False: "wrong" if chosen else "", None: "chosen" if chosen else ""}[right]
            self.rows[option_id].set(state_words(chosen, right, bet), look)


class SureBar:
    """Three buttons. The pressed one submits the answer; then only this one stays, with the focus, and opens the card again.

    The space of the others stays reserved, so that nothing moves.
    """

    def __init__(self, item: Item, on_press: Callable[[int], None]) -> None:
        self.item, self.on_press = item, on_press
        self.levels = FLUENCY if item.kind == "spoken" else CONFIDENCE
        self._done_at = float("-inf")
        self.ask = light(w.HTML)
        self.buttons = {level: self._button(level) for level in CONFIDENCE}
        self._ready = False
        row = light(w.Box, list(self.buttons.values()))
        row.add_class("tbq-sure")
        self.widget = light(w.VBox, [self.ask, row])
        self.widget.add_class("tbq-bar")

    def _button(self, level: int) -> w.Button:
        button = light(w.Button, layout={"width": "auto", "height": "auto"})
        button.add_class("tbq-go")
        button.on_click(lambda _: self._press(level))
        return button

    def _press(self, level: int) -> None:
        if not second_click(self._done_at):  # a second click must not wipe the feedback away
            self.on_press(level)

    def open(self) -> None:
        """Ask for an answer."""
        self._done_at = float("-inf")
        verb = t("submit", "提交")
        if self.item.checkpoint:
            verb = t("record", "记录")
        if self.item.kind == "predict":
            verb = t("bet", "下注")
        note = t(" It does not change the mark.", "这不影响得分。") if self.item.checkpoint else ""
        if self.item.kind == "spoken":
            verb = t("rate", "打分")
            self._ask(
                t("Tick what you said. How did you say it? Press to rate.", "勾出你说到的。说得怎么样？点击即打分。")
            )
        else:
            self._ask(t(f"How sure are you? Press to {verb}.{note}", f"你有多大把握？点击即{verb}。{note}"))
        for level, button in self.buttons.items():
            button.description = f"{verb.capitalize()}{t(': ', '：')}{pick(self.levels[level])}"
            relayout(button, visibility=None, order=None)
            button.remove_class("tbq-sub")

    def ready(self, ready: bool) -> None:
        """Show whether there is an answer to submit."""
        if ready != self._ready:
            self._ready = ready
            (self.widget.add_class if ready else self.widget.remove_class)("tbq-ready")

    def done(self, pressed: int) -> None:
        """Show only the pressed button, as "try again" or, for a bet, as the lock."""
        self._done_at = time.monotonic()
        self._ask(t("Answered.", "已作答。"))
        bet = self.item.kind == "predict"
        for level, button in self.buttons.items():
            kept = level == pressed
            relayout(button, visibility=None if kept else "hidden", order="-1" if kept else None)
        self.buttons[pressed].add_class("tbq-sub")
        self.buttons[pressed].description = t("✓ Bet locked", "✓ 已锁定") if bet else t("↺ Try again", "↺ 再答一次")

    def _ask(self, words: str) -> None:
        self.ask.value = f"<p>{words}</p>"


class NumberField:
    """One text field. The text is parsed when it is submitted, so that a mistake gets a sentence and not a silent 0.

    Like every field that a button reads, it sends its text to the kernel once, when the focus leaves it
    (``continuous_update=False``). If it sent every letter, ipywidgets would hold back later letters while the kernel
    works, and the press of a button would be handled before them.
    """

    def __init__(self, item: Item, on_change: Callable[[], None] = lambda: None) -> None:
        unit = plain(pick(item.number.unit))
        self.field = light(
            w.Text,
            description=t(f"Your number ({unit}):", f"你的数字（{unit}）："),
            placeholder=t("for example 3 or 2.5e6", "例如 3 或 2.5e6"),
            style={"description_width": "initial"},
            layout={"width": "auto"},
            continuous_update=False,
        )
        self.field.add_class("tbq-number")
        self.field.observe(lambda _: on_change(), "value")
        self.widget = light(w.VBox, [self.field])

    def response(self) -> Response:
        """The number typed; an empty field is an empty response. Raises AnswerError for anything else."""
        typed = self.field.value.strip()
        return Response(number=parse_number(typed) if typed else None)

    def restore(self, response: Response) -> None:
        """Show an earlier number."""
        self.field.value = "" if response.number is None else f"{response.number:.10g}"

    def lock(self, locked: bool) -> None:
        """Forbid or allow typing."""
        self.field.disabled = locked

    def reveal(self, states: dict[str, tuple[bool, bool | None]], bet: bool) -> None:
        """Does nothing: the feedback below says what is right."""


class Place:
    """One numbered place of the learner's order with its buttons: up, down, remove."""

    def __init__(self, order: OrderList, number: int) -> None:
        self.number = number
        self.text = light(w.HTML)
        self.buttons = []
        for step in (-1, +1, 0):
            button = light(w.Button, layout={"width": "auto", "height": "auto"})
            button.add_class("tbq-move")
            button.on_click(lambda _, step=step: order.move(number, step))
            self.buttons.append(button)
        self.box = light(w.Box, [self.text, *self.buttons])
        self.box.add_class("tbq-line")
        self._full: bool | None = None

    def show(self, text: str | None, last: bool, locked: bool) -> None:
        """Show a line in this place. text: None for a free place."""
        here = self.number + 1
        words = (t("move up", "上移"), t("move down", "下移"), t("take out", "移除"))
        for button, sign, word, possible in zip(
            self.buttons, "↑↓✕", words, (self.number > 0, not last, True), strict=True
        ):
            label = t(f"{word}, line {here}", f"{word}第 {here} 行")
            button.description = f"{sign}{NO_BREAK}{label}"
            button.tooltip = label
            button.disabled = locked or text is None or not possible
        free = t("free", "空位")
        body = inline(text) if text is not None else f"<em>{free}</em>"
        self.text.value = f'<p class="tbq-slot"><b>{here}</b><span>{body}</span></p>'
        if (text is not None) is not self._full:
            self._full = text is not None
            (self.box.remove_class if self._full else self.box.add_class)("tbq-free")


class OrderList(Chosen):
    """Lines to use, and the learner's order beside them; below them on a narrow card.

    Places are fixed widgets, so the focus survives every move and nothing on the card jumps.
    """

    def __init__(self, item: Item, on_change: Callable[[], None] = lambda: None) -> None:
        super().__init__(item, True, on_change)
        self.locked = False
        widest = t("does not belong", "不该出现")
        self.rows = {one.id: OptionRow(item, one.id, self.toggle, True, widest) for one in item.options}
        self.places = [Place(self, number) for number in range(len(item.options))]
        note = t("Your order (press a line to add it):", "你的顺序（点一行就添加）：")
        lines = light(w.VBox, [*map(self._group, pairs(item))])
        self.note = light(w.HTML, f'<p class="tbq-note">{note}</p>')
        self.order = light(w.VBox, [self.note])
        self.widget = light(w.Box, [lines, self.order])
        self.widget.add_class("tbq-order")
        self._draw()

    def _group(self, ids: tuple[str, ...]) -> w.Box:
        if len(ids) == 1:
            return self.rows[ids[0]].box
        note = light(w.HTML, f'<p class="tbq-note">{pick(PAIR)}</p>')
        box = light(w.VBox, [note, *(self.rows[one].box for one in ids)])
        box.add_class("tbq-pair")
        return box

    def move(self, number: int, step: int) -> None:
        """Move the line at a place up (-1) or down (+1), or take it out (0); the focus goes with the line."""
        other = number + step
        if self.locked or number >= len(self.chosen) or not 0 <= other < len(self.chosen):
            return
        if step:
            self.chosen[number], self.chosen[other] = self.chosen[other], self.chosen[number]
        else:
            del self.chosen[number]
        self._draw()
        self._focus(other if step else min(number, len(self.chosen) - 1), step)
        self.on_change()

    def _focus(self, number: int, step: int) -> None:
        """Put the focus on the same button of the line's new place, or on one there that can be pressed."""
        if number < 0:
            focus(next(iter(self.rows.values())).button)
            return
        buttons = self.places[number].buttons
        wanted = buttons[{-1: 0, 1: 1, 0: 2}[step]]
        focus(buttons[2] if wanted.disabled else wanted)

    def _draw(self) -> None:
        for option_id, row in self.rows.items():
            used = option_id in self.chosen
            place = self.chosen.index(option_id) + 1 if used else 0
            row.set(t(f"place {place}", f"第 {place} 行") if used else t("add", "添加"), "chosen" if used else "")
        for number, place in enumerate(self.places):
            used = number < len(self.chosen)
            text = pick(self.item.option(self.chosen[number]).text) if used else None
            place.show(text, number == len(self.chosen) - 1, self.locked)
        can_be_filled = max(len(pairs(self.item)), len(self.chosen))  # of a pair one line belongs at most
        self.order.children = [self.note, *(place.box for place in self.places[:can_be_filled])]

    def response(self) -> Response:
        """The learner's present order."""
        return Response(tuple(self.chosen))

    def lock(self, locked: bool) -> None:
        """Forbid or allow moving lines."""
        self.locked = locked
        for row in self.rows.values():
            row.button.disabled = locked
        self._draw()

    def reveal(self, states: dict[str, tuple[bool, bool | None]], bet: bool) -> None:
        """Mark the lines that do not belong; the feedback shows the right order."""
        for option_id, (chosen, right) in states.items():
            place = self.chosen.index(option_id) + 1 if chosen else 0
            words = t(f"place {place}", f"第 {place} 行") if chosen else t("not used", "未用")
            if right is False:
                words = t("does not belong", "不该出现")
            self.rows[option_id].set(words, "wrong" if chosen and right is False else "chosen" if chosen else "")
