# %% [markdown] en
# # 🎯 When may float32 be computed with fewer digits?
#
# ⏱️ **35 minutes** for the main line. Before it: lessons 01 and 02.
#
# On a colleague's new card, your features differ from the fourth digit on. PyTorch may multiply your numbers with fewer digits than you gave it. That can be several times faster, and most neural networks do not notice. A few computations are ruined. At the end you can read the switches, allow or forbid it for one kind of work, and say which computations need the digits.
#
# Live on any machine: the rounding, simulated exactly, and the switches themselves. The speed needs an NVIDIA GPU; without one you see a recording, or what others have published, marked as such.
# %% [markdown] zh
# # 🎯 float32 什么时候可以少算几位？
#
# ⏱️ 主线 **35 分钟**。先修：第 01、02 课。
#
# 师弟换了块新卡，代码一行没改，特征从第四位起就和你的对不上。原来，PyTorch 做乘法时，用的位数可能比你给的少。这样能快好几倍，多数神经网络毫无感觉；可有些计算会被毁掉。学完这一课，你会看开关，能只对某一种计算允许或禁止它，还能说出哪些计算一位都少不得。
#
# 任何机器都能实测的：舍入（精确模拟）和开关本身。速度需要 NVIDIA GPU；没有的话，你会看到录好的结果，或者别人公布的结果（会注明）。
# %% bootstrap
# %% [markdown] en
# ## What are fewer digits good for?
#
# Multiply 3.14 by 2.72 on paper; then 3.141593 by 2.718282. The second takes about five times as many small multiplications. A chip has the same trouble: shorter factors need smaller multipliers, so more of them fit on it and work at once.
#
# And when does it hurt? Imagine a good kitchen scale for any weight, which always shows **three digits**: 70.1 kg, or 41.3 g. You want to know what your hamster weighs.
# %% [markdown] zh
# ## 少几位有什么好处？
#
# 拿纸笔算 3.14 × 2.72，再算 3.141593 × 2.718282：后一个要做的一位数乘法，大约是前一个的五倍。芯片也一样：因数越短，乘法器越小，同一块芯片就能多放几个，一起干活。
#
# 那什么时候会出事？想象一台什么都能称的秤，永远只显示**三位有效数字**：70.1 kg，或者 41.3 g。现在，你想知道自家仓鼠有多重。
# %%
# en: First the cards of earlier lessons that are due today (if any), then today's warm-up.
# zh: 先是今天到期的旧卡片（没有也正常），再是今天的热身题。
review(due=3)
explain("07-hamster")
# %% [markdown] en
# ## 💡 Relative error: how wrong, compared with how large
#
# 0.1 kg too much: is that a lot? For you, no. For the hamster, yes. So we divide:
#
# [[relative-error|relative error]] = (how far the result is off) / (how large the right result is)
#
# 0.2 off from 1000 is 0.0002, written `2e-04`: about three digits are right. 1 would mean: nothing is right.
#
# The next cell stores one number in four formats, to touch. [[float32]], the usual one, keeps about 7 digits, [[bf16|bfloat16]] only 2 or 3. Look at the relative error. Then move both sliders.
# %% [markdown] zh
# ## 💡 相对误差：错了多少，要和本身多大比
#
# 多了 0.1 kg，算多吗？对你不算，对仓鼠可就太多了！所以要除一下：
#
# [[relative-error|相对误差]] =（结果偏了多少）/（正确结果有多大）
#
# 1000 偏了 0.2，就是 0.0002，写作 `2e-04`：大约前三位是对的。要是等于 1，就一位都不对了。
#
# 下一格把同一个数存成四种格式，可以动手拨。平常用的 [[float32]] 约有 7 位有效数字，[[bf16|bfloat16]] 只有两三位。先看相对误差，再拨拨两个滑块。
# %%
explore("floats")
# %% [markdown] en
# 📌 **So far.**
# 1. Shorter factors need smaller multipliers: faster.
# 2. Relative error: how far off, divided by how large.
#
# ## TF32 keeps three digits of each factor
#
# Each number has two parts. The exponent says how large it is, the [[mantissa]] holds its digits. [[tf32|TF32]] has the exponent of float32 (8 bits) and a short mantissa (10 bits instead of 23).
#
# NVIDIA GPUs since Ampere (2020) have units for it. They shorten only the inputs:
# ```text
#  float32 in memory          float32 in memory
#        |                          ^
#  keep 10 bits -----> multiply ---> add up
#                      (exact)      (float32)
# ```
# So any computer can play TF32: round the inputs, multiply in float32. `product(a, b, "tf32")` does just that; compare the relative errors.
# %% [markdown] zh
# 📌 **小结。**
# 1. 因数越短，乘法器越小，算得越快。
# 2. 相对误差：偏了多少，除以本身多大。
#
# ## TF32：每个因数只留三位数字
#
# 一个数分两部分：指数说它有多大，[[mantissa|尾数]]存它的各位数字。[[tf32|TF32]] 的指数和 float32 一样（8 位），尾数却很短（10 位，而不是 23 位）。
#
# 从 Ampere（2020 年）起，NVIDIA GPU 有专门的单元。它缩短的只是输入：
# ```text
#  内存里的 float32            内存里的 float32
#        |                          ^
#   留下 10 位 ------> 相乘 ------> 累加
#                    （精确）     （float32）
# ```
# 所以任何电脑都能扮演 TF32：先舍入输入，再用 float32 相乘。`product(a, b, "tf32")` 就是这么做的，比比各自的相对误差。
# %%
import torch
from course.rounding import product, relative_error

