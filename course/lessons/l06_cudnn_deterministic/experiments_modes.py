"""Experiments of lesson 06 about the mode that forbids, about seeds, and about differences that grow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from course import toy_search
from course.experiment.base import Budget, experiment
from course.experiment.new_process import call_in_new_process
from course.experiment.plots import BLUE, bet_box
from course.experiment.words import NOTHING, TOO_NOISY, word
from course.flags import using
from course.i18n import Text, both, t
from course.lessons.l06_cudnn_deterministic import training as toy_repro
from course.lessons.l06_cudnn_deterministic.experiments import FRESH, LESSON, PAIRS, PROBES, _threads, by_setting, label
from course.lessons.l06_cudnn_deterministic.filters import FilterConv
from course.lessons.l06_cudnn_deterministic.probes import SETTINGS, reactions
from course.lessons.l06_cudnn_deterministic.training import fingerprint
from course.records import Record
from course.tables import Table

# --- 06-who-raises ------------------------------------------------------------------------------------------


def headline_who_raises(record: Record) -> Text:
    raising = sum(row["error"] == "raises" for row in record.rows)
    if not record.rows:
        return TOO_NOISY
    if not raising:
        return both(
            "On this CPU the deterministic mode refuses none of the operations tried.",
            "在这颗 CPU 上，试过的算子，确定性模式都不拒绝。",
        )
    if raising == len(record.rows):
        return both("The deterministic mode refuses every operation tried.", "试过的算子，确定性模式全都拒绝。")
    return both(
        f"The deterministic mode refuses {'one' if raising == 1 else raising} of the operations tried; the others run.",
        f"确定性模式拒绝了 {raising} 个算子，其余照常运行。",
    )


def say_who_raises(record: Record) -> Text:
    rows = record.rows
    if not rows:
        return NOTHING
    raising = [row["operation"] for row in rows if row["error"] == "raises"]
    filling = [row["operation"] for row in rows if row["error"] == "fills"]
    said = next((row["said"] for row in rows if row["error"] == "raises"), "")
    tail = both(f' The words: "{said}"', f"原话：“{said}”") if said else both("", "")
    return both(
        f"With the mode on, {len(raising)} of {len(rows)} raise: {', '.join(raising) or 'none'}; filled with NaN: "
        f"{', '.join(filling) or 'none'}. "
        f"With warn_only the raising ones run and warn.{tail['en']}",
        f"打开之后，{len(rows)} 个算子里有 {len(raising)} 个报错：{'、'.join(raising) or '无'}；被填成 NaN 的："
        f"{'、'.join(filling) or '无'}。用 warn_only 时，报错的那些照常运行，只给警告。{tail['zh']}",
    )


def draw_who_raises(record: Record, bets: dict) -> Table:
    words = {
        "raises": t("raises", "报错"),
        "warns": t("runs, warns", "运行并警告"),
        "runs": t("runs", "运行"),
        "fills": t("filled with NaN", "填成 NaN"),
    }
    lines, modes = [["", t("mode off", "未打开"), "True", "True, warn_only"]], ("default", "error", "warn")
    lines += [[row["operation"], *(words[row[mode]] for mode in modes)] for row in record.rows]
    found = {(y, x): row[mode] for y, row in enumerate(record.rows) for x, mode in enumerate(modes, 1)}
    return Table(lines, {place: "quiet" if said == "runs" else "told" for place, said in found.items()})


@experiment(
    name="06-who-raises",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=3,
    title=both(
        "use_deterministic_algorithms(True) on a CPU: who raises?",
        "CPU 上的 use_deterministic_algorithms(True)：谁会报错？",
    ),
)
def who_raises(budget: Budget) -> list[dict]:
    """Eight operations with the mode off, on, and on with warn_only."""
    return reactions()


# --- 06-who-seeds -------------------------------------------------------------------------------------------

SEED_SETTINGS = {
    "nothing": both("nothing set", "什么都不设"),
    "deterministic": both("use_deterministic_algorithms", "use_deterministic_algorithms"),
    "torch seed": both("torch.manual_seed", "torch.manual_seed"),
    "all seeds": both("all three seeds", "三个种子全设"),
}


ANSWERS_WORKERS = {"a": (0, 0), "b": (0, 1), "c": (1, 0), "d": (1, 1)}
"""What each option of the bet says of numpy under torch.manual_seed: in the main process, in the workers."""


def _same(record: Record, setting: str, place: str) -> list[str]:
    return [row["source"] for row in record.rows if row["setting"] == setting and row[place]]


def headline_who_seeds(record: Record) -> Text:
    said = {
        "a": both(
            "`torch.manual_seed` never reaches numpy, not even in the workers.",
            "`torch.manual_seed` 管不到 numpy，worker 里也一样。",
        ),
        "b": both(
            "`torch.manual_seed` fixes numpy in the loader's workers, but not outside.",
            "`torch.manual_seed` 只在 worker 里管得到 numpy。",
        ),
        "c": both(
            "`torch.manual_seed` fixes numpy in the main process, not in the workers.",
            "`torch.manual_seed` 只在主进程里管得到 numpy。",
        ),
        "d": both(
            "`torch.manual_seed` fixes numpy too, in the workers and outside.",
            "`torch.manual_seed` 到处都管得到 numpy。",
        ),
    }
    return said.get(settle_who_seeds(record)["06-bet-workers"], TOO_NOISY)


def say_who_seeds(record: Record) -> Text:
    if not record.rows:
        return NOTHING

    def line(setting: str, code: str) -> str:
        none, sign = ("none", ", ") if code == "en" else ("无", "、")
        main, workers = (sign.join(_same(record, setting, place)) or none for place in ("here", "workers"))
        if code == "en":
            return f"{SEED_SETTINGS[setting]['en']}: main process {main}; workers {workers}"
        return f"{SEED_SETTINGS[setting]['zh']}：主进程 {main}；worker {workers}"

    return both(
        "Sources that agree between two new processes. " + ". ".join(line(s, "en") for s in SEED_SETTINGS) + ".",
        "两个新进程里一致的随机源。" + "。".join(line(s, "zh") for s in SEED_SETTINGS) + "。",
    )


def draw_who_seeds(record: Record, bets: dict) -> Table:
    """Which numbers the two processes share; what was bet of numpy under torch.manual_seed stands below."""
    same, differ = t("same", "相同"), t("differ", "不同")
    seen = {(row["setting"], row["source"]): row for row in record.rows}
    names = {"here": t("main process", "主进程"), "workers": "worker"}
    columns = [(place, source) for place in names for source in ("random", "numpy", "torch")]
    lines, marks = [["", *(source + t(", ", "，") + names[place] for place, source in columns)]], {}
    for y, setting in enumerate(SEED_SETTINGS):
        equal = [seen[setting, source][place] for place, source in columns]
        marks |= {(y, x): "told" for x, one in enumerate(equal, 1) if one}
        lines.append([word(SEED_SETTINGS[setting]), *(same if one else differ for one in equal)])
    mine = bets.get("06-bet-workers", "")
    if mine:
        here, workers = ANSWERS_WORKERS[mine]
        line = [same if {"here": here, "workers": workers}[place] else differ for place in names]
        lines.append([t("torch.manual_seed: your bet", "torch.manual_seed：你押的"), "", line[0], "", "", line[1], ""])
    return Table(lines, marks, [(len(SEED_SETTINGS), 2), (len(SEED_SETTINGS), 5)] if mine else ())


def settle_who_seeds(record: Record) -> dict[str, str | None]:
    numpy = [row for row in record.rows if row["setting"] == "torch seed" and row["source"] == "numpy"]
    seen = (numpy[0]["here"], numpy[0]["workers"]) if numpy else None
    return {"06-bet-workers": next((option for option, said in ANSWERS_WORKERS.items() if said == seen), None)}


@experiment(
    name="06-who-seeds",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=20,
    title=both(
        "Two new processes: which numbers agree under which seed?", "两个新进程：设了哪些种子，哪些随机数会一样？"
    ),
)
def who_seeds(budget: Budget) -> list[dict]:
    """Numbers from Python, numpy and torch, in the main process and in two loader workers, in two processes."""
    both_runs = [call_in_new_process(PROBES, "draws", list(SETTINGS))[0] for _ in budget.loop(range(2), desc=FRESH)]
    if len(both_runs) < 2:
        return []
    return [
        {
            "setting": one["setting"],
            "source": one["source"],
            "here": int(one["here"] == two["here"]),
            "workers": int(one["workers"] == two["workers"]),
        }
        for one, two in zip(*both_runs, strict=True)
    ]


# --- 06-one-ulp ---------------------------------------------------------------------------------------------


def _drift(record: Record, story: str) -> list[dict]:
    return [row for row in record.rows if row["story"] == story]


def headline_one_ulp(record: Record) -> Text:
    gan, control = _drift(record, "gan"), _drift(record, "control")
    if not (gan and control):
        return TOO_NOISY
    if any(row["difference"] for row in control):
        return both(
            "Here the GAN does not repeat itself even from the same start.", "在这里，起点完全一样，GAN 也重复不出来。"
        )
    said = {
        "a": both(
            "Two weights moved by one ulp: only the losses' last digits change.",
            "两个权重只挪一个 ulp，损失只变了末几位。",
        ),
        "b": both(
            "Two weights moved by one ulp: the GAN's losses drift visibly, but not far.",
            "两个权重只挪一个 ulp，GAN 的损失看得出偏了，但偏得不远。",
        ),
        "c": both(
            "Two weights moved by one ulp: the GAN's losses drift far apart.",
            "两个权重只挪一个 ulp，GAN 的损失就差了很远。",
        ),
        None: both("Two weights moved by one ulp: no loss changed at all.", "两个权重只挪一个 ulp，损失一点没变。"),
    }
    return said[settle_one_ulp(record)["06-bet-ulp"]]


def say_one_ulp(record: Record) -> Text:
    gan, line, control = (_drift(record, story) for story in ("gan", "line", "control"))
    if not (gan and line and control):
        return NOTHING
    far, near = max(row["difference"] for row in gan), max(row["difference"] for row in line)
    still = max(row["difference"] for row in control)
    typical = sorted(row["loss"] for row in gan)[len(gan) // 2]
    return both(
        f"After a nudge of one ulp the GAN's loss (typically {typical:.2g}) went off by up to {far:.2g}, "
        f"the line fit's by up to {near:.2g}; the GAN run again without a nudge by {still:.2g}.",
        f"只挪动一个 ulp，GAN 的损失（通常约 {typical:.2g}）最多偏离 {far:.2g}，直线拟合最多偏离 {near:.2g}；"
        f"不挪动、原样再跑一遍 GAN，偏离 {still:.2g}。",
    )


def draw_one_ulp(record: Record, ax: Any, bets: dict) -> None:
    from course.figures.style import guide

    names = {
        "gan": t("GAN, nudged", "GAN，挪动过"),
        "line": t("line fit, nudged", "直线拟合，挪动过"),
        "control": t("GAN, run twice", "GAN，原样跑两遍"),
    }
    floor = 1e-9
    for story, colour, style in (("gan", BLUE, "-"), ("line", guide(), "--"), ("control", guide(), ":")):
        rows = _drift(record, story)
        values = [max(row["difference"], floor) for row in rows]
        ax.plot([row["step"] for row in rows], values, style, color=colour)
        end = (rows[-1]["step"], values[-1])
        ax.annotate(
            names[story],
            end,
            xytext=(6, {"line": 8, "control": -6}.get(story, 0)),
            textcoords="offset points",
            color=colour,
            va="center",
        )
    gan, most = _drift(record, "gan"), max(row["difference"] for row in record.rows)
    typical, steps = sorted(row["loss"] for row in gan)[len(gan) // 2], gan[-1]["step"]
    ax.set_yscale("log")
    ax.set_xlim(0, steps * 1.35)
    ends = {
        "a": ((floor, 1e-4 * typical), t("only the last digits", "只差末几位")),
        "b": ((1e-4 * typical, 0.1 * typical), t("visible, under a tenth", "看得出，不到十分之一")),
        "c": ((0.1 * typical, max(3 * typical, most)), t("as large as the loss", "与损失相当")),
    }
    mine = ends.get(bets.get("06-bet-ulp", ""))
    if mine:
        bet_box(ax, mine[1], (0.02 * steps, steps), mine[0])
    ax.set_ylim(floor / 2, max(20 * typical, 5 * most))
    ax.set_yticks([floor, 1e-4 * typical, 0.1 * typical, typical])
    ax.set_yticklabels(
        [
            t("no difference", "没有差别"),
            t("last digits", "末几位"),
            t("a tenth of the loss", "损失的十分之一"),
            t("the loss itself", "损失本身"),
        ]
    )
    ax.minorticks_off()
    ax.set_xlabel(t("training step", "训练步数"))


def settle_one_ulp(record: Record) -> dict[str, str | None]:
    """None when the control moved, or when the nudge was swallowed within the first steps."""
    gan, control = _drift(record, "gan"), _drift(record, "control")
    answer = None
    if gan and control and max(row["difference"] for row in control) == 0:
        far = max(row["difference"] for row in gan)
        typical = sorted(row["loss"] for row in gan)[len(gan) // 2]
        answer = "c" if far > 0.1 * typical else "b" if far > 1e-4 * typical else "a" if far > 0 else None
    return {"06-bet-ulp": answer}


@experiment(
    name="06-one-ulp",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=6,
    title=both(
        "Move two numbers by the smallest step there is: how far does a training drift?",
        "把两个数挪动最小的一步：训练会偏离多远？",
    ),
)
def one_ulp(budget: Budget) -> Iterator[dict]:
    """Losses of a tiny GAN and of a line fit, with and without a nudge of one ulp; the GAN's control too."""
    steps = 120
    stories = {
        "gan": (toy_repro.duel_losses, True),
        "line": (toy_repro.fit_losses, True),
        "control": (toy_repro.duel_losses, False),
    }
    with using({"torch.num_threads": 1}):
        for story, (losses, nudged) in budget.loop(stories.items(), desc=both("trainings", "训练")):
            plain, moved = losses(False, steps), losses(nudged, steps)
            yield from [
                {"story": story, "step": step, "loss": one, "difference": abs(one - other)}
                for step, (one, other) in enumerate(zip(plain, moved, strict=True), start=1)
            ]


