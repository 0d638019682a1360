"""Compute the numbers of a report from the plain data of a class. Pure functions; the result is ready for JSON.

Students without a grade, and submissions in which nothing was attempted, are counted and then left out. For each question
or task only the students count whose copy asked it and has an answer sheet: papers differ, and some copies are of an older
release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from course.questions.items import within
from grader.reporting.statistics import LEAST, correlation, fisher, quartiles, wilson

Data = dict[str, Any]
MOST_ROWS, MOST_ORDERS = 8, 5  # different numbers and orders shown


def analyse(data: Mapping[str, Any]) -> Data:
    """All numbers of the report. Shares are 0..1, times are minutes, intervals are 95 %."""
    graded = [student for student in data["students"] if student["graded"]]
    counted = [student for student in graded if not _blank(student)]
    top = data["top"]
    asked = {cell["id"]: [one for one in counted if cell["id"] in one["asked"]] for cell in data["cells"]}
    without = {cell["id"]: sum(cell["id"] in one["later"] for one in counted) for cell in data["cells"]}
    return {
        "lesson": data["lesson"],
        "top": top,
        "handed_in": len(data["students"]),
        "counted": len(counted),
        "blank": [student["name"] for student in graded if _blank(student)],
        "without_grade": [student["name"] for student in data["students"] if not student["graded"]],
        "manual_marks": sum(len(student["manual"]) for student in counted),
        "totals": [round(_total(student) / top, 4) if top else 0.0 for student in counted],
        "idle": data["idle"],
        "cells": [
            _cell(cell, asked[cell["id"]], top) | {"without": without[cell["id"]]}
            for cell in data["cells"]
            if asked[cell["id"]] or not counted
        ],
        "unasked": [name for name in without if without[name] and not asked[name]],
        "lost": [student["name"] for student in counted if student["lost"]],
        "beliefs": _beliefs(data, counted),
        "belief_texts": {
            one: data["beliefs"].get(one, one) for cell in data["cells"] for one in cell.get("offered", ())
        },
        "confidence": _confidence(data["cells"], counted),
        "time": _time(counted),
    }


def _blank(student: Data) -> bool:
    """Whether nothing was attempted: no text for a person to mark, and nothing else by the states stored while marking or, where
    an earlier version marked, because there is no answer and no point.
    """
    if student["texts"]:
        return False
    if student["states"]:
        return set(student["states"].values()) == {"not attempted"}
    return not student["answers"] and not any(student["points"].values())


def _total(student: Data) -> float:
    return sum(student["points"].values())


def _interval(share: float, n: int) -> Data:
    low, high = wilson(share, n)
    return {"share": round(share, 4), "low": round(low, 4), "high": round(high, 4), "n": n}


def _shares(cell: Data, students: list[Data]) -> list[float]:
    return [
        min(1.0, student["points"].get(cell["id"], 0.0) / cell["top"]) if cell["top"] else 0.0 for student in students
    ]


def _cell(cell: Data, students: list[Data], top: float) -> Data:
    name, n = cell["id"], len(students)
    shares = _shares(cell, students)
    made = {
        "id": name,
        "kind": cell["kind"],
        "stem": cell["stem"],
        "top": cell["top"],
        "facility": _interval(sum(shares) / n if n else 0.0, n),
        "full": sum(share >= 1 for share in shares),
        "not_attempted": sum(_skipped(cell, student) for student in students),
        "discrimination": _discrimination(cell, students, shares, top),
    }
    if cell["kind"] == "task":
        return made | {"parts": [_part(cell, part, students) for part in cell["parts"]]}
    answers = {student["name"]: student["answers"][name] for student in students if name in student["answers"]}
    made |= {"answered": len(answers), "changed": _changed(cell, students)}
    if cell["kind"] == "number":
        return made | {
            "varies": cell.get("varies", False),
            "numbers": _numbers(cell, answers),
            "unit": cell["number"]["unit"],
            "value": cell["number"]["value"],
        }
    if cell["kind"] == "order":
        orders = Counter(tuple(answer["options"]) for answer in answers.values())
        made |= {
            "right": cell["right"],
            "orders": [
                {"order": list(order), "count": count, "right": list(order) == cell["right"]}
                for order, count in orders.most_common(MOST_ORDERS)
            ],
        }
    return made | {"options": [_option(cell, option, students, answers) for option in cell["options"]]}


def _skipped(cell: Data, student: Data) -> bool:
    if cell["kind"] != "task":
        return cell["id"] not in student["answers"]
    return student["states"].get(cell["id"]) == "not attempted"


def _discrimination(cell: Data, students: list[Data], shares: list[float], top: float) -> Data:
    """The correlation of a cell with the rest of the checkpoint (without that cell). words: a key of the page's texts."""
    n = len(students)
    if n < LEAST:
        return {"words": "few", "r": None}
    rest = [
        (_total(student) - student["points"].get(cell["id"], 0.0)) / (top - cell["top"] or 1.0) for student in students
    ]
    r = correlation(shares, rest)
    if r is None:
        return {"words": "constant", "r": None}
    low, high = fisher(r, n)
    words = "unclear" if low <= 0 <= high else "backwards" if high < 0 else "strong" if r >= 0.3 else "weak"
    return {"words": words, "r": round(r, 3), "low": round(low, 3), "high": round(high, 3)}


