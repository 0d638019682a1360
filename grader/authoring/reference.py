"""The pages of docs/ that people look things up in: switches, messages, claims. The book has them, too.

Each is a template of ``pages/``, filled from the files of the course; nothing of them is written by hand. The same files always give
the same text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from course.core.catalog import BY_ID, LESSONS
from course.core.i18n import Text, both, pick, speaking
from course.flags import DEPENDS, GROUPS, TABLE, WHEN, Switch, module_of
from course.questions import knowledge, messages
from course.questions.bank import read_yaml
from grader.project import Project, met_in
from grader.project.template import render

FOLDER = Path(__file__).parent / "pages"
WORDS: dict[str, dict[str, Any]] = read_yaml(FOLDER / "words.yaml")
"""Page -> its title, its introduction and its other words."""
REPOSITORY, SOURCES = "https://github.com/pytorch/pytorch", "2.13"
"""Where PyTorch's own files stand, and the version that is quoted unless a row names another."""


def pages(project: Project) -> dict[Path, str]:
    """Every page of docs/ and its text."""
    made = {}
    for name in WORDS:
        for code, ending in (("en", ""), ("zh", ".zh-CN")):
            text = body(project, name, code, f"../notebooks/{code}/lessons/")
            made[project.root / "docs" / f"{name}{ending}.md"] = f"# {WORDS[name]['title'][code]}\n\n{text}"
    return made


def body(project: Project, name: str, code: str, lessons: str = "") -> str:
    """The Markdown of a page in one language, below its title. lessons: where their notebooks lie, seen from the page."""
    makers = {"switches": _switches, "messages": _messages, "claims": _claims}
    with speaking(code):
        return render(FOLDER / f"{name}.md", code, WORDS[name], **makers[name](project, code, lessons))


def _linked(source: str) -> str:
    """An address as a link with a short name."""
    return f"[{source.split('#')[0].rstrip('/').rsplit('/', 1)[-1].removesuffix('.html')}]({source})"


# --- switches ---


def sections() -> list[tuple[Text, Text, list[Switch]]]:
    """(heading, what it is about, rows): the submodules in the order of the map, environment variables, internals."""
    rows, apart = list(TABLE.values()), WORDS["switches"]["headings"]
    found = [
        (f"`{module_of(group)}`", about.text, [row for row in rows if row.group == group and row.kind not in apart])
        for group, about in GROUPS.items()
    ]
    return found + [(heading, "", [row for row in rows if row.kind == kind]) for kind, heading in apart.items()]


def cells(row: Switch, code: str, lessons: str) -> list[str]:
    """The cells of one row as Markdown, in the order of the columns. lessons: as for ``body``."""
    said, comma = WORDS["switches"], both(", ", "、")[code]
    default = f"`{row.default!r}`"
    if row.default is DEPENDS:
        default = pick(row.depends or said["kinds"][row.kind], code)
    found = [
        comma.join([f"`{row.path}`", *(f"`{other.removeprefix('env.')}`" for other in row.also)]),
        both(" ", "")[code].join(pick(text, code) for text in (row.text, row.note) if text),
        default,
        pick(row.readers if row.changeable else said["readers"].get(row.kind, said["readers"]["other"]), code),
        pick(WHEN[row.when], code),
        f"{row.since} – {row.until}" if row.until else row.since,
        said["left_out"][code] + pick(row.nobody, code) if row.nobody else _shown(row, lessons),
        ", ".join(map(_source, row.source.split("; "))),
    ]
    return [cell.replace("|", "\\|") for cell in found]


def _switches(project: Project, code: str, lessons: str) -> dict[str, Any]:
    rows = [
        (pick(name, code), pick(about, code), [cells(row, code, lessons) for row in rows])
        for name, about, rows in sections()
    ]
    return {"sections": rows}


def _shown(row: Switch, place: str) -> str:
    """The lessons of its experiment and knowledge cards; an experiment without a lesson so far has no link."""
    cards = [one for one in knowledge.read().values() if row.name in one.switches]
    lessons = {card.lesson for card in cards}
    lessons |= {lesson for lesson in BY_ID if row.experiment and lesson[:2] == row.experiment[:2]}
    found = [f"[{one}]({place}{one}.ipynb)" for one in sorted(lessons)]
    found += [f'`observe("{row.experiment}")`'] if row.experiment else []
    return ", ".join([*found, *(f'`keep("{card.id}")`' for card in cards)]) or "–"


def _source(source: str) -> str:
    """An address, or a file of PyTorch: `path`, `path, function`, `path of version`."""
    if source.startswith("https://"):
        return _linked(source)
    path, version = (source.split(" of ") + [SOURCES])[:2]
    path, _, function = path.partition(", ")
    name = "/".join(path.rsplit("/", 2)[-2:] if path.endswith("__init__.py") else path.rsplit("/", 1)[-1:])
    return f"[{f'{name}, {function}' if function else name}]({REPOSITORY}/blob/v{version}.0/{path})"


# --- the other pages ---


def _messages(project: Project, code: str, lessons: str) -> dict[str, Any]:
    known = messages.read().values()
    groups = [
        (pick(name, code), [one for one in known if one.group == group]) for group, name in messages.GROUPS.items()
    ]
    return {"groups": groups, "colon": both(": ", "：")[code]}


def _claims(project: Project, code: str, lessons: str) -> dict[str, Any]:
    """A table for each lesson: that of the first question that meets a claim, a belief of which the list says what is true."""
    met = met_in(project)
    lessons = {lesson.id: (lesson.id, pick(lesson.question, code), []) for lesson in LESSONS}
    for name, claim in read_yaml(project.learner_folder / "misconceptions.yaml").items():
        if "truth" in claim and (found := met.get(name)):
            named = [item.id for item in found]
            named += [one.experiment for item in found for one in (item, *item.options) if one.experiment]
            where = ", ".join(f"`{one}`" for one in dict.fromkeys(named))
            source = re.sub(r"https?://[^\s;,]+", lambda address: _linked(address[0]), claim["source"])
            row = (claim[code], claim["truth"][code], where, source)
            lessons[found[0].lesson][2].append([cell.replace("|", "\\|") for cell in row])
    return {"lessons": [one for one in lessons.values() if one[2]]}
