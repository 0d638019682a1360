"""Sentences, pictures and settled bets of lesson 06 about the order of additions: pure functions on a record."""

from __future__ import annotations

from typing import Any

from course.i18n import Text, both, t
from course.lessons.l05_cudnn_benchmark.findings import BLUE, NOTHING, ORANGE, word

CURES = {"seeds alone": both("seeds alone", "只设种子"),
         "two lines": both("benchmark=False, deterministic=True", "benchmark=False、deterministic=True"),
         "one thread": both("one CPU thread", "单个 CPU 线程"),
         "algorithms": both("use_deterministic_algorithms(True)", "use_deterministic_algorithms(True)")}


# --- 06-two-lines -------------------------------------------------------------------------------------------

def two_lines(record: Any) -> Text:
    runs = len(record.rows)
    if runs < 2:
        return NOTHING
    different = len({row["bits"] for row in record.rows})
    if different == 1:
        return both(f"{runs} trainings from one seed, all equal to the last bit this time. Seen is not "
                    f"promised: "
                    f"run it again.",
                    f"同一个种子训练 {runs} 次，这回逐位相同。看到了不等于有保证：再跑一次试试。")
    spread = max(r["first_entry"] for r in record.rows) - min(r["first_entry"] for r in record.rows)
    return both(f"{runs} trainings from one seed, with the famous two lines: {different} different "
                f"results. The "
                f"first of the learnt numbers varies by {spread:.2g}.",
                f"同一个种子、加上著名的两行设置，训练 {runs} 次，得到 {different} 种不同的结果。学到的第一个数上下相差 "
                f"{spread:.2g}。")


