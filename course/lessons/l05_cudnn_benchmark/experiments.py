"""Experiments of lesson 05: what a new shape costs, what counts as new, and when a search pays.

The CPU ones show oneDNN's cache of primitives (an analogy: it times nothing) and a toy search of our own.
The CUDA ones run cuDNN in new processes, because a process keeps the plans it has made. Sentences and
pictures stand in ``search_findings`` and ``search_findings_cuda``.
"""

from __future__ import annotations

import random
from time import perf_counter

import torch

from course import toy_search
from course.experiment.base import Budget, experiment
from course.experiment.new_process import call_in_new_process
from course.i18n import both
from course.lessons.l05_cudnn_benchmark import findings as say
from course.lessons.l05_cudnn_benchmark import findings_cuda as gpu
from course.lessons.l05_cudnn_benchmark.probes import CHANGES, created

LESSON = "05_cudnn_benchmark"
PROBES = "course.lessons.l05_cudnn_benchmark.probes"
SIZES = [64, 96, 64, 96]
SCHEDULES = {"one size": [24] * 36, "three sizes": [24, 28, 32] * 12, "always new": list(range(12, 48))}
REPEATS, SAMPLES = 3, 31
FRESH = both("new processes", "新进程")


@experiment(name="05-first-call", lesson=LESSON, version=1, needs="cpu", seconds=2,
            title=both("Leave a shape and come back: is the first call expensive again?",
                       "离开一个形状再回来：第一次调用又会很贵吗？"),
            finding=say.first_call, draw=say.draw_first_call)
def first_call(budget: Budget) -> list[dict]:
    """Ten pairs of shapes new to this process, visited A A A B B B A A A B B B, every call timed alone."""
    rng = random.Random()
    layer = torch.nn.Conv2d(rng.randrange(3, 30), rng.randrange(3, 30), 3, padding=1).eval()
    sizes = rng.sample(range(10, 34), 20)
    rows = []
    with toy_search.one_thread(), torch.inference_mode():
        layer(torch.randn(2, layer.in_channels, 9, 9))
        for pair in budget.loop(range(10), desc=both("new shapes", "新形状")):
            images = [torch.randn(2, layer.in_channels, s, s + 1) for s in sizes[2 * pair:2 * pair + 2]]
            for visit in (1, 2):
                for name, x in zip("AB", images, strict=True):
                    for call in (1, 2, 3):
                        start = perf_counter()
                        layer(x)
                        rows.append({"pair": pair, "shape": name, "visit": visit, "call": call,
                                     "call_ms": (perf_counter() - start) * 1e3})
    return rows


@experiment(name="05-primitive-cache", lesson=LESSON, version=1, needs="mkldnn", seconds=12,
            title=both("Sizes 64, 96, 64, 96: what does oneDNN's own log say?",
                       "尺寸 64、96、64、96：oneDNN 自己的日志怎么说？"),
            finding=say.primitive_cache, draw=say.draw_primitive_cache, settles=say.settle_primitive_cache)
def primitive_cache(budget: Budget) -> list[dict]:
    """Read hit or miss from the creation log of a new process, with the cache as it comes and without it."""
    settings = {"as it comes": {}, "cache off": {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "0"}}
    rows = []
    for setting, variables in budget.loop(settings.items(), desc=FRESH):
        _, log = call_in_new_process(PROBES, "conv_sizes", SIZES, variables=variables)
        rows += [{"setting": setting, "call": call, "size": size, "event": seen["event"]}
                 for call, (size, seen) in enumerate(zip(SIZES, created(log), strict=False), start=1)]
    return rows


@experiment(name="05-what-is-new", lesson=LESSON, version=1, needs="mkldnn", seconds=8,
            title=both("Change one thing: does it need a new entry?", "只改一样东西：需要新条目吗？"),
            finding=say.what_is_new, draw=say.draw_what_is_new)
def what_is_new(budget: Budget) -> list[dict]:
    """Seven calls that each differ from the first in one thing; hit or miss from the creation log."""
    _, log = call_in_new_process(PROBES, "conv_changes", list(CHANGES))
    seen = created(log)
    if len(seen) != len(CHANGES):
        return [{"change": change, "event": "not seen"} for change in CHANGES]
    return [{"change": change, "event": one["event"], "problem": one["problem"]}
            for change, one in zip(CHANGES, seen, strict=True)]


@experiment(name="05-model-keys", lesson=LESSON, version=1, needs="cpu", seconds=8,
            title=both("How many different convolutions does a model hold?", "一个模型里有多少种不同的卷积？"),
            finding=say.model_keys, draw=say.draw_model_keys)
def model_keys(budget: Budget) -> list[dict]:
    """Convolution calls and distinct keys of one forward pass at 224x224, counted by hooks."""
    from course import models

    rows = []
    for name in budget.loop(("vgg16", "resnet18", "resnet50"), desc=both("counting", "计数中")):
        with torch.device("meta"), torch.no_grad():
            keys = forward_keys(getattr(models, name)().eval(), torch.zeros(1, 3, 224, 224))
        rows.append({"model": name, "calls": len(keys), "keys": len(set(keys))})
    return rows


