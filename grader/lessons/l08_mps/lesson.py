# %% [markdown] en
# # What does Apple's backend switch, and what not?
#
# **45 minutes.** Before it: lessons 01 and 02. You will be able to tell a question from a switch, choose a device that
# works anywhere, set the fallback variable in time, and live without float64.
#
# No Mac needed: errors are shown as they are raised **here**, and what is simulated says so. Eight experiments at the end
# need an Apple GPU; without one they show what others have published.
# %% [markdown] zh
# # 苹果的后端能切换什么，不能切换什么？
#
# **45 分钟。** 先修：第 01、02 课。学完之后，你能分清查询和开关，写出在哪台机器上都好用的设备选择函数，及时设好回退变量，还能不靠 float64 过日子。
#
# 不需要 Mac：错误都是在**这台机器上**当场抛出的，凡是模拟都会注明。最后八个实验需要苹果 GPU；没有的话，它们会展示别人公布的结果。
# %% bootstrap
# %%
# en: warm-up: cards from earlier lessons that are due today (none yet is fine)
# zh: 热身：今天到期的旧卡片（暂时没有也正常）
review(due=3)
# %% [markdown] en
# ## A polite question gets an impolite answer
#
# “Just ask PyTorch what is there, asking costs nothing.” So we ask: is this at least macOS 14? A yes-or-no question,
# by its name. Bet first.
# %% [markdown] zh
# ## 礼貌的提问，不礼貌的回答
#
# “有什么设备，问问 PyTorch 就知道，问又不要钱。”那就问：系统至少是 macOS 14 吗？看名字，这是个是非题。先下注。
# %%
predict("08-bet-ask")
# %%
observe("08-who-answers")
explain("08-why-raises")
# %% [markdown] en
# ## Three questions, one staircase
#
# ```text
# built?   mps.is_built()       compiled into this PyTorch
#   |  no: another build is needed
# usable?  mps.is_available()   ... and a Metal device it accepts, now
#   |  no: macOS too old, virtual machine, no such GPU
# used?    x.device             ... and you moved x there
# ```
# A step says nothing about the next one. `torch.device("mps")` stands on no step at all: it is a label. All three are
# **asked**; only the last one is **done**, by `.to("mps")`.
# %% [markdown] zh
# ## 三个问题，一道楼梯
#
# ```text
# mps.is_built()       编译了吗？这个 PyTorch 带没带 MPS
#   |  否：要换一个构建
# mps.is_available()   能用吗？此刻有没有它认可的 Metal 设备
#   |  否：macOS 太旧、虚拟机、没有这样的 GPU
# x.device             用了吗？你有没有把 x 搬过去
# ```
# 上了一级，不等于上了下一级。`torch.device("mps")` 哪一级都不是：它只是标签。三个都是**查询**，只有最后一个要靠你**动手**：`.to("mps")`。
# %%
import torch

mps = torch.backends.mps
answers = {"built": mps.is_built(), "available": mps.is_available()}
if mps.is_available():
    # en: only now may the rest be asked
    # zh: 到这一步，其余的才能问
    answers |= {"name": mps.get_name(), "cores": mps.get_core_count(),
                "macOS 15+": mps.is_macos_or_newer(15, 0)}
