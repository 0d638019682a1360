"""What `place` gives back: the model and its layers against the measured roof, as plain data, sentences and a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from course.core.i18n import both, pick, t
from course.core.plain_text import text_of
from course.core.tables import as_html, wide
from course.core.units import format_ms, scaled
from course.figures.block import Block
from course.figures.plot import Plot
from course.roofline.layer import OUTSIDE, Peaks, Row, between, bound_word, by_bound, percent

CLEAR, LARGE = 1.05, 0.1
"""A layer is named only where even the low end of its time / that of the next one, round by round, is above the first, and where it
takes this part of all the time."""
IDLE = 0.2
"""From this part of the time on that a GPU waits, its whole is limited by overhead."""
TRY = {
    "overhead": both(
        'a larger batch; then torch.compile, which joins small calls (on a GPU with mode="reduce-overhead")',
        '增大 batch；再试 torch.compile，它会合并零碎的调用（GPU 上加 mode="reduce-overhead"）',
    ),
    "outside": both(
        "look into forward() itself, where no layer is called: torch.profiler names the operators that run there",
        "看 forward() 本身，也就是不调用任何层的那些代码：torch.profiler 会列出那里运行的算子",
    ),
    "memory": both(
        "a larger batch where most bytes are weights; else torch.compile, or a smaller type (bfloat16)",
        "搬的多半是权重时增大 batch；否则试 torch.compile，或换更小的类型（bfloat16）",
    ),
    "compute": both(
        "a smaller type (bfloat16, by torch.autocast); for convolutions also memory_format=torch.channels_last",
        "换更小的类型（bfloat16，用 torch.autocast）；卷积还可以用 memory_format=torch.channels_last",
    ),
}
"""What may help, by what limits it."""


@dataclass(frozen=True, repr=False)
class Roofline:
    """A model placed under its machine's measured roof.

    found: rows of the whole model (its bytes: what enters and leaves it and every weight, once), measured in one piece; then, if the
    model is not itself a single layer, of the layers in the order they ran, and of what runs outside them. peaks: the roof. rounds:
    samples of each layer. notes: sentences in the learner's language. idle: on a GPU, whose layers' times are those of their kernels:
    the part of the steady time of the whole in which no kernel runs (None elsewhere).
    """

    found: Sequence[Row]
    peaks: Peaks
    rounds: int = 0
    notes: tuple[str, ...] = ()
    idle: float | None = None

    @property
    def parts(self) -> Sequence[Row]:
        """What is compared: the layers, or the model where it has none; the longest first."""
        return sorted(self.found[1:] or self.found, key=lambda row: -row["time_ms"])

    def rows(self) -> list[dict[str, Any]]:
        """Plain dicts, as for pandas.DataFrame: the whole model first, then the layers as they ran, then "(outside the layers)".

        layer, kind, calls, flops, bytes, flops_per_byte, time_ms with low_ms and high_ms (95 %), share_of_time with
        share_of_time_low and share_of_time_high, bound, share_of_roof with share_of_roof_low and share_of_roof_high, and more.
        """
        return [dict(row) for row in self.found]

    def _lines(self) -> list[list[str]]:
        """The table: the whole model, then the layers and what runs outside them, the longest first."""
        head = t(
            "layer|FLOPs|bytes|time|of the time (likely range)|limited by|of its roof (likely range)",
            "层|FLOPs|字节|耗时|占耗时（可能范围）|受限于|占屋顶（可能范围）",
        ).split("|")
        longest = [row for row in self.parts if row["layer"]]
        return [head, *map(_line, [self.found[0], *longest])]

    @property
    def named(self) -> Row | None:
        """The layer that takes longest, where the ranges leave no doubt which it is; else None."""
        first, *others = self.parts
        second = others[0]["share_of_time_high"] if others else 0.0
        clear = second is not None and (first["share_of_time_low"] or 0.0) > CLEAR * second
        return first if not others or clear and first["share_of_time"] >= LARGE else None

    def sentence(self) -> str:
        """Where the time goes: to one layer if that is beyond doubt, else to which limit."""
        row = self.named
        if row is None:
            parts = [(bound_word(bound), percent(part)) for bound, part in by_bound(self.parts).items()]
            english = ", ".join(f"{part} is limited by {word}" for word, part in parts)
            chinese = "，".join(f"{part} 受限于{word}" for word, part in parts)
            return t(f"No layer stands out. Of the time {english}.", f"没有哪一层特别突出。耗时中，{chinese}。")
        who, word, part = _label(row), bound_word(row["bound"]), _range(row, "share_of_time")
        if row["bound"] == "outside":
            return t(
                f"{part} of the time is spent outside the layers: in functions that the forward calls, or in Python.",
                f"{part} 的时间花在各层之外：forward 自己调用的函数，或者 Python 本身。",
            )
        if row is not self.found[0]:
            who = t(f"{who} takes {part} of the time and", f"{who} 占耗时的 {part}，")
        if row["bound"] == "overhead":
            part = percent(min(row["overhead_ms"] / row["time_ms"], 1.0))
            return t(
                f"{who} is limited by overhead: issuing the calls is {part} of it.",
                f"{who}受限于调用开销：发出调用就占了其中的 {part}。",
            )
        if not row["share_of_roof"]:
            return t(f"{who} has neither FLOPs nor traffic.", f"{who}既没有 FLOPs，也没有访存。")
        share = _range(row, "share_of_roof")
        return t(f"{who} reaches {share} of its {word} roof.", f"{who}达到{word}屋顶的 {share}。")

    def try_first(self) -> str:
        """The one thing to try first: for the layer that is named, else for the longest of those with the limit that takes most of the
        time; for a GPU that waits, more work a call."""
        most = next(iter(by_bound(self.parts)))
        row = self.named or next(row for row in self.parts if row["bound"] == most)
        waits = (self.idle or 0.0) >= IDLE
        what = pick(TRY["overhead" if waits else row["bound"]])
        who = t(f"the GPU idles {self.idle:.0%}", f"GPU 有 {self.idle:.0%} 的时间闲着") if waits else _label(row)
        return t(f"Try first ({who}): {what}.", f"先试这个（{who}）：{what}。")

    def plot(self) -> Any:
        """The log-log roofline with the layers as points, sized by time, below its sentence."""
        from course.roofline.picture import draw

        alt = t(
            "The rate of each layer over its arithmetic intensity, below the roof.",
            "各层的速率与计算强度，都在屋顶之下。",
        )
        return Block(self.sentence(), "", Plot(lambda axes: draw(self.parts, self.peaks, axes), alt, (7.4, 5.0)), "")

    def remarks(self) -> tuple[str, ...]:
        """What to know when reading the shares: where the numbers come from, what is out of the ordinary."""
        bytes_ = t(
            "Bytes are the least there can be: inputs, weights and outputs of each layer, once; above 100 % of a roof, data came from "
            "a cache, or the algorithm does less work than counted.",
            "字节数是最少需要的量：每层的输入、权重和输出各算一次；超过屋顶的 100%，说明数据来自缓存，或者算法实际运算比计数少。",
        )
        part = percent(sum(row["time_ms"] for row in self.parts) / self.found[0]["time_ms"])
        how = t(
            f"{self.rounds} rounds, each layer alone, its data out of the cache; ranges (95 %) hold within this run. The rows sum up to "
            f"{part} of the model in one piece.",
            f"测了 {self.rounds} 轮，每层单独计时，数据都不在缓存里；范围（95%）只对这一次运行有效。各行之和是整个模型一次运行的 {part}。",
        )
        if self.idle is not None:
            idle, whole = percent(self.idle), format_ms(self.found[0]["time_ms"])
            how = t(
                f"{self.rounds} rounds; a layer's time is that of its kernels inside the whole. The GPU idles {idle} of the {whole} that "
                "the whole takes, several in a row without a wait.",
                f"测了 {self.rounds} 轮；每层的耗时是它的 kernel 在整个模型里运行的时间。连续运行、中间不等待，"
                f"整个模型每次耗时 {whole}，其中 {idle} 的时间 GPU 闲着。",
            )
        return (self.peaks.sentence(), bytes_, how, *self.notes)

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{escape(line)}</p>" for line in (self.sentence(), self.try_first()))
        notes = "".join(f"<p><small>{escape(line)}</small></p>" for line in self.remarks())
        return f"<div>{said}{wide(as_html(self._lines()))}{notes}</div>"

    def __str__(self) -> str:
        return text_of(self._repr_html_())

    __repr__ = __str__


def _label(row: Row) -> str:
    """Name and class of a layer, for people."""
    if row["layer"] == OUTSIDE:
        return t("outside the layers", "各层之外")
    return f"{row['layer']} ({row['kind']})" if row["layer"] else str(row["kind"])


def _line(row: Row) -> list[str]:
    """A line of the table."""
    known, kind = row["layer"] != OUTSIDE, row["kind"]
    return [
        _label(row) if row["layer"] else t(f"whole model: {kind}", f"整个模型：{kind}"),
        scaled(row["flops"], "") if row["flops"] else t("memory only", "仅访存") if known else "–",
        scaled(row["bytes"], "B") if known else "–",
        format_ms(row["time_ms"]),
        _cell(row, "share_of_time"),
        bound_word(row["bound"]) if known else "–",
        _cell(row, "share_of_roof") if row["share_of_roof"] else "–",
    ]


def _cell(row: Row, key: str) -> str:
    """A share in the table, with its likely range where there is one."""
    return percent(row[key]) + (f" ({_range(row, key)})" if row[f"{key}_low"] is not None else "")


def _range(row: Row, key: str) -> str:
    """The likely range of a share; the share itself where there is none."""
    low, high = row[f"{key}_low"], row[f"{key}_high"]
    return percent(row[key]) if low is None else between(low, high)
