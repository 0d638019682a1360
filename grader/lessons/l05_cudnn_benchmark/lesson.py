# %% [markdown] en
# # 🎯 Does the search still pay, and how would you know?
#
# ⏱️ **40 minutes.** Before it: lessons 01 and 02.
#
# A [[convolution]] can be computed in several ways; which one is fastest depends on your GPU and your images.
# With `cudnn.benchmark = True`, PyTorch times some of them **once** each and keeps the quickest. “Much faster!”, say tutorials and the script you inherited.
# On cards of 2016 to 2020 it often was. And today? At the end you know how it is on *your* card, with numbers you measured.
#
# Live on any machine: the CPU experiments and a toy. For cuDNN itself: your NVIDIA GPU, or recordings of an H100.
# %% [markdown] zh
# # 🎯 搜索现在还划算吗？怎么才知道？
#
# ⏱️ **40 分钟。** 先修：第 01、02 课。
#
# 同一个[[convolution|卷积]]有好几种算法，哪种最快，要看你的 GPU 和图片尺寸。设了 `cudnn.benchmark = True`，PyTorch 就会挑几种，各掐**一次**表，留下最快的。“快很多！”教程这么说，祖传脚本里也一直有它。在 2016 到 2020 年的卡上，常常真是这样。今天呢？学完这一课，你就能用自己测的数字，说清楚在*你的*卡上是怎么回事。
#
# 任何机器都能实测的：CPU 实验和一个小玩具。cuDNN 本身：用你的 NVIDIA GPU，或者看 H100 上录好的结果。
# %% bootstrap
# %%
# en: Warm-up: cards from earlier lessons that are due today (none is fine).
# zh: 热身：今天到期的旧卡片（没有也正常）。
review(due=3)
# %% [markdown] en
# ## What is the switch for?
#
# Think of running shoes. You have four pairs and a new track. You could trust the label in the shop: “good for
# grass”. Or you run one lap in each pair with a watch in your hand, and keep the quickest. The laps take time; if you
# race here a hundred times, they may pay: if the label was bad, and if one lap tells the truth.
#
# `cudnn.benchmark` chooses between these two: `False` trusts the label, `True` runs the laps. First a question to warm up.
# %% [markdown] zh
# ## 这个开关是干什么用的？
#
# 想想跑鞋。你有四双鞋，来到一条没跑过的跑道。可以相信鞋盒上的说明：“适合草地”；也可以每双都穿上跑一圈，掐着表，留下最快的那双。试跑要花时间；要是以后在这条道上比一百场，就可能值：前提是鞋盒说得不准，而且一圈跑得出真本事。
#
# `cudnn.benchmark` 就是在这两种做法里选：`False` 看说明，`True` 跑一圈。先来一道热身题。
# %%
explain("05-what-for")
# %% [markdown] en
# ## See it: on, off
#
# The switch is `False` by default. It is for cuDNN, so here is a toy that does the same on any CPU: it can compute one
# convolution in four ways, four **candidates**. A candidate that is chosen and ready to run is called a [[plan]].
# Run the cell: the toy meets a new size with its [[search]] on (what the four names mean does not matter here). Then write
# `benchmark=False` and run it again. What is missing in the second picture?
# %% [markdown] zh
# ## 看一看：开，关
#
# 这个开关默认是 `False`。它管的是 cuDNN，所以我们准备了一个玩具，在任何 CPU 上都能演示同样的事：同一个卷积它会四种算法，也就是四个**候选**。选定并且随时能跑的那个，叫作[[plan|执行计划 (plan)]]，简称“计划”。运行下面这格：玩具开着[[search|搜索]]，碰到了一个新尺寸（四个名字是什么意思，这里不必管）。然后把 `benchmark` 改成 `False` 再跑一遍，第二张图里少了什么？
# %%
import torch
from course.lessons.l05_cudnn_benchmark.search_tree import search_tree
from course.toy_search import ToyConv, image, kernel, run_schedule

