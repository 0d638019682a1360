# Wrong ideas and right variants of lesson 02 (see grader/ideas.py).

# %% wrong 02-t-interval loses=typical
# The whole range is the interval.
def interval_of_median(samples):
    return [min(samples), max(samples)] if len(samples) > 5 else None

# %% wrong 02-t-interval loses=few
# Any number of readings carries an interval.
from math import comb

def interval_of_median(samples):
    n, missed, kept, ordered = len(samples), 0, 0, sorted(samples)
    for k in range(n):
        missed += 2 * comb(n, k)
        if missed > 0.05 * 2**n:
            break
        kept = k
    return [ordered[kept], ordered[-1 - kept]]

# %% wrong 02-t-interval loses=typical,few
# The readings come sorted.
from math import comb

def interval_of_median(samples):
    n, missed, kept = len(samples), 0, None
    for k in range(n):
        missed += 2 * comb(n, k)
        if missed > 0.05 * 2**n:
            break
        kept = k
    return None if kept is None else [samples[kept], samples[-1 - kept]]

# %% wrong 02-t-interval loses=typical,few
# One side of the tail is all there is.
from math import comb

def interval_of_median(samples):
    n, missed, kept, ordered = len(samples), 0, None, sorted(samples)
    for k in range(n):
        missed += comb(n, k)
        if missed > 0.05 * 2**n:
            break
        kept = k
    return None if kept is None else [ordered[kept], ordered[-1 - kept]]

# %% wrong 02-t-interval loses=typical,few
# Readings follow a bell curve.
from statistics import fmean, pstdev

def interval_of_median(samples):
    half = 1.96 * pstdev(samples) / len(samples) ** 0.5
    return [fmean(samples) - half, fmean(samples) + half]

# %% wrong 02-t-interval loses=typical,few
# One more at each end must go.
from math import comb

def interval_of_median(samples):
    n, missed, kept, ordered = len(samples), 0, None, sorted(samples)
    for k in range(n):
        missed += 2 * comb(n, k)
        if missed > 0.05 * 2**n:
            break
        kept = k + 1
    return None if kept is None else [ordered[kept], ordered[-1 - kept]]

# %% wrong 02-t-interval loses=typical,few
# The middle 95 % of the readings are the interval of their median.
import numpy

def interval_of_median(samples):
    return list(numpy.quantile(samples, [0.025, 0.975])) if len(samples) > 5 else None

# %% right 02-t-interval
# The course's own, with its rule for few.
from course.timing.stats import median_interval

def interval_of_median(samples):
    if len(samples) < 6:
        return None
    found = median_interval(samples)
    return found.low, found.high

# %% right 02-t-interval
# numpy from end to end.
import numpy
from math import comb

def interval_of_median(samples):
    n = len(samples)
    chance = 2 * numpy.cumsum([comb(n, k) / 2.0**n for k in range(n)])
    k = int((chance <= 0.05).sum()) - 1
    return None if k < 0 else numpy.sort(samples)[[k, n - 1 - k]]

# %% right 02-t-interval
# Exact fractions; the smallest readings are taken away one by one.
from fractions import Fraction
from math import comb

def interval_of_median(samples):
    n, tail, left = len(samples), Fraction(0), sorted(samples)
    if Fraction(2, 2**n) > Fraction(1, 20):
        return None
    for k in range(n):
        tail += Fraction(2 * comb(n, k), 2**n)
        if tail > Fraction(1, 20):
            return [left[0], left[-1]] if k == 0 else [sorted(samples)[k - 1], sorted(samples, reverse=True)[k - 1]]

# %% right 02-t-interval
# torch sorts and gives a tensor.
import torch
from math import comb

def interval_of_median(samples):
    n, k = len(samples), -1
    while 2 * sum(comb(n, i) for i in range(k + 2)) <= 0.05 * 2**n:
        k += 1
    ordered = torch.tensor(samples, dtype=torch.float64).sort().values
    return None if k < 0 else torch.stack([ordered[k], ordered[n - 1 - k]])

