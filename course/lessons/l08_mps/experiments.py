"""Experiments of lesson 08: what torch.backends.mps answers, what it cannot switch, and the price of moving.

The CPU ones are complete without a Mac: exact errors are data, and what is simulated says so in its title.
The MPS ones run on an Apple GPU only.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.words import NOTHING, TOO_NOISY, with_interval, word
from course.figures.kinds import Bet, Ratio, ratio_rows
from course.figures.sheet import Sheet
from course.i18n import Text, both, t
from course.lessons.l08_mps import probes
from course.lessons.l08_mps.cases import CASES
from course.lessons.l08_mps.machines import MACHINES, pretend
from course.records import Record
from course.tables import Table, clip

LESSON = "08_mps"
MOMENTS = {
    "before import": both("before import", "导入前"),
    "after import": both("after import", "导入后"),
    "after first use": both("after first use", "首次使用后"),
    "any": both("whenever", "任何时候"),
}
PROBES = "course.lessons.l08_mps.probes"


def with_bet(lines: list[list[str]], marks: dict, mine: str, asked: Callable[[str], bool]) -> Table:
    """The table; where something was bet (``mine`` is not empty) with a last column that says it in the lines ``asked``."""
    if not mine:
        return Table(lines, marks)
    head, *rest = lines
    last = [mine if asked(line[0]) else "" for line in rest]
    with_column = [
        [*head, t("as you bet", "按你押的")],
        *([*line, cell] for line, cell in zip(rest, last, strict=True)),
    ]
    return Table(with_column, marks, [(at, len(head)) for at, cell in enumerate(last) if cell])


# --- 08-who-answers -----------------------------------------------------------------------------------------


ASKED = "backends.mps.is_macos_or_newer(14, 0)"
"""The call the bet is about."""


def _by_code(record: Record) -> dict[str, dict]:
    return {row["code"]: row for row in record.rows}


def headline_who_answers(record: Record) -> Text:
    raised = [row["group"] for row in record.rows if row["kind"] != "value"]
    if "query" in raised:
        return both("Here, even a question about MPS can raise an error.", "在这里，连问一句 MPS 都可能报错。")
    if raised:
        return both("MPS answers every question here; using it raises an error.", "关于 MPS 都问得到，真用起来就报错。")
    return both("Here, every question about MPS gets an answer.", "在这里，关于 MPS 的提问都有回答。")


def say_who_answers(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    raised = [row for row in record.rows if row["kind"] != "value"]
    answered = len(record.rows) - len(raised)
    if not raised:
        return both(
            f"All {answered} calls were answered: this machine has a working MPS device.",
            f"{answered} 次调用都有回答：这台机器有可用的 MPS 设备。",
        )
    kinds = sorted({row["kind"] for row in raised})
    queries = sum(row["group"] == "query" for row in raised)
    return both(
        f"{answered} calls were answered, {len(raised)} raised ({', '.join(kinds)}); "
        f"{queries} of the calls that raised are queries of torch.backends.mps.",
        f"{answered} 次调用有回答，{len(raised)} 次抛出异常（{'、'.join(kinds)}）；"
        f"抛异常的里面有 {queries} 个是 torch.backends.mps 的查询函数。",
    )


def draw_who_answers(record: Record, bets: dict) -> Table:
    """Each call and its answer or error; the bet stands beside the call it is about."""
    lines = [["", t("answer", "回答")]]
    lines += [[row["code"], clip(row["said"]) if row["kind"] == "value" else row["kind"]] for row in record.rows]
    marks = {(at, 1): "told" for at, row in enumerate(record.rows) if row["kind"] != "value"}
    mine = {"a": "False", "b": "RuntimeError", "c": "True"}.get(bets.get("08-bet-ask", ""), "")
    return with_bet(lines, marks, mine, lambda name: name == ASKED)


def settle_who_answers(record: Record) -> dict[str, str | None]:
    row = _by_code(record).get(ASKED)
    if row is None:
        return {"08-bet-ask": None}
    answers = {"False": "a", "RuntimeError": "b", "True": "c"}
    return {"08-bet-ask": answers.get(row["said"] if row["kind"] == "value" else row["kind"])}


@experiment(
    name="08-who-answers",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=6,
    title=both("Twelve questions about MPS: who answers, who raises?", "关于 MPS 的十二次提问：谁回答，谁报错？"),
)
def who_answers(budget: Budget) -> list[dict]:
    """Every public query and a few calls, each with its answer or the exact error; in a new process."""
    return rows_of(PROBES, "who_answers")


# --- 08-assignments -----------------------------------------------------------------------------------------


LIAR = "mps.is_available ="
"""How the assignment begins that the bet is about."""


def headline_assignments(record: Record) -> Text:
    ours = [row for row in record.rows if row["code"].startswith("mps.")]
    if not ours:
        return TOO_NOISY
    if any(row["tensor"] != row["tensor_before"] for row in ours):
        return both(
            "An assignment to torch.backends.mps changes what tensors do.", "给 torch.backends.mps 赋值，张量真的变了。"
        )
    if all(row["accepted"] == "yes" for row in ours):
        return both(
            "torch.backends.mps accepts every assignment, and tensors do as before.",
            "torch.backends.mps 随便赋值都收，张量照旧。",
        )
    return both(
        "torch.backends.mps refuses some assignments; tensors do as before.",
        "torch.backends.mps 会拒绝赋值，张量照旧。",
    )


def say_assignments(record: Record) -> Text:
    ours = [row for row in record.rows if row["code"].startswith("mps.")]
    if not ours:
        return NOTHING
    accepted = sum(row["accepted"] == "yes" for row in ours)
    query = sum(row["query"] != row["query_before"] for row in ours)
    tensor = sum(row["tensor"] != row["tensor_before"] for row in ours)
    refused = [row["code"] for row in record.rows if row["accepted"] != "yes"]
    more = both("", "")
    if refused:
        more = both(f" Refused: {', '.join(refused)}.", f"被拒绝的：{'、'.join(refused)}。")
    return both(
        f"{accepted} of {len(ours)} assignments to torch.backends.mps were accepted; "
        f"{query} changed the answer of is_available(), {tensor} changed what a tensor can do.{more['en']}",
        f"对 torch.backends.mps 的 {len(ours)} 次赋值，接受了 {accepted} 次；"
        f"其中 {query} 次改变了 is_available() 的回答，{tensor} 次改变了张量能做的事。"
        f"{more['zh']}",
    )


def _effect(row: dict) -> tuple[str, bool]:
    """The tile of a row, and whether it is bright: something else than silence happened."""
    if row["accepted"] != "yes":
        return t(f"refused: {row['accepted']}", f"被拒绝：{row['accepted']}"), True
    if row["tensor"] != row["tensor_before"]:
        return t("accepted, tensors changed", "已接受，张量有变化"), True
    if row["query"] != row["query_before"]:
        return t(f"accepted; only the answer changed: {row['query']}", f"已接受；只有回答变了：{row['query']}"), False
    if row["known_before"] == "yes":
        return t("accepted: a switch that exists", "已接受：确有这个开关"), True
    return t("accepted, nothing happened", "已接受，什么也没发生"), False


def draw_assignments(record: Record, bets: dict) -> Table:
    """Each assignment and what came of it; the bet stands beside the one it is about."""
    effects = [_effect(row) for row in record.rows]
    lines = [["", t("what happened", "结果")]]
    lines += [[row["code"], words] for row, (words, _) in zip(record.rows, effects, strict=True)]
    said = {
        "a": t("tensors change", "张量有变化"),
        "b": t("only the answer changes", "只有回答变了"),
        "c": t("refused", "被拒绝"),
        "d": t("nothing happens", "什么也不发生"),
    }
    marks = {(at, 1): "told" for at, (_, bright) in enumerate(effects) if bright}
    return with_bet(lines, marks, said.get(bets.get("08-bet-liar", ""), ""), lambda name: name.startswith(LIAR))


def settle_assignments(record: Record) -> dict[str, str | None]:
    row = next((row for row in record.rows if row["code"].startswith(LIAR)), None)
    if row is None:
        return {"08-bet-liar": None}
    if row["accepted"] != "yes":
        return {"08-bet-liar": "c"}
    if row["tensor"] != row["tensor_before"]:
        return {"08-bet-liar": "a"}
    return {"08-bet-liar": "b" if row["query"] != row["query_before"] else "d"}


@experiment(
    name="08-assignments",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=6,
    title=both(
        "Assign to torch.backends.mps: what is accepted, and what changes?",
        "给 torch.backends.mps 赋值：接受了什么，改变了什么？",
    ),
)
def assignments(budget: Budget) -> list[dict]:
    """Six inventions and one overwritten query, with two controls, in a process that may be broken."""
    return rows_of(PROBES, "assignments")


# --- 08-env-when --------------------------------------------------------------------------------------------

COUNTED = {
    "yes": both("counts", "有效"),
    "no": both("too late", "太晚"),
    "unclear": both("cannot tell here", "这里看不出来"),
    "nobody reads it": both("nobody reads it", "没人读它"),
    "not run": both("no time left", "没来得及"),
}


def _late(record: Record, counted: str, moment: str = "after import") -> list[str]:
    return [row["variable"] for row in record.rows if row["moment"] == moment and row["counted"] == counted]


def headline_env_when(record: Record) -> Text:
    return {
        "a": both("Set after the import, no environment variable counts.", "import 之后再设环境变量，全都晚了。"),
        "b": both(
            "Set after the import, some environment variables count, others come too late.",
            "import 之后再设环境变量，有的还算数，有的晚了。",
        ),
        "c": both(
            "Set after the import, every environment variable still counts.", "import 之后再设环境变量，全都还算数。"
        ),
    }.get(settle_env_when(record)["08-bet-env"] or "", TOO_NOISY)


def say_env_when(record: Record) -> Text:
    in_time, late = _late(record, "yes"), _late(record, "no")
    if not in_time and not late:
        return NOTHING
    none = both("none", "无")
    unread = any(row["counted"] == "nobody reads it" for row in record.rows)
    more = (
        both(
            " The MPS variable is not even named in the libraries of this build.",
            "这份 PyTorch 的库里根本没有那个 MPS 变量的名字。",
        )
        if unread
        else both("", "")
    )
    return both(
        f"Set after import torch, too late: {', '.join(late) or none['en']}; still in time: "
        f"{', '.join(in_time) or none['en']}.{more['en']}",
        f"import torch 之后才设，已经太晚的：{'、'.join(late) or none['zh']}；还来得及的："
        f"{'、'.join(in_time) or none['zh']}。{more['zh']}",
    )


def draw_env_when(record: Record, bets: dict) -> Table:
    """Whether each variable counts when it is set at each moment; the bet is a line of its own."""
    moments = [name for name in MOMENTS if name != "any"]
    lines, marks = [["", *(word(MOMENTS[moment]) for moment in moments)]], {}
    for row, variable in enumerate(dict.fromkeys(row["variable"] for row in record.rows)):
        found = {row["moment"]: row["counted"] for row in record.rows if row["variable"] == variable}
        counted = [found.get(moment, found.get("any", "not run")) for moment in moments]
        marks |= {(row, at): "told" for at, one in enumerate(counted, 1) if one == "no"}
        lines.append([variable, *(word(COUNTED[one]) for one in counted)])
    said = {"a": t("all too late", "全都太晚"), "b": t("some count", "有的有效"), "c": t("all count", "全都有效")}
    mine = said.get(bets.get("08-bet-env", ""))
    if mine is None:
        return Table(lines, marks)
    at = moments.index("after import") + 1
    lines.append([t("as you bet", "按你押的"), *(mine * (one == at) for one in range(1, len(moments) + 1))])
    return Table(lines, marks, [(len(lines) - 2, at)])


def settle_env_when(record: Record) -> dict[str, str | None]:
    in_time, late = len(_late(record, "yes")), len(_late(record, "no"))
    if in_time + late < 2:
        return {"08-bet-env": None}
    return {"08-bet-env": "a" if not in_time else "c" if not late else "b"}


@experiment(
    name="08-env-when",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=45,
    title=both(
        "Four environment variables, set at three moments: which still count?",
        "四个环境变量，在三个时刻设置：哪些还算数？",
    ),
)
def env_when(budget: Budget) -> list[dict]:
    """Each variable set before import, after import and after the first use, in new processes."""
    values = {
        "OMP_NUM_THREADS": "1",
        "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1",
        "ATEN_CPU_CAPABILITY": "default",
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
    }
    seen = {
        moment: probes.seen_at(moment, values)
        for moment in budget.loop(probes.MOMENTS, desc=both("new processes", "新进程"))
    }
    named = probes.named_in_libraries((*probes.VARIABLES, probes.FALLBACK))
    rows = []
    for variable in probes.VARIABLES:
        never, early = (seen.get(moment, {}).get(variable) for moment in ("never", "before import"))
        for moment in probes.MOMENTS[1:]:
            if moment in seen:
                value = seen[moment][variable]
                counted = "unclear" if never == early else "yes" if value == early else "no"
                rows.append(
                    {
                        "variable": variable,
                        "moment": moment,
                        "counted": counted,
                        "seen": str(value),
                        "without": str(never),
                    }
                )
    rows.append(
        {
            "variable": probes.FALLBACK,
            "moment": "any",
            "counted": "unclear" if named[probes.FALLBACK] else "nobody reads it",
            "seen": "named in the libraries" if named[probes.FALLBACK] else "not in the libraries",
            "without": "",
        }
    )
    return rows


# --- 08-float32-loses ---------------------------------------------------------------------------------------

CASES_SAID = {
    "count": both("a counter at 2²⁴, ten steps more", "计数器到 2²⁴ 后再走十步"),
    "elapsed": both("30 s between two Unix times", "两个 Unix 时间相差 30 s"),
    "spread": both("variance as mean(x²) − mean(x)²", "方差写成 mean(x²) − mean(x)²"),
    "log_det": both("log2 det of ½·I, 200 × 200", "½·I（200 × 200）的 log2 det"),
}


def _number(text: str) -> str:
    value = float(text)
    return f"{value:.4g}" if math.isfinite(value) else "−∞" if value < 0 else "∞" if value > 0 else "nan"


def _lost(row: dict, column: str = "float32") -> bool:
    exact, found = float(row["float64"]), float(row[column])
    return not abs(found - exact) <= 0.01 * abs(exact)


def headline_float32_loses(record: Record) -> Text:
    lost = [row for row in record.rows if _lost(row)]
    if not lost:
        return both("float32 gave the same results as float64 here.", "这里用 float32，结果和 float64 一样。")
    every = len(lost) == len(record.rows)
    if any(_lost(row, "cured") for row in lost):
        return both(
            "float32 spoils results here, and rewriting does not save all.", "float32 把结果算坏了，改写也救不全。"
        )
    return both(
        f"float32 spoils {'these results' if every else 'some results'}; rewritten, they are right.",
        f"float32 算坏了{'这些' if every else '一些'}结果，换个写法就对了。",
    )


def say_float32_loses(record: Record) -> Text:
    if not record.rows:
        return NOTHING

    def line(row: dict, code: str) -> str:
        colon = ": " if code == "en" else "："
        return f"{CASES_SAID[row['case']][code]}{colon}{_number(row['float64'])} → {_number(row['float32'])}"

    lost = [row for row in record.rows if _lost(row)]
    cured = sum(not _lost(row, "cured") for row in record.rows)
    total = len(record.rows)
    return both(
        "Simulated on the CPU, float64 → float32: "
        f"{len(lost)} of {total} results are off by more than 1 % ({'; '.join(line(row, 'en') for row in lost)}). "
        f"Rewritten without float64, {cured} of {total} are right.",
        f"在 CPU 上模拟，float64 → float32：{total} 个结果里有 {len(lost)} 个误差超过 1%（{'；'.join(line(row, 'zh') for row in lost)}）。"
        f"改写成不用 float64 的形式后，{cured} 个正确。",
    )


def draw_float32_loses(record: Record, bets: dict) -> Table:
    """Each result in float64, in float32 and rewritten; the bet stands beside the counter."""
    columns = ("float64", "float32", "cured")
    lines = [["", "float64", "float32", t("rewritten", "改写后")]]
    lines += [[word(CASES_SAID[row["case"]]), *(_number(row[column]) for column in columns)] for row in record.rows]
    marks = {
        (row, at): "told"
        for row, one in enumerate(record.rows)
        for at, column in enumerate(columns, 1)
        if _lost(one, column)
    }
    said = {"a": "10", "b": "0", "c": t("something else", "别的数")}
    counter = word(CASES_SAID["count"])
    return with_bet(lines, marks, said.get(bets.get("08-bet-counter", ""), ""), lambda name: name == counter)


def settle_float32_loses(record: Record) -> dict[str, str | None]:
    row = next((row for row in record.rows if row["case"] == "count"), None)
    if row is None:
        return {"08-bet-counter": None}
    steps = float(row["float32"])
    return {"08-bet-counter": "a" if steps == 10 else "b" if steps == 0 else "c"}


@experiment(
    name="08-float32-loses",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=2,
    title=both(
        "The same sums in float64 and float32 (on the CPU, a simulation of the Mac's limit)",
        "同样的计算，float64 与 float32（在 CPU 上，模拟 Mac 的限制）",
    ),
)
def float32_loses(budget: Budget) -> list[dict]:
    """Four everyday computations in float64, in float32, and in a form that does without float64."""
    return [
        {
            "case": name,
            "float64": str(compute(torch.float64)),
            "float32": str(compute(torch.float32)),
            "cured": str(cured()),
        }
        for name, (compute, cured) in CASES.items()
    ]


# --- 08-selectors -------------------------------------------------------------------------------------------


CRASHES: dict[str, set[str]] = {
    "a": set(),
    "b": {"is_built()"},
    "c": {"is_built()", "current_accelerator()"},
    "d": {"is_built()", "current_accelerator()", "check_available=True"},
}
"""option -> the selectors that pick what does not work on a machine without a GPU."""


def headline_selectors(record: Record) -> Text:
    wrong = {row["selector"] for row in record.rows if row["outcome"] != "best"}
    right = {row["selector"] for row in record.rows} - wrong
    if not wrong:
        return both("Every way to choose a device is right here.", "几种选设备的写法，在这里都选对了。")
    if not right:
        return both("Not one way to choose a device is right everywhere.", "没有哪种选设备的写法处处都对。")
    if len(right) == 1:
        return both("Only one way to choose a device is right everywhere.", "选设备的写法里，只有一种处处都对。")
    return both(
        "Some ways to choose a device fail, others are right everywhere.", "选设备的写法，有的会选错，有的处处都对。"
    )


def say_selectors(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    names = list(dict.fromkeys(row["selector"] for row in record.rows))
    machines = len({row["machine"] for row in record.rows})

    def line(name: str, code: str) -> str:
        outcomes = [row["outcome"] for row in record.rows if row["selector"] == name]
        crash, idle = outcomes.count("crash"), outcomes.count("idle")
        if code == "en":
            return f"{name}: {crash} crash, {idle} leave a GPU idle"
        return f"{name}：{crash} 台会崩，{idle} 台让 GPU 闲着"

    return both(
        f"On {machines} simulated machines. " + "; ".join(line(name, "en") for name in names) + ".",
        f"在 {machines} 台模拟机器上。" + "；".join(line(name, "zh") for name in names) + "。",
    )


def draw_selectors(record: Record, bets: dict) -> Table:
    """What each selector picks on each machine; the bet is a line below the machine it is about."""
    names = list(dict.fromkeys(row["selector"] for row in record.rows))
    said = {"best": t("best", "最佳"), "crash": t("crash", "崩溃"), "idle": t("GPU idle", "GPU 闲着")}
    found = {(row["machine"], row["selector"]): row for row in record.rows}
    lines, marks, placed, colon = [["", *names]], {}, [], t(": ", "：")
    mine = CRASHES.get(bets.get("08-bet-selector", ""))
    for machine in dict.fromkeys(row["machine"] for row in record.rows):
        rows = [found[machine, name] for name in names]
        marks |= {(len(lines) - 1, at): "told" for at, row in enumerate(rows, 1) if row["outcome"] != "best"}
        lines.append([word(MACHINES[machine].name), *(f"{row['picked']}{colon}{said[row['outcome']]}" for row in rows)])
        if mine is not None and machine == "no driver":
            placed = [(len(lines) - 1, at) for at in range(1, len(names) + 1)]
            works = t("works", "能用")
            lines.append(
                [
                    t("the same, as you bet", "同上，按你押的"),
                    *(said["crash"] if name in mine else works for name in names),
                ]
            )
    return Table(lines, marks, placed)


def settle_selectors(record: Record) -> dict[str, str | None]:
    crashes = {row["selector"] for row in record.rows if row["machine"] == "no driver" and row["outcome"] == "crash"}
    answer = next((option for option, named in CRASHES.items() if named == crashes), None)
    return {"08-bet-selector": answer if record.rows else None}


def cuda_or_cpu() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def built_is_enough() -> str:
    return "mps" if torch.backends.mps.is_built() else "cuda" if torch.backends.cuda.is_built() else "cpu"


def accelerator_or_cpu() -> str:
    return (torch.accelerator.current_accelerator() or torch.device("cpu")).type


def checked_accelerator() -> str:
    return (torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")).type


SELECTORS = {
    "cuda or cpu": cuda_or_cpu,
    "is_built()": built_is_enough,
    "current_accelerator()": accelerator_or_cpu,
    "check_available=True": checked_accelerator,
}


@experiment(
    name="08-selectors",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=2,
    title=both(
        "Four device selectors on six machines (simulated answers, PyTorch's own code)",
        "四种选设备的写法，六台机器（回答是模拟的，代码是 PyTorch 自己的）",
    ),
)
def selectors(budget: Budget) -> list[dict]:
    """What each selector picks where, and whether that device works and is the best one there."""
    rows = []
    for name in MACHINES:
        with pretend(name) as machine:
            for selector, choose in SELECTORS.items():
                picked = choose()
                usable = picked == "cpu" or (machine.usable and picked == machine.built)
                outcome = "crash" if not usable else "best" if picked == machine.best else "idle"
                rows.append({"machine": name, "selector": selector, "picked": picked, "outcome": outcome})
    return rows


# --- 08-fallback-price --------------------------------------------------------------------------------------

OPS = {
    "relu": both("relu of 4,000,000 numbers", "400 万个数的 relu"),
    "svd": both("singular values of 160 × 160", "160 × 160 矩阵的奇异值"),
}


def headline_fallback_price(record: Record) -> Text:
    return {
        "a": both(
            "The copies of a fallback slow relu more than singular values.", "回退的两次拷贝，relu 比奇异值更吃亏。"
        ),
        "b": both(
            "The copies of a fallback slow singular values more than relu.", "回退的两次拷贝，奇异值比 relu 更吃亏。"
        ),
        "c": both("The copies of a fallback cost hardly any time.", "回退的两次拷贝，几乎不花时间。"),
    }.get(settle_fallback_price(record)["08-bet-fallback"] or "", TOO_NOISY)


def say_fallback_price(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    doubt = both("", "")
    if settle_fallback_price(record)["08-bet-fallback"] is None:
        doubt = both(
            " The intervals overlap, so this run settles nothing; try again when the machine is quiet.",
            "区间有重叠，这次定不了胜负；等机器空闲时再试。",
        )
    en = "; ".join(f"{OPS[r['op']]['en']}: {with_interval(r, 'en')}" for r in record.rows)
    zh = "；".join(f"{OPS[r['op']]['zh']}：{with_interval(r, 'zh')}" for r in record.rows)
    return both(
        f"Simulated on one CPU thread: time between two copies over time alone. {en}.{doubt['en']}",
        f"在单个 CPU 线程上模拟：夹在两次拷贝之间的耗时 ÷ 单独的耗时。{zh}。{doubt['zh']}",
    )


def draw_fallback_price(record: Record, bets: dict) -> Sheet:
    """Time between two copies over time alone; the bet marks what is slowed more, or both as not slowed."""
    rows = [
        Ratio(word(OPS[row["op"]]), row["ratio"], row["low"], row["high"], rounds=row.get("rounds", 0))
        for row in record.rows
    ]
    places = {row["op"]: at for at, row in enumerate(record.rows)}
    said = {
        "a": (t("slowed more", "变慢得更多"), {places.get("relu", 0): "right"}),
        "b": (t("slowed more", "变慢得更多"), {places.get("svd", 0): "right"}),
        "c": (t("the same", "一样"), dict.fromkeys(places.values(), "middle")),
    }
    mine = said.get(bets.get("08-bet-fallback", ""))
    sides = (t("with copies: faster", "带拷贝更快"), t("with copies: slower", "带拷贝更慢"))
    return ratio_rows(rows, sides, Bet(mine[0], rows=mine[1]) if mine else None)


def settle_fallback_price(record: Record) -> dict[str, str | None]:
    found = {row["op"]: row for row in record.rows}
    if set(found) != {"relu", "svd"} or any(row["low"] is None for row in found.values()):
        return {"08-bet-fallback": None}
    relu, svd = found["relu"], found["svd"]
    if relu["low"] > svd["high"]:
        return {"08-bet-fallback": "a"}
    if svd["low"] > relu["high"]:
        return {"08-bet-fallback": "b"}
    return {"08-bet-fallback": "c" if max(relu["high"], svd["high"]) < 1.1 else None}


@experiment(
    name="08-fallback-price",
    lesson=LESSON,
    version=2,
    needs="cpu",
    seconds=9,
    title=both(
        "A simulated fallback on the CPU: copy there, compute, copy back", "在 CPU 上模拟回退：拷过去、计算、拷回来"
    ),
)
def fallback_price(budget: Budget) -> list[dict]:
    """Time of an operation between two copies over the operation alone, on one thread: one quick, one slow."""
    from course.timing import compare

    torch.set_num_threads(1)
    big, small = torch.randn(4_000_000), torch.randn(160, 160)
    cases = {"relu": (big, torch.relu), "svd": (small, torch.linalg.svdvals)}
    rows = []
    for name, (x, op) in budget.loop(cases.items(), desc=both("operations", "算子")):
        race = compare(
            {"alone": lambda x=x, op=op: op(x), "between copies": lambda x=x, op=op: op(x.clone()).clone()},
            baseline="alone",
            max_time=max(0.8, min(3.5, budget.left() / 2)),
            device="cpu",
        )
        rows.append(
            {
                "op": name,
                "numbers": x.numel(),
                "ratio": race.ratio,
                "low": race.low,
                "high": race.high,
                "verdict": race.verdict,
                "alone_ms": race.medians_ms["alone"],
                "rounds": race.rounds,
            }
        )
    return rows
