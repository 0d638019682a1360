"""What `place` gives back: the model and its layers against the measured roof, as plain data, sentences and a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from course.core.i18n import both, pick, t
from course.core.plain_text import text_of
from course.core.tables import as_html
from course.core.units import format_ms, scaled
from course.figures.block import Block
from course.figures.plot import Plot
from course.roofline.layer import OUTSIDE, TINY, Layer, Peaks, by_bound
from course.roofline.words import between, bound_word, percent
from course.timing import enough

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

    whole: the model as if it were one layer (its bytes: what enters and leaves it and every weight, once), measured in
    one piece. layers: in the order they ran, and last what runs outside them (empty if the model is itself a single layer).
    peaks: the roof. rounds: samples of each layer. notes: sentences in the learner's language. idle: on a GPU, whose layers' times are
    those of their kernels: the part of the steady time of the whole in which no kernel runs (None elsewhere).
    """

    whole: Layer
    layers: tuple[Layer, ...]
    peaks: Peaks
    rounds: int = 0
    notes: tuple[str, ...] = ()
    idle: float | None = None

    @property
    def points(self) -> tuple[Layer, ...]:
        """What is compared: the layers, or the model where it has none."""
        return self.layers or (self.whole,)

    def rows(self) -> list[dict[str, Any]]:
        """Plain dicts, as for pandas.DataFrame: the whole model first, then the layers as they ran, then "(outside the layers)".

        layer, kind, calls, flops, bytes, flops_per_byte, time_ms with low_ms and high_ms (95 %), share_of_time with
        share_of_time_low and share_of_time_high, bound, share_of_roof with share_low and share_high, and more.
        """
        parts = [(1.0, 1.0, 1.0), *(layer.part_of(self.layers) for layer in self.layers)]
        return [
            layer.row() | {"share_of_time": part, "share_of_time_low": low, "share_of_time_high": high}
            for layer, (part, low, high) in zip((self.whole, *self.layers), parts, strict=True)
        ]

    def _lines(self) -> list[list[str]]:
        """The table: the whole model, then the layers and what runs outside them, the longest first."""
        head = t(
            "layer|FLOPs|bytes|time|of the time|likely range|limited by|of its roof|likely range",
            "层|FLOPs|字节|耗时|占耗时|可能范围|受限于|占屋顶|可能范围",
        ).split("|")
        kind = self.whole.kind
        first = _line(t(f"whole model: {kind}", f"整个模型：{kind}"), self.whole, [self.whole])
        longest = sorted(self.layers, key=lambda layer: -layer.time_ms)
        return [head, first, *(_line(layer.label, layer, self.layers) for layer in longest)]

    @property
    def named(self) -> Layer | None:
        """The layer that takes longest, where the intervals leave no doubt which it is; else None."""
        first, second = [*sorted(self.points, key=lambda layer: -layer.time_ms), None][:2]
        if second is None:
            return first
        clear = enough(max(len(first.samples_ms), len(second.samples_ms))) and first.part_of([second])[1] > CLEAR
        return first if clear and first.part_of(self.layers)[0] >= LARGE else None

    def sentence(self) -> str:
        """Where the time goes: to one layer if that is beyond doubt, else to which limit."""
        layer = self.named
        if not self.layers:
            return self._reach(self.whole.label, self.whole)
        if layer is None:
            parts = [(bound_word(bound), percent(part)) for bound, part in by_bound(self.layers).items()]
            english = ", ".join(f"{part} is limited by {word}" for word, part in parts)
            chinese = "，".join(f"{part} 受限于{word}" for word, part in parts)
            return t(f"No layer stands out. Of the time {english}.", f"没有哪一层特别突出。耗时中，{chinese}。")
        _, low, high = layer.part_of(self.layers)
        part, who = between(low, high), layer.label
        if layer.bound == "outside":
            return t(
                f"{part} of the time is spent outside the layers: in functions that the forward calls, or in Python.",
                f"{part} 的时间花在各层之外：forward 自己调用的函数，或者 Python 本身。",
            )
        return self._reach(t(f"{who} takes {part} of the time and", f"{who} 占耗时的 {part}，"), layer)

    def _reach(self, who: str, layer: Layer) -> str:
        """`who`, and how near to its roof it is."""
        word, share = bound_word(layer.bound), between(*layer.share_interval)
        if layer.bound == "overhead":
            part = percent(min(layer.overhead_ms / max(layer.time_ms, TINY), 1.0))
            return t(
                f"{who} is limited by overhead: issuing the calls is {part} of it.",
                f"{who}受限于调用开销：发出调用就占了其中的 {part}。",
            )
        if not layer.least_ms:
            return t(f"{who} has neither FLOPs nor traffic.", f"{who}既没有 FLOPs，也没有访存。")
        return t(f"{who} reaches {share} of its {word} roof.", f"{who}达到{word}屋顶的 {share}。")

    def try_first(self) -> str:
        """The one thing to try first: for the layer that is named, else for the longest of those with the limit that takes most of the
        time; for a GPU that waits, more work a call."""
        most = next(iter(by_bound(self.points)))
        layer = self.named or max((x for x in self.points if x.bound == most), key=lambda x: x.time_ms)
        waits = (self.idle or 0.0) >= IDLE
        what = pick(TRY["overhead" if waits else layer.bound])
        who = t(f"the GPU idles {self.idle:.0%}", f"GPU 有 {self.idle:.0%} 的时间闲着") if waits else layer.label
        return t(f"Try first ({who}): {what}.", f"先试这个（{who}）：{what}。")

    def plot(self) -> Any:
        """The log-log roofline with the layers as points, sized by time, below its sentence."""
        from course.roofline.picture import draw

        alt = t(
            "The rate of each layer over its arithmetic intensity, below the roof.",
            "各层的速率与计算强度，都在屋顶之下。",
        )
        return Block(self.sentence(), "", Plot(lambda axes: draw(self.points, self.peaks, axes), alt, (7.4, 5.0)), "")

    def remarks(self) -> tuple[str, ...]:
        """What to know when reading the shares: where the numbers come from, what is out of the ordinary."""
        bytes_ = t(
            "Bytes are the least there can be: inputs, weights and outputs of each layer, once; above 100 % of a roof, data came from "
            "a cache, or the algorithm does less work than counted.",
            "字节数是最少需要的量：每层的输入、权重和输出各算一次；超过屋顶的 100%，说明数据来自缓存，或者算法实际运算比计数少。",
        )
        part = percent(sum(layer.time_ms for layer in self.points) / max(self.whole.time_ms, TINY))
        how = t(
            f"{self.rounds} rounds, each layer alone, its data out of the cache; ranges (95 %) hold within this run. The rows sum up to "
            f"{part} of the model in one piece.",
            f"测了 {self.rounds} 轮，每层单独计时，数据都不在缓存里；范围（95%）只对这一次运行有效。各行之和是整个模型一次运行的 {part}。",
        )
        if self.idle is not None:
            idle, whole = percent(self.idle), format_ms(self.whole.time_ms)
            how = t(
                f"{self.rounds} rounds; a layer's time is that of its kernels inside the whole. The GPU idles {idle} of the {whole} that "
                "the whole takes, several in a row without a wait.",
                f"测了 {self.rounds} 轮；每层的耗时是它的 kernel 在整个模型里运行的时间。连续运行、中间不等待，"
                f"整个模型每次耗时 {whole}，其中 {idle} 的时间 GPU 闲着。",
            )
        return (self.peaks.sentence(), *self.peaks.notes, bytes_, how, *self.notes)

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{escape(line)}</p>" for line in (self.sentence(), self.try_first()))
        notes = "".join(f"<p><small>{escape(line)}</small></p>" for line in self.remarks())
        return f'<div>{said}<div style="overflow-x:auto">{as_html(self._lines())}</div>{notes}</div>'

    def __str__(self) -> str:
        return text_of(self._repr_html_())

    __repr__ = __str__


def _line(name: str, layer: Layer, every: Sequence[Layer]) -> list[str]:
    """A line of the table; `every`: those whose time is 100 %."""
    sure, known = enough(len(layer.samples_ms)), layer.name != OUTSIDE
    share, low, high = layer.part_of(every)
    return [
        name,
        scaled(layer.flops, "") if layer.flops else t("memory only", "仅访存") if known else "–",
        scaled(layer.moved, "B") if known else "–",
        format_ms(layer.time_ms),
        percent(share),
        between(low, high) if sure else "–",
        bound_word(layer.bound) if known else "–",
        percent(layer.least_ms / max(layer.time_ms, TINY)) if layer.least_ms else "–",
        between(*layer.share_interval) if sure and layer.least_ms else "–",
    ]