print("PyTorch's own switch, as it starts:", torch.backends.cudnn.benchmark)
search_tree(run_schedule([24], benchmark=True))
# %% [markdown] en
# ## 💡 Off does not mean “one fixed way”
#
# With `False` there is no clock, but there is still a choice. cuDNN's [[heuristics]], its rules of thumb, look at *this*
# size, type and GPU and give a ranked list; PyTorch takes the first that runs. Another size can get another one.
#
# (The toy's candidates and rule of thumb are ours, not cuDNN's.)
# %% [markdown] zh
# ## 💡 关着，不等于“只有一种固定算法”
#
# 设为 `False`，不掐表了，但还是要选。cuDNN 的[[heuristics|启发式]]（经验规则）会看*这个*尺寸、数据类型和 GPU，给出一张排名表；PyTorch 取第一个能跑的。换个尺寸，选中的可能就换了。
#
# （玩具的候选和规则是我们自己定的，不是 cuDNN 的。）
# %%
explain("05-false-how")
# %% [markdown] en
# 📌 **So far.**
# 1. One convolution can be computed in several ways; which is fastest depends on GPU and sizes.
# 2. Off: the heuristics choose for each new problem, without measuring.
# 3. On: candidates are timed for each new problem, once each, and the quickest stays.
#
# ## 🔬 A new size is slow. And a size that comes back?
#
# “Sizes change at every batch, so every batch is slow.” Really? A plain convolution **on the CPU**, by oneDNN: a new size, another one, and
# both again. Its log says **miss** where something has to be built, and **hit** where it is found. Bet before you look at the log.
# %% [markdown] zh
# 📌 **小结。**
# 1. 同一个卷积有好几种算法，哪种最快，看 GPU 和尺寸。
# 2. 关着：碰到新配置，由启发式来选，不测。
# 3. 开着：碰到新配置，给候选各计一次时，留下最快的。
#
# ## 🔬 新尺寸慢，那再回来的尺寸呢？
#
# “每个 batch 尺寸都变，所以每个 batch 都慢。”真的吗？先看一个这里就能测的：**CPU 上**一个普通的卷积，由 oneDNN 计算。来一个新尺寸，再换一个，然后两个各再来一次。它的日志会写：**miss**，没有，得现做；**hit**，找到了。先下注，再看日志。
# %%
predict("05-bet-revisit")
# %%
observe(["05-primitive-cache", "05-first-call"])
explain("05-revisit")
# %% [markdown] en
# ## 💡 The cache is asked first, the switch second
#
# The place that keeps what was made is a [[cache]]; it looks things up by a [[key]], the whole
# [[convolution-problem|problem]], sizes included. In shoes: a shelf, one pair for each track. PyTorch has such a shelf for
# cuDNN's plans (`run_single_conv`, shortened):
# ```text
# key known? --- yes ---> run the kept plan
#   | no
# benchmark? --- False -> ask the heuristics,
#   |                     take the first plan that runs, keep it
#   | True
# build all plans, time at most 10, once each,
# run the quickest, then keep it
# ```
# The switch is read only when the key is new, and either way the choice is **kept**. (oneDNN prepares one program by rule, without
# a race.)
# %% [markdown] zh
# ## 💡 先问缓存，再看开关
#
# 存放现成东西的地方叫[[cache|缓存]]，查它的依据叫 [[key]]：整个[[convolution-problem|卷积配置]]，尺寸也在里面。拿鞋来说，就是一个鞋架，每条跑道放一双。cuDNN 的计划，PyTorch 也有这么一个鞋架（`run_single_conv`，有删节）：
# ```text
# key 见过吗？ -- 是 -----> 执行留存的计划
#   | 否
# benchmark？ -- False --> 去问启发式，
#   |                      取第一个能跑的计划，并留存
#   | True
# 建好全部计划，最多给 10 个计时，各一次，
# 执行最快的那个，跑成了再留存
# ```
# 只有碰到新 key 才会看开关；无论走哪条路，选中的都会**留下来**。（oneDNN 按规则直接准备一个程序，不比赛。）
# %%
explore("shelf")
explain("05-analogy")
explain("05-sizes-loop")
explain("05-order-hit")
# %% [markdown] en
# 📌 **So far.** A new size is slow once; after that it is known.
#
# 1. The key is the whole problem, sizes included. The cache is asked first, the switch second.
# 2. A size seen before costs nothing the second time.
# 3. The choice is kept, on or off.
#
# ## 🔬 What counts as new?
#
# oneDNN's log once more: one call, the same again, then calls with one thing changed: other pixels, another layer with the same
# settings, another layout, a smaller batch, a larger image, a stride. Which of them are new? Two words on the card after it: [[channels_last]] stores the colours of a pixel side by side,
# and [[autocast]] lets PyTorch compute some operations in 16 bits.
# %% [markdown] zh
# 📌 **小结。** 新尺寸只慢一次，之后就认得了。
#
# 1. key 就是整个卷积配置，尺寸也在内。先问缓存，再看开关。
# 2. 见过的尺寸，第二次就不用再等。
# 3. 不管开还是关，选中的都会留着。
#
# ## 🔬 什么算“新”？
#
# 再看 oneDNN 的日志：先调用一次，照旧再来一次，然后每次只改一样：换像素值、换一个参数规格相同的层、换布局、batch 变小、图片变大、换 stride。哪几样算新？后面那张卡片上有两个词：[[channels_last]] 是把一个像素的各个通道挨着存；[[autocast]] 是让 PyTorch 用 16 位来算一部分算子。
# %%
keep("cudnn.plan_cache")
observe("05-what-is-new")
explain("05-key-members")
# %% [markdown] en
# ## 🛠️ Your turn: count the searches (4 minutes, about 2 lines)
#
# `shapes` is the list of input shapes one layer meets, in order. Give back the number of searches with
# `benchmark=True` and an empty cache. Stuck? `hint("05-count-searches")`, three steps deep.
# %% [markdown] zh
# ## 🛠️ 轮到你：数一数搜索次数（4 分钟，约 2 行）
#
# `shapes` 是某一层依次遇到的输入形状列表。返回 `benchmark=True`、缓存为空时的搜索次数。卡住了就运行 `hint("05-count-searches")`，共三级提示。
# %%
def count_searches(shapes: list[tuple[int, ...]]) -> int:
    # en: for example [(16, 3, 64, 64), (16, 3, 96, 96), (16, 3, 64, 64)] -> 2
    # zh: 例如 [(16, 3, 64, 64), (16, 3, 96, 96), (16, 3, 64, 64)] -> 2
    raise NotImplementedError


