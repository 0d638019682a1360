"""Experiments of lesson 01: what a switch of torch.backends reaches, and what it does not.

Whatever leaves traces (freezing, children, overwritten functions) runs in a new process.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.words import EMPTY, TOO_NOISY, ratio_of
from course.figures.kinds import Bet, Ratio, fold, ratio_rows
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.records import Record
from course.tables import Table

LESSON = "01_map"
PROBES = "course.lessons.l01_map.probes"
# what was written, the switch that was meant, the value
MISSPELT = (
    ("cudnn.benchmarks", "cudnn.benchmark", True),
    ("cudnn.enable", "cudnn.enabled", False),
    ("cudnn.determinstic", "cudnn.deterministic", True),
    ("cudnn.allow_tf_32", "cudnn.allow_tf32", False),
    ("mkldnn.enable", "mkldnn.enabled", False),
    ("mkldnn.determenistic", "mkldnn.deterministic", True),
    ("miopen.imediate", "miopen.immediate", True),
    ("quantized.engin", "quantized.engine", "x86"),
    ("opt_einsum.enable", "opt_einsum.enabled", False),
    ("cuda.allow_tf32", "cuda.matmul.allow_tf32", True),
    ("cuda.matmul.allow_fp32", "cuda.matmul.allow_tf32", True),
    ("fp32_percision", "fp32_precision", "ieee"),
)


def _row(record: Record, key: str, value: Any) -> dict | None:
    return next((row for row in record.rows if row[key] == value), None)


EN = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
ZH = ("零", "一", "两", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")


def _two_sides(sides: tuple[str, str], rows: Sequence[tuple[str, int]], bets: Mapping[int, int]) -> Table:
    """A line for each row, which came out on one of two sides. bets: row -> the side that was bet on."""
    lines = [[name, *(word if at == side else "" for at, word in enumerate(sides))] for name, side in rows]
    marks = {(number, 1 + side): "told" for number, (_, side) in enumerate(rows)}
    return Table([["", *sides], *lines], marks, {(number, 1 + side) for number, side in bets.items()})


# --- 01-polite-request --------------------------------------------------------------------------------------

SAME_LOW, SAME_HIGH = 0.95, 1.05  # a ratio whose interval stays within counts as "the same time"


def headline_polite_request(record: Record) -> Text:
    asked = _row(record, "request", "deterministic")
    verdict = settle_polite_request(record)["01-bet-polite"]
    en, zh = {
        "a": ("here it even got faster", "这里反而更快"),
        "b": ("here it cost no time", "这里没多花时间"),
        "c": ("slower", "更慢"),
        None: ("", ""),
    }[verdict]
    if not verdict:
        return TOO_NOISY
    if verdict == "c":
        ratio = asked["ratio"]
        if ratio >= 1.95:
            en, zh = fold(ratio, "{} as long", "耗时变成{}").values()
        else:
            en, zh = f"{(ratio - 1) * 100:.0f} % more time", f"多花 {(ratio - 1) * 100:.0f}% 的时间"
    return both(f"One flag asked for, another switched off: {en}.", f"只要求了一个选项，另一个却被关掉：{zh}。")


def say_polite_request(record: Record) -> Text:
    asked, named = _row(record, "request", "deterministic"), _row(record, "request", "both named")
    if asked is None or named is None:
        return both("Nothing was measured: run it again.", "没有测到数据：请再运行一次。")
    en = zh = ""
    if settle_polite_request(record)["01-bet-polite"] is None:
        en, zh = (
            "Inconclusive, the machine was too busy; close other programs and run it again. ",
            "无法判定：机器太忙，请关掉其他程序再试。",
        )
    return both(
        f"{en}Inside flags(deterministic=True) the same convolution takes {ratio_of(asked)} times as long; "
        f"with enabled=True written as well, {ratio_of(named)} times.",
        f"{zh}在 flags(deterministic=True) 里，同一个卷积的耗时是原来的 {ratio_of(asked)} 倍；"
        f"再写上 enabled=True，则是 {ratio_of(named)} 倍。",
    )


def draw_polite_request(record: Record, bets: dict) -> SvgPicture:
    names = {"deterministic": "deterministic=True", "both named": t("enabled=True as well", "再写上 enabled=True")}
    asked = [row for row in record.rows if row["request"] in names]
    rows = [
        Ratio(names[row["request"]], row["ratio"], row["low"], row["high"], "", len(row.get("samples_ratio", ())))
        for row in asked
    ]
    said = {
        "a": ("left", t("faster", "更快")),
        "b": ("middle", t("the same", "一样快")),
        "c": ("right", t("slower", "更慢")),
    }
    bet, mine = None, said.get(bets.get("01-bet-polite", ""))
    if mine:
        bet = Bet(mine[1], rows={n: mine[0] for n, row in enumerate(asked) if row["request"] == "deterministic"})
    return ratio_rows(rows, (t("faster than without flags", "比不写 flags 快"), t("slower", "更慢")), bet)


def settle_polite_request(record: Record) -> dict[str, str | None]:
    asked = _row(record, "request", "deterministic")
    verdict = None
    if asked and asked["low"] > SAME_HIGH:
        verdict = "c"
    elif asked and asked["high"] < SAME_LOW:
        verdict = "a"
    elif asked and SAME_LOW <= asked["low"] and asked["high"] <= SAME_HIGH:
        verdict = "b"
    return {"01-bet-polite": verdict}


def _depthwise() -> Callable[[], None]:
    """48 calls of a convolution with one filter a channel: float32, batch 2, 32 channels, 14 x 14.

    So many, that entering a `with` block around them weighs next to nothing; so small, that the memory of the
    results is reused (fresh pages from the system would cost more than the convolution, and at random).
    """
    x, weight = torch.randn(2, 32, 14, 14), torch.randn(32, 1, 3, 3)

    def convolve() -> None:
        for _ in range(48):
            torch.nn.functional.conv2d(x, weight, padding=1, groups=32)

    return convolve


def _inside(convolve: Callable[[], None], **asked: bool) -> Callable[[], None]:
    def call() -> None:
        with torch.backends.mkldnn.flags(**asked):
            convolve()

    return call


@experiment(
    name="01-polite-request",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=5,
    title=both("What does a polite `flags(deterministic=True)` cost?", "只想开个 `deterministic`，实际慢了多少？"),
)
def polite_request(budget: Budget) -> list[dict]:
    """One convolution as it is, inside flags(deterministic=True), and with enabled=True said as well.

    On one thread, where a busy machine disturbs least.
    """
    from course.timing import compare

    torch.set_num_threads(1)
    convolve = _depthwise()
    candidates = {
        "plain": convolve,
        "deterministic": _inside(convolve, deterministic=True),
        "both named": _inside(convolve, enabled=True, deterministic=True),
    }
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # flags() also touches a TF32 switch that only Intel GPUs have
        result = compare(candidates, baseline="plain", max_time=max(1.0, min(5.0, budget.left())))
    medians = result.medians_ms
    rows = [{"request": "plain", "median_ms": medians["plain"], "ratio": 1.0, "low": 1.0, "high": 1.0}]
    for name, pair in result.pairs.items():
        rows.append(
            {
                "request": name,
                "median_ms": medians[name],
                "ratio": pair.ratio,
                "low": pair.low,
                "high": pair.high,
                "samples_ratio": list(pair.ratios),
            }
        )
    return rows


# --- 01-typos -----------------------------------------------------------------------------------------------


def headline_typos(record: Record) -> Text:
    silent = sum(not row["raised"] for row in record.rows)
    wrong = min(len(record.rows), 12)
    if silent == 0:
        return both("Every misspelt switch raised an error.", "拼错的开关，个个都报错。")
    if silent == len(record.rows):
        return both("Every misspelt switch was accepted in silence.", "拼错的开关，个个都被悄悄接受。")
    return both(
        f"{EN[wrong].capitalize()} misspelt switches: PyTorch kept silent about {EN[silent]}.",
        f"拼错{ZH[wrong]}个开关，PyTorch 对其中{ZH[silent]}个一声不吭。",
    )


def say_typos(record: Record) -> Text:
    total, raised = len(record.rows), sum(row["raised"] for row in record.rows)
    loud = ", ".join(row["wrote"] for row in record.rows if row["raised"]) or "-"
    return both(
        f"Of {total} misspelt assignments {total - raised} were accepted in silence; {raised} raised an error: {loud}.",
        f"{total} 个拼错的赋值中，有 {total - raised} 个被悄悄接受，{raised} 个报错：{loud}。",
    )


def draw_typos(record: Record, bets: dict) -> Table:
    """What each line got for an answer; the count stands below, and under it the count that was bet on."""
    silent = t("accepted in silence", "悄悄接受")
    lines = [[row["wrote"], row["meant"], row["error"] or silent] for row in record.rows]
    marks = {(number, 2): "told" for number, row in enumerate(record.rows) if row["raised"]}
    marks[len(lines), 2] = "told"
    lines.append([t("lines with an error", "报错的行数"), "", str(sum(row["raised"] for row in record.rows))])
    said = {
        "a": t("all of them", "全部"),
        "b": t("more than a quarter", "超过四分之一"),
        "c": t("one to a quarter", "至少一行，不超过四分之一"),
        "d": "0",
    }
    mine = said.get(bets.get("01-bet-typos", ""))
    if mine:
        lines.append(["", "", mine])
    head = ["", t("what was meant", "本来想写"), t("what Python said", "Python 的反应")]
    return Table([head, *lines], marks, {(len(lines) - 1, 2)} if mine else ())


def settle_typos(record: Record) -> dict[str, str | None]:
    total, raised = len(record.rows), sum(row["raised"] for row in record.rows)
    if not total:
        return {"01-bet-typos": None}
    share = raised / total
    return {"01-bet-typos": "a" if share == 1 else "b" if share > 0.25 else "c" if raised else "d"}


def _owner(path: str) -> tuple[Any, str]:
    """The object that holds the last name of a dotted path below torch.backends, and that name."""
    *middle, last = path.split(".")
    owner = torch.backends
    for name in middle:
        owner = getattr(owner, name)
    return owner, last


def _try(path: str, value: Any) -> str:
    """Assign and take back; the error's class name, or "" where Python accepted it."""
    owner, name = _owner(path)
    try:
        setattr(owner, name, value)
    except (AttributeError, RuntimeError) as error:
        return type(error).__name__
    delattr(owner, name)
    return ""


