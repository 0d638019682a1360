# %% [markdown] en
# # What does oneDNN do on my CPU?
#
# **50 minutes.** Before it: lessons 01 and 02 (05 helps). Everything runs live on a CPU with oneDNN in its PyTorch. A
# build without it replays what another machine recorded, experiments and logs.
#
# You will be able to
# - read oneDNN's own log line by line, and say where the time goes,
# - say which calls go to oneDNN, without guessing,
# - find the calls where it costs, and switch it off for just those.
# %% [markdown] zh
# # oneDNN 在我的 CPU 上做什么？
#
# **50 分钟。** 先修：第 01、02 课（学过 05 更好）。只要 PyTorch 带 oneDNN，全部内容都能在 CPU 上实测；不带的话，实验和日志都用别的机器的录制来回放。
#
# 学完之后，你能够：
# - 逐行读懂 oneDNN 自己的日志，说清时间花在哪里；
# - 不靠猜，说出哪些调用走 oneDNN；
# - 找出它帮倒忙的调用，并且只对那些调用关掉它。
# %% bootstrap
# %%
# en: Warm-up: cards from earlier lessons that are due today.
# zh: 热身：今天到期的旧卡片。
review(due=3)
# %% [markdown] en
# ## Switched on, and slower?
#
# "oneDNN makes the CPU fast, and it is on by default." Take an LSTM that hears a voice: one sequence, and the frames
# arrive one at a time, or many at once. We race each call with oneDNN on against off.
# %% [markdown] zh
# ## 打开了，反而更慢？
#
# “oneDNN 让 CPU 变快，而且默认开着。”拿一个听语音的 LSTM 来说：只有一条序列，帧要么一次来一帧，要么一次来很多帧。每种调用都让 oneDNN 开与关比一比。
# %%
observe("09-one-step")
# %% [markdown] en
# ## Keep the question, and meet two libraries
#
# If your curve starts above 1 too: **what does the fast library do once per call, that a single step cannot pay for?**
# Its log will tell. First: whose log?
#
# **MKL** does matrix products, LAPACK, FFT. **MKL-DNN** does layers; it was renamed DNNL, then **oneDNN**. PyTorch's
# module kept the old name. Ask both whether they are here:
# %% [markdown] zh
# ## 记住这个问题，先认识两个库
#
# 如果你的曲线开头也在 1 之上：**这个快库每次调用都要做一件什么事，让单独一步付不起**？日志会告诉我们。不过先问：谁的日志？
#
# **MKL** 做矩阵乘法、LAPACK、FFT。**MKL-DNN** 做网络层，后来改名 DNNL，再改名 **oneDNN**，PyTorch 的模块沿用了旧名。分别问问它们在不在：
# %%
import torch
from torch.backends import mkl, mkldnn

for name, module in {"MKL": mkl, "oneDNN": mkldnn}.items():
    print(f"{name:7}", "in this build:", module.is_available())
print("switches:", mkldnn.enabled, mkldnn.deterministic)
explain("09-names")
# %% [markdown] en
# ## Bet: we switch it off, who notices?
#
# Nine layers, forward, one thread. Same call, oneDNN on and off, in pairs (`course.timing.compare`).
# %% [markdown] zh
# ## 下注：关掉它，谁感觉得到？
#
# 九个层，只跑前向，单线程。同一个调用，oneDNN 一开一关，成对比较（`course.timing.compare`）。
# %%
predict("09-bet-who")
# %%
observe("09-on-off")
explain("09-linear-why")
review("09-rnn-family")
# %% [markdown] en
# ## Ask the library itself
#
# oneDNN's word for one operation, made ready for one shape, is a **primitive**. It writes a line for every primitive it
# runs, if asked: `torch.backends.mkldnn.verbose`, or `ONEDNN_VERBOSE=1` before the start. `log_of` runs a call and reads those lines into a table. The raw ones look like this:
# %% [markdown] zh
# ## 直接问库本身
#
# oneDNN 把“为某个形状准备好的一个算子”叫作 **primitive**（原语）。只要你要求，它每执行一个 primitive 就写一行：用 `torch.backends.mkldnn.verbose`，或启动前设 `ONEDNN_VERBOSE=1`。`log_of` 执行一次调用，把这些行读成表。原始的行长这样：
# %%
from torch import nn
from course.onednn_log import log_of, recorded_log

