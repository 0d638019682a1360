"""The student's id, for checkpoints in which each student has other numbers. It is asked for once, by a field or typed."""

from __future__ import annotations

from typing import Any

from course.cards.render import notice_html, say_html
from course.cards.style import SHEET
from course.cards.text import text_mode
from course.cards.widgets import light, view_of
from course.core.i18n import t
from course.learning.harvesting import clean_student
from course.questions.items import redrawn
from course.verbs import state
from course.verbs.say import in_words, say


def use_student(student: str) -> None:
    """Use the questions of this student's paper from now on."""
    bank, sheet = state.now.bank, state.now.sheet
    sheet.student = clean_student(student)
    items = bank.items(sheet.checkpoint, checkpoint=True)
    bank.embed(sheet.checkpoint, [redrawn(item, sheet.paper.seed(item.id)) for item in items])


def question() -> str:
    """The question for the id, and how to answer by typing."""
    return t(
        'Every student has a paper of their own here. Say whose this is, with the id your class knows you by: `i_am("your id")`. '
        "Then run the cells of the questions.",
        '这份测验每人一份不同的试卷。请先用班里登记的学号或用户名说明你是谁：`i_am("你的学号")`，再运行各题的单元格。',
    )


def ask() -> None:
    """Show the question with a text field; as text where there are no widgets."""
    if text_mode():
        say(question())
    else:
        from IPython.display import display

        display(view_of(WhoBox().widget, question()), raw=True)


@in_words
def i_am(student: str) -> None:
    """Say who you are, with the id you have in your class: your checkpoint then asks questions with your own numbers."""
    sheet = state.now.sheet
    if sheet is None or not sheet.salt:
        say(
            t(
                "Nothing to do: no checkpoint is open in which every student has another paper.",
                "不用说明：当前没有打开“每人一份不同试卷”的测验。",
            )
        )
    else:
        say(_taken(student))


def _taken(student: object) -> str:
    """Use the id; returns the sentence for the learner."""
    if not isinstance(student, str) or not clean_student(student):
        return question()
    use_student(student)
    sheet = state.now.sheet
    sheet.renew()
    return t(
        f"This is the paper of **{sheet.student}**. "
        "It is marked as that student's, so look at it twice; then run the cells of the questions (again).",
        f"这是 **{sheet.student}** 的试卷，评分时也按这个身份算，请再核对一遍；然后（重新）运行各题的单元格。",
    )


class WhoBox:
    """A text field for the id and a button. Pressing it, or Enter in the field, calls ``take``; the id can be changed."""

    def __init__(self) -> None:
        import ipywidgets as w

        self.say: Any = light(w.HTML, SHEET + say_html(notice_html(question())))
        self.field = light(
            w.Text,
            description=t("Your id:", "你的学号："),
            continuous_update=False,
            style={"description_width": "initial"},
            layout={"width": "auto"},
        )
        self.button = light(
            w.Button, description=t("This is my paper", "这是我的试卷"), layout={"width": "auto", "height": "auto"}
        )
        self.button.add_class("tbq-go")
        self.button.on_click(lambda _: self.take())
        self.field.observe(lambda _: self.take(), "value")
        self.widget = light(w.VBox, [self.say, self.field, self.button])
        self.widget.add_class("tbq")
        self.widget.add_class("tbq-whose")

    def take(self) -> None:
        """Use the id in the field."""
        self.say.value = SHEET + say_html(notice_html(_taken(self.field.value)))
