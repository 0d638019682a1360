"""An executed notebook as the Markdown of a page: its text, its code, and what came out, without widgets.

Cards become places where a script shows them; results whose bet stands on the page are folded until it is placed.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import html
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from grader.project.build import BADGE

HIDDEN = {"explain", "predict", "observe", "explore", "keep", "review", "poster", "cheat_sheet"}
"""A cell that calls only these shows what they show, and not the call."""
PERSONAL = {"lesson", "finish", "progress", "bets", "board", "take_home", "export_progress", "import_progress"}
"""What these show is about one learner."""
STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
CARD = re.compile(r'class="tbq-static tbq-static-([\w.-]+)"')
RESULT = re.compile(r'<section class="tbr"([^>]*) data-experiment="([^"]+)"')
CALL_OF_CARD = re.compile(r"<p>[^<]*<code>[^<]*</code></p></div>$")
IMAGE = re.compile(r"<img ([^>]*?)src=\"data:image/([a-z+]+);base64,([^\"]+)\"")
ENDINGS = {"webp": ".webp", "svg+xml": ".svg"}
"""Kind of a picture in a page -> ending of its file."""
TERM = re.compile(r'<abbr title="(.*?)  → what\(&quot;([^&]+)&quot;\)">(.*?)</abbr>', re.DOTALL)
FENCE = "`" * 8


@dataclass
class Page:
    """What a notebook became. cards: ids of the questions; styles: the CSS of the results."""

    text: str = ""
    cards: list[str] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Pictures:
    """Pictures as files in one folder, named by their content. address: of the folder, as a page names it."""

    folder: Path
    address: str

    def out_of(self, text: str) -> str:
        """The HTML with every picture in it as a file, loaded when it is seen."""
        return IMAGE.sub(self._kept, text)

    def _kept(self, found: re.Match[str]) -> str:
        before, kind, data = found.groups()
        path = self.folder / (hashlib.sha256(data.encode()).hexdigest()[:20] + ENDINGS[kind])
        if not path.exists():  # the same picture stands on many pages, and after each bet
            self.folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(base64.b64decode(data))
        return f'<img {before}loading="lazy" src="{self.address}/{path.name}"'


def raw(body: str) -> str:
    """HTML in Markdown, taken as it is."""
    return f"{FENCE}{{raw}} html\n{body}\n{FENCE}\n"


def page(
    notebook: NotebookNode,
    head: str,
    lessons: Collection[str],
    pictures: Pictures,
    result: Callable[[str, str, list[str]], str],
    question: Callable[[str], object] = lambda card: True,
) -> Page:
    """The page of a lesson. head: HTML below the title; lessons: those of the book.

    result(experiment, its HTML, the cards so far): the HTML that stands in the page. question(id): whether a card is a question; a
    case of a game is none, and its page shows the text that says how to play it in the notebook.
    """
    made = Page()
    parts: list[str] = []
    for cell in notebook.cells:
        if cell.id == BADGE:  # the head has it
            continue
        if cell.cell_type == "markdown":
            parts.append(prose(cell.source, lessons))
            if len(parts) == 1:
                title, _, rest = parts[0].partition("\n")
                parts[0] = f"{title}\n\n{raw(head)}\n{rest}"
        elif cell.id != "bootstrap":
            parts += _code(cell, made, pictures, result, question)
    made.text = "\n".join(parts)
    return made


def prose(text: str, lessons: Collection[str]) -> str:
    """A text cell: terms lead to the glossary, other notebooks are pages."""
    text = TERM.sub(
        lambda found: f'<a class="term" href="glossary.html#{found[2]}" data-means="{found[1]}">{found[3]}</a>', text
    )
    text = re.sub(
        r"\[([^\]]+)\]\((\w+)\.ipynb\)",
        lambda found: f"[{found[1]}]({found[2]}.md)" if found[2] in lessons else found[1],
        text,
    )
    return text + "\n"


def _calls(source: str) -> set[str]:
    """The functions a cell calls, where it does nothing else; "" stands for anything else."""
    try:
        lines = ast.parse(source).body
    except SyntaxError:
        return {""}
    calls = [one.value.func for one in lines if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    names = {one.id for one in calls if isinstance(one, ast.Name)}
    return names if len(calls) == len(lines) and len(names) else {""}


def _code(cell: NotebookNode, made: Page, pictures: Pictures, result: Callable, question: Callable) -> Iterator[str]:
    calls, deck = _calls(cell.source), len(made.cards)
    if not calls <= HIDDEN | {"finish"}:
        yield f"{FENCE}ipython3\n{cell.source}\n{FENCE}\n"
    for output in [] if calls <= PERSONAL else cell.outputs:
        shown = _shown(output)
        if not shown:
            continue
        made.styles += [one for one in STYLE.findall(shown) if "tbq-static" not in one]
        shown = pictures.out_of(STYLE.sub("", shown))
        card = CARD.search(shown)
        if card and question(card[1]):
            made.cards.append(card[1])
            held = CALL_OF_CARD.sub("</div>", shown)
            shown = f'<div class="quiz book-card" data-deck="{deck}" data-item="{card[1]}">{held}</div>'
        elif block := RESULT.search(shown):
            shown = result(block[2], shown.replace(' role="status"', "", 1), made.cards)
        yield raw(shown)


def _shown(output: NotebookNode) -> str:
    """HTML of an output; empty for widgets and for what is said to one learner."""
    if output.output_type == "stream":
        return f'<pre class="book-out">{html.escape(output.text)}</pre>'
    if output.output_type == "error":
        return f'<pre class="book-out">{html.escape(f"{output.ename}: {output.evalue}")}</pre>'
    data = output.data
    if "application/vnd.jupyter.widget-view+json" in data:
        return ""
    if "text/html" not in data:
        return f'<pre class="book-out">{html.escape(data["text/plain"])}</pre>'
    said = STYLE.sub("", data["text/html"]).lstrip()
    return "" if said.startswith('<div role="status"') else data["text/html"]
