"""The end of the project: the learner's convolution beside PyTorch's, on eight problems, as one block with picture and table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from course.core.i18n import Text, both, pick, t
from course.core.records import Record
from course.core.units import format_ms
from course.exercises.exercise import MISSING, all_exercises, judge
from course.experiment.base import Budget
from course.experiment.reading import EMPTY, TOO_NOISY, left_open_in_words, race_row
from course.experiment.result import small_line
from course.figures.block import Betted, Block, Fold
from course.figures.kinds import Ratio, ratio_rows

Conv = Callable[..., Any]
"""conv(x, weight, **setting) -> tensor, as F.conv2d takes them."""
SETTINGS = {"cuda": {"cudnn.benchmark": True, "cudnn.allow_tf32": False}, "cpu": {"torch.num_threads": 1}}
"""The switches while both sides run, by device."""
SECONDS, EACH_S = 45.0, 2.5
"""For all problems together, searches included, and for one comparison; on a machine with nothing else to do half of it is needed."""


class Problem(NamedTuple):
    """One convolution: its name, the shapes of image and weight, what its setting names."""

    name: Text
    image: tuple[int, int, int, int]
    kernel: tuple[int, int, int, int]
    setting: dict[str, int]


PROBLEMS = (
    Problem(both("a thumbnail", "小缩略图"), (1, 3, 16, 16), (8, 3, 3, 3), {"padding": 1}),
    Problem(both("3 × 3, 64 channels", "3 × 3，64 通道"), (1, 64, 56, 56), (64, 64, 3, 3), {"padding": 1}),
    Problem(both("1 × 1, 256 channels", "1 × 1，256 通道"), (1, 256, 28, 28), (64, 256, 1, 1), {}),
    Problem(both("7 × 7, stride 2", "7 × 7，stride 2"), (1, 3, 128, 128), (32, 3, 7, 7), {"padding": 3, "stride": 2}),
    Problem(both("a batch of 8", "batch 为 8"), (8, 32, 32, 32), (64, 32, 3, 3), {"padding": 1}),
    Problem(both("depthwise", "逐通道卷积"), (1, 64, 56, 56), (64, 1, 3, 3), {"padding": 1, "groups": 64}),
    Problem(both("15 × 15, 16 channels", "15 × 15，16 通道"), (1, 16, 64, 64), (16, 16, 15, 15), {"padding": 7}),
    Problem(both("31 × 31, one channel", "31 × 31，单通道"), (1, 1, 64, 64), (1, 1, 31, 31), {"padding": 15}),
)


def when_ready(run: Callable[[], Any], space: Mapping[str, Any] | None = None) -> Any:
    """What ``run()`` gives back. A sentence where it meets a step that is still a blank, or stops while a step is wrong; any other
    error goes on. space: the names of the notebook, by default those of ``run``.
    """
    try:
        return run()
    except NotImplementedError as error:
        trace = error.__traceback__
        while trace.tb_next:
            trace = trace.tb_next
        name = trace.tb_frame.f_code.co_name
        print(
            t(
                f"This cell needs `{name}`: write it first, then run this cell again.",
                f"这一格要用到 `{name}`：先写好它，再运行这一格。",
            )
        )
    except Exception as error:
        wrong = ", ".join(_wrong_steps(run.__globals__ if space is None else space))
        if not wrong:
            raise
        line = f"{type(error).__name__}: {error}"
        print(
            t(
                f"This cell stopped with `{line}`. Not right yet: {wrong}. Mend it, run its cell, then this one again.",
                f"这一格出错了：`{line}`。还不对的是：{wrong}。改好并运行那一格，再运行这一格。",
            )
        )
    return None


def _wrong_steps(space: Mapping[str, Any]) -> Iterator[str]:
    """The steps of the project that are written and wrong, each with the call that says what is missing."""
    for one in all_exercises().values():
        if one.lesson == "own_benchmark" and judge(one, space.get(one.name, MISSING)).state == "incorrect":
            yield f'`{one.name}`, `check("{one.id}")`'


def beside_pytorch(
    build: Callable[[], tuple[Conv, Callable[..., str]]], guess: Any = None, seconds: float = SECONDS
) -> Block | None:
    """Both sides on every problem, in turns, on the GPU where there is one. A sentence while a step is not right yet.

    build() -> (the learner's conv, plan_of): plan_of(x, weight, **setting) names the way that it has chosen. guess: how many of
    the problems the learner's side wins, as it was guessed; anything but a number is no guess.
    """
    return when_ready(lambda: told(measured(build, seconds), guess), build.__globals__)


def measured(build: Callable[[], tuple[Conv, Callable[..., str]]], seconds: float = SECONDS) -> Record:
    """A row a problem. On an NVIDIA GPU PyTorch's side searches, too, from the first call, and computes with all digits of float32 as
    the learner's ways do. On a CPU both have one thread, which other programs disturb less.
    """
    import torch

    from course import flags
    from course.core.machine import passport

    device, budget = "cuda" if torch.cuda.is_available() else "cpu", Budget(seconds)
    with flags.using(SETTINGS[device]), torch.inference_mode():
        rows, machine = list(_rows(*build(), device, budget)), passport(device)
    return Record(
        "own-benchmark", 1, "own_benchmark", machine, rows, complete=budget.complete, budget_s=seconds, live=True
    )


def _rows(conv: Conv, plan_of: Callable[..., str], device: str, budget: Budget) -> Iterator[dict[str, Any]]:
    import torch
    import torch.nn.functional as F

    from course.projects.own_benchmark.given import clock, wait_for
    from course.timing import compare

    wait, dice = wait_for(device), torch.Generator().manual_seed(0)
    for left, problem in zip(
        range(len(PROBLEMS), 0, -1), budget.loop(PROBLEMS, desc=both("convolutions", "卷积")), strict=False
    ):
        x, weight = (torch.randn(shape, generator=dice).to(device) for shape in (problem.image, problem.kernel))
        sides = {"PyTorch": partial(F.conv2d, x, weight, **problem.setting)}
        sides["yours"] = partial(conv, x, weight, **problem.setting)
        found_before = _known(plan_of, x, weight, problem.setting)
        wait()
        start = clock()
        sides["yours"]()
        wait()
        first_ms = clock() - start
        found = compare(sides, baseline="PyTorch", max_time=min(EACH_S, budget.share(left)), same=1e-3)
        yield {
            "problem": problem.name["en"],
            "plan": plan_of(x, weight, **problem.setting),
            "pytorch_ms": found.medians_ms["PyTorch"],
            "yours_ms": found.medians_ms["yours"],
            "first_ms": first_ms,
            "searched": not found_before,
            "rounds": found.rounds,
            **race_row(found),
        }


def _known(plan_of: Callable[..., str], x: Any, weight: Any, setting: Mapping[str, int]) -> bool:
    """Whether there is a plan before the first call, from the file."""
    try:
        return bool(plan_of(x, weight, **setting))
    except KeyError:
        return False


def told(record: Record, guess: Any = None) -> Block:
    """The block of these rows, with what was guessed."""
    names = {problem.name["en"]: problem.name for problem in PROBLEMS}
    rows = [row | {"name": pick(names[row["problem"]])} for row in record.rows]
    search = record.machine.get("device") == "cuda"
    pytorch = t("PyTorch, its search on", "PyTorch（开着搜索）") if search else "PyTorch"
    drawn = [
        Ratio(
            row["name"],
            row["ratio"],
            row["low"],
            row["high"],
            t("plan: ", "计划：") + row["plan"],
            row["rounds"],
            left_open_in_words(row),
        )
        for row in rows
    ]
    sides = t("yours is faster", "你的快"), t(f"{pytorch} is faster", f"{pytorch} 快")
    return Block(
        pick(headline(record.rows)),
        "",
        ratio_rows(drawn, sides, middle=t("same", "一样")),
        small_line(record),
        folds=(Fold(t("The numbers", "全部数字"), rows=[_line(row) for row in rows]),),
        experiment="own-benchmark",
        so=pick(_advice(record.rows)),
        bets=_bets(record.rows, guess),
    )


def _bets(rows: Sequence[Mapping[str, Any]], guess: Any) -> tuple[Betted, ...]:
    """The guess of the beginning, how many of the convolutions are won, beside what came out of those that were measured."""
    if not isinstance(guess, (int, float)) or not rows:
        return ()
    won = [row["verdict"] for row in rows].count("faster")
    return (
        Betted(
            t(f"yours is faster in {guess:g} of {len(PROBLEMS)}", f"{len(PROBLEMS)} 个里你的快 {guess:g} 个"),
            t(f"in {won} of {len(rows)}", f"{len(rows)} 个里快 {won} 个"),
            t("It came out", "结果是"),
        ),
    )


def headline(rows: Sequence[Mapping[str, Any]]) -> Text:
    """Who won, in one sentence that holds for all rows; where time ran out, for those that were measured."""
    verdicts = [row["verdict"] for row in rows]
    won, lost, of = verdicts.count("faster"), verdicts.count("slower"), len(rows)
    if not rows:
        return EMPTY
    if won and lost:
        return both(f"Your tuner won {won} of {of}, and lost some.", f"你的调优器 {of} 场赢了 {won} 场，也有输的。")
    if won:
        return both(f"Your tuner won {won} of {of}, and lost none.", f"你的调优器 {of} 场赢了 {won} 场，一场没输。")
    if lost:
        return both(f"PyTorch won {lost} of {of}, your tuner none.", f"PyTorch {of} 场赢了 {lost} 场，你一场没赢。")
    if "undecided" in verdicts:
        return TOO_NOISY
    return both("No difference: your tuner and PyTorch are equally fast.", "没有差别：你的调优器和 PyTorch 一样快。")


def _advice(rows: Sequence[Mapping[str, Any]]) -> Text:
    """What the slower rows have to say: a race that chose wrongly comes before the price of a look-up."""
    slower = {row["plan"] == "pytorch" for row in rows if row["verdict"] == "slower"}
    if False in slower:
        return both(
            "A plan of yours that is slower than PyTorch's was chosen by a race that was misled: give `race` more rounds in `search`, "
            "delete the file of the plans, run again.",
            "你有的计划比 PyTorch 慢，说明比赛被骗了：在 `search` 里让 `race` 多跑几轮，删掉计划文件，再运行一遍。",
        )
    if True in slower:
        return both(
            "Where the plan is `pytorch`, both sides compute the same: what yours takes longer is mostly the key and the look-up.",
            "计划是 `pytorch` 的那几行，两边算的一样：你多花的时间，主要是做 key 和查表。",
        )
    return ""


def _line(row: Mapping[str, Any]) -> dict[str, str]:
    """A row of the table, with the number of steps after which its search is paid back."""
    likely = t("too few rounds", "轮数太少") if row["low"] is None else f"{row['low']:.3f} … {row['high']:.3f}"
    return {
        t("convolution", "卷积"): row["name"],
        t("your plan", "你的计划"): row["plan"],
        "PyTorch": format_ms(row["pytorch_ms"]),
        t("yours", "你的"): format_ms(row["yours_ms"]),
        t("ratio", "比值"): f"{row['ratio']:.3f}",
        t("likely range", "可能范围"): likely,
        t("first call", "首次调用"): format_ms(row["first_ms"]),
        t("paid back after", "回本需要"): _paid_back(row),
    }


def _paid_back(row: Mapping[str, Any]) -> str:
    if not row["searched"]:
        return t("no search: from the file", "没搜索：计划来自文件")
    if row["verdict"] != "faster":
        return t("never", "回不了本")
    steps = max(1, round((row["first_ms"] - row["yours_ms"]) / (row["pytorch_ms"] * (1 - row["ratio"]))))
    return t(f"{steps} step{'s' * (steps > 1)}", f"{steps} 步")
