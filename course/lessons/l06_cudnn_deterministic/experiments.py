"""Experiments of lesson 06: what repeats itself to the last bit, what does not, and which cure helps.

Sentences and pictures stand in ``repro_findings``, ``_doors`` and ``_cuda``; ``toy_repro`` and
``toy_filter`` hold the small computations. cuDNN is asked in new processes, because a process keeps its plans.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from course import toy_search
from course.experiment.base import Budget, experiment
from course.experiment.new_process import call_in_new_process
from course.flags import using
from course.i18n import both
from course.lessons.l06_cudnn_deterministic import findings as say
from course.lessons.l06_cudnn_deterministic import findings_cuda as gpu
from course.lessons.l06_cudnn_deterministic import findings_doors as doors
from course.lessons.l06_cudnn_deterministic import training as toy_repro
from course.lessons.l06_cudnn_deterministic.filters import FilterConv
from course.lessons.l06_cudnn_deterministic.probes import SETTINGS, cuda_operations, reactions
from course.lessons.l06_cudnn_deterministic.training import fingerprint

LESSON = "06_cudnn_deterministic"
PROBES = "course.lessons.l06_cudnn_deterministic.probes"
CURES = {"seeds alone": {}, "two lines": {"cudnn.benchmark": False, "cudnn.deterministic": True},
         "one thread": {"torch.num_threads": 1}, "algorithms": {"torch.deterministic_algorithms": True}}
SUM_SIZES, SUM_THREADS = (1000, 32_768, 32_769, 200_000, 1_000_000), (1, 2, 3, 4, 8)
BATCHES, ROWS = (1, 2, 3, 4, 8, 16, 32, 64), 64
PAIRS = [(benchmark, deterministic) for benchmark in (0, 1) for deterministic in (0, 1)]
FRESH = both("new processes", "新进程")
GPU = "cuda"  # the device of the experiments with needs="cuda"


def _threads() -> int:
    """At least four, so that additions can meet in any order also on a small machine."""
    return max(4, torch.get_num_threads())


def _trained(settings: dict[str, Any], runs: int) -> list[str]:
    with using({"torch.num_threads": _threads(), **settings}):
        return [fingerprint(toy_repro.table_training()) for _ in range(runs)]


@experiment(name="06-two-lines", lesson=LESSON, version=1, needs="cpu", seconds=4,
            title=both("Every seed set, benchmark=False, deterministic=True: do ten trainings agree?",
                       "种子全设、benchmark=False、deterministic=True：训练十次，结果一样吗？"),
            finding=say.two_lines, draw=say.draw_two_lines)
def two_lines(budget: Budget) -> list[dict]:
    """Ten trainings of a table of ten numbers, from the same seed, under the famous two lines."""
    rows = []
    for run in budget.loop(range(10), desc=both("trainings", "训练")):
        with using({"torch.num_threads": _threads(), **CURES["two lines"]}):
            table = toy_repro.table_training()
        rows.append({"run": run + 1, "threads": _threads(), "bits": fingerprint(table),
                     "first_entry": table[0].item()})
    return rows


@experiment(name="06-cures", lesson=LESSON, version=1, needs="cpu", seconds=10,
            title=both("Which cure makes the trainings agree?", "哪种药方能让训练结果一致？"),
            finding=say.cures, draw=say.draw_cures, settles=say.settle_cures)
def cures(budget: Budget) -> list[dict]:
    """Twenty trainings from one seed under each of four settings; how many different results."""
    rows = []
    for name, settings in budget.loop(CURES.items(), desc=both("cures", "药方")):
        bits = _trained(settings, 20)
        rows.append({"cure": name, "runs": len(bits), "different": len(set(bits)),
                     "threads": settings.get("torch.num_threads", _threads())})
    return rows


@experiment(name="06-threads-sum", lesson=LESSON, version=1, needs="cpu", seconds=4,
            title=both("The same sum with 1 to 8 threads: the same bits?", "同一个和，用 1 到 8 个线程：逐位相同吗？"),
            finding=say.threads_sum, draw=say.draw_threads_sum, settles=say.settle_threads_sum)
def threads_sum(budget: Budget) -> list[dict]:
    """Ten lists of each length, summed with five numbers of threads, three times each."""
    dice = torch.Generator().manual_seed(0)
    rows = []
    for size in budget.loop(SUM_SIZES, desc=both("sums", "求和中")):
        lists = [torch.randn(size, generator=dice) for _ in range(10)]
        seen = {}
        for count in SUM_THREADS:
            with using({"torch.num_threads": count}):
                seen[count] = [[values.sum().item().hex() for values in lists] for _ in range(3)]
        changed = sum(len({seen[count][0][i] for count in SUM_THREADS}) > 1 for i in range(len(lists)))
        rows.append({"numbers": size, "lists": len(lists), "lists_changed_by_threads": changed,
                     "lists_changed_by_repeating": sum(
                         len({again[i] for again in seen[count]}) > 1
                         for count in SUM_THREADS for i in range(len(lists)))})
    return rows


@experiment(name="06-company", lesson=LESSON, version=1, needs="cpu", seconds=4,
            title=both("Does a row get the same answer in other company?", "同一行数据换了同伴，结果还一样吗？"),
            finding=say.company, draw=say.draw_company, settles=say.settle_company)
def company(budget: Budget) -> list[dict]:
    """The first row of a batch through a linear layer, in batches of 1 to 64; compared with the batch of 64."""
    dice = torch.Generator().manual_seed(0)
    weight, inputs = torch.randn(512, 512, generator=dice), torch.randn(ROWS, 512, generator=dice)
    rows = []
    with torch.inference_mode():
        full = F.linear(inputs, weight)[0]
        for batch in budget.loop(BATCHES, desc=both("batches", "batch")):
            mine = F.linear(inputs[:batch], weight)[0]
            again = F.linear(inputs[:batch], weight)[0]
            rows.append({"batch": batch, "same_bits": int(torch.equal(mine, full)),
                         "repeats": int(torch.equal(mine, again)), "numbers": len(mine),
                         "numbers_changed": int((mine != full).sum()),
                         "largest_change": float((mine - full).abs().max() / full.abs().max())})
    return rows


@experiment(name="06-pieces", lesson=LESSON, version=1, needs="cpu", seconds=3,
            title=both("One product in 1 to 32 pieces: which result is right?", "同一个乘积分成 1 到 32 段：哪个结果是对的？"),
            finding=say.pieces, draw=say.draw_pieces)
def pieces(budget: Budget) -> list[dict]:
    """A matrix product whose inner dimension is cut in pieces (split-K), against float64."""
    dice = torch.Generator().manual_seed(0)
    a, b = torch.randn(64, 4096, generator=dice), torch.randn(4096, 64, generator=dice)
    truth = a.double() @ b.double()
    rows = []
    for count in budget.loop((1, 2, 4, 8, 16, 32), desc=both("pieces", "分段")):
        total = sum(p @ q for p, q in zip(a.chunk(count, 1), b.chunk(count, 0), strict=True))
        error = (total.double() - truth).abs()
        rows.append({"pieces": count, "bits": fingerprint(total), "largest_error": error.max().item(),
                     "mean_error": error.mean().item(), "largest_value": truth.abs().max().item()})
    return rows


@experiment(name="06-who-raises", lesson=LESSON, version=1, needs="cpu", seconds=3,
            title=both("use_deterministic_algorithms(True) on a CPU: who raises?",
                       "CPU 上的 use_deterministic_algorithms(True)：谁会报错？"),
            finding=doors.who_raises, draw=doors.draw_who_raises)
def who_raises(budget: Budget) -> list[dict]:
    """Eight operations with the mode off, on, and on with warn_only."""
    return reactions()


@experiment(name="06-who-seeds", lesson=LESSON, version=1, needs="cpu", seconds=20,
            title=both("Two new processes: which numbers agree under which seed?",
                       "两个新进程：设了哪些种子，哪些随机数会一样？"),
            finding=doors.who_seeds, draw=doors.draw_who_seeds, settles=doors.settle_who_seeds)
def who_seeds(budget: Budget) -> list[dict]:
    """Numbers from Python, numpy and torch, in the main process and in two loader workers, in two processes."""
    both_runs = [call_in_new_process(PROBES, "draws", list(SETTINGS))[0]
                 for _ in budget.loop(range(2), desc=FRESH)]
    if len(both_runs) < 2:
        return []
    return [{"setting": one["setting"], "source": one["source"], "here": int(one["here"] == two["here"]),
             "workers": int(one["workers"] == two["workers"])} for one, two in zip(*both_runs, strict=True)]


@experiment(name="06-one-ulp", lesson=LESSON, version=1, needs="cpu", seconds=6,
            title=both("Move two numbers by the smallest step there is: how far does a training drift?",
                       "把两个数挪动最小的一步：训练会偏离多远？"),
            finding=doors.one_ulp, draw=doors.draw_one_ulp, settles=doors.settle_one_ulp)
def one_ulp(budget: Budget) -> list[dict]:
    """Losses of a tiny GAN and of a line fit, with and without a nudge of one ulp; the GAN's control too."""
    steps, rows = 120, []
    stories = {"gan": (toy_repro.duel_losses, True), "line": (toy_repro.fit_losses, True),
               "control": (toy_repro.duel_losses, False)}
    with using({"torch.num_threads": 1}):
        for story, (losses, nudged) in budget.loop(stories.items(), desc=both("trainings", "训练")):
            plain, moved = losses(False, steps), losses(nudged, steps)
            rows += [{"story": story, "step": step, "loss": one, "difference": abs(one - other)}
                     for step, (one, other) in enumerate(zip(plain, moved, strict=True), start=1)]
    return rows


