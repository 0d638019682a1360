# %% [markdown] en
# # Where does my own model's time go?
#
# ⏱️ 10 minutes. The tools of the course on a model of yours: how much work it is, where its time goes, which switch and which change help. Nothing of your model is changed.
#
# Put your model and one input into the second cell of code; until then it holds a small model of ours.
# %% [markdown] zh
# # 我自己的模型，时间花在哪里？
#
# ⏱️ 10 分钟。把课程的工具用在你的模型上：工作量有多大，时间花在哪里，哪个开关、哪种改法有用。你的模型不会被改动。
#
# 把模型和一份输入写进第二个代码单元格；在那之前，里面放的是我们的一个小模型。
# %%
import copy

import torch
from torch import nn

from course import try_switches
from course.flops import count
from course.onednn_log import log_of, on_off
from course.roofline import place
from course.timing import compare

# %%
# en: Yours here: any nn.Module, and one input as it is at work (batch included).
# zh: 换成你的：任意 nn.Module，再加一份实际大小的输入（含 batch）。
model = nn.Sequential(
    nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
    nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
    nn.Conv2d(64, 64, 3, padding=1, groups=64), nn.Conv2d(64, 128, 1), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10),
).eval()  # fmt: skip
x = torch.randn(8, 3, 64, 64)


@torch.inference_mode()
def run():
    return model(x)


# %% [markdown] en
# ## So, should I? Which lines make it faster, here
#
# Every setting that the operators of your model read, tried in turns with the model as it is, then the faster ones together; everything is put back. A training step of your own: `try_switches(step)`, a function without arguments. From a shell: `python -m course.try_switches train.py:step`.
# %% [markdown] zh
# ## 到底该不该开？在这台机器上，哪几行能让它变快
#
# 模型的算子会读的每项设置，每一项轮流和现状比，再把更快的几项合起来比；跑完全部恢复原样。想试自己的一步训练：`try_switches(step)`，`step` 是不带参数的函数。在命令行里：`python -m course.try_switches train.py:step`。
# %%
try_switches(model, x, budget=40)
# %% [markdown] en
# ## How much work is it?
#
# Counted, not measured: the same number on every machine. What could not be counted is named.
# %% [markdown] zh
# ## 工作量有多大？
#
# 这是数出来的，不是测出来的：在哪台机器上都一样。数不了的会写明。
# %%
print(count(model, x))
# en: A training step: forward and backward.
# zh: 一步训练：前向加反向。
count(model, x, training=True)
# %% [markdown] en
# ## Where does the time go?
#
# “Try first” above the table names the layer to begin with and what may help it. Below, one row a layer: its share of the time is in the column “of the time”, what limits it under “limited by”. “Compute” is the arithmetic, “memory” moving the data, “overhead” calling the layer at all.
# %% [markdown] zh
# ## 时间花在哪里？
#
# 表格上方的“先试这个”写着从哪一层下手、什么可能有用。表里每层一行：“占耗时”是它占的时间，“受限于”是瓶颈：计算、访存（搬数据），还是调用开销。
# %%
place(model, x)
# %% [markdown] en
# ## Who computed, and does oneDNN help?
#
# On a CPU: oneDNN's own report of one call, then the same call with `torch.backends.mkldnn.enabled` on and off. A ratio below 1: oneDNN helps. “No line”: oneDNN ran nothing of this call.
# %% [markdown] zh
# ## 谁在算？oneDNN 有用吗？
#
# 在 CPU 上：先看 oneDNN 自己对一次调用的报告，再把 `torch.backends.mkldnn.enabled` 打开和关闭各跑一遍来比。比值小于 1，就是有用；报告说“一行也没有”，就是没有一步由 oneDNN 来算。
# %%
print(log_of(run))
on_off(run)
# %% [markdown] en
# ## Does my change help?
#
# Here the memory format; put your own change in its place. The verdict comes with its interval, the range in which the true ratio likely lies. “Undecided” is an answer, too: then measure longer with `max_time=20`.
# %% [markdown] zh
# ## 我的改法有用吗？
#
# 这里改的是内存布局；换成你自己的改法就行。结论带着区间；“无法判定”也是一种答案，这时可以用 `max_time=20` 测久一点。
# %%
changed, y = copy.deepcopy(model), x
if x.dim() == 4:  # images
    changed, y = changed.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)


@torch.inference_mode()
def run_changed():
    return changed(y)


compare({"before": run, "after": run_changed})
# %% [markdown] en
# One process says nothing about the next: where that matters, `compare(..., fresh_process=True)` starts new ones for functions that stand in a file. What each function takes and gives back: `help(compare)`.
# %% [markdown] zh
# 一个进程测的，说明不了下一个进程：在意这一点时，用 `compare(..., fresh_process=True)`，它会为每个函数启动新进程，函数要写在文件里。每个函数的用法：`help(compare)`。
