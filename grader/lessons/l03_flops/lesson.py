# %% [markdown] en
# # How much work is that model?
#
# ⏱️ 50 minutes · needs lesson 02 · everything runs live on a CPU
#
# You will be able to
# - count the work of a layer by hand, and of a model by one call,
# - say what a counter counts, and what it silently leaves out,
# - say why less work is not always less time.
# %% [markdown] zh
# # 这个模型要干多少活？
#
# ⏱️ 50 分钟 · 先修：第 02 课 · 全部内容都能在 CPU 上实测
#
# 学完之后你能够：
# - 手算一层的工作量，用一行代码统计整个模型；
# - 说清一个统计工具算了什么、悄悄漏了什么；
# - 解释为什么活儿少不一定更快。
# %% bootstrap
# %%
# en: Warm-up: cards from earlier lessons that are due today.
# zh: 热身：今天到期的旧卡片。
review(due=3)
# %% [markdown] en
# ## Bet: do counters agree on a network from 2014?
#
# VGG16 is probably the most counted network there is. Place your bet, then let the tools speak: the packages thop and ptflops, PyTorch's own `FlopCounterMode`, and the counter of this course. The second cell really runs the network with each of them: give it half a minute.
# %% [markdown] zh
# ## 下注：对一个 2014 年的网络，各工具意见一致吗？
#
# VGG16 大概是被统计得最多的网络。先下注，再让各个工具说话：thop 和 ptflops 两个包、PyTorch 自带的 `FlopCounterMode`，以及本课程的统计工具。第二个单元格会用每个工具真跑一遍网络，大约需要半分钟。
# %%
predict("03-bet-vgg")
# %%
vgg = observe("03-vgg16-counters")
# %%
from course.figures import differences

# en: in MACs, each tool beside the counter of this course
# zh: 以 MACs 计，各工具与本课程的统计工具相比
display(differences(vgg))
explain("03-why-differ")
# %% [markdown] en
# ## Three words that sound alike
#
# ```
# MAC      multiply + add into a sum   acc += a * b
# FLOPs    an amount of work           2 x MACs
# FLOP/s   a rate                      FLOPs per second
# ```
#
# "FLOPS" with a capital S means the rate to some people and the amount to others. This course writes FLOP/s for the rate. **1 GFLOPs is 1e9 operations, and half a GMAC.**
# %% [markdown] zh
# ## 三个听起来差不多的词
#
# ```
# MAC      acc += a * b    一次乘法加进一个和
# FLOPs    2 x MACs        工作量
# FLOP/s   FLOPs / s       速率，每秒多少 FLOPs
# ```
#
# 大写 S 的“FLOPS”，有人指速率，有人指工作量。本课程用 FLOP/s 表示速率。**1 GFLOPs 是 1e9 次运算，合半个 GMAC。**
# %%
review("03-letters", "03-vgg-gflops", "03-thop-first", "03-ptflops-unit")
# %% [markdown] en
# ## Worked example: a linear layer is outputs times products
#
# Every count of a contraction is the same sentence: **how many numbers come out, times how many products are summed into each.**
# %% [markdown] zh
# ## 示范：线性层 = 输出个数 × 每个输出的乘积数
#
# 所有乘加运算的统计都是同一句话：**输出多少个数，乘以每个数由多少个乘积累加而成。**
# %%
import torch
from torch import nn
from course.flops import count

rows, inputs, outputs = 8, 512, 1000
by_hand = (rows * outputs) * inputs
print(by_hand, count(nn.Linear(inputs, outputs), torch.zeros(rows, inputs)).macs)
review("03-linear")
# %% [markdown] en
# ## Fill in: the same sentence for a convolution
#
# 4 minutes, three blanks. `height` and `width` are those of the **output**. With `groups` the channels are cut into bundles, and each output sees its own bundle only; **depthwise** means a bundle for every channel. Done when batch, groups and depthwise come out right.
# %% [markdown] zh
# ## 补全：同一句话，换成卷积
#
# 4 分钟，三处空白。`height` 和 `width` 是**输出**的尺寸。`groups` 把通道分成若干组，每个输出只看自己那一组；每个通道自成一组，就叫深度卷积（depthwise）。batch、分组、深度卷积都对，就算完成。
# %%
def conv_macs(n, c_in, c_out, kernel, height, width, groups=1):
    outputs = ...
    # en: summed into each output
    # zh: 累加进每个输出的乘积
    products = ...
    return ...

