# %% [markdown] en
# # What else is in the fuse box?
#
# ⏱️ 40 minutes; the *deeper, optional* parts take another 20. Before it: lessons 01 and 02; 06, 09 and 13 help. Live on a CPU; what needs the package opt_einsum, a C++ compiler or two cores shows its recording where they are missing.
#
# 🎯 Afterwards you can
# - say at which moment a switch is read: call, packing, compiling, start of a thread, start of the program;
# - find out who computed, whatever the switch says;
# - decide which of these switches deserve a measurement.
# %% [markdown] zh
# # 配电箱里还有哪些开关？
#
# ⏱️ 40 分钟；**选读**部分再加 20 分钟。先修：第 01、02 课；学过 06、09、13 更好。都能在 CPU 上实测；需要 opt_einsum 包、C++ 编译器或两个核的，本机没有就看录好的结果。
#
# 🎯 学完之后，你能：
# - 说出开关在哪个时刻被读：调用时、打包时、编译时、线程启动时、程序启动时；
# - 不管开关怎么说，都能查出到底是谁在算；
# - 判断这些开关里，哪些值得测一测。
# %% bootstrap
# %% [markdown] en
# ## 🎯 What is this lesson for?
#
# You know the big switches of `torch.backends`. There are more: the start script you inherited exports ten variables that nobody dares to delete. Today you ask seven of them: **when is it read?** Moved after that moment, a switch does nothing, and says nothing.
#
# It is like the fuse box of a house. Some switches act at once. One only counted when the walls were built. A warm-up first.
# %% [markdown] zh
# ## 🎯 这一课是干什么用的？
#
# `torch.backends` 的几个大开关你已经认识了。剩下的还有不少：接手的启动脚本里一长串 `export`，没人敢删。今天见七个，对每个都问同一句：**它是什么时候被读的？** 过了那一刻再拨，什么也不会发生，也没有任何提示。
#
# 这就像家里的配电箱：有的开关一拨就灵，有的只在砌墙的时候算数。
#
# 先热个身。
# %%
# en: First the cards of earlier lessons that are due today, then today's warm-up.
# zh: 先是今天到期的旧卡片，再是今天的热身题。
review(due=3)
explain("16-when-is-it-read")
# %% [markdown] en
# ## 🔬 einsum: the same product, in which order?
#
# [[einsum]] writes a product of several tensors in one line. With three or more there is a choice: which two are multiplied first? The result is the same up to rounding, the work is not.
#
# With the package opt_einsum, PyTorch searches for a cheaper order before it multiplies. The switch is `torch.backends.opt_einsum.enabled`; without the package the order is left to right.
# %% [markdown] zh
# ## 🔬 einsum：同一个乘积，先乘哪两个？
#
# [[einsum]] 用一行写出好几个张量的乘积。有三个或更多时，就有得选了：先乘哪两个？结果只差舍入，活儿可差远了。
#
# 装了 opt_einsum 这个包，PyTorch 在相乘之前会先找一个更省的顺序，开关是 `torch.backends.opt_einsum.enabled`；没装的话就从左到右。
# %%
import torch
from time import perf_counter

A, B, v = torch.randn(800, 800), torch.randn(800, 800), torch.randn(800)
for order in (lambda: (A @ B) @ v, lambda: A @ (B @ v)):
    order()
    start = perf_counter()
    order()
    print(f"{(perf_counter() - start) * 1e3:8.2f} ms")
