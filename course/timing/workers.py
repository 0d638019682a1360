"""Run functions in Python processes of their own: start them, ask them for one block after another, end them.

The other end is `course.timing.worker`. One process a candidate, alive together and taking turns, block by block. Where all of
them import torch, on Linux, one process does and forks the others: nine imports take seven seconds on two processors.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO, Any

from course.i18n import language, t
from course.machine import can_fork
from course.timing.validation import TimingError


@dataclass(frozen=True)
class Setting:
    """How each process times, as the arguments of `compare`. device None: the accelerator in use there."""

    device: Any = None
    clock: str = "auto"
    cache: str = "hot"
    setup: Any = None

    def as_plain(self) -> dict[str, Any]:
        """The same for JSON."""
        device = self.device
        if device is not None:
            device = [str(d) for d in device] if isinstance(device, (list, tuple)) else str(device)
        return {
            "device": device,
            "clock": self.clock,
            "cache": self.cache,
            "setup": None if self.setup is None else target_of("setup", self.setup),
        }


def target_of(name: str, candidate: Any) -> str:
    """`candidate` as "module:function". Raises TimingError when a new process could not import it."""
    if isinstance(candidate, str):
        module, _, path = candidate.partition(":")
        if module and path:
            return candidate
        raise TimingError(
            t(
                f'{name} is {candidate!r}; a new process needs "module:function", such as "mylab:run".',
                f'{name} 是 {candidate!r}；新进程需要 "模块:函数" 的写法，例如 "mylab:run"。',
            )
        )
    module, path = getattr(candidate, "__module__", None), getattr(candidate, "__qualname__", "")
    if module and module != "__main__" and _resolve(module, path) is candidate:
        return f"{module}:{path}"
    raise TimingError(
        t(
            f"{name} is {_kind(candidate, 'en')}, so a new process cannot import it. Put it, with what it needs, into "
            f'a file mylab.py (`%%writefile mylab.py` as the first line of a cell) and pass "mylab:function".',
            f"{name} 是{_kind(candidate, 'zh')}，新进程无法导入它。请把它连同所需的内容写进文件 mylab.py"
            f'（在单元格第一行写 `%%writefile mylab.py`），再传入 "mylab:函数名"。',
        )
    )


def _kind(candidate: Any, code: str) -> str:
    """What stands in the way of importing it, in words."""
    name = getattr(candidate, "__name__", "")
    if name == "<lambda>":
        words = "a lambda", "一个 lambda"
    elif "<locals>" in getattr(candidate, "__qualname__", ""):
        words = "defined inside another function", "在另一个函数内部定义的"
    elif getattr(candidate, "__module__", None) == "__main__" and name:
        words = "defined in this notebook or script", "在这个 notebook 或脚本里定义的"
    else:
        words = "an object without an importable name", "一个没有可导入名字的对象"
    return words[code == "zh"]


def _resolve(module: str, path: str) -> Any:
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found


def _whole(name: str, spec: Mapping[str, Any]) -> str:
    """All that the other end is told, for its command line."""
    return json.dumps({"language": language(), "name": str(name), **spec})


def _started(*arguments: str, **streams: Any) -> subprocess.Popen[str]:
    """The other end, in a session of its own: an interrupt is for this process alone."""
    paths = [os.getcwd(), *filter(None, sys.path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}
    code = [sys.executable, "-m", "course.timing.worker", *arguments]
    return subprocess.Popen(code, env=environment, text=True, encoding="utf-8", start_new_session=True, **streams)


def _has_torch(target: str) -> bool:
    return hasattr(sys.modules.get(target.partition(":")[0]), "torch")


class Family:
    """A process that imports torch, does no more, and forks itself for each of the specs."""

    def __init__(self, specs: Mapping[str, Mapping[str, Any]]) -> None:
        self.members = {name: Forked(self, at) for at, name in enumerate(specs)}
        self._codes: dict[int, int] = {}
        streams = [one.theirs for one in self.members.values()]
        self.process = _started(
            *(_whole(name, spec) for name, spec in specs.items()),
            json.dumps(streams),
            pass_fds=sum(streams, []),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.members[next(iter(specs))].complaints,
        )
        for read, write, _ in streams:
            os.close(read)
            os.close(write)

    @staticmethod
    def can_be(specs: Mapping[str, Mapping[str, Any]]) -> bool:
        """Whether each of the processes imports torch anyway, as far as this one can tell, and processes can be forked."""
        called = [[spec["target"], spec["setup"] or ""] for spec in specs.values()]
        return can_fork() and all(any(map(_has_torch, two)) for two in called)

    def code(self, at: int) -> int:
        """Exit code of a member, once that ended."""
        assert self.process.stdout is not None
        while at not in self._codes and (line := self.process.stdout.readline()):
            of, code = map(int, line.split())
            self._codes[of] = code
        return self._codes[at] if at in self._codes else self.process.wait()  # it ended before it could tell


@dataclass
class Forked:
    """What `Worker` asks of a process, for a member of a family. theirs: descriptors of its input, output and errors there."""

    family: Family
    at: int
    complaints: IO[bytes] = field(default_factory=tempfile.TemporaryFile)

    def __post_init__(self) -> None:
        (read, to), (back, write) = os.pipe(), os.pipe()
        self.stdin, self.stdout = open(to, "w", encoding="utf-8"), open(back, encoding="utf-8")
        self.theirs = [read, write, self.complaints.fileno()]

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it ended. timeout: seconds for the whole family; raises subprocess.TimeoutExpired."""
        return self.family.code(self.at) if timeout is None else self.family.process.wait(timeout)

    def kill(self) -> None:
        """All of the family, for good."""
        os.killpg(self.family.process.pid, signal.SIGKILL)