check("03-conv-macs")         # hint("03-conv-macs")   solution("03-conv-macs")
# %%
review("03-groups", "03-dilation", "03-params")
# %% [markdown] en
# ## Backwards: a transposed convolution counts input pixels
#
# It takes each **input** pixel, multiplies it with the whole kernel and scatters the results. So the positions to count are those of the input. One of the tools counts those of the output. Which?
# %% [markdown] zh
# ## 反过来：转置卷积数的是输入像素
#
# 它拿每个**输入**像素去乘整个卷积核，再把结果撒出去。所以要数的是输入的位置。有一个工具数的却是输出的位置，是哪个？
# %%
from course.flops import cross_check

print(cross_check(nn.ConvTranspose2d(16, 32, 2, stride=2), torch.zeros(1, 16, 32, 32)))
explain("03-transposed")
# %% [markdown] en
# ## Bet: can a switch change the amount of work?
#
# The formula of an LSTM layer with I inputs and H units, over T steps: `T * 4 * (I*H + H*H)` MACs for each sequence. Four gates, two matrices each. No switch in it.
# %% [markdown] zh
# ## 下注：一个开关能改变工作量吗？
#
# LSTM 层有 I 个输入、H 个单元，跑 T 步：每条序列 `T * 4 * (I*H + H*H)` 个 MAC。四个门，各两个矩阵。公式里没有开关。
# %%
predict("03-bet-lstm")
# %%
observe("03-lstm-zero")
explain("03-lstm-why")
# %% [markdown] en
# ## A count needs a convention, and a list of what it missed
#
# Ours: one MAC is one multiply feeding one accumulate. Bias, ReLU, pooling, softmax, normalisation: 0. Padding taps: counted. Attention: dense.
#
# Other conventions are no crime. Hiding one is. And a counter should say what it did **not** understand: here `unknown` lists it, and `exact` is True only if nothing was missed.
# %% [markdown] zh
# ## 统计要有约定，还要列出漏了什么
#
# 我们的约定：一次乘法加进一个和，算 1 个 MAC。偏置、ReLU、池化、softmax、归一化记 0；padding 上的点照算；注意力按稠密计。
#
# 用别的约定不算错，不说明才算。统计工具还应当交代自己**没看懂**什么：这里由 `unknown` 列出；什么都没漏，`exact` 才是 True。
# %%
work = count(nn.LSTM(32, 64), torch.zeros(10, 1, 32))
print(work.macs, 10 * 4 * (32 * 64 + 64 * 64), "unknown:", work.unknown, "exact:", work.exact)
review("03-convention", "03-foolproof", "03-pasted")
# %% [markdown] en
# ## Bet: four times the text, how many times the work?
#
# A text of L tokens (pieces of words), each a row of E numbers (the width). Each linear layer uses every weight once for each token. In **attention** each token is compared with each one (scores), and takes a weighted sum of all: together `2 * L * L * E`.
# %% [markdown] zh
# ## 下注：文本长四倍，活儿多几倍？
#
# 文本有 L 个 token（词的片段），每个是一行 E 个数（宽度）。线性层对每个 token 把权重用一遍；**注意力**让每个 token 与所有 token 比较（分数），再对它们加权求和，合计 `2 * L * L * E`。
# %%
predict("03-bet-length")
# %%
observe("03-length")
review("03-crossover", "03-heads")
# %% [markdown] en
# ## Training is three forwards, but not for the first layer
#
# Going back, a layer computes two gradients: for its weight and for its input. Each costs one forward. The first layer's input is data: nobody needs that gradient.
# %% [markdown] zh
# ## 训练是三次前向，但第一层不是
#
# 反向时，一层要算两个梯度：给权重的和给输入的，各相当于一次前向。第一层的输入是数据，没有人需要它的梯度。
# %%
layer, image = nn.Conv2d(8, 16, 3, padding=1), torch.zeros(2, 8, 10, 10)
forward = count(layer, image).macs
print("data in front: ", count(layer, image, training=True).macs / forward)
print("layer in front:", count(layer, image.requires_grad_(), training=True).macs / forward)
review("03-why-backward", "03-training")
# %% [markdown] en
# ## Bet: does the time shrink like the work?
#
# Depthwise convolutions made phones fast, it is said, because they save so many MACs. You have a fair stopwatch from lesson 02.
# %% [markdown] zh
# ## 下注：耗时会和工作量一起缩小吗？
#
# 都说深度卷积让手机跑得快，因为省了大量 MACs。第 02 课的公平秒表正好派上用场。
# %%
predict("03-bet-depthwise")
# %%
observe("03-depthwise")
explain("03-depthwise-why")
# %% [markdown] en
# ## Two workers: one multiplies, one carries
#
# ```
# FLOP/s
#   peak |        ____________
#        |      /   limited by arithmetic
#        |    /
#        |  /  limited by memory
#        +-----|----------------
#             bend    FLOPs a byte
# ```
#
# **Intensity** is FLOPs for each byte carried. Below the bend (peak / bandwidth) the carrier is late, above it the multiplier. This picture is the *roofline*: a ceiling, not a forecast. A kernel whose data really comes from memory stays under it.
# %% [markdown] zh
# ## 两个工人：一个做乘法，一个搬数据
#
# ```
# FLOP/s
#   峰值 |        ____________
#        |      /   受限于计算
#        |    /
#        |  /  受限于内存
#        +-----|----------------
#             拐点    FLOPs / 字节
# ```
#
# **计算强度**就是每搬一个字节做多少次运算。拐点（峰值 / 带宽）以下，搬运工拖后腿；以上，乘法工拖后腿。这张图叫 *roofline*：它是天花板，不是预报。只要数据确实来自内存，kernel 就在它下面。
# %%
review("03-intensity", "03-roof-side")
# %% [markdown] en
# ## Bet: 64 rows instead of one
#
# Now the roof of the machine under your fingers: peak and bandwidth are measured, not looked up, and six operations are placed under them. Two of them are one linear layer, 64 MiB of weights, with 1 row and with 64.
# %% [markdown] zh
# ## 下注：1 行换成 64 行
#
# 这次是你手边这台机器的屋顶：峰值和带宽都是实测，不查表；再把六个算子放到屋顶下面，其中两个是同一个线性层（权重 64 MiB），分别处理 1 行和 64 行。
# %%
predict("03-bet-roof")
# %%
observe("03-roof")
explain("03-roof-why")
# %%
# en: A GPU has a roof for every number format and one memory for all of them.
# zh: GPU 的每种数值格式各有一个屋顶，显存却只有一份。
observe("03-peaks-cuda")
# %% [markdown] en
# ## A whole model under your roof
#
# One point a layer; the larger, the more time it takes. Left of the bend memory is the lower roof, and faster arithmetic would not lift it. Should a share exceed 100 %, the text below the table says where that can come from.
# %% [markdown] zh
# ## 把整个模型放到屋顶下
#
# 一个点就是一层，点越大耗时越多。拐点左边，压在头上的是内存这段屋顶，算得再快也抬不高它。如果有份额超过 100%，表格下面的文字会说明可能的原因。
# %%
from course import flags
from course.models import mobilenet_v2
from course.roofline import place

