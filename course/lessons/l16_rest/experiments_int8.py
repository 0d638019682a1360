"""Experiments of lesson 16 about int8: four engines, who decides which of them computes, and sums that saturate."""

from __future__ import annotations

from collections.abc import Iterator

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.rows import kind_of
from course.experiment.words import NOTHING, TOO_NOISY, joined, word
from course.figures.kinds import fold, ratio_rows
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l16_rest.experiments import LESSON, MEASURING, as_ratio, interval
from course.records import Record
from course.tables import Table

PROBES = "course.lessons.l16_rest.probes_int8"

# --- 16-engines ---------------------------------------------------------------------------------------------


def headline_engines(record: Record) -> Text:
    kinds = {row["engine"]: kind_of(row) for row in record.rows}
    if not kinds or "undecided" in kinds.values():
        return TOO_NOISY
    slower = [name for name, kind in kinds.items() if kind == "slower"]
    if not slower:
        return both(
            "No int8 engine here was clearly slower than float32.", "这里的 int8 引擎，没有明显比 float32 慢的。"
        )
    if len(slower) == len(kinds):
        return both("Here int8 was slower with every engine.", "在这里，哪个引擎的 int8 都更慢。")
    if "faster" not in kinds.values():
        return both(
            "Here int8 was slower with some engines, and faster with none.",
            "在这里，int8 在有的引擎上更慢，没有一个更快。",
        )
    return fold(
        1 / min(row["ratio"] for row in record.rows),
        "With one engine int8 is {} as fast as float32, with another slower.",
        "int8 能快到 float32 的{}，也可能更慢，就看引擎。",
        whole=True,
    )


