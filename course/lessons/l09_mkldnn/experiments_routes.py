"""Experiments of lesson 09 about which operations go to oneDNN, and whether the bits differ."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from course.experiment.base import Budget, experiment
from course.experiment.words import NOTHING, TOO_NOISY, word
from course.figures.kinds import Bar, Bet, bars
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l09_mkldnn.experiments import LESSON
from course.lessons.l09_mkldnn.probes import ROUTES, routes_of
from course.onednn_log import log_of
from course.records import Record
from course.tables import Table

# --- 09-routes ----------------------------------------------------------------------------------------------

CASES = {
    "batch": both("8 images, 3×3", "8 张图，3×3"),
    "large batch": both("16 images, 3×3", "16 张图，3×3"),
    "one large image": both("1 image 224×224, 3×3", "1 张 224×224，3×3"),
    "one small image": both("1 image 32×32, 3×3", "1 张 32×32，3×3"),
    "one small image, 5x5": both("1 image 32×32, 5×5", "1 张 32×32，5×5"),
    "depthwise": both("1 image, depthwise", "1 张图，逐通道卷积"),
    "dilation 2": both("8 images, dilation 2", "8 张图，空洞卷积"),
    "float64": both("8 images, float64", "8 张图，float64"),
}


def headline_routes(record: Record) -> Text:
    taken, count = sum(row["convolution_lines"] > 0 for row in record.rows), len(record.rows)
    if not count:
        return TOO_NOISY
    if not taken:
        return both(
            "The switch is on, yet oneDNN computes not one convolution.", "开关都开着，oneDNN 却一个卷积也没算。"
        )
    if taken == count:
        return both(
            "The switch is on, and oneDNN computes every convolution.", "开关都开着，每个卷积都是 oneDNN 算的。"
        )
    return both(
        f"The switch is on, yet oneDNN computes only {taken} of these {count} convolutions.",
        f"开关都开着，{count} 个卷积里 oneDNN 只算了 {taken} 个。",
    )


def say_routes(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    left = [row["case"] for row in record.rows if not row["convolution_lines"]]
    taken = len(record.rows) - len(left)
    en, zh = (
        "; ".join(CASES[case]["en"] for case in left) or "none",
        "；".join(CASES[case]["zh"] for case in left) or "无",
    )
    return both(
        f"The switch was on for all {len(record.rows)}; oneDNN ran {taken}. Not run by oneDNN: {en}.",
        f"{len(record.rows)} 个都开着开关，oneDNN 执行了 {taken} 个。没走 oneDNN 的：{zh}。",
    )


def draw_routes(record: Record, bets: dict) -> Table:
    """Who computes each convolution, with the switch on and off; what was bet of the small image stands below it."""
    lines, marks, bet = [["", t("oneDNN on", "oneDNN 开"), t("oneDNN off", "oneDNN 关")]], {}, set()
    said = {"a": "oneDNN", "b": t("PyTorch's own code", "PyTorch 自己"), "c": "NNPACK"}
    mine = said.get(bets.get("09-bet-small", ""))
    for row in record.rows:
        if not row["convolution_lines"]:
            marks[len(lines) - 1, 1] = "told"
        on = row["on"] or ("oneDNN" if row["convolution_lines"] else t("not oneDNN", "不是 oneDNN"))
        lines.append([word(CASES[row["case"]]), on, row["off"]])
        if mine and row["case"] == "one small image":
            bet.add((len(lines) - 1, 1))
            lines.append(["", mine, ""])
    return Table(lines, marks, bet)


def _small(record: Record) -> dict | None:
    return next((one for one in record.rows if one["case"] == "one small image"), None)


def settle_routes(record: Record) -> dict[str, str | None]:
    row = _small(record)
    if row is None:
        return {"09-bet-small": None}
    if row["convolution_lines"]:
        return {"09-bet-small": "a"}
    return {"09-bet-small": "c" if row["on"] == "NnpackSpatial" else "b"}


@experiment(
    name="09-routes",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=2,
    whole=True,
    title=both("Eight convolutions, the switch on: who gets the work?", "八个卷积，开关都开着：活儿给了谁？"),
)
def routes(budget: Budget) -> list[dict]:
    """What backend selection chooses, with oneDNN on and off, and oneDNN's own lines as a witness."""
    with torch.inference_mode():
        return [routes_of(case) for case in budget.loop(ROUTES)]


# --- 09-deterministic ---------------------------------------------------------------------------------------

ASKED = {
    "nothing": both("as it is", "原样"),
    "the switch": both("mkldnn.deterministic = True", "mkldnn.deterministic = True"),
    "flags()": both("inside flags(deterministic=True)", "在 flags(deterministic=True) 里"),
}


