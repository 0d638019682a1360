"""Why counters differ on one model: a line for each reason, the tools one after the other."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from course.core.i18n import t
from course.core.tables import as_html
from course.core.text import text_of

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
        head = (t("tool", "工具"), t("MACs more than ours", "比我们多的 MACs"), t("why", "原因"))
        return f'<div style="overflow-x:auto">{as_html([head, *self._lines()], figures=False)}</div>'

    def __str__(self) -> str:
        return text_of(self._repr_html_()) if self.rows else ""

    __repr__ = __str__


def differences(record: Record | None) -> Differences:
    """The reasons that a record of "03-vgg16-counters" holds; none without a record."""
    return Differences([row for row in record.rows if row["part"] == "reason"] if record else [])