a, b = torch.randn(256, 256), torch.randn(256, 256)
exact = a.double() @ b.double()
for name in ("float32", "tf32", "bfloat16"):
    print(f"{name:9s}", f"{relative_error(product(a, b, name), exact):.1e}")
for card in ("07-formats", "07-dtype"):
    explain(card)
# %% [markdown] en
# 📌 **So far.** TF32 keeps three good digits, and nobody tells you.
#
# 1. TF32 keeps 10 of 23 bits of each factor, about three digits.
# 2. Only the inputs of a product lose bits; sums, results and every dtype stay float32.
# 3. With TF32 the relative error is about `3e-04` here.
#
# ## 🎲 Who may use TF32 when you set nothing?
#
# Two libraries do the heavy work on an NVIDIA GPU: cuDNN ([[convolution|convolutions]] and recurrent layers, RNNs) and cuBLAS (matrix products, as in `nn.Linear`). Each has a switch of its own. You have just started Python.
# %% [markdown] zh
# 📌 **小结。** TF32 只有三位准，还没人告诉你。
#
# 1. TF32 在 23 位里留 10 位，约三位有效数字。
# 2. 丢位的只有乘法的输入；累加、结果和每个 dtype 都还是 float32。
# 3. 这里 TF32 的相对误差大约是 `3e-04`。
#
# ## 🎲 什么都不设，谁可以用 TF32？
#
# NVIDIA GPU 上干重活的有两个库：cuDNN（[[convolution|卷积]]和循环层 RNN）、cuBLAS（矩阵乘，比如 `nn.Linear`）。各有各的开关。你刚刚启动 Python。
# %%
predict("07-bet-default")
# %% [markdown] en
# ## 🔬 Read the first row
#
# The figure shows what each switch **reads** after one thing was set. Three words occur: `tf32` (allowed), `ieee` (full float32), `none` (no wish of its own; the default then decides, and for matrix products that is full float32).
#
# For your bet you need only the first row, “nothing set”, and the columns `cudnn.conv`, `cudnn.rnn`, `cuda.matmul`. The rest is for an optional part.
# %% [markdown] zh
# ## 🔬 看第一行就够
#
# 图上是设了某一项之后，每个开关**读出**什么。会出现三个词：`tf32`（允许）、`ieee`（完整的 float32）、`none`（自己没意见，由默认值决定；矩阵乘的默认是完整的 float32）。
#
# 这一注只需要看第一行“什么都不设”，以及 `cudnn.conv`、`cudnn.rnn`、`cuda.matmul` 三列。其余的留给后面的选读。
# %%
observe("07-tree")
# %% [markdown] en
# ## The switch: seen, on, off
#
# The older switches are plain: `True` allows, `False` forbids. Run the cell. It allows TF32 for matrix products, forbids it again, and measures the error each time (`using` puts everything back).
#
# On a CPU, or on a GPU before Ampere, the error does not change: the switch **allows**, and here is no unit that could use it. On a newer NVIDIA GPU expect about a thousand times the error in the middle line.
# %% [markdown] zh
# ## 开关：看一眼，打开，关上
#
# 旧接口很直白：`True` 允许，`False` 禁止。运行下面这格：先允许矩阵乘用 TF32，再禁止，每次都测误差（`using` 会把一切恢复）。
#
# 在 CPU 或 Ampere 之前的 GPU 上，误差不变：开关只是**允许**，而这里没有用得上它的单元。换成较新的 NVIDIA GPU，中间那行的误差会大上千倍左右。
# %%
from course import flags

