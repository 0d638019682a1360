"""The other end of `course.timing.fresh`: times one function, block after block, as it is told.

Reads the number of calls from standard input, one a line; answers JSON lines. Ends with its input.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

from course.i18n import set_language, t
from course.timing import guard
from course.timing.clock import Clock, clock_for
from course.timing.effort import threads
from course.timing.graph import as_cuda_graph


def main(spec: dict[str, Any]) -> None:
    """Serve until the input ends."""
    set_language(spec["language"])
    answers = _take_stdout()
    try:
        f, clock = _prepare(spec)
        _say(answers, device=clock.device, kind=clock.kind, cache=clock.cache,
             threads=threads(clock))
        run = guard.checked(spec["name"], f)
        for count, line in enumerate(sys.stdin, start=1):
            with guard.named_errors(spec["name"], count):
                seconds = clock.block(run, int(line))
            run = f
            _say(answers, seconds=seconds)
    except guard.TimingError as error:
        _say(answers, error=str(error))


def _take_stdout() -> TextIO:
    """Keep the pipe for answers; whatever the timed function prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return answers


def _say(answers: TextIO, **message: Any) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def _prepare(spec: dict[str, Any]) -> tuple[Callable[[], Any], Clock]:
    module, _, path = spec["target"].partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise guard.TimingError(t(
            f"A new process could not load {spec['target']}: {type(error).__name__}: {error}. "
            f"Is {module}.py beside the notebook, and does `import {module}` work in a fresh kernel?",
            f"新进程无法加载 {spec['target']}：{type(error).__name__}：{error}。"
            f"{module}.py 和笔记本在同一个文件夹里吗？在新内核里 `import {module}` 能成功吗？",
        )) from error
    guard.require_callable(spec["name"], found)
    clock = clock_for(spec["device"], spec["clock"], spec["cache"])
    return as_cuda_graph(found) if spec["cuda_graph"] else found, clock


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
