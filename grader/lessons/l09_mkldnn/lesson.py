# %% [markdown] en
# # What does oneDNN do on my CPU?
#
# ⏱️ 35 minutes; the *deeper, optional* parts take another 25. Before it: lessons 01 and 02. Everything runs live on a CPU whose PyTorch has oneDNN; elsewhere you see what another machine recorded.
#
# 🎯 Afterwards you can
# - say which calls go to oneDNN, without guessing;
# - read its log line by line, and say where the time goes;
# - find the calls where it costs, and switch it off for just those.
# %% [markdown] zh
# # oneDNN 在我的 CPU 上做什么？
#
# ⏱️ 35 分钟；**选读**部分再加 25 分钟。先修：第 01、02 课。只要 PyTorch 带 oneDNN，全部内容都能在 CPU 上实测；不带的话，就看别的机器录下来的。
#
# 🎯 学完之后，你能：
# - 不靠猜，说出哪些调用走 oneDNN；
# - 逐行读懂它的日志，说清时间花在哪里；
# - 找出它帮倒忙的调用，并且只对那些调用关掉它。
# %% bootstrap
# %% [markdown] en
# ## 🎯 What is torch.backends.mkldnn for?
#
# The notes you inherited say “MKL makes our convolutions fast”. On a CPU, PyTorch hands many of them to [[onednn|oneDNN]], a library that writes machine code for your processor, on the spot. `torch.backends.mkldnn.enabled` is its switch, and it is on by default.
#
# Think of a print shop. It prints fast, but first it makes a plate, and it cuts your paper to its own size. For a thousand pages that pays. For one page? We shall measure.
#
# A warm-up first, then the switch: on, off, on again. Watch who computes, and how much the result changes.
# %% [markdown] zh
# ## 🎯 torch.backends.mkldnn 是干什么用的？
#
# 没有 GPU，卷积也想跑得快！在 CPU 上，PyTorch 把不少卷积交给 [[onednn|oneDNN]]：这个库会为你的处理器当场写机器码。`torch.backends.mkldnn.enabled` 是它的开关，默认开着。
#
# 它像一家印刷厂：印得飞快，可开印之前要先制版，还要把你的纸裁成它自己的尺寸。印一千页，划算；只印一页呢？咱们量一量。
#
# 先热个身，再拨一拨开关：开、关、再开。盯住两件事：谁在算，结果变了多少。
# %%
# en: First the cards of earlier lessons that are due today, then today's warm-up.
# zh: 先是今天到期的旧卡片，再是今天的热身题。
review(due=3)
explain("09-cudnn-on-cpu")
# %%
import torch
from torch import nn
from torch.backends import mkl, mkldnn
from course.figures.route import who_computes

