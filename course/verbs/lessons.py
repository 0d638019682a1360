"""The verbs that start and end a lesson, and the one that sets the language."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from datetime import datetime

from course.cards.page import listing, page
from course.core import catalog, i18n
from course.core.catalog import lesson_folder
from course.core.i18n import Text, pick, remember, t
from course.core.markup import inline
from course.core.suggest import did_you_mean
from course.core.version import OLDEST_TORCH
from course.exercises.exercise import all_exercises
from course.game.board import games, mean_line, standings
from course.verbs import colab_notice, state
from course.verbs.say import in_words, put, say


@in_words
def lesson(lesson_id: str, language: str | None = None) -> None:
    """Start a lesson or a project: its language (default: the one in use), one line about this machine, one about your progress."""
    if not speak(language):
        return
    project = lesson_id in catalog.PROJECTS
    if not project and lesson_id not in catalog.BY_ID:
        near = did_you_mean(lesson_id, catalog.BY_ID, cutoff=0.3)
        say(t(f"There is no lesson `{lesson_id}`.{near}", f"没有 `{lesson_id}` 这一课。{near}"))
        return
    from course import flags
    from course.core import machine

    if project or state.now.lesson != lesson_id:
        flags.remember()  # a lesson started twice keeps what it was compared with
    state.now.lesson = None if project else lesson_id
    flags.watch()
    on_colab = colab_notice.before_answering()  # may bring answers along, which the line about progress then counts
    say(
        f"🔧 {pick(machine.one_line())}",
        _too_old(),
        _steps_solved(lesson_id) if project else _where_you_are(lesson_id),
        *on_colab,
        *state.now.log.take_notices(),
    )


def _too_old() -> str:
    """A warning for a torch in which switches of the lessons are missing; empty otherwise."""
    import torch

    found = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
    if found >= OLDEST_TORCH:
        return ""
    wanted = ".".join(map(str, OLDEST_TORCH))
    return t(
        f"⚠️ The course is written for torch {wanted} or newer: here some cells will show errors. "
        "To update, run `%pip install -U torch` and restart the kernel.",
        f"⚠️ 本课程面向 torch {wanted} 及以上版本，在这里有些单元格会报错。要升级，请运行 `%pip install -U torch` 并重启内核。",
    )


def _where_you_are(lesson_id: str) -> str:
    """One line: what of this lesson is answered already, in the learner's log."""
    ids = {item.id for item in state.now.bank.items(lesson_id)}
    answered = {e.item for e in state.now.log.entries() if e.event in ("answer", "bet")} & ids
    return t(
        f"📗 {lesson_id}: {len(answered)} of {len(ids)} cards answered so far.",
        f"📗 {lesson_id}：{len(ids)} 张卡片中已答 {len(answered)} 张。",
    )


def _steps_solved(project: str) -> str:
    """One line: how many exercises of this project the learner has solved, now or earlier."""
    ids = {one.id for one in all_exercises().values() if one.lesson == project}
    solved = {e.item for e in state.now.log.entries() if e.event == "check" and e.verdict == "correct"} & ids
    return t(f"🛠️ {len(solved)} of {len(ids)} steps solved so far.", f"🛠️ 共 {len(ids)} 步，已完成 {len(solved)} 步。")


@in_words
def finish() -> None:
    """End the lesson: show which switches are changed, schedule the reviews, name the next lesson."""
    if state.now.lesson is None:
        say(
            t(
                "No lesson was started: run the first cell of the notebook, then `finish()`.",
                "还没有开始任何一课：请先运行 notebook 的第一个单元格，再 `finish()`。",
            )
        )
        return
    from course import flags

    state.now.write("finish", state.now.lesson)
    for leak in flags.leaks() if "torch" in sys.modules else ():
        say("⚠️ " + pick(leak.text))
    claims, left = _claims()
    ends = [*left, *_cases(), _schedule()]
    put(
        page(
            _title(),
            *(listing(head, [inline(line) for line in lines]) for head, lines in claims),
            *(f"<p>{inline(line)}</p>" for line in ends if line),
            f"<p>{inline(_what_next())}</p>",
        )
    )


Section = tuple[str, list[str]]
"""A head and the lines below it, with marks."""


def _title() -> str:
    """What was asked in this lesson, now that it is done."""
    asked = catalog.BY_ID.get(state.now.lesson or "")
    return t(f"🏁 {state.now.lesson}, done", f"🏁 {state.now.lesson}，学完了") + (
        t(": ", "：") + pick(asked.question) if asked else ""
    )


