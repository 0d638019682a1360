# %% [markdown] en
# # 🎯 What happens when cuDNN is off?
#
# ⏱️ **40 minutes.** Before it: lessons 01 to 03.
#
# [[cudnn]] is NVIDIA's library of fast routines for convolutions and a few other layers. `torch.backends.cudnn.enabled` says
# whether PyTorch may use it. You will switch it off one day: to see whether a strange result comes from the library, or because a
# colleague says that “it no longer crashes without”. At the end you can say what then computes instead, what it costs, and which of two different results to believe.
#
# Live on any machine: PyTorch tells what it **would** choose, and oneDNN on the CPU stands in for cuDNN. What needs an NVIDIA
# GPU is a recording, or what others have published, marked as such.
# %% [markdown] zh
# # 🎯 关掉 cuDNN 会怎样？
#
# ⏱️ **40 分钟。** 先修：第 01 至 03 课。
#
# [[cudnn]] 是 NVIDIA 的加速库，专攻卷积和少数几种层。`torch.backends.cudnn.enabled` 决定 PyTorch 能不能用它。总有一天你会想关掉它：结果很怪，想看看是不是库的问题；或者同事提了个合并请求：“加上这行就不报错了。”学完这一课，你能说出关掉之后由谁来算、代价多大，两个结果不一样时该信谁。
#
# 任何机器都能实测的：PyTorch 会告诉你它**打算**选谁；CPU 上的 oneDNN 替 cuDNN 出场。需要 NVIDIA GPU 的部分，看录好的结果，或者别人公布的结果（会注明）。
# %% bootstrap
# %%
# en: Warm-up: cards from earlier lessons that are due today (none is fine).
# zh: 热身：今天到期的旧卡片（没有也正常）。
review(due=3)
# %% [markdown] en
# ## What is the switch for?
#
# Say your kitchen tap drips. On the fridge hangs a list: first the specialist, then the handyman, last the neighbour, who can
# do everything, with patience. You call from the top; the first who is allowed and able gets the job.
#
# PyTorch has such a list for each convolution. cuDNN is the specialist for NVIDIA GPUs. `cudnn.enabled = False` crosses out
# its number: nothing breaks, somebody further down does the work. A question to warm up.
# %% [markdown] zh
# ## 这个开关是干什么用的？
#
# 厨房水龙头漏了。冰箱上贴着一张名单：先是专修师傅，再是物业，最后是隔壁大叔，什么都会，就是慢一点。你从上往下打电话，第一个“可以找、又会修”的人接活。
#
# PyTorch 对每个卷积也有这么一张名单。cuDNN 就是 NVIDIA GPU 的专修师傅。`cudnn.enabled = False` 等于把它的号码划掉：什么都不会坏，由名单后面的人来干。先来一道热身题。
# %%
explain("04-where")
# %% [markdown] en
# ## See it: what your machine says
#
# Three lines that tutorials like to print as “proof that cuDNN is working”. Run them, with or without a GPU, and ask of each
# what it really says. The picture below shows the way that one convolution takes on this machine, right now. (A **profiler**,
# in the card, is a tool that lists what really ran. A [[kernel]] is the small program that does one step of the computing.)
# %% [markdown] zh
# ## 看一看：你的机器怎么说
#
# 教程爱用这三行来“证明 cuDNN 在工作”。不管有没有 GPU，都跑一遍，逐行想想它到底说明了什么。下面的图是一次卷积此刻在这台机器上走的路。（题目里的 **profiler** 是一种工具，能列出实际运行了什么；[[kernel]] 是完成一步计算的小程序。）
# %%
import torch
from course.figures.route import route
from course.flags import using

