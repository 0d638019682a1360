# %% [markdown] en
# # Who listens to which switch, and when?
#
# ⏱️ 35 minutes; the *deeper, optional* parts take another 25. Before it: lessons 01 and 02; 06 and 09 help. Everything runs live on a CPU, and no C++ compiler is needed.
#
# 🎯 Afterwards you can
# - say which kernel computes your attention, see it, and choose it;
# - tell which switches compiled code still hears;
# - say what a thread and a child process take along from you.
# %% [markdown] zh
# # 哪个开关，谁在听，什么时候听？
#
# ⏱️ 35 分钟；**选读**部分再加 25 分钟。先修：第 01、02 课；学过 06、09 更好。全部内容都能在 CPU 上实测，不需要 C++ 编译器。
#
# 🎯 学完之后，你能：
# - 说出你的注意力由哪个 kernel 计算，还能亲眼看到它、换掉它；
# - 分清哪些开关，编译好的代码还听得见；
# - 说清新线程和子进程会从你这里带走哪些设置。
# %% bootstrap
# %% [markdown] en
# ## 🎯 What is this lesson for?
#
# Since the merge attention is slow; “not mine!”, say three colleagues. Until now switches stood alone. A real program has more: it compiles, it starts threads and workers, it computes in 16 bits. A switch only works if the right part of the program **reads** it, at the right **moment**.
#
# Picture a kitchen. The switches hang on its wall, and every cook sees them. Some are looked at while cooking. Others are looked at only once, when the recipe is written. And a second kitchen has a wall of its own.
#
# A warm-up first. Then three modules whose names are easily mixed up: which one do you ask what?
# %% [markdown] zh
# ## 🎯 这一课是干什么用的？
#
# 代码合并后注意力变慢了，三个同事都说“不是我”。前面的开关都是单独讲的。真实的程序要热闹得多：要编译，要开线程和 worker，还要用 16 位的数来算。开关要起作用，得由该读它的那部分程序，在对的**时候**去**读**它。
#
# 想象一间厨房：开关挂在墙上，每个厨师都看得见。有的开关，炒菜时才看；有的只在写菜谱时看一眼，以后就照谱做了。至于另一间厨房，那儿有自己的一面墙。
#
# 先热个身，再来分清三个名字很像的模块：什么问题该找谁？
# %%
# en: The picture, the cards that are due today (if any), today's warm-up.
# zh: 先看图，再是今天到期的旧卡片和今天的热身题。
from course.lessons.l13_together.moments import moments

display(moments())
review(due=3)
explain("13-note-on-the-wall")
# %% [markdown] en
# ## Three modules, three kinds of questions
#
# | module | what you ask there | for example |
# |---|---|---|
# | `torch.backends` | *how* may it be computed? | `cudnn.benchmark`, `mkldnn.enabled` |
# | `torch.cuda`, `torch.mps` | what does *this brand's* device do? | `synchronize()`, memory |
# | `torch.accelerator` | the same for *any* brand | `current_accelerator()`, `synchronize()` |
#
# Switches are permissions, so they exist everywhere, also without the device. Look at the last line of the next cell.
#
# Huawei's Ascend: with `torch_npu`, `torch.accelerator` answers `npu`. There is no cuDNN; HF32 takes TF32's place, with [switches of its own](https://www.hiascend.com/document/detail/zh/Pytorch/700/apiref/apilist/ptaoplist_000238.html).
# %% [markdown] zh
# ## 三个模块，三类问题
#
# | 模块 | 管什么问题 | 例如 |
# |---|---|---|
# | `torch.backends` | 可以*怎么*算？ | `cudnn.benchmark`、`mkldnn.enabled` |
# | `torch.cuda`、`torch.mps` | *这个牌子*的设备在做什么？ | `synchronize()`、内存 |
# | `torch.accelerator` | *不论牌子*，同样的事 | `current_accelerator()`、`synchronize()` |
#
# 开关是许可，所以哪儿都有，没有设备也有。看下一格的最后一行输出。
#
# 华为昇腾：装上 `torch_npu`，`torch.accelerator` 就回答 `npu`。那里没有 cuDNN；与 TF32 相当的是 HF32，[开关是它自己的](https://www.hiascend.com/document/detail/zh/Pytorch/700/apiref/apilist/ptaoplist_000238.html)。
# %%
import torch
from torch.nn import functional as F

