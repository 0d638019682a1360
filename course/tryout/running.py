"""One call of ``try_switches``: from the look at the step to its outcome."""

from __future__ import annotations

import contextlib
import math
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from course.core import load
from course.core.bars import end_progress, progress, somebody_watches
from course.core.i18n import both, t
from course.core.machine import one_line
from course.core.new_process import NewProcessError
from course.timing import TimingError
from course.timing.stats import t_quantile
from course.timing.validation import hidden_prints
from course.tryout import verdicts
from course.tryout.look import Look
from course.tryout.result import Tried
from course.tryout.settings import Setting, chosen
from course.tryout.step import BLOCK_S, SHORT_S, Step, step_of
from course.tryout.there import REST_S, said_of
from course.tryout.venue import Block, Venue

AS_IS = "as it is"
FEWEST = 4
"""Sets before anything is said: each is one value."""
WARM_UPS, ROUNDS = 1, 3
"""Rounds of a set that are not counted, and the fewest that are."""
ERROR = 0.01
"""The chance that one of the likely ranges of a run misses."""
OTHERS = 4
"""What the others say of how far ratios scatter counts as so many more sets."""
LEAST_S = 5.0
"""Smallest budget."""
LOOK, LAST = 0.35, 0.35
"""Shares of the budget: for what settings do to the result; at its end, in which the winners run together even if others are open."""
TIMED, TIMED_S = 0.75, 0.3
"""How long a set is timed: this share of what it takes to start, at least so many seconds."""
BUSY = 0.15
"""Part of all processors used by other programs, from which small differences do not show."""
JOINT = "+"
"""Stands between the ids of what is compared together."""


def run(
    work: Any, inputs: Sequence[Any], training: bool, only: str | Sequence[str] | None, compile_: bool, budget: float
) -> Tried:
    """What the verb does, with its arguments."""
    step = step_of(work, inputs, training)
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not LEAST_S <= budget < 86_400:
        english = f"budget is a number of seconds, at least {LEAST_S:g}, not {budget!r}."
        raise TimingError(t(english, f"budget 是秒数，至少 {LEAST_S:g}，而不是 {budget!r}。"))
    if find_spec("cloudpickle") is None:
        english = (
            "try_switches copies your step with cloudpickle, which is not installed here: pip install cloudpickle."
        )
        raise TimingError(
            t(english, "try_switches 用 cloudpickle 复制你的这一步，这里没有安装它：pip install cloudpickle。")
        )
    trial = Trial(step, chosen(only), float(budget))
    if not somebody_watches():  # else a bar shows it
        print(t(f"This takes about {budget:g} s.", f"大约要 {budget:g} 秒。"), file=sys.stderr)
    trial.bar = progress(trial.budget, t("trying switches", "正在试开关"))
    with (
        tempfile.TemporaryDirectory(prefix="try_switches-") as folder,
        hidden_prints() as sink,
        contextlib.redirect_stderr(sink),
    ):
        try:
            trial.look(folder, compile_ or only is not None)
            while names := trial.next():
                trial.compare(names)
        except KeyboardInterrupt:
            trial.out.stopped = True
            trial.note("Stopped: this is what was found so far.", "已停止：以下是目前得到的结果。")
        finally:
            end_progress(trial.bar)
    trial.tell()
    return trial.out