# en: no gradients in this lesson: we only compute forwards
# zh: 这一课只算前向，不要梯度
torch.set_grad_enabled(False)
conv, image = nn.Conv2d(16, 32, 3, padding=1), torch.randn(8, 16, 64, 64)
on = conv(image)
print("on: ", who_computes(conv, image))
mkldnn.enabled = False
difference = (conv(image) - on).abs().max().item()
print("off:", who_computes(conv, image), "| largest difference:", f"{difference:.1e}")
mkldnn.enabled = True
print("on: ", who_computes(conv, image))
# %% [markdown] en
# ## MKL is not MKL-DNN
#
# [[mkl|MKL]] does products of matrices, LAPACK and FFT. **MKL-DNN** does layers of networks. It was renamed DNNL, and then oneDNN; PyTorch's module kept the old name. So `torch.backends.mkl` and `torch.backends.mkldnn` speak of two libraries.
#
# “There are only two hard things in Computer Science: cache invalidation and naming things.” (Phil Karlton, as quoted by Martin Fowler.) This lesson has both.
#
# Now the first bet. Nine layers, one thread, each timed with oneDNN on and off. For which of them does the time change?
# %% [markdown] zh
# ## MKL 不是 MKL-DNN
#
# [[mkl|MKL]] 做矩阵乘法、LAPACK 和 FFT。**MKL-DNN** 做网络层，后来改名 DNNL，再改名 oneDNN，PyTorch 的模块却沿用了旧名。所以 `torch.backends.mkl` 和 `torch.backends.mkldnn` 说的是两个库。
#
# 师兄的交接文档写着“装了 MKL，所以卷积快”：他说的其实是 oneDNN。名字改了两回，难怪总有人认错！
#
# 来下第一注：九个层，单线程，oneDNN 开着测一遍，关了再测一遍。哪些层的耗时会变？
# %%
print("MKL:", mkl.is_available(), "| oneDNN:", mkldnn.is_available())
explain("09-names")
predict("09-bet-who")
# %%
observe("09-on-off")
# %%
explain("09-linear-why")
review("09-rnn-family")
# %% [markdown] en
# 📌 **So far.** oneDNN computes some of your layers, not all.
#
# 1. oneDNN serves convolutions and `nn.LSTM` in float32 on x86; float32 `Linear` is MKL's work, GRU and RNN run PyTorch's own code.
# 2. The switch counts from the next call on, for the whole process.
# 3. What did not use oneDNN does not miss it.
# %% [markdown] zh
# 📌 **小结。** 你的层，oneDNN 只算一部分。
#
# 1. 在 x86 上，float32 的卷积和 `nn.LSTM` 走 oneDNN；float32 的 `Linear` 归 MKL，GRU 和 RNN 跑 PyTorch 自己的代码。
# 2. 开关从下一次调用起生效，管整个进程。
# 3. 没用过 oneDNN 的层，关掉它也没感觉。
# %%
keep("mkldnn.enabled", "mkl.name")
# %% [markdown] en
# ## 🔬 Ask the library itself: its log
#
# oneDNN's word for one operation made ready for one shape is a **[[primitive]]**. If asked, it writes a line for every primitive it runs: inside `with mkldnn.verbose(mkldnn.VERBOSE_ON):`, or with `ONEDNN_VERBOSE=1` set before the start. `log_of` runs a call and reads those lines into a table. Above the table, the raw ones.
# %% [markdown] zh
# ## 🔬 直接问库本身：看日志
#
# oneDNN 把“为某个形状准备好的一个算子”叫作 **[[primitive|primitive（原语）]]**。只要你要求，它每执行一个 primitive 就写一行：写在 `with mkldnn.verbose(mkldnn.VERBOSE_ON):` 里，或者启动前设 `ONEDNN_VERBOSE=1`。`log_of` 执行一次调用，把这些行读成表。表的上面就是原始的行。
# %%
from course.onednn_log import log_of, recorded_log

conv(image)
# en: recorded_log: only where this PyTorch has no oneDNN
# zh: recorded_log：只在这个 PyTorch 不带 oneDNN 时才用
log = log_of(lambda: conv(image)) or recorded_log("conv")
# en: a space after each comma, so that long lines break there
# zh: 每个逗号后加一个空格，长行好在那里换行
print(*(line.replace(",", ", ") for line in log.raw), sep="\n\n")
log
# %% [markdown] en
# ## How to read a line
#
# ```
# exec, cpu, convolution        what ran, and where
# jit:avx512_core               compiled here, for these instructions
# src f32 abcd                  input: float32, NCHW as you gave it
# src f32 aBcd16b               input: channels in blocks of 16
# mb8_ic16oc32 .. kh3dh0ph1     batch, channels, kernel, dilation, pad
# 1.84                          milliseconds
# ```
# Your line may name other instructions, and blocks of 8. `dh0` means no dilation, an ordinary filter. A [[reorder]] computes nothing: it copies an array into another layout. (The print shop cuts your paper.)
# %% [markdown] zh
# ## 一行该怎么读
#
# ```
# exec, cpu, convolution        执行了什么，在哪里
# jit:avx512_core               为这套指令当场编译
# src f32 abcd                  输入：float32，原样的 NCHW
# src f32 aBcd16b               输入：通道每 16 个一块
# mb8_ic16oc32 .. kh3dh0ph1     batch、通道、核、空洞、填充
# 1.84                          毫秒
# ```
# 你的那行可能是别的指令，每 8 个一块。`dh0` 表示没有空洞，就是普通的卷积核。[[reorder|重排（reorder）]]什么都不算，只是把数组拷贝成另一种布局（印刷厂在裁纸）。
# %%
explain("09-read-line")
explain("09-order-lines")
# %%
# en: The nine layers again, through their lines.
# en: A layer without a line was computed by somebody else.
# zh: 还是那九个层，这次看它们的日志。没有日志的层，是别人算的。
observe("09-where-time")
review("09-share")
# %% [markdown] en
# ## 🛠️ Worked example, then yours (5 minutes, five blanks)
#
# A raw line is fields with commas: the first two lines show three of them. Now the share of reorders in a report: skip what
# is not an executed line, sum all times, and those of the reorders. An empty report gives 0.0. Stuck?
# `hint("09-reorder-share")`.
# %% [markdown] zh
# ## 🛠️ 先看示范，再自己写（5 分钟，五处空白）
#
# 原始的一行就是用逗号隔开的字段，头两行代码取出了其中三个。现在求一份报告里重排的占比：跳过不是执行行的，累加全部时间，再累加重排的时间。空报告返回 0.0。卡住了就运行 `hint("09-reorder-share")`。
# %%
fields = log.raw[0].split(",") if log.raw else ["-"] * 14
print("event:", fields[3], "| primitive:", fields[5], "| ms:", fields[-1])

