"""The project, done: its notebook with every solution in place runs from top to bottom in both languages, and its end tells the truth."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from course.core.i18n import LANGUAGES, speaking
from course.core.records import Record
from course.exercises.exercise import all_exercises
from course.experiment.reading import EMPTY, TOO_NOISY, kind_of
from course.projects.own_benchmark import final
from grader.project import Project
from grader.project.source import read
from tests.conftest import ROOT
from tests.lessons.test_notebooks import execute, outputs
from tests.support import warm_kernel

PROJECT, NAME = Project(), "own_benchmark"
STEPS = {one.id: one for one in all_exercises().values() if one.lesson == NAME}


def solved(notebook):
    """The notebook with the solution of each exercise in place of its blank, and a shorter end."""
    for cell in notebook.cells:
        if found := re.search(r'check\("(own-[a-z0-9]+)"\)', cell.source):
            after = cell.source.split("raise NotImplementedError")[1]
            cell.source = f"{STEPS[found[1]].solution}\n\n{after}"
        cell.source = cell.source.replace("my_guess = ...", "my_guess = 3")
        cell.source = cell.source.replace(
            "beside_pytorch(build, my_guess)", "beside_pytorch(build, my_guess, seconds=3)"
        )
    return notebook


def built(path, **changed):
    """``build`` of the notebook's last part, from the solutions, with its plans at this path; changed: other names of the notebook."""
    cells = read(PROJECT.practice_source("project", NAME))
    given = [
        cell.body for cell in cells if cell.kind == "code" and re.match(r"import json|PATH, |def build", cell.body)
    ]
    space = {}
    exec("\n".join([given[0], "import torch", *(one.solution for one in STEPS.values()), *given[1:]]), space)
    ways = {name: space[name] for name in ("pytorch", "direct", "im2col", "fft")}
    space |= {"PATH": Path(path), "ways": ways} | changed
    return space["build"]


@pytest.mark.slow
@pytest.mark.parametrize("language", [pytest.param("zh", marks=pytest.mark.long), "en"])
def test_the_notebook_with_its_solutions_passes_every_check_and_ends_with_a_result(language, tmp_path, monkeypatch):
    warm_kernel.install(monkeypatch)
    notebook = solved(nbformat.read(ROOT / f"notebooks/{language}/projects/{NAME}.ipynb", as_version=4))
    execute(notebook, tmp_path, monkeypatch)
    shown = {cell.source: "".join(map(str, cell.outputs)) for cell in notebook.cells if cell.cell_type == "code"}
    right = {"en": "✓ correct", "zh": "✓ 正确"}[language]
    assert sum(right in said for said in shown.values()) == len(STEPS)
    begun = {"en": f"0 of {len(STEPS)} steps solved", "zh": f"共 {len(STEPS)} 步，已完成 0 步"}[language]
    assert any(begun in said for source, said in shown.items() if f'lesson("{NAME}"' in source)
    *_, end = (
        output.data["text/plain"] for cell, output in outputs(notebook) if cell.source.startswith("beside_pytorch")
    )
    kept = json.loads((tmp_path / "own_benchmark_plans.json").read_text("utf-8"))
    assert set(kept["plans"].values()) <= {"pytorch", "direct", "im2col", "fft"}
    assert sum(problem.name[language] in end for problem in final.PROBLEMS) == len(kept["plans"]) >= 1
    assert {"en": "You bet: yours is faster in 3 of 8", "zh": "你押的是：8 个里你的快 3 个"}[language] in end
    last = [output for cell, output in outputs(notebook) if "one number" in cell.source][-1]
    assert "pytorch" in last.data["text/plain"] and "one number" not in last.data["text/plain"]


def row(verdict: str, at: int = 0, **more) -> dict:
    ratio = {"faster": 0.5, "slower": 1.5}.get(verdict, 1.0)
    return {
        "problem": final.PROBLEMS[at].name["en"], "plan": "fft", "pytorch_ms": 4.0, "yours_ms": 4 * ratio, "first_ms": 42.0,
        "searched": True, "rounds": 30, "ratio": ratio, "low": ratio - 0.01, "high": ratio + 0.01, "verdict": verdict, **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    "verdicts, said",
    [
        ("faster slower same", "Your tuner won 1 of 3, and lost some."),
        ("faster faster undecided", "Your tuner won 2 of 3, and lost none."),
        ("slower same same", "PyTorch won 1 of 3, your tuner none."),
        ("same undecided same", TOO_NOISY["en"]),
        ("same same same", "No difference: your tuner and PyTorch are equally fast."),
        ("", EMPTY["en"]),
    ],
)
def test_the_headline_holds_for_all_rows_whoever_wins(verdicts, said):
    found = final.headline([row(verdict) for verdict in verdicts.split()])
    assert found["en"] == said and found["zh"]


