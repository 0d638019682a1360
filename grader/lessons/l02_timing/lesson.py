# %% [markdown] en
# # Why is my stopwatch lying?
#
# 🎯 **What is it for?** You switch something on and want to know: is my model faster now, or was I lucky? “How many runs?”, your supervisor will ask. That takes a clock you can trust. A GPU fools the usual stopwatch completely, and a busy computer fools it a little. In this lesson you build a stopwatch that is right on both, and learn to say how sure it is.
#
# ⏱️ 35 minutes for the main line · needs lesson 01 · everything runs live on a CPU; two short experiments want an NVIDIA GPU and say so
# %% [markdown] zh
# # 我的秒表为什么在撒谎？
#
# 🎯 **学它有什么用？** 打开一个开关，你想知道：模型真的变快了，还是这次运气好？那就得有一只信得过的表。普通的掐表方法，在 GPU 上错得离谱，在忙碌的电脑上也会差一点。这一课咱们自己动手造一只两边都准的秒表，还要学会说清楚：这个数有多大把握。组会上你说“快了 5%”，导师一句“测了几次？”，你答得上来！
#
# ⏱️ 主线 35 分钟 · 先修：第 01 课 · 全部内容都能在 CPU 上实测；有两个小实验需要 NVIDIA GPU，会明确说明
# %% bootstrap
# %%
# en: Warm-up: cards that are due today (none yet is fine), and a question without any GPU.
# zh: 热身：今天到期的旧卡片（暂时没有也正常），再来一道和 GPU 无关的小题。
review(due=3)
explain("02-kitchen")
# %% [markdown] en
# ## 🔬 A stopwatch is three lines, and one reading is not enough
#
# Read the clock, run the work, read the clock again. Do it nine times and sort the readings.
#
# The one in the middle is the [[median]]. Behind it, in brackets, stands its [[interval]]: the true middle lies in there, as far as nine readings can tell (95 times of 100). You will meet this form everywhere: `3.1 [2.9, 3.4]`. Short brackets: we know it well. Long brackets: we do not.
# %% [markdown] zh
# ## 🔬 秒表只要三行，但读一次不够
#
# 看表，干活，再看表。重复九次，把读数排好序。
#
# 正中间那个叫[[median|中位数]]。后面方括号里是它的[[interval|区间]]：凭这九个读数，真正的“中间”就在这里面（100 次里有 95 次说得对）。以后到处都是这种写法：`3.1 [2.9, 3.4]`。括号窄，说明知道得准；括号宽，就别太当真。
# %%
import torch
from time import perf_counter
from course.timing.stats import median_interval as interval_of

x, readings_ms = torch.randn(768, 768), []
for _ in range(9):
    start = perf_counter()
    x @ x
    readings_ms.append((perf_counter() - start) * 1e3)
found = interval_of(readings_ms)
print([round(ms, 1) for ms in sorted(readings_ms)])
print(f"{sorted(readings_ms)[4]:.1f} [{found.low:.1f}, {found.high:.1f}] ms")
# %% [markdown] en
# ## 🔬 On a device with a queue, the same three lines read almost nothing
#
# A GPU is a second worker with a queue. Your call puts work into the queue and comes back **at once**; the GPU does the work later. A piece of such work is called a [[kernel]].
#
# No GPU at hand? `ToyDevice` plays one: a queue and a worker who only sleeps. It has one thing no GPU offers: you know the true time, because `launch(20)` sleeps 20 ms. `synchronize()` waits until the queue is empty.
#
# Below: the stopwatch without waiting, then with waiting. (Did you get more than 22 ms? Something interrupted: run it again.)
# %% [markdown] zh
# ## 🔬 换成带队列的设备，同样三行几乎什么也没测到
#
# GPU 就像另一个带着任务队列的工人：你的调用把任务放进队列，**立刻**返回；活儿由 GPU 稍后再干。这样的一份活儿叫一个 [[kernel]]。
#
# 手边没有 GPU？`ToyDevice` 来扮演：一条队列，加一个只会睡觉的工人。它有一样真 GPU 没有的好处：真实时间是已知的，`launch(20)` 就是睡 20 ms。`synchronize()` 会一直等到队列清空。
#
# 下面先测“不等”，再测“等”。（读出 22 ms 以上？碰巧被打断了，再跑一次就好。）
# %%
from course.lessons.l02_timing.toy_device import ToyDevice