print(answers)
explain("08-built-not-available")
explain("08-who-moves")
# %% [markdown] en
# ## Seven hopeful assignments
#
# `enabled`, `benchmark`, `deterministic`: in `cudnn` they are switches. Let us write them into `mps`, add inventions of
# our own, and finally replace the **question** by a liar. Two controls from other drawers run along.
# %% [markdown] zh
# ## 七次满怀希望的赋值
#
# `enabled`、`benchmark`、`deterministic`，在 `cudnn` 里都是开关。我们把它们写进 `mps`，再加上几个自己发明的，最后用一个“说谎者”顶替**查询函数**。另有两个别处的对照一起跑。
# %%
predict("08-bet-liar")
# %%
observe("08-assignments")
explain("08-typo-why")
# %% [markdown] en
# ## Recap: a window is no handle
#
# What is accepted is not what is read. Here is the trail such a line leaves, and nothing else: a name in a module.
# %% [markdown] zh
# ## 小结：窗户不是把手
#
# 被接受，不等于被读取。这样的一行只留下一个痕迹：模块里多了一个名字。
# %%
before = set(vars(mps))
mps.turbo = True
print(set(vars(mps)) - before)
# en: clean up after yourself
# zh: 用完收拾好
del mps.turbo
review("08-how-many", "08-harmless")
# %% [markdown] en
# ## `cuda` with another name? Look before you replace
#
# | task | CUDA | MPS |
# |---|---|---|
# | usable? | `torch.cuda.is_available()` | `torch.backends.mps.is_available()` |
# | wait | `torch.cuda.synchronize()` | `torch.mps.synchronize()` |
# | memory now | `memory_allocated()` | `current_allocated_memory()` |
# | limit | fraction 0 to 1 | fraction 0 to 2 |
# | search of algorithms | `cudnn.benchmark` | none |
# | `set_device`; streams | yes | no; in torch 2.15, not yet in 2.13 |
# | float64 | yes | no |
#
# `torch.accelerator` is the common name, where one exists.
# %% [markdown] zh
# ## 换个名字的 `cuda`？先看再换
#
# | 要做的事 | CUDA | MPS |
# |---|---|---|
# | 能用吗 | `torch.cuda.is_available()` | `torch.backends.mps.is_available()` |
# | 等它算完 | `torch.cuda.synchronize()` | `torch.mps.synchronize()` |
# | 已用内存 | `memory_allocated()` | `current_allocated_memory()` |
# | 上限 | 比例 0 到 1 | 比例 0 到 2 |
# | 搜索算法 | `cudnn.benchmark` | 没有 |
# | `set_device`；stream | 有 | 没有；2.15 有，2.13 还没有 |
# | float64 | 有 | 没有 |
#
# 有通用名字的地方，用 `torch.accelerator`。
# %%
for name in ("synchronize", "Event", "memory_allocated", "current_allocated_memory", "Stream"):
    print(f"{name:25} cuda {hasattr(torch.cuda, name)!s:6} mps {hasattr(torch.mps, name)}")
explain("08-namesakes")
# %% [markdown] en
# ## Worked example: the selector that everybody copies
#
# One line, and it works on the machine of its author. We run it on machines that are not here: a **simulation**, in
# which PyTorch's questions are answered from a table. No tensor can be made there, only questions asked.
# %% [markdown] zh
# ## 示范：人人都抄的那一行
#
# 一行代码，在作者的机器上好用。我们让它到不在场的机器上跑一跑。这是**模拟**：PyTorch 的查询按一张表来回答。那里造不了张量，只能提问。
# %%
from course.lessons.l08_mps.machines import MACHINES, pretend

for name in MACHINES:
    with pretend(name) as machine:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        # en: the machine, what the line picks, what would be best
        # zh: 机器，这一行选了什么，选什么最好
        print(f"{name:12} {device:5} {machine.best}")
# %%
predict("08-bet-selector")
# %%
observe("08-selectors")
explain("08-check-available")
# %% [markdown] en
# ## Fill three blanks (4 minutes)
#
# Each pair is a name and a question; the question is called in the loop. `check` walks through all six machines.
# %% [markdown] zh
# ## 填三个空（4 分钟）
#
# 每一对是一个名字和一个查询函数，循环里才调用它。`check` 会把六台机器都走一遍。
# %%
def pick_by_hand() -> str:
    for name, usable in (("cuda", torch.cuda.is_available), ("mps", ...), ("xpu", ...)):
        if usable():
            return name
    return ...


