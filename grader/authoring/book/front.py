"""The first page of the book: three bets of the lessons, one tap each, then the way to one's own machine and the lessons."""

from __future__ import annotations

import html
import struct
from collections.abc import Iterator
from pathlib import Path

from course.cards.saved import static_html
from course.core.catalog import BY_ID
from course.core.i18n import both, pick, speaking
from course.core.markup import inline
from course.experiment import base
from course.experiment.result import claim
from course.questions.items import Item
from course.verbs.portfolio.take_away import take_away
from grader.authoring.book.clean import CALL_OF_CARD, STYLE, raw
from grader.project import Project
from grader.project.source import read

BETS = ("06-bet-ulp", "06-bet-agree", "05-bet-pays")
"""Each is asked in its lesson, too, and a bet placed here is a bet placed there."""
FIRST = "00_start"
TITLE = both("Three bets on PyTorch. One tap each.", "PyTorch 竞猜三题，点一下就下注。")
BET = both("Bet", "竞猜")
MORE = both("Why? Lesson {number}: {question}", "为什么？第 {number} 课：{question}")
OWN = both(
    "## 🔬 Your machine may say otherwise\n\n"
    "What you saw was recorded on the machines named there. To measure on yours: get {get}, open a terminal in its folder, and "
    "type one line. It installs everything and opens the first lesson. The first two bets run on any CPU; what needs an NVIDIA "
    "GPU is shown as a recording where there is none.\n\n"
    "```\nmake lab\n```\n\n"
    "On Windows: `python tools/env.py lab`.\n",
    "## 🔬 换成你的机器，结果可能不同\n\n"
    "刚才看到的，是在图下注明的机器上录的。想在自己的机器上测：先拿到{get}，在它的文件夹里打开终端，输入一行命令，就会装好一切，打开第一课。"
    "前两题任何 CPU 都能测；需要 NVIDIA GPU 的实验，没有 GPU 时看录制结果。\n\n"
    "```\nmake lab LESSONS=zh\n```\n\n"
    "Windows 上用 `python tools/env.py lab --language zh`。\n",
)
THE_COURSE = both("the course (its repository, or a ZIP of it)", "课程（它的仓库，或仓库的 ZIP）")
COLAB = both(
    "Or in a browser, with nothing to install: [open lesson 00 in Colab]({address}).",
    "也可以什么都不装，[在 Colab 打开第 00 课]({address})。",
)
ABOUT = both(
    "## What this is\n\n"
    "The switches behind PyTorch's speed: cuDNN, MPS and oneDNN. In each lesson you **bet** on an outcome, **see** what "
    "came out, find out **why**, and keep it on cards. "
    "Here you read, bet and answer in the browser; nothing is installed and nothing is sent anywhere. To write code, to measure and "
    "to play the games for points: {run}.",
    "## 这是什么\n\n"
    "影响 PyTorch 速度的开关：cuDNN、MPS 和 oneDNN。每一课先**下注**，再**看结果**，弄清**为什么**，最后记到知识卡上。"
    "在这里，读课文、下注、答题都在浏览器里完成：什么也不用装，什么也不会发送出去。想写代码、亲手测量、玩计分游戏：{run}。",
)
PIECE = both("A piece of lesson 01, in JupyterLab.", "第 01 课的一小段，在 JupyterLab 里。")
PIECE_SHOWS = both(
    "A text asks a question; a card takes the bet; below it what came out, with the bet in the picture.",
    "一段文字提出问题，一张卡片收下赌注；下面是结果，赌注也画在图里。",
)
LESSONS = both("## The lessons", "## 课程目录")
MEASURED = both("One thing it measured", "一个实测结论")
"""Folded: it may give away what a bet of the lesson asks."""


def card(place: int, item: Item, code: str) -> str:
    """The card of a bet that one tap places, below a heading that is heard alone; without a script its text."""
    with speaking(code):
        shown = CALL_OF_CARD.sub("</div>", STYLE.sub("", static_html(item)))
    head = f'<h2 class="visually-hidden">{pick(BET, code)} {place}</h2>'
    return f'{head}<div class="quiz book-card" data-deck="front" data-item="{item.id}" data-tap>{shown}</div>'


def more(item: Item, code: str, lessons: list[str]) -> str:
    """The link from a result to its lesson; empty where the book does not have it."""
    if item.lesson not in lessons:
        return ""
    said = pick(MORE, code).format(number=item.lesson[:2], question=pick(BY_ID[item.lesson].question, code))
    return f'<p class="book-on"><a href="{item.lesson}.html">{said}</a></p>'


def piece(project: Project, code: str, folder: Path) -> str:
    """HTML of the picture of a piece of a lesson, in both themes; its files go to ``folder``, beside the pages."""
    shown = []
    for theme in ("light", "dark"):
        source = project.root / "docs" / "pictures" / f"lesson-{code}-{theme}.png"
        data = source.read_bytes()
        width, height = struct.unpack(">II", data[16:24])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / source.name).write_bytes(data)
        shown.append(
            f'<a class="tb-{theme}" href="../{folder.name}/{source.name}"><img loading="lazy" width="{width}" '
            f'height="{height}" src="../{folder.name}/{source.name}" '
            f'alt="{html.escape(pick(PIECE_SHOWS, code), quote=True)}"></a>'
        )
    below = f"<figcaption>{pick(PIECE, code)}</figcaption>"
    return f'<figure class="tb-shown book-piece">{"".join(shown)}{below}</figure>'


def page(project: Project, code: str, lessons: list[str], bets: str, piece: str, run: str) -> Iterator[str]:
    """The Markdown below the title. bets, piece: HTML of the bets and of the picture; run: a link to the page on running."""
    yield raw(f'<div class="book-front">{bets}</div>')
    yield pick(ABOUT, code).format(run=run) + "\n"
    get = pick(THE_COURSE, code)
    yield pick(OWN, code).format(get=f"[{get}]({project.repository})" if project.repository else get)
    if address := project.colab(f"notebooks/{code}/lessons/{FIRST}.ipynb"):
        yield pick(COLAB, code).format(address=address) + "\n"
    yield raw(piece)
    yield pick(LESSONS, code) + "\n"
    with speaking(code):
        items = "".join([*map(_lesson, lessons), *(_project(project, name, code) for name in project.projects())])
    yield raw(f'<ul class="book-lessons">{items}</ul>')


def _project(project: Project, name: str, code: str) -> str:
    """A project as one of the list: its title, and its second line, which says how long it takes."""
    text = next(cell.body for cell in read(project.practice_source("project", name)) if cell.language == code)
    title, _, line = text.split("\n")[:3]
    icon, words = title.removeprefix("# ").split(" ", 1)
    return f'<li><a href="{name}.html"><b>{icon}</b> <span>{inline(words)}</span></a><p>{inline(line)}</p></li>'


def _lesson(lesson: str) -> str:
    said = next(_told(lesson), "")
    fold = f"<details><summary>{pick(MEASURED)}</summary><p>{said}</p></details>" if said else ""
    return f'<li><a href="{lesson}.html"><b>{lesson[:2]}</b> <span>{pick(BY_ID[lesson].question)}</span></a>{fold}</li>'


def _told(lesson: str) -> Iterator[str]:
    """HTML of what the recordings say that the lesson repeats at its end, each with its machine."""
    kept = take_away(lesson)
    for name in kept.experiments if kept else ():
        experiment = base.get(name)
        record = base.recording(experiment)
        if record is not None and (said := claim(record, experiment)):
            yield f"{inline(pick(said))} <small>{html.escape(record.machine_name)}</small>"