check("05-count-searches")
# %% [markdown] en
# ## 🕳️ The last batch of an epoch is smaller, so it is new
#
# Nobody changed a layer, nobody cropped an image. Still a new key turns up at the end of epoch one. Run the cell, then set
# `drop_last=True`.
# %% [markdown] zh
# ## 🕳️ 一个 epoch 的最后一批更小，所以也是新的
#
# 没有改层，也没有裁剪图片，可第一个 epoch 结束时还是来了一个新 key。先运行，再改成 `drop_last=True` 试试。
# %%
from torch.utils.data import DataLoader

loader = DataLoader(range(1000), batch_size=128, drop_last=False)
for epoch in (1, 2, 3):
    print(epoch, [len(batch) for batch in loader])
explain("05-last-batch")
explain("05-when")
# %% [markdown] en
# ## 🎲 Does it pay? Three schedules of sizes
#
# Back to the toy. It runs 36 steps with the search on and 36 with it off, on three schedules: one size all the time, three
# sizes in turn, a new size at every step.
# %% [markdown] zh
# ## 🎲 划算吗？三种尺寸安排
#
# 回到玩具。按三种安排，开着搜索跑 36 步，关着也跑 36 步：始终一种尺寸；三种尺寸轮流；每一步都是新尺寸。
# %%
predict("05-bet-race")
# %%
observe("05-toy-race")
predict("05-bet-price")
# %% [markdown] en
# ## 🛠️ Your turn: after how many steps is it paid back? (6 minutes)
#
# The search costs `search_ms` once. A step takes `slow_ms` without it and `fast_ms` after it. Give back the smallest
# whole number of steps after which the search is no longer behind, or `None` if that never happens. About four lines;
# `hint` and `solution` wait for you.
# %% [markdown] zh
# ## 🛠️ 轮到你：多少步回本？（6 分钟）
#
# 搜索一次花 `search_ms`。不搜索，每步 `slow_ms`；搜索之后，每步 `fast_ms`。返回搜索不再落后所需的最少步数（整数）；永远追不上就返回 `None`。大约四行，`hint` 和 `solution` 随时待命。
# %%
import math


