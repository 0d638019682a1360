"""One call of ``try_switches``: from the look at the step to its outcome."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any

from course.flags import preserved
from course.i18n import Text, both, t
from course.load import busy
from course.machine import one_line
from course.timing import TimingError
from course.tryout import verdicts
from course.tryout.look import Look
from course.tryout.measuring import Row
from course.tryout.reach import check_no_iterator, device_of, put_back
from course.tryout.result import Tried
from course.tryout.settings import Setting, TryError, chosen, untouched, why_not
from course.tryout.starting import Copies, Ended
from course.tryout.work import work_of
from course.tryout.worker import find_out

LEAST_S = 5.0
KEPT_S = 20.0
"""Smallest budget; and least seconds for a comparison in new processes at the end."""


def run(
    work: Any, inputs: Sequence[Any], training: bool, only: str | Sequence[str] | None, compile_: bool, budget: float
) -> Tried:
    """What the verb does, with its arguments."""
    step = work_of(work, inputs, training)
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not LEAST_S <= budget < 86_400:
        raise TryError(
            both(
                f"budget is a number of seconds, at least {LEAST_S:g}, not {budget!r}.",
                f"budget 是秒数，至少 {LEAST_S:g}，而不是 {budget!r}。",
            )
        )
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    found = _Run({"only": only, "compile": compile_, "cores": cores}, chosen(only, compile_, cores), budget)
    return found.go(step)


class _Run:
    """One call of the verb: what is known so far."""

    def __init__(self, spec: dict[str, Any], settings: Sequence[Setting], budget: float) -> None:
        self.spec, self.settings, self.budget, self.began = spec, settings, budget, time.monotonic()
        self.found: dict[str, dict[str, Any]] = {}
        self.look: Look | None = None
        self.base: Row = {}
        self.notes: list[Text] = []
        self.here = False

    def go(self, step: Any) -> Tried:
        """Find out as much as the budget allows."""
        if busy():
            self.notes.append(
                both(
                    "Other programs keep this machine busy: small differences will not show.",
                    "其他程序正占着这台机器：小的差别看不出来。",
                )
            )
        stopped = False
        try:
            with _progress(self.budget) as self.bar:
                try:
                    copies = Copies(step, self.spec)
                except Exception as why:  # noqa: BLE001  (pickling fails in many types)
                    self._here(step, why)
                else:
                    with copies:
                        try:
                            self._with_copies(copies)
                        except _NotCopied as why:
                            self._here(step, why)
        except KeyboardInterrupt:
            stopped = True
            self.notes.append(both("Stopped: this is what was found so far.", "已停止：以下是目前得到的结果。"))
        return self._result(stopped)

    def _left(self) -> float:
        return self.budget - (time.monotonic() - self.began)

    def _with_copies(self, copies: Copies) -> None:
        kept_s = self.budget / 3 if any(one.kept for one in self.settings) else 0.0
        try:
            copies.find_out({"seconds": max(LEAST_S, self.budget - kept_s)}, self._tell)
        except Ended as why:
            if self.look is None:  # the copy could not even be loaded
                raise _NotCopied(str(why)) from why
            self.notes.append(
                both(f"A process with a copy of the step ended early: {why}.", f"带着这一步副本的进程提前结束：{why}。")
            )
        kept = [one for one in self.settings if one.kept and self.found.get(one.id, {"why": "?"}).get("why") is None]
        if kept:
            with self._said_of(kept):
                rows = copies.race([(one.id,) for one in kept], self.device, max(kept_s, self._left()))
                for one in kept:
                    self.found[one.id] |= rows[(one.id,)]
        best = [row["setting"] for row in verdicts.winners(self._result(False).rows())]
        if len(best) > 1:
            self._together(copies, best)

    @property
    def device(self) -> str:
        """Where the step computes; the CPU until that is known."""
        return self.look.device if self.look else "cpu"

    def _together(self, copies: Copies, ids: list[str]) -> None:
        """All of these settings at once."""
        seconds = max(LEAST_S, self._left())
        with contextlib.suppress(Ended, TryError):
            copies.find_out({"seconds": seconds / 2, "together": ids}, self._tell)
        if "together" in self.found and "ratio" not in self.found["together"]:
            with self._said_of(()):
                self.found["together"] |= copies.race([tuple(ids)], self.device, max(KEPT_S, seconds))[tuple(ids)]

    @contextlib.contextmanager
    def _said_of(self, settings: Sequence[Setting]) -> Iterator[None]:
        """An error of the timed processes is said of these settings."""
        try:
            yield
        except TimingError as error:
            for one in settings:
                self.found[one.id]["why"] = str(error)

    def _here(self, step: Any, why: BaseException) -> None:
        """Try in this process what needs no other, and put everything back."""
        self.here = True
        self.notes.append(
            both(
                f"The step could not be copied into a new process ({type(why).__name__}: {why}), so it ran in this one and was put back. "
                "Settings that need new processes were not tried; a step in a file of its own could be copied.",
                f"这一步没法复制到新进程（{type(why).__name__}：{why}），所以在当前进程里运行，之后全部恢复。"
                "需要新进程的设置没有试；把这一步写进单独的文件，就能复制了。",
            )
        )
        check_no_iterator(step)
        with preserved(), put_back(step, device_of(step)):
            find_out(step, {**self.spec, "seconds": max(LEAST_S, self._left()), "here": True}, self._tell)

    def _tell(self, row: Row) -> None:
        """Take in what was found, and move the progress bar. Raises TryError where the step itself fails."""
        if "raised" in row:
            en = f"The step raised {row['raised']}. Call it by itself, make that work, then try again."
            raise TryError(both(en, f"这一步抛出了 {row['raised']}。请先单独调用一次并修好，再来试。"))
        if "look" in row:
            self.look = Look(**{**row["look"], "operators": set(row["look"]["operators"])})
            if row["random"]:
                self.notes.append(
                    both(
                        "The step draws random numbers of its own, so its results were not compared.",
                        "这一步自己会抽随机数，所以没有比较结果。",
                    )
                )
        elif "base" in row:
            self.base = row["base"]
        else:
            self.found.setdefault(row["id"], {}).update({key: value for key, value in row.items() if key != "id"})
            self.bar.set_postfix_str(row["id"], refresh=False)
        self.bar.update(min(time.monotonic() - self.began, self.budget) - self.bar.n)

    def _result(self, stopped: bool) -> Tried:
        refused = (
            {one.id: self._why_refused(one) for one in self.settings if one.id not in self.found} if self.look else {}
        )
        return Tried(
            settings=self.settings,
            found={name: row for name, row in self.found.items() if name != "together"},
            together=self.found.get("together"),
            refused=refused,
            untouched=untouched(self.settings, self.device) if self.look and self.spec["only"] is None else {},
            machine=one_line(),
            seconds=time.monotonic() - self.began,
            notes=(*self.notes, *self._late()),
            stopped=stopped,
            base=self.base,
        )

    def _late(self) -> list[Text]:
        late = [row["late_s"] for row in self.found.values() if "late_s" in row and "ratio" not in row]
        count, more = len(late), math.ceil(max(self.budget, time.monotonic() - self.began) + sum(late))
        said = both(f"{count} of them had no time: give budget={more}.", f"有 {count} 项没时间试：请设 budget={more}。")
        return [said] if late else []

    def _why_refused(self, setting: Setting) -> Any:
        assert self.look is not None
        own = (
            both("needs a process of its own", "需要单独的进程") if self.here and (setting.kept or setting.pins) else ""
        )
        return why_not(setting, self.look) or own or both("not reached", "没轮到")


class _NotCopied(RuntimeError):
    """The copy of a step could not be loaded."""


@contextlib.contextmanager
def _progress(seconds: float) -> Iterator[Any]:
    from tqdm.auto import tqdm

    form = "{desc}: {bar} {n:.0f}/{total:.0f} s {postfix}"
    with tqdm(
        total=seconds, desc=t("trying switches", "正在试开关"), leave=False, disable=None, bar_format=form
    ) as bar:
        yield bar