device = torch.accelerator.current_accelerator(check_available=True)
print("device:", device or "cpu", "| how many:", torch.accelerator.device_count())
print("CUDA:", torch.cuda.is_available(), "| MPS:", torch.backends.mps.is_available())
print("may use cuDNN:", torch.backends.cudnn.enabled,
      "| flash attention:", torch.backends.cuda.flash_sdp_enabled())
explain("13-which-door")
# %% [markdown] en
# ## 🔬 One formula, several kernels
#
# Attention is the heart of a Transformer: every token (a piece of text) looks at every other and mixes their values. In PyTorch it is one function, `F.scaled_dot_product_attention` ([[sdpa|SDPA]] for short). Behind it stand several [[kernel|kernels]]. **Math** follows the formula: a product, a softmax, a product. **Flash** does all of it in one kernel, block by block.
#
# `sdpa_kernel(...)` allows only the kernels that you list, for the lines inside. A **profile** lists every operator that ran; `kernel_of` reads the kernel from it.
# %% [markdown] zh
# ## 🔬 一个公式，好几个 kernel
#
# 注意力是 Transformer 的心脏：每个 token（一小段文本）都看一遍其他 token，再把它们的值混合起来。在 PyTorch 里它是一个函数 `F.scaled_dot_product_attention`（简称 [[sdpa|SDPA]]），背后有好几个 [[kernel]]。**math** 照公式来：一次乘积、一次 softmax、再一次乘积。**flash** 把这些全放进一个 kernel，一块一块算。
#
# `sdpa_kernel(...)` 让块内只能用你列出的 kernel。**profile** 会列出跑过的每个算子，`kernel_of` 从里面读出是哪个 kernel。
# %%
from torch.nn.attention import SDPBackend, sdpa_kernel
from course.attention import kernel_of, operators_of

# en: 2 sequences, 4 heads, 64 tokens, 16 numbers for each head
# zh: 2 条序列，4 个头，64 个 token，每个头 16 个数
q, k, v = (torch.randn(2, 4, 64, 16) for _ in range(3))
call = lambda: F.scaled_dot_product_attention(q, k, v)
for only in (SDPBackend.FLASH_ATTENTION, SDPBackend.MATH):
    with sdpa_kernel(only):
        seen = sorted(name for name in operators_of(call) if "attention" in name)
        print(kernel_of(call), seen)
# %%
# en: And if nobody says anything? Then: which input does flash refuse?
# zh: 那什么都不说呢？再猜猜：哪种输入 flash 会拒绝？
predict("13-bet-cpu")
predict("13-bet-inputs")
# %%
observe("13-who-attends")
# %%
explain("13-cuda-on-cpu")
# %% [markdown] en
# 📌 **So far.**
# 1. One formula, several kernels.
# 2. On a CPU too, attention takes flash where it may, math for the rest.
#
# ## 🛠️ Foresee who gets the work (5 minutes, one line)
#
# On a CPU flash refuses for one of these reasons (torch checks a few rarer ones too):
# 1. `dropout` is above 0;
# 2. a mask is given that is learnt (`mask.requires_grad`);
# 3. one of the three tensors has fewer than four dimensions (since torch 2.14 three will do);
# 4. their last sizes are not all equal;
# 5. the numbers of the last dimension do not lie side by side (`t.stride(-1)` is not 1).
#
# `check` compares your answer with what torch really does here.
# %% [markdown] zh
# 📌 **小结。**
# 1. 一个公式，好几个 kernel。
# 2. 在 CPU 上，注意力同样能用 flash 就用 flash，其余的归 math。
#
# ## 🛠️ 先判断活儿归谁（5 分钟，一行）
#
# 在 CPU 上，只要沾上一条，flash 就会拒绝（torch 还查几条更少见的）：
# 1. `dropout` 大于 0；
# 2. 给了掩码，而且掩码是可学习的（`mask.requires_grad`）；
# 3. 三个张量里有一个不到四维（torch 2.14 起，三维也收）；
# 4. 它们最后一维的大小不全相等；
# 5. 最后一维的数在内存里不挨着（`t.stride(-1)` 不是 1）。
#
# `check` 会拿你的答案和 torch 在这里的真实行为作比较。
# %%
def stays_fused(q, k, v, mask=None, dropout=0.0) -> bool:
    # en: for example q, k, v above -> True; with dropout=0.1 -> False
    # zh: 例如上面的 q、k、v -> True；dropout=0.1 -> False
    raise NotImplementedError


