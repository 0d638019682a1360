"""New processes in which copies of a step are tried: a script is a new process, too, and this one keeps memory that a new one gets from
the system in every call. The other end is `course.tryout.there`.
"""

from __future__ import annotations

import contextlib
import copyreg
import importlib
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from course.core.machine import passport
from course.core.new_process import call, taking_turns
from course.flags import snapshot
from course.tryout import there
from course.tryout.step import Step

Wanted = Mapping[str, Sequence[str]]
"""Name -> ids of the settings that are in force together."""
LIMIT_S = 600.0
"""Longest wait for a block."""
Block = Callable[[str], float]
"""Times one block under a name: seconds a call."""


class Venue:
    """New processes. folder: empty; gets the saved step. used_s: seconds of processors that they have used. most: so many at once, beside
    one for the step as it is, or their copies would fill half of the memory. Raises what a step that cannot be copied raises."""

    start_s, each_s, used_s = 0.1, 0.1, 0.0

    def __init__(self, step: Step, folder: str) -> None:
        import cloudpickle  # here, because only this needs it

        self.folder, self.device = folder, "cpu"
        switches = {name: value for name, value in snapshot().items() if isinstance(value, (bool, int, str))}
        torch.save((torch.is_grad_enabled(), torch.get_default_dtype(), switches), Path(folder, "process"))
        with _modules_by_name():
            torch.save(step, Path(folder, "step"), pickle_module=cloudpickle)
        self.most = max(1, int((passport("cpu")["memory_gib"] or 8) * 2**29 / Path(folder, "step").stat().st_size) - 1)

    def probe(self, wanted: Wanted, seconds: float) -> dict[str, Any]:
        """See `there.probe`. Raises NewProcessError, also after three times as many seconds."""
        names = {name: [*ids] for name, ids in wanted.items()}
        found = call(f"{there.__name__}:probe", self.folder, names, seconds, timeout_s=3 * seconds)
        if "look" in found and found["look"]["device"] != "cpu":
            self.device, self.each_s = found["look"]["device"], 2.0  # each starts the GPU
        return dict(found)

    @contextlib.contextmanager
    def open(self, sides: Wanted, rough_s: float) -> Iterator[Block]:
        """Gives what times a block, each name in a process of its own; all of them take turns. Raises NewProcessError."""
        tasks = {name: (self.folder, [*ids], rough_s, self.device) for name, ids in sides.items()}
        with taking_turns(f"{there.__name__}:take", tasks, timeout_s=LIMIT_S) as processes:
            yield lambda name: float(processes[name].call(f"{there.__name__}:block", timeout_s=LIMIT_S))
            self.used_s += sum(process.call("time:process_time") for process in processes.values())


@contextlib.contextmanager
def _modules_by_name() -> Iterator[None]:
    """In the block also modules of other types, such as torch.backends.cudnn, are pickled by name: a step may hold or call one."""
    plain = {types.ModuleType, *copyreg.dispatch_table}
    others = {type(one) for one in [*sys.modules.values()] if isinstance(one, types.ModuleType)} - plain
    for kind in others:
        copyreg.pickle(kind, lambda module: (importlib.import_module, (module.__name__,)))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for kind in others:
            del copyreg.dispatch_table[kind]
