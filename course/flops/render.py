"""Counts as text and as HTML tables (light and dark notebooks alike: the colours are the notebook's own)."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from course.i18n import pick, t

if TYPE_CHECKING:
    from course.flops.crosscheck import CrossCheck
    from course.flops.result import FlopCount


def convention() -> str:
    """The convention in one sentence."""
    return t(
        "1 MAC = one multiply feeding one accumulate; FLOPs = 2 × MACs; norms, activations, pooling, bias and "
        "softmax count 0.",
        "1 个 MAC = 一次乘法接一次累加；FLOPs = 2 × MACs；归一化、激活、池化、偏置和 softmax 计 0。",
    )


def certificate(count: FlopCount) -> str:
    """Whether the count is exact, and if not, what it does not know."""
    names = ", ".join(f"{name} × {calls}" for name, calls in count.unknown.items())
    return (
        t(
            "exact: every operator was counted or provably holds no contraction",
            "精确：每个算子要么已计数，要么可证明不含乘加运算",
        )
        if count.exact
        else t(
            f"NOT exact: no formula for {names}; the true number may be higher",
            f"不精确：没有以下算子的公式：{names}；真实值可能更高",
        )
    )


def headline(count: FlopCount) -> str:
    """What was counted, and the work."""
    what = (
        t("one training step (forward and backward)", "一个训练步（前向和反向）")
        if count.training
        else (t("one forward", "一次前向"))
    )
    kind, work = count.by_module.kind, f"{count.macs:,} MACs = {count.flops:,} FLOPs"
    return t(f"{kind}, {what}: {work}; {count.params:,} parameters", f"{kind}，{what}：{work}；{count.params:,} 个参数")


def sentence(count: FlopCount) -> str:
    """Headline and certificate as one sentence."""
    return f"{headline(count)}{t('; ', '；')}{certificate(count)}{t('.', '。')}"


def notes(count: FlopCount) -> list[str]:
    """What is shown beside the MACs, the certificate, how it was counted, and the convention."""
    lines = [
        t(
            f"element operations, shown apart: {count.element_operations:,} elements",
            f"逐元素运算（另列）：{count.element_operations:,} 个元素",
        )
    ]
    if count.summed_products:
        lines.append(
            t(
                f"products summed by a separate operator, as in (a * b).sum(), shown apart: {count.summed_products:,}",
                f"由另一个算子求和的乘积，例如 (a * b).sum()（另列）：{count.summed_products:,}",
            )
        )
    way = (
        t(
            "counted in one real run: the control flow or a kernel needs data, so the number belongs to this input",
            "由一次真实运行得到：控制流或某个算子需要数据，因此这个数只属于这份输入",
        )
        if count.ran
        else (t("counted from shapes alone, nothing was computed", "只根据形状计数，没有做任何计算"))
    )
    return [*lines, certificate(count), way, convention()]


def columns(text: str) -> int:
    """Columns the text takes in a terminal: a Chinese character takes two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _aligned(lines: list[list[str]]) -> list[str]:
    widths = [max(map(columns, column)) for column in zip(*lines, strict=True)]
    pads = [[" " * (width - columns(cell)) for cell, width in zip(line, widths, strict=True)] for line in lines]
    return [
        "  ".join(
            pad + cell if at else cell + pad for at, (cell, pad) in enumerate(zip(line, spaces, strict=True))
        ).rstrip()
        for line, spaces in zip(lines, pads, strict=True)
    ]


