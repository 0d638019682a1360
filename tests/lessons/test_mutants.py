"""Protects the marks of a checkpoint: no small change of a task's solution keeps all, except those in EQUIVALENT, each with its reason."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

import pytest

from course import flags
from course.core.catalog import LESSONS
from grader.handin.guard import guarded
from grader.project import Project
from grader.project.task import tasks
from tests.lessons.ideas import IMPORTS, verdict_on

PROJECT = Project()
DRAWS, SECONDS = 4, 20
TASKS = [
    task for lesson in LESSONS if lesson.checkpoint for task in tasks(PROJECT, lesson.id).values() if task.judge is None
]


def survives(code: str, name: str, right) -> bool:
    """Whether a changed solution is still called right; one that fails, runs on or cannot even be defined is not."""
    space, failed, found = {}, {}, False
    with flags.preserved(), guarded(name, failed.__setitem__, SECONDS):
        exec(IMPORTS + code, space)
        found = right(space[name])
    return found and not failed


@pytest.mark.long
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_no_change_of_a_checkpoints_solution_keeps_full_marks(task):
    """The survivors are those that are known, no more and no fewer."""

    def right(answer):
        return all(verdict_on(task, answer, seed).points == task.points for seed in range(DRAWS))

    assert survives(task.solution, task.name, right), "the solution itself"
    alive = {what for what, changed in mutants(task.solution) if survives(changed, task.name, right)}
    assert alive == EQUIVALENT.get(task.id, {}).keys()


def both_ways(*pairs):
    return dict([*pairs, *(pair[::-1] for pair in pairs)])


COMPARED = both_ways(
    (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot)
)
REVERSED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
COMPUTED = both_ways((ast.Add, ast.Sub), (ast.Mult, ast.FloorDiv), (ast.BitAnd, ast.BitOr))
COMPUTED |= {ast.Div: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult}


def mutants(code: str) -> Iterator[tuple[str, str]]:
    """(what was changed, the changed code) for each change; what was changed reads "line: before -> after"."""
    tree = ast.parse(code)
    told = {
        id(inner)
        for node in ast.walk(tree)
        for field in ("annotation", "returns")
        for inner in ast.walk(getattr(node, field, None) or ast.Pass())
    }  # types say nothing about what is computed
    for number, node in enumerate(ast.walk(tree)):
        for change in _changes(node) if id(node) not in told else ():
            other = copy.deepcopy(tree)
            twin = next(one for place, one in enumerate(ast.walk(other)) if place == number)
            before = ast.unparse(twin)
            change(twin)
            after = ast.unparse(ast.fix_missing_locations(twin))
            if after != before:
                yield f"{node.lineno}: {before} -> {after}".replace("\n", " "), ast.unparse(other)


def _changes(node: ast.AST) -> Iterator:
    """Functions that change a copy of the node in place."""
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            for table in (COMPARED, REVERSED):
                if type(op) in table:
                    new = table[type(op)]
                    yield lambda twin, place=place, new=new: twin.ops.__setitem__(place, new())
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in COMPUTED:
        yield lambda twin: setattr(twin, "op", COMPUTED[type(twin.op)]())
    elif isinstance(node, ast.BoolOp):
        yield lambda twin: setattr(twin, "op", ast.Or() if isinstance(twin.op, ast.And) else ast.And())
        for place in range(len(node.values)):
            yield lambda twin, place=place: twin.values.__setitem__(place, ast.Constant(isinstance(twin.op, ast.And)))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield lambda twin: setattr(twin, "op", ast.UAdd())
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        if isinstance(node.value, bool):
            yield lambda twin: setattr(twin, "value", not twin.value)
        else:
            yield lambda twin: setattr(twin, "value", twin.value + 1)
            yield lambda twin: setattr(twin, "value", twin.value - 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
        yield lambda twin: setattr(twin, "value", twin.value + "_")
    elif isinstance(node, ast.IfExp):
        yield lambda twin: (lambda a, b: (setattr(twin, "body", b), setattr(twin, "orelse", a)))(twin.body, twin.orelse)
    elif isinstance(node, (ast.If, ast.While)):
        yield lambda twin: setattr(twin, "test", ast.UnaryOp(ast.Not(), twin.test))
    elif isinstance(node, ast.Return) and node.value is not None:
        yield lambda twin: setattr(twin, "value", ast.Constant(None))
    elif isinstance(node, (ast.Break, ast.Continue)):
        yield lambda twin: setattr(twin, "__class__", ast.Pass)
    elif isinstance(node, ast.Try) and node.finalbody:
        yield lambda twin: setattr(twin, "finalbody", [ast.Pass()])


LAST = "the list has one element here, so its first is its last"

EQUIVALENT: dict[str, dict[str, str]] = {
    "01-t-replay": {"5: 0 -> -1": LAST, "7: 0 -> -1": LAST, "9: 0 -> -1": LAST, "10: 0 -> -1": LAST},
    "02-t-interval": {
        "10: 0 -> 1": "one case in 2**n more changes k for no n up to 60",
        "13: missed > 0.05 * 2 ** n -> missed >= 0.05 * 2 ** n": "a twentieth of a power of two is never a whole number",
    },
    "06-t-obstacles": {
        "10: a['seed'] is None or b['seed'] is None -> a['seed'] is None and b['seed'] is None": "where only one seed is None the two differ, which is found above",  # noqa: E501  (a line of a solution, whole)
        "10: a['seed'] is None or b['seed'] is None -> False or b['seed'] is None": "where only one seed is None the two differ",
        "10: a['seed'] is None or b['seed'] is None -> a['seed'] is None or False": "where only one seed is None the two differ",
    },
    "07-t-leaves": {"9: 'none' -> 'none_'": "what is given back where nothing is said is only compared with tf32"},
    "08-t-device": {"7: built and usable -> True and usable": "nothing built is never usable"},
    "09-t-time": {
        "9: 3 -> 2": "field 2 of a line of oneDNN is the word primitive, never exec",
        "9: 4 -> 5": "field 4 of a line of oneDNN is the engine, never exec",
    },
    "13-t-kernel": {
        f"12: 0 -> {place}": "all three shapes have to agree, so any of them may be the one compared with"
        for place in (1, -1)
    },
    "12-t-gap": {"8: stop > begin -> stop >= begin": "an event without length covers nothing either way"},
    "11-t-culprit": {
        "15: 0 -> -1": "a list of one name has its first name last",
        "17: 0 -> -1": "a list of one name has its first name last",
    },
}
