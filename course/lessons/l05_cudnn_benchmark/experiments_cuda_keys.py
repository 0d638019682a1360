"""What counts as new to cuDNN's cache of plans: the changes a working engineer makes first."""

from __future__ import annotations

from collections.abc import Iterator

from course.experiment.base import Budget, experiment
from course.experiment.kernels import differing_parts
from course.experiment.new_process import call_in_new_process
from course.experiment.words import NOTHING, TOO_NOISY, groups, middle, word
from course.figures.kinds import Bar, bars, time_words
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l05_cudnn_benchmark.experiments import FRESH, LESSON, PROBES, REPEATS
from course.lessons.l05_cudnn_benchmark.probes import CHANGES_CUDA
from course.records import Record
from course.timing.stats import median

CALLED = {
    "float32": both("float32, as it comes", "float32，原样"),
    "twin layer": both("another layer of the same shape", "同形状的另一层"),
    "bfloat16": both("bfloat16", "bfloat16"),
    "channels_last": both("channels_last", "channels_last"),
    "bfloat16, channels_last": both("bfloat16 and channels_last", "bfloat16 加 channels_last"),
    "training step": both("a training step", "训练一步"),
    "torch.compile": both("torch.compile", "torch.compile"),
}


def _ran(record: Record) -> dict[str, list[dict]]:
    return groups([row for row in record.rows if not row["error"]], "change")


def _searched(rows: list[dict]) -> bool:
    """Whether the first call after a change is long enough for a search."""
    return median([row["first_ms"] for row in rows]) > 3 * median([row["later_ms"] for row in rows])


def headline_new_keys_cuda(record: Record) -> Text:
    found = _ran(record)
    changes = [_searched(rows) for change, rows in found.items() if change != "float32"]
    if "float32" not in found or not changes:
        return TOO_NOISY
    if all(changes):
        return both("Each of these changes needs a new search.", "这些改动，每一种都要重新搜索。")
    if not any(changes):
        return both("Not one of these changes needs a new search.", "这些改动都不用重新搜索。")
    many = sum(changes)
    return both(
        f"{'One' if many == 1 else many} of these changes need{'s' * (many == 1)} a new search.",
        f"这些改动里，有 {many} 种要重新搜索。",
    )


def say_new_keys_cuda(record: Record) -> Text:
    found = _ran(record)
    if "float32" not in found:
        return NOTHING
    names = differing_parts(rows[0]["kernels"] for rows in found.values())
    parts: dict[str, list[str]] = {"en": [], "zh": []}
    for change, rows in found.items():
        first, later = (middle([row[key] for row in rows]) for key in ("first_ms", "later_ms"))
        other = rows[0]["kernels"] != found["float32"][0]["kernels"]
        parts["en"].append(f"{CALLED[change]['en']} {first} ms, later {later} ms" + ", other kernels" * other)
        parts["zh"].append(f"{CALLED[change]['zh']} {first} ms，之后 {later} ms" + "，kernel 不同" * other)
    refused = {row["change"]: row["error"] for row in record.rows if row["error"]}
    en = "".join(f" {CALLED[change]['en']} did not run here: {error}." for change, error in refused.items())
    zh = "".join(f"{CALLED[change]['zh']}在这里没跑成：{error}。" for change, error in refused.items())
    return both(
        f"First call after each change, with the search on: {'; '.join(parts['en'])}. "
        f"{len(names)} different set{'s' * (len(names) > 1)} of kernels.{en}",
        f"开着搜索，每次改动后的第一次调用：{'；'.join(parts['zh'])}。共 {len(names)} 种 kernel 集合。{zh}",
    )


def draw_new_keys_cuda(record: Record, bets: dict) -> SvgPicture:
    rows = []
    for change, found in _ran(record).items():
        first = median([row["first_ms"] for row in found])
        rows.append(
            Bar(
                word(CALLED[change]),
                first,
                time_words(first / 1e3),
                not _searched(found),
                t("first call", "第一次调用"),
            )
        )
    return bars(rows)


@experiment(
    name="05-new-keys-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=110,
    whole=True,
    title=both(
        "cuDNN: bfloat16, channels_last, a training step, torch.compile: what is searched anew?",
        "cuDNN：bfloat16、channels_last、训练一步、torch.compile：哪些要重新搜索？",
    ),
)
def new_keys_cuda(budget: Budget, batch: int = 8, size: int = 128, backend: str = "inductor") -> Iterator[dict]:
    """One convolution changed in one way after the other, search on, in three new processes: first and later calls."""
    for process in budget.loop(range(REPEATS), desc=FRESH):
        seconds = budget.share(REPEATS - process)
        found, _ = call_in_new_process(
            PROBES, "new_keys", list(CHANGES_CUDA), batch, size, seconds, backend, timeout_s=240
        )
        budget.complete = budget.complete and len(found) == len(CHANGES_CUDA)
        yield from [{"process": process, **row} for row in found]
