"""Experiments of lesson 06: what repeats itself to the last bit, what does not, and which cure helps.

``training`` and ``filters`` hold the small computations. cuDNN is asked in new processes, because a process keeps its plans.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from course.experiment.base import Budget, experiment
from course.experiment.words import NOTHING, TOO_NOISY, VERDICTS, with_interval, word
from course.figures.kinds import Bar, Bet, Ratio, Share, bars, ratio_rows, share_grid
from course.figures.sheet import Sheet
from course.flags import using
from course.i18n import Text, both, t
from course.lessons.l06_cudnn_deterministic import training as toy_repro
from course.lessons.l06_cudnn_deterministic.training import fingerprint
from course.records import Record

LESSON = "06_cudnn_deterministic"
PROBES = "course.lessons.l06_cudnn_deterministic.probes"
CURES = {
    "seeds alone": {},
    "two lines": {"cudnn.benchmark": False, "cudnn.deterministic": True},
    "one thread": {"torch.num_threads": 1},
    "algorithms": {"torch.deterministic_algorithms": True},
}
SUM_SIZES, SUM_THREADS = (1000, 32_768, 32_769, 200_000, 1_000_000), (1, 2, 3, 4, 8)
BATCHES, ROWS = (1, 2, 3, 4, 8, 16, 32, 64), 64
PAIRS = [(benchmark, deterministic) for benchmark in (0, 1) for deterministic in (0, 1)]
FRESH = both("new processes", "新进程")


def by_setting(record: Record) -> dict[tuple[int, int], list[dict]]:
    """(benchmark, deterministic) -> rows, in the order of the table."""
    found: dict[tuple[int, int], list[dict]] = {}
    for row in record.rows:
        found.setdefault((row["benchmark"], row["deterministic"]), []).append(row)
    return dict(sorted(found.items()))


def label(setting: tuple[int, int]) -> str:
    """Such as benchmark=T, deterministic=F."""
    return "benchmark={}, deterministic={}".format(*("FT"[flag] for flag in setting))


def _threads() -> int:
    """At least four, so that additions can meet in any order also on a small machine."""
    return max(4, torch.get_num_threads())


def _in_mode(mode: str, call: Callable[[], Any]) -> None:
    """One call with the debug mode "default" or "error", which is put back to "default"."""
    torch.set_deterministic_debug_mode(mode)
    try:
        call()
    finally:
        torch.set_deterministic_debug_mode("default")


# --- 06-two-lines -------------------------------------------------------------------------------------------


def headline_two_lines(record: Record) -> Text:
    runs, different = len(record.rows), len({row["bits"] for row in record.rows})
    if runs < 2:
        return TOO_NOISY
    if different == 1:
        return both("All trainings agreed this time; nobody promises the next one.", "这回次次相同，但下回不一定。")
    if different == runs:
        return both(
            "Seeds set, both lines written: no two trainings agree.", "种子设了，两行也写了，没有两次训练相同。"
        )
    return both(
        f"Seeds set, both lines written: still {different} different results.",
        f"种子设了，两行也写了，还是有 {different} 种结果。",
    )


def say_two_lines(record: Record) -> Text:
    runs = len(record.rows)
    if runs < 2:
        return NOTHING
    different = len({row["bits"] for row in record.rows})
    if different == 1:
        return both(
            f"{runs} trainings from one seed, all equal to the last bit this time. Seen is not promised: run it again.",
            f"同一个种子训练 {runs} 次，这回逐位相同。看到了不等于有保证：再跑一次试试。",
        )
    spread = max(r["first_entry"] for r in record.rows) - min(r["first_entry"] for r in record.rows)
    return both(
        f"{runs} trainings from one seed, with the famous two lines: {different} different results. "
        f"The first of the learnt numbers varies by {spread:.2g}.",
        f"同一个种子、加上著名的两行设置，训练 {runs} 次，得到 {different} 种不同的结果。"
        f"学到的第一个数上下相差 {spread:.2g}。",
    )


def draw_two_lines(record: Record, bets: dict) -> Sheet:
    """A square a training, the same number for the same bits."""
    different = len({row["bits"] for row in record.rows})
    return share_grid([Share(t("trainings", "训练"), len(record.rows), different, _results(different))])


def _results(different: int) -> str:
    """How many different results, in words."""
    if different == 1:
        return t("all the same", "全部相同")
    return t(f"{different} different results", f"{different} 种结果")


@experiment(
    name="06-two-lines",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=4,
    title=both(
        "Every seed set, benchmark=False, deterministic=True: do ten trainings agree?",
        "种子全设、benchmark=False、deterministic=True：训练十次，结果一样吗？",
    ),
)
def two_lines(budget: Budget) -> list[dict]:
    """Ten trainings of a table of ten numbers, from the same seed, under the famous two lines."""
    rows = []
    for run in budget.loop(range(10), desc=both("trainings", "训练")):
        with using({"torch.num_threads": _threads(), **CURES["two lines"]}):
            table = toy_repro.table_training()
        rows.append({"run": run + 1, "threads": _threads(), "bits": fingerprint(table), "first_entry": table[0].item()})
    return rows


# --- 06-cures -----------------------------------------------------------------------------------------------

CURES_SAID = {
    "seeds alone": both("seeds alone", "只设种子"),
    "two lines": both("benchmark=False, deterministic=True", "benchmark=False、deterministic=True"),
    "one thread": both("one CPU thread", "单个 CPU 线程"),
    "algorithms": both("use_deterministic_algorithms(True)", "use_deterministic_algorithms(True)"),
}
CURES_DRAWN = {
    **CURES_SAID,
    "two lines": both("the two lines", "那两行"),
    "algorithms": both("the deterministic mode", "确定性模式"),
}
"""Short names for the picture."""


def headline_cures(record: Record) -> Text:
    said = {
        "a": both("The two lines made all trainings agree; the mode did not.", "那两行管用，确定性模式不管用。"),
        "b": both(
            "The two lines did not help; the deterministic mode made all trainings agree.",
            "那两行不管用，确定性模式才让训练次次相同。",
        ),
        "c": both("Either the two lines or the mode made all trainings agree.", "那两行和确定性模式，哪个都管用。"),
        "d": both("Neither the two lines nor the mode made all trainings agree.", "那两行和确定性模式，都不管用。"),
    }
    if len(record.rows) < len(CURES_SAID):
        return TOO_NOISY
    even = both("Even with seeds alone, all trainings agreed this time.", "这回只设种子，训练就次次相同。")
    return said.get(settle_cures(record)["06-bet-cure"], even)


def say_cures(record: Record) -> Text:
    if len(record.rows) < 2:
        return NOTHING
    en = "; ".join(f"{CURES_SAID[r['cure']]['en']}: {_equal(r)['en']}" for r in record.rows)
    zh = "；".join(f"{CURES_SAID[r['cure']]['zh']}，{_equal(r)['zh']}" for r in record.rows)
    doubt = both("", "")
    if settle_cures(record)["06-bet-cure"] is None:
        doubt = both(
            " Inconclusive: the additions met in one order throughout. Run it again.",
            "无法判定：这次累加的顺序碰巧始终一样。请再运行一次。",
        )
    return both(
        f"Every seed set, results by cure: {en}.{doubt['en']}", f"种子全设，各种药方的结果：{zh}。{doubt['zh']}"
    )


def _equal(row: dict) -> Text:
    """How many results the runs had, in words."""
    if row["different"] == 1:
        return both(f"all {row['runs']} equal", f"{row['runs']} 次全部相同")
    return both(f"{row['different']} different of {row['runs']}", f"{row['runs']} 次里有 {row['different']} 种")


def draw_cures(record: Record, bets: dict) -> Sheet:
    rows = [
        Share(word(CURES_DRAWN[row["cure"]]), row["runs"], row["different"], _results(row["different"]))
        for row in record.rows
    ]
    said = {
        "a": (("two lines",), t("this makes all agree", "这个能让结果一致")),
        "b": (("algorithms",), t("this makes all agree", "这个能让结果一致")),
        "c": (("two lines", "algorithms"), t("either makes all agree", "两个都能让结果一致")),
        "d": (("two lines", "algorithms"), t("neither makes all agree", "两个都不能")),
    }
    bet, mine = None, said.get(bets.get("06-bet-cure", ""))
    if mine:
        bet = Bet(mine[1], rows=[at for at, row in enumerate(record.rows) if row["cure"] in mine[0]])
    return share_grid(rows, bet)


def settle_cures(record: Record) -> dict[str, str | None]:
    """None when even the untreated runs agree; else which of the two remedies made all runs agree."""
    different = {row["cure"]: row["different"] for row in record.rows}
    answer = None
    if len(different) == len(CURES_SAID) and different["seeds alone"] > 1:
        flags, mode = different["two lines"] == 1, different["algorithms"] == 1
        answer = {(True, True): "c", (True, False): "a", (False, True): "b", (False, False): "d"}[flags, mode]
    return {"06-bet-cure": answer}


def _trained(settings: dict[str, Any], runs: int) -> list[str]:
    with using({"torch.num_threads": _threads(), **settings}):
        return [fingerprint(toy_repro.table_training()) for _ in range(runs)]


@experiment(
    name="06-cures",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=10,
    title=both("Which cure makes the trainings agree?", "哪种药方能让训练结果一致？"),
)
def cures(budget: Budget) -> list[dict]:
    """Twenty trainings from one seed under each of four settings; how many different results."""
    rows = []
    for name, settings in budget.loop(CURES.items(), desc=both("cures", "药方")):
        bits = _trained(settings, 20)
        rows.append(
            {
                "cure": name,
                "runs": len(bits),
                "different": len(set(bits)),
                "threads": settings.get("torch.num_threads", _threads()),
            }
        )
    return rows


# --- 06-threads-sum -----------------------------------------------------------------------------------------


def headline_threads_sum(record: Record) -> Text:
    changed = {row["numbers"]: row["lists_changed_by_threads"] > 0 for row in record.rows}
    said = {
        (False, False): both(
            "The number of threads changed neither the short nor the long sums.", "换线程数，长短求和的结果都没变。"
        ),
        (False, True): both(
            "Long sums change with the number of threads; short ones do not.", "换了线程数，长的求和会变，短的不变。"
        ),
        (True, True): both("Even short sums change with the number of threads.", "换了线程数，连短的求和也会变。"),
        (True, False): both(
            "Here short sums change with the number of threads, long ones do not.",
            "换了线程数，这里短的求和会变，长的不变。",
        ),
    }
    return said.get((changed.get(1000), changed.get(1_000_000)), TOO_NOISY)


def say_threads_sum(record: Record) -> Text:
    if len(record.rows) < 2:
        return NOTHING
    en = ", ".join(f"{r['lists_changed_by_threads']} at {r['numbers']:,}" for r in record.rows)
    zh = "，".join(f"{r['numbers']:,} 个数时 {r['lists_changed_by_threads']} 个" for r in record.rows)
    lists = record.rows[0]["lists"]
    again = sum(row["lists_changed_by_repeating"] for row in record.rows)
    tail = (
        both("With the number of threads held fixed, every repeat agreed.", "线程数固定时，每次重复都一致。")
        if again == 0
        else both(
            f"Even with the threads held fixed, {again} sums changed on repeating.",
            f"即使线程数固定，重复时也有 {again} 个和变了。",
        )
    )
    return both(
        f"Of {lists} sums, so many changed their bits with the number of threads: {en} numbers. {tail['en']}",
        f"{lists} 个和里，结果随线程数而变的：{zh}。{tail['zh']}",
    )


def draw_threads_sum(record: Record, bets: dict) -> Sheet:
    rows = []
    for row in record.rows:
        count, lists = row["lists_changed_by_threads"], row["lists"]
        said = (
            t(f"{count} of {lists} sums change", f"{lists} 个和里 {count} 个变了")
            if count
            else t("none changes", "都没变")
        )
        rows.append(Bar(t(f"{row['numbers']:,} numbers", f"{row['numbers']:,} 个数"), count, said))
    said = {
        "a": ((1000, 1_000_000), t("neither changes", "都不变")),
        "b": ((1000, 1_000_000), t("both change", "两组都变")),
        "c": ((1_000_000,), t("only this one changes", "只有这组变")),
    }
    bet, mine = None, said.get(bets.get("06-bet-threads", ""))
    if mine:
        bet = Bet(mine[1], rows=[at for at, row in enumerate(record.rows) if row["numbers"] in mine[0]])
    return bars(rows, bet)


def settle_threads_sum(record: Record) -> dict[str, str | None]:
    changed = {row["numbers"]: row["lists_changed_by_threads"] > 0 for row in record.rows}
    answers = {(False, False): "a", (False, True): "c", (True, True): "b"}
    return {"06-bet-threads": answers.get((changed.get(1000), changed.get(1_000_000)))}


@experiment(
    name="06-threads-sum",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=4,
    title=both("The same sum with 1 to 8 threads: the same bits?", "同一个和，用 1 到 8 个线程：逐位相同吗？"),
)
def threads_sum(budget: Budget) -> list[dict]:
    """Ten lists of each length, summed with five numbers of threads, three times each."""
    rng = torch.Generator().manual_seed(0)
    rows = []
    for size in budget.loop(SUM_SIZES, desc=both("sums", "求和中")):
        lists = [torch.randn(size, generator=rng) for _ in range(10)]
        seen = {}
        for count in SUM_THREADS:
            with using({"torch.num_threads": count}):
                seen[count] = [[values.sum().item().hex() for values in lists] for _ in range(3)]
        changed = sum(len({seen[count][0][i] for count in SUM_THREADS}) > 1 for i in range(len(lists)))
        rows.append(
            {
                "numbers": size,
                "lists": len(lists),
                "lists_changed_by_threads": changed,
                "lists_changed_by_repeating": sum(
                    len({again[i] for again in seen[count]}) > 1 for count in SUM_THREADS for i in range(len(lists))
                ),
            }
        )
    return rows


# --- 06-company ---------------------------------------------------------------------------------------------


def headline_company(record: Record) -> Text:
    said = {
        "a": both("Alone or in company: here a row keeps the same bits.", "单独算、一起算，这一行都逐位相同。"),
        "b": both(
            "Your row's last digits depend on how many rows share its batch.", "同一行的末几位，取决于 batch 里有几行。"
        ),
        "c": both(
            "Your row's result clearly changes with the size of its batch.", "batch 大小一变，这一行的结果明显不同。"
        ),
    }
    return said.get(settle_company(record)["06-bet-company"], TOO_NOISY)


def say_company(record: Record) -> Text:
    alone = [row for row in record.rows if row["batch"] == 1]
    if not alone or len(record.rows) < 3:
        return NOTHING
    other = [str(row["batch"]) for row in record.rows if not row["same_bits"]]
    if not other:
        return both(
            "The row got the same bits in every batch size tried here. "
            "Another layer, library or machine may say otherwise.",
            "在试过的每种 batch 大小里，这一行的结果逐位相同。换一个层、一个库或一台机器，可能就不一样了。",
        )
    worst = max(row["largest_change"] for row in record.rows)
    return both(
        f"The same row, the same weights: other bits than in the batch of 64 when the batch holds {', '.join(other)}. "
        f"The change is at most {worst:.1g} of the largest output.",
        f"同一行数据、同样的权重：batch 大小为 {'、'.join(other)} 时，结果与 batch 64 不是逐位相同。"
        f"变化最多是最大输出的 {worst:.1g} 倍。",
    )


def draw_company(record: Record, bets: dict) -> Sheet:
    """How many outputs of the row have other bits than in the batch of 64, which is left out; how far, is in the words."""
    rows, near = [row for row in record.rows if row["batch"] != ROWS], t("a rounding apart", "只差舍入")
    shown = []
    for row in rows:
        far = near if row["largest_change"] < 1e-4 else t("clearly apart", "明显不同")
        share = 100 * row["numbers_changed"] / row["numbers"]
        said = t(f"{share:.0f} % other bits, {far}", f"{share:.0f}% 比特不同，{far}")
        name = t(f"batch of {row['batch']}", f"batch 为 {row['batch']}")
        shown.append(Bar(name, share, t("the same bits", "逐位相同") if row["same_bits"] else said))
    said = {
        "a": t("the same bits in all", "处处逐位相同"),
        "b": t("a rounding apart in some of these", "其中有些只差舍入"),
        "c": t("clearly apart in some of these", "其中有些明显不同"),
    }
    mine = said.get(bets.get("06-bet-company", ""))
    return bars(shown, Bet(mine, rows=range(len(rows))) if mine else None)


def settle_company(record: Record) -> dict[str, str | None]:
    alone = [row["same_bits"] for row in record.rows if row["batch"] == 1]
    if not alone or len(record.rows) < 3:
        return {"06-bet-company": None}
    if all(row["same_bits"] for row in record.rows):
        return {"06-bet-company": "a"}
    worst = max(row["largest_change"] for row in record.rows)
    return {"06-bet-company": "b" if worst < 1e-4 else "c"}


@experiment(
    name="06-company",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=4,
    title=both("The same row in another batch: the same bits?", "同一行数据换个 batch：结果逐位相同吗？"),
)
def company(budget: Budget) -> list[dict]:
    """The first row of a batch through a linear layer, in batches of 1 to 64; compared with the batch of 64."""
    rng = torch.Generator().manual_seed(0)
    weight, inputs = torch.randn(512, 512, generator=rng), torch.randn(ROWS, 512, generator=rng)
    rows = []
    with torch.inference_mode():
        full = F.linear(inputs, weight)[0]
        for batch in budget.loop(BATCHES, desc=both("batches", "batch")):
            mine = F.linear(inputs[:batch], weight)[0]
            again = F.linear(inputs[:batch], weight)[0]
            rows.append(
                {
                    "batch": batch,
                    "same_bits": int(torch.equal(mine, full)),
                    "repeats": int(torch.equal(mine, again)),
                    "numbers": len(mine),
                    "numbers_changed": int((mine != full).sum()),
                    "largest_change": float((mine - full).abs().max() / full.abs().max()),
                }
            )
    return rows


# --- 06-pieces ----------------------------------------------------------------------------------------------


def headline_pieces(record: Record) -> Text:
    different, errors = len({row["bits"] for row in record.rows}), [row["largest_error"] for row in record.rows]
    if len(errors) < 2:
        return TOO_NOISY
    if different == 1:
        return both("However it is cut, the product keeps its bits here.", "不管怎么切，这个乘积都逐位相同。")
    if max(errors) < 2 * min(errors):
        return both(
            f"One product, cut in other pieces: {different} results, all about equally right.",
            f"同一个乘积换着切，{different} 种结果，准确度差不多。",
        )
    return both(
        f"One product, cut in other pieces: {different} results, some clearly more accurate.",
        f"同一个乘积换着切，{different} 种结果，有的明显更准。",
    )


def say_pieces(record: Record) -> Text:
    rows = record.rows
    if len(rows) < 2:
        return NOTHING
    different, errors = len({row["bits"] for row in rows}), [row["largest_error"] for row in rows]
    best = min(rows, key=lambda row: row["largest_error"])["pieces"]
    return both(
        f"{len(rows)} ways to cut the same product, {different} different results. "
        f"Against float64 their largest errors lie between {min(errors):.2g} and {max(errors):.2g}; "
        f"the smallest belongs to {best} piece{'s' * (best > 1)}.",
        f"同一个乘积的 {len(rows)} 种切法，得到 {different} 种不同的结果。"
        f"与 float64 相比，最大误差在 {min(errors):.2g} 到 {max(errors):.2g} 之间；误差最小的是切成 {best} 段。",
    )


def draw_pieces(record: Record, bets: dict) -> Sheet:
    rows = []
    for row in record.rows:
        count, off = row["pieces"], row["largest_error"] * 1e6
        name = t(f"{count} piece{'s' * (count > 1)}", f"切成 {count} 段")
        rows.append(Bar(name, off, t(f"off by {off:.0f} millionths at most", f"最多差百万分之 {off:.0f}")))
    return bars(rows)


@experiment(
    name="06-pieces",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=3,
    title=both("One product in 1 to 32 pieces: which result is right?", "同一个乘积分成 1 到 32 段：哪个结果是对的？"),
)
def pieces(budget: Budget) -> list[dict]:
    """A matrix product whose inner dimension is cut in pieces (split-K), against float64."""
    rng = torch.Generator().manual_seed(0)
    a, b = torch.randn(64, 4096, generator=rng), torch.randn(4096, 64, generator=rng)
    truth = a.double() @ b.double()
    rows = []
    for count in budget.loop((1, 2, 4, 8, 16, 32), desc=both("pieces", "分段")):
        total = sum(p @ q for p, q in zip(a.chunk(count, 1), b.chunk(count, 0), strict=True))
        error = (total.double() - truth).abs()
        rows.append(
            {
                "pieces": count,
                "bits": fingerprint(total),
                "largest_error": error.max().item(),
                "mean_error": error.mean().item(),
                "largest_value": truth.abs().max().item(),
            }
        )
    return rows


# --- 06-cost ------------------------------------------------------------------------------------------------


def headline_cost(record: Record) -> Text:
    answer, faster = settle_cost(record)["06-bet-cost"], any(row["verdict"] == "faster" for row in record.rows)
    said = {
        ("a", False): both(
            "On this CPU determinism costs time everywhere it was tried.", "这块 CPU 上，处处都要为确定性多花时间。"
        ),
        ("b", True): both(
            "Determinism: slower in one place, even faster in another.", "确定性有的地方更慢，有的地方反而更快。"
        ),
        ("b", False): both("Determinism costs time in some operations only.", "只有一部分操作要为确定性多花时间。"),
        ("c", True): both(
            "Determinism costs nothing here; somewhere it is even faster.", "确定性在这里不花时间，有的地方还更快。"
        ),
        ("c", False): both("On this CPU determinism costs no time.", "这块 CPU 上，确定性不花时间。"),
    }
    return said.get((answer, faster), TOO_NOISY)


def say_cost(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    en = "; ".join(
        f"{_places(r['operation'])['en']}: {with_interval(r, 'en')}, {VERDICTS[r['verdict']]['en']}"
        for r in record.rows
    )
    zh = "；".join(
        f"{_places(r['operation'])['zh']}：{with_interval(r, 'zh')}，{VERDICTS[r['verdict']]['zh']}"
        for r in record.rows
    )
    count = record.rows[0]["threads"]
    return both(
        f"Time with the mode on over time with it off, {count} threads: {en}.",
        f"打开确定性模式的耗时除以不打开，{count} 个线程。{zh}。",
    )


def draw_cost(record: Record, bets: dict) -> Sheet:
    said = {
        "a": ("right", t("in all", "处处")),
        "b": ("right", t("in 1 or 2", "一两处")),
        "c": ("left", t("in none", "都不慢")),
    }
    mine = said.get(bets.get("06-bet-cost", ""))
    return cost_rows(record.rows, Bet(mine[1], rows=dict.fromkeys(range(len(record.rows)), mine[0])) if mine else None)


def cost_rows(rows: list[dict], bet: Bet | None = None) -> Sheet:
    """Time with the mode on over time with it off, a row an operation."""
    shown = [
        Ratio(word(_places(row["operation"])), row["ratio"], row["low"], row["high"], rounds=row.get("rounds", 0))
        for row in rows
    ]
    return ratio_rows(shown, (t("deterministic: faster", "确定性更快"), t("deterministic: slower", "确定性更慢")), bet)


def _places(operation: str) -> Text:
    count, _, unit = operation.partition(" ")
    if unit == "places":
        return both(f"adding into {int(count):,} places", f"累加到 {int(count):,} 个位置")
    return both(operation, operation)


def settle_cost(record: Record) -> dict[str, str | None]:
    """None while a verdict is undecided; else whether it cost everywhere, somewhere or nowhere."""
    verdicts = [row["verdict"] for row in record.rows]
    if len(verdicts) < 3 or "undecided" in verdicts:
        return {"06-bet-cost": None}
    slower = verdicts.count("slower")
    return {"06-bet-cost": "a" if slower == len(verdicts) else "b" if slower else "c"}


def _adder(places: int, values: torch.Tensor, rng: torch.Generator) -> Callable[[], torch.Tensor]:
    index, table = torch.randint(0, places, (len(values),), generator=rng), torch.zeros(places)
    return lambda: table.zero_().index_put_((index,), values, accumulate=True)


@experiment(
    name="06-cost",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=8,
    title=both(
        "What does the deterministic way of adding cost on this CPU?", "在这台 CPU 上，确定性的累加要付出多少代价？"
    ),
)
def cost(budget: Budget) -> list[dict]:
    """Time with the mode on over time with it off: adding into 10 and into 100,000 places, and torch.empty."""
    from course.timing import compare

    rng = torch.Generator().manual_seed(0)
    values, rows = torch.randn(200_000, generator=rng), []
    calls = {f"{places} places": _adder(places, values, rng) for places in (10, 100_000)}
    calls["torch.empty"] = lambda: torch.empty(30_000)
    for place, (name, call) in enumerate(budget.loop(calls.items(), desc=both("operations", "算子"))):
        race = compare(
            {
                "default": lambda call=call: _in_mode("default", call),
                "deterministic": lambda call=call: _in_mode("error", call),
            },
            baseline="default",
            max_time=max(1.0, budget.share(len(calls) - place)),
        )
        rows.append(
            {
                "operation": name,
                "ratio": race.ratio,
                "low": race.low,
                "high": race.high,
                "verdict": race.verdict,
                "threads": torch.get_num_threads(),
                "rounds": race.rounds,
                **{f"{side}_ms": ms for side, ms in race.medians_ms.items()},
            }
        )
    return rows
