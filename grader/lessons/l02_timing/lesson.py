# %% [markdown] en
# # Why is my stopwatch lying?
#
# ⏱️ 45 minutes · needs lesson 01 · everything runs live on a CPU; two experiments want an NVIDIA GPU and say so
#
# You will be able to
# - read a clock around GPU work without being fooled,
# - say how sure a timing is,
# - tell a faster version from a lucky one.
# %% [markdown] zh
# # 我的秒表为什么在撒谎？
#
# ⏱️ 45 分钟 · 先修：第 01 课 · 全部内容都能在 CPU 上实测；有两个实验需要 NVIDIA GPU，会明确说明
#
# 学完之后你能够：
# - 给 GPU 任务计时而不被骗；
# - 说清一个计时结果有多可靠；
# - 分辨“真的更快”和“运气好”。
# %% bootstrap
# %%
# en: Warm-up: cards from earlier lessons that are due today (none yet is fine).
# zh: 热身：今天到期的旧卡片（暂时没有也正常）。
review(due=3)
# %% [markdown] en
# ## This stopwatch claims that 20 ms of work take no time
#
# `ToyDevice` is an **analogy**: one worker thread plays the GPU, and its **kernels** (routines that do a piece of work there) just sleep. It has one thing no real GPU offers: you know the truth. `launch(20)` starts a kernel of 20 ms. Run it. Do not explain it yet. (It reads many milliseconds? Something interrupted: run it again.)
# %% [markdown] zh
# ## 这只秒表说：20 ms 的任务不花时间
#
# `ToyDevice` 只是一个**类比**：用一个工作线程扮演 GPU，它的 **kernel**（在设备上干活的例程）只会睡觉。但它有一样真 GPU 没有的东西：真实答案。`launch(20)` 启动一个 20 ms 的 kernel。先运行，别急着解释。（读出好多毫秒？碰巧被打断了，再运行一次。）
# %%
from time import perf_counter
from course.lessons.l02_timing.toy_device import ToyDevice

toy = ToyDevice()
start = perf_counter()
result = toy.launch(20)
print(f"{(perf_counter() - start) * 1e3:.3f} ms, done: {result.done()}")
# %% [markdown] en
# ## Bet: does the CPU do that too?
#
# People say “everything in PyTorch is **asynchronous**”: a call comes back before its work is done. Place your bet, then look.
# %% [markdown] zh
# ## 下注：CPU 也会这样吗？
#
# 常听人说“PyTorch 里一切都是**异步**的”：活还没干完，调用就返回了。先下注，再看结果。
# %%
predict("02-bet-cpu")
# %%
observe("02-where-you-wait")
explain("02-cpu-sync")
# %% [markdown] en
# ## A launch is an order slip, a fence is waiting for the meal
#
# ```
# you (CPU):    order ─ order ─ order ─ clock? ........ fence ── clock!
# kitchen (GPU):   └─ cook ─────── cook ─────── cook ──────┘
# ```
#
# On a GPU a call **launches**: it puts an order slip on the counter and comes back. The kitchen works on. PyTorch's documentation says that the operations are *enqueued*, not necessarily executed until later.
#
# A **fence** (`torch.cuda.synchronize()`) waits until the kitchen is empty. Reading a value (`.item()`, `.cpu()`, `print`, `if`) waits as well.
#
# On a CPU you cook yourself: when the call is back, the meal is ready.
# %% [markdown] zh
# ## 启动 kernel 是下单，栅栏是等菜上齐
#
# ```
# 你 (CPU)：   下单 ─ 下单 ─ 下单 ─ 读表？........ 栅栏 ── 读表！
# 厨房 (GPU)：   └─ 做菜 ─────── 做菜 ─────── 做菜 ──────┘
# ```
#
# 在 GPU 上，调用只是**启动**（launch）kernel：把单子放上台面就回来，厨房接着干。PyTorch 文档的说法是：操作被*放入队列*，不一定马上执行。
#
# **栅栏**（fence，`torch.cuda.synchronize()`）会一直等到厨房清空。读取数值（`.item()`、`.cpu()`、`print`、`if`）同样会等。
#
# 在 CPU 上是你自己下厨：调用返回，菜就好了。
# %%
review("02-unfenced", "02-trace-toy")
# %% [markdown] en
# ## Bet: is one fence enough?
#
# The kitchen still has an old order of 30 ms. You time a dish of 20 ms, with a fence **after** it.
# %% [markdown] zh
# ## 下注：一道栅栏够吗？
#
# 厨房里还有一张 30 ms 的旧单子。你给一道 20 ms 的菜计时，只在**后面**加了一道栅栏。
# %%
predict("02-bet-one-fence")
# %%
observe("02-five-stopwatches")
explain("02-two-fences")
# %% [markdown] en
# ## Your turn: repair the stopwatch
#
# 5 minutes, two lines. `run` starts the work, `synchronize` is the fence, `clock` gives seconds. Done when it reads 20 ms although old work waits in the queue. The check runs it in a world where time is a number, so luck plays no part.
# %% [markdown] zh
# ## 轮到你：修好这只秒表
#
# 5 分钟，两行代码。`run` 启动任务，`synchronize` 是栅栏，`clock` 返回秒数。队列里有旧任务时仍读出 20 ms，就算完成。检查时的“时间”只是一个数字，与运气无关。
# %%
def stopwatch_ms(run, synchronize, clock):
    start = clock()
    run()
    return (clock() - start) * 1e3

