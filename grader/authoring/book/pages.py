"""The pages of the book beside the lessons, each made of what the course has: nothing is written twice."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

from course.cards.knowledge_view import card_html
from course.core.catalog import BY_ID, LESSONS, Lesson
from course.core.i18n import Text, both, pick, speaking
from course.core.markup import inline, link
from course.questions import glossary, knowledge
from course.verbs.portfolio.poster import Stop, poster
from grader.authoring import reference
from grader.authoring.book import api, front
from grader.authoring.book.clean import raw
from grader.authoring.build import COLAB
from grader.project import Project

TITLES: dict[str, Text] = {
    "index": front.TITLE,
    "run": both("Run it yourself", "自己运行"),
    "knowledge": both("🎴 Knowledge cards", "🎴 知识卡"),
    "glossary": both("📖 Glossary", "📖 词汇表"),
    "switches": reference.WORDS["switches"]["title"],
    "messages": reference.WORDS["messages"]["title"],
    "claims": reference.WORDS["claims"]["title"],
    "machines": reference.WORDS["cards"]["title"],
    "tools": both("🔧 The tools, for your own code", "🔧 工具：用在自己的代码上"),
    "api": both("🔧 The functions of the tools", "🔧 工具的函数"),
    "poster": both("🗺️ The whole map", "🗺️ 全图"),
    "find": both("🔍 Search", "🔍 搜索"),
}
RUN = both(
    "The lessons are Jupyter notebooks. On your own machine (Linux, macOS, Windows; no GPU needed), in the folder of the course:\n\n"
    "```\nmake lab\n```\n\n"
    "This installs everything and opens JupyterLab on the first lesson. Without make, and on Windows:\n\n"
    "```\npython tools/env.py lab\n```\n\n"
    "The Chinese lessons: `make lab LESSONS=zh`.\n\n"
    'Each lesson here can be downloaded as a notebook. To run it, install the course: `pip install ".[course]"` in that folder.\n\n'
    "Your answers here stay in this browser; those of the notebooks are kept by themselves. Some browsers keep nothing for pages "
    "opened from a folder; then the page says so.",
    "每一课都是 Jupyter notebook。在自己的机器上（Linux、macOS、Windows，不需要 GPU），进入课程文件夹：\n\n"
    "```\nmake lab LESSONS=zh\n```\n\n"
    "这会装好全部所需，并打开第一课。没有 make，或在 Windows 上：\n\n"
    "```\npython tools/env.py lab --language zh\n```\n\n"
    '这里的每一课都可以下载成 notebook；运行它需要课程本身：在课程文件夹里执行 `pip install ".[course]"`。\n\n'
    "这里的答案保存在这个浏览器里，notebook 里的答案另外保存。有些浏览器不为从文件夹打开的页面保存数据；遇到这种情况，页面会提示。",
)
SEARCH = both("Words to look for", "要找的词")
FOUND = both("{count} places", "找到 {count} 处")
MANY = both("{count} places; the first {shown}", "找到 {count} 处，显示前 {shown} 处")
NEAR = both("Nothing found. Nearest words of the book:", "没找到。书里最接近的词：")
NONE = both("Nothing found, and no word of the book is near.", "没找到，书里也没有相近的词。")
LESSON, BUILD, REFERENCE = both("Lessons", "课程"), both("To build", "动手做"), both("To look things up", "查阅")
DOWNLOAD, HERE = (both("Download this notebook", "下载这个 notebook"), both("Run it here", "在本机运行"))
OUTCOME, BOOK = both("What came out", "结果"), both("The book", "课程首页")
NAMES = {"en": "English", "zh": "中文"}
ASKED = both("People ask: ", "常见的问法：")
FORMER, EXAMPLE = both("also: ", "也叫："), both("For example: ", "例如：")


def toctree(caption: str, names: list[str]) -> str:
    """The pages of one part of the navigation."""
    return "\n".join([f"```{{toctree}}\n:hidden:\n:caption: {caption}\n", *names, "```\n"])


def to(name: str, words: str) -> str:
    """A link to a page of the same language."""
    return f'<a href="{name}.html">{words}</a>'


def head(file: str, code: str, project: Project) -> str:
    """The bar below the title of a notebook. file: in the folder of the course."""
    colab = project.colab(file)
    links = [f'<a href="{colab}">{COLAB[code]}</a>'] if colab else []
    links += [f'<a href="../{file}" download>{DOWNLOAD[code]}</a>', to("run", HERE[code])]
    return f'<p class="book-bar">{" · ".join(links)}</p>'


def everything(project: Project, code: str, lessons: list[str], bets: str = "", piece: str = "") -> dict[str, str]:
    """name -> Markdown of every page that is no lesson. bets, piece: HTML of the first page (`front`)."""
    makers: dict[str, Callable[[], Iterator[str]]] = {
        "index": lambda: _index(project, code, lessons, bets, piece),
        "run": lambda: _run(project, code),
        "knowledge": lambda: _knowledge(code, lessons),
        "glossary": lambda: _glossary(code, lessons),
        "switches": lambda: iter([raw(reference.sortable(code, lessons))]),
        "messages": lambda: iter([reference.body(project, "messages", code)]),
        "claims": lambda: iter([reference.body(project, "claims", code)]),
        "machines": lambda: iter([reference.body(project, "cards", code)]),
        "tools": lambda: _tools(project, code),
        "api": lambda: api.reference(code),
        "poster": lambda: _poster(code),
        "find": lambda: _find(code),
    }
    with speaking(code):
        return {name: f"# {pick(TITLES[name], code)}\n\n" + "\n".join(make()) + "\n" for name, make in makers.items()}


def _index(project: Project, code: str, lessons: list[str], bets: str, piece: str) -> Iterator[str]:
    yield from front.page(project, code, lessons, bets, piece, to("run", pick(TITLES["run"], code)))
    yield toctree(pick(LESSON, code), [f"{one[:2]} {pick(BY_ID[one].question, code)} <{one}>" for one in lessons])
    if projects := project.projects():
        yield toctree(pick(BUILD, code), projects)
    yield toctree(pick(REFERENCE, code), [name for name in TITLES if name != "index"])


def _run(project: Project, code: str) -> Iterator[str]:
    """How to run the course, and all of docs/install.md; what it links to in the repository is no page of the book."""
    yield pick(RUN, code)
    document = project.root / "docs" / ("install.md" if code == "en" else "install.zh-CN.md")
    body = document.read_text("utf-8").partition("\n")[2]
    yield "\n" + re.sub(r"\[([^\]]*)\]\((?!https:)[^)]*\)", r"\1", body)


def _knowledge(code: str, lessons: list[str]) -> Iterator[str]:
    found = knowledge.read()[0].values()
    for lesson in LESSONS:
        own = [_card(card, code) for card in found if card.lesson == lesson.id]
        if own:
            yield f"## {_heading(lesson, code, lessons)}\n"
            yield raw(f'<div class="tbk">{"".join(own)}</div>')


def _card(card: knowledge.Knowledge, code: str) -> str:
    """A card with its id, and below it what people type who look for it: the book's search finds it by these words."""
    asked = f"<p><small>{pick(ASKED, code)}{html.escape(pick(card.asked, code))}</small></p>"
    head, _, tail = card_html(card).replace("<details", f'<details id="{card.id}"', 1).rpartition("</div></details>")
    return f"{head}{asked}</div></details>{tail}"