cudnn = torch.backends.cudnn
print("is_available()", cudnn.is_available())
print("version()     ", cudnn.version())
print("enabled       ", cudnn.enabled)
layer, x = torch.nn.Conv2d(32, 32, 3, padding=1), torch.randn(8, 32, 28, 28)
route(layer, x)
# %%
explain("04-proof")
# %% [markdown] en
# 📌 **So far.**
# 1. PyTorch goes down a list; cuDNN stands high on it, for NVIDIA GPUs.
# 2. Off crosses it out: somebody else computes, nothing breaks.
# 3. Available, version, enabled: none of them says who computed.
#
# ## 🎲 Off, on a CPU: does anything change?
#
# A laptop without cuDNN prints `False None True`. The switch is on, and there is no library behind it. Now its owner says: “We
# train on the CPU, so I switched cuDNN off, just in case.” Bet first.
# %% [markdown] zh
# 📌 **小结。**
# 1. PyTorch 顺着名单往下找；cuDNN 排在前面，只管 NVIDIA GPU。
# 2. 关掉就是划掉它的号码：换别人来算，什么都不会坏。
# 3. 能用、版本、开着：三行都没说这次是谁算的。
#
# ## 🎲 在 CPU 上关掉：有变化吗？
#
# 没有 cuDNN 的笔记本电脑会打印 `False None True`：开关开着，后面却没有库。电脑的主人说：“我们在 CPU 上训练，保险起见，我把 cuDNN 关了。”先下注。
# %%
predict("04-bet-cpu")
# %%
observe("04-cpu-enabled")
explain("04-cpu-why")
# %% [markdown] en
# ## 💡 Who computes? PyTorch goes down a list
#
# Inside every convolution PyTorch makes a choice, the [[backend-selection]]: it takes the first on its list that is allowed and able.
# We can ask for the choice without computing anything.
#
# Names you will meet: `Mkldnn` is [[onednn]], the library of the CPU. `NnpackSpatial` is [[nnpack]]. `Slow2d` is PyTorch's own way,
# the **plain path** (it is called slow; measure whether it is). `unnamed`: a choice without a Python name. And the kinds of convolution:
# [[depthwise]] has one filter a channel, dilated a filter with gaps, transposed makes images larger.
# %% [markdown] zh
# ## 💡 由谁来算？PyTorch 顺着名单问
#
# 每个卷积内部，PyTorch 都要做一次[[backend-selection|后端选择]]：名单上第一个既获准又能做的，就选它。我们可以只问选择，不做计算。
#
# 你会遇到的名字：`Mkldnn` 就是 [[onednn]]，CPU 的加速库；`NnpackSpatial` 是 [[nnpack]]；`Slow2d` 是 PyTorch 自己的办法，也就是**原生实现**（名叫 Slow，到底慢不慢要测）；`unnamed` 是没有 Python 名字的选择。再说卷积的种类：[[depthwise|逐通道卷积]]每个通道一个滤波器，空洞卷积的滤波器带空隙，转置卷积把图像变大。
# %%
predict("04-bet-dispatch")
# %%
observe("04-dispatch")
explain("04-unsupported")
# en: So much for the CPU. And on a GPU? Bet before you read on; the experiment
# en: on a GPU (yours, recorded or reported) comes later.
# zh: CPU 就到这里。GPU 上呢？先下注再往下读；GPU 上的实验（你的、录制的
# zh: 或别人报告的）在后面。
predict("04-bet-gpu")
# %%
# en: See the way change: where does it turn off, compared with the first picture?
# en: Then write "cudnn.enabled" instead and run it again.
# zh: 看它换条路：和第一张图比，它在哪儿拐了弯？
# zh: 然后换成 "cudnn.enabled" 再跑一遍。
with using({"mkldnn.enabled": False}):
    picture = route(layer, x)
picture
# %% [markdown] en
# ## 💡 On a GPU: two switches, and many that ask neither
#
# For tensors on an NVIDIA GPU, convolutions, recurrent layers, BatchNorm, CTC loss and `grid_sample` read `cudnn.enabled`.
# Attention has a switch of its own. Products of matrices go to [[cublas]]; pooling, softmax and LayerNorm have kernels of
# PyTorch's own.
#
# On means: **allowed**. cuDNN must also be able. Off means: somebody else computes. Both switches are read in **every call**.
#
# The picture is a table from PyTorch's source, not a measurement; only the two switches are read here and now. We set the
# first to off, for this cell.
# %% [markdown] zh
# ## 💡 在 GPU 上：两个开关，还有许多谁也不问
#
# 对 NVIDIA GPU 上的张量，卷积、循环层、BatchNorm、CTC loss、`grid_sample` 会读 `cudnn.enabled`。注意力另有一个开关。矩阵乘法去 [[cublas]]；池化、softmax、LayerNorm 用 PyTorch 自己的 kernel。
#
# 开着的意思是**允许**：cuDNN 还得做得了才行。关着的意思是换别人来算。两个开关**每次调用**都会读。
#
# 下图是照 PyTorch 源码列的一张表，不是测出来的；只有两个开关的状态是当场读的。这一格里，我们把第一个关掉了。
# %%
with using({"cudnn.enabled": False}):
    observe("04-gates")