def reorder_share(report: list[str]) -> float:
    total_ms = reorder_ms = 0.0
    for line in report:
        fields = line.split(",")
        if ...:
            continue
        total_ms += ...
        if ...:
            reorder_ms += ...
    return ...

check("09-reorder-share")
# %% [markdown] en
# ## 💡 Three costs: making, reordering, computing
#
# | cost | how often |
# |---|---|
# | **making** the primitive: compile it, keep it in a [[cache]] | once for each new problem (shape, type, ...) |
# | **reordering** into blocks and back | at every call |
# | **computing** | at every call, and it grows with the size |
#
# The first two pay only where there is much to compute. Let us watch the cache fill: one convolution layer, images of 33, 47, 33, 47, 60 and 33 pixels. Which of the six calls have to make something?
# %% [markdown] zh
# ## 💡 三笔成本：制作、重排、计算
#
# | 成本 | 多久付一次 |
# |---|---|
# | **制作** primitive：编译好，留在[[cache|缓存]]里 | 每个新配置（形状、类型……）一次 |
# | **重排**成分块布局，再排回来 | 每次调用 |
# | **计算** | 每次调用，随规模增长 |
#
# 前两笔要靠足够的计算量来摊薄。咱们看看缓存是怎么一点点填满的：同一个卷积层，图像依次是 33、47、33、47、60、33 像素。六次调用里，哪几次要现做？
# %%
observe("09-cache")
explain("09-cache")
# en: Now the second cost: how many reorders are there in one call?
# zh: 再看第二笔成本：一次调用里有几次重排？
predict("09-bet-reorders")
# %%
observe("09-layouts")
explain("09-channels-last-why")
# %% [markdown] en
# 📌 **So far.**
# 1. A line in the log is proof; a switch is not.
# 2. A problem seen before is found ready; a new shape is made first.
# 3. Reorders come at every call. [[channels_last]] saves most of them in a chain of convolutions.
# %% [markdown] zh
# 📌 **小结。**
# 1. 日志里有一行才是证据，开关不是。
# 2. 见过的配置直接用；新形状要先做。
# 3. 重排每次调用都有；一串卷积改用 [[channels_last]]，能省下大半。
# %%
keep("mkldnn.verbose", "mkldnn.cache")
# %% [markdown] en
# ☕ A good place for a break. The next cell is *deeper, optional*; the main line goes on at [[#🎲 On only allows: who gets the work?]].
#
# ### Deeper, optional: a tensor that keeps its blocks
#
# `.to_mkldnn()` hands you a tensor in the library's own layout, so nothing goes back between layers. The cost: hardly anything else accepts it. The cell asks first, and then fails on purpose.
# %% [markdown] zh
# ☕ 歇一歇正好。下一格是**选读**；主线从 [[#🎲 打开只是允许：活儿到底给了谁？]] 接着走。
#
# ### 选读：一直保持分块的张量
#
# `.to_mkldnn()` 给你的张量用的是库自己的布局，层与层之间不必再转回来。代价是：几乎别的什么都不认它。下面的单元格先提问，再故意报错。
# %% tags=raises-exception
review("09-to-mkldnn")
opaque = torch.randn(2, 16, 8, 8).to_mkldnn()
print(opaque.layout, opaque.to_dense().layout)
opaque.numpy()
# %% [markdown] en
# ## 🎲 On only allows: who gets the work?
#
# The switch is on. For a convolution, PyTorch then looks at its type and size and chooses a library; this step is [[backend-selection|backend selection]], and it can be asked. Eight convolutions, the switch on for all of them. The bet is on the smallest.
# %% [markdown] zh
# ## 🎲 打开只是允许：活儿到底给了谁？
#
# 开关开着。碰到卷积，PyTorch 还要看类型和大小，再挑一个库来算。这一步叫[[backend-selection|后端选择]]，可以直接去问它。八个卷积，开关都开着。赌的是最小的那个。
# %%
predict("09-bet-small")
# %%
observe("09-routes")
explain("09-flag-not-used")
# %% [markdown] en
# ### Deeper, optional: foresee who computes (5 minutes, one line)
#
# (The main line goes on at [[#🕳️ `flags(deterministic=True)` switches oneDNN off on the way]].)
#
# For a float32 convolution, stride 1, no dilation, kernel 3 or larger, one of these is enough for oneDNN: more than one
# group; kernel above 3; batch above 1; more than 20480 numbers in the input (batch × channels × height × width).
# %% [markdown] zh
# ### 选读：预言由谁来算（5 分钟，一行）
#
# （主线从 [[#🕳️ `flags(deterministic=True)` 顺手把 oneDNN 关了]] 接着走。）
#
# float32 卷积、stride 1、无空洞、卷积核至少为 3。满足下面任意一条就走 oneDNN：分组多于 1；卷积核大于 3；batch 大于 1；输入的数多于 20480 个（batch × 通道 × 高 × 宽）。
# %%
def goes_to_onednn(batch: int, channels: int, height: int, width: int,
                   kernel: int, groups: int = 1) -> bool:
    # en: for example one image 3 x 32 x 32, kernel 3 -> False
    # zh: 例如一张 3 x 32 x 32 的图像，卷积核为 3 -> False
    raise NotImplementedError


