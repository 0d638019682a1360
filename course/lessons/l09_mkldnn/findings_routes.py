"""Sentences, pictures and settled bets of lesson 09: routes, the deterministic trap, bits. Pure functions."""

from __future__ import annotations

from typing import Any

from course.i18n import Text, both, t
from course.lessons.l05_cudnn_benchmark.findings import NOTHING, tiles, word

# --- 09-routes --------------------------------------------------------------------------------------------

CASES = {"batch": both("8 images, 3×3", "8 张图，3×3"), "large batch": both("16 images, 3×3", "16 张图，3×3"),
         "one large image": both("1 image 224×224, 3×3", "1 张 224×224，3×3"),
         "one small image": both("1 image 32×32, 3×3", "1 张 32×32，3×3"),
         "one small image, 5x5": both("1 image 32×32, 5×5", "1 张 32×32，5×5"),
         "depthwise": both("1 image, depthwise", "1 张图，深度卷积"),
         "dilation 2": both("8 images, dilation 2", "8 张图，空洞 2"),
         "float64": both("8 images, float64", "8 张图，float64")}


def routes(record: Any) -> Text:
    if not record.rows:
        return NOTHING
    left = [row["case"] for row in record.rows if not row["convolution_lines"]]
    taken = len(record.rows) - len(left)
    en, zh = ("; ".join(CASES[case]["en"] for case in left) or "none",
              "；".join(CASES[case]["zh"] for case in left) or "无")
    return both(f"The switch was on for all {len(record.rows)}; oneDNN ran {taken}. Not run by oneDNN: {en}.",
                f"{len(record.rows)} 个都开着开关，oneDNN 执行了 {taken} 个。没走 oneDNN 的：{zh}。")


def draw_routes(record: Any, ax: Any) -> None:
    def text(row: dict) -> str:
        on = row["on"] or ("oneDNN" if row["convolution_lines"] else t("not oneDNN", "不是 oneDNN"))
        off = t(f"    off: {row['off']}", f"    关：{row['off']}") if row["off"] else ""
        return t(f"on: {on}", f"开：{on}") + off

    tiles(ax, [(word(CASES[row["case"]]), text(row), bool(row["convolution_lines"])) for row in record.rows])


def settle_routes(record: Any) -> dict[str, str | None]:
    row = next((one for one in record.rows if one["case"] == "one small image"), None)
    if row is None:
        return {"09-bet-small": None}
    if row["convolution_lines"]:
        return {"09-bet-small": "a"}
    return {"09-bet-small": "c" if row["on"] == "NnpackSpatial" else "b"}


# --- 09-deterministic -------------------------------------------------------------------------------------

ASKED = {"nothing": both("as it is", "原样"),
         "the switch": both("mkldnn.deterministic\n= True", "mkldnn.deterministic\n= True"),
         "flags()": both("inside flags(\ndeterministic=True)", "在 flags(\ndeterministic=True) 里")}


def deterministic(record: Any) -> Text:
    if len(record.rows) < 3:
        return NOTHING
    plain, switch, inside = record.rows
    same = (plain["lines"], plain["implementation"]) == (switch["lines"], switch["implementation"])
    en = "the log is the same as without it" if same else "the log differs from the one without it"
    zh = "日志与不设时一样" if same else "日志与不设时不同"
    off = not inside["enabled"]
    return both(
        f"mkldnn.deterministic = True: {en}. Inside flags(deterministic=True): {inside['lines']} lines"
        f"{', because oneDNN is off there' if off else ''}; {inside['same_share']:.0%} of the results have the "
        f"same bits as before.",
        f"mkldnn.deterministic = True：{zh}。在 flags(deterministic=True) 里：{inside['lines']} 行"
        f"{'，因为里面 oneDNN 被关掉了' if off else ''}；与原来逐位相同的结果占 {inside['same_share']:.0%}。")


def draw_deterministic(record: Any, ax: Any) -> None:
    def text(row: dict) -> str:
        lines = t(f"{row['lines']} lines", f"{row['lines']} 行")
        state = t("oneDNN on", "oneDNN 开") if row["enabled"] else t("oneDNN off", "oneDNN 关")
        same = t(f"same bits: {row['same_share']:.0%}", f"比特相同：{row['same_share']:.0%}")
        return f"{state}    {lines}    {same}"

    tiles(ax, [(word(ASKED[row["asked"]]), text(row), bool(row["enabled"])) for row in record.rows])


# --- 09-bits ----------------------------------------------------------------------------------------------

NUMBERS = {"random": both("random", "随机数"), "whole": both("whole numbers", "整数")}


def _short(error: float) -> str:
    return f"{error:.0e}" if error else "0"


def _of_conv(record: Any) -> dict[str, dict]:
    return {row["numbers"]: row for row in record.rows if row["operation"] == "Conv2d"}


def bits(record: Any) -> Text:
    conv = _of_conv(record)
    if len(conv) < 2:
        return NOTHING
    chance, whole = conv["random"], conv["whole"]
    repeated = any(row["repeat_differs"] for row in record.rows)
    en = "" if repeated else " Repeating it with the same setting changed no bit."
    zh = "" if repeated else "设置不变，重算一遍，一个比特也没变。"
    return both(
        f"Conv2d on against off: {chance['differ_share']:.0%} of the results differ for random numbers (largest error "
        f"{chance['error_on']:.1e} on, {chance['error_off']:.1e} off), {whole['differ_share']:.0%} for whole "
        f"numbers.{en}",
        f"Conv2d 开与关相比：随机数时有 {chance['differ_share']:.0%} 的结果不同（最大误差：开 "
        f"{chance['error_on']:.1e}，关 {chance['error_off']:.1e}），整数时有 {whole['differ_share']:.0%}。{zh}")


def draw_bits(record: Any, ax: Any) -> None:
    from course.figures.style import colors

    blue, orange, *_ = colors()
    rows = record.rows[::-1]
    for height, row in enumerate(rows):
        ax.barh(height, row["differ_share"], height=0.6, color=orange if row["numbers"] == "random" else blue)
        ax.text(row["differ_share"], height,
                t(f"  {row['differ_share']:.0%}, error: on {_short(row['error_on'])}, off {_short(row['error_off'])}",
                  f"  {row['differ_share']:.0%}，误差：开 {_short(row['error_on'])}，关 {_short(row['error_off'])}"),
                va="center", fontsize=8.5)
    ax.set_yticks(range(len(rows)), [t(f"{row['operation']}, {NUMBERS[row['numbers']]['en']}",
                                       f"{row['operation']}，{NUMBERS[row['numbers']]['zh']}") for row in rows])
    ax.set_xlim(0, 1.8)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1.0], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(t("share of results that differ between on and off", "开与关结果不同的比例"))


def settle_bits(record: Any) -> dict[str, str | None]:
    conv = _of_conv(record)
    if len(conv) < 2 or not conv["random"]["differ_share"]:
        return {"09-bet-bits": None}
    share = conv["whole"]["differ_share"]
    return {"09-bet-bits": "c" if not share else "a" if share > 0.5 * conv["random"]["differ_share"] else "b"}
