"""Try the switches on a step from a shell.

    python -m course.try_switches train.py:step
    python -m course.try_switches train.py:step --only threads oneDNN --budget 30 --json

The file is imported: keep training under `if __name__ == "__main__":`. Prints the sentence, the table and the lines to paste.
Exit codes: 0 done; 2 not tried (stderr says why); 130 interrupted (prints what was found).
What the keys of the JSON mean: `help(course.tryout.result.Tried.rows)`.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Sequence

from course.i18n import LANGUAGES, set_language, t
from course.timing import TimingError
from course.verbs.trying import try_switches


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m course.try_switches", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", help="file or module, and a function in it: train.py:step")
    parser.add_argument("--only", nargs="+", help="settings, families or switches, such as threads or mkldnn.enabled")
    parser.add_argument("--compile", action="store_true", help="also torch.compile")
    parser.add_argument("--budget", type=float, default=90.0, help="seconds (default 90)")
    parser.add_argument("--json", action="store_true", help="everything as JSON in the place of the text")
    parser.add_argument("--language", choices=LANGUAGES, help="default: the one chosen last, else English")
    given = parser.parse_args(arguments)
    if given.language:
        set_language(given.language)
    try:
        found = try_switches(given.step, only=given.only, compile=given.compile, budget=given.budget)
    except TimingError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # while the file was imported, or the step looked at for the first time
        print(t("Stopped before anything was measured.", "还没测就停了。"), file=sys.stderr)
        return 130
    print(json.dumps(found.as_plain(), ensure_ascii=False, indent=1) if given.json else found)
    return 130 if found.stopped else 0


def _interrupt(number: int, frame: object) -> None:
    """Stop at the first interrupt; those that follow it at once would cut off what was found."""
    global _stopped_at
    if time.monotonic() - _stopped_at > PATIENCE_S:
        _stopped_at = time.monotonic()
        raise KeyboardInterrupt


PATIENCE_S = 10.0
_stopped_at = float("-inf")

if __name__ == "__main__":
    signal.signal(signal.SIGINT, _interrupt)
    sys.stdout.reconfigure(errors="replace")  # a pipe or an old terminal may lack a sign
    sys.exit(main())
else:
    sys.modules[__name__] = (
        try_switches  # `import course.try_switches` must not hide the verb of that name behind a module
    )
