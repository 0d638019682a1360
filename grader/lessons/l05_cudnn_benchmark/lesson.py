# %% [markdown] en
# # When does the search pay, and when does it cost?
#
# **45 minutes.** Before it: lessons 01 and 02. You will be able to say when `cudnn.benchmark` searches, to count the
# searches of a training run, and to compute when they are paid back.
#
# Live on any machine: the CPU experiments and a toy search. cuDNN itself needs an NVIDIA GPU; without one you see a
# recording, or what others have published, marked as reported. Nothing is guessed.
# %% [markdown] zh
# # 搜索什么时候划算，什么时候亏本？
#
# **45 分钟。** 先修：第 01、02 课。学完之后，你能说出 `cudnn.benchmark` 何时搜索，能数出一次训练要搜索多少次，还能算出多久回本。
#
# 任何机器都能实测的：CPU 实验和一个玩具搜索。真正的 cuDNN 需要 NVIDIA GPU；没有的话，你会看到回放，或者别人公布的结果（会注明“他人报告”）。绝不编造数字。
# %% bootstrap
# %% [markdown] en
# ## Warm up with what is due
# %% [markdown] zh
# ## 先复习到期的卡片
# %%
review(due=3)
# %% [markdown] en
# ## The same convolution has two prices
#
# “Put `cudnn.benchmark = True` at the top of the script, it is free speed.” You will find this sentence in many
# scripts. Before we touch that switch, watch a plain convolution **on the CPU**: a new shape, three calls; another
# shape, three calls; then back to the first.
# %% [markdown] zh
# ## 同一个卷积，有两种价格
#
# “脚本开头写上 `cudnn.benchmark = True`，白捡的加速。”这句话在很多脚本里都能见到。先别碰这个开关，看看 **CPU 上**一个普通的卷积：新形状，调三次；换一个形状，调三次；再回到第一个。
# %%
observe("05-first-call")
# %% [markdown] en
# If the first interval lies well above 1 and the second near it, somebody paid an entrance fee, and only once. Who, and
# for what? (If not, the machine was busy or computes it another way.) Bet before you look.
# %% [markdown] zh
# 如果第一个区间远大于 1，第二个在 1 附近，那就是有人付了一笔入场费，而且只付一次。是谁付的，为什么付？（如果不是这样，说明机器太忙，或者它用别的方式计算。）先下注，再看结果。
# %%
predict("05-bet-revisit")
# %%
observe("05-primitive-cache")
explain("05-revisit")
# %% [markdown] en
# ## An analogy has an edge: find it
#
# What you saw is oneDNN, the CPU library. It **compiles** a kernel for a problem and keeps it. On an NVIDIA GPU cuDNN
# computes convolutions, and PyTorch keeps its **plans**: one plan is one ready way to compute one problem. Their cache
# is asked in the same way, with the problem as its **key**; but a miss there can mean something else.
# %% [markdown] zh
# ## 类比都有边界：找出来
#
# 刚才看到的是 CPU 库 oneDNN：它为一个问题**编译**出 kernel 并留着。在 NVIDIA GPU 上，卷积由 cuDNN 计算，PyTorch 替它留存**方案**：一个方案就是解一个问题的一种现成办法。方案缓存的查询方式一样，以问题为**键**；但“没命中”（miss）的含义可能不同。
# %%
explain("05-analogy")
# %% [markdown] en
# ## Cache first, switch second
#
# What PyTorch does for each cuDNN convolution (`run_single_conv`, shortened):
# ```text
# key known? --- yes ---> run the kept plan
#   | no
# benchmark? --- False -> ask the heuristics about THIS shape,
#   |                     take the first plan that runs, keep it
#   | True
# time at most 10 candidates, one sample each, keep the winner
# ```
# Off does not mean “one fixed algorithm”. It means: trust cuDNN's **heuristics**, its rules of thumb. Either way the
# choice is **kept**.
# %% [markdown] zh
# ## 先问缓存，再看开关
#
# PyTorch 对每个 cuDNN 卷积做的事（`run_single_conv`，有删节）：
# ```text
# 键见过吗？ --- 是 -----> 执行留存的方案
#   | 否
# benchmark？ -- False --> 针对这个形状去问启发式，
#   |                      取第一个能跑的方案，并留存
#   | True
# 给最多 10 个候选计时，各一次，留存赢家
# ```
# 关掉不等于“用一个固定算法”，而是相信 cuDNN 的**启发式**（经验法则），按当前形状选。无论哪条路，选中的方案都会**留下来**。
# %%
explain("05-false-how")
explain("05-order-hit")
# %% [markdown] en
# ## Worked example: a toy with the same skeleton
#
# Our toy computes one convolution in four ways, on the CPU. It keeps a plan per key, and it really times candidates.
# Its candidates and its rule of thumb are ours; they say nothing about cuDNN's. Run it. Then set `benchmark=False` and
# run it again: no search, and still not one fixed plan.
# %% [markdown] zh
# ## 示范：骨架相同的玩具
#
# 我们的玩具在 CPU 上用四种办法计算同一个卷积。它按键保存方案，而且真的会给候选计时。候选和经验法则都是我们自己定的，与 cuDNN 内部无关。先运行。再改成 `benchmark=False` 跑一遍：一次也没搜，方案却照样不止一个。
# %%
from course.toy_search import ToyConv, image, kernel

