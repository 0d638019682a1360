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

# %% wrong 02-stopwatch reason=no-fence
# Launching is running.
def stopwatch_ms(run, synchronize, clock):
    start = clock()
    run()
    return (clock() - start) * 1e3

# %% wrong 02-stopwatch reason=no-fence
# A fence before the start is enough.
def stopwatch_ms(run, synchronize, clock):
    synchronize()
    start = clock()
    run()
    return (clock() - start) * 1e3

# %% wrong 02-stopwatch reason=old-work
# A fence after the run is enough.
def stopwatch_ms(run, synchronize, clock):
    start = clock()
    run()
    synchronize()
    return (clock() - start) * 1e3

# %% wrong 02-stopwatch reason=wrong-time
# What waited before can be subtracted: it was 30 ms.
def stopwatch_ms(run, synchronize, clock):
    start = clock()
    run()
    synchronize()
    return (clock() - start) * 1e3 - 30

# %% wrong 02-stopwatch reason=wrong-time
# The answer is known: it takes 20 ms.
def stopwatch_ms(run, synchronize, clock):
    run()
    return 20.0

# %% wrong 02-stopwatch reason=seconds
# The clock counts milliseconds.
def stopwatch_ms(run, synchronize, clock):
    synchronize()
    start = clock()
    run()
    synchronize()
    return clock() - start

# %% wrong 02-stopwatch reason=run-again
# Warm up inside the stopwatch.
def stopwatch_ms(run, synchronize, clock):
    run()
    synchronize()
    start = clock()
    run()
    synchronize()
    return (clock() - start) * 1e3

# %% wrong 02-stopwatch reason=never-ran
# Nothing has to run to be timed.
def stopwatch_ms(run, synchronize, clock):
    synchronize()
    start = clock()
    synchronize()
    return (clock() - start) * 1e3

# %% wrong 02-stopwatch reason=no-number
# A time comes with its unit.
def stopwatch_ms(run, synchronize, clock):
    synchronize()
    start = clock()
    run()
    synchronize()
    return f"{(clock() - start) * 1e3} ms"

# %% wrong 02-stopwatch
# torch's own fence is a fence for everything.
import torch

def stopwatch_ms(run, synchronize, clock):
    torch.cuda.synchronize()
    start = clock()
    run()
    torch.cuda.synchronize()
    return (clock() - start) * 1e3

# %% right 02-stopwatch
# Two readings in variables.
def stopwatch_ms(run, synchronize, clock):
    synchronize(); begin = clock()
    run(); synchronize(); end = clock()
    return 1000 * (end - begin)

# %% right 02-stopwatch
# More fences do no harm.
def stopwatch_ms(run, synchronize, clock):
    synchronize()
    synchronize()
    start = clock()
    run()
    synchronize()
    synchronize()
    return (clock() - start) * 1e3

# %% right 02-stopwatch
# A context manager.
from contextlib import contextmanager

def stopwatch_ms(run, synchronize, clock):
    times = []

    @contextmanager
    def fenced():
        synchronize()
        times.append(clock())
        yield
        synchronize()
        times.append(clock())

    with fenced():
        run()
    return (times[1] - times[0]) * 1e3

# %% right 02-stopwatch
# Whole microseconds.
def stopwatch_ms(run, synchronize, clock):
    synchronize()
    start = round(clock() * 1e6)
    run()
    synchronize()
    return (round(clock() * 1e6) - start) / 1000

# %% wrong 02-median-interval reason=whole-range
# The whole range is the interval.
from statistics import median

def median_interval(samples):
    return median(samples), min(samples), max(samples)

# %% wrong 02-median-interval reason=mean
# The mean stands in front.
from statistics import fmean
from course.lessons.l02_timing.exercises import cut

def median_interval(samples):
    ordered, k = sorted(samples), cut(len(samples))
    return fmean(ordered), ordered[k], ordered[-1 - k]

# %% wrong 02-median-interval reason=unsorted
# The readings come sorted.
from statistics import median
from course.lessons.l02_timing.exercises import cut

def median_interval(samples):
    k = cut(len(samples))
    return median(samples), samples[k], samples[-1 - k]

# %% wrong 02-median-interval reason=ends
# One more at each end must go.
from statistics import median
from course.lessons.l02_timing.exercises import cut

def median_interval(samples):
    ordered, k = sorted(samples), cut(len(samples)) + 1
    return median(ordered), ordered[k], ordered[-1 - k]