# --- 06-toy-table -------------------------------------------------------------------------------------------


def headline_toy_table(record: Record) -> Text:
    found = by_setting(record)
    if len(found) < 4:
        return TOO_NOISY
    with_it, without = (
        any(row["different_bits"] > 1 for (_, switch), rows in found.items() if switch == on for row in rows)
        for on in (1, 0)
    )
    if with_it:
        return both(
            "Even with `deterministic` on, some toys do not always give the same bits.",
            "开了 `deterministic`，还是有玩具不能逐位重复。",
        )
    if without:
        return both(
            "With `deterministic` on, every toy always gives the same bits; without it, not all do.",
            "开了 `deterministic` 都能逐位重复，不开就不一定。",
        )
    return both(
        "This time every toy gave the same bits each time, whatever was set.", "不管怎么设，这回每个玩具都逐位重复。"
    )


def say_toy_table(record: Record) -> Text:
    found = by_setting(record)
    if len(found) < 4:
        return NOTHING
    en, zh = [], []
    for setting, rows in found.items():
        unsteady = sum(row["different_bits"] > 1 for row in rows)
        en.append(f"{label(setting)}: {rows[0]['timed']} timed, {unsteady} of {len(rows)} toys unsteady")
        zh.append(f"{label(setting)}：计时 {rows[0]['timed']} 个，{len(rows)} 个玩具里 {unsteady} 个不稳")
    return both(
        "; ".join(en) + ". Unsteady: ten calls, more than one result.",
        "；".join(zh) + "。不稳：调用十次，结果不止一种。",
    )