conv = ToyConv(benchmark=True)
for size in (24, 40, 24, 40, 24):
    conv(image(size), kernel())
    # en: searches so far, and the plans kept
    # zh: 目前搜索了几次，留下了哪些方案
    print(size, conv.searches, list(conv.plans.values()))
# %%
explain("05-sizes-loop")
# %% [markdown] en
# ## What counts as new?
#
# oneDNN's log once more: one call, then the same again, then six with one thing changed. Which need an entry of their
# own? Say it aloud first: the twin layer is the interesting one. Then the same question about cuDNN.
# %% [markdown] zh
# ## 什么算“新”？
#
# 再看 oneDNN 的日志：先调用一次，照旧再调用一次，然后六次，每次只改一样东西。哪些需要自己的条目？先说出你的答案：最有意思的是那个孪生层。接着，同样的问题换成 cuDNN。
# %%
observe("05-what-is-new")
explain("05-key-members")
# %% [markdown] en
# ## The program start searches nothing
#
# “At start it searches for every layer.” A kind thought, but at start nobody knows the shapes. And how many different
# problems do the 53 convolutions of a ResNet50 pose? Estimate; then hooks (functions called at each layer) count them.
# %% [markdown] zh
# ## 程序启动时什么也没搜
#
# “启动时会给每一层搜索一遍。”想得挺周到，可启动时谁也不知道形状。再说，ResNet50 的 53 个卷积，到底是多少个不同的问题？先估计，再用 hook（每经过一层就被调用的函数）数一数。
# %%
explain("05-when")
explain("05-resnet-keys")
# %%
observe("05-model-keys")
# %% [markdown] en
# ## Exercise: count the searches (4 minutes, about 2 lines)
#
# `shapes` is the list of input shapes one layer meets, in order. Give back the number of searches with
# `benchmark=True` and an empty cache. Stuck? `hint("05-count-searches")`, three steps deep.
# %% [markdown] zh
# ## 练习：数一数搜索次数（4 分钟，约 2 行）
#
# `shapes` 是某一层依次遇到的输入形状列表。返回 `benchmark=True`、缓存为空时的搜索次数。卡住了就运行 `hint("05-count-searches")`，共三级提示。
# %%
def count_searches(shapes: list[tuple[int, ...]]) -> int:
    # en: for example [(16, 3, 64, 64), (16, 3, 96, 96), (16, 3, 64, 64)] -> 2
    # zh: 例如 [(16, 3, 64, 64), (16, 3, 96, 96), (16, 3, 64, 64)] -> 2
    raise NotImplementedError


