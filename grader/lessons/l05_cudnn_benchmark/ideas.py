# Wrong ideas and right variants of lesson 05 (see grader/ideas.py).

# %% wrong 05-t-run loses=remainder,edges
# There is one batch size.
def searches_of_run(samples, batch_size, epochs, layer_keys, drop_last):
    return layer_keys

# %% wrong 05-t-run loses=edges
# The loader always has a full batch and an epoch.
def searches_of_run(samples, batch_size, epochs, layer_keys, drop_last):
    return layer_keys * (1 + (samples % batch_size > 0 and not drop_last))

# %% wrong 05-t-run loses=whole,edges
# drop_last drops nothing.
def searches_of_run(samples, batch_size, epochs, layer_keys, drop_last):
    return layer_keys * ((samples >= batch_size) + (samples % batch_size > 0)) * (epochs > 0)

# %% wrong 05-t-run loses=remainder,whole,edges
# Every epoch searches again.
def searches_of_run(samples, batch_size, epochs, layer_keys, drop_last):
    return epochs * layer_keys * ((samples >= batch_size) + (samples % batch_size > 0 and not drop_last))

# %% wrong 05-t-run loses=whole,edges
# There is always a smaller last batch.
def searches_of_run(samples, batch_size, epochs, layer_keys, drop_last):
    return 2 * layer_keys

