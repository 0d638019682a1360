"""Experiments of lesson 04: what cudnn.enabled reaches, what stands in for cuDNN, and what it costs.

The CPU ones read the dispatcher and use oneDNN's switch as a stand-in, with the same anatomy: a fast library,
a plain path behind it. Sentences and pictures stand in ``enabled_findings`` and ``enabled_findings_cuda``.
"""

from __future__ import annotations

import torch

from course import flags
from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.i18n import both
from course.lessons.l04_cudnn_enabled import findings as say
from course.lessons.l04_cudnn_enabled import findings_cuda as gpu
from course.lessons.l04_cudnn_enabled import probes, words

LESSON = "04_cudnn_enabled"
CUDNN, ONEDNN = "cudnn.enabled", "mkldnn.enabled"
OPERATIONS = both("operations", "算子")
ON_CPU = ("Conv2d", "LSTM", "BatchNorm2d")
WITHOUT_ONEDNN = ("Conv2d", "Conv2d, depthwise", "LSTM", "GRU", "Linear", "MaxPool2d")
WITHOUT_CUDNN = tuple(probes.OPERATIONS)


def _races(budget: Budget, names: tuple[str, ...], switch: str, device: str = "cpu") -> list[dict]:
    """One row an operation: time with the switch off over time with it on, and whether the bits agree."""
    rows = []
    for place, name in enumerate(budget.loop(names, desc=OPERATIONS)):
        call = probes.OPERATIONS[name](device)
        on, off = probes.on_and_off(call, switch)
        race = probes.switch_race(call, switch, max_time=max(0.5, budget.share(len(names) - place)),
                                  device=device)
        rows.append({"operation": name, "ratio": race.ratio, "low": race.low, "high": race.high,
                     "verdict": words.verdict(race.low, race.high), "on_ms": race.medians_ms["on"],
                     "off_ms": race.medians_ms["off"], "rounds": race.rounds,
                     "same_bits": int(torch.equal(on, off))})
    return rows


@experiment(name="04-cpu-enabled", lesson=LESSON, version=1, needs="cpu", seconds=6,
            title=both("On the CPU: does anything change when cudnn.enabled goes off?",
                       "在 CPU 上：关掉 cudnn.enabled，有什么变化吗？"),
            finding=say.cpu_enabled, draw=words.draw_races, settles=say.settle_cpu_enabled)
def cpu_enabled(budget: Budget) -> list[dict]:
    """Three layers on the CPU, cudnn.enabled on and off: time and bits. One thread."""
    return _races(budget, ON_CPU, CUDNN)


@experiment(name="04-dispatch", lesson=LESSON, version=1, needs="cpu", seconds=2,
            title=both("Which switch changes PyTorch's choice for a CPU tensor?",
                       "对 CPU 张量，哪个开关会改变 PyTorch 的选择？"),
            finding=say.dispatch, draw=say.draw_dispatch, settles=say.settle_dispatch)
def dispatch(budget: Budget) -> list[dict]:
    """Ask the dispatcher about seven convolutions: as things are, without cuDNN, without oneDNN."""
    rows = []
    for case in probes.CONVOLUTIONS:
        row: dict = {"case": case}
        for column, switch in (("as_it_is", None), ("cudnn_off", CUDNN), ("onednn_off", ONEDNN)):
            with flags.using({switch: False} if switch else {}):
                row[column] = probes.chosen_backend(case)
        rows.append(row)
    return rows


@experiment(name="04-pretend-gpu", lesson=LESSON, version=1, needs="cpu", seconds=8,
            title=both("Tensors that pretend to be on a GPU: what is chosen without cuDNN?",
                       "假装在 GPU 上的张量：没有 cuDNN 时选谁？"),
            finding=say.pretend_gpu, draw=say.draw_pretend_gpu)
