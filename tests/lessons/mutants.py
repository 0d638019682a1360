"""Small changes of a solution, one at a time: another comparison, operator, constant, or nothing given back."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
REVERSED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


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
