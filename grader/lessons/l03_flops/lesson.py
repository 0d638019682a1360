# %% [markdown] en
# # How much work is that model?
#
# 🎯 **What is it for?** “This model has 4 GFLOPs, that one 31”: papers compare models by such numbers, people buy hardware by them, and a reviewer asks how you counted. After this lesson you can count the work of a layer with pencil and paper, check any tool that counts it for you, and say why a model with less work is not always the faster one.
#
# ⏱️ 40 minutes for the main line · needs lesson 02 · everything runs live on a CPU; a GPU is used where you have one
# %% [markdown] zh
# # 这个模型要干多少活？
#
# 🎯 **学它有什么用？** “这个模型 4 GFLOPs，那个 31”：论文拿它比模型，大家拿它买机器，审稿人还要问一句：“怎么数的？”学完这一课，一层要干多少活，你拿支笔就能算出来；统计工具给的数，你知道该不该信；你还能说清：活儿少的模型，为什么不一定更快。
#
# ⏱️ 主线 40 分钟 · 先修：第 02 课 · 全部内容都能在 CPU 上实测，有 GPU 就用 GPU
# %% bootstrap
# %%
# en: Warm-up: cards from earlier lessons that are due today, and a little sum.
# zh: 热身：今天到期的旧卡片，再来一道小算术。
review(due=3)
explain("03-start")
# %% [markdown] en
# ## 🔬 First, meet your machine
#
# Before you count, look who does the work. `get_device_properties` describes a GPU; the memory comes in bytes, and divided by `1024**2` it is in MiB (not MB: 11 GB are 10,490 MiB). The last line is your CPU: the widest instructions that PyTorch uses on it, and the number of [[threads]].
# %% [markdown] zh
# ## 🔬 先认识一下你的机器
#
# 数活儿之前，先看看是谁在干。`get_device_properties` 介绍 GPU；显存的单位是字节，除以 `1024**2` 得到 MiB（不是 MB：11 GB 只有 10,490 MiB）。最后一行是你的 CPU：PyTorch 在上面用到的最宽指令集，还有[[threads|线程数]]。
# %%
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cuda":
    gpu = torch.cuda.get_device_properties(0)
    print(f"{gpu.name}: {gpu.total_memory / 1024**2:,.0f} MiB,",
          gpu.multi_processor_count, "multiprocessors")
print(torch.backends.cpu.get_cpu_capability(), torch.get_num_threads(), "threads")
# %% [markdown] en
# ## 🔬 Then, time VGG16 with your own stopwatch
#
# VGG16 is an image network from 2014, and probably the one that was counted most often. Here is the stopwatch of lesson 02, with a fence on both sides; on a CPU the fence does nothing. Four readings: the first one is the warm-up.
# %% [markdown] zh
# ## 🔬 再用你自己的秒表，给 VGG16 计时
#
# VGG16 是 2014 年的图像网络，大概也是被统计得最多的网络。下面就是第 02 课的秒表，前后各一道栅栏；在 CPU 上，栅栏什么都不做。读四次，第一次算预热。
# %%
from time import perf_counter
from course.models import vgg16

vgg, image = vgg16().eval().to(device), torch.randn(1, 3, 224, 224, device=device)
wait = torch.cuda.synchronize if device == "cuda" else lambda: None
def forward_ms():
    wait()
    start = perf_counter()
    with torch.inference_mode():
        vgg(image)
    wait()
    return (perf_counter() - start) * 1e3

times_ms = [forward_ms() for _ in range(4)]
print([round(ms) for ms in times_ms], "ms")
# %% [markdown] en
# ## 🎲 Do two popular counters agree?
#
# The time belongs to your machine. The *work* belongs to the model: it should be the same number for everybody. Place your bet, then ask the packages thop and ptflops yourself.
# %% [markdown] zh
# ## 🎲 两个常用的统计工具，意见一致吗？
#
# 耗时属于你的机器，*工作量*属于模型：照理说，谁来数都该是同一个数。先下注，再亲手问问 thop 和 ptflops 这两个包。
# %%
predict("03-bet-vgg")
# %%
from copy import deepcopy
from ptflops import get_model_complexity_info
from thop import profile