toy = ToyDevice()
for wait in (False, True):
    start = perf_counter()
    result = toy.launch(20)
    if wait:
        toy.synchronize()
    print(f"{(perf_counter() - start) * 1e3:6.3f} ms, kernel done: {result.done()}")
    toy.synchronize()
# %% [markdown] en
# 📌 **So far.**
# 1. A stopwatch is three lines, and one reading says little.
# 2. On a device with a queue, the same lines read almost nothing, and later too much.
# 3. To read the result, you have to wait for it. The reason comes next.
# %% [markdown] zh
# 📌 **小结。**
# 1. 秒表就三行，只读一次说明不了什么。
# 2. 设备有队列时，同样三行几乎读不到时间，后面又读得太多。
# 3. 要读结果，就得等它算完。为什么？接着看。
# %% [markdown] en
# ## 💡 The call only hands the work over; a fence waits for it
#
# A call that comes back before its work is done is [[asynchronous]]. So without waiting you time the *launch*, not the work. Waiting until the queue is empty is to [[synchronize]]; on NVIDIA the line is `torch.cuda.synchronize()`. In this course we call such a line a **fence**: nobody passes before the work is done.
#
# Think of a restaurant: you hand over an order and sit down. The kitchen cooks. Whoever stops the watch when the waiter leaves has timed the waiter.
#
# The picture draws your two stopwatches: one row for the CPU, one for the device. The clock runs between the two upright lines.
# %% [markdown] zh
# ## 💡 调用只管下单，栅栏才等上菜
#
# 活儿还没干完、调用就先返回，这叫[[asynchronous|异步]]。所以不等的话，测到的只是*启动*，不是干活。等到队列清空，叫做[[synchronize|同步（synchronize）]]；在 NVIDIA GPU 上就是 `torch.cuda.synchronize()`。这样的一行，咱们以后叫它**栅栏**：活儿没干完，谁也过不去。
#
# 好比下馆子：你把单子递出去就坐下，后厨开始炒菜。服务员一转身你就停表，测的是服务员的腿脚，不是菜。
#
# 下图画的就是刚才那两次计时：一行是 CPU，一行是设备，两条竖线之间是秒表走的时间；不加栅栏时，两条线几乎贴在一起。
# %%
observe("02-queue")
review("02-unfenced", "02-trace-toy")
# %% [markdown] en
# ## 🎲 Does the CPU do that too?
#
# “Everything in PyTorch is asynchronous”: you find this sentence in many tutorials. Place your bet, then look.
# %% [markdown] zh
# ## 🎲 CPU 也会这样吗？
#
# “PyTorch 里一切都是异步的”，这句话很多教程都写着。先下注，再看结果。
# %%
predict("02-bet-cpu")
# %%
observe("02-where-you-wait")
explain("02-cpu-sync")
# %% [markdown] en
# 📌 **So far.**
# 1. Without a fence the stopwatch reads the launch. With one it reads the work.
# 2. On a CPU the call itself does the work: no fence needed.
#
# ## 🎲 Is one fence enough?
#
# Now 30 ms of old work still wait in the queue. You time a kernel of 20 ms, with a fence **after** it.
# %% [markdown] zh
# 📌 **小结。**
# 1. 不加栅栏，测到的是启动；加了栅栏，测到的才是干活。
# 2. 在 CPU 上，调用自己就把活儿干完了，不需要栅栏。
#
# ## 🎲 一道栅栏够吗？
#
# 这回队列里还排着 30 ms 的旧任务。你给一个 20 ms 的 kernel 计时，只在**后面**加一道栅栏。
# %%
keep("timing.fence")
predict("02-bet-one-fence")
# %%
observe("02-five-stopwatches")
# %%
explore("stopwatch")
explain("02-two-fences")
# %% [markdown] en
# ## 🛠️ Repair the stopwatch
#
# Five minutes, two lines. `run` starts the work, `synchronize` is the fence, `clock` gives seconds. You are done when it reads 20 ms although old work waits in the queue. The check uses a simulated clock, so a busy computer cannot spoil it.
# %% [markdown] zh
# ## 🛠️ 修好这只秒表
#
# 5 分钟，两行代码。`run` 启动任务，`synchronize` 是栅栏，`clock` 返回秒数。队列里有旧任务时仍读出 20 ms，就算完成。检查时用的是模拟时钟，电脑再忙也不影响。
# %%
def stopwatch_ms(run, synchronize, clock):
    start = clock()
    run()
    return (clock() - start) * 1e3