check("05-count-searches")
# %% [markdown] en
# ## The last batch of an epoch is a shape of its own
#
# No layer was changed, no picture cropped. Still a new key walks in at the end of epoch one. Run it, then set
# `drop_last=True`.
# %% [markdown] zh
# ## 一个 epoch 的最后一批，是另一种形状
#
# 没有改层，也没有裁剪图片，可第一个 epoch 结束时还是来了一个新键。先运行，再改成 `drop_last=True` 试试。
# %%
from torch.utils.data import DataLoader

loader = DataLoader(range(1000), batch_size=128, drop_last=False)
for epoch in (1, 2, 3):
    print(epoch, [len(batch) for batch in loader])
explain("05-last-batch")
# %% [markdown] en
# ## A search is an investment: bet on three portfolios
#
# The toy runs 36 steps on three schedules of sizes, search on against search off.
# %% [markdown] zh
# ## 搜索是一笔投资：给三种组合下注
#
# 玩具按三种尺寸安排各跑 36 步，比一比开搜索和不开搜索。
# %%
predict("05-bet-race")
# %%
observe("05-toy-race")
# %% [markdown] en
# ## Exercise: when is it paid back? (6 minutes, about 4 lines)
#
# The search costs `search_ms` once. A step takes `slow_ms` without it and `fast_ms` after it. Give back the smallest
# whole number of steps after which the search is no longer behind, or `None` if that never happens. Done when `check`
# agrees; `hint` and `solution` wait for you.
# %% [markdown] zh
# ## 练习：多久回本？（6 分钟，约 4 行）
#
# 搜索一次花 `search_ms`。不搜索，每步 `slow_ms`；搜索之后，每步 `fast_ms`。返回搜索不再落后所需的最少步数（整数）；永远追不上就返回 `None`。`check` 通过即完成，`hint` 和 `solution` 随时待命。
# %%
import math


def break_even_steps(search_ms: float, slow_ms: float, fast_ms: float) -> int | None:
    # en: 10 ms once, 4 ms a step without, 1 ms with -> 4
    # zh: 一次 10 ms，不搜索每步 4 ms，搜索后每步 1 ms -> 4
    raise NotImplementedError


check("05-break-even")
# %% [markdown] en
# ## Now with your own numbers
#
# The toy writes you a bill, measured here and now. Its sentence should agree with your function.
# %% [markdown] zh
# ## 换成你自己的数字
#
# 玩具给你开一张账单，当场在这台机器上测。那句话应该和你的函数一致。
# %%
predict("05-bet-price")
# %%
from course.lessons.l05_cudnn_benchmark.experiments import bill

your_bill = bill(observe("05-toy-cost"))
print(your_bill)
# en: when your function is ready: break_even_steps(**your_bill)
# zh: 函数写好之后运行：break_even_steps(**your_bill)
# %% [markdown] en
# ## Make it lose
#
# `benchmark=True` “never hurts”? Find `sizes` (8 to 64) for which the search makes the run **longer**. Accepted on
# evidence: the whole interval lies above 1. The list below is a bad choice, on purpose.
# %% [markdown] zh
# ## 让它输
#
# `benchmark=True`“有益无害”？找一组 `sizes`（8 到 64），让搜索使总时间**变长**。凭证据通过：整个区间都在 1 之上。下面的列表是故意选坏的。
# %%
from course.timing import compare
from course.toy_search import run_schedule

sizes = [24] * 40
race = compare({"off": lambda: run_schedule(sizes, benchmark=False),
                "on": lambda: run_schedule(sizes, benchmark=True)}, baseline="off", max_time=2)
