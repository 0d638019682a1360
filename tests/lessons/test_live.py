"""Protects who believes a lesson: what runs on a CPU settles its bets live as the lesson says, and its lines to copy work.

What the rows of one experiment have to be is tested with its lesson.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import subprocess
import sys

import pytest

from course.core.machine import can
from course.experiment import base
from tests.conftest import ROOT, missing
from tests.lessons.live import check_shown, measured

pytestmark = pytest.mark.slow

FORKS = "fork" in multiprocessing.get_all_start_methods()
EXACT: dict[str, tuple[float, dict]] = {
    "00-same-numbers": (60, {"00-bet-sums": "c"}),
    "01-typos": (60, {"01-bet-typos": "c"}),
    "01-who-sees": (60, {"01-bet-who-sees": "c" if FORKS else None}),
    "01-flags-trap": (60, {"01-bet-flags": "d"}),
    "01-frozen": (60, {"01-bet-frozen": "c"}),
    "01-not-a-switch": (60, {"01-bet-mps": "c"}),
    "03-length": (60, {"03-bet-length": "c"}),
    "03-lstm-zero": (60, {"03-bet-lstm": "a"}),
    "05-primitive-cache": (60, {"05-bet-revisit": "c"}),
    "07-mixing": (60, {"07-bet-mixing": "c"}),
    "07-neighbours": (60, {}),
    "07-noise": (60, {"07-bet-noise": "c"}),
    "07-solve": (60, {"07-bet-solve": "b"}),
    "07-tree": (60, {"07-bet-default": "b"}),
    "08-float32-loses": (60, {"08-bet-counter": "b"}),
}
"""Name -> seconds, and what comes out everywhere: nothing here depends on a clock."""
TIMED = {
    "02-five-stopwatches": 1, "04-bits": 1, "04-cpu-enabled": 1, "04-gates": 1, "04-onednn-ops": 1,
    "05-toy-cost": 1, "05-toy-race": 1, "06-company": 60, "06-one-ulp": 60, "06-two-lines": 60, "07-onednn": 60,
     "09-layouts": 2, "09-logs": 2, "09-on-off": 1, "09-one-step": 1, "09-routes": 2, "11-hidden": 1,
    "11-witness": 1, "12-cost": 1, "12-repairs": 1, "12-two-columns": 1, 
    "15-what-moves": 0.5, "16-packed": 60,
}  # fmt: skip
"""Name -> seconds: what comes out is this machine's."""
WHOLE = ("06-company", "06-one-ulp", "06-two-lines")
"""Of those the runs that no clock cuts short."""
LONG = {"16-einsum": 60, "16-two-threads": 60}


def here(name: str, seconds: float):
    """The record of a live run, where this machine has what the experiment needs."""
    if not can(base.get(name).needs):
        missing(base.get(name).needs, f"give this machine what {name} needs")
    record = measured(name, seconds)
    check_shown(record)
    return record


@pytest.mark.parametrize("name", EXACT)
def test_what_no_clock_decides_comes_out_as_the_lesson_says(name):
    seconds, bets = EXACT[name]
    record = here(name, seconds)
    assert record.complete and base.get(name).settles(record) == bets


@pytest.mark.parametrize("name", [*TIMED, *(pytest.param(one, marks=pytest.mark.long) for one in LONG)])
def test_what_is_measured_runs_and_is_told(name):
    record = here(name, (TIMED | LONG)[name])
    assert record.complete or name not in WHOLE


# --- Who copies the lines that lessons 06, 07, 13 and 16 end with gets what the lesson says, in a new process. ---


def run(code: str) -> list:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


TRAINING = """
import hashlib, json, random, numpy, torch
from torch.utils.data import DataLoader, TensorDataset
s = 7
loader = {loader}
torch.set_num_threads(4)
net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(8))
words = torch.nn.Parameter(torch.randn(64, 8))
data = TensorDataset(torch.arange(512.0).sin()[:, None].repeat(1, 36).view(512, 1, 6, 6), torch.arange(512) % 64)
for x, which in loader(data, batch_size=64, shuffle=True):
    loss = (net(x) * words.index_select(0, which)).square().sum() + words.index_add(0, which, net(x)).exp().sum()
    learnt = [*net.parameters(), words]
    for one, slope in zip(learnt, torch.autograd.grad(loss, learnt)):
        one.data -= 1e-4 * slope
bits = hashlib.sha256(b"".join(one.detach().numpy().tobytes() for one in learnt))
print(json.dumps([bits.hexdigest(), torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.benchmark]))
"""


