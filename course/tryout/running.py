"""One call of ``try_switches``: from the look at the step to its outcome."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from course.experiment.new_process import ProbeError
from course.experiment.rows import kind_of
from course.i18n import Text, both, t
from course.isolation.journal import Unrestorable
from course.load import Since
from course.machine import one_line
from course.timing import TimingError
from course.timing.clock import whole_progress
from course.timing.validation import hidden_prints
from course.timing.verdicts import FIRST_PROCESS_LOOK
from course.tryout import processes, verdicts
from course.tryout.bench import AS_IS, BLOCK_S, SHORT_S, Bench, Row
from course.tryout.result import Tried
from course.tryout.settings import Setting, chosen
from course.tryout.step import Step, step_of

TOGETHER = "together"
"""Stands for the winners in a comparison in this process."""
JOINT = "+"
"""Stands between their names in new ones."""
LEAST_S = 5.0
"""Smallest budget."""
ROUNDS = 18
"""Rounds that a verdict needs, with those that warm up."""
SHARE = 0.25
"""Of the time that is left, for one comparison that does not need more: what is clear leaves the next."""
HERE = 0.5
"""Share of the budget until which comparisons in this process come first, where new ones cannot compare everything."""
SHARE_THERE = 0.6
"""Of the time for new processes, for their first comparison: it may find faster ones, which are then compared together."""
BUSY = 0.15
"""Part of all processors used by other programs, from which small differences do not show."""
SLOW = 1.5
"""Where single calls took so many times as long as the step as it is, a setting is timed last, and alone."""
SURE = 1.1
"""A likely range that lies beyond this ratio needs no second comparison."""
FIRST = 0.4
"""Share of the budget for a first look at every setting; the rest are looked at when it is their turn."""


class StepFailed(Exception):
    """The step itself raised, and not because of a setting. kind: the type; said: all of it, in a line."""

    def __init__(self, error: BaseException) -> None:
        cause = error.__cause__ or error
        super().__init__(_said_of(cause))
        self.kind, self.said = type(cause).__name__, _said_of(cause)


def run(
    work: Any, inputs: Sequence[Any], training: bool, only: str | Sequence[str] | None, compile_: bool, budget: float
) -> Tried:
    """What the verb does, with its arguments."""
    step = step_of(work, inputs, training)
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not LEAST_S <= budget < 86_400:
        english = f"budget is a number of seconds, at least {LEAST_S:g}, not {budget!r}."
        raise TimingError(t(english, f"budget 是秒数，至少 {LEAST_S:g}，而不是 {budget!r}。"))
    return _Run(chosen(only), float(budget), compile_ or only is not None).go(step)


class _Run:
    """One call of the verb: what is known so far, and until when to go on."""

    def __init__(self, settings: Sequence[Setting], budget: float, compile_: bool) -> None:
        self.began, self.budget, self.compile = time.monotonic(), budget, compile_
        self.known, self.since, self.busy = {one.id: one for one in settings}, Since(), False
        self.raised, self.copied = set[str](), True
        self.out = Tried(settings, one_line())

    def go(self, step: Step) -> Tried:
        """Find out as much as the budget allows."""
        with whole_progress(self.budget, t("trying switches", "正在试开关")) as self.bar:
            try:
                with hidden_prints() as sink, contextlib.redirect_stderr(sink):
                    self._find_out(self._bench(step))
            except KeyboardInterrupt:
                self.out.stopped = True
                self.out.notes.append(both("Stopped: this is what was found so far.", "已停止：以下是目前得到的结果。"))
            except StepFailed as failed:
                self._failed(failed)
        if self.out.together.get("of") != self._best():
            self.out.together.clear()
        self.out.seconds = time.monotonic() - self.began
        if self.busy:
            part = f"{100 * self.since.others():.0f}"
            said = both(
                f"Other programs used {part} % of this machine: small differences do not show, and threads cannot be judged.",
                f"其他程序占用了这台机器的 {part}%：小的差别看不出来，线程数也没法判断。",
            )
            self.out.notes.append(said)
        self._say_where()
        if not (self.out.stopped or self.out.failed):
            self._more()
        return self.out

    def _more(self) -> None:
        """Say how large a budget would bring the verdicts that are missing."""
        rows = [row for row in self.out.rows() if not verdicts.unjudged(row)]
        late = [row["needs_s"] for row in rows if row["verdict"] == "late"]
        open_ = [row for row in rows if row["verdict"] == "unsure" and row["low"] < 1 - verdicts.SMALL]
        if late or open_:
            more = math.ceil(self.out.seconds + 1.5 * sum(late) + len(open_) * self.budget / 2)
            names = self._listed(row for row in rows if row["verdict"] == "late" or row in open_)
            least = f"{100 * verdicts.SMALL:.0f}"
            english = f"May still save over {least} %: {names['en']}; a budget of {more} s would tell."
            self.out.notes.append(
                both(english, f"还可能省下 {least}% 以上：{names['zh']}；预算给到 {more} 秒就能知道。")
            )

    def _failed(self, failed: StepFailed) -> None:
        """The step itself raised: what was not timed before was not tried."""
        self.out.failed = failed.kind
        self.out.notes.append(
            both(
                f"It raised {failed.said}. Each call must find things as the first one did: create inside the step what it uses up.",
                f"它抛出了 {failed.said}。每次调用都要面对同样的起点：会被用掉的东西请放在这一步里面创建。",
            )
        )
        for name in [name for name, row in self.out.found.items() if not row.get("rounds")]:
            del self.out.found[name]
            self.out.refused[name] = both("the step raised before its turn", "还没轮到，这一步就出错了")

    def _left(self, share: float = 1.0) -> float:
        """Seconds until this share of the budget is used."""
        return self.began + share * self.budget - time.monotonic()

    def _bench(self, step: Step) -> Bench:
        """Raises TimingError where the step fails as it is."""
        try:
            return Bench(step)
        except Unrestorable as error:
            raise TimingError(str(error)) from error
        except Exception as error:
            said = _said_of(error)
            english = f"The step raised {said}. Call it by itself, twice; make that work, then try again."
            raise TimingError(t(english, f"这一步抛出了 {said}。请先单独调用两次并修好，再来试。")) from error

    def _find_out(self, bench: Bench) -> None:
        self.bench = bench
        self.out.base, self.out.device = bench.base, bench.look.device
        if bench.random:
            self.out.notes.append(
                both(
                    "The step draws random numbers of its own, so its results were not compared.",
                    "这一步自己会抽随机数，所以没有比较结果。",
                )
            )
        can = [one for one in self.known.values() if not self._refused(one)]
        kept = [one.id for one in can if one.kept]
        for one in (one for one in can if not one.kept):
            if self._left(HERE * FIRST) > 0:
                self._digits(one)
        with contextlib.ExitStack() as stack:
            if not self._all_there(stack, can, kept):
                self._here([one.id for one in can if not one.kept])
                names = self._fitting_there([*kept, *self._for_new_processes()])
                if names and (folder := self._copied(stack, kept)):
                    self._there(folder, names)
        for one in (one for one in can if one.id not in self.out.refused):
            needs = self._least_there_s([one.id]) if one.kept else self._needs([one.id])
            self._row(one.id).setdefault("needs_s", needs)
        might = self._best(("faster",))
        self._settle(1.0, self._needs(might) if len(might) > 1 else 0.0)
        best = self._best()
        there = any(self._row(one).get("processes") for one in best)  # where all of them were compared, too, or nowhere
        if len(best) > 1 and not there and self._needs(best) < self._left():
            self._race({TOGETHER: best}, self._left())

    def _all_there(self, stack: contextlib.ExitStack, can: Sequence[Setting], kept: Sequence[str]) -> bool:
        """On a CPU, compare everything in new processes, if there is the time: a script is one, and this process keeps memory that a new
        one gets from the system in every call. New processes with a GPU take seconds each, and differ less."""
        timed = sorted(
            (name for name, row in self.out.found.items() if "rough_s" in row),
            key=lambda name: self._row(name)["rough_s"],
        )
        names, late = [*kept, *timed], [one.id for one in can if not one.kept and one.id not in self.out.found]
        if self.out.device != "cpu" or late or not names or self._fitting_there(names) != names:
            return False
        folder = self._copied(stack, kept)
        return folder is not None and self._there(folder, names)

    def _here(self, names: Sequence[str]) -> None:
        """Compare these in this process; what is slow comes last, and alone."""
        rough = {name: row["rough_s"] for name in names if "rough_s" in (row := self.out.found.get(name, {}))}
        timed, last = sorted(rough, key=lambda name: rough[name]), []
        while timed and rough[timed[-1]] > SLOW * self.bench.base["rough_s"]:
            last.append(timed.pop())
        alone = [*reversed(last), *(name for name in names if name not in self.out.found)]
        spared = min(sum(self._needs([name]) for name in alone), self._left(HERE)) / 2
        self._race_fitting(timed, self._left(HERE) - spared)
        for name in alone:
            self._alone(name)
        if self.out.device != "cpu":
            self._settle(HERE)

    def _open(self) -> list[str]:
        """The settings that were timed here and have no verdict yet; also those that had too few rounds."""
        open_ = [row for row in self.out.rows() if row["verdict"] in ("unsure", "late") and row["ratio"]]
        return [row["setting"] for row in open_ if not (row["processes"] or verdicts.unjudged(row))]

    def _settle(self, end: float, spared: float = 0.0) -> None:
        """Compare what is still open, while there is time. spared: seconds left for others."""
        while self._race_fitting(self._open(), self._left(end) - spared):
            pass

    def _race_fitting(self, names: Sequence[str], seconds: float) -> bool:
        """Compare those of them that fit into this time; whether any did."""
        if names := self._fitting(names, seconds):
            self._race({name: [name] for name in names}, max(self._needs(names), SHARE * seconds))
        return bool(names)

    def _fitting(self, names: Sequence[str], seconds: float) -> list[str]:
        """Those that can be compared in this time: of too many those with the largest effect."""
        found = sorted(names, key=lambda name: -abs(math.log(self._row(name).get("ratio") or 1)))
        while found and self._needs(found) > seconds:
            found.pop()
        return found

    def _alone(self, name: str) -> None:
        """Time one setting against the step as it is, as long as half the rounds of a verdict fit: they are a beginning."""
        row = self._row(name)
        if "rough_s" not in row and self._needs([name]) / 2 < self._left(HERE):
            self._digits(self.known[name])
        if "rough_s" in row and self._needs([name]) / 2 < self._left(HERE):
            self._race({name: [name]}, self._left(HERE) / 2)

    def _best(self, said: Collection[str] = ()) -> list[str]:
        """The settings to take together; of what was compared once too, where that comparison said so."""
        rows = [row | {"agreed": row["agreed"] or row["said"] in said} for row in self.out.rows()]
        return sorted(row["setting"] for row in verdicts.winners(rows))

    def _refused(self, one: Setting) -> bool:
        asked = self.compile or one.way != "compile"
        only = "" if asked else both("only where asked for (compile)", "要求了才试（compile）")
        if why := one.why_not(self.bench.look) or only:
            self.out.refused[one.id] = why
        return bool(why)

    def _needs(self, names: Sequence[str]) -> float:
        """Seconds for a verdict on these settings, compared at once."""
        base = self.bench.base["rough_s"]
        calls = [base, *(self._row(name).get("rough_s", base) for name in names)]
        return ROUNDS * sum(2 * max(BLOCK_S, one) if one < SHORT_S else one for one in calls)

    @contextlib.contextmanager
    def _said_of(self, names: Sequence[str]) -> Iterator[None]:
        """What goes wrong in the block is said of these settings."""
        self.bar.update(max(0.0, min(time.monotonic() - self.began, self.budget) - self.bar.n))
        try:
            yield
        except Exception as error:  # noqa: BLE001  (what the user's step or torch says of a setting)
            culprit, cause = getattr(error, "candidate", None), repr(error.__cause__ or error)
            if culprit == AS_IS or (culprit and cause in self.raised) or not self.bench.works():
                raise StepFailed(error) from error
            if culprit:
                self.raised.add(cause)
            for name in [culprit] if culprit in names else names:
                self._row(name)["why"] = _said_of(error)

    def _row(self, name: str) -> Row:
        """What is known of a setting, or of the winners together."""
        return self.out.together if name == TOGETHER else self.out.found.setdefault(name, {})

    def _digits(self, one: Setting) -> None:
        with self._said_of([one.id]):
            self._row(one.id).update(self.bench.digits([one]))

    def _race(self, sides: Mapping[str, Sequence[str]], seconds: float) -> None:
        """Time what has these names, as long as none raises; then the others. Of what was timed before the later time counts (of two
        that decide nothing both), and whether both say the same."""
        until = time.monotonic() + seconds
        while sides := {name: ids for name, ids in sides.items() if "why" not in self._row(name)}:
            if self._compared(sides, until - time.monotonic()):
                break

    def _compared(self, sides: Mapping[str, Sequence[str]], seconds: float) -> bool:
        """Whether nothing raised."""
        with self._said_of([*sides]):
            some = {name: [self.known[one] for one in ids] for name, ids in sides.items()}
            if TOGETHER in sides:
                self._look_together(sides[TOGETHER])
            found = self.bench.race(some, max(seconds, 0.5))
            self.busy = self.busy or self.since.others() > BUSY
            for name, row in found.items():
                self.bench.base["rough_s"] = row["base_ms"] / 1e3  # to plan the next with
                self._row(name)["rough_s"] = self.bench.base["rough_s"] * (row["ratio"] or 1)
                row["busy"], before, said = self.busy, self._row(name), kind_of(row)
                if before.get("said") == said == "undecided":
                    row = verdicts.pooled(before, row)
                    said = kind_of(row)  # a difference that shows in both alone is still to be confirmed
                sure = name == TOGETHER or bool(row["low"]) and not (row["low"] < SURE and row["high"] > 1 / SURE)
                before.update(row, said=said, agreed=sure or before.get("said") == said)
            if not all(row["complete"] for row in found.values()):
                raise KeyboardInterrupt
            return True
        return False

    def _copied(self, stack: contextlib.ExitStack, kept: Sequence[str]) -> Path | None:
        """The folder from which new processes take the step, where it can be copied."""
        try:
            return stack.enter_context(processes.saved(self.bench)) if self.copied else None
        except Exception as error:  # noqa: BLE001  (pickling fails in many types)
            self.copied, said = False, _said_of(error)
            english = f"New processes could not take the step ({said}), so this one had to do; a step in a file of its own can be taken."
            chinese = f"新进程拿不到这一步（{said}），所以只在本进程里测过；把它写进单独的文件就可以了。"
            self.out.notes.append(both(english, chinese))
            self.out.refused |= dict.fromkeys(kept, both("needs a process of its own", "需要单独的进程"))
        return None

    def _for_new_processes(self) -> list[str]:
        """What new processes are to tell after this one: what came out faster, and on a CPU what is open or seems equal."""
        best, cpu = self._best(("faster",)), self.out.device == "cpu"
        rows = [row for row in self.out.rows() if row["low"] and not verdicts.unjudged(row)]
        rest = [row["setting"] for row in rows if cpu and row["verdict"] != "slower" and row["setting"] not in best]
        return [*best, *rest]

    def _fitting_there(self, names: Sequence[str]) -> list[str]:
        """The first of these that new processes can compare in the time for it."""
        found = [*names]
        while found and self._least_there_s(found) > SHARE_THERE * self._left():
            found.pop()
        return found

    def _there(self, folder: Path, names: Sequence[str]) -> bool:
        """Compare these in new processes, then what is faster, together, beside what is still open; whether that told anything. What they
        say counts, because a script is a new process.
        """
        for name in [name for name in names if self.known[name].kept]:
            with self._said_of([name]):
                self._row(name).update(processes.digits(folder, [name], max(LEAST_S, self._left())))
        there, seconds, sets = processes.There(folder, self.bench), self._left(), FIRST_PROCESS_LOOK
        spared = (1 - SHARE_THERE) * seconds
        sides = {name: [name] for name in names if "why" not in self._row(name)}
        while sides:
            try:
                for ids in (ids for ids in sides.values() if len(ids) > 1):
                    self._look_together(ids, folder)
                found = there.race(sides, seconds, sets)
            except (ProbeError, TimingError) as error:
                said = _said_of(error)
                english, chinese = f"In new processes the step raised: {said}", f"在新进程里，这一步出错了：{said}"
                self.out.notes.append(both(english, chinese))
                self.copied = False
                break
            self.busy = self.busy or self.since.others() > BUSY
            for name, row in found.items():
                self._told(name, row)
            if not all(row["complete"] for row in found.values()):
                raise KeyboardInterrupt
            sides, seconds, sets = self._next_there(there, spared)
        return any(row["processes"] for row in self.out.rows())

    def _told(self, name: str, row: Row) -> None:
        """What new processes have told of a setting, or of several together, if there are enough of them; few say nothing against what
        was compared here."""
        known = self._row(name) if name in self.known else self.out.together
        asked = name in self.known or name == JOINT.join(known.get("of", ()))
        if asked and row["low"] and (row["processes"] >= FIRST_PROCESS_LOOK or not known.get("ratio")):
            self.bench.base["rough_s"] = row["base_ms"] / 1e3  # to plan the next with
            known["rough_s"] = self.bench.base["rough_s"] * row["ratio"]
            known.update(row, said=kind_of(row), agreed=True, busy=self.busy)

    def _next_there(self, there: processes.There, spared: float) -> tuple[dict[str, list[str]], float, int | None]:
        """What new processes are to compare next, in how many seconds, and how many sets: what may make a difference and is not clear
        yet, a few sets at a time, or else what is open; in the last seconds, spared for it, all that is faster together, too."""
        best, left = self._best(), self._left()
        told = {row["setting"]: row["verdict"] for row in self.out.rows() if row["processes"]}
        unclear = [name for name, verdict in told.items() if verdict not in ("slower", "same")]
        unclear = [name for name in unclear if not there.settled(name)]
        open_ = {name: [name] for name in unclear if there.may_differ(name, verdicts.SMALL)}
        open_ = open_ or {name: [name] for name in unclear if told[name] == "unsure"}
        if open_ and left - self._least_there_s(open_) > spared:
            return open_, left, FIRST_PROCESS_LOOK
        name = JOINT.join(best)
        least = 1 if there.knows(name) else FIRST_PROCESS_LOOK
        joint = {name: best} if len(best) > 1 and not there.settled(name) else {}
        if self._least_there_s(joint, least) > left:
            joint = {}
        later = 0.0 if joint else self._least_there_s(["all"])  # others may turn out to be faster
        for seconds in (left - later, left):
            sides = joint | open_
            while sides and self._least_there_s(sides, least if joint else 1) > seconds:
                sides.popitem()
            if sides:
                return sides, seconds, None
        return {}, 0.0, None

    def _least_there_s(self, names: Iterable[str], sets: int = FIRST_PROCESS_LOOK) -> float:
        """Seconds that so many sets of new processes of these sides take at least."""
        base = self.bench.base["rough_s"]
        return processes.least_s([base, *(self.out.found.get(name, {}).get("rough_s", base) for name in names)], sets)

    def _look_together(self, best: Sequence[str], folder: Path | None = None) -> None:
        """What the winners change in the result, together. folder: from which a new process takes the step to tell it."""
        if self.out.together.get("of") != best:
            some = [self.known[one] for one in best]
            about = {"of": best, "lossy": any(one.lossy for one in some)}
            digits = processes.digits(folder, best, max(LEAST_S, self._left())) if folder else self.bench.digits(some)
            self.out.together = about | digits

    def _say_where(self) -> None:
        """Name what was compared in new processes, and what was not."""
        rows = [row for row in self.out.rows() if row["low"]]
        there, here = ([row for row in rows if bool(row["processes"]) is new] for new in (True, False))
        if there:
            counts = sorted({row["processes"] for row in there})
            many = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
            names = self._listed(there) if here else both("", "")
            english = f"Compared in new processes, {many} on each side{': ' * bool(here)}{names['en']}."
            chinese = f"在新进程里比过，每边 {many.replace(' to ', ' 到 ')} 个{'：' * bool(here)}{names['zh']}。"
            self.out.notes.append(both(english, chinese))
        if here and self.copied:
            names = self._listed(here)
            english = f"In this process alone, a script may differ: {names['en']}."
            chinese = f"只在本进程里比过，在脚本里可能不同：{names['zh']}。"
            self.out.notes.append(both(english, chinese))

    def _listed(self, rows: Iterable[Row]) -> Text:
        """The names of their settings."""
        named = [self.known[row["setting"]].name for row in rows]
        names = [one if isinstance(one, Mapping) else both(one, one) for one in named]
        return both(", ".join(name["en"] for name in names), "、".join(name["zh"] for name in names))


def _said_of(error: BaseException) -> str:
    """An exception in a line."""
    line = (str(error).strip().splitlines() or [""])[0][:300].rstrip(".")
    return line if isinstance(error, (TimingError, ProbeError)) else f"{type(error).__name__}: {line}".strip(": ")
