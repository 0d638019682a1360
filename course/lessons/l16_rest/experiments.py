"""Experiments of lesson 16 about einsum: what the search for an order is worth, what it costs, and who obeys the switch."""

from __future__ import annotations

from collections.abc import Iterator

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.rows import kind_of
from course.experiment.words import NOTHING, TOO_NOISY, joined, word
from course.figures.kinds import Bar, Bet, Ratio, bars, fold, ratio_rows, time_words
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.records import Record
from course.tables import Table
from course.timing.render import bracketed
from course.timing.stats import FEWEST_ROUNDS, enough

LESSON = "16_rest"
PROBES = "course.lessons.l16_rest.probes"
MEASURING = both("measuring in a new process", "在新进程里测量")


def interval(row: dict) -> str:
    """0.61 [0.58, 0.64] of a row with ratio, low, high; 1,120 instead of 1.12e+03."""
    if row["low"] is None or not enough(row.get("rounds", FEWEST_ROUNDS)):
        return f"{row['ratio']:.2g}"
    ratio, low, high = (f"{float(f'{row[key]:.3g}'):,g}" for key in ("ratio", "low", "high"))
    return bracketed(ratio, low, high)


def as_ratio(row: dict, name: str) -> Ratio:
    """A row of `ratio_rows` from a row with ratio, low, high."""
    return Ratio(name, row["ratio"], row["low"], row["high"], rounds=row.get("rounds", 0))


# --- 16-einsum ----------------------------------------------------------------------------------------------

CASES = {
    "vector last": both("matrix, matrix, vector", "矩阵、矩阵、向量"),
    "vector first": both("vector, matrix, matrix", "向量、矩阵、矩阵"),
    "adapter": both("an adapter, weights first", "adapter，权重写在前"),
    "two operands": both("two matrices only", "只有两个矩阵"),
    "tiny": both("three 4×4 matrices", "三个 4×4 矩阵"),
}


def _by_case(record: Record) -> dict[str, dict]:
    return {row["case"]: row for row in record.rows}


def headline_einsum(record: Record) -> Text:
    rows = _by_case(record)
    if not {"vector last", "tiny"} <= set(rows):
        return TOO_NOISY
    best = min(rows.values(), key=lambda row: row["ratio"])
    kinds = kind_of(best), kind_of(rows["tiny"])
    factor = 1 / best["ratio"]
    if "undecided" in kinds:
        return TOO_NOISY
    if kinds[0] != "faster":
        return both(
            "Here, searching for a better order made nothing faster.", "在这里，找更好的计算顺序，没有一个变快。"
        )
    if kinds[1] == "slower":
        return fold(
            factor,
            "One einsum became {} as fast, and a tiny one slower.",
            "有的 einsum 速度变成原来的{}，很小的反而变慢。",
            whole=True,
        )
    others = {kind_of(row) for row in rows.values()} - {"faster", "same"}
    if "slower" in others:
        return fold(
            factor,
            "One einsum became {} as fast, and another one slower.",
            "有的 einsum 速度变成原来的{}，有的反而变慢。",
            whole=True,
        )
    if others:
        return fold(factor, "One einsum became {} as fast.", "有的 einsum 速度变成原来的{}。", whole=True)
    return fold(
        factor,
        "One einsum became {} as fast, and none became slower.",
        "有的 einsum 速度变成原来的{}，没有变慢的。",
        whole=True,
    )