device = "cuda" if torch.cuda.is_available() else "cpu"
print("cudnn.allow_tf32:", torch.backends.cudnn.allow_tf32)
x, y = a.to(device), b.to(device)
for allowed in (False, True, False):
    with flags.using({"cuda.matmul.allow_tf32": allowed}):
        error = relative_error(x @ y, exact.to(device))
        print("cuda.matmul.allow_tf32:", allowed, f"{error:.1e}")
explain("07-2080")
keep("cuda.matmul.allow_tf32")
keep("cudnn.allow_tf32")
# %% [markdown] en
# ## The newer word: `fp32_precision`
#
# Since torch 2.9 each kind of work has a switch that holds a word instead of True or False:
# ```python
# torch.backends.cuda.matmul.fp32_precision = "tf32"   # products
# torch.backends.cudnn.conv.fp32_precision             # convolutions: "tf32" until you say otherwise
# ```
# They form a tree: `torch.backends.fp32_precision` is its root, these two are **leaves**. A leaf that says `none` takes the value of the node above it.
#
# `torch.set_float32_matmul_precision(...)` is a short cut for products. `"highest"`: full float32. `"high"`: TF32 on an NVIDIA GPU. `"medium"`: also bfloat16 inside oneDNN on the CPU.
#
# For one kind of work one word, old *or* new. Products: the new one; convolutions: the old one. torch reads it: `torch.export` (not in 2.9) raises after `cudnn.conv.fp32_precision = "ieee"`. The old words alone never raise.
# %% [markdown] zh
# ## 新接口：`fp32_precision`
#
# 从 torch 2.9 起，每种计算都有一个开关，存的不是 True 或 False，而是一个词：
# ```python
# torch.backends.cuda.matmul.fp32_precision = "tf32"   # 矩阵乘
# torch.backends.cudnn.conv.fp32_precision             # 卷积：没动过就是 "tf32"
# ```
# 它们连成一棵树：`torch.backends.fp32_precision` 是根，上面两个是**叶子**。叶子写着 `none`，就用上一级的值。
#
# `torch.set_float32_matmul_precision(...)` 是矩阵乘的快捷方式。`"highest"`：完整的 float32。`"high"`：NVIDIA GPU 上用 TF32。`"medium"`：除此之外，CPU 上 oneDNN 内部还可以用 bfloat16。
#
# 记住一条就省心：同一种计算，新旧接口选*一种*，别混用！矩阵乘用新的；卷积暂时用旧的 `cudnn.allow_tf32`。torch 自己还在读它：写了 `cudnn.conv.fp32_precision = "ieee"`，`torch.export` 就报错（2.9 还不会）。只用旧接口，就不会报错。
# %% [markdown] en
# ## 🛠️ Your turn: allow it for one call (6 minutes, about 6 lines)
#
# Run `run()` with TF32 allowed for **CUDA matrix products only** (the leaf above), give back its result, and leave everything as it was, also when `run()` raises. (`try: ... finally: ...` runs its last part in every case.) It works without a GPU, too. Stuck? `hint("07-with-tf32")`.
# %% [markdown] zh
# ## 🛠️ 轮到你了：只允许一次（6 分钟，约 6 行）
#
# 执行 `run()`，期间**只有 CUDA 矩阵乘**可以用 TF32（就是上面那片叶子）；返回它的结果，并让一切恢复原样，`run()` 抛异常时也一样。（`try: ... finally: ...` 的最后一段无论如何都会执行。）没有 GPU 也能做：开关都在。卡住了就运行 `hint("07-with-tf32")`。
# %%
def with_tf32(run):
    raise NotImplementedError