# en: one thread, as under the roof above; put back afterwards
# zh: 单线程，和上面的屋顶一致；用完恢复
with flags.using({"torch.num_threads": 1}):
    placed = place(mobilenet_v2().eval(), torch.randn(1, 3, 224, 224), max_time=4)
placed.plot()
placed
# %% [markdown] en
# ## Fill in: the least time a layer can take
#
# 5 minutes, three lines. The two workers run at the same time. A `gflop` is 1e9 FLOPs, a `gb` 1e9 bytes, and MACs come in. Done when both sides of the bend are right.
# %% [markdown] zh
# ## 补全：一层最短要多久
#
# 5 分钟，三行代码。两个工人同时干活。`gflop` 是 1e9 FLOPs，`gb` 是 1e9 字节，输入的是 MACs。拐点两侧都对，就算完成。
# %%
def least_ms(macs, bytes_moved, peak_gflop_per_s, bandwidth_gb_per_s):
    compute_s = ...
    memory_s = ...
    return ...

check("03-least-ms")          # hint("03-least-ms")   solution("03-least-ms")
# %% [markdown] en
# ## And the kernel has a say
#
# Same image, same channels, only more groups: the MACs fall in even steps. Do not expect the same of the time. Some kernels are loved by their authors, others are not.
# %% [markdown] zh
# ## kernel 也有发言权
#
# 图像一样，通道一样，只是分组越来越多：MACs 一级一级均匀下降。别指望耗时也这样。有的 kernel 是作者的心头好，有的不是。
# %%
observe("03-groups")
# %% [markdown] en
# ## Make it lose: fewer MACs, no faster
#
# 8 minutes. This pair keeps the advice "count MACs, pick the smaller" alive. Find one that kills it: `fewer` has at least 5 % fewer MACs, and the interval says slower, or the same within the gate. Products or convolutions, as you like.
# %% [markdown] zh
# ## 让它输：MACs 更少，却不更快
#
# 8 分钟。下面这一对还在支持“数 MACs，挑小的”这条建议。请找一对推翻它：`fewer` 至少少 5% 的 MACs，而区间显示更慢，或在阈值内一样快。矩阵乘、卷积都行。
# %%
from course.timing import compare

