# %% [markdown] en
# # Checkpoint 02: can your stopwatch be trusted?
#
# {{worth}} The last task is a report. About 25 minutes. Questions show no right or wrong here; your last choice counts. Speed earns nothing anywhere: honesty does. **Save the notebook** before you hand it in.
# %% [markdown] zh
# # 测验 02：你的秒表可信吗？
#
# {{worth}}最后一个任务是一份报告。约 25 分钟。答题时不显示对错，以最后一次选择为准。跑得快不加分，诚实才加分。交卷前请**保存 notebook**。
# %% bootstrap
# %% question 02-c-short-reading
# %% question 02-c-which-line
# %% question 02-c-first-call
# %% question 02-c-drift
# %% question 02-c-verdicts
# %% task 02-t-interval
# en: Give back [low, high], the 95 % interval of the median
# en: of the readings (a list of floats, in any order).
# en: Sort them and cut k at each end: the largest k for
# en: which 2 * (C(n,0) + ... + C(n,k)) / 2**n <= 0.05.
# en: low and high are the first and the last that remain.
# en: Where not even k = 0 is allowed, give back None.
# zh: 返回 [low, high]，即这些读数（浮点数列表，顺序任意）中位数的 95% 区间。
# zh: 排序后两端各切掉 k 个：k 是满足 2 * (C(n,0) + ... + C(n,k)) / 2**n <= 0.05 的最大值。
# zh: 剩下的第一个和最后一个就是 low 与 high。如果连 k = 0 都不允许，就返回 None。
from math import comb

def interval_of_median(samples):
    ### BEGIN SOLUTION
    n, missed, kept = len(samples), 0, None
    for k in range(n):
        missed += 2 * comb(n, k)
        if missed > 0.05 * 2**n:
            break
        kept = k
    ordered = sorted(samples)
    return None if kept is None else [ordered[kept], ordered[-1 - kept]]
    ### END SOLUTION
# %% task 02-t-verdict
# en: low..high is the interval of candidate / baseline, gate
# en: a share such as 0.02. Give back "faster" or "slower"
# en: if the interval excludes 1 (an end at exactly 1 does not
# en: exclude it), however small the gap. Otherwise "same"
# en: if it lies within 1 - gate .. 1 + gate, else "undecided".
# zh: low..high 是 候选 / 基准 的区间，gate 是阈值（例如 0.02）。
# zh: 区间不含 1（端点恰为 1 不算“不含”）时，
# zh: 无论差距多小都返回 "faster" 或 "slower"；
# zh: 否则，若整个区间在 1 - gate .. 1 + gate 之内，返回 "same"；
# zh: 其余返回 "undecided"。
def honest_verdict(low, high, gate):
    ### BEGIN SOLUTION
    if high < 1:
        return "faster"
    if low > 1:
        return "slower"
    return "same" if 1 - gate <= low and high <= 1 + gate else "undecided"
    ### END SOLUTION
# %% [markdown] en
# ## Report one measurement of your own
#
# Compare any two versions of a computation with `compare`, for example `x @ x` in two sizes or two dtypes. Fill a dictionary `report` with plain values: `device` ("cpu", "cuda", ...), `threads`, `warmup_calls` (before the measurement, for each side), `fence` ("none needed", "synchronize" or "events"), `ratios` (one for each round; a comparison `found` of two functions has them in `found.pairs[name].ratios`), `low`, `high`, `gate`, `claim` ("faster", "slower", "same" or "undecided"), and where something speaks against the interval, `why` in your words. The protocol and an honest claim are marked, by the four points below. An honest "undecided" earns as much as "faster".
# %% [markdown] zh
# ## 报告一次你自己的测量
#
# 用 `compare` 比较同一计算的任意两个版本，例如两种尺寸或两种 dtype 的 `x @ x`。用普通值填写字典 `report`：`device`（"cpu"、"cuda"……）、`threads`、`warmup_calls`（测量前双方各预热几次）、`fence`（"none needed"、"synchronize" 或 "events"）、`ratios`（每轮一个；`compare` 的结果 `found` 里是 `found.pairs[名字].ratios`）、`low`、`high`、`gate`、`claim`（"faster"、"slower"、"same" 或 "undecided"）；区间有可疑之处时，再用 `why` 写一句理由。评分只看测量规程和结论是否诚实，标准见下面四条；诚实的 "undecided" 与 "faster" 同样得分。
# %% task 02-t-report
# en: One point each. warm: warmup_calls is 3 or more
# en: fence: the one that fits the device
# en: repeat: 10 ratios or more; low..high is an interval for their median
# en: report: threads; a gate above 0, at most 0.2; a claim that the interval
# en: carries, as in honest_verdict. An end within 0.005 of 1 names no winner:
# en: then "same" (inside the gate) or "undecided" (outside) is right, too.
# en: Elsewhere "undecided" beside an interval that carries more earns half; all,
# en: if `why` says what spoke against it, as `compare` does of a drift.
# zh: 每条一分。预热：warmup_calls 至少 3
# zh: 栅栏：与 device 相配
# zh: 重复：至少 10 个比值；low..high 是其中位数的区间
# zh: 报告：写明 threads；gate 大于 0、不超过 0.2；claim 有区间撑腰，规则同 honest_verdict。
# zh: 区间有一端与 1 相差不超过 0.005，就分不出赢家：
# zh: 写 "same"（在阈值之内）或 "undecided"（越过阈值）也对。
# zh: 其余情况下区间能支持更多时，"undecided" 得一半；
# zh: 用 `why` 写明哪里可疑（例如 `compare` 说时间一直在变），得全分。
import torch
from course.timing import compare

### BEGIN SOLUTION
x, warmup_calls = torch.randn(96, 96), 5
once, twice = (lambda: x @ x), (lambda: (x @ x, x @ x))
for _ in range(warmup_calls):
    once(), twice()
found = compare({"once": once, "twice": twice}, baseline="once", max_time=2)
report = {"device": found.device, "threads": found.threads, "warmup_calls": warmup_calls, "fence": "none needed",
          "ratios": found.pairs["twice"].ratios, "low": found.low, "high": found.high, "gate": found.gate,
          "claim": found.verdict, "why": " ".join([found.sentence(), *found.notes])}
### END SOLUTION
