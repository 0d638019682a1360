# %% [markdown] en
# # What is torch.backends, and what is it not?
#
# ⏱️ 40 minutes. Before this: `00_start`. Everything runs **live on any CPU**, no GPU needed.
#
# Afterwards you can:
# - say for a line of code whether it asks, switches, or does nothing at all;
# - change one switch without touching its neighbours, and put it back;
# - say which thread or process sees the change.
# %% [markdown] zh
# # torch.backends 是什么，又不是什么？
#
# ⏱️ 40 分钟。先修：`00_start`。全部内容**在任何 CPU 上实时运行**，不需要 GPU。
#
# 学完之后，你能：
# - 看一行代码，说出它是在查询、在拨开关，还是什么也没做；
# - 只改一个开关，不碰旁边的，用完恢复原样；
# - 说出哪个线程、哪个进程看得到这次改动。
# %% bootstrap
# %%
# en: Warm-up: cards from earlier lessons that are due today (none yet is fine).
# zh: 热身：今天到期的旧卡片（暂时没有也正常）。
review(due=3)
# %% [markdown] en
# ## A polite request to a convolution
#
# `mkldnn` is the old name of **oneDNN**, the library behind most CPU convolutions. It brings **kernels**: routines that compute the same thing in different ways. `deterministic` asks for those that repeat to the bit; on a CPU nobody even reads it.
#
# Common advice: “do not set switches by hand, use the context manager, it cleans up after itself.” Good advice! So we ask politely, in the documented way. What could go wrong?
# %% [markdown] zh
# ## 对卷积提一个礼貌的请求
#
# `mkldnn` 是 **oneDNN** 的旧名，CPU 上的卷积大多由这个库计算。它提供许多 **kernel**：用不同办法算同一件事的例程。`deterministic` 要求只用结果逐位可重复的 kernel；在 CPU 上根本没人读它。
#
# 常见建议：“别手动改开关，用上下文管理器，它会自己收拾。”说得好！那我们就按文档的写法，礼貌地提个请求。还能出什么岔子？
# %%
predict("01-bet-polite")
# %%
observe("01-polite-request")
# %%
# en: No explanation yet. Which cause fits all three lines, the control included?
# zh: 先不解释。哪个原因能同时说明三行，包括对照？
explain("01-flags-why")
# %% [markdown] en
# ## The map: every switch of this PyTorch, live
#
# `torch.backends` is one cupboard with many drawers, one for each library that PyTorch can compute with: `cudnn` (NVIDIA GPUs), `mkldnn` (CPUs), `mps` (Apple GPUs), and more. In it lie two kinds of things: **switches** (how to compute) and **queries** (what is there). The next cell reads them all, here and now. **Find** the one that does not hold its default (◆): we turned it for the picture only.
# %% [markdown] zh
# ## 地图：这份 PyTorch 的全部开关，实时读取
#
# `torch.backends` 是一个多抽屉的柜子，PyTorch 能用的每个计算库各占一格：`cudnn`（NVIDIA GPU）、`mkldnn`（CPU）、`mps`（苹果 GPU）等等。里面放着两类东西：**开关**（怎么算）和**查询**（有什么）。下面的单元格会当场把它们全部读出来。**找一找**：哪个不是默认值（◆）？那是我们拍照时特意拨动的，拍完就恢复了。
# %%
from course import flags
from course.figures.map import backends_map

# en: turned for the picture only
# zh: 只为拍照拨动一下
with flags.using({"mkldnn.deterministic": True}):
    picture = backends_map()
picture
# %%
# en: Ask the map about any switch: change the name and run again.
# zh: 向地图打听任何一个开关：换个名字再运行。
flags.describe("mkldnn.enabled")
# %%
review("01-query-or-switch", "01-none-of-four", "01-available-means")
# %% [markdown] en
# ## `torch.backends.cudnn` is an object that poses as a module
#
# PyTorch replaces the module by an **object**. Its class knows the real switches as properties: writing one calls C++. Look: the type is no ordinary module, and `dir()` does not even list `benchmark`.
# %% [markdown] zh
# ## `torch.backends.cudnn` 是个伪装成模块的对象
#
# PyTorch 用一个**对象**顶替了模块。真正的开关是这个类里的属性描述符，写它就会调用 C++。看：它的类型不是普通模块，`dir()` 甚至没有列出 `benchmark`。
# %%
import torch

