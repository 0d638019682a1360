"""Experiments of lesson 11: how to hunt. Two faults that hide each other; a witness that is steady; halving the suspects."""

from __future__ import annotations

import math
from collections import Counter
from time import perf_counter
from typing import Any

import torch

from course.checking import watched
from course.experiment.base import Budget, experiment
from course.experiment.rows import race_row
from course.experiment.words import NOTHING, TOO_NOISY, with_interval, word
from course.figures.curves import trend
from course.figures.kinds import Bet, Ratio, Share, ratio_rows, share_grid
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.records import Record
from course.timing import compare
from course.timing.stats import median

LESSON = "11_bug_hunt"
ENABLED = "mkldnn.enabled"
PAIRS, MARGIN = 24, 1.15


def _one_thread() -> None:
    torch.set_num_threads(1)  # the experiment's run restores it


# --- 11-hidden ------------------------------------------------------------------------------------------------------

REPAIRS = {
    "switch": both("repair the switch alone", "只修开关"),
    "type": both("repair the data type alone", "只修数据类型"),
    "both": both("repair both", "两处都修"),
}


def _rows(record: Record) -> dict[str, dict]:
    return {row["repaired"]: row for row in record.rows}


def headline_hidden(record: Record) -> Text:
    rows = _rows(record)
    verdict = rows["switch"]["verdict"] if set(rows) == set(REPAIRS) else "undecided"
    if verdict == "undecided":
        return TOO_NOISY
    if verdict != "same":
        return {
            "faster": both("The switch alone already makes the script faster.", "只修开关，脚本就已经变快。"),
            "slower": both("Repair the switch alone, and the script gets slower.", "只修开关，脚本反而更慢。"),
        }[verdict]
    one, two = rows["type"], rows["both"]
    if None not in (one["low"], two["high"]) and two["high"] < one["low"]:
        return both(
            "Repair the switch alone: nothing changes. The other fault hides it.",
            "只修开关毫无变化：另一处毛病把它遮住了。",
        )
    return both("Repair the switch alone, and nothing changes.", "只修开关，什么也没变。")


def say_hidden(record: Record) -> Text:
    rows = _rows(record)
    if set(rows) != set(REPAIRS):
        return NOTHING
    told = {
        code: {"en": "; ", "zh": "；"}[code].join(
            f"{REPAIRS[name][code]}{': ' if code == 'en' else '：'}{with_interval(row, code)}"
            for name, row in rows.items()
        )
        for code in ("en", "zh")
    }
    return both(
        f"Time, as a share of the script with both faults: {told['en']}.",
        f"耗时与“两处都有毛病”的脚本之比：{told['zh']}。",
    )


def draw_hidden(record: Record, bets: dict) -> SvgPicture:
    """The bet is about the switch repaired alone."""
    found = [row for row in record.rows if row["repaired"] in REPAIRS]
    rows = [
        Ratio(word(REPAIRS[row["repaired"]]), row["ratio"], row["low"], row["high"], "", row.get("rounds", 0))
        for row in found
    ]
    side, said = {
        "a": ("left", t("faster", "变快")),
        "b": ("middle", t("as before", "和原来一样")),
        "c": ("right", t("slower", "变慢")),
    }.get(bets.get("11-bet-hidden", ""), ("", ""))
    bet = Bet(said, rows={at: side for at, row in enumerate(found) if row["repaired"] == "switch"}) if side else None
    return ratio_rows(rows, (t("faster than before", "比原来快"), t("slower", "更慢")), bet)


def settle_hidden(record: Record) -> dict[str, str | None]:
    row = _rows(record).get("switch")
    return {"11-bet-hidden": {"faster": "a", "same": "b", "slower": "c"}.get(row["verdict"]) if row else None}


@experiment(
    name="11-hidden",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=6,
    title=both("Two faults in one script: repair one, then the other", "一个脚本两处毛病：修一处，再修另一处"),
)
def hidden(budget: Budget) -> list[dict]:
    """A convolution with float64 data and oneDNN off: each fault repaired alone, and both, against both faults left in."""
    _one_thread()
    torch.manual_seed(0)
    pixels_last = torch.channels_last
    photos = {"float64": torch.randn(4, 16, 48, 48, dtype=torch.float64).to(memory_format=pixels_last)}
    photos["float32"] = photos["float64"].float()
    nets = {
        name: torch.nn.Conv2d(16, 64, 3, padding=1).eval().to(dtype, memory_format=pixels_last)
        for name, dtype in (("float32", torch.float32), ("float64", torch.float64))
    }

    def script(onednn: bool, dtype: str) -> Any:
        def run() -> None:
            torch.backends.mkldnn.enabled = onednn
            with torch.inference_mode():
                nets[dtype](photos[dtype])

        return run

    found = compare(
        {
            "none": script(False, "float64"),
            "switch": script(True, "float64"),
            "type": script(False, "float32"),
            "both": script(True, "float32"),
        },
        baseline="none",
        max_time=max(1.0, min(4.0, budget.left() - 1)),
        ci=0.02,
        gate=0.05,
        same=False,
    )
    return [
        {"repaired": name, **race_row(pair), "rounds": found.rounds}
        for name, pair in found.pairs.items()
        if math.isfinite(pair.ratio)
    ]


