# %% [markdown] en
# # Which line hurts, why, and what instead?
#
# ⏱️ 40 minutes with four cases; the other sixteen are *deeper, optional*: one an evening, if you like. Before it: lessons 01, 02 and 05; 06 to 09 help. **No GPU needed**: what is measured is measured here, and the cases about a GPU are decided by rules with a source and say so.
#
# 🎯 Afterwards you can
# - turn a complaint into a symptom that can be measured;
# - find the line with one test instead of ten changes;
# - say when a repair is one, and when nothing was wrong.
# %% [markdown] zh
# # 哪一行有毛病，为什么，怎么改？
#
# ⏱️ 40 分钟，做四个案子；另外十六个是**选读**，愿意的话每晚破一个。先修：第 01、02、05 课；学过 06 到 09 更好。**不需要 GPU**：能测的都在这台机器上现测；跟 GPU 有关的案子按有出处的规则判定，会注明。
#
# 🎯 学完之后，你能：
# - 把一句抱怨变成能测的症状；
# - 用一个测试找到那一行，而不是乱改十处；
# - 说清楚怎样才算修好，什么时候其实没毛病。
# %% bootstrap
# %% [markdown] en
# ## 🎯 What is a bug hunt for?
#
# Switches are quiet. A mistyped one raises nothing, a forgotten one slows down a whole program, and the line that hurts is seldom the line that complains. “Fine yesterday, nobody changed anything”, says the chat. So people change this and that until it looks better.
#
# A hunt does it the other way round: first the [[symptom]], then one **guess**, then one **test**. You know most of these bugs from earlier lessons. Here they come without a label.
#
# A warm-up: what do you do first?
# %% [markdown] zh
# ## 🎯 为什么要学追查毛病？
#
# 开关很安静。写错名字不报错，忘了复原能拖慢整个程序；喊疼的那一行，往往不是闯祸的那一行。群里都说“昨天还好好的，谁也没改”，于是东改改西改改，看着好点了就算完。
#
# 追查正好反过来：先看[[symptom]]，再提一个**猜测**，然后做一个**测试**。这些毛病前面几课大多见过，只是这次没贴标签。
#
# 先热个身：第一步做什么？
# %%
# en: The picture, the cards that are due today (if any), today's warm-up.
# zh: 先看图，再是今天到期的旧卡片和今天的热身题。
from course.lessons.l11_bug_hunt.three_steps import three_steps

