# %% [markdown] en
# # Checkpoint 16: the rest of the fuse box
#
# {{worth}} About 35 minutes. Cards say nothing about right or wrong here; answer as often as you like, the last
# answer counts. A task says what to hand in; its `check` looks at the form only. No GPU is needed.
# **Save the notebook** before you hand it in.
# %% [markdown] zh
# # 测验 16：配电箱里其余的开关
#
# {{worth}}约 35 分钟。这里的卡片不显示对错；想改几次都行，以最后一次为准。每个任务写明了要交什么，`check` 只看形式。不需要 GPU。交卷前请**保存 notebook**。
# %% bootstrap
# %% question 16-c-order
# %% question 16-c-saturate
# %% question 16-c-engine
# %% question 16-c-kept
# %% question 16-c-frozen
# %% question 16-c-latency
# %% question 16-c-promise
# %% question 16-c-seed
# %% task 16-t-copies
# en: Which copy of a script gets which cores?
# en: cores: the numbers of the cores, for example [8, 9, 10, 11, 12]
# en: copies: so many copies; per_copy: so many cores for each
# en: The first copy gets the first cores of the list, the next copy
# en: the next ones; what is left over stays free. No core twice.
# en: If the cores are too few, or copies is 0: "error".
# en: For example (cores above, 2, 2) -> [[8, 9], [10, 11]]
# zh: 哪份脚本用哪几个核？
# zh: cores：核的编号，例如 [8, 9, 10, 11, 12]
# zh: copies：一共几份；per_copy：每份几个核
# zh: 第一份用列表里最前面的核，下一份用接下来的，
# zh: 剩下的空着。每个核最多用一次。
# zh: 核不够，或者 copies 是 0 时，返回 "error"。
# zh: 例如（cores 如上，2, 2）-> [[8, 9], [10, 11]]
def place_copies(cores: list[int], copies: int, per_copy: int):
    ### BEGIN SOLUTION
    if copies < 1 or copies * per_copy > len(cores):
        return "error"
    return [cores[i * per_copy : (i + 1) * per_copy] for i in range(copies)]
    ### END SOLUTION
# %% task 16-t-report
# en: Race a linear layer in int8 against float32, any sizes, in turn:
# en: report = {"engine": "x86", "shape": [rows, inputs, outputs],
# en:           "threads": 1, "int8_ms": [...], "float32_ms": [...],
# en:           "low": ..., "high": ..., "error": ...,
# en:           "claim": "faster"|"slower"|"undecided"}
# en: engine: the one that packed the weight. At least six pairs;
# en: low, high: 95 % interval for the median of int8 / float32.
# en: error: the largest difference to the float32 result. claim: of
# en: int8. Speed earns nothing.
# zh: 让一个线性层的 int8 和 float32 轮流比赛，尺寸随意：
# zh: report = {"engine": "x86", "shape": [行, 输入, 输出],
# zh:           "threads": 1, "int8_ms": [...], "float32_ms": [...],
# zh:           "low": ..., "high": ..., "error": ...,
# zh:           "claim": "faster"|"slower"|"undecided"}
# zh: engine：给权重打包的引擎。至少六对；
# zh: low、high：int8 / float32 的中位数的 95% 区间。
# zh: error：与 float32 结果的最大差别。claim：指 int8 一方。
# zh: 快慢不计分。
import torch
from time import perf_counter
from course.lessons.l16_rest.int8_race import sides
from course.timing.stats import median_interval
### BEGIN SOLUTION
shape = [64, 256, 256]
layers, times = sides(*shape), {"int8": [], "float32": []}
for pair in range(20):
    for name in ("int8", "float32") if pair % 2 else ("float32", "int8"):
        start = perf_counter()
        layers[name]()
        times[name].append((perf_counter() - start) * 1e3)
interval = median_interval([a / b for a, b in zip(times["int8"], times["float32"])])
claim = "faster" if interval.high < 1 else "slower" if interval.low > 1 else "undecided"
report = {"engine": torch.backends.quantized.engine, "shape": shape, "threads": torch.get_num_threads(),
          "int8_ms": times["int8"], "float32_ms": times["float32"], "low": interval.low, "high": interval.high,
          "error": (layers["int8"]().dequantize() - layers["float32"]()).abs().max().item(), "claim": claim}
### END SOLUTION
