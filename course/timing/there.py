"""The other end of `course.timing.processes`: times one function in a new process, a block for each request."""

from __future__ import annotations

from typing import Any

from course.core.new_process import function_of, stay_on
from course.timing import validation
from course.timing.clock import Clock, given_clock
from course.timing.effort import PARALLEL, Effort, threads
from course.timing.sameness import digest

SETTLED = 4
"""Blocks after which a function has shown whether it works in several threads; the first may still load libraries."""


class Task:
    """The one function of this process."""

    name = ""
    f: Any
    clock: Clock
    processor: int | None
    effort: Effort
    blocks = 0


def load(name: str, target: str, device: Any, clock: str, processor: int | None) -> None:
    """Get ready to time the function `target`, "module:function"; the rest as for `compare`. Raises TimingError."""
    try:
        Task.f = function_of(target)
    except Exception as error:
        raise validation.refuse(
            f"A new process could not load {target}: {type(error).__name__}: {error}. Does the import work in a fresh kernel?",
            f"新进程无法加载 {target}：{type(error).__name__}：{error}。在新内核里导入它能成功吗？",
        ) from error
    validation.require_callable(name, Task.f)
    Task.name, Task.processor = name, processor
    Task.clock, Task.effort = given_clock(device, clock), Effort()


def first_block() -> dict[str, Any]:
    """Seconds of the first call; what it returned, as a digest; where and with how many threads it worked."""
    kept: list[Any] = []
    with validation.named_errors(Task.name, 1):
        seconds = Task.clock.for_first_calls().block(validation.checked(Task.name, Task.f, kept), 1)
    Task.clock, Task.blocks = Task.clock.settled(), 1
    clock = Task.clock
    facts = {"device": clock.device, "kind": clock.kind, "threads": threads(clock)}
    return {"seconds": seconds, "result": digest(kept.pop()), **facts}


def block(calls: int) -> float:
    """Seconds of so many calls."""
    with validation.named_errors(Task.name, 2):
        seconds = Task.clock.block(Task.f, calls)
    Task.blocks += 1
    if Task.blocks == SETTLED and Task.clock.device == "cpu" and Task.effort.busy() <= PARALLEL:
        stay_on(Task.processor)
    return seconds