# --- 11-witness -----------------------------------------------------------------------------------------------------


def headline_witness(record: Record) -> Text:
    return {
        "a": both("Switch and times: both said the same each time.", "开关和计时，每次说的都一样。"),
        "b": both(
            f"Asked {len(record.rows)} times, the switch never changed its answer; the times did.",
            f"问了 {len(record.rows)} 遍，开关从不改口，计时老是变。",
        ),
        "c": both("The times agreed; the switch changed its answer.", "计时每次都差不多，开关却改了口。"),
        "d": both("Switch and times: both changed their answers.", "开关和计时，两个都改过口。"),
        None: TOO_NOISY,
    }[settle_witness(record)["11-bet-witness"]]


def say_witness(record: Record) -> Text:
    rows = record.rows
    if len(rows) < PAIRS // 2:
        return NOTHING
    exact = len({(row["on"], row["off"]) for row in rows})
    times = [row["ratio"] for row in rows]
    always, low, high = exact == 1, f"{min(times):.2f}", f"{max(times):.2f}"
    return both(
        f"{len(rows)} times the same question. "
        "The switch, read while the network runs, "
        f"{'said the same each time' if always else f'gave {exact} different answers'}; "
        f"the ratio of two single calls lay anywhere from {low} to {high}.",
        f"同一个问题问了 {len(rows)} 次。网络运行时读开关，{'每次都一样' if always else f'得到 {exact} 种回答'}；"
        f"两次单独计时的比值，最小 {low}，最大 {high}。",
    )


def draw_witness(record: Record, bets: dict) -> SvgPicture:
    """How often each witness said something else; a ratio does so from 10 % off the middle one on."""
    rows, ratios = record.rows, [row["ratio"] for row in record.rows]
    answers = Counter((row["on"], row["off"]) for row in rows)
    off = sum(not centre / 1.1 <= one <= 1.1 * centre for centre in [median(ratios)] for one in ratios)
    shares = [
        Share(
            t("the switch", "开关"), sorted(answers.values(), reverse=True), _changed(len(rows) - max(answers.values()))
        ),
        Share(t("the ratio of two times", "两次计时的比值"), [len(rows) - off, *[1] * off], _changed(off)),
    ]
    said = {
        "a": (t("both", "两个都是"), {"rows": [0, 1]}),
        "b": (t("the switch", "开关"), {"rows": [0]}),
        "c": (t("the ratio", "比值"), {"rows": [1]}),
        "d": (t("neither", "哪个都不是"), {"above": 0}),
    }.get(bets.get("11-bet-witness", ""))
    return share_grid(shares, Bet(said[0], **said[1]) if said else None)


def _changed(count: int) -> str:
    if not count:
        return t("the same each time", "每次都一样")
    return t(f"{count} said something else", f"{count} 次说法不同")


def settle_witness(record: Record) -> dict[str, str | None]:
    """Steady: the exact witness always says the same; the ratios all lie within 10 % of their middle."""
    if len(record.rows) < PAIRS // 2:
        return {"11-bet-witness": None}
    exact = len({(row["on"], row["off"]) for row in record.rows}) == 1
    times = [row["ratio"] for row in record.rows]
    steady = max(times) <= 1.1 * median(times) and min(times) >= median(times) / 1.1
    return {
        "11-bet-witness": {(True, True): "a", (True, False): "b", (False, True): "c", (False, False): "d"}[
            exact, steady
        ]
    }


