# %% [markdown] en
# # What happens when cuDNN is off?
#
# **45 minutes.** Before it: lessons 01 to 03. You will be able to say who reads `cudnn.enabled`, what computes in cuDNN's
# place, whose bits are right, and when switching it off is the right tool.
#
# Live on any machine: the dispatcher tells what it **would** choose, and oneDNN on the CPU plays cuDNN's part. What needs
# an NVIDIA GPU is replayed from a recording, or says that there is none yet.
# %% [markdown] zh
# # 关掉 cuDNN 会怎样？
#
# **45 分钟。** 先修：第 01 至 03 课。学完之后，你能说出谁会读 `cudnn.enabled`，cuDNN 不在时谁来算，谁的结果才对，以及什么时候该关它。
#
# 任何机器都能实测的：分发器会告诉你它**会选**谁；CPU 上的 oneDNN 替 cuDNN 出场。需要 NVIDIA GPU 的部分用录制回放，没有录制就直说。
# %% bootstrap
# %% [markdown] en
# ## Warm up with what is due
# %% [markdown] zh
# ## 先复习到期的卡片
# %%
review(due=3)
# %% [markdown] en
# ## The switch is on. Is anybody home?
#
# Three lines that tutorials like to print as “proof that cuDNN is working”. Run them on your machine, with or without a
# GPU, and ask of each what it really says.
# %% [markdown] zh
# ## 灯亮着，屋里有人吗？
#
# 教程爱用这三行来“证明 cuDNN 在工作”。在你的机器上跑一遍（有没有 GPU 都行），逐行想想它到底说明了什么。
# %%
import torch

cudnn = torch.backends.cudnn
print("is_available()", cudnn.is_available())
print("version()     ", cudnn.version())
print("enabled       ", cudnn.enabled)
explain("04-proof")
# %% [markdown] en
# ## Turn it off where it never was
#
# A laptop without cuDNN prints `False None True`: a valid ticket for a train that does not exist. So what happens to its
# owner, who says: “We train on the CPU, so I switched cuDNN off, just in case”? Bet first.
# %% [markdown] zh
# ## 明明没有它，也要关掉它
#
# 没有 cuDNN 的笔记本电脑会打印 `False None True`：车票有效，车不存在。电脑的主人说：“我们在 CPU 上训练，保险起见我把 cuDNN 关了。”这一关，改变了什么？先下注。
# %%
predict("04-bet-cpu")
# %%
observe("04-cpu-enabled")
explain("04-cpu-why")
# %% [markdown] en
# ## Ask the clerk who hands out the work
#
# Every convolution passes a clerk, the **dispatcher**: it goes down a list of candidates and takes the first that is
# allowed and able. A private function of PyTorch lets us ask whom it would take, without computing anything.
#
# Names you will meet: `Mkldnn` is oneDNN. `Slow2d` unfolds the image into a matrix and multiplies; slow is its surname, not
# always its pace. `NnpackSpatial` is NNPACK. A choice without a Python name reads `unnamed`. Where a row stays blue, ask
# yourself who said no, when nobody had switched anything.
# %% [markdown] zh
# ## 问问派活的人
#
# 每个卷积都要先过一位派活的，也就是**分发器**：它顺着候选名单往下问，取第一个既获准又能做的。PyTorch 有个私有函数，能问出它会选谁，什么都不用算。
#
# 你会遇到的名字：`Mkldnn` 就是 oneDNN；`Slow2d` 把图像摊成矩阵再相乘，“Slow”是姓，不一定是速度；`NnpackSpatial` 是 NNPACK；没有 Python 名字的写作 `unnamed`。哪一行始终是蓝色，就想一想：谁也没关开关，是谁没接？
# %%
predict("04-bet-dispatch")
# %%
observe("04-dispatch")
explain("04-unsupported")
# %%
# en: So much for the CPU. And on a GPU? Bet before you see the doors;
# en: a GPU, yours or a recorded one, settles it later.
# zh: CPU 就到这里。GPU 上呢？先下注，再看那几扇门；胜负稍后由 GPU（你的或录制的）揭晓。
predict("04-bet-gpu")
# %% [markdown] en
# ## Two doors, and many who pass neither
#
# For tensors on an NVIDIA GPU, two switches stand before cuDNN. Convolutions, recurrent layers, BatchNorm, CTC loss and
# `grid_sample` pass `cudnn.enabled`. Attention passes a door of its own. Matrix products go to cuBLAS; pooling, softmax and
# LayerNorm run in PyTorch's own kernels.
#
# An open door is a **permission**: cuDNN still has to be able. A closed door is no loss of function: somebody slower, or
# at least other, takes over. Both are read in **every call**.
# %% [markdown] zh
# ## 两扇门，还有许多不走门的
#
# 对 NVIDIA GPU 上的张量，cuDNN 前面有两个开关。卷积、循环层、BatchNorm、CTC loss、`grid_sample` 走 `cudnn.enabled` 这扇门。注意力另有一扇。矩阵乘法去 cuBLAS；池化、softmax、LayerNorm 用 PyTorch 自己的 kernel。
#
# 门开着只是**许可**：cuDNN 还得做得了才行。门关着也不会少功能：总有别人接手，也许慢些，总归是另一条路。两个开关**每次调用**都会读。
# %%
from course.flags import using

