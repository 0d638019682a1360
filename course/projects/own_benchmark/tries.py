"""How the checks try a learner's function: each puts it into one situation and gives back what happened, as plain data.

The situations stand as cases in exercises.yaml. No real time is read, and the files lie in a folder that is removed afterwards.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import torch.nn.functional as F

from course import flags
from course.exercises.checking import watched
from course.exercises.slips import Changed
from course.projects.own_benchmark.given import Machine, direct

HERE = {"torch": "2.13.0", "cpu": "a processor"}
OLD, NEW = {"old key": "direct"}, {"new key": "fft", "other key": "im2col"}
LIMIT = 1000
NEEDS = {"rounded": LIMIT, "huge": LIMIT + 1}
"""Planted bytes of workspace; the other ways need none."""


def computed(
    way: Callable[..., Any], image: Sequence[int], kernel: Sequence[int], needs: str = "", **setting: int
) -> Any:
    """Shape, first numbers and a checksum of what ``way`` computes from whole numbers, rounded; another text where PyTorch's own
    convolution computed it, or nothing whose name holds ``needs``.
    """
    dice = torch.Generator().manual_seed(0)
    x, weight = (torch.randint(-3, 4, shape, generator=dice).float() for shape in (image, kernel))
    found = []
    names = [step.name for step in watched(lambda: found.append(way(x, weight, **setting)))]
    for name in names:
        if "conv" in name:
            return f"made by {name}"
    if not isinstance(found[0], torch.Tensor) or found[0].is_complex():
        return type(found[0]).__name__ if found[0] is not None else None
    if not any(needs in name for name in names):
        return f"made without {needs}"
    numbers = found[0].round().int().flatten().tolist()
    first, checksum = ", ".join(map(str, numbers[:6])), zlib.crc32(repr(numbers).encode())
    return f"shape {tuple(found[0].shape)}, numbers {first}, ... (checksum {checksum})"


def raced(
    race: Callable[..., Any],
    costs: Mapping[str, Sequence[float]],
    rounds: int | None = None,
    queued_ms: float = 0,
    slower: float = 1,
) -> Any:
    """What ``race`` says of a pretended machine (see there), and the calls where they are fewer than the rounds; of one that becomes
    slower, who wins. rounds: None for the default.
    """
    machine = Machine(costs, queued_ms, slower)
    found = race(machine.runs, machine.clock, machine.wait, *[rounds] * (rounds is not None))
    if slower > 1 and isinstance(found, Mapping) and set(found) == set(costs):
        return min(found, key=lambda name: float(found[name])) + " wins"
    fewest = min(machine.counts[name] for name in costs)
    return dict(found) | {"calls of each": fewest} if rounds and fewest < rounds else found


def told_apart(key_of: Callable[..., Any], one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Whether two convolutions have "two keys" or "one key"; "no text" where a key is no string. one, other: what is not plain in them."""
    problems = [_problem(**one), _problem(**other)]  # both alive at once, so that each has an id() of its own
    keys = []
    with flags.preserved():
        for x, weight, setting, threads, start in problems:
            torch.set_num_threads(threads)
            with mock.patch("builtins.hash", start):
                keys.append(key_of(x, weight, setting))
    if not all(isinstance(key, str) for key in keys):
        return "no text"
    return "one key" if keys[0] == keys[1] else "two keys"


def _problem(
    image: Sequence[int] = (2, 4, 8, 8),
    kernel: Sequence[int] = (4, 4, 3, 3),
    setting: Mapping[str, int] | None = None,
    layout: torch.memory_format = torch.contiguous_format,
    threads: int = 1,
    numbers: float = 0,
    start: bool = False,
    **more: Any,
) -> tuple:
    """Image, weight, setting, threads, and ``hash`` as this or (start: true) as the next start of Python has it."""
    x, weight = (torch.full(shape, float(numbers), **more) for shape in (image, kernel))
    return x.to(memory_format=layout), weight, dict(setting or {}), threads, _next_hash if start else hash


def _next_hash(value: Any, of: Callable[[Any], int] = hash) -> int:
    """``hash`` after another start of Python: numbers keep theirs, texts and objects do not."""

    def lasts(one: Any) -> bool:
        return isinstance(one, (int, float)) or isinstance(one, tuple) and all(map(lasts, one))

    return of(value) if lasts(value) else of((value, "the next start"))


