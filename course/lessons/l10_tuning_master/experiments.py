"""Experiments of lesson 10: every combination of a live case, measured against what the team runs today.

One experiment a case, of the same name; the game takes its table from it, and ``observe("10-voice")`` shows it outside the game.
Panels and limits stand in ``cases.yaml``, so that running one (not listing it) needs PyYAML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from course.experiment.base import Budget, experiment
from course.experiment.words import NOTHING
from course.game import cases
from course.i18n import LANGUAGES, Text, both, speaking
from course.lessons.l10_tuning_master import bench, game, tuning
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


def say_case(name: str) -> Callable[[Record], Text]:
    """The finding: the best that keeps everything, and what it takes of today's time."""

    def say(record: Record) -> Text:
        table = table_of(record)
        plan = tuning.as_played(tuning.plan_of(cases.find(name)), table)
        today = tuning.key(plan.today)
        if today not in table:
            return NOTHING
        best = tuning.best_set(plan, table, today)
        said = {}
        for code in LANGUAGES:
            with speaking(code):
                said[code] = _said(plan, table, today, best)
        return said

    return say


def _said(plan: tuning.Plan, table: dict, today: str, best: list[str]) -> str:
    from course.i18n import t
    from course.lessons.l10_tuning_master.tuning_view import interval

    if not best:
        return t("No combination keeps every requirement.", "没有一种组合能守住所有要求。")
    first = min(best, key=lambda name: table[name]["ratio"])
    if not tuning.decided(plan, table, today, first):
        return t(
            "Inconclusive: the intervals are too wide. Run it again on a quiet machine.",
            "无法判定：区间太宽。请在安静的机器上再跑一次。",
        )
    name, count = plain(tuning.in_words(plan, tuning.config_in(first))), len(table)
    if today in best:
        return t(
            f"Nothing to gain: of {count} combinations none that keeps everything is clearly faster than today's.",
            f"没什么可赚的：{count} 种组合里，守住要求的没有一种明显比现在快。",
        )
    figures = interval(table[first])
    return t(
        f"Of {count} combinations the best that keeps everything is: {name}; it takes {figures} of today's time.",
        f"{count} 种组合里，守住要求的最好方案是：{name}；耗时是现在的 {figures} 倍。",
    )


def label(plan: tuning.Plan, line: str) -> str:
    """A configuration beside a picture: a long one on a line for each control."""
    words = plain(tuning.in_words(plan, tuning.config_in(line)))
    return words if len(words) < 30 else words.replace("，", "，\n").replace(", ", ",\n")


def draw_case(name: str) -> Callable[[Record, Any], None]:
    """Every combination with its interval, today at 1; what breaks a requirement says so."""

    def draw(record: Record, ax: Any) -> None:
        from course.experiment.plots import ratios
        from course.i18n import t

        table = table_of(record)
        plan = tuning.as_played(tuning.plan_of(cases.find(name)), table)
        today = tuning.key(plan.today)
        order = sorted(table, key=lambda one: table[one]["ratio"])
        broken = {one for one in order if today in table and tuning.broken(plan, table[one], table[today])}
        note = t(" × breaks a requirement", " × 违反要求")
        names = [label(plan, one) + (note if one in broken else "") for one in order]
        ax.figure.set_figheight(1.4 + 0.25 * sum(max(2, 1 + one.count("\n")) for one in names))
        what = t("time over today's (left of 1: faster)", "耗时 / 现在的耗时（1 的左边：更快）")
        ratios(ax, [table[one] for one in order], names, what, digits=2)

    return draw


SECONDS = 6


def live_experiment(name: str, needs: str, title: Text) -> None:
    """Register the experiment of a live case."""

    def measured(budget: Budget, configs: Any = None, tell: Any = lambda words: None) -> Iterable[dict[str, Any]]:
        plan = game.plan_here(cases.find(name))
        return bench.rows(WORKLOADS[name], plan, configs, budget.seconds, tell)

    measured.__qualname__ = f"measured[{name}]"
    more = {"finding": say_case(name), "draw": draw_case(name), "title": title}
    experiment(name=name, lesson=LESSON, needs=needs, seconds=SECONDS, **more)(measured)


live_experiment(
    name="10-museum",
    needs="cpu",
    title=both("An evaluation with BatchNorm: mode and gradients", "带 BatchNorm 的评估：模式与梯度"),
)
live_experiment(name="10-voice", needs="mkldnn", title=both("An LSTM, one frame a call", "LSTM，每次一帧"))
live_experiment(
    name="10-archive", needs="mkldnn", title=both("The same LSTM, a hundred frames a call", "同一个 LSTM，每次一百帧")
)
live_experiment(
    name="10-photo",
    needs="mkldnn",
    title=both("Six ordinary convolutions: library, layout, threads", "六个普通卷积：库、布局、线程"),
)
live_experiment(
    name="10-birds",
    needs="mkldnn",
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
live_experiment(name="10-laptop", needs="cpu", title=both("A training step in little memory", "小内存里的一步训练"))
live_experiment(
    name="10-ci",
    needs="cpu",
    title=both("Five training steps: the same bits elsewhere, and the price", "五步训练：换个地方逐位一致，代价多大"),
)
live_experiment(name="10-search", needs="cpu", title=both("An encoder on padded queries", "补齐的查询与编码器"))