@experiment(
    name="11-witness",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=4,
    title=both("Ask twenty-four times: which witness never changes its mind?", "问上二十四遍：哪个证人从不改口？"),
)
def witness(budget: Budget) -> list[dict]:
    """Twenty-four pairs of single calls, oneDNN on and off: the switch as it was while each ran, and the ratio of times."""
    _one_thread()
    net = torch.nn.Conv2d(16, 64, 3).eval().to(memory_format=torch.channels_last)
    photo = torch.randn(2, 16, 48, 48).to(memory_format=torch.channels_last)
    backend = torch.backends.mkldnn

    def call(onednn: bool) -> tuple[bool, float]:
        backend.enabled = onednn
        seen = watched(lambda: net(photo), ENABLED)
        start = perf_counter()
        net(photo)
        return seen[-1].switches[ENABLED], perf_counter() - start

    rows = []
    with torch.inference_mode():
        call(True), call(False)
        for number in budget.loop(range(PAIRS), desc=both("asking", "询问"), least=PAIRS // 2):
            (on, fast), (off, slow) = call(True), call(False)
            rows.append({"pair": number, "on": on, "off": off, "ratio": slow / fast})
    return rows


# --- 11-bisect ------------------------------------------------------------------------------------------------------

LINES = 16


def headline_bisect(record: Record) -> Text:
    if not record.rows:
        return TOO_NOISY
    halving, walking = ([row[key] for row in record.rows] for key in ("halving", "line_by_line"))
    if not all(row["found"] for row in record.rows):
        return both("Here halving did not find every fault.", "在这里，对半分没有把毛病全找到。")
    if sum(halving) >= sum(walking):
        return both("Here halving takes no fewer runs than going line by line.", "在这里，对半分的次数并不比逐行试少。")
    most = max(halving)
    if min(halving) == most:
        return both(
            f"Halving finds the line in {most} runs, wherever it stands.",
            f"对半分：不管毛病在哪一行，都是 {most} 次找到。",
        )
    return both(f"Halving finds the line in at most {most} runs.", f"对半分，最多 {most} 次就能找到那一行。")


def say_bisect(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    halving, walking = ([row[key] for row in record.rows] for key in ("halving", "line_by_line"))
    told = ["–".join(map(str, sorted({min(runs), max(runs)}))) for runs in (halving, walking)]
    mean = sum(walking) / len(walking)
    return both(
        f"{len(record.rows)} scripts, the fault on another line in each. "
        f"Runs until it was found: {told[0]} by halving, {told[1]} line by line ({mean:.1f} on average).",
        f"{len(record.rows)} 个脚本，毛病各在不同的行。找到它要跑的次数：对半分 {told[0]} 次，逐行试 {told[1]} 次（平均 {mean:.1f} 次）。",
    )


def draw_bisect(record: Record, bets: dict) -> SvgPicture:
    series = {
        t("line by line", "逐行试"): [row["line_by_line"] for row in record.rows],
        t("halving", "对半分"): [row["halving"] for row in record.rows],
    }
    alt = t("Runs until the fault was found. ", "找到毛病跑了几次。") + t("; ", "；").join(
        f"{name}: {min(runs)}–{max(runs)}" for name, runs in series.items()
    )
    return trend([row["place"] for row in record.rows], series, alt, across=t("line of the fault", "毛病所在的行"))


@experiment(
    name="11-bisect",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=5,
    whole=True,
    title=both("Sixteen lines of settings: halve them, or try them one by one?", "十六行设置：对半分，还是逐行试？"),
)
def bisect(budget: Budget) -> list[dict]:
    """One line of sixteen switches oneDNN off; a run sets the first k lines and reads the switch beside a convolution."""
    net, photo = torch.nn.Conv2d(3, 8, 3).eval(), torch.randn(1, 3, 16, 16)

    def harmless() -> None:
        torch.backends.cudnn.benchmark = True

    def fault() -> None:
        torch.backends.mkldnn.enabled = False

    rows = []
    for place in budget.loop(range(1, LINES + 1), desc=both("scripts", "脚本"), least=LINES // 2):
        lines = [fault if number == place else harmless for number in range(1, LINES + 1)]
        runs = 0

        def symptom(count: int, lines: list = lines) -> bool:
            nonlocal runs
            runs += 1
            torch.backends.mkldnn.enabled = True
            for line in lines[:count]:
                line()
            return watched(lambda: net(photo), ENABLED)[-1].switches[ENABLED] is False

        good, bad = 0, LINES
        while bad - good > 1:
            middle_line = (good + bad) // 2
            good, bad = (good, middle_line) if symptom(middle_line) else (middle_line, bad)
        halving, runs = runs, 0
        walked = next(count for count in range(1, LINES + 1) if symptom(count))
        rows.append({"place": place, "halving": halving, "line_by_line": runs, "found": bad == walked == place})
    return rows