def draw_two_lines(record: Any, ax: Any) -> None:
    middle = sorted(row["first_entry"] for row in record.rows)[len(record.rows) // 2]
    ax.axhline(0, color=ORANGE, linestyle="--", linewidth=1)
    ax.plot([row["run"] for row in record.rows], [row["first_entry"] - middle for row in record.rows], "o",
            color=BLUE)
    ax.set_xticks([row["run"] for row in record.rows])
    ax.set_xlabel(t("training (same seed each time)", "第几次训练（种子都一样）"))
    ax.set_ylabel(t("first learnt number, minus its median", "学到的第一个数 − 中位数"))


# --- 06-cures -----------------------------------------------------------------------------------------------

def cures(record: Any) -> Text:
    if len(record.rows) < 2:
        return NOTHING
    en = "; ".join(f"{CURES[r['cure']]['en']}: {r['different']} different of {r['runs']}" for r in record.rows)
    zh = "；".join(f"{CURES[r['cure']]['zh']}，{r['runs']} 次里有 {r['different']} 种" for r in record.rows)
    doubt = both("", "")
    if settle_cures(record)["06-bet-cure"] is None:
        doubt = both(" Inconclusive: the additions met in one order throughout. Run it again.",
                     "尚无定论：这次累加的顺序碰巧始终一样。请再运行一次。")
    return both(f"Every seed set, results by cure: {en}.{doubt['en']}", f"种子全设，各种药方的结果：{zh}。{doubt['zh']}")


def draw_cures(record: Any, ax: Any) -> None:
    rows = record.rows[::-1]
    bars = ax.barh([word(CURES[row["cure"]]) for row in rows], [row["different"] for row in rows],
                   color=[BLUE if row["different"] == 1 else ORANGE for row in rows])
    ax.bar_label(bars, padding=3)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlabel(t("different results (1: all runs agree)", "不同结果的个数（1：全部一致）"))
    ax.margins(x=0.12)


def settle_cures(record: Any) -> dict[str, str | None]:
    """None when even the untreated runs agree; else which of the two remedies made all runs agree."""
    different = {row["cure"]: row["different"] for row in record.rows}
    answer = None
    if len(different) == len(CURES) and different["seeds alone"] > 1:
        flags, mode = different["two lines"] == 1, different["algorithms"] == 1
        answer = {(True, True): "c", (True, False): "a", (False, True): "b", (False, False): "d"}[flags, mode]
    return {"06-bet-cure": answer}


# --- 06-threads-sum -----------------------------------------------------------------------------------------

def threads_sum(record: Any) -> Text:
    if len(record.rows) < 2:
        return NOTHING
    en = ", ".join(f"{r['lists_changed_by_threads']} at {r['numbers']:,}" for r in record.rows)
    zh = "，".join(f"{r['numbers']:,} 个数时 {r['lists_changed_by_threads']} 个" for r in record.rows)
    lists = record.rows[0]["lists"]
    again = sum(row["lists_changed_by_repeating"] for row in record.rows)
    tail = (both("With the number of threads held fixed, every repeat agreed.", "线程数固定时，每次重复都一致。")
            if again == 0 else both(f"Even with the threads held fixed, {again} sums changed on repeating.",
                                    f"即使线程数固定，重复时也有 {again} 个和变了。"))
    return both(f"Of {lists} sums, so many changed their bits with the number of threads: {en} numbers. "
                f"{tail['en']}",
                f"{lists} 个和里，结果随线程数而变的：{zh}。{tail['zh']}")


def draw_threads_sum(record: Any, ax: Any) -> None:
    names = [f"{row['numbers']:,}" for row in record.rows]
    for shift, key, label, colour in (
            (-0.2, "lists_changed_by_threads", t("changed by the number of threads", "换线程数后变了"), ORANGE),
            (0.2, "lists_changed_by_repeating", t("changed by repeating", "重复时变了"), BLUE)):
        ax.bar_label(ax.bar([i + shift for i in range(len(names))], [row[key] for row in record.rows], 0.38,
                            label=label, color=colour))
    ax.set_xticks(range(len(names)), names)
    ax.set_ylim(0, max(row["lists"] for row in record.rows) * 1.25)
    ax.set_xlabel(t("numbers in the list", "每组数的个数"))
    ax.set_ylabel(t("lists, of ten", "组数（共十组）"))
    ax.legend(loc="upper left")


def settle_threads_sum(record: Any) -> dict[str, str | None]:
    changed = {row["numbers"]: row["lists_changed_by_threads"] > 0 for row in record.rows}
    answers = {(False, False): "a", (False, True): "c", (True, True): "b"}
    return {"06-bet-threads": answers.get((changed.get(1000), changed.get(1_000_000)))}


# --- 06-company ---------------------------------------------------------------------------------------------

def company(record: Any) -> Text:
    alone = [row for row in record.rows if row["batch"] == 1]
    if not alone or len(record.rows) < 3:
        return NOTHING
    other = [str(row["batch"]) for row in record.rows if not row["same_bits"]]
    if not other:
        return both("The row got the same bits in every batch size tried here. Another layer, library or "
                    "machine "
                    "may say otherwise.",
                    "在试过的每种 batch 大小里，这一行的结果逐位相同。换一个层、一个库或一台机器，可能就不一样了。")
    worst = max(row["largest_change"] for row in record.rows)
    return both(f"The same row, the same weights: other bits than in the batch of 64 when the batch holds "
                f"{', '.join(other)}. The change is at most {worst:.1g} of the largest output.",
                f"同一行数据、同样的权重：batch 大小为 {'、'.join(other)} 时，结果与 batch 64 不是逐位相同。变化最多是最大输出的 "
                f"{worst:.1g} 倍。")


def draw_company(record: Any, ax: Any) -> None:
    rows = record.rows
    shares = [100 * row["numbers_changed"] / row["numbers"] for row in rows]
    bars = ax.bar(range(len(rows)), shares, color=ORANGE)
    ax.bar_label(bars, [f"{share:.0f} %" for share in shares])
    ax.set_xticks(range(len(rows)), [str(row["batch"]) for row in rows])
    ax.set_xlabel(t("rows in the batch", "batch 里的行数"))
    ax.set_ylabel(t("outputs of row 0 with other bits (%)", "第 0 行中比特不同的输出（%）"))
    ax.set_ylim(0, max(10, max(shares) * 1.15))


def settle_company(record: Any) -> dict[str, str | None]:
    alone = [row["same_bits"] for row in record.rows if row["batch"] == 1]
    if not alone or len(record.rows) < 3:
        return {"06-bet-company": None}
    if all(row["same_bits"] for row in record.rows):
        return {"06-bet-company": "a"}
    worst = max(row["largest_change"] for row in record.rows)
    return {"06-bet-company": "b" if worst < 1e-4 else "c"}


# --- 06-pieces ----------------------------------------------------------------------------------------------

def pieces(record: Any) -> Text:
    rows = record.rows
    if len(rows) < 2:
        return NOTHING
    different, errors = len({row["bits"] for row in rows}), [row["largest_error"] for row in rows]
    best = min(rows, key=lambda row: row["largest_error"])["pieces"]
    return both(f"{len(rows)} ways to cut the same product, {different} different results. Against float64 "
                f"their "
                f"largest errors lie between {min(errors):.2g} and {max(errors):.2g}; the smallest belongs "
                f"to "
                f"{best} piece{'s' * (best > 1)}.",
                f"同一个乘积的 {len(rows)} 种切法，得到 {different} 种不同的结果。与 float64 相比，最大误差在 {min(errors):.2g} 到 "
                f"{max(errors):.2g} 之间；误差最小的是切成 {best} 段。")


def draw_pieces(record: Any, ax: Any) -> None:
    from course.figures import lines

    rows = record.rows
    lines(ax, [row["pieces"] for row in rows],
          {t("largest error", "最大误差"): [row["largest_error"] for row in rows],
           t("mean error", "平均误差"): [row["mean_error"] for row in rows]},
          xlabel=t("pieces of the inner dimension", "内维切成几段"), ylabel=t("distance from float64", "与 float64 的差"),
          log_x=True, log_y=True)


# --- 06-cost ------------------------------------------------------------------------------------------------

def cost(record: Any) -> Text:
    if not record.rows:
        return NOTHING
    verdicts = {"faster": both("faster", "更快"), "slower": both("slower", "更慢"), "same": both("the same", "一样"),
                "undecided": both("undecided", "未定")}
    en = "; ".join(f"{_places(r['operation'])['en']}: {r['ratio']:.2g} [{r['low']:.2g}, {r['high']:.2g}], "
                   f"{verdicts[r['verdict']]['en']}" for r in record.rows)
    zh = "；".join(f"{_places(r['operation'])['zh']}：{r['ratio']:.2g} [{r['low']:.2g}, {r['high']:.2g}]，"
                  f"{verdicts[r['verdict']]['zh']}" for r in record.rows)
    count = record.rows[0]["threads"]
    return both(f"Time with the mode on over time with it off, {count} threads: {en}.",
                f"打开确定性模式的耗时除以不打开，{count} 个线程。{zh}。")


def draw_cost(record: Any, ax: Any) -> None:
    from course.figures import intervals

    rows = [row for row in record.rows if "ratio" in row]
    intervals(ax, [word(_places(row["operation"])) for row in rows], [row["ratio"] for row in rows],
              [row["low"] for row in rows], [row["high"] for row in rows], "", reference=1.0, log=True,
              what=t("time deterministic / default (right of 1: it costs)", "确定性 / 默认 的耗时比（1 的右边：有代价）"), digits=2)


def _places(operation: str) -> Text:
    count, _, unit = operation.partition(" ")
    if unit == "places":
        return both(f"adding into {int(count):,} places", f"累加到 {int(count):,} 个位置")
    return both(operation, operation)


def settle_cost(record: Any) -> dict[str, str | None]:
    """None while a verdict is undecided; else whether it cost everywhere, somewhere or nowhere."""
    verdicts = [row["verdict"] for row in record.rows]
    if len(verdicts) < 3 or "undecided" in verdicts:
        return {"06-bet-cost": None}
    slower = verdicts.count("slower")
    return {"06-bet-cost": "a" if slower == len(verdicts) else "b" if slower else "c"}
