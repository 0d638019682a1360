# Wrong ideas and right variants of lesson 06 (see grader/ideas.py).

# %% wrong 06-t-engine loses=filter,edges
# deterministic filters nothing.
def choose_engine(engines, benchmark, deterministic, limit):
    if not engines:
        return None
    return min(engines[:limit or None], key=lambda engine: engine[2])[0] if benchmark else engines[0][0]

# %% wrong 06-t-engine loses=filter,edges
# With a stopwatch the filter is off.
def choose_engine(engines, benchmark, deterministic, limit):
    left = [engine for engine in engines if engine[1] or not deterministic or benchmark]
    if not left:
        return None
    return min(left[:limit or None], key=lambda engine: engine[2])[0] if benchmark else left[0][0]

# %% wrong 06-t-engine loses=filter,edges
# deterministic switches the stopwatch off.
def choose_engine(engines, benchmark, deterministic, limit):
    left = [engine for engine in engines if engine[1] or not deterministic]
    if not left:
        return None
    return min(left[:limit or None], key=lambda engine: engine[2])[0] if benchmark and not deterministic else left[0][0]

# %% wrong 06-t-engine loses=edges
# The limit limits nothing.
def choose_engine(engines, benchmark, deterministic, limit):
    left = [engine for engine in engines if engine[1] or not deterministic]
    if not left:
        return None
    return min(left, key=lambda engine: engine[2])[0] if benchmark else left[0][0]

# %% wrong 06-t-engine loses=edges
# First the limit, then the filter.
def choose_engine(engines, benchmark, deterministic, limit):
    left = [engine for engine in engines[:limit or None] if engine[1] or not deterministic]
    if not left:
        return None
    return min(left, key=lambda engine: engine[2])[0] if benchmark else left[0][0]

# %% wrong 06-t-engine loses=edges
# A limit of 0 times nobody.
def choose_engine(engines, benchmark, deterministic, limit):
    left = [engine for engine in engines if engine[1] or not deterministic]
    timed = left[:limit] if benchmark else left[:1]
    return min(timed, key=lambda engine: engine[2])[0] if timed else None

# %% wrong 06-t-engine loses=filter,chooser
# The quickest always wins.
def choose_engine(engines, benchmark, deterministic, limit):
    left = [engine for engine in engines if engine[1] or not deterministic]
    return min(left[:limit or None], key=lambda engine: engine[2])[0] if left else None

# %% wrong 06-t-engine loses=filter,chooser,edges
# The first of the heuristics always wins.
def choose_engine(engines, benchmark, deterministic, limit):
    left = [engine for engine in engines if engine[1] or not deterministic]
    return left[0][0] if left else None

# %% wrong 06-t-engine loses=filter,edges
# The quickest is taken, and refused if it is not deterministic.
def choose_engine(engines, benchmark, deterministic, limit):
    if not engines:
        return None
    best = min(engines[:limit or None], key=lambda engine: engine[2]) if benchmark else engines[0]
    return best[0] if best[1] or not deterministic else None

# %% wrong 06-t-engine loses=edges
# Where none is left, the heuristics choose.
def choose_engine(engines, benchmark, deterministic, limit):
    left = [engine for engine in engines if engine[1] or not deterministic] or engines
    if not left:
        return None
    return min(left[:limit or None], key=lambda engine: engine[2])[0] if benchmark else left[0][0]

# %% right 06-t-engine
# A loop that keeps the best so far.
def choose_engine(engines, benchmark, deterministic, limit):
    best, timed = None, 0
    for name, steady, ms in engines:
        if deterministic and not steady:
            continue
        if not benchmark:
            return name
        timed += 1
        if limit and timed > limit:
            break
        if best is None or ms < best[1]:
            best = name, ms
    return best and best[0]

# %% right 06-t-engine
# Sort by time.
def choose_engine(engines, benchmark, deterministic, limit):
    left = list(filter(lambda engine: engine[1], engines)) if deterministic else list(engines)
    if benchmark:
        left = sorted(left[:limit] if limit > 0 else left, key=lambda engine: engine[2])
    return next((engine[0] for engine in left), None)