def say_engines(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    told = "; ".join(f"{row['engine']} {interval(row)}" for row in record.rows)
    return both(
        f"A linear layer, one thread, time in int8 over time in float32: {told}.",
        f"一个线性层，单线程，int8 与 float32 的耗时比：{told.replace('; ', '；')}。",
    )


def draw_engines(record: Record, bets: dict) -> SvgPicture:
    sides = (t("int8 is faster", "int8 更快"), t("int8 is slower", "int8 更慢"))
    return ratio_rows([as_ratio(row, row["engine"]) for row in record.rows], sides)


@experiment(
    name="16-engines",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=4,
    whole=True,
    title=both("One linear layer in int8: each engine against float32", "同一个线性层用 int8：各个引擎与 float32 比"),
)
def engines(budget: Budget) -> list[dict]:
    """Time of a quantized linear layer over its time in float32, for every engine of this build, in a new process."""
    return [row for part in budget.loop(["engines"], desc=MEASURING) for row in rows_of(PROBES, part, budget.seconds)]


# --- 16-packed ----------------------------------------------------------------------------------------------

LIKE = {
    "maker": both("the packer", "打包的那个"),
    "runner": both("the switch", "开关说的那个"),
    "both": both("both alike", "两者一样"),
    "neither": both("neither", "都不是"),
    "error": both("an error", "报错"),
}


def _crossed(record: Record) -> list[dict]:
    """The rows in which the engine changed between packing and running."""
    return [row for row in record.rows if row["packed"] != row["engine"]]


def headline_packed(record: Record) -> Text:
    found = {row["like"] for row in _crossed(record)}
    if not found:
        return both("Only one engine here: nothing to compare.", "这里只有一个引擎，没得比。")
    said = {
        "maker": both(
            "The engine that packed the weight computes, whatever the switch says.",
            "权重是谁打包的就由谁算，开关说了不算。",
        ),
        "runner": both(
            "The engine that the switch names computes, whoever packed the weight.",
            "开关说谁算就谁算，不管权重是谁打包的。",
        ),
        "error": both("A weight packed by one engine is refused by the other.", "一个引擎打的包，另一个不收。"),
        "neither": both("The result is that of neither engine.", "算出的结果，和哪个引擎都对不上。"),
        "both": both(
            "Both engines gave the same bits: no telling who computed.", "两个引擎结果逐位相同，看不出谁算的。"
        ),
    }
    if len(found) > 1:
        return both(
            "A weight packed elsewhere: each engine does something else with it.",
            "权重是别的引擎打包的：各个引擎做法不一。",
        )
    return said[next(iter(found))]


def say_packed(record: Record) -> Text:
    rows = _crossed(record)
    if not rows:
        return NOTHING
    told = {
        "en": "; ".join(
            f"packed by {row['packed']}, run under {row['engine']}: {LIKE[row['like']]['en']}" for row in rows
        ),
        "zh": "；".join(f"{row['packed']} 打包、{row['engine']} 运行：{LIKE[row['like']]['zh']}" for row in rows),
    }
    return both(f"Whose bits came out? {told['en'].capitalize()}.", f"结果和谁逐位相同？{told['zh']}。")


def draw_packed(record: Record, bets: dict) -> Table:
    error = word(LIKE["error"])
    lines = [["", t("switch when run", "运行时的开关"), t("the bits are those of", "结果与谁逐位相同")]]
    marks, place = {}, None
    for at, row in enumerate(record.rows):
        crossed = row["packed"] != row["engine"]
        whose = {"maker": row["packed"], "runner": row["engine"]}.get(row["like"], word(LIKE[row["like"]]))
        lines.append(
            [
                t(f"packed by {row['packed']}", f"{row['packed']} 打包"),
                row["engine"],
                whose if crossed else row["packed"],
            ]
        )
        if crossed:
            marks[at, 2] = "told"
        if crossed and row["packed"] == "qnnpack":
            place = at
    mine = {"a": "x86", "b": "qnnpack", "c": error}.get(bets.get("16-bet-packed", ""))
    return Table(lines, marks).bet_on(place, ["", mine]) if mine else Table(lines, marks)


def settle_packed(record: Record) -> dict[str, str | None]:
    found = {row["like"] for row in _crossed(record) if row["packed"] == "qnnpack"}
    answers = {"runner": "a", "maker": "b", "error": "c"}
    return {"16-bet-packed": answers.get(found.pop()) if len(found) == 1 else None}


@experiment(
    name="16-packed",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=4,
    whole=True,
    title=both("Packed under one engine, run under another: who computes?", "用一个引擎打包，换一个来跑：谁在算？"),
)
def packed(budget: Budget) -> list[dict]:
    """In a new process: an int8 weight packed under either of two engines and run under either; whose bits come out."""
    return [row for part in budget.loop(["packed_and_run"], desc=MEASURING) for row in rows_of(PROBES, part)]


# --- 16-half-answer -----------------------------------------------------------------------------------------

LIMITS = {
    "as it is": ("", both("this CPU as it is", "本机原样")),
    "FBGEMM AVX2": ("FBGEMM_ENABLE_INSTRUCTIONS", both("FBGEMM held to AVX2", "FBGEMM 只许用 AVX2")),
    "oneDNN AVX2": ("ONEDNN_MAX_CPU_ISA", both("oneDNN held to AVX2", "oneDNN 只许用 AVX2")),
}
EXACT = 0.02


def _wrong(record: Record, bits: int = 8) -> list[dict]:
    return [row for row in record.rows if row["bits"] == bits and abs(row["share"] - 1) > EXACT]


def headline_half_answer(record: Record) -> Text:
    if not record.rows:
        return TOO_NOISY
    wrong = _wrong(record)
    if not wrong:
        return both("Every engine gave the true sum here.", "在这里，每个引擎的求和都是对的。")
    if any(row["said"] for row in wrong):
        return both("Some sums came out wrong, with a warning.", "有的求和算错了，但给了警告。")
    if any(row["limit"] == "as it is" for row in wrong):
        return both("On this CPU int8 sums come out wrong, without a word.", "在这颗 CPU 上，int8 求和会悄悄算错。")
    if not all(0.4 < row["share"] < 0.6 for row in wrong):
        return both("With older instructions: a wrong answer, and not a word.", "换成老指令，结果是错的，一声不吭。")
    return both("With older instructions: half the answer, and not a word.", "换成老指令，结果只剩一半，一声不吭。")


def say_half_answer(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    wrong, cured = _wrong(record), _wrong(record, 7)
    told = {
        code: joined(
            [f"{row['engine']} {row['share']:.3f}{colon}{LIMITS[row['limit']][1][code]}{end}" for row in wrong], code
        )
        for code, colon, end in (("en", " with ", ""), ("zh", "（", "）"))
    }
    return both(
        f"The result as a share of the true sum, inputs of 8 bits: {told['en'] or 'right everywhere'}; all others 1.000. "
        f"With 7 bits {'wrong in ' + str(len(cured)) + ' cases' if cured else 'all are 1.000'}. "
        f"Warnings and errors: {sum(row['said'] for row in record.rows)}.",
        f"结果占真值的比例，8 位输入：{told['zh'] or '全对'}；其余都是 1.000。"
        f"换成 7 位：{'有 ' + str(len(cured)) + ' 处不对' if cured else '全是 1.000'}。"
        f"警告与报错：{sum(row['said'] for row in record.rows)} 个。",
    )


def draw_half_answer(record: Record, bets: dict) -> Table:
    right, half, warned = t("right", "对"), t("about half", "约一半"), t("with a warning", "有警告")
    limits = list(dict.fromkeys(row["limit"] for row in record.rows))
    found = {(row["engine"], row["bits"], row["limit"]): row for row in record.rows}

    def cell(row: dict | None) -> str:
        if row is None or row["said"]:
            return warned if row else "–"
        off = abs(row["share"] - 1) > EXACT
        return right if not off else half if 0.4 < row["share"] < 0.6 else f"{row['share']:.0%}"

    lines, marks, place = [["", *(word(LIMITS[limit][1]) for limit in limits)]], {}, None
    wrong = {row["engine"] for row in _wrong(record)}
    for engine in dict.fromkeys(row["engine"] for row in record.rows):
        for bits in (8, 7) if engine in wrong else (8,):
            cells = [cell(found.get((engine, bits, limit))) for limit in limits]
            marks |= {(len(lines) - 1, at): "told" for at, one in enumerate(cells, 1) if one not in (right, "–")}
            place = len(lines) - 1 if (engine, bits) == ("x86", 8) else place
            lines.append([t(f"{engine}, {bits} bits", f"{engine}，{bits} 位"), *cells])
    mine = {"a": right, "b": half, "c": warned}.get(bets.get("16-bet-old-cpu", ""))
    if not mine:
        return Table(lines, marks)
    asked = "FBGEMM AVX2" if "FBGEMM AVX2" in limits else limits[-1]
    return Table(lines, marks).bet_on(place, [mine if limit == asked else "" for limit in limits])


def settle_half_answer(record: Record) -> dict[str, str | None]:
    row = next(
        (one for one in record.rows if (one["engine"], one["bits"], one["limit"]) == ("x86", 8, "FBGEMM AVX2")), None
    )
    if row is None:
        return {"16-bet-old-cpu": None}
    if row["said"]:
        return {"16-bet-old-cpu": "c"}
    return {"16-bet-old-cpu": "a" if abs(row["share"] - 1) <= EXACT else "b"}


@experiment(
    name="16-half-answer",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=8,
    whole=True,
    title=both("The same int8 sum on a CPU with fewer instructions", "同一个 int8 求和，CPU 指令少一些"),
)
def half_answer(budget: Budget) -> Iterator[dict]:
    """Largest inputs times largest weights in int8 by each engine, in new processes held to older instructions or not."""
    for limit in budget.loop(LIMITS, desc=both("new processes", "新进程"), least=len(LIMITS)):
        variable = LIMITS[limit][0]
        found = rows_of(PROBES, "shares", variables={variable: "AVX2"} if variable else {})
        yield from [{"limit": limit, **row} for row in found]
