"""The verbs that make something to take along: cheat sheets, the poster, everything in one HTML file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from course.core.i18n import LANGUAGES, language, pick, speaking, t
from course.core.suggest import did_you_mean
from course.flags import GROUPS
from course.verbs import state
from course.verbs.portfolio.document import Part, document
from course.verbs.say import in_words, put, say
from course.verbs.writing import write_file

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
    """The whole map in one picture; a path saves it as an SVG file."""
    from course.verbs.portfolio import poster as drawing

    svg = drawing.poster()
    if path is not None:
        write_file(Path(path), svg.encode(), anywhere())
        return
    name = t("The map, wider than the page: scroll in it", "全图比页面宽，可以在里面滚动")
    put(
        f'<div style="overflow:auto;max-height:85vh" tabindex="0" role="region" aria-label="{name}">{svg}</div>',
        drawing.described(),
    )


@in_words
def take_home(path: str | Path = FILE) -> None:
    """Write map, sheets, interview, cards, bets and passport into one HTML file: both languages, offline, to keep or print."""
    parts = {}
    for code in LANGUAGES:
        with speaking(code):
            parts[code] = list(_parts())
    write_file(Path(path), document(parts, language()).encode(), anywhere())


def anywhere() -> str:
    """What to do with a file that a browser opens."""
    return t("Open it in any browser; it loads nothing from the network.", "用浏览器打开就行，不用联网。")


def _parts() -> Iterator[Part]:
    """Every part of the file, in the language in use."""
    from course.cards.knowledge_view import cards_html
    from course.questions import knowledge
    from course.verbs.bets import bets_html
    from course.verbs.passport import passport_words
    from course.verbs.portfolio.cheat_sheet import cheat_sheet as sheet_of
    from course.verbs.portfolio.cheat_sheet import sheets_html
    from course.verbs.portfolio.paper_map import paper_map
    from course.verbs.portfolio.poster import poster as drawing

    name = t("The map; scroll in it", "全图，可以在里面滚动")
    yield Part(
        "map",
        t("🗺️ The map", "🗺️ 全图"),
        f'<div class="wide" tabindex="0" role="region" aria-label="{name}">{drawing()}</div>{paper_map()}',
    )
    yield Part("sheets", t("📄 Cheat sheets", "📄 速查表"), sheets_html(sheet_of(group) for group in GROUPS))
    yield Part("interview", t("🎤 Interview", "🎤 面试题"), _interview())
    yield Part("cards", t("🎴 Knowledge cards", "🎴 知识卡"), cards_html(knowledge.read().values()))
    yield Part("bets", t("🎲 Bets", "🎲 赌注"), bets_html(), flows=True)
    yield Part("passport", t("🛂 Passport", "🛂 护照"), passport_words(), flows=True)


def _interview() -> str:
    """The questions, each to be opened; answer aloud first."""
    from course.core.markup import inline
    from course.learning.interviewing import model_html

    asks = "".join(
        f'<details class="ask"><summary>{inline(pick(one.stem))}</summary>{model_html(one)}</details>'
        for one in state.now.bank.interview()
    )
    return f'<div class="asks">{asks}</div>'