# en: stuck? hint("02-stopwatch"), and after an attempt solution("02-stopwatch")
# zh: 卡住了？hint("02-stopwatch")；尝试之后可以看 solution("02-stopwatch")
check("02-stopwatch")
# %% [markdown] en
# ## 🕳️ `print(y)` waits too, and then does more
#
# Your stopwatch on the toy device: does it read 20 ms? Then a shortcut you will meet in many blogs: “just print the result, then the time is right”. Whoever reads a value has to wait for it: `print`, `.item()`, `.cpu()`, `if`. That much is true.
#
# Then five stopwatches on a real GPU, in two sizes of matrix. An [[event]] is a time stamp that the GPU itself writes into its queue (NVIDIA calls the queue a [[stream]]). Without an NVIDIA GPU you see a recording, or what others have published.
# %% [markdown] zh
# ## 🕳️ `print(y)` 也会等，但等完还要干别的
#
# 先看看你的秒表在玩具设备上是不是读出 20 ms。然后是博客里常见的捷径：“把结果 print 出来，时间就对了。”要读数值，当然就得等它算完：`print`、`.item()`、`.cpu()`、`if` 都会等。这一半没说错。
#
# 接着看真 GPU 上的五种秒表，矩阵有两种大小。[[event]] 是 GPU 自己写进队列的时间戳（NVIDIA 管这条队列叫 [[stream]]）。没有 NVIDIA GPU 时，会回放录好的结果，或者给你看别人公布的数据。
# %%
toy.launch(30)
print(f"{stopwatch_ms(lambda: toy.launch(20), toy.synchronize, perf_counter):.1f} ms")
explain("02-print-fence")
observe("02-stopwatches-cuda")
review("02-hidden-syncs")
# %% [markdown] en
# 📌 **So far.**
# 1. A fence before the start keeps old work out, a fence before the stop waits for yours.
# 2. `print(y)` waits as well, and then works on: no clean stop.
#
# ## 🎲 What does the first call cost?
#
# No GPU, no queue, no fence needed. Only a small convolution in a shape that this notebook has never run.
# %% [markdown] zh
# 📌 **小结。**
# 1. 开始前的栅栏挡住旧任务，停表前的栅栏等你自己的任务。
# 2. `print(y)` 也会等，可等完还要干别的，拿来停表不干净。
#
# ## 🎲 第一次调用要付多少？
#
# 没有 GPU，没有队列，也不需要栅栏。只有一个小卷积，形状是这个 notebook 从没跑过的。
# %%
predict("02-bet-first-call")
# %%
observe("02-first-call")
explain("02-why-first")
# %% [markdown] en
# ## 💡 Five steps make a measurement fair
#
# The first calls do not count: that is the [[warm-up]]. Together with the fence it makes five steps:
#
# 1. **warm**: run until the time settles, throw these readings away
# 2. **fence**: empty the queue before the clock starts, and again before it stops
# 3. **repeat**: many readings, taking turns when you compare
# 4. **summarise**: a median and its interval
# 5. **report**: the claim, the device, threads, versions
#
# These five words come back in every lesson that measures.
# %% [markdown] zh
# ## 💡 公平测量的五个步骤
#
# 最开始几次不算数，这叫[[warm-up|预热]]。加上栅栏，一共五步：
#
# 1. **预热**：一直跑到耗时稳定，读数全部丢掉
# 2. **栅栏**：开始计时前清空队列，停表前再等一次
# 3. **重复**：读很多次；做比较时轮流跑
# 4. **汇总**：中位数和它的区间
# 5. **报告**：结论、设备、线程数、版本
#
# 以后凡是要测量的课，都会用到这五个词。
# %%
# en: What the first call costs on a GPU. Then put the five steps in order.
# zh: 先看 GPU 上第一次调用要花多少，再给五个步骤排顺序。
observe("02-first-call-cuda")
explain("02-order")
keep("timing.protocol")
# %% [markdown] en
# ## 🔬 A few interruptions move the mean, hardly the median
#
# Almost nothing makes a call finish early; many things make it late. So the noise goes nearly always one way: up. Below, every twentieth call is interrupted on purpose, and calls left alone take turns with them: they are the control.
# %% [markdown] zh
# ## 🔬 几次打断就带偏平均值，却几乎动不了中位数
#
# 几乎没有什么能让一次调用提前结束，却有很多事会让它变慢。所以噪声基本只往一个方向跑：往大了跑。下面每二十次调用故意打断一次，不受打扰的调用与它们轮流跑，作为对照。
# %%
observe("02-interruptions")
review("02-mean-outlier")
# %% [markdown] en
# ## 💡 When the minimum is right, and what it cannot tell
#
# “Take the smallest reading”: Python's `timeit` advises it. *“The min() of the result is probably the only number you should be interested in. After that, you should look at the entire vector and apply common sense rather than statistics.”*
#
# It is **right** where noise only adds: a short function on one CPU thread, the same work each time. In two experiments below it does very well, look.
#
# It **cannot** tell how sure it is (no interval), how long a call usually takes, or what happens where the work itself varies: GPU clocks, caches, several threads. And 1000 readings find a smaller minimum than 10: give both sides equally many.
# %% [markdown] zh
# ## 💡 什么时候该用最小值，它又说不出什么
#
# “取最小的读数就好”：Python 自带的 `timeit` 就是这么建议的。它的文档说：看最小值就够了；然后把整组读数过一遍，靠常识，别靠统计。
#
# 噪声只会让时间变长时，这话**没错**：短函数、单个 CPU 线程、每次干的活一模一样。后面两个实验里它表现相当好，留意看。
#
# 但它**说不出**：自己有多大把握（没有区间）、平时一般要多久；活儿本身会变时（GPU 频率、缓存、多线程）它也不灵。还有，读 1000 次总能碰到比读 10 次更小的值：双方次数得一样多。
# %% [markdown] en
# 📌 **So far.**
# 1. The first call of a new shape prepares something. Warm up first.
# 2. Noise goes nearly always up, and moves the mean most.
# 3. Median and interval for "how long, and how sure"; the minimum for "how fast at best".
#
# ☕ A good place to stop for today. If you want to see where the brackets come from: the next three cells are *deeper, optional*. Otherwise go on at [[#🎲 Can a function beat itself?]].
# %% [markdown] zh
# 📌 **小结。**
# 1. 新形状的第一次调用要做准备，所以先预热。
# 2. 噪声几乎总是往大了跑，最先被带偏的是平均值。
# 3. “要多久、多大把握”看中位数和区间；“最快能多快”看最小值。
#
# ☕ 今天歇在这里也很好。想知道方括号是怎么算出来的？后面三格是*选读*；不想看就直接跳到 [[#🎲 一个函数能赢过自己吗？]]。
# %% [markdown] en
# ### Deeper, optional: where the brackets come from
#
# Each reading lies above or below the true median, like a coin toss. All of them on one side is as rare as all heads. So sort the readings and cut some off at both ends, as long as the chance to lose the median stays below 5 %. `cut(n)` says how many of `n` readings may go at each end.
#
# Your turn (6 minutes, three lines): give back `(median, low, high)`; `low` and `high` are the first and the last that remain.
# %% [markdown] zh
# ### 选读：方括号是怎么来的
#
# 每个读数落在真实中位数的哪一侧，就像抛硬币。全在同一侧，和次次都是正面一样罕见。所以可以把读数排好序，从两端各切掉几个，只要把中位数切丢的概率不超过 5%。`cut(n)` 告诉你：`n` 个读数，每端能切几个。
#
# 轮到你（6 分钟，三行）：返回 `(median, low, high)`，`low` 和 `high` 就是剩下的第一个和最后一个。
# %%
from math import comb
from statistics import median

