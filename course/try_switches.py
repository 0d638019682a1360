"""Try the switches on a step from a shell.

    python -m course.try_switches train.py:step
    python -m course.try_switches train.py:step --only threads oneDNN --budget 30 --json

The file is imported, so it must not train then (`if __name__ == "__main__":`). Prints the sentence, the table and the lines to
paste, and exits with 0. 2: it could not be tried, in a sentence on stderr. 130: stopped by an interrupt; what was found is printed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from course.i18n import LANGUAGES, set_language, t
from course.timing import TimingError
from course.timing.clock import somebody_watches
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
    if not somebody_watches():  # else a bar shows it
        print(t(f"This takes about {given.budget:.0f} s.", f"大约要 {given.budget:.0f} 秒。"), file=sys.stderr)
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


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # a pipe or an old terminal may lack a sign
    sys.exit(main())
else:
    sys.modules[__name__] = (
        try_switches  # `import course.try_switches` must not hide the verb of that name behind a module
    )
