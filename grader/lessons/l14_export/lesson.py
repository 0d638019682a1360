# %% [markdown] en
# # 🎯 Do these switches survive export?
#
# ⏱️ **35 minutes**; the *deeper, optional* parts take another half hour. Before it: lessons 01 and 02.
#
# You trained a network, and now it has to run where there is no Python: in a phone, a server, a program of somebody else.
# You [[export]] it. Which of your settings go along? “Is that the score you had?”, the people there will ask. At the end you can say so, with
# a comparison you wrote yourself.
#
# Everything runs live on a CPU. The half about ONNX needs three packages; where they are missing, the cells say how to get them.
# %% [markdown] zh
# # 🎯 导出之后，这些开关还在吗？
#
# ⏱️ **35 分钟**；**选读**部分再加半小时。先修：第 01、02 课。
#
# 网络训练好了，现在要拿到没有 Python 的地方去跑：手机上、服务器上、别人的程序里。于是你把它[[export|导出]]。你的哪些设置会跟着走？到了那边，部署组的同事问：“你们本地也是这个分数？”它还是同一个网络吗？学完这一课，你能用自己写的比较程序来回答。
#
# 全部内容在 CPU 上实测。讲 ONNX 的那一半需要三个包；缺了的话，单元格会告诉你怎么装。
# %% bootstrap
# %%
# en: Warm-up: cards from earlier lessons that are due today (none is fine).
# zh: 热身：今天到期的旧卡片（没有也正常）。
review(due=3)
# %% [markdown] en
# ## What is an export for?
#
# Think of your best dish. Friends in another city want to cook it. You send them the **recipe** (the steps, in order) and the
# **ingredients** (the weights). You do not send your kitchen: not your oven, not its temperature knob, not your two helpers.
#
# An exported network is recipe and ingredients. The switches of `torch.backends` belong to the kitchen. Keep this picture in
# mind; the rest of the lesson tests it. First a warm-up.
# %% [markdown] zh
# ## 导出是干什么用的？
#
# 想想你最拿手的一道菜。外地的朋友想照着做，你会寄去**菜谱**（一步一步怎么做）和**食材**（权重）。厨房你不会寄：烤箱不寄，烤箱上的温度旋钮不寄，帮你打下手的两个人更不寄。
#
# 导出的网络，就是菜谱加食材；`torch.backends` 的开关，属于厨房。记住这个画面，后面咱们来检验它。先热个身！
# %%
from course.lessons.l14_export.kitchens import kitchens

display(kitchens())
explain("14-what-for")
# %% [markdown] en
# ## See it: a network as a recipe
#
# `small_net()` is a small trained network of this lesson: two convolutions, batch norm, dropout, a linear layer. `torch.export`
# runs it once on the example and writes down every step. The result is a [[graph]]. Run the cell and read the recipe.
# %% [markdown] zh
# ## 看一看：网络写成菜谱
#
# `small_net()` 是本课的一个训练好的小网络：两个卷积、BatchNorm、dropout、一个线性层。`torch.export` 拿示例跑一遍，把每一步都写下来，得到一张[[graph|计算图]]。运行下面这格，读读这份菜谱。
# %%
import torch
from course.lessons.l14_export.ways_out import images, small_net

model, x = small_net(), images(4)
program = torch.export.export(model, (x,))
for node in program.graph.nodes:
    if node.op == "call_function":
        print(node.name, "=", node.target)