def cut(n):
    missed = [2 * sum(comb(n, i) for i in range(k + 1)) / 2**n for k in range(n)]
    return sum(chance <= 0.05 for chance in missed) - 1
print({n: cut(n) for n in (6, 12, 20, 100)})

def median_interval(samples):
    ordered = ...
    k = cut(len(samples))
    return ..., ..., ...

check("02-median-interval")
review("02-interval-means", "02-cut")
# %% [markdown] en
# ## 🎲 Can a function beat itself?
#
# Now two sides. Twenty races of a function against its own twin: every winner is a false alarm.
# %% [markdown] zh
# ## 🎲 一个函数能赢过自己吗？
#
# 现在来比较两段代码。让一个函数和自己的双胞胎比二十场：每个“赢家”都是误报。
# %%
predict("02-bet-same-code")
# %%
observe("02-same-code-twice")
explain("02-why-pairs")
# %% [markdown] en
# ## 🛠️ Divide first, summarise later
#
# A machine changes its mood: heat, neighbours, power. Two readings taken one after the other share the mood, so their **ratio** hardly moves. That is a [[paired-comparison]].
#
# In these numbers the machine first slows down for a while, then hits one reading alone. Four minutes, two blanks; ratio = candidate / baseline, below 1 is faster.
# %% [markdown] zh
# ## 🛠️ 先相除，再汇总
#
# 机器也有“心情”：温度、邻居、供电都会变。前后紧挨着的两个读数心情相同，所以**比值**几乎不动。这就是[[paired-comparison|配对比较]]。
#
# 下面这组数据里，机器先整体慢了一阵，后来又单独打断了其中一个读数。4 分钟，两处空白；比值 = 候选 / 基准，小于 1 表示更快。
# %%
from statistics import median

