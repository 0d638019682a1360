"""Where a learner stands: what is answered, right and due in each lesson, and which false beliefs are still
alive.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from course.i18n import Text, pick, t
from course.quiz.bank import Bank
from course.quiz.entry import Entry, now
from course.quiz.items import Item
from course.quiz.marking import misconceptions_of
from course.quiz.rich import inline, plain
from course.quiz.schedule import timetable
from course.quiz.session import bet_of, response_of, settled_of


@dataclass(frozen=True)
class LessonProgress:
    """One lesson. total: practice questions; answered, right: by their latest answer; due: concepts due now;
    recorded: checkpoint questions answered of checkpoint_total; done: whether the lesson was finished."""

    lesson: str
    total: int
    answered: int
    right: int
    due: int
    recorded: int
    checkpoint_total: int
    done: bool


@dataclass(frozen=True)
class Progress:
    """beliefs: (misconception id, statement, number of concepts) still held; bets: (won, lost, open)."""

    lessons: tuple[LessonProgress, ...]
    beliefs: tuple[tuple[str, Text, int], ...]
    bets: tuple[int, int, int]

    @property
    def due(self) -> int:
        """Concepts due now, over all lessons."""
        return sum(one.due for one in self.lessons)


def summary(entries: Iterable[Entry], bank: Bank, at: datetime | None = None) -> Progress:
    """The progress at a moment (default: now). Entries of questions the bank does not have are left out."""
    entries = list(entries)
    moment = at or now()
    answers = {entry.item: entry for entry in entries if entry.event == "answer"}
    finished = {entry.item for entry in entries if entry.event == "finish"}
    waiting = [one.lesson for one in timetable(entries, bank) if one.due <= moment]
    practice, graded = bank.items(), bank.items(checkpoint=True)
    lessons = []
    for lesson in bank.lessons():
        own = [item for item in practice if item.lesson == lesson and item.kind != "predict"]
        sheet = [item for item in graded if item.lesson == lesson]
        given = [answers[item.id] for item in own if item.id in answers]
        lessons.append(
            LessonProgress(
                lesson,
                len(own),
                len(given),
                sum(one.verdict == "correct" for one in given),
                waiting.count(lesson),
                sum(item.id in answers for item in sheet),
                len(sheet),
                lesson in finished and bool(given or not own),
            )
        )
    return Progress(tuple(lessons), _beliefs(practice, answers, bank), _bets(practice, entries))


def _beliefs(items: list[Item], answers: dict[str, Entry], bank: Bank) -> tuple[tuple[str, Text, int], ...]:
    """False beliefs behind the latest wrong answers, the most widespread first."""
    held: dict[str, set[str]] = {}
    for item in items:
        if item.id in answers and item.kind != "predict":
            for belief in misconceptions_of(item, response_of(answers[item.id])):
                held.setdefault(belief, set()).add(item.concept)
    statements = bank.misconceptions()
    found = [(one, statements[one], len(concepts)) for one, concepts in held.items() if one in statements]
    return tuple(sorted(found, key=lambda one: (-one[2], one[0])))


def _bets(items: list[Item], entries: list[Entry]) -> tuple[int, int, int]:
    won = lost = still_open = 0
    for item in items:
        placed = bet_of(item, entries) if item.kind == "predict" else None
        if placed is None:
            continue
        settled = settled_of(item, entries)
        won, lost, still_open = (
            won + (settled == placed.options[0]),
            lost + (settled not in (None, placed.options[0])),
            still_open + (settled is None),
        )
    return won, lost, still_open


def _cells(one: LessonProgress) -> list[str]:
    state = (
        t("✓ finished", "✓ 已完成")
        if one.done
        else t("● started", "● 进行中")
        if one.answered or one.recorded
        else t("○ not started", "○ 未开始")
    )
    due = t(f"{one.due} due", f"{one.due} 项待复习") if one.due else "–"
    return [
        one.lesson,
        state,
        f"{one.answered} / {one.total}",
        str(one.right),
        due,
        f"{one.recorded} / {one.checkpoint_total}" if one.checkpoint_total else "–",
    ]


def _heads() -> list[str]:
    return [
        t("Lesson", "课程"),
        t("State", "状态"),
        t("Answered", "已答"),
        t("Right", "答对"),
        t("Review", "复习"),
        t("Checkpoint", "检查点"),
    ]


def _bets_line(found: Progress) -> str:
    won, lost, still_open = found.bets
    return t(
        f"Bets: {won} won, {lost} lost, {still_open} open.",
        f"下注：赢 {won}，输 {lost}，未揭晓 {still_open}。",
    )


def _beliefs_title() -> str:
    return t("Ideas worth a second look:", "值得再看一眼的想法：")


def progress_text(found: Progress) -> str:
    """The map as plain text."""
    lines = ["  ".join(_heads())]
    lines += ["  ".join(_cells(one)) for one in found.lessons]
    lines.append(_bets_line(found))
    if found.beliefs:
        lines += [_beliefs_title(), *(f"  - {plain(pick(text))}" for _, text, _ in found.beliefs)]
    return "\n".join(lines)


def progress_html(found: Progress) -> str:
    """The map as an accessible table: caption, scopes, states in words."""
    left = ' style="text-align:left"'
    head = "".join(f'<th scope="col"{left}>{one}</th>' for one in _heads())
    rows = []
    for one in found.lessons:
        first, *rest = _cells(one)
        cells = "".join(f"<td{left}>{html.escape(cell)}</td>" for cell in rest)
        rows.append(f'<tr><th scope="row"{left}><code>{html.escape(first)}</code></th>{cells}</tr>')
    beliefs = "".join(f"<li>{inline(pick(text))}</li>" for _, text, _ in found.beliefs)
    listing = f"<p><strong>{_beliefs_title()}</strong></p><ul>{beliefs}</ul>" if beliefs else ""
    return (
        f"<table><caption{left}><strong>{t('Your progress', '学习进度')}</strong></caption>"
        f"<thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table><p>{_bets_line(found)}</p>{listing}"
    )
