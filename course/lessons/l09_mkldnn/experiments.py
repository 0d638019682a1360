"""Experiments of lesson 09: what goes to oneDNN, what it costs there, and older instructions."""

from __future__ import annotations

import platform
import statistics
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import nn

from course.core.i18n import Text, both, t
from course.core.records import Record
from course.core.tables import Table
from course.core.units import ratio_words
from course.experiment.base import Budget, experiment
from course.experiment.drawing import draw
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading, kind_of, race_row
from course.experiment.telling import joined, telling
from course.figures.svg import SvgPicture
from course.lessons.l09_mkldnn.probes import ROUTES, layers, logged, routes_of, typical_log
from course.trace.onednn_log import log_of, on_off, parse, time_in

LESSON = "09_mkldnn"
STEPS = (1, 2, 4, 16, 64)
LOGGED_CALLS = 9


def listed(names: Sequence[str]) -> Text:
    """Conv2d, LSTM and GRU."""
    *first, last = names or [""]
    return both(joined(first, "en") + " and " * bool(first) + last, joined(names, "zh"))


def _verdict_row(race: Any) -> dict[str, Any]:
    return {**race_row(race), "on_ms": race.medians_ms["on"], "off_ms": race.medians_ms["off"], "rounds": race.rounds}


# --- 09-one-step --------------------------------------------------------------------------------------------


@experiment(name="09-one-step", lesson=LESSON, needs="mkldnn", seconds=7, whole=True)
def one_step(budget: Budget) -> Iterator[dict]:
    """Time with oneDNN over time without, for one call of 1 to 64 steps, and the share of reorders in the log."""
    torch.set_num_threads(1)
    layer = nn.LSTM(128, 256)
    for done, steps in enumerate(budget.loop(STEPS, desc=both("lengths", "步数"))):
        x = torch.randn(steps, 1, 128)
        race = on_off(lambda x=x: layer(x), max_time=max(0.3, min(1.2, budget.share(len(STEPS) - done))))
        with torch.inference_mode():
            logs = [log_of(lambda x=x: layer(x)) for _ in range(LOGGED_CALLS)]
        share = [time_in(log, "reorder") / time_in(log) for log in logs if time_in(log)]
        yield {"steps": steps, **_verdict_row(race), "reorder_share": statistics.median(share) if share else 0.0}


def read_one_step(rows: list[dict]) -> Reading | None:
    """From which length on oneDNN is faster in every longer one, and whether it is slower for one step."""
    kinds = [kind_of(row) for row in rows]
    turn = next((row["steps"] for at, row in enumerate(rows) if set(kinds[at:]) == {"faster"}), None)
    if len(rows) < 2 or set(kinds) == {"undecided"}:
        return None
    if not turn:
        return Reading("no gain")
    return Reading("first slower, then faster" if kinds[0] == "slower" else "faster from there", {"turn": turn})


# --- 09-on-off ----------------------------------------------------------------------------------------------


ASKED = ("Conv2d", "LSTM", "GRU", "Linear")


@experiment(name="09-on-off", lesson=LESSON, needs="mkldnn", seconds=10)
def race(budget: Budget) -> Iterator[dict]:
    """Time with oneDNN over time without, for nine layers, forward, on one thread."""
    calls = layers()
    for done, (layer, call) in enumerate(budget.loop(calls.items(), desc=both("layers", "层"))):
        found = on_off(call, max_time=max(0.3, min(1.2, budget.share(len(calls) - done))))
        yield {"layer": layer, **_verdict_row(found), "threads": 1}


def read_race(rows: list[dict]) -> Reading | None:
    """Of the four layers asked about: their rows are in float32, as the words say."""
    seen = {row["layer"]: kind_of(row) for row in rows}
    gain = [name for name in ASKED if seen.get(name) == "faster"]
    open_ = [name for name in ASKED if seen.get(name, "undecided") == "undecided"]
    if open_ and not gain:
        return None
    rest = open_ or [name for name in ASKED if name not in gain]
    outcome = "some open" if open_ else "none" if not gain else "some" if rest else "all"
    options = {"Conv2d LSTM GRU Linear": "a", "Conv2d LSTM Linear": "b", "Conv2d LSTM": "c", "Conv2d": "d"}
    settled = None if open_ else options.get(" ".join(gain))
    return Reading(outcome, {"gain": listed(gain), "rest": listed(rest)}, bets={"09-bet-who": settled})


# --- 09-logs ------------------------------------------------------------------------------------------------


@experiment(name="09-logs", lesson=LESSON, needs="mkldnn", seconds=2)
def logs(budget: Budget) -> list[dict]:
    """Lines as oneDNN prints them, for readers whose PyTorch has no oneDNN (course.trace.onednn_log.recorded_log)."""
    with torch.inference_mode():
        return logged()


