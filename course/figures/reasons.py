"""Why counters differ on one model: a line for each reason, the tools one after the other."""

from __future__ import annotations

import html
from itertools import groupby
from typing import TYPE_CHECKING, Any

from course.core.i18n import t

if TYPE_CHECKING:
    from course.core.records import Record


class Differences:
    """What `differences` gives back. rows: the reasons, each with its tool and its MACs more (+) or fewer than ours."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def _lines(self) -> list[tuple[str, str, str]]:
        lines = []
        for tool, group in groupby(self.rows, key=lambda row: row["tool"]):
            for at, row in enumerate(group):
                lines.append(("" if at else tool, f"{row['macs']:+,}", t(row["reason_en"], row["reason_zh"])))
        return lines

    def _repr_html_(self) -> str:
        left, right = "text-align:left;vertical-align:top", "text-align:right;vertical-align:top;white-space:nowrap"
        names = (t("tool", "工具"), t("MACs more than ours", "比我们多的 MACs"), t("why", "原因"))
        styles = (f"{left};white-space:nowrap", right, left)
        head = "".join(
            f'<th scope="col" style="{style}">{name}</th>' for name, style in zip(names, styles, strict=True)
        )
        body = "".join(
            "<tr>"
            + "".join(f'<td style="{style}">{html.escape(cell)}</td>' for cell, style in zip(line, styles, strict=True))
            + "</tr>"
            for line in self._lines()
        )
        return f'<div style="overflow-x:auto"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'

    def __str__(self) -> str:
        return "\n".join(f"{tool:16}{macs:>12}  {why}" for tool, macs, why in self._lines())

    __repr__ = __str__


def differences(record: Record | None) -> Differences:
    """The reasons that a record of "03-vgg16-counters" holds; none without a record."""
    return Differences([row for row in record.rows if row["part"] == "reason"] if record else [])
