"""Compare or measure statements from a shell.

    python -m course.timing "x @ y" "torch.einsum('ij,jk->ik', x, y)" --setup "import torch; x = y = torch.randn(256, 256)"
    python -m course.timing "f(x)" --setup "from mine import f, x" --processes 5 --save f.json
    python -m course.timing "f(x)" --setup "from mine import f, x" --processes 5 --against f.json --fail-above 1.05
    python -m course.timing "new(x)" "old(x)" --baseline 2 --setup "..." --fail-above 1.1 --json

One statement is measured, several are compared. Exit code 0: done, and nothing shown to be slower than --fail-above allows
(a result that stays undecided is no evidence). 1: the whole interval of a ratio lies above --fail-above. 2: something
could not be measured, in a sentence on stderr. 130: interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from course.i18n import LANGUAGES, set_language, t
from course.tables import clip
from course.timing.comparing import compare
from course.timing.history import Change, against
from course.timing.measuring import measure
from course.timing.results import Comparison, Measurement
from course.timing.statement import Statement, functions
from course.timing.validation import TimingError

LONGEST_NAME = 40


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    if options.language:
        set_language(options.language)
    try:
        result = _measured(options)
        change = against(options.against, result) if options.against else None
        if options.save:
            result.save(options.save)
        try:
            _show(result, change, options.json)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader, as in `| head -1`, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(_too_slow(result, change, options.fail_above))
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
    add("statements", nargs="+", help="Python code; an expression's values are compared too")
    add("--setup", default="", help="code that runs once before (in every process)")
    add("--name", action="append", default=[], help="name of a statement, in order (default: its text)")
    add("--baseline", type=int, default=1, help="number of the statement the others are compared to (default 1)")
    add("--fresh-process", action="store_true", help="compare in several new processes each: the process is the unit")
    add("--processes", type=int, default=1, help="measure in this many new processes (3 or more)")
    add("--max-time", type=float, default=None, help="seconds (default 1 and 2 to measure, 5 and 20 to compare)")
    add("--device", default=None, help="cpu, cuda, cuda:1, mps, xpu (default: the accelerator in use)")
    add("--different", action="store_true", help="the statements may return different things")
    add(
        "--fail-above",
        type=float,
        default=None,
        metavar="RATIO",
        help="exit code 1 where a ratio to the baseline (or to --against) is shown to lie above this",
    )
    add("--against", metavar="FILE", help="set the result against one saved before")
    add("--save", metavar="FILE", help="write the result to a file")
    add(
        "--json",
        nargs="?",
        const="-",
        metavar="FILE",
        help="the rows as JSON, to a file or (alone) instead of the text",
    )
    add("--language", choices=LANGUAGES, help="default: the one chosen last, else English")
    return parser


def _measured(options: argparse.Namespace) -> Measurement | Comparison:
    found = {
        name: Statement(code, options.setup) for name, code in zip(_names(options), options.statements, strict=True)
    }
    names = list(found)
    if options.fail_above is not None and len(names) == 1 and not options.against:
        raise TimingError(
            t(
                "--fail-above needs something to compare with: a second statement, or --against FILE.",
                "--fail-above 需要比较对象：再给一条语句，或用 --against FILE。",
            )
        )
    if len(names) == 1:
        only = found[names[0]]
        return measure(
            only.function() if options.processes == 1 else only,
            max_time=options.max_time,
            processes=options.processes,
            device=options.device,
            name=names[0],
        )
    if not 1 <= options.baseline <= len(names):
        raise TimingError(
            t(
                f"--baseline is the number of a statement, 1 to {len(names)}.",
                f"--baseline 是语句的编号，1 到 {len(names)}。",
            )
        )
    candidates: dict[str, Any] = found if options.fresh_process else functions(found)
    return compare(
        candidates,
        names[options.baseline - 1],
        max_time=options.max_time,
        device=options.device,
        same=not options.different,
        fresh_process=options.fresh_process,
    )


def _names(options: argparse.Namespace) -> list[str]:
    """A name of one line for every statement, all different."""
    names: list[str] = []
    for at, code in enumerate(options.statements):
        line = " ".join(code.split())
        name = options.name[at] if at < len(options.name) else line
        name = clip(name, LONGEST_NAME)
        names.append(name if name.strip() and name not in names else f"{name} [{at + 1}]".strip())
    return names


def _show(result: Measurement | Comparison, change: Change | None, where: str | None) -> None:
    """The result for a reader, or its rows for a program."""
    if where != "-":
        print(result)
        if change:
            print(change)
    if where is None:
        return
    content = {"sentence": result.sentence(), "rows": result.rows(), "notes": list(result.notes)}
    if change:
        content["against"] = {"sentence": change.sentence(), "rows": change.rows(), "notes": list(change.notes)}
    text = json.dumps(content, ensure_ascii=False, indent=1)
    if where == "-":
        print(text)
        return
    try:
        with open(where, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        raise TimingError(
            t(f"{where} cannot be written ({error.strerror}).", f"无法写入 {where}（{error.strerror}）。")
        ) from error


def _too_slow(result: Measurement | Comparison, change: Change | None, above: float | None) -> bool:
    """Whether there is evidence: the whole interval of a ratio, with the confidence asked for, lies above the bar."""
    if above is None:
        return False
    pairs = change.pairs if change else result.pairs if isinstance(result, Comparison) else {}
    return any(pair.shown_above(above) for pair in pairs.values())


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # a pipe or an old terminal may lack a sign
    sys.exit(main())