check("13-stays-fused")
# en: Next bet: the same numbers are computed. And the memory?
# zh: 再下一注：算的数一样多。那内存呢？
predict("13-bet-memory")
# %%
observe("13-flash-math")
explain("13-why-memory")
# %% [markdown] en
# ## 💡 Why flash needs little memory: a table that is never whole
#
# | | math | flash |
# |---|---|---|
# | scores | all tokens × all tokens, written down | one block, used up, forgotten |
# | softmax | over finished rows | corrected as blocks arrive |
# | for the gradient | the table is kept | blocks are computed again |
# | grows with length | squared | in proportion |
#
# The formula is the same and nothing is left out. Only the order of the additions differs, and so do the last bits (lesson 06).
# %% [markdown] zh
# ## 💡 flash 为什么省内存：一张从没整张出现过的表
#
# | | math | flash |
# |---|---|---|
# | 分数 | 所有 token × 所有 token，全写下来 | 一块，用完就忘 |
# | softmax | 等一行算完再做 | 来一块，修正一次 |
# | 求梯度 | 表要留着 | 到时再算一遍 |
# | 随长度增长 | 平方 | 正比 |
#
# 公式一样，一个数也没省。变的只是相加的次序，所以末几位会不同（第 06 课）。
# %%
explain("13-why-differs")
keep("cuda.sdp", "accelerator.doors")
# %% [markdown] en
# 📌 **So far.** Flash attention is not for GPUs alone: your CPU has it, too.
#
# 1. Flash refuses for reasons that you can name before the call.
# 2. Flash needs memory in proportion to the length, math with its square; both are right up to rounding.
# 3. The switches stand in `torch.backends.cuda` and count on the CPU as well. A profile shows what ran.
# %% [markdown] zh
# 📌 **小结。** flash 注意力不是 GPU 的专利，CPU 也有。
#
# 1. flash 为什么拒绝，调用之前就说得出来。
# 2. flash 的内存随长度成正比，math 按平方涨；两个都对，只差舍入。
# 3. 开关写在 `torch.backends.cuda` 里，对 CPU 一样有效。到底跑了哪个，看 profile。
# %% [markdown] en
# ## 🔬 Compiled code is a recipe with a list of checks
#
# `torch.compile(f)` reads your function at its first call, writes down the operations (the recipe), and keeps a list of checks beside it: [[guard|guards]]. Every later call compares the list first. All as before: the recipe is used. Something else: a second recipe is written.
#
# A **backend** gets the recipe. Here is the smallest one possible: it counts, and runs what it got.
# %% [markdown] zh
# ## 🔬 编译好的代码，是一份附带检查清单的菜谱
#
# `torch.compile(f)` 在第一次调用时读一遍你的函数，把算子写下来（菜谱），旁边附一张检查清单，叫 [[guard]]。以后每次调用，先对清单：都没变，照谱做；有变化，就再写一份。
#
# 菜谱交给**编译后端**。下面是最小的一个：只数数，然后照原样执行。
# %%
count = 0

