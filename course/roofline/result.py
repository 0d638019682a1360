"""What `place` gives back: the model and its layers against the measured roof: plain data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from course.i18n import t
from course.roofline import advice, render
from course.roofline.layer import ENOUGH, TINY, Alike, Layer, alike, by_bound
from course.roofline.roof import Peaks
from course.roofline.words import between, bound_word, percent
from course.timing.faults import LARGE_SHARE
from course.units import format_ms

CLEAR = 1.05
"""A layer is named only where even the low end of its time / that of the next one, round by round, is above this."""


@dataclass(frozen=True)
class Roofline:
    """A model placed under its machine's measured roof.

    whole: the model as if it were one layer (its bytes: what enters and leaves it and every weight, once), measured in
    one piece. layers: in the order they ran (empty if the model is itself a single layer). peaks: the roof. rounds: samples of
    each layer. notes: sentences in the learner's language. training: a training step (forward and backward).
    idle: on a GPU, whose layers' times are those of their kernels: the part of the steady time of the whole in which no kernel runs
    (None elsewhere). conversions: the part of the kernels' time that only puts tensors into another memory layout.
    """

    whole: Layer
    layers: tuple[Layer, ...]
    peaks: Peaks
    rounds: int = 0
    notes: tuple[str, ...] = ()
    training: bool = False
    idle: float | None = None
    conversions: float = 0.0

    @property
    def points(self) -> tuple[Layer, ...]:
        """What is compared: the layers, or the model where it has none."""
        return self.layers or (self.whole,)

    def rows(self) -> list[dict[str, Any]]:
        """Plain dicts, as for pandas.DataFrame: the whole model first, then the layers in the order they ran.

        layer, kind, shape, output, params, calls, flops, bytes, flops_per_byte, time_ms with low_ms and high_ms (95 %),
        share_of_time with share_of_time_low and share_of_time_high, bound, times_from_roof, share_of_roof with
        share_low and share_high, and more.
        """
        parts = [(1.0, 1.0, 1.0), *(Alike((layer,)).part_of(Alike(self.layers)) for layer in self.layers)]
        return [
            layer.row() | {"share_of_time": part, "share_of_time_low": low, "share_of_time_high": high}
            for layer, (part, low, high) in zip((self.whole, *self.layers), parts, strict=True)
        ]

    def table(self, order: str = "run") -> str:
        """The table as text. order: "run" (as the layers ran), "time" (the longest first) or "tree" (modules with the
        layers below them). Raises RooflineError for another order.
        """
        return render.table(self.whole, self.layers, order)

    @cached_property
    def groups(self) -> list[Alike]:
        """The layers in groups of equal ones (`Alike`); those that take longest come first."""
        return alike(self.points)

    @property
    def named(self) -> Alike | None:
        """The layers that take longest, where the intervals leave no doubt which they are; else None."""
        first, second = [*self.groups, None][:2]
        if second is None:
            return first
        sure = min(len(first.rounds_ms), len(second.rounds_ms)) >= ENOUGH
        _, low, _ = first.part_of(second)
        return first if sure and low > CLEAR else None

    def sentence(self) -> str:
        """Where the time goes: to one layer (and those like it) if that is beyond doubt, else to which limit."""
        if not self.layers:
            return self._reach(self.whole.label, self.groups[0])
        if self.named is None:
            parts = [(bound_word(bound), percent(part)) for bound, part in by_bound(self.layers).items()]
            return t(
                "No layer stands out. Of the layers' time "
                + ", ".join(f"{part} is limited by {word}" for word, part in parts)
                + ".",
                "没有哪一层特别突出。各层耗时中，" + "，".join(f"{part} 受限于{word}" for word, part in parts) + "。",
            )
        group, more = self.named, len(self.named.layers) - 1
        _, low, high = group.part_of(Alike(self.layers))
        who = group.first.label + (t(f" and {more} like it", f" 及其余 {more} 个同样的层") if more else "")
        takes = t(
            f"{who} take{'s' * (not more)} {between(low, high)} of the layers' time",
            f"{who}{'' if more else ' '}占各层耗时的 {between(low, high)}",
        )
        return self._reach(takes, group)

    def _reach(self, who: str, group: Alike) -> str:
        """`who`, and how near to its roof it is."""
        one = len(group.layers) == 1
        start = who + (t(" and", "，") if self.layers else t("", " "))
        faults = percent(group.fault_share)
        last = (
            t(f" Page faults, not work, fill {faults} of that.", f"其中 {faults} 被缺页占去，而不是运算。")
            if group.fault_share > LARGE_SHARE
            else ""
        )
        if group.first.bound == "overhead":
            part = percent(min(sum(layer.overhead_ms for layer in group.layers) / max(group.time_ms, TINY), 1.0))
            said = t(
                f"{start} {'is' if one else 'are'} limited by overhead: issuing the calls is {part} of it.",
                f"{start}受限于调用开销：发出调用就占了其中的 {part}。",
            )
            return said + last
        if not group.least_ms:
            return t(
                f"{start} {'has' if one else 'have'} neither FLOPs nor traffic.", f"{start}既没有 FLOPs，也没有访存。"
            )
        word, share = bound_word(group.first.bound), between(*group.share_interval)
        said = t(
            f"{start} reach{'es' * one} {share} of {'its' if one else 'their'} {word} roof.",
            f"{start}达到{word}屋顶的 {share}。",
        )
        return said + last

    def try_first(self) -> str:
        """The one thing to try first: on a GPU for the whole; else for the layers that take longest, or where none stands out, for the
        longest of those with the limit that takes most of the time."""
        if self.idle is not None and (said := advice.for_whole(self.idle, self.conversions, self.peaks.dtype)):
            return said
        most = next(iter(by_bound(self.points)))
        return advice.try_first(self.named or next(group for group in self.groups if group.first.bound == most))

    def plot(self, ax: Any = None, dark: bool | None = None) -> Any:
        """The log-log roofline with the layers as points, sized by time; returns the matplotlib Axes."""
        from course.roofline.picture import draw

        return draw(self.points, self.peaks, self.sentence, ax, named=self.named, dark=dark)

    def remarks(self) -> tuple[str, ...]:
        """What to know when reading the shares: where the numbers come from, what is out of the ordinary."""
        lines = [self.peaks.sentence(), *self.peaks.notes, self._how()]
        if self.training:
            lines.append(
                t(
                    "A training step: forward and backward of each layer, without the optimizer. The backward reads the gradient of "
                    "the output, the inputs and the weights, and writes their gradients.",
                    "训练步：每层的前向和反向，不含优化器。反向读取输出的梯度、输入和权重，并写出它们的梯度。",
                )
            )
        if self.layers and self.idle is None:
            lines.append(self._sum_over_whole())
        slow = [layer for layer in self.points if layer.fault_share > LARGE_SHARE]
        if slow:
            names = ", ".join(layer.label for layer in slow[:3]) + ("" if len(slow) < 4 else t(" and others", " 等"))
            pages = sum(layer.faults for layer in slow)
            lines.append(
                t(
                    f"Page faults, not work, fill over {LARGE_SHARE:.0%} of the time of {names}: "
                    f"the system hands out the memory of their results anew in each forward ({pages:,.0f} pages).",
                    f"{names} 的耗时有 {LARGE_SHARE:.0%} 以上花在缺页上，而不是运算："
                    f"系统每次 forward 都要重新分配它们的结果所用的内存（{pages:,.0f} 页）。",
                )
            )
        if any(Alike((layer,)).share_interval[0] > 1 for layer in (self.whole, *self.layers)):
            lines.append(
                t(
                    "Over 100 %: part of the data came from a cache, which is faster than memory; "
                    "or the layer's algorithm does less work than counted; "
                    "or the machine was busy when the peaks were measured (then call peaks(refresh=True)).",
                    "超过 100%：一部分数据来自缓存，而缓存比内存快；或者该层的算法实际运算比计数少；"
                    "或者测峰值时机器正忙（请调用 peaks(refresh=True)）。",
                )
            )
        return (*lines, *self.notes)

    def _how(self) -> str:
        """What the bytes are, and how the layers were timed; on a GPU, how much of the time it waits."""
        moved = t(
            "Bytes are the least there can be: inputs, weights and outputs of each layer, once. ",
            "字节数是最少需要的量：每层的输入、权重和输出各算一次。",
        )
        if self.idle is None:
            return moved + t(
                f"Each layer is timed alone, its data out of the cache, in {self.rounds} rounds of all layers; "
                "likely ranges (95 %) hold within this run.",
                f"每层单独计时，数据都不在缓存里，所有层轮流测了 {self.rounds} 轮；可能范围（95%）只对这一次运行有效。",
            )
        whole, idle = format_ms(self.whole.time_ms), percent(self.idle)
        return moved + t(
            f"A layer's time is that of its kernels inside the whole, in {self.rounds} rounds. The whole takes {whole}, several in a row "
            f"without a wait: the GPU idles {idle} of that.",
            f"每层的耗时是它的 kernel 在整个模型里运行的时间，测了 {self.rounds} 轮。连续运行若干次、中间不等待，"
            f"整个模型每次耗时 {whole}：其中 {idle} 的时间 GPU 闲着。",
        )

    def _sum_over_whole(self) -> str:
        """The layers' times, each alone, together over the time of the whole model."""
        part = sum(layer.time_ms for layer in self.layers) / max(self.whole.time_ms, TINY)
        why = far = ""
        if part > 1:
            why = t(
                ", where layers find data of the one before in the cache",
                "，因为在模型里后一层能在缓存里找到前一层的数据",
            )
        if not 0.5 <= part <= 2.5:
            far = t(
                " So far from 100 % the machine was probably busy or threads shared a core: run it again.",
                "与 100% 相差这么远，多半是因为测量期间机器正忙，或者线程挤在同一个核上：请再运行一次。",
            )
        return t(
            f"The layers one by one take {part:.0%} of the time of the whole model{why}.{far}",
            f"各层分别计时之和是整个模型耗时的 {part:.0%}{why}。{far}",
        )

    def __str__(self) -> str:
        remarks = (f"  {line}" for line in self.remarks())
        return "\n".join([self.sentence(), self.try_first(), "", self.table(), "", *remarks])

    def __repr__(self) -> str:
        return self.sentence()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return render.page((self.sentence(), self.try_first()), self.whole, self.layers, self.remarks())
