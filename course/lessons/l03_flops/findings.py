"""Sentences, pictures and settled bets of the records of lesson 03: pure functions on a record."""

from __future__ import annotations

from typing import Any

from course.i18n import Text, both, t
from course.lessons.l02_timing.findings import DOT, NOTHING, OTHER, doubtful

TWICE, BET_CHANNELS = 2.0, 128  # "about 1/128" allows twice that share of the time


# --- 03-vgg16-counters ---------------------------------------------------------------------------------

def _tools(record: Any) -> list[dict]:
    return [row for row in record.rows if row["part"] == "tool"]


def counters(record: Any) -> Text:
    tools = _tools(record)
    if not tools:
        return NOTHING
    by_unit: dict[str, list[int]] = {}
    for row in tools:
        by_unit.setdefault(row["unit"], []).append(row["reported"])

    def printed(unit: str, to: str, counts: tuple[str, str]) -> str:
        low, high = (f"{edge(by_unit[unit]) / 1e9:.3f}" for edge in (min, max))
        return f"{low if low == high else f'{low} {to} {high}'} G {unit} ({counts[len(by_unit[unit]) > 1]})"

    missing = [row for row in record.rows if row["part"] == "missing"]
    en = [printed(unit, "to", ("one tool", f"{len(found)} tools")) for unit, found in by_unit.items()]
    zh = [printed(unit, "至", ("1 个工具", f"{len(found)} 个工具")) for unit, found in by_unit.items()]
    zh = [line.replace(" (", "（").replace(")", "）") for line in zh]
    apart = max(row["reported"] for row in tools) / min(row["reported"] for row in tools)
    en_missing = "".join(f" {row['tool']} gave no number: {row['reason_en']}." for row in missing)
    zh_missing = "".join(f"{row['tool']} 没有给出结果：{row['reason_zh']}。" for row in missing)
    return both(f"For one VGG16 and one image the tools print {' and '.join(en)}: the largest number is {apart:.2f} times "
                f"the smallest.{en_missing}",
                f"同一个 VGG16、同一张图，各工具打印出 {'，以及 '.join(zh)}：最大的数是最小的 {apart:.2f} 倍。{zh_missing}")


def draw_counters(record: Any, ax: Any) -> None:
    tools = list(reversed(_tools(record)))
    bars = ax.barh([row["tool"] for row in tools], [row["reported"] / 1e9 for row in tools],
                   color=[OTHER if row["unit"] == "FLOPs" else DOT for row in tools])
    ax.bar_label(bars, [f"{row['reported'] / 1e9:.3f} G {row['unit']}" for row in tools], padding=3)
    ax.margins(x=0.35)
    ax.set_xlabel(t("number printed (1e9, in the tool's own unit)", "打印的数字（1e9，各工具自己的单位）"))


def settle_counters(record: Any) -> dict[str, str | None]:
    numbers = [row["reported"] for row in _tools(record) if row["reported"]]
    if len(numbers) < 2:
        return {"03-bet-vgg": None}
    apart = max(numbers) / min(numbers) - 1
    return {"03-bet-vgg": "a" if apart < 0.05 else "b" if apart <= 0.5 else "c"}


# --- 03-lstm-zero --------------------------------------------------------------------------------------

def lstm(record: Any) -> Text:
    if not record.rows:
        return NOTHING
    def named(row: dict, code: str) -> str:
        on = {"en": ("off", "on"), "zh": ("关闭", "打开")}[code][bool(row["mkldnn"])]
        return f"{row['layer']} with oneDNN {on}" if code == "en" else f"oneDNN {on}时的 {row['layer']}"

    short = [row for row in record.rows if row["torch_flops"] != row["exact_flops"]]
    right = len(record.rows) - len(short)
    en = "; ".join(f"{named(row, 'en')}: {row['torch_flops']:,} of {row['exact_flops']:,} FLOPs" for row in short)
    zh = "；".join(f"{named(row, 'zh')}：{row['exact_flops']:,} 个 FLOPs 中只有 {row['torch_flops']:,} 个" for row in short)
    if not short:
        return both(f"FlopCounterMode sees every FLOP in all {right} cases.", f"{right} 种情况下 FlopCounterMode 都一个不漏。")
    return both(f"FlopCounterMode sees every FLOP in {right} of {len(record.rows)} cases. Not in: {en}.",
                f"{len(record.rows)} 种情况里，FlopCounterMode 有 {right} 种一个不漏。漏掉的是：{zh}。")


def draw_lstm(record: Any, ax: Any) -> None:
    rows = list(reversed(record.rows))
    labels = [f"{row['layer']}, oneDNN " + (t("on", "开") if row["mkldnn"] else t("off", "关")) for row in rows]
    ax.barh(labels, [row["exact_flops"] for row in rows], color="none", edgecolor="gray",
            label=t("there is", "实际"))
    bars = ax.barh(labels, [row["torch_flops"] for row in rows], color=DOT, height=0.5,
                   label=t("FlopCounterMode sees", "FlopCounterMode 看到"))
    ax.bar_label(bars, [f"{row['torch_flops']:,}" for row in rows], padding=3)
    ax.set_xlabel("FLOPs")
    ax.legend()


def settle_lstm(record: Any) -> dict[str, str | None]:
    seen = {row["mkldnn"]: row["torch_flops"] for row in record.rows if row["layer"] == "LSTM"}
    if len(seen) < 2:
        return {"03-bet-lstm": None}
    if seen[0] == seen[1]:
        return {"03-bet-lstm": "b" if seen[0] else None}
    return {"03-bet-lstm": "a" if seen[1] == 0 else "c" if seen[0] == 0 else None}


