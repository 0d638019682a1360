"""Experiments of lesson 10: every combination of a live case, measured against what the team runs today.

One experiment a case, of the same name; the game takes its table from it, and ``observe("10-voice")`` shows it outside the game.
Panels and limits stand in ``cases.yaml``, so that running one (not listing it) needs PyYAML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from course.experiment.base import Budget, experiment
from course.experiment.words import NOTHING, TOO_NOISY
from course.figures.kinds import Ratio, fold, ratio_rows
from course.figures.svg import SvgPicture
from course.game import cases
from course.i18n import LANGUAGES, Text, both, pick, speaking, t
from course.lessons.l10_tuning_master import bench, game, tuning_outcome, tuning_plan
from course.lessons.l10_tuning_master.workloads import WORKLOADS
from course.markup import plain
from course.records import Record

LESSON = "10_tuning_master"


def table_of(record: Record) -> dict[str, dict[str, Any]]:
    """The rows of a record as the table of outcomes."""
    return {
        row["config"]: row | {"facts": {name[5:]: value for name, value in row.items() if name.startswith("fact_")}}
        for row in record.rows
    }


def headline_case(name: str) -> Callable[[Record], Text]:
    """What to change, and what it does to the time; a list that is too long for one sentence is left out."""

    def headline(record: Record) -> Text:
        table = table_of(record)
        plan = tuning_plan.as_played(tuning_plan.plan_of(cases.find(name)), table)
        today = tuning_plan.key(plan.today)
        if today not in table:
            return TOO_NOISY
        best = tuning_outcome.best_set(plan, table, today)
        if not best:
            return both("No combination keeps every requirement.", "没有一种组合能守住所有要求。")
        first = min(best, key=lambda name: table[name]["ratio"])
        if not tuning_outcome.decided(plan, table, today, first):
            return TOO_NOISY
        faster = [one for one in table.values() if one["verdict"] == "faster"]
        if today in best and faster and all(tuning_outcome.broken(plan, one, table[today]) for one in faster):
            return both("Whatever is clearly faster breaks a requirement.", "明显更快的设置，全都违反要求。")
        if today in best:
            return both("Nothing to gain: today's settings are among the best.", "没什么可省的：现在的设置已经够好。")
        amount = _amount(table[first])
        said = both(
            f"The best settings that keep every requirement: {amount['en']}.",
            f"守住全部要求的最好设置：{amount['zh']}。",
        )
        for code in LANGUAGES:
            with speaking(code):
                named = t("{0}: {1}.", "{0}：{1}。").format(_changes(plan, tuning_plan.config_in(first)), amount[code])
            if _is_short(named, code):
                said[code] = named
        return said

    return headline


def _changes(plan: tuning_plan.Plan, config: dict[str, str]) -> str:
    """What differs from today: each control with its value, or the value alone where it says enough."""
    told = []
    for control in plan.controls:
        value = config.get(control.id, plan.today[control.id])
        if value != plan.today[control.id]:
            name, words = pick(control.name), plain(pick(control.values[value])).replace("()", "")
            alone = control.id in ("grad", "dtype", "layout") or value == "all"
            told.append(words if alone else name + t(" ", " " * (name[-1].isascii() or words[0].isascii())) + words)
    said = t(", ", "、").join(told)
    first = said.replace(",", " ").split()[0]
    return said[0].upper() + said[1:] if first.islower() and first.isalpha() else said


def _is_short(said: str, code: str) -> bool:
    """Whether it can be a headline: few words, one number, no brackets."""
    numbers = re.findall(r"(?<![A-Za-z\d.])\d[\d.]*", said)
    signs = sum(0.5 if sign.isascii() else 1 for sign in said if sign != " ")
    return (
        len(numbers) <= 1
        and not re.search("[()（）=]", said)
        and (len(said.split()) <= 15 if code == "en" else signs <= 28)
    )


def _amount(row: dict[str, Any]) -> Text:
    """What the time does, as people say it."""
    ratio = row["ratio"]
    if row["verdict"] == "undecided":
        return both("no clear change in time", "耗时看不出变化")
    if abs(ratio - 1) <= 0.02:
        return both("the same time", "耗时不变")
    if ratio < 1:
        return both(f"{100 - 100 * ratio:.0f} % less time", f"省 {100 - 100 * ratio:.0f}% 的时间")
    if ratio < 1.95:
        return both(f"{100 * ratio - 100:.0f} % more time", f"多花 {100 * ratio - 100:.0f}% 的时间")
    return fold(ratio, "{} as long", "要花{}的时间")


def say_case(name: str) -> Callable[[Record], Text]:
    """The finding: the best that keeps everything, and what it takes of today's time."""

    def say(record: Record) -> Text:
        table = table_of(record)
        plan = tuning_plan.as_played(tuning_plan.plan_of(cases.find(name)), table)
        today = tuning_plan.key(plan.today)
        if today not in table:
            return NOTHING
        best = tuning_outcome.best_set(plan, table, today)
        said = {}
        for code in LANGUAGES:
            with speaking(code):
                said[code] = _said(plan, table, today, best)
        return said

    return say


