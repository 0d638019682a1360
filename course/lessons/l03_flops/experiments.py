"""Experiments of lesson 03 on counting: how counters differ, and what they miss.

Counts are MACs (one multiply feeding one accumulate) unless a name says FLOPs.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

from course.crosscheck import cross_check
from course.experiment.base import Budget, experiment
from course.experiment.words import NOTHING, TOO_NOISY
from course.figures.kinds import Bar, Bet, bars, fold, times
from course.figures.svg import SvgPicture
from course.flags import using
from course.flops import count
from course.i18n import Text, both, t
from course.records import Record

LESSON = "03_flops"


# --- 03-vgg16-counters --------------------------------------------------------------------------------------


def _tools(record: Record) -> list[dict]:
    return [row for row in record.rows if row["part"] == "tool"]


def headline_vgg16_counters(record: Record) -> Text:
    numbers = [row["reported"] for row in _tools(record) if row["reported"]]
    option = settle_vgg16_counters(record)["03-bet-vgg"]
    if not numbers:
        return TOO_NOISY
    if option is None:
        return both("Only one counter gave a number here.", "这次只有一个工具给出了数字。")
    if option == "a":
        return both(
            "Several counters, one network: here they print nearly the same number.",
            "同一个网络，这次各工具打印的数几乎一样。",
        )
    return fold(
        max(numbers) / min(numbers),
        "Several counters, one network: the largest number is {} the smallest.",
        "同一个网络，各工具给出的最大值是最小值的{}。",
    )


def say_vgg16_counters(record: Record) -> Text:
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
    return both(
        f"For one VGG16 and one image the tools print {' and '.join(en)}: "
        f"the largest number is {apart:.2f} times the smallest.{en_missing}",
        f"同一个 VGG16、同一张图，各工具打印出 {'，以及 '.join(zh)}：最大的数是最小的 {apart:.2f} 倍。{zh_missing}",
    )


def draw_vgg16_counters(record: Record, bets: dict) -> SvgPicture:
    """What each tool prints, quiet where it prints MACs; the bet is how far the largest number lies above the smallest."""
    tools = [row for row in _tools(record) if row["reported"]]
    giga = [row["reported"] / 1e9 for row in tools]
    rows = [
        Bar(row["tool"], value, f"{value:.3g} G {row['unit']}", row["unit"] == "MACs")
        for row, value in zip(tools, giga, strict=True)
    ]
    said = {
        "a": (t("less than 5 % apart", "相差不到 5%"), (1, 1.05)),
        "b": (t("5 to 50 % apart", "相差 5% 到 50%"), (1.05, 1.5)),
        "c": (t("more than 50 % apart", "相差超过 50%"), (1.5, max(2.2, max(giga) / min(giga)))),
    }
    mine = said.get(bets.get("03-bet-vgg", ""))
    bet = (
        Bet(mine[0], rows=[giga.index(max(giga))], span=(mine[1][0] * min(giga), mine[1][1] * min(giga)))
        if mine
        else None
    )
    return bars(rows, bet)


def settle_vgg16_counters(record: Record) -> dict[str, str | None]:
    numbers = [row["reported"] for row in _tools(record) if row["reported"]]
    if len(numbers) < 2:
        return {"03-bet-vgg": None}
    apart = max(numbers) / min(numbers) - 1
    return {"03-bet-vgg": "a" if apart < 0.05 else "b" if apart <= 0.5 else "c"}


@experiment(
    name="03-vgg16-counters",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=25,
    title=both("Several counters, one VGG16: what does each one print?", "几个统计工具，一个 VGG16：各自打印多少？"),
)
def vgg16_counters(budget: Budget) -> list[dict]:
    """thop, ptflops and torch beside our count; a row for each tool, then one for each named difference."""
    from course.models import vgg16

    found = cross_check(vgg16(), torch.randn(1, 3, 224, 224))
    rows = [{"part": "tool", **row} for row in found.rows() if row["reported"] is not None]
    for tool in found.tools:
        rows += [
            {
                "part": "reason",
                "tool": tool.tool,
                "macs": reason.amount,
                "reason_en": reason.text["en"],
                "reason_zh": reason.text["zh"],
            }
            for reason in tool.reasons
        ]
        if tool.note:
            rows.append(
                {"part": "missing", "tool": tool.tool, "reason_en": tool.note["en"], "reason_zh": tool.note["zh"]}
            )
    return rows


# --- 03-lstm-zero -------------------------------------------------------------------------------------------


def headline_lstm_zero(record: Record) -> Text:
    seen = {row["mkldnn"]: row["torch_flops"] for row in record.rows if row["layer"] == "LSTM"}
    if len(seen) < 2:
        return TOO_NOISY
    if seen[0] == seen[1] == 0:
        return both(
            "PyTorch's counter sees nothing of the LSTM, oneDNN or not.",
            "不管开不开 oneDNN，PyTorch 的计数器都数不到 LSTM。",
        )
    if seen[0] == seen[1]:
        return both(
            "PyTorch's counter prints the same with oneDNN on and off.", "oneDNN 开或关，PyTorch 的计数器数出来都一样。"
        )
    if seen[1] == 0:
        return both(
            "With oneDNN on, PyTorch's counter sees nothing of the LSTM.",
            "打开 oneDNN，PyTorch 的计数器就数不到 LSTM 了。",
        )
    if seen[0] == 0:
        return both(
            "With oneDNN off, PyTorch's counter sees nothing of the LSTM.",
            "关掉 oneDNN，PyTorch 的计数器就数不到 LSTM 了。",
        )
    return both(
        "The oneDNN switch changes what PyTorch's counter prints.",
        "拨动 oneDNN 的开关，PyTorch 计数器数出来的就不一样。",
    )


def say_lstm_zero(record: Record) -> Text:
    if not record.rows:
        return NOTHING

    def named(row: dict, code: str) -> str:
        on = {"en": ("off", "on"), "zh": ("关闭", "打开")}[code][bool(row["mkldnn"])]
        return f"{row['layer']} with oneDNN {on}" if code == "en" else f"oneDNN {on}时的 {row['layer']}"

    short = [row for row in record.rows if row["torch_flops"] != row["exact_flops"]]
    right = len(record.rows) - len(short)
    en = "; ".join(f"{named(row, 'en')}: {row['torch_flops']:,} of {row['exact_flops']:,} FLOPs" for row in short)
    zh = "；".join(
        f"{named(row, 'zh')}：{row['exact_flops']:,} 个 FLOPs 中只有 {row['torch_flops']:,} 个" for row in short
    )
    if not short:
        return both(
            f"FlopCounterMode sees every FLOP in all {right} cases.", f"{right} 种情况下 FlopCounterMode 都一个不漏。"
        )
    return both(
        f"FlopCounterMode sees every FLOP in {right} of {len(record.rows)} cases. Not in: {en}.",
        f"{len(record.rows)} 种情况里，FlopCounterMode 有 {right} 种一个不漏。漏掉的是：{zh}。",
    )


def draw_lstm_zero(record: Record, bets: dict) -> SvgPicture:
    """What the counter sees of each layer, the switch on and off; the bet is an outline around rows of the LSTM."""

    def said(row: dict) -> str:
        share = row["torch_flops"] / row["exact_flops"]
        if share in (0, 1):
            return t("sees all of it", "全数到了") if share else t("sees nothing", "一点没数到")
        return t(f"sees {share:.0%} of it", f"数到 {share:.0%}")

    rows = [
        Bar(
            row["layer"] + (t(", oneDNN on", "，oneDNN 开") if row["mkldnn"] else t(", oneDNN off", "，oneDNN 关")),
            row["torch_flops"],
            said(row),
            row["layer"] != "LSTM",
        )
        for row in record.rows
    ]
    lstm = {row["mkldnn"]: place for place, row in enumerate(record.rows) if row["layer"] == "LSTM"}
    options = {
        "a": (t("nothing, with oneDNN on", "打开时是 0"), [lstm.get(1)]),
        "b": (t("the same in both", "两次相同"), [lstm.get(1), lstm.get(0)]),
        "c": (t("nothing, with oneDNN off", "关闭时是 0"), [lstm.get(0)]),
    }
    mine = options.get(bets.get("03-bet-lstm", ""))
    return bars(rows, Bet(mine[0], rows=mine[1]) if mine else None)


def settle_lstm_zero(record: Record) -> dict[str, str | None]:
    seen = {row["mkldnn"]: row["torch_flops"] for row in record.rows if row["layer"] == "LSTM"}
    if len(seen) < 2:
        return {"03-bet-lstm": None}
    if seen[0] == seen[1]:
        return {"03-bet-lstm": "b" if seen[0] else None}
    return {"03-bet-lstm": "a" if seen[1] == 0 else "c" if seen[0] == 0 else None}


@experiment(
    name="03-lstm-zero",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=5,
    title=both(
        "One LSTM, one switch: what does PyTorch's own counter see?",
        "一个 LSTM，一个开关：PyTorch 自带的工具看到了什么？",
    ),
)
def lstm_zero(budget: Budget) -> list[dict]:
    """FlopCounterMode on three recurrent layers, oneDNN on and off, beside the exact FLOPs."""
    from torch.utils.flop_counter import FlopCounterMode

    x = torch.randn(10, 1, 32)
    layers = {"LSTM": nn.LSTM(32, 64), "GRU": nn.GRU(32, 64), "RNN": nn.RNN(32, 64)}
    rows = []
    for name, layer in layers.items():
        for enabled in (True, False):
            with using({"mkldnn.enabled": enabled}), torch.no_grad():
                with FlopCounterMode(display=False) as counter:
                    layer(x)
                rows.append(
                    {
                        "layer": name,
                        "mkldnn": int(enabled),
                        "torch_flops": counter.get_total_flops(),
                        "exact_flops": count(layer, x).flops,
                    }
                )
    return rows


# --- 03-length ----------------------------------------------------------------------------------------------

LENGTHS = (128, 256, 512, 1024, 2048, 4096)


def _by_tokens(record: Record) -> dict[int, dict]:
    return {row["tokens"]: row for row in record.rows}


def headline_length(record: Record) -> Text:
    found = _by_tokens(record)
    if not {256, 1024} <= found.keys():
        return TOO_NOISY
    return fold(
        found[1024]["macs"] / found[256]["macs"], "Four times the text, {} the work.", "文本变成四倍长，工作量变成{}。"
    )


def say_length(record: Record) -> Text:
    found = _by_tokens(record)
    if not {256, 1024} <= found.keys():
        return NOTHING
    grown = {key: found[1024][key] / found[256][key] for key in ("macs", "linear_macs", "attention_macs")}
    last = found[max(found)]
    share = last["attention_macs"] / last["macs"]
    return both(
        f"From 256 to 1024 tokens the block's work grows {grown['macs']:.2f} times: "
        f"linear layers {grown['linear_macs']:.3g} times, attention {grown['attention_macs']:.3g} times; "
        f"at {last['tokens']} tokens attention is {share:.0%} of it (counted exactly, nothing timed).",
        f"从 256 到 1024 个 token，block 的工作量变为 {grown['macs']:.2f} 倍：线性层 {grown['linear_macs']:.3g} 倍，"
        f"注意力 {grown['attention_macs']:.3g} 倍；到 {last['tokens']} 个 token 时注意力占 {share:.0%}（精确统计，"
        "没有计时）。",
    )


def draw_length(record: Record, bets: dict) -> SvgPicture:
    """The work of the two lengths of the bet, over that of the shorter one, and the part of the attention in it."""
    found, rows = _by_tokens(record), []
    for tokens in (256, 1024):
        grown, share = (
            found[tokens]["macs"] / found[256]["macs"],
            found[tokens]["attention_macs"] / found[tokens]["macs"],
        )
        rows.append(
            Bar(
                t(f"{tokens} tokens", f"{tokens} 个 token"),
                grown,
                t(f"{times(grown)}×", f"{times(grown)} 倍"),
                tokens == 256,
                t(f"attention: {share:.0%} of it", f"注意力占 {share:.0%}"),
            )
        )
    said = {
        "a": (t("4 times", "4 倍"), (0, 4)),
        "b": (t("about 16 times", "约 16 倍"), (12, 20)),
        "c": (t("more than 4, less than 8", "大于 4 倍，小于 8 倍"), (4, 8)),
    }
    mine = said.get(bets.get("03-bet-length", ""))
    return bars(rows, Bet(mine[0], rows=[1], span=mine[1]) if mine else None)


def settle_length(record: Record) -> dict[str, str | None]:
    found = _by_tokens(record)
    if not {256, 1024} <= found.keys():
        return {"03-bet-length": None}
    grown = found[1024]["macs"] / found[256]["macs"]
    option = "a" if abs(grown - 4) < 0.01 else "c" if 4 < grown < 8 else "b" if 12 < grown < 20 else None
    return {"03-bet-length": option}


@experiment(
    name="03-length",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=15,
    title=both(
        "A longer text: how much more work is one GPT-2 block?", "文本变长，一个 GPT-2 block 的工作量增加多少？"
    ),
)
def length(budget: Budget) -> Iterator[dict]:
    """MACs of a block of width 768 by length, the linear layers and the attention apart; nothing is timed."""
    from course.models import gpt_block

    block = gpt_block()
    linear = sum(layer.weight.numel() for layer in block.modules() if isinstance(layer, nn.Linear))
    for tokens in budget.loop(LENGTHS, desc=both("lengths", "长度")):
        macs = count(block, torch.empty(1, tokens, 768)).macs
        yield {"tokens": tokens, "macs": macs, "linear_macs": linear * tokens, "attention_macs": macs - linear * tokens}
