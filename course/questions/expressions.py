"""Compute the formulas in question files. They are parsed and computed here, never run as Python.

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
from functools import lru_cache
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
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, values: one in values,
    ast.NotIn: lambda one, values: one not in values,
}


def compute(formula: str, values: Mapping[str, Any]) -> Any:
    """The value of a formula. values: name -> number, text, truth value or list. Raises FormulaError."""
    try:
        return _value(_tree(formula), values)
    except FormulaError as error:
        raise FormulaError(f"`{formula}`: {error}") from None
    except (ArithmeticError, TypeError, ValueError, LookupError) as error:
        raise FormulaError(f"`{formula}`: {error}") from None


def names(formula: str) -> set[str]:
    """The names of values a formula uses. Raises FormulaError where it cannot be read."""
    try:
        tree = _tree(formula)
    except FormulaError as error:
        raise FormulaError(f"`{formula}`: {error}") from None
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}


@lru_cache(maxsize=4096)
def _tree(formula: str) -> ast.expr:
    if len(formula) > LONGEST:
        raise FormulaError(f"longer than {LONGEST} characters; give a part of it a name under `let`")
    try:
        return ast.parse(formula.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormulaError("not a formula; look at brackets and operators") from None


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)):
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in values:
            raise FormulaError(f"there is no value {node.id!r}; there are {', '.join(sorted(values)) or 'none'}")
        return values[node.id]
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(one, values) for one in node.elts]
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _binary(node.op, _value(node.left, values), _value(node.right, values))
    if isinstance(node, ast.UnaryOp):
        return _unary(node, values)
    if isinstance(node, ast.BoolOp):
        return _all_or_any(node, values)
    if isinstance(node, ast.Compare):
        return _compared(node, values)
    if isinstance(node, ast.IfExp):
        return _value(node.body if _value(node.test, values) else node.orelse, values)
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        return _value(node.value, values)[_value(node.slice, values)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id in FUNCTIONS:
            return FUNCTIONS[node.func.id](*(_value(one, values) for one in node.args))
        raise FormulaError(f"there is no function {node.func.id!r}; there are {', '.join(sorted(FUNCTIONS))}")
    raise FormulaError(f"{ast.unparse(node)!r} is nothing a formula may hold")


def _binary(kind: ast.operator, left: Any, right: Any) -> Any:
    for one in (left, right):
        if isinstance(one, str) or isinstance(one, list) and not isinstance(kind, ast.Add):
            raise FormulaError("only numbers are computed with, and lists added")
    if isinstance(left, list):
        made = left + right
        if len(made) > LONGEST_LIST:
            raise FormulaError(f"a list of more than {LONGEST_LIST} values")
        return made
    if isinstance(kind, ast.Pow) and (abs(right) > 64 or abs(left) > LARGEST):
        raise FormulaError("the power is too large")
    made = _BINARY[type(kind)](left, right)
    if isinstance(made, complex) or abs(made) > LARGEST:
        raise FormulaError(f"the result is beyond {LARGEST:.0e}")
    return made


def _unary(node: ast.UnaryOp, values: Mapping[str, Any]) -> Any:
    inner = _value(node.operand, values)
    if isinstance(node.op, ast.Not):
        return not inner
    if isinstance(node.op, ast.USub):
        return -inner
    raise FormulaError(f"{ast.unparse(node)!r} is nothing a formula may hold")


def _all_or_any(node: ast.BoolOp, values: Mapping[str, Any]) -> Any:
    found: Any = None
    for one in node.values:
        found = _value(one, values)
        if bool(found) is isinstance(node.op, ast.Or):
            break
    return found


def _compared(node: ast.Compare, values: Mapping[str, Any]) -> bool:
    left = _value(node.left, values)
    for kind, one in zip(node.ops, node.comparators, strict=True):
        right = _value(one, values)
        if type(kind) not in _COMPARE:
            raise FormulaError(f"{ast.unparse(node)!r} is nothing a formula may hold")
        if not _COMPARE[type(kind)](left, right):
            return False
        left = right
    return True
