"""Experiment of lesson 08: until when an environment variable still counts."""

from __future__ import annotations

from collections.abc import Iterator

from course.experiment.base import Budget, experiment
from course.experiment.words import NOTHING, TOO_NOISY, word
from course.i18n import Text, both, t
from course.lessons.l08_mps import probes
from course.lessons.l08_mps.experiments import LESSON
from course.records import Record
from course.tables import Table

MOMENTS = {
    "before import": both("before import", "导入前"),
    "after import": both("after import", "导入后"),
    "after first use": both("after first use", "首次使用后"),
    "any": both("whenever", "任何时候"),
}

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
        "a": both(
            "Set after the import, none of these environment variables counts.",
            "import 之后再设，这几个环境变量全都晚了。",
        ),
        "b": both(
            "Set after the import, some environment variables count; others come too late.",
            "import 之后再设环境变量，有的还算数，有的晚了。",
        ),
        "c": both(
            "Set after the import, each of these environment variables still counts.",
            "import 之后再设，这几个环境变量全都还算数。",
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
    asked = {row["variable"] for row in record.rows if row["moment"] == "after import"}
    if in_time + late < 2 or len(asked) < len(probes.VARIABLES):
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
def env_when(budget: Budget) -> Iterator[dict]:
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
    for variable in probes.VARIABLES:
        never, early = (seen.get(moment, {}).get(variable) for moment in ("never", "before import"))
        for moment in probes.MOMENTS[1:]:
            if moment in seen:
                value = seen[moment][variable]
                counted = "unclear" if never == early else "yes" if value == early else "no"
                yield {
                    "variable": variable,
                    "moment": moment,
                    "counted": counted,
                    "seen": str(value),
                    "without": str(never),
                }
    yield {
        "variable": probes.FALLBACK,
        "moment": "any",
        "counted": "unclear" if named[probes.FALLBACK] else "nobody reads it",
        "seen": "named in the libraries" if named[probes.FALLBACK] else "not in the libraries",
        "without": "",
    }