@experiment(
    name="01-typos",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=1,
    whole=True,
    title=both("Twelve misspelt switches: who complains?", "十二个拼错的开关：谁会报错？"),
)
def typos(budget: Budget) -> list[dict]:
    """Assign to twelve names that do not exist and note which assignment raises; all are taken back."""
    rows = []
    for wrote, meant, value in budget.loop(MISSPELT, desc=both("misspelling", "逐个赋值")):
        owner, name = _owner(wrote)
        if not hasattr(owner, name):
            error = _try(wrote, value)
            rows.append({"wrote": wrote, "meant": meant, "raised": int(bool(error)), "error": error})
    return rows


# --- 01-who-sees --------------------------------------------------------------------------------------------

PLACES = {
    "main": ("the same thread", "同一线程"),
    "thread": ("another thread", "另一个线程"),
    "fork": ("a forked child", "fork 出的子进程"),
    "spawn": ("a spawned child", "spawn 出的子进程"),
}


def _seen(record: Record, read_in: str) -> int | None:
    row = next((r for r in record.rows if r["set_in"] == "main" and r["read_in"] == read_in), None)
    return row["sees"] if row else None


def headline_who_sees(record: Record) -> Text:
    """A system without fork has no row for it."""
    thread, fork, spawn = (_seen(record, place) for place in ("thread", "fork", "spawn"))
    if thread is None or spawn is None:
        return EMPTY
    said = {
        (0, 0, 0): both("Only the thread that sets a switch sees it.", "只有拨开关的那个线程看得到它。"),
        (1, 0, 0): both(
            "A second thread sees your switch; no child process does.", "另一个线程看得到你的开关，子进程看不到。"
        ),
        (1, 1, 0): both(
            "Threads and forked children see your switch; spawned children do not.",
            "线程和 fork 的子进程看得到，spawn 的看不到。",
        ),
        (1, 1, 1): both(
            "Threads, forked and spawned children all see your switch.", "线程、fork 和 spawn 的子进程，全都看得到。"
        ),
        (1, None, 0): both(
            "A second thread sees your switch; a spawned child does not.",
            "另一个线程看得到你的开关，spawn 的子进程看不到。",
        ),
    }
    mixed = both("Not every thread and process sees your switch.", "你拨的开关，不是每个线程和进程都看得到。")
    return said.get((thread, fork, spawn), mixed)


