"""Scenes about processes: what is read at the start only, and what a new process does not inherit."""

from __future__ import annotations

import os

from course.core.i18n import Text, both
from course.lessons.l11_bug_hunt.scene import Facts, Scene
from course.lessons.l11_bug_hunt.stage import Stage

# --- too_late -----------------------------------------------------------------------------------------------------

GIVEN_THREADS = "3"


def late_scene(stage: Stage) -> Facts:
    stage.run()
    import torch

    return {"threads": torch.get_num_threads(), "variable": os.environ.get("OMP_NUM_THREADS")}


def late_told(facts: Facts) -> Text:
    return both(
        f"The shell said {GIVEN_THREADS}, the script asks for 1, torch uses {facts['threads']}.",
        f"shell 里设的是 {GIVEN_THREADS}，脚本要 1，torch 用了 {facts['threads']}。",
    )


def late_objection(facts: Facts) -> Text | None:
    if facts["threads"] == 1:
        return None
    return both(
        f"torch still uses {facts['threads']} threads: it had looked before the script wrote.",
        f"torch 还是用了 {facts['threads']} 个线程：脚本写之前，它已经看过了。",
    )


SCENES = {"11-too-late": Scene(late_scene, late_told, late_objection)}