def pretend_gpu(budget: Budget) -> list[dict]:
    """Ask the dispatcher about the same convolutions, without memory, on a GPU that may not exist."""
    rows = []
    for case in probes.CONVOLUTIONS:
        try:
            with flags.using({CUDNN: True}):
                on = probes.pretended_backend(case)
            with flags.using({CUDNN: False}):
                off = probes.pretended_backend(case)
        except (RuntimeError, AssertionError):  # a build that must see a real GPU to answer
            continue
        rows.append({"case": case, "on": on, "off": off,
                     "cudnn_built": int(torch.backends.cudnn.is_available())})
    return rows


@experiment(name="04-onednn-ops", lesson=LESSON, version=1, needs="mkldnn", seconds=11,
            title=both("The stand-in: which operations get slower without oneDNN?",
                       "替身实验：没有 oneDNN，哪些算子会变慢？"),
            finding=say.onednn_ops, draw=words.draw_races, settles=say.settle_onednn_ops)
def onednn_ops(budget: Budget) -> list[dict]:
    """Six layers on the CPU, mkldnn.enabled on and off: time and bits. One thread."""
    return _races(budget, WITHOUT_ONEDNN, ONEDNN)


@experiment(name="04-bits", lesson=LESSON, version=1, needs="mkldnn", seconds=6,
            title=both("oneDNN on or off: whose results are nearer to float64?",
                       "oneDNN 开或关：谁的结果更接近 float64？"),
            finding=say.bits, draw=say.draw_bits, settles=say.settle_bits)
def bits(budget: Budget) -> list[dict]:
    """Twelve convolutions with new weights and inputs, on and off, each compared with float64."""
    rows = []
    for number in budget.loop(range(12), desc=both("inputs", "输入")):
        layer = torch.nn.Conv2d(32, 32, 3, padding=1).eval()
        rows.append({"input": number,
                     **probes.against_float64(layer, torch.randn(2, 32, 24, 24), ONEDNN)})
    return rows


@experiment(name="04-census", lesson=LESSON, version=1, needs="cpu", seconds=6,
            title=both("Ask every flags() for what is already so: what moves?",
                       "向每个 flags() 提一个“保持原样”的请求：什么会动？"),
            finding=say.census, draw=say.draw_census, settles=say.settle_census)
def census(budget: Budget) -> list[dict]:
    """In a new process: each flags() without arguments and with one argument it has already."""
    return rows_of(probes.__name__, "flags_census")


@experiment(name="04-gates", lesson=LESSON, version=1, needs="cpu", seconds=1,
            title=both("Who passes which switch on the way to a GPU kernel?", "去往 GPU kernel 的路上，谁要过哪个开关？"),
            finding=say.gates, draw=say.draw_gates)
def gates(budget: Budget) -> list[dict]:
    """The switches that stand before cuDNN, as they are now; 1 is open, -1 means that there is none."""
    now = flags.read()
    return [{"group": group, "switch": switch, "open": int(now[switch] is True) if switch else -1}
            for group, switch in (("layers", CUDNN), ("attention", "cuda.enable_cudnn_sdp"), ("products", ""),
                                  ("rest", ""))]


# --- with an NVIDIA GPU -------------------------------------------------------------------------------------

@experiment(name="04-ops-cuda", lesson=LESSON, version=1, needs="cuda", seconds=45,
            title=both("On a GPU: which operations change when cuDNN goes off?",
                       "在 GPU 上：关掉 cuDNN，哪些算子会变？"),
            finding=gpu.ops, draw=words.draw_races, settles=gpu.settle_ops)
def ops_cuda(budget: Budget) -> list[dict]:
    """Ten operations, cudnn.enabled on and off: time and bits."""
    return _races(budget, WITHOUT_CUDNN, CUDNN, probes.gpu())


@experiment(name="04-kernels-cuda", lesson=LESSON, version=1, needs="cuda", seconds=60,
            title=both("On a GPU: which kernels run with cuDNN and without?",
                       "在 GPU 上：有 cuDNN 和没有 cuDNN，跑的是哪些 kernel？"),
            finding=gpu.kernels, draw=gpu.draw_kernels)
