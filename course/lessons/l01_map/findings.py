"""Sentences, pictures and settled bets of the records of lesson 01: pure functions on a record."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from course.figures.style import ink_on
from course.i18n import Text, both, t

SAME_LOW, SAME_HIGH = 0.95, 1.05  # a ratio whose interval stays within counts as "the same time"
YES, NO = "C0", "C1"  # the theme's blue and orange, told apart by all eyes; a word stands beside


def _row(record: Any, key: str, value: Any) -> dict | None:
    return next((row for row in record.rows if row[key] == value), None)


def _tiles(ax: Any, tiles: Iterable[tuple[str, str, bool]]) -> None:
    """One line for each (label, word, good): the label at the left, the word on a coloured tile."""
    tiles = list(reversed(list(tiles)))
    for height, (_, word, good) in enumerate(tiles):
        ax.barh(height, 1.0, height=0.8, color=YES if good else NO)
        ax.text(0.5, height, word, ha="center", va="center", color=ink_on(YES if good else NO), fontsize=9)
    ax.set_yticks(range(len(tiles)), [label for label, _, _ in tiles], fontsize=9)
    ax.set_xlim(0, 1)
    ax.set_xticks([])
    for side in ax.spines.values():
        side.set_visible(False)


# --- 01-polite-request --------------------------------------------------------------------------------------

def polite(record: Any) -> Text:
    asked, named = _row(record, "request", "deterministic"), _row(record, "request", "both named")
    if asked is None or named is None:
        return both("Nothing was measured: run it again.", "没有测到数据：请再运行一次。")
    en = zh = ""
    if settle_polite(record)["01-bet-polite"] is None:
        en, zh = "Inconclusive, the machine was too busy; close other programs and run it again. ", \
            "尚无定论：机器太忙，请关掉其他程序再试。"
    return both(
        f"{en}Inside flags(deterministic=True) the same convolution takes {asked['ratio']:.2f} times as long "
        f"[{asked['low']:.2f}, {asked['high']:.2f}]; with enabled=True written as well, {named['ratio']:.2f} "
        f"times [{named['low']:.2f}, {named['high']:.2f}].",
        f"{zh}在 flags(deterministic=True) 里，同一个卷积的耗时是原来的 {asked['ratio']:.2f} 倍 "
        f"[{asked['low']:.2f}, {asked['high']:.2f}]；再写上 enabled=True，则是 {named['ratio']:.2f} 倍 "
        f"[{named['low']:.2f}, {named['high']:.2f}]。")


def draw_polite(record: Any, ax: Any) -> None:
    names = {"plain": t("as it is", "原样"), "deterministic": "flags(deterministic=True)",
             "both named": "flags(enabled=True,\n  deterministic=True)"}
    rows = list(reversed(record.rows))
    for height, row in enumerate(rows):
        ax.plot([row["low"], row["high"]], [height, height], color=YES, linewidth=3)
        ax.plot(row["ratio"], height, "o", color=YES)
    ax.axvline(1.0, color="gray", linestyle=":")
    ax.set_yticks(range(len(rows)), [names[row["request"]] for row in rows])
    ax.set_ylim(-0.5, len(rows) - 0.5)
    ax.set_xlim(left=0)
    ax.set_xlabel(t("time / time as it is", "耗时 / 原样耗时"))


def settle_polite(record: Any) -> dict[str, str | None]:
    asked = _row(record, "request", "deterministic")
    verdict = None
    if asked and asked["low"] > SAME_HIGH:
        verdict = "c"
    elif asked and asked["high"] < SAME_LOW:
        verdict = "a"
    elif asked and SAME_LOW <= asked["low"] and asked["high"] <= SAME_HIGH:
        verdict = "b"
    return {"01-bet-polite": verdict}


# --- 01-typos -----------------------------------------------------------------------------------------------

def typos(record: Any) -> Text:
    total, raised = len(record.rows), sum(row["raised"] for row in record.rows)
    loud = ", ".join(row["wrote"] for row in record.rows if row["raised"]) or "-"
    return both(f"Of {total} misspelt assignments {total - raised} were accepted in silence; {raised} raised "
                f"an error: {loud}.",
                f"{total} 个拼错的赋值中，有 {total - raised} 个被悄悄接受，{raised} 个报错：{loud}。")


def draw_typos(record: Any, ax: Any) -> None:
    _tiles(ax, ((row["wrote"], row["error"] or t("accepted in silence", "悄悄接受"), bool(row["raised"]))
                for row in record.rows))


def settle_typos(record: Any) -> dict[str, str | None]:
    total, raised = len(record.rows), sum(row["raised"] for row in record.rows)
    if not total:
        return {"01-bet-typos": None}
    share = raised / total
    return {"01-bet-typos": "a" if share == 1 else "b" if share > 0.25 else "c" if raised else "d"}


# --- 01-who-sees --------------------------------------------------------------------------------------------

PLACES = {"main": ("the same thread", "同一线程"), "thread": ("another thread", "另一个线程"),
          "fork": ("a forked child", "fork 出的子进程"), "spawn": ("a spawned child", "spawn 出的子进程")}


def _seen(record: Any, read_in: str) -> int | None:
    row = next((r for r in record.rows if r["set_in"] == "main" and r["read_in"] == read_in), None)
    return row["sees"] if row else None


def who_sees(record: Any) -> Text:
    from_main = [row for row in record.rows if row["set_in"] == "main"]

    def places(sees: int, column: int) -> str:
        names = [PLACES[row["read_in"]][column] for row in from_main if row["sees"] == sees]
        return (", ", "、")[column].join(names) or ("nobody", "无")[column]

    back = sum(row["sees"] for row in record.rows if row["set_in"] in ("fork", "spawn"))
    en_back = "came back" if back else "did not come back"
    return both(
        f"Set in the main thread, the switch was seen by: {places(1, 0)}; not seen by: {places(0, 0)}. What "
        f"a child process set {en_back} to its parent.",
        f"在主线程里拨动开关，看得到的有：{places(1, 1)}；看不到的有：{places(0, 1)}。子进程里的改"
        f"动{'传回了' if back else '没有传回'}父进程。")


def draw_who_sees(record: Any, ax: Any) -> None:
    short = {"main": t("main thread", "主线程"), "thread": t("thread", "线程"),
             "fork": "fork", "spawn": "spawn"}
    words = (t("sees the default", "看到的是默认值"), t("sees the change", "看得到改动"))
    _tiles(ax, ((f"{short[row['set_in']]} → {short[row['read_in']]}", words[row["sees"]], bool(row["sees"]))
                for row in record.rows))
    ax.set_xlabel(t("set in → read in", "设置处 → 读取处"))


def settle_who_sees(record: Any) -> dict[str, str | None]:
    seen = tuple(_seen(record, place) for place in ("thread", "fork", "spawn"))
    return {"01-bet-who-sees": {(0, 0, 0): "a", (1, 0, 0): "b", (1, 1, 0): "c", (1, 1, 1): "d"}.get(seen)}


# --- 01-flags-trap ------------------------------------------------------------------------------------------

def _unnamed_changes(record: Any) -> list[str]:
    return [row["switch"] for row in record.rows if not row["named"] and row["inside"] != row["before"]]


def flags_trap(record: Any) -> Text:
    others = _unnamed_changes(record)
    restored = all(row["after"] == row["before"] for row in record.rows)
    en, zh = ", ".join(others) or "-", "、".join(others) or "无"
    return both(f"One switch was named; inside, {len(others)} others changed too: {en}. "
                f"Afterwards {'all of them were' if restored else 'not all of them were'} back as before.",
                f"只点名了一个开关，里面却另有 {len(others)} 个跟着变了：{zh}。"
                f"离开之后{'这几个全部恢复原样' if restored else '这几个没有全部恢复'}。")


def draw_flags_trap(record: Any, ax: Any) -> None:
    columns = ("before", "inside", "after")
    for height, row in enumerate(reversed(record.rows)):
        for x, column in enumerate(columns):
            unasked = row[column] != row["before"] and not row["named"]
            named = t(" (named)", "（点了名）") if column == "inside" and row["named"] else ""
            colour = NO if unasked else YES
            ax.barh(height, 0.94, left=x, height=0.8, color=colour)
            ax.text(x + 0.47, height, f"{bool(row[column])}{named}", ha="center", va="center", color=ink_on(colour))
    ax.set_yticks(range(len(record.rows)), [row["switch"] for row in reversed(record.rows)])
    ax.set_xticks([0.47, 1.47, 2.47], [t("before", "之前"), t("inside", "里面"), t("after", "之后")])
    ax.set_xlabel(t("orange: changed without being named", "橙色：没点名却变了"))
    ax.grid(False)


def settle_flags_trap(record: Any) -> dict[str, str | None]:
    found = {0: "a", 1: "b", 2: "c", 3: "d"}.get(len(_unnamed_changes(record)))
    return {"01-bet-flags": found if record.rows else None}


# --- 01-frozen ----------------------------------------------------------------------------------------------

def frozen(record: Any) -> Text:
    opened = [row["door"] for row in record.rows if row["open"]]
    total, shut = len(record.rows), len(record.rows) - len(opened)
    return both(f"After freezing, {shut} of {total} ways were refused; {len(opened)} still worked: "
                f"{', '.join(opened) or '-'}.",
                f"冻结之后，{total} 种改法中有 {shut} 种被拒绝，{len(opened)} 种仍然有效："
                f"{'、'.join(opened) or '无'}。")


def draw_frozen(record: Any, ax: Any) -> None:
    _tiles(ax, ((row["door"], t("still open", "仍然开着") if row["open"] else t("refused", "被拒绝"),
                 not row["open"]) for row in record.rows))


def settle_frozen(record: Any) -> dict[str, str | None]:
    opened = {row["kind"] for row in record.rows if row["open"]}
    if not record.rows:
        return {"01-bet-frozen": None}
    return {"01-bet-frozen": "a" if not opened else "b" if opened == {"with"} else "c"}


# --- 01-not-a-switch ----------------------------------------------------------------------------------------

def not_switches(record: Any) -> Text:
    accepted, total = sum(row["accepted"] for row in record.rows), len(record.rows)
    broken = [row for row in record.rows if row["changed"]]
    moved = {row["asked"] for row in broken}
    same = sorted({row["asked"] for row in record.rows} - moved)
    en = "; ".join(f"{row['tried']} made {row['asked']} end in {row['after']}" for row in broken) or "nothing"
    zh = "；".join(f"{row['tried']} 之后，{row['asked']} 变成了 {row['after']}" for row in broken) or "没有"
    return both(f"{accepted} of {total} were accepted without a word. What changed: {en}. Not moved by "
                f"anything: {', '.join(same) or '-'}.",
                f"{total} 个里有 {accepted} 个被一声不吭地接受。真正变了的：{zh}。始终没变的："
                f"{'、'.join(same) or '无'}。")


def draw_not_switches(record: Any, ax: Any) -> None:
    def word(row: dict) -> str:
        error = row["after"].split(":")[0]
        return (f"{row['asked']}: {error}" if row["changed"]
                else f"{row['asked']}: " + t("unchanged", "没变"))

    _tiles(ax, ((row["tried"], word(row), not row["changed"]) for row in record.rows))


def settle_not_switches(record: Any) -> dict[str, str | None]:
    row = _row(record, "tried", "mps.is_available = False")
    if row is None:
        return {"01-bet-mps": None}
    if not row["accepted"]:
        return {"01-bet-mps": "b"}
    return {"01-bet-mps": "c" if "Error" in row["after"] else "a"}
