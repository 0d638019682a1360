# %% [markdown] en
# # 🎯 Where did the time go?
#
# ⏱️ **35 minutes**; the *deeper, optional* parts take another 20. Before it: lessons 02 and 09.
#
# “Training is slow, shall we buy another card?”, asks your supervisor. Your stopwatch says 80 milliseconds; for what? A [[profiler]] answers with a list: these operations, so many
# times, so much time each. PyTorch has one built in, `torch.profiler`. In 35 minutes you can go from “it is slow” to
# the line that causes it, mend it, and prove with numbers that it helped. First on three functions that we
# broke on purpose, then on one of your own.
#
# Live on any CPU. What a GPU's profile shows is told from your GPU, a recording, or what others have published.
# %% [markdown] zh
# # 🎯 时间都去哪儿了？
#
# ⏱️ **35 分钟**；**选读**部分再加 20 分钟。先修：第 02、09 课。
#
# 导师问：“训练这么慢，要不再买张卡？”先别急着写申请。秒表说 80 毫秒，可都花在什么上了？[[profiler]] 会给你一张清单：哪些操作、跑了几次、各花多少时间。PyTorch 自带一个，叫 `torch.profiler`。35 分钟之后，从“好慢啊”出发，你能一路找到惹祸的那一行，修好它，再拿数字证明确实快了。先拿三个我们故意弄坏的函数练手，再对付你自己的。
#
# 任何 CPU 都能实测。GPU 的 profile 长什么样，看你的 GPU、录好的结果，或者别人公布的结果。
# %% bootstrap
# %% [markdown] en
# ## What is a profiler for?
#
# You come home from the shop, and 80 are gone from your wallet. Was it the coffee, or the twelve chocolate bars? The
# wallet cannot say. The receipt can: each item, how many of it, what it cost.
#
# A stopwatch is the wallet. A profiler is the receipt.
# %% [markdown] zh
# ## profiler 是干什么用的？
#
# 从超市回来，钱包里少了八十块。是那袋咖啡豆，还是那十二根巧克力？钱包说不出来，小票能：买了什么、各几件、各多少钱。
#
# 秒表就是钱包，profiler 就是小票。
# %%
# en: First the cards of earlier lessons that are due today (none is fine),
# en: then today's warm-up.
# zh: 先是今天到期的旧卡片（没有也正常），再是今天的热身题。
review(due=3)
explain("12-what-for")
# %% [markdown] en
# ## 🔬 See it: switch it on for one call
#
# The profiler runs inside a `with` block only. A call before it, to warm up: the first one always has extra items on its
# receipt. Sorted by `self_cpu_time_total`, the most expensive row is at the top. Do not read it all; look for
# the name of a convolution.
# %% [markdown] zh
# ## 🔬 看一看：给一次调用打开它
#
# profiler 只在 `with` 块里运行。之前先调用一次预热：第一次的小票上总有些额外的项目。按 `self_cpu_time_total` 排序，最贵的排在最上面。不用全看，先找找卷积的名字。
# %%
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile
from course.trace import trace_of

torch.set_grad_enabled(False)
model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU())
image = torch.randn(4, 3, 96, 96)
model(image)
with profile(activities=[ProfilerActivity.CPU], acc_events=True) as prof:
    model(image)