with using({"cudnn.enabled": False}):
    observe("04-gates")
explain("04-attention")
explain("04-who-reads")
# %% [markdown] en
# ## Pretend to own a GPU
#
# Tensors can pretend: a shape, a type, a device, no memory. The dispatcher does not mind and tells who would compute. On a
# build without cuDNN you see the whole **bench of substitutes**: who is left when the library is gone.
# %% [markdown] zh
# ## 假装有一块 GPU
#
# 张量可以假装：有形状、有类型、有设备，就是没有内存。分发器不介意，照样说出会由谁来算。在没有 cuDNN 的构建上，你看到的正是整条**替补席**：库不在时剩下的那些。
# %%
observe("04-pretend-gpu")
explain("04-replacement")
explain("04-order")
# %% [markdown] en
# ## So far
#
# - `enabled` is a permission, looked up in each call; it decides something for tensors on a GPU alone.
# - Who is not allowed or not able is passed over; the plain path at the end takes what is left.
# - Attention has its own door; matrix products and pooling have none.
#
# Next: what does it **cost** to close a door, and what does it do to the numbers?
# %% [markdown] zh
# ## 到目前为止
#
# - `enabled` 是许可，每次调用都查，但只有 GPU 上的张量才由它定夺。
# - 不获准或做不了的会被跳过；剩下的归队尾的普通路径。
# - 注意力有自己的门；矩阵乘法和池化没有门。
#
# 接下来：关上一扇门，**代价**是多少？数值会怎么变？
# %% [markdown] en
# ## The stand-in: oneDNN off, on your CPU
#
# oneDNN is built like cuDNN: a fast library, a door (`mkldnn.enabled`), a plain path behind it. “Without the library
# everything takes twice as long”, they say. Six layers, on and off.
# %% [markdown] zh
# ## 替身上场：在你的 CPU 上关掉 oneDNN
#
# oneDNN 的处境和 cuDNN 一样：一个加速库、一扇门（`mkldnn.enabled`）、后面一条普通路径。都说“没有加速库，什么都慢一倍”。六个层，开关各测一遍。
# %%
predict("04-bet-onednn")
# %%
observe("04-onednn-ops")
explain("04-twice")
explain("04-mixture")
# %% [markdown] en
# ## The proof, with its control
#
# The first card asked for proof that a library is at work. Here it is: one call, the switch on and off, and a profiler that
# names what ran. With a GPU this asks about cuDNN, without one about oneDNN. Which line of each list tells, and why does
# `MaxPool2d` have none? Then try `"Linear"` and `"LSTM"`.
# %% [markdown] zh
# ## 带对照的证据
#
# 第一张卡片问：怎么证明库真的在干活？证据在此：同一个调用，开关各跑一次，让 profiler 报出跑了什么。有 GPU 就问 cuDNN，没有就问 oneDNN。每份清单里哪一行说明了问题？`MaxPool2d` 为什么一行也没有？再换成 `"Linear"` 和 `"LSTM"` 试试。
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
# ## Worked example: the bits differ. Who is right?
#
# Two honest results, not equal. Before anybody shouts “bug”, call a judge with better eyes. Bet, then run the small case;
# the experiment after it asks the judge many times.
# %% [markdown] zh
# ## 示范：比特不同，谁对？
#
# 两个老老实实的结果，却不相等。别急着喊“有 bug”，先请一位眼力更好的裁判。先下注，再跑这个小例子；后面的实验会请裁判判很多次。
# %%
predict("04-bet-bits")
# %%
from course.lessons.l04_cudnn_enabled.probes import on_and_off

layer, x = torch.nn.Conv2d(16, 16, 3), torch.randn(2, 16, 20, 20)
on, off = on_and_off(lambda: layer(x), "mkldnn.enabled")
exact = layer.double()(x.double()).detach()
print("values with other bits:", (on != off).sum().item(), "of", on.numel())
print("on  - exact:", (on[0, 0, 0, :3].double() - exact[0, 0, 0, :3]).tolist())
print("off - exact:", (off[0, 0, 0, :3].double() - exact[0, 0, 0, :3]).tolist())
# %%
observe("04-bits")
explain("04-neither-truth")
# %% [markdown] en
# ## The same with a blank (5 minutes, about 2 lines)
#
# Give back two numbers: the largest distance of `on` and of `off` to `exact` (float64), each over the largest absolute value
# of `exact`. One conversion decides whether your judge can see anything.
# %% [markdown] zh
# ## 换你来填空（5 分钟，约 2 行）
#
# 返回两个数：`on` 和 `off` 各自与 `exact`（float64）的最大距离，除以 `exact` 的最大绝对值。有一处类型转换，决定了你的裁判看不看得见东西。
# %%
def two_errors(on, off, exact):
    scale = exact.abs().max()
    # en: the distance of each side: subtract in which type?
    # zh: 两边各自的距离：用哪种类型相减？
    raise NotImplementedError