def counting(recipe, inputs):
    global count
    count += 1
    return recipe.forward

double = torch.compile(lambda x: x * 2, backend=counting)
for dtype in (torch.float32, torch.float64, torch.float32):
    double(torch.ones(3, dtype=dtype))
    print(dtype, "recipes so far:", count)
# en: The type is on the list. Which settings are?
# zh: 类型在清单上。那哪些设置也在呢？
predict("13-bet-recompile")
# %%
observe("13-recompiles")
explain("13-guard-why")
# %% [markdown] en
# ## 🎲 And a setting that is neither on the list nor read while cooking?
#
# A convolution stands in the recipe as “convolution”, and asks its switches while cooking. For attention the compiler's backend decides. `backend="eager"` writes “attention”: one call. `"aot_eager"` writes which kernel computes it, and the default backend, `inductor`, begins in the same way.
#
# Bet: compiled with flash allowed; then flash is switched off.
# %% [markdown] zh
# ## 🎲 有的设置不在清单上，做菜时又没人看，会怎样？
#
# 卷积在菜谱里就写着“卷积”，做菜时它自己去看开关。注意力怎么写，由编译后端决定：`backend="eager"` 只写“注意力”，还是一次调用；`"aot_eager"` 会写明用哪个 kernel 算，默认后端 `inductor` 开头也这么做。
#
# 下注：编译时允许 flash，编译完把 flash 关掉。
# %%
predict("13-bet-baked")
# %%
observe("13-baked")
explain("13-make-it-count")
# %% [markdown] en
# ## 💡 When is a setting read?
#
# | read | settings | if you change it later |
# |---|---|---|
# | **at each call**, while cooking | `mkldnn.enabled`, `cudnn.enabled`, `cudnn.deterministic` | counts at once |
# | **by the checks** | threads, deterministic mode, grad mode, autocast, default dtype, TF32 of products | a new recipe |
# | **while writing**, never again | attention's kernel | nothing happens: 🕳️ |
#
# Two fine points. `cudnn.benchmark` is read at each call too, but a size that has its plan keeps it (lesson 05). And with `torch._inductor.config.freezing = True` the default backend packs the weights for oneDNN while writing; that code no longer reads `mkldnn.enabled`.
#
# For one function torch keeps 8 recipes at most; what would need a ninth runs uncompiled, with a warning. `torch.compiler.reset()` throws them all away.
# %% [markdown] zh
# ## 💡 设置是什么时候读的？
#
# | 什么时候读 | 哪些设置 | 事后再改 |
# |---|---|---|
# | **每次调用**，做菜时 | `mkldnn.enabled`、`cudnn.enabled`、`cudnn.deterministic` | 立刻生效 |
# | **对清单时** | 线程数、确定性模式、梯度模式、autocast、默认 dtype、矩阵乘的 TF32 | 新写一份菜谱 |
# | **写菜谱时**，之后不再看 | 注意力的 kernel | 什么也不发生：🕳️ |
#
# 有两点要留意：`cudnn.benchmark` 也是每次调用时读，但已经有执行计划的尺寸会沿用旧的（第 05 课）；设了 `torch._inductor.config.freezing = True`，默认后端在写菜谱时就把权重按 oneDNN 的格式打包好，这份代码不再读 `mkldnn.enabled`。
#
# 一个函数最多留 8 份菜谱；需要第 9 份时，torch 给个警告，不编译直接跑。`torch.compiler.reset()` 会把菜谱全扔掉。
# %% [markdown] en
# 📌 **So far.** Compiled code hears some switches and is deaf to others.
#
# 1. A compiled function is used as long as its checks hold; a version seen before is found again.
# 2. Most switches of `torch.backends` are not on the list: operations read them while they run.
# 3. Attention's kernel is chosen while compiling. Say it inside the function, or before the first call.
# %% [markdown] zh
# 📌 **小结。** 编译好的代码，有的开关听得见，有的听不见。
#
# 1. 检查都通过，编译好的函数就一直用；见过的版本能找回来。
# 2. `torch.backends` 的开关大多不在清单上：算子运行时自己去读。
# 3. 注意力的 kernel 编译时就定了。要么写进函数里，要么赶在第一次调用之前设好。
# %%
keep("compile.guards")
# %% [markdown] en
# ## 🎲 Threads and processes: another cook, another kitchen
#
# Lesson 01 showed it for one switch: [[threads]] share the switches, a [[fork-spawn|fork]] copies them, a spawn starts with the defaults. But not every setting hangs on the wall. Some a cook carries in the apron: `torch.no_grad()` and [[autocast]] are such settings.
#
# Your main thread changes seven settings. Who else reads them?
# %% [markdown] zh
# ## 🎲 线程与进程：换个厨师，换间厨房
#
# 第 01 课看过一个开关：[[threads|线程]]共用，[[fork-spawn|fork]] 复制一份，spawn 从默认值开始。可不是所有设置都挂在墙上，有些揣在厨师自己的围裙里：`torch.no_grad()` 和 [[autocast]] 就是。
#
# 主线程改了七个设置。还有谁读得到？
# %%
predict("13-bet-thread")
# %%
observe("13-who-inherits")
explain("13-pool")
# %% [markdown] en
# ## 🛠️ Take your settings into a thread (5 minutes, about 4 lines)
#
# `in_thread(run)` runs `run()` in a new thread and gives back its result; that part stands there. Complete it: inside, grad mode, autocast of the CPU, and autocast's dtype are those of the thread that **called** `in_thread`. The caller's own settings stay.
#
# `torch.set_grad_enabled(...)` and `torch.autocast("cpu", dtype=..., enabled=...)` can both stand after `with`.
# %% [markdown] zh
# ## 🛠️ 把自己的设置带进线程（5 分钟，约 4 行）
#
# `in_thread(run)` 在新线程里执行 `run()`，并返回它的结果，这部分已经写好。请补完：在里面，梯度模式、CPU 的 autocast 以及它的 dtype，都要和**调用** `in_thread` 的线程一样。调用者自己的设置不能变。
#
# `torch.set_grad_enabled(...)` 和 `torch.autocast("cpu", dtype=..., enabled=...)` 都可以写在 `with` 后面。
# %%
from concurrent.futures import ThreadPoolExecutor

