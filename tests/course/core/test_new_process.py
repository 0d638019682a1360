"""A new process, started or forked from one with torch imported: the answer is that of a new Python, and nothing is left."""

from __future__ import annotations

import os
import sys
import time

import pytest

pytest.importorskip("torch")
import course.core.new_process  # noqa: E402
from course.experiment import new_process  # noqa: E402
from course.experiment.base import run_experiment  # noqa: E402
from tests.course.experiment.test_experiments import of  # noqa: E402

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks here")

STATE = """
import os, sys, random, torch
answer({
    "switches": {n: str(v) for n, v in __import__("course.flags", fromlist=["read"]).read().items()},
    "threads": torch.get_num_threads(), "cuda": torch.cuda.is_initialized(),
    "argv": len(sys.argv), "path": sys.path[0], "here": os.getcwd(), "main": sys.modules["__main__"].__name__,
    "variables": dict(os.environ),
})
"""


def server():
    return next(iter(course.core.new_process._servers.values()))[0]


def test_it_finds_the_same_state_as_a_new_python():
    assert new_process.answer_of(STATE, warm=True)[0] == new_process.answer_of(STATE)[0]


def test_what_one_changes_the_next_does_not_see():
    code = "import torch\ntorch.set_num_threads(1)\ntorch.backends.mkldnn.enabled = False\ntorch.manual_seed(3)\nanswer(None)"
    before = new_process.answer_of(STATE, warm=True)[0]
    new_process.answer_of(code, warm=True)
    assert new_process.answer_of(STATE, warm=True)[0] == before


def test_everybody_draws_anew_in_each():
    code = "import random, numpy, torch\nanswer([random.random(), numpy.random.rand(), torch.rand(1).item()])"
    one, other = (new_process.answer_of(code, warm=True)[0] for _ in range(2))
    assert all(a != b for a, b in zip(one, other, strict=True))


def test_one_import_serves_all_and_a_variable_that_torch_reads_starts_a_python_of_its_own(monkeypatch):
    code = "import os\nanswer([os.getppid(), os.environ.get('OMP_NUM_THREADS'), os.environ.get('ONEDNN_VERBOSE')])"
    ask = new_process.answer_of
    parent, _, verbose = ask(code, warm=True, variables={"ONEDNN_VERBOSE": "1"})[0]
    assert (
        parent == server().pid
        and verbose == "1"
        and ask(code, warm=True)[0] == [parent, os.environ.get("OMP_NUM_THREADS"), None]
    )
    assert ask(code, warm=True, variables={"OMP_NUM_THREADS": "1"})[0][:2] == [os.getpid(), "1"]
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # from now on for every process: one more import
    new, threads, _ = ask(code, warm=True)[0]
    assert new == server().pid != parent and threads == "1"


def test_the_log_of_a_library_written_by_c_is_read_whole():
    code = "import ctypes\nctypes.CDLL(None).printf(b'from c')\nanswer(1)"
    assert "from c" in new_process.answer_of(code, warm=True)[1]


@pytest.mark.parametrize(
    "code, said",
    [
        ("1 / 0", "ZeroDivisionError"),
        ("import sys; sys.exit(3)", "SystemExit"),
        ("import os; os.kill(os.getpid(), 9)", "nothing"),
        ("import time; time.sleep(60)", "no answer within 0.5 s"),
    ],
)
def test_one_that_fails_is_told_in_a_sentence_and_the_next_runs(code, said):
    with pytest.raises(new_process.ProbeError, match=said):
        new_process.answer_of(code, warm=True, timeout_s=0.5 if "sleep" in code else 60)
    assert new_process.answer_of("answer(7)", warm=True)[0] == 7


def test_where_the_process_that_forks_ends_a_new_python_answers(monkeypatch):
    """A container may kill it for its memory, between two calls or before it has torch."""
    new_process.answer_of("answer(1)", warm=True)
    before = server()
    before.kill()
    before.wait()
    assert new_process.answer_of("import os\nanswer(os.getppid())", warm=True)[0] == server().pid != before.pid
    monkeypatch.setattr(
        course.core.new_process, "_fork_server", lambda environment: (_ for _ in ()).throw(OSError("killed"))
    )
    assert new_process.answer_of("import os\nanswer(os.getppid())", warm=True)[0] == os.getpid()


def test_a_process_serves_one_call_after_another_and_several_work_at_once():
    with course.core.new_process.NewProcess() as one, course.core.new_process.NewProcess() as two:
        for process in (one, two):
            process.ask("time:sleep", 0.01)
        assert [process.answer() for process in (one, two)] == [None, None]
        assert one.call("os:getpid") == one.call("os:getpid") == one.pid != two.call("os:getpid")
        with pytest.raises(course.core.new_process.NewProcessError, match="nosuchlab") as failed:
            one.call("nosuchlab:run")
        assert failed.value.kind == "ModuleNotFoundError" and one.call("operator:add", 1, 2) == 3


def test_a_run_that_is_stopped_leaves_no_process(tmp_path):
    """It would go on with the GPU."""
    mark = tmp_path / "began"

    def waits(budget):
        yield {"i": 1}
        new_process.answer_of(
            f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)", warm=True
        )

    record = run_experiment(of(waits), limit_s=3)
    assert record.rows == [{"i": 1}]
    deadline = time.monotonic() + 60
    while os.path.exists(f"/proc/{mark.read_text()}") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{mark.read_text()}")


def test_it_ends_with_the_process_that_asked(tmp_path):
    import subprocess

    code = (
        "from course.core import new_process\nnew_process.call('os:getpid')\n"
        "print(next(iter(new_process._servers.values()))[0].pid)"
    )
    pid = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    deadline = time.monotonic() + 60
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{pid}")
