"""What all benchmarks share: their options, rows kept as they come, their pages, a word about a busy machine, limits in CPU time."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from course.core import machine
from course.core.load import BUSY, others

INTERRUPTED = "Interrupted; the same command goes on from here."
PATIENCE = 20
"""Wall seconds allowed for each second of CPU time, before a process that only waits is ended too."""


def options(about: str | None, out: str) -> argparse.ArgumentParser:
    """The command line of a benchmark: --out, the file of its page in build/benchmarks, and --fresh. about: its docstring."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    path = Path("build/benchmarks") / out
    parser.add_argument("--out", type=Path, default=path, help=f"the Markdown file (default {path})")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before this run was stopped")
    return parser


def versions(*packages: str) -> dict[str, str]:
    """Those of the packages that are installed."""
    found = {}
    for name in packages:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def heading(title: str, what: str, *packages: str) -> Iterator[str]:
    """The beginning of a page: when, where, with which versions; what: what was measured, in a line."""
    facts = machine.passport()
    also = "".join(f", {name} {number}" for name, number in versions(*packages).items())
    yield from (f"# {title}", "")
    threads = f"{facts['threads']} thread{'s' * (facts['threads'] != 1)}"
    yield (
        f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC · {facts['cpu']}, {facts['cores'] or 1} cores, {facts['os']} · Python "
        f"{facts['python']}, torch {facts['torch']}, oneDNN {facts['onednn']}, {threads}, course {facts['course']}{also}"
    )
    yield "; ".join(filter(None, (what, f"load now {load_now():.2f}", busy_words())))


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


def busy_words() -> str:
    """That other programs keep this machine busy; empty where they do not. Watched for a second: the load of the last minute
    would hold the benchmark that has just ended.
    """
    share = others(1.0)
    said = f"this machine is busy (other programs take {share:.0%} of it, load {load_now():.0f}): figures will not hold"
    return said if share >= BUSY else ""


def load_now() -> float:
    """The load of the last minute; 0 where the system does not tell."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


class Rows:
    """Rows of a run in a file of JSON lines, one added at a time, so that a run that was stopped goes on where it was.

    path: the file; its folder is made. setting: what all rows of it have in common (arguments, versions); rows of another
    setting are set aside, in a file beside it. `fresh` starts anew.
    """

    def __init__(self, path: Path, setting: Mapping[str, Any], fresh: bool = False) -> None:
        self.path, self.setting = path, json.loads(json.dumps(dict(setting)))
        path.parent.mkdir(parents=True, exist_ok=True)
        found = [] if fresh else list(_read(path))
        if found[:1] != [self.setting]:
            if found:
                path.replace(path.with_suffix(f".{int(time.time())}.jsonl"))
            path.write_text(json.dumps(self.setting) + "\n", encoding="utf-8")
            found = found[:0]
        else:  # without a last line that was cut
            path.write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
        self.rows: list[dict[str, Any]] = found[1:]

    def add(self, **row: Any) -> None:
        """Keep a row."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        self.rows.append(json.loads(json.dumps(row)))

    def find(self, **part: Any) -> dict[str, Any] | None:
        """The first row with these values; None where there is none."""
        return next((row for row in self.rows if all(row.get(key) == value for key, value in part.items())), None)


def _read(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file, as far as they are whole: the last line may have been cut."""
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            yield json.loads(line)
        except ValueError:
            return


def stoppable(main: Callable[[], None]) -> None:
    """Call `main`; an interrupt ends it with a sentence and exit code 130: what was measured is kept (`Rows`)."""
    try:
        main()
    except KeyboardInterrupt:
        print(f"\n{INTERRUPTED}")
        sys.exit(130)


def run_limited(command: Sequence[str], cpu_s: float) -> tuple[int, str, str]:
    """Run a command with at most `cpu_s` seconds of CPU time: (exit status, stdout, stderr). However busy the machine is,
    the same work fits. Where CPU time has no limit (Windows), and for a process that waits, PATIENCE times as long on the
    wall ends it; its status is then -9.
    """
    try:
        done = subprocess.run(
            _with_limit(command, cpu_s), capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE * cpu_s
        )
    except subprocess.TimeoutExpired:
        return -9, "", ""
    return done.returncode, done.stdout, done.stderr


def _with_limit(command: Sequence[str], cpu_s: float) -> list[str]:
    """`command`, where there is a shell that can limit the CPU time of what it starts, behind that limit."""
    if os.name != "posix":
        return list(command)
    return ["/bin/sh", "-c", f'ulimit -t {max(1, round(cpu_s))} && exec "$0" "$@"', *command]