def in_thread(run):
    # en: torch.is_grad_enabled(), torch.is_autocast_enabled("cpu"),
    # en: torch.get_autocast_dtype("cpu")
    # zh: 可以问 torch.is_grad_enabled()、torch.is_autocast_enabled("cpu")、
    # zh: torch.get_autocast_dtype("cpu")
    def work():
        return run()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()

check("13-in-thread")
keep("process.settings")
# %% [markdown] en
# 📌 **So far.** Switches hang on the wall; `no_grad` is in the apron.
#
# 1. Switches belong to the process: a thread shares them, a fork takes a copy, a spawn has the defaults.
# 2. Grad mode and autocast belong to the thread: a new one starts without them.
# 3. On Linux, Python 3.14 no longer forks by default (it uses a fresh “fork server”). Set what a worker needs **in** the worker.
# %% [markdown] zh
# 📌 **小结。** 开关挂在墙上，`no_grad` 揣在围裙里。
#
# 1. 开关归进程：线程共用，fork 带走副本，spawn 从默认值开始。
# 2. 梯度模式和 autocast 归线程：新线程里没有。
# 3. 在 Linux 上，Python 3.14 起默认不再 fork（改用全新的 fork server）。worker 要的设置，就在 worker **里面**设。
# %% [markdown] en
# ☕ That was the main line. autocast, the difference between two kernels, the list of a GPU, the deterministic mode and its neighbours, two traps and a race are *deeper, optional*. Otherwise go on at [[#🕳️ Four myths, and what you measured]].
#
# ### Deeper, optional: autocast changes the type, and with it the library
#
# [[autocast]] is no switch of a backend. It stands before the operations and copies inputs to 16 bits for those on its list. The others keep what they get. Eleven operations on float32 tensors: which results change their type? And who computes them then?
# %% [markdown] zh
# ☕ 主线到这儿就讲完了。autocast、两个 kernel 差多少、GPU 的名单、确定性模式如何影响别处、两个坑、一场对决，都是**选读**；不看就直接跳到 [[#🕳️ 四个误区，和你测到的]]。
#
# ### 选读：autocast 换了类型，也就换了库
#
# [[autocast]] 不是后端的开关。它站在算子前面，名单上的算子，就把输入复制成 16 位；名单外的，来什么用什么。十一个算子，输入都是 float32：哪些结果会换类型？换了之后又是谁在算？
# %%
predict("13-bet-library")
# %%
observe("13-autocast")
# %%
explain("13-autocast-weights")
explain("13-autocast-library")
keep("autocast.cpu")
# %% [markdown] en
# ### Deeper, optional: 🛠️ measure the difference, and leave the switches alone (5 minutes, about 5 lines)
#
# `kernel_gap(q, k, v)` gives back the largest difference (its size, without sign) between what flash and what math compute. Afterwards every switch is as before.
#
# `sdpa_kernel` is a [[context-manager|context manager]] without the trap of `cudnn.flags()` (lesson 01): inside holds just what you list, and afterwards it puts back exactly what was there. Stuck? `hint("13-kernel-gap")`.
# %% [markdown] zh
# ### 选读：🛠️ 量出两者的差，开关恢复原样（5 分钟，约 5 行）
#
# `kernel_gap(q, k, v)` 用 flash 和 math 各算一遍，返回两份结果之间最大的绝对差。函数返回之后，所有开关都要和调用之前一样。
#
# `sdpa_kernel` 也是[[context-manager|上下文管理器]]，但没有 `cudnn.flags()` 的那个坑（第 01 课）：块内允许哪些，只看你列的清单；出块时，开关恢复原样。卡住了就运行 `hint("13-kernel-gap")`。
# %%
def kernel_gap(q, k, v) -> float:
    raise NotImplementedError