class Trial:
    """State of one call. ratios: one of each set, by name. base_ms: of the step as it is, of each set. rough_s: about what a call takes, by
    name. others: the part of all processors that other programs used, of each set."""

    venue: Venue
    bar: Any

    def __init__(self, step: Step, settings: Sequence[Setting], budget: float) -> None:
        self.step, self.began, self.budget = step, time.monotonic(), budget
        self.known = {one.id: one for one in settings}
        self.ratios: dict[str, list[float]] = {}
        self.base_ms: list[float] = []
        self.rough_s: dict[str, float] = {}
        self.others: list[float] = []
        self.out = Tried(settings, one_line())

    def left(self) -> float:
        """Seconds until the budget is used."""
        self.bar.update(max(0.0, min(time.monotonic() - self.began, self.budget) - self.bar.n))
        return self.began + self.budget - time.monotonic()

    def note(self, english: str, chinese: str) -> None:
        """One more sentence below the headline."""
        self.out.notes.append(both(english, chinese))

    # --- what settings do to the result ---------------------------------------------------------------------------

    def look(self, folder: str, compile_: bool) -> None:
        """See what runs in the step, and what each setting does to the result. Raises TimingError where the step cannot be copied, or
        fails as it is."""
        wanted = {
            name: [name] for name, one in self.known.items() if not one.kept and (compile_ or one.way != "compile")
        }
        try:
            self.venue = Venue(self.step, folder)
        except Exception as error:  # noqa: BLE001  (pickling fails in many types)
            found = {"not_loaded": said_of(error)}
        else:
            found = _probed(self.venue, wanted, LOOK * self.budget)
        if why := found.get("not_loaded", ""):
            raise TimingError(
                t(
                    f"The step runs in copies, in new processes, and it cannot be copied: {why}. Create that inside the step, or write "
                    "the step, with all it uses, into a file mylab.py and call try_switches(mylab.step).",
                    f"这一步要复制到新进程里跑，可是复制不了：{why}。请在这一步里面新建它，"
                    "或者把这一步连同它用到的都写进文件 mylab.py，再调用 try_switches(mylab.step)。",
                )
            )
        look, self.rough_s = Look(**found["look"]), {AS_IS: found["rough_s"]}
        self.out.device = look.device
        if found["random"]:
            self.note(
                "Its results were not compared: two calls from the same start differ, because the step draws random numbers of its own, "
                "or keeps something in a module.",
                "没有比较结果：起点相同的两次调用，结果不同，因为这一步自己抽随机数，或者在模块里留下了什么。",
            )
        for name, one in self.known.items():
            if why := one.why_not(look):
                self.out.refused[name] = why
            elif one.way == "compile" and not compile_:
                self.out.refused[name] = both("only with compile=True", "加 compile=True 才试")
            else:
                row = self.out.found[name] = {}
                self._learn(name, row, self._digits(name, [name]) if one.kept else found["rows"].get(name))

    def _digits(self, name: str, ids: Sequence[str]) -> Mapping[str, Any] | None:
        """What these settings do together; None: there was no time."""
        try:
            return self.venue.probe({name: ids}, max(LEAST_S, self.left()))["rows"].get(name)
        except NewProcessError as error:
            return {"why": said_of(error)}

    def _learn(self, name: str, row: dict[str, Any], found: Mapping[str, Any] | None) -> None:
        """Put what was found of the result into a row."""
        if found is not None:
            row.update(found)
            self.rough_s[name] = row.pop("rough_s", self.rough_s[AS_IS])

    # --- times ----------------------------------------------------------------------------------------------------

    def next(self) -> list[str]:
        """The names to compare next: what may help much, else what is open; and the winners together, once nothing else may help much or
        the end is near. Empty: all is settled, or the budget is used."""
        rows = [row for row in self.out.rows() if row["setting"] in self.rough_s and not verdicts.settled(row)]
        rows.sort(key=lambda row: (-(row["sets"] or 0), self.rough_s[row["setting"]]))  # begun first, then quick
        worth = [row for row in rows if row["low"] is None or verdicts.hopeful(row)]
        best, together = self.best(), self.out.together
        joint = [JOINT.join(best)] if len(best) > 1 else []
        if together.get("of") == best and verdicts.settled(together):
            joint = []
        elif worth and self.left() > max(LAST * self.budget, 1.5 * self._needs_s(joint)):
            joint = []
        names = (joint + [row["setting"] for row in worth or rows])[: self.venue.most]
        while len(names) > 1 and self._needs_s(names) > self.left():
            names.pop()
        return names if names and self._set_s(names) < self.left() else []

    def _needs_s(self, names: Sequence[str]) -> float:
        """About the seconds until all of these have the fewest sets, or for one more set."""
        return max([1, *(FEWEST - len(self.ratios.get(name, ())) for name in names)]) * self._set_s(names)

    def _set_s(self, names: Sequence[str]) -> float:
        """About the seconds of a set of these."""
        takes = [self.rough_s.get(name, self.rough_s[AS_IS]) for name in (AS_IS, *names)]
        calls = math.ceil(BLOCK_S / takes[0]) + (takes[0] < SHORT_S)
        timed = (WARM_UPS + ROUNDS) * sum(REST_S + calls * one for one in takes)
        start_s = self.venue.start_s + self.venue.each_s * len(takes)
        return start_s + max(timed, TIMED * start_s, TIMED_S)

    def best(self) -> list[str]:
        """The settings to take together."""
        return sorted(row["setting"] for row in verdicts.winners(self.out.rows()))

    def compare(self, names: Sequence[str]) -> None:
        """Time one set of these, in turns with the step as it is."""
        best, together = self.best(), self.out.together
        of = {name: best if name == JOINT.join(best) else [name] for name in names}
        if len(of[names[0]]) > 1 and together.get("of") != best:
            together.clear()
            together.update(of=best, lossy=any(self.known[one].lossy for one in best))
            self._learn(names[0], together, self._digits(names[0], best))
        began, since, used_s = time.monotonic(), load.Since(), self.venue.used_s
        try:
            with self.venue.open({AS_IS: [], **of}, self.rough_s[AS_IS]) as block:
                start_s = time.monotonic() - began
                found, base_ms = one_set(block, names, max(TIMED * start_s, TIMED_S))
        except SideFailed as failed:
            self._failed(failed.name, failed.__cause__ or failed)
            return
        except NewProcessError as error:  # it could not be started, or has no room for the step
            self._failed(AS_IS, error)
            return
        part = (self.venue.used_s - used_s) / (time.monotonic() - began) / (os.cpu_count() or 1)
        self.others.append(max(0.0, since.others() - part))
        self.venue.start_s = max(0.1, start_s - self.venue.each_s * (1 + len(of)))
        self.base_ms.append(base_ms)
        self.rough_s[AS_IS] = base_ms / 1e3  # to plan the next with
        for name, ratio in found.items():
            self.rough_s[name] = ratio * self.rough_s[AS_IS]
            self.ratios.setdefault(name, []).append(ratio)
        likely, busy = ranges(self.ratios), statistics.fmean(self.others) > BUSY
        for name, row in {**self.out.found, JOINT.join(together.get("of", ())): together}.items():
            if some := self.ratios.get(name):
                ratio, low, high = likely.get(name, (some[-1], None, None))
                row.update(ratio=ratio, low=low, high=high, sets=len(some), busy=busy)

    def _failed(self, name: str, error: BaseException) -> None:
        """Say what raised: under a setting, or the step itself, which ends the comparing."""
        said = said_of(error)
        if name != AS_IS:
            self.out.found.get(name, self.out.together)["why"] = said
            return
        self.out.failed = said.partition(":")[0]
        self.rough_s.clear()
        self.note(
            f"It raised {said}. Every call must start the same: create what it uses up, such as an iterator, inside the step.",
            f"它抛出了 {said}。每次调用的起点必须相同：会用完的东西（如迭代器）请在这一步里创建。",
        )

    # --- the end --------------------------------------------------------------------------------------------------

    def tell(self) -> None:
        """Add what is to be said of the whole run."""
        out = self.out
        if out.together.get("of") != self.best():
            out.together.clear()
        out.base_ms, out.seconds = statistics.median(self.base_ms or [0.0]), time.monotonic() - self.began
        rows = [row for row in out.rows() if not verdicts.unjudged(row)]
        used = statistics.fmean(self.others) if self.others else load.others()
        if used > BUSY and out.found:
            part = f"{100 * used:.0f}"
            self.note(
                f"Other programs used {part} % of this machine: small differences do not show, threads cannot be judged. "
                "Try again when it is quiet.",
                f"其他程序占用了这台机器的 {part}%：小的差别看不出来，线程数也没法判断。等机器空闲再试。",
            )
        elif not (out.stopped or out.failed) and any(row["verdict"] == "late" or verdicts.hopeful(row) for row in rows):
            self.note("A larger budget may settle what is open.", "加大预算，没定的也许能有结论。")


