# %% [markdown] en
# # 🎯 What does “reproducible” really need?
#
# ⏱️ **35 minutes** for the main line. Before it: lessons 01, 02, 04 and 05.
#
# “Better?”, asks your supervisor. “By 0.2.” “And with another seed?” You train the same script twice, and the losses differ in the last digits. A bug? Can it be switched off? At the end you can say where two runs begin to differ, which setting helps against which cause, and what you may honestly promise.
#
# Nearly everything is live on any machine: a CPU can be unpredictable too. cuDNN itself needs an NVIDIA GPU; without one you see a recording, or what others have published, marked as such.
# %% [markdown] zh
# # 🎯 “可复现”到底需要什么？
#
# ⏱️ 主线 **35 分钟**。先修：第 01、02、04、05 课。
#
# 组会上：“涨点了吗？”“涨了 0.2。”“换个种子呢？”同一个脚本训练两次，损失末几位就对不上。是 bug 吗？有没有开关能关掉它？学完这一课，你能说清两次运行是从哪儿开始不一样的，哪个设置治哪种原因，以及到底可以承诺什么。
#
# 几乎全部内容在任何机器上都能实测：CPU 也有捉摸不定的时候！真正的 cuDNN 需要 NVIDIA GPU；没有的话，你会看到录好的结果，或者别人公布的结果（会注明）。
# %% bootstrap
# %%
# en: Warm-up: cards from earlier lessons that are due today (none is fine).
# zh: 热身：今天到期的旧卡片（没有也正常）。
review(due=3)
# %% [markdown] en
# ## What is it for?
#
# Somebody reports: “the new loss is 0.2 % better”. If two runs of the *same* code also differ by 0.2 %, the report says nothing. Repeating a run lets you find a bug, compare a change, and let others check you.
#
# The best-known tool is the [[seed]]: the number at which a generator of random numbers starts. Run the cell. In the second round one number more is drawn before the four that are printed.
# %% [markdown] zh
# ## 可复现有什么用？
#
# 有人报告：“新方法的损失好了 0.2%”。可要是*同一份*代码跑两次也差 0.2%，这句话就等于没说。能重复，才能查 bug，才能比较改动，别人也才能核对你。
#
# 最有名的工具是[[seed|随机种子]]：随机数生成器从哪个数出发。运行下面这格：第二轮在打印四个数之前，多抽了一个。
# %%
import torch

for extra in (0, 1):
    torch.manual_seed(0)
    torch.rand(extra)
    print(extra, torch.rand(4))
