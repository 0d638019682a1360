"""What came out of trying: plain data, a sentence, a picture, a table, lines to paste; as text and as HTML."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from course.experiment.machines import beside
from course.experiment.result import Block, Fold
from course.figures.kinds import Ratio, ratio_rows
from course.figures.svg import SvgPicture
from course.figures.words import less_time, ratio_words, times
from course.i18n import Text, pick, t
from course.tryout import verdicts
from course.tryout.settings import OTHER_DEVICE, Setting
from course.units import format_ms, format_ratio

Row = Mapping[str, Any]
NOTHING = dict.fromkeys((
    "ratio", "low", "high", "rounds", "processes", "base_ms", "bits", "integers", "error", "error_as_is", "float64", "memory_mib",
    "price_ms", "why", "said", "agreed", "busy",
))  # fmt: skip
"""A row of which nothing is known."""
UNSTEADY = 1.25
"""The step as it is took so many times as long in one process as in another: worth saying."""


@dataclass
class Tried:
    """The outcome of `try_switches`. Prints as a sentence, a table and the lines to paste; a notebook also shows the picture.

    found: id -> what was found of that setting (`rows()` has it with the verdict). together: the same of the winners at once.
    base: of the step as it is. refused: id -> why a setting was not tried. machine: what the lines hold for. notes: sentences.
    failed: the type of what the step itself raised after some calls. device: where the step runs. as_is_ms: the time of the step as it is
    in each new process.
    """

    settings: Sequence[Setting]
    machine: Text
    found: dict[str, dict[str, Any]] = field(default_factory=dict)
    together: dict[str, Any] = field(default_factory=dict)
    base: dict[str, Any] = field(default_factory=dict)
    refused: dict[str, Text] = field(default_factory=dict)
    notes: list[Text] = field(default_factory=list)
    seconds: float = 0.0
    stopped: bool = False
    failed: str = ""
    device: str = "cpu"
    as_is_ms: Sequence[float] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One row a setting, the fastest first; pandas.DataFrame takes them.

        setting, name, family, lossy, lines (to paste), verdict (see `verdicts.verdict_of`), ratio (time / time as it is), low, high
        (likely range; None: too few rounds), rounds, processes (new ones on each side; 0: in this one), said (faster, slower, same or
        undecided), agreed (the comparison before said so too), busy (other programs kept the machine busy), base_ms (a step as it is),
        bits (same?), integers (the result holds no other numbers), error and error_as_is (largest relative difference from float64;
        float64: whether that run was possible), memory_mib and memory_as_is_mib (peak over what was held), price_ms (of the first call),
        pays_after (steps), why (it could not be tried).
        """
        rows = []
        for one in (one for one in self.settings if one.id in self.found):
            about = {"setting": one.id, "name": pick(one.name), "family": one.family or one.id, "lossy": one.lossy}
            lines = [pick(line).replace("DEVICE", f'"{self.device}"') for line in one.lines]
            row = about | _told(self.found[one.id]) | {"lines": lines, "memory_as_is_mib": self.base.get("memory_mib")}
            rows.append(row | {"verdict": verdicts.verdict_of(row), "pays_after": verdicts.pays_after(row)})
        return sorted(rows, key=_place)

    def sentence(self) -> str:
        """What came out, in one sentence."""
        if self.failed:
            return t(
                f"Your step raised {self.failed} after some calls: fix that first.",
                f"这一步调用若干次后抛出 {self.failed}：请先修好。",
            )
        if self.refused and not (self.found or self.stopped):
            return t("None of these settings can matter here.", "这几项设置在这里都不起作用。")
        return pick(verdicts.headline(self.rows(), self.together, self.stopped))

    def lines(self) -> list[str]:
        """The lines to paste, under comments: what they bring and what they hold for. What costs accuracy stands as a comment, to
        decide about. Empty where nothing helps."""
        rows = self.rows()
        most, safe = (way(rows, self.together)[0] for way in (verdicts.fastest, verdicts.advised))
        exact = [row for row in (most if len(most) > 1 else safe) if row["verdict"] == "take"]
        colon, code = t(": ", "："), []
        inner, body = list[str](), list[str]()
        for row in exact:  # blocks come last, one inside the other around one step
            code += [f"# {row['name']}{colon}{pick(less_time(row['ratio']))}"]
            for line in row["lines"]:
                kept = inner if line.startswith("with ") else body if line.startswith(" ") else code
                kept.append(line)
        code += ["    " * depth + line for depth, line in enumerate([*inner, *(line.strip() for line in body[:1])])]
        for row in (row for row in verdicts.winners(rows) if row["verdict"] == "digits"):
            changed = t("results not compared", "结果没有比较") if row["error"] is None else _changed(row, short=True)
            use = t("uncomment to use", "要用就取消注释")
            said = f"{pick(less_time(row['ratio']))}{t(', ', '，')}{changed}{colon}{use}"
            code += [f"# {row['name']}{colon}{said}", *(f"# {line}" for line in row["lines"])]
        holds = t(f"# measured on {pick(self.machine)}", f"# 测量环境：{pick(self.machine)}")
        again = t(
            "# after an upgrade or on another machine, run try_switches again", "# 升级或换机器后，请重跑 try_switches"
        )
        return [holds, again, "import torch", *code] if code else []

    def not_tried(self) -> list[str]:
        """What was not tried, and why: a sentence for each reason."""
        known = {one.id: pick(one.name) for one in self.settings}
        reasons: dict[str, list[str]] = {}
        for name, why in self.refused.items():
            reasons.setdefault(pick(why), []).append(known[name])
        raised = [f"{row['name']}{t(': ', '：')}{row['why']}" for row in self.rows() if row["verdict"] == "untried"]
        many = reasons.get(pick(OTHER_DEVICE), [])
        many[:] = [t(f"{len(many)} settings", f"{len(many)} 项")]  # nothing that anybody could do here
        return raised + [why + t(": ", "：") + t(", ", "、").join(names) for why, names in reasons.items()]

    def _shown(self) -> list[dict[str, Any]]:
        """The rows, and that of the winners together, where they were timed; short: their name in a picture."""
        rows = self.rows()
        if not self.together.get("ratio"):
            return rows
        names = [pick(one.name) for one in self.settings if one.id in self.together["of"]]
        few = t(f"{len(names)} settings together", f"{len(names)} 项一起用") if len(names) > 2 else ""
        about = {"name": " + ".join(names), "short": few, "memory_as_is_mib": self.base.get("memory_mib")}
        row = _told(self.together) | about
        return sorted([row | {"pays_after": verdicts.pays_after(row)}, *rows], key=_place)

    def picture(self) -> SvgPicture | None:
        """The time ratios with their likely ranges; None where nothing was timed."""
        lost = t("costs accuracy", "损失精度")
        drawn = [
            Ratio(
                row.get("short") or row["name"],
                row["ratio"],
                row["low"],
                row["high"],
                lost if verdicts.loses(row) else "",
                row["rounds"],
                verdicts.verdict_words(row, short=True) if verdicts.verdict_of(row) in ("same", "unsure") else "",
            )
            for row in self._shown()
            if _has_time(row)
        ]
        return (
            ratio_rows(
                drawn,
                (t("faster", "更快"), t("slower", "更慢")),
                middle=t("unchanged", "原样"),
                same=1 + verdicts.ALIKE,
            )
            if drawn
            else None
        )

    def plot(self) -> Block:
        """The sentence and the picture alone."""
        return Block(self.sentence(), "", self.picture(), "")

    def block(self, folded: bool = True) -> Block:
        """All of it, as a notebook shows it; folded: it can hide what is long, as a terminal cannot."""
        names = [t("setting", "设置"), t("time", "耗时"), t("output", "输出"), t("peak memory", "内存峰值"), t("first call", "第一次调用"),
                 t("verdict", "结论")]  # fmt: skip
        words = [
            (row["name"], _time(row), _changed(row), _memory(row), _price(row), self._verdict(row))
            for row in self._shown()
        ]
        told = [at for at in range(len(names)) if any(line[at] != "–" for line in words)]
        table = [{names[at]: line[at] for at in told} for line in words]
        folds = [
            Fold(t("Lines to paste", "可以粘贴的代码"), code="\n".join(self.lines()), open=True),
            Fold(t("Each setting", "每一项"), self._legend(), table),
            Fold(t("Time, here and on other machines", "本机和其他机器的耗时"), rows=self._elsewhere(folded)),
            Fold(t("What was not tried, or failed", "没有试的，或出错的"), tuple(self.not_tried())),
        ]
        small = t(f"Measured here: {pick(self.machine)}", f"本机实测：{pick(self.machine)}") + self._how_much()
        shown = tuple(fold for fold in folds if fold.said or fold.rows or fold.code)
        return Block(self.sentence(), t(" ", "").join(self._said()), self.picture(), small, folds=shown)

    def _verdict(self, row: Row) -> str:
        stopped = self.stopped and verdicts.verdict_of(row) == "late"
        return t("not reached", "没轮到") if stopped else verdicts.verdict_words(row)

    def _said(self) -> list[str]:
        """The sentences below the first."""
        price = verdicts.at_a_price(self.rows(), self.together)
        return [one for one in (price, *map(pick, self.notes), self._unsteady()) if one]

    def _how_much(self) -> str:
        """What a step takes as it is, how many settings were timed, and in what time."""
        rows = self.rows()
        timed = [row for row in rows if row["low"]]
        if not timed:
            return ""
        took = format_ms(timed[0]["base_ms"])
        return t(
            f" · your step: {took} · {len(timed)} of {len(rows)} settings timed, {self.seconds:.0f} s",
            f" · 原来一步 {took} · {len(rows)} 项设置测了 {len(timed)} 项，用时 {self.seconds:.0f} 秒",
        )

    def _unsteady(self) -> str:
        """That the step takes far longer in one process than in another; empty where it does not."""
        low, high = min(self.as_is_ms, default=0), max(self.as_is_ms, default=0)
        if high <= UNSTEADY * low:
            return ""
        one, other = format_ms(low), format_ms(high)
        return t(
            f"Your step takes {one} in one process and {other} in another: a single run tells little.",
            f"同样的一步，有的进程里 {one}，有的 {other}：只跑一次说明不了什么。",
        )

    def _legend(self) -> tuple[str, ...]:
        """What the columns and the verdicts mean, of those that the table has."""
        rows = self.rows()
        said = []
        if any(map(_has_time, rows)):
            english = "Time: with the setting ÷ without it (below 1: faster), and its likely range."
            said.append(t(english, "耗时：改后 ÷ 改前（小于 1 更快），括号里是可能的范围。"))
        if any(row["error"] is not None for row in rows):
            said.append(
                t("Output: what your step returns, and the gradients it leaves.", "输出：这一步的返回值和留下的梯度。")
            )
        if lossy := [row for row in rows if row["error"] and verdicts.loses(row)]:
            truth = t("a run in float64", " float64 结果") if lossy[0]["float64"] else t("your step", "原来的结果")
            english = f"Off by: the largest difference from {truth} ÷ the largest value of that tensor."
            said.append(t(english, f"误差：与{truth}的最大差别 ÷ 该张量的最大值。"))
        if any(verdicts.open_ended(row) and not verdicts.vague(row) for row in rows):
            said.append(t("At most: the best case in that range.", "最多省：按范围里最好的情况算。"))
        return tuple(said)

    def _elsewhere(self, all_: bool = True) -> list[dict[str, str]]:
        """This machine as one more column of `docs/cards.md`; of a family, the fastest. all_: with what is slower here."""
        mine: dict[str, str] = {}
        for row in (row for row in self.rows() if row["low"] is not None and (all_ or row["verdict"] != "slower")):
            told = row["verdict"] in ("take", "digits", "slower")
            came = ratio_words(row["ratio"]) if told else verdicts.verdict_words(row)
            mine.setdefault(row["setting"], came)
            mine.setdefault(row["family"], came + t(f" ({row['name']})", f"（{row['name']}）"))
        return beside(mine)

    def __str__(self) -> str:
        return str(replace(self.block(folded=False), picture=None))  # the table says what it shows

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.block()._repr_html_()

    def as_plain(self) -> dict[str, Any]:
        """Everything for JSON."""
        together = _told(self.together) if self.together else {}
        return {
            "headline": self.sentence(), "rows": self.rows(), "together": together, "lines": self.lines(),
            "not_tried": self.not_tried(), "notes": self._said(), "machine": pick(self.machine), "seconds": self.seconds,
        }  # fmt: skip


