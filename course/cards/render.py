"""HTML of a live card's parts. All text of question files is escaped; only code spans and bold become marks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from course.core.i18n import language, pick, t
from course.core.look import css
from course.core.markup import code_block, inline, paragraphs
from course.learning.marking import Response
from course.learning.reporting import Line, Report, explained, not_yet
from course.questions.items import Item, Option
from course.questions.wording import PAIR, call_text, pairs, task_words, title_words

MARKS = {"good": "✓", "bad": "✗", "part": "◐", "calm": "○"}


def in_language(html: str, classes: str = "", more: str = "") -> str:
    """A block that tells its language, so that readers, fonts and line breaks fit."""
    code = {"zh": "zh-Hans"}.get(language(), language())
    return f'<div lang="{code}" class="{classes}"{more}>{html}</div>'


def foldable_head(head: str, gist: str = "", folded: bool | None = None, done: str = "") -> str:
    """The head of a card. In a deck it is the line that opens and folds the card: folded, it tells the gist and what is done.

    head, gist: HTML. folded: None outside of a deck.
    """
    if folded is None:
        return f'<div class="tbq-head">{head}</div>'
    said = f'<em class="tbq-done">{done}</em>' if done else ""
    line = f'<summary class="tbq-head">{head}<b class="tbq-gist">{gist}</b>{said}</summary>'
    return f'<details class="tbq-fold"{"" if folded else " open"}>{line}</details>'


def question_html(item: Item, folded: bool | None = None, done: str = "") -> str:
    """Head, stem and code of a card, and a sentence that shows once its kernel is gone. folded, done: see ``foldable_head``."""
    head = f"<h3>{title_words(item)}</h3><span>{task_words(item)}</span><code>{item.id}</code>"
    stem = pick(item.stem).strip()
    code = code_block(pick(item.code), t("Code of the question", "题目代码")) if item.code else ""
    dead = t(
        "The kernel was restarted, so this card takes no answers. Run the notebook's first code cell, then this one; "
        "what you answered is kept.",
        "内核重启过，这张卡片已不能作答。请先运行 notebook 的第一个代码单元格，再运行这一格；之前的作答都在。",
    )
    return in_language(
        f'{foldable_head(head, inline(stem.splitlines()[0]), folded, done)}<p class="tbq-dead">{dead}</p>'
        f'<div class="tbq-stem">{paragraphs(stem)}</div>{code}'
    )


def done_words(item: Item, tone: str, answer: str = "") -> str:
    """The words on a folded card after an answer. tone: the colour of its verdict; answer: what was answered, in letters."""
    if item.checkpoint:
        return t("✓ recorded", "✓ 已记录")
    said = bet_words() if item.kind == "predict" else tone_words(tone)
    return f"{answer} · {said}" if answer and item.kind != "spoken" else said


def bet_words() -> str:
    """A placed bet, on a folded card."""
    return t("🎲 bet placed", "🎲 已下注")


def tone_words(tone: str) -> str:
    """The verdict on an answer, on a folded card."""
    words = {"good": t("right", "正确"), "part": t("partly right", "部分正确"), "bad": t("not right", "不对")}
    return f"{MARKS[tone]} {words.get(tone, t('answered', '已作答'))}"


def face_html(option: Option, letter: str, state: str, square: bool = False, widest: str = "") -> str:
    """The visible side of an option; the button beneath it carries the same words for screen readers.

    widest: the longest state this option can show; its room is kept, so nothing moves when a state appears.
    """
    shape = ' class="sq"' if square else ""
    return in_language(
        f"<i{shape}>{letter}</i><span>{inline(pick(option.text))}</span>"
        f"<em><u>{widest or state}</u><b>{state}</b></em>",
        "tbq-face",
        ' aria-hidden="true"',
    )


def say_html(live: str = "", quiet: str = "") -> str:
    """Feedback: the live part is read out when it changes, the quiet part waits to be read."""
    said = f'<div role="status" aria-live="polite">{live}</div>{quiet}'
    return in_language(said, "tbq-say")


def notice_html(*sentences: str) -> str:
    """Sentences such as "recorded at 14:03" or a saving problem, for the live region."""
    return "".join(f'<p class="tbq-notice">{inline(sentence)}</p>' for sentence in sentences)


def verdict_html(tone: str, headline: str, *messages: str) -> str:
    """The verdict, in words and colour, with its reasons."""
    said = "".join(f"<p>{inline(message)}</p>" for message in messages)
    mark = "" if headline[:1] > "\u2600" and not headline[:1].isalpha() else f'<i aria-hidden="true">{MARKS[tone]}</i>'
    return f'<div class="tbq-verdict {tone}"><h4>{mark}{inline(headline)}</h4>{said}</div>'


def reason_html(beside: str) -> str:
    """The learner's own reason beside the right one; nothing where none was written."""
    return f'<p class="tbq-own">{inline(beside)}</p>' if beside else ""


def not_attempted_html(sentence: str) -> str:
    """What an empty answer gets: its own verdict and the next step."""
    return verdict_html("calm", not_yet(), sentence)


