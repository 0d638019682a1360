# %% [markdown] en
# # What can you now claim?
#
# ⏱️ 30 minutes; the *deeper, optional* parts take as long as you like. Before it: whatever lessons you have done. Everything here draws on what you did there; what you have not met yet is marked as such.
#
# 🎯 Afterwards you can
# - draw the map of `torch.backends` from memory, with few holes;
# - answer an interview question in 30 seconds, and in 3 minutes;
# - carry one file with your own numbers, to print or to show.
# %% [markdown] zh
# # 现在你能说什么？
#
# ⏱️ 30 分钟；**选读**部分看你有多少兴致。先修：学过哪些课都行。这里的内容全来自你在那些课里做过的事；还没碰过的，会标出来。
#
# 🎯 学完之后，你能：
# - 凭记忆画出 `torch.backends` 的全图，空着的没几处；
# - 一道面试题，30 秒说得清，3 分钟说得透；
# - 带走一个文件，里面是你自己的数字，能打印，也能给人看。
# %% bootstrap
# %% [markdown] en
# ## 🎯 What is a review for?
#
# You have met many switches. Which of them could you explain tomorrow, without a notebook? Reading it all once more feels good and helps little. *Trying to remember* helps: it shows where the holes are, and what you pull out of your own head stays longer. The name for it is [[retrieval]].
#
# So here everything comes in this order: first you try, then you look. Mistakes are welcome, they are the map of your next half hour.
# %% [markdown] zh
# ## 🎯 复习是为了什么？
#
# 开关见了不少。明天不看 notebook，你还讲得清哪几个？从头再读一遍，感觉不错，用处不大。**使劲回想**才管用：哪儿有洞一下就露馅了，自己从脑子里掏出来的东西也记得更久。这叫[[retrieval|提取练习]]。
#
# 所以这一课都按这个顺序来：先试，再看。错了正好，错在哪儿，接下来半小时就补哪儿！
# %%
# en: First the cards of earlier lessons that are due, then today's warm-up.
# zh: 先是到期的旧卡片，再是今天的热身题。
review(due=3)
explain("15-recall-first")
# %% [markdown] en
# ## 🎲 An empty map: how much of it can you fill?
#
# Here is everything that PyTorch lets you switch or ask, with the names left out. Read a description, say the name and the default aloud, or write them on paper. Five minutes are plenty. The large boxes are wider than the page: scroll in them.
# %% [markdown] zh
# ## 🎲 一张空白的图：你能填多少？
#
# PyTorch 里所有能拨、能问的东西都在这儿，只是名字没写。看一句说明，说出它的名字和默认值，写在纸上也行。五分钟足够了。图比页面宽，可以在里面滚动。
# %%
poster(blank=True)
# %% [markdown] en
# ## 🛠️ Nine names: where does each live? (3 minutes)
#
# Fill in the submodule, such as `"cudnn"`. Guess where you do not know: a wrong guess makes the right answer stick better than no guess. Stuck? `hint("15-home-of")`.
# %% [markdown] zh
# ## 🛠️ 九个名字，各住哪儿？（3 分钟）
#
# 填上子模块的名字，比如 `"cudnn"`。不知道就猜：猜错一次，比空着记得牢。卡住了就运行 `hint("15-home-of")`。
# %%
home_of = {
    "benchmark": ...,
    "enable_flash_sdp": ...,
    "is_macos_or_newer": ...,
    "verbose": ...,
    "immediate": ...,
    "set_fastpath_enabled": ...,
    "strategy": ...,
    "engine": ...,
    "get_cpu_capability": ...,
}
check("15-home-of")
# %% [markdown] en
# ## 🗺️ And now the map itself
#
# Compare it with yours. Look first for the names you were sure of and got wrong; then for the defaults. At the foot stands the way you came: filled stops are lessons that you have finished.
# %% [markdown] zh
# ## 🗺️ 现在看真正的全图
#
# 和你的对一对。先找那些“很确定却错了”的，再看默认值。最下面是你一路走来的课：实心的站，是已经学完的。
# %%
poster()
# %% [markdown] en
# 📌 **So far.**
# 1. Switches live with the library that does the work; `mps` has questions only.
# 2. Most defaults are the good choice. Of the three famous ones, `cudnn.enabled` is on, `benchmark` and `deterministic` are off.
# 3. What you could not name today is what to look at tomorrow, not everything.
# %% [markdown] zh
# 📌 **小结。**
# 1. 谁干活，开关就归谁；`mps` 只有查询。
# 2. 多数默认值就是好选择。最出名的三个里，`cudnn.enabled` 默认开着，`benchmark` 和 `deterministic` 默认关着。
# 3. 今天叫不出名字的，明天再看；不用全看一遍。
# %% [markdown] en
# ## 🔬 Flip every switch once: which change anything here?
#
# A switch is a permission. What a permission is worth depends on who is there to use it. So let us ask your machine: one small job on the CPU, every switch of the table flipped alone, and the result compared bit by bit. Before it counts, the job runs twice without any change: a part that differs from itself is left out. Place your bet!
# %% [markdown] zh
# ## 🔬 每个开关拨一次：这台机器上谁会变？
#
# 开关是许可。许可有没有用，要看有没有人来用。咱们问问你的机器：CPU 上一份小活儿，表里的开关一次只拨一个，结果逐位比较。开始之前，先什么都不改，跑两遍：连自己都不一致的部分不算。来，下注！
# %%
predict("15-bet-flips")
# %%
observe("15-flip-all")
# %%
explain("15-stored")
review("15-bits-multiple")
# %% [markdown] en
# ## 🎲 Bits are one thing, time is another
#
# Three lines that stand in many scripts, each timed against the default, taking turns. For which does the time on *your CPU* change? Decide for each line first who reads the switch.
# %% [markdown] zh
# ## 🎲 结果变不变是一回事，快不快是另一回事
#
# 三行代码，很多脚本里都有；每一行都和默认值轮流比时间。在**你的 CPU 上**，哪几行会改变耗时？先想一想：每个开关，谁会读它？
# %%
predict("15-bet-lines")
# %%
observe("15-three-lines")
explain("15-transformer-none")
# %% [markdown] en
# ## 🔬 What moves more than a switch?
#
# Before you look for a switch, look at what you ask for. A small network computes eight tiny images, one by one, on one thread. Five changes, each alone, each against the same start. One of them is the most copied line of all. Which saves the most on your machine?
# %% [markdown] zh
# ## 🔬 什么比开关更管用？
#
# 找开关之前，先看看自己让机器干的是什么活儿。一个小网络，单线程，逐张算八张小图。五种改法，每次只改一处，都和同一个起点比。其中一行是抄得最多的。在你的机器上，哪一种最省时间？
# %%
predict("15-bet-moves")
# %%
observe("15-what-moves")
# %% [markdown] en
# 📌 **So far.**
# 1. A value that reads `True` is stored. Whether it counts shows in bits, logs or time.
# 2. A changed last digit is no bug: another order of sums.
# 3. First ask who reads the switch, and whether the work itself could be arranged better: batch, threads, layout.
# %% [markdown] zh
# 📌 **小结。**
# 1. 读出来是 `True`，只说明存下了；起没起作用，看结果的末位、日志或时间。
# 2. 末几位变了不是 bug：求和顺序不同而已。
# 3. 先问谁会读这个开关，再问活儿本身能不能安排得更好：batch、线程、布局。
# %% [markdown] en
# ## 🛠️ The word that an interval allows (4 minutes)
#
# “A little faster” is nothing for a report. “The first principle is that you must not fool yourself, and you are the easiest person to fool.” (Richard Feynman, *Cargo Cult Science*, 1974.) So let a rule choose the word. A difference below 2 % is not worth one. `claim(ratio, low, high)` says `"faster"` where the whole interval lies below 0.98, `"slower"` where it lies above 1.02, `"same"` where it lies between them, and else `"unclear"`. Stuck? `hint("15-claim")`.
# %% [markdown] zh
# ## 🛠️ 区间允许你用哪个词（4 分钟）
#
# “快了一点点”，写进报告导师是不认的。用哪个词，让规则来定。差别不到 2%，不值得一提。`claim(ratio, low, high)`：整个区间低于 0.98，返回 `"faster"`；高于 1.02，返回 `"slower"`；整个在两者之间，返回 `"same"`；其余返回 `"unclear"`。卡住了就运行 `hint("15-claim")`。
# %%
def claim(ratio, low, high):
    if high < ...:
        return "faster"
    if ...:
        return "slower"
    if ...:
        return "same"
    return ...