print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=6))
# %% [markdown] en
# ## The same as a picture
#
# Behind the table is a list of events: a name, a start, an end. Such a list is a [[trace]], and it can be drawn as a
# [[timeline]]: from left to right as it happened. What an operation calls stands in the lane below it.
# `trace_of` takes any function without arguments, runs it a few times, and gives back sentence, table and picture.
# %% [markdown] zh
# ## 画成图再看
#
# 表的背后是一串事件：名字、开始、结束。这样一串记录叫 [[trace]]，可以画成[[timeline|时间线]]：从左到右，按发生的先后。一个操作调用了谁，谁就排在它下面一行。`trace_of` 接受任何无参函数，跑上几遍，给你一句话、一张表、一幅图。
# %%
found = trace_of(lambda: model(image))
print(found)
found.timeline();
# %% [markdown] en
# 📌 **So far.**
# 1. A profiler writes down each operation with its start and end.
# 2. Such a list is a trace: a table adds it up, a timeline draws it.
#
# ## 🎲 One convolution, four rows
#
# In the picture, one convolution is a staircase: `conv2d` calls `convolution`, that calls `_convolution`, and only the last one
# computes (`mkldnn_convolution` where oneDNN does it). Each has a row in the table, with two times: **total**, with all
# that it calls, and **self**, without. Now bet.
# %% [markdown] zh
# 📌 **小结。**
# 1. profiler 把每个操作的开始和结束都记下来。
# 2. 这串记录叫 trace：加起来是表，画出来是时间线。
#
# ## 🎲 一个卷积，四行记录
#
# 图上，一个卷积像一段楼梯：`conv2d` 调 `convolution`，它再调 `_convolution`，最后一个才真的计算（由 oneDNN 来算时是 `mkldnn_convolution`）。它们在表里各占一行，各有两个时间：**total**，连同它调用的；**self**，只算自己。来下注吧。
# %%
predict("12-bet-total")
# %%
observe("12-two-columns")
explain("12-self-zero")
# %% [markdown] en
# ## 🛠️ Your turn: from total to self (5 minutes, about 4 lines)
#
# [[self-time|Self time]] is easy to compute. Each event is a dictionary: `us`, its total time, and `parent`, the place
# in the list of the event that called it, or `None`. Give back the list of own times, in the same order. Stuck?
# `hint("12-own-times")`, three steps deep.
# %% [markdown] zh
# ## 🛠️ 轮到你：从 total 算出 self（5 分钟，约 4 行）
#
# [[self-time|自身耗时]]很好算。每个事件是一个字典：`us` 是它的 total，`parent` 是调用它的那个事件在列表里的位置，没有就是 `None`。按原来的顺序，返回各自的自身耗时。卡住了就运行 `hint("12-own-times")`，共三级提示。
# %%
def own_times(events: list[dict]) -> list[float]:
    # en: for example us 10, 9, 8, each the parent of the next -> [1, 1, 8]
    # zh: 例如 us 为 10、9、8，前一个是后一个的上一级 -> [1, 1, 8]
    raise NotImplementedError


check("12-own-times")
# %% [markdown] en
# 📌 **So far.** Never add up the column “total”.
#
# 1. A profiler notes start and end of each operation; warm up before.
# 2. Total holds what is called; the same microsecond stands in several rows.
# 3. Self times may be added up. Sort by them.
# %% [markdown] zh
# 📌 **小结。** “total” 那一列，千万别加起来。
#
# 1. profiler 记下每个操作的开始和结束；先预热。
# 2. total 包含它调用的，同一微秒会记进好几行。
# 3. self 可以相加。排序就按它。
# %%
keep("profiler.table")
# %% [markdown] en
# ## 🎲 What does no row of the table show?
#
# A receipt lists what was bought. The hour in the queue is not on it. A profile lists operations of PyTorch; Python in
# between, a sleep, a slow disk are gaps in the picture. First a card. Then a bet: your loop waits for the `DataLoader`. A gap, too?
# %% [markdown] zh
# ## 🎲 什么事表里哪一行都看不到？
#
# 小票上列的是买了什么，排队的那一小时可不在上面。profile 列的是 PyTorch 的操作；中间的 Python、sleep、慢硬盘，在图上都是空隙。先答一张卡片，再下一注：训练循环在等 `DataLoader`，这也是空隙吗？
# %%
explain("12-gap")
predict("12-bet-wait")
# %%
import time
from torch.profiler import record_function

observe("12-wait")
# en: What the loader does, you can do: give a block of yours a name in the trace.
# en: Which half is waiting?
# zh: 加载器能做的，你也能做：给自己的一段代码起个名字，放进 trace。哪一半在等？