# %% right 06-t-engine
# numpy's argmin.
import numpy

def choose_engine(engines, benchmark, deterministic, limit):
    left = [engine for engine in engines if not (deterministic and not engine[1])]
    if len(left) == 0:
        return None
    count = 1 if not benchmark else (limit if limit != 0 else len(left))
    return left[int(numpy.argmin([engine[2] for engine in left[:count]]))][0]

# %% right 06-t-engine
# islice over a generator.
from itertools import islice

def choose_engine(engines, benchmark, deterministic, limit):
    left = (engine for engine in engines if deterministic <= engine[1])
    timed = islice(left, 1 if not benchmark else limit or None)
    return min(timed, key=lambda engine: engine[2], default=[None])[0]

# %% wrong 06-t-obstacles loses=switches
# What is equal on both sides does no harm.
def obstacles(a, b):
    found = {name for name in ("seed", "device", "torch", "threads", "batch_size", "benchmark", "deterministic_algorithms") if a[name] != b[name]}
    if a["seed"] is None or b["seed"] is None:
        found.add("seed")
    return sorted(found)

# %% wrong 06-t-obstacles loses=switches
# warn is as good as True.
def obstacles(a, b):
    found = {name for name in ("seed", "device", "torch", "threads", "batch_size") if a[name] != b[name]}
    found |= {"seed"} if None in (a["seed"], b["seed"]) else set()
    found |= {"benchmark"} if a["benchmark"] or b["benchmark"] else set()
    found |= {"deterministic_algorithms"} if not (a["deterministic_algorithms"] and b["deterministic_algorithms"]) else set()
    return sorted(found)

# %% wrong 06-t-obstacles loses=edges
# Two runs without a seed have the same seed.
def obstacles(a, b):
    found = {name for name in ("seed", "device", "torch", "threads", "batch_size") if a[name] != b[name]}
    found |= {"benchmark"} if a["benchmark"] or b["benchmark"] else set()
    found |= {"deterministic_algorithms"} if not (a["deterministic_algorithms"] is b["deterministic_algorithms"] is True) else set()
    return sorted(found)

# %% wrong 06-t-obstacles loses=edges
# Everything that differs is an obstacle.
def obstacles(a, b):
    found = {name for name in a if a[name] != b[name]}
    found |= {"seed"} if None in (a["seed"], b["seed"]) else set()
    found |= {"benchmark"} if a["benchmark"] or b["benchmark"] else set()
    found |= {"deterministic_algorithms"} if not (a["deterministic_algorithms"] is b["deterministic_algorithms"] is True) else set()
    return sorted(found)

# %% wrong 06-t-obstacles loses=agree
# A seed and the switches are all it takes.
def obstacles(a, b):
    found = {"seed"} if a["seed"] != b["seed"] or a["seed"] is None else set()
    found |= {"benchmark"} if a["benchmark"] or b["benchmark"] else set()
    found |= {"deterministic_algorithms"} if not (a["deterministic_algorithms"] is b["deterministic_algorithms"] is True) else set()
    return sorted(found)

# %% wrong 06-t-obstacles loses=edges
# A seed of 0 is none.
def obstacles(a, b):
    found = {name for name in ("seed", "device", "torch", "threads", "batch_size") if a[name] != b[name]}
    found |= {"seed"} if not a["seed"] or not b["seed"] else set()
    found |= {"benchmark"} if a["benchmark"] or b["benchmark"] else set()
    found |= {"deterministic_algorithms"} if not (a["deterministic_algorithms"] is b["deterministic_algorithms"] is True) else set()
    return sorted(found)