# %% wrong 05-t-run loses=remainder,whole,edges
# Every batch searches.
def searches_of_run(samples, batch_size, epochs, layer_keys, drop_last):
    return layer_keys * (samples // batch_size + (samples % batch_size > 0 and not drop_last)) * epochs

# %% wrong 05-t-run loses=whole
# A full batch needs more samples than it holds.
def searches_of_run(samples, batch_size, epochs, layer_keys, drop_last):
    return layer_keys * ((samples > batch_size) + (samples % batch_size > 0 and not drop_last)) * (epochs > 0)

# %% wrong 05-t-run loses=remainder
# A remainder of one sample is no batch.
def searches_of_run(samples, batch_size, epochs, layer_keys, drop_last):
    return layer_keys * ((samples >= batch_size) + (samples % batch_size > 1 and not drop_last)) * (epochs > 0)

# %% wrong 05-t-run loses=remainder,whole,edges
# The first epoch only warms up.
def searches_of_run(samples, batch_size, epochs, layer_keys, drop_last):
    return layer_keys * ((samples >= batch_size) + (samples % batch_size > 0 and not drop_last)) * (epochs > 1)

# %% wrong 05-t-run loses=edges
# Before the first epoch the shapes are known already.
def searches_of_run(samples, batch_size, epochs, layer_keys, drop_last):
    return layer_keys * ((samples >= batch_size) + (samples % batch_size > 0 and not drop_last))

# %% right 05-t-run
# Quotient and remainder.
def searches_of_run(samples, batch_size, epochs, layer_keys, drop_last):
    full, rest = divmod(samples, batch_size)
    kinds = (full > 0) + (rest > 0 and not drop_last)
    return layer_keys * kinds if epochs > 0 else 0

# %% right 05-t-run
# A cache, filled as the run goes (two epochs show all there is).
def searches_of_run(samples, batch_size, epochs, layer_keys, drop_last):
    cache = set()
    for _ in range(min(epochs, 2)):
        left = samples
        while left >= batch_size or (left > 0 and not drop_last):
            cache.add(min(left, batch_size))
            left -= min(left, batch_size)
    return len(cache) * layer_keys

# %% right 05-t-run
# numpy splits the samples.
import numpy

def searches_of_run(samples, batch_size, epochs, layer_keys, drop_last):
    sizes = numpy.diff(numpy.append(numpy.arange(0, samples, batch_size), samples))
    if drop_last:
        sizes = sizes[sizes == batch_size]
    return numpy.int64(layer_keys * len(numpy.unique(sizes)) * (epochs != 0))

# %% right 05-t-run
# torch's own loader is asked for its batches.
from torch.utils.data import BatchSampler

def searches_of_run(samples, batch_size, epochs, layer_keys, drop_last):
    if not epochs:
        return 0
    return layer_keys * len({len(batch) for batch in BatchSampler(range(samples), batch_size, drop_last)})

# %% wrong 05-t-choice loses=one_shape,return,edges
# Faster steps always pay.
def choose_benchmark(shapes, search_ms, slow_ms, fast_ms):
    return slow_ms > fast_ms

# %% wrong 05-t-choice loses=return
# One search serves all shapes.
def choose_benchmark(shapes, search_ms, slow_ms, fast_ms):
    return bool(shapes) and search_ms < len(shapes) * (slow_ms - fast_ms)

# %% wrong 05-t-choice loses=return
# Only the height makes a shape.
def choose_benchmark(shapes, search_ms, slow_ms, fast_ms):
    return len({shape[2] for shape in shapes}) * search_ms < len(shapes) * (slow_ms - fast_ms)

# %% wrong 05-t-choice loses=return
# The batch is no part of the key.
def choose_benchmark(shapes, search_ms, slow_ms, fast_ms):
    return len({tuple(shape[1:]) for shape in shapes}) * search_ms < len(shapes) * (slow_ms - fast_ms)

# %% wrong 05-t-choice loses=return
# The width is no part of the key.
def choose_benchmark(shapes, search_ms, slow_ms, fast_ms):
    return len({tuple(shape[:3]) for shape in shapes}) * search_ms < len(shapes) * (slow_ms - fast_ms)

# %% wrong 05-t-choice loses=return
# As many numbers, the same key: the product of the shape.
from math import prod

def choose_benchmark(shapes, search_ms, slow_ms, fast_ms):
    return len({prod(shape) for shape in shapes}) * search_ms < len(shapes) * (slow_ms - fast_ms)

# %% wrong 05-t-choice loses=return
# Each shape must pay for itself.
def choose_benchmark(shapes, search_ms, slow_ms, fast_ms):
    return bool(shapes) and all(search_ms < shapes.count(shape) * (slow_ms - fast_ms) for shape in shapes)

# %% wrong 05-t-choice loses=edges
# At a tie, search.
def choose_benchmark(shapes, search_ms, slow_ms, fast_ms):
    return len({tuple(s) for s in shapes}) * search_ms <= len(shapes) * (slow_ms - fast_ms)

# %% wrong 05-t-choice loses=one_shape,return,edges
# Every step searches.
def choose_benchmark(shapes, search_ms, slow_ms, fast_ms):
    return len(shapes) * search_ms < len(shapes) * (slow_ms - fast_ms)

# %% wrong 05-t-choice loses=one_shape,return,edges
# A fixed size is all that benchmark asks for.
def choose_benchmark(shapes, search_ms, slow_ms, fast_ms):
    return len({tuple(shape) for shape in shapes}) == 1

# %% wrong 05-t-choice loses=return
# Every change of shape searches again.
def choose_benchmark(shapes, search_ms, slow_ms, fast_ms):
    searches = sum(place == 0 or shapes[place - 1] != shape for place, shape in enumerate(shapes))
    return searches * search_ms < len(shapes) * (slow_ms - fast_ms)

# %% wrong 05-t-choice loses=one_shape,return,edges
# Steps after the search are free.
def choose_benchmark(shapes, search_ms, slow_ms, fast_ms):
    return len({tuple(shape) for shape in shapes}) * search_ms < len(shapes) * slow_ms

# %% right 05-t-choice
# Both bills in full.
def choose_benchmark(shapes, search_ms, slow_ms, fast_ms):
    off = slow_ms * len(shapes)
    on = search_ms * len({str(shape) for shape in shapes}) + fast_ms * len(shapes)
    return on < off

# %% right 05-t-choice
# Step by step with a cache, as a balance.
def choose_benchmark(shapes, search_ms, slow_ms, fast_ms):
    seen, balance = [], 0.0
    for shape in shapes:
        if shape not in seen:
            seen.append(shape)
            balance -= search_ms
        balance += slow_ms - fast_ms
    return balance > 0

# %% right 05-t-choice
# numpy's unique rows, and its own bool.
import numpy

def choose_benchmark(shapes, search_ms, slow_ms, fast_ms):
    different = len(numpy.unique(numpy.array(shapes).reshape(-1, 4), axis=0))
    return numpy.float64(len(shapes) * (slow_ms - fast_ms)) > different * search_ms

# %% right 05-t-choice
# A Counter; an empty run and a run without gain are said first.
from collections import Counter

def choose_benchmark(shapes, search_ms, slow_ms, fast_ms):
    if not shapes or slow_ms <= fast_ms:
        return False
    counts = Counter(map(tuple, shapes))
    return sum(count * (slow_ms - fast_ms) - search_ms for count in counts.values()) > 0

# %% wrong 05-t-report loses=pairs,claim
# One pair is a proof.
report = {"device": "cpu", "fence": "none needed", "first_ms": [3.0], "later_ms": [1.0], "low": 3.0, "high": 3.0, "claim": "more"}

# %% wrong 05-t-report loses=claim
# An interval from nearly nothing to everything is always honest.
report = {"device": "cpu", "fence": "none needed", "first_ms": [3.0, 3.1, 2.9, 3.2, 3.0, 3.1], "later_ms": [1.0] * 6, "low": 0.001,
          "high": 1000.0, "claim": "undecided"}

# %% wrong 05-t-report loses=claim
# The median is the interval.
report = {"device": "cpu", "fence": "none needed", "first_ms": [3.0, 3.1, 2.9, 3.2, 3.0, 3.1], "later_ms": [1.0] * 6, "low": 3.05,
          "high": 3.05, "claim": "more"}

# %% wrong 05-t-report loses=fence
# On a GPU the clock needs no fence.
report = {"device": "cuda", "fence": "none needed", "first_ms": [3.0, 3.1, 2.9, 3.2, 3.0, 3.1], "later_ms": [1.0] * 6, "low": 2.9,
          "high": 3.2, "claim": "more"}

# %% wrong 05-t-report loses=claim
# First calls are dearer, whatever was measured.
report = {"device": "cpu", "fence": "none needed", "first_ms": [0.9, 1.1, 0.95, 1.2, 1.0, 1.05], "later_ms": [1.0] * 6, "low": 0.9,
          "high": 1.2, "claim": "more"}

# %% wrong 05-t-report loses=claim
# The ratio the other way round.
report = {"device": "cpu", "fence": "none needed", "first_ms": [3.0, 3.1, 2.9, 3.2, 3.0, 3.1], "later_ms": [1.0] * 6, "low": 0.31,
          "high": 0.34, "claim": "less"}

# %% wrong 05-t-report loses=pairs,claim
# The first calls and the later calls need not be pairs.
report = {"device": "cpu", "fence": "none needed", "first_ms": [3.0, 3.1, 2.9, 3.2, 3.0, 3.1], "later_ms": [1.0] * 60, "low": 2.9,
          "high": 3.2, "claim": "more"}

# %% wrong 05-t-report loses=pairs,fence,claim
# Words are a report.
report = {"device": "my laptop", "fence": "print", "first_ms": "slow", "later_ms": "quick", "low": None, "high": None, "claim": "more"}

# %% right 05-t-report
# Tuples.
report = {"device": "cpu", "fence": "none", "first_ms": (3.0, 3.1, 2.9, 3.2, 3.0, 3.1), "later_ms": (1.0,) * 6, "low": 2.9, "high": 3.2,
          "claim": "more"}

# %% right 05-t-report
# numpy arrays and their own numbers.
import numpy

first, later = numpy.array([0.9, 1.1, 0.95, 1.2, 1.0, 1.05, 0.97]), numpy.ones(7)
report = {"device": "cpu", "fence": "synchronize", "first_ms": first, "later_ms": later, "low": (first / later).min(),
          "high": (first / later).max(), "claim": "undecided"}

# %% right 05-t-report
# Tensors and a torch device, from a GPU.
import torch

first, later = torch.tensor([9.0, 8.0, 9.5, 8.5, 9.1, 8.8]), torch.full((6,), 10.0)
ratio = (first / later).sort().values
report = {"device": torch.device("cuda", 0), "fence": "synchronize", "first_ms": first, "later_ms": later, "low": ratio[0],
          "high": ratio[-1], "claim": "less"}

# %% right 05-t-report
# A bootstrap interval in place of the course's.
import random
from statistics import median

rng = random.Random(1)
first = [5 + rng.random() for _ in range(20)]
later = [1 + rng.random() / 10 for _ in range(20)]
ratios = [a / b for a, b in zip(first, later)]
medians = sorted(median(rng.choices(ratios, k=20)) for _ in range(1000))
report = dict(device="mps", fence="synchronize", first_ms=first, later_ms=later, low=medians[25], high=medians[975], claim="more")
