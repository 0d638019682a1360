# %% [markdown] en
# # 🛠️ Can you build your own `cudnn.benchmark`?
#
# ⏱️ **130 minutes**, optional, nothing is graded. Before it: lessons 02 and 05.
#
# `cudnn.benchmark` tries several ways to compute a convolution and keeps the fastest. Today you build such an **autotuner** yourself: nine
# functions of 4 to 12 lines, each with a `check`; stuck: `hint("own-im2col")`, three steps deep. At the end it runs beside PyTorch's own choice, on your CPU, or on your GPU if there is one.
#
# Who will win? Write your guess into the small cell below: of eight convolutions, yours is faster in ... No check reads a real clock; the last step does.
# %% [markdown] zh
# # 🛠️ 你能自己写一个 `cudnn.benchmark` 吗？
#
# ⏱️ **130 分钟**，选做，不计分。先修：第 02、05 课。
#
# `cudnn.benchmark` 把卷积的几种算法都试一遍，留下最快的。今天就自己动手，写一个这样的**自动调优器**：九个函数，每个 4 到 12 行，写完都能 `check`；卡住了就 `hint("own-im2col")`，共三级。最后让它和 PyTorch 自己的选择比一比：在你的 CPU 上；有 GPU 就在 GPU 上。
#
# 谁会赢？先把猜测写进下面的小格：八个卷积里，你的快几个？前面的检查都不看真表，只有最后一步真的计时。
# %% bootstrap
# %%
import json
import os
from functools import partial
from pathlib import Path
from statistics import median

import torch.nn.functional as F

from course.projects.own_benchmark.given import (
    clock, direct, machine_now, pytorch, wait_for, workspace,
)
from course.projects.own_benchmark.final import beside_pytorch, when_ready
from course.projects.own_benchmark.pretended import Machine
# %%
# en: your guess, a number from 0 to 8 in place of the dots
# zh: 你的猜测：把三个点换成 0 到 8 的数
my_guess = ...
# %% [markdown] en
# ## 1. One result, four ways
#
# A tuner needs something to choose from. Two ways are given: `pytorch` (F.conv2d, which asks oneDNN on a CPU) and `direct` (shift the image once
# for each tap of the kernel, multiply, add). Two you write yourself.
#
# 🎲 A 3 × 3 kernel, stride 1: in how many patches does a pixel in the middle stand? A 31 × 31 kernel: in how many?
# %% [markdown] zh
# ## 1. 一个结果，四种算法
#
# 调优器得有东西可选。两种算法已经给你：`pytorch`（F.conv2d，在 CPU 上会交给 oneDNN）和 `direct`（核里每个位置把图平移一次，相乘、累加）。另外两种你来写。
#
# 🎲 3 × 3 的核，stride 1：图中间的一个像素，会出现在多少个小块里？31 × 31 的核呢？
# %%
ways = {"pytorch": pytorch, "direct": direct}
x, weight = torch.randn(1, 3, 8, 8), torch.randn(4, 3, 3, 3)
difference = direct(x, weight, padding=1) - pytorch(x, weight, padding=1)
print(f"direct - pytorch: {difference.abs().max():.1e}")
one_pixel = torch.zeros(1, 1, 9, 9)
one_pixel[0, 0, 4, 4] = 1
print("copies of a pixel, 3 x 3:", int(F.unfold(one_pixel, 3).sum()))
# %% [markdown] en
# ### Your turn: im2col (10 minutes, about 6 lines)
#
# Copy each patch into a column (`F.unfold` does it), then one matrix product computes everything. Same result as `F.conv2d(x, weight, None, stride, padding)`,
# which you do not call yourself; image and kernel need not be square. F.conv2d does not flip the kernel.
# %% [markdown] zh
# ### 轮到你：im2col（10 分钟，约 6 行）
#
# 把每个小块抄成一列（`F.unfold` 会做），一次矩阵乘法就算完了。结果要和 `F.conv2d(x, weight, None, stride, padding)` 一样，但不能直接调用它；图和核都不一定是正方形。F.conv2d 不翻转核。
# %%
def im2col(x, weight, stride=1, padding=0):
    # en: x (n, c, h, w), weight (k, c, r, s) -> (n, k, rows, columns)
    # zh: x (n, c, h, w)，weight (k, c, r, s) -> (n, k, 行, 列)
    raise NotImplementedError