def read_logs(rows: list[dict]) -> Reading | None:
    """How often one convolution copies its data."""
    found = parse("\n".join(row["line"] for row in rows if row["call"] == "conv"))
    count = sum(line.primitive == "reorder" for line in found)
    drawn = [
        {"primitive": line.primitive, "implementation": line.implementation, "ms": line.time_ms}
        | {"told": ["implementation"] * (line.primitive != "reorder")}
        for line in found
    ]
    return Reading("told", {"count": count}, drawn) if found else None


# --- 09-layouts ---------------------------------------------------------------------------------------------


def _chains() -> dict[str, Callable[[], Any]]:
    """Three convolutions in a row, in three memory layouts; dense tensors in and out."""
    from torch.utils import mkldnn as packed

    image = torch.randn(2, 16, 40, 40)
    plain = nn.Sequential(*[nn.Conv2d(16, 16, 3, padding=1) for _ in range(3)]).eval()
    last = nn.Sequential(*[nn.Conv2d(16, 16, 3, padding=1) for _ in range(3)]).eval()
    last = last.to(memory_format=torch.channels_last)
    image_last = image.to(memory_format=torch.channels_last)
    opaque = nn.Sequential(*[packed.to_mkldnn(layer) for layer in plain])
    return {
        "NCHW": lambda: plain(image),
        "channels_last": lambda: last(image_last),
        "to_mkldnn": lambda: opaque(image.to_mkldnn()).to_dense(),
    }


@experiment(name="09-layouts", lesson=LESSON, needs="mkldnn", seconds=5)
def layouts(budget: Budget) -> list[dict]:
    """Reorder lines and their time for each layout, and its time against NCHW; one lone convolution for the bet."""
    from course.timing import compare

    torch.set_num_threads(1)
    one, image = nn.Conv2d(16, 16, 3, padding=1), torch.randn(2, 16, 40, 40)
    rows = []
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.utils.mkldnn announces its own retirement
        chains = _chains()
        alone = sum(line.primitive == "reorder" for line in log_of(lambda: one(image)))
        found = compare(chains, baseline="NCHW", max_time=max(1.0, min(3.0, budget.left() - 1)))
        for name in budget.loop(chains, desc=both("layouts", "布局")):
            seen = {row["primitive"]: row for row in typical_log(chains[name], LOGGED_CALLS)}
            pair = found.pairs.get(name)
            rows.append(
                {
                    "layout": name,
                    "reorders": seen.get("reorder", {}).get("lines", 0),
                    "reorder_ms": seen.get("reorder", {}).get("logged_ms", 0.0),
                    "compute_ms": sum(row["logged_ms"] for key, row in seen.items() if key != "reorder"),
                    "ratio": pair.ratio if pair else 1.0,
                    "low": pair.low if pair else 1.0,
                    "high": pair.high if pair else 1.0,
                    "reorders_of_one_conv": alone,
                    "rounds": found.rounds,
                }
            )
    return rows


def read_layouts(rows: list[dict]) -> Reading:
    """Both counts of the headline are of the same three convolutions; the bet is about one alone."""
    one = rows[0]["reorders_of_one_conv"]
    drawn = [{"what": "one convolution", "copies": one, "about": ""}]
    for row in rows:
        timed = row["layout"] != "NCHW" and row["low"] is not None
        drawn.append(
            {
                "what": row["layout"],
                "copies": row["reorders"],
                "ratio": row["ratio"],
                "about": "timed" if timed else "three",
            }
        )
    bets = {"09-bet-reorders": "a" if one == 0 else "b" if one == 1 else "c"}
    found = {row["layout"]: row for row in rows}
    if len(found) < 3:
        return Reading(drawn=drawn, bets=bets)
    before, after = found["NCHW"]["reorders"], found["channels_last"]["reorders"]
    outcome = "no copies" if not before else "saves none" if after >= before else "saves copies"
    return Reading(outcome, {"before": before, "after": after}, drawn, bets)


# --- 09-routes ----------------------------------------------------------------------------------------------


@experiment(name="09-routes", lesson=LESSON, needs="mkldnn", seconds=2, whole=True)
def routes(budget: Budget) -> list[dict]:
    """What backend selection chooses, with oneDNN on and off, and oneDNN's own lines as a witness."""
    with torch.inference_mode():
        return [routes_of(case) for case in budget.loop(ROUTES)]


def read_routes(rows: list[dict]) -> Reading:
    """How many convolutions oneDNN computes; the bet is about one small image."""
    taken = sum(row["convolution_lines"] > 0 for row in rows)
    drawn = [
        {**row, "on": row["on"] or ("oneDNN" if row["convolution_lines"] else "not oneDNN")}
        | {"told": ["on"] * (not row["convolution_lines"])}
        for row in rows
    ]
    small = next((row for row in rows if row["case"] == "one small image"), None)
    settled = small and ("a" if small["convolution_lines"] else "c" if small["on"] == "NnpackSpatial" else "b")
    return Reading("told", {"taken": taken, "all": len(rows)}, drawn, {"09-bet-small": settled})


