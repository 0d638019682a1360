"""The question card of an interview question: say the answer, uncover the model answers, tick the criteria, rate."""

from __future__ import annotations

from typing import Any

from course.cards.cards import Card, because_field
from course.cards.render import SHEET, body_html, in_language, notice_html, report_html, say_html, static_html
from course.cards.widgets import light, sheet, show
from course.core.i18n import pick, t
from course.core.markup import inline
from course.core.plain_text import text_of
from course.core.verdict import Verdict
from course.questions.interview import FLUENCY, Spoken
from course.questions.wording import call_text


class SpokenCard(Card):
    """The card of an interview question. The model answers are not on the card until ``uncover()``, which a button calls. Rating
    again is a new try.
    """

    def _build(self) -> Any:
        import ipywidgets as w

        from course.cards.inputs import Choices, SureBar

        self.question = self._head()
        self.input = Choices(self.item, self._changed)
        self.say = light(w.HTML, say_html())
        self.bar = SureBar(self.item, self._press)
        self.buttons = self.bar.buttons
        self.because = because_field(self.item)
        self.model = light(w.HTML)
        self.show_button = light(w.Button, layout={"width": "auto", "height": "auto", "margin": "8px 0 0"})
        self.show_button.add_class("tbq-go")
        self.show_button.on_click(lambda _: self.uncover(not self.model.value))
        row = light(w.Box, [self.because])
        row.add_class("tbq-lines-row")
        parts = [self.model, self.input.widget, self.bar.widget]
        self.behind = light(w.VBox, parts)
        parts = [self.question, row, self.show_button, self.behind, self.say, sheet(SHEET)]
        box = light(w.VBox, parts)
        box.add_class("tbq")
        box.add_class(f"tbq-live-{self.item.id}")
        self._pressed: int | None = None
        self.bar.open()
        self.uncover(False)
        if self.answered:
            self.input.restore(self.answered)
            self._show_answer(self.answered.confidence or 2)
        return box

    def uncover(self, shown: bool = True) -> None:
        """Show the two answers and the criteria, or hide them again; the button stays, so the focus does."""
        model = f"{model_html(self.item)}<h4>{said_head()}</h4>"
        self.model.value = in_language(model, "tbq-model", ' role="status"') if shown else ""
        show(self.behind, shown)
        self.show_button.description = (
            t("Hide the answers", "收起答案") if shown else t("I have said it. Show the answers", "说完了，看答案")
        )

    def retry(self) -> None:
        """Ask again: the answers are covered, the rating given stays in the log."""
        super().retry()
        self.uncover(False)

    def _show_answer(self, pressed: int, verdict: Verdict | None = None) -> None:
        self._pressed = pressed
        self.uncover()
        self._say(report_html(self.report(verdict)) + notice_html(*self.log.take_notices()))
        self.bar.done(pressed)
        self.input.lock(True)
        self.because.disabled = True

    def __str__(self) -> str:
        """The question as text; after a rating also the answers and what was said of it."""
        if not self.answered:
            return text_of(body_html(self.item))
        return text_of(body_html(self.item, self.answered, self.report()) + model_html(self.item))

    def saved_copy(self) -> dict[str, Any]:
        """MIME bundle of the copy in a saved notebook: the question, and after a rating the answers with it."""
        if not self.answered:
            return {"text/html": static_html(self.item), "text/plain": str(self)}
        found = static_html(self.item, self.answered, self.report())
        return {
            "text/html": found + in_language(model_html(self.item), f"tbq-static tbq-static-{self.item.id}"),
            "text/plain": str(self),
        }


def said_head() -> str:
    """The heading of the criteria."""
    return t("What did you say?", "你说到了哪些？")


def model_html(item: Spoken) -> str:
    """Both model answers as HTML."""
    points = "".join(f"<li>{inline(pick(one))}</li>" for one in item.full)
    short, full = (
        t("In 30 seconds", "30 秒版"),
        t(
            "In 3 minutes: the points, in order; add an example and your own numbers",
            "3 分钟版：按顺序的要点，再配一个例子和自己的数字",
        ),
    )
    return (
        f"<h4>{short}</h4><p>{inline(pick(item.short))}</p><h4>{full}</h4><ol>{points}</ol>"
        f"<p><small>{t('Source: ', '依据：')}{inline(item.source)}</small></p>"
    )


def criteria_html(item: Spoken) -> str:
    """The criteria as HTML, and how to rate by typing."""
    listed = "".join(f"<li><b>{one.id})</b> {inline(pick(one.text))}</li>" for one in item.options)
    said = t(", ", "、").join(f"{level} = {pick(words)}" for level, words in FLUENCY.items())
    rate = t(
        f"Rate it: `{call_text(item)}` (add confidence={said})", f"打分：`{call_text(item)}`（可加 confidence={said}）"
    )
    return f'<h4>{said_head()}</h4><ul style="list-style:none">{listed}</ul><p>{inline(rate)}</p>'