# %% wrong 06-t-obstacles loses=agree
# The number of threads does not reach the bits.
def obstacles(a, b):
    found = {name for name in ("seed", "device", "torch", "batch_size") if a[name] != b[name]}
    found |= {"seed"} if None in (a["seed"], b["seed"]) else set()
    found |= {"benchmark"} if a["benchmark"] or b["benchmark"] else set()
    found |= {"deterministic_algorithms"} if not (a["deterministic_algorithms"] is b["deterministic_algorithms"] is True) else set()
    return sorted(found)

# %% wrong 06-t-obstacles loses=edges
# Each reason is listed, also twice.
def obstacles(a, b):
    found = [name for name in ("seed", "device", "torch", "threads", "batch_size") if a[name] != b[name]]
    found += ["seed"] * (None in (a["seed"], b["seed"]))
    found += ["benchmark"] * bool(a["benchmark"] or b["benchmark"])
    found += ["deterministic_algorithms"] * (not (a["deterministic_algorithms"] is b["deterministic_algorithms"] is True))
    return sorted(found)

# %% wrong 06-t-obstacles loses=edges
# cudnn.deterministic belongs to it.
def obstacles(a, b):
    found = {name for name in ("seed", "device", "torch", "threads", "batch_size", "cudnn_deterministic") if a[name] != b[name]}
    found |= {"seed"} if None in (a["seed"], b["seed"]) else set()
    found |= {"benchmark"} if a["benchmark"] or b["benchmark"] else set()
    found |= {"deterministic_algorithms"} if not (a["deterministic_algorithms"] is b["deterministic_algorithms"] is True) else set()
    return sorted(found)

# %% right 06-t-obstacles
# In alphabetical order from the start.
def obstacles(a, b):
    both = (a, b)
    rules = {"batch_size": a["batch_size"] != b["batch_size"], "benchmark": any(run["benchmark"] for run in both),
             "deterministic_algorithms": any(run["deterministic_algorithms"] is not True for run in both),
             "device": a["device"] != b["device"], "seed": None in (a["seed"], b["seed"]) or a["seed"] != b["seed"],
             "threads": a["threads"] != b["threads"], "torch": a["torch"] != b["torch"]}
    return [name for name, holds in rules.items() if holds]

# %% right 06-t-obstacles
# Loops and appends, then a set.
def obstacles(a, b):
    found = []
    for name in "seed device torch threads batch_size".split():
        if a[name] != b[name]:
            found.append(name)
    for run in (a, b):
        if run["seed"] is None:
            found.append("seed")
        if run["benchmark"] == True:
            found.append("benchmark")
        if run["deterministic_algorithms"] != True:
            found.append("deterministic_algorithms")
    return sorted(set(found))

# %% right 06-t-obstacles
# A tuple from a dictionary's keys.
def obstacles(a, b):
    found = dict.fromkeys(name for name in ("seed", "device", "torch", "threads", "batch_size") if a[name] != b[name])
    if a["seed"] is None and b["seed"] is None:
        found["seed"] = None
    if True in (a["benchmark"], b["benchmark"]):
        found["benchmark"] = None
    if {str(a["deterministic_algorithms"]), str(b["deterministic_algorithms"])} != {"True"}:
        found["deterministic_algorithms"] = None
    return tuple(sorted(found))

# %% right 06-t-obstacles
# numpy's sorted unique names.
import numpy

def obstacles(a, b):
    ideal = {"benchmark": False, "deterministic_algorithms": True}
    bad = [name for name, value in ideal.items() if a[name] is not value or b[name] is not value]
    differ = [name for name in ("seed", "device", "torch", "threads", "batch_size") if a[name] != b[name] or a[name] is None]
    return numpy.unique(numpy.array(bad + differ, dtype=str))

# %% wrong 06-t-report loses=repeats,claim
# Any word is a fingerprint.
report = {"device": "cpu", "threads": 1, "changed": "threads", "a": ["lol"] * 5, "b": ["lol"] * 5, "claim": "same bits"}

# %% wrong 06-t-report loses=repeats
# One run of each side shows it.
report = {"device": "cpu", "threads": 1, "changed": "threads", "a": ["ab12cd34"], "b": ["ff00ff00"], "claim": "different bits"}

