"""The report on a marked checkpoint: one page with one table, the question with the fewest points first. For each question it
shows the wrong answer given most, the idea behind it, and what helps against that idea.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from course.core.i18n import both, pick
from course.core.units import format_points
from course.questions.items import within
from grader.authoring.template import render
from grader.course import Course
from grader.reporting.collect import gather

HERE = Path(__file__).parent
FEW = 10  # submissions; with fewer the page says that they show single answers
Data = dict[str, Any]
WORDS = {
    "title": both("Checkpoint {lesson}: what to teach again", "测验 {lesson}：哪些要再讲"),
    "who": both(
        "{counted} of {handed_in} submissions counted (nothing attempted: {blank}, no grade: {without_grade}); "
        "handed in nothing: {idle}; median {middle} of {top} points",
        "{handed_in} 份提交中统计了 {counted} 份（什么都没做 {blank} 份，没有成绩 {without_grade} 份）；没有交 {idle} 人；"
        "中位数 {middle} / {top} 分",
    ),
    "few": both(
        "So few submissions show single answers, not a trend.", "提交太少，只能看到个别学生的答案，看不出趋势。"
    ),
    "none": both("No marked submission with an answer is there yet.", "还没有已评分且作答的提交。"),
    "question": both("question or task", "题目"),
    "share": both("points earned", "得分率"),
    "skipped": both("not attempted", "未作答"),
    "wrong": both("wrong answer given most", "最常见的错误答案"),
    "idea": both("idea behind it, and what helps", "背后的误解与对策"),
    "measure": both("Let the class bet, then run", "先让全班下注，再运行"),
    "practise": both("To practise:", "练习："),
    "notes": both(
        "What was left out counts as 0. Questions that a student's paper does not have, and answers that were lost, do not count. "
        "Late points are not taken off here. A wrong option stands for an idea because its author wrote it so: one answer is a "
        "sign, no diagnosis. Where papers differ, an answer is shown as the one it corresponds to on the standard paper.",
        "没做的按 0 分算；学生试卷上没有的题和已丢失的作答不计入；迟交扣分不计入。错误选项代表哪种误解，是出题人的设定："
        "一次作答只是迹象，不是诊断。各人试卷不同时，答案换算成标准试卷上对应的答案。",
    ),
}


def write_report(course: Course, lesson: str, to: Path | None = None, language: str | None = None) -> Path:
    """Write the page and return its path. to: default report-LESSON.html in the course directory. Raises ProjectError."""
    to = to or course.root / f"report-{lesson}.html"
    to.write_text(page(analyse(gather(course, lesson)), language or course.language), encoding="utf-8")
    return to


def analyse(data: Data) -> Data:
    """The numbers of the report from the data of ``collect.gather``. Shares are 0..1.

    Students without a grade, and submissions in which nothing was attempted, are counted and then left out. For a question only
    the students count whose paper asks it and whose answers are not lost.
    """
    graded = [one for one in data["students"] if one["graded"]]
    counted = [one for one in graded if one["texts"] or {*one["states"].values()} - {"not attempted"}]
    rows = [_row(cell, [one for one in counted if cell["id"] in one["asked"]], data) for cell in data["cells"]]
    return {
        "lesson": data["lesson"],
        "top": data["top"],
        "handed_in": len(data["students"]),
        "counted": len(counted),
        "blank": [one["name"] for one in graded if one not in counted],
        "without_grade": [one["name"] for one in data["students"] if not one["graded"]],
        "idle": data["idle"],
        "totals": [sum(one["points"].values()) for one in counted],
        "rows": sorted((row for row in rows if row["n"]), key=lambda row: row["share"]),
    }


def _row(cell: Data, students: list[Data], data: Data) -> Data:
    name, n = cell["id"], len(students)
    shares = [min(1.0, one["points"].get(name, 0.0) / cell["top"]) if cell["top"] else 1.0 for one in students]
    answers = [one["answers"][name] for one in students if name in one["answers"]]
    task = cell["kind"] == "task"
    wrong = _lost_most(cell, students) if task else _wrong_most(cell, answers)
    belief = wrong and wrong["belief"]
    return {
        "id": name,
        "stem": cell["stem"],
        "n": n,
        "share": sum(shares) / n if n else 0.0,
        "skipped": sum(one["states"].get(name) == "not attempted" for one in students) if task else n - len(answers),
        "wrong": wrong,
        "idea": data["beliefs"].get(belief, belief),
        "remedy": data["remedies"].get(belief, {}),
    }


def _wrong_most(cell: Data, answers: list[Data]) -> Data | None:
    """The wrong answer that most gave: its text, how many, the belief behind it. None where there is no wrong answer."""
    if cell["kind"] == "number":
        number = cell["number"]
        given = Counter(one["number"] for one in answers if one["number"] is not None)
        traps = [(one["low"], one["high"], one["belief"]) for one in number["traps"]]
        found = [
            (count, both(*(f"{value:.10g} {pick(number['unit'], code)}" for code in ("en", "zh"))), belief)
            for value, count in given.items()
            if not within(value, number["low"], number["high"])
            for belief in [next((one for low, high, one in traps if within(value, low, high)), None)]
        ]
    elif cell["kind"] == "order":
        texts = {option["id"]: option["text"] for option in cell["options"]}
        orders = Counter(tuple(one["options"]) for one in answers)
        found = [
            (count, both(*(" → ".join(pick(texts[line], code) for line in order) for code in ("en", "zh"))), None)
            for order, count in orders.items()
            if list(order) != cell["right"]
        ]
    else:
        chosen = Counter(option for one in answers for option in one["options"])
        found = [
            (chosen[one["id"]], one["text"], one["belief"])
            for one in cell["options"]
            if not one["right"] and one["id"] in chosen
        ]
    return _most(found)


def _lost_most(cell: Data, students: list[Data]) -> Data | None:
    """The part of a task that most lost, in the words students get."""
    tried = [one for one in students if cell["id"] in one["parts"]]
    lost = [
        (sum(not one["parts"][cell["id"]].get(part["id"]) for one in tried), part["reason"], None)
        for part in cell["parts"]
    ]
    return _most([one for one in lost if one[0]])


def _most(found: list[tuple[int, Any, str | None]]) -> Data | None:
    count, text, belief = max(found, key=lambda one: one[0], default=(0, "", None))
    return {"count": count, "text": text, "belief": belief} if count else None


def page(found: Data, language: str = "en") -> str:
    """The report as one HTML page without names, scripts or other files; light, dark and in print."""

    words = {name: pick(text, language) for name, text in WORDS.items()}
    counts = {name: len(found[name]) for name in ("blank", "without_grade", "idle")}
    middle = format_points(median(found["totals"] or [0.0]))
    return render(
        HERE / "report.html",
        language,
        (HERE / "report.css",),
        title=words["title"].format(lesson=found["lesson"]),
        who=words["who"].format(**{**found, **counts, "middle": middle, "top": format_points(found["top"])}),
        few=0 < found["counted"] < FEW,
        rows=found["rows"],
        words=words,
    )
