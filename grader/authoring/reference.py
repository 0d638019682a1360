"""The reference of every switch of torch.backends: ``docs/switches.md``, and as a table to sort and search ``docs/switches.html``;
with them the pages of messages and of cards.

All of it comes from the table of switches (course/flags/switches.json), the lessons and their knowledge cards; nothing is
written here by hand. The same files always give the same text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from course.core.catalog import BY_ID
from course.core.i18n import LANGUAGES, Text, both, pick
from course.core.markup import inline
from course.core.markup import link as html_link
from course.flags import DEPENDS, GROUPS, TABLE, WHEN, Switch, module_of
from course.questions import knowledge
from grader.authoring import machines, messages
from grader.authoring.item_page import CSS
from grader.authoring.template import render
from grader.project import Project

TITLE = both("Every switch of torch.backends", "torch.backends 的全部开关")
INTRO = both(
    "What each switch, query and context manager of `torch.backends` does, who reads it and when, its default, the torch "
    "version that brought it (from 2.9 to 2.15; `<=2.9`: 2.9 had it already), and where this course shows it. Environment "
    "variables and the settings of `torch` beside it stand below. The tests walk `torch.backends` and fail on a name "
    "without a row. Written by `python -m grader author notebooks`.",
    "`torch.backends` 的每个开关、查询和上下文管理器：做什么，谁在什么时候读它，默认值，从哪个 torch 版本起有"
    "（2.9 到 2.15；`<=2.9` 表示 2.9 里已经有了），本课程在哪里演示。`torch` 自身的相关设置和环境变量列在后面。"
    "测试会逐个走访 `torch.backends` 的成员，少一行就不通过。本页由 `python -m grader author notebooks` 生成。",
)
COLUMNS = both(
    "name | what it does | default | read by | read when | since | shown in | source",
    "名字 | 做什么 | 默认值 | 谁读 | 什么时候读 | 始于 | 在哪里演示 | 依据",
)
REPOSITORY, SOURCES = "https://github.com/pytorch/pytorch", "2.13"
"""Where PyTorch's own files stand, and the version that is quoted unless a row names another."""
KINDS = {
    "query": both("a query", "查询"),
    "tool": both("a tool", "工具"),
    "env": both("not set", "不设"),
    "internal": both("internal", "内部"),
}
READERS = {"env": both("the library itself", "相应的库自己"), "internal": both("torch itself", "torch 自己")}
ASKED = both("your program", "你的程序")
"""Who reads a query or calls a tool."""
ENVIRONMENT = both("Environment variables", "环境变量")
SHOWS = both("What shows, and is for torch alone", "看得见，但只供 torch 自用")
LEFT_OUT = both("**Left out:**", "**课程不讲：**")
FIND = both("Find: a name, a library, a version", "查找：名字、库、版本")
HERE = Path(__file__).parent


class Link(NamedTuple):
    """A name with its link: a path relative to docs/, or an address."""

    name: str
    address: str


Cell = list["str | Link"]


def cells(row: Switch, code: str, shown: dict[str, list[knowledge.Knowledge]]) -> list[Cell]:
    """The cells of one row, in the order of COLUMNS."""
    names = [f"`{row.path}`", *(f"`{other.removeprefix('env.')}`" for other in row.also)]
    does = [pick(row.text, code), *([pick(row.note, code)] if row.note else [])]
    readers = row.readers if row.changeable else READERS.get(row.kind, ASKED)
    where: Cell = (
        [f"{LEFT_OUT[code]} {pick(row.nobody, code)}"] if row.nobody else _shown(row, code, shown.get(row.name, []))
    )
    return [
        [_joined(names, ", ", "、", code)],
        [_joined(does, " ", "", code)],
        [_default(row, code)],
        [pick(readers, code)],
        [pick(WHEN[row.when], code)],
        [f"{row.since} – {row.until}" if row.until else row.since],
        where,
        [_address(one) for one in row.source.split("; ")],
    ]


def _joined(parts: Iterable[str], english: str, chinese: str, code: str) -> str:
    return (english if code == "en" else chinese).join(parts)


def _default(row: Switch, code: str) -> str:
    if row.depends:
        return pick(row.depends, code)
    return pick(KINDS[row.kind], code) if row.default is DEPENDS else f"`{row.default!r}`"


