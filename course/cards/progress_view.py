"""The map of the course as a page."""

from __future__ import annotations

import html

from course.cards.page import listing, meter, page, table
from course.core.catalog import BY_ID
from course.core.i18n import pick, t
from course.core.markup import inline
from course.learning.progress import READY, LessonProgress, Progress


def state_words(one: LessonProgress) -> str:
    """finished, in progress or not started, with a sign that repeats it."""
    if one.done:
        return t("✓ finished", "✓ 已完成")
    return t("● in progress", "● 进行中") if one.started else t("○ not started", "○ 未开始")


def ready_words(one: LessonProgress) -> str:
    """Whether the checkpoint looks ready, or what is missing; empty for a lesson without one."""
    if not one.checkpoint_total:
        return ""
    if one.recorded == one.checkpoint_total:
        return t("all answered: hand it in", "已全部作答：可以交卷")
    if one.ready:
        return t("looks ready", "看来准备好了")
    missing = []
    if opened := one.total - one.answered:
        missing.append(t(f"{opened} still open", f"还有 {opened} 题没答"))
    if wrong := one.answered - one.right:
        missing.append(t(f"{wrong} not right yet", f"{wrong} 题还没答对"))
    return t("not yet: ", "先别急：") + t(", ", "，").join(missing)


def bets_words(found: Progress) -> str:
    """The bets in one line."""
    won, lost, rest = found.bets
    return t(
        f"Bets: {won} won, {lost} lost, {rest} not decided. `bets()` shows them all.",
        f"下注：押中 {won}，没押中 {lost}，还没揭晓 {rest}。用 `bets()` 查看全部赌注。",
    )


def due_words(found: Progress) -> str:
    """What is due now."""
    if not found.due:
        return t("Nothing is due for review today.", "今天没有要复习的内容。")
    return t(f"Due for review now: {found.due}. Run `review()`.", f"现在要复习的：{found.due} 项。运行 `review()`。")


def progress_html(found: Progress, kept_in: str = "") -> str:
    """The map as a page. kept_in: where the log is."""
    alive = [
        f"{inline(pick(one.statement))} <small>{html.escape(', '.join(sorted(one.lessons)))}</small>"
        for one in found.beliefs
    ]
    place = t("Kept in {}; nothing is sent anywhere.", "记录保存在 {}，不会发送到任何地方。").format(
        f"<code>{html.escape(kept_in)}</code>"
    )
    rule = t(
        f"A checkpoint looks ready when {READY:.0%} of the practice questions are right at your latest answer; "
        "a rule of thumb.",
        f"练习题的最近一次作答有 {READY:.0%} 正确，就算准备好了；只是经验法则。",
    )
    heads = [
        t("Lesson", "课程"),
        t("State", "状态"),
        t("Questions answered", "已答题目"),
        t("Exercises", "练习"),
        t("Review", "复习"),
        t("Checkpoint", "测验"),
    ]
    return page(
        t("Your progress", "学习进度"),
        f"<p>{'<br>'.join(map(inline, (due_words(found), bets_words(found), *found.games)))}</p>",
        table(heads, [_row(one) for one in found.lessons], t("Your progress", "学习进度")),
        listing(
            t("Ideas worth a second look", "值得再看一眼的想法"),
            alive,
            t("Your latest answers or lost bets still show them.", "最近的作答或没押中的赌注里还看得到。"),
        ),
        listing(
            t("Ideas you have overcome", "你已经放下的想法"),
            [f"✓ {inline(pick(one.statement))}" for one in found.overcome],
            t("False, and your later answers say so too.", "这些说法不对，你后来的作答也说明了这一点。"),
        ),
        f"<p><small>{rule}{'<br>' + place if kept_in else ''}</small></p>",
    )


def _row(one: LessonProgress) -> list[str]:
    lesson = BY_ID.get(one.lesson)
    question = f"<small>{html.escape(pick(lesson.question))}</small>" if lesson else ""
    tone = "good" if one.done else "main" if one.started else ""
    right = f"<small>{t(f'{one.right} right', f'答对 {one.right}')}</small>" if one.answered else ""
    checkpoint = "–"
    if one.checkpoint_total:
        shade = "good" if one.ready or one.recorded == one.checkpoint_total else ""
        given = (
            (
                t(f"{one.recorded} of {one.checkpoint_total} answered", f"已答 {one.recorded}/{one.checkpoint_total}")
                + "<br>"
            )
            if one.recorded
            else ""
        )
        checkpoint = f'{given}<small class="{shade}">{ready_words(one)}</small>'
    return [
        f"<code>{html.escape(one.lesson)}</code>{question}",
        f'<span class="{tone} nowrap">{state_words(one)}</span>',
        f"{meter(one.answered, one.total)}{right}",
        t(f"{one.solved} solved", f"完成 {one.solved}") if one.solved else "–",
        f'<span class="part nowrap">{t(f"{one.due} due", f"{one.due} 项到期")}</span>' if one.due else "–",
        checkpoint,
    ]