# en: both leave things in a model (thop two buffers, ptflops four methods),
# en: so each gets a copy; thop calls its number "flops"
# zh: 两个工具都会在模型里留下东西（thop 两个 buffer，ptflops 四个方法），
# zh: 所以各给一份拷贝；thop 管这个数叫 “flops”
flops, params = profile(deepcopy(vgg), inputs=(image,), verbose=False)
print(f"thop:    {flops / 1e9:.3f} G, {params / 1e6:.3f} M parameters")
size = (3, 224, 224)
numbers = get_model_complexity_info(deepcopy(vgg), size, print_per_layer_stat=False)
print("ptflops:", *numbers)
# %% [markdown] en
# ## 💡 Three words that sound alike
#
# ```
# MAC      multiply + add into a sum   acc += a * b
# FLOPs    an amount of work           2 x MACs
# FLOP/s   a rate                      FLOPs per second
# ```
#
# A [[mac]] is one multiplication that goes into a sum. A [[flop]] is a single multiplication or addition, so **one MAC is two FLOPs**, and 1 GFLOPs (1e9) is half a GMAC. [[flops-rate|FLOP/s]] is a speed. “FLOPS” with a capital S means the speed to some people and the amount to others; we write FLOP/s for the speed.
#
# thop called its number `flops`, ptflops wrote `GMac` behind it. Next: what the tools print, side by side (half a minute).
# %% [markdown] zh
# ## 💡 三个听起来差不多的词
#
# ```
# MAC      acc += a * b    一次乘法加进一个和
# FLOPs    2 x MACs        工作量
# FLOP/s   FLOPs / s       速率，每秒多少 FLOPs
# ```
#
# [[mac]] 是一次乘法，乘完加进一个和里。[[flop]] 是单独的一次乘法或加法，所以 **1 个 MAC 是 2 个 FLOP**，1 GFLOPs（1e9 次）合半个 GMAC。[[flops-rate|FLOP/s]] 是速度。大写 S 的“FLOPS”，有人指速度，有人指总量；咱们用 FLOP/s 表示速度。
#
# thop 管自己的数叫 `flops`，ptflops 在后面写着 `GMac`。差之毫厘，谬以千里，单位错了更是差一倍！接着把各个工具打印的数摆在一起（约半分钟）。
# %%
from course.figures import differences

vgg_record = observe("03-vgg16-counters")
display(differences(vgg_record))
print(f"your speed: {2 * 15.47 / min(times_ms) * 1e3:,.0f} GFLOP/s")
# %%
review("03-letters", "03-vgg-gflops", "03-why-differ")
keep("flops.units")
# %% [markdown] en
# 📌 **So far.**
# 1. MACs and FLOPs are amounts, FLOP/s is a speed; FLOPs = 2 x MACs.
# 2. A variable called `flops` may hold MACs: look for the unit.
# 3. Tools differ in what they count, not only in the unit.
#
# ## 💡 One sentence counts every layer
#
# **How many numbers come out, times how many products are summed into each.** For a linear layer: `rows * outputs` numbers come out, each a sum over `inputs` products.
#
# The same for all of VGG16, by hand: a [[hook]] is a function that PyTorch calls when a layer has run. It sees the output; `weight[0]` holds the factors of one output.
# %% [markdown] zh
# 📌 **小结。**
# 1. MACs、FLOPs 是总量，FLOP/s 是速度；FLOPs = 2 x MACs。
# 2. 变量名叫 `flops`，装的可能是 MACs：要看单位。
# 3. 各工具不只单位不同，算进去的东西也不同。
#
# ## 💡 一句话，数遍所有的层
#
# **输出多少个数，乘以每个数由多少个乘积累加而成。** 线性层：输出 `rows * outputs` 个数，每个由 `inputs` 个乘积累加而成。
#
# 亲手把整个 VGG16 数一遍：[[hook]] 是一层跑完时 PyTorch 会调用的函数。它能看到输出；`weight[0]` 里正好是算一个输出要用的那些系数。
# %%
from torch import nn

table = []
def note(layer, inputs, output):
    table.append((layer, tuple(output.shape), output.numel() * layer.weight[0].numel()))

layers = [one for one in vgg.modules() if isinstance(one, (nn.Conv2d, nn.Linear))]
hooks = [layer.register_forward_hook(note) for layer in layers]
with torch.inference_mode():
    vgg(image)
for hook in hooks:
    hook.remove()
