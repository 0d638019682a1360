# %% [markdown] en
# # What is torch.backends, and what is it not?
#
# ⏱️ 35 minutes; the *deeper, optional* parts take about as long again. Before this: `00_start`. Everything runs **live on any CPU**, no GPU needed.
#
# 🎯 Afterwards you can:
# - say for a line of code whether it asks, switches, or does nothing at all;
# - change one switch without touching its neighbours, and put it back;
# - say which thread or process sees the change.
# %% [markdown] zh
# # torch.backends 是什么，又不是什么？
#
# ⏱️ 35 分钟；**选读**部分还要差不多同样久。先修：`00_start`。全部内容**在任何 CPU 上实时运行**，不需要 GPU。
#
# 🎯 学完之后，你能：
# - 看一行代码，说出它是在查询、在拨开关，还是什么也没做；
# - 只改一个开关，不碰旁边的，用完放回原样；
# - 说出哪个线程、哪个进程看得到这次改动。
# %% bootstrap
# %% [markdown] en
# ## 🎯 What is torch.backends for?
#
# When you write `conv2d(x, weight)`, PyTorch seldom computes it alone. It hands the work to a library made for your device: [[onednn|oneDNN]] on a CPU, [[cudnn|cuDNN]] on an NVIDIA GPU, [[mps|MPS]] on an Apple GPU. Such a library is called a [[backend]].
#
# `torch.backends` is where you **ask** about these libraries and **switch** them. Think of the fuse box in your flat: it makes no light, it holds the switches. You open it to compare two ways of computing, to hunt a bug, or because the script you inherited sets three of them, and nobody knows why.
#
# Ready for a warm-up? No measurement yet, just a hunch.
# %% [markdown] zh
# ## 🎯 torch.backends 是干什么用的？
#
# 你写下 `conv2d(x, weight)`，PyTorch 多半不会自己埋头算，而是交给专为你的设备写的库：CPU 上是 [[onednn|oneDNN]]，NVIDIA GPU 上是 [[cudnn|cuDNN]]，苹果 GPU 上是 [[mps|MPS]]。这样的库就叫[[backend|后端]]。
#
# `torch.backends` 就是**查询**和**控制**这些库的地方。好比家里的配电箱：它自己不发光，开关却都在里面。想比较两种算法、抓 bug，或者弄清祖传脚本开头那三行到底拨了什么，就来打开它。
#
# 先热个身！这题不用测，凭感觉选。
# %%
# en: The picture, the cards that are due today (if any), today's warm-up.
# zh: 先看图，再是今天到期的旧卡片（没有也正常）和今天的热身题。
from course.lessons.l01_map.who import who_does_what

display(who_does_what())
review(due=3)
review("01-job")
# %% [markdown] en
# ## Three questions decide who computes
#
# Say you call a convolution: a small filter slides over a picture. PyTorch asks three questions, one after the other:
#
# 1. **Which device** holds the tensor? (The part that asks is the [[dispatcher]].)
# 2. Is that device's **switch** on?
# 3. **Which library** takes the job? (This step is called [[backend-selection|backend selection]].)
#
# Run the cell: the thick line is the way that `layer(x)` takes on your machine, right now.
# %% [markdown] zh
# ## 由谁来算，要过三关
#
# 假设你调用了一个卷积：一个小滤波器在图片上滑过去。PyTorch 会依次问三个问题：
#
# 1. 张量在**哪个设备**上？（问这句的是[[dispatcher|分发器]]。）
# 2. 这个设备的**开关**开着吗？
# 3. **哪个库**来接活？（这一步叫[[backend-selection|后端选择]]。）
#
# 运行一下：粗线就是此刻 `layer(x)` 在你机器上走的路。
# %%
import torch
from course import flags
from course.figures.route import route, who_computes