check("13-kernel-gap")
# %% [markdown] en
# ### Deeper, optional: an NVIDIA GPU has another list
#
# | on CUDA | flash | memory-efficient |
# |---|---|---|
# | card | compute capability 8.0 or newer | older ones too (a T4) |
# | types | float16, bfloat16 | float32, float16; bfloat16 from 8.0 on |
# | mask | **none** | yes |
# | dropout | yes | yes |
#
# Math takes the rest. PyTorch tries flash first, then memory-efficient, with one exception: on an H100 or a B200 (compute capability 9.x and 10.x) cuDNN's kernel comes before both, if cuDNN 9.15.1 or newer is loaded. `enable_cudnn_sdp(False)` forbids it; `TORCH_CUDNN_SDPA_DEPRIORITIZED=1`, set before Python starts, keeps the old order. This is read in the source of torch 2.13 (`transformers/cuda/sdp_utils.cpp`), not measured here, and 2.9 had other conditions.
# %% [markdown] zh
# ### 选读：NVIDIA GPU 的名单不一样
#
# | CUDA 上 | flash | memory-efficient |
# |---|---|---|
# | 显卡 | 计算能力 8.0 及以上 | 更老的也行（比如 T4） |
# | 类型 | float16、bfloat16 | float32、float16；8.0 起还有 bfloat16 |
# | 掩码 | **不收** | 收 |
# | dropout | 收 | 收 |
#
# 其余的归 math。PyTorch 先试 flash，再试 memory-efficient，只有一个例外：在 H100、B200 上（计算能力 9.x 和 10.x），只要加载的是 cuDNN 9.15.1 或更新的版本，就最先试 cuDNN 的 kernel。不想让它用，就写 `enable_cudnn_sdp(False)`；在启动 Python 之前设 `TORCH_CUDNN_SDPA_DEPRIORITIZED=1`，则恢复老顺序。以上是从 torch 2.13 的源码（`transformers/cuda/sdp_utils.cpp`）里读来的，不是在这里测的；2.9 的条件又不一样。
# %% [markdown] en
# Which order would **you** like? `sdpa_kernel([...], set_priority=True)` tries your list from left to right. A GPU follows it. A CPU only notes it down: its own order, flash before math, is fixed in the source (`transformers/sdp_utils_cpp.cpp`).
#
# Since 2.10 there is one more choice: `torch.nn.attention.activate_flash_attention_impl("FA3")` puts another implementation of flash in the place of the built-in one, if its package is installed.
# %% [markdown] zh
# 顺序能不能由**你**定？`sdpa_kernel([...], set_priority=True)` 会照你的清单从左往右试。GPU 听你的；CPU 只把它记下来：它自己的顺序（先 flash 后 math）写死在源码里（`transformers/sdp_utils_cpp.cpp`）。
#
# 2.10 起还多了一种选择：`torch.nn.attention.activate_flash_attention_impl("FA3")` 会用另一套 flash 实现替换内置的那套，前提是装了它的包。
# %%
# en: If you have such a GPU: this cell works there as well. Change one thing at a time.
# zh: 你要是有这样的 GPU，这一格在那儿也能跑：一次只改一处试试。
place = torch.accelerator.current_accelerator(check_available=True) or "cpu"
half = torch.randn(2, 4, 64, 16, device=place, dtype=torch.float16)
mask = torch.zeros(64, 64, device=place, dtype=half.dtype)
attention = F.scaled_dot_product_attention
print(place, "| without mask:", kernel_of(lambda: attention(half, half, half)),
      "| with mask:", kernel_of(lambda: attention(half, half, half, attn_mask=mask)))
