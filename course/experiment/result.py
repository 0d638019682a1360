"""What came out, as the parts of one block: headline, picture with the bet, small line, bet, the numbers to unfold.

`result_html` and `result_text` show them.
"""

from __future__ import annotations

import html
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from course.experiment.base import Experiment
from course.experiment.result_html import html_of
from course.experiment.result_text import text_of
from course.experiment.words import CUT_SHORT, EMPTY, FAULT, OPEN, TOO_FEW, TOO_NOISY
from course.figures.picture import Drawing
from course.figures.svg import SvgPicture
from course.i18n import Text, pick, t
from course.records import Record
from course.tables import Table
from course.timing.render import too_few
from course.timing.stats import enough

Bets = Mapping[str, "str | float"]
"""id of a predict item -> the option, or on a scale the number, that the learner bet on."""


@dataclass(frozen=True)
class Betted:
    """A bet in words. mine: what was bet, "" without a bet. lead: what is said before ``out``, such as "It came out".

    out: "" where nothing decided it; then ``mine`` stays open, for the reason ``still`` gives. why: the reason for what came out.
    others: (option, reason) of the others; lost: the first of them was bet on. Marks as in `course.markup`.
    """

    mine: str
    out: str = ""
    lead: str = ""
    still: str = ""
    why: str = ""
    others: tuple[tuple[str, str], ...] = ()
    lost: bool = False


@dataclass(frozen=True)
class Fold:
    """Something to unfold: paragraphs (with marks), then a table and lines of code, where there are any."""

    title: str
    said: tuple[str, ...] = ()
    rows: Sequence[dict[str, Any]] = ()
    code: str = ""
    open: bool = False


class Plot:
    """A picture by matplotlib, as PNG for both themes, like an SvgPicture: ``alt`` and ``html()``."""

    def __init__(self, drawing: Drawing, alt: str) -> None:
        self.drawing, self.alt = drawing, alt

    def html(self) -> str:
        return self.drawing.html(self.alt, 760)


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
class Block:
    """One block, in the language in which it was made. A notebook shows it as HTML, anything else as text.

    experiment: the name of what it is about, for whoever reads the HTML. folded: whether a notebook shows the headline alone, to unfold.
    so: one line of advice, "" where there is none.
    """

    headline: str
    step: str
    picture: SvgPicture | Table | Plot | NoPicture | None
    small: str
    bets: tuple[Betted, ...] = ()
    folds: tuple[Fold, ...] = ()
    experiment: str = ""
    folded: bool = False
    so: str = ""

    def _repr_html_(self) -> str:
        return html_of(self)

    def __str__(self) -> str:
        return text_of(self)

    __repr__ = __str__

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def block(record: Record, experiment: Experiment, bets: Bets | None = None, said: Sequence[Betted] = ()) -> Block:
    """The block of a record. bets: for the picture; said: the same bets in words."""
    headline, error = _headline(record, experiment)
    by_reading = experiment.part("read") is not None
    finding = "" if by_reading else finding_of(record, experiment)
    picture = _picture(record, experiment, bets or {}, pick(finding or headline)) if record.rows and not error else None
    told = [pick(finding)] if finding else []
    return Block(
        headline=pick(headline),
        step=_fault(error) if error else _step(record, headline),
        picture=picture,
        small=small_line(record),
        bets=tuple(said),
        folds=(
            Fold(
                t("The numbers", "全部数字"),
                (*told, f"**{pick(experiment.title)}** `{experiment.name}`. {pick(record.label())}."),
                experiment.telling.numbers(record.rows) if by_reading else record.rows,
                open=not headline,
            ),
        ),
        experiment=experiment.name,
        so=_advice(record, experiment) if by_reading and not error else "",
    )


def headline_of(record: Record, experiment: Experiment) -> Text:
    """The one sentence that came out; one of ``OPEN`` where nothing can be told, "" where the lesson has none yet."""
    return _headline(record, experiment)[0]