print("opt_einsum installed:", torch.backends.opt_einsum.is_available())
explain("16-count-orders")
# en: So a search for the order is a good thing. For three tiny matrices, too?
# zh: 看来找个好顺序是好事。那三个很小的矩阵呢？
predict("16-bet-tiny")
# %%
observe("16-einsum")
# %%
# en: And the search itself: what does it cost for eight small matrices?
# zh: 那么，八个小矩阵，光找顺序要花多少？
observe("16-search-price")
explain("16-optimal-why")
# %% [markdown] en
# ## 🛠️ Worked example, then yours (5 minutes, about 5 lines)
#
# An m×n matrix times an n×p matrix takes m · n · p multiplications and gives an m×p matrix. So `(A @ B) @ v` with n×n matrices takes n · n · n + n · n, and `A @ (B @ v)` only 2 · n · n.
#
# Now for three matrices A (a×b), B (b×c), C (c×d): `best_order(a, b, c, d)` gives `("left", count)` if `(A @ B) @ C` is cheaper, else `("right", count)`. Equally many: `"left"`. Stuck? `hint("16-best-order")`.
# %% [markdown] zh
# ## 🛠️ 先看示范，再自己写（5 分钟，约 5 行）
#
# m×n 的矩阵乘 n×p 的矩阵，要 m · n · p 次乘法，得到 m×p 的矩阵。所以对 n×n 的矩阵，`(A @ B) @ v` 要 n · n · n + n · n 次，而 `A @ (B @ v)` 只要 2 · n · n 次。
#
# 现在换成三个矩阵 A（a×b）、B（b×c）、C（c×d）：`(A @ B) @ C` 更省时，`best_order(a, b, c, d)` 返回 `("left", 次数)`，否则返回 `("right", 次数)`；一样多时选 `"left"`。卡住了就运行 `hint("16-best-order")`。
# %%
def best_order(a: int, b: int, c: int, d: int) -> tuple[str, int]:
    # en: for example best_order(2, 3, 4, 1) -> ("right", 18)
    # zh: 例如 best_order(2, 3, 4, 1) -> ("right", 18)
    raise NotImplementedError


check("16-best-order")
# %% [markdown] en
# ## 🕳️ A block that does nothing
#
# There are two ways to move this switch: an assignment, and `with torch.backends.opt_einsum.flags(enabled=...)`. Each works. But what if a script uses both? Five steps in a new process, and each time we look whether einsum really searched.
# %% [markdown] zh
# ## 🕳️ 一个不起作用的 with 块
#
# 这个开关有两种拨法：直接赋值，或者 `with torch.backends.opt_einsum.flags(enabled=...)`。单用哪种都行。要是一份脚本里两种都有呢？在新进程里拨五步，每一步都看 einsum 是不是真去找了顺序。
# %%
observe("16-flags-trap")
explain("16-block-why")
keep("opt_einsum.enabled")
# %% [markdown] en
# 📌 **So far.** A switch called “optimal” can slow you down.
#
# 1. The order of an einsum can change its work by a factor of hundreds; nothing of the search is kept between calls.
# 2. For tiny operands the search costs more than the work. You know a good order? Write two einsums of two operands.
# 3. Assign `enabled`, or use the block. Not both.
# %% [markdown] zh
# 📌 **小结。** 名字叫 optimal 的开关，也会拖后腿。
#
# 1. einsum 的顺序不同，活儿能差几百倍；找到的顺序用完即扔。
# 2. 操作数很小时，找比算还贵。知道好顺序的话，就写成两个双操作数的 einsum。
# 3. 要么赋值，要么用 with 块，别混着用。
# %% [markdown] en
# ## 🔬 int8: four engines, one switch
#
# [[quantization|Quantization]] stores a weight as a whole number of 8 bits and a scale. Before such a weight is used, a library copies it into a layout of its own; this is called [[packing]]. `torch.backends.quantized.engine` names the library: x86, fbgemm, onednn or qnnpack (made for phones).
#
# First a look at the numbers. Then the bet: who computes, if the switch moves after the packing?
# %% [markdown] zh
# ## 🔬 int8：四个引擎，一个开关
#
# [[quantization|量化]]把权重存成 8 位整数，再配一个比例。这样的权重在使用之前，要由某个库复制成它自己的布局，这一步叫[[packing|打包]]。`torch.backends.quantized.engine` 说的就是用哪个库：x86、fbgemm、onednn，或者给手机准备的 qnnpack。
#
# 先看看数变成了什么样，再下注：打完包才拨开关，谁在算？
# %%
import warnings