check("04-errors")
# %% [markdown] en
# ## Every flags() is a census taker
#
# You know that `cudnn.flags(deterministic=True)` closes the door. Is it the only one of its family? We ask every `flags()` of
# `torch.backends` for something that is **already so**, and count who moves furniture meanwhile.
# %% [markdown] zh
# ## 给所有 flags() 做一次普查
#
# 你已经知道 `cudnn.flags(deterministic=True)` 会顺手把门关上。这一家子只有它这样吗？我们向 `torch.backends` 的每个 `flags()` 提一个**已经成立**的要求，数数谁趁机搬了家具。
# %%
predict("04-bet-census")
# %%
observe("04-census")
explain("04-flags-four")
# %% [markdown] en
# ## On your own: off for one call (6 minutes)
#
# `without_cudnn(run)` calls `run()` with cuDNN off and hands back its result. Nothing else may move, and afterwards all is as
# before, whatever `run()` does. Then `check`; three hints are waiting.
# %% [markdown] zh
# ## 自己动手：只为一次调用关掉（6 分钟）
#
# `without_cudnn(run)` 在关着 cuDNN 的情况下调用 `run()`，并交回结果。别的都不许动；结束后恢复原样，不管 `run()` 干了什么。写好就 `check`，有三级提示。
# %%
def without_cudnn(run):
    # en: off inside, everything else as it was
    # zh: 里面关掉，其余原样
    raise NotImplementedError


check("04-without")
# %% [markdown] en
# ## An argument that nobody reads
#
# Which operations carry the switch in their signature? PyTorch can list them. Two of the names should surprise you after the
# picture of the doors (`instance_norm` is no surprise: it computes as a batch norm).
# %% [markdown] zh
# ## 没人读的参数
#
# 哪些算子的签名里带着这个开关？PyTorch 自己能列出来。看过那幅“两扇门”之后，有两个名字应该让你意外（`instance_norm` 不算：它按 BatchNorm 来算）。
# %%
carriers = {schema.name for schema in torch._C._jit_get_all_schemas()
            if any("cudnn_enable" in argument.name for argument in schema.arguments)}
print(*sorted(name for name in carriers if name.startswith("aten::")), sep="\n")
# %%
explain("04-travels")
# %% [markdown] en
# ## The short list, in code (4 minutes, one line)
#
# `op` is one of `conv2d`, `lstm`, `gru`, `batch_norm`, `ctc_loss`, `grid_sample`, `linear`, `max_pool2d`, `softmax`,
# `layer_norm`, `attention`; `device` is `"cpu"` or `"cuda"`. True where `cudnn.enabled` can decide what runs.
# %% [markdown] zh
# ## 把短名单写成代码（4 分钟，一行）
#
# `op` 是 `conv2d`、`lstm`、`gru`、`batch_norm`、`ctc_loss`、`grid_sample`、`linear`、`max_pool2d`、`softmax`、`layer_norm`、`attention` 之一；`device` 是 `"cpu"` 或 `"cuda"`。`cudnn.enabled` 能决定跑什么的，返回 True。
# %%
def reads_enabled(op: str, device: str) -> bool:
    raise NotImplementedError


check("04-reads")
# %% [markdown] en
# ## Make it lose
#
# “Off is always slower.” Find a layer for which closing oneDNN's door costs nothing: accepted when the whole interval of
# off / on stays below 1.05. The layer below misses its library, on purpose.
# %% [markdown] zh
# ## 让它输
#
# “关掉总会变慢。”找一个层，让关上 oneDNN 的门毫无代价：关 / 开 的整个区间都在 1.05 以下就通过。下面这个层离不开库，是故意选的。
# %%
from course.lessons.l04_cudnn_enabled.probes import switch_race

