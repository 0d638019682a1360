# %% [markdown] en
# # 🎯 Checkpoint 04: who computes when cuDNN is off?
#
# {{worth}} About 25 minutes. Cards say nothing about right or
# wrong here; answer as often as you like, the last answer counts. A task says what to hand in; its `check` looks at the form
# only. Everything works without a GPU.
# **Save the notebook** before you hand it in.
# %% [markdown] zh
# # 🎯 测验 04：关掉 cuDNN，由谁来算？
#
# {{worth}}约 25 分钟。这里的卡片不显示对错；想改几次都行，以最后一次为准。每个任务写明了要交什么，`check` 只看形式。全部内容都不需要 GPU。交卷前请**保存 notebook**。
# %% bootstrap
# %% question 04-c-reads
# %% question 04-c-suspect
# %% question 04-c-judge
# %% question 04-c-share
# %% question 04-c-line
# %% question 04-c-order
# %% task 04-t-moved
# en: before, inside: switch -> value, outside a with-block and inside it.
# en: named: the switches the block was asked to set. Give back, sorted by name,
# en: those that moved without being named. One that only one side has, moved.
# zh: before、inside：开关 -> 值，分别在 with 块外和块内读到。
# zh: named：这个块被要求设置的开关。返回没被要求却动了的开关，按名字排序。
# zh: 只有一边有的开关，也算动了。
def moved_unasked(before: dict, inside: dict, named: list[str]) -> list[str]:
    ### BEGIN SOLUTION
    moved = []
    for name in sorted(set(before) | set(inside)):
        there = (name in before) and (name in inside)
        if name not in named and not (there and before[name] == inside[name]):
            moved.append(name)
    return moved
    ### END SOLUTION
# %% task 04-t-suspect
# en: A layer ran with cuDNN on and off; both errors are against float64.
# en: allowed: what float32 rounding may do; an error equal to it is fine.
# en: None: no number came out (NaN), which is never fine. Give back
# en: "rounding" (both fine), "cudnn" (only on is bad), "plain" (only off),
# en: or "elsewhere" (both bad).
# zh: 某一层开、关 cuDNN 各跑一次，两个误差都是与 float64 相比。
# zh: allowed：float32 舍入允许的误差，恰好相等也算正常。
# zh: None：没有得到数（NaN），一律算不正常。返回
# zh: "rounding"（都正常）、"cudnn"（只有开时不正常）、"plain"（只有关时不正常）
# zh: 或 "elsewhere"（都不正常）。
def suspect(error_on: float | None, error_off: float | None, allowed: float) -> str:
    ### BEGIN SOLUTION
    bad_on = error_on is None or error_on > allowed
    bad_off = error_off is None or error_off > allowed
    if bad_on and bad_off:
        return "elsewhere"
    return "cudnn" if bad_on else "plain" if bad_off else "rounding"
    ### END SOLUTION
