"""Each candidate in a Python process of its own, for states that one process cannot hold side by side.

The processes live through the whole comparison and take turns, block by block. What differs from process to
process by chance (where memory lies) is therefore part of the ratio, not of its interval.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from course.i18n import language, t
from course.timing.guard import TimingError


def target_of(name: str, candidate: Any) -> str:
    """`candidate` as "module:function". Raises TimingError when a new process could not import it."""
    if isinstance(candidate, str):
        module, _, path = candidate.partition(":")
        if module and path:
            return candidate
        raise TimingError(t(
            f'{name} is {candidate!r}; a new process needs "module:function", such as "mylab:run".',
            f'{name} 是 {candidate!r}；新进程需要 "模块:函数" 的写法，例如 "mylab:run"。',
        ))
    module, path = getattr(candidate, "__module__", None), getattr(candidate, "__qualname__", "")
    if module and module != "__main__" and _resolve(module, path) is candidate:
        return f"{module}:{path}"
    raise TimingError(t(
        f"{name} lives in this notebook or inside another function, so a new process cannot import it. "
        f'Put it into a file mylab.py with %%writefile and pass "mylab:function".',
        f"{name} 定义在 notebook 里或另一个函数里，新进程无法导入它。"
        f'请用 %%writefile 把它写进 mylab.py，再传入 "mylab:函数名"。',
    ))


def _resolve(module: str, path: str) -> Any:
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found


class _Remote:
    """Stands for the function in the other process; only `_RemoteClock` knows how to run it."""

    runs_elsewhere = True

    def __init__(self, name: str, target: str, device: Any, cache: str) -> None:
        self.name = name
        paths = [os.getcwd(), *filter(None, sys.path)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}
        where = None if device is None else str(device)
        spec = json.dumps({"target": target, "device": where, "cache": cache, "language": language(),
                           "name": name})
        self._process = subprocess.Popen(
            [sys.executable, "-m", "course.timing.worker", spec], env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
            start_new_session=True,
        )

    def __call__(self) -> None:
        raise TypeError("this function runs in another process")

    def receive(self) -> dict[str, Any]:
        """The next answer. Raises TimingError for an error over there or a process that ended."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            raise TimingError(t(f"The process of {self.name} ended early (exit code {code}).",
                                f"{self.name} 的进程提前结束（退出码 {code}）。"))
        answer = json.loads(line)
        if "error" in answer:
            raise TimingError(answer["error"])
        return answer

    def seconds(self, calls: int) -> float:
        """Seconds that `calls` calls take over there."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{calls}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # receive() says why
        return float(self.receive()["seconds"])

    def close(self) -> None:
        """End the process: politely, then for good."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class _RemoteClock:
    """A Clock whose blocks are timed in the processes themselves."""

    def __init__(self, ready: Mapping[str, Any]) -> None:
        self.device, self.kind, self.cache = ready["device"], ready["kind"], ready["cache"]
        self.threads = ready["threads"]

    def now(self) -> float:
        """Seconds of this process, for the budget."""
        return time.perf_counter()

    def block(self, f: Callable[[], Any], calls: int) -> float:
        """Seconds that `calls` calls of the remote function take."""
        assert isinstance(f, _Remote)
        return f.seconds(calls)


class Workers:
    """One process a candidate, started and ended together; `functions` and `clock` feed a comparison."""

    def __init__(self, candidates: Mapping[str, Any], device: Any, cache: str) -> None:
        targets = {name: target_of(name, candidate) for name, candidate in candidates.items()}
        self._arguments = targets, device, cache
        self.functions: dict[str, _Remote] = {}

    def __enter__(self) -> Workers:
        targets, device, cache = self._arguments
        try:
            for name, target in targets.items():
                self.functions[name] = _Remote(name, target, device, cache)
            ready = [remote.receive() for remote in self.functions.values()]
        except BaseException:
            self._close()
            raise
        self.clock = _RemoteClock(ready[0])
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._close()

    def _close(self) -> None:
        for remote in self.functions.values():
            remote.close()
