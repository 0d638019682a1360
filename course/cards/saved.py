"""A card as one piece of HTML: the copy that stays readable in a saved notebook beside the live card, and what its text is made from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.cards.render import belief_html, in_language, reason_html
from course.core.i18n import pick, t
from course.core.markup import code_block, inline, paragraphs
from course.learning.marking import Response
from course.learning.reporting import Report, explained
from course.questions.items import Item, Option
from course.questions.wording import PAIR, call_text, pairs, task_words, title_words


def body_html(item: Item, response: Response | None = None, found: Report | None = None) -> str:
    """The question, the answer given with its explanations, and how to answer by typing. Without ``found`` it holds no key."""
    code = code_block(pick(item.code), t("Code of the question", "题目代码")) if item.code else ""
    unit = f"<p>{t('Unit: ', '单位：')}{inline(pick(item.number.unit))}</p>" if item.number else ""
    hidden = item.kind == "spoken" and response is None  # its criteria would give the answer away
    options = "" if hidden or found and explained(item, found) else options_html(item)
    given = f"<p><strong>{t('Your answer:', '你的答案：')}</strong> {inline(response.words)}</p>" if response else ""
    return (
        f"<p>[{item.id}] <strong>{title_words(item)}</strong> · {task_words(item)}</p>"
        f"{paragraphs(pick(item.stem))}{code}{options}{unit}{given}{told_html(found) if found else ''}"
        f"<p>{inline(_how(item, hidden))}</p>"
    )


def _how(item: Item, hidden: bool) -> str:
    """How to answer by typing, with marks."""
    if hidden:
        call = f'`interview("{item.id}", reveal=True)`'
        return t(f"Say it aloud, then {call}.", f"先说出声，再运行 {call}。")
    call = f"`{call_text(item)}`"
    why = "" if item.checkpoint else t('; `because="..."`, your reason', '；`because="..."`，写一句你的理由')
    return t(
        f"To answer by typing: {call} (if you like, with `confidence=` 1, a guess, 2, fairly sure, or 3, certain{why})",
        f"打字作答：{call}（可加 `confidence=`：1 猜的，2 比较有把握，3 很确定{why}）",
    )


def _text(option: Option) -> str:
    return inline(pick(option.text))


def options_html(item: Item, text: Callable[[Option], str] = _text) -> str:
    """The options as a list; a line and the wrong one that looks like it stand together. text: the HTML of one."""
    rows = []
    for group in pairs(item):
        rows += [f"<small>{pick(PAIR)}</small>"] * (len(group) > 1)
        rows += [f"<b>{one})</b> {text(item.option(one))}" for one in group]
    return listing(rows) if rows else ""


def listing(rows: list[str]) -> str:
    """A list without signs. rows: HTML."""
    return f'<ul style="list-style:none">{"".join(f"<li>{row}</li>" for row in rows)}</ul>'


def told_html(found: Report) -> str:
    """The whole feedback on an answer, every explanation open."""
    rows = []
    for line in found.lines:
        label = f"{line.label})" if line.label.isalnum() else line.label
        state, why = f" <em>({line.state})</em>" if line.state else "", f"<br>{inline(line.why)}" if line.why else ""
        belief = f"<br>{belief_html(line.belief)}" if line.belief else ""
        rows.append(f"<b>{label}</b> {inline(line.text)}{state}{why}{belief}")
    messages = "".join(f"<p>{inline(one)}</p>" for one in found.messages)
    following = f"<p>{inline(found.next_step)}</p>" if found.next_step else ""
    head = f"<p><strong>{inline(found.headline)}</strong></p>"
    return f"{head}{messages}{listing(rows) if rows else ''}{following}{reason_html(found.because)}"


def static_html(item: Item, response: Response | None = None, found: Report | None = None) -> str:
    """The card as it stands in a saved notebook. Hidden while the live card is on the page."""
    note = t("This is the saved copy. Run the cell for the card.", "这是保存下来的副本。运行本单元格可显示卡片。")
    return saved_copy(item.id, f"{body_html(item, response, found)}<p><small>{note}</small></p>")


def saved_copy(identity: str, body: str) -> str:
    """A block that stands in a saved notebook for the live widget of that id (see ``hide_saved_copy``)."""
    return f"<style>{_DEAD_WIDGET.format(id=identity)}</style>" + in_language(body, f"tbq-static tbq-static-{identity}")


# The saved copy is hidden while the live card is there; without a kernel, the dead card is hidden. JupyterLab shows
# several notebooks on one page, so there the live card must stand in the same output; elsewhere a page is one notebook.
# An output may hold an output area of its own (a cell run again by a button): only the inner one is hidden.
_DEAD_WIDGET = (
    ".jp-OutputArea:has(.tbq-static-{id}):not(:has(.tbq-live-{id})) .jp-OutputArea-child:has("
    ".jp-OutputArea-output.lm-Panel){{display:none}}"  # of all outputs only a widget is one, also while it still loads
)
_LIVE_WIDGET = (
    ".jp-OutputArea:has(.tbq-live-{id}) .jp-OutputArea-child:not(:has(.jp-OutputArea)):has(.tbq-static-{id}),"
    "body:not([data-jp-theme-light]):has(.tbq-live-{id}) .tbq-static-{id}{{display:none!important}}"
)


def hide_saved_copy(item: Any) -> str:
    """The style that hides the saved copy while the live card (class tbq-live-<id>) stands beside it. item: anything with an id."""
    return f"<style>{_LIVE_WIDGET.format(id=item.id)}</style>"