def _headline(record: Record, experiment: Experiment) -> tuple[Text, Exception | None]:
    """The sentence, and the error of the course that stands in its way: complete rows can be read."""
    if not record.rows:
        return (TOO_FEW if record.few else EMPTY), None
    if experiment.headline is None:
        return "", None
    try:
        found = experiment.headline(record)
    except Exception as error:  # noqa: BLE001  (a cut-short record may lack the rows a sentence needs)
        if record.complete:
            return FAULT, error
        found = TOO_NOISY
    if found != TOO_NOISY:
        return found, None
    return (TOO_FEW if _few(record) else found if record.complete else CUT_SHORT), None


def _fault(error: Exception) -> str:
    """The next step where the course is at fault."""
    what = f"{type(error).__name__}: {error}".strip(": ")[:200]
    return t(
        f"A fault of the course ({what}). Please report it with the name of the experiment; the numbers below are all there.",
        f"这是课程的错误（{what}）。请连同实验名称一起反馈；下面的数字都还在。",
    )


def _advice(record: Record, experiment: Experiment) -> str:
    found = experiment.reading(record)
    return pick(experiment.telling.advice(found.outcome, found.numbers))


def claim(record: Record, experiment: Experiment) -> str:
    """What can be repeated of a record: its headline, or as long as it has none its finding."""
    return pick(headline_of(record, experiment) or finding_of(record, experiment))


def told(record: Record, experiment: Experiment) -> bool:
    """Whether the record says anything: its headline claims something, and no bet on it stays open."""
    headline = headline_of(record, experiment) or finding_of(record, experiment)
    unsure = "Inconclusive" in pick(headline, "en")  # a finding says so itself
    return headline not in OPEN and not unsure and None not in experiment.settles(record).values()


def finding_of(record: Record, experiment: Experiment) -> Text:
    """The finding with all its numbers, or what is missing for one."""
    if not record.rows:
        return TOO_FEW if record.few else EMPTY
    try:
        return experiment.finding(record)
    except Exception as error:  # noqa: BLE001  (as above)
        kind = type(error).__name__
        return t(
            f"Inconclusive: these rows are too few for a finding ({kind}). Run it again with more time.",
            f"无法判定：数据不足以得出结论（{kind}）。请多给些时间再运行一次。",
        )


def _few(record: Record) -> list[int]:
    """The rounds of the rows that have too few of them, also of those left out."""
    counts = [*record.few, *(row.get("rounds") for row in record.rows)]
    return [count for count in counts if isinstance(count, int) and not enough(count)]


def _step(record: Record, headline: Text) -> str:
    """What to do where nothing can be told; empty elsewhere."""
    if headline not in OPEN:
        return ""
    few, again = _few(record), f'`observe("{record.experiment}")`'
    why = f"{_capital(pick(too_few(min(few))))}{t('. ', '。')}" if few else ""
    if not record.live:
        return why
    return why + t(f"Run it again when the machine is quiet: {again}", f"等机器空闲时再运行一次：{again}")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def small_line(record: Record) -> str:
    """Where the numbers come from, in one line: measured here or replayed, machine, when, rounds, the experiment's name."""
    about = record.machine
    machine = str(about.get("device_name") or about.get("device") or "?")
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
    threads = about.get("threads")
    if isinstance(threads, int) and about.get("device") == "cpu":
        parts.append(t(f"{threads} thread{'s' * (threads != 1)}", f"{threads} 线程"))
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
    record: Record, experiment: Experiment, bets: Bets, alt: str
) -> SvgPicture | Table | Plot | NoPicture | None:
    """What the experiment draws. One with a parameter ``ax`` paints a matplotlib Axes, any other gives an SvgPicture or Table."""
    if (draw := experiment.draw) is None:
        return None
    takes = inspect.signature(draw).parameters
    if "ax" not in takes:
        try:
            picture = draw(record, bets)
            picture.html()  # an SvgPicture is painted only here
        except Exception as error:  # noqa: BLE001  (its sentence must still be seen)
            return NoPicture(error, fault=record.complete and headline_of(record, experiment) not in OPEN)
        return picture

    def fill(figure: Any) -> None:
        ax = figure.add_subplot()
        try:
            draw(record, ax, **({"bets": bets} if "bets" in takes else {}))
        except Exception as error:  # noqa: BLE001  (as above)
            ax.clear()
            ax.set_axis_off()
            ax.text(0.5, 0.5, NoPicture(error).alt, ha="center", transform=ax.transAxes)

    return Plot(Drawing(fill, (7.0, 3.8), tight=0.12), alt)