def break_even_steps(search_ms: float, slow_ms: float, fast_ms: float) -> int | None:
    # en: 10 ms once, 4 ms a step without, 1 ms with -> 4
    # zh: 一次 10 ms，不搜索每步 4 ms，搜索后每步 1 ms -> 4
    raise NotImplementedError


check("05-break-even")
# %%
# en: Now with your own numbers: the toy measures all three costs here.
# zh: 换成你自己的数字：让玩具当场把三个数测出来。
from course.lessons.l05_cudnn_benchmark.experiments_toy import costs

your_costs = costs(observe("05-toy-cost")) or {}
print(", ".join(f"{name} {ms:.2f}" for name, ms in your_costs.items()))
# en: no numbers? too noisy just now: run this cell again. The race above had the price
# en: of the search in it; here a step stands alone. Its milliseconds are of this moment.
# en: when your function is ready: break_even_steps(**your_costs)
# zh: 没有数字？刚才噪声太大：再运行一次这一格。上面的赛跑把搜索的花费也算进去了，
# zh: 这里只算单独一步；毫秒数只代表这一刻的机器。
# zh: 函数写好之后运行：break_even_steps(**your_costs)
# %% [markdown] en
# 📌 **So far.** “Measure twice, cut once,” say the carpenters; a good rule, if you cut more than once.
#
# 1. A search pays when `steps × gain` is larger than `new keys × cost`. All of it can be measured.
# 2. Sizes decide how much is paid: fixed ones pay once, sizes that come back once each, new ones every time.
# 3. `drop_last=True` avoids the small last batch.
#
# One factor is open: the **gain**. In the toy it was large. What is it on a real card?
# %% [markdown] zh
# 📌 **小结。** 老话说“磨刀不误砍柴工”。没错，前提是得砍够多的柴。
#
# 1. `步数 × 每步收益` 大于 `新 key 数 × 单次成本`，就划算。每一项都能测。
# 2. 花多少，看尺寸：固定的只付一次；来来回回就那几种的，每种付一次；总是新的，次次都付。
# 3. `drop_last=True` 能免掉最后那个小 batch。
#
# 还剩一个因子没定：**收益**。玩具里的收益很大。真卡上呢？
# %% [markdown] en
# ## 🔬 The gain on a real card: what users measured
#
# | when | card | without → with the search |
# |---|---|---|
# | 2016 | GTX 1080 | a step: [220 → 50 ms](https://github.com/szagoruyko/cifar.torch/pull/22) |
# | 2020 | GTX 1080 Ti, V100 | an epoch: [60 → 25 min, 17 → 12 min](https://github.com/speechbrain/speechbrain/pull/294) |
# | 2020 | T4 | one layer with a bad default: [61 → 2 ms](https://github.com/pytorch/pytorch/issues/41382) |
# | Nov 2020 | RTX 3090, cuDNN 8.0.5 | [slightly slower](https://github.com/pytorch/pytorch/issues/46158) |
# | Dec 2022 | a cloud GPU | start [15 → 21 s, then the same](https://github.com/modal-labs/modal-examples/pull/161) |
#
# Users' reports, single runs. In the autumn of 2020 cuDNN's rules of thumb got better: less was left to find. And today? The authors asked
# an H100. First a whole ResNet18: your bet, please.
# %% [markdown] zh
# ## 🔬 真卡上的收益：用户测到的
#
# | 时间 | 显卡 | 不搜索 → 搜索 |
# |---|---|---|
# | 2016 | GTX 1080 | 每步 [220 → 50 ms](https://github.com/szagoruyko/cifar.torch/pull/22) |
# | 2020 | GTX 1080 Ti、V100 | 一个 epoch [60 → 25 分钟、17 → 12 分钟](https://github.com/speechbrain/speechbrain/pull/294) |
# | 2020 | T4 | 默认选坏的一个层：[61 → 2 ms](https://github.com/pytorch/pytorch/issues/41382) |
# | 2020 年 11 月 | RTX 3090，cuDNN 8.0.5 | [略慢一点](https://github.com/pytorch/pytorch/issues/46158) |
# | 2022 年 12 月 | 云 GPU | 启动 [15 → 21 s，之后一样快](https://github.com/modal-labs/modal-examples/pull/161) |
#
# 都是用户自己报的数，各跑了一次。2020 年秋天是个转折：cuDNN 的经验规则变准了，能搜出来的便宜也就少了。那今天的卡呢？我们拿一块 H100 测了。先看一整个 ResNet18，请下注。
# %%
predict("05-bet-pays")
# %%
# en: Below it 172 single convolutions, forward. Guess first: how many became faster?
# zh: 下面还有 172 个单独的卷积，只做前向。运行之前先猜：有几个变快了？
from course.lessons.l05_cudnn_benchmark import survey

