"""A case of the hunt as a page can play it: the line, the cause, and a choice of repairs. Each offered script is run in its scene, in
a process of its own, while the book is built; the hunt itself judges what was seen. The page counts nothing and keeps nothing.
"""

from __future__ import annotations

import difflib
import hashlib
import html
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from course.files import replace_file
from course.game import view
from course.game.cases import Case
from course.i18n import both, pick, speaking, t
from course.lessons.l11_bug_hunt import hunt_view as told
from course.lessons.l11_bug_hunt.bug import GRADES, LESSON, NOTHING_WRONG, Bug, bug, commented
from course.lessons.l11_bug_hunt.hunt import found, judge, proof_of, seen
from grader.book import steps
from grader.book.steps import Choice

__all__ = ["LESSON", "Witness", "case_html"]
HERE = both(
    "📼 On this page you choose among repairs; each was run when the book was built, and nothing is counted. In the notebook you write "
    "your own, it runs on your machine, and it counts:",
    "📼 在网页上从几种修法里选一种，每一种都在生成本书时真正跑过；不计分。在 notebook 里自己写，在自己的机器上跑，而且计分：",
)
AS_IS, AS_WISHED = "as-is", "as-wished"
Facts = Mapping[str, Mapping[str, Any]]
"""name of a script -> what was seen of it."""


class Witness:
    """What the scenes see of the scripts of a case; kept in ``folder`` under a hash of the scripts and of ``state``."""

    def __init__(self, folder: Path, state: bytes) -> None:
        self.folder, self.state = folder, state

    def facts(self, one: Bug) -> Facts:
        """name -> what was seen, of every script that a page offers; two are run at a time."""
        with ThreadPoolExecutor(2) as pool:
            jobs = scripts(one)
            return dict(zip(jobs, pool.map(lambda name: self._seen(one, name, *jobs[name]), jobs), strict=True))

    def _seen(self, one: Bug, name: str, text: str, beside: str) -> dict[str, Any]:
        key = hashlib.sha256(self.state + json.dumps([text, beside]).encode()).hexdigest()[:16]
        kept = self.folder / f"{one.case.id}-{name}-{key}.json"
        if not kept.exists():
            for old in self.folder.glob(f"{one.case.id}-{name}-*.json"):
                old.unlink()
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(kept, json.dumps(seen(one, text, beside=beside)).encode())
        return json.loads(kept.read_text("utf-8"))


def scripts(one: Bug) -> dict[str, tuple[str, str]]:
    """name -> (script, the one that is run in turn with it): the repairs, or both versions of an innocent script."""
    if one.innocent:
        return {AS_IS: (one.script, one.accused), AS_WISHED: (one.accused, "")}
    return {f"repair-{place}": (text, "") for place, text in enumerate(_repairs(one))}


def _repairs(one: Bug) -> list[str]:
    """The right repair among the others, at a place that tells nothing."""
    place = sum(one.case.id.encode()) % (len(one.offers) + 1)
    return [*one.offers[:place], one.repair, *one.offers[place:]]


def case_html(case: Case, code: str, witness: Witness) -> str:
    """A case to play in the page."""
    with speaking(code):
        one = bug(case)
        facts, shown = witness.facts(one), commented(one)
        last = _proof(one, facts) if one.innocent else _mending(one, shown, facts)
        recorded = replace(case, evidence="recording")  # what was seen while the book was built
        ticket = view.ticket_html(recorded, told.ticket_more(one), [pick(GRADES[one.grade])])
        return steps.section(case, ticket, HERE, _lines(shown, steps.cause(case, last)))


def _lines(one: Bug, after: str) -> str:
    """The script, a choice on each of its lines."""
    rows = [(number, f"{number:>2}  {text}") for number, text in one.numbered() if text.strip()]
    rows.append((NOTHING_WRONG, told.nothing_words()))
    choices = [
        Choice(
            f"<code>{html.escape(text)}</code>", told.lines_html([told.said_of_line(one, number)]), found(one, number)
        )
        for number, text in rows
    ]
    return steps.step(told.line_ask(), told.point_words(), choices, after, "book-lines")


def _mending(one: Bug, shown: Bug, facts: Facts) -> str:
    """The repairs, as changes of the script, each with what came of it."""
    trials = [judge(one, facts[name]) for name in scripts(one)]
    choices = [
        Choice(_changes(shown.script, text), told.lines_html(told.trial_lines(trial)), trial.accepted)
        for text, trial in zip(_repairs(shown), trials, strict=True)
    ]
    ask = t("🛠️ Which change repairs it?", "🛠️ 哪种改法能修好？")
    return steps.step(
        ask, t("🔬 Run it and measure again", "🔬 运行，再测一次"), choices, steps.why(one.case), "book-lines"
    )


def _changes(before: str, after: str) -> str:
    """HTML of the lines that go and of those that come, each between its neighbours."""
    lines = list(difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=1))[3:]
    shown = "\n".join("⋯" if line[0] == "@" else line for line in lines)
    return f"<code>{html.escape(shown)}</code>"


def _proof(one: Bug, facts: Facts) -> str:
    proof = proof_of(one, facts[AS_IS], facts[AS_WISHED])
    return told.lines_html(told.proof_words(one, proof)) + steps.why(one.case)