def _probed(venue: Venue, wanted: Mapping[str, Sequence[str]], seconds: float) -> dict[str, Any]:
    """The first probe. Raises TimingError where the step fails as it is."""
    try:
        found = venue.probe(wanted, seconds)
    except NewProcessError as error:
        english = (
            f"The new process that looked at the step ended ({error}): try a larger budget, or call the step by itself."
        )
        raise TimingError(
            t(english, f"查看这一步的新进程结束了（{error}）：请加大预算，或先单独调用这一步。")
        ) from error
    if failed := found.get("failed", ""):
        english = f"The step raised {failed}. Call it by itself, twice; make that work, then try again."
        raise TimingError(t(english, f"这一步抛出了 {failed}。请先单独调用两次并修好，再来试。"))
    return found


# --- sets of blocks in turns: pure statistics on plain numbers ---------------------------------------------------


class SideFailed(Exception):
    """A call raised under this name (AS_IS: not because of a setting)."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def one_set(block: Block, names: Sequence[str], seconds: float) -> tuple[dict[str, float], float]:
    """The median ratio of each name to the step as it is, taking turns in random order for so many seconds; and a call as it is in ms.

    A machine that slows down slows all of a turn. Raises SideFailed from what a call raised.
    """
    order, rounds, until = [AS_IS, *names], list[dict[str, float]](), math.inf
    while len(rounds) < WARM_UPS + ROUNDS or time.monotonic() < until:
        random.Random().shuffle(order)  # the user's own random numbers stay as they are
        rounds.append({name: _timed(block, name) for name in order})
        if len(rounds) == WARM_UPS:
            until = time.monotonic() + seconds
    counted = rounds[WARM_UPS:]
    ratios = {name: statistics.median(one[name] / one[AS_IS] for one in counted) for name in names}
    return ratios, 1e3 * statistics.median(one[AS_IS] for one in counted)


def _timed(block: Block, name: str) -> float:
    try:
        return block(name)
    except Exception as error:
        try:
            for _ in range(2):  # a step that raises after some calls raises in this one, too
                block(AS_IS)
        except Exception:  # noqa: BLE001  (the user's step)
            name = AS_IS
        raise SideFailed(name) from error


def ranges(ratios: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, float, float]]:
    """For each name the ratio and its likely range, from one ratio a set: Student's t on logarithms. Names with fewer sets than FEWEST
    have none. Few sets tell little of how far one ratio scatters, and ratios that were measured side by side scatter about as far: the
    variance is drawn towards the middle one of all (G. K. Smyth, Statistical Applications in Genetics and Molecular Biology 3(1), 2004).
    """
    logs = {name: [math.log(one) for one in some] for name, some in ratios.items() if len(some) >= FEWEST}
    own = {name: statistics.variance(some) for name, some in logs.items()}
    found = {}
    for name, some in logs.items():
        freedom, more = len(some) - 1, OTHERS if len(logs) > 2 else 0
        variance = (freedom * own[name] + more * statistics.median(own.values())) / (freedom + more)
        half = t_quantile(1 - ERROR / len(ratios) / 2, freedom + more) * math.sqrt(variance / len(some))
        middle = statistics.fmean(some)
        found[name] = math.exp(middle), math.exp(middle - half), math.exp(middle + half)
    return found