# %% wrong 02-t-verdict loses=winner
# The gate is asked first: small gaps are none.
def honest_verdict(low, high, gate):
    if 1 - gate <= low and high <= 1 + gate:
        return "same"
    return "faster" if high < 1 else "slower" if low > 1 else "undecided"

# %% wrong 02-t-verdict loses=same
# The gate itself lies outside.
def honest_verdict(low, high, gate):
    if high < 1:
        return "faster"
    if low > 1:
        return "slower"
    return "same" if 1 - gate < low and high < 1 + gate else "undecided"

# %% wrong 02-t-verdict loses=undecided
# What names no winner is the same.
def honest_verdict(low, high, gate):
    return "faster" if high < 1 else "slower" if low > 1 else "same"

# %% wrong 02-t-verdict loses=same,undecided
# An end at exactly 1 excludes it.
def honest_verdict(low, high, gate):
    if high <= 1:
        return "faster"
    if low >= 1:
        return "slower"
    return "same" if 1 - gate <= low and high <= 1 + gate else "undecided"

# %% wrong 02-t-verdict loses=same,undecided
# The middle of the interval decides.
def honest_verdict(low, high, gate):
    return "faster" if (low + high) / 2 < 1 else "slower"

# %% wrong 02-t-verdict loses=undecided
# Only the upper end must stay within the gate.
def honest_verdict(low, high, gate):
    if high < 1 or low > 1:
        return "faster" if high < 1 else "slower"
    return "same" if high <= 1 + gate else "undecided"

# %% wrong 02-t-verdict loses=winner,same,undecided
# Above 1 means faster.
def honest_verdict(low, high, gate):
    if high < 1:
        return "slower"
    if low > 1:
        return "faster"
    return "same" if 1 - gate <= low and high <= 1 + gate else "undecided"

# %% wrong 02-t-verdict loses=undecided
# One end within the gate is enough.
def honest_verdict(low, high, gate):
    if high < 1 or low > 1:
        return "faster" if high < 1 else "slower"
    return "same" if 1 - gate <= low or high <= 1 + gate else "undecided"

# %% wrong 02-t-verdict loses=undecided
# An interval as narrow as the gate on both sides means the same.
def honest_verdict(low, high, gate):
    if high < 1 or low > 1:
        return "faster" if high < 1 else "slower"
    return "same" if high - low <= 2 * gate else "undecided"

# %% right 02-t-verdict
# Distances from 1.
def honest_verdict(low, high, gate):
    if low <= 1 <= high:
        return "same" if max(abs(low - 1), abs(high - 1)) <= gate else "undecided"
    return "slower" if low > 1 else "faster"

# %% right 02-t-verdict
# Signs of both ends.
def honest_verdict(low, high, gate):
    sides = {(end > 1) - (end < 1) for end in (low, high)}
    if sides == {-1}:
        return "faster"
    if sides == {1}:
        return "slower"
    return "undecided" if low < 1 - gate or 1 + gate < high else "same"

# %% right 02-t-verdict
# numpy picks; its own string type comes back.
import numpy

def honest_verdict(low, high, gate):
    return numpy.select([high < 1, low > 1, (low >= 1 - gate) & (high <= 1 + gate)], ["faster", "slower", "same"], "undecided")

# %% right 02-t-verdict
# A table of conditions.
def honest_verdict(low, high, gate):
    rules = [(not high >= 1, "faster"), (not low <= 1, "slower"), (low - 1 + gate >= 0 and high - 1 - gate <= 0, "same"), (True, "undecided")]
    return next(word for holds, word in rules if holds)

# %% wrong 02-t-report loses=repeat,claim
# The end points are a feeling, not a calculation.
report = {"device": "cpu", "threads": 2, "warmup_calls": 5, "fence": "none needed", "ratios": [0.9, 0.91, 0.89] * 5, "low": 0.001,
          "high": 1000.0, "gate": 0.02, "claim": "undecided"}