def headline_deterministic(record: Record) -> Text:
    if len(record.rows) < 3:
        return TOO_NOISY
    plain, switch, inside = record.rows
    same = (plain["lines"], plain["implementation"]) == (switch["lines"], switch["implementation"])
    if inside["enabled"]:
        same = same and (plain["lines"], plain["implementation"]) == (inside["lines"], inside["implementation"])
        return (
            both("Asking for determinism leaves oneDNN as it was.", "要求“确定性”，oneDNN 照旧。")
            if same
            else both("Asking for determinism changes what oneDNN runs.", "要求“确定性”，oneDNN 的算法就变了。")
        )
    if same:
        return both(
            "Asking `mkldnn.flags` for determinism turns oneDNN off; setting the attribute changes nothing in the log.",
            "用 `flags` 要确定性，oneDNN 就关了；直接赋值，日志不变。",
        )
    return both(
        "Asking `mkldnn.flags` for determinism turns oneDNN off; setting the attribute changes the log.",
        "用 `flags` 要确定性，oneDNN 就关了；直接赋值，日志会变。",
    )


def say_deterministic(record: Record) -> Text:
    if len(record.rows) < 3:
        return NOTHING
    plain, switch, inside = record.rows
    same = (plain["lines"], plain["implementation"]) == (switch["lines"], switch["implementation"])
    en = "the log is the same as without it" if same else "the log differs from the one without it"
    zh = "日志与不设时一样" if same else "日志与不设时不同"
    off = not inside["enabled"]
    return both(
        f"mkldnn.deterministic = True: {en}. "
        f"Inside flags(deterministic=True): {inside['lines']} lines{', because oneDNN is off there' if off else ''}; "
        f"{inside['same_share']:.0%} of the results have the same bits as before.",
        f"mkldnn.deterministic = True：{zh}。"
        f"在 flags(deterministic=True) 里：{inside['lines']} 行{'，因为里面 oneDNN 被关掉了' if off else ''}；"
        f"与原来逐位相同的结果占 {inside['same_share']:.0%}。",
    )


def draw_deterministic(record: Record, bets: dict) -> Table:
    lines = [["", "oneDNN", t("lines in the log", "日志行数"), t("same bits as before", "与原来逐位相同")]]
    lines += [
        [
            word(ASKED[row["asked"]]),
            t("on", "开") if row["enabled"] else t("off", "关"),
            str(row["lines"]),
            f"{row['same_share']:.0%}",
        ]
        for row in record.rows
    ]
    return Table(lines, {(at, 1): "told" for at, row in enumerate(record.rows) if not row["enabled"]})


@experiment(
    name="09-deterministic",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=2,
    title=both(
        "Three ways to ask for determinism: what does oneDNN's log say?",
        "三种要求“确定性”的写法：oneDNN 的日志怎么说？",
    ),
)
def deterministic(budget: Budget) -> list[dict]:
    """As it is; mkldnn.deterministic = True; and inside flags(deterministic=True): switch, lines, bits."""
    mkldnn, layer, image = torch.backends.mkldnn, nn.Conv2d(16, 16, 3, padding=1), torch.randn(4, 16, 24, 24)

    def row(asked: str) -> dict[str, Any]:
        results: list[torch.Tensor] = []
        log = log_of(lambda: results.append(layer(image)))
        same = float((results[0] == first).float().mean())
        return {
            "asked": asked,
            "enabled": int(mkldnn.enabled),
            "lines": len(log),
            "same_share": same,
            "implementation": next((one.implementation for one in log if one.primitive == "convolution"), ""),
        }

    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # flags() also touches a TF32 switch that only Intel GPUs have
        first = layer(image)
        rows = [row("nothing")]
        mkldnn.deterministic = True
        rows.append(row("the switch"))
        mkldnn.deterministic = False
        with mkldnn.flags(deterministic=True):
            rows.append(row("flags()"))
    return rows


# --- 09-bits ------------------------------------------------------------------------------------------------

NUMBERS = {"random": both("random", "随机数"), "whole": both("whole numbers", "整数")}


def _of_conv(record: Record) -> dict[str, dict]:
    return {row["numbers"]: row for row in record.rows if row["operation"] == "Conv2d"}


def headline_bits(record: Record) -> Text:
    conv = _of_conv(record)
    if len(conv) < 2:
        return TOO_NOISY
    chance, share = conv["random"]["differ_share"], conv["whole"]["differ_share"]
    if not chance and not share:
        return both(
            "oneDNN on or off: a convolution gives the same bits here.", "开不开 oneDNN，这里卷积的结果逐位相同。"
        )
    if not chance:
        return both(
            "oneDNN changes a convolution's results for whole numbers, not for random numbers.",
            "换成 oneDNN，整数的卷积结果会变，随机数的不变。",
        )
    if not share:
        return both(
            "oneDNN changes a convolution's results for random numbers, not for whole numbers.",
            "换成 oneDNN，随机数的卷积结果会变，整数的不变。",
        )
    if share > 0.5 * chance:
        return both(
            "oneDNN changes a convolution's results for random numbers and for whole numbers.",
            "换成 oneDNN，随机数和整数的卷积结果都会变。",
        )
    return both(
        "oneDNN changes fewer results of a convolution for whole numbers than for random numbers.",
        "换成 oneDNN，整数的卷积结果也会变，但比随机数的少。",
    )


