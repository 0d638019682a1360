# %% [markdown] en
# # 🎯 Which configuration for this team?
#
# ⏱️ **35 minutes.** Before it: lessons 05, 06 and 09.
#
# Nine lessons taught you the switches. Now people come with problems, and each problem has a deadline, something that
# must not break, and advice from a blog. You choose, you measure, and you put your name under it.
#
# It is a game: a repair shop that is open at night. Ten cases run **live on your CPU**, seven are decided by rules with a
# source. Every case says which. No GPU is needed. Three of them are this lesson; the others wait on the board.
# %% [markdown] zh
# # 🎯 这个团队，该用哪一套配置？
#
# ⏱️ **35 分钟。** 先修：第 05、06、09 课。
#
# 前面九课认识了各种开关。现在轮到真人带着麻烦上门：每个麻烦都有期限，有不能破的要求，还有从博客上抄来的建议。你来选，你来测，最后签上你的名字。
#
# 这一课是个游戏：**深夜调参急诊室**。十个病例在**你的 CPU 上现场实测**，七个按有出处的规则判定，每个都会注明。不需要 GPU。这一课做其中三个，其余的留在候诊室里，随时可以来。
# %% bootstrap
# %%
# en: Warm-up: cards from earlier lessons that are due today (none is fine).
# zh: 热身：今天到期的旧卡片（没有也正常）。
review(due=3)
# %% [markdown] en
# ## What is a trade-off?
#
# You want two things, and more of one means less of the other: a fast car that needs little petrol. With models it is
# time, memory, exactness, and getting the same bits again.
#
# So a good question has two parts. **What counts?** (one thing, such as the time of a call) And **what must not break?**
# (a limit: an error of at most 1 %, a third of the memory). First the limit, then the speed. A question to warm up:
# %% [markdown] zh
# ## 什么叫取舍？
#
# 你想要两样东西，可这个多了那个就少：又要车快，又要省油。放到模型上，就是时间、内存、精度、逐位可复现。
#
# 所以一个好问题有两半。**看重什么？**（只选一样，比如一次调用的耗时。）**什么不能破？**（一条上限，比如误差不超过 1%，内存不超过三分之一。）先守上限，再比快慢。先来一道热身题：
# %%
explain("10-tradeoff")
# %% [markdown] en
# ## See one: two numbers pull in two directions
#
# One layer, two number types. Run the cell: which one is quicker here, and how far off is each from float64? Then write
# `rows = 256` and run it again. The time may turn round, the error stays about the same.
# %% [markdown] zh
# ## 看一例：两个数字，往两个方向走
#
# 同一个层，两种数据类型。运行这格：在你这里哪个快？各自离 float64 有多远？再把 `rows` 改成 256 跑一遍。快慢也许会反过来，误差差不多不变。
# %%
import torch
from course.timing import compare

rows = 1
layer, x = torch.nn.Linear(1024, 1024), torch.randn(rows, 1024)
half, y = torch.nn.Linear(1024, 1024).bfloat16(), x.bfloat16()
half.load_state_dict(layer.state_dict())
with torch.no_grad():
    print(compare({"float32": lambda: layer(x), "bfloat16": lambda: half(y)},
                  max_time=1.5, same=False))
    results = {"float32": layer(x), "bfloat16": half(y)}
    exact = layer.double()(x.double())
for name, result in results.items():
    off = (result - exact).abs().max() / exact.abs().max()
    print(f"{name}: off by {100 * off:.2g} %")