torch.set_grad_enabled(False)
conv, image = nn.Conv2d(16, 32, 3, padding=1), torch.randn(8, 16, 64, 64)
conv(image)
# en: recorded_log: only where this PyTorch has no oneDNN
# zh: recorded_log：只在这个 PyTorch 不带 oneDNN 时才用
log = log_of(lambda: conv(image)) or recorded_log("conv")
print(*log.raw, sep="\n\n")
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
# Your line may name other instructions, and blocks of 8. `dh0` is a dense kernel. A `reorder` computes nothing: it copies an array into another layout.
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
# 你的那行可能是别的指令，每 8 个一块。`dh0` 是普通（稠密）卷积核。`reorder` 什么都不算，只是把数组拷贝成另一种布局。
# %%
explain("09-read-line")
explain("09-order-lines")
# %% [markdown] en
# ## Where does the logged time go?
#
# The same nine layers, this time through their lines. A layer without a line was computed by somebody else.
# %% [markdown] zh
# ## 日志里的时间花在了哪里？
#
# 还是那九个层，这次看它们的日志。没有日志的层，是别人算的。
# %%
observe("09-where-time")
review("09-share", "09-log-once")
# %% [markdown] en
# ## Worked example, then yours (5 minutes, five blanks)
#
# A raw line is fields with commas: the first two lines show three of them. Now the share of reorders in a report: skip what
# is not an executed line, sum all times, and those of the reorders. An empty report gives 0.0. Stuck?
# `hint("09-reorder-share")`.
# %% [markdown] zh
# ## 先看示范，再自己写（5 分钟，五处空白）
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
# ## The model in one picture
#
# ```
#  your call
#     |   switch on? type, shape fit?  -- no --> PyTorch's own code, MKL, NNPACK
#     |  yes
#  primitive for this problem in the cache? -- no --> compile it (jit), keep it
#     |
#  reorder in  ->  compute on blocks  ->  reorder out
# ```
# Three prices: compiling once per **problem**, reorders at every **call**, computing by **size**. Fixed prices want much to
# compute.
#
# The first price, live: run the next cell **twice**. What will the second time say?
# %% [markdown] zh
# ## 一张图讲清模型
#
# ```
#  你的调用
#     |   开关开着？类型、形状合适？ -- 否 --> PyTorch 原生代码、MKL、NNPACK
#     |  是
#  缓存里有这个问题的 primitive？ -- 否 --> 当场编译（jit）并留存
#     |
#  重排进去  ->  在分块布局上计算  ->  重排出来
# ```
# 三笔账：编译，每个**问题**一次；重排，每次**调用**都有；计算，按**规模**算。固定成本要靠计算量来摊薄。
#
# 第一笔马上就能看：把下面的单元格运行**两遍**。第二遍会怎么说？
# %%
for visit, size in enumerate((33, 47, 33, 47), start=1):
    seen = (log_of(lambda: conv(torch.zeros(8, 16, size, size)), creation=True)
            or recorded_log(f"cache {visit}"))
    print(size, [line.event for line in seen if line.primitive == "convolution"])