display(three_steps())
review(due=3)
explain("11-first-move")
# %% [markdown] en
# ## 🔎 The first case, together
#
# The card below is a case: a complaint, what was seen, the script. We do this one together.
#
# 1. **Symptom.** Two results agree to the last bit, although they were to be computed in two ways. Press *Measure the symptom*.
# 2. **Guess.** “Both runs used oneDNN.” It could be false: that is what makes it a good guess.
# 3. **One test.** Print the switch while the second run computes. The measurement has just done that: True, True.
#
# So look for the line that should have made it False. Click it (or type its number), then *It is this line*.
# %% [markdown] zh
# ## 🔎 第一案，咱们一起办
#
# 下面的卡片就是一个案子：一句抱怨、看到的现象、脚本本身。这一案咱们一起办。
#
# 1. **症状。** 本该用两种算法算的结果，连最后一位都一样。按一下“测一测症状”。
# 2. **猜测。** “两次都用了 oneDNN。”它有可能是错的：好猜测就该这样。
# 3. **一个测试。** 第二次计算时把开关打印出来。刚才的测量已经做了：True、True。
#
# 那就去找本该把它变成 False 的那一行。点它（或输入行号），再按“就是这一行”。
# %%
case("typo")
# %% [markdown] en
# 🛠️ Everything on a card can be typed as well, for example in a cell of your own:
#
# ```python
# case("typo").line(10)
# case("typo").repair({10: "    torch.backends.mkldnn.enabled = False"})
# ```
#
# Try that repair alone. It makes the symptom go away, and it is still refused: read why. Your script runs in a process of its own, at most a minute; nothing of this notebook changes. Hints cost nothing and are counted.
# %% [markdown] zh
# 🛠️ 卡片上的每一步都可以打字，比如在自己的单元格里：
#
# ```python
# case("typo").line(10)
# case("typo").repair({10: "    torch.backends.mkldnn.enabled = False"})
# ```
#
# 只改这一行试试：症状没了，却还是通不过，看看为什么。脚本在单独的进程里跑，最多一分钟，不会动到这个 notebook。提示不扣分，但会记数。
# %%
explain("11-guess")
explain("11-last-bit")
# %% [markdown] en
# 📌 **So far.**
# 1. Measure the symptom first, and measure it again in the same way at the end.
# 2. A good guess can be proved false by one print.
# 3. Repaired means: symptom gone, output as wanted, no switch left over.
# %% [markdown] zh
# 📌 **小结。**
# 1. 先测症状；最后用同样的办法再测一次。
# 2. 好的猜测，打印一次就可能推翻。
# 3. 修好的意思是：症状没了，输出没变，没有留下改过的开关。
# %%
keep("hunt.repair")
explain("11-swallow")
# %% [markdown] en
# ## 🎲 Which witness never changes its mind?
#
# A time is a nervous witness: it also tells what else the machine did meanwhile. A value that is read, a name, a number of calls says the same each time. We ask both witnesses the same question, twenty-four times.
# %% [markdown] zh
# ## 🎲 哪个证人从不改口？
#
# 时间是个紧张的证人：机器同时干的别的活儿，它也一起说进来。读出来的值、一个名字、调用的次数，每次说的都一样。同一个问题，咱们把两个证人各问二十四遍。
# %%
predict("11-bet-witness")
# %%
observe("11-witness")
explain("11-now-and-then")
# %% [markdown] en
# ## 🔎 Two cases about time
#
# One of these clocks lies, and one tells the truth. Neither waits with `synchronize()` (the fence of lesson 02). (The first runs on a pretended GPU that follows two written rules; the second on your own CPU.) “Nothing is wrong” is an answer, too: type 0.
# %% [markdown] zh
# ## 🔎 两个跟时间有关的案子
#
# 这两只表，一只在说谎，一只说的是真话，而且都没有同步（`synchronize()`，第 02 课的栅栏）。第一个案子跑在假想的 GPU 上，它只遵守两条写明的规则；第二个就跑在你自己的 CPU 上。“没有毛病”也是一种答案：输入 0。
# %%
case("timer")
# %%
case("cpu-timer")
# %%
explain("11-acquit")
# %% [markdown] en
# 📌 **So far.**
# 1. Take an exact witness where there is one, and a time only with many calls.
# 2. A rule holds only where it belongs: the fence on a GPU, the search with cuDNN.
# 3. To show that a script is innocent, run it both ways: nothing changes.
# %% [markdown] zh
# 📌 **小结。**
# 1. 有精确的证人就用它；非用时间不可，就多测几次。
# 2. 规则有适用范围：栅栏管 GPU，搜索管 cuDNN。
# 3. 要还脚本清白，就把两种写法都跑一遍：什么也没变。
# %% [markdown] en
# ## 🎲 Two faults in one script
#
# The data are float64, and oneDNN is off. Both are faults. You repair one of them. What do you expect?
# %% [markdown] zh
# ## 🎲 一个脚本，两处毛病
#
# 数据是 float64，oneDNN 又关着，两处都是毛病。你修好其中一处，会怎样？
# %%
predict("11-bet-hidden")
# %%
observe("11-hidden")
explain("11-not-guilty")
# %%
keep("hunt.method")
explain("11-steps")
# %% [markdown] en
# ## 🛠️ Halve the suspects (6 minutes)
#
# A script has `lines` lines of settings. `symptom(k)` runs it with the first k lines only and says whether the symptom shows. Give back the number of the first line with which it does. Each run takes minutes, so ask seldom: for 64 lines, eight times at most. (The word for it is [[bisection]].)
# %% [markdown] zh
# ## 🛠️ 把嫌疑对半分（6 分钟）
#
# 脚本里有 `lines` 行设置。`symptom(k)` 只带前 k 行跑一次，告诉你症状有没有出现。返回症状第一次出现时，已经加到了第几行。每跑一次要好几分钟，所以少问：64 行，最多问八次。（这叫[[bisection]]。）
# %%
def first_bad(lines: int, symptom) -> int:
    raise NotImplementedError