cudnn = torch.backends.cudnn
print(type(cudnn).__mro__)
print("benchmark listed by dir():", "benchmark" in dir(cudnn))
print("a property of the class:  ", "benchmark" in vars(type(cudnn)))
# %% [markdown] en
# ## What does a misspelt switch do?
#
# `benchmark`, `benchmarks`, `bench_mark`: fingers are creative. Twelve of our favourite slips, twelve assignments. Your bet, please.
# %% [markdown] zh
# ## 开关名拼错会怎样？
#
# `benchmark`、`benchmarks`、`bench_mark`：手指很有创意。我们收集了十二种常见的手滑，也就是十二次赋值。请下注。
# %%
predict("01-bet-typos")
# %%
observe("01-typos")
# %%
explain("01-typo-why")
# %% [markdown] en
# ## Writing creates, reading complains
#
# Python finds it perfectly fine to **write** a new attribute, and objects only to **reading** a missing one. Run this: the last line is meant to fail. 😄 It is the only honest line of the three. The 🚩 below it is ours: the course looks for stray names after each cell.
# %% [markdown] zh
# ## 写的时候创建，读的时候才抱怨
#
# 在 Python 看来，**写**一个新属性完全没问题，**读**一个不存在的才会抗议。运行下面的代码：最后一行就是要报错的。😄 三行里只有它说了实话。下面的 🚩 是课程加的：每个单元格跑完，我们都会查一遍有没有野名字。
# %% tags=raises-exception
cudnn.benchmarks = True
print("benchmark:", cudnn.benchmark, "  benchmarks:", cudnn.benchmarks)
cudnn.bench_mark
# %% [markdown] en
# ## Task: write the spell checker that Python does not have
#
# ✍️ 5 minutes, about 3 lines. `lines` are assignments such as `"torch.backends.cudnn.benchmark = True"`. `known` are names such as `"cudnn.benchmark"`. Return the list of names that are not known, in order, without `torch.backends.`.
# %% [markdown] zh
# ## 任务：写一个 Python 没有的拼写检查器
#
# ✍️ 5 分钟，大约 3 行。`lines` 是若干赋值语句，例如 `"torch.backends.cudnn.benchmark = True"`；`known` 是开关名，例如 `"cudnn.benchmark"`。按顺序返回不在 `known` 里的名字，去掉 `torch.backends.`。
# %%
def find_typos(lines, known):
    raise NotImplementedError

