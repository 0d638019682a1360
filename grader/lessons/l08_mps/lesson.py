# %% [markdown] en
# # What does Apple's backend switch, and what not?
#
# ⏱️ 40 minutes; the *deeper, optional* parts take another half hour. Before it: lessons 01 and 02. **No Mac needed**: errors are shown as they are raised here, and what is simulated says so. What needs an Apple GPU shows you what others have published.
#
# 🎯 Afterwards you can
# - tell a question about MPS from a line that changes something;
# - set the fallback variable in time, and say what each trip to the CPU costs;
# - do without float64, and lose nothing that matters.
# %% [markdown] zh
# # 苹果的后端能切换什么，不能切换什么？
#
# ⏱️ 40 分钟；**选读**部分再加半小时。先修：第 01、02 课。**不需要 Mac**：错误都是在这台机器上当场抛出的，凡是模拟都会注明；需要苹果 GPU 的实验，会给你看别人公布的结果。
#
# 🎯 学完之后，你能：
# - 分清哪一行是在问 MPS 的情况，哪一行真的改变了什么；
# - 及时设好回退变量，并说出每去一趟 CPU 要付多少；
# - 没有 float64 也照样干活，要紧的一点不丢。
# %% bootstrap
# %% [markdown] en
# ## 🎯 What is torch.backends.mps for?
#
# Tomorrow your supervisor shows your model on a MacBook. A Mac with an Apple chip has a GPU. PyTorch calls it `mps`, after Apple's library, Metal Performance Shaders ([[mps|MPS]]). You write `x.to("mps")`, and what you then compute with `x` runs on that GPU.
#
# `torch.backends.mps` is the **information desk** beside it: may this PyTorch use the GPU, what is it called, how many cores has it? You get answers. There is nothing to switch: no `enabled`, no `benchmark`. What you do control is where your tensors are, and one [[mps-fallback|environment variable]] that must be set early.
#
# A warm-up first: no measurement, just a hunch.
# %% [markdown] zh
# ## 🎯 torch.backends.mps 是干什么用的？
#
# 明天导师要拿 MacBook 演示你的模型。装着苹果芯片的 Mac 有一块 GPU。PyTorch 管它叫 `mps`，取自苹果的库 Metal Performance Shaders（[[mps|MPS]]）。写下 `x.to("mps")`，之后拿 `x` 做的计算就在这块 GPU 上跑。
#
# `torch.backends.mps` 是旁边的**问询台**：这份 PyTorch 能用 GPU 吗？它叫什么名字？有几个核？问什么答什么，但没有开关可拨：没有 `enabled`，也没有 `benchmark`。真正由你控制的，是张量放在哪里，以及一个要趁早设好的[[mps-fallback|环境变量]]。
#
# 先热个身！不用测，凭感觉选。
# %%
# en: First the cards of earlier lessons that are due today (none yet is fine),
# en: then today's warm-up.
# zh: 先是今天到期的旧卡片（暂时没有也正常），再是今天的热身题。
review(due=3)
explain("08-who-moves")
# %% [markdown] en
# ## Three questions: built, usable, used
#
# | question | how you ask | what a “no” means |
# |---|---|---|
# | Is it **built** in? | `mps.is_built()` | install a PyTorch made for the Mac |
# | Is it **usable** now? | `mps.is_available()` | macOS too old, a virtual machine, no such GPU |
# | Is it **used**? | `x.device` | you have not moved `x` yet |
#
# A “yes” to one of them says nothing about the next. And `torch.device("mps")` answers none of them: it is a label, and any computer can write a label.
# %% [markdown] zh
# ## 三个问题：带了吗，能用吗，用了吗
#
# | 问题 | 怎么问 | 回答“否”说明什么 |
# |---|---|---|
# | 编译时**带了**吗？ | `mps.is_built()` | 换一份给 Mac 的 PyTorch |
# | 现在**能用**吗？ | `mps.is_available()` | macOS 太旧、是虚拟机、没有这样的 GPU |
# | **用了**吗？ | `x.device` | 还没把 `x` 搬过去 |
#
# 一个“是”，保证不了下一个也是“是”。至于 `torch.device("mps")`，三个问题它一个也没回答：它只是张标签，哪台电脑都写得出来。
# %%
import torch