def step():
    with record_function("my data"):
        time.sleep(0.004)
    with record_function("my model"):
        model(image)

trace_of(step).timeline();
# %% [markdown] en
# ## 💡 Look at the shape before you read names
#
# | the picture shows | it means | what to do |
# |---|---|---|
# | one long bar at the end of a staircase | work | compute less, or in another way |
# | hundreds of thin bars with gaps | [[overhead]] | fewer, larger operations |
# | a wide gap, or a named block with nothing below it | a wait, or Python | name the parts, then look again |
#
# “Bottlenecks occur in surprising places, so don't try to second guess and put in a speed hack until you've proven that's
# where the bottleneck is.” (Rob Pike, *Notes on Programming in C*, 1989)
# %% [markdown] zh
# ## 💡 先看形状，再读名字
#
# | 图上是 | 说明 | 怎么办 |
# |---|---|---|
# | 楼梯尽头一条长杠 | 在干活 | 少算点，或换种算法 |
# | 几百根细条夹着空隙 | [[overhead]] | 操作少一些、大一些 |
# | 一大段空白，或者有名字、下面却什么也没有 | 在等，或者在跑 Python | 给各段起名，再看一遍 |
#
# “没有调查，没有发言权。”（毛泽东《反对本本主义》，1930）性能优化尤其如此！
# %% [markdown] en
# ## 🎲 Three slow functions
#
# We have planted three mistakes that happen to everybody. `show_code` prints a function with its line numbers, `trace_of` says
# which line pays. Bet first: which repair saves the largest share? Then case one, **photos**: from bytes to
# standardised pixels.
# %% [markdown] zh
# ## 🎲 三个慢函数
#
# 我们埋了三个谁都犯过的错。`show_code` 打印函数并带上行号，`trace_of` 说出哪一行花得最多。先下注：修好哪个，省下的比例最大？然后来看第一个，**照片**：从字节到标准化的像素。
# %%
keep("profiler.timeline")
predict("12-bet-repair")
# %%
from course.lessons.l12_profiler import cases

photos = torch.randint(0, 256, (8, 3, 192, 192), dtype=torch.uint8)
cases.show_code(cases.photos_slow)
print(trace_of(lambda: cases.photos_slow(photos)))
# en: Two types meet in `pixels - mean`. Which one wins?
# zh: `pixels - mean` 里两种类型相遇，谁说了算？
print(photos.float().dtype, torch.from_numpy(cases.np.array(cases.MEAN)).dtype)
explain("12-line-pays")
# %% [markdown] en
# ## Case two: the profile ends where the library begins
#
# **Layers**: four convolutions in a row, and nothing strange in the code. Nor in the profile: one name has nearly all the
# time. But oneDNN keeps a receipt of its own (lesson 09). Compare: what does the profiler call this time, and what the library? Each [[reorder]] in its log
# computes nothing. How many are there in yours?
# %% [markdown] zh
# ## 第二个：profile 到库为止
#
# **卷积层**：四个卷积一字排开，代码看不出毛病。profile 里也看不出：差不多全是一个名字。可 oneDNN 自己还有一张小票（第 09 课）。比一比：同一段时间，profiler 管它叫什么，库又管它叫什么？日志里的[[reorder|重排]]什么也不算，只是搬来搬去。你这里有几次？
# %%
from course.onednn_log import log_of

