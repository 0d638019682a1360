"""Experiments of lesson 07: who allows TF32, what it costs in exactness, where that ruins a result.

The CPU ones round the inputs of a product as TF32 would (``course.rounding``) or ask the real switches in new
processes. The CUDA ones measure error, kernels and speed on the GPU. Sentences and pictures stand in
``precision_findings``, ``precision_findings_documented``, ``precision_tree_findings`` and ``precision_findings_cuda``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course import flags
from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.i18n import both
from course.lessons.l07_precision import findings as say
from course.lessons.l07_precision import findings_cuda as gpu
from course.lessons.l07_precision import findings_documented as page
from course.lessons.l07_precision import findings_tree as told
from course.rounding import cut_bits, keep_bits, product, relative_error, rounded

LESSON = "07_precision"
PROBES = "course.lessons.l07_precision.probes"
CUDA_PROBES = "course.lessons.l07_precision.probes_cuda"
FRESH = both("new processes", "新进程")
NAMES = ("float32", "tf32", "bfloat16")


# --- what the rounding does, on any CPU -------------------------------------------------------------------

@experiment(name="07-neighbours", lesson=LESSON, version=1, needs="cpu", seconds=15,
            title=both("Who is my nearest neighbour, when the map moves away from the origin?",
                       "地图离原点越来越远，谁是我最近的邻居？"),
            finding=say.neighbours, draw=say.draw_neighbours)
def neighbours(budget: Budget) -> list[dict]:
    """Share of right nearest neighbours among 300 points; distances by |x|² + |y|² - 2 x·y, offset growing."""
    rows = []
    for seed in budget.loop(range(5), desc=both("clouds of points", "点云")):
        points = torch.randn(300, 16, generator=torch.Generator().manual_seed(seed))
        for offset in (0, 1, 3, 10, 30, 100, 300):
            moved = points + offset
            truth = torch.cdist(moved.double(), moved.double(),
                                compute_mode="donot_use_mm_for_euclid_dist").fill_diagonal_(torch.inf).argmin(1)
            stories = {name: (moved, name) for name in NAMES}
            stories["tf32, mean removed"] = (moved - moved.mean(0), "tf32")
            for story, (x, name) in stories.items():
                found = _squared_distances(x, name).fill_diagonal_(torch.inf).argmin(1)
                rows.append({"seed": seed, "offset": offset, "story": story,
                             "share": (found == truth).double().mean().item()})
    return rows


def _squared_distances(x: Tensor, name: str) -> Tensor:
    """All squared distances by one matrix product, whose inputs are rounded to the format ``name``."""
    square = (x * x).sum(1)
    return square[:, None] + square[None] - 2 * product(x, x.T, name)


@experiment(name="07-error-vs-k", lesson=LESSON, version=1, needs="cpu", seconds=15,
            title=both("The sums get a thousand times longer: what does the error do?",
                       "求和长了一千倍：误差会怎样？"),
            finding=say.error_vs_k, draw=say.draw_error_vs_k, settles=say.settle_error_vs_k)
def error_vs_k(budget: Budget) -> list[dict]:
    """Typical error of an entry of a @ b, and error relative to the result, by inner length k."""
    rows = []
    for k in budget.loop((16, 64, 256, 1024, 4096, 16384), desc=both("inner length", "求和长度")):
        for seed in range(7):
            random = torch.Generator().manual_seed(seed)
            a, b = torch.randn(32, k, generator=random), torch.randn(k, 32, generator=random)
            exact = a.double() @ b.double()
            for name in NAMES:
                wrong = (product(a, b, name).double() - exact).square().mean().sqrt().item()
                rows.append({"k": k, "seed": seed, "format": name, "typical": wrong,
                             "relative": wrong / exact.square().mean().sqrt().item()})
    return rows


@experiment(name="07-counter", lesson=LESSON, version=1, needs="cpu", seconds=15,
            title=both("Add 1, five thousand times: where does the counter stand?",
                       "加 1，加五千次：计数器停在哪里？"),
            finding=say.counter, draw=say.draw_counter, settles=say.settle_counter)
def counter(budget: Budget) -> list[dict]:
    """A sum kept in each format: after every addition of 1 it is rounded back to the format."""
    rows, one = [], torch.ones(())
    for name in budget.loop(("float32", "tf32", "float16", "bfloat16"), desc=both("formats", "格式")):
        total = torch.zeros(())
        for added in range(1, 5001):
            total = rounded(total + one, name)
            if added % 100 == 0:
                rows.append({"format": name, "added": added, "shown": total.item()})
    return rows


@experiment(name="07-solve", lesson=LESSON, version=1, needs="cpu", seconds=15,
            title=both("Solving A x = b in steps: which half of the step needs float32?",
                       "迭代求解 A x = b：一步之中，哪一半需要 float32？"),
            finding=say.solve, draw=say.draw_solve, settles=say.settle_solve)
def solve(budget: Budget) -> list[dict]:
    """x ← x + M (b - A x), M an inverse of A; residual and step each computed in a format of their own."""
    rows = []
    stories = {"all float32": ("float32", "float32"), "all TF32": ("tf32", "tf32"),
               "step TF32, residual float32": ("float32", "tf32")}
    for seed in budget.loop(range(7), desc=both("systems", "方程组")):
        random = torch.Generator().manual_seed(seed)
        a = torch.eye(128) * 12 + torch.randn(128, 128, generator=random) / 2
        b = torch.randn(128, 1, generator=random)
        exact, inverse = torch.linalg.solve(a.double(), b.double()), torch.linalg.inv(a)
        for story, (residual, step) in stories.items():
            x = torch.zeros(128, 1)
            for turn in range(1, 9):
                x = x + product(inverse, b - product(a, x, residual), step)
                rows.append({"seed": seed, "story": story, "turn": turn, "relative": relative_error(x, exact)})
    return rows


@experiment(name="07-noise", lesson=LESSON, version=1, needs="cpu", seconds=15,
            title=both("What moves a gradient more: the draw of the batch, or the rounding?",
                       "谁让梯度偏得更多：抽到哪个 batch，还是舍入？"),
            finding=say.noise, draw=say.draw_noise, settles=say.settle_noise)
def noise(budget: Budget) -> list[dict]:
    """A small network: distance of a batch's gradient from that of all data, and what rounding adds to it."""
    random = torch.Generator().manual_seed(0)
    x, teacher = torch.randn(4096, 32, generator=random), torch.randn(32, 1, generator=random)
    y = torch.tanh(x @ teacher) + 0.1 * torch.randn(4096, 1, generator=random)
    first = torch.randn(32, 64, generator=random) / 6
    second = torch.randn(64, 1, generator=random) / 8
    whole = _gradient(x, y, first, second, "float32")
    rows = []
    for draw in budget.loop(range(31), desc=both("batches", "batch")):
        chosen = torch.randperm(4096, generator=random)[:64]
        batch = _gradient(x[chosen], y[chosen], first, second, "float32")
        row: dict[str, Any] = {"draw": draw, "batch": relative_error(batch, whole)}
        for name in ("tf32", "bfloat16"):
            row[name] = relative_error(_gradient(x[chosen], y[chosen], first, second, name), batch)
        rows.append(row)
    return rows


