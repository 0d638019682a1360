# %% [markdown] en
# # Who turned my float32 into TF32?
#
# **45 minutes.** Before it: lessons 01 and 02. You will be able to say which switch allows TF32 for which work, what it
# costs in digits, and to name the computations that it ruins and those that do not notice.
#
# Live on any machine: the rounding, simulated exactly, and the switches themselves. Speed and kernels need an NVIDIA
# GPU; without one you see a recording, or what others have published, marked as reported.
# %% [markdown] zh
# # 谁把我的 float32 变成了 TF32？
#
# **45 分钟。** 先修：第 01、02 课。学完之后，你能说出哪个开关允许哪种计算用 TF32、代价是几位精度，还能指出哪些计算会被它毁掉，哪些毫无感觉。
#
# 任何机器都能实测的：舍入（精确模拟）和开关本身。速度与 kernel 需要 NVIDIA GPU；没有的话，你会看到回放，或者别人公布的结果（会注明“他人报告”）。
# %% bootstrap
# %% [markdown] en
# ## Warm up with what is due
# %% [markdown] zh
# ## 先复习到期的卡片
# %%
review(due=3)
# %% [markdown] en
# ## The same points, the same formula, another origin
#
# NVIDIA GPUs from Ampere (2020) on can multiply float32 numbers faster if some of their digits may be dropped: that is **TF32**.
# “It keeps three digits, and a neural network needs no more.” Often true. Here are 300 points that look for their
# nearest neighbour by one matrix product, with its inputs rounded as TF32 would. Then the whole cloud moves away from
# the origin, and nothing else changes.
# %% [markdown] zh
# ## 同样的点，同样的公式，换个原点
#
# 从 Ampere（2020 年）起，NVIDIA GPU 只要允许丢掉几位数字，就能更快地做 float32 乘法，这就是 **TF32**。“它保留三位有效数字，神经网络够用了。”多数时候没错。这里有 300 个点，用一次矩阵乘寻找各自的最近邻，输入按 TF32 的方式舍入。然后整团点云平移，离开原点，别的都不变。
# %%
observe("07-neighbours")
# %% [markdown] en
# ## What a number is made of
#
# If one line fell off a cliff and the others did not, somebody threw away digits that one place needed and the other
# did not. Which digits? Look at a number from inside; then put in one of yours.
# %% [markdown] zh
# ## 一个数是由什么组成的
#
# 如果图上有的线跌下悬崖，有的没有，那就是有人丢掉了几位数字，这里需要，那里不需要。丢的是哪几位？从里面看看一个数，再换成你自己的数。
# %%
from course.figures.bits import show_bits

show_bits(1000.7)
# %%
explain("07-dtype")
explain("07-formats")
# %% [markdown] en
# ## TF32 touches the inputs, not the sums
#
# PyTorch's documentation says it in one sentence: TF32 works by “rounding input data to have 10 bits of mantissa, and
# accumulating results with FP32 precision, maintaining FP32 dynamic range”.
# ```text
#  float32 in memory          float32 in memory
#        |                          ^
#  keep 10 bits -----> multiply ---> add up
#                      (exact)      (float32)
# ```
# So a CPU can play TF32: round the inputs, multiply in float32. That is what this lesson does. Does a GPU really round,
# or cut the bits off? Near the end you decide that, without a GPU.
# %% [markdown] zh
# ## TF32 动的是输入，不是累加
#
# PyTorch 文档说得很清楚：TF32 把输入舍入到 10 位尾数，用 FP32 精度累加，并保持 FP32 的动态范围。
# ```text
#  内存里的 float32            内存里的 float32
#        |                          ^
#   留下 10 位 ------> 相乘 ------> 累加
#                    （精确）     （float32）
# ```
# 所以 CPU 也能扮演 TF32：先舍入输入，再用 float32 相乘。本课就是这么做的。GPU 丢位时到底是舍入，还是直接截断？快结束时由你来判定，不需要 GPU。
# %%
import torch
from course.rounding import product, relative_error

a, b = torch.randn(64, 256), torch.randn(256, 64)
exact = a.double() @ b.double()
for name in ("float32", "tf32", "bfloat16"):
    print(name, f"{relative_error(product(a, b, name), exact):.1e}")
explain("07-exact-products")
# %% [markdown] en
# ## Worked example: 1000.7 by hand
#
# Split the number into fraction and exponent, keep 11 bits of the fraction (10 are stored, one stands in front), put it
# together again. Only the fraction is touched.
# %% [markdown] zh
# ## 示范：手算 1000.7
#
# 把数拆成尾数和指数，尾数保留 11 位（存 10 位，前面还有 1 位不存），再拼回去。动的只有尾数。
# %%
import math