x, layer = torch.randn(8, 3, 32, 32), torch.nn.Conv2d(3, 8, 3, stride=2)
route(layer, x)
# %% [markdown] en
# ## 🔬 My CNN, my reason: a bug, or only rounding?
#
# Say your CNN gives slightly other numbers on a friend's laptop. A bug in your code, or just another library? One switch tells. `mkldnn` is the old name of oneDNN, and `mkldnn.enabled` is its switch. Off, look, on: who computes, how far apart are the scores, does any label change?
#
# (Both lines name the same? Then this PyTorch has no oneDNN: `torch.backends.mkldnn.is_available()` says False. The bets below work all the same.)
# %% [markdown] zh
# ## 🔬 我的 CNN：是 bug，还是舍入？
#
# 假设你的 CNN 到了朋友的笔记本电脑上，结果差了一点点。是代码有 bug，还是只因为换了个库？拨一个开关就知道。`mkldnn` 是 oneDNN 的旧名，`mkldnn.enabled` 就是它的开关。关、看、开：谁在算？得分差多少？分类变了吗？
#
# （两行显示的一样？那说明这份 PyTorch 没带 oneDNN：`torch.backends.mkldnn.is_available()` 会回答 False。不影响后面下注。）
# %%
from torch import nn
net = nn.Sequential(layer, nn.ReLU(), nn.Flatten(), nn.Linear(8 * 15 * 15, 10))

torch.backends.mkldnn.enabled = False
print("off:", who_computes(layer, x))
off, picture = net(x), route(layer, x)

torch.backends.mkldnn.enabled = True
print("on: ", who_computes(layer, x))
on = net(x)
print(f"largest difference: {(on - off).abs().max():.1e}")
print("same labels:", torch.equal(on.argmax(1), off.argmax(1)))
picture
# %% [markdown] en
# 📌 **So far.**
# 1. The device is chosen by you, with `.to(...)`; the library is chosen by PyTorch, and a switch can forbid it.
# 2. A switch counts from the next call on.
# 3. Another library may change the last digits, and the labels stay: rounding, not a bug. (On an NVIDIA GPU ask the same with `cudnn.enabled`.)
# %% [markdown] zh
# 📌 **小结。**
# 1. 设备由你选，用 `.to(...)`；库由 PyTorch 选，开关可以不让它选某个库。
# 2. 开关一拨，从下一次调用起就算数。
# 3. 换个库，最后几位数字可能会变，分类没变：是舍入，不是 bug。（在 NVIDIA GPU 上，用 `cudnn.enabled` 问同样的问题。）
# %%
keep("map.backends")
# %% [markdown] en
# ## A query asks, a switch changes
#
# Two kinds of things live in `torch.backends`. A **query** tells you something: `mps.is_available()`, `cuda.is_built()`. A [[flag|switch]] changes how PyTorch computes. Most are attributes; a few are functions, such as `mha.set_fastpath_enabled(False)`, which turns off a short cut in attention layers.
#
# Three switches of `cudnn` are famous:
#
# | switch | default | what it says | lesson |
# |---|---|---|---|
# | `cudnn.enabled` | `True` | cuDNN may be used | 04 |
# | `cudnn.benchmark` | `False` | try several algorithms, keep the fastest | 05 |
# | `cudnn.deterministic` | `False` | take only algorithms that repeat their result to the bit | 06 |
# %% [markdown] zh
# ## 查询只问，开关才改
#
# `torch.backends` 里有两类东西。**查询**告诉你情况：`mps.is_available()`、`cuda.is_built()`。[[flag|开关]]改变 PyTorch 的计算方式。开关大多是属性，也有几个是函数，比如 `mha.set_fastpath_enabled(False)` 会关掉注意力层的一条捷径。
#
# `cudnn` 有三个最出名的开关：
#
# | 开关 | 默认值 | 意思 | 详见 |
# |---|---|---|---|
# | `cudnn.enabled` | `True` | 允许用 cuDNN | 第 04 课 |
# | `cudnn.benchmark` | `False` | 多试几种算法，留最快的 | 第 05 课 |
# | `cudnn.deterministic` | `False` | 只用结果逐位可重复的算法 | 第 06 课 |
# %%
cudnn = torch.backends.cudnn
print("switches:", cudnn.enabled, cudnn.benchmark, cudnn.deterministic)
print("queries: ", cudnn.is_available(), torch.backends.mps.is_available())
review("01-query-or-switch", "01-available-means")
# %% [markdown] en
# ## 🎲 What does a misspelt switch do?
#
# `benchmark`, `benchmarks`, `bench_mark`: fingers are creative. We made twelve such slips and wrote twelve assignments. How many of them does Python complain about? Your bet, please.
# %% [markdown] zh
# ## 🎲 开关名拼错会怎样？
#
# `benchmark`、`benchmarks`、`bench_mark`：手指很有创意。咱们攒了十二种常见的手滑，写成十二行赋值。Python 会对其中几行提意见？请下注！
# %%
predict("01-bet-typos")
# %%
observe("01-typos")
# %% [markdown] en
# ## 🕳️ Writing creates, reading complains
#
# `torch.backends.cudnn` is a module with a few real switches. In Python, **writing** to a name that does not exist makes a new attribute on it; only **reading** one raises an error. Run this. The last line is meant to fail. 😄 Of the three lines, it alone tells you about the mistake. The 🚩 below is ours: the course looks for stray names after each cell.
#
# “Errors should never pass silently.” (Tim Peters, *The Zen of Python*.) These did.
# %% [markdown] zh
# ## 🕳️ 写的时候新建，读的时候才报错
#
# `torch.backends.cudnn` 是个模块，上面有几个真开关。在 Python 里，给不存在的名字**赋值**会在它上面新建一个属性，只有**读取**它才会报错。运行下面的代码，最后一行就是要报错的。😄 三行里只有它说了实话。下面的 🚩 是课程加的：每个单元格跑完，我们都会查一遍有没有野名字。
#
# “名不正，则言不顺；言不顺，则事不成。”（《论语·子路》）孔夫子要是写 Python，一定先查拼写。
# %% tags=raises-exception
cudnn.benchmarks = True
print("benchmark:", cudnn.benchmark, "  benchmarks:", cudnn.benchmarks)
cudnn.bench_mark
# %% [markdown] en
# ## 🛠️ Write the spell checker that Python does not have
#
# ✍️ 5 minutes, about 3 lines. `lines` are assignments such as `"torch.backends.cudnn.benchmark = True"`. `known` are names such as `"cudnn.benchmark"`. Return the list of names that are not known, in order, without `torch.backends.`. Stuck? `hint("01-find-typos")`.
# %% [markdown] zh
# ## 🛠️ 写一个 Python 没有的拼写检查器
#
# ✍️ 5 分钟，大约 3 行。`lines` 是若干赋值语句，例如 `"torch.backends.cudnn.benchmark = True"`；`known` 是开关名，例如 `"cudnn.benchmark"`。按顺序返回不在 `known` 里的名字，去掉 `torch.backends.`。卡住了？`hint("01-find-typos")`。
# %%
def find_typos(lines, known):
    raise NotImplementedError