check("07-with-tf32")
keep("fp32_precision")
# %% [markdown] en
# ## 🎲 A permission is not a command
#
# Your own processor has leaves too: `mkldnn.matmul`, `.conv`, `.rnn` (oneDNN's, the CPU library of lesson 01). Allow it [[bf16|bfloat16]] for matrix products. Does it help itself?
# %% [markdown] zh
# ## 🎲 许可不是命令
#
# 你自己的处理器也有叶子：`mkldnn.matmul`、`.conv`、`.rnn`（属于第 01 课讲过的 CPU 库 oneDNN）。允许它在矩阵乘里用 [[bf16|bfloat16]]，它真会用吗？
# %%
predict("07-bet-onednn")
# %%
observe("07-onednn")
# en: And on a GPU that has the units: is TF32 faster everywhere?
# zh: 换成有这种单元的 GPU：TF32 处处都更快吗？
predict("07-bet-speed")
# %%
observe("07-speed-cuda")
# %% [markdown] en
# 📌 **So far.** Allowed is not used.
#
# 1. By default cuDNN may use TF32, matrix products may not.
# 2. A switch permits. Something happens only where the hardware has the units and the work is large enough. The T4 that Colab often lends has no units for TF32 or bfloat16.
# 3. Old word or new: choose one, and read it back.
#
# ## 🔬 Where it hurts: small differences of large numbers
#
# Back to the hamster. Here are 300 points; each looks for its nearest neighbour by |x|² + |y|² − 2 x·y, with the product x·y in TF32. Then the whole cloud moves away from the origin. The points keep their distances, but the numbers get larger. How many neighbours are still found?
# %% [markdown] zh
# 📌 **小结。** 允许了，不等于用上了。
#
# 1. 默认情况下，cuDNN 可以用 TF32，矩阵乘不行。
# 2. 开关只是许可。硬件有这种单元、计算量也够大，才会真的起作用。Colab 常分到的 T4 就没有 TF32 和 bfloat16 单元。
# 3. 新旧接口选一种，设完读回来确认。
#
# ## 🔬 会出事的地方：大数相减，剩一点点
#
# 回到仓鼠。这里有 300 个点，各自用 |x|² + |y|² − 2 x·y 找最近邻，其中 x·y 用 TF32 算。然后整团点挪离原点：点与点的距离没变，数却变大了。还能找对几个邻居？
# %%
observe("07-neighbours")
explain("07-why-neighbours")
# %% [markdown] en
# ## 🎲 Where nobody notices: training
#
# A training step uses a gradient, a direction to move the weights in, that is estimated from a few samples. Other samples give another gradient: noise that is always there. How does the rounding compare with it?
#
# “The purpose of computing is insight, not numbers.” (Richard Hamming, 1962. He did check his numbers.)
# %% [markdown] zh
# ## 🎲 没人察觉的地方：训练
#
# 训练每一步都按梯度调整权重，而梯度是拿一小把样本估出来的。换一把样本，梯度就变：这种噪声一直都在。和它比，舍入算多大的事？
#
# “差若毫厘，缪以千里。”（《礼记·经解》）仓鼠那种情形正是如此。训练也这样吗？来，下注！
# %%
predict("07-bet-noise")
# %%
observe("07-noise")
# %% [markdown] en
# ## 🛠️ Your turn: find a counterexample (8 minutes)
#
# “TF32 is good enough.” Find a product `a @ b` that it ruins (relative error 0.1 or more, while float32 is fine), and one that it leaves alone (below 0.001). The first pair below does not do it yet. What would the hamster suggest?
# %% [markdown] zh
# ## 🛠️ 轮到你了：找个反例（8 分钟）
#
# “TF32 够用了。”找一个被它毁掉的乘积 `a @ b`（相对误差不小于 0.1，而 float32 没事），再找一个毫发无伤的（低于 0.001）。下面第一对还做不到。仓鼠会怎么建议？
# %%
cases = {"ruined": (torch.tensor([[3.0, 4.0]]), torch.ones(2, 1)),
         "harmless": (torch.randn(64, 64), torch.randn(64, 64))}