# en: stuck? hint("02-stopwatch"), and after an attempt solution("02-stopwatch")
# zh: 卡住了？hint("02-stopwatch")；尝试之后可以看 solution("02-stopwatch")
check("02-stopwatch")
# %%
toy.launch(30)
print(f"{stopwatch_ms(lambda: toy.launch(20), toy.synchronize, perf_counter):.1f} ms")
explain("02-print-fence")
# %% [markdown] en
# ## Five stopwatches on a real GPU
#
# Two sizes of matrix; `print` takes the place of the single fence. With the small one, look at how much of a reading is not the kernel at all. Without an NVIDIA GPU this shows a recording, or says that there is none yet.
# %% [markdown] zh
# ## 真 GPU 上的五种秒表
#
# 两种大小的矩阵；“只在后面加栅栏”换成了 `print`。看小矩阵时，注意读数里有多少根本不是 kernel 的时间。没有 NVIDIA GPU 时会回放录制结果；还没有录制的话，会直接告诉你。
# %%
observe("02-stopwatches-cuda")
review("02-events", "02-hidden-syncs")
# %% [markdown] en
# ## Bet: what does the first call cost?
#
# No GPU in sight, no queue, no fence needed. Only a small convolution in a shape nobody has asked for before.
# %% [markdown] zh
# ## 下注：第一次调用要付多少？
#
# 没有 GPU，没有队列，也不需要栅栏。只有一个小卷积，形状是之前没人用过的。
# %%
predict("02-bet-first-call")
# %%
observe("02-first-call")
# %%
explain("02-why-first")
observe("02-first-call-cuda")
# %% [markdown] en
# ## Five steps make a measurement fair
#
# 1. **warm**: run it until the time settles, keep nothing
# 2. **fence**: empty the queue before the clock starts, and again before it stops
# 3. **repeat**: many readings, taking turns when you compare
# 4. **summarise**: a median and its interval
# 5. **report**: the claim, the device, threads, versions
#
# These five words come back in every lesson that measures.
# %% [markdown] zh
# ## 公平测量的五个步骤
#
# 1. **预热**（warm）：一直跑到耗时稳定，读数全部丢掉
# 2. **栅栏**（fence）：开始计时前清空队列，停表前再等一次
# 3. **重复**（repeat）：读很多次；做比较时轮流跑
# 4. **汇总**（summarise）：中位数和它的区间
# 5. **报告**（report）：结论、设备、线程数、版本
#
# 凡是要测量的课，都会用到这五个词。
# %%
explain("02-order")
# %% [markdown] en
# ## A few interruptions move the mean, hardly the median
#
# Hardly anything makes a call finish early. Many things make it late. So the noise has nearly one side only. Below, every twentieth call is interrupted on purpose.
# %% [markdown] zh
# ## 几次打断就带偏平均值，却几乎动不了中位数
#
# 几乎没有什么能让一次调用提前结束，却有很多事能让它变慢。所以噪声基本只偏向一边。下面每二十次调用故意打断一次。
# %%
observe("02-interruptions")
review("02-mean-outlier")
# %% [markdown] en
# ## Worked example: how far may the true median be?
#
# Each reading lies above or below the true median, like a coin toss. All of them on one side is as rare as all heads. So we may **cut** readings off at both ends, as long as the chance to lose the median stays below 5 %.
# %% [markdown] zh
# ## 示范：真实中位数可能在哪里？
#
# 每个读数落在真实中位数的哪一侧，就像抛硬币。全在同一侧，和全是正面一样罕见。所以可以从两端各**切掉**一些读数，只要把中位数切丢的概率不超过 5%。
# %%
from math import comb
from statistics import median