# %% [markdown] en
# ## 🏛️ The first night: one case together
#
# This is the desk. Read it from the top:
#
# 1. **The ticket**: who comes, what hurts, what a blog advised. Under it: what counts and what must not break.
# 2. **The panel**: one row a control. A full dot ● is chosen; *today* is what the client runs now.
# 3. **Your bet** on this setting, and how sure you are. Without a bet nothing is measured: that is the house rule.
# 4. **🔬 Measure it**: your setting against today's, in turn. You may do this three times.
# 5. **📦 Hand it in**: then *all* settings are measured, and you see where yours stands.
#
# Try `no_grad` alone first, as the blog says. Then do better.
# %% [markdown] zh
# ## 🏛️ 第一个夜班：一起看一个病例
#
# 这就是你的工作台，从上往下看：
#
# 1. **病历**：谁来了、哪儿疼、博客上怎么说。下面是看重什么、什么不能破。
# 2. **面板**：一行一个控件。实心圆点 ● 表示选中；*现在*是客户目前的设置。
# 3. **下注**：押这组设置会怎样，以及你有多大把握。不下注就不测，这是急诊室的规矩。
# 4. **🔬 测一测**：你的设置和现在的轮流跑。一共三次机会。
# 5. **📦 就交它**：交了之后，*所有*组合都会测一遍，看看你的排在哪儿。
#
# 先照博客说的只加 `no_grad` 试试，然后做得更好。
# %%
case("museum")
# %% [markdown] en
# 📌 **So far.**
# 1. A trade-off: more of one thing costs another.
# 2. First say what must not break, then look for speed.
# 3. What you measured before you hand in is worth points, and so is a bet that came out.
# %% [markdown] zh
# 📌 **小结。**
# 1. 取舍：这边多一点，那边就少一点。
# 2. 先说什么不能坏，再去找快的。
# 3. 交方案之前测到的算分，押中的赌注也算分。
# %% [markdown] en
# ## 💡 How to read the figure
#
# Each line is one setting. The dot is its time divided by today's, the bar its [[interval]]: where the truth lies, as far as
# these rounds can tell. Left of the dashed line is faster. A hollow dot broke a requirement: it is out, however far left.
#
# Green is **the best set**: the fastest that keeps everything, and all whose bars overlap with it. No measurement can
# tell these apart.
#
# Ten points: outcome 5, evidence 2, bets 2, cause 1. **Evidence**: a run of what you hand in, and of a neighbour that
# differs only in the control behind the cause (today's may be it). Only your first try counts, with all it used.
# %% [markdown] zh
# ## 💡 这张图怎么看
#
# 每一行是一套设置。圆点是耗时与现在之比，横条是[[interval|区间]]：凭这几轮测量，真值大概落在这一段里。虚线左边更快。空心圆点表示违反了要求：再靠左也出局。
#
# 绿色的是**最好的一档**：守住所有要求里最快的那个，以及横条和它重叠的。测量分不出它们的高下。
#
# 每个病例满分 10 分：结果 5，证据 2，下注 2，原因 1。**证据**看的是交方案之前你知道多少：你交的那套测过，得一分；还测过一个只差关键控件的对照，再得一分（现在的设置每次都跟着跑，也可以当对照）。计分的是第一次，用掉的都算在内；之后再来都是练习。
# %%
explain("10-best-set")
explain("10-way-to-work")
# %% [markdown] en
# ## 🛠️ Your turn: who may be called the best? (5 minutes)
#
# The game's own rule, in five lines. `rows` holds settings as dictionaries with `name`, `low`, `ratio`, `high`, `error`.
# Give back the names of the best set: the error is at most `limit`, and `low` does not lie above the `high` of the
# fastest permitted one. Stuck? `hint("10-best-set")`.
# %% [markdown] zh
# ## 🛠️ 轮到你：哪些算最好的一档？（5 分钟）
#
# 游戏判分用的规则，五行就够。`rows` 里每套设置是一个字典，有 `name`、`low`、`ratio`、`high`、`error`。返回最好一档的名字：误差不超过 `limit`，而且 `low` 不高于合格者中最快那个的 `high`。卡住了就 `hint("10-best-set")`。
# %%
def best_set(rows: list[dict], limit: float) -> list[str]:
    # en: [{"name": "a", "low": 0.4, "ratio": 0.5, "high": 0.6, "error": 0.0}] -> ["a"]
    # zh: [{"name": "a", "low": 0.4, "ratio": 0.5, "high": 0.6, "error": 0.0}] -> ["a"]
    raise NotImplementedError