fraction, exponent = math.frexp(1000.7)
whole = round(fraction * 2 ** 11)
print(fraction, exponent, whole, math.ldexp(whole, exponent - 11))
explain("07-spacing")
# %% [markdown] en
# ## Exercise: the same for any number of bits (5 minutes, 2 blanks)
#
# Fill the two `...`. Done when `check` agrees; stuck? `hint("07-round-to")`, three steps deep.
# %% [markdown] zh
# ## 练习：推广到任意位数（5 分钟，填 2 个空）
#
# 填上两个 `...`。`check` 通过即完成；卡住了就运行 `hint("07-round-to")`，共三级提示。
# %%
def round_to(x: float, bits: int) -> float:
    fraction, exponent = math.frexp(x)
    # en: how many bits of the fraction stay, the one in front included?
    # zh: 尾数要保留几位（连同前面不存的那一位）？
    whole = round(fraction * 2 ** ...)
    return math.ldexp(whole, exponent - ...)


check("07-round-to")
# %% [markdown] en
# ## A thousand times longer
#
# A wide layer sums thousands of rounded terms. Surely the error piles up? Bet before you look.
# %% [markdown] zh
# ## 长一千倍
#
# 一个宽层要把成千上万个舍入过的项加起来，误差总该越堆越多吧？先下注，再看结果。
# %%
predict("07-bet-k")
# %%
observe("07-error-vs-k")
explain("07-why-relative")
# %% [markdown] en
# ## Why the sums are left alone
#
# What if somebody saved on the adder as well? The smallest example there is: a counter.
# %% [markdown] zh
# ## 累加为什么碰不得
#
# 要是有人连加法器也想省呢？最小的例子：一个计数器。
# %%
predict("07-bet-counter")
# %%
observe("07-counter")
explain("07-bf16-reduction")
# %% [markdown] en
# ## So far, and who did it?
#
# - TF32: the reach of float32, the digits of float16, no dtype. ✂️
# - Only inputs lose bits. Sums stay float32, else counting stops.
# - For random inputs the relative error does not care about length.
#
# A float walks into a GPU with 23 bits and comes out with 23. “Lost anything?” “How would I know? They gave me zeros
# for change.”
#
# Now the whodunit. Nobody in your script wrote TF32. Who may use it?
# %% [markdown] zh
# ## 小结，然后：是谁干的？
#
# - TF32：float32 的范围，float16 的位数，不是 dtype。✂️
# - 丢位的只有输入。累加仍是 float32，否则连数数都会停。
# - 随机输入时，相对误差与求和长度无关。
#
# 一个 float 带着 23 位走进 GPU，出来还是 23 位。“丢东西没有？”“不好说，找零全是 0。”
#
# 现在开始破案。你的脚本里没人写过 TF32。那么谁可以用它？
# %%
predict("07-bet-default")
# %%
observe("07-tree")
# %% [markdown] en
# ## A family tree with stubborn children
#
# ```text
# torch.backends.fp32_precision                     root
#   +- cudnn.fp32_precision                         branch
#   |    +- cudnn.conv  cudnn.rnn  cuda.matmul      leaves
#   +- mkldnn.fp32_precision                        branch
#        +- mkldnn.matmul  .conv  .rnn              leaves
# ```
# `none` means: ask upwards. The first other value on the way decides, so a leaf beats the root. Reading gives the value
# in force, not the stored one. Exception: untouched, `cudnn.conv` and `cudnn.rnn` read `tf32`, and up to torch 2.12 they
# do not ask upwards at all.
#
# The tree grew in torch 2.9. CUDA's branch is spelt `cudnn`; `cuda.matmul` hangs there too. *Writing*
# `mkldnn.fp32_precision` writes the root, in torch 2.15 still: set its leaves instead.
# %% [markdown] zh
# ## 一棵家谱，几个倔孩子
#
# ```text
# torch.backends.fp32_precision                     根
#   +- cudnn.fp32_precision                         分支
#   |    +- cudnn.conv  cudnn.rnn  cuda.matmul      叶子
#   +- mkldnn.fp32_precision                        分支
#        +- mkldnn.matmul  .conv  .rnn              叶子
# ```
# `none` 的意思是往上问，路上第一个不是 `none` 的值说了算，所以叶子胜过根。读到的是生效的值，不是存着的值。例外：没动过时，`cudnn.conv` 和 `cudnn.rnn` 读出 `tf32`，而且 torch 2.12 及更早版本里它们根本不往上问。
#
# 这棵树从 torch 2.9 开始有。CUDA 的分支写作 `cudnn`，`cuda.matmul` 也挂在下面。**写** `mkldnn.fp32_precision` 会写到根上，到 torch 2.15 还是这样：请改设它的叶子。
# %% [markdown] en
# ## Exercise: who decides? (5 minutes, about 4 lines)
#
# `stored` holds what each node holds: `"root"`, a branch such as `"cuda"`, a leaf such as `"cuda.matmul"`. Give back the
# value in force at `leaf`. Hints wait in `hint("07-in-force")`.
# %% [markdown] zh
# ## 练习：谁说了算？（5 分钟，约 4 行）
#
# `stored` 记着各节点存的值：`"root"`、分支（如 `"cuda"`）、叶子（如 `"cuda.matmul"`）。返回 `leaf` 上生效的值。提示在 `hint("07-in-force")`。
# %%
def in_force(stored: dict[str, str], leaf: str) -> str:
    # en: {"root": "tf32", "cuda": "none", "cuda.matmul": "none"}, "cuda.matmul" -> "tf32"
    # zh: {"root": "tf32", "cuda": "none", "cuda.matmul": "none"}, "cuda.matmul" -> "tf32"
    raise NotImplementedError


