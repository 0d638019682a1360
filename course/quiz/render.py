"""HTML of a card's parts. Everything from a question file is escaped; only code spans and bold become marks."""

from __future__ import annotations

from course.language import pick, t
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
    head = (f'<div class="tbq-head"><b>{title_words(item)}</b><span>{task_words(item)}</span>'
            f"<code>{item.id}</code></div>")
    code = code_block(pick(item.code)) if item.code else ""
    return f'{head}<div class="tbq-stem">{paragraphs(pick(item.stem))}</div>{code}'


def face_html(option: Option, letter: str, state: str, square: bool = False) -> str:
    """The visible side of an option; the button beneath it carries the same words for screen readers."""
    shape = ' class="sq"' if square else ""
    return (f'<div class="tbq-face" aria-hidden="true"><i{shape}>{letter}</i><span>{inline(pick(option.text))}</span>'
            f"<em>{state}</em></div>")


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
    return (f'<dt><b class="{tone}">{line.label}</b>{inline(line.text)} {state}</dt>'
            f"<dd>{inline(line.why)}{belief}</dd>")


def call_text(item: Item) -> str:
    """The call that answers this item without a widget."""
    sample = {"number": "3", "order": '"c", "a"', "multiple": '"a", "c"'}.get(item.kind, '"b"')
    return f'answer("{item.id}", {sample})'


def static_html(item: Item, response: Response | None = None) -> str:
    """The card without widgets, as it stands in a saved notebook: question, options, how to answer. No key."""
    code = code_block(pick(item.code)) if item.code else ""
    rows = "".join(f"<li><strong>{one.id}</strong> {inline(pick(one.text))}</li>" for one in item.options)
    options = f'<ul style="list-style:none">{rows}</ul>' if rows else ""
    given = f"<p>{t('Your answer:', '你的答案：')} {_given(response)}</p>" if response else ""
    how = t("To answer here, run this in a cell:", "要作答，请在单元格里运行：")
    return (f"<div><p><strong>{title_words(item)}</strong> · {task_words(item)} · <code>{item.id}</code></p>"
            f"{paragraphs(pick(item.stem))}{code}{options}{given}<p>{how} <code>{inline(call_text(item))}</code></p></div>")


def _given(response: Response) -> str:
    return inline(", ".join(response.options) or f"{response.number:g}")