explain("06-one-more-draw")
# %% [markdown] en
# ## 🔬 Two famous lines, ten trainings
#
# “For full reproducibility set `cudnn.benchmark = False` and `cudnn.deterministic = True`.” You find these two lines in many scripts. Do they keep the promise? Here is a tiny training on the **CPU**: every seed set, the two lines in place, ten times. A square is one training; equal numbers mean equal bits. Do all agree?
#
# There is a second remedy, **the mode**: `torch.use_deterministic_algorithms(True)`. It asks all of PyTorch, not cuDNN alone. Place your bets.
# %% [markdown] zh
# ## 🔬 著名的两行，训练十次
#
# “想完全可复现，就设 `cudnn.benchmark = False` 和 `cudnn.deterministic = True`。”很多脚本里都有这两行。它们兑现了吗？下面是 **CPU** 上的一次小训练：种子全设，两行也写上，重复十次。一个方块是一次训练，数字相同就是逐位一致。十次都一样吗？
#
# 还有第二种药方，叫**确定性模式**：`torch.use_deterministic_algorithms(True)`。它管的是整个 PyTorch，而不只是 cuDNN。来，下注！
# %%
predict("06-bet-agree")
# %%
observe("06-two-lines")
predict("06-bet-cure")
# %%
observe("06-cures")
explain("06-why-differs")
# %% [markdown] en
# ## 💡 Two runs can differ for four reasons
#
# | | what differs | what helps |
# |---|---|---|
# | 1 | the **random numbers**: another seed, one draw more | seeds |
# | 2 | the **choice** of an algorithm | `cudnn.benchmark = False` |
# | 3 | the **order** of additions: threads, batch size | the mode, the same set-up |
# | 4 | **memory read before it is written**: `torch.empty` | the mode fills it |
#
# And one that nothing helps against: another GPU model, another release of a library.
#
# The two lines speak about row 2 and about cuDNN. The training above differs in row 3, on a CPU.
# %% [markdown] zh
# ## 💡 两次运行分道扬镳，有四种原因
#
# | | 哪里不同 | 什么管用 |
# |---|---|---|
# | 1 | **随机数**：种子不同，或者多抽了一次 | 设种子 |
# | 2 | **选的算法**不同 | `cudnn.benchmark = False` |
# | 3 | **相加的次序**：线程数、批大小 | 确定性模式，加上同样的环境 |
# | 4 | **没写就读的内存**：`torch.empty` | 确定性模式会先把它填满 |
#
# 还有一种，谁也没办法：换了 GPU 型号，或者换了库的版本。
#
# 那两行管的是第 2 行，而且只管 cuDNN。上面那个训练，差在第 3 行，还是在 CPU 上。
# %% [markdown] en
# 📌 **So far.** Two famous lines are not enough to make a program repeat.
#
# 1. A seed fixes which random numbers come, and in which order. Nothing else.
# 2. Two runs can differ for four reasons, and each needs its own remedy.
# 3. The two famous lines are about cuDNN's choice of an algorithm, not about your whole program.
# %% [markdown] zh
# 📌 **小结。** 光靠那两行名句，程序未必次次相同。
#
# 1. 种子只管抽到哪些随机数、按什么顺序来，别的一概不管。
# 2. 两次运行不一样，有四种原因，每种都得对症下药。
# 3. 著名的那两行，管的是 cuDNN 怎么选算法，不是你的整个程序。
# %% [markdown] en
# ## Reason 3: the order of additions
#
# Computers round after every addition, so `(a + b) + c` and `a + (b + c)` can differ in the last bit (you saw it in lesson 00). With several [[threads]], who decides the order?
#
# - **Atomic additions**: each thread adds to one shared number the moment it is ready. Who comes first is chance, anew each time.
# - **Fixed sharing**: each thread gets its own part. The order is fixed, but it depends on the *number* of threads.
#
# You have just seen the first. Bet on the second.
# %% [markdown] zh
# ## 原因 3：相加的次序
#
# 计算机每加一次都要舍入，所以 `(a + b) + c` 和 `a + (b + c)` 的最后一位可能不同（第 00 课见过）。有好几个[[threads|线程]]的时候，次序谁说了算？
#
# - **原子加**：哪个线程先算完，就先往那个共享的数上加。谁先到全凭运气，每次都不一样。
# - **固定分工**：每个线程领自己那一份。次序是定的，但取决于线程*有几个*。
#
# 刚才看到的是第一种。给第二种下注吧！
# %%
predict("06-bet-threads")
# %%
observe("06-threads-sum")
# %% [markdown] en
# ## Does the same row get the same bits in another batch?
#
# You evaluate your test set in batches of 64; your service answers one request at a time. Same weights, same row of data, another batch size. (The term for “yes, the same bits” is [[batch-invariance|batch invariance]].)
# %% [markdown] zh
# ## 同一行数据换个 batch，结果逐位一致吗？
#
# 测试集按 64 行一批评估，线上服务一次只答一个请求。权重一样，这一行数据也一样，只是批大小变了。（如果逐位一致，就叫 [[batch-invariance|batch 不变性]]。）
# %%
predict("06-bet-company")
# %%
observe("06-company")
explain("06-cannot")
# %% [markdown] en
# ## Reason 1: a seed for every generator
#
# Python, NumPy and torch have a generator each, and each wants its own seed. 🛠️ **Your turn** (4 minutes, two lines): one of the three is set already. Complete the function; `check` draws from all three.
# %% [markdown] zh
# ## 原因 1：每个生成器都要种子
#
# Python、NumPy、torch 各有一个随机数生成器，种子也得各设各的。🛠️ **轮到你了**（4 分钟，两行）：三个里已经设好一个，把函数补完，`check` 会从三个里各抽一个数。
# %%
import random