check("07-make-it-lose")
explain("07-find-culprit")
# %% [markdown] en
# 📌 **So far.** In training nobody notices; far from zero everybody does.
#
# 1. TF32 hurts where large terms are rounded first and then almost cancel.
# 2. Remove the large common part first (the mean), or forbid TF32 for this one step.
# 3. Where the noise is larger than the rounding, as in much training, nobody notices.
#
# ☕ That was the main line; a good place to stop for today. Six optional parts follow. Otherwise go on at [[#🕳️ Four myths, then the exit check]].
# %% [markdown] zh
# 📌 **小结。** 训练时没人察觉，离原点一远就露馅。
#
# 1. 大数先被舍入、随后几乎抵消，这种地方 TF32 会出事。
# 2. 先减去那个大的公共部分（均值），或者只在这一步禁用 TF32。
# 3. 噪声比舍入还大的地方（多数训练如此），没人察觉。
#
# ☕ 主线到这儿就讲完了，今天歇在这里也很好。后面有六段选读；不看就直接跳到 [[#🕳️ 四个误区，然后下课小测]]。
# %% [markdown] en
# ### Deeper, optional: round a number yourself (5 minutes, 2 blanks)
#
# `math.frexp(1000.7)` splits a number into fraction and exponent: 1000.7 = 0.977 × 2¹⁰. TF32 keeps 11 bits of the fraction (10 are stored, one stands in front): `round(fraction * 2 ** 11)`, and `math.ldexp` puts it together again. Only the fraction is touched.
#
# Write it for any number of stored bits: fill the two `...`.
# %% [markdown] zh
# ### 选读：自己舍入一个数（5 分钟，填 2 个空）
#
# `math.frexp(1000.7)` 把数拆成尾数和指数：1000.7 = 0.977 × 2¹⁰。TF32 的尾数保留 11 位（存 10 位，前面还有 1 位不存）：`round(fraction * 2 ** 11)`，再用 `math.ldexp` 拼回去。动的只有尾数。
#
# 请推广到任意位数：填上两个 `...`。
# %%
import math


def round_to(x: float, bits: int) -> float:
    fraction, exponent = math.frexp(x)
    # en: how many bits of the fraction stay, the one in front included?
    # zh: 尾数要保留几位（连同前面不存的那一位）？
    whole = round(fraction * 2 ** ...)
    return math.ldexp(whole, exponent - ...)


check("07-round-to")
for card in ("07-spacing", "07-exact-products"):
    explain(card)