def _gradient(x: Tensor, y: Tensor, first: Tensor, second: Tensor, name: str) -> Tensor:
    """Gradient of the mean squared error of tanh(x first) second, every product rounded; one flat vector."""
    hidden = torch.tanh(product(x, first, name))
    wrong = 2 * (product(hidden, second, name) - y) / len(x)
    back = product(wrong, second.T, name) * (1 - hidden * hidden)
    return torch.cat([product(x.T, back, name).flatten(), product(hidden.T, wrong, name).flatten()])


@experiment(name="07-onednn", lesson=LESSON, version=1, needs="mkldnn", seconds=15,
            title=both("You allow bf16 on the CPU: does oneDNN take it?", "你允许 CPU 用 bf16：oneDNN 用了吗？"),
            finding=say.onednn, draw=say.draw_onednn, settles=say.settle_onednn)
def onednn(budget: Budget) -> list[dict]:
    """Error of matmul, convolution and LSTM under each permission, and what rounded inputs would give."""
    torch.manual_seed(0)
    a, b = torch.randn(64, 2048), torch.randn(2048, 64)
    x, w = torch.randn(4, 32, 32, 32), torch.randn(32, 32, 3, 3)
    lstm, steps = torch.nn.LSTM(64, 64), torch.randn(8, 4, 64)
    calls = {"matmul": lambda a=a, b=b: a @ b, "conv": lambda: torch.nn.functional.conv2d(x, w),
             "rnn": lambda: lstm(steps)[0]}
    rows = []
    with torch.no_grad():
        exact = {"matmul": a.double() @ b.double(), "rnn": lstm.double()(steps.double())[0],
                 "conv": torch.nn.functional.conv2d(x.double(), w.double())}
        lstm.float()
        for name, call in budget.loop(calls.items(), desc=both("operations", "运算")):
            plain = call()
            for permission in ("none", "ieee", "tf32", "bf16"):
                with flags.using({f"mkldnn.{name}.fp32_precision": permission}):
                    result = call()
                rows.append({"operation": name, "permission": permission,
                             "relative": relative_error(result, exact[name]),
                             "same_bits": int(torch.equal(result, plain)), "bf16_units": _bf16_units()})
    for permission, bits in (("tf32", 10), ("bf16", 7)):
        error = relative_error(keep_bits(a, bits) @ keep_bits(b, bits), exact["matmul"])
        rows.append({"operation": "simulated", "permission": permission, "relative": error})
    return rows