import numpy
import torch


def seed_everything(seed: int) -> None:
    random.seed(seed)
    # en: two generators are still missing
    # zh: 还差两个生成器
    raise NotImplementedError


check("06-seed-everything")
# %%
# en: Data augmentation often draws from NumPy in the workers of a DataLoader, helper
# en: processes that load data. Must you seed NumPy there by hand?
# zh: 数据增强常在 DataLoader 的 worker（专门读数据的辅助进程）里用 NumPy 抽数。
# zh: 那里的 NumPy 要手动设种子吗？
predict("06-bet-workers")
# %%
observe("06-who-seeds")
explain("06-sets-seed")
keep("seeds")
# %% [markdown] en
# ## Reason 2: the switch, off and on
#
# `cudnn.deterministic` is `False` by default. cuDNN's ways to compute a [[convolution]] are called **engines**, and some carry the note NONDETERMINISTIC. Set to `True`, the switch crosses those out before one is chosen.
#
# Here is a toy that works in the same way on any CPU (its four candidates are ours). Run the cell, then write `deterministic=False` and run it again: which candidate comes back?
# %% [markdown] zh
# ## 原因 2：这个开关，关和开
#
# `cudnn.deterministic` 默认是 `False`。cuDNN 计算[[convolution|卷积]]的每种实现叫一个**引擎**，有的带着 NONDETERMINISTIC 标记。设成 `True`，就是在挑选之前先把带标记的划掉。
#
# 下面这个玩具在任何 CPU 上都照这个办法工作（四个候选是我们自己写的）。先运行，再把它改成 `deterministic=False` 重跑一遍：哪个候选又回来了？
# %%
from course.lessons.l06_cudnn_deterministic.filters import FilterConv
from course.toy_search import image, kernel

conv = FilterConv(benchmark=True, deterministic=True)
conv(image(40), kernel())
print("allowed:", *conv.allowed())
print("timed:  ", *conv.timed)
# en: Now both switches are True. Many pages say that one of them cancels the other.
# en: What do you say?
# zh: 现在两个开关都是 True。很多网页说，其中一个会让另一个失效。你怎么看？
predict("06-bet-both")
# %%
observe(["06-truth-table-cuda", "06-toy-table"])
explain("06-truth-both")
# %% [markdown] en
# ## 💡 One switch shortens the list, the other says how to choose from it
#
# | benchmark | deterministic | what a cuDNN convolution runs |
# |---|---|---|
# | False | False | chosen by rule of thumb, from all engines |
# | False | True | chosen by rule of thumb, from deterministic engines |
# | True | False | chosen by the clock, from all engines |
# | True | True | chosen by the clock, from deterministic engines |
#
# So the two do not contradict each other. (An older version of PyTorch's code did use one fixed algorithm for the second row; the myth may come from there.)
# %% [markdown] zh
# ## 💡 一个管“从谁里选”，一个管“怎么选”
#
# | benchmark | deterministic | cuDNN 卷积怎么选 |
# |---|---|---|
# | False | False | 按经验规则，从全部引擎里选 |
# | False | True | 按经验规则，从确定性引擎里选 |
# | True | False | 掐表，从全部引擎里选 |
# | True | True | 掐表，从确定性引擎里选 |
#
# 所以它俩根本不打架！（PyTorch 的老代码在第二行那种组合下确实固定用一个算法，误传可能就是这么来的。）
# %%
explain("06-two-processes")
keep("cudnn.deterministic")
# %% [markdown] en
# 📌 **So far.** The same numbers in another order: other last digits.
#
# 1. The order of additions shows in the last bits; it depends on threads and on the batch size.
# 2. Three generators, three seeds.
# 3. `cudnn.deterministic` crosses engines out, `cudnn.benchmark` times what is left; both can be on.
#
# ## The mode refuses rather than guesses
#
# The [[deterministic-mode|mode]] takes the ordered version of an operation where there is one, and **raises an error** where there is none. Better no answer than one that changes. The next cell asks for such an operation and prints the error. Read the whole message: it tells you what to do.
# %% [markdown] zh
# 📌 **小结。** 同样的数，换个次序加，末几位就不同。
#
# 1. 相加的次序会体现在末几位，取决于线程数和批大小。
# 2. 三个生成器，三个种子。
# 3. `cudnn.deterministic` 负责划掉引擎，`cudnn.benchmark` 给剩下的计时；两个可以一起开。
#
# ## 确定性模式宁可拒绝，也不瞎猜
#
# 有按固定次序的版本，[[deterministic-mode|确定性模式]]就用它；没有，就**报错**。给不出稳定的答案，不如不给。下一格就调用这样一个算子，并把错误打印出来：请从头读到尾，里面写着该怎么办。
# %%
import torch
from course.flags import using

