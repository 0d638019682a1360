"""Timing, counting and the roofline in a training environment: what the wheel asks for and the standard library alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.install.test_project import ROOT, built_wheel, name_of, pyproject

pytestmark = pytest.mark.slow

ALONE = """
import sys, warnings
for name in ("IPython", "ipywidgets", "matplotlib", "yaml", "fsrs", "pandas", "scipy"):
    sys.modules[name] = None
import torch
from course.flops import count
from course.roofline import place
from course.timing import compare
x = torch.randn(64)
found = compare({"a": lambda: x + 1, "b": lambda: x.exp() + 1}, max_time=0.1, device="cpu")
filters = [*warnings.filters]
print(count(torch.nn.Linear(8, 8), torch.ones(1, 8)).macs, found.plot()._repr_html_())
assert warnings.filters == filters  # the first count imports much of torch
print(sorted(name for name in sys.modules if name.startswith(("course.questions", "course.learning", "course.cards"))))
"""


def test_the_course_asks_for_four_packages():
    assert {name_of(one) for one in pyproject()["project"]["dependencies"]} == {"torch", "numpy", "tqdm", "cloudpickle"}
    assert "torch" in pyproject()["project"]["dependencies"], "without a version: what is there is never moved"


def test_timing_counting_and_the_roofline_work_alone():
    """And they load no cards."""
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("64 ") and "data:image/svg" in done.stdout and done.stdout.endswith("[]\n")


FRESH = """
import importlib.util, torch
from torch import nn
from course.flops import count
from course.roofline import place
from course.timing import compare, measure

assert not any(map(importlib.util.find_spec, ("IPython", "ipywidgets", "matplotlib", "yaml")))
model, x = nn.Sequential(nn.Linear(64, 64), nn.ReLU()), torch.randn(8, 64)
assert count(model, x).macs == 8 * 64 * 64
assert [row["layer"] for row in place(model, x, max_time=1).rows()][:3] == ["", "0", "1"]
assert compare({"once": lambda: model(x), "twice": lambda: model(model(x))}, max_time=1).ratios
print(measure(lambda: model(x), max_time=0.2).sentence())
"""


@pytest.mark.long  # pip installs torch
def test_the_wheel_alone_works_in_a_fresh_environment(tmp_path):
    wheel, place = built_wheel(tmp_path), tmp_path / "fresh"
    python = place / "bin" / "python"

    def runs(*command: object) -> str:
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    runs(sys.executable, "-m", "venv", place)
    runs(python, "-m", "pip", "install", "-q", wheel, "-c", ROOT / "constraints.txt")
    assert "ms" in (said := runs(python, "-c", FRESH)) or "µs" in said