@experiment(name="06-toy-table", lesson=LESSON, version=1, needs="cpu", seconds=12,
            title=both("The toy under the four settings: what is timed, who wins, do the bits repeat?",
                       "玩具的四种设置：谁被计时，谁胜出，结果逐位重复吗？"),
            finding=doors.toy_table, draw=doors.draw_toy_table)
def toy_table(budget: Budget) -> list[dict]:
    """For each pair of switches eight toys with an empty cache; ten calls each after the choice."""
    x, weight = toy_search.image(40), toy_search.kernel()
    rows = []
    with using({"torch.num_threads": _threads()}), torch.inference_mode():
        for benchmark, deterministic in budget.loop(PAIRS, desc=both("settings", "设置")):
            for toy in range(8):
                conv = FilterConv(bool(benchmark), bool(deterministic))
                bits = [fingerprint(conv(x, weight)) for _ in range(11)][1:]
                rows.append({"benchmark": benchmark, "deterministic": deterministic, "toy": toy,
                             "allowed": len(conv.allowed()), "timed": len(set(conv.timed)),
                             "winner": next(iter(conv.plans.values())), "different_bits": len(set(bits)),
                             "bits": bits[0]})
    return rows


@experiment(name="06-cost", lesson=LESSON, version=1, needs="cpu", seconds=8,
            title=both("What does the deterministic way of adding cost on this CPU?",
                       "在这台 CPU 上，确定性的累加要付出多少代价？"),
            finding=say.cost, draw=say.draw_cost, settles=say.settle_cost)