# --- 03-length -----------------------------------------------------------------------------------------

def _by_tokens(record: Any) -> dict[int, dict]:
    return {row["tokens"]: row for row in record.rows}


def length(record: Any) -> Text:
    found = _by_tokens(record)
    if not {256, 1024} <= found.keys():
        return NOTHING
    grown = {key: found[1024][key] / found[256][key] for key in ("macs", "linear_macs", "attention_macs")}
    last = found[max(found)]
    share = last["attention_macs"] / last["macs"]
    return both(
        f"From 256 to 1024 tokens the block's work grows {grown['macs']:.2f} times: linear layers "
        f"{grown['linear_macs']:.3g} times, attention {grown['attention_macs']:.3g} times; at "
        f"{last['tokens']} tokens attention is {share:.0%} of it (counted exactly, nothing timed).",
        f"从 256 到 1024 个 token，block 的工作量变为 {grown['macs']:.2f} 倍：线性层 {grown['linear_macs']:.3g} 倍，"
        f"注意力 {grown['attention_macs']:.3g} 倍；到 {last['tokens']} 个 token 时注意力占 {share:.0%}"
        f"（精确统计，没有计时）。")


def draw_length(record: Any, ax: Any) -> None:
    tokens = [row["tokens"] for row in record.rows]
    for key, style, name in (("linear_macs", "o-", t("linear layers", "线性层")),
                             ("attention_macs", "s--", t("attention", "注意力"))):
        ax.plot(tokens, [row[key] / 1e9 for row in record.rows], style, label=name,
                color=DOT if key == "linear_macs" else OTHER)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xlabel(t("length (tokens)", "长度（token）"))
    ax.set_ylabel(t("work (billion MACs)", "工作量（十亿 MAC）"))
    ax.legend()


def settle_length(record: Any) -> dict[str, str | None]:
    found = _by_tokens(record)
    if not {256, 1024} <= found.keys():
        return {"03-bet-length": None}
    grown = found[1024]["macs"] / found[256]["macs"]
    option = "a" if abs(grown - 4) < 0.01 else "c" if 4 < grown < 8 else "b" if 12 < grown < 20 else None
    return {"03-bet-length": option}


# --- 03-depthwise, 03-groups ---------------------------------------------------------------------------

def _share(row: dict) -> str:
    return f"1/{round(1 / row['macs_ratio'])}"


def depthwise(record: Any) -> Text:
    if not record.rows:
        return NOTHING
    doubt = doubtful(settle_depthwise(record))
    en, zh = [], []
    for row in record.rows:
        time = f"{row['ratio']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
        en.append(f"{_share(row)} of the MACs take {time} of the time")
        zh.append(f"MACs 为 {_share(row)}，耗时为 {time}")
    return both(f"{doubt['en']}Depthwise against dense, one thread: {'; '.join(en)}.",
                f"{doubt['zh']}深度卷积与普通卷积之比，单线程：{'；'.join(zh)}。")


def group_sweep(record: Any) -> Text:
    if not record.rows:
        return NOTHING
    times = [(row, f"{row['ratio']:.3f} [{row['low']:.3f}, {row['high']:.3f}]") for row in record.rows]
    en = "; ".join(f"{_share(row)} of the MACs, {time}" for row, time in times)
    zh = "；".join(f"MACs 为 {_share(row)}，{time}" for row, time in times)
    lost = [str(row["groups"]) for row in record.rows if row["low"] > 1]
    more = both(f" Slower than dense in spite of fewer MACs: {', '.join(lost)} groups." if lost else "",
                f"MACs 更少却比普通卷积慢：{'、'.join(lost)} 组。" if lost else "")
    return both(f"Time as a share of the dense convolution's, one thread: {en}.{more['en']}",
                f"耗时与普通卷积之比，单线程：{zh}。{more['zh']}")


def draw_shares(record: Any, ax: Any) -> None:
    """Share of the time against share of the MACs, with intervals; the diagonal is "time = work"."""
    one_size = len({row["size"] for row in record.rows}) == 1
    for row in record.rows:
        ax.plot([row["macs_ratio"]] * 2, [row["low"], row["high"]], color=DOT, linewidth=3)
        ax.plot(row["macs_ratio"], row["ratio"], "o", color=DOT)
        label = t(f"{row['groups']} groups", f"{row['groups']} 组") + ("" if one_size else f"\n{row['size']}x{row['size']}")
        ax.annotate(label, (row["macs_ratio"], row["high"]), xytext=(0, 5), textcoords="offset points", ha="center",
                    fontsize=9)
    ends = [min(row["macs_ratio"] for row in record.rows), 1.0]
    ax.plot(ends, ends, "--", color="gray", label=t("if MACs were time", "假如 MACs 就是时间"))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.margins(x=0.2, y=0.2)
    ax.set_xlabel(t("share of the dense layer's MACs", "MACs 与普通卷积之比"))
    ax.set_ylabel(t("share of its time", "耗时之比"))
    ax.legend()


def settle_depthwise(record: Any) -> dict[str, str | None]:
    rows = [row for row in record.rows if row["channels"] == BET_CHANNELS]
    if not rows:
        return {"03-bet-depthwise": None}
    low, high, promised = rows[0]["low"], rows[0]["high"], TWICE * rows[0]["macs_ratio"]
    option = "a" if high <= promised else "c" if low >= 0.5 else None
    if promised < low and high < 0.5:
        option = "b"
    return {"03-bet-depthwise": option}
