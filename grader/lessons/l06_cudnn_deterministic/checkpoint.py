# %% [markdown] en
# # Checkpoint 06: would you sign the promise?
#
# {{worth}} About 30 minutes. Cards say nothing about
# right or wrong here; answer as often as you like, the last answer counts. A task says what to hand in; its `check` looks
# at the form only. Everything works without a GPU.
# **Save the notebook** before you hand it in.
# %% [markdown] zh
# # 测验 06：这个保证，你敢签字吗？
#
# {{worth}}约 30 分钟。这里的卡片不显示对错；想改几次都行，以最后一次为准。每个任务写明了要交什么，`check` 只看形式。全部内容都不需要 GPU。交卷前请**保存 notebook**。
# %% bootstrap
# %% question 06-c-both
# %% question 06-c-read
# %% question 06-c-warn
# %% question 06-c-threads
# %% question 06-c-seeds
# %% question 06-c-order
# %% task 06-t-engine
# en: Which engine runs? Give its name, or None if none is left.
# en: engines: [name, deterministic, time_ms], in the order of the
# en: heuristics. limit: how many may be timed; 0 means all.
# zh: 最后运行哪个引擎？返回它的名字；一个都不剩就返回 None。
# zh: engines：[名字, 是否确定性, time_ms]，按启发式的排名。
# zh: limit：最多给几个计时，0 表示不限。
def choose_engine(engines: list[list], benchmark: bool,
                  deterministic: bool, limit: int) -> str | None:
    ### BEGIN SOLUTION
    left = [engine for engine in engines if engine[1] or not deterministic]
    if not left:
        return None
    timed = left[:limit or None] if benchmark else left[:1]
    return min(timed, key=lambda engine: engine[2])[0]
    ### END SOLUTION
# %% task 06-t-obstacles
# en: What stands between two runs and equal bits?
# en: Sorted names, each once:
# en: - seed, device, torch, threads, batch_size where they differ
# en: - seed also where it is None in one run or in both
# en: - benchmark where it is True in one run or in both
# en: - deterministic_algorithms unless it is True in both
# en: Other entries do not matter.
# zh: 两次运行要逐位一致，还有哪些障碍？
# zh: 返回排好序的名字，每个一次：
# zh: - seed、device、torch、threads、batch_size 中两边不同的
# zh: - 任一边的 seed 为 None，也算 seed
# zh: - 任一边的 benchmark 为 True，就算 benchmark
# zh: - 除非两边 deterministic_algorithms 都是 True，否则算上它
# zh: 其他条目无关紧要。
def obstacles(a: dict, b: dict) -> list[str]:
    ### BEGIN SOLUTION
    found = {name for name in ("seed", "device", "torch", "threads", "batch_size") if a[name] != b[name]}
    if a["seed"] is None or b["seed"] is None:
        found.add("seed")
    if a["benchmark"] or b["benchmark"]:
        found.add("benchmark")
    if not (a["deterministic_algorithms"] is True and b["deterministic_algorithms"] is True):
        found.add("deterministic_algorithms")
    return sorted(found)
    ### END SOLUTION
# %% task 06-t-report
# en: Change ONE thing, repeat each side at least five times:
# en: report = {"device": ..., "threads": ...,
# en:           "changed": "what differs between a and b",
# en:           "a": [fingerprints], "b": [fingerprints],
# en:           "claim": "same bits"|"different bits"|"not repeatable"}
# en: "not repeatable": a side disagrees with itself.
# en: Any outcome can earn full points.
# zh: 只改动一样东西，每边至少重复五次：
# zh: report = {"device": ..., "threads": ...,
# zh:           "changed": "a 与 b 之间改了什么",
# zh:           "a": [指纹], "b": [指纹],
# zh:           "claim": "same bits"|"different bits"|"not repeatable"}
# zh: "not repeatable"：某一边自己都不一致。
# zh: 任何结果都可以得满分。
from course.lessons.l06_cudnn_deterministic.training import fingerprint, small_training
### BEGIN SOLUTION
a = [fingerprint(small_training(samples=50_000, threads=1)) for _ in range(5)]
b = [fingerprint(small_training(samples=50_000, threads=2)) for _ in range(5)]
steady = len(set(a)) == len(set(b)) == 1
claim = "not repeatable" if not steady else "same bits" if a == b else "different bits"
report = {"device": "cpu", "threads": "1 and 2", "changed": "number of threads",
          "a": a, "b": b, "claim": claim}
### END SOLUTION