layer, x = torch.nn.Conv2d(32, 32, 3, padding=1, groups=32), torch.randn(8, 32, 28, 28)
race = switch_race(lambda: layer(x), max_time=2)
print(race)
check("04-lose")
# %% [markdown] en
# ## The real thing: close the door on a GPU
#
# Your CPU has shown the pattern: some layers miss their library, others never knew it; other names in the profile, other
# last bits. On a GPU the same questions go to cuDNN, and two more: memory, and attention that asks for cuDNN by name. Without a
# GPU: recordings, or one list of what is missing.
#
# One word you need: with **TF32** an NVIDIA GPU (Ampere or newer) rounds the factors of a float32 product to 10 instead of
# 23 mantissa bits. Quick, and lesson 07's subject.
# %% [markdown] zh
# ## 来真的：在 GPU 上关门
#
# 规律你已经在 CPU 上看到了：有的层离不开库，有的从来不认识它；profile 里换了名字，末几位也变了。在 GPU 上，同样的问题拿去问 cuDNN，再加两个：显存，以及点名要 cuDNN 的注意力。没有 GPU 就看回放，没有回放就列一张清单。
#
# 先认识一个词：**TF32**。NVIDIA GPU（Ampere 及更新）做 float32 乘法时，可以把因数的尾数从 23 位舍入到 10 位。快，第 07 课细讲。
# %%
observe(["04-ops-cuda", "04-kernels-cuda", "04-bits-cuda",
         "04-memory-cuda", "04-attention-cuda"])
explain("04-pooling")
explain("04-tf32")
# %% [markdown] en
# ## When is off the right tool?
#
# To debug, as a baseline, or around a known bug in one version of cuDNN, for as long as it lasts. A line that changes nothing
# is not “safe”: the next reader will look for a reason.
# %% [markdown] zh
# ## 什么时候该关？
#
# 调试、做基线，或者绕开某个版本 cuDNN 的已知 bug，用完就开回来。什么都不改变的一行算不上“保险”：下一个读代码的人会苦苦寻找它的理由。
# %%
explain("04-when-off")
explain("04-same-settings")
explain("04-not-guilty")
# %% [markdown] en
# ## Five myths, five answers
#
# | “…” | tempting, because | what speaks against it |
# |---|---|---|
# | the master switch of cuDNN | the name | attention's own door stays open |
# | must be True on a GPU | it is the default | the bench of substitutes you saw |
# | twice as slow without | one number is easy to quote | six intervals, some around 1 |
# | off protects custom kernels | libraries seem greedy | only PyTorch's own operations ask |
# | off proves cuDNN innocent | a clean cut | float64, repeats, a second switch |
#
# Where they hold: for a network of convolutions, off is indeed often slower.
# %% [markdown] zh
# ## 五个误区，五个回答
#
# | “……” | 为什么诱人 | 反证 |
# |---|---|---|
# | cuDNN 的总开关 | 名字像 | 注意力自己的门还开着 |
# | GPU 上必须为 True | 默认就是 True | 你见过的替补席 |
# | 没有它慢一倍 | 单个数字好引用 | 六个区间，有的就在 1 附近 |
# | 关掉能保护自定义 kernel | 库看起来很贪心 | 只有 PyTorch 自己的算子会问它 |
# | 关掉就证明 cuDNN 无罪 | 切得干净利落 | float64、重复、第二个开关 |
#
# 也有几分道理：全是卷积的网络，关掉往往确实变慢。
# %% [markdown] en
# ## Exit check: five cards
#
# And one for the road. A conv asks at the door: “Is cuDNN in?” “Out.” “Then I take the stairs.” It takes the stairs, and
# arrives on the same floor. Give or take a bit.
# %% [markdown] zh
# ## 下课小测：五张卡片
#
# 路上再讲一个。卷积到门口问：“cuDNN 在吗？”“不在。”“那我走楼梯。”楼梯走完，还是那层楼。误差嘛，差一比特。
# %%
explain("04-custom")
explain("04-rocm")
explain("04-batchnorm")
explain("04-devices")
explain("02-same")
# %% [markdown] en
# ## Claims you can now make
#
# - `cudnn.enabled` is a permission for convolutions, recurrent layers, BatchNorm, CTC and `grid_sample` on a GPU. On the CPU
#   it decides nothing; on ROCm it guards MIOpen.
# - Off, another kernel computes the same thing in another order. Neither is the truth; float64 judges.
# - The price is one factor per operation, some of them 1. Measure yours.
# - Off is for debugging, baselines and known bugs, and `flags()` closes doors you did not name.
#
# The next cell writes them out with your own numbers.
# %% [markdown] zh
# ## 现在你可以这样说
#
# - `cudnn.enabled` 是许可，管 GPU 上的卷积、循环层、BatchNorm、CTC 和 `grid_sample`。在 CPU 上它什么都不决定；在 ROCm 上它管的是 MIOpen。
# - 关掉之后，另一个 kernel 按另一种顺序算同一件事。谁都不是真理，由 float64 来评判。
# - 代价是每个算子一个倍数，有的就是 1。请测你自己的。
# - 关掉是为了调试、基线和已知 bug；而 `flags()` 会关上你没点名的门。
#
# 下一个单元格会用你自己的数据把它们写出来。
# %%
finish()
