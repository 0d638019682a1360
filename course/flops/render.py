"""Counts as text and as HTML tables (light and dark notebooks alike: the colours are the notebook's own)."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from course.i18n import pick, t

if TYPE_CHECKING:
    from course.flops.crosscheck import CrossCheck
    from course.flops.result import FlopCount

_RIGHT = 'style="text-align:right;font-variant-numeric:tabular-nums"'


def convention() -> str:
    """The convention in one sentence."""
    return t(
        "1 MAC = one multiply feeding one accumulate; FLOPs = 2 × MACs; norms, activations, pooling, bias "
        "and softmax count 0.",
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


def ground_sentence(count: FlopCount) -> str:
    """How the count was made."""
    if count.ground == "real":
        return t(
            "counted in one real run: the control flow or a kernel needs data, so the number belongs to "
            "this input",
            "由一次真实运行得到：控制流或某个算子需要数据，因此这个数只属于这份输入",
        )
    return t("counted from shapes alone, nothing was computed", "只根据形状计数，没有做任何计算")


def apart(count: FlopCount) -> list[str]:
    """What is shown beside the MACs: element operations, and products that a separate operator summed."""
    lines = [t(
        f"element operations, shown apart: {count.element_operations:,} elements",
        f"逐元素运算（另列）：{count.element_operations:,} 个元素",
    )]
    if count.summed_products:
        lines.append(t(
            f"products summed by a separate operator, as in (a * b).sum(), shown apart: "
            f"{count.summed_products:,}",
            f"由另一个算子求和的乘积，例如 (a * b).sum()（另列）：{count.summed_products:,}",
        ))
    return lines


def _headline(count: FlopCount) -> str:
    what = (
        t("one training step (forward and backward)", "一个训练步（前向和反向）")
        if count.training
        else t("one forward", "一次前向")
    )
    kind, work = count.by_module.kind, f"{count.macs:,} MACs = {count.flops:,} FLOPs"
    return t(f"{kind}, {what}: {work}; {count.params:,} parameters",
             f"{kind}，{what}：{work}；{count.params:,} 个参数")


def _aligned(lines: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(columns, column)) for column in zip(*lines, strict=True)]

    def padded(cell: str, width: int, first: bool) -> str:
        space = " " * (width - columns(cell))
        return cell + space if first else space + cell

    return [
        "  ".join(padded(cell, w, at == 0) for at, (cell, w) in enumerate(zip(line, widths, strict=True))).rstrip()
        for line in lines
    ]


def columns(text: str) -> int:
    """Columns the text takes in a terminal: a Chinese character takes two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def text_table(count: FlopCount, depth: int = 2) -> str:
    """Headline, modules down to `depth`, operators, certificate."""
    lines = [(t("module", "模块"), "MACs", "FLOPs", t("share", "占比"), t("parameters", "参数"))]
    for row in count.rows(depth):
        name = row["module"].split(".")[-1] or t("(whole)", "（整体）")
        lines.append(
            (
                "  " * row["depth"] + f"{name} {row['kind']}",
                f"{row['macs']:,}",
                f"{row['flops']:,}",
                f"{row['share']:.1%}",
                f"{row['params']:,}",
            )
        )
    operators = [(t("operator", "算子"), "MACs", t("calls", "次数"))]
    operators += [(name, f"{macs:,}", f"{count.calls[name]:,}") for name, macs in count.by_operator.items()]
    parts = [
        _headline(count),
        *_aligned(lines),
        "",
        *_aligned(operators),
        "",
        *apart(count),
        certificate(count),
        ground_sentence(count),
        convention(),
    ]
    return "\n".join(parts)


def _html(header: list[str], rows: list[list[str]], caption: str) -> str:
    head = "".join(f'<th scope="col" style="text-align:{"right" if at else "left"}">{escape(cell)}</th>'
                   for at, cell in enumerate(header))
    body = "".join(
        "<tr>"
        + f'<th scope="row" style="text-align:left;font-weight:normal;white-space:pre">{escape(row[0])}</th>'
        + "".join(f"<td {_RIGHT}>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    title = f'<caption style="text-align:left;white-space:nowrap">{escape(caption)}</caption>'
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_table(count: FlopCount, depth: int = 2) -> str:
    """The same as an HTML table with a caption."""
    rows = [
        [
            "  " * row["depth"] + f"{row['module'].split('.')[-1] or t('(whole)', '（整体）')} {row['kind']}",
            f"{row['macs']:,}",
            f"{row['flops']:,}",
            f"{row['share']:.1%}",
            f"{row['params']:,}",
        ]
        for row in count.rows(depth)
    ]
    header = [t("module", "模块"), "MACs", "FLOPs", t("share", "占比"), t("parameters", "参数")]
    notes = "<br>".join(escape(s) for s in (*apart(count), certificate(count), ground_sentence(count), convention()))
    return _html(header, rows, _headline(count)) + f"<p>{notes}</p>"


def _number(value: Any, signed: bool = False) -> str:
    return "–" if value is None else f"{value:+,}" if signed else f"{value:,}"


def _cross_header() -> list[str]:
    return [t("tool", "工具"), t("it says", "它报告"), t("unit", "单位"), "MACs", t("difference", "差"), "%"]


def _cross_cells(check: CrossCheck) -> list[list[str]]:
    return [
        [
            row["tool"],
            _number(row["reported"]),
            row["unit"],
            _number(row["macs"]),
            _number(row["difference"], signed=True),
            "–" if row["relative"] is None else f"{row['relative']:+.3%}",
        ]
        for row in check.rows()
    ]


def _explanations(check: CrossCheck) -> list[str]:
    lines = []
    for row in check.tools:
        if row.note is not None:
            lines.append(row.tool + t(": ", "：") + pick(row.note))
        elif not row.difference:
            lines.append(row.tool + t(": agrees to the last digit", "：与本课结果一位不差"))
        else:
            lines.append(row.tool + t(": ", "：") + f"{row.difference:+,} MACs")
            lines += [f"    {reason.amount:+,}  {pick(reason.text)}" for reason in row.reasons]
    return lines


def cross_text(check: CrossCheck) -> str:
    """The table, then for each tool the pieces of its difference."""
    table = _aligned([tuple(_cross_header()), *(tuple(cells) for cells in _cross_cells(check))])
    return "\n".join([*table, "", *_explanations(check), "", certificate(check.ours), convention()])


def cross_html(check: CrossCheck) -> str:
    """The same as HTML."""
    table = _html(
        _cross_header(),
        _cross_cells(check),
        t("The same model, counted by each tool", "同一个模型，各工具的计数"),
    )
    lines = "".join(
        f'<div style="white-space:pre-wrap">{escape(line)}</div>' for line in _explanations(check)
    )
    return f"{table}{lines}<p>{escape(convention())}</p>"