def say_who_sees(record: Record) -> Text:
    from_main = [row for row in record.rows if row["set_in"] == "main"]

    def places(sees: int, column: int) -> str:
        names = [PLACES[row["read_in"]][column] for row in from_main if row["sees"] == sees]
        return (", ", "、")[column].join(names) or ("nobody", "无")[column]

    back = sum(row["sees"] for row in record.rows if row["set_in"] in ("fork", "spawn"))
    en_back = "came back" if back else "did not come back"
    return both(
        f"Set in the main thread, the switch was seen by: {places(1, 0)}; not seen by: {places(0, 0)}. "
        f"What a child process set {en_back} to its parent.",
        f"在主线程里拨动开关，看得到的有：{places(1, 1)}；看不到的有：{places(0, 1)}。"
        f"子进程里的改动{'传回了' if back else '没有传回'}父进程。",
    )


def draw_who_sees(record: Record, bets: dict) -> Table:
    names = {
        "thread": t("another thread: the same memory", "另一个线程：同一块内存"),
        "fork": t("a forked child: a copy of it", "fork 的子进程：复制一份"),
        "spawn": t("a spawned child: a new Python", "spawn 的子进程：全新的 Python"),
    }
    places = [place for place in names if _seen(record, place) is not None]
    sees = {"a": (), "b": ("thread",), "c": ("thread", "fork"), "d": tuple(names)}.get(bets.get("01-bet-who-sees", ""))
    mine = {} if sees is None else {number: int(place not in sees) for number, place in enumerate(places)}
    rows = [(names[place], int(not _seen(record, place))) for place in places]
    return _two_sides((t("reads True", "读到 True"), t("reads False", "读到 False")), rows, mine)