# %% wrong 02-median-interval reason=input-changed
# Sorting in place is for free.
from statistics import median
from course.lessons.l02_timing.exercises import cut

def median_interval(samples):
    samples.sort()
    k = cut(len(samples))
    return median(samples), samples[k], samples[-1 - k]

# %% wrong 02-median-interval reason=median
# The middle one of the sorted list is the median, whatever their number.
from course.lessons.l02_timing.exercises import cut

def median_interval(samples):
    ordered, k = sorted(samples), cut(len(samples))
    return ordered[len(ordered) // 2], ordered[k], ordered[-1 - k]

# %% wrong 02-median-interval reason=ends
# The upper end is as far from the end as the lower one, counted from one.
from statistics import median
from course.lessons.l02_timing.exercises import cut

def median_interval(samples):
    ordered, k = sorted(samples), cut(len(samples))
    return median(ordered), ordered[k], ordered[-k]

# %% wrong 02-median-interval reason=three-numbers
# The median alone is the result.
from statistics import median
median_interval = median

# %% right 02-median-interval
# The course's own.
from course.timing.stats import median, median_interval as interval

def median_interval(samples):
    found = interval(samples)
    return median(samples), found.low, found.high

# %% right 02-median-interval
# A slice, and a list for an answer.
from statistics import median
from course.lessons.l02_timing.exercises import cut

def median_interval(samples):
    k = cut(len(samples))
    kept = sorted(samples)[k:len(samples) - k]
    return [median(samples), kept[0], kept[-1]]

# %% right 02-median-interval
# heapq finds both ends.
import heapq
from statistics import median
from course.lessons.l02_timing.exercises import cut

def median_interval(samples):
    k = cut(len(samples)) + 1
    return median(samples), heapq.nsmallest(k, samples)[-1], heapq.nlargest(k, samples)[-1]

# %% right 02-median-interval
# numpy's sort, its numbers as floats.
import numpy
from course.lessons.l02_timing.exercises import cut

def median_interval(samples):
    ordered, k = numpy.sort(samples), cut(len(samples))
    return float(numpy.median(ordered)), float(ordered[k]), float(ordered[-1 - k])

# %% wrong 02-paired-ratio reason=medians
# The medians divide as well.
from statistics import median
paired_ratio = lambda baseline_ms, candidate_ms: median(candidate_ms) / median(baseline_ms)

# %% wrong 02-paired-ratio reason=means
# So do the means.
paired_ratio = lambda baseline_ms, candidate_ms: sum(candidate_ms) / sum(baseline_ms)

# %% wrong 02-paired-ratio reason=turned-round
# Baseline over candidate.
from statistics import median
paired_ratio = lambda baseline_ms, candidate_ms: median(b / c for b, c in zip(baseline_ms, candidate_ms))

# %% wrong 02-paired-ratio reason=mean-of-ratios
# The mean of the ratios.
from statistics import fmean
paired_ratio = lambda baseline_ms, candidate_ms: fmean(c / b for b, c in zip(baseline_ms, candidate_ms))

# %% wrong 02-paired-ratio reason=other-pairs
# The best ratio is the undisturbed one.
paired_ratio = lambda baseline_ms, candidate_ms: min(c / b for b, c in zip(baseline_ms, candidate_ms))

# %% wrong 02-paired-ratio reason=other-pairs
# The most frequent ratio.
from statistics import mode
paired_ratio = lambda baseline_ms, candidate_ms: mode(round(c / b, 6) for b, c in zip(baseline_ms, candidate_ms))

# %% wrong 02-paired-ratio reason=other-pairs
# The answer is known.
paired_ratio = lambda baseline_ms, candidate_ms: 0.9

# %% wrong 02-paired-ratio reason=other-pairs
# The lower of two middle values.
from statistics import median_low
paired_ratio = lambda baseline_ms, candidate_ms: median_low(c / b for b, c in zip(baseline_ms, candidate_ms))

# %% wrong 02-paired-ratio reason=no-number
# Each pair has its ratio.
paired_ratio = lambda baseline_ms, candidate_ms: [c / b for b, c in zip(baseline_ms, candidate_ms)]

# %% right 02-paired-ratio
# A sorted list by hand.
def paired_ratio(baseline_ms, candidate_ms):
    ratios = sorted(c / b for b, c in zip(baseline_ms, candidate_ms))
    half, odd = divmod(len(ratios), 2)
    return ratios[half] if odd else (ratios[half - 1] + ratios[half]) / 2

# %% right 02-paired-ratio
# numpy divides whole lists.
import numpy
paired_ratio = lambda baseline_ms, candidate_ms: numpy.median(numpy.array(candidate_ms) / numpy.array(baseline_ms))

# %% right 02-paired-ratio
# The course's median.
from course.timing.stats import median
paired_ratio = lambda baseline_ms, candidate_ms: median([candidate_ms[i] / baseline_ms[i] for i in range(len(baseline_ms))])

# %% right 02-paired-ratio
# torch's quantile.
import torch
paired_ratio = lambda baseline_ms, candidate_ms: (torch.tensor(candidate_ms, dtype=torch.float64)
                                                  / torch.tensor(baseline_ms, dtype=torch.float64)).quantile(0.5).item()

# %% wrong 02-lose reason=no-comparison
# Numbers alone are evidence.
evidence = {"naive_ratio": 1.4, "comparison": 0.8}

# %% wrong 02-lose reason=same-winner
# Both name the same winner.
import torch
x, w = torch.randn(1, 3, 16, 16), torch.randn(3, 3, 3, 3)
conv = lambda: torch.conv2d(x, w)
evidence = {"naive_ratio": 0.7, "comparison": raced({"slow": conv, "fast": conv}, 0.8)}

# %% wrong 02-lose reason=no-ratio
# A ratio below zero is far from one.
import torch
x, w = torch.randn(1, 3, 16, 16), torch.randn(3, 3, 3, 3)
conv = lambda: torch.conv2d(x, w)
evidence = {"naive_ratio": -3.0, "comparison": raced({"slow": conv, "fast": conv}, 1.5)}

# %% wrong 02-lose reason=no-convolutions
# Anything may be raced.
evidence = {"naive_ratio": 1.4, "comparison": raced({"slow": lambda: sum(range(99)), "fast": lambda: None}, 0.8)}

# %% wrong 02-lose reason=no-convolutions
# An object with the right names is a comparison.
from types import SimpleNamespace
evidence = {"naive_ratio": 1.4, "comparison": SimpleNamespace(ratio=0.8, low=0.7, high=0.9)}

# %% wrong 02-lose gets=inconclusive reason=undecided
# A fair interval with 1 in it names a winner.
import torch
x, w = torch.randn(1, 3, 16, 16), torch.randn(3, 3, 3, 3)
conv = lambda: torch.conv2d(x, w)
evidence = {"naive_ratio": 1.4, "comparison": raced({"slow": conv, "fast": conv}, 1.0)}

# %% wrong 02-lose reason=no-dictionary
# The naive ratio is optional.
import torch
x, w = torch.randn(1, 3, 16, 16), torch.randn(3, 3, 3, 3)
conv = lambda: torch.conv2d(x, w)
evidence = {"comparison": raced({"slow": conv, "fast": conv}, 0.8)}

# %% right 02-lose
# Naive says slower, the interval faster.
import torch
x, w = torch.randn(1, 3, 16, 16), torch.randn(3, 3, 3, 3)
conv = lambda: torch.conv2d(x, w)
evidence = {"naive_ratio": 1.4, "comparison": raced({"slow": lambda: torch.conv2d(x, w, padding=4), "fast": conv}, 0.8)}

# %% right 02-lose
# Naive says faster, the interval slower; a numpy number.
import numpy, torch
layer, x = torch.nn.Conv2d(3, 8, 3), torch.randn(1, 3, 16, 16)
evidence = {"naive_ratio": numpy.float64(0.2), "comparison": raced({"a": lambda: layer(x), "b": lambda: layer(x)}, 1.3)}

# %% right 02-lose
# Transposed convolutions, and more in the dictionary.
import torch
layer, x = torch.nn.ConvTranspose2d(3, 8, 3), torch.randn(1, 3, 16, 16)
evidence = dict(naive_ratio=9.5, comparison=raced({"old": lambda: layer(x), "new": lambda: layer(x)}, 0.5), note="first call")

# %% right 02-lose
# In one dimension, without gradients.
import torch
layer, x = torch.nn.Conv1d(3, 8, 3), torch.randn(1, 3, 16)
run = torch.no_grad()(lambda: layer(x))
evidence = {"naive_ratio": 1.01, "comparison": raced({"slow": run, "fast": run}, 0.97)}