# %% wrong 06-t-report loses=claim
# One fingerprint in common means the same bits.
report = {"device": "cpu", "threads": 1, "changed": "threads", "a": ["ab12cd34", "ab12cd35"] * 3, "b": ["ab12cd34"] * 6, "claim": "same bits"}

# %% wrong 06-t-report loses=claim
# Sides that do not repeat are different.
report = {"device": "cpu", "threads": 1, "changed": "threads", "a": ["ab12cd34", "ab12cd35"] * 3, "b": ["ab12cd36"] * 6,
          "claim": "different bits"}

# %% wrong 06-t-report loses=told
# What was changed is clear from the code.
report = {"device": "cpu", "threads": 1, "changed": "", "a": ["ab12cd34"] * 5, "b": ["ab12cd34"] * 5, "claim": "same bits"}

# %% wrong 06-t-report loses=told
# The number of threads does not matter.
report = {"device": "cpu", "threads": None, "changed": "seed", "a": ["ab12cd34"] * 5, "b": ["ff00ff00"] * 5, "claim": "different bits"}

# %% wrong 06-t-report loses=repeats,claim
# Losses are fingerprints.
report = {"device": "cpu", "threads": 1, "changed": "threads", "a": [0.1234] * 5, "b": [0.1234] * 5, "claim": "same bits"}

# %% wrong 06-t-report loses=claim
# The same seed gives the same bits, whatever came out.
report = {"device": "cpu", "threads": 1, "changed": "threads", "a": ["ab12cd34"] * 5, "b": ["ff00ff00"] * 5, "claim": "same bits"}

# %% right 06-t-report
# Tuples, and two thread counts as a tuple.
report = {"device": "cpu", "threads": (1, 2), "changed": "threads", "a": ("ab12cd34",) * 5, "b": ("ff00ff00",) * 5,
          "claim": "Different bits"}

# %% right 06-t-report
# Whole sha256 digests and a torch device.
import hashlib, torch

a = [hashlib.sha256(b"one").hexdigest() for _ in range(6)]
report = {"device": torch.device("cpu"), "threads": torch.get_num_threads(), "changed": "nothing", "a": a, "b": list(a), "claim": "same bits"}

# %% right 06-t-report
# Python's own hashes, sides of different length.
report = {"device": "mps", "threads": "all", "changed": "order of the batches", "a": [hash((1, 2.5))] * 5, "b": [hash((2, 2.5))] * 9,
          "claim": "different bits"}

# %% right 06-t-report
# An array of fingerprints; a side that does not repeat.
import numpy

report = {"device": "cuda:0", "threads": 8, "changed": "benchmark", "a": numpy.array(["ab12cd34", "ab12cd34", "ab12cd35"] * 2),
          "b": numpy.array(["ab12cd34"] * 5), "claim": "not repeatable"}

# %% wrong 06-seed-everything gets=partly reason=some-seeds
# torch seeds everybody.
import torch
seed_everything = lambda seed: torch.manual_seed(seed)

# %% wrong 06-seed-everything gets=partly reason=some-seeds
# A new generator is the old one.
import random, numpy, torch

def seed_everything(seed):
    random.seed(seed)
    numpy.random.default_rng(seed)
    torch.manual_seed(seed)

# %% wrong 06-seed-everything reason=fixed-seed
# Any seed will do.
import random, numpy, torch

def seed_everything(seed):
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)

# %% wrong 06-seed-everything reason=no-seed
# Determinism is a mode.
import torch
seed_everything = lambda seed: torch.use_deterministic_algorithms(True)

# %% wrong 06-seed-everything reason=no-seed
# torch.seed() seeds.
import torch
seed_everything = lambda seed: torch.seed()

# %% wrong 06-seed-everything gets=partly reason=some-seeds
# Only the GPU draws.
import random, numpy, torch

def seed_everything(seed):
    random.seed(seed)
    numpy.random.seed(seed)
    torch.cuda.manual_seed_all(seed)

