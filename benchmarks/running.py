"""What all benchmarks share: their options, the beginning of a page, a table, a page that is printed and written."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from course.core import machine
from course.core.cpu_load import BUSY, others


def options(about: str | None, out: str) -> argparse.ArgumentParser:
    """The command line of a benchmark: --out, the file of its page in build/benchmarks, and --look. about: its docstring."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    path = Path("build/benchmarks") / out
    parser.add_argument("--out", type=Path, default=path, help=f"the Markdown file (default {path})")
    parser.add_argument("--look", action="store_true", help="a small part of it, for a look")
    return parser


def heading(title: str, what: str, *packages: str) -> Iterator[str]:
    """The beginning of a page: when, where, with which versions; what: what was measured, in a line. Printed at once."""
    facts, also = machine.passport(), ""
    for name in packages:
        with contextlib.suppress(PackageNotFoundError):
            also += f", {name} {version(name)}"
    threads = f"{facts['threads']} thread{'s' * (facts['threads'] != 1)}"
    where = (
        f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC · {facts['cpu']}, {facts['cores'] or 1} cores, {facts['os']} · Python "
        f"{facts['python']}, torch {facts['torch']}, oneDNN {facts['onednn']}, {threads}, course {facts['course']}{also}"
    )
    share = others(1.0)
    what += f"; other programs take {share:.0%} of this machine" + ": figures will not hold" * (share >= BUSY)
    print(what, flush=True)
    yield from (f"# {title}", "", where, what, "")


def markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """A Markdown table, padded so that it reads as text too."""
    widths = [max(len(line[at]) for line in [header, *lines]) for at in range(len(header))]
    for line in (header, ["-" * (w - 1) + ("-" if at == 0 else ":") for at, w in enumerate(widths)], *lines):
        cells = [c.ljust(w) if at == 0 else c.rjust(w) for at, (c, w) in enumerate(zip(line, widths, strict=True))]
        yield f"| {' | '.join(cells)} |"


def publish(lines: Iterable[str], out: Path) -> None:
    """Print a page and write it."""
    page = "\n".join(lines)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page + "\n", encoding="utf-8")
    print(f"{page}\nwritten to {out}")
