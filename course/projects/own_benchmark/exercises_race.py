"""Checks of the project, part 2: the race between the ways, on a pretended machine. No real time is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course.i18n import Text, both
from course.projects.own_benchmark.pretended import LAUNCH_MS, MOST, Endless, Machine
from course.verdict import Verdict, correct, incorrect, partly

ALONE = {"a": [90, 4], "b": [90, 6]}
DISTURBED = {"a": [90, 2, 40, 2, 2, 40, 2, 2, 2, 2, 40, 2], "b": [90, 5, 5, 5, 5, 5, 1, 5, 5, 5, 5, 1, 5]}
"""a: three of the calls are disturbed by another program; b: two are luckily quick."""


def check_race(race: Callable[..., Any]) -> Verdict:
    """One round after the warm-up; many rounds with disturbed calls; a machine that becomes slower and slower."""
    try:
        return _one_round(race) or _disturbed(race) or _slowing_down(race) or _right()
    except Endless:
        return incorrect(
            both(
                f"The ways were called more than {MOST} times: a loop does not end.",
                f"各算法被调用了超过 {MOST} 次：有个循环停不下来。",
            ),
            reason="endless",
        )


def _raced(race: Callable[..., Any], machine: Machine, *rounds: int) -> dict[str, float] | Verdict:
    """What the learner's race says of the pretended machine, or why it has no usable form."""
    found = race(machine.runs, machine.clock, machine.wait, *rounds)
    try:
        if set(found) == set(machine.runs):
            return {name: float(found[name]) for name in found}
    except (TypeError, ValueError):
        pass
    return incorrect(
        both(
            "Give back a dictionary: name -> milliseconds, all names in it.",
            "请返回字典：名字 -> 毫秒，每个名字都要有。",
        ),
        reason="form",
    )


def _one_round(race: Callable[..., Any]) -> Verdict | None:
    """First calls take 90 ms, 300 ms of other work wait in the queue; one round leaves nothing to a median."""
    machine = Machine(ALONE, queued_ms=300)
    found = _raced(race, machine, 1)
    if isinstance(found, Verdict):
        return found
    if all(_near(found[name], ms[-1]) for name, ms in ALONE.items()):
        return None
    told = both(
        f"Planted: later calls take {_listed(ALONE)} ms, and your race says {_said(found)}. ",
        f"预先定好：后面的调用各要 {_listed(ALONE)} ms，你的比赛给出 {_said(found)}。",
    )
    if all(_near(ms, LAUNCH_MS) for ms in found.values()):
        return _slip(
            "launch",
            told,
            both(
                "That is the time of putting the work into the queue. `wait()` before the clock is stopped.",
                "这只是把活放进队列的时间。停表之前要先 `wait()`。",
            ),
        )
    if min(machine.counts[name] for name in machine.runs) == 1:
        return _slip(
            "first-call",
            told,
            both(
                "The first call of each way pays for what is made once. Call each of them once before the race.",
                "每种算法的第一次调用，都要为只做一次的准备付钱。比赛前先各调一次。",
            ),
        )
    if any(found[name] > 1.1 * ms[-1] for name, ms in ALONE.items()):
        return _slip(
            "before",
            told,
            both(
                "Earlier work was still in the queue when the clock was started. `wait()` before it, too.",
                "开表时队列里还有前面的活。开表之前也要 `wait()`。",
            ),
        )
    return _slip("numbers", told, both("The time of one call is asked for, in ms.", "要的是一次调用的毫秒数。"))


def _disturbed(race: Callable[..., Any]) -> Verdict | None:
    machine = Machine(DISTURBED)
    found = _raced(race, machine, 9)
    if isinstance(found, Verdict):
        return found
    if min(machine.counts[name] for name in machine.runs) < 9:
        return incorrect(
            both("Nine rounds were asked for, and there were fewer.", "要求 9 轮，实际不到 9 轮。"), reason="rounds"
        )
    if all(_near(found[name], ms[1]) for name, ms in DISTURBED.items()):
        return None
    told = both(
        "Nine rounds. Usually a takes 2 ms and b 5; other programs disturbed three calls of a, two of b were lucky. "
        f"Your race says {_said(found)}. ",
        f"9 轮，通常 a 要 2 ms、b 要 5 ms；其中 a 有三次被别的程序打扰，b 有两次碰巧很快。你的比赛给出 {_said(found)}。",
    )
    if found["b"] <= 1.1:
        return _slip(
            "least",
            told,
            both("The least of the calls tells what luck can do. Take the median.", "最小值说的是运气。请取中位数。"),
        )
    if found["a"] > 2.5 and found["b"] < 5.5:
        return _slip(
            "mean",
            told,
            both("A mean follows a few disturbed calls. Take the median.", "几次打扰就能把平均值带偏。请取中位数。"),
        )
    return _slip("numbers", told, both("The median of the rounds is asked for.", "要的是各轮的中位数。"))


def _slowing_down(race: Callable[..., Any]) -> Verdict | None:
    """One way takes 3 ms, the other 2; each call takes 8 % longer than the one before. By default nine rounds."""
    for slow, fast in ("ab", "ba"):
        found = _raced(race, Machine({"a": [3 if slow == "a" else 2], "b": [3 if slow == "b" else 2]}, slower=1.08))
        if isinstance(found, Verdict):
            return found
        if found[slow] <= found[fast]:
            return _blocks(slow, fast, found)
    return None


def _blocks(slow: str, fast: str, found: Mapping[str, float]) -> Verdict:
    return partly(
        0.5,
        1.0,
        both(
            f"The clock is right now. But this machine becomes slower with every call (heat, another program). At the same moment {slow} "
            f"takes 3 ms and {fast} 2; your race says {_said(found)}: one ran in the good time, the other in the bad. Take turns: "
            "a, b, a, b, ...",
            f"表已经看对了。但这台机器越跑越慢（发热，或者别的程序）。同一时刻 {slow} 要 3 ms、{fast} 要 2 ms，你的比赛给出 "
            f"{_said(found)}：一个赶上好时候，一个赶上坏时候。要轮着来：a、b、a、b……",
        ),
        reason="blocks",
    )


def _right() -> Verdict:
    return correct(
        both(
            "First calls, a full queue, disturbed calls, a machine that slows down: your race is fooled by none of them.",
            "首次调用、队列没空、被打扰、机器变慢：哪一样都骗不了你的比赛。",
        )
    )


def _near(found: float, planted: float) -> bool:
    return abs(found - planted) < 0.1 * planted


def _listed(planted: Mapping[str, Sequence[float]]) -> str:
    return _said({name: ms[-1] for name, ms in planted.items()})


def _said(found: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {ms:.3g}" for name, ms in sorted(found.items()))


def _slip(reason: str, told: Text, more: Text) -> Verdict:
    return incorrect(both(told["en"] + more["en"], told["zh"] + more["zh"]), reason=reason)


CHECKS = {"own-race": check_race}