# %% wrong 02-t-report loses=repeat,claim
# The median alone is the result.
report = {"device": "cpu", "threads": 2, "warmup_calls": 5, "fence": "none needed", "ratios": [0.9, 0.91, 0.89, 0.92] * 5,
          "low": 0.905, "high": 0.905, "gate": 0.02, "claim": "faster"}

# %% wrong 02-t-report loses=warm
# The first call is a call like any other.
report = {"device": "cpu", "threads": 2, "warmup_calls": 0, "fence": "none needed", "ratios": [0.9, 0.91, 0.89] * 5, "low": 0.89,
          "high": 0.91, "gate": 0.02, "claim": "faster"}

# %% wrong 02-t-report loses=fence
# A GPU needs no fence.
report = {"device": "cuda:0", "threads": 2, "warmup_calls": 5, "fence": "none needed", "ratios": [0.9, 0.91, 0.89] * 5, "low": 0.89,
          "high": 0.91, "gate": 0.02, "claim": "faster"}

# %% wrong 02-t-report loses=repeat,claim
# Three rounds are enough.
report = {"device": "cpu", "threads": 2, "warmup_calls": 5, "fence": "none needed", "ratios": [0.9, 0.91, 0.89], "low": 0.89,
          "high": 0.91, "gate": 0.02, "claim": "faster"}

# %% wrong 02-t-report loses=claim
# A median below 1 is a winner, whatever the interval.
report = {"device": "cpu", "threads": 2, "warmup_calls": 5, "fence": "none needed", "ratios": [0.9, 1.1, 0.95, 1.05, 0.97] * 4,
          "low": 0.95, "high": 1.05, "gate": 0.02, "claim": "faster"}

# %% wrong 02-t-report loses=claim
# A gate wide enough makes everything the same.
report = {"device": "cpu", "threads": 2, "warmup_calls": 5, "fence": "none needed", "ratios": [0.9, 1.1, 0.95, 1.05, 0.97] * 4,
          "low": 0.95, "high": 1.05, "gate": 5.0, "claim": "same"}

# %% wrong 02-t-report loses=claim
# The number of threads does not matter.
report = {"device": "cpu", "threads": None, "warmup_calls": 5, "fence": "none needed", "ratios": [0.9, 0.91, 0.89] * 5, "low": 0.89,
          "high": 0.91, "gate": 0.02, "claim": "faster"}

# %% right 02-t-report
# Tuples, and a tie that is honestly open.
report = {"device": "cpu", "threads": 2, "warmup_calls": 3, "fence": "synchronize", "ratios": (0.9, 1.1, 0.95, 1.05, 0.97) * 4,
          "low": 0.95, "high": 1.05, "gate": 0.02, "claim": "undecided"}

# %% right 02-t-report
# Arrays, a torch device, words in capitals.
import numpy, torch

ratios = numpy.array([2.9, 3.1, 3.0] * 4)
report = {"device": torch.device("cuda", 0), "threads": numpy.int64(4), "warmup_calls": 10, "fence": "Events", "ratios": ratios,
          "low": ratios.min(), "high": ratios.max(), "gate": 0.02, "claim": "Slower"}

# %% right 02-t-report
# A bootstrap in torch.
import torch

torch.manual_seed(0)
ratios = 1 + 0.002 * torch.randn(60)
medians = torch.stack([ratios[torch.randint(60, (60,))].median() for _ in range(500)])
low, high = medians.quantile(torch.tensor([0.025, 0.975]))
claim = "slower" if low > 1 else "faster" if high < 1 else "same"
report = {"device": "mps", "threads": 8, "warmup_calls": 5, "fence": "synchronize", "ratios": ratios, "low": low, "high": high,
          "gate": 0.02, "claim": claim}

# %% right 02-t-report
# A dictionary made by dict(), with more in it than was asked.
report = dict(device="cpu", threads=1, warmup_calls=5, fence="none needed", ratios=[1.0] * 12, low=1.0, high=1.0, gate=0.02,
              claim="same", note="a coarse clock", rounds=12)
