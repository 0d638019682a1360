"""A sheet for one submodule of torch.backends: the table of switches, the advice of the knowledge cards, the learner's numbers.

Nothing is written here by hand: switches come from course.flags, advice from the cards of the lessons, numbers from records.
"""

from __future__ import annotations

import html
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from course.cards.page import CSS, table
from course.cards.render import in_language
from course.core.i18n import pick, t
from course.core.look import css
from course.core.markup import code_block, inline
from course.core.records import Record, own, own_folder
from course.experiment import base
from course.experiment.result import outcome
from course.flags import GROUPS, SWITCHES, map_rows, module_of
from course.questions import knowledge
from course.questions.knowledge import Knowledge


@dataclass(frozen=True)
class CheatSheet:
    """One submodule. rows: as ``flags.map_rows()``, switches first. cards: about its switches. numbers: the learner's own, of
    the lessons that teach it.
    """

    group: str
    rows: tuple[dict, ...]
    cards: tuple[Knowledge, ...]
    numbers: list[tuple[str, str]]

    @property
    def title(self) -> str:
        """How a program writes it."""
        return module_of(self.group)


def belongs(card: Knowledge, group: str) -> bool:
    """Whether a card is about this submodule: it is named after it, or after one of its switches."""
    named = {SWITCHES[name].group for name in (card.id, f"torch.{card.id}") if name in SWITCHES}
    return group in {card.id.partition(".")[0], *named}


def cheat_sheet(group: str) -> CheatSheet:
    """The sheet of a submodule. Raises KeyError for a name that is none."""
    GROUPS[group]
    rows = sorted(
        (row for row in map_rows() if row["group"] == group), key=lambda row: row["kind"] not in ("switch", "setter")
    )
    cards = tuple(card for card in knowledge.read().values() if belongs(card, group))
    return CheatSheet(group, tuple(rows), cards, own_numbers({card.lesson for card in cards}))


def short_name(row: dict) -> str:
    """The name without that of its submodule, which stands above the table."""
    return row["name"] if row["group"] == "root" else row["name"].partition(".")[2]


def _cells(row: dict) -> list[str]:
    settable = row["kind"] in ("switch", "setter")
    more = [t(f"Read by: {row['readers']}.", f"谁会读它：{row['readers']}。")] if settable else []
    more += [row["note"]] if row["note"] else []
    more += [t(f"Since torch {row['since']}.", f"torch {row['since']} 起才有。")] if row["since"] else []
    small = f" <small>{inline(t(' ', '').join(more))}</small>" if more else ""
    default = f'<span class="nowrap">{html.escape(repr(row["default"]))}</span>' if settable else ""
    here = t("(tool)", "（工具）") if row["kind"] == "tool" else repr(row["value"])
    changed = ' <span class="part">◆</span>' if row["changed"] else ""
    return [
        f"<code>{html.escape(short_name(row))}</code>",
        inline(row["text"]) + small,
        default,
        html.escape(here) + changed,
    ]


def advice(card: Knowledge) -> list[tuple[str, str]]:
    """(name, text) of what a card adds to the table: of a switch, not again what it is and its default."""
    told = {pick(card.what), pick(card.default)} if card.id in SWITCHES else set()
    return [(name, text) for name, text in card.rows() if text not in told]


def _advice(card: Knowledge) -> str:
    rows = "".join(f"<p><b>{html.escape(name)}{t(':', '：')}</b> {inline(text)}</p>" for name, text in advice(card))
    code = code_block(pick(card.code), t("Code of the card", "卡片代码"))
    return f"<details><summary>🎴 {inline(pick(card.title))}</summary>{rows}{code}</details>"


def _numbers(found: Iterable[tuple[str, str]]) -> str:
    listed = "".join(f"<li>{inline(said)} <small>({html.escape(where)})</small></li>" for said, where in found)
    none = t("None yet: `observe(name)` measures.", "还没有：运行 `observe(名字)` 来测。")
    body = f"<ul>{listed}</ul>" if listed else f"<small>{inline(none)}</small>"
    return f"<h4>🔬 {t('Your own numbers', '你自己的数字')}</h4>{body}"


def sheet_html(sheet: CheatSheet) -> str:
    """The sheet without its style; on a page of its own when printed, where it has advice."""
    heads = (t("Name", "名字"), t("What it does", "做什么"), t("Default", "默认"), t("Here, now", "本机当前值"))
    cards = f'<div class="advice">{"".join(map(_advice, sheet.cards))}</div>' if sheet.cards else ""
    body = (
        f"<h3>📄 <code>{sheet.title}</code></h3><p>{inline(pick(GROUPS[sheet.group].text))}</p>"
        f"{table(heads, map(_cells, sheet.rows), sheet.title)}{cards}{_numbers(sheet.numbers)}"
    )
    return in_language(body, "tbp tbp-sheet" + (" tbp-own" if sheet.cards else ""))


def sheets_html(sheets: Iterable[CheatSheet]) -> str:
    """Sheets under one style."""
    return f"<style>{css(CSS)}</style>" + "".join(map(sheet_html, sheets))


def when_and_where(record: Record) -> str:
    """Date, machine and torch of a measurement the learner made."""
    device, date, version = record.machine_name, record.created[:10], record.machine.get("torch", "?")
    return t(f"{date}, {device}, torch {version}", f"{date}，{device}，torch {version}")


def own_numbers(lessons: Collection[str]) -> list[tuple[str, str]]:
    """(headline, when and where) of what the learner measured in these lessons, in the order of the experiments' names."""
    if not own_folder().is_dir():  # then nothing was measured, and torch may not be here
        return []
    known = [one for lesson in sorted(lessons) for one in base.of_lesson(lesson).values()]
    found = ((one, own(one.name, one.version)) for one in known)
    return [(pick(outcome(record, one).headline), when_and_where(record)) for one, record in found if record]
