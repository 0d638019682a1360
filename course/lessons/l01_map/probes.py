"""Probes of lesson 01 that run in a new process: they turn switches, freeze them and start children.

Each takes nothing and returns rows of plain data. torch alone is needed.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable
from typing import Any

import torch

SWITCHES = ("enabled", "benchmark", "deterministic", "allow_tf32")


def _read() -> int:
    return int(torch.backends.cudnn.benchmark)


def _set() -> None:
    torch.backends.cudnn.benchmark = True


def _child_reads(pipe: Any) -> None:
    pipe.send(_read())


def _child_sets(pipe: Any) -> None:
    _set()
    pipe.send(_read())


def _in_thread(run: Callable[[], Any]) -> Any:
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(run()))
    thread.start()
    thread.join()
    return answers[0]


def _in_child(start_method: str, run: Callable[[Any], None]) -> int:
    context = multiprocessing.get_context(start_method)
    here, there = context.Pipe()
    child = context.Process(target=run, args=(there,))
    child.start()
    there.close()  # so that a child that dies ends the wait
    answer = here.recv()
    child.join()
    return answer


def who_sees() -> list[dict]:
    """Set cudnn.benchmark in one place, read it in another: 1 where the new value is seen."""
    methods = [m for m in ("fork", "spawn") if m in multiprocessing.get_all_start_methods()]
    _set()
    rows = [
        {"set_in": "main", "read_in": "main", "sees": _read()},
        {"set_in": "main", "read_in": "thread", "sees": _in_thread(_read)},
    ]
    rows += [{"set_in": "main", "read_in": m, "sees": _in_child(m, _child_reads)} for m in methods]
    torch.backends.cudnn.benchmark = False
    _in_thread(_set)
    rows.append({"set_in": "thread", "read_in": "main", "sees": _read()})
    torch.backends.cudnn.benchmark = False
    _in_child(methods[0], _child_sets)
    rows.append({"set_in": methods[0], "read_in": "main", "sees": _read()})
    return rows


def _state() -> dict[str, bool]:
    return {name: getattr(torch.backends.cudnn, name) for name in SWITCHES}


def flags_trap() -> list[dict]:
    """Four cuDNN switches before, inside and after ``with cudnn.flags(deterministic=True)``."""
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    before = _state()
    with torch.backends.cudnn.flags(deterministic=True):
        inside = _state()
    after = _state()
    return [
        {
            "switch": name,
            "named": int(name == "deterministic"),
            "before": int(before[name]),
            "inside": int(inside[name]),
            "after": int(after[name]),
        }
        for name in SWITCHES
    ]


def _assign(owner: Any, name: str, value: Any) -> Callable[[], None]:
    return lambda: setattr(owner, name, value)


def _inside_flags() -> None:
    with torch.backends.cudnn.flags(enabled=True, benchmark=True):
        if not torch.backends.cudnn.benchmark:
            raise RuntimeError("flags() had no effect")


def _entry_points() -> list[tuple[str, str, Callable[[], Any]]]:
    b = torch.backends
    return [
        ("cudnn.benchmark = True", "assignment", _assign(b.cudnn, "benchmark", True)),
        ("cudnn.enabled = False", "assignment", _assign(b.cudnn, "enabled", False)),
        ("mkldnn.enabled = False", "assignment", _assign(b.mkldnn, "enabled", False)),
        ("miopen.immediate = True", "assignment", _assign(b.miopen, "immediate", True)),
        ("with cudnn.flags(...)", "with", _inside_flags),
        ("mha.set_fastpath_enabled(False)", "function", lambda: b.mha.set_fastpath_enabled(False)),
        ("cuda.enable_flash_sdp(False)", "function", lambda: b.cuda.enable_flash_sdp(False)),
        ("torch.use_deterministic_algorithms(True)", "function", lambda: torch.use_deterministic_algorithms(True)),
        ("opt_einsum.enabled = False", "assignment", _assign(b.opt_einsum, "enabled", False)),
        ("cuda.matmul.allow_tf32 = True", "assignment", _assign(b.cuda.matmul, "allow_tf32", True)),
    ]


def frozen_entry_points() -> list[dict]:
    """Freeze the switches, then try ten ways to move one: open is 1 where nothing was raised."""
    torch.backends.disable_global_flags()
    rows = []
    for door, kind, go in _entry_points():
        try:
            go()
            rows.append({"door": door, "kind": kind, "open": 1, "error": ""})
        except RuntimeError as error:
            rows.append({"door": door, "kind": kind, "open": 0, "error": str(error)})
    return rows


def _answer(ask: Callable[[], Any]) -> str:
    try:
        return str(ask())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def not_switches() -> list[dict]:
    """Turn things that people take for switches; ask before and after what they were meant to change."""
    b = torch.backends
    mps, seed, query = b.mps, torch.initial_seed, b.mps.is_available

    def available() -> bool:
        return mps.is_available()

    def place() -> torch.device:
        return torch.ones(1).device

    plan = [
        ("mps.enabled = False", _assign(mps, "enabled", False), "mps.is_available()", available),
        ("mps.is_available = False", _assign(mps, "is_available", False), "mps.is_available()", available),
        ("cudnn.deterministic = True", _assign(b.cudnn, "deterministic", True), "torch.initial_seed()", seed),
        (
            "torch.use_deterministic_algorithms(True)",
            lambda: torch.use_deterministic_algorithms(True),
            "torch.initial_seed()",
            seed,
        ),
        ("cudnn.enabled = True", _assign(b.cudnn, "enabled", True), "torch.ones(1).device", place),
        ("mkldnn.enabled = False", _assign(b.mkldnn, "enabled", False), "torch.ones(1).device", place),
    ]
    rows = []
    for tried, go, question, ask in plan:
        before, said, after = _answer(ask), _answer(go), _answer(ask)
        mps.is_available = query  # else the next lines would fail: parts of torch ask it too, as they are imported
        rows.append(
            {
                "tried": tried,
                "accepted": int(said == "None"),
                "asked": question,
                "before": before,
                "after": after,
                "changed": int(before != after),
            }
        )
    return rows