places, values = torch.tensor([0, 2, 1]), torch.tensor([1.0, 2.0, 3.0])
with using({"torch.deterministic_algorithms": True}):
    try:
        torch.zeros(4).put_(places, values)
    except RuntimeError as error:
        print(f"RuntimeError: {error}")
observe("06-who-raises")
for card in ("06-put", "06-warn-only"):
    explain(card)
# %% [markdown] en
# ## 🛠️ Your turn: repeatable, and no trace left (8 minutes, about 6 lines)
#
# `repeatable(run, seed)` gives back `run()`, carried out with the mode on (errors, not warnings) and torch seeded. Afterwards the mode is what it was before, “warn only” included, even if `run` fails. (`try: ... finally: ...` runs its last part in every case.)
# %% [markdown] zh
# ## 🛠️ 轮到你了：可重复，而且不留痕迹（8 分钟，约 6 行）
#
# `repeatable(run, seed)` 返回 `run()` 的结果：运行时打开确定性模式（报错，而不是警告），并给 torch 设种子。之后确定性模式恢复原样，原来是 warn-only 也要恢复，`run` 出错时也一样。（`try: ... finally: ...` 的最后一段无论如何都会执行。）
# %%
import torch


def repeatable(run, seed: int):
    raise NotImplementedError


check("06-repeatable")
# %%
# en: What does it cost? The documentation says that deterministic operations are *often*
# en: slower. Often is not always.
# zh: 要付多少时间？官方文档说，确定性算子*往往*更慢。往往不等于总是！
predict("06-bet-cost")
# %%
observe(["06-cost", "06-bits-cuda", "06-cost-cuda"])
keep("deterministic_algorithms")
# %% [markdown] en
# 📌 **So far.**
#
# 1. `torch.use_deterministic_algorithms(True)` refuses what it cannot repeat; `warn_only=True` runs it and warns.
# 2. It sets no seed.
# 3. Its price differs from operation to operation, so measure yours.
#
# ☕ That was the main line; a good place to stop for today. If you like, five optional parts follow. Otherwise go on at [[#🕳️ Four myths, and what you measured]].
# %% [markdown] zh
# 📌 **小结。**
#
# 1. 保证不了重复的算子，`torch.use_deterministic_algorithms(True)` 会拒绝；设了 `warn_only=True` 就照常运行，只给警告。
# 2. 它不设种子。
# 3. 代价因算子而异，所以要测你自己用的那些。
#
# ☕ 主线到这儿就讲完了，今天歇在这里也很好。还有五段选读，感兴趣就往下看；不看就直接跳到 [[#🕳️ 四个误区，和你测到的]]。
# %% [markdown] en
# ### Deeper, optional: a sum that ignores the threads (6 minutes, about 2 lines)
#
# Write `steady_sum(values)` for a 1-D tensor: the same bits with any number of threads. The figure of the sums told you up to which length one thread does all the work. Stuck? `hint("06-steady-sum")`.
# %% [markdown] zh
# ### 选读：不受线程数影响的求和（6 分钟，约 2 行）
#
# 为一维张量写 `steady_sum(values)`：无论几个线程，结果都逐位一致。前面那张求和的图已经告诉你，多长以内的求和只交给一个线程。卡住了就运行 `hint("06-steady-sum")`。
# %%
import torch


