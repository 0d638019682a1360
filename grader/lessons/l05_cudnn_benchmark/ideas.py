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

# %% wrong 05-count-searches reason=every-call
# Every call searches.
count_searches = lambda shapes: len(shapes)

# %% wrong 05-count-searches reason=every-call
# Every change of shape searches.
count_searches = lambda shapes: sum(a != b for a, b in zip(shapes, shapes[1:])) + bool(shapes)

# %% wrong 05-count-searches reason=batch
# Only height and width make a shape.
count_searches = lambda shapes: len({shape[2:] for shape in shapes})

# %% wrong 05-count-searches reason=wrong-count
# The width is no part of the key.
count_searches = lambda shapes: len({shape[:3] for shape in shapes})

# %% wrong 05-count-searches reason=wrong-count
# The channels are no part of the key.
count_searches = lambda shapes: len({(shape[0], *shape[2:]) for shape in shapes})

# %% wrong 05-count-searches reason=wrong-count
# As many numbers, the same key.
from math import prod
count_searches = lambda shapes: len({prod(shape) for shape in shapes})

# %% wrong 05-count-searches reason=wrong-count
# Turned round it is the same picture.
count_searches = lambda shapes: len({tuple(sorted(shape)) for shape in shapes})

# %% wrong 05-count-searches reason=wrong-count
# At least one search there is.
count_searches = lambda shapes: max(1, len(set(shapes)))

# %% wrong 05-count-searches reason=every-change
# The shapes themselves.
count_searches = lambda shapes: set(shapes)

# %% right 05-count-searches
# Keys of a dictionary.
count_searches = lambda shapes: len(dict.fromkeys(shapes))

# %% right 05-count-searches
# A cache in a list.
def count_searches(shapes):
    cache = []
    for shape in shapes:
        if shape not in cache:
            cache.append(shape)
    return len(cache)

# %% right 05-count-searches
# numpy's unique rows.
import numpy
count_searches = lambda shapes: len(numpy.unique(numpy.array(shapes).reshape(-1, 4), axis=0))

# %% right 05-count-searches
# A Counter of texts.
from collections import Counter
count_searches = lambda shapes: len(Counter(map(str, shapes)))

# %% wrong 05-break-even reason=too-early
# Round down.
break_even_steps = lambda search, slow, fast: int(search / (slow - fast)) if slow > fast else None

# %% wrong 05-break-even gets=partly reason=no-whole-step
# Half a step is a step.
break_even_steps = lambda search, slow, fast: search / (slow - fast) if slow > fast else None

# %% wrong 05-break-even reason=wrong-steps
# The slow step pays.
import math
break_even_steps = lambda search, slow, fast: math.ceil(search / slow) if slow > fast else None

# %% wrong 05-break-even reason=raised
# There is always a gain.
import math
break_even_steps = lambda search, slow, fast: math.ceil(search / (slow - fast))

# %% wrong 05-break-even gets=partly reason=no-gain
# No gain takes no steps.
import math
break_even_steps = lambda search, slow, fast: math.ceil(search / (slow - fast)) if slow > fast else 0

# %% wrong 05-break-even gets=partly reason=no-gain
# No gain takes for ever.
import math
break_even_steps = lambda search, slow, fast: math.ceil(search / (slow - fast)) if slow > fast else math.inf

# %% wrong 05-break-even reason=wrong-steps
# One step more is safe.
break_even_steps = lambda search, slow, fast: search // (slow - fast) + 1 if slow > fast else None

# %% wrong 05-break-even gets=partly reason=no-gain
# A loss is a gain the other way round.
import math
break_even_steps = lambda search, slow, fast: math.ceil(search / ((slow - fast) or -1))

