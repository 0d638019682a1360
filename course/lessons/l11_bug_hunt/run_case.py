"""Run a learner's script in the scene of its case, in this process, which is a new one. Importing this loads no torch."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

from course.lessons.l11_bug_hunt.stage import NAME, Missing, Printed, Stage


def line_of(error: BaseException, path: Path) -> int | None:
    """The last line of the script on the way to the error; None where it never was in the script."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno
    found = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return found[-1] if found else None


def run_case(case_id: str, text: str) -> dict[str, Any]:
    """Run the script ``text`` in the scene of a case, here, and say what was seen, as JSON data.

    Keys: what the scene gives; ``printed``; ``left``: the switches that have another value than before, name ->
    [before, after]; ``error``: {kind, said, line}, or ``missing``: a name, where it did not come to its end.
    """
    from course.game.cases import find
    from course.lessons.l11_bug_hunt.hunt import bug
    from course.lessons.l11_bug_hunt.scenes import SCENES

    watch, facts, printed, home = SCENES[case_id].watch, {}, Printed(), os.getcwd()
    before = None if bug(find(case_id)).fresh else _switches()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{NAME}.py")
        path.write_text(text, encoding="utf-8")
        stage = Stage(path)
        sys.path.insert(0, folder)
        os.chdir(folder)
        try:
            with _only_here(printed), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                facts = watch(stage)
        except Missing as name:
            facts = {"missing": str(name)}
        except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever the learner's script raises is the finding)
            said = str(error).strip().split("\n")[0][:200]
            facts = {"error": {"kind": type(error).__name__, "said": said, "line": line_of(error, path)}}
        finally:
            os.chdir(home)
            sys.path.remove(folder)
            sys.modules.pop(NAME, None)
    left = {} if before is None else _changed(before, _switches())
    return {**facts, "printed": printed.getvalue().strip(), "left": left}


@contextlib.contextmanager
def _only_here(printed: Printed) -> Any:
    """What a script prints is kept, its complaints are not; whoever asks for input gets none."""
    with (
        open(os.devnull, encoding="utf-8") as nothing,
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(Printed()),
    ):
        before, sys.stdin = sys.stdin, nothing
        try:
            yield
        finally:
            sys.stdin = before


def _switches() -> dict[str, Any]:
    from course import flags

    return flags.snapshot()


def _changed(before: dict[str, Any], after: dict[str, Any]) -> dict[str, list[str]]:
    from course.flags.leaks import changes

    return {one.name: [repr(one.before), repr(one.after)] for one in changes(before, after)}
