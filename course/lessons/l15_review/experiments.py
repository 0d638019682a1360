"""Experiments of lesson 15, live on a CPU: every switch flipped once, three well-known lines timed, and what moves more than they."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import nn

from course import flags
from course.experiment.base import Budget, experiment
from course.experiment.words import NOTHING, doubtful, joined
from course.flags import GROUPS, SWITCHES, FlagError, Switch
from course.i18n import Text, both, t
from course.records import Record

LESSON = "15_review"
NAMES: dict[str, Text] = {
    "conv": both("convolution", "卷积"),
    "lstm": both("LSTM", "LSTM"),
    "linear": both("Linear", "Linear"),
    "linear_bf16": both("Linear in bfloat16", "bfloat16 的 Linear"),
    "encoder": both("Transformer layer", "Transformer 层"),
    "gelu": both("GELU", "GELU"),
    "sum": both("a long sum", "长长的求和"),
}
"""The parts of the job in which every switch is tried."""
CONTROL = "(nothing)"
OTHER = {"precision": ("bf16", "tf32", "ieee"), "text": ("medium", "native", "onednn", "greedy")}
"""What is tried for a switch that is neither a bool nor a number: the first value that torch takes."""
LIKELY = ("mkldnn.enabled", "torch.num_threads", "torch.float32_matmul_precision", "mha.set_fastpath_enabled")
"""Tried first: the other switches of a CPU follow, then those for everything, attention's, and those of other devices."""


def job() -> dict[str, Callable[[], torch.Tensor]]:
    """Seven small computations on the CPU, each with inputs of its own that stay the same."""
    made = torch.Generator().manual_seed(15)

    def numbers(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=made)

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(15)
        conv, lstm, linear = nn.Conv2d(16, 32, 3, padding=1), nn.LSTM(32, 64), nn.Linear(512, 512)
        half, encoder = nn.Linear(256, 256).bfloat16(), nn.TransformerEncoderLayer(64, 4, batch_first=True).eval()
    image, words, table, tokens, long = (
        numbers(8, 16, 32, 32),
        numbers(12, 4, 32),
        numbers(64, 512),
        numbers(4, 20, 64),
        numbers(3_000_001),
    )
    small = numbers(32, 256).bfloat16()
    return {
        "conv": lambda: conv(image),
        "lstm": lambda: lstm(words)[0],
        "linear": lambda: linear(table),
        "linear_bf16": lambda: half(small),
        "encoder": lambda: encoder(tokens),
        "gelu": lambda: nn.functional.gelu(table),
        "sum": lambda: long.sum(),
    }


# --- 15-flip-all --------------------------------------------------------------------------------------------


def changed(record: Record) -> list[dict]:
    """The rows of the switches that changed a bit."""
    return [row for row in record.rows if row["state"] == "changed"]


def say_flip_all(record: Record) -> Text:
    rows = [row for row in record.rows if row["state"] != "control"]
    if not rows:
        return NOTHING
    found, tried = changed(record), [row for row in rows if row["state"] in ("changed", "same")]
    untried = sum(row["state"] == "untried" for row in rows)
    missing = len(rows) - len(tried) - untried
    names = {code: joined([row["switch"] for row in found], code) for code in ("en", "zh")}
    if not found:
        en, zh = "none changed a single bit of this job on the CPU", "在 CPU 上，这份活儿的结果一位都没变"
    else:
        en = f"{len(found)} changed at least one bit of this job on the CPU: {names['en']}"
        zh = f"在 CPU 上至少改变了一位结果的有 {len(found)} 个：{names['zh']}"
    stopped = both("", "")
    if untried:
        stopped = both(
            f" The time ran out: {untried} were not tried, those that matter least on a CPU.",
            f"时间到了，还有 {untried} 个没试，都是在 CPU 上最不要紧的。",
        )
    return both(
        f"Of {len(tried)} switches flipped one at a time, {en}. "
        f"{missing} more are missing in this build or refuse another value.{stopped['en']}",
        f"一次只拨一个，共试了 {len(tried)} 个开关：{zh}。另有 {missing} 个在这份 PyTorch 里没有，或者不接受别的值。{stopped['zh']}",
    )