run = program.module()
print("same bits as the model:", torch.equal(run(x), model(x)))
# %% [markdown] en
# ## 💡 The recipe says what, not who
#
# There is a `conv2d` in it, and no word about cuDNN or oneDNN. Who computes the step is decided at each call, by the process
# that runs it (lesson 01 called it [[backend-selection|backend selection]]). Run on this machine, it gives the same bits, because
# it is the same kitchen.
#
# So far a guess. Now seven settings are changed around the network, one at a time, and each time the steps are compared, letter
# by letter. [[autocast]] is a block in which PyTorch computes some operations in 16 bits.
# %% [markdown] zh
# ## 💡 菜谱只写做什么，不写谁来做
#
# 里面有 `conv2d`，但一个字也没提 cuDNN 或 oneDNN。这一步由谁来算，每次调用时才定，由运行它的那个进程决定（第 01 课叫它[[backend-selection|后端选择]]）。在这台机器上跑，结果逐位一致，因为厨房还是同一个。
#
# 到这里还只是猜想。接下来把网络周围的七项设置一项一项地改，每次都把步骤逐字比一遍。（[[autocast]] 块：在里面，PyTorch 会用 16 位来算一部分算子。）
# %%
predict("14-bet-switches")
# %%
observe("14-what-it-keeps")
explain("14-why-no-switch")
# %% [markdown] en
# 📌 **So far.** “A map is not the territory it represents” (Alfred Korzybski, *Science and Sanity*, 1933). And a recipe is not the kitchen.
#
# 1. The file holds steps, weights, types, shapes, and the mode the network was in.
# 2. Switches, threads and hooks that only look stay at home. Over there the switches of *that* process count.
# 3. 🕳️ One exception: `torch.onnx.export` **inside** an `autocast` block writes the 16 bits into the file. Export outside of it.
# %% [markdown] zh
# 📌 **小结。** “橘生淮南则为橘，生于淮北则为枳”（《晏子春秋》）：同一棵苗，换了水土，味道就变。
#
# 1. 文件里有步骤、权重、类型、形状，还有网络当时的模式。
# 2. 开关、线程数、只看不动的 hook 都留在家里。到了那边，算数的是*那个*进程的开关。
# 3. 🕳️ 有一个例外：在 `autocast` 块**里面**调 `torch.onnx.export`，16 位会被写进文件。请在块外导出。
# %%
keep("export.keeps")
explain("14-keeps")
# %% [markdown] en
# ## 🕳️ eval() has to come first
#
# In training, dropout removes values at random, and batch norm uses the statistics of the batch. For predictions there is
# `model.eval()`, the [[eval-mode|eval mode]]. What if you forget it before the export? Run the cell: the same image, asked twice;
# and then the attempt to repair it afterwards. (`torch.onnx.export` at least warns you; `torch.export` says nothing.)
# %% [markdown] zh
# ## 🕳️ eval() 必须先调
#
# 训练时，dropout 会随机丢掉一些值，BatchNorm 用的是这一批的统计量。推理时要先 `model.eval()`，进入 [[eval-mode|eval 模式]]。导出前忘了会怎样？运行下面这格：同样的图问两遍；再试试事后补救。（`torch.onnx.export` 至少会警告一声，`torch.export` 什么也不说。）
# %%
from course.lessons.l14_export.ways_out import quiet

with quiet():
    forgotten = torch.export.export(small_net().train(), (x,)).module()
print("first time: ", forgotten(x)[0].detach())
print("second time:", forgotten(x)[0].detach())
try:
    forgotten.eval()
except NotImplementedError as error:
    print("afterwards: ", error)
explain("14-eval-first")
# %% [markdown] en
# ## 🕳️ The shape of the example is fixed, too
#
# The program was made with four images. To free the batch, say so while exporting: that is a [[dynamic-shape|dynamic shape]].
# (The example needs two images or more: with a single one, export takes the 1 for a fixed number and says so.) What do seven
# images do with a program that was not freed? The card asks you first.
# %% [markdown] zh
# ## 🕳️ 示例的形状也定死了
#
# 程序是用四张图做出来的。想让 batch 可变，导出时就得说明：这叫[[dynamic-shape|动态形状]]。（示例至少要两张图：只有一张时，导出会把 1 当成固定值，并且报出来。）batch 没有放开的程序，给它七张图会怎样？先猜，卡片会问你。
# %%
explain("14-static-shape")
# %%
batch = torch.export.Dim("batch")
free = torch.export.export(model, (x,), dynamic_shapes=({0: batch},)).module()
for name, program_of in (("fixed", run), ("free", free)):
    try:
        print(name, tuple(program_of(images(7)).shape))
    except Exception as error:
        print(name, type(error).__name__, str(error).split("\n")[0])
# %% [markdown] en
# ## 🛠️ Your turn: a program for inference (6 minutes, about 4 lines)
#
# `ready(model, x)` gives back an exported program (what `torch.export.export` returns) in eval mode, for **any batch size**.
# `model` is in the middle of its training, and one of its layers is frozen in eval mode: afterwards everything in it has to be
# as before. Stuck? `hint("14-ready")`.
# %% [markdown] zh
# ## 🛠️ 轮到你：导出一个推理用的程序（6 分钟，约 4 行）
#
# `ready(model, x)` 返回一个导出的程序（即 `torch.export.export` 的返回值）：eval 模式，**批大小随意**。`model` 正训练到一半，其中有一层被冻结在 eval 模式：完事之后，它里面的一切都要和原来一样。卡住了就运行 `hint("14-ready")`。
# %%
def ready(model: torch.nn.Module, x: torch.Tensor) -> torch.export.ExportedProgram:
    raise NotImplementedError


