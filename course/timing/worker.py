"""The process that `course.timing.workers` starts: it times one function, a block for each request.

Reads the number of calls of a block from standard input, one a line; answers with a line of JSON. Ends when its input
ends. With `measure` in the spec it measures the function by itself and answers once, with the whole Measurement.

Given several specs, and for each the descriptors of its input, output and errors, it imports torch and forks itself for each; then it
tells which of them ended with which exit code.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import random
import sys
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from course.i18n import set_language, t
from course.timing import validation
from course.timing.clock import for_first_calls, given_clock, settled, with_setup
from course.timing.effort import Effort, threads
from course.timing.faults import count_faults
from course.timing.sameness import digest

SETTLED = 4
"""Blocks after which a function has shown whether it works in several threads; the first may still load libraries."""


def main(spec: dict[str, Any]) -> None:
    """Serve until the input ends."""
    set_language(spec["language"])
    answers = _take_stdout()
    try:
        f = _load(spec["name"], spec["target"])
        validation.require_callable(spec["name"], f, spec["setup"] is not None)
        before = _load("setup", spec["setup"]) if spec["setup"] else None
        if "measure" in spec:
            _measure(f, before, spec, answers)
        else:
            _serve(f, before, spec, answers)
    except validation.TimingError as error:
        _say(answers, error=str(error))


def _serve(f: Callable[..., Any], before: Callable[[], Any] | None, spec: dict[str, Any], answers: TextIO) -> None:
    base = given_clock(spec["device"], spec["clock"], spec["cache"])
    clock = for_first_calls(with_setup(base, before))
    _say(answers, cache=base.cache, alone=before is not None)
    kept: list[Any] = []
    run, effort = validation.checked(spec["name"], f, kept), Effort()
    for count, line in enumerate(sys.stdin, start=1):
        with validation.named_errors(spec["name"], count), count_faults() as seen:
            seconds = clock.block(run, int(line))
        if count == SETTLED and spec["processor"] is not None and base.device == "cpu" and effort.alone():
            with contextlib.suppress(OSError):  # a container may forbid it
                os.sched_setaffinity(0, {spec["processor"]})
        first = {}
        if count == 1:
            base = settled(base)
            clock = with_setup(base, before)
            first = {"device": base.device, "kind": base.kind, "threads": threads(base), "result": digest(kept.pop())}
        run = f
        _say(answers, seconds=seconds, faults=seen.minor, **first)


def _measure(f: Callable[..., Any], before: Callable[[], Any] | None, spec: dict[str, Any], answers: TextIO) -> None:
    from dataclasses import asdict

    from course.timing.measuring import measure

    found = measure(
        f,
        device=spec["device"],
        clock=spec["clock"],
        cache=spec["cache"],
        setup=before,
        name=spec["name"],
        **spec["measure"],
    )
    _say(answers, measurement=asdict(found))


def _take_stdout() -> TextIO:
    """Keep the pipe for answers; whatever the timed function prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return answers


def _say(answers: TextIO, **message: Any) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def _load(name: str, target: str) -> Callable[..., Any]:
    """The function that `target` ("module:function") names."""
    module, _, path = target.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise validation.TimingError(
            t(
                f"A new process could not load {target}: {type(error).__name__}: {error}. "
                f"Is {module}.py beside the notebook, and does `import {module}` work in a fresh kernel?",
                f"新进程无法加载 {target}：{type(error).__name__}：{error}。"
                f"{module}.py 和 notebook 在同一个文件夹里吗？在新内核里 `import {module}` 能成功吗？",
            )
        ) from error
    if not callable(found):
        validation.require_callable(name, found)
    result: Callable[..., Any] = found
    return result


def fork(specs: Sequence[dict[str, Any]], streams: Sequence[Sequence[int]]) -> dict[str, Any] | None:
    """In the fork for each spec, that spec; None in this process, once all have ended."""
    import torch  # noqa: F401

    gc.freeze()  # else each child soon looks through all of torch for garbage, 0.1 s, and copies the pages
    at_of = {}
    for at, spec in enumerate(specs):
        pid = os.fork()
        if not pid:
            for number, descriptor in enumerate(streams[at]):
                os.dup2(descriptor, number)
            _close(streams)
            random.seed()
            if numpy := sys.modules.get("numpy"):
                numpy.random.seed()
            return spec
        at_of[pid] = at
    _close(streams)
    while at_of:
        pid, status = os.wait()
        print(at_of.pop(pid), os.waitstatus_to_exitcode(status), flush=True)
    return None


def _close(streams: Sequence[Sequence[int]]) -> None:
    for descriptor in (each for three in streams for each in three):
        os.close(descriptor)


if __name__ == "__main__":
    given = [json.loads(argument) for argument in sys.argv[1:]]
    own = fork(given[:-1], given[-1]) if given[1:] else given[0]
    if own:
        main(own)
    atexit._run_exitfuncs()
    os._exit(0)  # taking torch down in order takes up to a second beside neighbours, and nothing here needs it
