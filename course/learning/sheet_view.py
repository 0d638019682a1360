"""The readable list of an answer sheet: which questions are answered, as HTML and as text."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from course.core.i18n import t
from course.learning.marking import Response
from course.questions.variants import same_student


@dataclass(frozen=True)
class SheetView:
    """The content of the list: the questions in order, the answers by item id, the file, sentences for the learner. student: the
    student of this paper, "" where all have the same.
    """

    checkpoint: str
    items: Sequence[str]
    answers: Mapping[str, Mapping[str, Any]]
    file: str
    notices: Sequence[str] = ()
    student: str = ""


def _rows(sheet: SheetView) -> list[tuple[str, str, str]]:
    """(item, answer in words, local time) for every question of the checkpoint."""
    rows = []
    for item in dict.fromkeys([*sheet.items, *sheet.answers]):
        if other := _other(sheet, item):
            rows.append((item, t(f"there is an answer of {other}'s paper", f"这里有一个答案，属于 {other} 的试卷"), ""))
        elif given := _given(sheet, item):
            rows.append((item, t("answered: ", "已作答：") + given, local_time(sheet.answers[item]["time"])))
        else:
            rows.append((item, t("not answered", "未作答"), ""))
    return rows


def _other(sheet: SheetView, item: str) -> str:
    """The student of the paper on which a question was answered, where it is another paper; "" otherwise."""
    said = sheet.answers.get(item, {}).get("student", "") if sheet.student else ""
    return said if same_student(said) != same_student(sheet.student) else ""


def _given(sheet: SheetView, item: str) -> str:
    """The answer in words, such as "b", "c, a, d" or "3"; "" where nothing is chosen."""
    saved = sheet.answers.get(item)
    return Response(tuple(saved["options"]), saved["number"]).words if saved else ""


def local_time(time: str) -> str:
    """A time of the log in this machine's time zone, such as 2026-03-01 09:30:00."""
    if not time:
        return ""
    return datetime.fromisoformat(time.replace("Z", "+00:00")).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _summary(sheet: SheetView) -> str:
    done = sum(bool(_given(sheet, item)) and not _other(sheet, item) for item in sheet.items)
    whose = t(f"Paper of {sheet.student}. ", f"{sheet.student} 的试卷。") if sheet.student else ""
    return whose + t(f"{done} of {len(sheet.items)} questions answered.", f"{len(sheet.items)} 题中已作答 {done} 题。")


def _where(sheet: SheetView) -> str:
    return t(
        f"Your answers are kept in this output and in {sheet.file}. Save the notebook before you hand it in. "
        "After reloading the page, run this cell again.",
        f"答案保存在这个输出和 {sheet.file} 中。交卷前请保存 notebook；重新打开页面后，请再运行一次本单元格。",
    )


def sheet_html(sheet: SheetView) -> str:
    """The list as an HTML table with a caption. No meaning depends on colour."""
    head = "".join(
        f'<th scope="col" style="text-align:left">{one}</th>'
        for one in (t("Question", "题目"), t("State", "状态"), t("Time", "时间"))
    )
    body = "".join(
        f'<tr><th scope="row" style="text-align:left;font-weight:normal">'
        f"<code>{html.escape(item)}</code></th>"
        f'<td style="text-align:left">{"✓" if time else "○"} {html.escape(state)}</td>'
        f'<td style="text-align:left">{time}</td></tr>'
        for item, state, time in _rows(sheet)
    )
    title = t("Answer sheet", "答题卡")
    notices = "".join(f"<p>{html.escape(one)}</p>" for one in sheet.notices)
    return (
        f'<table><caption style="text-align:left"><strong>{title} · '
        f"{html.escape(sheet.checkpoint)}</strong> · "
        f"{html.escape(_summary(sheet))}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p>{html.escape(_where(sheet))}</p>{notices}"
    )


def sheet_text(sheet: SheetView) -> str:
    """The list as plain text."""
    lines = [f"{t('Answer sheet', '答题卡')} · {sheet.checkpoint} · {_summary(sheet)}"]
    lines += [f"  {item}: {state} {time}".rstrip() for item, state, time in _rows(sheet)]
    return "\n".join([*lines, _where(sheet), *sheet.notices])
