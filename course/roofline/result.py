"""What `place` gives back: the model and its layers against the measured roof: plain data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from course.i18n import t
from course.roofline.layer import TINY, Alike, Layer, alike, by_bound
from course.roofline.roof import Peaks
from course.roofline.words import RooflineError, between, bound_word, percent
from course.suggest import did_you_mean
from course.timing.faults import LARGE_SHARE

CLEAR = 1.1
"""A layer is named only where it takes this many times as long as the next one."""
SURE = 6
"""Least number of samples behind a median that is named (fewer have no interval of 95 %)."""


@dataclass(frozen=True)
class Roofline:
    """A model placed under its machine's measured roof.

    whole: the model as if it were one layer (its bytes: what enters and leaves it and every weight, once), measured in
    one piece. layers: in the order they ran (empty if the model is itself a single layer); r["name"] is one of
    them. peaks: the roof. cache: cold | hot, when timed. rounds: samples of each layer. complete: False after an
    interrupt. notes: sentences in the learner's language.
    """

    whole: Layer
    layers: tuple[Layer, ...]
    peaks: Peaks
    cache: str = "cold"
    rounds: int = 0
    complete: bool = True
    notes: tuple[str, ...] = ()

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
        raise RooflineError(t(
            f"No layer {name!r} was measured. There are {', '.join(known[:6]) or 'none'}"
            f"{', ...' if len(known) > 6 else ''}{did_you_mean(str(name), known, cutoff=0.4) or '.'}",
            f"没有测量名为 {name!r} 的层。已有：{'、'.join(known[:6]) or '无'}{'……' if len(known) > 6 else ''}"
            f"{did_you_mean(str(name), known, cutoff=0.4) or '。'}",
        ))

    def rows(self) -> list[dict[str, Any]]:
        """Tidy rows, the whole model first, then the layers in the order they ran."""
        return [layer.row() for layer in (self.whole, *self.layers)]

    @cached_property
    def groups(self) -> list[Alike]:
        """The layers, those alike together, the longest first."""
        return alike(self.points)

    @property
    def named(self) -> Alike | None:
        """The layers that take longest, where the intervals leave no doubt which they are; else None."""
        first, second = [*self.groups, None][:2]
        if second is None:
            return first
        sure = all(len(layer.samples_ms) >= SURE for group in (first, second) for layer in group.layers)
        clear = first.interval_ms[0] > second.interval_ms[1] and first.time_ms > CLEAR * second.time_ms
        return first if sure and clear else None

    def sentence(self) -> str:
        """Where the time goes: to one layer (and those like it) if that is beyond doubt, else to which limit."""
        if not self.layers:
            return self._reach(self.whole.label, self.groups[0])
        if self.named is None:
            parts = [(bound_word(bound), percent(part)) for bound, part in by_bound(self.layers).items()]
            return t(
                "No layer stands out. Of the layers' time "
                + ", ".join(f"{part} is limited by {word}" for word, part in parts) + ".",
                "没有哪一层特别突出。各层耗时中，" + "，".join(f"{part} 受限于{word}" for word, part in parts) + "。")
        group, more = self.named, len(self.named.layers) - 1
        low, high = (end / max(sum(layer.time_ms for layer in self.layers), TINY) for end in group.interval_ms)
        who = group.first.label + (t(f" and {more} like it", f" 及其余 {more} 个同样的层") if more else "")
        takes = t(f"{who} take{'s' * (not more)} {between(low, high)} of the layers' time",
                  f"{who} 占各层耗时的 {between(low, high)}")
        return self._reach(takes, group)

    def _reach(self, who: str, group: Alike) -> str:
        """`who`, and how near to its roof it is."""
        one = len(group.layers) == 1
        joined = (" and", "，") if self.layers else ("", " ")
        faults = percent(group.fault_share)
        last = t(f" Page faults, not work, fill {faults} of that.", f"其中 {faults} 被缺页占去，而不是运算。"
                 ) if group.fault_share > LARGE_SHARE else ""
        if group.first.bound == "overhead":
            part = percent(sum(layer.overhead_ms for layer in group.layers) / max(group.time_ms, TINY))
            return t(f"{who}{joined[0]} {'is' if one else 'are'} limited by overhead: issuing the calls is {part} of it.",
                     f"{who}{joined[1]}受限于调用开销：发出调用就占了其中的 {part}。") + last
        if group.first.share is None:
            return t(f"{who}{joined[0]} {'has' if one else 'have'} neither FLOPs nor traffic.",
                     f"{who}{joined[1]}既没有 FLOPs，也没有访存。")
        word, share = bound_word(group.first.bound), between(*group.share_interval)
        return t(f"{who}{joined[0]} reach{'es' * one} {share} of {'its' if one else 'their'} {word} roof.",
                 f"{who}{joined[1]}达到{word}屋顶的 {share}。") + last

    def plot(self, ax: Any = None, dark: bool | None = None) -> Any:
        """The log-log roofline with the layers as points, sized by time; returns the matplotlib Axes."""
        from course.roofline.picture import draw

        return draw(self.points, self.peaks, self.sentence(), ax, named=self.named, dark=dark)

    def remarks(self) -> tuple[str, ...]:
        """What to know when reading the shares: where the numbers come from, what is out of the ordinary."""
        from course.roofline.render import remarks

        return remarks(self)

    def __str__(self) -> str:
        from course.roofline.render import text

        return text(self)

    def __repr__(self) -> str:
        return self.sentence()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        from course.roofline.render import page

        return page(self)