def say_bits(record: Record) -> Text:
    conv = _of_conv(record)
    if len(conv) < 2:
        return NOTHING
    chance, whole = conv["random"], conv["whole"]
    repeated = any(row["repeat_differs"] for row in record.rows)
    en = "" if repeated else " Repeating it with the same setting changed no bit."
    zh = "" if repeated else "设置不变，重算一遍，一个比特也没变。"
    return both(
        "Conv2d on against off: "
        f"{chance['differ_share']:.0%} of the results differ for random numbers (largest error {chance['error_on']:.1e} on, "
        f"{chance['error_off']:.1e} off), {whole['differ_share']:.0%} for whole numbers.{en}",
        f"Conv2d 开与关相比：随机数时有 {chance['differ_share']:.0%} 的结果不同（最大误差："
        f"开 {chance['error_on']:.1e}，关 {chance['error_off']:.1e}），整数时有 {whole['differ_share']:.0%}。"
        f"{zh}",
    )


def draw_bits(record: Record, bets: dict) -> SvgPicture:
    """Share of results that differ between on and off; the bet is about the convolution of whole numbers."""
    order = list(dict.fromkeys(row["operation"] for row in record.rows))
    found = sorted(record.rows, key=lambda row: order.index(row["operation"]))
    rows = [
        Bar(
            t(
                f"{row['operation']}, {NUMBERS[row['numbers']]['en']}",
                f"{row['operation']}，{NUMBERS[row['numbers']]['zh']}",
            ),
            row["differ_share"],
            t(f"{row['differ_share']:.0%} differ", f"{row['differ_share']:.0%} 不同")
            if row["differ_share"]
            else t("not one differs", "一个也没变"),
            quiet=row["numbers"] == "random",
        )
        for row in found
    ]
    conv = _of_conv(record)
    share = conv["random"]["differ_share"] if "random" in conv else 0.0
    mine = {
        "a": (t("about as many", "差不多一样多"), (0.5 * share, share or 1.0)),
        "b": (t("fewer, but some", "少些，但有"), (0.02 * share, 0.5 * share or 0.5)),
        "c": (t("not one", "一个也没有"), (0.0, 0.0)),
    }.get(bets.get("09-bet-bits", ""))
    whole = [at for at, row in enumerate(found) if (row["operation"], row["numbers"]) == ("Conv2d", "whole")]
    return bars(rows, Bet(mine[0], rows=whole, span=mine[1]) if mine and whole else None)


def settle_bits(record: Record) -> dict[str, str | None]:
    conv = _of_conv(record)
    if len(conv) < 2 or not conv["random"]["differ_share"]:
        return {"09-bet-bits": None}
    share = conv["whole"]["differ_share"]
    return {"09-bet-bits": "c" if not share else "a" if share > 0.5 * conv["random"]["differ_share"] else "b"}


def _whole(*shape: int) -> torch.Tensor:
    """Whole numbers from -4 to 4, as float32: their products and small sums have no digits to round off."""
    return torch.randint(-4, 5, shape).float()


def _twins(whole: bool) -> dict[str, tuple[Callable[[], torch.Tensor], Callable[[], torch.Tensor]]]:
    """name -> (the operation in float32, the same in float64), on random or whole numbers."""
    make = _whole if whole else torch.randn
    image, kernel = make(4, 32, 20, 20), make(32, 32, 3, 3)
    rows, weight = make(64, 128), make(128, 128)
    found = {
        "Conv2d": (
            lambda: F.conv2d(image, kernel, padding=1),
            lambda: F.conv2d(image.double(), kernel.double(), padding=1),
        ),
        "Linear": (lambda: F.linear(rows, weight), lambda: F.linear(rows.double(), weight.double())),
    }
    if not whole:
        single = nn.LSTM(32, 64)
        double = nn.LSTM(32, 64).double()
        double.load_state_dict(single.state_dict())
        sequence = make(16, 4, 32)
        found["LSTM"] = (lambda: single(sequence)[0], lambda: double(sequence.double())[0])
        found["GELU"] = (lambda: F.gelu(image), lambda: F.gelu(image.double()))
    return found


@experiment(
    name="09-bits",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=2,
    title=both("oneDNN on and off: how many results differ in a bit?", "oneDNN 开与关：有多少结果的比特不同？"),
)
def bits(budget: Budget) -> list[dict]:
    """Share of results that differ between on and off, and each side's largest error against float64."""
    torch.set_num_threads(1)
    mkldnn, rows = torch.backends.mkldnn, []
    with torch.inference_mode():
        for numbers in ("random", "whole"):
            for operation, (single, double) in _twins(numbers == "whole").items():
                seen = {}
                for name, state in (("on", True), ("off", False), ("again", True)):
                    mkldnn.enabled = state
                    seen[name] = single()
                exact = double()
                rows.append(
                    {
                        "operation": operation,
                        "numbers": numbers,
                        "differ_share": float((seen["on"] != seen["off"]).float().mean()),
                        "repeat_differs": float((seen["on"] != seen["again"]).float().mean()),
                        "error_on": float((seen["on"].double() - exact).abs().max()),
                        "error_off": float((seen["off"].double() - exact).abs().max()),
                    }
                )
    return rows
