"""Experiments of lesson 16 about who still listens: a frozen model, and attention on a CPU."""

from __future__ import annotations

from collections.abc import Iterator

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.words import NOTHING, TOO_NOISY, joined, word
from course.i18n import Text, both, t
from course.lessons.l16_rest.experiments import LESSON, MEASURING, PROBES, interval
from course.records import Record
from course.tables import Table

FREEZING = "course.lessons.l16_rest.probes_freezing"

# --- 16-frozen ----------------------------------------------------------------------------------------------

LOAD = "load_state_dict(other)"
ANSWERS = {
    "new": both("follows", "跟着变"),
    "old": both("not noticed", "没察觉"),
    "neither": both("a mixture", "新旧混杂"),
}


def _answers(record: Record, frozen: int) -> dict[str, str]:
    return {row["change"]: row["answers"] for row in record.rows if row["frozen"] == frozen}


def headline_frozen(record: Record) -> Text:
    said = {
        "neither": both(
            "A frozen model mixed old and new weights, and raised no error.", "冻结的模型把新旧权重混着用，也不报错。"
        ),
        "old": both(
            "The frozen model kept its old weights, and raised no error.", "冻结的模型还在用旧权重，也不报错。"
        ),
        "new": both("The frozen model took over the new weights.", "冻结的模型换上了新权重。"),
    }
    return said.get(_answers(record, 1).get(LOAD, ""), TOO_NOISY)


def say_frozen(record: Record) -> Text:
    frozen, free = _answers(record, 1), _answers(record, 0)
    if not frozen or not free:
        return NOTHING
    missed = joined([change for change, answer in frozen.items() if answer == "old"], "en")
    mixed = joined([change for change, answer in frozen.items() if answer == "neither"], "en")
    open_missed = joined([change for change, answer in free.items() if answer != "new"], "en")
    return both(
        f"Compiled with freezing, not noticed: {missed or 'none'}; a mixture of old and new: {mixed or 'none'}. "
        f"Compiled without it, not noticed: {open_missed or 'none'}.",
        f"冻结编译后没察觉的：{missed.replace(', ', '、') or '无'}；新旧混杂的：{mixed or '无'}。"
        f"不冻结时没察觉的：{open_missed.replace(', ', '、') or '无'}。",
    )


def draw_frozen(record: Record, bets: dict) -> Table:
    free, frozen = _answers(record, 0), _answers(record, 1)
    changes = list(dict.fromkeys([*free, *frozen]))
    lines = [["", t("compiled", "普通编译"), t("compiled and frozen", "冻结编译")]]
    for change in changes:
        lines.append([change, *(word(ANSWERS[one[change]]) if change in one else "–" for one in (free, frozen))])
    told = {(at, 2): "told" for at, change in enumerate(changes) if frozen.get(change, "new") != "new"}
    mine = {"a": "new", "b": "old", "c": "neither"}.get(bets.get("16-bet-frozen", ""))
    shown = Table(lines, told)
    return shown.bet_on(changes.index(LOAD), ["", word(ANSWERS[mine])]) if mine and LOAD in changes else shown


def settle_frozen(record: Record) -> dict[str, str | None]:
    answers = {"new": "a", "old": "b", "neither": "c"}
    return {"16-bet-frozen": answers.get(_answers(record, 1).get(LOAD, ""))}


@experiment(
    name="16-frozen",
    lesson=LESSON,
    version=1,
    needs="compiler",
    seconds=60,
    title=both("Weights changed after compiling: who notices?", "编译之后改权重：谁察觉得到？"),
)
def frozen(budget: Budget) -> Iterator[dict]:
    """A small model compiled without and with freezing, in new processes: which of seven later changes arrive."""
    kinds = budget.loop((False, True), desc=both("compiling", "编译"), least=2)
    for kind in kinds:
        yield from rows_of(FREEZING, "changes", kind, timeout_s=300)


# --- 16-cpu-order -------------------------------------------------------------------------------------------

SETTINGS = {
    "as it comes": both("nothing set", "什么都不设"),
    "math first": both("[MATH, FLASH], set_priority=True", "[MATH, FLASH]，set_priority=True"),
    "math alone": both("[MATH]", "[MATH]"),
    "efficient alone": both("[EFFICIENT_ATTENTION]", "[EFFICIENT_ATTENTION]"),
    "flash off": both("cuda.enable_flash_sdp(False)", "cuda.enable_flash_sdp(False)"),
}