check("09-goes-to-onednn")
# %% [markdown] en
# ## 🕳️ `flags(deterministic=True)` switches oneDNN off on the way
#
# Lesson 01 met it: what you leave out of `flags(...)` is set to the default of that function, and for `enabled` that is False. Here somebody wants determinism and writes it in three ways. Look at which other switch moves.
# %% [markdown] zh
# ## 🕳️ `flags(deterministic=True)` 顺手把 oneDNN 关了
#
# 第 01 课见过：`flags(...)` 里没写的参数，会被设成函数自己的默认值，而 `enabled` 的默认值是 False。现在有人想要确定性，用了三种写法。看看还有哪个开关跟着动了。
# %%
observe("09-deterministic")
explain("09-trap")
explain("09-deterministic-cpu")
# %% [markdown] en
# ## 🛠️ Switch it off and leave no trace (5 minutes)
#
# `without_onednn(run)` runs `run()` with oneDNN off and gives back its result. One switch moves, nothing else, and it is
# back afterwards: also when `run` raises, also when it was off before.
# %% [markdown] zh
# ## 🛠️ 关掉它，不留痕迹（5 分钟）
#
# `without_onednn(run)` 在 oneDNN 关闭时执行 `run()`，并返回它的结果。只动这一个开关，事后恢复原样：`run` 抛异常时也要恢复，原本就关着时也不例外。
# %%
def without_onednn(run):
    mkldnn.enabled = False
    result = run()
    mkldnn.enabled = True
    return result


check("09-without-onednn")
# en: Next bet. Random numbers: on and off differ in the last bits.
# en: And numbers that need no rounding?
# zh: 再下一注。随机数：开与关末几位不同。那不需要舍入的数呢？
predict("09-bet-bits")
# %%
observe("09-bits")
explain("09-bits-why")
# %% [markdown] en
# 📌 **So far.** “On” only means: it may. The log says whether it did.
#
# 1. Type and size decide at each call; a small single image may stay with PyTorch's own code.
# 2. `mkldnn.deterministic` changes nothing on a CPU; written with `flags(...)` it takes oneDNN away.
# 3. On and off differ by rounding: compare with a tolerance.
# %% [markdown] zh
# 📌 **小结。** “开着”只是允许，算没算，看日志。
#
# 1. 每次调用都看类型和大小；单张小图可能留给 PyTorch 自己的代码。
# 2. `mkldnn.deterministic` 在 CPU 上什么也不改；写进 `flags(...)`，反倒把 oneDNN 关了。
# 3. 开与关只差舍入：比较时给个容差。
# %%
keep("mkldnn.deterministic")
# %% [markdown] en
# ## 🔬 Switched on, and slower? An LSTM that takes one step
#
# “oneDNN makes the CPU fast.” Take an LSTM that hears a voice: one sequence, and the frames arrive one at a time, or many at once. Each call is raced with oneDNN on against off. If your curve starts above 1, the logs below it say why: look at the reorders and their times.
# %% [markdown] zh
# ## 🔬 打开了，反而更慢？只走一步的 LSTM
#
# “oneDNN 让 CPU 变快。”拿一个听语音的 LSTM 来说：只有一条序列，帧要么一次来一帧，要么一次来很多帧。每种调用都让 oneDNN 开与关比一比。如果你的曲线开头在 1 之上，原因就在下面的日志里：看看重排和它们的时间。
# %%
from course.onednn_log import time_in