# %% [markdown] en
# ### Deeper, optional: long sums
#
# A wide layer sums thousands of rounded terms. Does the relative error pile up? And what if somebody saved on the **adder** as well, so that the sum itself has few digits? The smallest example is a counter.
# %% [markdown] zh
# ### 选读：很长的求和
#
# 一个宽层要把成千上万个舍入过的项加起来，相对误差会越堆越多吗？再说，要是有人连**加法器**也想省，让和本身也只有几位呢？最小的例子是一个计数器。
# %%
predict("07-bet-k")
predict("07-bet-counter")
# %%
observe("07-error-vs-k")
explain("07-why-relative")
# %%
# en: And with few digits in the sum itself: the counter.
# zh: 连和也只有几位呢？看计数器。
observe("07-counter")
explain("07-bf16-reduction")
# %% [markdown] en
# ### Deeper, optional: the whole tree (5 minutes, about 4 lines)
#
# ```text
# torch.backends.fp32_precision                     root
#   +- cudnn.fp32_precision                         branch
#   |    +- cudnn.conv  cudnn.rnn  cuda.matmul      leaves
#   +- mkldnn.fp32_precision                        branch
#        +- mkldnn.matmul  .conv  .rnn              leaves
# ```
# From the leaf upwards, the first value that is not `none` decides. Reading gives the value in force. Exceptions: untouched, `cudnn.conv` and `cudnn.rnn` read `tf32`, and up to torch 2.12 they do not ask upwards. Up to torch 2.15, `mkldnn.fp32_precision = ...` sets the root instead of this branch. Set the leaves: `mkldnn.matmul`, `.conv`, `.rnn`.
#
# `stored` holds what each node holds: `"root"`, a branch such as `"cuda"`, a leaf such as `"cuda.matmul"`. Return the value in force at `leaf`.
# %% [markdown] zh
# ### 选读：整棵树（5 分钟，约 4 行）
#
# ```text
# torch.backends.fp32_precision                     根
#   +- cudnn.fp32_precision                         分支
#   |    +- cudnn.conv  cudnn.rnn  cuda.matmul      叶子
#   +- mkldnn.fp32_precision                        分支
#        +- mkldnn.matmul  .conv  .rnn              叶子
# ```
# 从叶子往上，第一个不是 `none` 的值说了算；读到的是生效的值。例外：没动过时，`cudnn.conv` 和 `cudnn.rnn` 读出 `tf32`，torch 2.12 及更早版本里它们不往上问。直到 torch 2.15，`mkldnn.fp32_precision = ...` 设的都是根，不是这个分支。要设就设叶子：`mkldnn.matmul`、`.conv`、`.rnn`。
#
# `stored` 记着各节点存的值：`"root"`、分支（如 `"cuda"`）、叶子（如 `"cuda.matmul"`）。返回 `leaf` 上生效的值。
# %%
def in_force(stored: dict[str, str], leaf: str) -> str:
    # en: {"root": "tf32", "cuda": "none", "cuda.matmul": "none"}, "cuda.matmul" -> "tf32"
    # zh: {"root": "tf32", "cuda": "none", "cuda.matmul": "none"}, "cuda.matmul" -> "tf32"
    raise NotImplementedError


check("07-in-force")
explain("07-leaf-wins")
# %% [markdown] en
# ### Deeper, optional: what happens when you mix old and new words
#
# A tidy colleague writes down a default in the old words. A library reads in the old words what your script wrote in the new ones. Two bets, what came out, and the error message itself. In the third cell below, change `"tf32"` to `"ieee"`: which reading complains now? (Up to torch 2.12 none does.)
#
# Then ten calls of torch itself, after each way to write: which of them still read the old words? With a GPU there is one more: Inductor's autotuning (`mode="max-autotune"`, FlexAttention; [pytorch#196728](https://github.com/pytorch/pytorch/issues/196728)).
# %% [markdown] zh
# ### 选读：新旧混用会怎样
#
# 爱整洁的同事用旧接口把默认值又写了一遍；某个库用旧接口去读，而你的脚本是用新接口写的。下两注，看结果，再看报错原文。在下面第三格里把 `"tf32"` 改成 `"ieee"`：这次是哪个读取在抱怨？（torch 2.12 及更早版本里谁也不抱怨。）
#
# 再看 torch 自己：每种写法之后各调用十样东西，哪些还在读旧接口？有 GPU 时还要加一样：Inductor 的自动调优（`mode="max-autotune"`、FlexAttention；见 [pytorch#196728](https://github.com/pytorch/pytorch/issues/196728)）。
# %%
predict("07-bet-no-op")
predict("07-bet-mixing")
# %%
observe(["07-no-op", "07-mixing", "07-old-words"])
# %%
with flags.using({"fp32_precision": "tf32"}):
    for owner in (torch.backends.cuda.matmul, torch.backends.cudnn):
        try:
            print(owner.allow_tf32)
        except RuntimeError as error:
            print(error)