def cut(n):
    missed, k = 2 / 2**n, 0
    while missed + 2 * comb(n, k + 1) / 2**n <= 0.05:
        k += 1
        missed += 2 * comb(n, k) / 2**n
    return k

print({n: cut(n) for n in (6, 12, 20, 100)})
# %% [markdown] en
# ## Fill in: a median that says how sure it is
#
# 6 minutes, three lines. Give back `(median, low, high)`. `low` and `high` are the first and the last reading that remain after cutting `cut(n)` at each end. Done when interruptions leave it cold.
# %% [markdown] zh
# ## 补全：会说明把握有多大的中位数
#
# 6 分钟，三行代码。返回 `(median, low, high)`：两端各切掉 `cut(n)` 个之后，剩下的第一个和最后一个就是 `low` 与 `high`。偶发打断影响不了它，就算完成。
# %%
def median_interval(samples):
    ordered = ...
    k = cut(len(samples))
    return ..., ..., ...

check("02-median-interval")   # hint("02-median-interval")   solution("02-median-interval")
# %%
review("02-interval-means", "02-cut")
# %% [markdown] en
# ## Bet: can a function beat itself?
#
# Twenty races of a function against its own twin. Every winner is a false alarm.
# %% [markdown] zh
# ## 下注：一个函数能赢过自己吗？
#
# 让一个函数和自己的双胞胎比二十场。每个“赢家”都是误报。
# %%
predict("02-bet-same-code")
# %%
observe("02-same-code-twice")
explain("02-why-pairs")
# %% [markdown] en
# ## Fill in: divide first, summarise later
#
# The machine drifts. Two readings taken one after the other drift together, so their **ratio** stays put. Here it slows down for a while, then hits one reading alone. 4 minutes, two blanks; ratio = candidate / baseline, below 1 is faster.
# %% [markdown] zh
# ## 补全：先相除，再汇总
#
# 机器会漂移。前后紧挨着的两个读数一起漂，**比值**却纹丝不动。下面的数据里，机器先整体变慢，又单独打断了其中一个读数。4 分钟，两处空白；比值 = 候选 / 基准，小于 1 表示更快。
# %%
baseline_ms = [1.00, 1.02, 1.60, 2.00, 2.10, 1.05, 1.00]
candidate_ms = [0.90, 0.918, 1.44, 1.80, 1.89, 1.90, 0.90]
print("medians say", median(candidate_ms) / median(baseline_ms))

def paired_ratio(baseline_ms, candidate_ms):
    ratios = [... for b, c in zip(baseline_ms, candidate_ms)]
    return ...

check("02-paired-ratio")      # hint("02-paired-ratio")   solution("02-paired-ratio")
# %% [markdown] en
# ## `compare` takes turns, and may say “undecided”
#
# It runs both sides in random order, in short blocks, and builds an interval from the ratios. Interval without 1: **faster** or **slower**. Otherwise, all of it inside the **gate** (the gap you care about, said beforehand): **same**. Anything else: **undecided**, an honest result. (A gap below the precision asked for, `ci`, never makes a winner.)
#
# `result.plot()` shows each pair as a dot, the interval above, the gate as a band.
# %% [markdown] zh
# ## `compare` 轮流跑，也敢说“未定”
#
# 它按随机顺序、以很短的小段轮流运行双方，再用比值构造区间。区间不含 1：**更快**或**更慢**。否则，只要整个区间都在**阈值**（事先声明“值得在意”的差距）之内：**一样快**。其余一律**未定**，这也是诚实的结论。（差距小于所要求的精度 `ci` 时，不会判出赢家。）
#
# `result.plot()` 把每一对画成一个点，上方是区间，灰带是阈值。
# %%
import torch
from course.timing import compare

# en: so small that one thread does it all
# zh: 很小，一个线程就够
x = torch.randn(16, 16)
def products(times):
    return lambda: [x @ x for _ in range(times)]

baseline, candidate = products(20), products(21)
for _ in range(5):                       # warm
    baseline(), candidate()
result = compare({"baseline": baseline, "candidate": candidate},    # fence, repeat
                 baseline="baseline", gate=0.02, max_time=2)        # summarise