observe("05-pays-cuda")
display(survey.h100())
# %% [markdown] en
# ## 💡 Why can one lap pick the slower shoe?
#
# PyTorch times each plan **once**, and from an empty queue: wait, start the clock, launch, stop the clock. A plan is one to five launches of
# some µs each, so for kernels of 5 to 50 µs that clock shows much of the launching: lesson 02, inside cuDNN. The label's own choice is among the candidates, so where the
# search lost, its clock misjudged. Where kernels are long the race is honest, but the label is good as well. Now the kernels that won.
# %% [markdown] zh
# ## 💡 只跑一圈，怎么会挑中更慢的鞋？
#
# PyTorch 给每个计划只计**一次**时，而且是从空队列开始：等 GPU 停下，按表，发射，再按表。一个计划要发射一到五次，每次几 µs；kernel 只有 5 到 50 µs 的话，量到的多半是发射：第 02 课的老问题，出现在 cuDNN 里。鞋盒推荐的那双也在候选里，所以凡是变慢的，都是这只表看错了。kernel 长的时候比得倒是公平，可鞋盒也说得准。再看胜出的是哪些 kernel。
# %%
observe("05-kernels-cuda")
explain("05-one-lap")
# %% [markdown] en
# ## 📌 So, should I?
#
# | your situation | do this | how you will know |
# |---|---|---|
# | fixed sizes, GTX or V100 | try `True` | steps in new processes, off and on |
# | fixed sizes, T4, RTX, A100 | measure once | the same; less than 2 % is nothing |
# | fixed sizes, H100 | leave `False` | the picture of 172; training: deeper |
# | slower after an upgrade | try `True` | it cures a [bad default](https://github.com/pytorch/pytorch/issues/146096) |
# | small kernels, small batches, H100 | `False` | its left side |
# | new sizes all the time, short runs | `False` | count the keys |
# | results must repeat | `False` | lesson 06 |
#
# T4, RTX: single runs of users, from a gain to slightly slower; nobody we found has measured an A100 cleanly. More cards and lines: `docs/cards.md`; yours: [[#Deeper, optional: ask your own card]].
# %% [markdown] zh
# ## 📌 那我该不该开？
#
# | 你的情况 | 这么做 | 怎么知道有没有用 |
# |---|---|---|
# | 尺寸固定，GTX、V100 | 试试 `True` | 开、关各一个新进程，比每步耗时 |
# | 尺寸固定，T4、RTX、A100 | 测一次再定 | 同上；不到 2% 就算没有 |
# | 尺寸固定，H100 | 保持 `False` | 上面 172 个卷积的图；训练见选读 |
# | 升级之后变慢了 | 试试 `True` | 能救回[选坏的默认](https://github.com/pytorch/pytorch/issues/146096) |
# | H100，kernel 小、batch 小 | `False` | 那张图的左半边 |
# | 尺寸总在变、跑得很短 | `False` | 数一数 key |
# | 结果必须能重复 | `False` | 第 06 课 |
#
# T4 和 RTX 只有用户单次的报告，有的变快，有的没变，有的略慢；A100 的干净数据，我们没找到谁公布过。哪张卡上测过什么（别的代码行也有）：`docs/cards.zh-CN.md`。想问自己的卡，见[[#选读：问问你自己的卡]]。
# %% [markdown] en
# ## 🎲 Flip it in the middle and compare?
#
# It is the obvious experiment: one cell with `False`, the next with `True`, same model. Many have made it and then wrote
# that the switch does nothing. What would you expect, after the diagram of the cache? Bet on cuDNN. Then the toy does it here. And for
# cuDNN: your GPU, a recording, or what the source says.
# %% [markdown] zh
# ## 🎲 中途打开再比，行吗？
#
# 多么顺理成章的实验：一格 `False`，下一格 `True`，同一个模型。很多人都做过，然后写道：这个开关没用。看过前面那张流程图，你觉得会怎样？先为 cuDNN 下注。接着玩具在这里做一遍。至于 cuDNN：看你的 GPU、录制，或者源码怎么说。
# %%
predict("05-bet-flip")
keep("cudnn.benchmark")
# %%
conv = ToyConv(benchmark=False)
for call in range(1, 7):
    conv.benchmark = call > 3
    conv(image(24), kernel())
    # en: call, switch, searches so far, the plan
    # zh: 第几次调用、开关、目前搜索了几次、计划
    print(call, conv.benchmark, conv.searches, *conv.plans.values())