with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION], set_priority=True):
    print("math wanted first; what ran:", kernel_of(call))
# %% [markdown] en
# ### Deeper, optional: the deterministic mode and its neighbours
#
# Lesson 06 taught the mode. Here is what it does to its neighbours:
#
# | neighbour | with the mode on |
# |---|---|
# | compiled code | another recipe, one for each value |
# | cuDNN's convolutions | as if `cudnn.deterministic` were True |
# | attention on NVIDIA GPUs | cuDNN's kernel is not used; the backward of flash and efficient takes its deterministic form |
# | the same with `warn_only` | these kernels run as usual and warn |
# | threads; spawned workers | on in every thread; off in the worker |
# %% [markdown] zh
# ### 选读：确定性模式会影响谁
#
# 第 06 课讲过确定性模式。打开它，别的地方会跟着变：
#
# | 受影响的 | 打开确定性模式之后 |
# |---|---|
# | 编译好的代码 | 另写一份菜谱，每个取值一份 |
# | cuDNN 的卷积 | 等于 `cudnn.deterministic` 为 True |
# | NVIDIA GPU 上的注意力 | 不用 cuDNN 的 kernel；flash 和 efficient 的反向传播改用确定性形式 |
# | 同上，但 `warn_only` | 这些 kernel 照常跑，只给警告 |
# | 线程；spawn 的 worker | 每个线程里都是开的；worker 里是关的 |
# %%
explain("13-debug-mode")
# en: Two traps around attention: a query that says no, and a dropout that never sleeps.
# zh: 注意力周边的两个坑：说“没有”的查询，和从不休息的 dropout。
explain("13-query-says-no")
explain("13-eval-dropout")
# en: And one on compiling: what happens in which order?
# zh: 再来一题编译的：先后顺序是怎样的？
explain("13-order-compile")
# %% [markdown] en
# ### Deeper, optional: find a counterexample that is slower with flash (6 minutes)
#
# “Flash is never slower than math.” Find a call on your CPU for which it is: accepted when the whole interval of time flash / math lies above 1, and a profile shows both kernels. What does flash save, and when is there little to save? The call below is a first try.
# %% [markdown] zh
# ### 选读：找个用了 flash 更慢的反例（6 分钟）
#
# “flash 绝不会比 math 慢。”在你的 CPU 上找个反例：flash / math 耗时比的整个区间在 1 之上，profile 里两个 kernel 都在，就算通过。flash 省的是什么？什么时候没什么可省？下面先试一个。
# %%
from course.attention import flash_math