print(race)
check("05-make-it-lose")
# %% [markdown] en
# ## One sample is not a tournament
#
# A search times each candidate **once**. What if two are nearly equal? And it times the first `benchmark_limit` of
# cuDNN's ranked list (10; 0 for all): who stands further down cannot win. The limit saves timing, not building: all
# plans are built before it cuts, and those whose workspace does not fit into the free memory fall out first. Below,
# sixty searches; then the toy with a shorter list.
# %% [markdown] zh
# ## 只跑一次，算不上锦标赛
#
# 搜索给每个候选只计时**一次**。要是有两个几乎一样快呢？而且只给 cuDNN 排名表上的前 `benchmark_limit` 个计时（默认 10，0 表示全部）：排在后面的没机会赢。这个上限省的是计时，不是构建：方案在截断之前已经全部建好，工作区放不进空闲显存的先被剔除。下面先搜索六十次，再让玩具用短一些的名单。
# %%
predict("05-bet-winners")
# %%
observe("05-winners")
for limit in (1, 2, 4):
    conv = ToyConv(benchmark=True, limit=limit)
    conv(image(24), kernel())
    # en: candidates timed, the winner
    # zh: 计时的候选数、赢家
    print(limit, *conv.plans.values())
explain("05-limit")
# %% [markdown] en
# ## The real thing: cuDNN, each story in a new process
#
# | cuDNN's story | what you have seen of it here |
# |---|---|
# | first and later calls; sizes that come back | miss, miss, hit, hit |
# | a ResNet18 until break-even | your bill |
# | `benchmark_limit` | a longer list; here another winner, there it may be none |
# | kernel names by size | two plans with the search off |
# | bfloat16, channels_last, a training step, `torch.compile` | what is new to oneDNN's cache |
# | memory around the first call | nothing: a report tells |
#
# With a GPU up to twelve minutes: the new processes have to start. Without one: recordings, or what others have published.
# %% [markdown] zh
# ## 来真的：cuDNN，每个故事一个新进程
#
# | cuDNN 的故事 | 你在这里已经见过的 |
# |---|---|
# | 首次与后续调用；去了又回的尺寸 | miss、miss、hit、hit |
# | ResNet18 跑到回本 | 你的账单 |
# | `benchmark_limit` | 名单长了；这里赢家换了，那边未必 |
# | 各尺寸的 kernel 名字 | 不搜索时的两个方案 |
# | bfloat16、channels_last、训练一步、`torch.compile` | 对 oneDNN 的缓存来说，什么是新的 |
# | 首次调用前后的显存 | 没有：只能看报告 |
#
# 有 GPU 时最多要十二分钟：要一次次启动新进程。没有 GPU 就看回放，没有回放就看别人的报告。
# %%
# en: One myth is true in one place, and the first experiment tries it: each thread has
# en: a cache of plans of its own, and DataParallel makes new threads in every forward.
# zh: 有一个说法在一个地方是真的，第一个实验会试：每个线程各有一份方案缓存，
# zh: 而 DataParallel 每次前向都新建线程。
observe(["05-first-call-cuda", "05-sizes-cuda", "05-pays-cuda",
         "05-memory-cuda", "05-limit-cuda", "05-kernels-cuda",
         "05-new-keys-cuda"])
explain("05-memory")
# %% [markdown] en
# ## The notebook trap: flip it in the middle and compare
#
# It is the obvious experiment. Many have made it, and then wrote that the switch does nothing. Bet on cuDNN; then the
# toy makes the experiment here, and cuDNN where there is a GPU or a recording.
# %% [markdown] zh
# ## Notebook 里的坑：中途打开，再比一比
#
# 多么顺理成章的实验。很多人都做过，然后得出结论：这个开关没用。先为 cuDNN 下注；接着玩具在这里做一遍，有 GPU 或回放时 cuDNN 再做一遍，都没有就看报告和源码怎么说。
# %%
predict("05-bet-flip")
# %%
conv = ToyConv(benchmark=False)
for call in range(1, 7):
    conv.benchmark = call > 3
    conv(image(24), kernel())
    # en: call, switch, searches so far, the plan
    # zh: 第几次调用、开关、目前搜索了几次、方案
    print(call, conv.benchmark, conv.searches, *conv.plans.values())
