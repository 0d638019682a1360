"""What an experiment is, how it is found, run within its budget, and replaced by a recording.

Needs torch, numpy and tqdm alone, so that recording works on a bare machine.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from course.core.bars import vanishing
from course.core.catalog import LESSONS, lesson_of, modules
from course.core.i18n import Text, pick, t
from course.core.machine import NEEDS, can, device_name, device_of, passport
from course.core.records import Record, nearest
from course.core.suggest import did_you_mean, no_longer
from course.experiment.ending import ending
from course.experiment.reading import TOO_NOISY, Reading
from course.timing.stats import FEWEST_ROUNDS, enough

if TYPE_CHECKING:
    from course.experiment.telling import Telling

T = TypeVar("T")
PATIENCE = 1.6
"""A run that a learner waits for is ended after so many of its budgets, with what it has: on a busy machine ending takes time, too,
and all together has to stay below two."""


class ExperimentError(RuntimeError):
    """An experiment that is unknown or failed. A notebook shows its sentence alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class Budget:
    """The seconds an experiment may take. `complete` turns False when `loop` had to stop early."""

    def __init__(self, seconds: float) -> None:
        self.seconds = float(seconds)
        self.complete = True
        self._began = time.perf_counter()

    def spent(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._began

    def left(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self.seconds - self.spent())

    def share(self, parts: float) -> float:
        """Seconds for one of `parts` equal steps out of what is left, at least 10 ms."""
        return max(0.01, self.left() / max(parts, 1))

    def loop(self, items: Iterable[T], desc: Text | None = None, least: int = 1) -> Iterator[T]:
        """The items, with a progress bar when the budget is over 2 s: how many are done, and the seconds left as those took.

        Stops before an item when the time is out, and marks the record incomplete; the first ``least`` items
        always come.
        """
        listed, label = list(items), pick(desc) if desc else t("measuring", "测量中")
        form, began = "{desc}: {bar} {n_fmt}/{total_fmt}{postfix}", self.spent()
        silent = self.seconds <= 2
        with vanishing()(total=len(listed), desc=label, leave=False, disable=silent, bar_format=form) as bar:
            try:
                for index, item in enumerate(listed):
                    if index >= least and self.left() <= 0:
                        self.complete = False
                        return
                    yield item
                    each = (self.spent() - began) / (index + 1)
                    seconds = min(each * (len(listed) - index - 1), self.left() + each)
                    bar.set_postfix_str(t(f"about {seconds:.0f} s left", f"大约还要 {seconds:.0f} 秒"), refresh=False)
                    bar.update(1)
            finally:
                bar.total = bar.n  # a bar cut short would stay in red


Rows = list[dict[str, Any]]
Read = Callable[[Rows], Reading | None]
Draw = Callable[[Record, Mapping[str, str]], Any]


@dataclass(frozen=True)
class Experiment:
    """One question put to the machine, and what its lesson says of what comes out.

    function(budget, ...) returns a list of rows or yields rows one by one (then an interrupt keeps those
    yielded so far). needs: one of NEEDS. seconds: the usual budget.

    own_read(rows) -> a `Reading`, or None where nothing can be told. Words, picture and bets are data in the lesson's
    experiments.yaml (`telling`, `drawing`). own_draw(record, bets) -> an SvgPicture, a Table or a Plot, for a picture of no common kind;
    bets: id of a predict item -> option id. Both are found by the function's name in its module
    (``read_toy_race`` beside the run ``toy_race``), unless they are given.

    whole: the headline or a bet speaks of all rows (every, none, 4 of these 6, the most), so that rows which are missing could
    turn it round: of a record that is not complete the headline claims nothing and no bet is settled.
    clockless: its rows say something that needs no clock beside their times (whether results are equal), so they are kept
    where their rounds carry no interval.
    """

    name: str
    lesson: str
    version: int
    needs: str
    seconds: float
    function: Callable[[Budget], Iterable[dict[str, Any]]]
    own_read: Read | None = None
    own_draw: Draw | None = None
    whole: bool = False
    clockless: bool = False

    def kept(self, row: Mapping[str, Any]) -> dict[str, Any] | None:
        """What a record keeps of a row: all of it; nothing, or no interval (`clockless`), where its rounds carry none."""
        if has_interval(row):
            return dict(row)
        return {**row, **dict.fromkeys(ENDS & row.keys())} if self.clockless else None

    @property
    def telling(self) -> Telling:
        """Its entry in experiments.yaml. Needs PyYAML, which a machine that records can do without."""
        from course.experiment.telling import telling

        return telling(self.lesson, self.name)

    def _beside(self, verb: str) -> Callable[..., Any] | None:
        """The function of its module that is called by this verb and the name of the run."""
        return self.function.__globals__.get(f"{verb}_{self.function.__name__}")

    def reading(self, record: Record) -> Reading:
        """What the rows say. A run cut short may lack what a reading needs; complete rows must not, and raise. Raises LookupError
        where its lesson has no function that reads them.
        """
        if not record.rows:
            return Reading()
        if (read := self.own_read or self._beside("read")) is None:
            raise LookupError(f"experiment {self.name}: write read_{self.function.__name__}(rows) beside its run")
        try:
            found = read(record.rows) or Reading()
        except Exception:
            if record.complete:
                raise
            return Reading()
        return replace(found, outcome=None, bets={}) if self.whole and not record.complete else found

    def headline(self, record: Record) -> Text:
        """The one sentence that came out; TOO_NOISY where nothing can be told."""
        found = self.reading(record)
        return TOO_NOISY if found.outcome is None else self.telling.headline(found)

    def settles(self, record: Record) -> dict[str, str | None]:
        """Bet -> the option that came true; None where it stays open."""
        found = self.reading(record)
        return {bet: found.settled(bet) for bet in self.telling.bets}

    def draw(self, record: Record, bets: Mapping[str, str], reading: Reading | None = None) -> Any:
        """The picture with the learner's bets in it; None where there is none. reading: that of the record, where it is known.
        Raises what a row that is missing raises.
        """
        if own := self.own_draw or self._beside("draw"):
            return own(record, bets)
        if not self.telling.picture:
            return None
        from course.experiment.drawing import draw

        return draw(self.telling, reading or self.reading(record), record.rows, bets)


REGISTRY: dict[str, Experiment] = {}
ENDS = {"low", "high", "low_ms", "high_ms"}
"""Columns with the ends of an interval."""


def experiment(
    *,
    name: str,
    lesson: str,
    version: int = 1,
    needs: str = "cpu",
    seconds: float = 10,
    whole: bool = False,
    clockless: bool = False,
    read: Read | None = None,
) -> Callable[[Callable[[Budget], Iterable[dict[str, Any]]]], Callable[[Budget], Iterable[dict[str, Any]]]]:
    """Register the decorated function as an experiment and return it unchanged.

    read: only where it is not to be found by the function's name.
    Raises ValueError when `needs` is unknown or another function already has the name.
    """
    if needs not in NEEDS:
        raise ValueError(f"experiment {name}: needs={needs!r} is none of {', '.join(NEEDS)}")

    def register(function: Callable[[Budget], Iterable[dict[str, Any]]]) -> Any:
        old = REGISTRY.get(name)
        if old and (old.function.__module__, old.function.__qualname__) != (function.__module__, function.__qualname__):
            raise ValueError(f"two experiments are called {name}: {old.function.__module__} and {function.__module__}")
        REGISTRY[name] = Experiment(name, lesson, version, needs, seconds, function, read, None, whole, clockless)
        return function

    return register


def of_lesson(lesson: str) -> dict[str, Experiment]:
    """Import the experiments of a lesson and return them by name, in order of name."""
    list(modules(lesson, "experiments"))
    return {name: one for name, one in sorted(REGISTRY.items()) if one.lesson == lesson}


def load_all() -> dict[str, Experiment]:
    """The same for every lesson."""
    for lesson in LESSONS:
        of_lesson(lesson.id)
    return dict(sorted(REGISTRY.items()))


def get(name: str) -> Experiment:
    """The experiment called `name`; its first two digits are those of its lesson, and no other lesson is imported.

    Raises ExperimentError with the nearest name for a typo, ModuleNotFoundError without torch.
    """
    if name not in REGISTRY and (lesson := lesson_of(name)):
        of_lesson(lesson)
    if name in REGISTRY:
        return REGISTRY[name]
    known = load_all()
    if name in known:
        return known[name]
    if gone := no_longer(name):
        raise ExperimentError(gone)
    hint = did_you_mean(name, known)
    raise ExperimentError(t(f'There is no experiment "{name}".{hint}', f"没有名为“{name}”的实验。{hint}"))


@contextlib.contextmanager
def restored() -> Iterator[None]:
    """Put back every switch, the thread count and the random state, whatever happens inside."""
    import torch

    from course import flags

    gpus = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with flags.preserved(), torch.random.fork_rng(devices=gpus):
        yield


def run(name: str, budget_s: float | None = None) -> Record:
    """Run the experiment here and now and return its Record (live).

    budget_s: seconds, default the experiment's own. An interrupt ends the experiment and keeps the rows
    yielded so far (`complete` False, `interrupted` True). Flags are restored in every case.
    Raises ExperimentError, in words, when the experiment fails.
    """
    return run_experiment(get(name), budget_s)


def run_experiment(exp: Experiment, budget_s: float | None = None, limit_s: float = math.inf, **sizes: Any) -> Record:
    """`run` for an Experiment at hand. sizes: keyword arguments of its function, to try it out small.

    limit_s: seconds after which it is ended wherever it is, and keeps the rows yielded so far (`complete` False). Half-way between
    the budget and this limit a measurement that is under way takes no further round: what it has is kept so.
    """
    from course.timing.rounds import rounds_end_within

    rows: list[dict[str, Any]] = []
    few: list[int] = []
    budget, end = Budget(exp.seconds if budget_s is None else budget_s), None

    def record(**how: bool) -> Record:
        about = {"budget_s": budget.seconds, "live": True, "few": tuple(few)}
        return Record(exp.name, exp.version, exp.lesson, passport(device_of(exp.needs)), rows, **about, **how)

    with restored(), rounds_end_within((budget.seconds + limit_s) / 2):
        try:
            with ending(limit_s) as end:
                for row in exp.function(budget, **sizes):
                    if end.late:  # the row may tell an error that a library made of the interrupt
                        raise KeyboardInterrupt
                    if kept := exp.kept(row):
                        rows.append(kept)
                    else:
                        budget.complete = False
                        few += [row["rounds"]] if "rounds" in row else []
        except (KeyboardInterrupt, Exception) as error:
            # end.late: a library may have raised an error of its own in place of the interrupt
            if isinstance(error, KeyboardInterrupt) or (end and end.late):
                return record(complete=False, interrupted=not (end and end.late))
            text = str(error).strip().split("\n")[0][:300]
            raise ExperimentError(
                t(
                    f"The experiment {exp.name} stopped with {type(error).__name__}: {text} "
                    "Nothing else is harmed: every switch is back. Run the cell again; if it fails again, go on with the next cell.",
                    f"实验 {exp.name} 因 {type(error).__name__} 停止：{text} 其他一切完好，所有开关都已恢复。"
                    f"请重新运行这个单元格；如果仍然失败，就继续下一个。",
                )
            ) from error
    return record(complete=budget.complete)


def has_interval(row: Mapping[str, Any]) -> bool:
    """Whether a row about an interval has one: ends, and, where it says its rounds, enough of them (`course.timing`)."""
    ends = ENDS & row.keys()
    return not ends or enough(row.get("rounds", FEWEST_ROUNDS)) and all(row[end] is not None for end in ends)


def load_or_run(exp: Experiment, budget_s: float | None = None, replay: bool = False) -> Record | None:
    """A record of the experiment: live when this machine can, else the nearest recording, else None.

    A live run is ended after PATIENCE of its budgets: it keeps what it has by then.

    replay, or COURSE_REPLAY=1 in the environment: the recording, where there is one, also on a machine that could measure.
    """
    if (replay or os.environ.get("COURSE_REPLAY") == "1") and (found := recording(exp)):
        return found
    if not can(exp.needs):
        return recording(exp)
    return run_experiment(exp, budget_s, PATIENCE * max(budget_s or 0, exp.seconds))


def recording(exp: Experiment) -> Record | None:
    """The nearest recording of this version of the experiment, or None. It keeps to the rows that `run` would keep."""
    device = device_of(exp.needs)
    found = nearest(exp.name, {"device": device, "device_name": device_name(device)}, version=exp.version)
    if found is None:
        return None
    rows = [kept for row in found.rows if (kept := exp.kept(row))]
    return replace(found, rows=rows, complete=found.complete and len(rows) == len(found.rows))
