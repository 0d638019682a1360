"""The copy of a card that stays readable in a saved notebook, beside the live card."""

from __future__ import annotations

from typing import Any

from course.cards.render import in_language, notice_html, reason_html
from course.core.i18n import pick, t
from course.core.markup import code_block, inline, paragraphs
from course.learning.marking import Response
from course.learning.reporting import Report, explained
from course.questions.items import Item
from course.questions.wording import call_text, task_words, title_words


def static_html(item: Item, response: Response | None = None, report: Report | None = None) -> str:
    """The card as it stands in a saved notebook: question, options, the answer given with its explanations.

    Hidden while the live card is on the page. Without a report it holds no key.
    """
    code = code_block(pick(item.code), t("Code of the question", "题目代码")) if item.code else ""
    rows = "".join(f"<li><strong>{one.id}</strong> {inline(pick(one.text))}</li>" for one in item.options)
    if item.kind == "spoken" and report is None:  # its criteria would give the answer away
        rows = ""
    options = f'<ul style="list-style:none">{rows}</ul>' if rows and not (report and explained(item, report)) else ""
    given = f"<p><strong>{t('Your answer:', '你的答案：')}</strong> {inline(response.words)}</p>" if response else ""
    how = t(
        "This is the saved copy. Run the cell for the card, or answer in a cell of your own:",
        "这是保存下来的副本。运行本单元格可显示卡片，也可以在任意单元格里作答：",
    )
    return saved_copy(
        item.id,
        f"<p><strong>{title_words(item)}</strong> · {task_words(item)} · <code>{item.id}</code></p>"
        f"{paragraphs(pick(item.stem))}{code}{options}{given}{_static_report(report) if report else ''}"
        f"<p>{how} <code>{inline(call_text(item))}</code></p>",
    )


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


def _static_report(report: Report) -> str:
    lines = "".join(
        f"<li><strong>{line.label}</strong> {inline(line.text)}"
        f"{f' <em>({line.state})</em>' if line.state else ''}{f'<br>{inline(line.why)}' if line.why else ''}</li>"
        for line in report.lines
    )
    listing = f'<ul style="list-style:none">{lines}</ul>' if lines else ""
    return f"<p><strong>{inline(report.headline)}</strong></p>{notice_html(*report.messages)}{listing}{reason_html(report.because)}"