a, b = torch.randn(280, 280), torch.randn(200, 200)
more, fewer = (lambda: a @ a), (lambda: b @ b)
# en: same kind of work, only smaller: it wins. Change what `fewer` multiplies.
# zh: 同一类任务，只是更小，所以会赢。请换掉 `fewer` 里的乘法。
fair = compare({"more": more, "fewer": fewer}, baseline="more", max_time=2)
evidence = {"more_macs": count(lambda x: x @ x, a).macs,
            "fewer_macs": count(lambda x: x @ x, b).macs, "comparison": fair}
check("03-lose")              # hint("03-lose")   solution("03-lose")
# %% [markdown] en
# ## Four myths, and what you measured against them
#
# - **"1 GFLOPs = 2*MAC."** Half right: FLOPs = 2 x MACs. But 1 GFLOPs is 1e9 operations, so half a GMAC.
# - **"thop's first value is FLOPs."** Tempting: the examples call it `flops`. Beside torch's counter it was half: MACs.
# - **"VGG16 has 15.5 GFLOPs."** The digits are right, the unit is not. With multiplications and additions counted apart it is 30.94.
# - **"Foolproof counters."** Fine on plain convolutions. Then came one LSTM, one switch, and a 0.
# %% [markdown] zh
# ## 四个误区，以及你的测量结果
#
# - **“1 GFLOPs = 2*MAC。”** 对了一半：FLOPs = 2 x MACs。但 1 GFLOPs 是 1e9 次运算，合半个 GMAC。
# - **“thop 的第一个返回值是 FLOPs。”** 诱人之处：示例里就叫 `flops`。与 torch 的统计一比，只有一半：它是 MACs。
# - **“VGG16 是 15.5 GFLOPs。”** 数字对，单位错。乘法加法分开算是 30.94。
# - **“傻瓜式统计工具。”** 普通卷积没问题。可一个 LSTM、一个开关，就变成了 0。
# %% [markdown] en
# ## Exit check: five cards, one from lesson 02
#
# A depthwise layer brags at the bar: "I did one percent of your work!" The dense one looks at the clock. "And what took you so long?" "Carrying the glasses." 🍻
# %% [markdown] zh
# ## 下课小测：五张卡片，其中一张来自第 02 课
#
# 深度卷积在饭馆里吹牛：“我干的活只有你的百分之一！”普通卷积看了看表：“那你怎么这么久？”“光端盘子了。”🥢
# %%
review("03-exit-fewer", "03-myth-foolproof", "03-thop-first", "03-roof-side", "02-undecided")
# %% [markdown] en
# ## In three sentences, and on to the next room
#
# A count is exact, belongs to the model, and needs a convention. A time belongs to a machine and needs an interval. The two meet under a roof, and only there.
#
# Limit: the bytes here are the least there can be. A kernel may carry some of them twice.
# %% [markdown] zh
# ## 三句话小结，然后去下一课
#
# 工作量是精确的，属于模型，需要一个约定。耗时属于机器，需要一个区间。两者只在“屋顶”下相遇。
#
# 局限：这里的字节数是理论上最少的量。真实的 kernel 可能会把一部分搬上两遍。
# %%
finish()