def _part(cell: Data, part: Data, students: list[Data]) -> Data:
    known = [student for student in students if cell["id"] in student["parts"] or cell["id"] in student["states"]]
    right = sum(student["parts"].get(cell["id"], {}).get(part["id"], 0.0) > 0 for student in known)
    return {
        "id": part["id"],
        "top": part["top"],
        "reason": part["reason"],
        **_interval(right / len(known) if known else 0.0, len(known)),
    }


def _option(cell: Data, option: Data, students: list[Data], answers: Data) -> Data:
    chose = [student for student in students if option["id"] in answers.get(student["name"], {}).get("options", ())]
    rest = [_total(student) - student["points"].get(cell["id"], 0.0) for student in chose]
    return {
        "id": option["id"],
        "text": option["text"],
        "right": option["right"],
        "belief": option["belief"],
        "count": len(chose),
        "rest_points": round(sum(rest) / len(rest), 3) if rest else None,
    }


def _numbers(cell: Data, answers: Data) -> list[Data]:
    number, counts = (
        cell["number"],
        Counter(answer["number"] for answer in answers.values() if answer["number"] is not None),
    )
    rows = []
    for value, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        right = within(value, number["low"], number["high"])
        trap = next((one["belief"] for one in number["traps"] if within(value, one["low"], one["high"])), None)
        rows.append({"value": value, "count": count, "right": right, "belief": None if right else trap})
    shown, rest = rows[:MOST_ROWS], rows[MOST_ROWS:]
    kinds = len(rest) + sum(
        answer["number"] is None for answer in answers.values()
    )  # of variants neither right nor a trap
    if kinds:
        others = len(answers) - sum(row["count"] for row in shown)
        shown.append({"others": kinds, "count": others, "right": False, "belief": None})
    return shown


def _beliefs(data: Mapping[str, Any], students: list[Data]) -> list[Data]:
    """Every false belief that somebody's answers show, the most frequent first."""
    offered = {cell["id"]: cell.get("offered", []) for cell in data["cells"]}
    found = []
    for belief in sorted({one for listed in offered.values() for one in listed}):
        places = [cell for cell, listed in offered.items() if belief in listed]
        chance = [student for student in students if any(place in student["answers"] for place in places)]
        holds = [student for student in chance if any(belief in student["beliefs"].get(place, ()) for place in places)]
        more = sum(sum(belief in student["beliefs"].get(place, ()) for place in places) > 1 for student in holds)
        if holds:
            found.append(
                {
                    "id": belief,
                    "text": data["beliefs"].get(belief, belief),
                    "holds": len(holds),
                    "in_several": more,
                    **data.get("remedies", {}).get(belief, {"experiments": [], "practice": []}),
                    "cells": [place for place in places if any(belief in s["beliefs"].get(place, ()) for s in holds)],
                    **_interval(len(holds) / len(chance), len(chance)),
                }
            )
    return sorted(found, key=lambda one: (-one["holds"], -one["share"], one["id"]))


def _confidence(cells: list[Data], students: list[Data]) -> list[Data]:
    """For each stated confidence (1 guess .. 3 certain) the share of answers with full points. Counts answers, not students."""
    tops = {cell["id"]: cell["top"] for cell in cells}
    found = []
    for level in (1, 2, 3):
        right = [
            student["points"].get(item, 0.0) >= tops[item]
            for student in students
            for item, answer in student["answers"].items()
            if item in tops and answer.get("confidence") == level
        ]
        if right:
            found.append({"level": level, "right": sum(right), **_interval(sum(right) / len(right), len(right))})
    return found


def _times(student: Data, item: str | None = None) -> list[datetime]:
    said = [answer["time"] for name, answer in student["history"] if item in (None, name) and answer["time"]]
    return sorted(datetime.fromisoformat(text.replace("Z", "+00:00")) for text in said)


def _minutes(times: list[datetime]) -> float:
    return (times[-1] - times[0]).total_seconds() / 60


def _changed(cell: Data, students: list[Data]) -> Data:
    """How many students changed their answer to a question, and the minutes between their first and last answer."""
    came_back, minutes = 0, []
    for student in students:
        given = [(answer["options"], answer["number"]) for name, answer in student["history"] if name == cell["id"]]
        if any(one != given[0] for one in given):
            came_back += 1
            minutes.append(_minutes(_times(student, cell["id"]) or [datetime.min]))
    middle = quartiles(minutes)
    return {
        "students": came_back,
        "with_history": sum(any(name == cell["id"] for name, _ in s["history"]) for s in students),
        "median_minutes": None if middle is None else round(middle[1], 2),
    }


def _time(students: list[Data]) -> Data:
    spans = [_minutes(times) for student in students if len(times := _times(student)) > 1]
    found = quartiles(spans)
    return {
        "with_history": len(spans),
        "quartiles_minutes": None if found is None else [round(one, 2) for one in found],
    }