def say_einsum(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    changed = [row["case"] for row in record.rows if not row["same_bits"]]
    told = {
        code: "; ".join(f"{CASES[row['case']][code]} {interval(row)}" for row in record.rows) for code in ("en", "zh")
    }
    listed = {code: joined([CASES[name][code] for name in changed], code) for code in ("en", "zh")}
    return both(
        f"Time with the search over time without, one thread: {told['en']}. Other bits: {listed['en'] or 'none'}.",
        f"找顺序与不找的耗时比（单线程）：{told['zh'].replace('; ', '；')}。结果逐位不一致的：{listed['zh'] or '无'}。",
    )


def draw_einsum(record: Record, bets: dict) -> SvgPicture:
    cases = [row["case"] for row in record.rows]
    said = {
        "a": ("left", t("faster", "更快")),
        "b": ("middle", t("as fast", "一样快")),
        "c": ("right", t("slower", "更慢")),
    }
    side, words = said.get(bets.get("16-bet-tiny", ""), ("", ""))
    bet = Bet(words, rows={cases.index("tiny"): side}) if side and "tiny" in cases else None
    sides = (t("with the search it is faster", "找顺序更快"), t("slower", "更慢"))
    return ratio_rows([as_ratio(row, word(CASES[row["case"]])) for row in record.rows], sides, bet)


def settle_einsum(record: Record) -> dict[str, str | None]:
    row = _by_case(record).get("tiny")
    answers = {"faster": "a", "same": "b", "slower": "c"}
    return {"16-bet-tiny": answers.get(kind_of(row)) if row else None}


@experiment(
    name="16-einsum",
    lesson=LESSON,
    version=1,
    needs="opt_einsum",
    seconds=6,
    whole=True,
    title=both("einsum with and without a search for the best order", "einsum：找最佳顺序，与不找"),
)
def einsum(budget: Budget) -> Iterator[dict]:
    """Five einsums raced with opt_einsum.enabled on against off, in a new process, one thread."""
    for part in budget.loop(["einsums"], desc=MEASURING):
        yield from rows_of(PROBES, part, budget.seconds)


# --- 16-search-price ----------------------------------------------------------------------------------------

STRATEGIES = {
    "off": both("no search", "不找"),
    "greedy": both("'greedy'", "'greedy'"),
    "auto": both("'auto', the default", "'auto'（默认）"),
    "optimal": both("'optimal'", "'optimal'"),
}


def headline_search_price(record: Record) -> Text:
    dearest = max(record.rows, key=lambda row: row["ratio"], default=None)
    if dearest is None or len(record.rows) < len(STRATEGIES):
        return TOO_NOISY
    if kind_of(dearest) != "slower":
        return both("No search clearly cost more than the computation itself.", "没有哪种找法明显比计算本身还慢。")
    name = dearest["strategy"]
    return fold(
        dearest["ratio"],
        f"With “{name}” one call took {{}} as long as without a search.",
        f"用 {name} 找顺序，一次调用要{{}}的时间。",
        whole=True,
    )


def say_search_price(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    told = {
        code: mark.join(
            f"{STRATEGIES[row['strategy']][code]} {row['ms']:.3g} ms"
            + (f"{comma}{interval(row)}" if row["strategy"] != "off" else "")
            for row in record.rows
        )
        for code, mark, comma in (("en", "; ", ", "), ("zh", "；", "，"))
    }
    return both(
        f"One call with eight 3×3 matrices, and the ratio to no search: {told['en']}.",
        f"八个 3×3 矩阵的一次调用，以及与不找之比：{told['zh']}。",
    )


def draw_search_price(record: Record, bets: dict) -> SvgPicture:
    return bars(
        [
            Bar(
                word(STRATEGIES[row["strategy"]]),
                row["ms"],
                time_words(row["ms"] / 1e3),
                quiet=row["strategy"] == "off",
            )
            for row in record.rows
        ]
    )


@experiment(
    name="16-search-price",
    lesson=LESSON,
    version=1,
    needs="opt_einsum",
    seconds=4,
    title=both("What the search itself costs: eight small matrices", "找顺序本身要花多少：八个小矩阵"),
)
def search_price(budget: Budget) -> list[dict]:
    """One einsum of eight 3x3 matrices under each strategy, in a new process; nothing is kept between calls."""
    return [row for part in budget.loop(["searches"], desc=MEASURING) for row in rows_of(PROBES, part, budget.seconds)]


# --- 16-flags-trap ------------------------------------------------------------------------------------------

STEPS = {
    "start": both("new process", "新进程"),
    "block off": both("with flags(enabled=False)", "with flags(enabled=False)"),
    "assigned off": both("enabled = False", "enabled = False"),
    "block on": both("then with flags(enabled=True)", "再 with flags(enabled=True)"),
    "assigned on": both("enabled = True", "enabled = True"),
}


def headline_flags_trap(record: Record) -> Text:
    wrong = [row["step"] for row in record.rows if row["asked"] != row["searched"]]
    if len(record.rows) < len(STEPS):
        return TOO_NOISY
    if not wrong:
        return both("Every step was obeyed, the with block as well.", "每一步都照办了，with 块也一样。")
    if wrong == ["block on"]:
        return both(
            "After one plain assignment, the with block switches nothing any more.",
            "直接赋值过一次，with 块就不管用了。",
        )
    return both("More than the with block was ignored here.", "在这里，不听话的不只是 with 块。")


def say_flags_trap(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    wrong = [row for row in record.rows if row["asked"] != row["searched"]]
    told = {code: joined([STEPS[row["step"]][code] for row in wrong], code) for code in ("en", "zh")}
    return both(
        f"{len(record.rows) - len(wrong)} of {len(record.rows)} steps did what they asked for. Ignored: {told['en'] or 'none'}.",
        f"{len(record.rows)} 步里有 {len(record.rows) - len(wrong)} 步照办了。没照办的：{told['zh'] or '无'}。",
    )


def draw_flags_trap(record: Record, bets: dict) -> Table:
    yes, no = t("yes", "是"), t("no", "否")
    lines = [["", t("asked for", "要求"), t("reads", "读出来"), t("was searched", "真找了")]]
    for row in record.rows:
        lines.append([word(STEPS[row["step"]]), *(yes if row[key] else no for key in ("asked", "reads", "searched"))])
    marks = {(at, 3): "told" for at, row in enumerate(record.rows) if row["asked"] != row["searched"]}
    return Table(lines, marks)


@experiment(
    name="16-flags-trap",
    lesson=LESSON,
    version=1,
    needs="opt_einsum",
    seconds=4,
    title=both("Five steps with one switch: which are obeyed?", "同一个开关拨五步：哪几步算数？"),
)
def flags_trap(budget: Budget) -> list[dict]:
    """opt_einsum.enabled set in turn by flags() and by assignment, in a new process: what it reads, what einsum does."""
    return [row for part in budget.loop(["trap"], desc=MEASURING) for row in rows_of(PROBES, part)]