def checklist() -> list[str]:
    """The lines of "The checklist to sign", as they stand in the notebook."""
    text = (ROOT / "grader/lessons/l06_cudnn_deterministic/lesson.md").read_text("utf-8")
    return re.search(r"## The checklist to sign\n\n```python\n(.*?)```", text, re.DOTALL)[1].splitlines()


def test_two_new_processes_with_the_checklist_of_06_end_with_the_same_bits():
    seeds, mode, choice, loader = checklist()
    made = loader.replace("DataLoader(...,", "DataLoader(*a, **k,")
    code = TRAINING.replace("loader = {loader}", f"{seeds}\n{mode}\n{choice}\nloader = lambda *a, **k: {made}")
    first, second = run(code), run(code)
    assert first == second and first[1:] == [True, False]


ATTENTION = """
import json, threading, torch
from torch.nn.attention import SDPBackend, sdpa_kernel
cuda = torch.backends.cuda
allowed = lambda: [cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.math_sdp_enabled()]
seen = []
with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
    inside = allowed()
    other = threading.Thread(target=lambda: seen.append(allowed()))
    other.start()
    other.join()
print(json.dumps([inside, seen[0], allowed()]))
"""


def test_the_block_of_13_allows_what_it_lists_in_every_thread_and_puts_it_back():
    listed = [True, False, True]
    assert run(ATTENTION) == [listed, listed, [True, True, True]]


THREADS = """
import json, threading, torch
{line}
seen = [torch.get_num_threads()]
other = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
other.start()
other.join()
print(json.dumps(seen))
"""


@pytest.mark.parametrize(
    "line",
    ["torch.set_num_threads(1)", "", "import os; os.environ['OMP_NUM_THREADS'] = '1'"],
    ids=["call", "shell", "late"],
)
def test_the_number_of_threads_of_16_is_said_first_or_before_the_start(line, monkeypatch):
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)  # it goes before; Dask sets it where it starts workers
    monkeypatch.setenv("OMP_NUM_THREADS", "1" if not line else "2")
    assert run(THREADS.format(line=line)) == ([2, 2] if "os.environ" in line else [1, 1])


PRODUCTS = 'torch.set_float32_matmul_precision("{}")'
CONVOLUTIONS = "torch.backends.cudnn.allow_tf32 = {}"
TOLD = {  # what 07 has people write -> the precision of products and of convolutions, and whether products may use TF32
    "pass": ["highest", True, False],
    PRODUCTS.format("high"): ["high", True, True],
    f"{PRODUCTS.format('highest')}; {CONVOLUTIONS.format(False)}": ["highest", False, False],
    f"{PRODUCTS.format('high')}; {CONVOLUTIONS.format(False)}": ["high", False, True],
    PRODUCTS.format("medium"): ["medium", True, True],
    # and what it warns of
    'torch.backends.fp32_precision = "tf32"': "RuntimeError",
    f"{PRODUCTS.format('high')}; torch.backends.cuda.matmul.allow_tf32 = False": "RuntimeError",
    'torch.backends.cudnn.conv.fp32_precision = "ieee"': "RuntimeError",
}
READS = """
import json, os, torch, torch._dynamo

def told(lines):
    exec(lines)
    cudnn = torch.backends.cudnn
    found = [torch.get_float32_matmul_precision(), cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32]
    with cudnn.flags(enabled=True, allow_tf32=cudnn.allow_tf32):
        pass
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 3), torch.nn.Flatten(), torch.nn.Linear(9, 2))
    torch.export.export(model, (torch.zeros(1, 1, 5, 5),))
    torch.compile(model, backend="eager")(torch.zeros(1, 1, 5, 5))
    return found

found = {}
for lines in LINES:  # each in a process of its own, in which nothing was set yet
    out, into = os.pipe()
    if not os.fork():
        try:
            said = told(lines)
        except RuntimeError:
            said = "RuntimeError"
        os.write(into, json.dumps(said).encode())
        os._exit(0)
    os.wait()
    found[lines] = json.loads(os.read(out, 4096))
print(json.dumps(found))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system starts a new Python for each process")
def test_after_the_recipes_of_07_everything_that_reads_the_precision_works_and_what_it_warns_of_raises():
    assert run(READS.replace("LINES", repr([*TOLD]))) == TOLD