def _bf16_units() -> str:
    """Whether torch reports instructions for bf16 here: yes, no or unknown."""
    tests = [getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported")]
    known = [test() for test in tests if callable(test)]
    return "unknown" if not known else "yes" if any(known) else "no"


@experiment(name="07-documented", lesson=LESSON, version=1, needs="cpu", seconds=10,
            title=both("PyTorch's documentation measured an A100: do its inputs look rounded, or cut off?",
                       "PyTorch 文档在 A100 上测过一次：它的输入像是舍入的，还是截断的？"),
            finding=page.documented, draw=page.draw_documented, settles=page.settle_documented)
def documented(budget: Budget) -> list[dict]:
    """Typical error of an entry of randn(., 10240) @ randn(10240, .), inputs rounded or cut to 10 bits of mantissa."""
    rows = []
    for seed in budget.loop(range(9), desc=both("draws", "抽样")):
        random = torch.Generator().manual_seed(seed)
        a, b = torch.randn(96, page.SIDE, generator=random), torch.randn(page.SIDE, 96, generator=random)
        exact = a.double() @ b.double()
        for way, shorten in (("rounded", keep_bits), ("cut", cut_bits)):
            wrong = (shorten(a, 10) @ shorten(b, 10)).double() - exact
            rows.append({"seed": seed, "way": way, "typical": wrong.square().mean().sqrt().item()})
    return rows


# --- the real switches, in new processes ------------------------------------------------------------------

@experiment(name="07-tree", lesson=LESSON, version=1, needs="cpu", seconds=15,
            title=both("Set one node of the precision tree: which others read differently?",
                       "设置精度树的一个节点：还有谁跟着变？"),
            finding=told.tree, draw=told.draw_tree, settles=told.settle_tree)
def tree(budget: Budget) -> list[dict]:
    """Every node before and after one node was set, in a new process."""
    return rows_of(PROBES, "tree")


@experiment(name="07-mixing", lesson=LESSON, version=1, needs="cpu", seconds=15,
            title=both("Write with the new words, read with the old ones: what comes back?",
                       "用新接口写，用旧接口读：读到什么？"),
            finding=told.mixing, draw=told.draw_mixing, settles=told.settle_mixing)
def mixing(budget: Budget) -> list[dict]:
    """Values or errors of the three older readings after seven ways to write, in a new process."""
    return rows_of(PROBES, "mixing")


@experiment(name="07-no-op", lesson=LESSON, version=1, needs="cpu", seconds=15,
            title=both("An assignment that changes nothing: does the root still reach the convolutions?",
                       "一句什么都没改的赋值：根节点还管得到卷积吗？"),
            finding=told.no_op, draw=told.draw_no_op, settles=told.settle_no_op)
def no_op(budget: Budget) -> list[dict]:
    """ieee asked at the root: untouched, after allow_tf32 was set to its own value, after an empty block."""
    rows = []
    for probe in budget.loop(("no_op", "no_op_block"), desc=FRESH):
        rows += rows_of(PROBES, probe)
    return rows


# --- CUDA, in new processes -------------------------------------------------------------------------------

@experiment(name="07-who-cuda", lesson=LESSON, version=1, needs="cuda", seconds=60,
            title=both("On the GPU: who computes in TF32, by every way to set it?",
                       "GPU 上：用各种方式设置，谁在用 TF32 计算？"),
            finding=gpu.who, draw=gpu.draw_who)
def who_cuda(budget: Budget) -> list[dict]:
    """Relative error against float64 of matmul, convolution and LSTM under seven settings."""
    return rows_of(CUDA_PROBES, "who")


@experiment(name="07-depth-cuda", lesson=LESSON, version=1, needs="cuda", seconds=60,
            title=both("On the GPU: how close is our simulated TF32 to the real one?",
                       "GPU 上：我们模拟的 TF32 与真的差多少？"),
            finding=gpu.depth, draw=gpu.draw_depth)
def depth_cuda(budget: Budget) -> list[dict]:
    """Error of a product by inner length: TF32 forbidden, allowed, simulated."""
    return rows_of(CUDA_PROBES, "depth")


@experiment(name="07-speed-cuda", lesson=LESSON, version=1, needs="cuda", seconds=90,
            title=both("On the GPU: how much time does TF32 save?", "GPU 上：TF32 省多少时间？"),
            finding=gpu.speed, draw=gpu.draw_speed, settles=gpu.settle_speed)
def speed_cuda(budget: Budget) -> list[dict]:
    """time(TF32 allowed) / time(forbidden) of matmul and convolution at three sizes, taking turns."""
    return rows_of(CUDA_PROBES, "speed", timeout_s=180)


@experiment(name="07-kernels-cuda", lesson=LESSON, version=1, needs="cuda", seconds=60,
            title=both("On the GPU: which kernels run, TF32 forbidden and allowed?",
                       "GPU 上：禁止与允许 TF32 时，各跑哪些 kernel？"),
            finding=gpu.kernels, draw=gpu.draw_kernels)
def kernels_cuda(budget: Budget) -> list[dict]:
    """The longest kernels of one matmul and one convolution under both settings, by the profiler."""
    return rows_of(CUDA_PROBES, "kernels")


@experiment(name="07-reduction-cuda", lesson=LESSON, version=1, needs="cuda", seconds=60,
            title=both("On the GPU: what do reduced-precision reductions cost bf16 and fp16 products?",
                       "GPU 上：归约降精度，会让 bf16 和 fp16 矩阵乘损失多少精度？"),
            finding=gpu.reduction, draw=gpu.draw_reduction)
def reduction_cuda(budget: Budget) -> list[dict]:
    """Error of half-precision products, short and long, with the switch on (the default) and off."""
    return rows_of(CUDA_PROBES, "reduction")