# en: torch 2.13 warns: quantized tensors will be removed some day.
# en: Models in service still use them.
# zh: torch 2.13 会警告：量化张量将来会移除。线上的模型还在用。
warnings.filterwarnings("ignore", message=".*quantize_per")
w = torch.tensor([-1.0, -0.33, 0.0, 0.5, 1.27])
small = torch.quantize_per_tensor(w, scale=0.01, zero_point=0, dtype=torch.qint8)
print("stored:", small.int_repr().tolist(), "| read back:", small.dequantize())
quantized = torch.backends.quantized
print("engine:", quantized.engine, "of", quantized.supported_engines)
predict("16-bet-packed")
# %%
observe(["16-engines", "16-packed"])
# %%
explain("16-slow-int8")
# en: Next bet. Whole numbers need no rounding. So is an int8 sum right on every CPU?
# zh: 再下一注。整数不用舍入。那 int8 的和，在哪颗 CPU 上都对吗？
predict("16-bet-old-cpu")
# %%
observe("16-half-answer")
explain("16-seven-bits")
# %% [markdown] en
# ## 💡 Whole numbers are exact, as long as they fit
#
# Newer processors have an instruction called VNNI ([[isa|instruction sets]]), which adds int8 products in 32 bits. Older ones add two products in 16 bits first, and 16 bits end at 32,767. What is above is cut off: the sum [[saturation|saturates]]. An environment variable held the library to the older way, in a new process; on a processor without VNNI it is the only way.
# %% [markdown] zh
# ## 💡 整数没有误差，前提是放得下
#
# 新一点的处理器有一条叫 VNNI 的指令（[[isa|指令集]]），用 32 位来加 int8 的乘积。老的先用 16 位把两个乘积加起来，而 16 位最多到 32,767，超出的部分被削掉：和就[[saturation|饱和]]了。刚才是在新进程里用环境变量让库只走老路；没有 VNNI 的处理器，本来就只有这条路。
# %% [markdown] en
# ## 🛠️ Add like the old instruction (5 minutes, about 5 lines)
#
# `dot_in_16_bits(inputs, weights)` computes what came out as half an answer: multiply; add up in pairs (first and second, third and fourth, ...), each pair cut off at −32768 and 32767; add the pairs exactly. A last number without a partner is a pair of its own.
# %% [markdown] zh
# ## 🛠️ 像老指令那样求和（5 分钟，约 5 行）
#
# `dot_in_16_bits(inputs, weights)` 要算出刚才那“一半的结果”：先相乘；再两两相加（第一、二个，第三、四个……），每对削到 −32768 和 32767 之间；最后把各对准确地加起来。落单的最后一个自成一对。
# %%
def dot_in_16_bits(inputs: list[int], weights: list[int]) -> int:
    # en: for example dot_in_16_bits([255, 255, 1, 1], [127, 127, 2, 3]) -> 32772
    # zh: 例如 dot_in_16_bits([255, 255, 1, 1], [127, 127, 2, 3]) -> 32772
    raise NotImplementedError