check("14-ready")
# %% [markdown] en
# ## 🎲 And a branch?
#
# ```text
# def gate(x):
#     if x.sum() > 0:
#         return x * 2
#     return x - 1
# ```
# Which way it goes depends on the numbers. The old way out, `torch.jit.trace`, runs the function once and writes down what it
# sees ([[tracing]]). It is deprecated, but many files made by it are still around. The example is positive; then comes a
# negative number.
# %% [markdown] zh
# ## 🎲 那分支呢？
#
# ```text
# def gate(x):
#     if x.sum() > 0:
#         return x * 2
#     return x - 1
# ```
# 走哪边，要看数据。旧的办法 `torch.jit.trace` 把函数跑一遍，看到什么就记什么（[[tracing|trace]]）。它已被弃用，可用它做的文件还有很多。示例是正数；然后来一个负数。
# %%
predict("14-bet-branch")
# %%
observe("14-branch")
explain("14-branch-why")
# %% [markdown] en
# 📌 **So far.** The three things that are fixed in the moment of the export:
#
# 1. **The mode**: `eval()` first, on a copy.
# 2. **The shapes**: free the dimensions that change.
# 3. **The branches**: the numbers cannot choose through a Python `if`. `torch.export` refuses; a trace keeps quiet.
#
# (A trace goes to the market once, on a sunny day, and writes into the recipe: “Umbrella: not needed.”)
# %% [markdown] zh
# 📌 **小结。** 导出那一刻就定死的三样东西：
#
# 1. **模式**：先 `eval()`，用副本。
# 2. **形状**：会变的维度要放开。
# 3. **分支**：数据没法通过 Python 的 `if` 来选路。`torch.export` 会拒绝，trace 则一声不吭。
#
# （trace 赶过一次集，那天大晴天，于是它在攻略里写道：“雨伞：不需要。”）
# %%
keep("recipe.export")
# %% [markdown] en
# ## To another kitchen: ONNX
#
# `torch.export` stays in PyTorch's world. [[onnx]] is a file format that many programs read. [[onnxruntime]] is one of them: it
# computes each layer with code of its own, and needs no torch. `dynamo=True` (the default since torch 2.9) builds on `torch.export`.
# The file is not a copy word for word: batch norm has been folded into the convolution before it, which computes the same.
#
# The cell sends our network there and brings the scores back. How far apart are they?
# %% [markdown] zh
# ## 去别人的厨房：ONNX
#
# `torch.export` 还在 PyTorch 的世界里。[[onnx]] 则是许多程序都能读的文件格式。[[onnxruntime]] 就是其中之一：每一层都用它自己的代码算，不需要 torch。`dynamo=True`（torch 2.9 起的默认值）以 `torch.export` 为基础。文件并不是逐字照抄：BatchNorm 被并进了前面的卷积，算出来是一回事。
#
# 下面这格把咱们的网络送过去，再把分数带回来。差多少呢？
# %%
from course.i18n import pick
from course.machine import can, next_step

