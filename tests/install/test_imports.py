"""Protects who changes the code: imports point one way, no circle, also not inside functions, and no package imports one above it. Protects
who waits: what is light loads nothing heavy.
"""

from __future__ import annotations

import ast
import graphlib
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT, loaded_by

LAYERS = [  # the highest first; each imports those below it alone, or its neighbours in the same line
    ["verbs"],
    ["lessons", "projects"],
    ["game", "experiment", "roofline", "trace", "tryout", "exercises"],
    ["cards", "flops", "models"],
    ["timing"],
    ["learning", "figures"],
    ["questions", "flags"],
    ["core"],
]
LESSON_NAMES = "course.lessons.l"


@cache
def files() -> dict[str, Path]:
    """Dotted name -> file of every module of the course and the grader."""
    found = {}
    for path in [*ROOT.glob("course/**/*.py"), *ROOT.glob("grader/**/*.py")]:
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path) -> set[str]:
    """The modules of the project that a file imports anywhere, also for type checkers alone."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            full = [f"{node.module}.{one.name}" for one in node.names]
            names |= {name if name in files() else str(node.module) for name in full}
    return names & set(files())


@cache
def arrows() -> dict[str, set[str]]:
    return {name: imported(path) - {name} for name, path in files().items()}


def test_no_module_is_part_of_a_circle():
    assert list(graphlib.TopologicalSorter(arrows()).static_order())  # raises CycleError, which names the circle


def test_no_package_is_part_of_a_circle_and_the_house_stays_small():
    """At most 30 packages and loose modules, whose longest way of imports has at most 11 steps."""
    below = defaultdict(set)
    for name, targets in arrows().items():
        mine = ".".join(name.split(".")[:2])
        below[mine] |= {".".join(one.split(".")[:2]) for one in targets} - {mine}
    floor: dict[str, int] = {}
    for room in graphlib.TopologicalSorter(below).static_order():  # raises CycleError, which names the circle
        floor[room] = 1 + max((floor[one] for one in below[room] if one != "course"), default=0)
    assert len(floor.keys() - {"course", "grader"}) <= 30 and max(floor.values()) <= 11, floor


def test_the_course_imports_downwards_and_never_the_grader():
    place = {name: height for height, layer in enumerate(LAYERS) for name in layer}
    wrong = []
    for name, targets in arrows().items():
        if name.startswith("course."):
            mine = place[name.split(".")[1]]  # KeyError: a new package needs a place in LAYERS
            wrong += [
                f"{name} imports {one}"
                for one in targets
                if one != "course" and (one.startswith("grader") or place[one.split(".")[1]] < mine)
            ]
    assert wrong == []


def test_lessons_do_not_import_each_other():
    mixed = [
        f"{name} imports {one}"
        for name, targets in arrows().items()
        for one in targets
        if name.startswith(LESSON_NAMES) and one.startswith(LESSON_NAMES) and name.split(".")[2] != one.split(".")[2]
    ]
    assert mixed == []


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import course, course.cards.cards", "torch numpy matplotlib"),
        (
            "import course.questions.bank, course.cards.typed, course.learning.sheet, course.learning.session",
            "torch numpy matplotlib ipywidgets IPython yaml fsrs",
        ),
        (
            "from course.cards.cards import Card; from course.questions.bank import default_bank\n"
            "Card(default_bank().items()[0], text=False); import sys; assert 'ipywidgets' in sys.modules",
            "torch numpy matplotlib",
        ),
        ("import course.timing", "torch numpy matplotlib tqdm"),
        ("import course.figures, course.core.records", "torch matplotlib"),
        (
            "from course.game import board, cases, view\nfrom course.lessons.l10_tuning_master import tuning\n"
            "from course.lessons.l10_tuning_master.desk import Desk\nboard.standings('10_tuning_master', [])",
            "torch ipywidgets matplotlib",
        ),
    ],
)
def test_what_is_light_loads_nothing_heavy(code, absent):
    assert loaded_by(code).isdisjoint(absent.split())