explain("09-cache")
# %%
# en: The second price: reorders. How many?
# zh: 第二笔：重排。有几次？
predict("09-bet-reorders")
# %%
observe("09-layouts")
explain("09-channels-last-why")
# %% [markdown] en
# ## A tensor that keeps its blocks
#
# `.to_mkldnn()` hands you a tensor in the library's own layout, so nothing goes back between layers. The price: hardly
# anything else accepts it. The cell asks first, and then fails on purpose.
# %% [markdown] zh
# ## 一直保持分块的张量
#
# `.to_mkldnn()` 给你的张量用的是库自己的布局，层与层之间不必再转回来。代价是：几乎别的什么都不认它。下面的单元格先提问，再故意报错。
# %% tags=raises-exception
review("09-to-mkldnn")
opaque = torch.randn(2, 16, 8, 8).to_mkldnn()
print(opaque.layout, opaque.to_dense().layout)
opaque.numpy()
# %% [markdown] en
# ## On is a permission: who gets the work?
#
# Recap: a line in the log is proof, a switch is not. For convolutions the dispatcher can even be asked directly.
# %% [markdown] zh
# ## 打开只是许可：活儿到底给了谁？
#
# 小结：日志里有一行才是证据，开关不是。对卷积，还可以直接去问分发器。
# %%
predict("09-bet-small")
# %%
observe("09-routes")
explain("09-flag-not-used")
review("09-cudnn-on-cpu")
# %% [markdown] en
# ## Exercise: foresee the route (5 minutes, one line)
#
# For a float32 convolution, stride 1, no dilation, kernel 3 or larger, one of these is enough for oneDNN: more than one
# group; kernel above 3; batch above 1; more than 20480 numbers in the input (batch × channels × height × width).
# %% [markdown] zh
# ## 练习：预言去向（5 分钟，一行）
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
# ## A ladder of instruction sets
#
# oneDNN compiles for what the CPU offers. `ONEDNN_MAX_CPU_ISA` pretends it offers less. It counts only before oneDNN is
# first used, so each rung is a new process. The yardstick is a matrix product that oneDNN does not touch.
# %% [markdown] zh
# ## 指令集的梯子
#
# oneDNN 按 CPU 提供的指令来编译。`ONEDNN_MAX_CPU_ISA` 能假装它提供得少一些，而且只在首次使用 oneDNN 之前设才有效，所以每一级都是新进程。标尺是一次不归 oneDNN 管的矩阵乘法。
# %%
observe("09-isa-ladder")
explain("09-intel-only")
# %%
# en: Same trick: hide the bfloat16 instructions, and your CPU becomes an older one.
# zh: 同样的把戏：把 bfloat16 指令藏起来，你的 CPU 就成了老型号。
predict("09-bet-bf16")
# %%
observe("09-bf16")
explain("09-bf16-why")
# %% [markdown] en
# ## More threads, more speed?
#
# A small and a large convolution, all threads against one, in processes of their own that take turns. On a shared
# machine, expect surprises, and an honest "undecided".
# %% [markdown] zh
# ## 线程越多越快？
#
# 一个小卷积，一个大卷积，全部线程对单线程，各用自己的进程，轮流跑。在共享的机器上，结果可能出人意料，也可能老老实实地“未定”。
# %%
observe("09-threads")
explain("09-threads-small")
# %% [markdown] en
# ## A polite request with a side effect
#
# Lesson 01 met the trap of `flags()`. Here it bites: somebody wants determinism and writes it in three ways.
# %% [markdown] zh
# ## 有副作用的礼貌请求
#
# 第 01 课见过 `flags()` 的陷阱，在这里它真会咬人：有人想要确定性，用了三种写法。
# %%
observe("09-deterministic")
explain("09-trap")
explain("09-deterministic-cpu")
# %% [markdown] en
# ## Exercise: switch it off and leave no trace (5 minutes)
#
# `without_onednn(run)` runs `run()` with oneDNN off and gives back its result. One switch moves, nothing else, and it is
# back afterwards: also when `run` raises, also when it was off before.
# %% [markdown] zh
# ## 练习：关掉它，不留痕迹（5 分钟）
#
# `without_onednn(run)` 在 oneDNN 关闭时执行 `run()`，并返回它的结果。只动这一个开关，事后恢复原样：`run` 抛异常时也要恢复，原本就关着时也不例外。
# %%
def without_onednn(run):
    mkldnn.enabled = False
    result = run()
    mkldnn.enabled = True
    return result


check("09-without-onednn")
# %% [markdown] en
# ## Bet: do both ways give the same numbers?
#
# With random numbers they usually do not, in the last bits. Is one of them wrong? A control experiment: numbers that cannot be
# rounded.
# %% [markdown] zh
# ## 下注：两条路算出来的数一样吗？
#
# 用随机数时，末几位通常不一样。是其中一个错了吗？做个对照实验：换成不会被舍入的数。
# %%
predict("09-bet-bits")
# %%
observe("09-bits")
explain("09-bits-why")
# %% [markdown] en
# ## Back to the mystery: one step
#
# You can read logs now. Here are both calls. Look at the formats of the reorders, and at their times.
# %% [markdown] zh
# ## 回到开头的谜：只走一步
#
# 现在你会读日志了。两种调用都在这里，看看重排的格式和时间。
# %%
from IPython.display import display
from course.onednn_log import time_in