check("01-find-typos")
# %% [markdown] en
# 📌 **So far.**
# 1. A query moves nothing. A switch moves something at once.
# 2. A typo moves nothing and tells nobody.
# 3. So read the switch back, by its real name.
# %% [markdown] zh
# 📌 **小结。**
# 1. 查询什么都不动，开关立刻就动。
# 2. 拼错什么都不动，还一声不吭。
# 3. 所以设完之后，用真正的名字读一遍。
# %%
# en: the stray name goes, the switch stays
# zh: 野名字删掉，开关留着
vars(cudnn).pop("benchmarks", None)
keep("map.spelling")
explain("01-typo-why")
review("01-typo-trace", "01-catch-typo")
# %% [markdown] en
# ## 🎲 Who sees it when you turn a switch?
#
# You turn `cudnn.benchmark`. Who reads your value? A second thread (code that runs at the same time) lives in the same [[process]]. And there are two child processes, programs that yours has started: one **forked** (a copy of yours, as Linux has long started its data loaders) and one **spawned** (a new Python, as on macOS and Windows).
# %% [markdown] zh
# ## 🎲 拨动开关，谁看得到？
#
# 你拨动了 `cudnn.benchmark`。谁会读到你设的值？同一个[[process|进程]]里还有另一个线程（同时在跑的另一段代码）；另外有两个由它启动的子进程：一个是 fork 出来的（把你的进程复制一份，Linux 长期这样启动数据加载进程），一个是 spawn 出来的（全新的 Python，macOS 和 Windows 的做法）。
# %%
predict("01-bet-who-sees")
# %%
observe("01-who-sees")
# %% [markdown] en
# ## 💡 One process, one set of switches
#
# Almost every switch is kept in one place in the memory of the process. Not one per model, per thread or per device: one fuse box for the whole flat. Threads live in the same flat and share it. A [[fork-spawn|fork]] copies the flat, fuse box included. A spawn moves into a new flat with everything at the defaults (what your script sets at its top level runs there again). Nothing is saved to disk.
# %% [markdown] zh
# ## 💡 一个进程，一套开关
#
# 几乎每个开关都存在进程内存里的同一个地方，不是每个模型、线程或设备各有一份：整套房子只有一个配电箱。线程住在同一套房子里，共用它。[[fork-spawn|fork]] 把房子连同配电箱复制一份。spawn 搬进一套新房子，开关全是默认值（脚本顶层的设置会在那里重新执行一遍）。什么都不会存到磁盘。
# %%
keep("map.process")
review("01-global-why", "01-spawn")
# %% [markdown] en
# ## 🛠️ Build a leak detector
#
# ✍️ 5 minutes, 1–3 lines. Somebody else's function turned a switch and did not turn it back. `before` and `after` are two dictionaries, name of the switch → value. Return `{name: (before, after)}` for every switch that changed, and an empty dict if none did. (This course watches your cells in the same way.)
# %% [markdown] zh
# ## 🛠️ 做一个泄漏检测器
#
# ✍️ 5 分钟，1 到 3 行。别人的函数拨了开关，然后下班了，也没拨回来。`before` 和 `after` 是两个字典：开关名 → 值。把变了的写成 `{名字: (之前, 之后)}` 返回，都没变就返回空字典。（本课程就是这样盯着你的单元格的。）
# %%
def what_leaked(before, after):
    raise NotImplementedError