check("07-in-force")
explain("07-leaf-wins")
# %% [markdown] en
# ## Two languages for one thing
#
# The older words still exist: `cudnn.allow_tf32`, `cuda.matmul.allow_tf32`, `torch.set_float32_matmul_precision`. A tidy
# colleague states a default explicitly, in the old words. A library reads with the old words what your script wrote with
# the new ones. Two bets.
# %% [markdown] zh
# ## 一件事，两种说法
#
# 旧接口还在：`cudnn.allow_tf32`、`cuda.matmul.allow_tf32`、`torch.set_float32_matmul_precision`。爱整洁的同事用旧接口把默认值又写了一遍；某个库用旧接口去读，而你的脚本是用新接口写的。下两注。
# %%
predict("07-bet-no-op")
predict("07-bet-mixing")
# %%
observe("07-no-op")
observe("07-mixing")
# %% [markdown] en
# ## The error, word for word
#
# Run it, then change `"tf32"` to `"ieee"`: which reading complains now? Up to torch 2.12 none does. (`using` puts
# everything back.)
# %% [markdown] zh
# ## 报错原文
#
# 先运行，再把 `"tf32"` 改成 `"ieee"`：这次是哪个读取在抱怨？torch 2.12 及更早版本里谁也不抱怨。（`using` 会把一切恢复。）
# %%
from course import flags

with flags.using({"fp32_precision": "tf32"}):
    for owner in (torch.backends.cuda.matmul, torch.backends.cudnn):
        try:
            print(owner.allow_tf32)
        except RuntimeError as error:
            print(error)
explain("07-read-raises")
# %% [markdown] en
# ## Exercise: allow it for one call (6 minutes, about 6 lines)
#
# Run `run()` with TF32 allowed for **CUDA matrix products only**, give back its result, and leave everything as it was,
# also when `run()` raises. It works without a GPU: the switches are there.
# %% [markdown] zh
# ## 练习：只允许一次（6 分钟，约 6 行）
#
# 执行 `run()`，期间**只有 CUDA 矩阵乘**可以用 TF32；返回它的结果，并让一切恢复原样，`run()` 抛异常时也一样。没有 GPU 也能做：开关都在。
# %%
def with_tf32(run):
    raise NotImplementedError


check("07-with-tf32")
# %% [markdown] en
# ## A permission is not a command
#
# Your own processor has leaves in that tree: `mkldnn.matmul`, `.conv`, `.rnn`. You allow it bf16. Does it help itself?
# %% [markdown] zh
# ## 许可不是命令
#
# 你自己的处理器在树上也有叶子：`mkldnn.matmul`、`.conv`、`.rnn`。你允许它用 bf16，它会不会真用？
# %%
predict("07-bet-onednn")
# %%
observe("07-onednn")
explain("07-2080")
# %% [markdown] en
# ## A number that somebody else measured
#
# You need no GPU to question one. PyTorch's documentation prints what an A100 did with `a @ b`, both 10,240 × 10,240,
# random numbers around 0:
#
# | | time | largest error |
# |---|---|---|
# | float32 | 0.11 s | 0.0031 |
# | TF32 | 0.016 s | 0.1747 |
#
# And it contradicts itself: inputs are “rounded” on one page, on another “only the first 10 bits … are read”. Which page
# is right? Our rounding can be compared with that number, and so can cutting.
# %% [markdown] zh
# ## 别人测的一个数
#
# 没有 GPU，也能盘问 GPU。PyTorch 文档印着 A100 计算 `a @ b` 的结果（都是 10,240 × 10,240，0 附近的随机数）：
#
# | | 耗时 | 最大误差 |
# |---|---|---|
# | float32 | 0.11 s | 0.0031 |
# | TF32 | 0.016 s | 0.1747 |
#
# 而文档自相矛盾：一页说输入被“舍入”，另一页说“只读取前 10 位”。哪页对？我们的舍入可以和这个数比，截断也可以。
# %%
predict("07-bet-page")
explain("07-tera")
predict("07-bet-speed")
# %%
observe("07-documented")
# en: with an NVIDIA GPU: your own speed, settings, errors, kernels
# zh: 有 NVIDIA GPU 时：你自己的速度、各种设置、误差、kernel
observe(["07-speed-cuda", "07-who-cuda", "07-depth-cuda",
         "07-kernels-cuda", "07-reduction-cuda"])