for layer, shape, macs in table:
    print(f"{type(layer).__name__:7}{str(shape):22}{macs / 1e6:9,.1f} million MACs")
print(f"in all {sum(macs for *_, macs in table):,}")
# %%
review("03-linear", "03-params")
# %% [markdown] en
# ## 🛠️ The same sentence as a formula
#
# Four minutes, three blanks. `kernel` is the side of the square filter; `height` and `width` are those of the **output**. With `groups` the channels are cut into bundles, and each output sees its own bundle only; in a [[depthwise|depthwise convolution]] every channel is a bundle of its own. Done when batch, groups and depthwise come out right.
# %% [markdown] zh
# ## 🛠️ 同一句话，写成公式
#
# 4 分钟，三处空白。`kernel` 是方形卷积核的边长，`height` 和 `width` 是**输出**的尺寸。`groups` 把通道分成若干组，每个输出只看自己那一组；每个通道自成一组，就是[[depthwise|逐通道卷积（depthwise）]]。batch、分组、depthwise 都对，就算完成。
# %%
def conv_macs(n, c_in, c_out, kernel, height, width, groups=1):
    outputs = ...
    # en: summed into each output
    # zh: 累加进每个输出的乘积
    products = ...
    return ...

check("03-conv-macs")         # hint("03-conv-macs")   solution("03-conv-macs")
# %% [markdown] en
# ## 🔬 Now one call does it, and says what it missed
#
# You know what has to come out, so you may use a tool: `count`. Does it agree with your table? Two lines more: a transposed convolution goes backwards (it takes each **input** pixel, multiplies it with the whole filter and scatters the results, so input positions count), and `cross_check` sets other tools beside ours. One of them counts output positions. Which?
# %% [markdown] zh
# ## 🔬 现在一行搞定，而且会交代漏了什么
#
# 该得出多少，你心里已经有数了，这才轮到工具上场：`count`。和你的表对得上吗？再看两行：转置卷积是反着来的（拿每个**输入**像素去乘整个卷积核，再把结果撒出去，所以数的是输入的位置）；`cross_check` 把别的工具摆到旁边。有一个工具数了输出的位置，是哪个？
# %%
from course.crosscheck import cross_check
from course.flops import count