layers, picture = cases.layers(), torch.randn(8, 16, 56, 56)
print(trace_of(lambda: cases.layers_slow(layers, picture)))
log_of(lambda: cases.layers_slow(layers, picture))
# %%
# en: The repair of case two is one line, once, before the loop:
# en: model and image to channels_last.
# zh: 第二个的修法只要一行：循环之前，把模型和图像一次性转成 channels_last。
explain("12-inside-library")
cases.show_code(cases.scores_slow)
table = torch.randn(400, 64)
thin_bars = trace_of(lambda: cases.scores_slow(table))
print(thin_bars)
thin_bars.timeline();
# %% [markdown] en
# ## 🛠️ Case three is yours: mend the loop (5 minutes, 1 line)
#
# **Scores** asks row by row: a handful of operations for 64 numbers, then `.item()` to bring one number to Python. On a GPU each
# `.item()` also waits for everything queued before it. The function below has the same problem. Give back the same tensor
# without the loop.
# %% [markdown] zh
# ## 🛠️ 第三个归你：修好这个循环（5 分钟，1 行）
#
# **分数**是一行一行问的：为 64 个数跑好几个操作，再用 `.item()` 把一个数拿回 Python。放到 GPU 上，每个 `.item()` 还得等前面排着的全部做完。下面这个函数毛病一样。请去掉循环，返回同样的张量。
# %%
def row_spreads(table: torch.Tensor) -> torch.Tensor:
    # en: largest minus smallest number of each row
    # zh: 每一行的最大值减最小值
    return torch.tensor([row.max().item() - row.min().item() for row in table])


check("12-row-spreads")
# %%
# en: All three, before and after, with intervals.
# zh: 三个都比一比，修前修后，带上区间。
observe("12-repairs")
explain("12-order-hunt")
# %% [markdown] en
# 📌 **So far.**
#
# 1. The line that takes the time need not be the line to mend: ask which line gave it that work.
# 2. PyTorch's rows end at a library; the library's log goes on.
# 3. Race the repair without the profiler. A share is the most that can be saved.
# %% [markdown] zh
# 📌 **小结。**
#
# 1. 花时间的那一行，未必是该修的那一行：问一句，是哪一行让它干这些活的。
# 2. PyTorch 的行到库为止，再往下看库的日志。
# 3. 修好之后，关掉 profiler 再比。占比就是最多能省下的。
# %% [markdown] en
# ## 🛠️ Now your own function
#
# Put something of yours into `mine`: a model, a preprocessing step, a training step. (It will run about a dozen times, so no
# saving of files in it.) Read three things: where the time goes, how much of it was not spent on computing, and which line of your code pays.
# %% [markdown] zh
# ## 🛠️ 现在换成你自己的函数
#
# 在 `mine` 里放点你自己的东西：模型、预处理、一步训练都行。（它会跑十来遍，所以别在里面存文件。）看三样：时间花在哪里，至少有多少不是在计算，你的哪一行花得最多。
# %%
from course.models import gpt_block

block, tokens = gpt_block(), torch.randn(2, 64, 768)

def mine():
    hidden = block(tokens)
    scores = hidden @ hidden.transpose(1, 2)
    return torch.stack([row.softmax(-1) for row in scores.flatten(0, 1)])

found = trace_of(mine)
print(found)
found.timeline();
# %% [markdown] en
# ## On a GPU: read the names
#
# There the receipt has a second part: [[kernel|kernels]], with names like `sm80_xmma_fprop_implicit_gemm_tf32f32_…`. Nobody reads that; you
# look for pieces. Eight names, all printed by others (the links stand in `NAMES`), none invented:
# %% [markdown] zh
# ## 在 GPU 上：读名字
#
# GPU 的小票还有第二联：[[kernel]]，名字像 `sm80_xmma_fprop_implicit_gemm_tf32f32_…`。没人会从头读到尾，认几个词根就行。下面八个名字都出自别人公布的记录（链接在 `NAMES` 里），没有一个是编的：
# %%
from course.lessons.l12_profiler.kernel_names import NAMES, read_aloud

for published in NAMES:
    read_aloud(published.name)