def kernels_cuda(budget: Budget) -> list[dict]:
    """The longest kernels of the same operations, cudnn.enabled on and off, by the profiler."""
    rows = []
    for name in budget.loop(WITHOUT_CUDNN, desc=OPERATIONS):
        call = probes.OPERATIONS[name](probes.gpu())
        for setting in (True, False):
            with flags.using({CUDNN: setting}):
                found = probes.longest_kernels(call)
            rows += [{"operation": name, "cudnn": int(setting), "place": place, "kernel": kernel}
                     for place, kernel in enumerate(found, start=1)]
    return rows


@experiment(name="04-bits-cuda", lesson=LESSON, version=1, needs="cuda", seconds=20,
            title=both("On a GPU: how near to float64 are the results with cuDNN and without?",
                       "在 GPU 上：有 cuDNN 和没有 cuDNN，结果离 float64 有多近？"),
            finding=gpu.bits, draw=gpu.draw_bits)
def bits_cuda(budget: Budget) -> list[dict]:
    """A convolution and an LSTM, ten times each, with cuDNN's TF32 as it comes and switched off."""
    makers = {"Conv2d": lambda: (torch.nn.Conv2d(32, 32, 3, padding=1), torch.randn(4, 32, 32, 32)),
              "LSTM": lambda: (torch.nn.LSTM(64, 64), torch.randn(16, 8, 64))}
    cases = [(name, tf32) for name in makers for tf32 in (True, False)]
    rows = []
    for name, tf32 in budget.loop(cases, desc=OPERATIONS):
        with flags.using({"cudnn.allow_tf32": tf32}):
            for number in range(10):
                layer, x = makers[name]()
                layer, x = layer.to(probes.gpu()).eval(), x.to(probes.gpu())
                found = probes.against_float64(layer, x, CUDNN)
                rows.append({"operation": name, "tf32_allowed": int(tf32), "input": number, **found})
    return rows


@experiment(name="04-memory-cuda", lesson=LESSON, version=1, needs="cuda", seconds=20,
            title=both("On a GPU: what does one convolution need beside its input?",
                       "在 GPU 上：一个卷积除了输入还要多少显存？"),
            finding=gpu.memory, draw=gpu.draw_memory)
def memory_cuda(budget: Budget) -> list[dict]:
    """Peak of allocated memory of one forward pass above what was in use, three sizes, on and off."""
    rows = []
    for size in budget.loop((56, 112, 224), desc=both("sizes", "尺寸")):
        layer = torch.nn.Conv2d(64, 64, 3, padding=1).to(probes.gpu())
        x = torch.randn(8, 64, size, size, device=probes.gpu())
        for setting in (True, False):
            with flags.using({CUDNN: setting}):
                rows.append({"size": size, "cudnn": int(setting), "result_mib": x.nbytes / probes.MIB,
                             "peak_mib": probes.peak_mib(lambda layer=layer, x=x: layer(x))})
    return rows


@experiment(name="04-attention-cuda", lesson=LESSON, version=1, needs="cuda", seconds=15,
            title=both("On a GPU: cudnn.enabled is off; does attention still get cuDNN?",
                       "在 GPU 上：cudnn.enabled 已关，注意力还能用上 cuDNN 吗？"),
            finding=gpu.attention, draw=gpu.draw_attention)
def attention_cuda(budget: Budget) -> list[dict]:
    """Half-precision attention told to use its cuDNN kernel, with cudnn.enabled on and off."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention as attend

    q, k, v = (torch.randn(2, 8, 256, 64, device=probes.gpu(), dtype=torch.float16) for _ in range(3))
    rows = []
    for setting in (True, False):
        row = {"cudnn": int(setting), "ran": 0, "kernel": "", "error": ""}
        try:
            with flags.using({CUDNN: setting}), sdpa_kernel([SDPBackend.CUDNN_ATTENTION]):
                row.update(ran=1, kernel=" + ".join(probes.longest_kernels(lambda: attend(q, k, v), 1)))
        except RuntimeError as error:  # this GPU or build offers no such kernel
            row["error"] = str(error).strip().split("\n")[0][:200]
        rows.append(row)
    return rows