def draw_flip_all(record: Record, ax: Any) -> None:
    from course.experiment.plots import table

    lines = []
    for row in changed(record):
        parts = t(", ", "、").join(t(NAMES[one]["en"], NAMES[one]["zh"]) for one in row["parts"].split())
        lines.append((f"{row['switch']} = {row['to']}", [(parts, 1)]))
    for state, label, mark in (
        ("same", t("no other bit", "一位都没变"), 0),
        ("refused", t("other values refused", "不接受别的值"), 2),
        ("absent", t("not in this build", "这份 PyTorch 里没有"), 2),
        ("untried", t("not tried: no time left", "没有试：时间到了"), 2),
    ):
        count = sum(row["state"] == state for row in record.rows)
        if count:
            lines.append((label, [(t(f"{count} switches", f"{count} 个开关"), mark)]))
    table(ax, [t("where other bits came out", "哪里的结果变了")], lines)


def settle_flip_all(record: Record) -> dict[str, str | None]:
    if not record.complete or not any(row["state"] in ("changed", "same") for row in record.rows):
        return {"15-bet-flips": None}
    count = len(changed(record))
    return {"15-bet-flips": "a" if count == 0 else "b" if count <= 10 else "c" if count <= 20 else "d"}


def _rank(switch: Switch) -> int:
    """The place of a switch in the row of those to try: the smaller, the likelier that it changes something on a CPU."""
    if switch.name in LIKELY:
        return LIKELY.index(switch.name)
    if "_sdp" in switch.name:
        return len(LIKELY) + 2
    return len(LIKELY) + {"cpu": 0, "all": 1}.get(GROUPS[switch.group].place, 3)


def flipped(switch: Switch) -> list[Any]:
    """The values to try in place of the one in force, in this order."""
    now = switch.read()
    if isinstance(now, bool):
        return [not now]
    if isinstance(now, int):
        return [1 if now > 1 else 2]
    return [value for value in OTHER.get(switch.takes, ()) if value != now]


def _bits(calls: dict[str, Callable[[], torch.Tensor]]) -> dict[str, bytes]:
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: call().float().numpy().tobytes() for name, call in calls.items()}


def _different(one: dict[str, bytes], other: dict[str, bytes]) -> str:
    return " ".join(name for name in one if one[name] != other[name])


def _flip(
    switch: Switch, calls: dict[str, Callable[[], torch.Tensor]], before: dict[str, bytes], shaky: set[str]
) -> dict:
    row = {"switch": switch.name, "from": repr(switch.read()), "to": "", "parts": "", "state": "refused"}
    if switch.read() == flags.ABSENT:
        return {**row, "state": "absent"}
    for value in flipped(switch):
        try:
            with flags.using({switch.name: value}):
                parts = [name for name in _different(before, _bits(calls)).split() if name not in shaky]
        except (FlagError, RuntimeError):  # torch takes no such value here, or a part refuses to run with it
            continue
        return {**row, "to": repr(value), "parts": " ".join(parts), "state": "changed" if parts else "same"}
    return row


@experiment(
    name="15-flip-all",
    lesson=LESSON,
    title=both(
        "Every switch flipped once: which changes a bit on the CPU?", "每个开关拨一次：哪些会改变 CPU 上的结果？"
    ),
    needs="cpu",
    seconds=12,
)
def flip_all(budget: Budget, names: Sequence[str] | None = None) -> Iterator[dict]:
    """Each switch of the table (or of ``names``) alone against everything as it stands, the likely ones first; a part that
    differs from itself does not count.
    """
    calls = job()
    before = _bits(calls)
    shaky = set(_different(before, _bits(calls)).split())
    yield {"switch": CONTROL, "from": "", "to": "", "parts": " ".join(sorted(shaky)), "state": "control"}
    switches = [one for one in SWITCHES.values() if one.changeable and (names is None or one.name in names)]
    switches.sort(key=_rank)
    tried = set()
    for switch in budget.loop(switches, desc=both("switches", "开关")):
        tried.add(switch.name)
        yield _flip(switch, calls, before, shaky)
    for switch in switches:
        if switch.name not in tried:
            yield {"switch": switch.name, "from": "", "to": "", "parts": "", "state": "untried"}