mps = torch.backends.mps
x = torch.ones(3)
answers = {"built": mps.is_built(), "usable": mps.is_available(), "x is on": x.device}
if mps.is_available():
    # en: only now may the rest be asked
    # zh: 到这一步，其余的才能问
    answers |= {"name": mps.get_name(), "cores": mps.get_core_count(),
                "macOS 15+": mps.is_macos_or_newer(15, 0)}
for question, answer in answers.items():
    print(f"{question:10}", answer)
explain("08-built-not-available")
# en: 🎲 Now a bet: is this system at least macOS 14? A Mac says True or False. And yours?
# zh: 🎲 再问一句，先下注：系统至少是 macOS 14 吗？Mac 会回答 True 或 False。你这台机器呢？
predict("08-bet-ask")
# %%
observe("08-who-answers")
explain("08-why-raises")
# %% [markdown] en
# 📌 **So far.**
# 1. `is_built()` and `is_available()` may be asked anywhere. Ask the rest only where `is_available()` said True.
# 2. The answers are about the machine, not about your tensors.
# 3. Work reaches the GPU by `.to("mps")` or `device="mps"`, and by nothing else.
#
# (Ask a stone for the time and it says nothing. Ask Linux for its macOS version and it raises. The stone has better manners.)
# %% [markdown] zh
# 📌 **小结。**
# 1. `is_built()` 和 `is_available()` 在哪儿都能问；其余的，等 `is_available()` 说 True 再问。
# 2. 回答说的是机器，不是你的张量。
# 3. 想让活儿上 GPU，只有一条路：`.to("mps")` 或 `device="mps"`。
#
# （问石头几点了，石头不吭声；问 Linux 它的 macOS 版本，它直接报错。还是石头有礼貌。）
# %%
keep("mps.queries")
# %% [markdown] en
# ## 🎲 Seven assignments: does any of them change a result?
#
# In `cudnn`, the names `enabled`, `benchmark` and `deterministic` are switches. Let us write the same names into `mps`, invent a few more, and at last replace the **question** `is_available` by a function that lies. Two assignments elsewhere in `torch.backends` run along as a control.
# %% [markdown] zh
# ## 🎲 七次赋值：有哪次真的改变了结果？
#
# `enabled`、`benchmark`、`deterministic`，在 `cudnn` 里都是开关。咱们把它们原样写进 `mps`，再自己编几个名字，最后干脆拿一个“说谎的函数”顶替**查询函数** `is_available`。另外两次赋值写在 `torch.backends` 别的地方，当对照。
# %%
predict("08-bet-liar")
# %%
observe("08-assignments")
explain("08-typo-why")
# en: This is all that such a line leaves behind: a name in a Python module.
# en: Nobody in PyTorch reads it.
# zh: 这样的一行只留下这点痕迹：模块里多了一个名字，PyTorch 里没有谁会读它。
before = set(vars(mps))
mps.turbo = True
print(*(set(vars(mps)) - before))
del mps.turbo
# %% [markdown] en
# 📌 **So far.** You cannot switch the Apple GPU off; you can only not use it.
#
# 1. `torch.backends.mps` takes every name you write, and reads none of them: there is no switch.
# 2. Asking changes nothing. Answering a question is not the same as turning a knob.
# 3. To do without the GPU, leave your tensors on the CPU.
# %% [markdown] zh
# 📌 **小结。** 苹果 GPU 关不掉，不往那儿送数据就行。
#
# 1. 往 `torch.backends.mps` 里写什么名字它都收，可一个也不读：这里没有开关。
# 2. 查询只回答问题，什么也不改。
# 3. 不想用 GPU？张量留在 CPU 上就行。
# %%
review("08-how-many", "08-harmless")
keep("mps.switches")
# %% [markdown] en
# ## 🎲 What does a trip to the CPU and back cost?
#
# MPS has no [[kernel]] for some [[operator|operators]]. Then PyTorch stops with an error that names the operator. With `PYTORCH_ENABLE_MPS_FALLBACK=1` it goes on instead: it warns once, copies the inputs to the CPU, computes there, and copies the result back. That is the [[mps-fallback|fallback]]: one trip for **every call** of such an operator.
#
# We imitate the trip on the CPU: copy, compute, copy.
# %% [markdown] zh
# ## 🎲 去 CPU 跑一趟再回来，要付多少？
#
# 有些[[operator|算子]]在 MPS 上没有 [[kernel]]，PyTorch 就会报错停下，并点出算子的名字。设了 `PYTORCH_ENABLE_MPS_FALLBACK=1` 就不一样了：先警告一次，再把输入拷到 CPU，在那里算完，把结果拷回来。这就是[[mps-fallback|回退]]：这样的算子**每调用一次**，就要跑一趟。
#
# 咱们在 CPU 上模仿这一趟：拷贝、计算、再拷贝。
# %%
predict("08-bet-fallback")
# %%
observe("08-fallback-price")
explain("08-one-warning")
# %% [markdown] en
# ## 🎲 When does PyTorch read an environment variable?
#
# The fallback works only if its variable was set **in time**. When is that? This machine may not read that variable at all, so we watch four others that PyTorch knows. Each is set at three moments: before `import torch`, right after it, and after the first use.
# %% [markdown] zh
# ## 🎲 环境变量，PyTorch 什么时候读？
#
# 变量设得**及时**，回退才会生效。什么叫及时？这台机器可能根本不读这个变量，所以咱们盯住 PyTorch 认识的另外四个，每个在三个时刻各设一次：`import torch` 之前、刚导入之后、第一次用过之后。
# %%
predict("08-bet-env")
# %%
observe("08-env-when")
explain("08-too-late")
# %% [markdown] en
# ## 🛠️ Mend the script: the fallback is chosen during the import (4 minutes)
#
# ```text
# while the library of torch loads:
#     PYTORCH_ENABLE_MPS_FALLBACK unset or 0 -> operators without a kernel raise
#     any other number                       -> they warn once, then use the CPU
# ```
# So says `aten/src/ATen/mps/MPSFallback.mm`. In a notebook: restart, and set it in the first cell. The script below sets it too late. `check` runs yours in a new process and looks at the variable at the moment of the import.
# %% [markdown] zh
# ## 🛠️ 修好脚本：回退是在导入时定下的（4 分钟）
#
# ```text
# 加载 torch 的库时：
#     PYTORCH_ENABLE_MPS_FALLBACK 没设或为 0 -> 没有 kernel 的算子报错
#     其他数字                               -> 警告一次，转到 CPU 上算
# ```
# 出处：`aten/src/ATen/mps/MPSFallback.mm`。在 Notebook 里：重启内核，写在第一个单元格。下面的脚本设得太晚了。`check` 会在新进程里运行你的版本，看导入那一刻变量是什么。
# %%
script = """
import os
import torch
os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "1"
"""
check("08-script")
explain("08-fallback-order")
# %% [markdown] en
# 📌 **So far.**
# 1. Set the fallback variable before the first `import torch` of the process, or in the shell.
# 2. One warning may stand for many operators; each call of each of them makes its trip.
# 3. Much data and little arithmetic: the trip weighs most.
# %% [markdown] zh
# 📌 **小结。**
# 1. 回退变量要在进程里第一次 `import torch` 之前设好，或者写在 shell 里。
# 2. 警告只有一条，背后可能有好多算子；每个算子每调用一次，都要跑一趟。
# 3. 数据多、计算少的算子，最吃亏。
# %%
keep("mps.fallback")
# %% [markdown] en
# ☕ A good place for a break. The table below is *deeper, optional*; the main line goes on at [[#🎲 A counter that stops counting]].
#
# ### Deeper, optional: five more variables, set before the import too
#
# | variable | what it asks for |
# |---|---|
# | `PYTORCH_MPS_HIGH_WATERMARK_RATIO` | hard limit of memory; 1.7 × the recommended size; 0: no limit, the system may go down |
# | `PYTORCH_MPS_LOW_WATERMARK_RATIO` | where tidying up begins; 1.4 (1.0 with a separate GPU) |
# | `PYTORCH_MPS_FAST_MATH` | quicker, less exact arithmetic in its kernels |
# | `PYTORCH_MPS_PREFER_METAL` | PyTorch's own Metal kernels for matrix products |
# | `PYTORCH_DEBUG_MPS_ALLOCATOR` | print what is done with the memory |
#
# On a Mac, `torch.mps.recommended_max_memory()` tells the recommended size, in bytes.
# %% [markdown] zh
# ☕ 歇一歇正好。下面的表是**选读**；主线从 [[#🎲 数着数着就不动的计数器]] 接着走。
#
# ### 选读：另外五个变量，也在导入之前设
#
# | 变量 | 要求什么 |
# |---|---|
# | `PYTORCH_MPS_HIGH_WATERMARK_RATIO` | 内存硬上限，默认是推荐值的 1.7 倍；0 表示不限，可能拖垮系统 |
# | `PYTORCH_MPS_LOW_WATERMARK_RATIO` | 从哪里开始清理，默认 1.4（独立 GPU 为 1.0） |
# | `PYTORCH_MPS_FAST_MATH` | kernel 里用更快、但没那么精确的运算 |
# | `PYTORCH_MPS_PREFER_METAL` | 矩阵乘法改用 PyTorch 自己的 Metal kernel |
# | `PYTORCH_DEBUG_MPS_ALLOCATOR` | 打印内存分配的经过 |
#
# 在 Mac 上，`torch.mps.recommended_max_memory()` 会告诉你推荐值（单位：字节）。
# %% [markdown] en
# ## 🎲 A counter that stops counting
#
# The Mac's GPU holds no float64. A float64 has 53 significant bits, a [[float32]] has 24. For weights and images 24 are plenty. Where are they not? Four small computations in both types, here on the CPU. The first is a step counter.
# %% [markdown] zh
# ## 🎲 数着数着就不动的计数器
#
# Mac 的 GPU 存不了 float64。float64 有 53 位有效数字（二进制），[[float32]] 有 24 位。对权重和图片，24 位绰绰有余。那什么时候不够？咱们在 CPU 上用两种类型各算四个小例子，头一个就是步数计数器。
# %%
predict("08-bet-counter")
# %%
observe("08-float32-loses")
explain("08-gap")
# %% [markdown] en
# ## 🛠️ Bring Unix times to a GPU without float64 (5 minutes, one line)
#
# `stamps` are Unix times (seconds since 1970) in float64, on the CPU. Give back float32 seconds since the **first** of them, right to a millisecond.
# %% [markdown] zh
# ## 🛠️ 把 Unix 时间送上没有 float64 的 GPU（5 分钟，一行）
#
# `stamps` 是 CPU 上 float64 的 Unix 时间（从 1970 年算起的秒数）。返回从**第一个**时刻算起的秒数，类型 float32，误差不超过一毫秒。
# %%
def seconds_since_start(stamps: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError


check("08-seconds")
# %% [markdown] en
# 📌 **So far.**
# 1. float32 keeps 24 significant bits: above 2²⁴ not every whole number exists.
# 2. Make numbers small first (subtract, take a logarithm), then cast. Count in whole numbers.
# 3. NumPy and Python lists in a `DataLoader` bring float64 in without being asked.
# %% [markdown] zh
# 📌 **小结。**
# 1. float32 只有 24 位有效数字：过了 2²⁴，就不是每个整数都存得下。
# 2. 先把数变小（相减、取对数），再转类型；计数用整数。
# 3. NumPy 数组、`DataLoader` 里的 Python 小数，会悄悄把 float64 带进来。
# %%
explain("08-arrives-double")
keep("mps.float64")
# %% [markdown] en
# ### Deeper, optional: find a counterexample where float32 is not enough (4 minutes)
#
# Find `numbers` for which `max - min` in float32 is off by more than 1 %. The list below does not do it, on purpose.
# %% [markdown] zh
# ### 选读：找个 float32 不够用的反例（4 分钟）
#
# 找一组 `numbers`，让 float32 算出的 `max - min` 误差超过 1%。下面的列表故意选得不行，换掉它！
# %%
numbers = [1.0, 2.5, 4.0]
check("08-make-it-lose")
# %% [markdown] en
# ## 💡 One memory, two tensors, and a queue
#
# CPU and GPU of an Apple chip share one memory ([[unified-memory|unified memory]]). Still, `.to("mps")` makes a **second tensor** and copies the numbers into it. And a call on `mps` returns before the work is done, as on CUDA. Three habits follow:
#
# - move data once, not in every step;
# - wait with `torch.mps.synchronize()` before you read a clock;
# - the limit is the memory that both share.
# %% [markdown] zh
# ## 💡 内存一块，张量两份，还要排队
#
# 苹果芯片上，CPU 和 GPU 共用一块内存（[[unified-memory|统一内存]]）。可 `.to("mps")` 还是会新建**第二份张量**，把数拷过去。而且和 CUDA 一样，`mps` 上的调用没算完就返回了。所以养成三个习惯：
#
# - 数据只搬一次，别每一步都搬；
# - 看表之前，先 `torch.mps.synchronize()` 同步一下；
# - 内存上限由 CPU 和 GPU 共享，一起算。
# %%
explain("08-unified")
explain("08-clock")
keep("mps.memory")
# %% [markdown] en
# ## Code for `torch.cuda` is not code for `torch.mps` under another name
#
# | task | CUDA | MPS |
# |---|---|---|
# | wait | `cuda.synchronize()` | `mps.synchronize()` |
# | memory now | `memory_allocated()` | `current_allocated_memory()` |
# | memory limit | fraction 0 to 1 | fraction 0 to 2 |
# | search of algorithms | `cudnn.benchmark` | none |
# | streams | yes | in torch 2.15, not in 2.13 |
# | float64 | yes | no |
# | [[autocast]] | float16, bfloat16 | float16, bfloat16 |
# | same bits again | `cudnn.deterministic` and more | no switch of its own |
#
# `torch.accelerator` has common names for some. Ask autocast for three types:
# %% [markdown] zh
# ## 别把 `torch.cuda` 改个名就当 `torch.mps` 用
#
# | 要做的事 | CUDA | MPS |
# |---|---|---|
# | 等它算完 | `cuda.synchronize()` | `mps.synchronize()` |
# | 已用内存 | `memory_allocated()` | `current_allocated_memory()` |
# | 内存上限 | 比例 0 到 1 | 比例 0 到 2 |
# | 搜索算法 | `cudnn.benchmark` | 没有 |
# | stream | 有 | 2.15 有，2.13 还没有 |
# | float64 | 有 | 没有 |
# | [[autocast|自动混合精度]] | float16、bfloat16 | float16、bfloat16 |
# | 逐位可重复 | `cudnn.deterministic` 等 | 自己没有开关 |
#
# 有些事 `torch.accelerator` 有通用的名字。向 autocast 要三种类型试试：
# %%
import warnings

for dtype in (torch.float16, torch.bfloat16, torch.float64):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            torch.autocast("mps", dtype=dtype)
        except RuntimeError as error:
            # en: torch 2.9 asks macOS about bfloat16, even elsewhere
            # zh: torch 2.9 遇到 bfloat16 会去问 macOS，不管在哪儿
            warnings.warn(str(error))
    print(dtype, *(str(one.message).split("\n")[0] for one in caught))
explain("08-namesakes")
explain("08-same-seed")
keep("recipe.device")
# %% [markdown] en
# ☕ That was the main line; a fine place to stop for today. Do you write code for many machines? The next cells are *deeper, optional*. Otherwise go on at [[#🕳️ Four myths, then the exit check]].
#
# ### Deeper, optional: one line to choose a device, on six machines
#
# `"cuda" if torch.cuda.is_available() else "cpu"` works on the machine of its author. We run it on machines that are not here: a **simulation**, in which PyTorch's questions are answered from a table. No tensor can be made there.
# %% [markdown] zh
# ☕ 主线到这儿就讲完了，今天歇在这里也很好。常写要在各种机器上跑的代码？下面几格是**选读**；不看就直接跳到 [[#🕳️ 四个误区，然后下课小测]]。
#
# ### 选读：选设备的一行代码，放到六台机器上
#
# `"cuda" if torch.cuda.is_available() else "cpu"` 在作者的机器上好用。咱们让它到不在场的机器上跑跑。这是**模拟**：PyTorch 的查询按一张表来回答，那里造不了张量。
# %%
from course.lessons.l08_mps.machines import MACHINES, pretend

for name in MACHINES:
    with pretend(name) as machine:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        # en: the machine, what the line picks, what would be best
        # zh: 机器，这一行选了什么，选什么最好
        print(f"{name:12} {device:5} {machine.best}")
predict("08-bet-selector")
# %%
observe("08-selectors")
explain("08-check-available")
# %%
# en: 🛠️ Fill three blanks (4 minutes): a pair is a name and a question.
# en: check() walks through all six machines.
# zh: 🛠️ 填三个空（4 分钟）：每一对是名字和查询函数。check() 会把六台机器都走一遍。
def pick_by_hand() -> str:
    for name, usable in (("cuda", torch.cuda.is_available), ("mps", ...), ("xpu", ...)):
        if usable():
            return name
    return ...


check("08-pick-by-hand")
# %% [markdown] en
# ### Deeper, optional: honour a wish, or refuse it aloud (8 minutes, about 6 lines)
#
# `pick_device()` gives back the best usable `torch.device`. With `prefer` (`"cpu"`, `"cuda"`, `"mps"`, `"xpu"`) it gives that, and raises `ValueError` where it does not work. `torch.accelerator` saves you the list. `hint("08-pick-device")` has three steps; ask questions only, make no tensors.
# %% [markdown] zh
# ### 选读：满足愿望，或明说不行（8 分钟，约 6 行）
#
# `pick_device()` 返回最好的、能用的 `torch.device`。给了 `prefer`（`"cpu"`、`"cuda"`、`"mps"`、`"xpu"`）就返回它，用不了就抛出 `ValueError`。`torch.accelerator` 能省掉那张清单。`hint("08-pick-device")` 有三级；只提问，不造张量。
# %%
def pick_device(prefer: str | None = None) -> torch.device:
    raise NotImplementedError


check("08-pick-device")
# %% [markdown] en
# 📌 **So far.**
# 1. CPU and GPU share the memory, yet a tensor on each is two tensors.
# 2. Work for the GPU goes into a queue: measure with a fence.
#
# ## The real thing: eight experiments for a Mac
#
# Speed against the CPU, copies, the fence, the fallback before and after the import, float64 with its exact error,
# equal bits, memory under the recommended limit, float16 and bfloat16. Without an Apple GPU: a recording, or what others have published. The ideas you have met here: the price of
# copies was `08-fallback-price`, the moment `08-env-when`, float64 `08-float32-loses`, the fence lesson 02.
# %% [markdown] zh
# 📌 **小结。**
# 1. CPU 和 GPU 共用内存，可两边的张量还是两份。
# 2. GPU 的活儿要排队：计时要加栅栏。
#
# ## 来真的：八个给 Mac 的实验
#
# 与 CPU 比快慢、拷贝、栅栏、导入前后设回退、float64 的确切错误、逐位一致、建议上限内的内存、float16 与 bfloat16。没有苹果 GPU 就看回放，没有回放就看别人的报告。道理你已经见过：拷贝的代价见 `08-fallback-price`，时机见 `08-env-when`，float64 见 `08-float32-loses`，栅栏见第 02 课。
# %%
observe(["08-speed-mps", "08-transfer-mps", "08-fence-mps",
         "08-fallback-mps", "08-float64-mps", "08-repeat-mps",
         "08-memory-mps", "08-half-mps"])
# %% [markdown] en
# ## 🕳️ Four myths, then the exit check
#
# | “…” | tempting, because | what speaks against it |
# |---|---|---|
# | MPS is switched on in `torch.backends.mps` | its neighbours have switches | seven assignments |
# | `is_available = False` is harmless without a Mac | nothing happens at once | the next caller's `TypeError` |
# | MPS means M1 | many tutorials say so | Metal is asked, not the chip's name |
# | fallback repairs float64 | both are errors of MPS | one is a missing kernel, one a missing type |
#
# A float32 walks up a staircase and counts the steps. At 16,777,216 it takes one more. And one more. “Lovely view,” it says, “and not at all tiring.”
# %% [markdown] zh
# ## 🕳️ 四个误区，然后下课小测
#
# | “……” | 为什么诱人 | 反证 |
# |---|---|---|
# | MPS 在 `torch.backends.mps` 里打开 | 旁边几个模块都有开关 | 七次赋值 |
# | 没有 Mac，`is_available = False` 无害 | 当场什么也没发生 | 下一个调用者的 `TypeError` |
# | MPS 就是 M1 | 不少教程这么写 | 问的是 Metal，不是芯片名 |
# | 回退能修好 float64 | 都是 MPS 的报错 | 一个缺 kernel，一个缺类型 |
#
# 一个 float32 爬楼梯，边爬边数。数到 16,777,216，再上一级，再上一级。“风景真好，”它说，“而且一点都不累。”
# %%
review("08-fallback-float64", "08-cure", "08-autocast-yes",
       "08-which-macs", "01-typo-trace")
# %% [markdown] en
# ## 📌 So, what should I set?
#
# | your situation | do this | how you will know |
# |---|---|---|
# | a Mac with an Apple GPU | `.to("mps")`, no switch | time with a fence, against the CPU |
# | “not implemented for the MPS device” | `PYTORCH_ENABLE_MPS_FALLBACK=1` before Python starts | it runs; then time the copies |
# | “MPS framework doesn't support float64” | float32; subtract first | error against float64 on the CPU |
# | slower than the CPU | more work in each call, or stay on the CPU | `08-bet-fallback-price` and your own time |
# | memory runs out | smaller batch, keep fewer tensors | the driver's memory, by `torch.mps` |
#
# <details><summary>Where this comes from</summary>
#
# The moment at which the variable is read, the price of copies and the exact error of float64: measured in this lesson, without a Mac. Speed on an Apple GPU: reports only; the eight experiments above measure it on yours.
#
# </details>
# %% [markdown] zh
# ## 📌 那我到底该设什么？
#
# | 你的情况 | 这么做 | 怎么知道有没有用 |
# |---|---|---|
# | 有苹果 GPU 的 Mac | `.to("mps")`，没有开关 | 加栅栏计时，和 CPU 比 |
# | 报 “not implemented for the MPS device” | 启动 Python 之前设 `PYTORCH_ENABLE_MPS_FALLBACK=1` | 能跑了；再量拷贝要多久 |
# | 报 “MPS framework doesn't support float64” | 用 float32，先减再转 | 和 CPU 上的 float64 比误差 |
# | 比 CPU 还慢 | 每次调用多算些，不然就留在 CPU | `08-bet-fallback-price`，加上自己计时 |
# | 内存不够 | 减小 batch，少留张量 | 用 `torch.mps` 看驱动占的内存 |
#
# <details><summary>依据</summary>
#
# 变量什么时候读、拷贝要付多少、float64 的确切报错：本课测的，不需要 Mac。苹果 GPU 有多快：只有别人的报告；上面八个实验可以在你的 Mac 上测。
#
# </details>
# %% [markdown] en
# ## Claims you can now make
#
# - `torch.backends.mps` answers questions and switches nothing; work runs where the tensors are.
# - Built, usable, used are three questions. Code that chooses a device asks the second one.
# - The fallback variable counts at the first import of torch. Each call it saves pays for copies there and back.
# - Without float64: subtract first, sum squares of differences, use logarithms, count in whole numbers.
#
# `finish()` adds what was measured here.
# %% [markdown] zh
# ## 这节课学到了什么
#
# - `torch.backends.mps` 只回答，不切换；张量在哪里，就在哪里算。
# - 带了、能用、用了，是三个问题。选设备要问第二个。
# - 回退变量在第一次导入 torch 时才算数；它救下的每次调用，都要付来回拷贝的代价。
# - 没有 float64：先减再转，用差的平方求和，用对数，计数用整数。
#
# `finish()` 会补上在这里测到的结果。
# %%
finish()