print(f"{count(vgg, image).macs:,}")
print(cross_check(nn.ConvTranspose2d(16, 32, 2, stride=2), torch.zeros(1, 16, 32, 32)))
explain("03-transposed")
review("03-groups", "03-dilation")
# %% [markdown] en
# ## 🎲 Can a switch change the amount of work?
#
# An LSTM is a layer that reads a sequence step by step. With I inputs and H units over T steps: `T * 4 * (I*H + H*H)` MACs for each sequence. Four gates, two matrices each. There is no switch in this formula.
# %% [markdown] zh
# ## 🎲 一个开关能改变工作量吗？
#
# LSTM 是一步一步读序列的层。I 个输入、H 个单元，跑 T 步：每条序列 `T * 4 * (I*H + H*H)` 个 MAC。四个门，各两个矩阵。公式里可没有开关。
# %%
predict("03-bet-lstm")
# %%
observe("03-lstm-zero")
explain("03-lstm-why")
# %% [markdown] en
# ## 💡 A count needs a convention, and a list of what it missed
#
# Ours: bias, ReLU, pooling, softmax, normalisation count 0. Padding zeros count. Attention counts in full. Another convention is fine; keeping silent about it is not.
#
# And a counter should say what it did **not** understand: `unknown` lists it, and `exact` is True only if nothing was missed.
# %% [markdown] zh
# ## 💡 统计要有约定，还要列出漏了什么
#
# 我们的约定：偏置、ReLU、池化、softmax、归一化记 0；补的零照算；注意力全部照算。用别的约定不算错，藏着不说才算。
#
# 统计工具还应当交代自己**没看懂**什么：`unknown` 会列出来；什么都没漏，`exact` 才是 True。
# %%
work = count(nn.LSTM(32, 64), torch.zeros(10, 1, 32))
print(work.macs, 10 * 4 * (32 * 64 + 64 * 64))
print("unknown:", work.unknown, "exact:", work.exact)
review("03-convention", "03-foolproof")
# %% [markdown] en
# ## 💡 Training is three forwards, but not for the first layer
#
# Going back, a layer computes two gradients: one for its weight, one for its input. Each costs as much as a forward. The first layer's input is data: nobody needs that gradient.
# %% [markdown] zh
# ## 💡 训练是三次前向，但第一层不是
#
# 反向传播时，一层要算两个梯度：给权重的和给输入的，各相当于一次前向。第一层的输入是数据，没有人要它的梯度。
# %%
layer, pixels = nn.Conv2d(8, 16, 3, padding=1), torch.zeros(2, 8, 10, 10)
forward = count(layer, pixels).macs
print("data in front: ", count(layer, pixels, training=True).macs / forward)
pixels.requires_grad_()
print("layer in front:", count(layer, pixels, training=True).macs / forward)
review("03-training")
keep("flops.count")
# %% [markdown] en
# 📌 **So far.**
# 1. Numbers that come out, times products summed into each: that is the count.
# 2. A training step is about three forwards.
# 3. A 0 from a tool may mean “I do not know this layer”.
#
# ☕ The counting is done; a good place to stop for today. Texts and attention: the next two cells are *deeper, optional*. Otherwise go on at [[#🎲 Does the time shrink like the work?]].
# %% [markdown] zh
# 📌 **小结。**
# 1. 输出多少个数，乘以每个数累加多少个乘积：这就是工作量。
# 2. 一个训练步大约是三次前向。
# 3. 工具报 0，可能只是说“这一层我不认识”。
#
# ☕ 数活儿就讲到这儿，今天歇在这里也很好。想看文本和注意力？后面两格是*选读*；不想看就直接跳到 [[#🎲 耗时会和工作量一起缩小吗？]]。
# %% [markdown] en
# ### Deeper, optional: four times the text, how many times the work?
#
# A text of L tokens (pieces of words), each a row of E numbers. A linear layer uses every weight once for each token. In attention each token is compared with each one and takes a weighted sum of all: together `2 * L * L * E`. The cell asks for your bet first.
# %% [markdown] zh
# ### 选读：文本长四倍，活儿多几倍？
#
# 文本有 L 个 token（词的片段），每个是一行 E 个数。线性层对每个 token 把权重用一遍；注意力让每个 token 与所有 token 比较，再对它们加权求和，合计 `2 * L * L * E`。运行下面的单元格，它会先请你下注。
# %%
observe("03-length")
review("03-crossover", "03-heads", "03-why-backward", "03-pasted", "03-ptflops-unit")
# %% [markdown] en
# ## 🎲 Does the time shrink like the work?
#
# Depthwise convolutions made phones fast, it is said, because they save so many MACs. “Not everything that can be counted counts”, wrote the sociologist W. B. Cameron in 1963. Does this? An ordinary (*dense*) convolution against a depthwise one, taking turns, on one thread.
# %% [markdown] zh
# ## 🎲 耗时会和工作量一起缩小吗？
#
# 都说逐通道卷积让手机跑得快，因为省了大量 MACs。活儿少了一百多倍，时间也少一百多倍吗？普通卷积和逐通道卷积轮流跑，单线程，比一比就知道！
# %%
predict("03-bet-depthwise")
# %%
observe("03-depthwise")
explain("03-depthwise-why")
# %% [markdown] en
# ## 🕳️ Fresh memory in every call looks like slow work
#
# A layer writes its result into memory. If the system hands out that memory anew in every call, the first touch of each page (4 KiB) stops the program for a moment: a [[page-fault]]. A careless stopwatch counts this as work of the layer. In the experiment above the process kept its memory. Here two new processes run the same two layers: one gives the memory of each result back at once, as the C library of Linux (glibc) does when a program starts; the other keeps it. On a Mac or Windows the two may look alike.
# %% [markdown] zh
# ## 🕳️ 每次都用新内存，看上去就像活儿干得慢
#
# 一层要把结果写进内存。如果这块内存每次调用都由系统重新分配，那么每一页（4 KiB）第一次被碰到时，程序都得停一下：这叫[[page-fault|缺页]]。掐表不小心，就会把它记到这一层的账上。上面的实验里，进程一直留着内存。这里开两个新进程，跑同样的两个层：一个像 Linux 的 C 库（glibc）在程序刚启动时那样，每个结果的内存用完立刻还给系统；另一个把内存留着。在 Mac 或 Windows 上，两者可能看不出差别。
# %%
observe("03-page-faults")
explain("03-fresh-memory")
# %% [markdown] en
# ## 💡 Three workers: one multiplies, one carries, one hands out the orders
#
# A layer multiplies, and it carries numbers from and to memory. [[arithmetic-intensity|Intensity]] is FLOPs for each byte carried. Below the bend (peak / bandwidth) the carrier is late, above it the multiplier. The picture below is the [[roofline]]: a ceiling, not a forecast. The third worker hands out the orders: Python and PyTorch, a few microseconds a call. With many tiny layers he is the late one: [[overhead]]. (Horace He's essay “Making Deep Learning Go Brrrr From First Principles”, 2022, tells them apart this way.)
# %% [markdown] zh
# ## 💡 三个工人：一个算，一个搬，一个派活
#
# 一层要做乘法，也要在内存里搬数据。[[arithmetic-intensity|计算强度]]就是每搬一个字节做多少次运算。拐点（峰值 / 带宽）以下，搬的人拖后腿；以上，算的人拖后腿。下面这张图叫[[roofline|屋顶线（roofline）]]：它是天花板，不是预报。第三个人负责派活：Python 和 PyTorch，每次调用几微秒。层又小又多时，拖后腿的就是他：这叫[[overhead|调用开销]]。（Horace He 2022 年的文章 “Making Deep Learning Go Brrrr From First Principles” 就是这样分的。）
# %%
explore("roofline")
review("03-intensity", "03-overhead")
# %% [markdown] en
# 📌 **So far.**
# 1. Fewer MACs are not always less time: bytes and calls cost too.
# 2. Page faults are not work: look for them before you believe a time.
# 3. One multiplies, one carries, one hands out: the slowest sets the pace.
#
# ## 🎲 64 rows instead of one
#
# Now the roof of your own machine: peak and bandwidth are measured, not looked up, and six operations are placed under it. Two of them are one linear layer with 64 MiB of weights, once with 1 row and once with 64.
# %% [markdown] zh
# 📌 **小结。**
# 1. MACs 少，时间不一定少：搬字节、派活都要花时间。
# 2. 缺页不是活儿：信一个耗时之前，先看看有没有缺页。
# 3. 一个算、一个搬、一个派活：谁最慢，谁定快慢。
#
# ## 🎲 1 行换成 64 行
#
# 这次看你自己机器的屋顶：峰值和带宽都是实测，不查表；再把六个算子放到屋顶下面。其中两个是同一个线性层（权重 64 MiB），分别处理 1 行和 64 行。
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
# ## 🔬 A whole model under your roof
#
# One point a layer, the larger the more time it takes. Each layer is timed alone, with its data out of the cache. Left of the bend memory is the lower roof, and faster arithmetic would not help. The text says which layers take longest where that is beyond doubt, and which limit they have.
# %% [markdown] zh
# ## 🔬 把整个模型放到屋顶下
#
# 一个点就是一层，点越大耗时越多。每层单独计时，数据都不在缓存里。拐点左边，压在头上的是内存这段屋顶，算得再快也没用。哪些层最费时间、卡在哪个上限，只要测得出来，文字里都会说。
# %%
from course import flags
from course.models import mobilenet_v2
from course.roofline import place

