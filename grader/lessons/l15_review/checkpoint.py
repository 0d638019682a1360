# %% [markdown] en
# # 🎯 The final exam: what can you now claim?
#
# {{worth}} About 45 minutes. Everything works without a GPU.
#
# In a class **every student has another paper**: the questions are drawn for you, and most of them have numbers of your own. If the first
# cell asks who you are, answer with the id your class knows you by; your paper is marked as that student's.
#
# Cards say nothing about right or wrong; answer as often as you like, the last answer counts. **Save the notebook** before you hand it in.
# %% [markdown] zh
# # 🎯 期末考试：现在你能说什么？
#
# {{worth}}约 45 分钟。全部内容都不需要 GPU。
#
# 在班级里，**每个人的试卷都不一样**：题目是为你抽的，多数题里的数字也只属于你。第一个单元格如果问你是谁，请填班里登记的学号或用户名；评分时就按这个身份来。
#
# 卡片不显示对错；想改几次都行，以最后一次为准。交卷前请**保存 notebook**。
# %% bootstrap
# %% question 15-c-map
# %% question 15-c-time
# %% question 15-c-work
# %% question 15-c-search
# %% question 15-c-bits
# %% question 15-c-chip
# %% question 15-c-trace
# %% question 15-c-leave
# %% task 15-t-searches
# en: How many searches happen? events, in order: "on", "off" (cudnn.benchmark is set),
# en: "restart" (a new process: nothing is kept, every switch at its default),
# en: or [batch, side]: one convolution runs on that input. It starts in a new process.
# zh: 一共搜索多少次？events 按顺序是："on"、"off"（设置 cudnn.benchmark），
# zh: "restart"（换新进程：什么都不保留，开关回到默认值），
# zh: 或 [batch, side]：同一个卷积在这个形状上跑一次。开头也是一个新进程。
def count_searches(events: list) -> int:
    ### BEGIN SOLUTION
    planned, benchmark, searches = set(), False, 0
    for event in events:
        if event == "restart":
            planned, benchmark = set(), False
        elif event in ("on", "off"):
            benchmark = event == "on"
        elif tuple(event) not in planned:
            planned.add(tuple(event))
            searches += benchmark
    return searches
    ### END SOLUTION
# %% task 15-t-claim
# en: before_ms[k] and after_ms[k] were measured side by side. Take after / before of each
# en: pair, leave out the smallest and the largest ratio. All left below 1: "faster";
# en: all above 1: "slower"; else "undecided". Fewer than nine pairs: "undecided".
# zh: before_ms[k] 和 after_ms[k] 是挨着测的一对。先求每对的 after / before，
# zh: 去掉最小和最大的比值。剩下的全小于 1："faster"；
# zh: 全大于 1："slower"；否则 "undecided"。不足九对也是 "undecided"。
def claim(before_ms: list[float], after_ms: list[float]) -> str:
    ### BEGIN SOLUTION
    ratios = sorted(after / before for before, after in zip(before_ms, after_ms))
    if len(ratios) < 9:
        return "undecided"
    if ratios[-2] < 1:
        return "faster"
    return "slower" if ratios[1] > 1 else "undecided"
    ### END SOLUTION
