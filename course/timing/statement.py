"""A piece of code as something to time: what the command line takes, as `timeit` does."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from course.i18n import t
from course.timing.validation import TimingError


@dataclass(frozen=True)
class Statement:
    """`code` to run in every call, after `setup` ran once. An expression also gives its value, for the comparison."""

    code: str
    setup: str = ""

    def function(self) -> Callable[[], Any]:
        """A function that runs the code. Raises TimingError for code that does not compile or a setup that fails."""
        return functions({"": self})[""]


def functions(statements: Mapping[str, Statement]) -> dict[str, Callable[[], Any]]:
    """Returns a function for each statement. Statements with the same setup share one run of it and the objects it
    made.
    """
    spaces: dict[str, dict[str, Any]] = {}
    made = {}
    for name, statement in statements.items():
        if statement.setup not in spaces:
            spaces[statement.setup] = {"__name__": "statement"}
            _run(statement.setup, statement.setup, spaces[statement.setup])
        space, code = spaces[statement.setup], textwrap.dedent(statement.code).strip()
        lead = "return " if _is_expression(code) else ""
        _run(f"def timed():\n{textwrap.indent(lead + code, '    ')}\n", code, space)
        made[name] = space.pop("timed")
    return made


def _is_expression(code: str) -> bool:
    try:
        compile(code, "<statement>", "eval")
    except SyntaxError:
        return False
    return True


def _run(source: str, shown: str, space: dict[str, Any]) -> None:
    try:
        exec(compile(source, "<statement>", "exec"), space)
    except Exception as error:
        raise TimingError(
            t(
                f"{shown.strip()!r:.120} does not run: {type(error).__name__}: {error}. "
                "Try it in `python` by itself first.",
                f"{shown.strip()!r:.120} 无法运行：{type(error).__name__}：{error}。请先在 `python` 里单独试一试。",
            )
        ) from error
