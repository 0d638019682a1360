"""Timing, counting and the roofline in a training environment: what the wheel asks for and the standard library alone."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

import pytest

from tests.install.test_project import ROOT, built_wheel, name_of, pyproject

pytestmark = pytest.mark.slow

CODE = """
import sys
allowed = set({allowed!r}) | set(sys.stdlib_module_names)

finders = sys.meta_path[:]

class Only:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in allowed or top.startswith("_"):
            return next(filter(None, (finder.find_spec(name, path, target) for finder in finders)), None)

sys.meta_path[:] = [Only()]
{code}
"""


def allowed() -> list[str]:
    """Top-level modules of what the course asks for by itself, and of what that asks for in turn."""
    wanted, left = {"torch-backends-course"}, [name_of(one) for one in pyproject()["project"]["dependencies"]]
    while left:
        name = left.pop()
        if name not in wanted:
            wanted.add(name)
            try:
                left += [name_of(one) for one in requires(name) or [] if "extra ==" not in one]
            except PackageNotFoundError:  # for another system
                pass
    normal = {re.sub(r"[-_.]+", "-", name) for name in wanted}
    return [
        "course",
        *(
            module
            for module, owners in packages_distributions().items()
            if {re.sub(r"[-_.]+", "-", owner.lower()) for owner in owners} & normal
        ),
    ]


def alone(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(allowed=allowed(), code=code)], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_the_course_asks_for_four_packages():
    assert {name_of(one) for one in pyproject()["project"]["dependencies"]} == {"torch", "numpy", "tqdm", "cloudpickle"}
    assert "torch" in pyproject()["project"]["dependencies"], "without a version: what is there is never moved"


def test_timing_counting_and_the_roofline_work_alone():
    """And they load no cards."""
    said = alone("""
import sys, torch
from course.flops import count
from course.roofline import place
from course.timing import compare
x = torch.randn(64)
found = compare({"a": lambda: x + 1, "b": lambda: x.exp() + 1}, max_time=0.1, device="cpu")
print(count(torch.nn.Linear(8, 8), torch.ones(1, 8)).macs, found.plot()._repr_html_())
print(sorted(name for name in sys.modules if name.startswith(("course.questions", "course.learning", "course.cards"))))
""")
    assert said.startswith("64 ") and "data:image/svg" in said and said.endswith("[]\n")


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
