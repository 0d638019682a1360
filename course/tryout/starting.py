"""Copies of the user's step in new processes: what is tried there changes nothing of the user's."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import torch

from course.flags import snapshot
from course.i18n import language
from course.timing import compare
from course.tryout.measuring import AS_IS, Row, Tell
from course.tryout.work import save

PATIENCE = 4
"""A process that takes longer than so many budgets, and a minute, is ended."""


class Ended(RuntimeError):
    """A process with a copy of the step ended early; the text is what it said last."""


class Copies:
    """A folder with the saved step, from which new processes are started. Raises what cannot be saved raises."""

    def __init__(self, step: Callable[[], Any], spec: dict[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="try_switches-")
        try:
            save(step, Path(self._folder.name) / "step")
        except BaseException:
            self._folder.cleanup()
            raise
        switches = {name: value for name, value in snapshot().items() if isinstance(value, (bool, int, str))}
        of_here = {
            "language": language(), "grad": torch.is_grad_enabled(), "switches": switches,
            "dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        }  # fmt: skip
        (Path(self._folder.name) / "spec.json").write_text(json.dumps(spec | of_here), "utf-8")

    def __enter__(self) -> Copies:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._folder.cleanup()

    def find_out(self, more: dict[str, Any], tell: Tell) -> None:
        """`worker.find_out` in a new process. Raises Ended where that process ends early."""
        paths = [os.getcwd(), str(Path(__file__).parents[2]), *filter(None, sys.path)]
        complaints = tempfile.TemporaryFile()
        process = subprocess.Popen(
            [sys.executable, "-m", "course.tryout.worker", self._folder.name, json.dumps(more)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints, text=True, encoding="utf-8",
            start_new_session=True,
        )  # fmt: skip
        late = threading.Timer(60 + PATIENCE * more["seconds"], process.kill)
        late.daemon = True
        late.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                tell(json.loads(line))
            if process.wait():
                complaints.seek(0)
                said = complaints.read().decode(errors="replace").strip().splitlines() or [""]
                raise Ended(said[-1][:300] or f"exit code {process.returncode}")
        finally:
            late.cancel()
            process.kill()
            process.wait()
            complaints.close()

    def race(self, sides: Sequence[Sequence[str]], device: str, seconds: float) -> dict[tuple[str, ...], Row]:
        """The time of the step with each list of settings over the time as it is, each side in several new processes."""
        names = {" + ".join(ids) or AS_IS: ids for ids in [(), *map(tuple, sides)]}
        candidates = {name: self._module(ids) for name, ids in names.items()}
        with _importable(self._folder.name):
            found = compare(candidates, AS_IS, 0.01, seconds, device=device, same=False, fresh_process=True)
        price = {name: found.first_call_ms[name] - found.medians_ms[name] for name in names}
        return {
            ids: {
                "ratio": found[name].ratio, "low": found[name].low, "high": found[name].high,
                "rounds": found.rounds, "processes": found.processes, "base_ms": found.medians_ms[AS_IS],
                "price_ms": max(0.0, price[name] - price[AS_IS]),
            }
            for name, ids in names.items()
            if ids
        }  # fmt: skip

    def _module(self, ids: Sequence[str]) -> str:
        """A module in the folder that makes the step ready with these settings; its name and that of the step in it."""
        name = f"side_{len(list(Path(self._folder.name).glob('side_*.py')))}"
        code = f"from course.tryout.worker import ready\n\nstep = ready({self._folder.name!r}, {list(ids)!r})\n"
        (Path(self._folder.name) / f"{name}.py").write_text(code, "utf-8")
        return f"{name}:step"


@contextlib.contextmanager
def _importable(folder: str) -> Iterator[None]:
    """New processes find the modules of a folder."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