# en: one thread, as under the roof above; put back afterwards
# zh: 单线程，和上面的屋顶一致；用完恢复
with flags.using({"torch.num_threads": 1}):
    placed = place(mobilenet_v2().eval(), torch.randn(1, 3, 224, 224), max_time=2)
placed.plot()
print(placed.sentence())
keep("roofline")
# %% [markdown] en
# 📌 **So far.**
# 1. Below the bend memory sets the pace, above it arithmetic.
# 2. More rows use the weights more often, for hardly more bytes.
# 3. A layer left of the bend gains nothing from faster arithmetic.
#
# ## 🛠️ The least time a layer can take
#
# Five minutes, three lines. Two workers, who multiply and carry at the same time. A `gflop` is 1e9 FLOPs, a `gb` 1e9 bytes, and MACs come in. Done when both sides of the bend are right.
# %% [markdown] zh
# 📌 **小结。**
# 1. 拐点以下，快慢由访存决定；以上，由计算决定。
# 2. 行数多了，同样的权重多用几次，搬的字节没多多少。
# 3. 拐点左边的层，算得再快也没用。
#
# ## 🛠️ 一层最短要多久
#
# 5 分钟，三行代码。两个工人，一个算一个搬，同时开工。`gflop` 是 1e9 FLOPs，`gb` 是 1e9 字节，输入的是 MACs。拐点两侧都对，就算完成。
# %%
def least_ms(macs, bytes_moved, peak_gflop_per_s, bandwidth_gb_per_s):
    compute_s = ...
    memory_s = ...
    return ...