def settle_who_sees(record: Record) -> dict[str, str | None]:
    seen = tuple(_seen(record, place) for place in ("thread", "fork", "spawn"))
    return {"01-bet-who-sees": {(0, 0, 0): "a", (1, 0, 0): "b", (1, 1, 0): "c", (1, 1, 1): "d"}.get(seen)}


@experiment(
    name="01-who-sees",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=8,
    title=both("A switch is turned: who sees it?", "拨动一个开关：谁看得到？"),
)
def who_sees(budget: Budget) -> list[dict]:
    """Turn cudnn.benchmark in one place and read it in a thread, a forked child and a spawned child."""
    return rows_of(PROBES, "who_sees")


# --- 01-flags-trap ------------------------------------------------------------------------------------------


def _unnamed_changes(record: Record) -> list[str]:
    return [row["switch"] for row in record.rows if not row["named"] and row["inside"] != row["before"]]


def headline_flags_trap(record: Record) -> Text:
    others = len(_unnamed_changes(record))
    back = all(row["after"] == row["before"] for row in record.rows)
    if others == 0:
        en, zh = "no other one changes", "其他都没动"
    else:
        en = "another one changes too" if others == 1 else f"{EN[others]} others change too"
        zh = f"另外{ZH[others]}个也跟着变" if others > 1 else "另有一个也跟着变"
    if not back:
        en, zh = f"{en}, and not all come back", f"{zh}，还没全变回来"
    return both(f"A `flags` block names one switch; {en}.", f"`flags` 只写一个开关，{zh}。")


