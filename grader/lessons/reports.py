"""Functions for judging a student's report of a measurement: read its values, compare an interval with its samples, give a
verdict over several criteria. Speed and the size of an effect give no points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from course.core.i18n import Text, both
from course.core.verdict import Verdict, correct, incorrect, not_attempted, partly
from course.timing.stats import median_interval
from grader.marking.said import say

LEAST_SAMPLES = 6
"""Fewer samples carry no 95 % interval for a median."""
NARROWEST = 0.05
"""An interval of less than this share of the one recomputed from the samples claims more than they show. That of `compare` may
be a tenth as wide, where other programs disturb most rounds."""
SLACK, STRICT = 3e-3, 1e-3
"""What an honest interval may add to the samples, as a share: rounding, and what `compare` adds on either side. And the error of
the interval of their median that it has to touch."""
PAIRED = say("report.pairs")
CLAIMED = say("report.claim")

Mark = tuple[float, Text | None]  # the share of one point, and what is missing (None: nothing)


def judged(
    report: Any, fields: Sequence[str], criteria: Mapping[str, Callable[[dict[str, Any]], Mark]], praise: Text
) -> Verdict:
    """The verdict: a point for each criterion, and for each what is missing. report: plain data."""
    top = float(len(criteria))
    if not isinstance(report, dict):
        return incorrect(say("report.no-dictionary"), max_points=top, reason="no-dictionary")
    if all(empty(report.get(name)) for name in fields):
        return not_attempted(say("report.empty"), max_points=top)
    marks = {name: judge(report) for name, judge in criteria.items()}
    parts = {name: share for name, (share, _) in marks.items()}
    reasons = [reason for _, reason in marks.values() if reason]
    points = sum(parts.values())
    if points == top:
        return correct(praise, points=top, parts=parts)
    lost = {"parts": parts, "reason": " ".join(name for name, share in parts.items() if share < 1)}
    return partly(points, top, *reasons, **lost) if points else incorrect(*reasons, max_points=top, **lost)


def paired(report: Mapping[str, Any], names: Sequence[str], *more: Callable[[Mapping[str, Any]], Text | None]) -> Mark:
    """The mark for enough pairs under ``names``, and for what else belongs to them: each of ``more`` says what is wrong, or None."""
    faults = (samples_fault(report, names, 1e-12), *(check(report) for check in more))
    return mark(next(filter(None, faults), None), PAIRED)


def threads_fault(report: Mapping[str, Any]) -> Text | None:
    """What is wrong with the number of threads; None if nothing."""
    if number(report.get("threads"), 1) is None:
        return say("report.threads")
    return None


def shape_fault(report: Mapping[str, Any]) -> Text | None:
    """What is wrong with the sizes of the input; None if nothing."""
    if not numbers(report.get("shape"), 1):
        return say("report.shape")
    return None


def mark(fault: Text | None, criterion: Text) -> Mark:
    """The mark for one criterion: full where ``fault`` is None, else none with the criterion and the fault in words."""
    if fault is None:
        return 1.0, None
    return 0.0, say("report.part", criterion=criterion, fault=fault)


def empty(value: Any) -> bool:
    """Whether a field was not filled in."""
    return value is None or value == "..."


def number(value: Any, least: float = -math.inf) -> float | None:
    """A finite number of at least ``least``; None for anything else, also for True."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return value if math.isfinite(value) and value >= least else None
    except OverflowError:  # a whole number beyond what a float holds
        return None


def numbers(value: Any, least: float = -math.inf) -> list[float]:
    """A list of finite numbers of at least ``least``; empty for anything else."""
    good = isinstance(value, list) and all(number(one, least) is not None for one in value)
    return value if good else []


def words(value: Any) -> str:
    """A text in lower case; "" for anything else."""
    return value.strip().lower() if isinstance(value, str) else ""


def dtype(value: Any) -> str:
    """The name of a dtype, from any usual form: "float64", torch.float64, numpy.float64, "double"."""
    name = words(value).split(".")[-1]
    return {"double": "float64", "fp64": "float64", "float": "float32", "single": "float32", "fp32": "float32"}.get(
        name, name
    )


def samples_fault(report: Mapping[str, Any], names: Sequence[str], least: float) -> Text | None:
    """The fault in the lists of samples under ``names``, which must have the same length; None if there is none."""
    for name in names:
        if empty(report.get(name)):
            return say("report.missing", name=name)
        if not numbers(report[name], least):
            return say("report.not-numbers", name=name)
    lengths = [len(report[name]) for name in names]
    if len(set(lengths)) > 1:
        told = both(
            " and ".join(f"{length} in `{name}`" for name, length in zip(names, lengths, strict=True)),
            "，".join(f"`{name}` 有 {length} 个" for name, length in zip(names, lengths, strict=True)),
        )
        return say("report.several", told=told)
    if lengths[0] < LEAST_SAMPLES:
        return say("report.few", least_samples=LEAST_SAMPLES, count=lengths[0])
    return None


def interval_fault(report: Mapping[str, Any], samples: Sequence[float], what: Text) -> Text | None:
    """The fault in [low, high] as an interval for the median of ``samples``; None if there is none.

    Any valid method passes (order statistics, bootstrap, what `compare` gives). Checked are: both ends lie within the samples, the
    interval touches one that holds their median all but surely, and it is not far narrower than the order-statistic interval
    (``course.timing.stats.median_interval``).
    """
    low, high = number(report.get("low")), number(report.get("high"))
    for name, end in (("low", low), ("high", high)):
        if end is None:
            return say("report.not-a-number", name=name)
    if low > high:
        return say("report.turned")
    middle, again, sure = median(samples), median_interval(samples), median_interval(samples, STRICT)
    slack = SLACK * abs(middle)
    if low - slack > sure.high or high + slack < sure.low:
        return say("report.beside", what=what, middle=middle)
    if low < min(samples) - slack or high > max(samples) + slack:
        return say("report.beyond", what=what)
    if high - low < NARROWEST * (again.high - again.low):
        return say("report.narrow", what=what, low=again.low, high=again.high)
    return None


def claim(
    report: Mapping[str, Any],
    pairs: tuple[str, str],
    ratios: Text,
    below: str = "faster",
    above: str = "slower",
    nothing_differs: bool = False,
) -> Mark:
    """The mark for ``report["claim"]``: does it follow from the interval [low, high] of the ratios?

    It must be ``below`` for an interval below 1, ``above`` for one above 1, else "undecided". pairs: the fields with the
    samples, numerator and denominator. ratios: these ratios in words. nothing_differs: there is no real difference, so
    "undecided" is right for every interval.
    """
    if samples_fault(report, pairs, 1e-12):
        return 0.0, say("report.nothing-to-claim")
    samples = [one / other for one, other in zip(*(report[name] for name in pairs), strict=True)]
    if fault := interval_fault(report, samples, ratios):
        return mark(fault, CLAIMED)
    low, high = report["low"], report["high"]
    fits = {below: high < 1, above: low > 1, "undecided": low <= 1 <= high or nothing_differs}
    if fits.get(words(report.get("claim"))):
        return 1.0, None
    return 0.0, say("report.other-claim", below=below, above=above)