conv(image(28), kernel())
print(28, conv.benchmark, conv.searches, *conv.plans.values())
observe("05-flip-cuda")
explain("05-why-flip")
# %% [markdown] en
# ## Mend the block (5 minutes, one line)
#
# This block should run `run()` with the search on and leave `enabled`, `deterministic` and `allow_tf32` as they are. It
# has a famous hole, known from lesson 01: print `torch.backends.cudnn.enabled` inside and wonder. Fill in what is
# missing between the brackets.
# %% [markdown] zh
# ## 修好这个代码块（5 分钟，改一行）
#
# 它本想在开着搜索的情况下执行 `run()`，而 `enabled`、`deterministic`、`allow_tf32` 保持原样。可惜有个第 01 课见过的漏洞：在块内打印 `torch.backends.cudnn.enabled`，你会吃一惊。把括号里缺的补上。
# %%
import torch


def search_here(run):
    cudnn = torch.backends.cudnn
    with cudnn.flags(benchmark=True):
        return run()


check("05-search-here")
# %% [markdown] en
# ## Four myths, four experiments
#
# | “…” | tempting, because | what speaks against it |
# |---|---|---|
# | False = one fixed default algorithm | the old v7 path with `deterministic=True` was like that | the source; the toy's two plans |
# | it searches every layer at program start | the switch stands in line 1 | hooks: equal layers share a key |
# | changing sizes searches every time | the first round is slow | miss, miss, hit, hit |
# | flip it in the middle and compare | one cell, one click | the toy flipped; the key does not hold the switch |
#
# Where they hold a grain of truth: the **first** round of sizes does search every time.
# %% [markdown] zh
# ## 四个误区，四个实验
#
# | “……” | 为什么诱人 | 反证 |
# |---|---|---|
# | False = 一个固定的默认算法 | 旧的 v7 路径在 `deterministic=True` 时确实如此 | 源码；玩具的两个方案 |
# | 启动时给每一层搜索 | 开关写在第 1 行 | hook：相同的层共用一个键 |
# | 尺寸一变就重新搜索 | 第一轮确实慢 | miss、miss、hit、hit |
# | 中途打开，再比一比 | 一个单元格，点一下 | 中途打开的玩具；键里没有这个开关 |
#
# 也有几分道理：尺寸的**第一轮**，确实次次都搜。
# %% [markdown] en
# ## Exit check: five cards
#
# And a joke to take along. A search walks into a bar, tries ten drinks, one sip each, and declares: “This is the best
# drink there is.” The next evening it orders another. Same bar, new process.
# %% [markdown] zh
# ## 下课小测：五张卡片
#
# 再送一个笑话。搜索走进酒吧，十种酒各抿一口，宣布：“这就是世上最好的酒。”第二天晚上，它点了另一种。还是那家酒吧，只是换了进程。
# %%
explain("05-detector")
explain("05-break-even-number")
explain("05-flags-trap")
explain("05-fair-ab")
explain("02-why-first")
# %% [markdown] en
# ## Claims you can now make
#
# - The search runs once per **key**, inside the call that needs it: batch, size, type and layout count; which layer
#   asks does not.
# - It pays when `steps × gain` exceeds `keys × price`. Both numbers can be measured.
# - The winner is the fastest of at most ten in **one** sample: no promise of the best, nor of the same one tomorrow.
# - To compare, start a new process.
#
# In real code: set it once, near the start, and log it.
#
# The neighbours: lesson 04 switches cuDNN off altogether, 06 asks what `deterministic` does to the search, 07 why
# `allow_tf32` is in the key.
# %% [markdown] zh
# ## 现在你可以这样说
#
# - 每个**键**搜索一次，就在需要它的那次调用里：batch、尺寸、类型、布局都算数，由哪个层来调用不算数。
# - `步数 × 每步收益` 大于 `键数 × 单次成本` 就划算。两边都能测。
# - 赢家只是最多十个候选、**各测一次**里最快的：不保证最好，也不保证明天还是它。
# - 要比较，就开新进程。
#
# 真实代码里：在开头附近设一次，并记进日志。
#
# 相邻的课：第 04 课把 cuDNN 整个关掉，第 06 课问 `deterministic` 对搜索做了什么，第 07 课讲 `allow_tf32` 为什么在键里。
# %%
review("05-transformer", "05-next-process", "05-room-left")
finish()