check("15-claim")
# %%
explain("15-interval-word")
review("15-payback")
review("15-number-mine")
# %% [markdown] en
# ## 🎲 Your bets: how well do you know what you know?
#
# All bets of all lessons on one page: what you said, how sure you were, what came out. A lost bet is no shame; being certain and wrong, again and again, is worth a thought. With few settled bets the page says so.
# %% [markdown] zh
# ## 🎲 你的赌注：你对自己有多了解？
#
# 所有课的赌注都在这一页：押了什么、有多大把握、结果如何。押错不丢人；如果老是“很确定”却错了，就值得想一想。揭晓的赌注还不多时，页面会直说。
# %%
bets()
keep("claim.honest")
# %% [markdown] en
# ☕ Half-way, and a good place for a break. After it: the cards of all lessons, mixed. If no card is due today, go straight on at [[#🎤 The interview: say it, then look]].
#
# ## 🎴 Cards of all lessons, mixed
#
# The lessons take turns on purpose. Mixed practice feels harder than one subject at a time, and lasts longer. It ends after a dozen; what is left waits for another day.
# %% [markdown] zh
# ☕ 走了一半，歇会儿正好。接下来是各课的卡片，混着来。今天没有到期卡片的，直接去 [[#🎤 面试：先说，再看]]。
#
# ## 🎴 各课的卡片，混着来
#
# 各课轮流是故意的：混着练，比一门一门练更费劲，也记得更久。一轮最多十几张，剩下的改天再说。
# %%
review()
# %% [markdown] en
# ## 🎤 The interview: say it, then look
#
# A colleague, an exam, a job: somebody asks, and you have half a minute. Read the question. Say your answer **aloud**, in whole sentences; jot down key words if you like. Then press the button: you see an answer of 30 seconds, the points of one of 3 minutes, and what to listen for. Tick what you really said. Be strict, nobody else sees it.
#
# What was thin comes back tomorrow, what was complete in some days: the same schedule as for your cards.
# %% [markdown] zh
# ## 🎤 面试：先说，再看
#
# 同事、考试、面试：有人问你，你有半分钟。读题，然后**说出声来**，说完整的句子；想记几个关键词也行。说完再按按钮：会看到 30 秒的答案、3 分钟答案的要点，以及该听到什么。说到了的才打勾。对自己严一点，反正没人看见！
#
# 说得单薄的明天再来，说全了的过几天再来：和你的卡片用同一套安排。
# %%
interview(count=2)
# %% [markdown] en
# ### Deeper, optional: two dozen questions in all
#
# Run the cell again and again: what is due comes first, then what you have not met. A good exercise for two: one asks, the other answers, and the one who asked ticks.
# %% [markdown] zh
# ### 选读：一共二十几道题
#
# 这个单元格可以反复运行：先来到期的，再来没见过的。两个人练更好玩：一个问，一个答，由问的人打勾。
# %%
interview(count=3)
# %% [markdown] en
# ### Deeper, optional: advice for any script (6 minutes)
#
# A script is described by four facts: `device` ("cuda", "cpu", "mps"), `convolutions` (True or False), `sizes` ("fixed", "changing") and `same_bits` (must two runs agree bit by bit?). `advice(script)` gives the switches you would write into it, as a dictionary such as `{"cudnn.benchmark": True}`; `{}` where the defaults are fine. Names as in the table of switches; the mode of lesson 06 is `"torch.deterministic_algorithms"`. No line that nobody reads! Stuck? `hint("15-advice")`.
# %% [markdown] zh
# ### 选读：给任何脚本提建议（6 分钟）
#
# 一份脚本用四件事描述：`device`（"cuda"、"cpu"、"mps"）、`convolutions`（True 或 False）、`sizes`（"fixed" 固定、"changing" 变化）、`same_bits`（两次运行要不要逐位一致）。`advice(script)` 返回你会写进去的开关，是一个字典，比如 `{"cudnn.benchmark": True}`；默认值就好的，返回 `{}`。名字照开关表来写，第 06 课的那个模式叫 `"torch.deterministic_algorithms"`。没人读的行不要写！卡住了就运行 `hint("15-advice")`。
# %%
def advice(script):
    if script["same_bits"]:
        return ...
    pays = ...
    return {"cudnn.benchmark": True} if pays else ...

