"""The scene of every case. Importing this loads no torch."""

from __future__ import annotations

from course.lessons.l11_bug_hunt import scenes_gpu, scenes_innocent, scenes_numbers, scenes_process, scenes_switches
from course.lessons.l11_bug_hunt.scene import Scene


def scenes() -> dict[str, Scene]:
    """The scene of every case, by the id of the case."""
    found: dict[str, Scene] = {}
    for module in (scenes_switches, scenes_process, scenes_gpu, scenes_numbers, scenes_innocent):
        found |= module.SCENES
    return found
