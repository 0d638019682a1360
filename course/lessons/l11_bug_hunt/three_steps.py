"""The main idea of lesson 11 as a picture: symptom, guess, test."""

from __future__ import annotations

from course.core.i18n import t
from course.figures.panels import Panel, panels
from course.figures.shown import Block


def three_steps() -> Block:
    """The three steps of a hunt, told of a lamp."""
    found = (
        Panel(
            t("1. Symptom", "1. 症状"), (t("seen or measured", "看得见、测得到"),), t("The lamp is dark.", "台灯不亮")
        ),
        Panel(
            t("2. One guess", "2. 一个猜测"),
            (t("it may be wrong", "有可能是错的"),),
            t("“The bulb is dead.”", "“灯泡坏了”"),
        ),
        Panel(
            t("3. One test", "3. 一个测试"),
            (t("wrong? guess again", "猜错了就再猜"),),
            t("Try another bulb.", "换个灯泡试试"),
        ),
    )
    alt = t(
        "Symptom: the lamp is dark. One guess, which may be wrong: the bulb is dead. One test: try another bulb. "
        "If the guess was wrong, guess again.",
        "症状：台灯不亮。一个猜测，有可能是错的：灯泡坏了。一个测试：换个灯泡试试。猜错了，就再猜一个。",
    )
    headline = t("One guess, one test: then you know.", "猜一个，测一次，就有答案。")
    return Block(headline, "", panels(found, alt, ("", "")), "")