# %% right 05-break-even
# Floor of the negative.
break_even_steps = lambda search, slow, fast: int(-(-search // (slow - fast))) if slow > fast else None

# %% right 05-break-even
# Count the steps.
def break_even_steps(search_ms, slow_ms, fast_ms):
    if slow_ms <= fast_ms:
        return None
    steps = 0
    while steps * (slow_ms - fast_ms) < search_ms:
        steps += 1
    return steps

# %% right 05-break-even
# Exact fractions.
import math
from fractions import Fraction

def break_even_steps(search_ms, slow_ms, fast_ms):
    gain = Fraction(slow_ms) - Fraction(fast_ms)
    return math.ceil(Fraction(search_ms) / gain) if gain > 0 else None

# %% right 05-break-even
# numpy's ceil, a float without a fraction.
import numpy
break_even_steps = lambda search, slow, fast: float(numpy.ceil(search / (slow - fast))) if slow - fast > 0 else None

# %% wrong 05-search-here reason=cudnn-off
# flags() keeps what is not named.
import torch

def search_here(run):
    with torch.backends.cudnn.flags(benchmark=True):
        return run()

# %% wrong 05-search-here gets=partly reason=neighbours
# enabled is the only neighbour.
import torch

def search_here(run):
    with torch.backends.cudnn.flags(enabled=True, benchmark=True):
        return run()

# %% wrong 05-search-here gets=partly reason=neighbours
# The neighbours' values are known.
import torch

def search_here(run):
    with torch.backends.cudnn.flags(enabled=True, benchmark=True, deterministic=True, allow_tf32=False):
        return run()

# %% wrong 05-search-here gets=partly reason=left-behind
# It was off before.
import torch

def search_here(run):
    torch.backends.cudnn.benchmark = True
    try:
        return run()
    finally:
        torch.backends.cudnn.benchmark = False

# %% wrong 05-search-here gets=partly reason=left-behind
# Searching may go on.
import torch

def search_here(run):
    torch.backends.cudnn.benchmark = True
    return run()

# %% wrong 05-search-here reason=no-result
# The result is not asked for.
import torch

def search_here(run):
    cudnn = torch.backends.cudnn
    with cudnn.flags(enabled=cudnn.enabled, benchmark=True, deterministic=cudnn.deterministic, allow_tf32=cudnn.allow_tf32):
        run()

# %% wrong 05-search-here gets=partly reason=left-behind
# Without an exception all is well.
import torch

def search_here(run):
    before = torch.backends.cudnn.benchmark
    torch.backends.cudnn.benchmark = True
    result = run()
    torch.backends.cudnn.benchmark = before
    return result

# %% wrong 05-search-here reason=no-search
# A library that is there is searched.
import torch

def search_here(run):
    with torch.backends.cudnn.flags(enabled=True):
        return run()

# %% right 05-search-here
# One switch, put back.
import torch

def search_here(run):
    before = torch.backends.cudnn.benchmark
    try:
        torch.backends.cudnn.benchmark = True
        return run()
    finally:
        torch.backends.cudnn.benchmark = before

# %% right 05-search-here
# The course's tool.
from course.flags import using

def search_here(run):
    with using({"cudnn.benchmark": True}):
        return run()

# %% right 05-search-here
# Every present value is handed over.
import torch

def search_here(run):
    names = ("enabled", "benchmark_limit", "deterministic", "allow_tf32")
    with torch.backends.cudnn.flags(benchmark=True, **{name: getattr(torch.backends.cudnn, name) for name in names}):
        return run()

# %% right 05-search-here
# A decorator made of a context manager.
import torch
from contextlib import contextmanager

@contextmanager
def searching():
    before, torch.backends.cudnn.benchmark = torch.backends.cudnn.benchmark, True
    try:
        yield
    finally:
        torch.backends.cudnn.benchmark = before

def search_here(run):
    return searching()(run)()

# %% wrong 05-make-it-lose reason=no-comparison
# An interval written down is evidence.
race = {"low": 1.2, "high": 1.4, "rounds": 40}

# %% wrong 05-make-it-lose reason=schedule
# On may do more steps than off.
from course.toy_search import run_schedule
race = raced({"off": lambda: run_schedule([20], benchmark=False), "on": lambda: run_schedule([20, 21, 22], benchmark=True)}, 1.5)

# %% wrong 05-make-it-lose reason=schedule
# Neither searches.
from course.toy_search import run_schedule
race = raced({"off": lambda: run_schedule([20], benchmark=False), "on": lambda: run_schedule([20], benchmark=False)}, 1.5)

# %% wrong 05-make-it-lose reason=schedule
# A race of nothing.
race = raced({"off": lambda: None, "on": lambda: sum(range(99))}, 1.5)

# %% wrong 05-make-it-lose reason=baseline
# Searching is the baseline.
from course.toy_search import run_schedule
race = raced({"on": lambda: run_schedule([20], benchmark=True), "off": lambda: run_schedule([20], benchmark=False)}, 1.5)

# %% wrong 05-make-it-lose reason=faster
# Winning is losing.
from course.toy_search import run_schedule
race = raced({"off": lambda: run_schedule([20], benchmark=False), "on": lambda: run_schedule([20], benchmark=True)}, 0.8)

# %% wrong 05-make-it-lose gets=inconclusive reason=undecided
# An interval with 1 in it decides.
from course.toy_search import run_schedule
race = raced({"off": lambda: run_schedule([20], benchmark=False), "on": lambda: run_schedule([20], benchmark=True)}, 1.0)

# %% wrong 05-make-it-lose gets=inconclusive reason=rounds
# Two rounds are enough.
from course.toy_search import run_schedule
race = raced({"off": lambda: run_schedule([20], benchmark=False), "on": lambda: run_schedule([20], benchmark=True)}, 1.5, rounds=2)

# %% right 05-make-it-lose
# Every size is new.
from course.toy_search import run_schedule
sizes = list(range(20, 24))
race = raced({"off": lambda: run_schedule(sizes, benchmark=False), "on": lambda: run_schedule(sizes, benchmark=True)}, 1.5)

# %% right 05-make-it-lose
# One step, another name, a tuple.
from course.toy_search import run_schedule
race = raced({"off": lambda: run_schedule((9,), False), "searching": lambda: run_schedule((9,), True)}, 3.0)

# %% right 05-make-it-lose
# Functions that give nothing back.
from functools import partial
from course.toy_search import run_schedule

def run(benchmark):
    run_schedule([16, 17, 16], benchmark=benchmark)

race = raced({"off": partial(run, False), "on": partial(run, True)}, 1.2)

# %% right 05-make-it-lose
# A search with a limit loses as well.
from course.toy_search import run_schedule
race = raced({"off": lambda: run_schedule([20, 30], benchmark=False), "on": lambda: run_schedule([20, 30], benchmark=True, limit=3)}, 1.3)