explain("04-attention")
explain("04-who-reads")
# %% [markdown] en
# 📌 **So far.** The switch only forbids; then the next one in line computes.
#
# 1. `enabled` is a permission, read in each call; it matters for tensors on a GPU alone.
# 2. A library that is not allowed or not able is passed over, and the next one computes; nothing moves to the CPU.
# 3. Attention has its own switch; products of matrices and pooling have none.
# %% [markdown] zh
# 📌 **小结。** 开关只管禁止；不让谁算，就由下一位来算。
#
# 1. `enabled` 是许可，每次调用都读，但只对 GPU 上的张量有意义。
# 2. 不获准或做不了的，跳过，由下一个来算；不会搬去 CPU。
# 3. 注意力有自己的开关；矩阵乘法和池化没有。
# %%
keep("cudnn.enabled")
# %% [markdown] en
# ## 🔬 Pretend to own a GPU
#
# Tensors can pretend: they have a shape, a type and a device, and no memory. The backend selection still tells who would
# compute. On a PyTorch without cuDNN you see who is left when the specialist is gone. `Slow2d` means: copy every window of the image into
# the row of a matrix ([[im2col]]), then one product of matrices.
# %% [markdown] zh
# ## 🔬 假装有一块 GPU
#
# 张量可以假装：有形状、有类型、有设备，就是没有内存。后端选择照样会说由谁来算。在不带 cuDNN 的 PyTorch 上，你看到的就是专修师傅不在时，名单上还剩谁。`Slow2d` 的意思是：把图像的每个窗口抄成矩阵的一行（[[im2col]]），再做一次矩阵乘法。
# %%
observe("04-pretend-gpu")
explain("04-replacement")
# %% [markdown] en
# ## 🎲 What does it cost? Switch oneDNN off on your CPU
#
# oneDNN is to the CPU what cuDNN is to the GPU: a fast library, a switch (`mkldnn.enabled`), PyTorch's own way behind it.
# “Without the library everything takes twice as long”, they say. Six layers, on and off.
# %% [markdown] zh
# ## 🎲 代价多大？在你的 CPU 上关掉 oneDNN
#
# oneDNN 之于 CPU，就像 cuDNN 之于 GPU：一个加速库，一个开关（`mkldnn.enabled`），后面是 PyTorch 自己的办法。都说“没有加速库，什么都慢一倍”。六个层，开关各测一遍。
# %%
predict("04-bet-onednn")
# %%
observe("04-onednn-ops")
explain("04-twice")
explain("04-mixture")
# %% [markdown] en
# ## 🔬 The proof, with its control
#
# An earlier card asked for proof that a library is at work. Here it is: one call, the switch on and off, and a profiler that
# names what ran. With a GPU this asks about cuDNN, without one about oneDNN. In which line do the lists differ? Why not for
# `MaxPool2d`? Then try `"Linear"` and `"LSTM"`.
# %% [markdown] zh
# ## 🔬 带对照的证据
#
# 前面有张卡片问：怎么证明库真的在干活？证据在此：同一个调用，开关各跑一次，让 profiler 报出跑了什么。有 GPU 就问 cuDNN，没有就问 oneDNN。开和关的清单差在哪一行？`MaxPool2d` 为什么没有差别？再换成 `"Linear"` 和 `"LSTM"` 试试。
# %%
from course.lessons.l04_cudnn_enabled.probes import OPERATIONS, gpu, longest_kernels

device = gpu()
switch = "cudnn.enabled" if device == "cuda" else "mkldnn.enabled"
for name in ("Conv2d", "MaxPool2d"):
    call = OPERATIONS[name](device)
    for on in (True, False):
        with using({switch: on}):
            print(f"{name}, {switch} = {on}", *longest_kernels(call, 5), sep="\n    ")
# %% [markdown] en
# ## 🎲 The bits differ. Who is right?
#
# Two ways to compute one convolution, two results that are not equal. A bug? First look at the size of the difference, and ask
# which of them is nearer to the exact result. float64 has more than twice the digits of [[float32]], so it is our reference. Bet,
# then run the small case; the experiment after it does it many times.
# %% [markdown] zh
# ## 🎲 比特不同，谁对？
#
# 同一个卷积，两条路算，结果不相等。是 bug 吗？先看看差多少，再问问谁离准确值更近。float64 的有效位数是 [[float32]] 的两倍多，就拿它当参照。先下注，再跑这个小例子；后面的实验会做很多次。
# %%
predict("04-bet-bits")
# %%
from course.lessons.l04_cudnn_enabled.probes import on_and_off