q = k = v = torch.randn(1, 4, 256, 32)
race = flash_math(lambda: F.scaled_dot_product_attention(q, k, v))
losing = {"race": race}
print(race)
check("13-make-it-lose")
# %% [markdown] en
# ## 🕳️ Four myths, and what you measured
#
# | “...” | tempting, because | what speaks against it |
# |---|---|---|
# | flash attention needs a GPU | it became famous there | `_for_cpu` in a profile |
# | `torch.backends.cuda` is for GPUs | the name | a switch that moved the CPU |
# | compiled code follows every switch | uncompiled code does | flash, switched off, ran on |
# | a thread takes over `no_grad` | it shares all else | one column of the table |
#
# Where they hold: other flash kernels do need a GPU; an uncompiled program does follow its switches.
# %% [markdown] zh
# ## 🕳️ 四个误区，和你测到的
#
# | “……” | 为什么诱人 | 反证 |
# |---|---|---|
# | flash 注意力得有 GPU | 它在 GPU 上出的名 | profile 里的 `_for_cpu` |
# | `torch.backends.cuda` 只管 GPU | 看名字 | 一个开关动了 CPU |
# | 编译好的代码也听开关的 | 没编译的确实听 | 关掉了，flash 照跑 |
# | 线程会继承 `no_grad` | 别的都共用 | 表里那一列 |
#
# 也有成立的时候：别的 flash kernel 确实要 GPU；没编译的程序确实听开关的。
# %% [markdown] en
# ## Exit check: five cards
#
# A cook is told: “From today on, no flash in this kitchen!” “Yes, chef!” The next day it flashes again. “I said no flash!” “You said it to the kitchen, chef. I was reading the recipe.”
# %% [markdown] zh
# ## 下课小测：五张卡片
#
# 主厨宣布：“从今天起，厨房里不许开闪火（flash）！”“是！”第二天，火照样一闪一闪的。“不是说了不许吗？”“您那话是对着厨房说的，我照着菜谱做的呀。”
# %%
review("13-no-kernel", "13-table-size", "13-flip-flop", "13-two-blocks", "06-warn-only")
# %% [markdown] en
# ## Claims you can now make
#
# - Attention on my CPU runs flash unless an input forbids it; I can name the reason, and see the kernel.
# - A compiled function hears switches at three moments: at each call, through its checks, or only while it is written.
# - Switches belong to the process, grad mode and autocast to the thread.
# - A setting counts only where it is read. So I look at what ran, not at what I wrote.
#
# “Trust, but verify.” (A Russian proverb; Ronald Reagan quoted it in 1987 over a treaty on missiles. It fits profiles as well.)
# %% [markdown] zh
# ## 这节课学到了什么
#
# - 我的 CPU 上，注意力走 flash，除非输入不允许；原因我说得出，kernel 我看得见。
# - 编译好的函数在三个时刻听开关：每次调用时、对清单时，或者只在写下来的时候。
# - 开关归进程，梯度模式和 autocast 归线程。
# - 设置只在被读到的地方算数。所以我看的是跑了什么，不是写了什么。
#
# “耳听为虚，眼见为实。”（老话。放到这里：开关的值是“听说”，profile 才是“看见”。）
# %%
finish()
