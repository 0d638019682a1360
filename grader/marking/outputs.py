"""Outputs of a student's cell in a graded notebook: well formed, short enough for a page, without anything that could run.

A kernel may send forged outputs, so only known kinds are copied: texts, pictures and the answer sheet. HTML and
Markdown are copied unchanged and cleaned when a page is made from them (``clean``, ``markdown``). For its page a notebook is
shortened (``Shorten``), so that the page is made in seconds and opens in any browser.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from typing import Any

import bleach
from bleach.css_sanitizer import CSSSanitizer
from jinja2 import pass_context
from nbconvert.filters.markdown_mistune import InvalidNotebook, IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import NbGraderPreprocessor

from course.core.i18n import pick
from course.learning.sheet import MIME
from grader.marking.said import say
from grader.marking.step import grade_id, language_of

TEXTS = ("text/plain", "text/html", "text/markdown", "text/latex")
PICTURES = ("image/png", "image/jpeg", "image/svg+xml")  # a page shows all three as images, where no script runs
TAGS = frozenset(
    "a abbr b blockquote br caption code col colgroup dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img li ol p pre "
    "s small span strong sub summary sup table tbody td tfoot th thead tr u ul".split()
)
ATTRIBUTES = ("style", "title", "colspan", "rowspan", "width", "height", "alt", "start", "open", "lang")
STYLES = CSSSanitizer(
    allowed_css_properties="background-color border border-bottom border-collapse border-left border-radius border-top color display "
    "font-family font-size font-style font-weight line-height list-style-type margin margin-bottom margin-left margin-top max-width "
    "min-width padding padding-left text-align text-decoration vertical-align white-space width".split()
)
# Other classes mean something to a page.
CLASS = re.compile(r"course-mark|dataframe|highlight|hl-\w+|ansi-[\w-]+|[a-z]{1,2}\d?")
# These need no end, or nest in others alone.
ALONE = frozenset("br hr img col p li dd dt td th tr tbody thead tfoot".split())
TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")
MOST_HTML, MOST_MARKDOWN, MOST_SIGNS, DEEPEST, MOST_ATTRIBUTES = 200_000, 50_000, 20_000, 100, 100
LINK = re.compile(r"https?://|mailto:|#|[\w./-]+\Z", re.IGNORECASE)
PICTURE = re.compile(r"data:image/(png|jpeg|gif|svg\+xml|webp);base64,[A-Za-z0-9+/=\s]*")
MOST_TEXT = 40_000  # characters of one source
MOST_ATTACHED = 3_000_000  # characters of the attachments of one cell; outputs were cut when they came (``limits``)
MOST_PAGE = 6_000_000  # of all together
MOST_CELLS = 500


def sound(output: dict[str, Any]) -> NotebookNode | None:
    """An output in the form that nbformat and the pages require; None where it cannot be repaired."""
    kind = output.get("output_type")
    if kind == "stream" and output.get("name") in ("stdout", "stderr") and isinstance(output.get("text"), str):
        return NotebookNode(output_type=kind, name=output["name"], text=sayable(output["text"]))
    if kind == "error" and isinstance(output.get("traceback"), list):
        lines = [sayable(line) for line in output["traceback"] if isinstance(line, str)]
        return NotebookNode(
            output_type=kind,
            ename=sayable(str(output.get("ename"))),
            evalue=sayable(str(output.get("evalue"))),
            traceback=lines,
        )
    if kind in ("display_data", "execute_result") and isinstance(output.get("data"), dict):
        made = NotebookNode(output_type=kind, data=_data(output["data"]), metadata=NotebookNode())
        if kind == "execute_result":
            count = output.get("execution_count")
            made.execution_count = count if type(count) is int and count >= 0 else None
        return made
    return None


def _data(found: dict[str, Any]) -> NotebookNode:
    data = NotebookNode(
        {kind: sayable(found[kind]) for kind in (*TEXTS, *PICTURES) if isinstance(found.get(kind), str)}
    )
    if MIME in found:
        data[MIME] = NotebookNode()  # says that this is an answer sheet; the answers were read before the run
    return data


def sayable(text: str) -> str:
    """The text with each half of a surrogate pair replaced by a question mark, so that it can be written as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def clean(element: object) -> str:
    """Remove everything from HTML that could run or load something; replaces nbconvert's ``clean_html``.

    HTML that would take a parser hours is returned as escaped text.
    """
    text = element.decode("utf-8", "replace") if isinstance(element, bytes) else str(element)
    if not _modest(text):
        return _written(text)
    return bleach.clean(
        text,
        tags=TAGS,
        attributes=_allowed,
        protocols={"http", "https", "mailto", "data"},
        strip=True,
        css_sanitizer=STYLES,
    )


