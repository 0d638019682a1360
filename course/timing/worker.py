"""The other end of `course.timing.processes`: times one function in a new process, a block for each request."""

from __future__ import annotations

import time
from typing import Any

from course.core.new_process import function_of, stay_on
from course.timing import validation
from course.timing.clock import Clock, calls_for, given_clock
from course.timing.rounds import PARALLEL, Effort, threads
from course.timing.sameness import digest

SETTLED_S = 0.01
"""Seconds after which a function has shown whether it works in several threads."""


class Task:
    """The one function of this process."""

    name = ""
    f: Any
    clock: Clock
    processor: int | None


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
    Task.name, Task.processor, Task.clock = name, processor, given_clock(device, clock)


def first_call() -> dict[str, Any]:
    """What the first call returned, as a digest; where and with how many threads it worked."""
    kept: list[Any] = []
    with validation.named_errors(Task.name, 1):
        Task.clock.for_first_calls().block(validation.checked(Task.name, Task.f, kept), 1)
    Task.clock = clock = Task.clock.settled()
    return {"result": digest(kept.pop()), "device": clock.device, "clock": clock.kind, "threads": threads()}


def calls_of_a_block() -> int:
    """How many calls a block needs. A function that works in one thread stays on one processor from then on."""
    effort, until = Effort(), time.perf_counter() + SETTLED_S
    with validation.named_errors(Task.name, 2):
        calls = calls_for(Task.clock, Task.f)
        while time.perf_counter() < until:
            Task.clock.block(Task.f, calls)
    if Task.clock.device == "cpu" and effort.busy() <= PARALLEL:
        stay_on(Task.processor)
    return calls


def block(calls: int) -> float:
    """Seconds of so many calls."""
    with validation.named_errors(Task.name, 2):
        return Task.clock.block(Task.f, calls)
