"""The main idea of lesson 14 as a picture: what travels in an exported file, and what stays on the machine."""

from __future__ import annotations

from course.core.i18n import t
from course.figures.panels import Panel, panels
from course.figures.shown import Block


def kitchens() -> Block:
    """This process, the file, the process at the other end. Filled marks travel, hollow ones stay."""
    taken = (t("+the steps", "+步骤"), t("+the weights", "+权重"))
    found = (
        Panel(
            t("Your kitchen", "你的厨房"), (*taken, t("-your switches", "-你的开关"), t("-your threads", "-你的线程数"))
        ),
        Panel(
            t("The file", "文件"),
            (*taken, t("+types and shapes", "+类型和形状"), t("+train or eval mode", "+train 还是 eval")),
        ),
        Panel(
            t("The other kitchen", "那边的厨房"),
            (*taken, t("-its own switches", "-那边的开关"), t("-its own threads", "-那边的线程数")),
        ),
    )
    alt = t(
        "Your process, the file, the process over there. Steps and weights go into the file, with types, shapes and "
        "the mode. Your switches and threads stay; over there its own count.",
        "你的进程、文件、那边的进程。步骤和权重写进文件，类型、形状、模式也跟着走。你的开关和线程数留下；到了那边，用那边自己的。",
    )
    headline = t("The recipe travels. The kitchen stays.", "菜谱寄走，厨房不寄。")
    return Block(headline, "", panels(found, alt, (t("export", "导出"), t("run", "运行"))), "")