ways["im2col"] = im2col
check("own-im2col")
# %% [markdown] en
# **So:** im2col buys a perfect matrix product with copies: 9 of every pixel, and 961 for a kernel of 31.
#
# ### Your turn: FFT (18 minutes, about 7 lines)
#
# For large kernels there is another way: a convolution is a **product of spectra**. Transform image and kernel (to the same size), multiply at each frequency,
# add up over the channels, transform back, cut off what wrapped around the edge. A product of spectra flips the kernel, F.conv2d does not: undo
# it with `.conj()` of the kernel's spectrum, or flip the kernel before. The hints know the names.
# %% [markdown] zh
# **所以：** im2col 用抄写换来一次完美的矩阵乘法：每个像素抄 9 遍；31 × 31 的核，要抄 961 遍。
#
# ### 轮到你：FFT（18 分钟，约 7 行）
#
# 核很大时还有一条路：卷积就是**频谱相乘**。把图和核变换到同样大小，每个频率上相乘，对通道求和，再变回来，裁掉从边上绕回来的部分。频谱相乘会翻转核，F.conv2d 不翻转：要么对核的频谱取 `.conj()`，要么先把核翻过来。要用的函数名，提示里都有。
# %%
def fft(x, weight, stride=1, padding=0):
    # en: pad, transform, multiply, add up over c, transform back, cut, take one in stride
    # zh: 填充、变换、相乘、对 c 求和、变回来、裁剪、每隔 stride 取一个
    raise NotImplementedError


ways["fft"] = fft
check("own-fft")
# %% [markdown] en
# **So:** four ways, one result. Which is fastest depends on the problem, so somebody has to measure.
#
# ## 2. A naive clock chooses wrongly
#
# Below is a **pretended machine**: its costs are planted, so we know the truth. `fft` takes 90 ms the first time (it prepares tables), then 2 ms. `direct`
# always takes 5. Like a GPU it has a **queue**: a call only puts work in, `wait()` returns when all is done.
#
# 🎲 For a thousand steps `fft` is right. What does the naive clock say, without and with `wait`?
# %% [markdown] zh
# **所以：** 四种算法，一个结果。哪种快，要看卷积配置，所以得有人来测。
#
# ## 2. 幼稚的秒表会选错
#
# 下面是一台**假想机器**：每次多久都是预先定好的，真相我们清楚。`fft` 第一次要 90 ms（要准备表格），以后 2 ms；`direct` 始终 5 ms。它像 GPU 一样有**队列**：调用只是把活放进去，`wait()` 等全部做完才返回。
#
# 🎲 要跑一千步，选 `fft` 才对。幼稚的秒表会怎么说？不加 `wait` 和加上 `wait`，各是多少？
# %%
def naive(runs, clock, wait):
    times = {}
    for name, run in runs.items():
        start = clock()
        for _ in range(3):
            run()
        wait()
        times[name] = round((clock() - start) / 3, 2)
    return times


for wait_too in (False, True):
    machine = Machine({"fft": [90, 2], "direct": [5]})
    wait = machine.wait if wait_too else lambda: None
    print(naive(machine.runs, machine.clock, wait))
