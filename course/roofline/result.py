"""What `place` gives back: the model and its layers against the measured roof: plain data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from course.i18n import t
from course.roofline import advice, render
from course.roofline.layer import ENOUGH, TINY, Alike, Layer, alike, by_bound
from course.roofline.roof import Peaks
from course.roofline.words import RooflineError, between, bound_word, percent
from course.suggest import did_you_mean
from course.timing.faults import LARGE_SHARE
from course.units import format_ms

CLEAR = 1.05
"""A layer is named only where even the low end of its time / that of the next one, round by round, is above this."""


@dataclass(frozen=True)
class Roofline:
    """A model placed under its machine's measured roof.

    whole: the model as if it were one layer (its bytes: what enters and leaves it and every weight, once), measured in
    one piece. layers: in the order they ran (empty if the model is itself a single layer); r["name"] is one of
    them. peaks: the roof. cache: cold | hot, when timed. rounds: samples of each layer. complete: False after an
    interrupt. notes: sentences in the learner's language. training: a training step (forward and backward).
    idle: on a GPU, whose layers' times are those of their kernels: the part of the steady time of the whole in which no kernel runs
    (None elsewhere). conversions: the part of the kernels' time that only puts tensors into another memory layout.
    """

    whole: Layer
    layers: tuple[Layer, ...]
    peaks: Peaks
    cache: str = "cold"
    rounds: int = 0
    complete: bool = True
    notes: tuple[str, ...] = ()
    training: bool = False
    idle: float | None = None
    conversions: float = 0.0

    @property
    def points(self) -> tuple[Layer, ...]:
        """What is compared: the layers, or the model where it has none."""
        return self.layers or (self.whole,)

    def __getitem__(self, name: str) -> Layer:
        """The layer of that dotted path; "" is the whole model."""
        for layer in (self.whole, *self.layers):
            if layer.name == name:
                return layer
        known = [layer.name for layer in self.layers]
        raise RooflineError(
            t(
                f"No layer {name!r} was measured. There are {', '.join(known[:6]) or 'none'}"
                f"{', ...' if len(known) > 6 else ''}{did_you_mean(str(name), known, cutoff=0.4) or '.'}",
                f"没有测量名为 {name!r} 的层。"
                f"已有：{'、'.join(known[:6]) or '无'}{'……' if len(known) > 6 else ''}{did_you_mean(str(name), known, cutoff=0.4) or '。'}",
            )
        )

    def share_of_time(self, *layers: Layer) -> tuple[float, float, float]:
        """Part of the time of all layers that these take together, and its likely range (95 %), round by round."""
        return Alike(layers).part_of(Alike(self.points))

    def rows(self) -> list[dict[str, Any]]:
        """Plain dicts, as for pandas.DataFrame: the whole model first, then the layers in the order they ran.

        layer, kind, shape, output, params, calls, flops, bytes, flops_per_byte, time_ms with low_ms and high_ms (95 %),
        share_of_time with share_of_time_low and share_of_time_high, bound, times_from_roof, share_of_roof with
        share_low and share_high, and more.
        """
        found = []
        for layer in (self.whole, *self.layers):
            part = (1.0, 1.0, 1.0) if layer is self.whole else self.share_of_time(layer)
            names = ("share_of_time", "share_of_time_low", "share_of_time_high")
            found.append(layer.row() | dict(zip(names, part, strict=True)))
        return found

    def table(self, order: str = "run", depth: int | None = None) -> str:
        """The table as text. order: "run" (as the layers ran), "time" (the longest first) or "tree" (modules with the
        layers below them, down to `depth`). Raises RooflineError for another order.
        """
        return render.table(self.whole, self.layers, order, depth)

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
        return first if sure and first.over(second)[0] > CLEAR else None

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
        low, high = group.over(Alike(self.layers))
        who = group.first.label + (t(f" and {more} like it", f" 及其余 {more} 个同样的层") if more else "")
        takes = t(
            f"{who} take{'s' * (not more)} {between(low, high)} of the layers' time",
            f"{who}{'' if more else ' '}占各层耗时的 {between(low, high)}",
        )
        return self._reach(takes, group)

    def _reach(self, who: str, group: Alike) -> str:
        """`who`, and how near to its roof it is."""
        one = len(group.layers) == 1
        joined = (" and", "，") if self.layers else ("", " ")
        faults = percent(group.fault_share)
        last = (
            t(f" Page faults, not work, fill {faults} of that.", f"其中 {faults} 被缺页占去，而不是运算。")
            if group.fault_share > LARGE_SHARE
            else ""
        )
        if group.first.bound == "overhead":
            part = percent(min(sum(layer.overhead_ms for layer in group.layers) / max(group.time_ms, TINY), 1.0))
            return (
                t(
                    f"{who}{joined[0]} {'is' if one else 'are'} limited by overhead: issuing the calls is {part} of it.",
                    f"{who}{joined[1]}受限于调用开销：发出调用就占了其中的 {part}。",
                )
                + last
            )
        if group.first.share is None:
            return t(
                f"{who}{joined[0]} {'has' if one else 'have'} neither FLOPs nor traffic.",
                f"{who}{joined[1]}既没有 FLOPs，也没有访存。",
            )
        word, share = bound_word(group.first.bound), between(*group.share_interval)
        return (
            t(
                f"{who}{joined[0]} reach{'es' * one} {share} of {'its' if one else 'their'} {word} roof.",
                f"{who}{joined[1]}达到{word}屋顶的 {share}。",
            )
            + last
        )

    def try_first(self) -> str:
        """The one thing to try first: for the layers that take longest, or where none stands out, for the longest of
        those with the limit that takes most of the time."""
        if whole := advice.for_whole(self.idle, self.conversions, self.peaks.dtype):
            return whole
        most = next(iter(by_bound(self.points)))
        return advice.try_first(self.named or next(group for group in self.groups if group.first.bound == most))

    def plot(self, ax: Any = None, dark: bool | None = None) -> Any:
        """The log-log roofline with the layers as points, sized by time; returns the matplotlib Axes."""
        from course.roofline.picture import draw

        return draw(self.points, self.peaks, self.sentence, ax, named=self.named, dark=dark)

    def remarks(self) -> tuple[str, ...]:
        """What to know when reading the shares: where the numbers come from, what is out of the ordinary."""
        cold = self.cache == "cold"
        state = (
            t("its data out of the cache", "数据都不在缓存里")
            if cold
            else t("its data in the cache where they fit", "放得下的数据都在缓存里")
        )
        lines = [
            self.peaks.sentence(),
            *self.peaks.notes,
            self._how()
            if self.idle is not None
            else t(
                "Bytes are the least there can be: inputs, weights and outputs of each layer, once. Each layer is timed alone, "
                f"{state}, in {self.rounds} rounds of all layers; likely ranges (95 %) hold within this run.",
                f"字节数是最少需要的量：每层的输入、权重和输出各算一次。每层单独计时，{state}，所有层轮流测了 {self.rounds} 轮；"
                "可能范围（95%）只对这一次运行有效。",
            ),
        ]
        if self.training:
            lines.append(
                t(
                    "A training step: forward and backward of each layer, without the optimizer. The backward reads the gradient of "
                    "the output, the inputs and the weights, and writes their gradients.",
                    "训练步：每层的前向和反向，不含优化器。反向读取输出的梯度、输入和权重，并写出它们的梯度。",
                )
            )
        if self.layers and self.idle is None:
            part = sum(layer.time_ms for layer in self.layers) / max(self.whole.time_ms, TINY)
            why = (
                t(
                    ", where layers find data of the one before in the cache",
                    "，因为在模型里后一层能在缓存里找到前一层的数据",
                )
                if cold and part > 1
                else ""
            )
            far = (
                ""
                if 0.5 <= part <= 2.5
                else t(
                    " So far from 100 % the machine was probably busy or threads shared a core: run it again.",
                    "与 100% 相差这么远，多半是因为测量期间机器正忙，或者线程挤在同一个核上：请再运行一次。",
                )
            )
            lines.append(
                t(
                    f"The layers one by one take {part:.0%} of the time of the whole model{why}.{far}",
                    f"各层分别计时之和是整个模型耗时的 {part:.0%}{why}。{far}",
                )
            )
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
        if any((layer.share_interval or (0, 0))[0] > 1 for layer in (self.whole, *self.layers)):
            usual = "" if cold else t(' (usual with cache="hot")', '（cache="hot" 时很常见）')
            lines.append(
                t(
                    f"Over 100 %: part of the data came from a cache, which is faster than memory{usual}; "
                    "or the layer's algorithm does less work than counted; "
                    "or the machine was busy when the peaks were measured (then call peaks(refresh=True)).",
                    f"超过 100%：一部分数据来自缓存，而缓存比内存快{usual}；或者该层的算法实际运算比计数少；"
                    "或者测峰值时机器正忙（请调用 peaks(refresh=True)）。",
                )
            )
        return (*lines, *self.notes)

    def _how(self) -> str:
        """How a GPU was measured, and how much of the time it waits."""
        return t(
            "Bytes are the least there can be: inputs, weights and outputs of each layer, once. A layer's time is that of its kernels "
            f"inside the whole, in {self.rounds} rounds. The whole takes {format_ms(self.whole.time_ms)}, several in a row without a "
            f"wait: the GPU idles {percent(self.idle or 0.0)} of that.",
            "字节数是最少需要的量：每层的输入、权重和输出各算一次。每层的耗时是它的 kernel 在整个模型里运行的时间，"
            f"测了 {self.rounds} 轮。连续运行若干次、中间不等待，整个模型每次耗时 {format_ms(self.whole.time_ms)}："
            f"其中 {percent(self.idle or 0.0)} 的时间 GPU 闲着。",
        )

    def __str__(self) -> str:
        return render.text((self.sentence(), self.try_first()), self.whole, self.layers, self.remarks())

    def __repr__(self) -> str:
        return self.sentence()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return render.page((self.sentence(), self.try_first()), self.whole, self.layers, self.remarks())