check("03-least-ms")          # hint("03-least-ms")   solution("03-least-ms")
# %% [markdown] en
# ☕ That was the main line. A counterexample to find is *deeper, optional*. Otherwise go on at [[#🎯 Exit check: five cards, one from lesson 02]].
#
# ### Deeper, optional: find a counterexample with fewer MACs and more time
#
# First a look: same image, same channels, only more groups, so the MACs fall in even steps. The time need not: each kernel is written by hand, some with more care than others.
#
# Then eight minutes for you. This pair keeps the advice “count MACs, pick the smaller” alive. Find one that refutes it: `fewer` has at least 5 % fewer MACs, and the interval says slower, or the same within the gate.
# %% [markdown] zh
# ☕ 主线到这儿就讲完了。还有一个反例要找，是*选读*。不看就直接跳到 [[#🎯 下课小测：五张卡片，其中一张来自第 02 课]]。
#
# ### 选读：找个 MACs 更少却更慢的反例
#
# 先看一个实验：图像一样，通道一样，只是分组越来越多，MACs 一级一级均匀下降。耗时可不一定：kernel 都是人写的，有的下了功夫，有的没有。
#
# 然后给你 8 分钟。下面这一对还在支持“数 MACs，挑小的”。请找一对推翻它：`fewer` 至少少 5% 的 MACs，而区间显示更慢，或在阈值内一样快。
# %%
from course.timing import compare

observe("03-groups")
a, b = torch.randn(280, 280), torch.randn(200, 200)
more, fewer = (lambda: a @ a), (lambda: b @ b)
# en: same kind of work, only smaller: it wins. Change what `fewer` multiplies.
# zh: 同一类任务，只是更小，所以会赢。请换掉 `fewer` 里的乘法。
with flags.using({"torch.num_threads": 1}):
    fair = compare({"more": more, "fewer": fewer}, baseline="more", max_time=2,
                   same=False)
evidence = {"more_macs": count(lambda x: x @ x, a).macs,
            "fewer_macs": count(lambda x: x @ x, b).macs, "comparison": fair}
check("03-lose")              # hint("03-lose")   solution("03-lose")
# %% [markdown] en
# ## 🎯 Exit check: five cards, one from lesson 02
#
# Four myths you have met. **“1 GFLOPs = 2*MAC”**: FLOPs = 2 x MACs, so it is half a GMAC. **“thop's first value is FLOPs”**: it is MACs. **“VGG16 has 15.5 GFLOPs”**: right digits, wrong unit; it is 30.94. **“Counters are foolproof”**: one said 0 for an LSTM, because a switch was on.
#
# A count belongs to the model and needs a convention. A time belongs to a machine and needs an interval. They meet under the roof.
#
# A depthwise layer brags at the bar: “I did one percent of your work!” The dense one looks at the clock. “And what took you so long?” “Carrying the glasses.” 🍻
# %% [markdown] zh
# ## 🎯 下课小测：五张卡片，其中一张来自第 02 课
#
# 你已经破掉了四个误区。**“1 GFLOPs = 2*MAC”**：FLOPs = 2 x MACs，所以只合半个 GMAC。**“thop 的第一个返回值是 FLOPs”**：其实是 MACs。**“VGG16 是 15.5 GFLOPs”**：数字对，单位错，应为 30.94。**“统计工具不会错”**：只因为一个开关开着，LSTM 就被算成了 0。
#
# 工作量属于模型，需要约定；耗时属于机器，需要区间。两者在“屋顶”下相遇。
#
# 逐通道卷积在饭馆里吹牛：“我干的活只有你的百分之一！”普通卷积看了看表：“那你怎么这么久？”“光端盘子了。”🥢
# %%
review("03-exit-fewer", "03-myth-foolproof", "03-thop-first",
       "03-roof-side", "02-undecided")
# %%
finish()