def forward_keys(model: torch.nn.Module, *inputs: torch.Tensor) -> list[tuple]:
    """One key for each convolution of a forward pass: what the cache looks at besides dtype and device."""
    keys: list[tuple] = []

    def note(layer: torch.nn.Module, given: tuple, result: torch.Tensor) -> None:
        keys.append((tuple(given[0].shape), tuple(layer.weight.shape), layer.stride, layer.padding,
                     layer.dilation, layer.groups))

    kinds = (torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d)
    handles = [layer.register_forward_hook(note) for layer in model.modules() if isinstance(layer, kinds)]
    try:
        model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    return keys


@experiment(name="05-toy-race", lesson=LESSON, version=1, needs="cpu", seconds=9,
            title=both("Toy search against rule of thumb: three schedules of 36 steps",
                       "玩具搜索对经验法则：三种 36 步的尺寸安排"),
            finding=say.toy_race, draw=say.draw_toy_race, settles=say.settle_toy_race)
def toy_race(budget: Budget) -> list[dict]:
    """Total time of a schedule with the search on, over that with it off; the cache is empty at first."""
    from course.timing import compare

    rows = []
    for schedule, sizes in budget.loop(SCHEDULES.items(), desc=both("schedules", "尺寸安排")):
        race = compare({"off": lambda sizes=sizes: toy_search.run_schedule(sizes, False),
                        "on": lambda sizes=sizes: toy_search.run_schedule(sizes, True)},
                       baseline="off", max_time=max(1.0, min(3.0, budget.left())))
        rows.append({"schedule": schedule, "steps": len(sizes), "searches": len(set(sizes)),
                     "ratio": race.ratio, "low": race.low, "high": race.high, "verdict": race.verdict,
                     "off_ms": race.medians_ms["off"], "on_ms": race.medians_ms["on"],
                     "rounds": race.rounds})
    return rows


def _step_ms(conv: toy_search.ToyConv, size: int) -> float:
    start = perf_counter()
    conv(toy_search.image(size), toy_search.kernel())
    return (perf_counter() - start) * 1e3


@experiment(name="05-toy-cost", lesson=LESSON, version=1, needs="cpu", seconds=3,
            title=both("The toy's bill: what the search costs, what each step gains",
                       "玩具的账单：搜索花了多少，每步省了多少"),
            finding=say.toy_cost, draw=say.draw_toy_cost, settles=say.settle_toy_cost)
def toy_cost(budget: Budget) -> list[dict]:
    """First and second step of one size, with the search and without, the cache empty each time."""
    names, size = {False: "off", True: "on"}, 24
    rows = []
    with toy_search.one_thread(), torch.inference_mode():
        toy_search.run_schedule([size] * 3, True)
        for repeat in budget.loop(range(SAMPLES), desc=both("repeats", "重复")):
            for benchmark, name in names.items():
                conv = toy_search.ToyConv(benchmark)
                first_ms, later_ms = _step_ms(conv, size), _step_ms(conv, size)
                rows.append({"repeat": repeat, "search": name, "first_ms": first_ms, "later_ms": later_ms})
    return rows


@experiment(name="05-winners", lesson=LESSON, version=1, needs="cpu", seconds=3,
            title=both("The same search, sixty times: does the same candidate win?",
                       "同一次搜索做六十遍：赢家总是同一个吗？"),
            finding=say.winners, draw=say.draw_winners, settles=say.settle_winners)
def winners(budget: Budget) -> list[dict]:
    """Sixty searches of one size, each on an empty cache, as sixty new processes would make them."""
    rows = []
    for search in budget.loop(range(60), desc=both("searches", "搜索")):
        conv = toy_search.run_schedule([40], True)
        rows.append({"search": search, "winner": next(iter(conv.plans.values()))})
    return rows


# --- cuDNN, each story in a process of its own ------------------------------------------------------------

def _stories(budget: Budget, stories: dict[str, list[list[int]]], repeats: int = REPEATS,
             limits: dict[str, int] | None = None) -> list[dict]:
    """Every story in a new process, round by round; rows carry story, process and call."""
    rows = []
    for process in budget.loop(range(repeats), desc=FRESH):
        for story, visits in stories.items():
            answer, _ = call_in_new_process(PROBES, "conv_visits", visits, (limits or {}).get(story, 10), timeout_s=180)
            rows += [{"story": story, "process": process, "call": call, "benchmark": visit[0],
                      "batch": visit[1], "size": visit[2], **seen}
                     for call, (visit, seen) in enumerate(zip(visits, answer, strict=True), start=1)]
    return rows