# %% [markdown] en
# **So:** without waiting, both take 0.01 ms, the time of putting work in. With it, the first call decides, and a thousand steps get the slower way.
#
# ## 3. A race that is not fooled
#
# Four things fool a clock: the first call; work in the queue, before and after; a call that another program disturbed; a machine that slows
# down. Which remedy is against which? *warm-up · wait · median · take turns*
#
# ### Your turn (12 minutes, about 10 lines)
# %% [markdown] zh
# **所以：** 不等待，两边都是 0.01 ms，那是放活的时间。等了，首次调用又说了算，一千步都走了慢的那条路。
#
# ## 3. 一场骗不了的比赛
#
# 秒表会被四样东西骗：首次调用；队列里的活，前面的和后面的；被别的程序打扰的一次；越跑越慢的机器。哪味药治哪种病？*预热 · 等待 · 中位数 · 轮流*
#
# ### 轮到你（12 分钟，约 10 行）
# %%
def race(runs, clock, wait, rounds=9):
    # en: runs: name -> function without arguments. clock(): the time now in ms.
    # en: wait(): returns when the queue is empty. rounds: those that are timed.
    # en: Give back name -> median ms of a call.
    # zh: runs：名字 -> 不带参数的函数。clock()：现在的毫秒数。
    # zh: wait()：等队列空了才返回。rounds：要计时的轮数。
    # zh: 返回：名字 -> 一次调用的中位毫秒数。
    raise NotImplementedError