@pass_context
def markdown(context: Any, source: str) -> str:
    """A text cell or comment as clean HTML; replaces nbconvert's ``markdown2html``, whose result nbgrader's templates do not
    clean. A text is shown as it is written where the attachment of a picture is missing, as after copying cells between notebooks.
    """
    attachments = dict(context.get("cell", {}).get("attachments", {}))
    if len(source) > MOST_MARKDOWN or source.count("\\begin") > DEEPEST:
        return _written(sayable(source))
    renderer = IPythonRenderer(escape=False, attachments=attachments, embed_images=False, exclude_anchor_links=True)
    try:
        return clean(MarkdownWithMath(renderer=renderer).render(sayable(source)))
    except InvalidNotebook:
        return _written(sayable(source))


def _modest(text: str) -> bool:
    """Whether this HTML is parsed quickly: the parser's time grows with the square of depth and of the number of attributes."""
    if len(text) > MOST_HTML or text.count("<") > MOST_SIGNS:
        return False
    open_now: Counter[str] = Counter()
    for end, tag in TAG.findall(text.lower()):
        if tag not in ALONE:
            open_now[tag] = max(0, open_now[tag] + (-1 if end else 1))
            if open_now[tag] > DEEPEST:
                return False
    return all(len(part[part.rfind("<") :].split()) <= MOST_ATTRIBUTES for part in text.split(">") if "<" in part)


def _written(text: str) -> str:
    return f"<pre>{html.escape(text[:MOST_HTML])}</pre>"


def _allowed(tag: str, name: str, value: str) -> bool:
    if tag == "img" and name == "src":
        return PICTURE.fullmatch(value) is not None
    if tag == "a" and name == "href":
        return LINK.match(value) is not None
    if name == "class":
        return all(CLASS.fullmatch(one) for one in value.split())
    return name in ATTRIBUTES  # no id: formgrader finds its own fields by their ids


# --- shorter, for a page ---


class Shorten(NbGraderPreprocessor):
    """Shortens the copy from which a feedback page is made; the graded notebook itself stays as it is."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        shorten(nb)
        return nb, resources


def shorten(nb: NotebookNode) -> None:
    """Cut long sources, leave out large attachments of the student's cells, and cells once the page is full."""
    language = language_of(nb, "en")
    cut, shown, left = pick(say("page.cut"), language), [], MOST_PAGE
    for cell in nb.cells:
        if len(cell.source) > MOST_TEXT:
            cell.source = f"{cell.source[:MOST_TEXT]}\n{cut}"
        if len(str(cell.get("attachments", ""))) > MOST_ATTACHED:
            del cell["attachments"]
        left -= len(cell.source) + len(str(cell.get("outputs", ""))) + len(str(cell.get("attachments", "")))
        if grade_id(cell) or (left >= 0 and len(shown) < MOST_CELLS):
            shown.append(cell)
    if left_out := len(nb.cells) - len(shown):
        said = pick(say("page.left-out", n=left_out), language)
        shown.insert(0, new_markdown_cell(f"**{said}**", id="course-left-out"))
    nb.cells = shown
