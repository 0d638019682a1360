# %% [markdown] en
# # 🎯 Checkpoint 12: where did the time go?
#
# {{worth}} About 35 minutes. Cards say nothing about
# right or wrong here; answer as often as you like, the last answer counts. A task says what to hand in; its `check`
# looks at the form only. Everything works without a GPU.
# **Save the notebook** before you hand it in.
# %% [markdown] zh
# # 🎯 测验 12：时间都去哪儿了？
#
# {{worth}}约 35 分钟。这里的卡片不显示对错；想改几次都行，以最后一次为准。每个任务写明了要交什么，`check` 只看形式。全部内容都不需要 GPU。交卷前请**保存 notebook**。
# %% bootstrap
# %% question 12-c-self
# %% question 12-c-gap
# %% question 12-c-wait
# %% question 12-c-names
# %% question 12-c-cost
# %% question 12-c-order
# %% task 12-t-gap
# en: How many microseconds between start and end lie outside of
# en: every event? events: [from, to] each, in any order; they may
# en: hold each other, overlap, or reach beyond start and end.
# zh: 在 start 和 end 之间，有多少微秒不在任何事件里？
# zh: events：每个是 [开始, 结束]，顺序任意；
# zh: 可能一个套一个、部分重叠，也可能超出 start 和 end。
def outside_us(events: list[list[float]], start: float, end: float) -> float:
    ### BEGIN SOLUTION
    covered, reached = 0.0, start
    for begin, stop in sorted(events):
        begin, stop = max(begin, reached), min(stop, end)
        if stop > begin:
            covered += stop - begin
            reached = stop
    return end - start - covered
    ### END SOLUTION
# %% task 12-t-self
# en: The own time of each name. events: [name, from, to], in
# en: order of their start, those of one start the longest first; an
# en: event lies wholly inside another or wholly outside of it. Own:
# en: its time without the events directly inside. Equal names add up.
# zh: 按名字累加自身耗时。events：[名字, 开始, 结束]，按开始时间排列，
# zh: 开始相同的长的在前；两个事件要么一个完全套着另一个，要么互不相干。
# zh: 自身耗时：去掉直接套在里面的事件。同名的相加。
def self_by_name(events: list[list]) -> dict[str, float]:
    ### BEGIN SOLUTION
    own, open_ones = {}, []
    for name, begin, stop in events:
        while open_ones and open_ones[-1][1] <= begin:
            open_ones.pop()
        if open_ones:
            own[open_ones[-1][0]] -= stop - begin
        own[name] = own.get(name, 0.0) + stop - begin
        open_ones.append((name, stop))
    return own
    ### END SOLUTION
# %% task 12-t-report
# en: Measure how much the profiler slows down work of your choice.
# en: report = {"work": "many small" | "few large", "plain_ms": [...],
# en:           "profiled_ms": [...], "low": ..., "high": ...,
# en:           "claim": "slower" | "same" | "undecided"}
# en: Pairs taken in turn, at least six; low, high: 95 % interval for the median of
# en: profiled / plain. A point each: pairs, interval, a claim it carries
# en: ("same": within 0.9 and 1.1). Speed earns nothing.
# zh: 自选一份活，测一测 profiler 让它多花多少时间。
# zh: report = {"work": "many small" | "few large", "plain_ms": [...],
# zh:           "profiled_ms": [...], "low": ..., "high": ...,
# zh:           "claim": "slower" | "same" | "undecided"}
# zh: 轮流测，成对，至少六对；low、high：profiled / plain 的中位数的 95% 区间。
# zh: 成对的耗时、区间、有区间支持的结论，各一分
# zh: （“same”：在 0.9 到 1.1 之内）。快慢不计分。
import torch
from time import perf_counter
from torch.profiler import profile, ProfilerActivity
from course.timing.stats import median_interval
### BEGIN SOLUTION
small, plain_ms, profiled_ms = torch.randn(8), [], []

def timed_ms():
    start = perf_counter()
    for _ in range(100):
        small + 1
    return (perf_counter() - start) * 1e3

timed_ms()
for _ in range(8):
    plain_ms.append(timed_ms())
    with profile(activities=[ProfilerActivity.CPU], acc_events=True):
        profiled_ms.append(timed_ms())
interval = median_interval([one / other for one, other in zip(profiled_ms, plain_ms)])
claim = "slower" if interval.low > 1 else "same" if interval.low >= 0.9 and interval.high <= 1.1 else "undecided"
report = {"work": "many small", "plain_ms": plain_ms, "profiled_ms": profiled_ms,
          "low": interval.low, "high": interval.high, "claim": claim}
### END SOLUTION