explain("07-read-raises")
# %% [markdown] en
# ### Deeper, optional: does a GPU round, or cut off?
#
# PyTorch's documentation prints what an A100 did with `a @ b`, both 10,240 × 10,240, random numbers around 0:
#
# | | time | largest error |
# |---|---|---|
# | float32 | 0.11 s | 0.0031 |
# | TF32 | 0.016 s | 0.1747 |
#
# One of its pages says that the inputs are “rounded”, another that “only the first 10 bits … are read”. Which fits the number? You need no GPU to find out. With one, the last line measures yours.
# %% [markdown] zh
# ### 选读：GPU 是舍入，还是截断？
#
# PyTorch 文档印着 A100 计算 `a @ b` 的结果（都是 10,240 × 10,240，0 附近的随机数）：
#
# | | 耗时 | 最大误差 |
# |---|---|---|
# | float32 | 0.11 s | 0.0031 |
# | TF32 | 0.016 s | 0.1747 |
#
# 文档有一页说输入被“舍入”，另一页说“只读取前 10 位”。哪种说法符合这个数？不用 GPU 就能查清楚。有 GPU 的话，最后一行会测你自己的。
# %%
predict("07-bet-page")
explain("07-tera")
# %%
observe("07-documented")
observe(["07-who-cuda", "07-depth-cuda", "07-kernels-cuda",
         "07-reduction-cuda"])
# %% [markdown] en
# ### Deeper, optional: which step of a solver must be exact?
#
# A solver improves `x` again and again. It needs the **residual** `b - A @ x`, what is still wrong, and a correction `M @ r`. Which of the two may be coarse?
#
# And in your own model? `try_switches` tries each permission on it, and tells the time it saves beside the digit that moves; the truth is a run in float64. Put your model in the place of the small one.
# %% [markdown] zh
# ### 选读：求解器里，哪一步必须算准？
#
# 求解器一遍遍改进 `x`。它要算**残差** `b - A @ x`（还差多少），再算修正量 `M @ r`。两个里面，哪个可以粗糙？
#
# 你自己的模型呢？`try_switches` 把每种许可都在它身上试一遍，说出省了多少时间、从第几位开始变；真值是用 float64 算的。把小模型换成你的就行。
# %%
predict("07-bet-solve")
observe("07-solve")
explain("07-why-residual")
# %%
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.Linear(256, 10))
try_switches(model, torch.randn(64, 256), budget=25,
             only=["precision", "tf32", "tf32-conv", "autocast"])
# %% [markdown] en
# ## 🕳️ Four myths, then the exit check
#
# | “…” | tempting, because | what speaks against it |
# |---|---|---|
# | my tensors are float32, so the arithmetic is | every dtype says so | convolutions start with TF32 allowed |
# | backends are about speed only | most switches are | the lost neighbours |
# | the switch is on, so it is used | it sounds like a command | your own CPU; a GPU before Ampere |
# | TF32 ruins training, forbid it | results do change | the noise of the gradient |
#
# Forbid it for exact references, solvers, distances far from the origin. There, and only there.
#
# A float goes into a GPU with 23 bits and comes out with 23. “Lost anything?” “How would I know? They gave me zeros for change.”
# %% [markdown] zh
# ## 🕳️ 四个误区，然后下课小测
#
# | “……” | 为什么诱人 | 反证 |
# |---|---|---|
# | 张量是 float32，计算就是 float32 | dtype 都这么写 | 卷积一开始就允许 TF32 |
# | 后端开关只管速度 | 多数确实如此 | 丢失的邻居 |
# | 开关开了就一定用上 | 听着像命令 | 你的 CPU；Ampere 之前的 GPU |
# | TF32 会毁掉训练，应当禁用 | 结果确实变了 | 梯度的噪声 |
#
# 精确的参考结果、求解器、远离原点的距离：要禁，就只在这些地方禁。
#
# 一个 float 带着 23 位走进 GPU，出来还是 23 位。“丢东西没有？”“不好说，找零全是 0。”
# %%
for card in ("07-flashcard", "07-medium", "07-typo", "05-flags-trap"):
    explain(card)