check("01-find-typos")
# %% [markdown] en
# ## Recap: three kinds of lines
#
# A **query** moves nothing. A **switch** moves something, at once. A **typo** moves nothing and says so to nobody. Stuck above? `hint("01-find-typos")`.
# %% [markdown] zh
# ## 小结：代码行分三种
#
# **查询**什么都不动；**开关**立刻就动；**拼错**什么都不动，还一声不吭。上面卡住了？`hint("01-find-typos")`。
# %%
# en: the stray name goes, the switch stays
# zh: 野名字删掉，开关留着
vars(cudnn).pop("benchmarks", None)
review("01-typo-trace", "01-catch-typo", "01-strict-bool")
# %% [markdown] en
# ## Who sees it when you turn a switch?
#
# You turn `cudnn.benchmark`. In the same program runs a second thread; there is a **forked** child, as Linux has long started its data loaders, and a **spawned** child, as macOS and Windows do. Who reads your value?
# %% [markdown] zh
# ## 拨动开关，谁看得到？
#
# 你拨动了 `cudnn.benchmark`。同一程序里还有另一个线程；有一个 fork 出的子进程（Linux 长期以来就这样启动数据加载进程），还有一个 spawn 出的子进程（macOS 和 Windows 的做法）。谁会读到你设的值？
# %%
predict("01-bet-who-sees")
# %%
observe("01-who-sees")
# %% [markdown] en
# ## One process, one set of switches
#
# Behind almost every switch stands a single C++ object, `at::globalContext()`. Not one per model, per thread or per device. Threads share it. A **fork** starts with a copy. A **spawn** imports torch again and starts with the defaults, unless your script sets the switch at its top level, which the child runs too. Nothing is saved to disk.
# %% [markdown] zh
# ## 一个进程，一套开关
#
# 几乎每个开关背后都是同一个 C++ 对象 `at::globalContext()`，不是每个模型、线程或设备各有一份。线程共用它；**fork** 从副本开始；**spawn** 重新导入 torch，从默认值开始，除非你的脚本在顶层设置开关，因为子进程也会执行顶层代码。什么都不会存到磁盘。
# %%
review("01-global-why", "01-spawn")
# %% [markdown] en
# ## Task: build a leak detector
#
# ✍️ 5 minutes, 1–3 lines. Somebody else's function turned a switch and went home. Compare two snapshots: return `{name: (before, after)}` for what changed, and an empty dict if nothing did. (This course watches your cells in the same way.)
# %% [markdown] zh
# ## 任务：做一个泄漏检测器
#
# ✍️ 5 分钟，1 到 3 行。别人的函数拨了开关，然后下班了。比较两张快照：变了的返回 `{名字: (之前, 之后)}`，都没变就返回空字典。（本课程就是这样盯着你的单元格的。）
# %%
def what_leaked(before, after):
    raise NotImplementedError

check("01-what-leaked")
# %% [markdown] en
# ## The trap: `flags()` sets more than you say
#
# Back to the polite request. Here are four switches of `cudnn`, three of them not at the defaults of the signature. We name one.
# %% [markdown] zh
# ## 陷阱：`flags()` 设的比你说的多
#
# 回到那个礼貌的请求。这次看 `cudnn` 的四个开关，其中三个的值与签名默认值不同。我们只点名一个。
# %%
predict("01-bet-flags")
# %%
observe("01-flags-trap")
# %% [markdown] en
# ## The signature says it all, if anyone reads it
#
# `enabled=False` is the **default argument**, not “leave it”. Three steps make it safe: **name** what you want, **hand over** what you want to keep, **read** inside. Then the same with blanks. (The row has more: `benchmark_limit` and others. Hand those over as well if you ever changed them.)
# %% [markdown] zh
# ## 签名里写得清清楚楚，只是没人看
#
# `enabled=False` 是**默认参数**，不是“保持不动”。三步就安全了：**点名**要改的，**传入**要保留的，在里面**读**一遍。然后轮到你填空。（这一排还有 `benchmark_limit` 等开关：改过的话，也要传进去。）
# %%
with cudnn.flags(deterministic=True, enabled=cudnn.enabled):
    print("enabled:", cudnn.enabled, "  deterministic:", cudnn.deterministic)
# en: and what the shorter call would do, read from its signature:
# zh: 再看看更短的写法会做什么（从签名读出）：
flags.explain_flags_call("cudnn", deterministic=True)
# %%
def deterministic_block():
    cudnn = torch.backends.cudnn
    return cudnn.flags(deterministic=True, allow_tf32=cudnn.allow_tf32,
                       enabled=..., benchmark=...)

check("01-fill-the-blanks")
# %% [markdown] en
# ## Task: a context manager that changes only what is named
#
# ✍️ 10 minutes, about 8 lines. `with only(torch.backends.cudnn, deterministic=True):` changes that and nothing else, puts it back also after an exception, and is loud about a misspelt name **before** anything has moved. Each promise counts.
# %% [markdown] zh
# ## 任务：写一个只改点名开关的上下文管理器
#
# ✍️ 10 分钟，约 8 行。`with only(torch.backends.cudnn, deterministic=True):` 只改这一个；出异常也恢复；名字拼错时，在任何开关被动到**之前**就报错。每条承诺都算分。
# %%
from contextlib import contextmanager

