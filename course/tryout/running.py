"""One call of ``try_switches``: from the look at the step to its outcome; and the new processes in which copies of the step are tried.

A script is a new process, too, and this one keeps memory that a new one gets from the system in every call. The other end of the processes
is `course.tryout.worker`.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import statistics
import tempfile
import time
import types
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from course.core import cpu_load
from course.core.bars import end_progress, progress, reach
from course.core.i18n import t
from course.core.machine import one_line, passport
from course.core.new_process import NewProcessError, call, taking_turns
from course.flags import snapshot
from course.timing import TimingError
from course.timing.processes import Block, in_turns
from course.timing.stats import t_quantile
from course.timing.validation import require_callable, require_positive
from course.tryout import verdicts, worker
from course.tryout.result import Tried
from course.tryout.settings import BLOCK_S, Look, Setting, Step, chosen
from course.tryout.verdicts import JOINT
from course.tryout.worker import REST_S, said_of

AS_IS = "as it is"
FEWEST = 4
"""Sets before anything is said: each is one value."""
ROUNDS = 4
"""Fewest rounds of a set; the first of them does not count."""
ERROR = 0.01
"""The chance that one of the likely ranges of a run misses."""
OTHERS = 4
"""What the others say of how far ratios scatter counts as so many more sets."""
LEAST_S = 5.0
"""Seconds that a look at the winners together gets at least."""
LOOK, LAST = 0.35, 0.35
"""Shares of the budget: for what settings do to the result; at its end, in which the winners run together even if others are open."""
TIMED, TIMED_S = 0.75, 0.3
"""How long a set is timed: this share of what it takes to start, at least so many seconds."""
START_S = (2.0, 0.1)
"""About what it takes to start a process that uses a GPU; one that does not."""
BUSY = 0.15
"""Part of all processors used by other programs, from which small differences do not show."""


def run(work: Any, inputs: Sequence[Any], only: str | Sequence[str] | None, budget: float) -> Tried:
    """What the verb does, with its arguments."""
    require_callable(getattr(work, "__name__", "step"), work)
    require_positive(budget=budget)
    trial = Trial(partial(work, *inputs) if inputs else work, chosen(only), float(budget))
    with tempfile.TemporaryDirectory(prefix="try_switches-") as folder:
        try:
            trial.look(folder)
            while names := trial.next():
                trial.compare(names)
        finally:
            end_progress(trial.bar)
    return trial.told()


class Trial:
    """State of one call. ratios: one of each set, by name, which is the id of a setting, or the ids of several, see JOINT. base_s: seconds
    of the step as it is, of each set. others: the part of all processors that other programs used, of each set. rough_s: about what a
    call takes. side_s: about what each process of a set takes."""

    venue: Venue
    rough_s = side_s = 0.0

    def __init__(self, step: Step, settings: Sequence[Setting], budget: float) -> None:
        self.step, self.began, self.budget = step, time.monotonic(), budget
        self.bar = progress(budget, t("trying switches", "正在试开关"))
        self.known = {one.id: one for one in settings}
        self.ratios, self.base_s, self.others = dict[str, list[float]](), list[float](), list[float]()
        self.out = Tried(settings, one_line())

    def left(self) -> float:
        """Seconds until the budget is used."""
        spent = time.monotonic() - self.began
        reach(self.bar, spent, self.budget)
        return self.budget - spent

    # --- what settings do to the result ---------------------------------------------------------------------------

    def look(self, folder: str) -> None:
        """See what runs in the step, and what each setting does to the result. Raises TimingError where the step cannot be copied, or
        fails as it is, in one sentence for both: what was raised says which."""
        wanted = {name: [name] for name, one in self.known.items() if not one.kept}
        try:
            self.venue = Venue(self.step, folder)
            found = self.venue.probe(wanted, LOOK * self.budget)
        except Exception as error:  # noqa: BLE001  (pickling fails in many types)
            said = said_of(error)
            raise TimingError(
                t(
                    f"The step runs in copies, in new processes, and that failed: {said}. Call it by itself, twice: that must work. "
                    "Create inside the step what cannot be copied, or write the step, with all it uses, into a file mylab.py and call "
                    "try_switches(mylab.step).",
                    f"这一步要复制到新进程里跑，可是失败了：{said}。请先单独调用两次，确认不出错。复制不了的东西，请在这一步里面新建，"
                    "或者把这一步连同它用到的都写进文件 mylab.py，再调用 try_switches(mylab.step)。",
                )
            ) from None
        look, self.rough_s = Look(**found["look"]), found["rough_s"]
        self.side_s = (1 + TIMED) * START_S[look.device == "cpu"] + ROUNDS * (REST_S + BLOCK_S + self.rough_s)
        self.out.device = look.device
        if found["random"]:
            self.out.note(
                "Its results were not compared: two calls from the same start differ, because the step draws random numbers of its own, "
                "or keeps something in a module.",
                "没有比较结果：起点相同的两次调用，结果不同，因为这一步自己抽随机数，或者在模块里留下了什么。",
            )
        for name, one in self.known.items():
            if why := one.why_not(look):
                self.out.refused[name] = why
            else:
                self.out.found[name] = self._digits(name) if one.kept else found["rows"].get(name, {})

    def _digits(self, name: str) -> dict[str, Any]:
        """What these settings do to the result, by a new process; where there was no time for it, nothing."""
        try:
            found = self.venue.probe({name: name.split(JOINT)}, max(LEAST_S, self.left()))
        except NewProcessError as error:
            return {"why": said_of(error)}
        return dict(found["rows"].get(name, {}))

    # --- times ----------------------------------------------------------------------------------------------------

    def next(self) -> list[str]:
        """The names to compare next: what may help much, else what is open; and the winners together, once nothing else may help much or
        the end is near. Empty: all is settled, or the budget is used."""
        known = self.out.rows()
        rows = [row for row in known if row["setting"] in self.known and row["float64"] is not None]
        rows = sorted((row for row in rows if not verdicts.settled(row)), key=lambda row: -(row["sets"] or 0))
        worth = [row for row in rows if row["low"] is None or verdicts.hopeful(row)]
        names, joint = [row["setting"] for row in worth or rows], verdicts.joint(known)
        if joint and not verdicts.settled(self.out.found.get(joint, {})):
            names = [joint] * (not worth or self.left() < LAST * self.budget) + names
        names = names[: self.venue.most]
        while len(names) > 1 and self._needs_s(names) > self.left():
            names.pop()
        return names if names and (1 + len(names)) * self.side_s < self.left() else []

    def _needs_s(self, names: Sequence[str]) -> float:
        """About the seconds until something can be said of all of these, or for one more set."""
        sets = max([1, *(FEWEST - len(self.ratios.get(name, ())) for name in names)])
        return sets * (1 + len(names)) * self.side_s

    def compare(self, names: Sequence[str]) -> None:
        """Time one set of these, in turns with the step as it is. Raises TimingError where the step itself raised, or no process could be
        started."""
        rows = self.out.found
        for name in names:
            if name not in rows:
                rows[name] = self._digits(name)
        began, since, used_s = time.monotonic(), cpu_load.Since(), self.venue.used_s
        try:
            sides = {AS_IS: list[str](), **{name: name.split(JOINT) for name in names}}
            with self.venue.open(sides, self.rough_s, self.out.device) as block:
                start_s = time.monotonic() - began
                found = in_turns(partial(_timed, block), [*sides], max(TIMED * start_s, TIMED_S), ROUNDS)
        except Exception as error:  # noqa: BLE001  (what the step raised, or a process that could not be started)
            name, said = getattr(error, "name", AS_IS), said_of(error)
            if name == AS_IS:
                english = f"The step failed after some calls: {said}. Every call must start the same: create inside it what it uses up."
                chinese = f"这一步调用若干次后失败了：{said}。每次调用的起点必须相同：会用完的东西请在这一步里创建。"
                raise TimingError(t(english, chinese)) from None
            rows[name]["why"] = said
            return
        base = found.pop(AS_IS)
        part = (self.venue.used_s - used_s) / (time.monotonic() - began) / (os.cpu_count() or 1)
        self.others.append(max(0.0, since.others() - part))
        self.side_s = (time.monotonic() - began) / len(sides)
        self.rough_s = statistics.median(base)
        self.base_s.append(self.rough_s)
        for name, seconds in found.items():
            self.ratios.setdefault(name, []).append(
                statistics.median(one / other for one, other in zip(seconds, base, strict=True))
            )
        likely, busy = ranges(self.ratios), statistics.fmean(self.others) > BUSY
        for name, some in self.ratios.items():
            ratio, low, high = likely.get(name, (some[-1], None, None))
            rows[name].update(ratio=ratio, low=low, high=high, sets=len(some))
            if busy and name in self.known and self.known[name].family == "threads":  # they wait for one another
                rows[name].update(low=None, high=None, why=t("the machine is too busy to tell", "机器太忙，说不准"))

    # --- the end --------------------------------------------------------------------------------------------------

    def told(self) -> Tried:
        """What came out, with what is to be said of the whole run."""
        out = self.out
        out.base_ms, out.seconds = 1e3 * statistics.median(self.base_s or [0.0]), time.monotonic() - self.began
        used = statistics.fmean(self.others) if self.others else cpu_load.others()
        if used > BUSY and out.found:
            part = f"{100 * used:.0f}"
            out.note(
                f"Other programs used {part} % of this machine: small differences do not show, threads cannot be judged. "
                "Try again when it is quiet.",
                f"其他程序占用了这台机器的 {part}%：小的差别看不出来，线程数也没法判断。等机器空闲再试。",
            )
        elif any(row["verdict"] == "late" or verdicts.hopeful(row) for row in out.rows()):
            out.note("A larger budget may settle what is open.", "加大预算，没定的也许能有结论。")
        return out


def _timed(block: Block, name: str) -> float:
    """Seconds a call. What is raised gets the name to blame: a step that raises after some calls raises in this one, too."""
    try:
        return block(name)
    except Exception as error:
        try:
            for _ in range(2):
                block(AS_IS)
        except Exception:  # noqa: BLE001  (the user's step)
            name = AS_IS
        error.name = name  # type: ignore[attr-defined]
        raise


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


# --- new processes --------------------------------------------------------------------------------------------

LIMIT_S = 600.0
"""Longest wait for a block."""


class Venue:
    """New processes. folder: empty; gets the saved step. used_s: seconds of processors that they have used. most: so many at once, beside
    one for the step as it is, or their copies would fill half of the memory. Raises what a step that cannot be copied raises."""

    used_s = 0.0

    def __init__(self, step: Step, folder: str) -> None:
        import cloudpickle  # here, because only this needs it

        class Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]
            """Modules of a class of their own, such as torch.backends.cudnn, go by name: a step may hold or call one."""

            def reducer_override(self, obj: Any) -> Any:
                if isinstance(obj, types.ModuleType) and type(obj) is not types.ModuleType:
                    return importlib.import_module, (obj.__name__,)
                return super().reducer_override(obj)

        self.folder = folder
        switches = {name: value for name, value in snapshot().items() if isinstance(value, (bool, int, str))}
        torch.save((torch.is_grad_enabled(), torch.get_default_dtype(), switches), Path(folder, "process"))
        pickling = types.SimpleNamespace(__name__="cloudpickle", Pickler=Pickler)
        torch.save(step, Path(folder, "step"), pickle_module=pickling)
        self.most = max(1, int((passport("cpu")["memory_gib"] or 8) * 2**29 / Path(folder, "step").stat().st_size) - 1)

    def probe(self, wanted: Mapping[str, Sequence[str]], seconds: float) -> dict[str, Any]:
        """See `worker.probe`. wanted: name -> ids of the settings in force together. Raises NewProcessError, also after three times as many
        seconds."""
        return dict(call(f"{worker.__name__}:probe", self.folder, wanted, seconds, timeout_s=3 * seconds))

    @contextlib.contextmanager
    def open(self, sides: Mapping[str, Sequence[str]], rough_s: float, device: str) -> Iterator[Block]:
        """Gives what times a block, each name in a process of its own; all of them take turns. Raises NewProcessError."""
        tasks = {name: (self.folder, ids, rough_s, device) for name, ids in sides.items()}
        with taking_turns(f"{worker.__name__}:take", tasks, timeout_s=LIMIT_S) as processes:
            yield lambda name: float(processes[name].call(f"{worker.__name__}:block", timeout_s=LIMIT_S))
            self.used_s += sum(process.call("time:process_time") for process in processes.values())