PROBES = "course.lessons.l09_mkldnn.probes"
HALF_RUNGS = ("DEFAULT", "AVX512_CORE", "AVX2")
X86 = ("x86_64", "AMD64", "amd64", "i386", "i686")


def _on_rungs(budget: Budget, probe: str, rungs: tuple[str, ...], repeats: int) -> Iterator[dict]:
    """Rows of `probe`, each from a new process, the rungs taking turns.

    A CPU that is not x86 has another ladder and is left as it is.
    """
    if platform.machine() not in X86:
        rungs = ("DEFAULT",)
    plan = [(repeat, name) for repeat in range(repeats) for name in rungs]
    for repeat, name in budget.loop(plan, desc=both("new processes", "新进程")):
        found = rows_of(PROBES, probe, variables={"ONEDNN_MAX_CPU_ISA": name} if name != "DEFAULT" else {})
        yield from [{"rung": name, "process": repeat, **row} for row in found]


# --- 09-bf16 ------------------------------------------------------------------------------------------------


@experiment(name="09-bf16", lesson=LESSON, needs="mkldnn", seconds=15, whole=True)
def bf16(budget: Budget) -> Iterator[dict]:
    """As the CPU is, with the newest instructions hidden from oneDNN, and with AVX-512 hidden as well."""
    return _on_rungs(budget, "half", HALF_RUNGS, 1)


def read_bf16(rows: list[dict]) -> Reading:
    """The bet is about the row without bfloat16 instructions; a CPU that is not x86 has none to hide."""
    kinds = {row["rung"]: kind_of(row) for row in rows}
    option = {"faster": "a", "same": "b", "slower": "c"}.get(kinds.get("AVX512_CORE", ""))
    outcome = "needs instructions" if option == "c" and kinds.get("DEFAULT") == "faster" else option and "hidden"
    if list(kinds) == ["DEFAULT"] and kinds["DEFAULT"] != "undecided":
        outcome = "alone"
    ratios = {row["rung"]: row["ratio"] for row in rows}
    whole, hidden = ratios.get("DEFAULT", 1.0), ratios.get("AVX512_CORE", 1.0)
    return Reading(outcome, {"whole": whole, "hidden": hidden, "fast": 1 / whole}, bets={"09-bet-bf16": option})


def draw_bf16(record: Record, bets: dict) -> SvgPicture | Table:
    """Rows of ratios; on a CPU that is not x86 a table, in which the bet has a line."""
    said = telling(LESSON, "09-bf16")
    if not record.complete or any(row["rung"] == "AVX512_CORE" for row in record.rows):
        return draw(said, Reading(), record.rows, bets)
    lines = [["", t("bfloat16 against float32", "bfloat16 比 float32")]]
    lines += [[said.name(row["rung"]), ratio_words(row["ratio"])] for row in record.rows]
    lines.append([said.name("AVX512_CORE"), t("cannot be hidden on this CPU", "这颗 CPU 上藏不了")])
    return Table(lines, bets={(len(lines) - 2, 1)} if "09-bet-bf16" in bets else ())


# --- 09-threads ---------------------------------------------------------------------------------------------


@experiment(name="09-threads", lesson=LESSON, needs="mkldnn", seconds=24)
def threads(budget: Budget) -> Iterator[dict]:
    """All threads against one, several new processes each, in turn: the interval is over processes."""
    from course.timing import compare

    count = torch.get_num_threads()
    for size in budget.loop(("small", "large"), desc=both("sizes", "规模")):
        found = compare(
            {"one": f"{PROBES}:{size}_one_thread", "all": f"{PROBES}:{size}_all_threads"},
            baseline="one",
            max_time=10.0,
            fresh_process=True,
        )
        yield {
            "size": size,
            "threads": count,
            **race_row(found),
            "one_ms": found.medians_ms["one"],
            "all_ms": found.medians_ms["all"],
        }


def read_threads(rows: list[dict]) -> Reading | None:
    found = {row["size"]: row for row in rows}
    if set(found) != {"small", "large"}:
        return None
    if found["small"]["threads"] < 2:
        return Reading("one thread")
    if any(map(_waits, rows)):
        return Reading("waiting")
    small, large = (kind_of(found[size]) for size in ("small", "large"))
    if "undecided" in (small, large):
        return None
    return Reading("told", {"small": DOES[small], "large": DOES[large]})


WAITING = 20  # no teamwork of a few microseconds explains such a ratio
DOES = {"faster": both("help", "变快"), "slower": both("slow down", "变慢"), "same": both("do nothing for", "没变化")}


def _waits(row: dict) -> bool:
    """Whether a factor, or what is known of it, is too large to be work."""
    return row["ratio"] > WAITING or bool(row["low"]) and row["high"] > WAITING * row["low"]
