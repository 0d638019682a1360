"""One call of ``try_switches``: from the look at the step to its outcome."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from course.i18n import Text, both, t
from course.isolation.journal import Unrestorable
from course.timing import TimingError
from course.timing.clock import somebody_watches, whole_progress
from course.timing.validation import hidden_prints
from course.tryout import verdicts
from course.tryout.bench import Bench, Row
from course.tryout.elsewhere import Elsewhere
from course.tryout.here import HERE, Here
from course.tryout.result import Tried
from course.tryout.settings import Setting, chosen
from course.tryout.step import Step, step_of
from course.tryout.trial import StepFailed, Trial, said_of

LEAST_S = 5.0
"""Smallest budget."""
FIRST = 0.4
"""Share of the time in this process for a first look at every setting; the rest are looked at when it is their turn."""


def run(
    work: Any, inputs: Sequence[Any], training: bool, only: str | Sequence[str] | None, compile_: bool, budget: float
) -> Tried:
    """What the verb does, with its arguments."""
    step = step_of(work, inputs, training)
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not LEAST_S <= budget < 86_400:
        english = f"budget is a number of seconds, at least {LEAST_S:g}, not {budget!r}."
        raise TimingError(t(english, f"budget 是秒数，至少 {LEAST_S:g}，而不是 {budget!r}。"))
    trial = Trial(chosen(only), float(budget))
    if not somebody_watches():  # else a bar shows it
        print(t(f"This takes about {budget:g} s.", f"大约要 {budget:g} 秒。"), file=sys.stderr)
    with whole_progress(trial.budget, t("trying switches", "正在试开关")) as trial.bar:
        try:
            with hidden_prints() as sink, contextlib.redirect_stderr(sink):
                trial.bench = _bench(step)
                _find_out(trial, compile_ or only is not None)
        except KeyboardInterrupt:
            trial.out.stopped = True
            trial.note("Stopped: this is what was found so far.", "已停止：以下是目前得到的结果。")
        except StepFailed as failed:
            _failed(trial, failed)
    if trial.out.together.get("of") != trial.best():
        trial.out.together.clear()
    trial.out.seconds = time.monotonic() - trial.began
    if trial.busy:
        part = f"{100 * trial.since.others():.0f}"
        trial.note(
            f"Other programs used {part} % of this machine: small differences do not show, threads cannot be judged. "
            "Try again when it is quiet.",
            f"其他程序占用了这台机器的 {part}%：小的差别看不出来，线程数也没法判断。等机器空闲再试。",
        )
    if not (trial.out.stopped or trial.out.failed):
        _more(trial)
    _say_where(trial)
    return trial.out


def _bench(step: Step) -> Bench:
    """Raises TimingError where the step fails as it is."""
    try:
        return Bench(step)
    except Unrestorable as error:
        raise TimingError(str(error)) from error
    except Exception as error:
        said = said_of(error)
        english = f"The step raised {said}. Call it by itself, twice; make that work, then try again."
        raise TimingError(t(english, f"这一步抛出了 {said}。请先单独调用两次并修好，再来试。")) from error


def _find_out(trial: Trial, compile_: bool) -> None:
    """As much as the budget allows. On a CPU new processes compare everything, if there is the time; with a GPU they take seconds each, and
    differ less."""
    out, bench = trial.out, trial.bench
    out.base, out.device = bench.base, bench.look.device
    if bench.random:
        trial.note(
            "The step draws random numbers of its own, so its results were not compared.",
            "这一步自己会抽随机数，所以没有比较结果。",
        )
    can = [one for one in trial.known.values() if not _refused(trial, one, compile_)]
    kept, others = ([one.id for one in can if one.kept is kind] for kind in (True, False))
    here = Here(trial)
    for name in others:
        if trial.left(HERE * FIRST) > 0:
            here.look(name)
    with contextlib.ExitStack() as stack:
        there = Elsewhere(trial, stack)
        if out.device != "cpu" or not there.all(kept, others):
            here.compare(others)
            there.after_here(kept)
    for one in (one for one in can if one.id not in out.refused):
        needs = there.least_s([one.id]) if one.kept else here.needs_s([one.id])
        trial.row(one.id).setdefault("needs_s", needs)
    might = trial.best(("faster",))
    here.settle(1.0, here.needs_s(might) if len(might) > 1 else 0.0)
    best = trial.best()
    in_new = any(trial.row(one).get("processes") for one in best)  # where all of them were compared, too, or nowhere
    if len(best) > 1 and not in_new:
        here.together(best)


def _refused(trial: Trial, one: Setting, compile_: bool) -> bool:
    asked = compile_ or one.way != "compile"
    only = (
        "" if asked else both("only with compile=True (shell: --compile)", "加 compile=True 才试（命令行：--compile）")
    )
    if why := one.why_not(trial.bench.look) or only:
        trial.out.refused[one.id] = why
    return bool(why)


def _failed(trial: Trial, failed: StepFailed) -> None:
    """The step itself raised: what was not timed before was not tried."""
    out = trial.out
    out.failed = failed.kind
    trial.note(
        f"It raised {failed.said}. Every call must start the same: create what it uses up, such as an iterator, "
        "inside the step.",
        f"它抛出了 {failed.said}。每次调用的起点必须相同：会用完的东西（如迭代器）请在这一步里创建。",
    )
    for name in [name for name, row in out.found.items() if not row.get("rounds")]:
        del out.found[name]
        out.refused[name] = both("the step raised before its turn", "还没轮到，这一步就出错了")


def _say_where(trial: Trial) -> None:
    """Name what was compared in new processes, and what was not."""
    rows = [row for row in trial.out.rows() if row["low"]]
    there, here = ([row for row in rows if bool(row["processes"]) is new] for new in (True, False))
    if there:
        counts = sorted({row["processes"] for row in there})
        many = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        names = _listed(trial, there) if here else both("", "")
        trial.note(
            f"Each ran in {many} new processes{': ' * bool(here)}{names['en']}.",
            f"每项都在 {many.replace(' to ', ' 到 ')} 个新进程里跑过{'：' * bool(here)}{names['zh']}。",
        )
    if here and trial.copied:
        names = _listed(trial, here)
        trial.note(
            f"In this process only (scripts may differ): {names['en']}.",
            f"只在本进程里比过，在脚本里可能不同：{names['zh']}。",
        )


def _more(trial: Trial) -> None:
    """Say how large a budget would bring the verdicts that are missing."""
    rows = [row for row in trial.out.rows() if not verdicts.unjudged(row)]
    late = [trial.row(row["setting"])["needs_s"] for row in rows if row["verdict"] == "late"]
    open_ = [row for row in rows if verdicts.may_save(row)]
    if late or open_:
        more = math.ceil(trial.out.seconds + 1.5 * sum(late) + len(open_) * trial.budget / 2)
        names = _listed(trial, (row for row in rows if row["verdict"] == "late" or row in open_))
        least = f"{100 * verdicts.SMALL:.0f}"
        trial.note(
            f"{names['en']} may still save more than {least} %: try a budget of {more} s.",
            f"还可能省 {least}% 以上：{names['zh']}。可以把预算设为 {more} 秒再试。",
        )


def _listed(trial: Trial, rows: Iterable[Row]) -> Text:
    """The names of their settings."""
    named = [trial.known[row["setting"]].name for row in rows]
    names = [one if isinstance(one, Mapping) else both(one, one) for one in named]
    return both(", ".join(name["en"] for name in names), "、".join(name["zh"] for name in names))
