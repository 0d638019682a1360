"""Experiments of lesson 04 on the way: whom PyTorch chooses, which switch it asks, and what moves a switch unasked."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from course import flags
from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.words import NOTHING, TOO_NOISY, joined, word
from course.i18n import Text, both, t
from course.lessons.l04_cudnn_enabled import probes
from course.lessons.l04_cudnn_enabled.experiments import CUDNN, LESSON, ONEDNN
from course.records import Record
from course.tables import Table

CASES = {
    "plain": both("plain 3×3", "普通 3×3"),
    "large batch": both("batch of 32", "批大小 32"),
    "small": both("one small image", "一张小图"),
    "depthwise": both("depthwise", "逐通道卷积"),
    "dilated": both("dilated", "空洞"),
    "transposed": both("transposed", "转置"),
    "float64": both("float64", "float64"),
}


# --- 04-dispatch --------------------------------------------------------------------------------------------


def _changed(record: Record, column: str) -> list[dict]:
    return [row for row in record.rows if row[column] != row["as_it_is"]]


def headline_dispatch(record: Record) -> Text:
    said = {
        "a": both(
            "For CPU tensors only cuDNN's switch changes PyTorch's choice.",
            "CPU 张量交给谁算，只有 cuDNN 的开关管得着。",
        ),
        "b": both(
            "For CPU tensors only oneDNN's switch changes PyTorch's choice.",
            "CPU 张量交给谁算，只有 oneDNN 的开关管得着。",
        ),
        "c": both("For CPU tensors either switch changes PyTorch's choice.", "CPU 张量交给谁算，两个开关都管得着。"),
        "d": both("For CPU tensors neither switch changes PyTorch's choice.", "CPU 张量交给谁算，两个开关都管不着。"),
    }
    return said.get(settle_dispatch(record)["04-bet-dispatch"], TOO_NOISY)


def say_dispatch(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    cudnn, onednn, total = _changed(record, "cudnn_off"), _changed(record, "onednn_off"), len(record.rows)
    en, zh = (joined([CASES[row["case"]][code] for row in onednn], code) for code in ("en", "zh"))
    return both(
        f"cudnn.enabled off changed {len(cudnn)} of {total} choices, mkldnn.enabled off {len(onednn)}"
        + (f": {en}." if onednn else "."),
        f"{total} 个选择里，关掉 cudnn.enabled 改变了 {len(cudnn)} 个，"
        f"关掉 mkldnn.enabled 改变了 {len(onednn)} 个" + (f"：{zh}。" if onednn else "。"),
    )


def draw_dispatch(record: Record, bets: dict) -> Table:
    """The choice as things are and with each switch off; what was bet of the two switches stands below."""
    keys, count = ("as_it_is", "cudnn_off", "onednn_off"), len(record.rows)
    lines = [
        [
            "",
            t("as it is", "原样"),
            t("cuDNN's switch off", "关 cuDNN 开关"),
            t("oneDNN's switch off", "关 oneDNN 开关"),
        ]
    ]
    lines += [[word(CASES[row["case"]]), *(row[key] for key in keys)] for row in record.rows]
    marks = {
        (y, x): "told" if x > 1 and row[key] != row["as_it_is"] else "quiet"
        for y, row in enumerate(record.rows)
        for x, key in enumerate(keys, 1)
    }
    mine = {"a": (1, 0), "b": (0, 1), "c": (1, 1), "d": (0, 0)}.get(bets.get("04-bet-dispatch", ""))
    if mine:
        said = (t("changes nothing", "不改变"), t("changes a choice", "会改变"))
        lines.append(["", "", *(said[one] for one in mine)])
    return Table(lines, marks, [(count, 2), (count, 3)] if mine else ())


def settle_dispatch(record: Record) -> dict[str, str | None]:
    if not record.rows:
        return {"04-bet-dispatch": None}
    answers = {(True, True): "c", (True, False): "a", (False, True): "b", (False, False): "d"}
    return {"04-bet-dispatch": answers[bool(_changed(record, "cudnn_off")), bool(_changed(record, "onednn_off"))]}


@experiment(
    name="04-dispatch",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=2,
    title=both(
        "Which switch changes PyTorch's choice for a CPU tensor?", "对 CPU 张量，哪个开关会改变 PyTorch 的选择？"
    ),
)
def dispatch(budget: Budget) -> list[dict]:
    """Ask the backend selection about seven convolutions: as things are, without cuDNN, without oneDNN."""
    rows = []
    for case in probes.CONVOLUTIONS:
        row: dict = {"case": case}
        for column, switch in (("as_it_is", None), ("cudnn_off", CUDNN), ("onednn_off", ONEDNN)):
            with flags.using({switch: False} if switch else {}):
                row[column] = probes.chosen_backend(case)
        rows.append(row)
    return rows


# --- 04-pretend-gpu -----------------------------------------------------------------------------------------


def _by_choice(record: Record, code: str) -> str:
    found: dict[str, list[str]] = {}
    for row in record.rows:
        found.setdefault(row["off"], []).append(CASES[row["case"]][code])
    return ("; " if code == "en" else "；").join(f"{joined(cases, code)} → {choice}" for choice, cases in found.items())


def headline_pretend_gpu(record: Record) -> Text:
    if not any(row["on"] for row in record.rows):
        return both("This PyTorch answers only where a real GPU is.", "这份 PyTorch 要看到真 GPU 才肯回答。")
    if not record.rows[0]["cudnn_built"]:
        return both(
            "This PyTorch has no cuDNN, so its switch changes nothing.", "这份 PyTorch 没有 cuDNN，开关不起作用。"
        )
    if all(row["on"] == row["off"] for row in record.rows):
        return both("With cuDNN off, PyTorch chooses the same as before.", "关掉 cuDNN，PyTorch 选的还是原来那些。")
    return both(
        "With cuDNN off, PyTorch chooses its own kernels for the convolutions.",
        "关掉 cuDNN，PyTorch 就选自己的 kernel 来算卷积。",
    )


def say_pretend_gpu(record: Record) -> Text:
    if not any(row["on"] for row in record.rows):
        return both(
            "This build of PyTorch answers only when a real GPU is there.", "这份 PyTorch 只有在真有 GPU 时才肯回答。"
        )
    en, zh = _by_choice(record, "en"), _by_choice(record, "zh")
    cudnn = sum("Cudnn" in row["on"] for row in record.rows)
    if not record.rows[0]["cudnn_built"]:
        start = both(
            "This build has no cuDNN, so the switch changes nothing", "这份 PyTorch 没有 cuDNN，开关也就改变不了什么"
        )
    else:
        start = both(
            f"With the switch on, cuDNN takes {cudnn} of {len(record.rows)}; with it off",
            f"开关打开时，{len(record.rows)} 个里有 {cudnn} 个走 cuDNN；关掉后",
        )
    told = both(f"{start['en']}: {en}.", f"{start['zh']}：{zh}。")
    missed = any(row["case"] == "dilated" and "Cudnn" not in row["on"] for row in record.rows)
    if missed and record.rows[0]["cudnn_built"] and record.machine.get("device") != "cuda":
        more = both(
            " Before cuDNN takes a dilated convolution, PyTorch looks for a real GPU, and here is none; with one, "
            "cuDNN takes it too.",
            "把空洞卷积派给 cuDNN 之前，PyTorch 要先看到真的 GPU，而这里没有；有的话，它也归 cuDNN。",
        )
        told = both(told["en"] + more["en"], told["zh"] + more["zh"])
    return told


def draw_pretend_gpu(record: Record, bets: dict) -> Table:
    lines = [["", t("cuDNN's switch on", "cuDNN 开关打开"), t("off", "关掉")]]
    none = t("no answer", "没有回答")
    lines += [[word(CASES[row["case"]]), row["on"] or none, row["off"] or none] for row in record.rows]
    return Table(lines, {(y, 2): "told" for y, row in enumerate(record.rows) if row["on"] != row["off"]})


@experiment(
    name="04-pretend-gpu",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=8,
    title=both(
        "Tensors that pretend to be on a GPU: what is chosen without cuDNN?", "假装在 GPU 上的张量：没有 cuDNN 时选谁？"
    ),
)
def pretend_gpu(budget: Budget) -> Iterator[dict]:
    """Ask the dispatcher about the same convolutions, without memory, on a GPU that may not exist."""
    for case in probes.CONVOLUTIONS:
        try:
            with flags.using({CUDNN: True}):
                on = probes.pretended_backend(case)
            with flags.using({CUDNN: False}):
                off = probes.pretended_backend(case)
        except (RuntimeError, AssertionError):  # a build that must see a real GPU to answer
            on = off = ""
        yield {"case": case, "on": on, "off": off, "cudnn_built": int(torch.backends.cudnn.is_available())}


# --- 04-census ----------------------------------------------------------------------------------------------


def _movers(record: Record, bare: bool) -> dict[str, str]:
    """Manager -> what moved, for flags() without arguments or for requests that named something."""
    found: dict[str, str] = {}
    for row in record.rows:
        if row["moved"] and bool(row["named"]) != bare:
            found.setdefault(row["manager"], row["which"])
    return found


def headline_census(record: Record) -> Text:
    many = len(_movers(record, False))
    kinds = "one kind of `flags` still changes" if many == 1 else f"{many} kinds of `flags` still change"
    said = {
        "a": both(
            "Ask for what is already set: `flags` changes nothing.", "只把开关设成现在的值，`flags` 什么都没动。"
        ),
        "b": both(
            "Ask for what is already set: only `cudnn.flags` still changes something.",
            "只把开关设成现在的值，唯独 `cudnn.flags` 动了开关。",
        ),
        "c": both(
            f"Ask for what is already set: {kinds} something.",
            f"只把开关设成现在的值，还是有 {many} 种 `flags` 动了开关。",
        ),
        "d": both(
            "Ask for what is already set: every kind of `flags` changes something.",
            "只把开关设成现在的值，每种 `flags` 都动了开关。",
        ),
    }
    return said.get(settle_census(record)["04-bet-census"], TOO_NOISY)


def say_census(record: Record) -> Text:
    managers = list(dict.fromkeys(row["manager"] for row in record.rows))
    if not managers:
        return NOTHING
    polite, bare = _movers(record, False), _movers(record, True)
    en = "; ".join(f"{name}.flags() moved {which}" for name, which in polite.items()) or "nothing moved"
    zh = "；".join(f"{name}.flags() 动了 {which}" for name, which in polite.items()) or "什么都没动"
    return both(
        f"Asked for what was already so, {len(polite)} of {len(managers)} flags() moved something: {en}. "
        f"Called without any argument, {len(bare)} did.",
        f"只把开关设成现在的值，{len(managers)} 个 flags() 里有 {len(polite)} 个动了别的开关：{zh}。"
        f"不带参数调用时，有 {len(bare)} 个。",
    )


def draw_census(record: Record, bets: dict) -> Table:
    """What each manager moves when asked for what is set, and without arguments; what was bet stands below."""
    nothing, found = t("nothing", "什么都不动"), (_movers(record, False), _movers(record, True))
    names = list(dict.fromkeys(row["manager"] for row in record.rows))
    lines = [
        ["", t("asked for what is set: moves", "设成现在的值：动了"), t("without arguments: moves", "不带参数：动了")]
    ]
    lines += [[f"{name}.flags()", *(moved.get(name) or nothing for moved in found)] for name in names]
    marks = {(y, x): "told" for y, name in enumerate(names) for x, moved in enumerate(found, 1) if name in moved}
    said = {
        "a": t("nothing, whoever is asked", "谁都不动"),
        "b": t("something in cudnn only", "只有 cudnn 会动"),
        "c": t("something in some of them", "有几个会动"),
        "d": t("something in every one", "每一个都会动"),
    }
    mine = said.get(bets.get("04-bet-census", ""))
    if mine:
        lines.append(["", mine, ""])
    return Table(lines, marks, [(len(names), 1)] if mine else ())


def settle_census(record: Record) -> dict[str, str | None]:
    managers = {row["manager"] for row in record.rows}
    moved = set(_movers(record, False))
    if not managers:
        return {"04-bet-census": None}
    if not moved:
        return {"04-bet-census": "a"}
    return {"04-bet-census": "b" if moved == {"cudnn"} else "d" if moved == managers else "c"}


@experiment(
    name="04-census",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=6,
    title=both(
        "Ask every flags() for what is already so: what moves?", "把开关设成它现在的值，flags() 会不会顺手改别的？"
    ),
)
def census(budget: Budget) -> list[dict]:
    """In a new process: each flags() without arguments and with one argument it has already."""
    return rows_of(probes.__name__, "flags_census")


# --- 04-gates -----------------------------------------------------------------------------------------------

GATES = {
    "layers": (
        both(
            "convolution, RNN, LSTM, GRU\nBatchNorm, CTC, grid_sample",
            "卷积、RNN、LSTM、GRU\nBatchNorm、CTC、grid_sample",
        ),
        both("cuDNN, if it can", "cuDNN（只要它能做）"),
        both("PyTorch's own kernels", "PyTorch 自己的 kernel"),
    ),
    "attention": (
        both("attention", "注意力"),
        both("cuDNN's attention, if it can", "cuDNN 注意力（只要能做）"),
        both("other attention kernels", "别的注意力 kernel"),
    ),
    "products": (both("Linear, matmul", "Linear、matmul"), both("cuBLAS", "cuBLAS"), both("", "")),
    "rest": (
        both(
            "pooling, softmax, LayerNorm\nmost float32 depthwise", "池化、softmax、LayerNorm\n多数 float32 逐通道卷积"
        ),
        both("PyTorch's own kernels", "PyTorch 自己的 kernel"),
        both("", ""),
    ),
}


def headline_gates(record: Record) -> Text:
    if "layers" not in {row["group"] for row in record.rows}:
        return TOO_NOISY
    return both(
        "cuDNN has two switches; matrix products and pooling ask neither.", "cuDNN 有两个开关，矩阵乘和池化哪个都不看。"
    )


def say_gates(record: Record) -> Text:
    state = {row["group"]: row["open"] for row in record.rows}
    if "layers" not in state:
        return NOTHING
    words = {1: both("on", "开着"), 0: both("off", "关着")}
    layers, attention = words[state["layers"]], words[state.get("attention", 0)]
    return both(
        "A table from PyTorch's source, not a measurement: two switches stand before cuDNN; products of matrices and pooling ask neither. "
        f"Read here and now: cudnn.enabled was {layers['en']} and attention's own switch {attention['en']}.",
        f"这是照 PyTorch 源码列的表，不是测量结果：cuDNN 前面有两个开关，矩阵乘法和池化哪个都不问。当场读到的只有开关："
        f"cudnn.enabled {layers['zh']}，注意力自己的开关{attention['zh']}。",
    )


def draw_gates(record: Record, bets: dict) -> Table:
    """Who computes what, by the switch that is asked; what holds as the switches stand now is marked."""
    lines, marks = [["", t("asks", "问谁"), t("switch on", "开着"), t("switch off", "关着")]], {}
    for y, row in enumerate(record.rows):
        operations, through, otherwise = (word(text).replace("\n", t(", ", "、")) for text in GATES[row["group"]])
        lines.append([operations, row["switch"] or t("no switch", "不问"), through, otherwise or through])
        marks |= {(y, x): "told" for x in ((2, 3) if row["open"] < 0 else (3 - row["open"],))}
    return Table(lines, marks)


@experiment(
    name="04-gates",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=1,
    title=both(
        "From the source: who asks which switch on the way to a GPU kernel?",
        "源码怎么说：去往 GPU kernel 的路上，谁要问哪个开关？",
    ),
)
def gates(budget: Budget) -> list[dict]:
    """The switches that stand before cuDNN, as they are now; 1 is open, -1 means that there is none."""
    now = flags.read()
    return [
        {"group": group, "switch": switch, "open": int(now[switch] is True) if switch else -1}
        for group, switch in (("layers", CUDNN), ("attention", "cuda.enable_cudnn_sdp"), ("products", ""), ("rest", ""))
    ]