conv(image(28), kernel())
print(28, conv.benchmark, conv.searches, *conv.plans.values())
observe("05-flip-cuda")
explain("05-why-flip")
# %% [markdown] en
# ## 💡 Each process, and each thread, has its own plans
#
# Nothing is written to disk: a new process starts with an empty shelf. Inside a process, PyTorch keeps one plan cache **per
# thread**. Training feels it once: the [[backward]] runs on a thread of its own and fills its own cache.
#
# And here the myth is true: `nn.DataParallel` on several GPUs starts **new threads in every forward pass**. Their caches are empty, so with
# `benchmark=True` it searches at every step, whatever the sizes do. `DistributedDataParallel`, one process for each GPU, does not.
# %% [markdown] zh
# ## 💡 每个进程、每个线程，各有各的计划
#
# 什么都不会写到硬盘上：新进程的鞋架是空的。同一个进程里，PyTorch 给**每个线程**各留一份计划缓存。训练时会碰到一次：[[backward|反向传播]]在自己的线程上跑，填的是自己那份缓存。
#
# 还有一处，传言竟是真的：多块 GPU 上的 `nn.DataParallel` **每次前向都新建线程**，缓存自然是空的；开着 `benchmark=True`，不管尺寸变不变，它每一步都要搜索。`DistributedDataParallel` 每块 GPU 一个进程，就没有这个问题。
# %% [markdown] en
# 📌 **So far.**
# 1. 🕳️ Flipped in the middle, the switch finds old plans: the comparison shows nothing.
# 2. A new process starts with an empty cache; each thread has its own.
#
# ☕ That was the main thing; a good place to stop. Some *deeper, optional* parts follow; otherwise go on at
# [[#🎴 Exit check: five cards]].
#
# ### Deeper, optional: ask your own card
#
# With an NVIDIA GPU: forty convolutions, then training steps of three networks, search off and on, about a minute each. Then cuDNN's
# first calls and its keys, as you saw them of oneDNN; and the 53 convolutions of a ResNet50, counted by [[hook|hooks]].
# Without a GPU you see recordings, or what others have published.
# %% [markdown] zh
# 📌 **小结。**
# 1. 🕳️ 中途拨开关，碰到的还是旧计划：这样比不出东西。
# 2. 新进程从空缓存开始；每个线程各有各的缓存。
#
# ☕ 主线到这儿就讲完了，今天歇在这里也很好。接下来有几段*选读*；不看的话，直接跳到[[#🎴 下课小测：五张卡片]]。
#
# ### 选读：问问你自己的卡
#
# 有 NVIDIA GPU 的话：四十个卷积，再加三个网络的训练步，开、关各测，每个实验约一分钟。然后是 cuDNN 的第一次调用和它的 key，前面在 oneDNN 上都看过；最后用 [[hook|hook]] 数一数 ResNet50 的 53 个卷积。没有 GPU，就看录制，或者别人公布的结果。
# %%
# en: Compare milliseconds within a result only: on one H100 a first call with the search
# en: took 37 ms to 1.2 s, by layer, size and process (the first has kernels to load, too).
# zh: 毫秒数只在同一个结果里比：同一块 H100，开着搜索的第一次调用从 37 ms 到 1.2 s 都有，
# zh: 看层、看尺寸，也看进程（第一个进程还要加载 kernel）。
display(survey.h100_training())
observe(["05-survey-cuda", "05-networks-cuda",
         "05-first-call-cuda", "05-new-keys-cuda"])