explain("12-read-names")
# %% [markdown] en
# ## 🕳️ Three signs, and a trap
#
# | sign | in a GPU's trace |
# |---|---|
# | the [[search]] | in the first step many convolution kernels, each once or twice; later one |
# | a copy | `Memcpy HtoD` or `DtoH`; above it `aten::copy_` and the line with `.to(...)` or `.cpu()` |
# | a wait | a long CPU bar: `cudaStreamSynchronize`, or `aten::item` |
#
# The wait is the trap. The CPU's long bar only says where somebody waited. What it waited **for** stands in the GPU's lane.
# %% [markdown] zh
# ## 🕳️ 三个迹象，一个坑
#
# | 迹象 | 在 GPU 的 trace 里 |
# |---|---|
# | [[search]] | 第一步里许多卷积 kernel，各跑一两次；之后只剩一个 |
# | 拷贝 | `Memcpy HtoD` 或 `DtoH`；上面是 `aten::copy_`，以及写着 `.to(...)`、`.cpu()` 的那一行 |
# | 等待 | CPU 上一条长杠：`cudaStreamSynchronize` 或 `aten::item` |
#
# 等待最会骗人。CPU 上的长杠只说明有人在这儿等，等的**是什么**，要看 GPU 那一行。
# %%
cases.draw_wait();
# %%
observe("12-gpu-trace-cuda")
explain("12-search-trace")
explain("12-item-waits")
keep("profiler.names")
# %% [markdown] en
# ## 🎲 The profiler takes time, too
#
# Writing a receipt takes time. For the weekly shopping nobody notices; for a single chewing gum it takes longer than the
# sale. `record_shapes` writes more on each line, `with_stack` also writes down every Python function. The experiment has a control:
# no profiler against no profiler.
# %% [markdown] zh
# ## 🎲 profiler 自己也要花时间
#
# 打小票要花时间。买一车东西没人在意，买一颗口香糖，打小票比收钱还慢！`record_shapes` 每行多写几个字，`with_stack` 连每个 Python 函数都要记。实验带了对照：不开 profiler，和不开 profiler 比。
# %%
predict("12-bet-cost")
# %%
observe("12-cost")
explain("12-too-much")
# %% [markdown] en
# 📌 **So far: what a profile cannot tell.**
#
# 1. How fast it is without the profiler: many small operations look slower than they are. Take the stopwatch.
# 2. What happens inside a library or between the operations; and the first call, if you have skipped it.
# 3. Why. It gives you a suspect; the proof is an experiment.
# %% [markdown] zh
# 📌 **小结：profile 说不出来的。**
#
# 1. 不开 profiler 时有多快：许多小操作会显得比实际慢。总耗时还是用秒表。
# 2. 库的内部、操作之间发生了什么；跳过了的第一次调用，也说不出来。
# 3. 为什么。它只给你嫌疑人，定罪要靠实验。
# %% [markdown] en
# ☕ That was the main thing; a good place to stop. Three *deeper, optional* parts follow; otherwise go on at
# [[#🎴 Exit check: five cards]].
#
# ### Deeper, optional: 🛠️ find a counterexample (5 minutes)
#
# “Under the profiler everything gets a little slower, evenly.” Find a piece of work that takes at least 1.5 times as long under
# it. What stands there is a bad choice, on purpose. It counts when the whole interval lies above 1.5.
# %% [markdown] zh
# ☕ 主线到这儿就讲完了，今天歇在这里也很好。接下来有三段*选读*；不看的话，直接跳到[[#🎴 下课小测：五张卡片]]。
#
# ### 选读：🛠️ 找个反例（5 分钟）
#
# “开着 profiler，一切都均匀地慢一点点。”找一份活，让它至少慢上一半。现在写着的是故意选坏的。整个区间都在 1.5 之上才算通过。
# %%
from course.timing import compare

large = torch.randn(512, 512)

def work():
    for _ in range(8):
        large @ large

race = compare({"plain": work, "profiled": cases.profiled(work)},
               baseline="plain", max_time=2)
