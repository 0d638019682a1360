# %% [markdown] en
# # 🎯 Checkpoint 05: would you let it search?
#
# {{worth}} About 30 minutes. Cards say nothing about
# right or wrong here; answer as often as you like, the last answer counts. A task says what to hand in; its `check`
# looks at the form only. Everything works without a GPU.
# **Save the notebook** before you hand it in.
# %% [markdown] zh
# # 🎯 测验 05：该不该让它搜索？
#
# {{worth}}约 30 分钟。这里的卡片不显示对错；想改几次都行，以最后一次为准。每个任务写明了要交什么，`check` 只看形式。全部内容都不需要 GPU。交卷前请**保存 notebook**。
# %% bootstrap
# %% question 05-c-epoch
# %% question 05-c-two-shapes
# %% question 05-c-new-key
# %% question 05-c-crop
# %% question 05-c-notebook
# %% question 05-c-order
# %% task 05-t-run
# en: How many forward searches does a training run make with benchmark=True?
# en: layer_keys: different convolutions of the model for ONE batch size.
# en: One process, one cache.
# zh: benchmark=True 时，整个训练过程的前向计算会搜索多少次？
# zh: layer_keys：批大小固定时，模型里不同卷积的个数。只有一个进程、一个缓存。
def searches_of_run(samples: int, batch_size: int, epochs: int, layer_keys: int,
                    drop_last: bool) -> int:
    ### BEGIN SOLUTION
    if epochs == 0:
        return 0
    sizes = {min(batch_size, samples - start) for start in range(0, samples, batch_size)}
    if drop_last:
        sizes &= {batch_size}
    return layer_keys * len(sizes)
    ### END SOLUTION
# %% task 05-t-choice
# en: True if searching makes the whole run shorter. shapes:
# en: the input shape of each step, a list of four numbers.
# en: A search costs search_ms once per different shape; a step
# en: takes slow_ms without and fast_ms with it. Tie: False.
# zh: 如果搜索能让总时间更短，就返回 True。shapes：每一步的输入形状，是四个数的列表。
# zh: 每种不同的形状搜索一次，花 search_ms；
# zh: 每一步不搜索要 slow_ms，搜索后要 fast_ms。打平返回 False。
def choose_benchmark(shapes: list[list[int]], search_ms: float, slow_ms: float,
                     fast_ms: float) -> bool:
    ### BEGIN SOLUTION
    different = {tuple(shape) for shape in shapes}
    with_search_ms = search_ms * len(different) + fast_ms * len(shapes)
    return with_search_ms < slow_ms * len(shapes)
    ### END SOLUTION
# %% task 05-t-report
# en: Measure on any device: is the first call of a NEW
# en: shape slower than a later call of the same shape?
# en: report = {"device": "cpu"|"cuda"|"mps", "fence": "none needed"|"synchronize",
# en:           "first_ms": [...], "later_ms": [...], "low": ..., "high": ...,
# en:           "claim": "more"|"less"|"undecided"}
# en: One pair per shape, at least six; low, high: 95 % interval
# en: for the median of first / later. A point each: pairs, fence,
# en: a claim that the interval carries. Speed earns nothing.
# zh: 在任意设备上测一测：一个新形状的第一次调用，比同一形状之后的调用慢吗？
# zh: report = {"device": "cpu"|"cuda"|"mps", "fence": "none needed"|"synchronize",
# zh:           "first_ms": [...], "later_ms": [...], "low": ..., "high": ...,
# zh:           "claim": "more"|"less"|"undecided"}
# zh: 每种形状一对耗时，至少六对；low、high：首次 / 后续 的中位数的 95% 区间。
# zh: 成对的耗时、同步（synchronize）、有区间支持的结论，各一分。快慢不计分。
import torch
from time import perf_counter
from course.timing.stats import median_interval
### BEGIN SOLUTION
layer, first_ms, later_ms = torch.nn.Conv2d(5, 7, 3), [], []
with torch.inference_mode():
    for size in range(33, 45):
        image, times_ms = torch.randn(1, 5, size, size), []
        for _ in range(8):
            start = perf_counter()
            layer(image)
            times_ms.append((perf_counter() - start) * 1e3)
        first_ms.append(times_ms[0])
        later_ms.append(sorted(times_ms[1:])[3])
interval = median_interval([one / other for one, other in zip(first_ms, later_ms)])
claim = "more" if interval.low > 1 else "less" if interval.high < 1 else "undecided"
report = {"device": "cpu", "fence": "none needed", "first_ms": first_ms, "later_ms": later_ms,
          "low": interval.low, "high": interval.high, "claim": claim}
### END SOLUTION