check("10-best-set")
# %% [markdown] en
# 📌 **So far.**
#
# 1. First what must not break, then the speed.
# 2. Bet before you measure; measure against today, in turn.
# 3. What overlaps with the best counts as the best: nobody can tell them apart. If that is today's, leave it alone.
# %% [markdown] zh
# 📌 **小结。**
#
# 1. 先守住不能破的，再比快慢。
# 2. 先下注再测；和现在的轮流测。
# 3. 和最好的重叠，就算最好的一档：测不出高下。如果现在的设置也在这一档，就别动它。
# %%
keep("recipe.tuning")
# %% [markdown] en
# ## 🎙️ The voice assistant
#
# Now alone. One frame of sound at a time, and latency is everything. At the next desk sits Old Default, who answers every
# question with “it has always been on”. No keyboard trouble: everything on the desk can be reached with Tab and Enter, and
# typed as well, if you like:
# `case("voice").run(onednn="off", bet="faster", confidence="fairly")`.
#
# (Cases in which you choose the number of threads need a quiet machine. If the bars come out very wide, close other programs.)
# %% [markdown] zh
# ## 🎙️ 语音助手
#
# 这回自己来。一次一帧声音，延迟就是一切。邻桌坐着老默认，问他什么都答“这个一直开着呀”。工作台上的一切都能用 Tab 和 Enter 操作，也可以打字来玩：
# `case("voice").run(onednn="off", bet="faster", confidence="fairly")`。
#
# （要选线程数的病例，机器得空闲才测得准。横条要是特别宽，就先关掉别的程序。）
# %%
case("voice")
# %% [markdown] en
# ## 📻 Its twin: the same layer, a hundred frames a call
#
# The radio archive has heard of your success. Same LSTM, same switch, another **regime**: other sizes, another goal. What
# do you expect now? Say it aloud before you touch the panel.
# %% [markdown] zh
# ## 📻 双胞胎：同一个层，一次一百帧
#
# 电台听说了你的战绩。同样的 LSTM、同样的开关，**场合**却变了：尺寸不同，目标不同。这回你估计会怎样？动面板之前，先说出来。
# %%
case("archive")
# %%
explain("10-regime")
keep("tuning.regime")
# %% [markdown] en
# ## ✉️ The two sentences that matter
#
# At the end of each case a colleague writes: “Why did you switch that?” Half of tuning is answering this. A good reply
# names a figure with its interval, what is kept, the cause (not only the switch), and says where the colleague is right.
# Then it proposes a test that could prove *you* wrong: it survives your supervisor's next question.
#
# “In God we trust; all others must bring data.” Often credited to W. E. Deming, without proof; which fits.
# %% [markdown] zh
# ## ✉️ 最要紧的那两句话
#
# 每个病例的末尾，都有同事来信：“你为什么动那个开关？”调参的一半功夫，就在这封回信里。好的回信要有带区间的数字，说清守住了什么，说原因（不只是开关名），还要说出同事在哪种情况下是对的，最后提出一个能推翻*你自己*的测试。除了你，没人给它打分。
#
# 这封信，其实就是组会上的那一页 PPT：导师再追问一句，也站得住。
# %%
explain("10-sceptic")
# %% [markdown] en
# ## 🗂️ The waiting room
#
# Three cases are the lesson; you have done them. The others wait here, one a day if you like: a tile opens its case. If you
# cannot decide:
#
# | you like | take | and its twin |
# |---|---|---|
# | good advice, for once | `photo` | `birds` |
# | money and rounding | `bank`: int8, AMP | `payday` |
# | little memory | `laptop` | |
# | the same bits in CI | `ci` | |
# | switches that are on and not used | `search` | |
# | NVIDIA GPUs, by rule | `school`, `translator` | `detector`, `video` |
# | a GAN, a Mac, `torch.compile` | `gan`, `mac`, `nights` | |
# %% [markdown] zh
# ## 🗂️ 候诊室
#
# 这一课就是三个病例，你已经做完了。其余的都在这里等着，一天一个也行：点开就能做。拿不定主意的话：
#
# | 你喜欢 | 接这个 | 双胞胎 |
# |---|---|---|
# | 难得一见的好建议 | `photo` | `birds` |
# | 钱和舍入 | `bank`：int8、AMP | `payday` |
# | 内存不够 | `laptop` | |
# | CI 里逐位一致 | `ci` | |
# | 开着却没用上的开关 | `search` | |
# | NVIDIA GPU，按规则 | `school`、`translator` | `detector`、`video` |
# | GAN、Mac、`torch.compile` | `gan`、`mac`、`nights` | |
# %%
board()
# %% [markdown] en
# 📌 **So far.**
#
# 1. The same switch is right here and wrong there: ask what shares the price of a call, and what the hardware can do.
# 2. A switch that is on allows; it does not promise. A switch that nobody reads is decoration.
# 3. “Deterministic” means: the same bits in the same place. Another place is another promise.
# %% [markdown] zh
# 📌 **小结。**
#
# 1. 同一个开关，这里对、那里错：看一次调用的开销由谁分摊，看硬件支持什么。
# 2. 开关打开是允许，不是保证；没人读的开关只是摆设。
# 3. “确定性”说的是同一个地方逐位一致；换个地方，就是另一个承诺。
# %% [markdown] en
# ☕ That was the night. A good place to stop; the others on the board wait for you. Three *deeper, optional* parts follow;
# otherwise go on at [[#🎴 Exit check: four cards]].
#
# ### Deeper, optional: three cards from the waiting room
#
# They ask about `bank`, `translator` and `nights`. Play these first, then see whether you would explain them in the same way.
# %% [markdown] zh
# ☕ 夜班到此结束，歇在这里正好；其余的病例会等你。下面有三段*选读*；不看的话，直接跳到[[#🎴 下课小测：四张卡片]]。
#
# ### 选读：候诊室里的三张卡片
#
# 问的是 `bank`、`translator` 和 `nights`。先做完这三个病例，再看看你会不会这样解释。
# %%
explain("10-amp-one")
explain("10-readers")
explain("10-pay-back")
# %% [markdown] en
# ### Deeper, optional: all settings of a case, outside the game
#
# Each live case is an experiment of the same name. Close the case first, or this gives it away.
# %% [markdown] zh
# ### 选读：不进游戏，看一个病例的所有组合
#
# 每个实测病例都是一个同名实验。先把那个病例做完，不然就剧透了。
# %%
# en: for example observe("10-laptop"): time and memory of six ways to train
# en: after the case nights: observe("10-compile-price"), what torch.compile costs and gains
# zh: 例如 observe("10-laptop")：六种训练方式的时间和内存
# zh: 做完 nights 之后：observe("10-compile-price")，看看 torch.compile 花多少、省多少
observe("10-museum")
# %% [markdown] en
# ### Deeper, optional: 🛠️ a large batch in small pieces (5 minutes)
#
# The cure for the student in `laptop` (play that case first, or this gives it away), by hand. `step(model, x, y, micro)` computes the gradients of the mean cross-entropy over the whole
# batch, but never shows the model more than `micro` rows at once. `backward()` adds to the gradients that are there.
# %% [markdown] zh
# ### 选读：🛠️ 把大 batch 切成小份（5 分钟）
#
# 亲手做一遍 `laptop` 那位学生的药方（先做完那个病例，不然就剧透了）。`step(model, x, y, micro)` 要算出整批平均交叉熵的梯度，但一次最多给模型看 `micro` 行。`backward()` 会累加到已有的梯度上。
# %%
from torch.nn import functional as F