def _said(plan: tuning_plan.Plan, table: dict, today: str, best: list[str]) -> str:
    from course.lessons.l10_tuning_master.tuning_view import interval

    if not best:
        return t("No combination keeps every requirement.", "没有一种组合能守住所有要求。")
    first = min(best, key=lambda name: table[name]["ratio"])
    if not tuning_outcome.decided(plan, table, today, first):
        return t(
            "Inconclusive: the intervals are too wide. Run it again on a quiet machine.",
            "无法判定：区间太宽。请在机器空闲时再运行一次。",
        )
    name, count = plain(tuning_plan.in_words(plan, tuning_plan.config_in(first))), len(table)
    if today in best:
        return t(
            f"Nothing to gain: of {count} combinations none that keeps everything is clearly faster than today's.",
            f"没什么可省的：{count} 种组合里，守住要求的没有一种明显比现在快。",
        )
    figures = interval(table[first])
    return t(
        f"Of {count} combinations the best that keeps everything is: {name}; it takes {figures} of today's time.",
        f"{count} 种组合里，守住要求的最好方案是：{name}；耗时是现在的 {figures} 倍。",
    )


def draw_case(name: str) -> Callable[[Record, dict], SvgPicture]:
    """Every combination with its likely range, the fastest at the top; what breaks a requirement says so."""

    def draw(record: Record, bets: dict) -> SvgPicture:
        table = table_of(record)
        plan = tuning_plan.as_played(tuning_plan.plan_of(cases.find(name)), table)
        today, rows = tuning_plan.key(plan.today), []
        for line, one in sorted(table.items(), key=lambda pair: pair[1]["ratio"]):
            few = one["verdict"] == tuning_outcome.FEW
            remark = t("today", "现在") if line == today else ""
            if today in table and tuning_outcome.broken(plan, one, table[today]):
                remark = t("breaks a requirement", "违反要求") + (t(", today", "，现在") if line == today else "")
            words = plain(tuning_plan.in_words(plan, tuning_plan.config_in(line)))
            rows.append(Ratio(words, one["ratio"], None if few else one["low"], None if few else one["high"], remark))
        return ratio_rows(rows, (t("faster than today", "比现在快"), t("slower", "更慢")))

    return draw


SECONDS = 6


def live_experiment(name: str, needs: str, title: Text, seconds: float = SECONDS) -> None:
    """Register the experiment of a live case. seconds: those of its hand-in, in ``cases.yaml``."""

    def measured(budget: Budget, configs: Any = None, tell: Any = lambda words: None) -> Iterable[dict[str, Any]]:
        plan = game.plan_here(cases.find(name))
        return bench.rows(WORKLOADS[name], plan, configs, budget, tell)

    measured.__qualname__ = f"measured[{name}]"
    more = {"headline": headline_case(name), "finding": say_case(name), "draw": draw_case(name), "title": title}
    experiment(name=name, lesson=LESSON, needs=needs, seconds=seconds, whole=True, **more)(measured)


live_experiment(
    name="10-museum",
    needs="cpu",
    title=both("An evaluation with BatchNorm: mode and gradients", "带 BatchNorm 的评估：模式与梯度"),
)
live_experiment(name="10-voice", needs="mkldnn", seconds=4, title=both("An LSTM, one frame a call", "LSTM，每次一帧"))
live_experiment(
    name="10-archive",
    needs="mkldnn",
    seconds=9,
    title=both("The same LSTM, a hundred frames a call", "同一个 LSTM，每次一百帧"),
)
live_experiment(
    name="10-photo",
    needs="mkldnn",
    title=both("Six ordinary convolutions: library, layout, threads", "六个普通卷积：库、布局、线程"),
)
live_experiment(
    name="10-birds",
    needs="mkldnn",
    seconds=10,
    title=both("Many small convolutions: library, layout, threads", "许多小卷积：库、布局、线程"),
)
live_experiment(
    name="10-bank",
    needs="cpu",
    title=both("One customer: number types and their errors", "一次一位客户：数据类型与误差"),
)
live_experiment(
    name="10-payday",
    needs="cpu",
    title=both("256 customers at once: number types and their errors", "一次 256 位客户：数据类型与误差"),
)
live_experiment(
    name="10-laptop", needs="cpu", seconds=10, title=both("A training step in little memory", "内存很小，训练一步")
)
live_experiment(
    name="10-ci",
    needs="cpu",
    seconds=24,
    title=both(
        "Five training steps: the same bits elsewhere, and the price", "训练五步：换台机器也要逐位一致，代价多大"
    ),
)
live_experiment(name="10-search", needs="cpu", title=both("An encoder on padded queries", "编码器，输入是补齐过的查询"))