check("own-race")
# %%
# en: Now your machine and a real clock: a kernel of 31, then of 3. Who wins?
# zh: 换成你的机器和真表：先用 31 × 31 的核，再用 3 × 3 的。谁赢？
for size in (31, 3):
    x, weight = torch.randn(1, 1, 128, 128), torch.randn(1, 1, size, size)
    setting = {"padding": size // 2}
    runs = {name: partial(way, x, weight, **setting) for name, way in ways.items()}
    taken = when_ready(lambda: race(runs, clock, wait_for("cpu")))
    if not taken:
        break
    print(size, ", ".join(f"{name} {ms:.2f} ms" for name, ms in taken.items()))
# %% [markdown] en
# 📌 **So far.**
# 1. Four ways give one result; the problem decides which is fastest.
# 2. Warm-up against the first call, two waits against the queue, the median against disturbances, turns against drift.
# %% [markdown] zh
# 📌 **小结。**
# 1. 四种算法，一个结果；哪种最快，由卷积配置决定。
# 2. 预热治首次调用，两次等待治队列，中位数治打扰，轮流治忽快忽慢。
# %% [markdown] en
# ## 4. What does a plan depend on?
#
# A race takes time, so its winner is kept under a **key**. 🎲 Many write `str(x.shape)` first. Which of these can change the winner as well: kernel, data type,
# channels_last, number of threads, the numbers in the image?
#
# ### Your turn (10 minutes, about 5 lines)
#
# In the key stands all that can change the winner: of both tensors what describes them, not their numbers; each name of the setting with its value; where and with how
# many threads it runs. It will stand in a file, so the same problem has the same text in the next process, too.
# %% [markdown] zh
# ## 4. 计划取决于什么？
#
# 比赛要花时间，所以把赢家存起来，用 **key** 来查。🎲 很多人第一反应是 `str(x.shape)`。下面哪些也会改变胜负：卷积核、数据类型、channels_last、线程数、图里的数值？
#
# ### 轮到你（10 分钟，约 5 行）
#
# 凡是能改变胜负的，都要在 key 里：两个张量的描述（不是数值），setting 里每个名字和它的值，在哪里跑、用几个线程。key 以后要写进文件，所以同一个配置在下一个进程里也得是同样的字符串。
# %%
def key_of(x, weight, setting):
    # en: setting: what is not the default, such as {"stride": 2}. Give back a string.
    # zh: setting：不是默认值的参数，例如 {"stride": 2, "padding": 1}。返回字符串。
    raise NotImplementedError


check("own-key")
# %% [markdown] en
# **So:** too small a key gives the wrong plan, in silence; too large a key searches without end. And the bet: all of them but the numbers. Two images of one shape cost
# the same work.
#
# ### Your turn: the cache (5 minutes, about 4 lines)
#
# `plans` is a dictionary: key → name of a way. `search(x, weight, setting)` runs a race and gives back such a name. Compute the convolution with the plan of
# its key; search only if there is none that can be used.
# %% [markdown] zh
# **所以：** key 太小，会悄悄用错计划；key 太大，就搜索个没完。刚才那一问：除了数值，全都会。形状相同的两张图，要算的活一样多。
#
# ### 轮到你：缓存（5 分钟，约 4 行）
#
# `plans` 是字典：key → 算法的名字。`search(x, weight, setting)` 跑一场比赛，返回这样一个名字。请按 key 对应的计划算出卷积；没有能用的计划时才去搜索。
# %%
def tuned(x, weight, setting, ways, plans, key_of, search):
    # en: Give back the result of the convolution.
    # zh: 返回卷积的结果。
    raise NotImplementedError


check("own-cache")
# %% [markdown] en
# **So:** the key is asked first, the search second: the skeleton of cuDNN's plan cache.
#
# ## 5. When sizes change, who pays?
#
# A search costs 30 ms; a step takes 5 ms without the tuner and 2 ms with it. 🎲 36 steps: always one size; three sizes in turn; a new size every time. In which
# of the three does the tuner save something?
#
# ### Your turn (5 minutes, about 5 lines)
# %% [markdown] zh
# **所以：** 先查 key，再谈搜索：cuDNN 计划缓存的骨架就是这样。
#
# ## 5. 尺寸一直变，谁来买单？
#
# 搜索一次 30 ms；每步不调优 5 ms，调优后 2 ms。🎲 跑 36 步：始终一种尺寸；三种轮流；每步都是新尺寸。哪几种情况下，调优器省了时间？
#
# ### 轮到你（5 分钟，约 5 行）
# %%
def bill(steps, times):
    # en: steps: the keys in order. times[key]: (search_ms, default_ms, best_ms).
    # en: Give back the ms saved; negative where the tuner loses.
    # zh: steps：依次遇到的 key。times[key] 是 (search_ms, default_ms, best_ms)。
    # zh: 返回省下的毫秒数；亏了就是负数。
    raise NotImplementedError


check("own-bill")
# %%
times = dict.fromkeys(range(100), (30, 5, 2))
schedules = {"one size": [0] * 36, "three": [0, 1, 2] * 12, "new": list(range(36))}
when_ready(lambda: {name: bill(steps, times) for name, steps in schedules.items()})
# %% [markdown] en
# **So:** 78 ms saved, 18 saved, 972 lost. A tuner is for sizes that come back; and a plan that outlives the process is found only once. That needs a file.
#
# ## 6. A file that may be damaged, old, or not there
#
# 🎲 Training stops while the plans are written, and half a file is left. What should the next start do? And if the file comes from another torch, or from
# another computer?
#
# ### Your turn: save (5 minutes, about 4 lines)
#
# Whoever opens the file meanwhile finds all of the old plans or all of the new ones. Nothing else is left in its folder; other folders may lie on another disk.
# %% [markdown] zh
# **所以：** 省 78 ms、省 18 ms、亏 972 ms。调优器适合会重复出现的尺寸；要是计划能比进程活得久，就只需搜索一次。这就要有文件。
#
# ## 6. 文件可能坏了、旧了、没了
#
# 🎲 正在写计划，训练断了，留下半个文件。下次启动该怎么办？文件要是别的 torch 版本写的、从别的电脑拷来的呢？
#
# ### 轮到你：保存（5 分钟，约 4 行）
#
# 保存期间谁打开文件，看到的要么是全部旧计划，要么是全部新计划。文件夹里不留别的东西；别的文件夹可能在另一块盘上。
# %%
def save_plans(path, plans, machine):
    # en: path: a pathlib.Path. JSON of {"machine": machine, "plans": plans}.
    # zh: path：pathlib.Path。写入 {"machine": machine, "plans": plans} 的 JSON。
    raise NotImplementedError


check("own-save")
# %% [markdown] en
# **So:** write beside it, then rename: whoever reads finds the old file or the new one.
#
# ### Your turn: load (10 minutes, about 7 lines)
#
# Give back the plans of the file, and `{}` where they cannot be trusted: no file; one written on another machine; a damaged one, that is anything but the JSON of
# `{"machine": ..., "plans": {key: name}}`: empty, cut, no text, a list, a number for the plans, a name that is no text. No error in any case, and the file stays as it is.
# %% [markdown] zh
# **所以：** 先写在旁边，再改名：读的人看到的，要么旧文件，要么新文件。
#
# ### 轮到你：读取（10 分钟，约 7 行）
#
# 返回文件里的计划；信不过就返回 `{}`：没有文件；在别的机器上写的；文件坏了，也就是内容不是 `{"machine": ..., "plans": {key: 名字}}` 的 JSON：空的、断了半截、不是文本、是个列表、plans 是个数、名字不是字符串。任何情况下都不报错，也不动文件。
# %%
def load_plans(path, machine):
    # en: machine: what machine_now() says here; the file holds what it said there.
    # zh: machine：machine_now() 在这里的返回值；文件里存的是写文件那边的。
    raise NotImplementedError


print(machine_now())
check("own-load")
# %% [markdown] en
# **So:** an empty cache costs one search; a wrong plan costs every step.
#
# ## 7. Who may race at all?
#
# 🎲 The fastest way of all: `lambda x, weight, **setting: torch.zeros(1)`. Would your tuner choose it? And a way that stops with an error (our `fft` knows no `groups`), or needs a
# gigabyte of **workspace**, memory beside image and result?
#
# ### Your turn (10 minutes, about 10 lines)
#
# The names of the ways that run (whatever error another stops with), compute what `pytorch` computes, and stay within `limit` bytes. Rounding may move each number by up
# to a thousandth of the largest one. Ask for the memory *before* you run a way.
# %% [markdown] zh
# **所以：** 缓存空着，只多搜索一次；计划错了，每一步都多付。
#
# ## 7. 谁有资格参赛？
#
# 🎲 最快的“算法”：`lambda x, weight, **setting: torch.zeros(1)`。你的调优器会选它吗？还有会报错的（我们的 `fft` 不认 `groups`）、要 1 GB **工作区**（图和结果之外的内存）的呢？
#
# ### 轮到你（10 分钟，约 10 行）
#
# 返回这些算法的名字：能跑（别的算法报什么错都不要紧）、结果和 `pytorch` 一致、工作区不超过 `limit` 字节。舍入允许每个数差到最大数的千分之一。内存要在运行*之前*问。
# %%
def usable(ways, x, weight, setting, workspace, limit):
    # en: workspace(name, x, weight, setting) -> bytes. Give back a list of names.
    # zh: workspace(name, x, weight, setting) -> 字节数。返回名字的列表。
    raise NotImplementedError


check("own-usable")
# %% [markdown] en
# **So:** a tuner that does not look at the result finds the wrong winner, and cuDNN's has a limit of workspace for the same reason as yours.
#
# 📌 **So far.** The key is asked first; new keys pay, sizes that come back are free; a file is trusted only where it was written; only right numbers may race.
#
# ## 8. All of it together, beside PyTorch's own
#
# Your nine functions become a convolution, with its plans in a file beside this notebook. Nothing to write here: read it, run it. Which of your functions
# stands where?
# %% [markdown] zh
# **所以：** 不看结果的调优器会选错赢家；cuDNN 的搜索也限制工作区，道理和你的一样。
#
# 📌 **小结。** 先查 key；新 key 要付钱，重复的尺寸不要钱；文件只在写它的机器上可信；算对的才能参赛。
#
# ## 8. 装起来，和 PyTorch 自己的比
#
# 九个函数合成一个卷积，计划存在这个 notebook 旁边的文件里。这里不用写代码：读一读，再运行。你写的函数，各在哪一行？
# %%
PATH, LIMIT = Path("own_benchmark_plans.json"), 32 * 2**20


def search(x, weight, setting):
    names = usable(ways, x, weight, setting, workspace, LIMIT)
    runs = {name: partial(ways[name], x, weight, **setting) for name in names}
    times_ms = race(runs, clock, wait_for(x.device), rounds=7)
    return min(times_ms, key=times_ms.get)
# %%
def build():
    here = machine_now() | {"ways": sorted(ways)}
    plans = load_plans(PATH, here)

    def conv2d(x, weight, **setting):
        before = dict(plans)
        result = tuned(x, weight, setting, ways, plans, key_of, search)
        if plans != before:
            save_plans(PATH, plans, here)
        return result

    return conv2d, lambda x, weight, **setting: plans[key_of(x, weight, setting)]
# %% [markdown] en
# 🎲 Eight convolutions, yours beside PyTorch's, in turns, for 45 seconds at most. On a CPU (one thread, which other programs disturb less) PyTorch's side is oneDNN's rule, which measures nothing; on an NVIDIA GPU it is cuDNN with
# its search on, without TF32.
# %% [markdown] zh
# 🎲 八个卷积，你的和 PyTorch 的轮流跑，最多 45 秒。在 CPU 上（只用一个线程，少受别的程序打扰），PyTorch 那边是 oneDNN 的规则，它什么也不测；在 NVIDIA GPU 上，是开着搜索、不用 TF32 的 cuDNN。
# %%
beside_pytorch(build, my_guess)
# %% [markdown] en
# **So:** a rule costs nothing and is good where its authors looked; a race costs a slow first call and finds what no rule was written for. Which of your rows shows which? “The numbers” has the price: the first call, and after
# how many steps it is paid back. Run the cell again: the plans now come from the file.
# %% [markdown] zh
# **所以：** 规则不花时间，写规则的人照顾到的地方，它就好；比赛要付一次很慢的首次调用，却能找出规则没想到的。你的哪几行说明了哪一点？“全部数字”里写着价钱：首次调用多久，多少步回本。再运行一遍这一格：这回计划来自文件。
# %% [markdown] en
# ### Deeper, optional: a fifth way, and where else this stands
#
# Winograd's F(2 × 2, 3 × 3) computes four results of a 3 × 3 kernel with 16 multiplications in place of 36 ([Lavin and Gray, 2015](https://arxiv.org/abs/1509.09308)). Write it, `ways["winograd"] = ...`, let your `usable` say whether
# it is right, and run the eight again: the file names the ways that raced, so with a fifth one all plans are found anew. `torch.compile(mode="max-autotune")` races in the same way and keeps its winners in files, too.
# %% [markdown] zh
# ### 选读：第五种算法，以及别处的同类
#
# 3 × 3 的核算四个结果要 36 次乘法，Winograd 的 F(2 × 2, 3 × 3) 只要 16 次（[Lavin 与 Gray，2015](https://arxiv.org/abs/1509.09308)）。写一个 `ways["winograd"] = ...`，对不对，让你自己的 `usable` 来说，再跑一遍那八个：文件里记着参赛的算法，多了第五种，所有计划都会重新搜索。`torch.compile(mode="max-autotune")` 也是这样比赛，赢家也存成文件。
# %%
# en: your fifth way
# zh: 你的第五种算法
ways["one number"] = lambda x, weight, **setting: torch.zeros(1)
x, weight = torch.randn(1, 3, 16, 16), torch.randn(8, 3, 3, 3)
when_ready(lambda: usable(ways, x, weight, {"padding": 1}, workspace, LIMIT))
# %% [markdown] en
# ### What you can now claim
#
# - I can say what an autotuner's key must hold, and show a wrong plan where something is missing.
# - My clock is not fooled by first calls, queues, disturbances or drift.
# - I can work out when a search is paid back, and I keep plans in a file that may be lost at any time.
# - I know where a measured choice beats a rule on my machine, and where it does not.
# %% [markdown] zh
# ### 现在你可以说
#
# - 调优器的 key 里该放什么，我说得出；少放一样会怎样，我能演示。
# - 我的秒表，不会被首次调用、队列、打扰和漂移骗到。
# - 我能算出搜索多少步回本；我的计划存在文件里，丢了也不怕。
# - 在我的机器上，哪里测出来的选择胜过规则，哪里不行，我知道。