def cost(budget: Budget) -> list[dict]:
    """Time with the mode on over time with it off: adding into 10 and into 100,000 places, and torch.empty."""
    from course.timing import compare

    dice = torch.Generator().manual_seed(0)
    values, rows = torch.randn(200_000, generator=dice), []
    calls = {f"{places} places": _adder(places, values, dice) for places in (10, 100_000)}
    calls["torch.empty"] = lambda: torch.empty(30_000)
    for place, (name, call) in enumerate(budget.loop(calls.items(), desc=both("operations", "算子"))):
        race = compare({"default": lambda call=call: _in_mode("default", call),
                        "deterministic": lambda call=call: _in_mode("error", call)},
                       baseline="default", max_time=max(1.0, budget.share(len(calls) - place)))
        rows.append({"operation": name, "ratio": race.ratio, "low": race.low, "high": race.high,
                     "verdict": race.verdict, "threads": torch.get_num_threads(), "rounds": race.rounds,
                     **{f"{side}_ms": ms for side, ms in race.medians_ms.items()}})
    return rows


def _adder(places: int, values: torch.Tensor, dice: torch.Generator) -> Callable[[], torch.Tensor]:
    index, table = torch.randint(0, places, (len(values),), generator=dice), torch.zeros(places)
    return lambda: table.zero_().index_put_((index,), values, accumulate=True)


