"""An explorable as HTML with its own script, and as text where nothing can be touched.

Python says where it starts (`starts`), ``words.yaml`` every word,
``NAME.js`` what follows the controls; ``explore.js`` is what all of them share. Nothing is loaded from elsewhere.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.core.i18n import both, html_language, pick
from course.core.look import css
from course.core.markup import inline, plain
from course.core.tables import as_html, as_text
from course.questions.bank import read_yaml

if TYPE_CHECKING:
    from course.experiment.explorables.starts import Start

HERE = Path(__file__).parent
NAMES = ("floats", "roofline", "order", "shelf", "stopwatch")
STILL = both(
    "Run this cell again to touch it: a saved notebook shows where it starts.",
    "重新运行这一格就能动手：保存下来的 notebook 只显示起始状态。",
)


@dataclass(frozen=True)
class Explorable:
    """One explorable in the language in use. words: key -> text with marks, among them ``ask`` and ``keep``."""

    name: str
    words: Mapping[str, str]
    start: Start

    def _repr_html_(self) -> str:
        code = html_language()
        ask, keep = inline(self.words["ask"]), inline(self.words["keep"])
        words = {key: plain(text) for key, text in self.words.items() if key not in ("ask", "keep")}
        still = f"{as_html(self.start.lines)}<p>{inline(pick(STILL))}</p>"
        return (
            f'<style>{css(HERE / "explore.css")}</style><section class="tbx" lang="{code}" data-explore="{self.name}" '
            f'data-words="{_attribute(words)}" data-numbers="{_attribute(self.start.numbers)}"><h3 class="tbx-ask">🕹️ {ask}</h3>'
            f'<div class="tbx-live"><div class="tbx-still">{still}</div></div><p class="tbx-keep">📌 {keep}</p></section>'
            f"<script>(() => {{{script(self.name)}}})();</script>"
        )

    def __str__(self) -> str:
        table = "\n".join(as_text(self.start.lines, figures=False))
        return f"{plain(self.words['ask'])}\n\n{table}\n\n{plain(self.words['keep'])}"

    __repr__ = __str__


def explorable(name: str) -> Explorable:
    """The explorable of that name, one of NAMES."""
    from course.experiment.explorables import starts

    words = {key: pick(text) for key, text in read_yaml(HERE / "words.yaml")[name].items()}
    return Explorable(name, words, getattr(starts, name)(words))


def script(name: str) -> str:
    """The whole script of one explorable: what all share, then its own; it wakes every one of its kind on the page."""
    shared, own = ((HERE / f"{one}.js").read_text("utf-8") for one in ("explore", name))
    return f'{shared}\n{own}\nwake("{name}", {name});'


def _attribute(data: Mapping[str, Any]) -> str:
    return html.escape(json.dumps(data, ensure_ascii=False, separators=(",", ":")), quote=True)