baseline_ms = [1.00, 1.02, 1.60, 2.00, 2.10, 1.05, 1.00]
candidate_ms = [0.90, 0.918, 1.44, 1.80, 1.89, 1.90, 0.90]
print(f"medians say {median(candidate_ms) / median(baseline_ms):.3f}")

def paired_ratio(baseline_ms, candidate_ms):
    ratios = [... for b, c in zip(baseline_ms, candidate_ms)]
    return ...

check("02-paired-ratio")      # hint("02-paired-ratio")   solution("02-paired-ratio")
# %% [markdown] en
# ## 🔬 `compare` does all five steps, and may say “undecided”
#
# It lets both sides take turns in random order and builds an interval from the ratios. You say beforehand which difference is too small to matter: the **gate**, here 2 %. Then there are four results. The interval leaves out 1: **faster** or **slower**. All of it lies within 2 % of 1: **same**. Anything else: **undecided**, an honest result.
#
# In the picture each dot is one pair, the line above is the interval, the band is the gate.
# %% [markdown] zh
# ## 🔬 `compare` 五步全包，还敢说“无法判定”
#
# 它按随机顺序让双方轮流跑，再用比值算出区间。多小的差距就不在意了？你要事先说好，这就是**阈值**，这里是 2%。结论有四种。区间不含 1：**更快**或**更慢**；整个区间与 1 相差都不超过 2%：**一样快**；其余一律**无法判定**，这也是诚实的结论。
#
# 图里一个点是一对读数，上方的线段是区间，灰带是阈值。
# %%
from course.timing import compare

# en: so small that one thread does it all
# zh: 很小，一个线程就够
x = torch.randn(16, 16)
def products(times):
    def run():
        for _ in range(times):
            x @ x
    return run
result = compare({"20 products": products(20), "21 products": products(21)},
                 baseline="20 products", gate=0.02, max_time=2)