print(race)
check("12-make-it-lose")
# %% [markdown] en
# ### Deeper, optional: 🛠️ which line pays most? (5 minutes)
#
# `trace_of(...).rows()` gives plain rows; each has a `line` (empty where nobody noted it), `us` and `self_us`. Give back the
# line with the largest sum of own time, or `None` where no row has a line.
# %% [markdown] zh
# ### 选读：🛠️ 哪一行花得最多？（5 分钟）
#
# `trace_of(...).rows()` 给出普通的行，每行有 `line`（没记下的为空）、`us` 和 `self_us`。返回自身耗时之和最大的那个 `line`；一个都没有就返回 `None`。
# %%
def line_that_pays(rows: list[dict]) -> str | None:
    raise NotImplementedError


check("12-which-line")
# %% [markdown] en
# ### Deeper, optional: the stack, and a schedule
#
# torch's own way to a line is `with_stack=True`. Every Python function then has a row, such as `cases.py(…): scores_mended`;
# the number there says where the *function* begins, not which of its lines ran. `trace_of` notes the line: it looks at the
# [[call-stack]] whenever torch is called. An operation's own `stack` was empty in torch 2.13; the last line prints
# yours. And for a training loop, `schedule` records a few steps out of many.
# %% [markdown] zh
# ### 选读：调用栈，以及 schedule
#
# torch 自己找行的办法是 `with_stack=True`。这时每个 Python 函数都有一行，比如 `cases.py(…): scores_mended`；括号里的数字是这个*函数*从哪儿开始，不是执行到了哪一行。`trace_of` 记的才是那一行：每次调用 torch，它都看一眼[[call-stack|调用栈]]。在 torch 2.13 里，操作自己的 `stack` 是空的；最后一行打印你这里的。另外，训练循环可以用 `schedule`，许多步里只记几步。
# %%
from torch.profiler import schedule

with profile(activities=[ProfilerActivity.CPU], acc_events=True,
             schedule=schedule(wait=1, warmup=1, active=3, repeat=1)) as prof:
    for _ in range(6):
        model(image)
        prof.step()
steps = [event for event in prof.events() if event.name.startswith("ProfilerStep")]
print(len(steps), [round(event.time_range.elapsed_us()) for event in steps])
with profile(activities=[ProfilerActivity.CPU], acc_events=True,
             with_stack=True) as prof:
    cases.scores_mended(table)
print({event.name for event in prof.events() if "cases.py" in event.name})
print([event.stack for event in prof.events() if event.name == "aten::amax"])
# %% [markdown] en
# ## 🎴 Exit check: five cards
#
# A programmer comes to the doctor: “It hurts when I print the loss.” Doctor: “Then don't print the loss.” A week
# later: “Now it hurts when I save the model.” Same wait, another place.
# %% [markdown] zh
# ## 🎴 下课小测：五张卡片
#
# 程序员去看病：“医生，我一 print loss 就疼。”医生：“那就别 print。”过了一周又来：“现在一存模型就疼。”换个地方等而已，病根还在 GPU 上。
# %%
explain("12-name-proof")
explain("12-which-profiler")
explain("12-first-step")
explain("12-how-much")
explain("02-why-first")
# %% [markdown] en
# ## 📌 Claims you can now make
#
# - I measure first, without a profiler; then one warm call with it; then the picture, the line, one change, a race.
# - Self times add up, total times do not. What is in no row is Python, a wait, or inside a library.
# - A long CPU bar on a GPU machine may be a wait; the work is in the GPU's lane.
# - A profile of many small operations is partly a profile of the profiler.
#
# Next: how the switches of this course play together.
# %% [markdown] zh
# ## 📌 这节课学到了什么
#
# - 我先不开 profiler 测一个数，再预热、抓一步；然后看图、找行、只改一处、比一场。
# - self 可以相加，total 不行。哪一行都没有的，是 Python、等待，或者在库的内部。
# - 有 GPU 时，CPU 上的长杠可能只是在等；活在 GPU 那一行。
# - 小操作很多时，profile 里有一部分其实是 profiler 自己。
#
# 下一步：这门课里的各个开关放在一起会怎样。
# %%
keep("recipe.slow")
finish()