def _heading(lesson: Lesson, code: str, lessons: list[str]) -> str:
    name = f"[`{lesson.id}`]({lesson.id}.md)" if lesson.id in lessons else f"`{lesson.id}`"
    return f"{name} {pick(lesson.question, code)}"


def _glossary(code: str, lessons: list[str]) -> Iterator[str]:
    for term in sorted(glossary.read()[0].values(), key=lambda one: pick(one.term, code).lower()):
        notes = [pick(FORMER, code) + ", ".join(term.also)] if term.also else []
        notes += [to(term.lesson, term.lesson)] if term.lesson in lessons else []
        notes += [link(term.source, html.escape(urlsplit(term.source).netloc))] if term.source else []
        yield raw(
            f'<section id="{term.id}" class="book-term"><h2>{inline(pick(term.term, code))}</h2><p>{inline(pick(term.means, code))}</p>'
            f"<p>{pick(EXAMPLE, code)}{inline(pick(term.example, code))}</p><p><small>{' · '.join(notes)}</small></p></section>"
        )


def _tools(project: Project, code: str) -> Iterator[str]:
    for name in project.tools():
        yield raw(head(f"notebooks/{code}/tools/{name}.ipynb", code, project))
    yield from api.tools(project, code)


def _poster(code: str) -> Iterator[str]:
    svg = poster([Stop(one.id[:2], pick(one.question, code), "") for one in LESSONS])
    name = html.escape(pick(TITLES["poster"], code), quote=True)
    yield raw(f'<div class="book-wide" tabindex="0" role="region" aria-label="{name}">{svg}</div>')


def _find(code: str) -> Iterator[str]:
    asked = (("found", FOUND), ("many", MANY), ("near", NEAR), ("none", NONE))
    words = " ".join(f'data-{key}="{pick(text, code)}"' for key, text in asked)
    yield raw(
        f'<form class="book-find" role="search" {words}><label>{pick(SEARCH, code)} <input type="search" name="q" '
        'autocomplete="off"></label></form><p role="status" class="book-count"></p><ol class="book-hits"></ol>'
        '<script src="_static/index.js"></script><script src="_static/rank.js"></script><script src="_static/find.js"></script>'
    )
