"""The new processes of experiments without importing torch in each: forked from one that has imported it and done nothing
else. The notebooks' tests start them as a learner does.

`python -m tests.forked` is that process: what is to run on standard input, what came of it on standard output, a line of
JSON each.
"""

from __future__ import annotations

import contextlib
import functools
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FORK = multiprocessing.get_context("fork") if "fork" in multiprocessing.get_all_start_methods() else None
LATE = "ONEDNN_"
"""Variables with this beginning are read when oneDNN is first used, not when torch is imported."""


# --- asked from a test ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def forked_processes() -> Iterator[None]:
    """Inside, a new process of an experiment is forked; one with variables that importing torch may read, one whose code
    says when torch is imported, or where nothing can be forked, starts as ever."""
    from course.experiment import new_process

    started = new_process.subprocess.run

    def run(command: list[str], *, env: dict[str, str], timeout: float, **more: Any) -> Any:
        changed = {name for name in env.keys() | os.environ.keys() if env.get(name) != os.environ.get(name)}
        early = "import torch" in command[2] or any(n != "PYTHONPATH" and not n.startswith(LATE) for n in changed)
        if FORK is None or early:
            return started(command, env=env, timeout=timeout, **more)
        warm = _warm()
        warm.stdin.write(json.dumps([command[2:], env, timeout]) + "\n")
        warm.stdin.flush()
        if (found := json.loads(warm.stdout.readline())) is None:
            raise subprocess.TimeoutExpired(command, timeout)
        return subprocess.CompletedProcess(command, *found)

    before = new_process.subprocess
    new_process.subprocess = SimpleNamespace(run=run, TimeoutExpired=subprocess.TimeoutExpired)
    try:
        yield
    finally:
        new_process.subprocess = before


@functools.cache
def _warm() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.forked"],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
    )  # fmt: skip


# --- in the process that has torch ---------------------------------------------------------------------------


def forked(
    arguments: list[str], env: Mapping[str, str], timeout: float, first: Callable[[], None] = lambda: None
) -> tuple[int, str, str] | None:
    """`python -c arguments[0] arguments[1:]` in a fork: its exit code, output and errors; None where it took too long.

    first: called in the fork before all else.
    """
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        child = FORK.Process(target=_run, args=(arguments, env, out, err, first))
        child.start()
        child.join(timeout)
        if child.is_alive():
            child.kill()
            child.join()
            return None
        return child.exitcode, out.read_text("utf-8"), err.read_text("utf-8")


def _run(arguments: list[str], env: Mapping[str, str], out: Path, err: Path, first: Callable[[], None]) -> None:
    os.environ.clear()
    os.environ.update(env)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    first()
    sys.argv = ["-c", *arguments[1:]]
    exec(compile(arguments[0], "<string>", "exec"), {"__name__": "__main__"})


def main() -> None:
    import torch  # noqa: F401

    for line in sys.stdin:
        print(json.dumps(forked(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
