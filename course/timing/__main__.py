"""Compare two statements, or measure one, from a shell.

    python -m course.timing "x @ y" "torch.einsum('ij,jk->ik', x, y)" --setup "import torch; x = y = torch.randn(256, 256)"

The second statement is compared with the first. Exit code 0: done. 2: something could not be measured, in a sentence on stderr.
130: interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from course.core.i18n import t
from course.core.tables import clip
from course.timing.comparing import compare
from course.timing.measuring import measure
from course.timing.validation import TimingError, refuse


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m course.timing", description=__doc__, formatter_class=form)
    parser.add_argument("first", help="Python code")
    parser.add_argument("second", nargs="?", help="Python code that is compared with the first")
    parser.add_argument("--setup", default="", help="code that runs once before")
    parser.add_argument("--max-time", type=float, default=None, help="seconds (default 1 to measure, 5 to compare)")
    options = parser.parse_args(arguments)
    names = [clip(" ".join(code.split()), 40) for code in (options.first, options.second) if code is not None]
    try:
        found = _functions([code for code in (options.first, options.second) if code is not None], options.setup)
        if len(found) == 1:
            print(measure(found[0], max_time=options.max_time or 1.0, name=names[0]))
        else:
            names[1] += " [2]" * (names[0] == names[1])
            print(compare(dict(zip(names, found, strict=True)), max_time=options.max_time))
        return 0
    except TimingError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt as stopped:
        print(stopped or t("Interrupted.", "已中断。"), file=sys.stderr)
        return 130


def _functions(statements: Sequence[str], setup: str) -> list[Callable[[], Any]]:
    """A function for each statement, after one run of the setup whose objects they share.

    Raises TimingError for code that does not compile or a setup that fails.
    """
    space: dict[str, Any] = {"__name__": "statement"}
    made = []
    for number, code in enumerate((setup, *statements)):
        body = textwrap.dedent(code).strip()
        try:
            if not number:
                exec(compile(body, "<statement>", "exec"), space)
                continue
            with contextlib.suppress(SyntaxError):
                compile(body, "<statement>", "eval")
                body = f"return {body}"  # an expression, whose value is compared too
            exec(compile(f"def timed():\n{textwrap.indent(body, '    ')}\n", "<statement>", "exec"), space)
        except Exception as error:
            raise refuse(
                f"{code.strip()!r:.120} does not run: {type(error).__name__}: {error}. Try it in `python` by itself first.",
                f"{code.strip()!r:.120} 无法运行：{type(error).__name__}：{error}。请先在 `python` 里单独试一试。",
            ) from error
        made.append(space.pop("timed"))
    return made


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # a pipe or an old terminal may lack a sign
    sys.exit(main())
