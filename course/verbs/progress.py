"""The verbs of progress: show it, write it into a file, add the file of another machine."""

from __future__ import annotations

import html
from pathlib import Path

from course.cards.page import page, table
from course.core.catalog import BY_ID
from course.core.i18n import pick, t
from course.core.markup import inline
from course.learning.progress import READY, LessonProgress, Progress
from course.learning.transfer import TransferError, export_to, import_from
from course.verbs import state
from course.verbs.colab_notice import warn_where_it_goes
from course.verbs.say import in_words, put, say


@in_words
def progress() -> None:
    """Show what is done and due in each lesson, and for which checkpoint you are ready."""
    from course.learning.progress import summary

    found = summary(state.now.log.entries(), state.now.bank)
    put(progress_html(found, str(state.now.log.path)))
    for notice in state.now.log.take_notices():
        say(notice)


@in_words
def export_progress(path: str | Path | None = None) -> None:
    """Write everything you did into one file (default: torch-backends-progress.jsonl here) to take along."""
    try:
        target, lines = export_to(state.now.log, path)
    except TransferError as error:
        say(str(error))
        return
    say(
        t(
            f'Wrote {lines} answers and results to `{target}`. On the other machine: `import_progress("{target.name}")`. '
            f"Nothing was sent anywhere.",
            f'已把 {lines} 条记录写入 `{target}`。在另一台机器上运行 `import_progress("{target.name}")` 即可；'
            f"没有发送到任何地方。",
        )
    )
    warn_where_it_goes(target)


@in_words
def import_progress(path: str | Path) -> None:
    """Add the progress of another machine to this one's; nothing is lost."""
    try:
        merged = import_from(state.now.log, path)
    except TransferError as error:
        say(str(error))
        return
    say(t(f"Imported {path}: ", f"已导入 {path}：") + str(merged), *state.now.log.take_notices())


def state_words(one: LessonProgress) -> str:
    """finished, in progress or not started, with a sign that repeats it."""
    if one.done:
        return t("✓ finished", "✓ 已完成")
    return t("● in progress", "● 进行中") if one.started else t("○ not started", "○ 未开始")


def checkpoint_words(one: LessonProgress) -> str:
    """How the checkpoint stands: ready, or how many of its questions are answered; a dash for a lesson without one."""
    if not one.checkpoint_total:
        return "–"
    if one.recorded == one.checkpoint_total:
        return t("all answered: hand it in", "已全部作答：可以交卷")
    if one.recorded:
        return t(f"{one.recorded} of {one.checkpoint_total} answered", f"已答 {one.recorded}/{one.checkpoint_total}")
    return t("looks ready", "看来准备好了") if one.ready else t("not yet", "先别急")


def progress_html(found: Progress, kept_in: str = "") -> str:
    """The map of the course as a page. kept_in: where the log is."""
    due = (
        t(f"Due for review now: {found.due}. Run `review()`.", f"现在要复习的：{found.due} 项。运行 `review()`。")
        if found.due
        else t("Nothing is due for review today.", "今天没有要复习的内容。")
    )
    rule = t(
        f"A checkpoint looks ready when {READY:.0%} of the practice questions are right at your latest answer; "
        "a rule of thumb.",
        f"练习题的最近一次作答有 {READY:.0%} 正确，就算准备好了；只是经验法则。",
    )
    place = t("Kept in {}; nothing is sent anywhere.", "记录保存在 {}，不会发送到任何地方。").format(
        f"<code>{html.escape(kept_in)}</code>"
    )
    heads = (
        t("Lesson", "课程"),
        t("State", "状态"),
        t("Questions right", "答对题目"),
        t("Exercises", "练习"),
        t("Review", "复习"),
        t("Checkpoint", "测验"),
    )
    title = t("Your progress", "学习进度")
    return page(
        title,
        f"<p>{inline(due)}</p>",
        table(heads, [_row(one) for one in found.lessons], title),
        f"<p><small>{rule}{'<br>' + place if kept_in else ''}</small></p>",
    )


def _row(one: LessonProgress) -> list[str]:
    """The cells of a lesson's row, as HTML."""
    question = pick(BY_ID[one.lesson].question) if one.lesson in BY_ID else ""
    return [
        f"<code>{html.escape(one.lesson)}</code><small>{html.escape(question)}</small>",
        f'<span class="nowrap">{state_words(one)}</span>',
        f"{one.right} / {one.total}",
        str(one.solved or "–"),
        str(one.due or "–"),
        checkpoint_words(one),
    ]
