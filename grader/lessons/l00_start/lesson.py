# %% [markdown] en
# # Does everything work here, and what is this machine?
#
# ⏱️ 12 minutes. You need a little Python, nothing else. Everything runs live on any computer, with or without a GPU.
#
# “Copy it, don't ask,” says a colleague. Here you ask.
#
# 🎯 This course teaches the switches behind PyTorch by letting **you** measure what they do. This lesson checks that all is well and shows how it goes: bet, measure, understand. Afterwards you know what your machine is, can place a **bet** before measuring, and find answers next week.
#
# ▶️ Begin with the code cell right below: click it and press **Shift + Enter**. Every lesson begins like this; it brings the cards in.
# %% [markdown] zh
# # 这里一切正常吗？这是一台什么机器？
#
# ⏱️ 12 分钟。会一点点 Python 就行。本课所有内容在任何电脑上都能实时运行，有没有 GPU 都行。
#
# 师兄甩来配置：“照抄，别问。”
#
# 🎯 这门课讲 PyTorch 背后的那些开关，办法是让**你**亲手测：它们到底干了什么。第一课先看一切是否正常，再走一遍：下注、测量、想明白。学完之后，你能说清自己的机器是什么，会先下**赌注**再测，也知道下周去哪里找回答案。
#
# ▶️ 先点一下下面的代码单元格，按 **Shift + Enter**。每一课都这样开始：卡片和实验由它加载。
# %% bootstrap
# %% [markdown] en
# ## 🔬 A first sign of life
#
# Now the next one, again with **Shift + Enter**. Two plus two should come out as four, three times. If it comes out as five, please write to the Nobel committee before you write to us.
# %% [markdown] zh
# ## 🔬 先看看它是不是活的
#
# 接着是下一个单元格，还是按 **Shift + Enter**。二加二应该等于四，一共三次。如果得到五，请先联系诺贝尔奖委员会，再联系我们。
# %%
import torch