def _told(found: Row) -> dict[str, Any]:
    """What was found of a setting or of the winners together, without what only the planning needs."""
    return NOTHING | {name: value for name, value in found.items() if name in (*NOTHING, "of", "lossy")}


def _place(row: Row) -> float:
    """Where a row stands: by its time, what tells nothing last."""
    return row["ratio"] if row["ratio"] and not verdicts.unjudged(row) else math.inf


def _has_time(row: Row) -> bool:
    """Whether its time is worth showing."""
    return bool(row["low"]) and not verdicts.vague(row) and not verdicts.unjudged(row)


def _time(row: Row) -> str:
    if not _has_time(row):
        return "–"
    ratio, low, high = format_ratio(row["ratio"], row["low"], row["high"])
    return f"{ratio} ({low}–{high})"


def _changed(row: Row, short: bool = False) -> str:
    """What becomes of the output. short: without the error before."""
    error, now = row["error"], row["error_as_is"]
    if error is None:
        return "–"
    if row["integers"]:
        return t("same integers", "整数一样") if row["bits"] else t("other integers", "整数变了")
    if row["bits"]:
        return t("same bits", "逐位一致")
    if not verdicts.loses(row):
        return t("other bits, about as exact", "略有不同，精度相当")
    if error >= 1:
        return t("wholly different", "完全不同")
    before = t(f" (before: {_off(now)})", f"（原来 {_off(now)}）") if now and row["float64"] and not short else ""
    return t(f"off by {_off(error)}{before}", f"误差 {_off(error)}{before}")


def _off(error: float) -> str:
    """1/500; "1 in 500" would be taken for one value in 500."""
    return f"1/{times(1 / error)}" if error < 0.1 else t("a tenth or more", "十分之一以上")


def _memory(row: Row) -> str:
    now, before = row["memory_mib"], row["memory_as_is_mib"]
    if now is None or before is None:
        return "–"
    if max(now, before) < verdicts.TINY_MIB:
        return t(f"under {verdicts.TINY_MIB} MiB", f"不到 {verdicts.TINY_MIB} MiB")
    if abs(now - before) <= 0.02 * max(now, before):
        return t("the same", "一样")
    return f"{before:.3g} → {now:.3g} MiB"


def _price(row: Row) -> str:
    price, after = row["price_ms"] or 0, row["pays_after"]
    if price <= (row["base_ms"] or 0):
        return "–"
    back = t(f", paid back after {after:,} steps", f"，{after:,} 步后回本") if after else ""
    return f"+{format_ms(price)}{back}"