# --- 15-three-lines -----------------------------------------------------------------------------------------

LINES = {
    "conv_off": ("mkldnn.enabled", False, "conv"),
    "linear_off": ("mkldnn.enabled", False, "linear"),
    "conv_search": ("cudnn.benchmark", True, "conv"),
}
"""name -> (switch, value, part of the job): the line is timed against the same part with the default."""
GATE = 0.02
COMMA = {"en": ", ", "zh": "，"}


def line_words(name: str) -> Text:
    """The line and what it is tried on."""
    switch, value, part = LINES[name]
    return both(f"{switch} = {value} ({NAMES[part]['en']})", f"{switch} = {value}（{NAMES[part]['zh']}）")


def kind_of(row: dict) -> str:
    """faster | slower | same | unclear: where the interval lies, with 2 % to either side of 1 being the same."""
    if row["high"] < 1 - GATE:
        return "faster"
    if row["low"] > 1 + GATE:
        return "slower"
    return "same" if 1 - GATE <= row["low"] and row["high"] <= 1 + GATE else "unclear"


def say_three_lines(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    words = {
        "faster": both("faster", "更快"),
        "slower": both("slower", "更慢"),
        "same": both("the same", "一样"),
        "unclear": both("unclear", "说不准"),
    }
    said = {
        code: [
            f"{line_words(row['line'])[code]} {row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
            f"{COMMA[code]}{words[kind_of(row)][code]}"
            for row in record.rows
        ]
        for code in ("en", "zh")
    }
    doubt = doubtful(settle_three_lines(record))
    return both(
        f"{doubt['en']}Time with the line over time without: {'; '.join(said['en'])}.",
        f"{doubt['zh']}加上这一行与不加的耗时之比：{'；'.join(said['zh'])}。",
    )


def draw_three_lines(record: Record, ax: Any) -> None:
    from course.experiment.plots import ratios

    names = [t(line_words(row["line"])["en"], line_words(row["line"])["zh"]) for row in record.rows]
    ratios(ax, record.rows, names, t("time with the line / without", "耗时比：加上这一行 / 不加"))


PATTERNS = {
    (): "a",
    ("conv_off",): "b",
    ("conv_off", "linear_off"): "c",
    ("conv_off", "linear_off", "conv_search"): "d",
}


def settle_three_lines(record: Record) -> dict[str, str | None]:
    kinds = {row["line"]: kind_of(row) for row in record.rows}
    moved = tuple(name for name in LINES if kinds.get(name) in ("faster", "slower"))
    decided = set(kinds) == set(LINES) and "unclear" not in kinds.values()
    return {"15-bet-lines": PATTERNS.get(moved) if decided else None}


@experiment(
    name="15-three-lines",
    lesson=LESSON,
    title=both("Three well-known lines, timed on the CPU", "三行“名句”，在 CPU 上计时"),
    needs="mkldnn",
    seconds=9,
)
def three_lines(budget: Budget) -> Iterator[dict]:
    """Each line against the default, taking turns, one thread, inference."""
    from course.timing import compare

    calls = job()

    def with_value(switch: Switch, value: Any, call: Callable[[], torch.Tensor]) -> Callable[[], torch.Tensor]:
        def run() -> torch.Tensor:
            switch.write(value)
            return call()

        return run

    for done, (name, (switch_name, value, part)) in enumerate(budget.loop(LINES.items(), desc=both("lines", "代码行"))):
        switch = SWITCHES[switch_name]
        with flags.using({"torch.num_threads": 1, switch_name: not value}), torch.inference_mode():
            found = compare(
                {"default": with_value(switch, not value, calls[part]), "line": with_value(switch, value, calls[part])},
                baseline="default",
                max_time=max(0.4, min(2.5, budget.share(len(LINES) - done))),
            )
        yield {
            "line": name,
            "ratio": found.ratio,
            "low": found.low,
            "high": found.high,
            "default_ms": found.medians_ms["default"],
            "line_ms": found.medians_ms["line"],
            "rounds": found.rounds,
        }


# --- 15-what-moves ------------------------------------------------------------------------------------------

CHANGES: dict[str, Text] = {
    "benchmark": both("cudnn.benchmark = True", "cudnn.benchmark = True"),
    "channels_last": both("channels_last", "channels_last"),
    "inference": both("inference_mode()", "inference_mode()"),
    "batch": both("one batch of 8", "一个 8 张的 batch"),
    "threads": both("all threads", "用上全部线程"),
}
"""One change each, against eight images of SIZE x SIZE pixels in eight calls on one thread, with gradients."""
LETTERS = dict(zip(CHANGES, "abcde", strict=True))
IMAGES, SIZE = 8, 12


def fastest(record: Record) -> str | None:
    """The change that saves most: its whole interval lies below all others' and below 1; None where no such change is."""
    if {row["change"] for row in record.rows} != set(CHANGES):
        return None
    first, *others = sorted(record.rows, key=lambda row: row["ratio"])
    clear = first["high"] < 1 and all(first["high"] < row["low"] for row in others)
    return first["change"] if clear else None


def say_what_moves(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    rows = sorted(record.rows, key=lambda row: row["ratio"])
    said = {
        code: joined(
            [
                f"{CHANGES[row['change']][code]} {row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
                for row in rows
            ],
            code,
        )
        for code in ("en", "zh")
    }
    best = fastest(record)
    en, zh = (
        (f" Most is saved by: {CHANGES[best]['en']}.", f"省得最多的是：{CHANGES[best]['zh']}。") if best else ("", "")
    )
    doubt = doubtful(settle_what_moves(record))
    return both(
        f"{doubt['en']}Time with one change over time without: {said['en']}.{en}",
        f"{doubt['zh']}只改一处，改后与改前的耗时之比：{said['zh']}。{zh}",
    )


def draw_what_moves(record: Record, ax: Any) -> None:
    from course.experiment.plots import ratios

    names = [t(CHANGES[row["change"]]["en"], CHANGES[row["change"]]["zh"]) for row in record.rows]
    ratios(ax, record.rows, names, t("time with the change / without", "耗时比：改后 / 改前"))


def settle_what_moves(record: Record) -> dict[str, str | None]:
    best = fastest(record)
    return {"15-bet-moves": LETTERS[best] if best else None}


@experiment(
    name="15-what-moves",
    lesson=LESSON,
    title=both("What moves more than a switch?", "什么比开关更管用？"),
    needs="cpu",
    seconds=10,
)
def what_moves(budget: Budget) -> Iterator[dict]:
    """Five changes to the forward pass of a small network, each alone against the same start, taking turns."""
    from course.timing import compare

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(15)
        net = nn.Sequential(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU())
        images = torch.randn(IMAGES, 16, SIZE, SIZE)
    last = copy.deepcopy(net).to(memory_format=torch.channels_last)
    single = [images[place : place + 1] for place in range(IMAGES)]
    single_last = [image.to(memory_format=torch.channels_last) for image in single]
    every = max(torch.get_num_threads(), os.cpu_count() or 1)

    def start() -> None:
        for image in single:
            net(image)

    def searching() -> None:
        torch.backends.cudnn.benchmark = True
        start()
        torch.backends.cudnn.benchmark = False

    def in_channels_last() -> None:
        for image in single_last:
            last(image)

    def without_gradients() -> None:
        with torch.inference_mode():
            start()

    def with_threads() -> None:
        torch.set_num_threads(every)
        start()
        torch.set_num_threads(1)

    calls = (searching, in_channels_last, without_gradients, lambda: net(images), with_threads)
    for done, (name, call) in enumerate(budget.loop(zip(CHANGES, calls, strict=True), desc=both("changes", "改动"))):
        with flags.using({"torch.num_threads": 1, "cudnn.benchmark": False}):
            found = compare(
                {"before": start, "after": call},
                max_time=max(0.4, min(2.0, budget.share(len(CHANGES) - done))),
                same=False,
            )
        yield {
            "change": name,
            "ratio": found.ratio,
            "low": found.low,
            "high": found.high,
            "before_ms": found.medians_ms["before"],
            "after_ms": found.medians_ms["after"],
            "rounds": found.rounds,
        }
