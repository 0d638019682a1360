"""The main idea of lesson 13 as a picture: the three moments at which a switch is read."""

from __future__ import annotations

from course.core.i18n import t
from course.figures.panels import Panel, panels
from course.figures.shown import Block


def moments() -> Block:
    """Start, first call of a size, each call: which switches count there, and what turning them later does."""
    found = (
        Panel(
            t("1. At the start", "1. 程序启动时"),
            ("import torch", "OMP_NUM_THREADS"),
            t("Later: no effect", "之后再改：没用"),
        ),
        Panel(
            t("2. At the first call of a size", "2. 某个尺寸第一次调用时"),
            ("cudnn.benchmark",),
            t("Later: it keeps its plan", "之后再改：这个尺寸还用旧计划"),
        ),
        Panel(
            t("3. At each call", "3. 每次调用时"),
            ("mkldnn.enabled", "cudnn.enabled"),
            t("Later: counts at once", "之后再改：马上管用"),
        ),
    )
    alt = t(
        "Three moments. At the start torch reads OMP_NUM_THREADS; a later change has no effect. At the first call "
        "of a size cudnn.benchmark counts; later this size keeps its plan. At each call "
        "mkldnn.enabled and cudnn.enabled are read; a change counts at once.",
        "三个时刻。程序启动时，torch 读 OMP_NUM_THREADS，之后再改没用。某个尺寸第一次调用时，"
        "cudnn.benchmark 起作用，之后再改，这个尺寸还用旧计划。每次调用时，读 mkldnn.enabled 和 cudnn.enabled，一改马上管用。",
    )
    headline = t("A switch counts only if it is set before it is read.", "开关要赶在被读之前拨，才管用。")
    return Block(headline, "", panels(found, alt, ("", "")), "")
