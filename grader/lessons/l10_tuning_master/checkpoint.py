# %% [markdown] en
# # Checkpoint 10: your name under a setting
#
# {{worth}} Cards say nothing about right or wrong here; answer as often as you like, the last
# answer counts. A task says what to hand in; its `check` looks at the form only. No GPU is needed.
# **Save the notebook** before you hand it in.
# %% [markdown] zh
# # 测验 10：签下你的名字
#
# {{worth}}这里的卡片不显示对错；想改几次都行，以最后一次为准。每个任务写明了要交什么，`check` 只看形式。不需要 GPU。交卷前请**保存 notebook**。
# %% bootstrap
# %% question 10-c-limit
# %% question 10-c-leave
# %% question 10-c-steps
# %% question 10-c-last
# %% question 10-c-gan
# %% question 10-c-again
# %% task 10-t-choose
# en: The name of the setting to hand in. rows: list of
# en: {"name", "low", "ratio", "high", "error"}, time over today's.
# en: Permitted: error <= limit. The best: the smallest ratio of
# en: these. If today's is permitted and its interval overlaps that
# en: of the best (ends included), keep today's. Nothing permitted:
# en: None.
# zh: 返回该交的设置的名字。rows：列表，每行
# zh: {"name", "low", "ratio", "high", "error"}，耗时与现在之比。
# zh: 合格：error <= limit。最好的：合格里 ratio 最小的。
# zh: 如果现在的合格，而且区间和最好的重叠（端点也算），
# zh: 就保留现在的。没有合格的就返回 None。
def choose(rows: list[dict], today: str, limit: float):
    ### BEGIN SOLUTION
    allowed = {row["name"]: row for row in rows if row["error"] <= limit}
    if not allowed:
        return None
    best = min(allowed.values(), key=lambda row: row["ratio"])
    if today in allowed and allowed[today]["low"] <= best["high"]:
        return today
    return best["name"]
    ### END SOLUTION
# %% task 10-t-report
# en: Change one thing in any small model of yours and measure it
# en: against today's, in turn, at least six pairs.
# en: report = {"today": "...", "change": "...",
# en:           "today_ms": [...], "change_ms": [...],
# en:           "low": ..., "high": ...,
# en:           "claim": "faster"|"slower"|"undecided",
# en:           "must_not_break": "...", "kept": True|False}
# en: low, high: 95 % interval for the median of change / today;
# en: claim: of the change. Speed earns nothing.
# zh: 任选一个小模型，只改一处，和现在的轮流测，至少六对。
# zh: report = {"today": "...", "change": "...",
# zh:           "today_ms": [...], "change_ms": [...],
# zh:           "low": ..., "high": ...,
# zh:           "claim": "faster"|"slower"|"undecided",
# zh:           "must_not_break": "...", "kept": True|False}
# zh: low、high：改动 / 现在 的中位数的 95% 区间；
# zh: claim 说的是改动的一方。快慢不计分。
import torch
from time import perf_counter
from course.timing.stats import median_interval
### BEGIN SOLUTION
layer, x = torch.nn.Linear(256, 256), torch.randn(64, 256)
sides = {"today": lambda: layer(x), "change": lambda: layer(x[:32])}
times = {name: [] for name in sides}
with torch.no_grad():
    for pair in range(20):
        for name in sorted(sides, reverse=pair % 2 == 0):
            start = perf_counter()
            sides[name]()
            times[name].append((perf_counter() - start) * 1e3)
    kept = torch.allclose(layer(x)[:32], layer(x[:32]), atol=1e-5)
interval = median_interval([c / t for c, t in zip(times["change"], times["today"])])
claim = "faster" if interval.high < 1 else "slower" if interval.low > 1 else "undecided"
report = {"today": "64 rows a call", "change": "32 rows a call", "today_ms": times["today"],
          "change_ms": times["change"], "low": interval.low, "high": interval.high,
          "claim": claim, "must_not_break": "rows the same up to rounding", "kept": kept}
### END SOLUTION