check("16-sixteen-bits")
keep("quantized.engine")
# %% [markdown] en
# 📌 **So far.** int8 is not always faster.
#
# 1. The engine is read while packing. The engine that packed a weight computes with it.
# 2. int8 can be slower than float32: look at the engine, then measure.
# 3. On older instructions sums of full 8-bit inputs saturate in silence. 7 bits (`reduce_range=True`) cure it.
# %% [markdown] zh
# 📌 **小结。** int8 不一定更快。
#
# 1. 引擎在打包时读。谁打的包，就由谁来算。
# 2. int8 可能比 float32 还慢：先看引擎，再测。
# 3. 在老指令上，满 8 位输入的和会悄悄饱和。用 7 位（`reduce_range=True`）就好了。
# %% [markdown] en
# ## 🎲 A “global” switch with an owner
#
# Very small numbers, in float32 those below about 1.2e-38, are [[denormal|denormal]]. Some processors are slow with them, so there is a switch that turns them into zero: `torch.set_flush_denormal(True)`. The cell shows it on a single number.
#
# The bet is about a large tensor, which PyTorch cuts into parts for its [[threads]].
# %% [markdown] zh
# ## 🎲 有主人的“全局”开关
#
# 特别小的数（float32 里小于约 1.2e-38 的）叫[[denormal|次正规数]]。有的处理器碰到它们会变慢，所以有个开关把它们变成零：`torch.set_flush_denormal(True)`。下面先拿一个数看看。
#
# 赌的是一个大张量：PyTorch 会把它切开，分给几个[[threads|线程]]。
# %%
tiny = torch.tensor(1e-30)
for flush in (True, False):
    can = torch.set_flush_denormal(flush)
    print(f"flush: {flush} | 1e-30 * 1e-9 = {tiny * 1e-9:.1e} | this CPU can: {can}")
