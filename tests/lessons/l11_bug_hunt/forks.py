"""Many scripts in processes of their own, quickly: one process loads torch and computes nothing, each script runs in a fork of it."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Sequence

from course.experiment.new_process import call_in_new_process

LOADED = (
    "course.exercises.checking",
    "torch._dynamo",
    "torch._inductor.config",
    "torch.export",
    "torch.utils.flop_counter",
)
"""What scripts and scenes import: loaded once, for all; nothing is computed with it before the forks."""


def play_all(jobs: Sequence[tuple[str, str]]) -> list[dict]:
    """What ``run_case`` sees of each (case id, script); in a new process that forks for each."""
    jobs = [list(job) for job in jobs]
    return call_in_new_process("tests.lessons.l11_bug_hunt.forks", "forked", jobs, timeout_s=300)[0]


def forked(jobs: list[list[str]]) -> list[dict]:
    """Run each job in a fork of this process, one after the other."""
    from course import flags
    from course.game.cases import cases

    for name in LOADED:
        importlib.import_module(name)
    cases()
    flags.snapshot()
    return [_one(*job) for job in jobs]


def _one(case_id: str, text: str) -> dict:
    from course.lessons.l11_bug_hunt.run_case import run_case

    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w", encoding="utf-8") as out:
            try:
                json.dump(run_case(case_id, text), out)
            except BaseException as error:  # noqa: BLE001  (told to the test)
                json.dump({"error": {"kind": "test", "said": repr(error), "line": None}, "left": {}}, out)
        sys.stdout.flush()
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return json.loads(said)
