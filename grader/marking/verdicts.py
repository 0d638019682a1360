"""The words for what happened to a submission, for students and for the summary. The gravest comes last."""

from __future__ import annotations

from collections.abc import Iterable

from course.core.i18n import both

WORDS = {
    "ok": both("ok", "正常"),
    "pending": both("pending", "待人工评分"),
    "answers": both("answers missing", "缺少答案"),
    "wrong": both("wrong", "结果不对"),
    "raised": both("raised an error", "抛出异常"),
    "output": both("too much output", "输出过多"),
    "timeout": both("out of time", "超时"),
    "memory": both("out of memory", "内存不足"),
    "killed": both("kernel ended", "内核终止"),
    "damaged": both("damaged", "文件损坏"),
    "look": both("look", "请查看"),
    "left out": both("left out", "未受理"),
    "infrastructure": both("not marked, our fault", "未评分，是我们的问题"),
}
LEGEND = (
    "ok: marked, and nobody needs to look at it. pending: a text waits for your points. look: read its line and decide. Every "
    "other word says what went wrong while it ran; its marks count."
)
OF_KERNEL = {"died": "killed", "memory": "memory", "stuck": "timeout", "flood": "output"}  # Ran.ended -> word


def gravest(words: Iterable[str]) -> str:
    """The gravest of these words; ``ok`` where there is none."""
    order = list(WORDS)
    return max((word for word in words if word in WORDS), key=order.index, default="ok")
