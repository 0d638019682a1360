"""Build the site: execute, clean, hand to Sphinx, index, check, pack."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

import nbformat

from course.cards import knowledge_view, offline
from course.core.i18n import LANGUAGES
from course.core.look import css
from course.figures.block import STYLE
from course.questions.bank import load_bank
from grader.book import cards, clean, find, pages
from grader.book.execute import executed
from grader.project import Project, ProjectError

SPHINX_NAMES = {"en": "en", "zh": "zh_CN"}
FURO: dict[str, str] = pages.WORDS["theme"]
"""The words of the theme that it has in English alone."""
SCRIPTS = (*offline.CARD_SCRIPTS, "theme.js")
LOADED = re.compile(
    r"<(?:script|img|iframe|source|link(?! rel=\"(?:next|prev)\"))\b[^>]*?(?:src|href)=\"([^\"]+)\"[^>]*>"
)
OUTSIDE = re.compile(r"url\(['\"]?(?:https?:)?//[^)]*\)|@import[^;]*")
READ = (".html", ".js", ".ipynb", ".svg", ".css")  # what a person or a script reads
IDS = re.compile(r'\bid="([^"]+)"')
LINK = re.compile(r'<a\b[^>]*?href="([^"]+)"')


def build(project: Project, folder: Path, lessons: list[str]) -> Path:
    """Build the book of these lessons below ``folder``; returns the site. Raises ProjectError with every fault found."""
    book = Book(project, folder, lessons)
    sources = [book.notebook(code, lesson) for code in LANGUAGES for lesson in lessons]
    done = executed(project, sources, folder / "executed")
    for name in ("site", "source", "static"):
        shutil.rmtree(folder / name, ignore_errors=True)
    styles = dict.fromkeys(clean.STYLE.findall(STYLE))
    for code in LANGUAGES:
        for name, text in pages.everything(project, code, lessons, *book.front(code)).items():
            _write(folder / "source" / code / f"{name}.md", text)
        for name in project.tools():
            book.offer(project.notebooks / code / "tools" / f"{name}.ipynb")
        for lesson in lessons:
            styles |= dict.fromkeys(book.lesson(code, lesson, done[book.notebook(code, lesson)]))
    _static(project, folder / "static", styles)
    _sphinx(project, folder, book.site)
    for code in LANGUAGES:
        _polish(book.site / code)
        find.write(book.site / code)
    shutil.copy(project.root / "book" / "start.html", book.site / "index.html")
    if found := faults(project, book.site):
        raise ProjectError("\n".join(found))
    shutil.make_archive(str(folder / "book"), "zip", book.site)
    return book.site


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


class Book:
    """What the pages of one build share."""

    def __init__(self, project: Project, folder: Path, lessons: list[str]) -> None:
        self.project, self.folder, self.lessons = project, folder, lessons
        self.site, self.bank = folder / "site", load_bank()
        self.pictures = clean.Pictures(self.site / "pictures", "../pictures")

    def notebook(self, code: str, lesson: str) -> Path:
        return self.project.notebooks / code / "lessons" / f"{lesson}.ipynb"

    def lesson(self, code: str, lesson: str, done: Path) -> list[str]:
        """Write the page of a lesson, the data of its cards and its notebook; returns the CSS of its results. done: executed."""
        below: list[str] = []
        result = functools.partial(self.result, code, below)
        source = self.notebook(code, lesson)
        head = pages.head(source.relative_to(self.project.root).as_posix(), code, self.project)
        made = clean.page(nbformat.read(done, 4), head, self.lessons, self.pictures, result, self.bank.get)
        scripts = clean.raw(self.scripts(code, lesson, made.cards, below))
        _write(self.folder / "source" / code / f"{lesson}.md", f"{made.text}\n{scripts}")
        self.offer(source)
        return made.styles

    def front(self, code: str) -> tuple[list[dict[str, str]], str]:
        """The bets of the first page: their ids, cards that one tap places, results with the way to the lesson; and their scripts."""
        bets, below = [], []
        for item in map(self.bank.get, pages.BETS):
            more = pages.more(item.lesson, code) if item.lesson in self.lessons else ""
            shown = self.pictures.out_of(cards.result(item.experiment, code)) + more
            result = self.result(code, below, item.experiment, shown, [item.id])
            bets.append({"id": item.id, "card": cards.unanswered(item, code), "result": result})
        return bets, self.scripts(code, "index", pages.BETS, below)

    def scripts(self, code: str, page: str, ids: Sequence[str], below: list[str]) -> str:
        """Write the data of a page's cards; returns the HTML that loads it and what shows them."""
        _write(self.site / "decks" / f"{code}-{page}.js", cards.script(self.bank, ids, below, code))
        names = [f"../decks/{code}-{page}.js", *(f"_static/{one}" for one in (*offline.CARD_SCRIPTS, "cards.js"))]
        return "".join(f'<script src="{one}"></script>' for one in names)

    def offer(self, notebook: Path) -> None:
        """Put a notebook where the bar of its page finds it."""
        _write(self.site / notebook.relative_to(self.project.root), notebook.read_text("utf-8"))

    def result(self, code: str, below: list[str], experiment: str, shown: str, so_far: list[str]) -> str:
        """A result; folded, with a picture for each bet, where a bet on it stands above. below: the bets met so."""
        bets = [one for one in cards.bet_items(self.bank, experiment) if one.id in so_far and one.id not in below]
        if not bets:
            return shown
        below += [one.id for one in bets]
        variants = "".join(
            f'<template data-item="{item.id}" data-option="{option.id}">'
            f"{self.pictures.out_of(cards.after_bet(item, option.id, code))}</template>"
            for item in bets
            for option in item.options
        )
        return (
            f'<details class="book-result"><summary>{pages.SAID["outcome"][code]}</summary>{shown}{variants}</details>'
        )