def _settings(record: Record) -> dict[str, dict]:
    return {row["setting"]: row for row in record.rows}


def headline_cpu_order(record: Record) -> Text:
    rows = _settings(record)
    if not {"as it comes", "math first", "flash off"} <= set(rows):
        return TOO_NOISY
    if rows["as it comes"]["kernel"] == "math":
        return both(
            "With nothing set, this CPU runs math already: nothing to compare.", "什么都不设，CPU 也走 math，没得比。"
        )
    if rows["math first"]["error"]:
        return both("Given an order of kernels, this CPU answered with an error.", "给 kernel 排了先后，CPU 直接报错。")
    ignored, obeyed = rows["math first"]["kernel"] != "math", rows["flash off"]["kernel"] == "math"
    if ignored and obeyed:
        return both(
            "This CPU ignored the order of kernels, but obeyed the switch named cuda.",
            "CPU 不管 kernel 排的先后，却听名字带 cuda 的开关。",
        )
    if ignored:
        return both(
            "This CPU ignored both: the order of kernels and the switch named cuda.",
            "kernel 的先后、名字带 cuda 的开关，CPU 都不管。",
        )
    if obeyed:
        return both(
            "This CPU obeyed both: the order of kernels and the switch named cuda.",
            "kernel 的先后、名字带 cuda 的开关，CPU 都听。",
        )
    return both(
        "This CPU obeyed the order of kernels, but ignored the switch named cuda.",
        "CPU 只听 kernel 的先后，不听名字带 cuda 的开关。",
    )


def say_cpu_order(record: Record) -> Text:
    rows = _settings(record)
    if not {"as it comes", "math first", "flash off"} <= set(rows):
        return NOTHING
    ran = "; ".join(f"{SETTINGS[name]['en']} {row['kernel'] or 'an error'}" for name, row in rows.items())
    ran_zh = "；".join(f"{SETTINGS[name]['zh']} {row['kernel'] or '报错'}" for name, row in rows.items())
    asked = rows["math first"]
    return both(
        f"The kernel that ran: {ran}. With math asked for first, torch reads back “{asked['first'] or '-'}”. "
        f"Time with flash off over time as it comes, one thread: {interval(rows['flash off'])}.",
        f"跑的 kernel：{ran_zh}。要求 math 优先时，torch 读出来的是 {asked['first'] or '-'}。"
        f"关掉 flash 与什么都不设的耗时比（单线程）：{interval(rows['flash off'])}。",
    )


def draw_cpu_order(record: Record, bets: dict) -> Table:
    yes, no, error = t("yes", "是"), t("no", "否"), t("an error", "报错")
    lines = [
        ["", t("first, as torch reads", "torch 说谁优先"), t("what ran", "跑的是"), t("bits as before", "逐位相同")]
    ]
    for row in record.rows:
        ran = error if row["error"] else row["kernel"]
        lines.append([word(SETTINGS[row["setting"]]), row["first"] or "–", ran, yes if row["same_bits"] else no])
    places = {row["setting"]: at for at, row in enumerate(record.rows)}
    shown = Table(lines, {(at, 2): "told" for name, at in places.items() if name in ("math first", "flash off")})
    mine = {"a": "math", "b": "flash", "c": error}.get(bets.get("16-bet-order", ""))
    return shown.bet_on(places.get("math first"), ["", mine, ""]) if mine else shown


def settle_cpu_order(record: Record) -> dict[str, str | None]:
    row = _settings(record).get("math first")
    if row is None:
        return {"16-bet-order": None}
    return {"16-bet-order": "c" if row["error"] else {"math": "a", "flash": "b"}.get(row["kernel"])}


@experiment(
    name="16-cpu-order",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=5,
    title=both(
        "Attention on this CPU: an order, a list, a switch named cuda",
        "这颗 CPU 上的注意力：次序、名单、名字带 cuda 的开关",
    ),
)
def cpu_order(budget: Budget) -> list[dict]:
    """Which kernel computes attention here under five settings, whose bits come out, and what flash off costs."""
    probes = budget.loop(["attention"], desc=MEASURING)
    return [row for part in probes for row in rows_of(PROBES, part, budget.seconds / 2)]