# %% [markdown] en
# ## 📌 So, should I allow it?
#
# | your situation | do this | how you will know |
# |---|---|---|
# | float32, mostly convolutions, RTX 30 or newer | nothing: it is allowed | `cudnn.allow_tf32` reads `True` |
# | float32, mostly `Linear`, RTX 30 or newer | set the matmul precision to `"high"` | time of a step; the loss curve |
# | AMP | leave it | products have 16 bits already |
# | T4, V100, GTX; a CPU | nothing to gain | `07-onednn` |
# | distances, solvers, references | forbid it for that step | error against float64 |
# | small convolutions | measure | on an H100 one took 38 % longer |
#
# <details><summary>Where this comes from</summary>
#
# `07-speed-cuda` on an H100 with torch 2.11: a product of 4096 took 0.14 of the time, a large convolution 0.39, a small one 1.38. For the A100, [PyTorch's notes](https://docs.pytorch.org/docs/stable/notes/cuda.html) say 0.15 for a product of 10240. Other cards: `docs/cards.md`, or `try_switches(model, x, only="tf32")`.
#
# </details>
# %% [markdown] zh
# ## 📌 那我该不该允许？
#
# | 你的情况 | 这么做 | 怎么知道有没有用 |
# |---|---|---|
# | float32，主要是卷积，RTX 30 及以后 | 不用动，本来就允许 | `cudnn.allow_tf32` 读出 `True` |
# | float32，主要是 `Linear`，RTX 30 及以后 | 矩阵乘精度设为 `"high"` | 每步耗时；loss 曲线 |
# | AMP | 不用管 | 矩阵乘已经是 16 位 |
# | T4、V100、GTX；CPU | 没有好处 | `07-onednn` |
# | 距离、求解器、参考结果 | 这一步禁掉 | 和 float64 比误差 |
# | 小卷积 | 量一量 | H100 上有一个慢了 38% |
#
# <details><summary>依据</summary>
#
# `07-speed-cuda`，H100，torch 2.11：4096 的矩阵乘只要 0.14 的时间，大卷积 0.39，小卷积 1.38。A100：[PyTorch 的说明](https://docs.pytorch.org/docs/stable/notes/cuda.html)给出 10240 的矩阵乘 0.15。别的卡：`docs/cards.zh-CN.md`，或者 `try_switches(model, x, only="tf32")`。
#
# </details>
# %% [markdown] en
# ## Claims you can now make
#
# - TF32 rounds **inputs** to 10 bits. No dtype shows it; a float64 reference does.
# - By default cuDNN may use it, matrix products may not.
# - For each kind of work choose one word, old or new, and read back what you set.
# - A permission helps only where the hardware has the units.
# - Forbid it where large things cancel; where noise is larger, let it run.
#
# `finish()` adds your own numbers.
# %% [markdown] zh
# ## 这节课学到了什么
#
# - TF32 把**输入**舍入到 10 位。dtype 上看不出来，和 float64 的参考一比就知道。
# - 默认情况下 cuDNN 可以用，矩阵乘不行。
# - 同一种计算，新旧接口选一种，设完读回来确认。
# - 许可要有硬件单元才用得上。
# - 大数会抵消的地方禁掉它；噪声更大的地方，随它去。
#
# `finish()` 会补上你自己的数字。
# %%
finish()
