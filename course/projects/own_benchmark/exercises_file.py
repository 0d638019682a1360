"""Checks of the project, part 4: the file of the plans, in a folder of its own that is removed afterwards."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from course.i18n import Text, both
from course.verdict import Verdict, correct, incorrect, partly

HERE = {"torch": "2.13.0", "threads": 2, "cpu": "a processor"}
OLD, NEW = {"old key": "direct"}, {"new key": "fft", "other key": "im2col"}
NAME = "plans.json"

# --- own-save ---------------------------------------------------------------------------------------------


def check_save(save_plans: Callable[..., Any]) -> Verdict:
    """A new file; one that replaces another; one that cannot be written."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for step in (_new_file, _replaced, _cannot_be_written):
            for old in folder.iterdir():
                old.unlink()
            if verdict := step(save_plans, folder / NAME):
                return verdict
    return correct(
        both(
            "Whoever opens the file finds the old plans or the new ones, never half of them.",
            "不管谁什么时候打开文件，看到的要么是旧计划，要么是新计划，绝不会是半份。",
        )
    )


def _kept(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _new_file(save_plans: Callable[..., Any], path: Path) -> Verdict | None:
    save_plans(path, dict(NEW), dict(HERE))
    if not path.exists():
        return incorrect(
            both("Afterwards there is no file at `path`.", "运行之后，`path` 处没有文件。"), reason="no-file"
        )
    if _kept(path) != {"machine": HERE, "plans": NEW}:
        return incorrect(
            both(
                'The file should hold the JSON of {"machine": machine, "plans": plans}, and it does not.',
                '文件里应是 {"machine": machine, "plans": plans} 的 JSON，现在不是。',
            ),
            reason="content",
        )
    return _left_over(path)


def _left_over(path: Path) -> Verdict | None:
    more = sorted(one.name for one in path.parent.iterdir() if one.name != path.name)
    if not more:
        return None
    listed = ", ".join(more)
    return partly(
        0.5,
        1.0,
        both(
            f"The file is right. Beside it lies {listed}: it should be gone in the end.",
            f"文件没问题，但旁边还留着 {listed}：最后不该有它。",
        ),
        reason="left-over",
    )


def _replaced(save_plans: Callable[..., Any], path: Path) -> Verdict | None:
    """The number of the file on the disk shows whether the old one was written into; what is removed is written down."""
    path.write_text(json.dumps({"machine": HERE, "plans": OLD}), "utf-8")
    before, removed, unlink = path.stat().st_ino, [], Path.unlink

    def noted(one: Any, *more: Any, **named: Any) -> None:
        removed.append(Path(one).name)
        unlink(Path(one))

    with mock.patch.object(os, "remove", noted), mock.patch.object(Path, "unlink", noted):
        save_plans(path, dict(NEW), dict(HERE))
    if _kept(path) != {"machine": HERE, "plans": NEW}:
        return incorrect(
            both("There were plans before, and they are still there.", "原来的计划还在，没有换成新的。"),
            reason="not-replaced",
        )
    if path.name in removed:
        return _not_atomic(both("The old file is removed first", "旧文件先被删掉了"), "removed-first")
    if path.stat().st_ino == before:
        return _not_atomic(both("The new plans are written into the old file", "新计划直接写进了旧文件"), "in-place")
    return _left_over(path)


def _not_atomic(how: Text, reason: str) -> Verdict:
    return partly(
        0.5,
        1.0,
        both(
            f"The content is right. {how['en']}: whoever reads in that moment, or if the power goes, has lost both. Write a new file "
            "beside it, then `os.replace(new, path)`.",
            f"内容没问题。但{how['zh']}：这一刻要是有人在读，或者断了电，新旧都没了。先在旁边写一个新文件，再 `os.replace(新文件, path)`。",
        ),
        reason=reason,
    )


def _cannot_be_written(save_plans: Callable[..., Any], path: Path) -> Verdict | None:
    """One plan is no text, number or list, so JSON cannot hold it: an error is fine, a lost file is not."""
    path.write_text(json.dumps({"machine": HERE, "plans": OLD}), "utf-8")
    try:
        save_plans(path, NEW | {"bad key": object()}, dict(HERE))
    except (TypeError, ValueError):
        pass
    if _kept(path) == {"machine": HERE, "plans": OLD}:
        return None
    return partly(
        0.5,
        1.0,
        both(
            "One plan could not be turned into JSON, and the old file is damaged: make the whole text first, write then.",
            "有一个计划转不成 JSON，旧文件就坏了：先把全文做好，再写。",
        ),
        reason="half-written",
    )


# --- own-load ---------------------------------------------------------------------------------------------

WHOLE = json.dumps({"machine": HERE, "plans": NEW})
DAMAGED: dict[str, tuple[bytes, Text]] = {
    "empty": (b"", both("is empty", "是空的")),
    "half": (WHOLE[:40].encode(), both("is cut in half", "断成了半截")),
    "binary": (b"\xff\xfe\x00\x80", both("holds no text", "不是文本")),
    "list": (b"[1, 2]", both("holds a list", "里面是个列表")),
    "no-plans": (json.dumps({"machine": HERE}).encode(), both("names no plans", "没有 plans")),
    "no-machine": (json.dumps({"plans": NEW}).encode(), both("names no machine", "没有 machine")),
    "other-plans": (
        json.dumps({"machine": HERE, "plans": 3}).encode(),
        both("has a number for plans", "的 plans 是个数字"),
    ),
}
STALE: dict[str, Any] = {"torch": "2.12.0", "cpu": "another processor", "threads": 1}


def check_load(load_plans: Callable[..., Any]) -> Verdict:
    """A whole file; none; seven damaged ones; three that were written elsewhere."""
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / NAME
        path.write_text(WHOLE, "utf-8")
        got = load_plans(path, dict(HERE))
        if got != NEW:
            return incorrect(
                both(
                    f"Written here, a moment ago: the plans are {NEW!r}, and you give back {got!r}.",
                    f"文件就是刚才在这里写的：计划是 {NEW!r}，返回的却是 {got!r}。",
                ),
                reason="plans",
            )
        path.unlink()
        if verdict := _empty(load_plans, path, "no-file", both("There is no file yet", "还没有文件")):
            return verdict
        for name, (content, said) in DAMAGED.items():
            path.write_bytes(content)
            if verdict := _empty(load_plans, path, name, both(f"The file {said['en']}", f"文件{said['zh']}")):
                return verdict
        for name, value in STALE.items():
            path.write_text(json.dumps({"machine": HERE | {name: value}, "plans": NEW}), "utf-8")
            if load_plans(path, dict(HERE)) != {}:
                return _stale(name, value)
    return correct(
        both(
            "A whole file from this machine is used; with every other you begin with nothing, and nothing breaks.",
            "完整的、本机的文件就用；其余一律当作空的，什么也不会坏。",
        )
    )


def _empty(load_plans: Callable[..., Any], path: Path, name: str, said: Text) -> Verdict | None:
    try:
        got = load_plans(path, dict(HERE))
    except Exception as error:  # noqa: BLE001  (whatever the learner's code lets through)
        line = f"{type(error).__name__}: {error}"
        more = both(f"it stops with `{line}`", f"它报了错 `{line}`")
    else:
        if got == {}:
            return None
        more = both(f"it gives back {got!r}", f"它返回了 {got!r}")
    return incorrect(
        both(
            f"{said['en']}, and {more['en']}. A cache that cannot be read is an empty cache: `{{}}`.",
            f"{said['zh']}，而{more['zh']}。读不了的缓存就是空缓存：`{{}}`。",
        ),
        reason="no-file" if name == "no-file" else "damaged",
        file=name,
    )


def _stale(name: str, value: Any) -> Verdict:
    return incorrect(
        both(
            f"The file was written with {name} {value!r}; here it is {HERE[name]!r}. What was fastest there need not be here: `{{}}`.",
            f"写文件时 {name} 是 {value!r}，这里是 {HERE[name]!r}。那边最快的，这边未必：应返回 `{{}}`。",
        ),
        reason="stale",
        changed=name,
    )


CHECKS = {"own-save": check_save, "own-load": check_load}
