"""What came out of trying: plain data, a sentence, a picture, a table, lines to paste; as text and as HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from course.core.i18n import Text, both, pick, t
from course.core.units import format_ms, format_ratio, less_time, times
from course.figures.block import Block, Fold
from course.figures.kinds import Ratio, ratio_rows
from course.figures.svg import SvgPicture
from course.tryout import verdicts
from course.tryout.settings import Setting
from course.tryout.verdicts import JOINT, Row

NOTHING = dict.fromkeys(("ratio", "low", "high", "sets", "bits", "error", "error_as_is", "float64", "why"))
"""A row of which nothing is known."""


@dataclass
class Tried:
    """The outcome of `try_switches`. Prints as a sentence, a table and the lines to paste; a notebook also shows the picture.

    found: id -> what was found of that setting, and of settings together, see JOINT (`rows()` has it with the verdict). refused: id -> why
    a setting was not tried. machine: what the lines hold for. notes: sentences. device: where the step runs. base_ms: the time of the
    step as it is.
    """

    settings: Sequence[Setting]
    machine: Text
    found: dict[str, dict[str, Any]] = field(default_factory=dict)
    refused: dict[str, Text] = field(default_factory=dict)
    notes: list[Text] = field(default_factory=list)
    base_ms: float = 0.0
    seconds: float = 0.0
    device: str = "cpu"

    def rows(self) -> list[dict[str, Any]]:
        """One row a setting, the fastest first; pandas.DataFrame takes them.

        setting (of the winners together: their ids), name, family, lossy, lines (to paste), verdict (see `verdicts.verdict_of`), ratio
        (time / time as it is), low, high (likely range; None: too few sets), sets (of blocks in turns, in new processes), bits (same?),
        error and error_as_is (largest relative difference from float64; float64: whether that run was possible), why (it could not
        be tried).
        """
        rows = [self._row(one.id) for one in self.settings if one.id in self.found]
        joint = verdicts.joint(rows)
        rows += [self._row(joint)] if joint in self.found else []
        return sorted(rows, key=lambda row: row["ratio"] if row["low"] else math.inf)  # what tells nothing comes last

    def _row(self, ids: str) -> dict[str, Any]:
        """The row of a setting, or of several together."""
        of = [one for one in self.settings if one.id in ids.split(JOINT)]
        lines = [pick(line).replace("DEVICE", f'"{self.device}"') for one in of for line in one.lines]
        name, family = " + ".join(pick(one.name) for one in of), JOINT.join(one.family or one.id for one in of)
        about = {"setting": ids, "name": name, "family": family, "lossy": any(one.lossy for one in of), "lines": lines}
        row = NOTHING | self.found[ids] | about
        return row | {"verdict": verdicts.verdict_of(row)}

    def note(self, english: str, chinese: str) -> None:
        """One more sentence below the headline."""
        self.notes.append(both(english, chinese))

    def lines(self) -> list[str]:
        """The lines to paste, under comments: what they bring and what they hold for. What costs accuracy stands as a comment, to
        decide about. Empty where nothing helps."""
        rows = self.rows()
        most, safe = (verdicts.best(rows, safe) or {"setting": ""} for safe in (False, True))
        ids = (most if JOINT in most["setting"] else safe)["setting"].split(JOINT)
        exact = [row for row in verdicts.winners(rows) if row["verdict"] == "take" and row["setting"] in ids]
        colon, code = t(": ", "："), list[str]()
        inner, body = list[str](), list[str]()
        for row in exact:  # blocks come last, one inside the other around one step
            code.append(f"# {row['name']}{colon}{pick(less_time(row['ratio']))}")
            for line in row["lines"]:
                (inner if line.startswith("with ") else body if line.startswith(" ") else code).append(line)
        code += ["    " * depth + line for depth, line in enumerate([*inner, *(line.strip() for line in body[:1])])]
        for row in (row for row in verdicts.winners(rows) if row["verdict"] == "digits"):
            said = f"{pick(less_time(row['ratio']))}{colon}{pick(verdicts.WORDS['digits'])}"
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
        return raised + [why + t(": ", "：") + t(", ", "、").join(names) for why, names in reasons.items()]

    def picture(self) -> SvgPicture | None:
        """The time ratios with their likely ranges; None where nothing was timed."""
        lost, drawn = t("costs accuracy", "损失精度"), []
        said = {"same": pick(verdicts.WORDS["same"]), "unsure": t("not clear", "说不准")}
        for row in (row for row in self.rows() if row["low"]):
            mark, verdict = lost if verdicts.loses(row) else "", said.get(row["verdict"], "")
            drawn.append(Ratio(row["name"], row["ratio"], row["low"], row["high"], mark, row["sets"], verdict))
        ends = t("faster", "更快"), t("slower", "更慢")
        return ratio_rows(drawn, ends, middle=t("unchanged", "原样"), same=1 + verdicts.ALIKE) if drawn else None

    def block(self) -> Block:
        """All of it, as a notebook shows it."""
        names = t("setting|time ÷ time as it is|output|verdict", "设置|耗时 ÷ 原来|输出|结论").split("|")
        words = [(row["name"], _time(row), _changed(row), pick(verdicts.WORDS[row["verdict"]])) for row in self.rows()]
        folds = [
            Fold(t("Lines to paste", "可以粘贴的代码"), code="\n".join(self.lines()), open=True),
            Fold(t("Each setting", "每一项"), (), [dict(zip(names, line, strict=True)) for line in words]),
            Fold(t("What was not tried, or failed", "没有试的，或出错的"), tuple(self.not_tried())),
        ]
        shown = tuple(fold for fold in folds if fold.said or fold.rows or fold.code)
        small = t(f"Measured here: {pick(self.machine)}", f"本机实测：{pick(self.machine)}") + self._how_much()
        headline, notes = pick(verdicts.headline(self.rows())), t(" ", "").join(map(pick, self.notes))
        return Block(headline, notes, self.picture(), small, folds=shown)

    def _how_much(self) -> str:
        """What a step takes as it is, how many settings were timed, and in what time."""
        rows, took = [row for row in self.rows() if JOINT not in row["setting"]], format_ms(self.base_ms)
        timed, many = sum(bool(row["low"]) for row in rows), len(rows)
        english = f" · your step: {took} · {timed} of {many} settings timed in new processes, {self.seconds:.0f} s"
        chinese = f" · 原来一步 {took} · {many} 项设置在新进程里测了 {timed} 项，用时 {self.seconds:.0f} 秒"
        return t(english, chinese) * bool(timed)

    def __str__(self) -> str:
        return str(replace(self.block(), picture=None))  # the table says what it shows

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.block()._repr_html_()


def _time(row: Row) -> str:
    if not row["low"]:
        return "–"
    ratio, low, high = format_ratio(row["ratio"], row["low"], row["high"])
    return f"{ratio} ({low}–{high})"


def _changed(row: Row) -> str:
    """What becomes of the output."""
    error = row["error"]
    if error is None:
        return "–"
    if row["bits"]:
        return t("same bits", "逐位一致")
    if not verdicts.loses(row):
        return t("other bits, about as exact", "略有不同，精度相当")
    if error >= 0.1:
        return t("off by a tenth or more", "误差不小于十分之一")
    part = times(1 / error)  # "1 in 500" would be taken for one value in 500
    return t(f"off by 1/{part}", f"误差 1/{part}")
