"""Experiments of lesson 06 that need a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from course.experiment.base import Budget, experiment
from course.experiment.kernels import SIGN, differing_parts
from course.experiment.new_process import call_in_new_process
from course.experiment.words import NOTHING, TOO_NOISY, VERDICTS, middle, with_interval, word
from course.figures.kinds import time_words
from course.figures.svg import SvgPicture
from course.flags import using
from course.i18n import Text, both, t
from course.lessons.l06_cudnn_deterministic.experiments import (
    CURES,
    FRESH,
    LESSON,
    PAIRS,
    PROBES,
    _in_mode,
    by_setting,
    cost_rows,
    label,
)
from course.lessons.l06_cudnn_deterministic.probes import cuda_operations
from course.lessons.l06_cudnn_deterministic.training import fingerprint
from course.records import Record
from course.tables import Table
from course.timing.stats import median

GPU = "cuda"  # the device of the experiments with needs="cuda"
GPU_SETTINGS = {"nothing": {}, "two lines": CURES["two lines"], "algorithms": CURES["algorithms"]}


# --- 06-truth-table-cuda ------------------------------------------------------------------------------------


def headline_truth_table_cuda(record: Record) -> Text:
    said = {
        "a": both("With both switches on, cuDNN does not search here.", "两个开关都开，这里就不搜索了。"),
        "b": both(
            "With both switches on, cuDNN searches, and results still vary.", "两个开关都开，照样搜索，结果还会变。"
        ),
        "c": both(
            "With both switches on, cuDNN searches, and still gives the same bits each time.",
            "两个开关都开，照样搜索，结果也能逐位重复。",
        ),
    }
    return said.get(settle_truth_table_cuda(record)["06-bet-both"], TOO_NOISY)


def say_truth_table_cuda(record: Record) -> Text:
    found = by_setting(record)
    if len(found) < 4:
        return NOTHING
    en, zh = [], []
    for setting, rows in found.items():
        first, later = middle([row["first_ms"] for row in rows]), middle([row["later_ms"] for row in rows])
        within = max(row["different_bits"] for row in rows)
        across, kernels = (len({row[key] for row in rows}) for key in ("bits", "kernels"))
        en.append(
            f"{label(setting)}: first call {first} ms, later {later} ms; within a process up to {within} result(s), "
            f"across {len(rows)} processes {across} result(s) and {kernels} set(s) of kernels{_differing(rows, 'en')}"
        )
        zh.append(
            f"{label(setting)}：首次 {first} ms，之后 {later} ms；同一进程内最多 {within} 种结果，"
            f"{len(rows)} 个进程之间 {across} 种结果、{kernels} 种 kernel 集合{_differing(rows, 'zh')}"
        )
    return both("; ".join(en) + ".", "；".join(zh) + "。")


def _differing(rows: list[dict], code: str) -> str:
    """In brackets the kernels that ran in some of these processes and not in all, by the part of the name that differs."""
    sets = [set(row["kernels"].split(SIGN)) for row in rows]
    names = differing_parts(sorted(set.union(*sets) - set.intersection(*sets)))
    if not names:
        return ""
    return f" ({', '.join(names.values())})" if code == "en" else f"（{'、'.join(names.values())}）"


def draw_truth_table_cuda(record: Record, bets: dict) -> Table:
    """First call and repeated bits for each setting; what was bet of both switches on stands below."""
    lines = [["", t("first call", "首次调用"), t("in one process", "同一进程内"), t("across processes", "进程之间")]]
    marks, found = {}, by_setting(record)
    for at, (setting, rows) in enumerate(found.items()):
        counts = (max(row["different_bits"] for row in rows), len({row["bits"] for row in rows}))
        marks |= {(at, x): "told" for x, count in enumerate(counts, 2) if count == 1}
        first = time_words(median([row["first_ms"] for row in rows]) / 1e3)
        lines.append([label(setting), first, *(_kinds(count) for count in counts)])
    search, none = t("a search", "有搜索"), t("no search", "没有搜索")
    mine = {
        "a": [none, ""],
        "b": [search, t("results may vary", "结果可能会变")],
        "c": [search, t("one result", "一种结果")],
    }.get(bets.get("06-bet-both", ""))
    if mine:
        lines.append([t("both True: your bet", "两个都为 True：你押的"), *mine, ""])
    return Table(lines, marks, [(len(found), x) for x, said in enumerate(mine, 1) if said] if mine else ())


def _kinds(count: int) -> str:
    return t(f"{count} result{'s' * (count > 1)}", f"{count} 种结果")


def settle_truth_table_cuda(record: Record) -> dict[str, str | None]:
    """By the first calls, whether both True searches; by the bits within a process, what it lets in.

    A search shows when every first call lies above three times those of deterministic alone, plus later calls;
    None without a clear difference, or when benchmark alone shows no search either.
    """
    found = by_setting(record)
    if len(found) < 4 or min(len(rows) for rows in found.values()) < 2:
        return {"06-bet-both": None}
    first = {setting: [row["first_ms"] for row in rows] for setting, rows in found.items()}
    if min(first[1, 0]) <= 3 * max(first[0, 0]):
        return {"06-bet-both": None}
    if max(row["different_bits"] for row in found[1, 1]) > 1:
        return {"06-bet-both": "b"}
    if min(first[1, 1]) > 3 * max(first[0, 1]):
        return {"06-bet-both": "c"}
    return {"06-bet-both": "a" if max(first[1, 1]) < 1.5 * max(first[0, 1]) else None}


@experiment(
    name="06-truth-table-cuda",
    lesson=LESSON,
    version=2,
    needs="cuda",
    seconds=150,
    title=both(
        "cuDNN under the four settings of benchmark and deterministic: is there a search, do the bits repeat?",
        "cuDNN：benchmark 与 deterministic 的四种组合下，会搜索吗？结果逐位重复吗？",
    ),
)
def truth_table_cuda(budget: Budget, channels: int = 64, size: int = 56) -> Iterator[dict]:
    """Forward and backward of one convolution, twenty times; three new processes for each setting."""
    left = 3 * len(PAIRS)
    for process in budget.loop(range(3), desc=FRESH, least=2):
        for benchmark, deterministic in PAIRS:
            seen, _ = call_in_new_process(
                PROBES, "conv_setting", benchmark, deterministic, 20, channels, size, budget.share(left), timeout_s=180
            )
            left -= 1
            budget.complete = budget.complete and len(seen["bits"]) == 20
            yield {
                "benchmark": benchmark,
                "deterministic": deterministic,
                "process": process,
                "first_ms": seen["first_ms"],
                "later_ms": seen["later_ms"],
                "different_bits": len(set(seen["bits"])),
                "bits": seen["bits"][-1],
                "kernels": seen["kernels"],
            }


# --- 06-bits-cuda -------------------------------------------------------------------------------------------

SETTINGS_CUDA = {
    "nothing": both("nothing set", "什么都不设"),
    "two lines": both("the two cuDNN lines", "cuDNN 那两行"),
    "algorithms": both("use_deterministic_algorithms", "use_deterministic_algorithms"),
}


def _by_operation(record: Record) -> dict[str, dict[str, dict]]:
    found: dict[str, dict[str, dict]] = {}
    for row in record.rows:
        found.setdefault(row["operation"], {})[row["setting"]] = row
    return found


def headline_bits_cuda(record: Record) -> Text:
    found = [rows for rows in _by_operation(record).values() if len(rows) == len(SETTINGS_CUDA)]
    if not found:
        return TOO_NOISY
    nothing, lines, mode = (any(rows[s]["different"] > 1 for rows in found) for s in SETTINGS_CUDA)
    if mode:
        return both("Even with the deterministic mode, some results vary.", "开了确定性模式，还是有结果会变。")
    if lines:
        return both(
            "The two cuDNN lines let some results vary; the deterministic mode lets none.",
            "cuDNN 那两行管不住的，确定性模式管住了。",
        )
    if nothing:
        return both(
            "The two cuDNN lines were enough: every result keeps its bits.", "cuDNN 那两行就够了，结果都能逐位重复。"
        )
    return both("Every result kept its bits here, whatever was set.", "不管怎么设，这里的结果都逐位重复。")


def say_bits_cuda(record: Record) -> Text:
    found = {name: rows for name, rows in _by_operation(record).items() if len(rows) == len(SETTINGS_CUDA)}
    if not found:
        return NOTHING
    unsteady = {s: [name for name, rows in found.items() if rows[s]["different"] > 1] for s in SETTINGS_CUDA}
    raising = [name for name, rows in found.items() if rows["algorithms"]["outcome"] == "raises"]
    en = "; ".join(f"{SETTINGS_CUDA[s]['en']}: {', '.join(names) or 'none'}" for s, names in unsteady.items())
    zh = "；".join(f"{SETTINGS_CUDA[s]['zh']}：{'、'.join(names) or '无'}" for s, names in unsteady.items())
    return both(
        f"Operations that did not repeat their bits in thirty calls. {en}. "
        f"Refused by use_deterministic_algorithms: {', '.join(raising) or 'none'}.",
        f"三十次调用里不能逐位重复的算子。{zh}。被 use_deterministic_algorithms 拒绝的：{'、'.join(raising) or '无'}。",
    )


def draw_bits_cuda(record: Record, bets: dict) -> Table:
    lines, marks = [["", *(word(said) for said in SETTINGS_CUDA.values())]], {}
    for y, (name, rows) in enumerate(_by_operation(record).items()):
        cells = []
        for x, setting in enumerate(SETTINGS_CUDA, 1):
            row = rows.get(setting)
            cells.append(
                "" if not row else t("raises", "报错") if row["outcome"] == "raises" else _kinds(row["different"])
            )
            marks |= {(y, x): "told"} if row and row["different"] > 1 else {}
        lines.append([name, *cells])
    return Table(lines, marks)


def _repeated(call: Callable[[], Any]) -> dict[str, Any]:
    try:
        found = {fingerprint(call()) for _ in range(30)}
    except RuntimeError as error:
        return {"different": 0, "outcome": "raises", "said": str(error).split(". ")[0][:160]}
    return {"different": len(found), "outcome": "runs", "said": ""}


@experiment(
    name="06-bits-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=40,
    whole=True,
    title=both(
        "On the GPU, thirty times the same call: how many different results?",
        "GPU 上同一个调用重复三十次：有多少种不同的结果？",
    ),
)
def bits_cuda(budget: Budget, count: int = 200_000, size: int = 56) -> Iterator[dict]:
    """Different bits over thirty calls for each operation and setting; 0 where the call raises."""
    operations = cuda_operations(GPU, count, size)
    cases = [(operation, name) for operation in operations for name in GPU_SETTINGS]
    for operation, setting in budget.loop(cases, desc=both("operations", "算子")):
        with using(GPU_SETTINGS[setting]):
            yield {"operation": operation, "setting": setting, **_repeated(operations[operation])}


# --- 06-cost-cuda -------------------------------------------------------------------------------------------


def headline_cost_cuda(record: Record) -> Text:
    verdicts = [row["verdict"] for row in record.rows]
    slower, faster = verdicts.count("slower"), verdicts.count("faster")
    if slower and faster:
        return both(
            "Determinism: slower in some operations, even faster in others.", "确定性让有的操作更慢，有的反而更快。"
        )
    if slower:
        return both(
            f"Determinism makes {'one' if slower == 1 else slower} of the operations tried slower.",
            f"试过的算子里，有 {slower} 种因确定性变慢。",
        )
    if "undecided" in verdicts or set(verdicts) <= {"raises"}:
        return TOO_NOISY
    if faster:
        return both(
            "Determinism costs nothing here; somewhere it is even faster.", "确定性在这里不花时间，有的还更快。"
        )
    return both("On this GPU determinism costs no time.", "这块 GPU 上，确定性不花时间。")


def say_cost_cuda(record: Record) -> Text:
    raced = [row for row in record.rows if "ratio" in row]
    refused = [row["operation"] for row in record.rows if row["verdict"] == "raises"]
    if not raced:
        return NOTHING

    def line(row: dict, code: str) -> str:
        comma = ", " if code == "en" else "，"
        return f"{row['operation']} {with_interval(row, code)}{comma}{VERDICTS[row['verdict']][code]}"

    return both(
        "Time with deterministic algorithms over time without: "
        + "; ".join(line(row, "en") for row in raced)
        + f". Refused: {', '.join(refused) or 'none'}.",
        "用确定性算法的耗时除以不用："
        + "；".join(line(row, "zh") for row in raced)
        + f"。被拒绝：{'、'.join(refused) or '无'}。",
    )


def draw_cost_cuda(record: Record, bets: dict) -> SvgPicture | Table:
    raced = [row for row in record.rows if "ratio" in row]
    if not raced:
        return Table([["", ""], *([row["operation"], t("refused", "被拒绝")] for row in record.rows)])
    return cost_rows(raced)


@experiment(
    name="06-cost-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=60,
    whole=True,
    title=both("What does determinism cost on this GPU?", "在这块 GPU 上，确定性要付出多少代价？"),
)
def cost_cuda(budget: Budget, count: int = 200_000, size: int = 56) -> Iterator[dict]:
    """Time with use_deterministic_algorithms over time without, for each operation that has both."""
    from course.timing import compare

    operations = cuda_operations(GPU, count, size)
    for place, (name, call) in enumerate(budget.loop(operations.items(), desc=both("operations", "算子"))):
        try:
            _in_mode("error", call)
        except RuntimeError as error:
            yield {"operation": name, "verdict": "raises", "said": str(error).split(". ")[0][:160]}
            continue
        race = compare(
            {
                "default": lambda call=call: _in_mode("default", call),
                "deterministic": lambda call=call: _in_mode("error", call),
            },
            baseline="default",
            max_time=max(0.1, min(6.0, budget.share(len(operations) - place))),
            device=GPU,
        )
        yield {
            "operation": name,
            "verdict": race.verdict,
            "ratio": race.ratio,
            "low": race.low,
            "high": race.high,
            "rounds": race.rounds,
            **{f"{side}_ms": ms for side, ms in race.medians_ms.items()},
        }