def steady_sum(values: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError


check("06-steady-sum")
# %% [markdown] en
# ### Deeper, optional: repeating is not being right
#
# GPU kernels may cut a long sum of products into pieces and add the pieces up (**split-K**). Let us do it by hand and compare each result with `float64`. Which number of pieces would you call the correct one?
#
# Three words, three meanings. **Repeatable**: the same machine and script, the same bits; the mode is for this. **Reproducible**: others reach the same conclusion elsewhere; this needs tolerances and several seeds. **Correct**: the result is what it should be; no switch is for this.
# %% [markdown] zh
# ### 选读：能重复，不等于算得对
#
# GPU 的 kernel 可能把很长的内积切成几段，再把各段加起来（**split-K**）。我们手工照做，把每个结果与 `float64` 比一比。你说切成几段才算正确？
#
# 三个词，三个意思。**可重复**：同一台机器、同一个脚本，逐位一致，确定性模式管的是这个。**可复现**：别人在别处得出同样的结论，靠的是容差和多个种子。**正确**：结果就是该有的结果，没有哪个开关管这个。
# %%
observe("06-pieces")
explain("06-correct")
# %% [markdown] en
# ### Deeper, optional: how one bit becomes large
#
# Who cares about the last bit? `x` and `y` start one [[ulp]] apart, the smallest step a float can take, and follow one short rule. Look at the last column. Then try 2.9 instead of 3.9: with this rule differences shrink instead of growing. And 0.4 instead of 0.3: there the first rounding swallows the difference.
# %% [markdown] zh
# ### 选读：一个比特怎么变成大差别
#
# 末位差一点，谁在乎？`x` 和 `y` 的起点只差一个 [[ulp]]，也就是浮点数的最小一步，规则只有一行。看最后一列。再把 3.9 换成 2.9：这条规则下，差别只会缩小，不会放大。把 0.3 换成 0.4：第一次舍入就把差别吞掉了。
# %%
import math

x, y = 0.3, math.nextafter(0.3, 1)
for step in range(1, 101):
    x, y = 3.9 * x * (1 - x), 3.9 * y * (1 - y)
    if step % 20 == 0:
        print(f"{step:3d}  {x:.6f}  {y:.6f}  {abs(x - y):.0e}")
predict("06-bet-ulp")
# %%
observe("06-one-ulp")
# %% [markdown] en
# ### Deeper, optional: find a counterexample
#
# “Every seed is set, so it repeats.” Find two settings of `small_training` with the same `seed` and `samples` whose results differ, although each repeats itself. You may change `threads` (1 to 8), `pieces` (1 to 16) and `samples` (64 to 400,000). The pair below does not do it yet. `fingerprint` sums up all bits of a result in eight characters.
# %% [markdown] zh
# ### 选读：找个反例
#
# “种子全设了，所以能重复。”给 `small_training` 找两组设置，`seed` 和 `samples` 相同，各自能重复，彼此却不同。可调的有 `threads`（1 到 8）、`pieces`（1 到 16）、`samples`（64 到 400,000）。下面这对还做不到。`fingerprint` 把结果的所有比特浓缩成八个字符。
# %%
from course.lessons.l06_cudnn_deterministic.training import fingerprint, small_training

pair = ({"samples": 256, "threads": 1},
        {"samples": 256, "threads": 2})
for settings in pair:
    runs = [small_training(**settings) for _ in range(3)]
    shown = (f"{name}={value}" for name, value in settings.items())
    print(*shown, "->", *map(fingerprint, runs))
check("06-make-it-lose")
# %% [markdown] en
# ### Deeper, optional: nine cards for practice
#
# Four small ones: memory that nobody wrote, an order of steps, a removed function, a variable that was once obligatory. Then five cases of the kind that tutorials like to ask. The usual answers sound sensible; some are not enough, some are wrong.
# %% [markdown] zh
# ### 选读：九张卡片，请你来断案
#
# 先是四张小的：没写过的内存、一道排序题、一个已移除的函数、一个曾经必设的变量。再是教程里爱出的五个案子：常见的答案听起来个个有理，可有的不够，有的不对。
# %%
for card in ("06-empty", "06-order-filter", "06-removed", "06-workspace"):
    explain(card)
for case in ("06-scene-speed", "06-scene-loss", "06-scene-transformer",
             "06-scene-gan", "06-scene-video"):
    explain(case)
# %% [markdown] en
# ## 🕳️ Four myths, and what you measured
#
# | “…” | tempting, because | what speaks against it |
# |---|---|---|
# | two lines make it reproducible | both names sound like it | ten trainings, the remedies |
# | deterministic cancels benchmark | an old version came close | first crossed out, then timed |
# | the mode sets the seed | “deterministic” | two new processes |
# | only GPUs vary | CPUs look calm | additions on your own CPU |
#
# They hold where convolutions are all there is, one process is all you look at, or one thread does the work.
# %% [markdown] zh
# ## 🕳️ 四个误区，和你测到的
#
# | “……” | 为什么诱人 | 反证 |
# |---|---|---|
# | 两行就能完全可复现 | 名字听着就像 | 十次训练、几种药方 |
# | deterministic 会取消 benchmark | 老版本差不多是这样 | 先划掉，再计时 |
# | 确定性模式会设种子 | 名叫“确定性” | 两个新进程 |
# | 只有 GPU 才会变 | CPU 看着很稳 | 你自己 CPU 上的加法 |
#
# 也有成立的时候：只有卷积、只看一个进程，或者只有一个线程干活。
# %% [markdown] en
# ## The checklist to sign
#
# ```python
# random.seed(s); numpy.random.seed(s); torch.manual_seed(s)
# torch.use_deterministic_algorithms(True)      # read what it refuses
# torch.backends.cudnn.benchmark = False        # a steady choice
# DataLoader(..., generator=torch.Generator().manual_seed(s))
# ```
# On CUDA before PyTorch 2.10 also set `CUBLAS_WORKSPACE_CONFIG=:4096:8` in the environment before Python starts: without it the mode raises in `Linear`. Since 2.10 only the documentation of `nn.RNN` and `nn.LSTM` still asks for it.
#
# Write down versions, device, instruction set, threads, workers, batch size. Promise *the same bits on this set-up*. Not more.
#
# “What you get from paper stays shallow; to know a thing, do it yourself.” (Lu You, 1199. He would have run it twice.)
# %% [markdown] zh
# ## 可以签字的清单
#
# ```python
# random.seed(s); numpy.random.seed(s); torch.manual_seed(s)
# torch.use_deterministic_algorithms(True)      # 看它拒绝了什么
# torch.backends.cudnn.benchmark = False        # 稳住选择
# DataLoader(..., generator=torch.Generator().manual_seed(s))
# ```
# PyTorch 2.10 之前在 CUDA 上，还要在启动 Python 之前设好环境变量 `CUBLAS_WORKSPACE_CONFIG=:4096:8`，不然确定性模式下连 `Linear` 都会报错。2.10 起，只有 `nn.RNN` 和 `nn.LSTM` 的文档还要求它。
#
# 再记下版本、设备、指令集、线程数、worker 数、批大小。承诺只有一句：*在这套环境上逐位一致*。不多承诺。
#
# “纸上得来终觉浅，绝知此事要躬行。”（陆游，1199 年。放到今天，他老人家大概会再跑一遍，对对结果！）
# %% [markdown] en
# ## Exit check: five cards
#
# A seed, a switch and a mode share a flat. “I have locked the door!” says each of them, and each is right. The flat has four doors.
# %% [markdown] zh
# ## 下课小测：五张卡片
#
# 种子、开关和确定性模式合租。“门我锁好了！”三个都这么说，也都没说错。只是这套房有四扇门。
# %%
for card in ("06-truth-count", "06-who-reads", "06-flags-trap",
             "06-order-hunt", "05-why-flip"):
    explain(card)
# %% [markdown] en
# ## 📌 So, should I switch it on?
#
# | your situation | do this | how you will know |
# |---|---|---|
# | a paper, a report | three seeds or more, and their spread | the curves overlap, or not |
# | hunting a bug, comparing two versions | the whole checklist | two new processes, `torch.equal` |
# | convolutions are all that varies | `cudnn.deterministic = True`, `benchmark = False` | the same |
# | the mode raises | `warn_only=True`; replace what is named | the warnings end |
# | another card, version or batch size | promise no bits | a tolerance |
#
# <details><summary>Where this comes from</summary>
#
# The ten trainings and the remedies: this lesson, on your machine. With the search and determinism both on, two results in three processes: `06-truth-table-cuda`, an H100 with torch 2.11. Which operations the mode refuses: PyTorch's documentation of `use_deterministic_algorithms`. What it costs your step: `try_switches(model, x, only="deterministic")`.
#
# </details>
# %% [markdown] zh
# ## 📌 那我该不该开？
#
# | 你的情况 | 这么做 | 怎么知道有没有用 |
# |---|---|---|
# | 写论文、交报告 | 至少三个种子，报出离散程度 | 曲线重不重叠 |
# | 抓 bug，对比两个版本 | 整张清单 | 两个新进程，`torch.equal` |
# | 会变的只有卷积 | `cudnn.deterministic = True`，`benchmark = False` | 同上 |
# | 确定性模式报错 | `warn_only=True`，把点到的算子换掉 | 警告没了 |
# | 换了卡、版本或批大小 | 别承诺逐位一致 | 看容差 |
#
# <details><summary>依据</summary>
#
# 十次训练、几种药方：本课，在你自己的机器上测的。搜索和确定性都开着，三个进程出了两种结果：`06-truth-table-cuda`，H100，torch 2.11。模式拒绝哪些算子：PyTorch 的 `use_deterministic_algorithms` 文档。你这一步要付多少：`try_switches(model, x, only="deterministic")`。
#
# </details>
# %% [markdown] en
# ## Claims you can now make
#
# - `deterministic` filters, `benchmark` chooses; with both, the choice is timed among deterministic engines.
# - Equal seeds fix the numbers drawn, not the order in which they are added.
# - The mode refuses PyTorch's operations that are known not to repeat; `warn_only` lets them run.
# - Equal bits hold for one set-up. Beyond it: tolerances, several seeds, an honest sentence.
#
# The next cell writes out your own numbers.
# %% [markdown] zh
# ## 这节课学到了什么
#
# - `deterministic` 管过滤，`benchmark` 管选择；两个都开，就是在确定性引擎里计时挑选。
# - 种子相同，固定的是抽到的数，不是相加的次序。
# - PyTorch 已知不能重复的算子，确定性模式会拒绝；`warn_only` 则放行。
# - 逐位一致只限于一套环境。出了这个范围，靠容差、多个种子和一句实话。
#
# 下一个单元格会写出你自己的数据。
# %%
finish()
