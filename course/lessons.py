"""The lessons in their order: the one place that knows which exist and what comes next."""

from __future__ import annotations

from dataclasses import dataclass

from course.i18n import Text, both


@dataclass(frozen=True)
class Lesson:
    """One notebook. ``id`` is its file stem; ``question`` the one question it answers."""

    id: str
    question: Text
    checkpoint: bool = True


LESSONS = (
    Lesson("00_start", both("Does everything work here, and what is this machine?",
                            "这里一切正常吗？这是一台什么机器？"), checkpoint=False),
    Lesson("01_map", both("What is torch.backends, and what is it not?",
                          "torch.backends 是什么，又不是什么？")),
    Lesson("02_timing", both("Why is my stopwatch lying?", "我的秒表为什么在撒谎？")),
    Lesson("03_flops", both("How much work is that model?", "这个模型要干多少活？")),
    Lesson("04_cudnn_enabled", both("What happens when cuDNN is off?", "关掉 cuDNN 会怎样？")),
    Lesson("05_cudnn_benchmark", both("When does the search pay, and when does it cost?",
                                      "搜索什么时候划算，什么时候亏本？")),
    Lesson("06_cudnn_deterministic", both("What does “reproducible” really need?",
                                          "“可复现”到底需要什么？")),
    Lesson("07_precision", both("Who turned my float32 into TF32?", "谁把我的 float32 变成了 TF32？")),
    Lesson("08_mps", both("What does Apple's backend switch, and what not?",
                          "苹果的后端能切换什么，不能切换什么？")),
    Lesson("09_mkldnn", both("What does oneDNN do on my CPU?", "oneDNN 在我的 CPU 上做什么？")),
)
BY_ID = {lesson.id: lesson for lesson in LESSONS}


def after(lesson_id: str) -> Lesson | None:
    """The lesson that follows, or None after the last. Raises KeyError for an unknown id."""
    ids = [lesson.id for lesson in LESSONS]
    place = ids.index(BY_ID[lesson_id].id) + 1
    return LESSONS[place] if place < len(LESSONS) else None