check("08-pick-by-hand")
# %% [markdown] en
# ## On your own: honour a wish, or refuse it aloud (8 minutes, about 6 lines)
#
# `pick_device()` gives back the best usable `torch.device`. With `prefer` (`"cpu"`, `"cuda"`, `"mps"`, `"xpu"`) it gives
# that, and raises `ValueError` where it does not work. `torch.accelerator` saves you the list. `hint("08-pick-device")`
# has three steps; ask questions only, make no tensors.
# %% [markdown] zh
# ## 自己来：满足愿望，或明说不行（8 分钟，约 6 行）
#
# `pick_device()` 返回最好的、能用的 `torch.device`。给了 `prefer`（`"cpu"`、`"cuda"`、`"mps"`、`"xpu"`）就返回它，用不了就抛出 `ValueError`。`torch.accelerator` 能省掉那张清单。`hint("08-pick-device")` 有三级；只提问，不造张量。
# %%
def pick_device(prefer: str | None = None) -> torch.device:
    raise NotImplementedError


check("08-pick-device")
# %% [markdown] en
# ## A letter that arrives after the door is shut
#
# Some operations have no MPS kernel. `PYTORCH_ENABLE_MPS_FALLBACK=1` sends them to the CPU, if it is set **in time**.
# When is in time? This machine may not read that variable at all, so we watch four others as well.
# %% [markdown] zh
# ## 门关上之后才送到的信
#
# 有些算子没有 MPS kernel。`PYTORCH_ENABLE_MPS_FALLBACK=1` 会把它们转到 CPU，前提是设得**及时**。什么叫及时？这台机器可能根本不读这个变量，所以我们再观察另外四个。
# %%
predict("08-bet-env")
# %%
observe("08-env-when")
explain("08-too-late")
# %% [markdown] en
# ## From the source: the fallback is chosen during the import
#
# ```text
# TORCH_LIBRARY_IMPL(_, MPS, m)          runs while the library loads
#   static ... getenv("PYTORCH_ENABLE_MPS_FALLBACK")
#     unset or 0 -> operations without a kernel raise
#     else       -> they warn once and run on the CPU
# ```
# (`aten/src/ATen/mps/MPSFallback.mm`, shortened.) In a notebook: restart the kernel, set it in the first cell.
# %% [markdown] zh
# ## 源码作证：导入过程中就选好了
#
# ```text
# TORCH_LIBRARY_IMPL(_, MPS, m)          加载库时执行
#   static ... getenv("PYTORCH_ENABLE_MPS_FALLBACK")
#     没设或为 0 -> 没有 kernel 的算子报错
#     其他       -> 警告一次，转到 CPU 执行
# ```
# （`aten/src/ATen/mps/MPSFallback.mm`，有删节。）在笔记本里：重启内核，写在第一个单元格。
# %% [markdown] en
# ## Mend the script (4 minutes)
#
# `check` runs it in a new process and looks at the variable in the moment of the import.
# %% [markdown] zh
# ## 修好这个脚本（4 分钟）
#
# `check` 会在新进程里运行它，看导入那一刻变量是什么。
# %%
script = """
import os
import torch
os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "1"
"""
check("08-script")
explain("08-fallback-order")
# %% [markdown] en
# ## The other letters, same address
#
# | variable | what it asks for |
# |---|---|
# | `PYTORCH_MPS_HIGH_WATERMARK_RATIO` | hard limit of memory, default 1.7 × the recommended; 0 means none and may bring the system down |
# | `PYTORCH_MPS_LOW_WATERMARK_RATIO` | from where it starts to tidy up, default 1.4 (1.0 with a separate GPU) |
# | `PYTORCH_MPS_FAST_MATH` | fast math in its kernels |
# | `PYTORCH_MPS_PREFER_METAL` | own Metal kernels for matmul |
# | `PYTORCH_DEBUG_MPS_ALLOCATOR` | a talkative allocator |
#
# Set them before the import too, and you need not know when each is read.
# %% [markdown] zh
# ## 其余几封信，同一个地址
#
# | 变量 | 要求什么 |
# |---|---|
# | `PYTORCH_MPS_HIGH_WATERMARK_RATIO` | 内存硬上限，默认是推荐值的 1.7 倍；0 表示不限，可能拖垮系统 |
# | `PYTORCH_MPS_LOW_WATERMARK_RATIO` | 从哪里开始清理，默认 1.4（独立 GPU 为 1.0） |
# | `PYTORCH_MPS_FAST_MATH` | kernel 里用快速数学 |
# | `PYTORCH_MPS_PREFER_METAL` | matmul 用自己的 Metal kernel |
# | `PYTORCH_DEBUG_MPS_ALLOCATOR` | 让分配器多说话 |
#
# 都在导入之前设好，就不必记住各自何时读取。
# %%
# en: and what does an operation pay that was saved by the fallback? Bet.
# zh: 那么，被回退“救”下的算子要付多少代价？下注。
predict("08-bet-fallback")
# %%
observe("08-fallback-price")
explain("08-one-warning")
# %% [markdown] en
# ## The number that stands still
#
# The Mac's GPU holds no float64. “float32 is enough, it is only deep learning.” Simulated here on the CPU: the same
# four computations, in both types.
# %% [markdown] zh
# ## 一个停住不走的数
#
# Mac 的 GPU 存不了 float64。“float32 够用了，深度学习而已。”在 CPU 上模拟：同样四个计算，两种类型各算一遍。
# %%
predict("08-bet-counter")
# %%
observe("08-float32-loses")
explain("08-gap")
# %% [markdown] en
# ## Exercise: times for a GPU without float64 (5 minutes, one line)
#
# `stamps` are Unix times in float64, on the CPU. Give back float32 seconds since the first one, right to a
# millisecond.
# %% [markdown] zh
# ## 练习：给没有 float64 的 GPU 准备时间（5 分钟，一行）
#
# `stamps` 是 CPU 上 float64 的 Unix 时间。返回从第一个时刻算起的秒数，类型 float32，误差不超过一毫秒。
# %%
def seconds_since_start(stamps: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError


check("08-seconds")
# %% [markdown] en
# ## Make it lose
#
# Find `numbers` for which `max - min` in float32 is off by more than 1 %. The list below is a bad choice, on purpose.
# %% [markdown] zh
# ## 让它输
#
# 找一组 `numbers`，让 float32 算出的 `max - min` 误差超过 1%。下面的列表是故意选坏的。
# %%
numbers = [1.0, 2.5, 4.0]
check("08-make-it-lose")
explain("08-arrives-double")
# %% [markdown] en
# ## Shared memory, separate tensors, a queue between
#
# On Apple silicon CPU and GPU use one memory: no plug-in card, one common capacity. Still `.to("mps")` makes a second
# tensor and copies into it, and the GPU works through a queue. Move once, fence before you read the clock.
# %% [markdown] zh
# ## 内存共用，张量分开，中间还有队列
#
# Apple 芯片上，CPU 和 GPU 用同一块内存：没有独立显卡，容量也共享。但 `.to("mps")` 仍会新建一个张量并拷贝过去，GPU 也照样按队列干活。所以：只搬一次；读表之前先等。
# %%
explain("08-unified")
explain("08-clock")
# %% [markdown] en
# ## Half precision and equal bits
#
# `torch.autocast("mps")` takes float16 or bfloat16. Ask for anything else and read what it says. For reproducibility
# there is no switch in `mps`: seeds, and `torch.use_deterministic_algorithms`, as everywhere.
# %% [markdown] zh
# ## 半精度与逐位相同
#
# `torch.autocast("mps")` 支持 float16 和 bfloat16。要别的试试，看它怎么说。至于可复现，`mps` 里没有开关：靠种子和 `torch.use_deterministic_algorithms`，和别处一样。
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
explain("08-same-seed")
# %% [markdown] en
# ## The real thing: eight experiments for a Mac
#
# Speed against the CPU, copies, the fence, the fallback before and after the import, float64 with its exact error,
# equal bits, memory under the recommended limit, float16 and bfloat16. Without an Apple GPU: a recording, or what others have published. The ideas you have met here: the price of
# copies was `08-fallback-price`, the moment `08-env-when`, float64 `08-float32-loses`, the fence lesson 02.
# %% [markdown] zh
# ## 来真的：八个给 Mac 的实验
#
# 与 CPU 比快慢、拷贝、栅栏、导入前后设回退、float64 的确切错误、逐位相同、建议上限内的内存、float16 与 bfloat16。没有苹果 GPU 就看回放，没有回放就看别人的报告。道理你已经见过：拷贝的代价见 `08-fallback-price`，时机见 `08-env-when`，float64 见 `08-float32-loses`，栅栏见第 02 课。
# %%
observe(["08-speed-mps", "08-transfer-mps", "08-fence-mps",
         "08-fallback-mps", "08-float64-mps", "08-repeat-mps",
         "08-memory-mps", "08-half-mps"])
# %% [markdown] en
# ## Four myths, and what speaks against them
#
# | “…” | tempting, because | what speaks against it |
# |---|---|---|
# | MPS is switched on in `torch.backends.mps` | its neighbours have switches | seven assignments |
# | `is_available = False` is harmless without a Mac | nothing happens at once | the next caller's `TypeError` |
# | MPS means M1 | many tutorials say so | the check asks Metal, not the chip's name |
# | fallback repairs float64 | both are errors of MPS | one is a missing kernel, one a missing type |
#
# A grain of truth: **asking** `is_available()` before moving anything is right, always.
# %% [markdown] zh
# ## 四个误区，以及反证
#
# | “……” | 为什么诱人 | 反证 |
# |---|---|---|
# | MPS 在 `torch.backends.mps` 里打开 | 旁边几格都有开关 | 七次赋值 |
# | 没有 Mac，`is_available = False` 无害 | 当场什么也没发生 | 下一个调用者的 `TypeError` |
# | MPS 就是 M1 | 不少教程这么写 | 检查的是 Metal，不是芯片名 |
# | 回退能修好 float64 | 都是 MPS 的报错 | 一个缺 kernel，一个缺类型 |
#
# 也有几分道理：搬东西之前先**问** `is_available()`，永远没错。
# %% [markdown] en
# ## Exit check: five cards, one from lesson 01
#
# A float32 walks up a staircase and counts the steps. At 16,777,216 it takes one more. And one more. “Lovely view,” it
# says, “and not at all tiring.”
# %% [markdown] zh
# ## 下课小测：五张卡片，其中一张来自第 01 课
#
# 一个 float32 爬楼梯，边爬边数。数到 16,777,216，再上一级，再上一级。“风景真好，”它说，“而且一点都不累。”
# %%
review("08-fallback-float64", "08-cure", "08-autocast-yes", "08-which-macs", "01-typo-trace")
# %% [markdown] en
# ## Claims you can now make
#
# - `torch.backends.mps` asks and switches nothing; the device is chosen by where the tensors are.
# - Built, usable, used are three questions. A selector asks the second one.
# - The fallback variable counts at the first import of torch. Each operation it saves pays for copies there and back.
# - Without float64: subtract first, sum squares of differences, use logarithms, count in whole numbers.
#
# `finish()` adds what was measured here.
# %% [markdown] zh
# ## 现在你可以这样说
#
# - `torch.backends.mps` 只查询，不切换；张量在哪里，就在哪里算。
# - 编译了、能用、用了，是三个问题。选设备要问第二个。
# - 回退变量在第一次导入 torch 时才算数；它救下的每个算子，代价是来回拷贝。
# - 没有 float64：先减再转，用差的平方求和，用对数，计数用整数。
#
# `finish()` 会补上在这里测到的结果。
# %%
finish()
