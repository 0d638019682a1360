"""Timing: the process as the unit, on pretended machines and with real processes."""

from __future__ import annotations

import ast
import importlib
import math
import os
import random
import sys
import time

import pytest

from course.timing import TimingError, compare
from course.timing.processes import Sets, opened
from course.timing.stats import Plan
from tests.conftest import tries
from tests.support.timing_clocks import Processes, costing

EFFECTS = {
    "bell": lambda noise: math.exp(noise.gauss(0, 0.03)),
    "two kinds": lambda noise: noise.choice((1.0, 1.08)),
    "rarely slow": lambda noise: 1.3 if noise.random() < 0.1 else math.exp(noise.gauss(0, 0.01)),
    "all alike": lambda noise: 1.0,
}


def trial(seed: int, ratio: float, effect: str, max_time: float = 10.0, costs=None):
    costs = costs or {"a": 2e-4, "b": 2e-4 * ratio}
    machine = Processes(costs, EFFECTS[effect], seed)
    plan = Plan("a", 0.005, max_time, 0.02, True, random.Random(seed))
    return Sets(plan, machine.open, machine.now).go([*costs])


@pytest.mark.slow
@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("count", tries(60, 300))
def test_equal_code_is_rarely_called_different_whatever_processes_differ_in(count, effect):
    results = [trial(seed, 1.0, effect) for seed in range(count)]
    assert sum(r.verdict in ("faster", "slower") for r in results) <= 0.05 * count
    assert sum(r.low <= 1 <= r.high for r in results) >= 0.9 * count


@pytest.mark.parametrize("count", tries(20, 40))
def test_twenty_percent_are_found_in_ten_seconds(count):
    results = [trial(seed, 1.2, "bell") for seed in range(count)]
    assert sum(r.verdict == "slower" for r in results) >= 0.95 * count
    assert all(r.seconds <= 10 for r in results)


@pytest.mark.slow
@pytest.mark.parametrize("count", tries(20, 40))
def test_several_candidates_share_the_error_over_processes(count):
    costs = {"a": 1e-4, "b": 1e-4, "c": 1e-4, "d": 1.5e-4}
    results = [trial(seed, 1.0, "bell", 12.0, costs) for seed in range(count)]
    assert sum(any(r[name].verdict in ("faster", "slower") for name in "bc") for r in results) <= 0.05 * count
    assert sum(r["d"].verdict == "slower" for r in results) >= 0.9 * count


@pytest.fixture
def mylab(tmp_path, monkeypatch):
    """A file that new processes can import."""
    (tmp_path / "mylab.py").write_text(
        "import os, random\nprint('loud import')\ndef one(): return sum(range(20000))\n"
        "def two(): print('loud'); return sum(range(40000))\n"
        "def bad(): 1 / 0\ndef make(): return list(range(2000))\ndef use(given): return sum(given)\n"
        "def dies():\n    import sys\n    sys.stderr.write('no more fuel'); os._exit(3)\n"
        "def killed(): os.kill(os.getpid(), 9)\n"
        "def tells(): open(str(os.getpid()), 'w').write(repr([os.getppid(), random.random()]))\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "mylab", raising=False)
    importlib.import_module("mylab")
    yield
    del sys.modules["mylab"]


PACED = """
from types import SimpleNamespace
from course.timing import clock
print("loud import")
ns = [0]
clock.time = SimpleNamespace(perf_counter=lambda: ns[0] * 1e-9)
def one():
    ns[0] += 1000
    return 1
def two():
    print("loud")
    ns[0] += 2000
    return 2
"""
"""A file that makes the clock of its process go by its own functions: 1 us and 2 us."""


def test_new_processes_compare_functions_of_a_file(mylab, tmp_path):
    (tmp_path / "paced.py").write_text(PACED, encoding="utf-8")
    result = compare({"one": "paced:one", "two": "paced:two"}, fresh_process=True, max_time=0.3, seed=0)
    assert result.processes == result.rounds >= 1 and "new process" in str(result)
    assert result.ratio == pytest.approx(2) and result.device == "cpu"
    assert "does not return what one returns" in result.notes[0]
    assert result.rows()[0]["processes"] == result.processes


@pytest.mark.parametrize(
    "candidate, words",
    [
        ("mylab:bad", "ZeroDivisionError"),
        (costing(1), "bad is no function of a file"),
        ("nosuchlab:bad", "nosuchlab"),
        ("mylab:dies", "no more fuel"),
        ("mylab:use", "arguments"),
        (3, "is no function of a file"),
        ("mylab.run", "is no function of a file"),
    ],
)
def test_what_goes_wrong_in_a_new_process_is_told(mylab, candidate, words):
    with pytest.raises(TimingError, match=words):
        compare({"one": "mylab:one", "bad": candidate}, fresh_process=True, max_time=0.3)


@pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux alone")
def test_processes_of_a_set_are_forked_draw_other_numbers_and_are_gone_afterwards(mylab, tmp_path):
    pytest.importorskip("torch")  # from a process that has it they are forked
    with opened({name: (name, "mylab:tells", "cpu", "auto") for name in "abc"}):
        pass
    told = {int(file.name): ast.literal_eval(file.read_text("utf-8")) for file in tmp_path.glob("[0-9]*")}
    parents, numbers = ({one[at] for one in told.values()} for at in (0, 1))
    assert len(told) == len(numbers) == 3 and len(parents) == 1 and os.getpid() not in parents
    deadline = time.monotonic() + 10
    while any(os.path.exists(f"/proc/{pid}") for pid in told) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in told)


def test_a_process_killed_by_the_system_is_named(mylab):
    tasks = {name: (name, f"mylab:{f}", "cpu", "auto") for name, f in (("a", "tells"), ("b", "killed"))}
    with pytest.raises(TimingError, match="process of b .*memory was full"), opened(tasks):
        pass


BUSY = """
import hashlib, os
from concurrent.futures import ThreadPoolExecutor

def work(_=0):
    hashlib.sha256(b"x" * 2_000_000).digest()
    open(str(os.getpid()), "w").write(repr(os.sched_getaffinity(0)))

def spread():
    list(ThreadPoolExecutor(2).map(work, range(2)))
"""


@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2, reason="needs two processors and Linux"
)
@pytest.mark.parametrize("function, alone", [("work", True), ("spread", False)])
def test_processes_of_one_thread_stay_on_one_processor_and_others_move_freely(function, alone, tmp_path, monkeypatch):
    """Two processors of a machine can differ by a factor of 2 for a second: a pair on both would be called different."""
    (tmp_path / "busylab.py").write_text(BUSY, "utf-8")
    monkeypatch.chdir(tmp_path)
    task, drawn = (f"busylab:{function}", "cpu", "auto"), random.getstate()
    with opened({name: (name, *task) for name in "ab"}) as (block, _):
        assert block("a") > 0 and block("b") > 0
    allowed = [ast.literal_eval(file.read_text("utf-8")) for file in tmp_path.glob("[0-9]*")]
    assert len(allowed) == 2 and allowed[0] == allowed[1] and (len(allowed[0]) == 1) is alone
    assert random.getstate() == drawn, "the processor is drawn from the user's random numbers"