def say_flags_trap(record: Record) -> Text:
    others = _unnamed_changes(record)
    restored = all(row["after"] == row["before"] for row in record.rows)
    en, zh = ", ".join(others) or "-", "、".join(others) or "无"
    return both(
        f"One switch was named; inside, {len(others)} others changed too: {en}. "
        f"Afterwards {'all of them were' if restored else 'not all of them were'} back as before.",
        f"只写了一个开关，里面却另有 {len(others)} 个跟着变了：{zh}。"
        f"离开之后{'这几个全部恢复原样' if restored else '这几个没有全部恢复'}。",
    )


def draw_flags_trap(record: Record, bets: dict) -> Table:
    """The switches before, inside and after; the count of those that changed unnamed, and the count that was bet on."""
    moments = {"before": t("before", "之前"), "inside": t("inside", "里面"), "after": t("after", "之后")}
    named = t(" (named)", "（点了名）")
    lines = [
        [row["switch"], *(f"{bool(row[one])}{named if one == 'inside' and row['named'] else ''}" for one in moments)]
        for row in record.rows
    ]
    marks = {
        (number, at): "told"
        for number, row in enumerate(record.rows)
        for at, one in enumerate(moments, 1)
        if not row["named"] and row[one] != row["before"]
    }
    marks[len(lines), 2] = "told"
    lines.append([t("changed without being named", "没写却变了"), "", str(len(_unnamed_changes(record))), ""])
    mine = {"a": "0", "b": "1", "c": "2", "d": "3"}.get(bets.get("01-bet-flags", ""))
    if mine:
        lines.append(["", "", mine, ""])
    return Table([["", *moments.values()], *lines], marks, {(len(lines) - 1, 2)} if mine else ())


def settle_flags_trap(record: Record) -> dict[str, str | None]:
    found = {0: "a", 1: "b", 2: "c", 3: "d"}.get(len(_unnamed_changes(record)))
    return {"01-bet-flags": found if record.rows else None}


@experiment(
    name="01-flags-trap",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=4,
    title=both(
        "`with cudnn.flags(deterministic=True)`: what changes inside?",
        "`with cudnn.flags(deterministic=True)`：里面变了什么？",
    ),
)
def flags_trap(budget: Budget) -> list[dict]:
    """Read four cuDNN switches before, inside and after the documented context manager."""
    return rows_of(PROBES, "flags_trap")


# --- 01-frozen ----------------------------------------------------------------------------------------------


def headline_frozen(record: Record) -> Text:
    opened = [row for row in record.rows if row["open"]]
    found = settle_frozen(record)["01-bet-frozen"]
    if not opened:
        return both("Frozen is frozen: every way to move a switch was refused.", "冻结就是冻结：什么改法都被拒绝。")
    if found == "b":
        return both("After freezing, only a with block still moves a switch.", "冻结之后，只有 with 块还能拨动开关。")
    work = "way to change a switch still works" if len(opened) == 1 else "ways to change a switch still work"
    return both(f"After freezing, {EN[len(opened)]} {work}.", f"冻结之后，还有{ZH[len(opened)]}种办法能拨动开关。")


def say_frozen(record: Record) -> Text:
    opened = [row["door"] for row in record.rows if row["open"]]
    total, shut = len(record.rows), len(record.rows) - len(opened)
    return both(
        f"After freezing, {shut} of {total} ways were refused; {len(opened)} still worked: {', '.join(opened) or '-'}.",
        f"冻结之后，{total} 种改法中有 {shut} 种被拒绝，{len(opened)} 种仍然有效：{'、'.join(opened) or '无'}。",
    )


def draw_frozen(record: Record, bets: dict) -> Table:
    """A bet on setters is a bet on the functions: every plain assignment was to be refused."""
    opens = {"a": (), "b": ("with",), "c": ("with", "function", "setter")}.get(bets.get("01-bet-frozen", ""))
    mine = {} if opens is None else {number: int(row["kind"] in opens) for number, row in enumerate(record.rows)}
    sides = (t("refused", "被拒绝"), t("still works", "仍然有效"))
    return _two_sides(sides, [(row["door"], row["open"]) for row in record.rows], mine)


def settle_frozen(record: Record) -> dict[str, str | None]:
    opened = {row["kind"] for row in record.rows if row["open"]}
    if not record.rows:
        return {"01-bet-frozen": None}
    return {"01-bet-frozen": "a" if not opened else "b" if opened == {"with"} else "c"}