def test_a_row_that_the_comparison_left_open_says_no_direction():
    """As where the ratio drifted, and its interval keeps off 1 all the same."""
    found = row("undecided", ratio=0.91, low=0.9, high=0.92)
    with speaking("en"):
        block = final.told(Record("own-benchmark", 1, NAME, {"device": "cpu"}, [found]))
    assert kind_of(found) == "undecided" and "undecided" in block.picture.alt and "less" not in block.picture.alt


def test_the_result_says_each_row_its_price_and_what_the_look_up_costs():
    rows = [
        row("faster"), row("slower", 1, plan="pytorch"), row("undecided", 2, low=None, high=None, rounds=4),
        row("faster", 3, first_ms=4.1), row("faster", 4, searched=False),
    ]  # fmt: skip
    with speaking("en"):
        block, misled, no_cost = (
            final.told(Record("own-benchmark", 1, NAME, {"device": "cpu"}, found))
            for found in (rows, [row("slower"), *rows], [row("faster"), row("undecided", 1)])
        )
        paid = [list(line.values())[-1] for line in block.folds[0].rows]
    assert paid == ["20 steps", "never", "never", "1 step", "no search: from the file"]
    assert "`pytorch`" in block.so and "`race`" in misled.so and not no_cost.so


def test_a_blank_is_named_in_a_sentence_and_an_error_of_the_course_is_not_hidden(capsys):
    def load_plans():
        raise NotImplementedError

    with speaking("en"):
        assert final.when_ready(load_plans) is None
    assert capsys.readouterr().out == "This cell needs `load_plans`: write it first, then run this cell again.\n"
    with pytest.raises(ZeroDivisionError):
        final.when_ready(lambda: 1 / 0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_wrong_step_ends_the_last_part_with_a_sentence_that_names_its_check(language, tmp_path, capsys):
    def tuned(x, weight, setting, ways, plans, key_of, search):
        return ways[search(x, weight, setting)](x, weight, **setting)

    with speaking(language):
        assert final.beside_pytorch(built(tmp_path / "plans.json", tuned=tuned), seconds=2) is None
    said = capsys.readouterr().out
    assert "KeyError" in said and '`tuned`, `check("own-cache")`' in said and said.count("`check(") == 1


ON_A_GPU = """
import json, sys
from tests.support.rehearsal import Clock, install
clock = Clock()
import torch
install("cuda", clock).op_s = 2e-5
import torch.nn.functional as F
from course.projects.own_benchmark import final
from tests.lessons.own_benchmark.test_project import built

conv2d, plan_of = built(sys.argv[1])()
seen = set()

def watched(x, weight, **setting):
    seen.add((x.device.type, torch.backends.cudnn.benchmark, torch.backends.cudnn.allow_tf32))
    return conv2d(x, weight, **setting)

record = final.measured(lambda: (watched, plan_of), seconds=10)
print(json.dumps([record.machine["device"], sorted(seen), torch.backends.cudnn.benchmark, record.rows]))
"""


@pytest.mark.slow
@pytest.mark.long
def test_on_a_gpu_both_sides_run_there_and_pytorch_searches_with_all_digits(tmp_path):
    """On the stand-in of tests/support/rehearsal.py: it shows where the work ran and what was set, and no number of it means anything."""
    done = subprocess.run(
        [sys.executable, "-c", ON_A_GPU, str(tmp_path / "plans.json")], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=300,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    device, seen, after, rows = json.loads(done.stdout.splitlines()[-1])
    assert (device, seen, after) == ("cuda", [["cuda", True, False]], False)
    assert rows and {row["plan"] for row in rows} <= {"pytorch", "direct", "im2col", "fft"}
    assert '"cuda:0"' in (tmp_path / "plans.json").read_text("utf-8").replace("'", '"')