def report_html(report: Report) -> str:
    """The verdict that is read out."""
    return verdict_html(report.tone, report.headline, *report.messages)


MOST_SHOWN = 2
"""Explanations below a verdict, such as that of the answer given and of the right one; more are folded, so that a card fits a screen."""


def lines_html(report: Report, item: Item) -> str:
    """The explanations below the verdict, and the next experiment. Those of the answer given and of the right one are open, of many
    those where they differ; the rest is one press away. Options that stand on the card already are named by their letter.
    """
    above = bool(item.options) and item.kind != "order"
    lines = [line for line in report.lines if line.why or line.belief] if above else list(report.lines)
    shown = [line for line in lines if line.chosen or line.right] if above else lines
    if len(shown) > MOST_SHOWN:
        shown = [line for line in shown if above and line.chosen != line.right][:MOST_SHOWN]
    folded, listed = [line for line in lines if line not in shown], _lines_html(shown, above)
    if folded:
        title = t("The other answers", "其他选项") if shown or len(lines) < len(report.lines) else t("Why", "为什么")
        listed += f"<details><summary>{title}</summary>{_lines_html(folded, above)}</details>"
    following = f'<p class="tbq-next">{inline(report.next_step)}</p>' if report.next_step else ""
    return listed + following + reason_html(report.because)


def _lines_html(lines: Sequence[Line], above: bool) -> str:
    return f'<ul class="tbq-lines">{"".join(_line_html(line, above) for line in lines)}</ul>' if lines else ""


def belief_html(belief: str) -> str:
    """A false belief that an answer showed."""
    return f"{t('The belief behind it:', '背后的想法：')} <q>{inline(belief)}</q>"


def _line_html(line: Line, above: bool) -> str:
    tone = {True: "good", False: "bad" if line.chosen else "", None: ""}[line.right]
    state = f"<small>{line.state}</small>" if line.state else ""
    head = "" if above and not state else f'<p class="what">{"" if above else inline(line.text)} {state}</p>'
    belief = f'<p class="belief">{belief_html(line.belief)}</p>' if line.belief else ""
    return f'<li class="{tone}"><b>{line.label}</b><div>{head}{f"<p>{inline(line.why)}</p>" if line.why else ""}{belief}</div></li>'


# --- the copy in a saved notebook, and what a card's text is made from ---


def body_html(item: Item, response: Response | None = None, found: Report | None = None) -> str:
    """The question, the answer given with its explanations, and how to answer by typing. Without ``found`` it holds no key."""
    hidden = item.kind == "spoken" and response is None  # its criteria would give the answer away
    return (
        f"<p>[{item.id}] <strong>{title_words(item)}</strong> · {task_words(item)}</p>"
        f"{answered_html(item, response, found, hidden)}<p>{inline(_how(item, hidden))}</p>"
    )


def answered_html(item: Item, response: Response | None, found: Report | None, hidden: bool = False) -> str:
    """What a question asks, the answer given, and the whole feedback on it. hidden: leaves the options out."""
    given = f"<p><strong>{t('Your answer:', '你的答案：')}</strong> {inline(response.words)}</p>" if response else ""
    asked = asked_html(item, not (hidden or found and explained(item, found)))
    return f"{asked}{given}{told_html(found) if found else ''}"


def asked_html(item: Item, options: bool = True) -> str:
    """What a question asks: its stem, code, unit, and the options where they are wanted."""
    code = code_block(pick(item.code), t("Code of the question", "题目代码")) if item.code else ""
    unit = f"<p>{t('Unit: ', '单位：')}{inline(pick(item.number.unit))}</p>" if item.number else ""
    return f"{paragraphs(pick(item.stem))}{code}{options_html(item) if options else ''}{unit}"


def _how(item: Item, hidden: bool) -> str:
    """How to answer by typing, with marks."""
    if hidden:
        call = f'`interview("{item.id}", reveal=True)`'
        return t(f"Say it aloud, then {call}.", f"先说出声，再运行 {call}。")
    call = f"`{call_text(item)}`"
    why = "" if item.checkpoint else t('; `because="..."`, your reason', '；`because="..."`，写一句你的理由')
    return t(
        f"To answer by typing: {call} (if you like, with `confidence=`: 1 a guess, 2 fairly sure, 3 certain{why})",
        f"打字作答：{call}（可加 `confidence=`：1 猜的，2 比较有把握，3 很确定{why}）",
    )


def options_html(item: Item) -> str:
    """The options as a list; a line and the wrong one that looks like it stand together."""
    rows = []
    for group in pairs(item):
        rows += [f"<small>{pick(PAIR)}</small>"] * (len(group) > 1)
        rows += [f"<b>{one})</b> {inline(pick(item.option(one).text))}" for one in group]
    return listing(rows) if rows else ""


def listing(rows: list[str]) -> str:
    """A list without signs. rows: HTML."""
    return f'<ul style="list-style-type:none">{"".join(f"<li>{row}</li>" for row in rows)}</ul>'


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


SHEET = f"<style>{css(Path(__file__).with_name('cards.css'))}</style>"
