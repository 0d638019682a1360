"""HTML of a card's parts. All text of question files is escaped; only code spans and bold become marks."""

from __future__ import annotations

from course.i18n import pick, t
from course.quiz.items import Item, Option
from course.quiz.marking import Response
from course.quiz.reporting import Line, Report
from course.quiz.rich import code_block, inline, paragraphs


def task_words(item: Item) -> str:
    """What the learner has to do, in words."""
    return {
        "single": t("choose one", "单选"),
        "multiple": t("choose all that apply", "多选"),
        "number": t("type a number", "填数字"),
        "order": t("put the lines in order; some may not belong", "排出正确顺序，可能有多余的行"),
        "predict": t("place your bet, it locks", "下注，提交后锁定"),
    }[item.kind]


def title_words(item: Item) -> str:
    """The kind of card in words."""
    if item.checkpoint:
        return t(f"Checkpoint · {item.points:g} points", f"检查点 · {item.points:g} 分")
    if item.kind == "predict":
        return t("Bet", "下注")
    return t("Question", "练习题")


def question_html(item: Item) -> str:
    """Head, stem and code of a card."""
    head = (
        f'<div class="tbq-head"><b>{title_words(item)}</b><span>{task_words(item)}</span>'
        f"<code>{item.id}</code></div>"
    )
    code = code_block(pick(item.code)) if item.code else ""
    return f'{head}<div class="tbq-stem">{paragraphs(pick(item.stem))}</div>{code}'


def face_html(option: Option, letter: str, state: str, square: bool = False) -> str:
    """The visible side of an option; the button beneath it carries the same words for screen readers."""
    shape = ' class="sq"' if square else ""
    return (
        f'<div class="tbq-face" aria-hidden="true"><i{shape}>{letter}</i>'
        f"<span>{inline(pick(option.text))}</span>"
        f"<em>{state}</em></div>"
    )


def say_html(body: str = "") -> str:
    """The live region of a card."""
    return f'<div class="tbq-say" role="status" aria-live="polite">{body}</div>'


def notice_html(*sentences: str) -> str:
    """Sentences such as "recorded at 14:03" or a saving problem, for the live region."""
    return "".join(f"<p>{inline(sentence)}</p>" for sentence in sentences)


def report_html(report: Report) -> str:
    """The whole feedback."""
    mark = {"good": "✓ ", "bad": "✗ ", "part": "◐ ", "calm": ""}[report.tone]
    parts = [f'<h4 class="{report.tone}">{mark}{inline(report.headline)}</h4>', notice_html(*report.messages)]
    if report.lines:
        parts.append(f"<dl>{''.join(map(_line_html, report.lines))}</dl>")
    if report.next_step:
        parts.append(f'<p class="next">{inline(report.next_step)}</p>')
    return "".join(parts)


def _line_html(line: Line) -> str:
    tone = {True: "good", False: "bad" if line.chosen else "", None: ""}[line.right]
    state = f'<small class="{tone}">{line.state}</small>' if line.state else ""
    belief = ""
    if line.belief:
        label = t("The belief behind it:", "背后的想法：")
        belief = f'<div class="belief">{label} <q>{inline(line.belief)}</q></div>'
    return (
        f'<dt><b class="{tone}">{line.label}</b>{inline(line.text)} {state}</dt>'
        f"<dd>{inline(line.why)}{belief}</dd>"
    )


def call_text(item: Item) -> str:
    """The call that answers this item without a widget. It names no real option: an example must not hint."""
    letter = t('"LETTER"', '"字母"')
    sample = {"number": t("NUMBER", "数字"), "order": f"{letter}, {letter}", "multiple": f"{letter}, {letter}"}
    return f'answer("{item.id}", {sample.get(item.kind, letter)})'


def static_html(item: Item, response: Response | None = None, report: Report | None = None) -> str:
    """The card as it stands in a saved notebook: question, options, the answer given with its explanations.

    Hidden while the live card is on the page. Without a report it holds no key.
    """
    code = code_block(pick(item.code)) if item.code else ""
    rows = "".join(f"<li><strong>{one.id}</strong> {inline(pick(one.text))}</li>" for one in item.options)
    explained = report is not None and report.lines and item.kind != "order"
    options = f'<ul style="list-style:none">{rows}</ul>' if rows and not explained else ""
    given = (
        f"<p><strong>{t('Your answer:', '你的答案：')}</strong> {_given(response)}</p>" if response else ""
    )
    how = t(
        "This is the saved copy. Run the cell for the card, or answer in a cell of your own:",
        "这是保存下来的副本。运行本单元格可显示卡片，也可以在任意单元格里作答：",
    )
    return (
        f'<style>{_DEAD_WIDGET.format(id=item.id)}</style><div class="tbq-static tbq-static-{item.id}">'
        f"<p><strong>{title_words(item)}</strong> · {task_words(item)} · <code>{item.id}</code></p>"
        f"{paragraphs(pick(item.stem))}{code}{options}{given}{_static_report(report) if report else ''}"
        f"<p>{how} <code>{inline(call_text(item))}</code></p></div>"
    )


# The saved copy is hidden while the live card is there; without a kernel, the dead card is hidden.
_DEAD_WIDGET = (
    ".jp-OutputArea:has(.tbq-static-{id}):not(:has(.tbq-live-{id})) .jp-OutputArea-child:has("
    ".jp-OutputArea-output.jupyter-widgets){{display:none}}"
)
_LIVE_WIDGET = (
    "body:has(.tbq-live-{id}) .tbq-static-{id},body:has(.tbq-live-{id}) "
    ".jp-OutputArea-child:has(.tbq-static-{id}){{display:none!important}}"
)


def hide_saved_copy(item: Item) -> str:
    """The style that hides the saved copy while the live card (class tbq-live-<id>) is on the page."""
    return f"<style>{_LIVE_WIDGET.format(id=item.id)}</style>"


def _static_report(report: Report) -> str:
    lines = "".join(
        f"<li><strong>{line.label}</strong> {inline(line.text)}"
        f"{f' <em>({line.state})</em>' if line.state else ''}<br>{inline(line.why)}</li>"
        for line in report.lines
    )
    listing = f'<ul style="list-style:none">{lines}</ul>' if lines else ""
    return f"<p><strong>{inline(report.headline)}</strong></p>{notice_html(*report.messages)}{listing}"


def _given(response: Response) -> str:
    return inline(", ".join(response.options) or f"{response.number:g}")