check("15-advice")
explain("15-which-line")
explain("15-two-promises")
# %% [markdown] en
# 📌 **So far.**
# 1. Mixed practice feels harder, and lasts longer.
# 2. An answer said aloud shows what you know; what was thin comes back.
#
# ## 📄 Cheat sheets, with your numbers in them
#
# Only now the summary: one sheet for each submodule, with every switch, its default, its value here, the advice of the knowledge cards, and what *you* measured. Where it says “not measured yet”, an `observe(...)` fills the gap.
# %% [markdown] zh
# 📌 **小结。**
# 1. 混着练更费劲，也记得更久。
# 2. 说得出口，才算真的会；说得单薄的会再来。
#
# ## 📄 速查表，里面有你的数字
#
# 总结放到现在才给：每个子模块一张，有全部开关、默认值、这台机器上的值、知识卡的建议，还有**你自己**测到的结果。写着“还没测”的地方，一个 `observe(...)` 就能补上。
# %%
cheat_sheet("mkldnn")
# %%
cheat_sheet("cudnn")
# %%
cheat_sheet("mps")
# %% [markdown] en
# ## 📦 One file to take home
#
# The map, all sheets, the interview, the knowledge cards, your bets and the passport of this machine: one file, both languages, light and dark, to open anywhere and to print. It loads nothing from the internet, and your name is not in it.
# %% [markdown] zh
# ## 📦 打包带走
#
# 全图、全部速查表、面试题、知识卡、你的赌注、这台机器的护照：一个文件，中英双语，深浅两色，到哪儿都能打开，也能打印。它不联网，里面也没有你的名字。
# %%
passport()
take_home()
# %% [markdown] en
# ### Deeper, optional: a recipe for a slow script
#
# One more card, for the day somebody says “can you make it faster?”
# %% [markdown] zh
# ### 选读：脚本太慢时的配方
#
# 再送一张卡，等哪天有人问你“能不能快点”时用。
# %%
keep("recipe.first_look")
# %% [markdown] en
# ## 🛠️ Claims for your own model (3 minutes)
#
# Which of all these lines belong into *your* script, on *this* machine? `try_switches` takes one step of yours, sees which operators run in it, and tries every setting that these operators read: in turns with the step as it is, then the faster ones together. Everything of yours is put back afterwards.
#
# Put your model and input into the cell; until then it holds a small one of ours. You get a sentence, a picture with the likely ranges, and the lines to paste. “Nothing here helps” is a claim, too: you can stop searching.
# %% [markdown] zh
# ## 🛠️ 给自己的模型下结论（3 分钟）
#
# 这么多行代码，哪几行该写进**你的**脚本、用在**这台**机器上？`try_switches` 拿你的一步来，看里面跑了哪些算子，再把这些算子会读的设置都试一遍：每一项轮流和现状比，再把更快的几项合起来比。跑完之后，你的东西全部恢复原样。
#
# 把模型和输入写进下面的单元格；在那之前，里面放的是我们的一个小模型。你会得到一句结论、一张带可能范围的图、几行可以直接粘贴的代码。“试过的都没用”也是结论：不用再找了。
# %%
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.GELU(), nn.Conv2d(16, 16, 3)).eval()
x = torch.randn(4, 3, 48, 48)
try_switches(model, x, budget=40)
# %% [markdown] en
# ## Exit check: put an honest measurement together
#
# The lines of one honest reading, and cards of earlier lessons that can use another look.
# %% [markdown] zh
# ## 下课小测：拼出一次靠谱的测量
#
# 一次靠谱测量的各行代码，外加几张值得再看一眼的旧卡片。
# %%
review("15-order-claim")
review(due=4)
# %% [markdown] en
# ## Claims you can now make
#
# - I know which library does the work, so I know which switch can matter.
# - I say faster, slower, same or unclear, and an interval chooses the word.
# - My numbers have a machine, a version and a date.
# - What I do not know, I can measure.
#
# Interviewer: “What is your greatest weakness?” “I report intervals.” “I do not think that is a weakness.” “It is, give or take.”
# %% [markdown] zh
# ## 这节课学到了什么
#
# - 我知道活儿是哪个库干的，所以知道哪个开关可能有用。
# - 我说快了、慢了、一样或说不准，用哪个词由区间决定。
# - 我的数字带着机器、版本和日期。
# - 我不知道的，我能测。
#
# 面试官：“你期望的薪资是多少？”“一万五。”“确定吗？”“95% 的区间是一万到两万。”“……你被录用了，去写报告吧。”
# %%
finish()
