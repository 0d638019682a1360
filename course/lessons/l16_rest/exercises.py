"""The code task of lesson 16 that measures: an int8 layer that loses."""

from __future__ import annotations

from typing import Any

from course.exercises.checking import lost, race_in
from course.exercises.told import Told
from course.lessons.l16_rest.int8_race import int8_layers


def check_losing(losing: Any) -> dict[str, float]:
    """Accept on evidence: time(int8) / time(float32) wholly above 1, enough rounds, and one layer on both sides."""
    raced = race_in(losing, "int8_race(...)", "float32", "int8")
    engine = int8_layers(raced)
    if engine is None:
        raise Told("layers")
    if engine == "qnnpack":
        raise Told("qnnpack")
    return lost(raced)


CHECKS = {"16-make-it-lose": check_losing}