layer, x = torch.nn.Conv2d(16, 16, 3), torch.randn(2, 16, 20, 20)
on, off = on_and_off(lambda: layer(x), "mkldnn.enabled")
exact = layer.double()(x.double()).detach()
print("values with other bits:", (on != off).sum().item(), "of", on.numel())
for name, side in (("on ", on), ("off", off)):
    error = (side.double() - exact)[0, 0, 0, :3]
    print(f"{name} - exact:", *(f"{one:+.1e}" for one in error))
observe("04-bits")
explain("04-neither-truth")
# %% [markdown] en
# ## 🛠️ Your turn: two errors (5 minutes, about 2 lines)
#
# Give back two numbers: the largest distance of `on` and of `off` to `exact` (float64), each divided by the largest absolute
# value of `exact`. Careful with one thing: in which type do you subtract?
# %% [markdown] zh
# ## 🛠️ 轮到你：两个误差（5 分钟，约 2 行）
#
# 返回两个数：`on` 和 `off` 各自与 `exact`（float64）的最大距离，除以 `exact` 的最大绝对值。只有一处要小心：用哪种类型相减？
# %%
def two_errors(on, off, exact):
    scale = exact.abs().max()
    # en: the distance of each side: subtract in which type?
    # zh: 两边各自的距离：用哪种类型相减？
    raise NotImplementedError


check("04-errors")
# %% [markdown] en
# 📌 **So far.** “A man with a watch knows what time it is. A man with two watches is never sure.” (An old saying; with float64
# we have a third.)
#
# 1. Each layer has its own factor, and some factors are 1.
# 2. Another way adds in another order, so the last bits differ. That alone is no bug.
# 3. float64 tells how far each result is from the exact one.
# %% [markdown] zh
# 📌 **小结。** 俗话说：“公说公有理，婆说婆有理。”所以要请第三方：float64。
#
# 1. 每种层有自己的倍数，有的倍数就是 1。
# 2. 换一条路，相加的顺序就换了，最后几位自然不同。光凭这一点不算 bug。
# 3. 谁离准确值多远，float64 说了算。
# %%
keep("bits.reference")
# %% [markdown] en
# ## 🛠️ Your turn: off for one call (6 minutes)
#
# `without_cudnn(run)` calls `run()` with cuDNN off and hands back its result. Nothing else may move, and afterwards all is as
# before, whatever `run()` does. `cudnn.flags(enabled=False)` is not enough (lesson 01): it also sets every switch that you do
# not name, and it can raise an error where somebody has set `fp32_precision`. Safe is one value: remember, set, put back in
# `finally`.
# %% [markdown] zh
# ## 🛠️ 轮到你：只为一次调用关掉（6 分钟）
#
# `without_cudnn(run)` 在关着 cuDNN 的情况下调用 `run()`，并交回结果。别的都不许动；结束后恢复原样，不管 `run()` 干了什么。`cudnn.flags(enabled=False)` 不够好（第 01 课）：没写出来的开关它也会设，而且只要有人设过 `fp32_precision`，它就可能报错。稳妥的办法是只管一个值：记住，设新值，在 `finally` 里放回去。
# %%
def without_cudnn(run):
    # en: off inside, everything else as it was
    # zh: 里面关掉，其余原样
    raise NotImplementedError