def _static(project: Project, folder: Path, styles: dict[str, None]) -> None:
    """Collect the scripts and style sheets that all pages share."""
    shutil.copytree(project.root / "book" / "static", folder)
    for name in SCRIPTS:
        _write(folder / name, offline.read(name))
    shared = css(offline.STATIC / "card.css", knowledge_view.CSS)
    _write(folder / "shown.css", "\n".join([shared, *(one.removeprefix(css()) for one in styles)]))


def _sphinx(project: Project, folder: Path, site: Path) -> None:
    """Both languages side by side; a warning is a fault."""
    started = []
    for code, name in SPHINX_NAMES.items():
        places = [project.root / "book", folder / "doctrees" / code, folder / "source" / code, site / code]
        config, doctrees, source, out = map(str, places)
        command = [sys.executable, *"-m sphinx -q -W --keep-going -b html -c".split(), config, "-d", doctrees]
        command += ["-D", f"language={name}", "-D", f"html_static_path={folder / 'static'}", source, out]
        started.append(subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8"))
    said = [one.communicate()[1] for one in started]
    if any(one.returncode for one in started):
        raise ProjectError("\n".join(said))


def _polish(folder: Path) -> None:
    """What the theme leaves to do for keyboards and screen readers; files that nothing uses go."""
    for name in ("search.html", "genindex.html", "searchindex.js", "objects.inv", ".buildinfo"):
        (folder / name).unlink(missing_ok=True)
    for path in folder.glob("*.html"):
        text = path.read_text("utf-8")
        text = re.sub(r"<pre(?! tabindex)", '<pre tabindex="0"', text)
        text = text.replace('<aside class="sidebar-drawer"', '<aside class="sidebar-drawer" aria-label="Navigation"')
        text = text.replace('<aside class="toc-drawer"', '<aside class="toc-drawer" aria-label="On this page"')
        text = text.replace('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper')
        text = text.replace('role="heading"', 'role="heading" aria-level="2"')
        text = re.sub(r'(<link rel="search"[^>]*href=")search', r"\1find", text)
        if folder.name == "zh":
            text = re.sub(r'(?<=[>"])({})(?=[<"])'.format("|".join(FURO)), lambda found: FURO[found[1]], text)
        path.write_text(text, "utf-8")


# --- the check: nothing from outside, no dead link, no path of the machine that built it ---


def faults(project: Project, site: Path) -> list[str]:
    """A sentence for each fault of the site."""
    folders = (project.root, Path.home(), Path(sys.prefix), Path(tempfile.gettempdir()))
    own = {str(form) for one in folders for form in (one, one.resolve()) if len(form.parts) > 1}
    here = re.compile(rf"(?<![\w.~-])(?:{'|'.join(map(re.escape, own))})[/\\][^\s<\"'`&]*")
    found = []
    for path in sorted(one for one in site.rglob("*") if one.suffix in READ):
        text = path.read_text("utf-8")
        said = [f"holds the path {one}" for one in dict.fromkeys(here.findall(text))]
        said += OUTSIDE.findall(text) if path.suffix == ".css" else []
        said += _of_page(path, text) if path.suffix == ".html" else []
        found += [f"{path.relative_to(site)}: {one}" for one in said]
    return found


def _of_page(path: Path, text: str) -> Iterator[str]:
    for address in dict.fromkeys(LOADED.findall(text)):
        if re.match(r"(https?:)?//", address):
            yield f"loads {address}"
    for address in dict.fromkeys(LINK.findall(text)):
        target, _, anchor = unquote(address).partition("#")
        goal = (path.parent / target.split("?")[0]).resolve() if target else path
        if re.match(r"\w+:", address):
            continue
        if not goal.is_file():
            yield f"leads to {address}, which is not there"
        elif anchor and goal.suffix == ".html" and anchor not in _ids(goal):
            yield f"leads to {address}, and there is no such place"


@functools.cache
def _ids(path: Path) -> frozenset[str]:
    return frozenset(IDS.findall(path.read_text("utf-8")))
