"""A limit of time in a thread: it ends the code, and leaves the interpreter as it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
COMMON = """
import sys, threading, time
from course.isolation.limits import OutOfTime, time_limit

def in_a_thread(work):
    found = []
    def run():
        try:
            with time_limit(0.3):
                work()
            found.append("in time")
        except OutOfTime:
            found.append("out of time")
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found

def swallows():
    try:
        while True:
            pass
    except OutOfTime:
        pass

def ends_with_it():
    time.sleep(0.3)
"""


@pytest.mark.parametrize(
    "work, said",
    [
        ("lambda: None", {"in time"}),
        ("lambda: [None for _ in iter(int, 1)]", {"out of time"}),
        ("swallows", {"in time"}),
        ("ends_with_it", {"in time", "out of time"}),
    ],
)
def test_profiling_works_after_a_limit_in_a_thread(work, said):
    """CPython 3.11 turns for ever under a profile while it believes that an exception for some thread is on its way."""
    code = COMMON + (
        f"found = in_a_thread({work})\n"
        "seen = []\nsys.setprofile(lambda *_: seen.append(1))\n[abs(n) for n in range(100)]\nsys.setprofile(None)\n"
        "print(found[0], len(seen) >= 100)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    *_, last = done.stdout.splitlines() or [done.stderr]
    assert last in {f"{one} True" for one in said}