def _claims() -> tuple[list[Section], list[str]]:
    """At most five headlines, those measured here and those replayed apart; then what they mean for the learner's own code.

    What was measured in this lesson before the kernel was restarted counts, with its date. What no run could settle is
    named.
    """
    from course.core import records
    from course.experiment import base
    from course.experiment.result import claim
    from course.verbs.portfolio.cheat_sheet import when_and_where

    of_lesson = base.of_lesson(state.now.lesson or "")
    before = {name: found for name, one in of_lesson.items() if (found := records.own(name, one.version))}
    seen = {name: one for name, one in (before | state.now.records).items() if name in of_lesson and one.rows}
    chosen = take_away(state.now.lesson or "")
    first = chosen.experiments if chosen else ()
    order = sorted(seen, key=lambda name: (first.index(name) if name in first else len(first), seen[name].created))
    settled = {name: said for name in order if (said := claim(seen[name], base.get(name)))}
    own: list[str] = []
    replayed: list[str] = []
    for name in list(settled)[:MOST]:
        record, earlier = seen[name], name not in state.now.records
        where = t(f" ({when_and_where(record)})", f"（{when_and_where(record)}）") if not record.live else ""
        (own if record.live or earlier else replayed).append(pick(settled[name]) + where)
    left = []
    if unsettled := [f"`{name}`" for name in order if name not in settled]:
        left.append(t(f"❔ Not settled: {', '.join(unsettled)}.", f"❔ 没测出结论的：{'、'.join(unsettled)}。"))
    if chosen and settled:
        left.append(t("**In your own code:** ", "**用在你自己的代码里：**") + pick(chosen.own_code))
    return [
        (t("Measured on this machine", "在这台机器上测得"), own),
        (t("Measured on another machine, replayed here", "在别的机器上测得，在这里回放"), replayed),
    ], left


def _cases() -> list[str]:
    """The closed cases of a lesson that is a game; nothing in other lessons."""
    if state.now.lesson not in games():
        return []
    found = standings(state.now.lesson, state.now.log.entries())
    closed = [f"• {one.case.icon} {pick(one.case.title)}{t(': ', '：')}{one.said}" for one in found if one.first]
    return [f"🗂️ `board()`{t(': ', '：')}{mean_line(found)}", *closed]


def _schedule() -> str:
    from course.learning.review import greeting, ideas, plan

    now = datetime.now().astimezone()
    found = plan(state.now.log.entries(), state.now.bank, now)
    if not found.table:
        if any(one.event == "move" for one in state.now.log.entries()):
            return ""
        return t(
            "Answer a few cards and they will come back for review when it helps most.",
            "答几张卡片，它们会在最合适的时候回来复习。",
        )
    planned = t(f"🗓️ Scheduled for review: {ideas(len(found.table))}. ", f"🗓️ 已安排复习 {ideas(len(found.table))}。")
    if not found.due:
        return planned + greeting(found, now)[-1]
    return planned + t(f"With `review()`: {found.due} today.", f"运行 `review()` 复习：今天 {found.due} 个。")


def _what_next() -> str:
    """The next lesson in words."""
    following = catalog.after(state.now.lesson or "")
    if following is None:
        return t(
            "That was the last lesson so far. `progress()` shows the whole map.",
            "目前这是最后一课。用 `progress()` 看全貌。",
        )
    head, question = t("➡️ Next: ", "➡️ 下一课："), pick(following.question)
    return f"{head}**{following.id}**{t('. ', '。')}{question}"


def speak(code: str | None) -> bool:
    """Use that language (None: the one in use); False, after a sentence, where the course does not speak it."""
    try:
        i18n.set_language(code or i18n.language())
        if code:
            remember(code)
    except ValueError as error:
        say(str(error))
        return False
    return True


@in_words
def language(code: str) -> None:
    """Speak English ("en") or Chinese ("zh") from now on."""
    if speak(code):
        say(
            t(
                "The course speaks English from now on; run a cell again to see it in English.",
                "从现在起用中文；重新运行一个单元格就能看到中文内容。",
            )
        )


MOST = 5


@dataclass(frozen=True)
class TakeAway:
    """experiments: those whose headlines are repeated at the end, in this order. own_code: what they mean for it."""

    experiments: tuple[str, ...]
    own_code: Text


def take_away(lesson_id: str) -> TakeAway | None:
    """What stands in ``take_away.yaml`` of a lesson, or None."""
    path = lesson_folder(lesson_id) / "take_away.yaml"
    if not path.exists():
        return None
    import yaml

    raw = yaml.safe_load(path.read_text("utf-8"))
    return TakeAway(tuple(raw["experiments"]), raw["own_code"])