@experiment(
    name="01-frozen",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=5,
    title=both("The switches are frozen: which ways to move one still work?", "开关已冻结：还有哪些改法有效？"),
)
def frozen(budget: Budget) -> list[dict]:
    """Freeze the switches in a new process, then try ten ways to move one."""
    return rows_of(PROBES, "frozen_entry_points")


# --- 01-not-a-switch ----------------------------------------------------------------------------------------


def headline_not_a_switch(record: Record) -> Text:
    said = {
        "a": both(
            "The line meant to switch MPS off worked: it is now unavailable.",
            "想关掉 MPS 的那一行管用了：再问就说不可用。",
        ),
        "b": both("The line that should switch MPS off was refused.", "想关掉 MPS 的那一行，直接被拒绝了。"),
        "c": both("The line meant to switch MPS off only broke a function.", "想关掉 MPS 的那一行，只弄坏了一个函数。"),
        None: EMPTY,
    }
    return said[settle_not_a_switch(record)["01-bet-mps"]]


def say_not_a_switch(record: Record) -> Text:
    accepted, total = sum(row["accepted"] for row in record.rows), len(record.rows)
    broken = [row for row in record.rows if row["changed"]]
    moved = {row["asked"] for row in broken}
    same = sorted({row["asked"] for row in record.rows} - moved)
    en = "; ".join(f"{row['tried']} made {row['asked']} end in {row['after']}" for row in broken) or "nothing"
    zh = "；".join(f"{row['tried']} 之后，{row['asked']} 变成了 {row['after']}" for row in broken) or "没有"
    return both(
        f"{accepted} of {total} were accepted without a word. What changed: {en}. "
        f"Not moved by anything: {', '.join(same) or '-'}.",
        f"{total} 个里有 {accepted} 个被一声不吭地接受。真正变了的：{zh}。始终没变的：{'、'.join(same) or '无'}。",
    )


def draw_not_a_switch(record: Record, bets: dict) -> Table:
    """What became of each line, and of what it was to change; below the line that was bet on, the bet."""
    accepted, refused = t("accepted", "被接受"), t("refused", "被拒绝")
    fails, as_before = t("asking fails", "一问就出错"), t("same answer", "回答没变")
    unchanged = {
        "torch.initial_seed()": t("same seed", "种子没变"),
        "torch.ones(1).device": t("same device", "设备没变"),
    }

    def afterwards(row: dict) -> str:
        if not row["changed"]:
            return unchanged.get(row["asked"], as_before)
        return fails if "Error" in row["after"] else t(f"says {row['after']}", f"回答 {row['after']}")

    said = {"a": (accepted, t("says False", "回答 False")), "b": (refused, as_before), "c": (accepted, fails)}
    mine = said.get(bets.get("01-bet-mps", ""))
    lines, marks, places = [], {}, ()
    for row in record.rows:
        if row["changed"]:
            marks[len(lines), 2] = "told"
        lines.append([row["tried"], accepted if row["accepted"] else refused, afterwards(row)])
        if mine and row["tried"] == "mps.is_available = False":
            places = {(len(lines), 1), (len(lines), 2)}
            lines.append(["", *mine])
    return Table([["", t("the line itself", "这一行本身"), t("asked afterwards", "之后再问")], *lines], marks, places)


def settle_not_a_switch(record: Record) -> dict[str, str | None]:
    row = _row(record, "tried", "mps.is_available = False")
    if row is None:
        return {"01-bet-mps": None}
    if not row["accepted"]:
        return {"01-bet-mps": "b"}
    return {"01-bet-mps": "c" if "Error" in row["after"] else "a"}


@experiment(
    name="01-not-a-switch",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=5,
    title=both("Six things that look like switches: what do they switch?", "六个看起来像开关的东西：它们到底管什么？"),
)
def not_a_switch(budget: Budget) -> list[dict]:
    """Turn them in a new process, and ask before and after what they were meant to change."""
    return rows_of(PROBES, "not_switches")