@experiment(name="05-first-call-cuda", lesson=LESSON, version=1, needs="cuda", seconds=75,
            title=both("cuDNN: the first call of a shape and the later ones, search off and on",
                       "cuDNN：一个形状的第一次调用与之后的调用，关搜索与开搜索"),
            finding=gpu.first_call, draw=gpu.draw_first_call)
def first_call_cuda(budget: Budget) -> list[dict]:
    """Twelve fenced calls of one convolution; six new processes, search off and on in turn."""
    return _stories(budget, {"off": [[0, 8, 128]] * 12, "on": [[1, 8, 128]] * 12})


@experiment(name="05-sizes-cuda", lesson=LESSON, version=1, needs="cuda", seconds=75,
            title=both("cuDNN: sizes 128, 256, 512, and the same again", "cuDNN：尺寸 128、256、512，再来一遍"),
            finding=gpu.sizes, draw=gpu.draw_sizes)
def sizes_cuda(budget: Budget) -> list[dict]:
    """The sizes three times over, search off and on, three new processes each."""
    sizes = [128, 256, 512] * 3
    return _stories(budget, {"off": [[0, 4, s] for s in sizes], "on": [[1, 4, s] for s in sizes]})


@experiment(name="05-flip-cuda", lesson=LESSON, version=1, needs="cuda", seconds=110,
            title=both("cuDNN: the switch is turned on after the shape was seen",
                       "cuDNN：见过这个形状之后再打开开关"),
            finding=gpu.flip, draw=gpu.draw_flip, settles=gpu.settle_flip)
def flip_cuda(budget: Budget) -> list[dict]:
    """Ten calls off, then ten on; off or on all the way; at the end of each a shape never seen."""
    old, new = [8, 128], [8, 160]
    return _stories(budget, {"off": [[0, *old]] * 20 + [[0, *new]] * 4,
                             "flipped": [[0, *old]] * 10 + [[1, *old]] * 10 + [[1, *new]] * 4,
                             "on": [[1, *old]] * 20 + [[1, *new]] * 4})


@experiment(name="05-memory-cuda", lesson=LESSON, version=1, needs="cuda", seconds=75,
            title=both("cuDNN: memory around the first call", "cuDNN：第一次调用前后的显存"),
            finding=gpu.memory, draw=gpu.draw_memory)
def memory_cuda(budget: Budget) -> list[dict]:
    """Peak of reserved memory at each of five calls, search off and on, three new processes each."""
    return _stories(budget, {"off": [[0, 16, 256]] * 5, "on": [[1, 16, 256]] * 5})


@experiment(name="05-limit-cuda", lesson=LESSON, version=1, needs="cuda", seconds=110,
            title=both("cuDNN: benchmark_limit 1, 3, 10 and 0 (no limit)",
                       "cuDNN：benchmark_limit 取 1、3、10 和 0（不限）"),
            finding=gpu.limit, draw=gpu.draw_limit)
def limit_cuda(budget: Budget) -> list[dict]:
    """First and later calls of one shape for four limits, two new processes each."""
    limits = {"1": 1, "3": 3, "10": 10, "0": 0}
    return _stories(budget, dict.fromkeys(limits, [[1, 8, 128]] * 10), repeats=2, limits=limits)


@experiment(name="05-pays-cuda", lesson=LESSON, version=1, needs="cuda", seconds=110,
            title=both("cuDNN: a ResNet18, 150 steps of one shape: when is the search paid back?",
                       "cuDNN：ResNet18，同一形状 150 步：搜索什么时候回本？"),
            finding=gpu.pays, draw=gpu.draw_pays)
def pays_cuda(budget: Budget) -> list[dict]:
    """Forward passes of 32 images of 224x224, search off and on, three new processes each."""
    rows = []
    for process in budget.loop(range(REPEATS), desc=FRESH):
        for benchmark, story in enumerate(("off", "on")):
            steps, _ = call_in_new_process(PROBES, "model_steps", benchmark, 150, 32, 224, timeout_s=180)
            rows.append({"story": story, "process": process, "samples_ms": steps})
    return rows


@experiment(name="05-kernels-cuda", lesson=LESSON, version=1, needs="cuda", seconds=110,
            title=both("cuDNN: which kernels run, by the profiler", "cuDNN：profiler 看到的是哪些 kernel"),
            finding=gpu.kernels, draw=gpu.draw_kernels)
def kernels_cuda(budget: Budget) -> list[dict]:
    """The longest kernels of one convolution, for two sizes, search off and on, two processes each."""
    cases = [(story, benchmark, size, process) for process in range(2)
             for size in (32, 128) for benchmark, story in enumerate(("off", "on"))]
    rows = []
    for story, benchmark, size, process in budget.loop(cases, desc=FRESH):
        found, _ = call_in_new_process(PROBES, "kernel_names", benchmark, 8, size, timeout_s=180)
        rows += [{"story": story, "process": process, "size": size, "place": place, **one}
                 for place, one in enumerate(found, start=1)]
    return rows