def _shown(row: Switch, code: str, cards: list[knowledge.Knowledge]) -> Cell:
    """The cell with the lessons of its experiment and knowledge cards; an experiment without a lesson so far has no link."""
    lessons = [card.lesson for card in cards]
    lessons += [lesson for lesson in BY_ID if row.experiment and lesson[:2] == row.experiment[:2]]
    found: Cell = [Link(one, f"../notebooks/{code}/lessons/{one}.ipynb") for one in sorted(dict.fromkeys(lessons))]
    found += [f'`observe("{row.experiment}")`'] if row.experiment else []
    return [*found, *(f'`keep("{card.id}")`' for card in cards)] or ["–"]


def _address(source: str) -> Link:
    """An address, or a file of PyTorch: `path`, `path, function`, `path of version`."""
    if source.startswith("https://"):
        return Link(source.split("#")[0].rstrip("/").rsplit("/", 1)[-1].removesuffix(".html"), source)
    path, version = (source.split(" of ") + [SOURCES])[:2]
    path, _, function = path.partition(", ")
    name = "/".join(path.rsplit("/", 2)[-2:] if path.endswith("__init__.py") else path.rsplit("/", 1)[-1:])
    return Link(f"{name}, {function}" if function else name, f"{REPOSITORY}/blob/v{version}.0/{path}")


def sections() -> list[tuple[Text, Text, list[Switch]]]:
    """(heading, what it is about, rows): the submodules in the order of the map, environment variables, internals."""
    rows = list(TABLE.values())
    found = [
        (both(f"`{module_of(group)}`", f"`{module_of(group)}`"), about.text, [
            row for row in rows if row.group == group and row.kind not in ("env", "internal")
        ])
        for group, about in GROUPS.items()
    ]  # fmt: skip
    for kind, heading in (("env", ENVIRONMENT), ("internal", SHOWS)):
        found.append((heading, both("", ""), [row for row in rows if row.kind == kind]))
    return found


def shown_by() -> dict[str, list[knowledge.Knowledge]]:
    """Switch -> the knowledge cards about it."""
    found: dict[str, list[knowledge.Knowledge]] = {}
    for card in knowledge.read()[0].values():
        for name in card.switches:
            found.setdefault(name, []).append(card)
    return found


def markdown() -> str:
    """Both languages on one page, a table for each submodule."""
    cards = shown_by()

    def tables(code: str) -> list[tuple[str, str, list[list[str]]]]:
        return [
            (name[code], about[code], [[*map(_md, cells(row, code, cards))] for row in rows])
            for name, about, rows in sections()
        ]

    return render(HERE / "switches.md", "en", title=TITLE, intro=INTRO, columns=COLUMNS, sections=tables)


def _md(cell: Cell) -> str:
    parts = [f"[{one.name}]({one.address})" if isinstance(one, Link) else one for one in cell]
    return ", ".join(parts).replace("|", "\\|")


def page(code: str) -> str:
    """One table of everything in one language, which sorts by every column and can be searched."""
    cards, lines = shown_by(), []
    for row in (row for _, _, rows in sections() for row in rows):
        first, *rest = map(_html, cells(row, code, cards))
        first = re.sub(r"(?<=\w)([._])(?=\w)", r"\1<wbr>", first)  # long names may break there
        lines.append((row.name, Markup(first), [Markup(one) for one in rest]))
    names = {"en": "English", "zh": "中文"}
    return render(
        HERE / "switches.html",
        code,
        (CSS, HERE / "switches.css"),
        title=TITLE[code],
        intro=INTRO,
        find=FIND[code],
        columns=COLUMNS[code].split(" | "),
        rows=lines,
        languages=[(name, "" if one == code else page_path(None, one).name) for one, name in names.items()],
    )


def _html(cell: Cell) -> str:
    def shown(one: str | Link) -> str:
        if not isinstance(one, Link):
            return inline(one)
        if one.address.startswith("https://"):
            return html_link(one.address, html.escape(one.name))
        return f'<a href="{html.escape(one.address)}">{html.escape(one.name)}</a>'

    return ", ".join(map(shown, cell))


def page_path(project: Project | None, code: str = "") -> Path:
    """Where a generated page stands; without a language the Markdown page."""
    name = {"": "switches.md", "en": "switches.html", "zh": "switches.zh-CN.html"}[code]
    return (project.root if project else Path()) / "docs" / name


def pages(project: Project) -> dict[Path, str]:
    """Every page and its text."""
    tables = {page_path(project): markdown(), **{page_path(project, code): page(code) for code in LANGUAGES}}
    return {**tables, **messages.pages(project), **machines.pages(project)}