def step(model, x, y, micro):
    raise NotImplementedError


check("10-pieces")
# %%
explain("10-divide")
# %% [markdown] en
# ## 🎴 Exit check: four cards
#
# A client asks: “Which is the best setting?” The intern says: “It depends.” The tuning master
# says: “It depends”, and writes down on what.
# %% [markdown] zh
# ## 🎴 下课小测：四张卡片
#
# 客户问：“到底哪个设置最好？”实习生答：“看情况。”调参宗师也答：“看情况。”然后写下看的是哪些情况。
# %%
explain("10-allowed")
explain("10-other-threads")
explain("05-detector")
explain("09-linear-why")
# %% [markdown] en
# ## 📌 Claims you can now make
#
# - What counts and what must not break comes before any switch.
# - I compare with today, in turn, and say the interval; what overlaps with the best counts as the best.
# - I name the cause, the regime in which the advice holds, the machine and the version.
# - Sometimes the best setting is the one that runs today.
#
# The other cases stay open: one a day, and `board()` shows how your first attempts add up. Proud of one, or beaten by one?
# `share("bank")` makes a picture for a friend; it asks, and does not tell.
# %% [markdown] zh
# ## 📌 这节课学到了什么
#
# - 动任何开关之前，先问看重什么、什么不能破。
# - 我的方案和现在的设置轮流测，给出比值和区间；和最好的重叠，就算最好的一档。
# - 我说得出原因、建议在什么场合成立、在哪台机器和哪个版本上。
# - 有时候，最好的设置就是现在这套。
#
# 剩下的病例一直开着：一天一个，`board()` 会算出你首次尝试的成绩。哪一个做得漂亮，或者栽得有趣？`share("bank")` 做一张图发给朋友：只出题，不剧透。
# %%
board()
finish()