def draw_toy_table(record: Record, bets: dict) -> Table:
    """For each setting how many candidates are timed, who wins, and how many toys repeat their bits."""
    lines = [["", t("timed", "计时"), t("winners", "赢家"), t("toys that repeat", "逐位重复的玩具")]]
    marks = {}
    for at, (setting, rows) in enumerate(by_setting(record).items()):
        steady, winners = sum(row["different_bits"] == 1 for row in rows), sorted({row["winner"] for row in rows})
        said = t(f"{steady} of {len(rows)}", f"{len(rows)} 个里 {steady} 个")
        lines.append([label(setting), str(rows[0]["timed"]), ", ".join(winners), said])
        marks |= {(at, 3): "told"} if steady == len(rows) else {}
    return Table(lines, marks)


@experiment(
    name="06-toy-table",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=12,
    whole=True,
    title=both(
        "The toy under the four settings: what is timed, who wins, do the bits repeat?",
        "玩具的四种设置：谁被计时，谁胜出，结果逐位重复吗？",
    ),
)
def toy_table(budget: Budget) -> Iterator[dict]:
    """For each pair of switches eight toys with an empty cache; ten calls each after the choice."""
    x, weight = toy_search.image(40), toy_search.kernel()
    with using({"torch.num_threads": _threads()}), torch.inference_mode():
        for benchmark, deterministic in budget.loop(PAIRS, desc=both("settings", "设置")):
            for toy in range(8):
                conv = FilterConv(bool(benchmark), bool(deterministic))
                bits = [fingerprint(conv(x, weight)) for _ in range(11)][1:]
                yield {
                    "benchmark": benchmark,
                    "deterministic": deterministic,
                    "toy": toy,
                    "allowed": len(conv.allowed()),
                    "timed": len(set(conv.timed)),
                    "winner": next(iter(conv.plans.values())),
                    "different_bits": len(set(bits)),
                    "bits": bits[0],
                }
