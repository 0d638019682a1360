"""Question cards: a question as core ipywidgets, or as text where there are none.

``practice`` and ``explain`` mark and explain at once, ``bet`` locks, ``checkpoint`` records on the answer
sheet and says nothing about right or wrong. A card built again from the log shows the earlier answer with its
explanations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from course.cards.deck import InDeck, deck_of_cell
from course.cards.render import (
    SHEET,
    body_html,
    done_words,
    hide_saved_copy,
    lines_html,
    not_attempted_html,
    notice_html,
    question_html,
    report_html,
    say_html,
    static_html,
)
from course.cards.typed import text_mode
from course.cards.widgets import light, name_of, sheet, show, view_of
from course.core.i18n import language, t
from course.core.plain_text import text_of
from course.core.verdict import Verdict
from course.learning.bets import known_before, settled_of
from course.learning.log import AnswerLog, answer_log
from course.learning.marking import Response, mark, mark_bet
from course.learning.reporting import Report, report
from course.learning.session import (
    AnswerError,
    NotAttempted,
    another,
    current_variant,
    earlier,
    one_line,
    record,
    submit,
    validate,
)
from course.learning.sheet import AnswerSheet
from course.questions.bank import Bank, default_bank
from course.questions.items import Item
from course.questions.wording import recorded_words, unrecorded_words

KEPT = "tbq-kept"
"""The class of a card that comes with its answer: it keeps no room for what only answering needs."""


class Card(InDeck):
    """One question card. Show it with ``show()``, or leave it as the last expression of a cell.

    item: or its id; that of an interview question has ``card_spoken.SpokenCard``. text: True for text, False for widgets, None for what
    this place can show. widget: the ipywidgets box, None in text mode. ``submit_as(confidence)`` is called by the three buttons.
    Raises UnknownItem or BankError with a sentence.
    """

    def __init__(
        self,
        item: Item | str,
        log: AnswerLog | None = None,
        bank: Bank | None = None,
        sheet: AnswerSheet | None = None,
        text: bool | None = None,
    ) -> None:
        self.log, self.bank = log or answer_log(), bank or default_bank()
        self.item = current_variant(self.bank[item] if isinstance(item, str) else item, self.log)
        self.sheet = sheet
        self.text = text_mode() if text is None else text
        self._copy: Any = None
        self._made: tuple[Any, Report] | None = None
        self.answered: Response | None = self._earlier()
        self.widget = None if self.text else self._build()

    def _earlier(self) -> Response | None:
        if not self.item.checkpoint:
            return earlier(self.item, self.log)
        response = self.sheet.own(self.item) if self.sheet else None
        try:
            return validate(self.item, response) if response else None
        except AnswerError:
            return None

    # --- widget mode ---

    def _build(self) -> Any:
        import ipywidgets as w

        from course.cards.inputs import SureBar

        self.input = _input(self.item, self._changed, tells=self.sheet is None)
        self.say = light(w.HTML, say_html())
        self.bar = SureBar(self.item, self._press)
        self.buttons = self.bar.buttons
        self.because = because_field(self.item)
        self.question = self._head()
        row = light(w.Box, [] if self.item.checkpoint else [self.because])
        row.add_class("tbq-lines-row")
        # what is exchanged for another variant stands in a box of its own: all that follows it is drawn anew, focus and all
        self.place = light(w.VBox, [self.input.widget]) if self.item.varies else self.input.widget
        parts = [self.question, self.place, row, self.bar.widget, self.say]
        box = light(w.VBox, [*parts, sheet(SHEET)])
        box.add_class("tbq")
        box.add_class(f"tbq-live-{self.item.id}")
        if self.item.kind == "predict":
            box.add_class("tbq-bet")
        self._pressed: int | None = None
        self.bar.open()
        self._offer_reason(False)
        if self.answered:
            self.input.restore(self.answered)
            self._show_answer(self.answered.confidence or 2)
            if not self.item.checkpoint:
                box.add_class(KEPT)
        return box

    def _head(self) -> Any:
        """The question as a widget; what else stands on the card is hidden while this is folded."""
        import ipywidgets as w

        question = light(w.HTML, self._question())
        question.add_class("tbq-q")
        return question

    def _question(self) -> str:
        return hide_saved_copy(self.item) + question_html(self.item, self.folded, self._done_words())

    def _done_words(self) -> str:
        """What the folded card says of the answer given; empty without one."""
        if not self.answered:
            return ""
        return done_words(self.item, "" if self.item.checkpoint else self.report().tone, self.answered.words)

    def draw_head(self) -> None:
        """Show the question anew."""
        self.question.value = self._question()

    def _changed(self) -> None:
        """Something was chosen, typed or moved; on a checkpoint card, perhaps away from what is recorded."""
        try:
            now = self.input.response()
        except AnswerError:
            now = None
        chosen = now is None or not now.empty
        self.bar.ready(chosen)
        self._offer_reason(chosen)
        if self.item.checkpoint and self.answered:
            kept = self.answered
            same = now is not None and (now.options, now.number) == (kept.options, kept.number)
            self._say(notice_html(recorded_words() if same else unrecorded_words(kept.words)))

    def _press(self, level: int) -> None:
        if self._pressed is None:
            self.submit_as(level)
        elif self.item.kind != "predict":
            self.retry()

    def submit_as(self, confidence: int) -> None:
        """Hand in what is chosen; a choice that cannot be taken is answered by a sentence on the card."""
        try:
            own = "" if self.item.checkpoint else one_line(self.because.value)
            response = replace(self.input.response(), confidence=confidence, because=own)
            if self.item.checkpoint:
                said = record(self.item, response, self.sheet, self.log)
                self.answered = response
                self._say(notice_html(f"✓ {said}", *self.log.take_notices()))
                self._go_on()
                return
            verdict = submit(self.item, response, self.log)
        except NotAttempted as nothing:
            self._say(not_attempted_html(str(nothing)))
            return
        except AnswerError as error:
            self._say(notice_html(str(error)))
            return
        self.answered, self._made = response, None
        self._show_answer(confidence, verdict)
        self._go_on()

    def _go_on(self) -> None:
        """After an answer: the saved copy has it, and the next card of the deck opens."""
        self._renew()
        self.open_in_deck()
        if self.deck:
            self.deck.follow(self)

    def retry(self) -> None:
        """Open a practice card again, a question with variants with other numbers; the answer given stays in the log."""
        self.open_in_deck()
        if self.item.varies:
            self._turn()
        self._pressed = None
        self.widget.remove_class(KEPT)
        self.input.lock(False)
        self.input.restore(Response())
        self.bar.open()
        self.bar.ready(False)
        self.because.value, self.because.disabled = "", False
        self._offer_reason(False)
        self._say(
            notice_html(
                t("A fresh try. Your earlier answer stays in your log.", "重新作答。之前的答案仍保留在记录里。"),
                *([t("The numbers are others now.", "数字已经换了。")] if self.item.varies else []),
            )
        )

    def _turn(self) -> None:
        """Put the next variant of the question on the card; the buttons stay, so the focus is not lost."""
        self.item, self.answered = another(self.item, self.log), None
        self.draw_head()
        self.input = _input(self.item, self._changed, tells=self.sheet is None)
        self.place.children = [self.input.widget]
        self._renew()

    def settle(self) -> None:
        """Draw a bet card again after its experiment settled it (see ``bets.settle``)."""
        self._made = None
        if self.widget is not None and self.answered:
            self._show_answer(self.answered.confidence or 2)
            self._renew()

    def _show_answer(self, pressed: int, verdict: Verdict | None = None) -> None:
        """Lock the input, explain everything. The pressed button stays in place, so the focus is not lost."""
        if self.item.checkpoint:
            self.bar.ready(True)
            self._say(notice_html(recorded_words()))
            return
        self._pressed = pressed
        found = self.report(verdict)
        notices = notice_html(*self.log.take_notices())
        self._say(report_html(found) + notices, lines_html(found, self.item))  # first what the learner waits for
        self.bar.done(pressed)
        self.input.lock(True)
        shown = {one.option: (one.chosen, one.right) for one in found.feedback if self.item.option(one.option)}
        self.input.reveal(shown, self.item.kind == "predict")
        self.because.value, self.because.disabled = self.answered.because or self.because.value, True
        show(self.because, bool(self.because.value), room=True)

    def _offer_reason(self, chosen: bool) -> None:
        """Show the field for the learner's own reason: on a bet from the start, elsewhere once something is chosen."""
        show(self.because, chosen or self.item.kind == "predict", room=True)

    def report(self, verdict: Verdict | None = None) -> Report:
        """The feedback on the answer given; made once for each answer and language. verdict: of that answer, if it is at hand."""
        made_for = (self.answered, language())
        if self._made is None or self._made[0] != made_for:
            entries = self.log.entries()
            bet = self.item.kind == "predict"
            settled = settled_of(self.item, entries) if bet else None
            if verdict is None or settled is not None:
                verdict = mark_bet(self.item, self.answered, settled) if bet else mark(self.item, self.answered)
            late = bet and known_before(self.item, entries)
            beliefs = self.bank.misconceptions()
            self._made = made_for, report(self.item, self.answered, verdict, beliefs, settled, late)
        return self._made[1]

    def _say(self, live: str, quiet: str = "") -> None:
        self.say.value = say_html(live, quiet)

    # --- display ---

    def __str__(self) -> str:
        """The card as text, with the explanations of an earlier answer."""
        found = self.report() if self.answered and not self.item.checkpoint else None
        return text_of(body_html(self.item, self.answered, found))

    __repr__ = __str__

    def saved_copy(self) -> dict[str, Any]:
        """MIME bundle of the copy that stays readable in a saved notebook: question, answer, explanations."""
        found = self.report() if self.answered and not self.item.checkpoint else None
        return {"text/html": static_html(self.item, self.answered, found), "text/plain": str(self)}

    def show(self) -> Card:
        """Display the card and its saved copy (or print it, in text mode), and return the card."""
        if self.text:
            print(self)
            return self
        from IPython.display import display

        name = t(f"[{self.item.id}] card; its text follows", f"[{self.item.id}] 卡片；文字版在下面")
        deck_of_cell().add(self)
        display(view_of(self.widget, name), raw=True)
        self.show_copy()
        return self

    def show_copy(self) -> None:
        """Display the copy that stays readable in a saved notebook; it follows what is answered."""
        from IPython.display import display

        shown_before = self._copy.display_id if self._copy else True  # a card shown twice has two copies that follow it
        self._copy = display(self.saved_copy(), raw=True, display_id=shown_before)

    def reopen(self) -> None:
        """Ask again as if nothing had been answered; the log is not changed."""
        if self.answered is None:
            return
        self.answered = None
        if self.widget is not None:
            self.retry()
        else:
            self.item = another(self.item, self.log)
        self._renew()

    _ipython_display_ = show

    def _renew(self) -> None:
        """Update the saved copy after an answer."""
        if self._copy is not None:
            self._copy.update(self.saved_copy(), raw=True)


def because_field(item: Item) -> Any:
    """One line for the learner's own reason, or in the interview for key words. Its room is kept, so nothing moves."""
    import ipywidgets as w

    name, hint = t("💡 Because …", "💡 因为……"), t("one line for yourself, if you like", "给自己写一句理由，可不填")
    if item.kind == "spoken":
        name, hint = t("✍️ Key words", "✍️ 关键词"), t("if you like, before you look", "可不填；先写，再看答案")
    look = {"style": {"description_width": "initial"}, "layout": {"width": "auto"}}
    field = light(w.Text, description=name, placeholder=hint, continuous_update=False, **look)
    name_of(field, hint)
    field.add_class("tbq-because")
    return field


def _input(item: Item, on_change: Callable[[], None], tells: bool) -> Any:
    """The answering part that fits the kind of an item."""
    if item.kind == "number":
        from course.cards.inputs import NumberField

        return NumberField(item, on_change)
    if item.kind == "order":
        from course.cards.inputs import OrderList

        return OrderList(item, on_change)
    from course.cards.inputs import Choices

    return Choices(item, on_change, tells)
