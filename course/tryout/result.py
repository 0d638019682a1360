"""What came out of trying: plain data, a sentence, a picture, a table, lines to paste; as text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from course.experiment.result import Block, Fold
from course.experiment.shown import STYLE, body
from course.figures.kinds import Ratio, one_in, ratio_rows
from course.figures.svg import SvgPicture
from course.i18n import Text, language, pick, t
from course.markup import plain
from course.tables import as_text
from course.tryout import verdicts
from course.tryout.settings import Setting
from course.units import format_ms, format_ratio


@dataclass(frozen=True)
class Tried:
    """The outcome of `try_switches`. Prints as a sentence, a table and the lines to paste; a notebook also shows the picture.

    found: id -> what was found of that setting (`rows()` has it with the verdict). together: the same of all winners at once.
    refused: id -> why a setting was not tried. untouched: reason -> switches that nothing here writes. machine: what the lines
    hold for, in both languages. notes: sentences. stopped: whether the run was ended by hand.
    """

    settings: Sequence[Setting]
    found: Mapping[str, Mapping[str, Any]]
    together: Mapping[str, Any] | None
    refused: Mapping[str, Text]
    untouched: Mapping[str, Sequence[str]]
    machine: Text
    seconds: float
    notes: Sequence[Text] = ()
    stopped: bool = False
    base: Mapping[str, Any] = field(default_factory=dict)

    def rows(self) -> list[dict[str, Any]]:
        """One row a setting that was tried, the fastest first; pandas.DataFrame takes them.

        setting, family, verdict (see `verdicts.verdict_of`), ratio (time / time as it is), low, high (likely range; None: too few
        rounds), rounds, processes (new ones on each side; 0: in one process), bits (same?), error and error_as_is (largest
        relative difference from float64), memory_mib and memory_as_is_mib (peak over what was held), price_ms (of the first
        call), pays_after (steps), why (it could not be tried), lines (to paste).
        """
        known = {one.id: one for one in self.settings}
        rows = [self._row(known[name], row) for name, row in self.found.items()]
        return sorted(rows, key=lambda row: row["ratio"] or 1e9)

    def _row(self, setting: Setting, row: Mapping[str, Any]) -> dict[str, Any]:
        keys = (
            "ratio",
            "low",
            "high",
            "rounds",
            "bits",
            "error",
            "error_as_is",
            "float64",
            "memory_mib",
            "price_ms",
            "base_ms",
            "why",
        )
        whole = {
            "setting": setting.id, "name": pick(setting.name), "family": setting.family or setting.id,
            "lossy": setting.lossy, **{key: row.get(key) for key in keys}, "late_s": row.get("late_s"),
            "processes": row.get("processes", 0), "memory_as_is_mib": self.base.get("memory_mib"), "lines": list(setting.lines),
        }  # fmt: skip
        return {**whole, "verdict": verdicts.verdict_of(whole), "pays_after": verdicts.pays_after(whole)}

    def sentence(self) -> str:
        """What came out, in one sentence."""
        return pick(verdicts.headline(self.rows(), self.together, self.stopped))

    def lines(self) -> list[str]:
        """The lines to paste, under a comment that says what they hold for; empty where nothing helps."""
        names = {row["setting"] for row in verdicts.advised(self.rows(), self.together)[0]}
        pasted = [line for one in self.settings if one.id in names for line in one.lines]
        holds = [
            t(f"# measured on {pick(self.machine)}", f"# 测于 {pick(self.machine)}"),
            t("# after an upgrade, or on another machine, try again", "# 升级之后、换了机器，请重新试"),
        ]
        return [*holds, *dict.fromkeys(["import torch", *pasted])] if pasted else []

    def not_tried(self) -> list[str]:
        """What was not tried, and why: a sentence for each reason."""
        known = {one.id: pick(one.name) for one in self.settings}
        reasons: dict[str, list[str]] = {}
        for name, why in self.refused.items():
            reasons.setdefault(pick(why), []).append(known[name])
        rest = t("these change no time of a step, or need a model made for them", "这些不影响耗时，或要专门准备模型")
        away = t("for other devices, or not in this torch", "属于其他设备，或当前 torch 没有")
        if self.untouched:
            count = len(self.untouched["away"])
            reasons |= {
                rest: [f"`{name}`" for name in self.untouched["other"]],
                away: [t(f"{count} switches", f"{count} 个开关")],
            }
        return [why + t(": ", "：") + t(", ", "、").join(names) for why, names in reasons.items()]

    def picture(self) -> SvgPicture | None:
        """The time ratios with their likely ranges; None where nothing was timed."""
        lost = t("costs accuracy", "损失精度")
        drawn = [
            Ratio(
                row["name"], row["ratio"], row["low"], row["high"], lost if verdicts.loses(row) else "", row["rounds"]
            )
            for row in self.rows()
            if row["ratio"] and (row["low"] or not row["processes"])
        ]
        if self.together and self.together.get("ratio"):
            row, name = self.together, t("the faster ones together", "更快的几项一起用")
            drawn.insert(
                0,
                Ratio(name, row["ratio"], row["low"], row["high"], lost if verdicts.loses(row) else "", row["rounds"]),
            )
        return (
            ratio_rows(drawn, (t("faster", "更快"), t("slower", "更慢")), middle=t("as it is", "现在"))
            if drawn
            else None
        )

    def plot(self) -> Block:
        """The sentence and the picture alone."""
        return Block(self.sentence(), "", self.picture(), "")

    def table(self) -> list[list[str]]:
        """The head and a line for each setting, in words."""
        head = [t("setting", "设置"), t("time", "耗时"), t("result", "结果"), t("peak memory", "内存峰值"), t("first call", "第一次调用"),
                t("verdict", "结论")]  # fmt: skip
        return [
            head,
            *(
                [row["name"], _time(row), _changed(row), _memory(row), _price(row), verdicts.verdict_words(row)]
                for row in self.rows()
            ),
        ]

    def _small(self) -> str:
        said = t(
            f"{len(self.found)} settings tried in {self.seconds:.0f} s",
            f"试了 {len(self.found)} 项，用时 {self.seconds:.0f} 秒",
        )
        return t(f"Measured here: {pick(self.machine)} · {said}", f"本机实测：{pick(self.machine)} · {said}")

    def __str__(self) -> str:
        lines = self.lines()
        return "\n".join([
            self.sentence(), *(["", *as_text(self.table(), figures=False)] if self.found else []), *([""] + lines if lines else []), "",
            *(f"! {plain(pick(note))}" for note in self.notes), self._small(), t("Not tried:", "没有试的："),
            *(f"  {plain(line)}" for line in self.not_tried()),
        ])  # fmt: skip

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *cells = self.table()
        table = [dict(zip(head, line, strict=True)) for line in cells]
        folds = (Fold(t("Each setting", "每一项"), rows=table, open=True),) if table else ()
        more = (Fold(t("What was not tried", "没有试的"), tuple(self.not_tried())),)
        code = "\n".join(self.lines())
        title = t("Lines to paste", "可以粘贴的代码")
        paste = f"<p><b>{title}</b></p><pre style='white-space:pre-wrap'>{html.escape(code)}</pre>" if code else ""
        top = body(Block(self.sentence(), " ".join(map(pick, self.notes)), self.picture(), self._small(), folds=folds))
        end = body(Block("", "", None, "", folds=more))
        return f'{STYLE}<section class="tbr" role="status" lang="{"zh-CN" if language() == "zh" else "en"}">{top}{paste}{end}</section>'

    def as_plain(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "headline": self.sentence(), "rows": self.rows(), "together": self.together, "lines": self.lines(),
            "not_tried": self.not_tried(), "notes": list(map(pick, self.notes)), "machine": pick(self.machine), "seconds": self.seconds,
        }  # fmt: skip


def _time(row: Mapping[str, Any]) -> str:
    if row["low"] is None:
        return "–"
    ratio, low, high = format_ratio(row["ratio"], row["low"], row["high"])
    return f"{ratio} ({low} – {high})".replace(" ", "\u00a0")


def _changed(row: Mapping[str, Any]) -> str:
    if row["bits"]:
        return t("same bits", "逐位相同")
    if row["error"] is None:
        return "–"
    if not verdicts.loses(row):
        return t("other bits, as exact", "位不同，一样准")
    said, now = one_in(row["error"]), row["error_as_is"]
    before = t(f" (as it is: {one_in(now)})", f"（现在 {one_in(now)}）") if now and row["float64"] else ""
    return t(f"off by {said}{before}", f"误差 {said}{before}")


def _memory(row: Mapping[str, Any]) -> str:
    now, before = row["memory_mib"], row["memory_as_is_mib"]
    if now is None or before is None:
        return "–"
    if abs(now - before) <= 0.02 * max(now, before):
        return t("the same", "一样")
    return t(f"{now:.3g} MiB, as it is {before:.3g}", f"{now:.3g} MiB，现在 {before:.3g}")


def _price(row: Mapping[str, Any]) -> str:
    price = row["price_ms"]
    if not price or price < (row["base_ms"] or 0):
        return "–"
    after = row["pays_after"]
    back = (
        t(f", paid back after {after:,} steps", f"，{after:,} 步后回本")
        if after and row["verdict"] in ("take", "digits")
        else ""
    )
    return f"+{format_ms(price)}".replace(" ", "\u00a0") + back