lstm = nn.LSTM(128, 256)
for steps in (1, 64):
    sequence = torch.randn(steps, 1, 128)
    lstm(sequence)
    seen = log_of(lambda: lstm(sequence)) or recorded_log(f"lstm {steps}")
    print(steps, {name: round(time_in(seen, name), 3) for name in ("reorder", "rnn")}, "ms")
    display(seen)
explain("09-step-why")
# %% [markdown] en
# ## Make it lose
#
# "On is never slower." Find a call for which it is. Accepted on evidence: the whole interval of time on / off above 1,
# **and** lines in the log. The layer below is a bad choice, on purpose; the LSTM is one road, a shape that is always new
# another.
# %% [markdown] zh
# ## 让它输
#
# “开着总不会更慢。”找一个反例。凭证据通过：开 / 关 耗时比的整个区间在 1 之上，**而且**日志里有它。下面的层是故意选坏的；LSTM 是一条路，总在变的形状是另一条。
# %%
from course.onednn_log import on_off

layer, x = nn.Conv2d(32, 32, 5, padding=2), torch.randn(4, 32, 20, 20)
call = lambda: layer(x)
losing = {"call": call, "race": on_off(call)}
print(losing["race"])
check("09-make-it-lose")
# %% [markdown] en
# ## Four myths, and what you measured
#
# | "..." | tempting, because | what speaks against it |
# |---|---|---|
# | MKL-DNN is MKL | the name | a `Linear` without a line |
# | for Intel only | `isa:Intel ...` | the ladder climbs instructions, not makers |
# | it speeds up RNNs | the library could | lines from the LSTM only |
# | bfloat16 is faster | half the bytes | the hidden instructions |
#
# Where they hold: large convolutions and long LSTMs gain, if your intervals say so, and bfloat16 does where the CPU
# has it.
# %% [markdown] zh
# ## 四个误区，和你的测量
#
# | “……” | 为什么诱人 | 反证 |
# |---|---|---|
# | MKL-DNN 就是 MKL | 名字像 | `Linear` 没有日志 |
# | 只给 Intel 用 | `isa:Intel ...` | 梯子爬的是指令，不是厂商 |
# | 能加速 RNN | 库里确实有 | 只有 LSTM 有日志 |
# | bfloat16 更快 | 字节减半 | 藏起指令后的区间 |
#
# 有道理的地方：大卷积、长序列的 LSTM 会受益（看你的区间）；CPU 有 bfloat16 指令时它也确实快。
# %%
# en: Exit check: five cards, one of them an old friend.
# zh: 下课小测：五张卡片，其中一张是老朋友。
explain("09-when-off")
explain("09-transfer")
explain("09-medium")
explain("09-isa-late")
explain("05-revisit")
# %% [markdown] en
# ## Claims you can now make
#
# - What oneDNN runs here is what leaves a line: on x86, by default, not float32 `Linear`, not GRU, not RNN.
# - It has fixed prices: compile per problem, reorder per call. Small calls may lose; the log shows why.
# - Instructions count, not the maker; a number type without instructions is emulated.
# - On and off differ by rounding. Compare with a tolerance.
# - Switch it off around one measured call, not for a whole program on hearsay.
#
# Your own numbers stand in the figures above. And a joke to take along. A convolution complains: "I asked for one small
# sum, and they moved all my furniture, twice." "But look how fast they added," says oneDNN.
# %% [markdown] zh
# ## 现在你可以这样说
#
# - 留下日志的才是 oneDNN 跑的：x86 上默认不包括 float32 的 `Linear`、GRU 和 RNN。
# - 它有固定成本：每个问题编译一次，每次调用重排。小调用可能会输，原因写在日志里。
# - 重要的是指令，不是厂商；没有指令支持的类型只能模拟。
# - 开与关只差舍入，比较要用容差。
# - 只对测过的那个调用关掉它，别听人一说就整个程序关掉。
#
# 你自己的数字都在上面的图里。再送一个笑话。卷积抱怨：“我就想算个小小的和，结果家具被搬了两趟。”oneDNN 说：“可你看，加得多快啊。”
# %%
finish()
