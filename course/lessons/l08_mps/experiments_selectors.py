"""Experiment of lesson 08: how device selectors do on machines other than this one, simulated."""

from __future__ import annotations

import torch

from course.experiment.base import Budget, experiment
from course.experiment.words import NOTHING, word
from course.i18n import Text, both, t
from course.lessons.l08_mps.experiments import LESSON
from course.lessons.l08_mps.machines import MACHINES, pretend
from course.records import Record
from course.tables import Table

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
        return both("Each of these ways to choose a device is right.", "几种选设备的写法，在这里都选对了。")
    if not right:
        return both(
            "Not one of these ways to choose a device is right everywhere.", "这几种选设备的写法，没有一种处处都对。"
        )
    if len(right) == 1:
        return both(
            "Only one of these ways to choose a device is right everywhere.", "这几种选设备的写法，只有一种处处都对。"
        )
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