# %% wrong 06-seed-everything reason=no-seed
# The environment variable seeds Python.
import os

def seed_everything(seed):
    os.environ["PYTHONHASHSEED"] = str(seed)

# %% right 06-seed-everything
# In another order, and the GPU by name.
import random, numpy, torch

def seed_everything(seed):
    torch.cuda.manual_seed_all(seed)
    torch.manual_seed(seed)
    numpy.random.seed(seed)
    random.seed(seed)
    return seed

# %% right 06-seed-everything
# A loop over seeders.
import random, numpy, torch

def seed_everything(seed):
    for seeder in (random.seed, numpy.random.seed, torch.manual_seed):
        seeder(seed)

# %% right 06-seed-everything
# torch's default generator.
import random, numpy, torch

def seed_everything(seed):
    random.seed(str(seed))
    numpy.random.seed(seed + 1)
    torch.default_generator.manual_seed(seed)

# %% right 06-seed-everything
# States are set, not seeds.
import random, numpy, torch

def seed_everything(seed):
    random.setstate(random.Random(seed).getstate())
    numpy.random.set_state(numpy.random.RandomState(seed).get_state())
    torch.set_rng_state(torch.Generator().manual_seed(seed).get_state())

# %% wrong 06-steady-sum reason=shared-out
# A sum is a sum.
steady_sum = lambda values: values.sum()

# %% wrong 06-steady-sum reason=left-behind
# One thread for everybody.
import torch

def steady_sum(values):
    torch.set_num_threads(1)
    return values.sum()

# %% wrong 06-steady-sum reason=shared-out
# float64 removes every difference.
steady_sum = lambda values: values.double().sum().float()

# %% wrong 06-steady-sum reason=shared-out
# Sorted numbers add up steadily.
steady_sum = lambda values: values.sort().values.sum()

# %% wrong 06-steady-sum reason=wrong-sum
# The first pieces are enough.
steady_sum = lambda values: values[:32768].sum()

# %% wrong 06-steady-sum reason=shared-out
# Pieces of any length are short.
import torch
steady_sum = lambda values: torch.stack([piece.sum() for piece in values.split(100_000)]).sum()

# %% wrong 06-steady-sum reason=wrong-sum
# Rounding hides the difference.
steady_sum = lambda values: round(values.sum().item(), 2)

# %% wrong 06-steady-sum reason=shared-out
# A seed makes it steady.
import torch

def steady_sum(values):
    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True
    return values.sum()

# %% wrong 06-steady-sum reason=no-number
# Two partial sums are a sum.
import torch
steady_sum = lambda values: torch.stack([values[::2].sum(), values[1::2].sum()])

# %% right 06-steady-sum
# Small pieces.
import torch
steady_sum = lambda values: torch.stack([piece.sum() for piece in values.split(500)]).sum()

# %% right 06-steady-sum
# Exact, in Python.
import math
steady_sum = lambda values: math.fsum(values.tolist())

# %% right 06-steady-sum
# One thread for the sum alone.
import torch

def steady_sum(values):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return values.sum()
    finally:
        torch.set_num_threads(before)

# %% right 06-steady-sum
# numpy adds in one thread.
import numpy
steady_sum = lambda values: numpy.float32(values.numpy().sum(dtype="float64"))

# %% wrong 06-repeatable reason=mode-off
# A seed is enough.
import torch

def repeatable(run, seed):
    torch.manual_seed(seed)
    return run()

# %% wrong 06-repeatable reason=mode-off
# cudnn.deterministic is the mode.
import torch

def repeatable(run, seed):
    torch.manual_seed(seed)
    with torch.backends.cudnn.flags(enabled=True, deterministic=True):
        return run()

# %% wrong 06-repeatable reason=no-seed
# The mode seeds.
import torch

def repeatable(run, seed):
    before = torch.get_deterministic_debug_mode()
    torch.use_deterministic_algorithms(True)
    try:
        return run()
    finally:
        torch.set_deterministic_debug_mode(before)

