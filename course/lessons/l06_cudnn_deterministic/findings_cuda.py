"""Sentences, pictures and settled bets of the CUDA records of lesson 06: pure functions on a record."""

from __future__ import annotations

from typing import Any

from course.i18n import Text, both, t
from course.lessons.l05_cudnn_benchmark.findings import NOTHING, middle, tiles
from course.lessons.l06_cudnn_deterministic.findings_doors import by_setting, label

SETTINGS = {"nothing": both("nothing set", "什么都不设"),
            "two lines": both("the two cuDNN lines", "cuDNN 那两行"),
            "algorithms": both("use_deterministic_algorithms", "use_deterministic_algorithms")}


# --- 06-truth-table-cuda --------------------------------------------------------------------------------------

def truth_table(record: Any) -> Text:
    found = by_setting(record)
    if len(found) < 4:
        return NOTHING
    en, zh = [], []
    for setting, rows in found.items():
        first, later = middle([row["first_ms"] for row in rows]), middle([row["later_ms"] for row in rows])
        within = max(row["different_bits"] for row in rows)
        across, kernels = (len({row[key] for row in rows}) for key in ("bits", "kernels"))
        en.append(f"{label(setting)}: first call {first} ms, later {later} ms; within a process up to "
                  f"{within} "
                  f"result(s), across {len(rows)} processes {across} result(s) and {kernels} list(s) of "
                  f"kernels")
        zh.append(f"{label(setting)}：首次 {first} ms，之后 {later} ms；同一进程内最多 {within} 种结果，{len(rows)} "
                  f"个进程之间 {across} 种结果、{kernels} 份 kernel 清单")
    return both("; ".join(en) + ".", "；".join(zh) + "。")


def draw_truth_table(record: Any, ax: Any) -> None:
    lines = []
    for setting, rows in by_setting(record).items():
        within = max(row["different_bits"] for row in rows)
        across, first = len({row["bits"] for row in rows}), min(row["first_ms"] for row in rows)
        lines.append((label(setting), t(f"first call {first:.3g} ms · within {within} · across {across}",
                                        f"首次 {first:.3g} ms · 进程内 {within} 种 · 进程间 {across} 种"),
                      within == across == 1))
    tiles(ax, lines)
    ax.set_xlabel(t("different results within a process and across processes; blue: one and the same",
                    "进程内、进程间不同结果的个数；蓝：始终只有一种"))


def settle_truth_table(record: Any) -> dict[str, str | None]:
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


# --- 06-bits-cuda ---------------------------------------------------------------------------------------------

def _by_operation(record: Any) -> dict[str, dict[str, dict]]:
    found: dict[str, dict[str, dict]] = {}
    for row in record.rows:
        found.setdefault(row["operation"], {})[row["setting"]] = row
    return found


def bits(record: Any) -> Text:
    found = {name: rows for name, rows in _by_operation(record).items() if len(rows) == len(SETTINGS)}
    if not found:
        return NOTHING
    unsteady = {s: [name for name, rows in found.items() if rows[s]["different"] > 1] for s in SETTINGS}
    raising = [name for name, rows in found.items() if rows["algorithms"]["outcome"] == "raises"]
    en = "; ".join(f"{SETTINGS[s]['en']}: {', '.join(names) or 'none'}" for s, names in unsteady.items())
    zh = "；".join(f"{SETTINGS[s]['zh']}：{'、'.join(names) or '无'}" for s, names in unsteady.items())
    return both(f"Operations that did not repeat their bits in thirty calls. {en}. Refused by "
                f"use_deterministic_algorithms: {', '.join(raising) or 'none'}.",
                f"三十次调用里不能逐位重复的算子。{zh}。被 use_deterministic_algorithms 拒绝的：{'、'.join(raising) or '无'}。")


def draw_bits(record: Any, ax: Any) -> None:
    found = _by_operation(record)
    lines = []
    for name, rows in found.items():
        counts = [rows[s] for s in SETTINGS if s in rows]
        text = " · ".join(t("raises", "报错") if row["outcome"] == "raises" else str(row["different"])
                          for row in counts)
        lines.append((name, text, all(row["different"] <= 1 for row in counts)))
    tiles(ax, lines)
    ax.set_xlabel(t("different results: nothing set · two cuDNN lines · use_deterministic_algorithms",
                    "不同结果的个数：什么都不设 · cuDNN 那两行 · use_deterministic_algorithms"))


# --- 06-cost-cuda ---------------------------------------------------------------------------------------------

def cost(record: Any) -> Text:
    raced = [row for row in record.rows if "ratio" in row]
    refused = [row["operation"] for row in record.rows if row["verdict"] == "raises"]
    if not raced:
        return NOTHING
    words = {"faster": both("faster", "更快"), "slower": both("slower", "更慢"), "same": both("the same", "一样"),
             "undecided": both("undecided", "未定")}

    def line(row: dict, code: str) -> str:
        comma = ", " if code == "en" else "，"
        return (f"{row['operation']} {row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}]{comma}"
                f"{words[row['verdict']][code]}")

    return both("Time with deterministic algorithms over time without: "
                + "; ".join(line(row, "en") for row in raced) + f". Refused: {', '.join(refused) or 'none'}.",
                "用确定性算法的耗时除以不用：" + "；".join(line(row, "zh") for row in raced)
                + f"。被拒绝：{'、'.join(refused) or '无'}。")


def draw_cost(record: Any, ax: Any) -> None:
    from course.lessons.l06_cudnn_deterministic.findings import draw_cost as draw

    draw(record, ax)
