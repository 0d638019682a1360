"""Counts as a sentence, as text and as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from course.i18n import t
from course.tables import as_html, as_text

if TYPE_CHECKING:
    from course.flops.result import FlopCount


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


def headline(count: FlopCount) -> str:
    """What was counted, and the work."""
    step = t("one training step (forward and backward)", "一个训练步（前向和反向）")
    what = step if count.training else t("one forward", "一次前向")
    kind, work = count.by_module.kind, f"{count.macs:,} MACs = {count.flops:,} FLOPs"
    return t(f"{kind}, {what}: {work}; {count.params:,} parameters", f"{kind}，{what}：{work}；{count.params:,} 个参数")


def sentence(count: FlopCount) -> str:
    """Headline and certificate as one sentence."""
    return f"{headline(count)}{t('; ', '；')}{certificate(count)}{t('.', '。')}"


def notes(count: FlopCount) -> list[str]:
    """What is shown beside the MACs, the certificate, how it was counted, and the convention."""
    elements = f"{count.element_operations:,}"
    shown = t(f"element operations, shown apart: {elements} elements", f"逐元素运算（另列）：{elements} 个元素")
    real = t(
        "counted in one real run: the control flow or a kernel needs data, so the number belongs to this input",
        "由一次真实运行得到：控制流或某个算子需要数据，因此这个数只属于这份输入",
    )
    shapes = t("counted from shapes alone, nothing was computed", "只根据形状计数，没有做任何计算")
    return [shown, certificate(count), real if count.ground == "real" else shapes, convention()]


def _modules(count: FlopCount, depth: int) -> list[list[str]]:
    return [[t("module", "模块"), "MACs", "FLOPs", t("share", "占比"), t("parameters", "参数")]] + [
        ["  " * row["depth"] + f"{row['module'].split('.')[-1] or t('(whole)', '（整体）')} {row['kind']}"]
        + [f"{row['macs']:,}", f"{row['flops']:,}", f"{row['share']:.1%}", f"{row['params']:,}"]
        for row in count.rows(depth)
    ]


def text(count: FlopCount, depth: int = 2) -> str:
    """Headline, modules down to `depth`, operators, notes."""
    operators = [[t("operator", "算子"), "MACs", t("calls", "次数")]]
    operators += [[name, f"{macs:,}", f"{count.calls[name]:,}"] for name, macs in count.by_operator.items()]
    return "\n".join([headline(count), *as_text(_modules(count, depth)), "", *as_text(operators), "", *notes(count)])


def page(count: FlopCount, depth: int = 2) -> str:
    """The same as an HTML table with a caption."""
    return as_html(_modules(count, depth), headline(count)) + f"<p>{'<br>'.join(map(escape, notes(count)))}</p>"
