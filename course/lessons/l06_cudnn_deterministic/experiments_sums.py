"""Experiments of lesson 06 on sums in another order: other threads, another batch, other pieces."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from course.experiment.base import Budget, experiment
from course.experiment.words import NOTHING, TOO_NOISY
from course.figures.kinds import Bar, Bet, bars
from course.figures.svg import SvgPicture
from course.flags import using
from course.i18n import Text, both, t
from course.lessons.l06_cudnn_deterministic.experiments import LESSON
from course.lessons.l06_cudnn_deterministic.training import fingerprint
from course.records import Record

SUM_SIZES, SUM_THREADS = (1000, 32_768, 32_769, 200_000, 1_000_000), (1, 2, 3, 4, 8)
BATCHES, ROWS = (1, 2, 3, 4, 8, 16, 32, 64), 64

# --- 06-threads-sum -----------------------------------------------------------------------------------------


def headline_threads_sum(record: Record) -> Text:
    changed = {row["numbers"]: row["lists_changed_by_threads"] > 0 for row in record.rows}
    said = {
        (False, False): both(
            "The number of threads changed neither the short nor the long sums.",
            "换了线程数，长求和、短求和的结果都没变。",
        ),
        (False, True): both(
            "Long sums change with the number of threads; short ones do not.",
            "换了线程数，长求和的结果会变，短求和的不变。",
        ),
        (True, True): both("Even short sums change with the number of threads.", "换了线程数，连短求和的结果也会变。"),
        (True, False): both(
            "Here short sums change with the number of threads, long ones do not.",
            "换了线程数，这里短求和的结果会变，长求和的不变。",
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


def draw_threads_sum(record: Record, bets: dict) -> SvgPicture:
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
        "a": both("Alone or in a batch: here a row keeps the same bits.", "单独算、放进 batch 算，这一行都逐位相同。"),
        "b": both(
            "Your row's last digits depend on how many rows share its batch.", "同一行的末几位，取决于 batch 里有几行。"
        ),
        "c": both(
            "Your row's result clearly changes with the size of its batch.", "批大小一变，这一行的结果明显不同。"
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
            "在试过的每种批大小里，这一行的结果逐位相同。换一个层、一个库或一台机器，可能就不一样了。",
        )
    worst = max(row["largest_change"] for row in record.rows)
    return both(
        f"The same row, the same weights: other bits than in the batch of 64 when the batch holds {', '.join(other)}. "
        f"The change is at most {worst:.1g} of the largest output.",
        f"同一行数据、同样的权重：批大小为 {'、'.join(other)} 时，结果与批大小 64 的逐位不一致。"
        f"最大的变化是最大输出的 {worst:.1g} 倍。",
    )


def draw_company(record: Record, bets: dict) -> SvgPicture:
    """How many outputs of the row have other bits than in the batch of 64, which is left out; how far, is in the words."""
    rows, near = [row for row in record.rows if row["batch"] != ROWS], t("a rounding apart", "只差舍入")
    shown = []
    for row in rows:
        far = near if row["largest_change"] < 1e-4 else t("clearly apart", "明显不同")
        share = 100 * row["numbers_changed"] / row["numbers"]
        said = t(f"{share:.0f} % other bits, {far}", f"{share:.0f}% 的值不一致，{far}")
        name = t(f"batch of {row['batch']}", f"批大小 {row['batch']}")
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
    whole=True,
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
        return both("However it is cut, the product keeps its bits here.", "不管怎么切，这个矩阵乘都逐位相同。")
    if max(errors) < 2 * min(errors):
        return both(
            f"One matrix product, cut in different ways: {different} results, all about equally accurate.",
            f"同一个矩阵乘换几种切法，得到 {different} 种结果，准确度差不多。",
        )
    return both(
        f"One matrix product, cut in different ways: {different} results, some clearly more accurate.",
        f"同一个矩阵乘换几种切法，得到 {different} 种结果，有的明显更准。",
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


def draw_pieces(record: Record, bets: dict) -> SvgPicture:
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
    whole=True,
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
