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
from course.experiment.rows import kind_of
from course.experiment.words import EMPTY, NOTHING, TOO_NOISY, doubtful, joined, with_interval, word
from course.figures.kinds import Bet, Ratio, ratio_rows
from course.figures.svg import SvgPicture
from course.flags import GROUPS, SWITCHES, FlagError, Switch
from course.i18n import Text, both, t
from course.records import Record
from course.tables import Table

LESSON = "15_review"
NAMES: dict[str, Text] = {
    "conv": both("convolution", "卷积"),
    "lstm": both("LSTM", "LSTM"),
    "linear": both("Linear", "Linear"),
    "linear_bf16": both("Linear in bfloat16", "bfloat16 的 Linear"),
    "encoder": both("Transformer layer", "Transformer 层"),
    "gelu": both("GELU", "GELU"),
    "sum": both("a long sum", "很长的求和"),
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


def headline_flip_all(record: Record) -> Text:
    count = len(changed(record))
    tried = [row for row in record.rows if row["state"] in ("changed", "same")]
    if not tried:
        return EMPTY
    if not record.complete and not 0 < count <= len(tried) / 2:  # the likeliest are tried first
        return TOO_NOISY
    if not count:
        return both("On this CPU not one switch changed a single bit.", "在这颗 CPU 上，没有一个开关改变结果。")
    if count > len(tried) / 2:
        return both("On this CPU most switches changed at least one bit.", "在这颗 CPU 上，多数开关都会改变结果。")
    if count == 1:
        return both(
            "Of all switches tried, only one changed a result on this CPU.",
            "试过的开关里，只有一个改变了这颗 CPU 的结果。",
        )
    return both(
        f"Of all switches tried, only {count} changed a result on this CPU.",
        f"试过的开关里，只有 {count} 个改变了这颗 CPU 的结果。",
    )


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


def draw_flip_all(record: Record, bets: dict) -> Table:
    found = changed(record)
    lines = [["", t("where other bits came out", "哪里的结果变了")]]
    for row in found:
        lines.append(
            [f"{row['switch']} = {row['to']}", t(", ", "、").join(word(NAMES[one]) for one in row["parts"].split())]
        )
    marks = {(at, 1): "told" for at in range(len(found) + 1)}
    for state, label in (
        ("changed", t("changed at least one bit", "至少改变了一位")),
        ("same", t("no other bit", "一位都没变")),
        ("refused", t("other values refused", "不接受别的值")),
        ("absent", t("not in this build", "这份 PyTorch 里没有")),
        ("untried", t("not tried: no time left", "没有试：时间到了")),
    ):
        count = sum(row["state"] == state for row in record.rows)
        if count or state == "changed":
            lines.append([label, t(f"{count} switches", f"{count} 个开关")])
    mine = {
        "a": t("none", "一个也没有"),
        "b": t("1 to 10", "1 到 10 个"),
        "c": t("11 to 20", "11 到 20 个"),
        "d": t("21 or more", "21 个以上"),
    }.get(bets.get("15-bet-flips", ""))
    return Table(lines, marks).bet_on(len(found), [mine]) if mine else Table(lines, marks)


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
COMMA = {"en": ", ", "zh": "，"}


def line_words(name: str) -> Text:
    """The line and what it is tried on."""
    switch, value, part = LINES[name]
    return both(f"{switch} = {value} ({NAMES[part]['en']})", f"{switch} = {value}（{NAMES[part]['zh']}）")


def as_ratio(row: dict, name: str) -> Ratio:
    """A row of the picture from a row with ratio, low, high, rounds."""
    return Ratio(name, row["ratio"], row["low"], row["high"], rounds=row["rounds"])


def headline_three_lines(record: Record) -> Text:
    kinds = {row["line"]: kind_of(row) for row in record.rows}
    if set(kinds) != set(LINES) or "undecided" in kinds.values():
        return TOO_NOISY
    moved = [name for name in LINES if kinds[name] != "same"]
    if moved == ["conv_off"]:
        return {
            "slower": both(
                "One line of three matters here: without oneDNN the convolution is slower.",
                "三行里只有一行起作用：不用 oneDNN，卷积变慢。",
            ),
            "faster": both(
                "One line of three matters here: without oneDNN the convolution is faster.",
                "三行里只有一行起作用：不用 oneDNN，卷积更快。",
            ),
        }[kinds["conv_off"]]
    if moved == ["conv_off", "linear_off"]:
        return both(
            "The switch of oneDNN changes both times here, the search changes nothing.",
            "oneDNN 的开关两处都有影响，搜索没有影响。",
        )
    return {
        0: both("Three well-known lines, and not one changed the time here.", "那三行著名的代码，在这里都不影响耗时。"),
        1: both("Only one of the three lines changed the time here.", "三行里，在这里只有一行影响耗时。"),
        2: both("Two of the three lines changed the time here.", "三行里，在这里有两行影响耗时。"),
        3: both("Each of the three lines changed the time here.", "三行在这里都影响耗时。"),
    }[len(moved)]


def say_three_lines(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    words = {
        "faster": both("faster", "更快"),
        "slower": both("slower", "更慢"),
        "same": both("the same", "一样"),
        "undecided": both("unclear", "说不准"),
    }
    said = {
        code: [
            f"{line_words(row['line'])[code]} {with_interval(row, code)}{COMMA[code]}{words[kind_of(row)][code]}"
            for row in record.rows
        ]
        for code in ("en", "zh")
    }
    doubt = doubtful(settle_three_lines(record))
    return both(
        f"{doubt['en']}Time with the line over time without: {'; '.join(said['en'])}.",
        f"{doubt['zh']}加上这一行与不加的耗时之比：{'；'.join(said['zh'])}。",
    )


def draw_three_lines(record: Record, bets: dict) -> SvgPicture:
    rows = [as_ratio(row, word(line_words(row["line"]))) for row in record.rows]
    mine = {letter: moved for moved, letter in PATTERNS.items()}.get(bets.get("15-bet-lines", ""))
    bet = None
    if mine is not None:
        sides = {"conv_off": "right", "linear_off": "right", "conv_search": "left"}
        at = {row["line"]: number for number, row in enumerate(record.rows)}
        held = {at[name]: sides[name] for name in mine if name in at}
        words = t("a difference here", "这里有差别") if mine else t("no difference", "没有差别")
        bet = Bet(words, rows=held or dict.fromkeys(range(len(rows)), "middle"))
    return ratio_rows(rows, (t("faster with the line", "加上更快"), t("slower", "更慢")), bet)


PATTERNS = {
    (): "a",
    ("conv_off",): "b",
    ("conv_off", "linear_off"): "c",
    ("conv_off", "linear_off", "conv_search"): "d",
}


def settle_three_lines(record: Record) -> dict[str, str | None]:
    kinds = {row["line"]: kind_of(row) for row in record.rows}
    moved = tuple(name for name in LINES if kinds.get(name) in ("faster", "slower"))
    decided = set(kinds) == set(LINES) and "undecided" not in kinds.values()
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
    if {row["change"] for row in record.rows if row["low"] is not None} != set(CHANGES):
        return None
    first, *others = sorted(record.rows, key=lambda row: row["ratio"])
    clear = first["high"] < 1 and all(first["high"] < row["low"] for row in others)
    return first["change"] if clear else None


BEST: dict[str, Text] = {
    "benchmark": both("The famous switch saved most here.", "这里省得最多的，就是那个最出名的开关。"),
    "channels_last": both(
        "Another memory layout saved most here, not the switch.", "省得最多的是换内存布局，不是开关。"
    ),
    "inference": both("Leaving out the gradients saved most here, not the switch.", "省得最多的是不算梯度，不是开关。"),
    "batch": both("One call for the whole batch saved most, not the switch.", "省得最多的是合成一个 batch，不是开关。"),
    "threads": both("More threads saved most here, not the switch.", "省得最多的是多用线程，不是开关。"),
}


def headline_what_moves(record: Record) -> Text:
    best, kinds = fastest(record), [kind_of(row) for row in record.rows]
    if best:
        return BEST[best]
    if len(kinds) < len(CHANGES):
        return TOO_NOISY
    if kinds.count("faster") > 1:
        return both(
            "Several changes save time here; which saves most stays open.", "好几种改动都省时间，哪个最省还说不准。"
        )
    if not {"faster", "undecided"} & set(kinds):
        return both("Not one of the five changes saved time here.", "五种改动，在这里都没省下时间。")
    return TOO_NOISY


def say_what_moves(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    rows = sorted(record.rows, key=lambda row: row["ratio"])
    said = {
        code: joined([f"{CHANGES[row['change']][code]} {with_interval(row, code)}" for row in rows], code)
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


def draw_what_moves(record: Record, bets: dict) -> SvgPicture:
    rows = [as_ratio(row, word(CHANGES[row["change"]])) for row in record.rows]
    mine = {letter: name for name, letter in LETTERS.items()}.get(bets.get("15-bet-moves", ""))
    place = next((number for number, row in enumerate(record.rows) if row["change"] == mine), None)
    bet = Bet(t("saves most", "省得最多"), rows={place: "left"}) if place is not None else None
    return ratio_rows(rows, (t("the change saves time", "改动省时间"), t("costs time", "更费时间")), bet)


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
