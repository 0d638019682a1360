"""Every result of a lesson on one page, to look at while writing: `python tools/look.py 05 FOLDER`, then open the pages.

Recordings and, where there is none, reports, each with a bet placed; a page for each language and theme.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import os

os.environ.update(COURSE_HOME=tempfile.mkdtemp(), COURSE_REPLAY="1", COURSE_DEBUG="1")

from course.core.i18n import LANGUAGES, speaking
from course.experiment import base
from course.verbs import state
from course.verbs.experiments import block_of, items_of, reported
from course.verbs.questions import answer

PAGE = (
    '<!doctype html><html lang="{code}" theme="{theme}"><meta charset="utf-8">'
    '<body style="margin:12px;background:{paper}">{body}</body></html>'
)


def blocks(number: str, code: str, bet: int) -> list[str]:
    """The HTML of every result of a lesson; bet: which option of every bet is taken, counted from 0."""
    found = []
    for experiment in base.load_all().values():
        if not experiment.lesson.startswith(number):
            continue
        for item in items_of(experiment):
            choices = [one.id for one in item.options]
            if not any(entry.event == "bet" and entry.item == item.id for entry in state.now.log.entries()):
                answer(item.id, choices[bet % len(choices)])
        record = base.recording(experiment)
        found.append((block_of(record, experiment) if record else reported(experiment))._repr_html_())
    return found


def main(number: str, folder: str, bet: str = "1") -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    os.environ["COURSE_TEXT"] = "1"
    for code in LANGUAGES:
        with speaking(code):
            body = "".join(blocks(number, code, int(bet)))
        for theme, paper in (("light", "#fff"), ("dark", "#111")):
            page = Path(folder) / f"{code}-{theme}.html"
            page.write_text(PAGE.format(code=code, theme=theme, paper=paper, body=body), encoding="utf-8")
            print(page)


if __name__ == "__main__":
    main(*sys.argv[1:])
