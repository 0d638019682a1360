"""Scenes about processes: what is read at the start only, and what a new process does not inherit."""

from __future__ import annotations

import os
import sys

from course.i18n import Text, both
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


# --- fallback -----------------------------------------------------------------------------------------------------

VARIABLE = "PYTORCH_ENABLE_MPS_FALLBACK"


def fallback_scene(stage: Stage) -> Facts:
    """What the variable was at the moment when torch began to load; the library's own environment is asked."""
    seen: list[str | None] = []

    class Watcher:
        def find_spec(self, name: str, path: object = None, target: object = None) -> None:
            if name == "torch" and not seen:
                seen.append(os.environ.get(VARIABLE))

    watcher = Watcher()
    sys.meta_path.insert(0, watcher)
    try:
        stage.run()
    finally:
        sys.meta_path.remove(watcher)
    return {"imported": bool(seen), "at_import": seen[0] if seen else None, "later": os.environ.get(VARIABLE)}


def fallback_told(facts: Facts) -> Text:
    return both(
        f"When torch was loaded, the variable was {facts['at_import']!r}; at the end it is {facts['later']!r}.",
        f"加载 torch 那一刻，变量是 {facts['at_import']!r}；到最后是 {facts['later']!r}。",
    )


def fallback_objection(facts: Facts) -> Text | None:
    if not facts["imported"]:
        return both("The script no longer imports torch.", "脚本已经不导入 torch 了。")
    value = facts["at_import"]
    if value is None:
        return both(
            "When torch was loaded the variable was not there yet: the library has looked.",
            "加载 torch 时，变量还没设：库已经看过了。",
        )
    if not value.strip().lstrip("+-").isdigit() or int(value) == 0:
        return both(
            f'The variable was {value!r}. It is read as a whole number, and 0 is off: write "1".',
            f'变量是 {value!r}。它按整数读，0 是关：请写 "1"。',
        )
    return None


# --- spawn --------------------------------------------------------------------------------------------------------


def spawn_scene(stage: Stage) -> Facts:
    import torch

    stage.run()
    return {"worker": stage.get("main")(), "parent": torch.backends.mkldnn.enabled}


def spawn_told(facts: Facts) -> Text:
    return both(
        f"`mkldnn.enabled` in the parent: {facts['parent']}, in the worker: {facts['worker']}.",
        f"`mkldnn.enabled`：主进程 {facts['parent']}，worker {facts['worker']}。",
    )


def spawn_objection(facts: Facts) -> Text | None:
    if facts["worker"] is not False:
        return both(
            f"The worker still answers {facts['worker']}: it computes with oneDNN.",
            f"worker 还是回答 {facts['worker']}：它用了 oneDNN。",
        )
    return None


SCENES = {
    "11-too-late": Scene(late_scene, late_told, late_objection),
    "11-fallback": Scene(fallback_scene, fallback_told, fallback_objection),
    "11-spawn": Scene(spawn_scene, spawn_told, spawn_objection),
}