@contextmanager
def only(module, **changes):
    raise NotImplementedError

check("01-only")
# %% [markdown] en
# ## Make it lose: “asking for deterministic costs nothing on a CPU”
#
# ✍️ 8 minutes. Find an operation for which the polite request changes the time. Not our depthwise convolution, one of yours. Accepted is an interval **without 1**, in whichever direction; nobody rewards speed here. (A warning about TF32 may pop up: a switch you never named. Evidence!)
# %% [markdown] zh
# ## 让它输：“在 CPU 上要求 deterministic 没有任何代价”
#
# ✍️ 8 分钟。找一个算子，让那句礼貌的请求改变它的耗时。不要用我们的深度卷积（depthwise），找个你自己的。只要区间**不含 1** 就算数，哪个方向都行；这里不奖励快。（可能会冒出一条关于 TF32 的警告，而你根本没提过那个开关。这也是证据！）
# %%
from course.timing import compare

def plain():
    ...

def asked():
    with torch.backends.mkldnn.flags(deterministic=True):
        plain()

# my_comparison = compare({"plain": plain, "asked": asked}, max_time=3)
check("01-make-it-lose")
# %% [markdown] en
# ## Frozen, but how solid?
#
# `torch.backends.disable_global_flags()` refuses plain assignments. It was made for PyTorch's own tests, and there is **no public way back**; so we freeze a process of its own and then rattle at ten doors.
# %% [markdown] zh
# ## 冻住了，可冻得有多结实？
#
# `torch.backends.disable_global_flags()` 会拒绝直接赋值。它是为 PyTorch 自己的测试准备的，而且**没有公开的解冻办法**；所以我们冻结一个单独的进程，再去晃一晃十扇门。
# %%
predict("01-bet-frozen")
# %%
observe("01-frozen")
# %% [markdown] en
# ## Myth card: “MPS has an on/off switch”, “deterministic sets the seed”
#
# **Why it is tempting:** everything else in this cupboard looks like a switch. **What you will measure:** six attempts, in a process that may break. **Where it holds:** nowhere for MPS, it has queries only; seeds belong to `torch.manual_seed`, devices to `.to(...)`.
#
# 😄 Painting over the fuel gauge does not empty the tank.
# %% [markdown] zh
# ## 误区卡：“MPS 有启用/禁用开关”，“deterministic 会设置种子”
#
# **为什么容易信**：这个柜子里别的东西都像开关。**你要测什么**：六次尝试，在一个弄坏也无妨的进程里。**什么时候成立**：对 MPS 从不成立，它只有查询；种子归 `torch.manual_seed` 管，设备归 `.to(...)` 管。
#
# 😄 把油量表涂黑，油箱可不会因此变空。
# %%
predict("01-bet-mps")
# %%
observe("01-not-a-switch")
# %% [markdown] en
# ## Exit check: five cards, then the door opens
#
# Four from today, one from before. If one goes wrong, it will come back on a day of its own choosing.
# %% [markdown] zh
# ## 下课小测：五张卡片，答完放行
#
# 四张今天的，一张之前的。答错的那张，会自己挑个日子再来找你。
# %%
review("01-job", "01-flags-inside", "01-safe-block", "01-mps-off", "00-why-sums")
# %% [markdown] en
# ## What you can now claim
#
# `finish()` writes the claims from your own numbers; tomorrow `review()` shows what comes back, and when. Left over for another day: `01-on-the-list`, `01-freeze-why`, `01-seed`, `01-cpu-benchmark`, `01-flags-count`. The checkpoint for this lesson is a notebook of its own.
# %% [markdown] zh
# ## 现在你可以这样说
#
# `finish()` 会用你自己的数据写出结论；明天用 `review()` 就能看到什么会回来、哪天回来。改天还可以做：`01-on-the-list`、`01-freeze-why`、`01-seed`、`01-cpu-benchmark`、`01-flags-count`。本课的测验是另一个笔记本。
# %%
finish()