# %%
explain("05-resnet-keys")
# %%
observe("05-model-keys")
# en: And your own network? Put it here. A GPU's search is compared in new processes.
# zh: 你自己的网络呢？换到这里来。GPU 的搜索会放到新进程里比。
try_switches(torch.nn.Conv2d(64, 64, 3), torch.randn(8, 64, 56, 56), budget=25,
             only=["search", "channels_last", "deterministic"])
# %% [markdown] en
# ### Deeper, optional: the winner of one lap
#
# A search times each candidate **once**. What if two are nearly equal? And who is on the list at all? On a GPU **all** plans
# are built first; those whose workspace does not fit into the free memory fall out; only then does `benchmark_limit` cut (10 by
# default, 0: all). It saves timing, not building. And with less free memory the list can be another one tomorrow: some plans need
# [[workspace]], extra memory while they compute. Below, sixty searches; then the toy with shorter lists.
# %% [markdown] zh
# ### 选读：只跑一圈的冠军
#
# 搜索给每个候选只计时**一次**。要是有两个几乎一样快呢？还有，谁能进名单？在 GPU 上，先把**全部**计划建好；工作区放不进空闲显存的先淘汰；最后才轮到 `benchmark_limit` 截断（默认 10，0 表示全部）。它省的是计时，不是构建。明天空闲显存少了，名单也可能不同：有的计划要[[workspace|工作区]]，也就是计算期间临时借用的显存。下面先搜索六十次，再让玩具用短一些的名单。
# %%
observe(["05-memory-cuda", "05-sizes-cuda", "05-limit-cuda"])
explain("05-memory")
predict("05-bet-winners")
# %%
observe("05-winners")
for limit in (1, 2, 4):
    conv = ToyConv(benchmark=True, limit=limit)
    conv(image(24), kernel())
    # en: candidates timed, the winner (another size than above: another may win)
    # zh: 计时的候选数、赢家（尺寸和上面不同，赢家也可能不同）
    print(limit, *conv.plans.values())