two = torch.full((3,), 2.0)
two + two
# %% [markdown] en
# ## A number without a machine is a rumour
#
# “It takes 3 ms.” On what? With which version? This course never shows a time without its **passport**. Here is yours: device, processor, versions, threads.
# %% [markdown] zh
# ## 没有机器信息的数字，只是传闻
#
# “只要 3 毫秒。”在什么机器上？什么版本？本课程给出的每个耗时都带着**护照**。你的护照在这里：设备、处理器、版本、线程数。
# %%
passport()
# %% [markdown] en
# ## 🎴 Your first card
#
# Cards are for practice: no marks, and a wrong answer costs nothing. Choose an option, say how sure you are, read the explanation. Read the wrong options too: they are where the fun is. Only guessing? Then say “a guess”: that is an honest answer.
# %% [markdown] zh
# ## 🎴 你的第一张卡片
#
# 卡片只供练习：不计分，也没有“生命值”可扣。选一个选项，标出把握有多大，再看解释。错误选项的解释也值得一读，有意思的都在那里！全凭感觉？那就选“猜的”，老实最好。
# %%
review("00-passport")
# %% [markdown] en
# ## No mouse? Type the answer
#
# Every card has a twin in text: `answer("item", "option")`. It writes to the same place. The three options of the next card are `a`, `b`, `c`.
# %% [markdown] zh
# ## 不想用鼠标？直接敲
#
# 每张卡片都有文字版：`answer("题号", "选项")`，写进同一个地方。下面这张卡片的三个选项是 `a`、`b`、`c`。
# %%
review("00-replay")
# en: the same in text; choose your own letter:
# zh: 文字版写法如下，换成你选的字母：
# answer("00-replay", "c")
# %% [markdown] en
# ## 🎲 Bet first, look second
#
# People who predict before they look tend to understand more of what they see, **whether they guessed right or wrong**. So you often bet before an experiment. The bet locks when you submit it. Losing costs nothing here: a week later the question comes back, and by then you know better.
# %% [markdown] zh
# ## 🎲 先下注，再揭晓
#
# 先预测、再看结果的人往往看得更明白，**猜对猜错都一样**。所以很多实验之前都会请你下注，提交后就锁定。输了不花钱：一周后这个问题会再来一次，那时你已经心里有数了。
# %%
predict("00-bet-sums")
# %% [markdown] en
# ## 🔬 Now let the machine answer
#
# `observe` runs the experiment here, draws the result, and marks your bet in it. The sentence above the picture is written from the numbers, not by a hopeful author.
# %% [markdown] zh
# ## 🔬 让机器来回答
#
# `observe` 会在本机运行实验、画出结果，再把你的赌注画进图里。图上方的那句话是根据数据生成的，不是哪位乐观的作者写的。
# %%
observe("00-same-numbers")
# %% [markdown] en
# 📌 **So far.**
# 1. A number counts only together with its machine.
# 2. On a card: choose, say how sure you are, read the wrong options too.
# 3. Bet first, then measure: that is how every lesson goes.
#
# ## 💡 Which cause fits all three bars?
#
# Many explanations fit one bar; few fit all three. The second and the third bar are **controls**: the same shuffles with one thing changed. The second adds whole numbers, the third adds in `float64`.
# %% [markdown] zh
# 📌 **小结。**
# 1. 数字要和机器放在一起才算数。
# 2. 做卡片：选一个，说把握有多大，错误选项也读一读。
# 3. 先下注，再测量：每一课都这么走。
#
# ## 💡 哪个原因能同时解释三根柱子？
#
# 一根柱子，怎么编都说得通；三根就没那么好糊弄了。第二、第三根是**对照**：打乱方式相同，只改一个条件。第二根加的是整数，第三根改用 `float64` 相加。
# %%
explain("00-why-sums")
# %% [markdown] en
# ## The whole effect fits into eight numbers
#
# `float32` has 24 significant bits, about 7 decimal digits. A large number has no digit left for a small one. Shuffle, and look where the small ones went. Then make the pair smaller, or add in `float64`.
# %% [markdown] zh
# ## 八个数就能看到全部效果
#
# `float32` 有 24 位有效位，大约 7 位十进制数字。数太大，就没有位置留给小的数了。打乱几次，看看小的数都去哪儿了；再把那一对调小，或者改用 `float64` 来加。
# %%
explore("order")
# %% [markdown] en
# ## 🛠️ Your turn: find three numbers of your own
#
# ✍️ 3 minutes, one line. Put three numbers in place of the three dots. Done when `(a + b) + c` and `a + (b + c)` give **different, finite** sums in `float32`. Do not use the numbers above; they are taken.
# %% [markdown] zh
# ## 🛠️ 轮到你：找三个自己的数
#
# ✍️ 3 分钟，一行代码。把三个省略号换成三个数，让 `(a + b) + c` 和 `a + (b + c)` 在 `float32` 里得到**不同且有限**的和，就算完成。上面那几个数已经有主了，请另找。
# %%
my_numbers = (..., ..., ...)

