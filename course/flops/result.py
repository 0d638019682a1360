"""What a count found: plain data, with rows, a sentence, tables made from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any

from course.core.i18n import t
from course.core.plain_text import text_of
from course.core.tables import as_html


@dataclass
class ModuleCount:
    """One module of the model and the work done in it.

    name: dotted path, "" for the model itself. kind: class name. own: MACs in its own forward, outside its children.
    params: its own parameters (a tied one counts where it is seen first).
    """

    name: str
    kind: str
    own: int = 0
    params: int = 0
    children: list[ModuleCount] = field(default_factory=list)

    @property
    def macs(self) -> int:
        """MACs of the module, children included."""
        return self.own + sum(child.macs for child in self.children)

    @property
    def flops(self) -> int:
        """2 x MACs, children included."""
        return 2 * self.macs

    @property
    def total_params(self) -> int:
        """Parameters of the module, children included."""
        return self.params + sum(child.total_params for child in self.children)

    def walk(self, depth: int = 0) -> Iterator[tuple[int, ModuleCount]]:
        """(depth, module) of the module and everything below, top down."""
        yield depth, self
        for child in self.children:
            yield from child.walk(depth + 1)


@dataclass(frozen=True, repr=False)
class FlopCount:
    """The work of one forward, or of one training step (forward and backward); `c["layer1.0"]` is that of a module.

    The convention is that of `count`. params: number of distinct parameters. by_module: tree of ModuleCount.
    by_operator: MACs of each operator, largest first. unknown: operators neither counted nor provably free of
    contractions, and work out of sight (other threads, NumPy, gradient hooks), with their number of calls. ground: "meta"
    (from shapes alone) or "real" (it ran: the control flow or a kernel needed data, and the count is of this input).
    """

    macs: int
    params: int
    by_module: ModuleCount
    by_operator: dict[str, int]
    unknown: dict[str, int]
    training: bool
    ground: str

    @property
    def flops(self) -> int:
        """Floating-point operations (an amount of work, not a rate): 2 x MACs."""
        return 2 * self.macs

    @property
    def exact(self) -> bool:
        """A certificate: every operator that ran was counted, or provably holds no contraction."""
        return not self.unknown

    def __getitem__(self, name: str) -> ModuleCount:
        known = {module.name: module for _, module in self.by_module.walk()}
        if name not in known:
            raise KeyError(f"no module {name!r}; there are {', '.join([*filter(None, known)][:8]) or 'none'} ...")
        return known[name]

    def rows(self, depth: int | None = None) -> list[dict[str, Any]]:
        """Tidy rows, one a module down to `depth`: module, kind, depth, macs, flops, share, params."""
        return [
            {"module": at.name, "kind": at.kind, "depth": level, "macs": at.macs, "flops": at.flops}
            | {"share": at.macs / max(self.macs, 1), "params": at.total_params}
            for level, at in self.by_module.walk()
            if depth is None or level <= depth
        ]

    def _headline(self) -> str:
        step = t("one training step (forward and backward)", "一个训练步（前向和反向）")
        what = step if self.training else t("one forward", "一次前向")
        kind, work = self.by_module.kind, f"{self.macs:,} MACs = {self.flops:,} FLOPs"
        return t(
            f"{kind}, {what}: {work}; {self.params:,} parameters", f"{kind}，{what}：{work}；{self.params:,} 个参数"
        )

    def sentence(self) -> str:
        """What was counted, the work, and whether it is exact, in one sentence."""
        return f"{self._headline()}{t('; ', '；')}{certificate(self)}{t('.', '。')}"

    def _repr_html_(self) -> str:
        real = t(
            "counted in one real run: the control flow or a kernel needs data, so the number belongs to this input",
            "由一次真实运行得到：控制流或某个算子需要数据，因此这个数只属于这份输入",
        )
        shapes = t("counted from shapes alone, nothing was computed", "只根据形状计数，没有做任何计算")
        notes = certificate(self), real if self.ground == "real" else shapes, convention()
        table = [[t("module", "模块"), "MACs", "FLOPs", t("share", "占比"), t("parameters", "参数")]] + [
            [f"{row['module'] or t('(whole)', '（整体）')} {row['kind']}"]
            + [f"{row['macs']:,}", f"{row['flops']:,}", f"{row['share']:.1%}", f"{row['params']:,}"]
            for row in self.rows(2)
        ]
        return f"<p>{escape(self._headline())}</p>{as_html(table)}<p>{'<br>'.join(map(escape, notes))}</p>"

    def __str__(self) -> str:
        return text_of(self._repr_html_())

    __repr__ = sentence


def convention() -> str:
    """The convention in one sentence."""
    return t(
        "1 MAC = one multiply feeding one accumulate; FLOPs = 2 × MACs; norms, activations, pooling, bias and softmax count 0.",
        "1 个 MAC = 一次乘法接一次累加；FLOPs = 2 × MACs；归一化、激活、池化、偏置和 softmax 计 0。",
    )


def certificate(count: FlopCount) -> str:
    """Whether the count is exact, and if not, what it does not know."""
    if count.exact:
        return t(
            "exact: every operator was counted or provably holds no contraction",
            "精确：每个算子要么已计数，要么可证明不含乘加运算",
        )
    names = ", ".join(f"{name} × {calls}" for name, calls in count.unknown.items())
    return t(
        f"NOT exact: no formula for {names}; the true number may be higher",
        f"不精确：没有以下算子的公式：{names}；真实值可能更高",
    )
