# %% [markdown] en
# # Checkpoint 09: who did the work on this CPU?
#
# {{worth}} About 25 minutes. Cards say nothing about right or wrong here; answer as often as you like, the last
# answer counts. A task says what to hand in; its `check` looks at the form only. No GPU is needed.
# **Save the notebook** before you hand it in.
# %% [markdown] zh
# # 测验 09：这颗 CPU 上的活儿是谁干的？
#
# {{worth}}约 25 分钟。这里的卡片不显示对错；想改几次都行，以最后一次为准。每个任务写明了要交什么，`check` 只看形式。不需要 GPU。交卷前请**保存 notebook**。
# %% bootstrap
# %% question 09-c-build
# %% question 09-c-silent
# %% question 09-c-share
# %% question 09-c-old-laptop
# %% question 09-c-block
# %% question 09-c-bits
# %% task 09-t-time
# en: Milliseconds of each primitive in a raw report of oneDNN,
# en: a list of lines. Executed lines only; creation lines, headers
# en: and other prints do not count. An empty report gives {}.
# en: For example {"reorder": 0.3, "convolution": 1.5}
# zh: 汇总 oneDNN 原始报告（由行组成的列表）里
# zh: 每种 primitive 的毫秒数。只算执行行；
# zh: 创建行、标题行和其他输出都不算。空报告返回 {}。
# zh: 例如 {"reorder": 0.3, "convolution": 1.5}
def time_by_primitive(report: list[str]) -> dict[str, float]:
    ### BEGIN SOLUTION
    found = {}
    for line in report:
        fields = line.split(",")
        if fields[0] != "onednn_verbose" or "exec" not in fields[3:4]:
            continue
        found[fields[5]] = found.get(fields[5], 0.0) + float(fields[-1])
    return found
    ### END SOLUTION
# %% task 09-t-report
# en: Race any layer on this CPU with oneDNN on and off, in turn.
# en: report = {"layer": "...", "threads": 1, "lines": 3,
# en:           "on_ms": [...], "off_ms": [...],
# en:           "low": ..., "high": ...,
# en:           "claim": "faster"|"slower"|"undecided"}
# en: lines: in oneDNN's log of the call. At least six pairs; low,
# en: high: 95 % interval for the median of on / off. claim: of the
# en: layer with oneDNN on. Speed earns nothing.
# zh: 在这颗 CPU 上任选一层，让 oneDNN 开与关轮流比赛。
# zh: report = {"layer": "...", "threads": 1, "lines": 3,
# zh:           "on_ms": [...], "off_ms": [...],
# zh:           "low": ..., "high": ...,
# zh:           "claim": "faster"|"slower"|"undecided"}
# zh: lines：这次调用在 oneDNN 日志里的行数。至少六对；
# zh: low、high：开 / 关 的中位数的 95% 区间。
# zh: claim：指打开 oneDNN 的一方。快慢不计分。
import torch
from time import perf_counter
from course.onednn_log import log_of
from course.timing.stats import median_interval
### BEGIN SOLUTION
layer, x = torch.nn.Conv2d(16, 16, 3, groups=16), torch.randn(4, 16, 40, 40)
times = {True: [], False: []}
before = torch.backends.mkldnn.enabled
with torch.inference_mode():
    lines = len(log_of(lambda: layer(x)))
    for pair in range(20):
        for state in (True, False) if pair % 2 else (False, True):
            torch.backends.mkldnn.enabled = state
            start = perf_counter()
            layer(x)
            times[state].append((perf_counter() - start) * 1e3)
torch.backends.mkldnn.enabled = before
interval = median_interval([on / off for on, off in zip(times[True], times[False])])
claim = "faster" if interval.high < 1 else "slower" if interval.low > 1 else "undecided"
report = {"layer": "depthwise Conv2d", "threads": torch.get_num_threads(), "lines": lines,
          "on_ms": times[True], "off_ms": times[False], "low": interval.low,
          "high": interval.high, "claim": claim if lines else "undecided"}
### END SOLUTION