explain("05-limit")
# %% [markdown] en
# ### Deeper, optional: 🛠️ find a counterexample
#
# Find `sizes` (8 to 64) for which the search makes the run **longer**. It counts when the whole interval lies above 1. The
# list below is a bad choice, on purpose.
# %% [markdown] zh
# ### 选读：🛠️ 找个反例
#
# 找一组 `sizes`（8 到 64），让搜索使总时间**变长**。整个区间都在 1 之上就算通过。下面的列表是故意选坏的。
# %%
from course.timing import compare
from course.toy_search import run_schedule

sizes = [24] * 40
race = compare({"off": lambda: run_schedule(sizes, benchmark=False),
                "on": lambda: run_schedule(sizes, benchmark=True)},
               baseline="off", max_time=12, same=False)
print(race)
check("05-make-it-lose")
# %% [markdown] en
# ### Deeper, optional: 🛠️ on for one block only (5 minutes)
#
# `search_here(run)` should run `run()` with the search on and move nothing else. What stands there switches cuDNN off
# (lesson 01: `flags()` sets every switch it knows). Naming them all is fragile too: `flags()` can raise an error where
# somebody has set `fp32_precision`. What is always safe: remember `cudnn.benchmark`, set it, put it back in `finally`.
# %% [markdown] zh
# ### 选读：🛠️ 只在一段代码里打开（5 分钟）
#
# `search_here(run)` 应该开着搜索执行 `run()`，别的一概不动。可现在的写法会把 cuDNN 关掉（第 01 课：`flags()` 会设置它管的每个开关）。全部写上也不稳妥：只要有人设过 `fp32_precision`，`flags()` 就可能报错。永远安全的写法：记住 `cudnn.benchmark`，设新值，在 `finally` 里放回去。
# %%
def search_here(run):
    cudnn = torch.backends.cudnn
    with cudnn.flags(benchmark=True):
        return run()


check("05-search-here")
# %% [markdown] en
# ## 🎴 Exit check: five cards
#
# A search stands at the ice-cream counter, licks ten kinds once each, and declares: “This is the best
# ice cream there is.” The next day it picks another. Same counter, new process.
# %% [markdown] zh
# ## 🎴 下课小测：五张卡片
#
# 搜索同学去奶茶店，十款各抿一口，拍板：“全世界就这杯最好喝！”第二天又来，从头再抿十口，点了另一杯。店员叹气：“您是新进程吧？”
# %%
explain("05-detector")
explain("05-h100")
explain("05-flags-trap")
explain("05-fair-ab")
explain("02-why-first")
# %% [markdown] en
# ## 📌 Claims you can now make
#
# - A search runs once for each **key**, inside the call that needs it: batch, size, type and layout count; which layer
#   asks does not.
# - It pays when `steps × gain` exceeds `keys × cost`; on an H100 the gain is hardly ever there.
# - The winner was the quickest of at most ten, timed **once**: not surely the best, nor the same one tomorrow.
# - To compare, start a new process.
#
# In real code: set it once, before the first batch, and write it into the log.
#
# Next: 06 asks what `deterministic` does to the search, 07 why `allow_tf32` is in the key. Two hours to spare? Build
# a search of your own: the notebook `projects/own_benchmark`.
# %% [markdown] zh
# ## 📌 这节课学到了什么
#
# - 每个 **key** 搜索一次，就在需要它的那次调用里：batch、尺寸、类型、布局都算数，由哪一层来调用不算数。
# - `步数 × 每步收益` 大于 `key 数 × 单次成本`，就划算；可在 H100 上，几乎没有收益。
# - 赢家是最多十个候选里那一次最快的，只**测了一次**：不保证最好，也不保证明天还是它。
# - 要比较，就开新进程。
#
# 真实代码里：第一个 batch 之前设一次，并写进日志。
#
# 下一步：第 06 课问 `deterministic` 对搜索做了什么，第 07 课讲 `allow_tf32` 为什么在 key 里。有两小时空闲？自己写一个：打开 `projects/own_benchmark` 这个 notebook。
# %%
finish()
# en: three more, if you like
# zh: 意犹未尽的话，再来三张
review("05-transformer", "05-next-process", "05-room-left")