print(result)
picture = result.plot()
observe("02-planted-difference")
review("02-undecided", "02-same")
# %% [markdown] en
# 📌 **So far.**
# 1. Two sides measured one after the other: the machine's mood decides who wins.
# 2. Taking turns and dividing pair by pair takes the mood out.
# 3. Faster, slower, same, undecided: all four are results.
# %% [markdown] zh
# 📌 **小结。**
# 1. 先测完一边再测另一边，谁赢往往看机器心情。
# 2. 轮流跑、逐对相除，就把心情抵消掉了。
# 3. 更快、更慢、一样快、无法判定：四种都算结果。
# %%
keep("timing.compare")
# %% [markdown] en
# ☕ That was the main line. Below, three things are *deeper, optional*: threads, new processes, and a stopwatch to outwit. Otherwise go on at [[#🕳️ Three myths, and what you measured against them]].
#
# ### Deeper, optional: `Timer` counts with one thread, and a new process may disagree
#
# `torch.utils.benchmark.Timer` warms, fences and repeats for you: a fine tool, with one default worth knowing. The cell below asks for your bet first.
#
# And the interval of `measure` holds *within this run*: start Python again, and memory lies elsewhere, so the time may differ by more. `measure(f, processes=5)` starts five new processes and gives the interval in which a repetition lands.
# %% [markdown] zh
# ☕ 主线到这儿就讲完了。下面三样是*选读*：线程、新进程，还有一只等你来骗的秒表。不想看就直接跳到 [[#🕳️ 三个误区，以及你的测量结果]]。
#
# ### 选读：`Timer` 默认只用一个线程；换个进程，结果可能不同
#
# `torch.utils.benchmark.Timer` 会替你预热、加栅栏、重复：很好用，但有一个默认值得知道。运行下面的单元格，它会先请你下注。
#
# 另外，`measure` 的区间只对*这一次运行*有效：重启 Python，数据在内存里的位置变了，耗时的差别可能比区间还大。`measure(f, processes=5)` 会启动五个新进程，给出“再测一次会落在哪里”的区间。
# %%
observe("02-threads")
explain("02-why-timer-longer")
review("02-timer-threads")
# %% [markdown] en
# ### Deeper, optional: make the naive stopwatch name the wrong winner
#
# Eight minutes. “Run it three times and divide” is what most people do. Find two convolutions for which it picks the **slower** one. Done when the two stopwatches contradict each other: `naive_ms` says that one side is faster, and the whole interval of `compare` says the other. How fast they are does not matter.
#
# As the cells stand, the naive clock is right. You decide who may run before it starts, and on which sizes (a size is new only once).
# %% [markdown] zh
# ### 选读：让朴素秒表选错赢家
#
# 8 分钟。“跑三次再除以三”是最常见的做法。请找两个卷积，让它选中**更慢**的那个。两只秒表说法相反就算完成：`naive_ms` 说这一边快，而 `compare` 的整个区间说另一边快。绝对快慢不重要。
#
# 现在这样，朴素秒表还是对的。谁可以在它启动之前先跑、用哪些尺寸，由你决定（一个尺寸只有第一次是“新”的）。
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
naive = naive_ms(fast) / naive_ms(slow)
# en: same=False: the results are meant to differ
# zh: same=False：两边的结果本来就不同
fair = compare({"slow": slow, "fast": fast}, baseline="slow", max_time=2, same=False)
evidence = {"naive_ratio": naive, "comparison": fair}
check("02-lose")              # hint("02-lose")   solution("02-lose")
# %% [markdown] en
# ## 🕳️ Three myths, and what you measured against them
#
# - **“Everything in PyTorch is async.”** Tempting, because GPUs are. On the CPU you saw the time pass inside the call. True for work queued on an accelerator.
# - **“Without a fence the time is short because the program exits.”** Tempting, because the script is over. But the toy kernel finished *after* the clock was read. You had timed the launch.
# - **“`print` or `.cpu()` is as good as `synchronize()`.”** Tempting, because it waits. Then it copies and formats, on your clock. Fine for a look, not for a figure.
# %% [markdown] zh
# ## 🕳️ 三个误区，以及你的测量结果
#
# - **“PyTorch 里一切都是异步的。”** 容易信，因为 GPU 确实如此。可在 CPU 上，你看到时间就花在调用里。这话只对加速器队列里的任务成立。
# - **“不加栅栏时间短，是因为程序退出了。”** 容易信，因为脚本确实结束了。可玩具 kernel 在读表*之后*照样做完了，你测到的只是启动。
# - **“`print`、`.cpu()` 和 `synchronize()` 一样。”** 容易信，因为它也会等。可随后的拷贝和排版全算在你的表上。看一眼可以，当数据不行。
# %% [markdown] en
# ## 🎯 Exit check: five cards, one from lesson 01
#
# You can time GPU work without being fooled, say how sure a number is, and tell a faster version from a lucky one. Well done: many published figures miss one of the three. Two limits: a toy device is no GPU (no overlap, no changing clock speed), and a fair figure for one layer says little about a whole model. Next lesson: how much work is in a model at all?
#
# A GPU kernel walks into a bar. The stopwatch swears that it left at once. “It never came in,” says the barkeeper. “It is number 412 in the queue.” 🍸
# %% [markdown] zh
# ## 🎯 下课小测：五张卡片，其中一张来自第 01 课
#
# 给 GPU 计时不再上当，能说清一个数有多大把握，还分得出“真的更快”和“运气好”。很了不起：不少公开发表的数据，三样里都缺一样！也有局限：玩具设备不是 GPU（没有重叠执行，也没有升降频）；一层测得再公平，也说明不了整个模型。下一课：一个模型到底有多少计算量？
#
# 一个 GPU kernel 走进餐馆。秒表发誓说它一进门就吃完走人了。老板说：“它还没进来呢，正在门口排 412 号！”🍜
# %%
review("02-exit-myth", "02-when-minimum", "02-transfer",
       "02-why-median", "01-typo-trace")
# %%
# en: were you as sure as you were right? bets() sets your confidence beside what came out
# zh: 你的把握和命中率相称吗？bets() 把两者放在一起给你看
toy.close()
bets()
# %%
finish()