check("11-first-bad")
# %%
observe("11-bisect")
explain("11-halving")
explain("11-error-line")
# %% [markdown] en
# ## 🔎 A case for the finish
#
# A switch seems to cost time; look for what really does. “There is nothing more deceptive than an obvious fact,” says Sherlock Holmes (*The Boscombe Valley Mystery*, A. Conan Doyle, 1891). He had no `print`, poor man.
# %% [markdown] zh
# ## 🔎 收尾的案子
#
# 看着是开关拖慢了速度；真正花时间的是什么？“没有什么比明摆着的事实更骗人。”福尔摩斯如是说（柯南·道尔《博斯科姆比溪谷秘案》，1891 年）。可怜他那会儿还没有 `print`。
# %%
case("flags-trap")
# %%
board()
# %% [markdown] en
# ### Deeper, optional: one more, decided by a rule
#
# Nothing is measured in this one: the rules stand on the card.
# %% [markdown] zh
# ### 选读：再来一个，按规则判定
#
# 这个案子不用测，规则就写在卡片上。
# %%
case("flipped")
# %% [markdown] en
# ☕ That was the main line; a good place to stop for today. The other cases wait: the board knows which. The cells below open ten of them, *deeper, optional*. Otherwise go on at [[#🎯 Exit check]].
#
# ### Deeper, optional: the easy ones
#
# Four cases in which one look at the right value is enough.
# %% [markdown] zh
# ☕ 主线到这儿就讲完了，今天歇在这里也很好。剩下的案子不会跑，面板上都记着。下面几格打开其中十个，是**选读**；不看就直接跳到 [[#🎯 下课小测]]。
#
# ### 选读：容易的几个案子
#
# 这四个案子，看一眼对的那个值就够了。
# %%
for name in ("query", "too-late", "macs", "export"):
    case(name).show()
# %% [markdown] en
# ### Deeper, optional: which test first? (5 minutes)
#
# `suspects` holds `[name, chance, minutes]`: how likely it is the culprit (they sum to 1) and how long its test takes. Give back the names in the order that finds the culprit soonest, on average.
# %% [markdown] zh
# ### 选读：先做哪个测试？（5 分钟）
#
# `suspects` 里是 `[名字, 可能性, 分钟]`：它是元凶的可能性（加起来是 1），以及测它要多久。按平均最快找到元凶的顺序，返回名字列表。
# %%
def test_order(suspects: list[list]) -> list[str]:
    raise NotImplementedError


check("11-next-test")
# %% [markdown] en
# ### Deeper, optional: those that need a second look, and the hard ones
#
# Among these six are two in which nothing is wrong.
# %% [markdown] zh
# ### 选读：要多看一眼的案子，和难案子
#
# 这六个里面，有两个其实没毛病。
# %%
for name in ("sizes", "fallback", "spawn", "cpu-benchmark"):
    case(name).show()
# %%
for name in ("two-apis", "no-grad"):
    case(name).show()
# %% [markdown] en
# ## 🎯 Exit check
#
# 📌 Two faults can hide each other; halving finds the line without guessing.
#
# Five questions, three of them from earlier lessons. The last five cases are for later days: `case("leak")`, `case("seed")`, `case("graph")`, `case("empty")`, `case("bool-false")`.
# %% [markdown] zh
# ## 🎯 下课小测
#
# 📌 两处毛病会互相遮掩；对半分，不用猜也能找到那一行。
#
# 五道题，其中三道来自前面的课。最后五个案子留给以后：`case("leak")`、`case("seed")`、`case("graph")`、`case("empty")`、`case("bool-false")`。
# %%
review("11-one-change", "11-left-over", "09-bits-why",
       "02-why-median", "01-typo-trace")
# %% [markdown] en
# ## Claims you can now make
#
# - I can say what the symptom is, with a number or an exact value, before I change a line.
# - One change, one measurement, in the same way. A fault may hide another.
# - “Repaired” means three things seen; “nothing was wrong” is a result.
#
# `finish()` adds what was measured here.
# %% [markdown] zh
# ## 这节课学到了什么
#
# - 动手之前，我能说出症状是什么：一个数，或者一个精确的值。
# - 一次只改一处，用同样的办法测。一个毛病可能遮住另一个。
# - “修好了”要亲眼看到三样；“本来就没毛病”也是结论。
#
# `finish()` 会补上在这里测到的结果。
# %%
finish()