def _html(lines: list[list[str]], caption: str) -> str:
    first, right = (
        "text-align:left;font-weight:normal;white-space:pre",
        "text-align:right;font-variant-numeric:tabular-nums",
    )
    head = "".join(
        f'<th scope="col" style="text-align:{"right" if at else "left"}">{escape(cell)}</th>'
        for at, cell in enumerate(lines[0])
    )
    body = "".join(
        f'<tr><th scope="row" style="{first}">{escape(row[0])}</th>'
        + "".join(f'<td style="{right}">{escape(cell)}</td>' for cell in row[1:])
        + "</tr>"
        for row in lines[1:]
    )
    title = f'<caption style="text-align:left;white-space:nowrap">{escape(caption)}</caption>'
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _modules(count: FlopCount, depth: int) -> list[list[str]]:
    return [[t("module", "模块"), "MACs", "FLOPs", t("share", "占比"), t("parameters", "参数")]] + [
        [
            "  " * row["depth"] + f"{row['module'].split('.')[-1] or t('(whole)', '（整体）')} {row['kind']}",
            f"{row['macs']:,}",
            f"{row['flops']:,}",
            f"{row['share']:.1%}",
            f"{row['params']:,}",
        ]
        for row in count.rows(depth)
    ]


def text_table(count: FlopCount, depth: int = 2) -> str:
    """Headline, modules down to `depth`, operators, notes."""
    operators = [[t("operator", "算子"), "MACs", t("calls", "次数")]]
    operators += [[name, f"{macs:,}", f"{count.calls[name]:,}"] for name, macs in count.by_operator.items()]
    return "\n".join([headline(count), *_aligned(_modules(count, depth)), "", *_aligned(operators), "", *notes(count)])


def html_table(count: FlopCount, depth: int = 2) -> str:
    """The same as an HTML table with a caption."""
    return _html(_modules(count, depth), headline(count)) + f"<p>{'<br>'.join(map(escape, notes(count)))}</p>"


def _number(value: Any, form: str) -> str:
    return "–" if value is None else f"{value:{form}}"


def _tools(check: CrossCheck) -> list[list[str]]:
    return [[t("tool", "工具"), t("it says", "它报告"), t("unit", "单位"), "MACs", t("difference", "差"), "%"]] + [
        [
            row["tool"],
            _number(row["reported"], ","),
            row["unit"],
            _number(row["macs"], ","),
            _number(row["difference"], "+,"),
            _number(row["relative"], "+.3%"),
        ]
        for row in check.rows()
    ]


def _explanations(check: CrossCheck) -> list[str]:
    lines = []
    for row in check.tools:
        told = (
            pick(row.note)
            if row.note is not None
            else f"{row.difference:+,} MACs"
            if row.difference
            else (t("agrees to the last digit", "与本课结果一位不差"))
        )
        lines += [row.tool + t(": ", "：") + told]
        lines += [f"    {reason.amount:+,}  {pick(reason.text)}" for reason in row.reasons]
    return lines


def cross_sentence(check: CrossCheck) -> str:
    """How many of the tools that gave a number agree, and which lies farthest off."""
    told = [row for row in check.tools if row.difference is not None]
    if not told:
        return t("None of the other tools gave a number.", "其他工具都没有给出数字。")
    same = sum(not row.difference for row in told)
    far = max(told, key=lambda row: abs(row.difference or 0))
    start = t(
        f"{same} of {len(told)} tools count the same {check.ours.macs:,} MACs",
        f"{len(told)} 个工具中有 {same} 个同样数出 {check.ours.macs:,} 个 MAC",
    )
    if not far.difference:
        return start + t(".", "。")
    share = f"{100 * far.difference / max(check.ours.macs, 1):+.2g} %"
    return start + t(f"; the farthest is {far.tool}, {share}.", f"；差得最远的是 {far.tool}，{share}。")


def cross_text(check: CrossCheck) -> str:
    """The table, then for each tool the pieces of its difference."""
    return "\n".join([*_aligned(_tools(check)), "", *_explanations(check), "", certificate(check.ours), convention()])


def cross_html(check: CrossCheck) -> str:
    """The same as HTML."""
    lines = "".join(f'<div style="white-space:pre-wrap">{escape(line)}</div>' for line in _explanations(check))
    title = t("The same model, counted by each tool", "同一个模型，各工具的计数")
    return f"{_html(_tools(check), title)}{lines}<p>{escape(convention())}</p>"
