"""Who copies the two lines of lesson 07 meets no exception later, wherever torch or a library reads the precision."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow
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


def run(lines: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READS.format(lines=lines)], capture_output=True, text=True
    )


@pytest.mark.parametrize("need", RECIPES)
def test_after_the_recipe_everything_that_reads_the_precision_works(need):
    lines, products, convolutions = RECIPES[need]
    done = run(lines)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [products, convolutions, products != "highest"]


@pytest.mark.parametrize("mistake", CONTRADICT)
def test_what_the_lesson_warns_of_raises(mistake):
    done = run(CONTRADICT[mistake])
    assert done.returncode == 1 and "RuntimeError" in done.stderr
