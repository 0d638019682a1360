"""Compute the formulas in question files: expressions of Python of which only harmless parts are allowed.

Allowed are numbers, texts, lists, the names of drawn values, ``+ - * / // % **``, comparisons, ``and or not``,
``a if b else c``, ``list[k]`` and the functions of ``FUNCTIONS``; so a question file can compute a value but open, import and
call nothing else. The result is the same on every machine and in every supported version of Python: whole numbers are exact, others are
doubles.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

LONGEST = 400  # characters of one formula


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
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
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
        return eval(code, {"__builtins__": {}, **FUNCTIONS, **values})
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
            held = isinstance(node.op, _OPERATORS)
            if isinstance(node.op, ast.Pow) and any(isinstance(one, ast.Pow) for one in ast.walk(node.right)):
                raise FormulaError("a power in an exponent: the result is too large")
        elif isinstance(node, ast.Call):
            called.add(node.func)
            held = isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and not node.keywords
        if not held:
            raise FormulaError(f"{ast.unparse(node)!r} is nothing a formula may hold")
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in called}
    return compile(tree, "<formula>", "eval"), frozenset(used)
