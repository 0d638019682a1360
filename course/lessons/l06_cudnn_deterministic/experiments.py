"""Experiments of lesson 06: what repeats itself to the last bit, what does not, and which cure helps.

``training`` and ``filters`` hold the small computations. cuDNN is asked in new processes, because a process keeps its plans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch

from course.experiment.base import Budget, experiment
from course.experiment.rows import race_row
from course.experiment.words import NOTHING, TOO_NOISY, VERDICTS, with_interval, word
from course.figures.kinds import Bet, Ratio, Share, ratio_rows, share_grid
from course.figures.svg import SvgPicture
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
        return both("All trainings agreed this time; nobody promises the next one.", "这回训练次次相同，但下回不一定。")
    if different == runs:
        return both(
            "Seeds set, both lines written: no two trainings agree.", "种子设了，那两行也写了，十次训练还是次次不同。"
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


def draw_two_lines(record: Record, bets: dict) -> SvgPicture:
    """A square a training, the same number for the same bits."""
    each = _each([row["bits"] for row in record.rows])
    return share_grid([Share(t("trainings", "训练"), each, _results(len(each)))])


def _each(results: list[str]) -> list[int]:
    """How often each of the different results came, most first."""
    return [count for _, count in Counter(results).most_common()]


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
    whole=True,
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


def draw_cures(record: Record, bets: dict) -> SvgPicture:
    rows = [Share(word(CURES_DRAWN[row["cure"]]), row["each"], _results(row["different"])) for row in record.rows]
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
    version=2,
    needs="cpu",
    seconds=10,
    title=both("Which cure makes the trainings agree?", "哪种药方能让训练结果一致？"),
)
def cures(budget: Budget) -> Iterator[dict]:
    """Twenty trainings from one seed under each of four settings; how many different results."""
    for name, settings in budget.loop(CURES.items(), desc=both("cures", "药方")):
        each = _each(_trained(settings, 20))
        yield {
            "cure": name,
            "runs": sum(each),
            "different": len(each),
            "each": each,
            "threads": settings.get("torch.num_threads", _threads()),
        }


# --- 06-cost ------------------------------------------------------------------------------------------------


def headline_cost(record: Record) -> Text:
    answer, faster = settle_cost(record)["06-bet-cost"], any(row["verdict"] == "faster" for row in record.rows)
    said = {
        ("a", False): both(
            "On this CPU determinism costs time everywhere it was tried.", "这颗 CPU 上，处处都要为确定性多花时间。"
        ),
        ("b", True): both(
            "Determinism: slower in one place, even faster in another.", "确定性有的地方更慢，有的地方反而更快。"
        ),
        ("b", False): both("Determinism costs time in some operations only.", "只有一部分操作要为确定性多花时间。"),
        ("c", True): both(
            "Determinism costs nothing here; somewhere it is even faster.", "确定性在这里不花时间，有的地方还更快。"
        ),
        ("c", False): both("On this CPU determinism costs no time.", "这颗 CPU 上，确定性不花时间。"),
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


def draw_cost(record: Record, bets: dict) -> SvgPicture:
    said = {
        "a": ("right", t("in all", "处处")),
        "b": ("right", t("in 1 or 2", "一两处")),
        "c": ("left", t("in none", "都不慢")),
    }
    mine = said.get(bets.get("06-bet-cost", ""))
    return cost_rows(record.rows, Bet(mine[1], rows=dict.fromkeys(range(len(record.rows)), mine[0])) if mine else None)


def cost_rows(rows: list[dict], bet: Bet | None = None) -> SvgPicture:
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
        "What does the deterministic way of adding cost on this CPU?", "在这颗 CPU 上，确定性的累加要付出多少代价？"
    ),
)
def cost(budget: Budget) -> Iterator[dict]:
    """Time with the mode on over time with it off: adding into 10 and into 100,000 places, and torch.empty."""
    from course.timing import compare

    rng = torch.Generator().manual_seed(0)
    values = torch.randn(200_000, generator=rng)
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
        yield {
            "operation": name,
            **race_row(race),
            "threads": torch.get_num_threads(),
            "rounds": race.rounds,
            **{f"{side}_ms": ms for side, ms in race.medians_ms.items()},
        }