check("01-what-leaked")
# %% [markdown] en
# 📌 **So far.**
# 1. One process has one set of switches: whoever turns one turns it for all.
# 2. Compare before and after, and you know what was left changed.
#
# ## 🕳️ `flags()` sets more than you say
#
# `with something:` opens a block: it does one thing at the start and tidies up at the end, also after an error. That is a [[context-manager|context manager]]. `cudnn` has one, `flags(...)`: it sets switches for the block and puts them back.
#
# Sounds like the polite way! So we ask politely, for one switch. Before, the switches are `enabled` True, `benchmark` True, `deterministic` False, `allow_tf32` False (the last lets some GPUs round a little for speed; lesson 07).
# %% [markdown] zh
# 📌 **小结。**
# 1. 一个进程一套开关：谁拨了，全家都跟着变。
# 2. 把之前和之后一比，就知道谁被动过没放回。
#
# ## 🕳️ `flags()` 设的，比你说的多
#
# `with 某某:` 会打开一个代码块：进去时做一件事，出来时收拾好，出错也照样收拾。这叫[[context-manager|上下文管理器]]。`cudnn` 就有一个，叫 `flags(...)`：进块时设开关，出块时放回去。
#
# 听起来很有礼貌！那咱们就礼貌地只改一个。改之前：`enabled` 为 True，`benchmark` 为 True，`deterministic` 为 False，`allow_tf32` 为 False（最后这个允许某些 GPU 为了快而少留几位，第 07 课讲）。
# %%
predict("01-bet-flags")
# %%
observe("01-flags-trap")
# %% [markdown] en
# ## 💡 The safe form: remember, set, put back
#
# `flags()` is one function with a default for **every** argument, and `enabled=False` is such a default. What you leave out is set too. It can even refuse to run: once somebody has set the newer `cudnn.conv.fp32_precision = "ieee"` (lesson 07), every `flags(...)` of cuDNN raises, because it first reads the older `allow_tf32`.
#
# So change the one switch yourself, and put it back yourself: what stands in `finally` runs in every case, also after an error.
#
# “Explicit is better than implicit.” (Tim Peters again.)
# %% [markdown] zh
# ## 💡 稳妥的写法：记住、设置、放回
#
# `flags()` 是一个函数，**每个**参数都有默认值，`enabled=False` 就是其中之一。你没写的，它也会设。它甚至可能罢工：只要有人设过新接口 `cudnn.conv.fp32_precision = "ieee"`（第 07 课），cuDNN 的 `flags(...)` 怎么写都报错，因为它要先去读老接口 `allow_tf32`。
#
# 所以，自己动手把那一个开关“括”起来：`try ... finally` 保证放回去，出错也一样。
#
# 😄 借东西要还，借开关也要还。还的时候，还的是人家原来的样子，不是说明书上的样子。
# %%
old = cudnn.deterministic
try:
    cudnn.deterministic = True
    print("inside:", cudnn.deterministic, "  enabled:", cudnn.enabled)
finally:
    cudnn.deterministic = old