predict("16-bet-flush")
# %%
observe("16-flushed")
explain("16-flush-when")
# %% [markdown] en
# ## 🎲 Frozen: the weights are part of the code
#
# `torch.compile` can make constants of the weights, so that they are packed once and for all. This is called [[freezing]], and it is off by default. It is made for services whose model stays as it is.
#
# And if new weights arrive after all? Below a small model is compiled twice, without and with freezing. Then one thing after the other is changed.
# %% [markdown] zh
# ## 🎲 冻结：权重成了代码的一部分
#
# `torch.compile` 可以把权重变成常量，这样打一次包就够了。这叫[[freezing|冻结]]，默认关着，是给模型不再变动的服务准备的。
#
# 可万一又来了新权重呢？下面把一个小模型编译两遍，一遍不冻结，一遍冻结，然后一样一样地改。
# %%
predict("16-bet-frozen")
# %%
observe("16-frozen")
explain("16-freeze-serve")
# %% [markdown] en
# 📌 **So far.** “Global” can mean: one thread only.
#
# 1. `set_flush_denormal` holds for one thread. Set it in the first line; threads that start later inherit it.
# 2. A frozen model keeps its packed weights. New weights need a new compilation.
# 3. Frozen code does not read `mkldnn.enabled` either: lesson 13's “read at each call” ends here.
# %% [markdown] zh
# 📌 **小结。** 叫“全局”的，可能只管一个线程。
#
# 1. `set_flush_denormal` 只管一个线程。写在第一行，后来启动的线程会继承。
# 2. 冻结的模型留着打过包的权重。换权重就得重新编译。
# 3. 冻结的代码也不读 `mkldnn.enabled`：第 13 课说的“每次调用都读”，到这儿就不成立了。
# %%
keep("torch.flush_denormal", "inductor.freezing")
# %% [markdown] en
# ## 🎲 Attention on a CPU: an order, a list, a switch
#
# Lesson 13: attention ([[sdpa|SDPA]]) has several [[kernel|kernels]], and `sdpa_kernel([...])` lists those allowed. With `set_priority=True` the list is also an order: try the first, then the second. And `torch.backends.cuda.enable_flash_sdp(False)` forbids flash, on a GPU, says its name.
#
# What does a CPU make of the two?
# %% [markdown] zh
# ## 🎲 CPU 上的注意力：次序、名单和开关
#
# 第 13 课讲过：注意力（[[sdpa|SDPA]]）有好几个 [[kernel]]，`sdpa_kernel([...])` 列出允许用的。加上 `set_priority=True`，名单还成了次序：先试第一个，再试第二个。而 `torch.backends.cuda.enable_flash_sdp(False)` 禁掉 flash，看名字是给 GPU 的。
#
# 到了 CPU 上，这两样各会怎样？
# %%
predict("16-bet-order")
# %%
observe("16-cpu-order")
explain("16-read-back")
# %% [markdown] en
# ## 🎲 Two threads and a busy neighbour
#
# A server has two cores, and another program uses one of them. You may give your convolution one thread or two. We look at two numbers: the typical call (the median), and the slowest of a hundred (the [[percentile|99th percentile]]). A service that promises an answer in time lives by the second one.
# %% [markdown] zh
# ## 🎲 两个线程和一个忙邻居
#
# 服务器有两个核，其中一个被别的程序占着。你的卷积可以用一个线程，也可以用两个。看两个数：平常的一次（中位数），和一百次里最慢的一次（[[percentile|第 99 百分位]]）。承诺限时回答的服务，靠的是后者。
# %%
predict("16-bet-neighbour")
# %%
observe("16-two-threads")
explain("16-tail-why")
# %% [markdown] en
# ## 🔬 The same seed, another machine
#
# PyTorch has its own CPU code in several versions, one for each [[isa|instruction set]], and chooses once, at the start. `ATEN_CPU_CAPABILITY` (values in small letters) makes it believe in an older processor. Does a seed then still give the same numbers?
# %% [markdown] zh
# ## 🔬 种子一样，机器不一样
#
# PyTorch 自己的 CPU 代码有好几个版本，每种[[isa|指令集]]一个，启动时选定一次。`ATEN_CPU_CAPABILITY`（值要小写）能让它以为处理器是老型号。这时候，同样的种子还会给出同样的数吗？
# %%
observe("16-older-bits")
explain("16-same-seed")
# %% [markdown] en
# ## 🔬 The drawer with the GPU sticker
#
# Four more switches wait for an NVIDIA GPU: which library does linear algebra, which one multiplies, how many FFT plans are kept, and whether fp16 products may be summed in fp16. With such a GPU the cell measures all four. Without one it tells what others reported. Read each report twice: what does it show, and what **not**?
# %% [markdown] zh
# ## 🔬 贴着 GPU 标签的抽屉
#
# 还有四个开关是给 NVIDIA GPU 的：线性代数用哪个库、矩阵乘用哪个库、留多少个 FFT 计划、fp16 的乘积能不能用 fp16 累加。有这样的 GPU，下一格就都测一遍；没有的话，就讲别人报告过的结果。每份报告读两遍：它说明了什么，又**没有**说明什么？
# %%
observe("16-drawer-cuda")
explain("16-magma")
# %% [markdown] en
# 📌 **So far.** The same seed, another CPU: perhaps other random numbers.
#
# 1. On a CPU the order of attention's kernels is noted and not followed; the switch named cuda is obeyed.
# 2. The median does not show the slow calls. A promise about them is measured by them.
# 3. Beside a seed belong the versions, the threads **and the instruction set**.
# %% [markdown] zh
# 📌 **小结。** 种子一样，换颗 CPU，随机数也可能变。
#
# 1. 在 CPU 上，注意力的次序只是记下来，没人照办；名字带 cuda 的开关却管用。
# 2. 中位数看不见慢的调用。承诺的是它们，就得测它们。
# 3. 种子旁边要写清版本、线程数，**还有指令集**。
# %%
keep("sdpa.priority", "cpu.server", "cuda.libraries")
# %% [markdown] en
# ☕ That was the main line. Two exercises and a launcher that starts nothing are *deeper, optional*. Otherwise go on at [[#🕳️ Five myths, then the exit check]].
#
# ### Deeper, optional: 🛠️ who flushes? (5 minutes, about 8 lines)
#
# `share_kept(events, threads)`: which share of a tensor of denormal numbers survives a multiplication? `events` tells what happened before it, in order: `"set"` and `"unset"` by the calling thread, `"threads"` when the other threads start. The tensor has `threads` equal parts, one for the caller. Without `"threads"` the others start at the multiplication.
# %% [markdown] zh
# ☕ 主线到这儿就讲完了。两道练习，外加一个什么也不启动的启动器，都是**选读**；不看就直接跳到 [[#🕳️ 五个误区，然后下课小测]]。
#
# ### 选读：🛠️ 谁会清零？（5 分钟，约 8 行）
#
# `share_kept(events, threads)`：装满次正规数的张量做一次乘法，有多大比例留下来？`events` 按先后列出之前发生的事：调用的线程 `"set"` 或 `"unset"`，其他线程启动时是 `"threads"`。张量平均分成 `threads` 份，调用者拿一份。没有 `"threads"` 的话，其他线程在乘法时才启动。
# %%
def share_kept(events: list[str], threads: int) -> float:
    # en: for example share_kept(["threads", "set"], 2) -> 0.5
    # zh: 例如 share_kept(["threads", "set"], 2) -> 0.5
    raise NotImplementedError


