# %% [markdown] en
# # Checkpoint 08: what you may ask MPS, and what its fallback costs
#
# {{worth}} About 25 minutes. Cards say nothing about right or wrong here; answer as often as you like, the
# last answer counts. Everything works without a Mac. **Save the notebook** before you hand it in.
# %% [markdown] zh
# # 测验 08：向 MPS 问什么，回退要付多少
#
# {{worth}}约 25 分钟。这里的卡片不显示对错；想改几次都行，以最后一次为准。全部内容都不需要 Mac。交卷前请**保存 notebook**。
# %% bootstrap
# %% question 08-c-lines
# %% question 08-c-log
# %% question 08-c-package
# %% question 08-c-exact
# %% question 08-c-server
# %% question 08-c-port
# %% task 08-t-device
# en: built: what this PyTorch was compiled for: "cuda", "mps", "xpu",
# en: or None. usable: how many of them work on this machine, 0 or more.
# en: prefer: what the user asks for (also "cpu"), or None.
# en: Give back the device to use: without a wish the best that works,
# en: a wish where it works, else the text "error".
# zh: built：这个 PyTorch 编译时针对的设备："cuda"、"mps"、"xpu"
# zh: 或 None。usable：这台机器上能用的有几个，0 或更多。
# zh: prefer：用户想要的设备（也可以是 "cpu"），或 None。
# zh: 返回应使用的设备：没有偏好就取能用的里面最好的；
# zh: 偏好能用就用它；否则返回文本 "error"。
def choose_device(built: str | None, usable: int, prefer: str | None) -> str:
    ### BEGIN SOLUTION
    best = built if built and usable else "cpu"
    if prefer is None:
        return best
    return prefer if prefer in ("cpu", best) else "error"
    ### END SOLUTION
# %% task 08-t-step
# en: Milliseconds of one step on a Mac's GPU, or None if it raises.
# en: ops: lists [native, device_ms, cpu_ms, copies_ms].
# en: native: has an MPS kernel. copies_ms: moving its inputs and
# en: results, both ways together, if it falls back.
# en: fallback: PYTORCH_ENABLE_MPS_FALLBACK as it was when torch
# en: was imported: a whole number as text ("0" is off), None: not set.
# zh: Mac 的 GPU 上一步要多少毫秒；会报错就返回 None。
# zh: ops：若干 [native, device_ms, cpu_ms, copies_ms]。
# zh: native：有没有 MPS kernel。copies_ms：回退时搬运
# zh: 输入和结果的总时间（来回合计）。
# zh: fallback：导入 torch 那一刻 PYTORCH_ENABLE_MPS_FALLBACK
# zh: 的值：写成文本的整数（"0" 是关）；None：没有设置。
def step_ms(ops: list[list], fallback: str | None) -> float | None:
    ### BEGIN SOLUTION
    allowed = fallback is not None and int(fallback) != 0
    total = 0.0
    for native, device_ms, cpu_ms, copies_ms in ops:
        if not native and not allowed:
            return None
        total += device_ms if native else cpu_ms + copies_ms
    return total
    ### END SOLUTION