check("00-my-numbers")
# %% [markdown] en
# ## Stuck? Help comes in three steps
#
# Each `hint` follows an attempt, the mildest first. `solution("00-my-numbers")` opens after an attempt too. Using them costs nothing.
# %% [markdown] zh
# ## 卡住了？帮助分三步
#
# 每试一次，就能打开一条 `hint`，从最含蓄的开始。`solution("00-my-numbers")` 也要先试一次才会打开。用了也不扣分。
# %%
hint("00-my-numbers")
# %% [markdown] en
# ## What does a sum have to do with backends?
#
# A [[backend]] is the library that computes for PyTorch, and it may add in another order: in other blocks, with more threads, on another chip. Then the last bits may differ, and **neither result is a bug**. Lesson 06 asks what “reproducible” can mean at all. (A word with a dotted line explains itself when you point at it; `what("backend")` does it too.)
#
# 😄 A backend engineer, a mathematician and a GPU add three numbers. The mathematician has one answer. The others want to know who goes first.
# %% [markdown] zh
# ## 求和跟后端有什么关系？
#
# [[backend|后端]]就是替 PyTorch 干活的库，它可能换一种顺序相加：分块不同、线程更多、换一块芯片。这时末几位可能不同，而**两个结果都不是 bug**。第 06 课会问：“可复现”到底能做到什么程度。（带虚线的词，鼠标一指就有解释；用 `what("backend")` 也能查。）
#
# 😄 数学家、后端工程师和 GPU 一起算三个数的和。数学家说答案只有一个，另外两位问：谁先加？
# %% [markdown] en
# 📌 **So far.**
# 1. Another order of adding may change the last digits. No bug, just rounding.
# 2. A control is the same run with one thing changed: it says which cause fits.
# 3. A backend may add in another order, so two machines may differ there.
#
# Below: two cards to keep. Click one to turn it; `keep()` shows those of all lessons you have met.
# %% [markdown] zh
# 📌 **小结。**
# 1. 换个顺序相加，最后几位可能会变。不是 bug，是舍入。
# 2. 对照就是只改一个条件再跑一遍：哪个原因说得通，看它。
# 3. 后端可能换一种顺序相加，所以两台机器的末几位可以不同。
#
# 下面两张卡片请收好：点一下就翻面，用 `keep()` 可以再看学过的各课的卡片。
# %%
keep("number.passport", "float.order")
# %% [markdown] en
# ## Where your answers live
#
# Each answer is one line, added to the file below; nothing is ever overwritten, and nothing is sent anywhere. The variable `COURSE_HOME` chooses another folder. On Colab, mount Google Drive first and the file goes there.
#
# The names do not live there. Your cells run in a **kernel**, a Python beside the page. Restarted, it has forgotten `torch` and `observe`, and a cell ends with a `NameError`. The cure: select that cell, then in the menu **Run** choose **Run All Above Selected Cell** (on Colab: **Runtime**, **Run before**). Your answers are still in the file.
# %% [markdown] zh
# ## 你的回答存在哪里
#
# 每个回答占一行，追加到下面这个文件里，从不改写，也不会发送到任何地方。环境变量 `COURSE_HOME` 可以换一个文件夹。在 Colab 上，先挂载 Google Drive，文件就会存到那里。
#
# 变量名可不在文件里。单元格由**内核**运行，它是页面旁边的一个 Python。内核一重启，`torch`、`observe` 全忘了，再运行就报 `NameError`。解决办法：选中那个单元格，在菜单“运行”（**Run**）里点“运行选中单元格之前的所有单元格”（**Run All Above Selected Cell**；Colab 里是 **Runtime** 菜单的 **Run before**）。你的回答都还在文件里。
# %%
from course.learning.log import default_path

print(default_path())
review("00-log", "00-mib")
# %% [markdown] en
# ## Take it along, and switch the language
#
# Moving to another computer takes one line here and one line there. Importing twice, or back into the same place, does no harm: try it, and look how many lines are new. English and Chinese share one log: an answer given in one counts in the other.
# %% [markdown] zh
# ## 带走进度，切换语言
#
# 换一台电脑，这边一行，那边一行就够了。重复导入、导回原处都没关系：试一下，看看新增了几条。两种语言共用一份记录：用哪种语言作答都算数。
# %%
export_progress("my-progress.jsonl")
# en: this line is for the other computer; here it finds nothing new
# zh: 这一行该在另一台电脑上运行；在这里不会有新增
import_progress("my-progress.jsonl")
# %%
# en: take the # away from the next line, run, look at the card; language("en") goes back
# zh: 去掉下一行开头的 #，运行，看看卡片；language("zh") 换回来
# en: language("zh")
# zh: language("en")
review("00-passport")
# %% [markdown] en
# ## See what is done, and what comes back
#
# `progress()` shows your map at any time, `bets()` every bet with your confidence and what came out. Ideas come back about when you would forget them; you need not keep a list. Later lessons begin with what is due; `review()` alone shows all of it, with a calendar.
# %% [markdown] zh
# ## 看看做完了什么，什么会再回来
#
# `progress()` 随时显示你的学习地图，`bets()` 列出每次下注、你的把握和结果。知识点会在你快要忘记时再次出现，不用自己列清单。后面的课都从到期的卡片开始；单独运行 `review()` 能看到全部，还有一张日历。
# %%
progress()
# %%
bets()
# %% [markdown] en
# ## Close the lesson
#
# `finish()` writes down what you can now claim, from **your** numbers, plans the cards and names the next lesson. Shall we go on? [Lesson 01](01_map.ipynb) opens the box with the switches, and turns the first one off and on.
# %% [markdown] zh
# ## 收尾
#
# `finish()` 会用**你自己的**数据写下现在能下的结论，安排好卡片，并告诉你下一课是什么。接着走？[第 01 课](01_map.ipynb)会打开装满开关的箱子，把第一个关上再打开。
# %%
finish()
