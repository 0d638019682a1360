"""The code task of lesson 16 that measures: an int8 layer that loses."""

from __future__ import annotations

from typing import Any

from course.core.i18n import both
from course.core.verdict import Verdict, correct, incorrect
from course.exercises.checking import not_lost, race_in
from course.lessons.l16_rest.int8_race import int8_layers

# --- dot_in_16_bits -------------------------------------------------------------------------------------------

LOW, HIGH = -32768, 32767


# --- make it lose ---------------------------------------------------------------------------------------------


def check_losing(losing: Any) -> Verdict:
    """Accept on evidence: time(int8) / time(float32) wholly above 1, enough rounds, and one layer on both sides."""
    raced = race_in(losing, "int8_race(...)", "float32", "int8")
    if isinstance(raced, Verdict):
        return raced
    engine = int8_layers(raced)
    if engine is None:
        return incorrect(
            both(
                "Both sides should be the same layer, once in float32 and once in int8: let `int8_race` build them.",
                "两边应是同一个层，一次 float32，一次 int8：请让 `int8_race` 来搭。",
            ),
            reason="layers",
        )
    if engine == "qnnpack":
        return incorrect(
            both(
                "qnnpack loses here, you know that from the experiment. Find a layer with which this machine's default engine loses.",
                "qnnpack 会输，实验里已经看到了。请让本机的默认引擎输一次。",
            ),
            reason="qnnpack",
        )
    won = both(
        "int8 won. What costs the same, however small the layer is?", "int8 赢了。想一想，层再小，有哪样开销是不变的？"
    )
    if verdict := not_lost(raced, won):
        return verdict
    low, high = raced.low, raced.high
    return correct(
        both(
            f"Accepted: here int8 takes {low:.2f} to {high:.2f} times as long as float32.",
            f"通过：这里 int8 的耗时是 float32 的 {low:.2f} 到 {high:.2f} 倍。",
        )
    )


CHECKS = {"16-make-it-lose": check_losing}