observe("09-one-step")
lstm = nn.LSTM(128, 256)
for steps in (1, 64):
    sequence = torch.randn(steps, 1, 128)
    lstm(sequence)
    seen = log_of(lambda: lstm(sequence)) or recorded_log(f"lstm {steps}")
    took = (f"{one} {time_in(seen, one):.3f} ms" for one in ("reorder", "rnn"))
    print(f"{steps:2} steps:", *took)
explain("09-step-why")
# %% [markdown] en
# ☕ That was the main line. Older instructions, bfloat16, threads and a duel are *deeper, optional*. Otherwise go on at [[#🕳️ Four myths, then the exit check]].
#
# ### Deeper, optional: the same convolution with older instructions
#
# oneDNN compiles for what the CPU offers ([[isa|instruction sets]]). `ONEDNN_MAX_CPU_ISA` makes it believe in less. It counts only before oneDNN is first used, so each setting is a new process. It is compared with a matrix product that oneDNN does not touch.
# %% [markdown] zh
# ☕ 主线到这儿就讲完了。老指令、bfloat16、线程，还有一场对决，都是**选读**；不看就直接跳到 [[#🕳️ 四个误区，然后下课小测]]。
#
# ### 选读：同一个卷积，换成更老的指令
#
# oneDNN 按 CPU 提供的[[isa|指令集]]来编译。`ONEDNN_MAX_CPU_ISA` 能让它以为 CPU 没那么新。只有在首次使用 oneDNN 之前设才有效，所以每种设置都开一个新进程。比较的对象是一次不归 oneDNN 管的矩阵乘法。
# %%
observe("09-isa-ladder")
explain("09-intel-only")
explain("09-isa-late")
# en: Now hide the bfloat16 instructions, and your CPU becomes an older one.
# zh: 再把 bfloat16 指令藏起来，你的 CPU 就成了老型号。
predict("09-bet-bf16")
# %%
observe("09-bf16")
explain("09-bf16-why")
# %%
# en: And threads: a small and a large convolution, all threads against one.
# en: On a shared machine it may stay undecided.
# zh: 还有线程：一个小卷积，一个大卷积，全部线程对单线程。在共享的机器上，可能无法判定。
observe("09-threads")
explain("09-threads-small")
# %% [markdown] en
# ### Deeper, optional: find a counterexample that is slower with oneDNN (6 minutes)
#
# “On is never slower.” Find a call for which it is. Accepted on evidence: the whole interval of time on / off above 1, **and** lines in the log. The layer below is a bad choice, on purpose. The LSTM is one way; a shape that is always new is another.
# %% [markdown] zh
# ### 选读：找个用了 oneDNN 更慢的反例（6 分钟）
#
# “开着总不会更慢。”找一个反例！凭证据通过：开 / 关 耗时比的整个区间在 1 之上，**而且**日志里有它。下面的层是故意选坏的；LSTM 是一条路，总在变的形状是另一条。
# %%
from course.onednn_log import on_off

layer, x = nn.Conv2d(32, 32, 5, padding=2), torch.randn(4, 32, 20, 20)
call = lambda: layer(x)
losing = {"call": call, "race": on_off(call)}
print(losing["race"])
check("09-make-it-lose")
# %%
# en: Deeper, optional: does oneDNN help your own step? Put your model and input here.
# zh: 选读：oneDNN 对你自己的这一步有用吗？换成你的模型和输入。
try_switches(nn.LSTM(64, 64), torch.randn(32, 4, 64), budget=25,
             only=["oneDNN", "channels_last", "inference_mode"])