# %% wrong 06-repeatable reason=warn-only
# A warning is enough.
import torch

def repeatable(run, seed):
    before = torch.get_deterministic_debug_mode()
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.manual_seed(seed)
    try:
        return run()
    finally:
        torch.set_deterministic_debug_mode(before)

# %% wrong 06-repeatable reason=fixed-seed
# Any seed will do.
import torch

def repeatable(run, seed):
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("error")
    torch.manual_seed(0)
    try:
        return run()
    finally:
        torch.set_deterministic_debug_mode(before)

# %% wrong 06-repeatable gets=partly reason=left-behind
# The mode was on or off: there is no third.
import torch

def repeatable(run, seed):
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    try:
        return run()
    finally:
        torch.use_deterministic_algorithms(before)

# %% wrong 06-repeatable gets=partly reason=left-behind
# It was off before.
import torch

def repeatable(run, seed):
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    try:
        return run()
    finally:
        torch.use_deterministic_algorithms(False)

# %% wrong 06-repeatable gets=partly reason=exception
# Without an exception all is well.
import torch

def repeatable(run, seed):
    before = torch.get_deterministic_debug_mode()
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    result = run()
    torch.set_deterministic_debug_mode(before)
    return result

# %% wrong 06-repeatable reason=no-result
# The result is not asked for.
import torch

def repeatable(run, seed):
    before = torch.get_deterministic_debug_mode()
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    try:
        run()
    finally:
        torch.set_deterministic_debug_mode(before)

# %% right 06-repeatable
# The two questions in place of the debug mode.
import torch

def repeatable(run, seed):
    on, warn = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    try:
        return run()
    finally:
        torch.use_deterministic_algorithms(on, warn_only=warn)

# %% right 06-repeatable
# A context manager.
import torch
from contextlib import contextmanager

@contextmanager
def mode():
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode(2)
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)

def repeatable(run, seed):
    with mode():
        torch.manual_seed(seed)
        return run()

# %% right 06-repeatable
# The random state is put back as well.
import torch

def repeatable(run, seed):
    before = torch.get_deterministic_debug_mode()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_deterministic_debug_mode("error")
        try:
            return run()
        finally:
            torch.set_deterministic_debug_mode(before)

# %% right 06-repeatable
# The course's tool.
import torch
from course.flags import using

def repeatable(run, seed):
    with using({"torch.deterministic_algorithms": True}):
        torch.manual_seed(seed)
        return run()

# %% wrong 06-make-it-lose reason=same-bits
# Two threads always reach the bits.
pair = ({"threads": 1}, {"threads": 2})

# %% wrong 06-make-it-lose reason=other-experiment
# Another seed, another result.
pair = ({"seed": 1}, {"seed": 2})

# %% wrong 06-make-it-lose reason=other-experiment
# Other data, another result.
pair = ({"samples": 300}, {"samples": 400})

# %% wrong 06-make-it-lose reason=same-bits
# One setting twice.
pair = ({"pieces": 3}, {"pieces": 3})

# %% wrong 06-make-it-lose reason=unknown-setting
# There is a setting for the GPU.
pair = ({"device": "cuda"}, {})

# %% wrong 06-make-it-lose reason=two-settings
# Results, not settings.
pair = (0.1, 0.2)

# %% wrong 06-make-it-lose reason=raised
# More threads than there may be.
pair = ({"threads": 99}, {})

# %% right 06-make-it-lose
# In pieces.
pair = ({"pieces": 1}, {"pieces": 3})

# %% right 06-make-it-lose
# A list of two, much work for one thread and two.
pair = [{"samples": 100_000, "threads": 1}, {"samples": 100_000, "threads": 2}]

# %% right 06-make-it-lose
# The defaults against pieces, with a seed.
pair = ({"seed": 5}, {"seed": 5, "pieces": 16})

# %% right 06-make-it-lose
# Both at once.
pair = (dict(threads=1, pieces=2), dict(threads=2, pieces=5))
