"""Which kernels ran before and after the search, told by the profiler."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from course.experiment.base import Budget, experiment
from course.experiment.kernels import differing_parts, joined_set
from course.experiment.new_process import call_in_new_process
from course.experiment.words import NOTHING, TOO_NOISY, groups, word
from course.i18n import Text, both, t
from course.lessons.l05_cudnn_benchmark.experiments import FRESH, LESSON, PROBES
from course.lessons.l05_cudnn_benchmark.experiments_cuda import NAMES
from course.records import Record
from course.tables import Table

Case = tuple[int, str]


def _sets(record: Record) -> dict[Case, list[str]]:
    """(size, story) -> the set of kernels in each process, as one text a set."""
    found: dict[Case, list[str]] = {}
    for case, rows in groups([{**row, "case": (row["size"], row["story"])} for row in record.rows], "case").items():
        found[case] = [joined_set(process) for process in groups(rows, "process").values()]
    return found


def _longest(record: Record) -> dict[Case, dict]:
    """(size, story) -> the row of the longest kernel of its first process."""
    return {(row["size"], row["story"]): row for row in reversed(record.rows) if row["place"] == 1}


def headline_kernels_cuda(record: Record) -> Text:
    found = _longest(record)
    sizes = [size for size in sorted({size for size, _ in found}) if {(size, "off"), (size, "on")} <= set(found)]
    if not sizes:
        return TOO_NOISY
    other = [found[size, "off"]["kernel"] != found[size, "on"]["kernel"] for size in sizes]
    if all(other):
        return both(
            "The search picks another kernel than the rule of thumb.", "搜索选出的 kernel，和经验规则选的不一样。"
        )
    if any(other):
        return both(
            "For one size the search picks another kernel, for another not.", "有的尺寸搜索会换 kernel，有的不换。"
        )
    return both("The search picks the same kernel as the rule of thumb.", "搜索选出的 kernel，和经验规则选的一样。")


def say_kernels_cuda(record: Record) -> Text:
    found, sets = dict(reversed(_longest(record).items())), _sets(record)
    if len(found) < 2:
        return NOTHING
    names = differing_parts(row["kernel"] for row in found.values())
    unsteady = [case for case, processes in sets.items() if len(set(processes)) > 1]

    def cases(chosen: Any, code: str) -> str:
        sign = ("; ", ", ") if code == "en" else ("；", "，")
        return sign[0].join(
            f"{size}{sign[1]}{NAMES[story][code]}" + (f" {names[found[size, story]['kernel']]}" if one else "")
            for (size, story), one in chosen
        )

    listed = [(case, True) for case in found]
    if len(names) == 1:
        listed = []
        same = both(
            f"The same longest kernel in every case: {next(iter(names.values()))}.",
            f"各种情况下耗时最长的都是同一个 kernel：{next(iter(names.values()))}。",
        )
    else:
        same = both(
            f"The longest kernel, where the names differ: {cases(listed, 'en')}.",
            f"耗时最长的 kernel（只列名字的不同之处）：{cases(listed, 'zh')}。",
        )
    more = both("", "")
    if unsteady:
        chosen = [(case, False) for case in unsteady]
        more = both(
            f" Two processes of one setting ran different sets of kernels at {cases(chosen, 'en')}.",
            f"同一设置的两个进程跑了不同的 kernel 集合：{cases(chosen, 'zh')}。",
        )
    return both(same["en"] + more["en"], same["zh"] + more["zh"])


def draw_kernels_cuda(record: Record, bets: dict) -> Table:
    found = _longest(record)
    names = differing_parts((row["kernel"] for row in found.values()), 44)
    sizes = sorted({size for size, _ in found})
    lines = [["", word(NAMES["off"]), word(NAMES["on"])]]
    for size in sizes:
        kernels = [names[found[size, story]["kernel"]] if (size, story) in found else "" for story in ("off", "on")]
        lines.append([t(f"size {size}", f"尺寸 {size}"), *kernels])
    return Table(lines, {(at, 2): "told" for at, line in enumerate(lines[1:]) if line[1] != line[2]})


@experiment(
    name="05-kernels-cuda",
    lesson=LESSON,
    version=2,
    needs="cuda",
    seconds=110,
    whole=True,
    title=both("cuDNN: which kernels run, by the profiler", "cuDNN：profiler 看到的是哪些 kernel"),
)
def kernels_cuda(budget: Budget, batch: int = 8, sizes: tuple[int, ...] = (32, 128)) -> Iterator[dict]:
    """All kernels of one convolution by whole names, for two sizes, search off and on, two processes each."""
    cases = [
        (story, benchmark, size, process)
        for process in range(2)
        for size in sizes
        for benchmark, story in enumerate(("off", "on"))
    ]
    for story, benchmark, size, process in budget.loop(cases, desc=FRESH, least=2):
        found, _ = call_in_new_process(PROBES, "kernel_names", benchmark, batch, size, timeout_s=180)
        yield from [
            {"story": story, "process": process, "size": size, "place": place, **one}
            for place, one in enumerate(found, start=1)
        ]