check("04-without")
# %% [markdown] en
# ## 🔬 The real thing: cuDNN off, on a GPU
#
# On a GPU we ask the same of cuDNN: which layers get slower, which kernels run, which bits differ. And two more: memory, and
# attention that asks for cuDNN by name. Without a GPU: recordings, or what others have published.
#
# One word first: with [[tf32|TF32]] an NVIDIA GPU (Ampere or newer) rounds the factors of a float32 product to 10 instead of
# 23 bits. That is quick, less exact, and the subject of lesson 07. By default cuDNN may use it.
# %% [markdown] zh
# ## 🔬 来真的：在 GPU 上关掉 cuDNN
#
# 在 GPU 上，同样的问题拿去问 cuDNN：哪些层变慢，跑了哪些 kernel，哪些比特不同。再加两个：显存，以及指定用 cuDNN 的注意力。没有 GPU 就看录好的结果，或者别人公布的结果。
#
# 先认识一个词：[[tf32|TF32]]。NVIDIA GPU（Ampere 及更新）做 float32 乘法时，可以把因数的尾数从 23 位舍入到 10 位。快，但没那么准，第 07 课细讲。默认情况下，cuDNN 可以用它。
# %%
observe(["04-ops-cuda", "04-kernels-cuda", "04-bits-cuda"])
# %%
# en: Two more questions: how much memory, and does attention follow the same switch?
# zh: 再问两件事：要多少显存？注意力也听这个开关的吗？
observe(["04-memory-cuda", "04-attention-cuda"])
explain("04-pooling")
explain("04-tf32")
# en: When is off the right tool? To debug, to compare, or around a known bug in one
# en: version of cuDNN, for as long as it lasts. A line that changes nothing is not "safe".
# zh: 什么时候该关？调试、做对比，或者绕开某个版本 cuDNN 的已知 bug，用完就开回来。
# zh: 什么都不改变的一行，算不上“保险”。
explain("04-when-off")
# %% [markdown] en
# ☕ That was the main thing; a good place to stop. Three *deeper, optional* parts follow; otherwise go on at
# [[#🎴 Exit check: five cards]].
#
# ### Deeper, optional: which flags() change more than you asked?
#
# You know what `cudnn.flags()` does. Is it the only one of its family? We ask every `flags()` of `torch.backends` for
# something that is **already so**, and look which other switches it changed on the way.
# %% [markdown] zh
# ☕ 主线到这儿就讲完了，今天歇在这里也很好。接下来有三段*选读*；不看的话，直接跳到[[#🎴 下课小测：五张卡片]]。
#
# ### 选读：还有哪些 flags() 会多管闲事？
#
# `cudnn.flags()` 的毛病你知道了。这一家子只有它这样吗？我们向 `torch.backends` 的每个 `flags()` 提一个**已经成立**的要求，看看它顺手还改了哪些开关。
# %%
predict("04-bet-census")
# %%
observe("04-census")
explain("04-flags-four")
# %% [markdown] en
# ### Deeper, optional: an argument that nobody reads
#
# Which operators carry the switch among their arguments? PyTorch can list them. Two of the names should surprise you
# after the table of GPU layers (`instance_norm` should not: it computes as a batch norm).
# %% [markdown] zh
# ### 选读：没人读的参数
#
# 哪些算子的参数里带着这个开关？PyTorch 自己能列出来。看过前面那张 GPU 层的表，有两个名字应该让你意外（`instance_norm` 不算：它按 BatchNorm 来算）。
# %%
carriers = {schema.name for schema in torch._C._jit_get_all_schemas()
            if any("cudnn_enable" in argument.name for argument in schema.arguments)}
print(*sorted(name for name in carriers if name.startswith("aten::")), sep="\n")
explain("04-travels")
# %% [markdown] en
# ### Deeper, optional: 🛠️ two tasks
#
# **The short list in code** (4 minutes, one line). `op` is one of `conv2d`, `lstm`, `gru`, `batch_norm`, `ctc_loss`,
# `grid_sample`, `linear`, `max_pool2d`, `softmax`, `layer_norm`, `attention`; `device` is `"cpu"` or `"cuda"`. True where
# `cudnn.enabled` can decide what runs.
#
# **Find a counterexample** (5 minutes). “Off is always slower.” Find a layer that loses nothing when oneDNN is off: accepted when the
# whole interval of off / on stays below 1.05. The layer in the cell needs its library, on purpose.
# %% [markdown] zh
# ### 选读：🛠️ 两个任务
#
# **把短名单写成代码**（4 分钟，一行）。`op` 是 `conv2d`、`lstm`、`gru`、`batch_norm`、`ctc_loss`、`grid_sample`、`linear`、`max_pool2d`、`softmax`、`layer_norm`、`attention` 之一；`device` 是 `"cpu"` 或 `"cuda"`。`cudnn.enabled` 能决定跑什么的，返回 True。
#
# **找个反例**（5 分钟）。“关掉总会变慢。”找一个层，关掉 oneDNN 也毫无损失：关 / 开 的整个区间都在 1.05 以下就通过。单元格里的层离不开库，是故意选的。
# %%
def reads_enabled(op: str, device: str) -> bool:
    raise NotImplementedError


check("04-reads")
# %%
from course.lessons.l04_cudnn_enabled.probes import switch_race

