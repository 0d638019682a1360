"""Read the answers of a checkpoint from a notebook and from its answers file, also where these are damaged.

Pure functions on plain data, used by the grader: they run no code and raise no exception.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from itertools import accumulate, islice
from typing import Any

from course.core.i18n import Text, both
from course.learning.entry import stamp
from course.questions.variants import LONGEST_STUDENT

MIME = "application/vnd.torch-backends-course.answers+json"
SCHEMA = 1
MOST_SHEETS, MOST_ANSWERS, MOST_PROBLEMS = 100, 1000, 20
"""Sheets in a submission, answers in a sheet, problems reported."""
LONGEST_ID = 100  # characters of an item or an option
MOST_PARTS = 500_000  # lists and objects in one file; each takes hundreds of bytes of memory, however short its text
LONGEST_LIST = 200_000  # characters
TITLES = ("Answer sheet", "答题卡")
TAG, ROW_ENDS = re.compile(r"<[^<>]{0,1000}>"), re.compile(r"</?(?:tr|caption)\b", re.IGNORECASE)
LINE = re.compile(
    r"(?<!\S)(\S{2,100}?):? (?:\S )?(?:answered: ?|已作答： ?)(\S.{0,100}?)(?: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d|$)",
    re.MULTILINE,
)
WHOSE = re.compile(
    r"· (?:Paper of ([^·]{1,200}?)\. \d+ of \d+ |([^·]{1,200}?) 的试卷。)"
)  # the student's id, where each has a paper
DEEPEST = 350  # lists and objects within each other; readers and writers of JSON end at about a thousand
STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")  # +1 and -1 as signed bytes
OTHERS = bytes(set(range(256)) - set(b"[{]}"))
Answers = dict[str, dict[str, Any]]


def clean_answer(raw: Any) -> dict[str, Any] | None:
    """The valid parts of an answer: {"options", "number", "confidence", "time"}, and "student" and "paper" where it names the student
    and the release (the salt) of its paper. None where it is no answer.
    """
    if not isinstance(raw, Mapping):
        return None
    options, number, confidence = raw.get("options") or [], raw.get("number"), raw.get("confidence")
    if not isinstance(options, (list, tuple)) or not all(isinstance(one, str) for one in options):
        return None
    if isinstance(number, bool) or not isinstance(number, (int, float, type(None))):
        return None
    if not options and number is None:
        return None
    try:
        number = None if number is None else float(number)
    except OverflowError:
        return None
    if number is not None and not math.isfinite(number):
        return None
    sure = confidence if type(confidence) is int and confidence in (1, 2, 3) else None
    found = {
        "options": [one[:LONGEST_ID] for one in options[:50]],
        "number": number,
        "confidence": sure,
        "time": _time(raw.get("time")),
    }
    paper = {name: clean_student(raw.get(name)) for name in ("student", "paper")}
    return {**found, **{name: said for name, said in paper.items() if said}}


def clean_student(raw: Any) -> str:
    """The student of the paper that an answer names; "" where it names none."""
    return raw.strip()[:LONGEST_STUDENT] if isinstance(raw, str) else ""


def _time(raw: Any) -> str:
    """The time in the form of the log; "" where it is no time."""
    try:
        moment = datetime.fromisoformat(str(raw).replace("Z", "+00:00"))
        return stamp(moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc))
    except (ValueError, OverflowError, OSError):
        return ""


def _content(answer: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(answer["options"]), answer["number"]


def _payloads(notebook: Any) -> Iterator[Any]:
    """Every answer sheet in the outputs of a notebook, however damaged the rest is."""
    cells = notebook.get("cells") if isinstance(notebook, Mapping) else None
    for cell in cells if isinstance(cells, list) else ():
        outputs = cell.get("outputs") if isinstance(cell, Mapping) else None
        for output in outputs if isinstance(outputs, list) else ():
            data = output.get("data") if isinstance(output, Mapping) else None
            if isinstance(data, Mapping) and MIME in data:
                yield data[MIME]


def carries_sheet(notebook: Any) -> bool:
    """Whether a notebook contains an answer sheet, also an empty one. A notebook with cleared outputs contains none."""
    return next(_payloads(notebook), None) is not None or bool(_lists(notebook))


def _lists(notebook: Any) -> list[str]:
    """The readable lists (HTML or text) of answer sheets whose data another tool has removed."""
    found = []
    cells = notebook.get("cells") if isinstance(notebook, Mapping) else None
    for cell in cells if isinstance(cells, list) else ():
        outputs = cell.get("outputs") if isinstance(cell, Mapping) else None
        for output in outputs if isinstance(outputs, list) else ():
            data = output.get("data", {"text/plain": output.get("text")}) if isinstance(output, Mapping) else None
            for kind in ("text/html", "text/plain") if isinstance(data, Mapping) else ():
                text = data.get(kind)
                text = "".join(text) if isinstance(text, list) and all(isinstance(one, str) for one in text) else text
                if isinstance(text, str) and len(text) <= LONGEST_LIST and any(title in text for title in TITLES):
                    found.append(_plain(text) if kind == "text/html" else text)
    return found[:MOST_SHEETS]


def _plain(text: str) -> str:
    """The rows of a list in HTML, each on a line."""
    rows = (" ".join(html.unescape(TAG.sub(" ", f"<{row}")).split()) for row in ROW_ENDS.split(text))
    return "\n".join(rows)


def readable(notebook: Any, checkpoint: str | None) -> list[tuple[str, dict[str, Any]]]:
    """The (item, answer) pairs in the readable lists of a saved notebook. Their times are left out, because the time zone is
    unknown.
    """
    found = []
    for text in _lists(notebook):
        if checkpoint is None or checkpoint in text:
            text = "\n".join(" ".join(line.split()) for line in text.splitlines())
            whose = WHOSE.search(text)
            student = whose[1] or whose[2] if whose else ""
            for item, given in LINE.findall(text)[:MOST_ANSWERS]:
                words = [word.strip() for word in given.split(",")]
                letters = all(re.fullmatch("[a-z]", word) for word in words)
                number = None if letters else _number(given)
                answer = clean_answer({"options": words if letters else [], "number": number, "student": student})
                if answer is not None and len(item) <= LONGEST_ID:
                    found.append((item, answer))
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def decoded(payload: Any) -> Any:
    """Decode a sheet that another tool has stored as text, with or without a byte order mark; returns anything else unchanged."""
    if isinstance(payload, list) and all(isinstance(one, str) for one in payload):
        payload = "".join(payload)
    try:
        if isinstance(payload, str):
            payload = payload.removeprefix("\ufeff")
        if isinstance(payload, (str, bytes)) and crowded(payload):
            return None
        return json.loads(payload) if isinstance(payload, (str, bytes)) else payload
    except (ValueError, RecursionError):
        return None


def crowded(text: str | bytes) -> bool:
    """Whether JSON text holds so many parts, or nests them so deeply, that reading it would take gigabytes or fail."""
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    return data.count(b"{") + data.count(b"[") > MOST_PARTS or depth(data) > DEEPEST


def depth(data: bytes) -> int:
    """How deeply lists and objects in JSON text are nested. Takes time linear in its length."""
    steps = STRING.sub(b"", data).translate(STEPS, OTHERS)
    return max(accumulate(memoryview(steps).cast("b")), default=0)


def read_sheet(
    payload: Any, where: Text, checkpoint: str | None
) -> tuple[list[tuple[str, dict[str, Any]]], list[Text]]:
    """((item, answer) pairs of one sheet, problems)."""
    en, zh = (where["en"], where["zh"]) if isinstance(where, Mapping) else (where, where)
    payload = decoded(payload)
    answers = payload.get("answers") if isinstance(payload, Mapping) else None
    if not isinstance(answers, Mapping):
        return [], [both(f"The answers in {en} are damaged and could not be read.", f"{zh}中的答案已损坏，无法读取。")]
    if checkpoint and payload.get("checkpoint") not in (None, checkpoint):
        other = str(payload.get("checkpoint"))[:60]
        return [], [
            both(
                f"The answers in {en} belong to another checkpoint, {other}; they were not used.",
                f"{zh}中的答案属于另一个测验 {other}，未采用。",
            )
        ]
    found, problems = [], []
    if isinstance(payload.get("schema"), int) and payload["schema"] > SCHEMA:
        problems.append(
            both(
                f"The answers in {en} were written by a newer course version; they were read as far as possible.",
                f"{zh}中的答案由更新版本的课程写入，已尽量读取。",
            )
        )
    if len(answers) > MOST_ANSWERS:
        problems.append(
            both(
                f"There are more than {MOST_ANSWERS} answers in {en}; the others were not read.",
                f"{zh}中的答案超过 {MOST_ANSWERS} 条，其余未读取。",
            )
        )
    for item, raw in islice(answers.items(), MOST_ANSWERS):
        answer = clean_answer(raw) if len(item) <= LONGEST_ID else None
        if answer is None:
            problems.append(
                both(f"The answer to {str(item)[:60]} in {en} is damaged.", f"{zh}中 {str(item)[:60]} 的答案已损坏。")
            )
            continue
        if not answer["time"]:
            problems.append(
                both(
                    f"The answer to {str(item)[:60]} in {en} has no valid time; it counts as the oldest.",
                    f"{zh}中 {str(item)[:60]} 的答案没有有效时间，按最早处理。",
                )
            )
        found.append((str(item), answer))
    return found, problems


def history_of(payload: Any) -> list[tuple[str, dict[str, Any]]]:
    """The (item, answer) pairs in the history of an answers file, oldest first; damaged ones are left out."""
    history = payload.get("history") if isinstance(payload, Mapping) else None
    pairs = [
        (str(one.get("item")), clean_answer(one))
        for one in (history if isinstance(history, list) else ())
        if isinstance(one, Mapping)
    ]
    return [(item, answer) for item, answer in pairs if answer is not None]


def latest(pairs: Iterable[tuple[str, dict[str, Any]]]) -> Answers:
    """The newest answer of each item."""
    newest: Answers = {}
    for item, answer in pairs:
        if item not in newest or answer["time"] >= newest[item]["time"]:
            newest[item] = answer
    return newest


def harvest(notebook: Any, sidecar: str | None = None, checkpoint: str | None = None) -> tuple[Answers, list[Text]]:
    """(latest answer to each item, problems) from a notebook (nbformat dict) and the text of its answers file.

    An older answer in one of the two is normal. A difference that the file's history does not explain is reported as a
    problem, and the later answer counts. Never raises.
    """
    problems: list[Text] = []
    in_notebook: list[tuple[str, dict[str, Any]]] = []
    for payload in islice(_payloads(notebook), MOST_SHEETS):
        found, faults = read_sheet(payload, both("the notebook", "notebook"), checkpoint)
        in_notebook += found
        problems += faults
    in_file: list[tuple[str, dict[str, Any]]] = []
    past: list[tuple[str, dict[str, Any]]] = []
    if sidecar is not None:
        in_file, faults = read_sheet(sidecar, both("the file beside the notebook", "notebook 旁边的文件"), checkpoint)
        past = history_of(decoded(sidecar)) if in_file else []
        problems += faults
    there = {item for item, _ in (*in_notebook, *in_file)}
    if listed := [(item, answer) for item, answer in readable(notebook, checkpoint) if item not in there]:
        in_notebook += listed
        n = len(latest(listed))
        problems.append(
            both(
                f"Unconfirmed: {n} answer{' was' if n == 1 else 's were'} read from the list that the notebook shows, "
                "because a program that saved the notebook dropped the data behind it.",
                f"未经确认：保存 notebook 的程序丢掉了答案数据，{n} 个答案是从 notebook 显示的列表里读出来的。",
            )
        )
    first, second = latest(in_notebook), latest(in_file)
    if in_notebook and in_file:
        problems += _disagreements(first, second, past)
    if len(problems) > MOST_PROBLEMS:
        others = len(problems) - MOST_PROBLEMS
        problems[MOST_PROBLEMS:] = [both(f"And {others} more of this kind.", f"同类问题另有 {others} 个。")]
    return latest([*in_notebook, *in_file]), problems


def _disagreements(first: Answers, second: Answers, past: list[tuple[str, dict[str, Any]]]) -> list[Text]:
    known = {(item, answer["time"], _content(answer)) for item, answer in past}
    problems = []
    for item in sorted(set(first) & set(second)):
        one, other = first[item], second[item]
        if _content(one) == _content(other) or (item, one["time"], _content(one)) in known:
            continue
        problems.append(
            both(
                f"The notebook and the file beside it disagree on {item}; the later answer was taken.",
                f"notebook 和旁边的文件中 {item} 的答案不一致，采用较晚的一份。",
            )
        )
    return problems