class Worker:
    """Stands for a function in another process; a `WorkerClock` knows how to run it.

    spec: plain data for the other end. first: what the process reported with its first block, apart from the time ({}
    before).
    """

    runs_elsewhere = True

    def __init__(self, name: str, spec: Mapping[str, Any], forked: Forked | None = None) -> None:
        self.name, self.first, self._faults = name, {}, 0
        self._complaints = forked.complaints if forked else tempfile.TemporaryFile()
        pipe = subprocess.PIPE
        self._process = forked or _started(_whole(name, spec), stdin=pipe, stdout=pipe, stderr=self._complaints)

    def __call__(self) -> None:
        raise TypeError("this function runs in another process")

    def receive(self) -> dict[str, Any]:
        """The next answer. Raises TimingError for an error over there or a process that ended."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise TimingError(self._why_ended())
        answer = json.loads(line)
        if "error" in answer:
            raise TimingError(answer["error"])
        return answer

    def _why_ended(self) -> str:
        code = self._process.wait()
        self._complaints.seek(0)
        said = self._complaints.read().decode(errors="replace").strip().split("\n")[-1][:200]
        if code == -9:
            said = t("the system killed it, most often because the memory was full", "被系统终止，通常是内存不足")
        return t(
            f"The process of {self.name} ended early (exit code {code}: {said or 'it said nothing'}). "
            "Call the function in a fresh kernel by itself, make that work, then compare.",
            f"{self.name} 的进程提前结束（退出码 {code}：{said or '没有输出'}）。"
            "请先在新内核里单独调用这个函数并修好，再来比较。",
        )

    def seconds(self, calls: int) -> float:
        """Seconds that `calls` calls take over there."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{calls}\n")
            self._process.stdin.flush()
        except OSError:  # a broken pipe; Windows has another word for it
            pass  # receive() says why
        answer = self.receive()
        self._faults += answer["faults"] or 0
        self.first = self.first or answer
        return float(answer["seconds"])

    def minor_faults(self) -> int:
        """Minor page faults over there, inside the blocks so far."""
        return self._faults

    def hang_up(self) -> None:
        """Close its input: the process ends after the block it is at."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                try:
                    pipe.close()
                except OSError:
                    pass

    def end(self) -> None:
        """Wait until it ended, at most 2 s, then end it for good."""
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._complaints.close()


class WorkerClock:
    """A Clock whose blocks are timed in the processes themselves."""

    def __init__(self, ready: Mapping[str, Any]) -> None:
        self.cache, self.alone = ready["cache"], ready["alone"]
        self.device, self.kind, self.threads = "cpu", "wall", 0  # until the other end has told, after its first block

    def now(self) -> float:
        """Seconds of this process, for the budget."""
        return time.perf_counter()

    def block(self, f: Callable[[], Any], calls: int) -> float:
        """Seconds that `calls` calls of the remote function take."""
        assert isinstance(f, Worker)
        seconds = f.seconds(calls)
        if not self.threads:
            self.device, self.kind, self.threads = (f.first[what] for what in ("device", "kind", "threads"))
        return seconds


class Workers:
    """One process a candidate, started and ended together; `functions` and `clock` feed a comparison.

    specs: name -> plain data for the other end, in the order of starting. All of one set get the same processor, drawn at
    random, to run on where one thread is enough: two virtual ones were seen to differ by a factor of 2 for a second.
    """

    def __init__(self, specs: Mapping[str, Mapping[str, Any]]) -> None:
        allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [None]
        processor = random.Random().choice(allowed)  # the user's own random numbers stay as they are
        self._specs = {name: {**spec, "processor": processor} for name, spec in specs.items()}
        self.functions: dict[str, Worker] = {}

    def __enter__(self) -> Workers:
        try:
            forked = Family(self._specs).members if Family.can_be(self._specs) else {}
            for name, spec in self._specs.items():
                self.functions[name] = Worker(name, spec, forked.get(name))
            ready = [worker.receive() for worker in self.functions.values()]
        except BaseException:
            self._close()
            raise
        self.clock = WorkerClock(ready[0])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        for worker in self.functions.values():
            worker.hang_up()
        for worker in self.functions.values():
            worker.end()
