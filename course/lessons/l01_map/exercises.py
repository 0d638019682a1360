"""Code tasks of lesson 01: find the typo, list what leaked, change only what is named, make it lose.

Their checks stand in ``map_checks``.
"""

from __future__ import annotations

from course.exercise import Exercise
from course.i18n import both
from course.lessons.l01_map import checks

LESSON = "01_map"

FIND_TYPOS = Exercise(
    id="01-find-typos", lesson=LESSON, name="find_typos", minutes=5,
    title=both("Find the names that are no switches", "找出那些不是开关的名字"),
    hints=(
        both("Left of the `=` stands the name. How do you cut a text at a sign?",
             "`=` 左边就是名字。怎样在某个符号处切开字符串？"),
        both("`line.split(\"=\")[0].strip()` is the name; `.removeprefix(\"torch.backends.\")` shortens it.",
             "`line.split(\"=\")[0].strip()` 得到名字；`.removeprefix(\"torch.backends.\")` 去掉前缀。"),
        both("Collect the shortened names in a list, and keep those with `name not in known`.",
             "把去掉前缀的名字收进列表，只保留 `name not in known` 的。"),
    ),
    solution='''def find_typos(lines, known):
    names = [line.split("=")[0].strip().removeprefix("torch.backends.") for line in lines]
    return [name for name in names if name not in known]
''',
    why=both("Python does not check the names, so you do: against a list of the switches that exist.",
             "Python 不检查名字，那就自己查：和真正存在的开关列表对照。"),
    check=checks.check_find_typos,
)

WHAT_LEAKED = Exercise(
    id="01-what-leaked", lesson=LESSON, name="what_leaked", minutes=5,
    title=both("List the switches that somebody left turned", "列出被人拨动后没有恢复的开关"),
    hints=(
        both("Go through the names of `before` and compare two values.",
             "遍历 `before` 里的名字，比较两个值。"),
        both("A dictionary comprehension with an `if` keeps only the differences.",
             "带 `if` 的字典推导式可以只保留有差别的。"),
        both("`{name: (before[name], after[name]) for name in before if ...}`",
             "`{name: (before[name], after[name]) for name in before if ...}`"),
    ),
    solution='''def what_leaked(before, after):
    return {name: (before[name], after[name]) for name in before if before[name] != after[name]}
''',
    why=both("A global switch leaves no trace but its value: two snapshots and a comparison are all there "
             "is.",
             "全局开关除了自己的值，什么痕迹都不留：拍两张快照，再比较，别无他法。"),
    check=checks.check_what_leaked,
)

FILL_THE_BLANKS = Exercise(
    id="01-fill-the-blanks", lesson=LESSON, name="deterministic_block", minutes=4,
    title=both("Fill two blanks, so that only one switch moves", "填两个空，让 `flags` 只拨动一个开关"),
    hints=(
        both("A fixed True is right only while the switch happens to be True.",
             "写死 True，只有开关恰好是 True 时才对。"),
        both("Look at the line for `allow_tf32`: it hands over the present value.",
             "看 `allow_tf32` 那一行：它传的是当前值。"),
        both("`enabled=cudnn.enabled`, and the other one likewise.", "`enabled=cudnn.enabled`，另一个同理。"),
    ),
    solution='''def deterministic_block():
    cudnn = torch.backends.cudnn
    return cudnn.flags(enabled=cudnn.enabled, benchmark=cudnn.benchmark,
                       allow_tf32=cudnn.allow_tf32, deterministic=True)
''',
    why=both("`flags` sets everything it knows, so everything you want to keep must be handed over.",
             "`flags` 会设置它管的所有开关，想保留的都得亲手传进去。"),
    check=checks.check_fill_the_blanks,
)

ONLY = Exercise(
    id="01-only", lesson=LESSON, name="only", minutes=10,
    title=both("A context manager that changes only what is named", "写一个只改动点名开关的上下文管理器"),
    hints=(
        both("Three steps: remember, change, put back. Which of them must happen come what may?",
             "三步：记住、改动、恢复。其中哪一步是无论如何都要做的？"),
        both("`old = {name: getattr(module, name) for name in changes}` remembers, and is loud about a typo. "
             "Then `try:`, `yield`, `finally:`.",
             "`old = {name: getattr(module, name) for name in changes}` 负责记住旧值，拼错了也会报错。接着是 "
             "`try:`、`yield`、`finally:`。"),
        both("In `try`: `setattr(module, name, value)` for each change, then `yield`. In `finally`: "
             "`setattr` with the old values.",
             "在 `try` 里：对每一项执行 `setattr(module, name, value)`，然后 `yield`。在 `finally` 里：用旧"
             "值 `setattr`。"),
    ),
    solution='''@contextmanager
def only(module, **changes):
    old = {name: getattr(module, name) for name in changes}
    try:
        for name, value in changes.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in old.items():
            setattr(module, name, value)
''',
    why=both("Reading before writing does two jobs: it remembers, and it notices a name that does not exist.",
             "先读后写一举两得：既记住了旧值，又能发现不存在的名字。"),
    check=checks.check_only,
)

MAKE_IT_LOSE = Exercise(
    id="01-make-it-lose", lesson=LESSON, name="my_comparison", minutes=8,
    title=both("Make it lose: “asking for deterministic costs nothing on a CPU”",
               "让它输：“在 CPU 上要求 deterministic 没有任何代价”"),
    hints=(
        both("The advice fails where oneDNN does the work: without it, another kernel takes over.",
             "只要计算由 oneDNN 完成，这条建议就会失败：关掉它，就换成另一个 kernel。"),
        both("Two functions: `plain` calls the layer; `asked` calls it inside "
             "`with torch.backends.mkldnn.flags(deterministic=True):`.",
             "写两个函数：`plain` 直接调用这一层；`asked` 在 "
             "`with torch.backends.mkldnn.flags(deterministic=True):` 里调用。"),
        both("`torch.nn.LSTM(64, 128)` on a `(16, 8, 64)` tensor, under `torch.inference_mode()`. If the "
             "interval stays wide, the machine is busy: measure longer.",
             "在 `torch.inference_mode()` 下，用 `torch.nn.LSTM(64, 128)` 处理 `(16, 8, 64)` 的张量。如果区间"
             "一直很宽，说明机器太忙：测久一点。"),
    ),
    solution='''layer, x = torch.nn.LSTM(64, 128), torch.randn(16, 8, 64)

def plain():
    with torch.inference_mode():
        layer(x)

def asked():
    with torch.backends.mkldnn.flags(deterministic=True):
        plain()

my_comparison = compare({"plain": plain, "asked": asked}, max_time=3)
''',
    why=both("`deterministic` has no reader on a CPU, so the time can only differ because something else "
             "moved.",
             "在 CPU 上没人读 `deterministic`，耗时有差别，只可能是别的东西动了。"),
    check=checks.check_make_it_lose,
)

TASK_INSIDE = Exercise(id="01-t-inside-flags", lesson=LESSON, name="inside_flags",
                       check=checks.check_inside_flags,
                       title=both("Predict the state inside `flags(...)`", "推算 `flags(...)` 里面的状态"))
TASK_REPLAY = Exercise(id="01-t-replay", lesson=LESSON, name="replay", check=checks.check_replay,
                       title=both("Who reads what: threads, forks, spawns", "谁读到什么：线程、fork、spawn"))

EXERCISES = [FIND_TYPOS, WHAT_LEAKED, FILL_THE_BLANKS, ONLY, MAKE_IT_LOSE, TASK_INSIDE, TASK_REPLAY]