print("after: ", cudnn.deterministic)
# en: and what the short flags() call would do, read from its signature, not run:
# zh: 再看看 flags() 的短写法会做什么（只读签名，不执行）：
display(flags.explain_flags_call("cudnn", deterministic=True))
keep("map.flags")
# %% [markdown] en
# 📌 **So far.**
# 1. `flags(...)` also sets what you did not name: leave out `enabled`, and the library is off.
# 2. It may even refuse, once the newer names are in use.
# 3. Remember, set, put back in `finally`: only what you name moves.
# %% [markdown] zh
# 📌 **小结。**
# 1. `flags(...)` 连没写的也设：漏写 `enabled`，库就被关掉了。
# 2. 用过新接口之后，它甚至会直接报错。
# 3. 记住、设置、在 `finally` 里放回：只动写出来的那一个。
# %% [markdown] en
# ## 🎲 Myth: “MPS has an on/off switch”, “deterministic sets the seed”
#
# **Why it is tempting:** everything else in this fuse box looks like a switch. **What you will measure:** six attempts, in a process that may break. **Where it holds:** nowhere for MPS, it has queries only. Random numbers start from a [[seed]], and that belongs to `torch.manual_seed`; devices belong to `.to(...)`.
#
# 😄 Painting over the word “kitchen” on a fuse box does not turn off the light in the kitchen.
# %% [markdown] zh
# ## 🎲 误区：“MPS 有启用/禁用开关”“deterministic 会设置种子”
#
# **为什么容易信**：配电箱里别的东西看着都像开关。**你要测什么**：六次尝试，在一个弄坏也无妨的进程里。**什么时候成立**：对 MPS 从不成立，它只有查询。随机数从[[seed|种子]]开始，归 `torch.manual_seed` 管；设备归 `.to(...)` 管。
#
# 😄 把配电箱上“厨房”两个字涂掉，厨房的灯照样亮着。
# %%
predict("01-bet-mps")
# %%
observe("01-not-a-switch")
# en: Four recipes to copy. Click a card to turn it.
# zh: 四张可以直接抄的配方。点一下卡片就翻面。
keep("recipe.training", "recipe.inference",
     "recipe.debugging", "recipe.reproducibility")
# %% [markdown] en
# ☕ That was the main thing; a good place to stop for today. Curious what else is in the box? The next cells are *deeper, optional*: the whole map, the price of a polite request, a context manager of your own, frozen switches. Otherwise go on at [[#Exit check: five cards]].
#
# ### Deeper, optional: every switch of this PyTorch, on one map
#
# Here is the whole box, read now. **Find** the one that does not hold its default (◆): we turned it for the picture only. Then ask about any name. The last lines show the trick behind it: `benchmark` is a *property* of the module's own class, and writing it calls PyTorch's C++ code; a misspelt name is not.
# %% [markdown] zh
# ☕ 主线到这儿就讲完了，今天歇在这里也很好。还想看看箱子里别的东西？下面几格是**选读**：全部开关的地图、礼貌请求的代价、自己写上下文管理器、冻结开关。不想看就直接跳到[[#下课小测：五张卡片]]。
#
# ### 选读：这份 PyTorch 的全部开关，一张图
#
# 整个箱子都在这儿了，当场读取。**找一找**：哪个不是默认值（◆）？那是拍照时特意拨动的，拍完就恢复。然后随便打听一个名字。最后两行是背后的机关：`benchmark` 是这个模块所属的类里的属性描述符（property），给它赋值会调用 PyTorch 的 C++ 代码；拼错的名字就没这待遇。
# %%
from course.lessons.l01_map.switch_map import backends_map

with flags.using({"mkldnn.deterministic": True}):
    picture = backends_map()
print(flags.describe("mkldnn.enabled"))
print(type(cudnn).__mro__)
print("benchmark" in vars(type(cudnn)), "benchmarks" in vars(type(cudnn)))
picture
# %% [markdown] en
# ### Deeper, optional: what does a polite request cost?
#
# Now with a clock. One convolution runs inside `mkldnn.flags(deterministic=True)`; on a CPU nobody reads that `deterministic`. Each row of the picture is a **ratio** of times; its band is the **interval** in which the true ratio lies with 95 % confidence. A band that crosses the line “same time” shows no difference. (Lesson 02 builds these.) The last row is the control: `enabled=True` is written as well.
# %% [markdown] zh
# ### 选读：一句礼貌的请求要花多少？
#
# 这次掐表。一个卷积放进 `mkldnn.flags(deterministic=True)` 里跑，而 CPU 上根本没人读这个 `deterministic`。图中每一行是耗时的**比值**，外加一条色带，也就是**区间**：真实的比值有 95% 的把握落在里面。色带跨过“一样久”那条线，就说明测不出差别（第 02 课教你怎么算）。最后一行是对照：把 `enabled=True` 也写上。
# %%
predict("01-bet-polite")
observe("01-polite-request")
explain("01-flags-why")
# %%
# en: 🛠️ Find a counterexample, 8 minutes: “asking for deterministic costs nothing on a
# en: CPU”. Call something in plain() whose interval does not contain 1; take the # from the
# en: last line but one. (A warning about TF32 may come: you never named it!)
# zh: 🛠️ 找个反例，8 分钟：“在 CPU 上要求 deterministic 没有任何代价”。
# zh: 自己找一个算子写进 plain()，让区间不含 1，哪边都行；再去掉倒数第二行开头的 #。
# zh: （可能会冒出一条关于 TF32 的警告，而你根本没提过它！）
from course.timing import compare