layer, x = torch.nn.Conv2d(32, 32, 3, padding=1, groups=32), torch.randn(8, 32, 28, 28)
race = switch_race(lambda: layer(x), max_time=2)
print(race)
check("04-lose")
explain("04-order")
explain("04-same-settings")
explain("04-not-guilty")
# %% [markdown] en
# ## 🎴 Exit check: five cards
#
# And one for the road. A convolution calls the specialist: “The number you have dialled is switched off.” So it calls the
# neighbour. The tap stops dripping. He only tightened the screws in another order.
# %% [markdown] zh
# ## 🎴 下课小测：五张卡片
#
# 路上再讲一个。卷积给专修师傅打电话：“您拨打的用户已关机。”只好喊隔壁大叔。水龙头照样修好了，就是螺丝拧的先后不一样，末位差了那么一丁点儿。
# %%
explain("04-custom")
explain("04-rocm")
explain("04-batchnorm")
explain("04-devices")
explain("02-same")
# %% [markdown] en
# ## 📌 So, should I switch it off?
#
# | your situation | do this | how you will know |
# |---|---|---|
# | everything works | leave `True` | nothing to find out |
# | a strange number, perhaps cuDNN's | off for one call | compare both with float64 |
# | “unable to find an engine”, `CUDNN_STATUS_...` | off around that call, then update | `what("the message")` |
# | backward of an LSTM in `eval()` | off around forward and backward | the error is gone |
# | memory runs out in a convolution | try off, once | `max_memory_allocated()` |
# | a CPU, an Apple GPU | nothing: nobody asks it | the first bet of this lesson |
#
# <details><summary>Where this comes from</summary>
#
# Bits, float64 and memory: the recordings above (an H100, torch 2.11: a convolution of 224 × 224 took 294 MiB with cuDNN and 208 without). The messages: PyTorch's source, in `docs/messages.md`. How much slower a whole network is without cuDNN on your card: nobody we know of has measured it lately; `compare` does.
#
# </details>
# %% [markdown] zh
# ## 📌 那我该不该关？
#
# | 你的情况 | 这么做 | 怎么知道有没有用 |
# |---|---|---|
# | 一切正常 | 保持 `True` | 没什么要查的 |
# | 有个数很怪，怀疑 cuDNN | 只关那一次调用 | 两个结果都和 float64 比 |
# | “unable to find an engine”、`CUDNN_STATUS_...` | 先绕着那次调用关掉，再升级 | `what("报错原文")` |
# | `eval()` 下对 LSTM 求反向 | 前向和反向都包在关掉的块里 | 不再报错 |
# | 卷积那里显存不够 | 关一次试试 | `max_memory_allocated()` |
# | CPU、苹果 GPU | 不用管：没人问它 | 本课第一注 |
#
# <details><summary>依据</summary>
#
# 比特、float64、显存：上面的实测数据（H100，torch 2.11：224 × 224 的卷积，用 cuDNN 占 294 MiB，不用占 208）。报错：PyTorch 源码，见 `docs/messages.zh-CN.md`。整个网络关掉 cuDNN 会慢多少：近几年的卡，没找到谁量过；`compare` 可以量。
#
# </details>
# %% [markdown] en
# ## 📌 Claims you can now make
#
# - `cudnn.enabled` is a permission for convolutions, recurrent layers, BatchNorm, CTC and `grid_sample` on a GPU. On the CPU
#   it decides nothing; on AMD's GPUs it is read for their library, MIOpen.
# - Off, another kernel computes the same in another order. float64 tells who is nearer.
# - Off is for debugging, comparing and known bugs.
#
# | the three famous switches | default | lesson |
# |---|---|---|
# | `cudnn.enabled` | `True` | this one |
# | `cudnn.benchmark` | `False` | 05 |
# | `cudnn.deterministic` | `False` | 06 |
#
# The next cell writes your own numbers beside them.
# %% [markdown] zh
# ## 📌 这节课学到了什么
#
# - `cudnn.enabled` 是许可，管 GPU 上的卷积、循环层、BatchNorm、CTC 和 `grid_sample`。在 CPU 上它什么都不决定；在 AMD 的 GPU 上，它管的是 MIOpen。
# - 关掉之后，另一个 kernel 按另一种顺序算同一件事。谁更近，float64 说了算。
# - 关掉是为了调试、对比和已知 bug。
#
# | 三个最有名的开关 | 默认 | 课 |
# |---|---|---|
# | `cudnn.enabled` | `True` | 本课 |
# | `cudnn.benchmark` | `False` | 第 05 课 |
# | `cudnn.deterministic` | `False` | 第 06 课 |
#
# 下一个单元格会配上你自己的数据。
# %%
finish()
