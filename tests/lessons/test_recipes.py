"""Who copies the lines that lessons 06, 07, 13 and 16 end with gets what the lesson says, in a new process."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow


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
optimiser = None
for x, which in loader(data, batch_size=64, shuffle=True):
    loss = (net(x) * words.index_select(0, which)).square().sum() + words.index_add(0, which, net(x)).exp().sum()
    optimiser = optimiser or torch.optim.SGD([*net.parameters(), words], 1e-4)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
bits = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in [*net.parameters(), words]))
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


def test_without_the_seeds_of_the_checklist_they_do_not():
    code = TRAINING.format(loader="DataLoader")
    assert run(code)[0] != run(code)[0]


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
    monkeypatch.delenv(
        "MKL_NUM_THREADS", raising=False
    )  # Dask sets it to 1 in a process that starts workers; it goes before
    monkeypatch.setenv("OMP_NUM_THREADS", "1" if not line else "2")
    assert run(THREADS.format(line=line)) == ([2, 2] if "os.environ" in line else [1, 1])


PRODUCTS = 'torch.set_float32_matmul_precision("{}")'
CONVOLUTIONS = "torch.backends.cudnn.allow_tf32 = {}"
RECIPES = {
    "nothing": ("pass", "highest", True),
    "train faster": (PRODUCTS.format("high"), "high", True),
    "all exact": (f"{PRODUCTS.format('highest')}; {CONVOLUTIONS.format(False)}", "highest", False),
    "products fast, convolutions exact": (f"{PRODUCTS.format('high')}; {CONVOLUTIONS.format(False)}", "high", False),
    "a CPU with bfloat16": (PRODUCTS.format("medium"), "medium", True),
}
READS = """
import json, torch
{lines}
cudnn = torch.backends.cudnn
told = [torch.get_float32_matmul_precision(), cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32]
with cudnn.flags(enabled=True, allow_tf32=cudnn.allow_tf32):
    pass
model = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 3), torch.nn.Flatten(), torch.nn.Linear(9, 2))
torch.export.export(model, (torch.zeros(1, 1, 5, 5),))
torch.compile(model, backend="eager")(torch.zeros(1, 1, 5, 5))
print(json.dumps(told))
"""
CONTRADICT = {  # what the lesson warns of
    "a word at the root": 'torch.backends.fp32_precision = "tf32"',
    "the flag after the word": f"{PRODUCTS.format('high')}; torch.backends.cuda.matmul.allow_tf32 = False",
    "a convolution's leaf": 'torch.backends.cudnn.conv.fp32_precision = "ieee"',
}


@pytest.mark.parametrize("need", RECIPES)
def test_after_the_recipe_everything_that_reads_the_precision_works(need):
    lines, products, convolutions = RECIPES[need]
    assert run(READS.format(lines=lines)) == [products, convolutions, products != "highest"]


@pytest.mark.parametrize("mistake", CONTRADICT)
def test_what_the_lesson_warns_of_raises(mistake):
    with pytest.raises(AssertionError, match="RuntimeError"):
        run(READS.format(lines=CONTRADICT[mistake]))