# %% [markdown] en
# ## 🕳️ Four myths, then the exit check
#
# | “...” | tempting, because | what speaks against it |
# |---|---|---|
# | MKL-DNN is MKL | the name | a `Linear` without a line |
# | for Intel only | `isa:Intel ...` in the log | it names instructions, not makers |
# | it speeds up RNNs | the library could | lines from the LSTM only |
# | on is never slower | it is the default | one step of a wide LSTM |
#
# Where they hold: large convolutions and long LSTMs gain, if your intervals say so.
# %% [markdown] zh
# ## 🕳️ 四个误区，然后下课小测
#
# | “……” | 为什么诱人 | 反证 |
# |---|---|---|
# | MKL-DNN 就是 MKL | 名字像 | `Linear` 没有日志 |
# | 只给 Intel 用 | 日志里写着 `isa:Intel ...` | 它报的是指令，不是厂商 |
# | 能加速 RNN | 库里确实有 | 只有 LSTM 有日志 |
# | 开着总不会更慢 | 默认就开着 | 宽 LSTM 只走一步 |
#
# 有道理的地方：大卷积、长序列的 LSTM 会受益（看你的区间）。
# %%
review("09-when-off", "09-transfer", "09-medium", "09-log-once", "05-revisit")
# %% [markdown] en
# ## 📌 So, should I switch it off?
#
# | your situation | do this | how you will know |
# |---|---|---|
# | convolutions, a whole LSTM | leave it on | its own log has lines |
# | convolutions in a row | `channels_last` | time of the whole model |
# | an LSTM, one step at a time | measure; perhaps off around that call | the interval against 1 |
# | `Linear` in float32 on x86 | nothing: MKL does it | no line in the log |
# | a processor with AMX or AVX512 for bfloat16 | try `torch.autocast("cpu")` | time, and error against float64 |
# | a container with fewer cores than it sees | `torch.set_num_threads(n)` | time with 1, n/2 and n threads |
#
# <details><summary>Where this comes from</summary>
#
# Recordings on two processors (AMD EPYC and Intel Xeon, two cores each): without oneDNN a Conv2d took 39 % and 31 % longer; three convolutions in channels_last took 26 % less (EPYC). All of it, by machine: `docs/cards.md`. ARM and larger machines: `try_switches(model, x)`.
#
# </details>
# %% [markdown] zh
# ## 📌 那我该不该关？
#
# | 你的情况 | 这么做 | 怎么知道有没有用 |
# |---|---|---|
# | 卷积、整条 LSTM | 开着别动 | 它自己的日志里有这一行 |
# | 一连串卷积 | `channels_last` | 整个模型的耗时 |
# | LSTM 每次只走一步 | 量一量，也许只关那次调用 | 区间在 1 的哪一边 |
# | x86 上 float32 的 `Linear` | 不用管，算的是 MKL | 日志里没有这一行 |
# | 处理器有 AMX 或支持 bfloat16 的 AVX512 | 试试 `torch.autocast("cpu")` | 耗时，以及和 float64 的误差 |
# | 容器分到的核比看到的少 | `torch.set_num_threads(n)` | 用 1、n/2、n 个线程各量一次 |
#
# <details><summary>依据</summary>
#
# 两种处理器上的实测数据（AMD EPYC、Intel Xeon，各两核）：关掉 oneDNN，Conv2d 慢 39% 和 31%；三个卷积换成 channels_last，少花 26%（EPYC）。按机器列出的全部数据：`docs/cards.zh-CN.md`。ARM 和更大的机器：`try_switches(model, x)`。
#
# </details>
# %% [markdown] en
# ## Claims you can now make
#
# - What oneDNN runs here is what leaves a line: on x86, by default, not float32 `Linear`, not GRU, not RNN.
# - It has fixed costs: making once for each problem, reordering at each call. Small calls may lose; the log shows why.
# - On and off differ by rounding. Compare with a tolerance.
# - Switch it off around one call that you have measured, not for a whole program because somebody said so.
#
# A convolution complains: “I asked for one small sum, and they moved all my furniture, twice.” “But look how fast they added,” says oneDNN.
# %% [markdown] zh
# ## 这节课学到了什么
#
# - 留下日志的才是 oneDNN 跑的：x86 上默认不包括 float32 的 `Linear`、GRU 和 RNN。
# - 它有固定成本：每个新配置制作一次，每次调用都要重排。小调用可能会输，原因写在日志里。
# - 开与关只差舍入，比较要用容差。
# - 只对测过的那个调用关掉它，别听人一说就整个程序关掉。
#
# 卷积抱怨：“我就想算个小小的和，结果家具被搬了两趟。”oneDNN 说：“可你看，加得多快啊。”
# %%
finish()
