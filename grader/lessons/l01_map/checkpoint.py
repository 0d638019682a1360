# %% [markdown] en
# # Checkpoint 01: the map of torch.backends
#
# {{worth}} About 25 minutes. Cards show no right or wrong here. You may run code in extra cells, look things up and change an answer until you hand in. The answer sheet below shows what is stored; **save the notebook** before you hand it in.
# %% [markdown] zh
# # 测验 01：torch.backends 的地图
#
# {{worth}}约 25 分钟。这里的卡片不显示对错。可以另开单元格运行代码、查资料，交卷前随时能改答案。下面的答题卡显示已保存的内容；交卷前请**保存 notebook**。
# %% bootstrap
# %% question 01-c-mps
# %% question 01-c-typo
# %% question 01-c-inherit
# %% question 01-c-leak
# %% question 01-c-workers
# %% question 01-c-frozen
# %% [markdown] en
# ## Predict the state inside `flags(...)`
#
# All three arguments are dicts, switch name → bool: the state `before`, the `defaults` in the call's signature, and what was `asked`. Return the state inside, as a new dict. Every switch of `before` belongs into it, also one that the call does not know. For the example: `before` has `enabled` True and `deterministic` False, both defaults are False, asked is `deterministic` True. Inside: `{"enabled": False, "deterministic": True}`.
# %% [markdown] zh
# ## 推算 `flags(...)` 里面的状态
#
# 三个参数都是字典，开关名 → 布尔值：之前的状态 `before`、签名里的默认值 `defaults`、调用里写出来的 `asked`。返回里面的状态（新字典）。`before` 里的每个开关都要在其中，包括这个调用不认识的。例：`before` 中 `enabled` 为 True、`deterministic` 为 False，两个默认值都是 False，调用里写 `deterministic` 为 True，则里面是 `{"enabled": False, "deterministic": True}`。
# %% task 01-t-inside-flags
def inside_flags(before, defaults, asked):
    ### BEGIN SOLUTION
    return {**before, **defaults, **asked}
    ### END SOLUTION
# %% [markdown] en
# ## Who reads what?
#
# `events` happen in order to **one** switch, default False. At first there is only `"main"`. `["set", who, value]` writes, `["read", who]` reads. `["thread", starter, name]` starts a thread in the starter's process, `["fork", starter, name]` and `["spawn", starter, name]` start a process. Return the list of what the reads see. Example: `[["set", "main", True], ["spawn", "main", "worker"], ["read", "main"], ["read", "worker"]]` gives `[True, False]`.
# %% [markdown] zh
# ## 谁读到什么？
#
# `events` 按顺序作用于**同一个**开关，默认 False。一开始只有 `"main"`。`["set", who, value]` 写入，`["read", who]` 读取。`["thread", starter, name]` 在启动者的进程里开一个线程，`["fork", starter, name]` 和 `["spawn", starter, name]` 启动新进程。返回每次读取看到的值。例：`[["set", "main", True], ["spawn", "main", "worker"], ["read", "main"], ["read", "worker"]]` 得到 `[True, False]`。
# %% task 01-t-replay
def replay(events):
    ### BEGIN SOLUTION
    home, value, seen = {"main": "main"}, {"main": False}, []
    for kind, who, *rest in events:
        if kind == "set":
            value[home[who]] = rest[0]
        elif kind == "thread":
            home[rest[0]] = home[who]
        elif kind in ("fork", "spawn"):
            home[rest[0]] = rest[0]
            value[rest[0]] = value[home[who]] if kind == "fork" else False
        else:
            seen.append(value[home[who]])
    return seen
    ### END SOLUTION
