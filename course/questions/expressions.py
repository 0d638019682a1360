"""Compute the formulas in question files: expressions of Python of which only harmless parts are allowed.

Allowed are numbers, texts, lists, the names of drawn values, ``+ - * / // % **``, comparisons, ``and or not``,
``a if b else c``, ``list[k]`` and the functions of ``FUNCTIONS``; so a question file can compute a value but do nothing
else. The result is the same on every machine and in every supported version of Python: whole numbers are exact, others are
doubles.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from types import CodeType
from typing import Any

LONGEST = 400  # characters of one formula
LARGEST = 10**18  # larger results make no sense as an answer, and computing a power could take for ever
LONGEST_LIST = 1000


class FormulaError(ValueError):
    """A formula cannot be parsed or computed; the message names the formula and the fault."""


def _distinct(values: Sequence[Any]) -> int:
    """How many different values a list has."""
    return len({tuple(one) if isinstance(one, list) else one for one in values})


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "ceil": math.ceil,
    "count": lambda values, one: list(values).count(one),
    "distinct": _distinct,
    "floor": math.floor,
    "len": len,
    "log2": math.log2,
    "max": max,
    "min": min,
    "round": round,
    "sorted": sorted,
    "sqrt": math.sqrt,
    "sum": sum,
}
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_PARTS = (
    ast.Name, ast.Load, ast.Constant, ast.List, ast.Tuple, ast.BinOp, ast.operator, ast.UnaryOp, ast.Not, ast.USub, ast.BoolOp,
    ast.boolop, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.IfExp, ast.Subscript,
    ast.Call,
)  # fmt: skip
"""What a formula may hold: no attribute, comprehension, slice, lambda or keyword."""


def compute(formula: str, values: Mapping[str, Any]) -> Any:
    """The value of a formula. values: name -> number, text, truth value or list. Raises FormulaError."""
    try:
        code, used = _compiled(formula)
        if missing := sorted(used - values.keys()):
            raise FormulaError(f"there is no value {missing[0]!r}; there are {', '.join(sorted(values)) or 'none'}")
        return eval(code, {"__builtins__": {}, **FUNCTIONS, **_GUARDED, **values})
    except (FormulaError, ArithmeticError, TypeError, ValueError, LookupError, RecursionError) as error:
        raise FormulaError(f"`{formula}`: {error}") from None


@lru_cache(maxsize=4096)
def _compiled(formula: str) -> tuple[CodeType, frozenset[str]]:
    """The code of a formula, and the names of values that it uses."""
    if len(formula) > LONGEST:
        raise FormulaError(f"longer than {LONGEST} characters; give a part of it a name under `let`")
    try:
        tree = ast.parse(formula.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormulaError("not a formula; look at brackets and operators") from None
    called = set()
    for node in ast.walk(tree.body):
        held = isinstance(node, _PARTS)
        if isinstance(node, ast.Constant):
            held = isinstance(node.value, (int, float, str))
        elif isinstance(node, ast.BinOp):
            held = type(node.op) in _OPERATORS
        elif isinstance(node, ast.Call):
            called.add(node.func)
            held = isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and not node.keywords
        if not held:
            raise FormulaError(f"{ast.unparse(node)!r} is nothing a formula may hold")
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in called}
    guarded = ast.fix_missing_locations(_Guarding().visit(tree))
    return compile(guarded, "<formula>", "eval"), frozenset(used)


class _Guarding(ast.NodeTransformer):
    """Puts a guarded function in the place of each operator, which could make a text or a power of any size."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return ast.Call(ast.Name(_name(type(node.op)), ast.Load()), [node.left, node.right], [])

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        self.generic_visit(node)
        return ast.List(node.elts, ast.Load())


def _name(kind: type) -> str:
    """What the guarded function of an operator is called; no value can have this name."""
    return f"{kind.__name__}()"


def _binary(kind: type, left: Any, right: Any) -> Any:
    for one in (left, right):
        if isinstance(one, str) or isinstance(one, list) and kind is not ast.Add:
            raise FormulaError("only numbers are computed with, and lists added")
    if kind is ast.Pow and (abs(right) > 64 or abs(left) > LARGEST):
        raise FormulaError("the power is too large")
    made = _OPERATORS[kind](left, right)
    if isinstance(made, list):
        if len(made) > LONGEST_LIST:
            raise FormulaError(f"a list of more than {LONGEST_LIST} values")
    elif isinstance(made, complex) or abs(made) > LARGEST:
        raise FormulaError(f"the result is beyond {LARGEST:.0e}")
    return made


_GUARDED = {_name(kind): partial(_binary, kind) for kind in _OPERATORS}
