"""The verbs that make something to take along: cheat sheets, the poster, everything in one HTML file."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from course.core.home import replace_file
from course.core.i18n import html_language, pick, t
from course.core.look import css
from course.core.suggest import did_you_mean
from course.core.version import __version__
from course.flags import GROUPS
from course.verbs import colab_notice, state
from course.verbs.say import in_words, put, say

FILE = "torch-backends-review.html"


@in_words
def cheat_sheet(*names: str) -> None:
    """One sheet for each submodule named: switches, advice, your own numbers; without a name, the sheets there are."""
    from course.verbs.portfolio.cheat_sheet import cheat_sheet as sheet_of
    from course.verbs.portfolio.cheat_sheet import sheets_html

    wanted = [name.removeprefix("torch.backends.") for name in names]
    for name in wanted:
        if name not in GROUPS:
            say(t(f"There is no sheet `{name}`.", f"没有名为 `{name}` 的速查表。") + did_you_mean(name, GROUPS, 2, 0.4))
    found = [sheet_of(name) for name in wanted if name in GROUPS]
    if found:
        put(sheets_html(found))
    if not names:
        listed = t(", ", "、").join(f"`{name}`" for name in GROUPS)
        say(
            t(
                f'There is a sheet for each of these: {listed}. For example `cheat_sheet("cudnn")`; `take_home()` writes all.',
                f'下面每一个都有速查表：{listed}。例如 `cheat_sheet("cudnn")`；`take_home()` 一次写出全部。',
            )
        )


@in_words
def poster(path: str | Path | None = None) -> None:
    """The whole map on one page; a path saves it as an HTML file."""
    from course.verbs.portfolio.poster import poster as whole_map

    if path is None:
        put(whole_map())
    else:
        title = t("The whole map of torch.backends", "torch.backends 全图")
        write_file(Path(path), html_file(title, whole_map(2)).encode(), anywhere())


@in_words
def take_home(path: str | Path = FILE) -> None:
    """Write map, sheets, interview, cards, bets and passport into one HTML file in the language in use: offline, to keep or print."""
    write_file(Path(path), document(list(_parts())).encode(), anywhere())


def anywhere() -> str:
    """What to do with a file that a browser opens."""
    return t("Open it in any browser; it loads nothing from the network.", "用浏览器打开就行，不用联网。")


def _parts() -> Iterator[Part]:
    """Every part of the file, in the language in use."""
    from course.cards.knowledge_view import cards_html
    from course.questions import knowledge
    from course.verbs.bets import bets_html
    from course.verbs.passport import passport_html
    from course.verbs.portfolio.cheat_sheet import cheat_sheet as sheet_of
    from course.verbs.portfolio.cheat_sheet import sheets_html
    from course.verbs.portfolio.poster import poster as whole_map

    yield Part("map", t("🗺️ The map", "🗺️ 全图"), whole_map())
    yield Part("sheets", t("📄 Cheat sheets", "📄 速查表"), sheets_html(sheet_of(group) for group in GROUPS))
    yield Part("interview", t("🎤 Interview", "🎤 面试题"), _interview())
    yield Part("cards", t("🎴 Knowledge cards", "🎴 知识卡"), cards_html(knowledge.read().values()))
    yield Part("bets", t("🎲 Bets", "🎲 赌注"), bets_html())
    yield Part("passport", t("🛂 Passport", "🛂 护照"), passport_html())


def _interview() -> str:
    """The questions, each to be opened; answer aloud first."""
    from course.cards.card_spoken import model_html
    from course.core.markup import inline

    asks = "".join(
        f'<details class="ask"><summary>{inline(pick(one.stem))}</summary>{model_html(one)}</details>'
        for one in state.now.bank.interview()
    )
    return f'<div class="asks">{asks}</div>'


def write_file(path: Path, content: bytes, note: str = "") -> None:
    """Write the file and say where; a folder or a full disk is answered by a sentence. note: what to do with it."""
    try:
        replace_file(path, content)
    except OSError as error:
        say(
            t(
                f"`{path}` could not be written ({error.strerror or error}). Choose another file name and try again.",
                f"无法写入 `{path}`（{error.strerror or error}）。请换个文件名再试。",
            )
        )
        return
    size = f"{len(content) / 1e3:,.0f} kB"
    say(t(f"📦 Written: `{path}` ({size}). {note}", f"📦 已写好：`{path}`（{size}）。{note}").strip())
    colab_notice.warn_where_it_goes(path)


CSS = [Path(__file__).parent / "portfolio" / name for name in ("document.css", "paper.css")]
SCRIPT = """
let opened=[];
addEventListener("beforeprint",()=>{opened=[...document.querySelectorAll("details:not([open])")];for(const d of opened)d.open=true;});
addEventListener("afterprint",()=>{for(const d of opened)d.open=false;});
"""


@dataclass(frozen=True)
class Part:
    """One part of the file. name: for its address. body: HTML."""

    name: str
    title: str
    body: str


def document(parts: Sequence[Part]) -> str:
    """The whole file, in the language in use: no request to anywhere, light or dark as the system is, made to be printed."""
    title = t("torch.backends: what I can claim", "torch.backends：我能说什么")
    note = t("Made on this machine from your own records and answers.", "由你自己的测量和作答在本机生成。")
    links = "".join(f'<li><a href="#{part.name}">{html.escape(part.title)}</a></li>' for part in parts)
    sections = "".join(
        f'<section id="{part.name}"><h2>{html.escape(part.title)}</h2>{part.body}</section>' for part in parts
    )
    contents = f'<nav aria-label="{t("Parts", "目录")}"><ul>{links}</ul></nav>'
    return html_file(title, f"<p>{note}</p>{contents}{sections}<script>{SCRIPT}</script>")


def html_file(title: str, body: str) -> str:
    """A whole HTML file in the language in use."""
    return (
        f'<!DOCTYPE html>\n<html lang="{html_language()}" class="tb-page"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><title>{title}</title>'
        f'<meta name="generator" content="torch-backends-course {__version__}"><style>{css(*CSS)}</style></head>'
        f"<body><main><h1>{title}</h1>{body}</main></body></html>\n"
    )
