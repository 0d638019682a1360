"""What came out, as the parts of one block: headline, picture with the bet, small line, bet, the numbers to unfold.

`shown` makes HTML and text of them.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from course.core.i18n import Text, pick, t
from course.core.records import Record
from course.core.tables import Table
from course.experiment.base import Experiment
from course.experiment.reading import CUT_SHORT, EMPTY, FAULT, OPEN, SOME_FEW, TOO_FEW, TOO_NOISY, Reading
from course.figures.block import Betted, Block, Fold
from course.figures.plot import Plot
from course.figures.svg import BROAD, SvgPicture
from course.timing.results import too_few
from course.timing.stats import enough

Bets = Mapping[str, str]
"""id of a predict item -> the option that the learner bet on."""


class NoPicture:
    """Stands where the picture would be, and says that these rows cannot be drawn: those of a run cut short may be too few.

    fault: the rows are all there, so the error is the course's.
    """

    def __init__(self, error: Exception, fault: bool = False) -> None:
        kind = type(error).__name__
        self.alt = t(f"No picture from these rows ({kind}).", f"这些数据画不出图（{kind}）。")
        if fault:
            self.alt = _fault(error)

    def html(self) -> str:
        return f"<p>{html.escape(self.alt)}</p>"


@dataclass(frozen=True)
class Outcome:
    """What came out of a record. headline: the one sentence, one of ``OPEN`` where nothing can be told. error: what the course did
    wrong where complete rows could not be read.
    """

    reading: Reading
    headline: Text
    error: Exception | None = None


def outcome(record: Record, experiment: Experiment) -> Outcome:
    """Read a record, once for all that is shown of it."""
    if not record.rows:
        return Outcome(Reading(), TOO_FEW if record.few else EMPTY)
    try:
        found = experiment.reading(record)
        if found.outcome is not None:
            return Outcome(found, experiment.telling.headline(found))
    except Exception as error:  # noqa: BLE001  (the numbers are shown all the same)
        return Outcome(Reading(), FAULT, error)
    if few := _few(record):
        return Outcome(found, TOO_FEW if len(few) == len(_rounds(record)) else SOME_FEW)
    return Outcome(found, TOO_NOISY if record.complete else CUT_SHORT)


def claim(record: Record, experiment: Experiment) -> Text | None:
    """The headline of a record that says something and leaves no bet on it open; else None."""
    found = outcome(record, experiment)
    open_ = found.headline in OPEN or None in map(found.reading.settled, experiment.telling.bets)
    return None if open_ else found.headline


def block(
    record: Record, experiment: Experiment, bets: Bets | None = None, said: Sequence[Betted] = (),
    found: Outcome | None = None,
) -> Block:  # fmt: skip
    """The block of a record. bets: for the picture; said: the same bets in words. found: its outcome, where it is known."""
    found, telling = found or outcome(record, experiment), experiment.telling
    step = _step(record, found) if found.headline in OPEN else ""
    return Block(
        headline=pick(found.headline),
        step=step,
        picture=_picture(record, experiment, bets or {}, found) if record.rows and not found.error else None,
        small=small_line(record),
        bets=tuple(said),
        folds=(
            Fold(
                t("The numbers", "全部数字"),
                (
                    f"**{pick(telling.title)}** `{experiment.name}`"
                    + t(". ", "。")
                    + f"torch {record.machine.get('torch') or '?'}, {record.created}"
                    + t(".", "。"),
                ),
                telling.numbers(record.rows),
            ),
        ),
        experiment=experiment.name,
        so=pick(telling.advice(found.reading)),
    )


def _fault(error: Exception) -> str:
    """The next step where the course is at fault."""
    what = f"{type(error).__name__}: {error}".strip(": ")[:200]
    return t(
        f"A fault of the course ({what}). Please report it with the name of the experiment; the numbers below are all there.",
        f"这是课程的错误（{what}）。请连同实验名称一起反馈；下面的数字都还在。",
    )


def _rounds(record: Record) -> list[int]:
    """The rounds of the rows that count them, also of those left out."""
    counts = [*record.few, *(row.get("rounds") for row in record.rows)]
    return [count for count in counts if isinstance(count, int)]


def _few(record: Record) -> list[int]:
    """Those of them that are too few."""
    return [count for count in _rounds(record) if not enough(count)]


def _step(record: Record, found: Outcome) -> str:
    """What to do where nothing can be told."""
    if found.error:
        return _fault(found.error)
    again, why = f'`observe("{record.experiment}")`', ""
    left_out = len(record.few) if record.rows else 0
    few = record.few if left_out else _few(record)
    if left_out:
        rows = f"row{'s' * (left_out != 1)}"
        why = t(f"Left out: {left_out} {rows} with ", f"有 {left_out} 行没有画出来：")
    if few:
        why = why + pick(too_few(min(few))) + t(". ", "。")
        why = why[:1].upper() + why[1:]
    if not record.live:
        return why
    return why + t(f"Run it again when the machine is quiet: {again}", f"等机器空闲时再运行一次：{again}")


def small_line(record: Record) -> str:
    """Where the numbers come from, in one line: measured here or replayed, machine, when, rounds, the experiment's name."""
    about = record.machine
    machine = record.machine_name
    torch = ".".join(str(about.get("torch") or "?").split("+")[0].split(".")[:2])
    when = _when(record.created, record.live)
    parts = []
    if record.live:
        parts += [t(f"Measured here, {when}", f"本机实测，{when}"), machine]
    else:
        parts.append(
            t(
                f"📼 Replay: recorded on {machine}, {when}, not on this machine",
                f"📼 回放：{when}在 {machine} 上录制，不是本机的结果",
            )
        )
    cores = about.get("cores")  # not the threads: an experiment may set its own
    if isinstance(cores, int) and about.get("device") == "cpu":
        parts.append(t(f"{cores} core{'s' * (cores != 1)}", f"{cores} 核"))
    parts.append(f"torch {torch}")
    rounds = [row["rounds"] for row in record.rows if isinstance(row.get("rounds"), int)]
    if rounds:
        low, high = min(rounds), max(rounds)
        span = f"{low}" if low == high else t(f"{low} to {high}", f"{low} 到 {high}")
        parts.append(t(f"{span} rounds", f"{span} 轮"))
    if not record.complete:
        parts.append(t("stopped early", "提前结束"))
    return " · ".join([*parts, f"`{record.experiment}`"])


def _when(created: str, minute: bool) -> str:
    """The day, and where it was measured by the reader the minute, in the local time."""
    try:
        at = datetime.fromisoformat(created.replace("Z", "+00:00")).astimezone()
    except ValueError:
        return created[:10]
    months = "January February March April May June July August September October November December".split()
    day = t(f"{at.day} {months[at.month - 1]} {at.year}", f"{at.year} 年 {at.month} 月 {at.day} 日")
    return day + t(f", {at:%H:%M}", f" {at:%H:%M}") if minute else day


def _picture(
    record: Record, experiment: Experiment, bets: Bets, found: Outcome
) -> SvgPicture | Table | Plot | NoPicture | None:
    """What the experiment draws."""
    try:
        picture = experiment.draw(record, bets, found.reading)
        if isinstance(picture, SvgPicture):
            picture.paint(BROAD)  # it is painted only here
    except Exception as error:  # noqa: BLE001  (its sentence must still be seen)
        return NoPicture(error, fault=record.complete and found.headline not in OPEN)
    return picture