def _in_mode(mode: str, call: Callable[[], Any]) -> None:
    """One call with the debug mode "default" or "error", which is put back to "default"."""
    torch.set_deterministic_debug_mode(mode)
    try:
        call()
    finally:
        torch.set_deterministic_debug_mode("default")


# --- a GPU --------------------------------------------------------------------------------------------------

@experiment(name="06-truth-table-cuda", lesson=LESSON, version=1, needs="cuda", seconds=150,
            title=both("cuDNN under the four settings of benchmark and deterministic: is there a search, "
                       "do the bits repeat?",
                       "cuDNN：benchmark 与 deterministic 的四种组合下，会搜索吗？结果逐位重复吗？"),
            finding=gpu.truth_table, draw=gpu.draw_truth_table, settles=gpu.settle_truth_table)
def truth_table_cuda(budget: Budget) -> list[dict]:
    """Forward and backward of one convolution, twenty times; three new processes for each setting."""
    rows = []
    for process in budget.loop(range(3), desc=FRESH):
        for benchmark, deterministic in PAIRS:
            seen, _ = call_in_new_process(PROBES, "conv_setting", benchmark, deterministic, 20, timeout_s=180)
            rows.append({"benchmark": benchmark, "deterministic": deterministic, "process": process,
                         "first_ms": seen["first_ms"], "later_ms": seen["later_ms"],
                         "different_bits": len(set(seen["bits"])), "bits": seen["bits"][-1],
                         "kernels": " | ".join(name[:80] for name in seen["kernels"])})
    return rows


GPU_SETTINGS = {"nothing": {}, "two lines": CURES["two lines"], "algorithms": CURES["algorithms"]}


@experiment(name="06-bits-cuda", lesson=LESSON, version=1, needs="cuda", seconds=40,
            title=both("On the GPU, thirty times the same call: how many different results?",
                       "GPU 上同一个调用重复三十次：有多少种不同的结果？"),
            finding=gpu.bits, draw=gpu.draw_bits)
def bits_cuda(budget: Budget) -> list[dict]:
    """Different bits over thirty calls for each operation and setting; 0 where the call raises."""
    rows = []
    cases = [(operation, name) for operation in cuda_operations(GPU) for name in GPU_SETTINGS]
    for operation, setting in budget.loop(cases, desc=both("operations", "算子")):
        with using(GPU_SETTINGS[setting]):
            rows.append({"operation": operation, "setting": setting, **_repeated(operation)})
    return rows


def _repeated(operation: str) -> dict[str, Any]:
    call = cuda_operations(GPU)[operation]
    try:
        found = {fingerprint(call()) for _ in range(30)}
    except RuntimeError as error:
        return {"different": 0, "outcome": "raises", "said": str(error).split(". ")[0][:160]}
    return {"different": len(found), "outcome": "runs", "said": ""}


@experiment(name="06-cost-cuda", lesson=LESSON, version=1, needs="cuda", seconds=60,
            title=both("What does determinism cost on this GPU?", "在这块 GPU 上，确定性要付出多少代价？"),
            finding=gpu.cost, draw=gpu.draw_cost)
def cost_cuda(budget: Budget) -> list[dict]:
    """Time with use_deterministic_algorithms over time without, for each operation that has both."""
    from course.timing import compare

    operations, rows = cuda_operations(GPU), []
    for place, (name, call) in enumerate(budget.loop(operations.items(), desc=both("operations", "算子"))):
        try:
            _in_mode("error", call)
        except RuntimeError as error:
            rows.append({"operation": name, "verdict": "raises", "said": str(error).split(". ")[0][:160]})
            continue
        race = compare({"default": lambda call=call: _in_mode("default", call),
                        "deterministic": lambda call=call: _in_mode("error", call)}, baseline="default",
                       max_time=max(1.0, min(6.0, budget.share(len(operations) - place))), device=GPU)
        rows.append({"operation": name, "verdict": race.verdict, "ratio": race.ratio, "low": race.low,
                     "high": race.high, **{f"{side}_ms": ms for side, ms in race.medians_ms.items()}})
    return rows