def plain():
    ...

def asked():
    with torch.backends.mkldnn.flags(deterministic=True):
        plain()

# my_comparison = compare({"plain": plain, "asked": asked}, max_time=3)
check("01-make-it-lose")
# %% [markdown] en
# ### Deeper, optional: somebody else's `flags(...)`, and a better one
#
# ✍️ 4 minutes. Old code uses `flags(...)`, and you want to keep it. Fill the two `...` so that every other switch keeps the value that it has now.
#
# ✍️ 10 minutes, about 8 lines. Then write your own: `with only(torch.backends.cudnn, deterministic=True):` changes that one, puts it back also after an exception, and raises an error for a misspelt name **before** anything has moved. `@contextmanager` turns a function with one `yield` into a context manager: what stands before `yield` runs at the start, what stands after it at the end.
# %% [markdown] zh
# ### 选读：别人留下的 `flags(...)`，和一个更好的
#
# ✍️ 4 分钟。老代码里的 `flags(...)` 得留着。填上两个 `...`，让其余每个开关都保持现在的值。
#
# ✍️ 10 分钟，约 8 行。然后写一个自己的：`with only(torch.backends.cudnn, deterministic=True):` 只改这一个；出异常也恢复；名字拼错时，在任何开关被动到**之前**就报错。`@contextmanager` 能把带一个 `yield` 的函数变成上下文管理器：`yield` 之前的在进块时执行，之后的在出块时执行。
# %%
def deterministic_block():
    cudnn = torch.backends.cudnn
    return cudnn.flags(deterministic=True, allow_tf32=cudnn.allow_tf32,
                       enabled=..., benchmark=...)

check("01-fill-the-blanks")

from contextlib import contextmanager

@contextmanager
def only(module, **changes):
    raise NotImplementedError

check("01-only")
# %% [markdown] en
# ### Deeper, optional: frozen switches, and ten ways to move one
#
# `torch.backends.disable_global_flags()` refuses plain assignments. It was made for PyTorch's own tests, and there is **no public way back**; so we freeze a process of its own and then try ten ways to move a switch.
# %% [markdown] zh
# ### 选读：冻结开关，再试十种改法
#
# `torch.backends.disable_global_flags()` 会拒绝直接赋值。它是为 PyTorch 自己的测试准备的，而且**没有公开的解冻办法**；所以我们冻结一个单独的进程，再试十种改开关的办法。
# %%
predict("01-bet-frozen")
# %%
observe("01-frozen")
# %% [markdown] en
# ## Exit check: five cards
#
# Four from today, one from before. A card that goes wrong comes back in a few days. Then `finish()` writes what you can now claim, from your own numbers.
#
# Left over for another day: `01-strict-bool`, `01-on-the-list`, `01-freeze-why`, `01-seed`, `01-cpu-benchmark`, `01-flags-count`. The checkpoint of this lesson is a notebook of its own; one of its questions is about frozen switches.
# %% [markdown] zh
# ## 下课小测：五张卡片
#
# 四张今天的，一张之前的。答错的那张，过几天会再来找你。然后 `finish()` 用你自己的数据写出现在能下的结论。
#
# 改天还可以做：`01-strict-bool`、`01-on-the-list`、`01-freeze-why`、`01-seed`、`01-cpu-benchmark`、`01-flags-count`。本课的测验是另一个 notebook，其中一题问的是冻结开关。
# %%
review("01-none-of-four", "01-flags-inside", "01-safe-block",
       "01-mps-off", "00-why-sums")
# %%
finish()