def cached(tuned: Callable[..., Any], steps: str, plans: dict[str, str]) -> dict[str, Any]:
    """Steps such as "abaab", the plans that are there before: what was searched, the plans after it, what came out. Best is quick for
    a, small for b.
    """
    images, searched = {"a": torch.zeros(1, 1, 4, 4), "b": torch.zeros(1, 1, 5, 5)}, []

    def letter(x: torch.Tensor) -> str:
        return "ab"[x.shape[-1] == 5]

    def search(x: torch.Tensor, weight: torch.Tensor, setting: Mapping[str, int]) -> str:
        searched.append(letter(x))
        return {"a": "quick", "b": "small"}[letter(x)]

    def way(name: str) -> Callable[..., str]:
        return lambda x, weight, stride=1: f"{letter(x)} by {name}, stride {stride}"

    def key_of(x: torch.Tensor, weight: torch.Tensor, setting: Mapping[str, int]) -> str:
        return f"key of {letter(x)}"

    ways, weight = {name: way(name) for name in ("small", "quick")}, torch.zeros(1, 1, 3, 3)
    gave = [tuned(images[step], weight, {"stride": 2}, ways, plans, key_of, search) for step in steps]
    return {"searched": "".join(searched), "plans": plans, "gave": gave}


def saved(save_plans: Callable[..., Any], old: bool, broken: bool = False) -> list[str]:
    """What somebody sees who looks at the file after every call that ``save_plans`` makes: none, old, half, new; last, whether more lies
    beside it. broken: one plan is an object, which JSON cannot hold. Moving a file from outside the folder fails, as from one disk
    to another.
    """
    with tempfile.TemporaryDirectory() as folder:
        path, seen = Path(folder).resolve() / "plans.json", []
        known = {"old": {"machine": HERE, "plans": OLD}, "new": {"machine": HERE, "plans": NEW}}
        if old:
            path.write_text(json.dumps(known["old"]), "utf-8")

        def look(*_: Any) -> None:
            try:
                kept = json.loads(path.read_bytes())
                state = next((name for name, whole in known.items() if kept == whole), "half")
            except FileNotFoundError:
                state = "none"
            except ValueError:
                state = "half"
            if seen[-1:] != [state]:
                seen.append(state)

        def on_one_disk(move: Callable[..., Any]) -> Callable[..., Any]:
            def moved(source: Any, target: Any, **more: Any) -> Any:
                if path.parent not in Path(source).resolve().parents:
                    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
                return move(source, target, **more)

            return moved

        before = sys.getprofile()
        with mock.patch.multiple(os, replace=on_one_disk(os.replace), rename=on_one_disk(os.rename)):
            sys.setprofile(look)
            try:
                save_plans(path, NEW | ({"bad key": object()} if broken else {}), dict(HERE))
            except (TypeError, ValueError):
                if not broken:
                    raise
            finally:
                sys.setprofile(before)
        look()
        return seen + ["more"] * (not broken and any(one != path for one in path.parent.iterdir()))


def loaded(load_plans: Callable[..., Any], content: str | bytes | None) -> Any:
    """What is read from a file with this content, in which HERE stands for this machine; None: there is no file. Raises Changed where the
    file is another one afterwards.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plans.json"
        if isinstance(content, str):
            content = content.replace("HERE", json.dumps(HERE)).encode()
        if content is not None:
            path.write_bytes(content)
        got = load_plans(path, dict(HERE))
        if (path.read_bytes() if path.exists() else None) != content:
            raise Changed
        return got


def admitted(usable: Callable[..., Any], names: Sequence[str], groups: int = 1, flat: bool = False) -> Any:
    """The names that ``usable`` lets race, sorted; among them what should not have happened. flat: all right numbers are equal."""
    x, weight = (
        torch.linspace(-1, 1, 72).reshape(1, 2, 6, 6),
        torch.linspace(-1, 1, 36 // groups).reshape(2, 2 // groups, 3, 3),
    )
    if flat:
        x, weight = torch.ones_like(x), torch.ones_like(weight)
    changes = {
        "pytorch": lambda right: right,
        "rounded": lambda right: right + 1e-4 * right.abs().max(),
        "wrong": lambda right: right.where(right < right.max(), 0.99 * right),
        "mirrored": lambda right: right.flip(3),
        "not-a-number": lambda right: right * float("nan"),
        "one-number": lambda right: right.mean().reshape(1),
        "huge": lambda right: right,
    }
    ran = []

    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    def way(name: str) -> Callable[..., torch.Tensor]:
        def run(x: torch.Tensor, weight: torch.Tensor, **setting: int) -> torch.Tensor:
            ran.append(name)
            return changes[name](F.conv2d(x, weight, **setting))

        return run

    ways = {name: {"direct": direct, "stopped": stopped}.get(name) or way(name) for name in names}
    try:
        found = usable(
            ways, x, weight, {"groups": groups} if groups > 1 else {}, lambda name, *_: NEEDS.get(name, 0), LIMIT
        )
    except KeyboardInterrupt:
        return ["stopped by Ctrl-C"]
    if isinstance(found, str) or not isinstance(found, Iterable):
        return found
    return sorted(found) + ["huge, which was run"] * ("huge" in ran)