# %% [markdown] en
# ## Where nobody notices, and where it hurts
#
# A gradient is an estimate from a handful of samples. How does the rounding compare with the luck of the draw?
#
# A solver lives on the residual: what is left when two large things nearly cancel, as they did among the lost
# neighbours.
# %% [markdown] zh
# ## 没人察觉的地方，和会出事的地方
#
# 梯度是用一小把样本估出来的。和抽样的运气相比，舍入算多大的事？
#
# 求解器全看残差：两个大数几乎抵消之后剩下的那点东西。丢失的邻居也是这么回事。
# %%
predict("07-bet-noise")
predict("07-bet-solve")
# %%
observe("07-noise")
explain("07-why-neighbours")
observe("07-solve")
explain("07-why-residual")
# %% [markdown] en
# ## Make it lose
#
# “TF32 is good enough.” Find a product `a @ b` that it ruins (relative error 0.1 or more, while float32 is fine), and
# one that it leaves alone (below 0.001). Accepted on evidence. The first pair below is badly chosen, on purpose.
# %% [markdown] zh
# ## 让它输
#
# “TF32 够用了。”找一个被它毁掉的乘积 `a @ b`（相对误差不小于 0.1，而 float32 没事），再找一个毫发无伤的（低于 0.001）。凭证据通过。下面第一对是故意选坏的。
# %%
cases = {"ruined": (torch.tensor([[3.0, 4.0]]), torch.ones(2, 1)),
         "harmless": (torch.randn(64, 64), torch.randn(64, 64))}
check("07-make-it-lose")
# %% [markdown] en
# ## Four myths, four experiments
#
# | “…” | tempting, because | what speaks against it |
# |---|---|---|
# | my tensors are float32, so the arithmetic is | every dtype says so | `07-tree`: convolutions start with TF32 allowed |
# | backends are about speed only | most switches are | the lost neighbours |
# | a longer sum, a larger relative error | errors do add up | `07-error-vs-k`: the result grows as well |
# | TF32 ruins training, forbid it | results do change | `07-noise` |
#
# Where they hold: exact references, solvers, distances far from the origin. There, forbid it, **there**.
# %% [markdown] zh
# ## 四个误区，四个实验
#
# | “……” | 为什么诱人 | 反证 |
# |---|---|---|
# | 张量是 float32，计算就是 float32 | dtype 都这么写 | `07-tree`：卷积一开始就允许用 TF32 |
# | 后端开关只管速度 | 多数确实如此 | 丢失的邻居 |
# | 求和越长，相对误差越大 | 误差确实会累加 | `07-error-vs-k`：结果也在增长 |
# | TF32 会毁掉训练，应当禁用 | 结果确实变了 | `07-noise` |
#
# 也有成立的地方：精确的参考结果、求解器、远离原点的距离。要禁，就在**那里**禁。
# %% [markdown] en
# ## Exit check: five cards, one from lesson 05
# %% [markdown] zh
# ## 下课小测：五张卡片，其中一张来自第 05 课
# %%
explain("07-flashcard")
explain("07-find-culprit")
explain("07-medium")
explain("07-typo")
explain("05-flags-trap")
# %% [markdown] en
# ## Claims you can now make
#
# - TF32 rounds **inputs** to 10 bits. No dtype shows it; a float64 reference does.
# - By default cuDNN may use it, matrix products may not. One tree decides; the nearest value on the way up wins.
# - Choose **one** language, old or new, and read back what you set.
# - A permission helps only where the hardware has the units.
# - Forbid it where large things cancel; where noise is larger, let it run.
#
# `finish()` adds your own numbers.
# %% [markdown] zh
# ## 现在你可以这样说
#
# - TF32 把**输入**舍入到 10 位。dtype 上看不出来，和 float64 的参考一比就知道。
# - 默认情况下 cuDNN 可以用，矩阵乘不行。一棵树决定一切，往上走最先遇到的值说了算。
# - 新旧接口选**一种**，设完读回来确认。
# - 许可要有硬件单元才用得上。
# - 大数会抵消的地方禁掉它；噪声更大的地方，随它去。
#
# `finish()` 会补上你自己的数字。
# %%
finish()