check("16-share-kept")
# %% [markdown] en
# ### Deeper, optional: find a counterexample that is slower in int8, and a launcher
#
# “int8 is faster with the right engine.” Find a layer for which it is not: accepted when the whole interval of time int8 / float32 lies above 1. The first try below is a large one.
#
# Then `torch.backends.xeon.run_cpu`, which starts a script several times and gives each copy its own cores. How often did the script run?
# %% [markdown] zh
# ### 选读：找个用了 int8 更慢的反例，再看一个启动器
#
# “引擎选对了，int8 就更快。”找一个反例：int8 / float32 耗时比的整个区间在 1 之上，就算通过。下面先试的是个大层。
#
# 然后看 `torch.backends.xeon.run_cpu`：它把脚本启动好几份，每份分到自己的核。脚本到底跑了几次？
# %%
from course.lessons.l16_rest.int8_race import int8_race

race = int8_race(64, 256, 256)
losing = {"race": race}
print(race)
check("16-make-it-lose")
observe("16-launcher")
explain("16-exit-code")
# %% [markdown] en
# ## 🕳️ Five myths, then the exit check
#
# | “...” | tempting, because | what speaks against it |
# |---|---|---|
# | an optimiser only helps | it is called optimal | three tiny matrices |
# | the switch decides when it runs | most do | who packed it |
# | whole numbers are exact | on paper | half an answer |
# | a global switch is global | the name | half a tensor |
# | compiling changes the speed only | it mostly does | old and new weights, mixed |
#
# Where they hold: large einsums gain, and an ordinary compiled model does follow its weights.
# %% [markdown] zh
# ## 🕳️ 五个误区，然后下课小测
#
# | “……” | 为什么诱人 | 反证 |
# |---|---|---|
# | 优化器只会帮忙 | 名字就叫 optimal | 三个小矩阵 |
# | 运行时开关说了算 | 多数开关如此 | 谁打的包 |
# | 整数没有误差 | 纸上如此 | 一半的结果 |
# | 全局开关就是全局的 | 看名字 | 半个张量 |
# | 编译只影响速度 | 多半如此 | 新旧权重混在一起 |
#
# 也有成立的时候：大的 einsum 确实受益；普通编译的模型也确实跟着权重走。
# %%
review("16-moments", "16-one-witness", "16-path-kept",
       "13-make-it-count", "09-isa-late")
# %% [markdown] en
# ## Claims you can now make
#
# - I know five moments at which a switch is read: call, packing, compiling, start of a thread, start of the program.
# - I look at bits, kernels and counts, because those cannot be set.
# - A switch with “optimal” or “global” in its name gets a measurement like any other.
#
# An electrician asks: “Why is this fuse labelled ‘does nothing’?” “We tried it out. We switched it off last year, and nothing happened.” “And what does it belong to?” “The fire alarm.”
# %% [markdown] zh
# ## 这节课学到了什么
#
# - 我知道开关被读的五个时刻：调用、打包、编译、线程启动、程序启动。
# - 我看的是位、kernel 和次数，因为这些谁也设置不了。
# - 名字里带“最优”“全局”的开关，也和别的一样，先测再信。
#
# 电工问：“这个开关怎么贴着‘没用’？”“试过的，去年关了它，什么事也没有。”“那它管的是什么？”“火警。”
# %%
finish()