print(result)                            # report
picture = result.plot()
# %%
observe("02-planted-difference")
review("02-undecided", "02-same")
# %% [markdown] en
# ## Bet: whose clock is right?
#
# `torch.utils.benchmark.Timer` warms, fences and repeats for you. A fine tool, with one default worth knowing.
# %% [markdown] zh
# ## 下注：谁的表准？
#
# `torch.utils.benchmark.Timer` 会替你预热、加栅栏、重复。工具很好，但有一个默认值必须知道。
# %%
predict("02-bet-threads")
# %%
observe("02-threads")
explain("02-why-timer-longer")
# %% [markdown] en
# ## Make it lose: the naive stopwatch names the wrong winner
#
# 8 minutes. “Run it three times and divide” is what most people do. Find two convolutions for which it picks the **slower** one. The advice “just loop” then loses on evidence: a fair interval that excludes 1 on the other side. Being fast earns nothing here.
# %% [markdown] zh
# ## 让它输：使朴素秒表选错赢家
#
# 8 分钟。“跑三次再除以三”是最常见的做法。请找两个卷积，让它选中**更慢**的那个。证据要求：公平比较的区间不含 1，而且在另一边。这里跑得快不加分。
# %%
conv = torch.nn.Conv2d(16, 32, 3, padding=1).requires_grad_(False)

def conv_on(size):
    image = torch.randn(2, 16, size, size)
    return lambda: conv(image)

def naive_ms(run, calls=3):
    start = perf_counter()
    for _ in range(calls):
        run()
    return (perf_counter() - start) / calls * 1e3
# %%
slow, fast = conv_on(24), conv_on(12)
slow(), fast()          # warm
# en: so far the naive clock is right. Decide who may run before it
# en: starts, and on which sizes (a size is new only once)
# zh: 到这里朴素秒表还是对的。请决定谁可以在它启动之前先跑、用哪些尺寸
# zh: （一个尺寸只有第一次是“新”的）
naive = naive_ms(fast) / naive_ms(slow)
fair = compare({"slow": slow, "fast": fast}, baseline="slow", max_time=2)
evidence = {"naive_ratio": naive, "comparison": fair}
check("02-lose")              # hint("02-lose")   solution("02-lose")
# %% [markdown] en
# ## Three myths, and what you measured against them
#
# - **“Everything in PyTorch is async.”** Tempting: the GPU is. Your CPU bar spent its time inside the call. Holds for work queued on an accelerator.
# - **“Without a fence the time is short because the program exits.”** Tempting: the reading is short and the script is over. But the toy kernel finished after the clock was read. You had timed the launch.
# - **“`print` or `.cpu()` is as good as `synchronize()`.”** Tempting: it waits. Then it copies, and formats, on your clock. Fine for a look, not for a figure.
# %% [markdown] zh
# ## 三个误区，以及你的测量结果
#
# - **“PyTorch 里一切都是异步的。”** 诱人之处：GPU 确实如此。但 CPU 那一条的时间全花在调用里。它只对加速器队列里的任务成立。
# - **“不加栅栏时间短，是因为程序退出了。”** 诱人之处：读数短，脚本也结束了。但玩具 kernel 在读表之后照样做完，你测到的只是启动。
# - **“`print`、`.cpu()` 与 `synchronize()` 一样。”** 诱人之处：它会等。可随后的拷贝和排版也算在表上。看一眼可以，当数据不行。
# %% [markdown] en
# ## Exit check: five cards, one from lesson 01
#
# A GPU kernel walks into a bar. The stopwatch swears that it left at once. “It never came in,” says the barkeeper. “It is number 412 in the queue.” 🍸
# %% [markdown] zh
# ## 下课小测：五张卡片，其中一张来自第 01 课
#
# 一个 GPU kernel 走进餐馆。秒表发誓说它一进门就吃完走人了。老板说：“它还没进来呢，正在门口排 412 号。”🍜
# %%
review("02-exit-myth", "02-timer-threads", "02-transfer", "02-why-median", "01-typo-trace")
# %% [markdown] en
# ## Limits, and the door to the next room
#
# A toy device is not a GPU: no overlap, no clocks, no memory. And a fair figure for one layer says little about a whole model.
#
# Were you as sure as you were right? `bets()` sets your confidence beside what came out, with an interval, as it should be. Next: how much work is in a model at all?
# %% [markdown] zh
# ## 局限，以及通往下一课的门
#
# 玩具设备不是 GPU：没有重叠执行，没有升降频，也没有显存。而且，一层测得再公平，也说明不了整个模型。
#
# 你的把握和命中率相称吗？`bets()` 把两者放在一起，当然也带着区间。下一步：一个模型到底有多少计算量？
# %%
toy.close()
bets()
finish()
