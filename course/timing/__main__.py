"""Compare two statements, or measure one, from a shell.

    python -m course.timing "x @ y" "torch.einsum('ij,jk->ik', x, y)" --setup "import torch; x = y = torch.randn(256, 256)"
    python -m course.timing "old(x)" "new(x)" --setup "from mine import old, new, x" --fail-above 1.05

The second statement is compared with the first. Exit code 0: done, and the second is not shown to be slower than --fail-above
allows (a result that stays undecided is no evidence). 1: the whole interval of its ratio lies above --fail-above. 2: something
could not be measured, in a sentence on stderr. 130: interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from course.i18n import t
from course.tables import clip
from course.timing.comparing import compare
from course.timing.measuring import measure
from course.timing.results import Comparison, Measurement
from course.timing.validation import TimingError, require_positive

LONGEST_NAME = 40


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        result = _measured(options)
        try:
            print(result)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader, as in `| head -1`, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        pairs = result.pairs.values() if isinstance(result, Comparison) else ()
        return int(options.fail_above is not None and any(pair.shown_above(options.fail_above) for pair in pairs))
    except TimingError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt as stopped:
        print(stopped or t("Interrupted.", "已中断。"), file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m course.timing", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("first", help="Python code")
    add("second", nargs="?", help="Python code that is compared with the first; an expression's value is compared too")
    add("--setup", default="", help="code that runs once before")
    add("--max-time", type=float, default=None, help="seconds (default 1 to measure, 5 to compare)")
    add(
        "--fail-above",
        type=float,
        default=None,
        metavar="RATIO",
        help="exit code 1 where the ratio is shown to be larger",
    )
    return parser


def _measured(options: argparse.Namespace) -> Measurement | Comparison:
    statements = [options.first] if options.second is None else [options.first, options.second]
    if options.fail_above is not None:
        require_positive(fail_above=options.fail_above)
        if len(statements) == 1:
            raise TimingError(
                t(
                    "--fail-above needs a second statement to compare the first one with.",
                    "--fail-above 需要第二条语句来和第一条比较。",
                )
            )
    found = functions(statements, options.setup)
    names = [clip(" ".join(code.split()), LONGEST_NAME) for code in statements]
    if len(names) == 1:
        return measure(found[0], max_time=options.max_time, name=names[0])
    if names[0] == names[1]:
        names[1] += " [2]"
    return compare(dict(zip(names, found, strict=True)), max_time=options.max_time)


def functions(statements: Sequence[str], setup: str) -> list[Callable[[], Any]]:
    """A function for each statement, after one run of the setup whose objects they share.

    Raises TimingError for code that does not compile or a setup that fails.
    """
    space: dict[str, Any] = {"__name__": "statement"}
    _run(setup, setup, space)
    made = []
    for code in (textwrap.dedent(statement).strip() for statement in statements):
        lead = "return " if _is_expression(code) else ""
        _run(f"def timed():\n{textwrap.indent(lead + code, '    ')}\n", code, space)
        made.append(space.pop("timed"))
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


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # a pipe or an old terminal may lack a sign
    sys.exit(main())