if can("onnx"):
    import onnxruntime

    with quiet():
        sent = torch.onnx.export(model, (x,), dynamo=True, verbose=False)
    session = onnxruntime.InferenceSession(sent.model_proto.SerializeToString())
    (scores,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    theirs, ours = torch.from_numpy(scores), model(x).detach()
    print(f"largest score: {ours.abs().max():.2g}")
    print(f"largest difference: {(theirs - ours).abs().max():.1e}")
else:
    print(pick(next_step("onnx")))
# %% [markdown] en
# ## 🎲 Where are the bits equal, where not?
#
# The scores are nearly the same. Is the small rest a fault? Let us look at single layers. One hint: this `Linear` layer adds up
# 4096 products, and in [[float32]] each addition is rounded. Whole numbers, if small, need no rounding.
# %% [markdown] zh
# ## 🎲 哪里逐位一致，哪里不一致？
#
# 分数几乎一样。剩下的那一点点差，是出错了吗？咱们一层一层来看。提示一句：这个 `Linear` 层要把 4096 个乘积加起来，而 [[float32]] 里每加一次都要舍入。小整数则不用舍入。
# %%
predict("14-bet-bits")
# %%
observe("14-same-bits")
explain("14-why-bits")
# %% [markdown] en
# ## 💡 Why the last digits differ: two cooks, one recipe
#
# “Add the 4096 products” says the recipe. It does not say in which order. Each library adds in the order that suits its code, and
# the last digits differ, on both sides, from the exact result. Functions such as the sigmoid are approximated, by each library in
# its own way. Neither is wrong.
#
# So do not ask for equal bits. Ask for a [[tolerance]]: small enough to catch a real fault, large enough for two orders of adding.
# Where is the place between? The picture below shows the two orders; then place a bet on four real faults.
# %% [markdown] zh
# ## 💡 末位为什么不同：两位厨师，一份菜谱
#
# 菜谱上写着“把 4096 个乘积加起来”，没写先加哪个。每个库都按顺手的顺序加，末位自然不同；sigmoid 这类函数是近似算的，每个库各有一套。两边和精确结果都有一点差，谁也没错。
#
# 所以别要求逐位一致，要定一个[[tolerance|容差]]：小到能抓住真正的错误，大到容得下两种相加顺序。这个位置在哪里？先看下面两种顺序的图，再拿四个真实的错误来下注。
# %%
from course.lessons.l14_export.two_orders import TwoOrders

display(TwoOrders(terms=256))
predict("14-bet-faults")
# %%
observe("14-tolerance")
explain("14-which-tolerance")
# %%
# en: Your own noise: float32 beside float64, in PyTorch alone.
# en: Ten times this is a good tolerance to start with.
# zh: 量一量你自己的噪声：只用 PyTorch，float32 和 float64 比。它的十倍，就是不错的起点。
import copy

exact = copy.deepcopy(model).double()(x.double())
noise = ((model(x) - exact).abs().max() / exact.abs().max()).item()
print(f"noise: {noise:.1e} of the largest score; ten times: {10 * noise:.1e}")
# %% [markdown] en
# ## 🛠️ Your turn: do they agree? (5 minutes, about 3 lines)
#
# `agrees(ours, theirs, rtol, atol)` is True where **every** value of `theirs` is at most `atol + rtol * |ours|` away from `ours`.
# A NaN agrees with nothing, and tensors of different shapes do not agree. Write it yourself, without `allclose`: it has a trap
# that you will meet.
# %% [markdown] zh
# ## 🛠️ 轮到你：一致吗？（5 分钟，约 3 行）
#
# `agrees(ours, theirs, rtol, atol)`：当 `theirs` 的**每个**数离 `ours` 都不超过 `atol + rtol * |ours|` 时返回 True。NaN 和什么都不一致；形状不同也算不一致。请自己写，别用 `allclose`：它有个坑，你马上会碰到。
# %%
def agrees(ours: torch.Tensor, theirs: torch.Tensor, rtol: float, atol: float) -> bool:
    raise NotImplementedError


check("14-agrees")
explain("14-near-zero")
# %% [markdown] en
# 📌 **So far.** Another library, other last digits: compare with a tolerance.
#
# 1. Layers that only choose (ReLU, max pooling) come back with the same bits. Long sums and approximated functions do not.
# 2. Measure your rounding against float64, and allow about ten times that.
# 3. Then plant a fault and see the test fail. A smoke alarm that has never beeped may have no battery.
# %% [markdown] zh
# 📌 **小结。** 换个库，末几位就变：要用容差来比。
#
# 1. 只做选择的层（ReLU、最大池化）逐位一致；很长的求和、近似计算的函数就不一致。
# 2. 拿 float64 量出自己的舍入误差，放宽到大约十倍。
# 3. 然后故意埋个错，看测试会不会失败。从来没响过的烟雾报警器，没准是没装电池。
# %%
keep("recipe.tolerance")
# %% [markdown] en
# ☕ That was the main thing; a good place to stop. Four short *deeper, optional* parts follow; otherwise go on at
# [[#🎴 Exit check: five cards]].
#
# ### Deeper, optional: 🛠️ a branch that can leave (4 minutes, 1 line)
#
# Rewrite `gate` so that `torch.export` takes it, and both sides are right afterwards. `check` exports it with a positive example
# and asks on both sides.
# %% [markdown] zh
# ☕ 主线到这儿就讲完了，今天歇在这里也很好。后面还有四小段**选读**；不看的话，直接跳到[[#🎴 下课小测：五张卡片]]。
#
# ### 选读：🛠️ 能带走的分支（4 分钟，1 行）
#
# 改写 `gate`，让 `torch.export` 肯收，而且导出后两边都对。`check` 会用正数的示例导出它，再从两边提问。
# %%
def gate(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x * 2
    return x - 1


check("14-gate")
# %% [markdown] en
# ### Deeper, optional: the old trace writes the switches down
#
# In the first table one column was different: `jit.trace` had noticed the switches of cuDNN. Here is where: behind each convolution
# stand four values, `benchmark`, `deterministic`, `enabled`, `allow_tf32`. Whoever loads such a file later cannot change them with
# the switches. One more reason to export anew.
# %% [markdown] zh
# ### 选读：旧的 trace 会把开关写下来
#
# 第一张表里有一列与众不同：`jit.trace` 看得出 cuDNN 的开关。就在这里：每个卷积后面跟着四个值，依次是 `benchmark`、`deterministic`、`enabled`、`allow_tf32`。以后谁加载这样的文件，再拨开关也改不了它们。又多了一个重新导出的理由。
# %%
from course import flags
from course.lessons.l14_export.ways_out import flags_in_trace

for benchmark in (False, True):
    with flags.using({"cudnn.benchmark": benchmark}):
        print(benchmark, flags_in_trace(model, x))
explain("14-trace-flags")
# %% [markdown] en
# ### Deeper, optional: to_mkldnn cannot leave
#
# `torch.utils.mkldnn.to_mkldnn` stores the weights in oneDNN's own blocks: quick on this CPU, and readable by nobody else. Four
# ways out, before and after.
# %% [markdown] zh
# ### 选读：to_mkldnn 出不了门
#
# `torch.utils.mkldnn.to_mkldnn` 把权重存成 oneDNN 自己的分块布局：在这颗 CPU 上快，可别人谁也读不懂。四个出口，转换之前和之后各试一遍。
# %%
observe("14-mkldnn-leaves")
explain("14-mkldnn-out")
# %% [markdown] en
# ### Deeper, optional: export twice, compare the bytes
#
# Is an ONNX file the same each time? Many build systems compare checksums and call every difference a new model. The same script
# runs once more at once, and then from another folder.
# %% [markdown] zh
# ### 选读：导出两次，比一比字节
#
# 每次导出的 ONNX 文件都一样吗？不少构建系统只比校验和，一有不同就当成新模型。让同一个脚本马上再跑一遍，再换个文件夹跑一遍。
# %%
predict("14-bet-twice")
# %%
observe("14-twice")
explain("14-hash")
# %% [markdown] en
# ## 🎴 Exit check: five cards
#
# A network arrives at the border. “Anything to declare?” — “Two convolutions, a batch norm, my weights.” —
# “Switches?” — “At home.” — “Threads?” — “At home.” — “Do you at least know whether you are training?” — “I was asked once, in
# March. I have not changed my mind since.”
# %% [markdown] zh
# ## 🎴 下课小测：五张卡片
#
# 网络过海关。“带了什么？”“两个卷积，一个 BatchNorm，还有权重。”“开关呢？”“在家。”“线程呢？”“也在家。”“那你总该知道自己是在训练还是推理吧？”“三月份问过我一次，从那以后就没改过。”
# %%
review("14-order", "13-flip-flop", "09-bits-why",
       "07-leaf-wins", "01-flags-inside")
# %% [markdown] en
# ## 📌 Claims you can now make
#
# - An exported file holds the steps and the weights; the switches are read where it runs.
# - Mode, shapes and branches are fixed in the moment of the export: `eval()` on a copy, free dimensions, no `if` on numbers.
# - Two libraries give the same result within a tolerance, not the same bits; I measured mine.
# - A checksum says whether two files are equal, not whether two networks are.
#
# `finish()` adds what was measured here.
# %% [markdown] zh
# ## 📌 这节课学到了什么
#
# - 导出的文件里有步骤和权重；开关要到运行的地方才读。
# - 模式、形状、分支在导出那一刻定死：用副本 `eval()`，放开维度，别用 `if` 看数据。
# - 两个库的结果在容差内一致，而不是逐位一致；容差我是量出来的。
# - 校验和说明两个文件是否相同，说明不了两个网络是否相同。
#
# `finish()` 会补上在这里测到的结果。
# %%
finish()
