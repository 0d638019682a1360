# Wrong ideas and right variants of lesson 04 (see grader/ideas.py).

# %% wrong 04-t-moved loses=named
# Whatever moved is worth a word, named or not.
def moved_unasked(before, inside, named):
    return sorted(name for name in {*before, *inside} if before.get(name, ...) != inside.get(name, ...))

# %% wrong 04-t-moved loses=edges
# Only what was there before can move.
def moved_unasked(before, inside, named):
    return sorted(name for name in before if name in inside and before[name] != inside[name] and name not in named)

# %% wrong 04-t-moved loses=moved,named
# The order of the panel is good enough.
def moved_unasked(before, inside, named):
    return [name for name in sorted({*before, *inside}, reverse=True)
            if before.get(name, ...) != inside.get(name, ...) and name not in named]

# %% wrong 04-t-moved loses=edges
# A switch that is not there holds None.
def moved_unasked(before, inside, named):
    return sorted(name for name in {*before, *inside} if before.get(name) != inside.get(name) and name not in named)

# %% wrong 04-t-moved loses=moved,named
# A switch is on or off.
def moved_unasked(before, inside, named):
    return sorted(name for name in {*before, *inside} - {*named}
                  if (name in before) != (name in inside) or bool(before.get(name)) != bool(inside.get(name)))

# %% wrong 04-t-moved loses=named,edges
# Named switches that did not move are missed as well.
def moved_unasked(before, inside, named):
    moved = {name for name in {*before, *inside} if before.get(name, ...) != inside.get(name, ...)}
    return sorted(moved ^ {*named})

# %% wrong 04-t-moved loses=moved,named,edges
# The one that moved is asked for.
def moved_unasked(before, inside, named):
    return next((name for name in sorted({*before, *inside} - {*named}) if before.get(name, ...) != inside.get(name, ...)), None)

# %% right 04-t-moved
# Pairs that are on one side alone.
def moved_unasked(before, inside, named):
    return sorted({name for name, _ in before.items() ^ inside.items()} - set(named))

# %% right 04-t-moved
# One loop for each side, a tuple back.
def moved_unasked(before, inside, named):
    found = []
    for name, value in before.items():
        if name not in inside or inside[name] != value:
            found.append(name)
    for name in inside:
        if name not in before:
            found.append(name)
    return tuple(sorted(name for name in found if name not in named))

# %% right 04-t-moved
# A filter, and numpy's sorted array.
import numpy

def moved_unasked(before, inside, named):
    asked = frozenset(named)
    return numpy.unique(list(filter(lambda name: name not in asked and [before[name]] * (name in before) != [inside[name]] * (name in inside)
                                    if name in before and name in inside else name not in asked, {**before, **inside})))

# %% right 04-t-moved
# A missing value of its own.
def moved_unasked(before, inside, named):
    nothing = object()
    names = list(before) + [name for name in inside if name not in before]
    names.sort()
    return [name for name in names if name not in named and before.get(name, nothing) != inside.get(name, nothing)]

# %% wrong 04-t-suspect loses=limit
# Exactly what is allowed is too much.
def suspect(error_on, error_off, allowed):
    bad = [error is None or error >= allowed for error in (error_on, error_off)]
    return {(True, True): "elsewhere", (True, False): "cudnn", (False, True): "plain", (False, False): "rounding"}[tuple(bad)]

# %% wrong 04-t-suspect loses=no_number
# No number is no error.
def suspect(error_on, error_off, allowed):
    bad = [(error or 0.0) > allowed for error in (error_on, error_off)]
    return {(True, True): "elsewhere", (True, False): "cudnn", (False, True): "plain", (False, False): "rounding"}[tuple(bad)]

# %% wrong 04-t-suspect loses=no_number
# Where no number came out, nobody can be blamed.
def suspect(error_on, error_off, allowed):
    if error_on is None or error_off is None:
        return "elsewhere"
    bad = error_on > allowed, error_off > allowed
    return {(True, True): "elsewhere", (True, False): "cudnn", (False, True): "plain", (False, False): "rounding"}[bad]

# %% wrong 04-t-suspect loses=two_errors,limit,no_number
# Only the library can be wrong.
def suspect(error_on, error_off, allowed):
    return "cudnn" if error_on is None or error_on > allowed else "rounding"

# %% wrong 04-t-suspect loses=two_errors,limit,no_number
# The larger error belongs to the guilty.
def suspect(error_on, error_off, allowed):
    on, off = (float("inf") if error is None else error for error in (error_on, error_off))
    return "cudnn" if on > off else "plain" if off > on else "rounding"

# %% wrong 04-t-suspect loses=two_errors,no_number
# Where cuDNN is bad, it is cuDNN.
def suspect(error_on, error_off, allowed):
    if error_on is None or error_on > allowed:
        return "cudnn"
    return "plain" if error_off is None or error_off > allowed else "rounding"

# %% wrong 04-t-suspect loses=two_errors
# Twice what is allowed is still rounding.
def suspect(error_on, error_off, allowed):
    bad = [error is None or error > 2 * allowed for error in (error_on, error_off)]
    return {(True, True): "elsewhere", (True, False): "cudnn", (False, True): "plain", (False, False): "rounding"}[tuple(bad)]

# %% wrong 04-t-suspect loses=two_errors,limit,no_number
# Off is the suspect where only on is bad.
def suspect(error_on, error_off, allowed):
    bad = [error is None or error > allowed for error in (error_on, error_off)]
    return {(True, True): "elsewhere", (True, False): "plain", (False, True): "cudnn", (False, False): "rounding"}[tuple(bad)]

# %% right 04-t-suspect
# None counts as infinite.
def suspect(error_on, error_off, allowed):
    on, off = (error if error is not None else float("inf") for error in (error_on, error_off))
    if max(on, off) <= allowed:
        return "rounding"
    return "elsewhere" if min(on, off) > allowed else "cudnn" if on > off else "plain"

# %% right 04-t-suspect
# The complement: what is fine.
def suspect(error_on, error_off, allowed):
    fine_on = error_on is not None and error_on <= allowed
    fine_off = error_off is not None and error_off <= allowed
    if fine_on:
        return "rounding" if fine_off else "plain"
    return "cudnn" if fine_off else "elsewhere"

# %% right 04-t-suspect
# A number from two bits.
def suspect(error_on, error_off, allowed):
    code = sum(weight for weight, error in ((1, error_on), (2, error_off)) if error is None or not error <= allowed)
    return ["rounding", "cudnn", "plain", "elsewhere"][code]

# %% right 04-t-suspect
# NaN in a tensor stands for no number.
import torch

def suspect(error_on, error_off, allowed):
    errors = torch.tensor([float("nan") if e is None else e for e in (error_on, error_off)], dtype=torch.float64)
    fine = errors <= torch.tensor(allowed, dtype=torch.float64)
    if bool(fine.all()):
        return "rounding"
    if not bool(fine.any()):
        return "elsewhere"
    return "plain" if bool(fine[0]) else "cudnn"

# %% wrong 04-reads reason=no-reader
# On a GPU everything asks cuDNN.
reads_enabled = lambda op, device: device == "cuda"

# %% wrong 04-reads reason=missed
# cuDNN is for convolutions.
reads_enabled = lambda op, device: device == "cuda" and op == "conv2d"

# %% wrong 04-reads gets=partly reason=device
# The device does not matter.
reads_enabled = lambda op, device: op in {"conv2d", "lstm", "gru", "batch_norm", "ctc_loss", "grid_sample"}

# %% wrong 04-reads reason=no-reader
# Attention is cuDNN's, too.
reads_enabled = lambda op, device: device == "cuda" and op in {"conv2d", "lstm", "gru", "batch_norm", "ctc_loss", "grid_sample", "attention"}

# %% wrong 04-reads reason=no-reader
# One norm is like the other.
reads_enabled = lambda op, device: device == "cuda" and op in {"conv2d", "lstm", "gru", "batch_norm", "layer_norm", "ctc_loss", "grid_sample"}

# %% wrong 04-reads reason=missed
# All layers with weights.
reads_enabled = lambda op, device: device == "cuda" and op in {"conv2d", "lstm", "gru", "batch_norm", "linear"}

# %% wrong 04-reads reason=no-bool
# Yes is an answer.
reads_enabled = lambda op, device: "yes" if device == "cuda" else "no"

# %% wrong 04-reads reason=no-reader
# Pooling is cuDNN's, too.
reads_enabled = lambda op, device: device == "cuda" and op in {"conv2d", "lstm", "gru", "batch_norm", "ctc_loss", "grid_sample", "max_pool2d"}

# %% right 04-reads
# A list of those that do not.
reads_enabled = lambda op, device: device == "cuda" and op not in ("linear", "max_pool2d", "softmax", "layer_norm", "attention")

# %% right 04-reads
# If and return.
def reads_enabled(op, device):
    if device != "cuda":
        return False
    return op in ["conv2d", "lstm", "gru", "batch_norm", "ctc_loss", "grid_sample"]

# %% right 04-reads
# A table.
reads_enabled = lambda op, device: {("conv2d", "cuda"): True, ("lstm", "cuda"): True, ("gru", "cuda"): True, ("batch_norm", "cuda"): True,
                                    ("ctc_loss", "cuda"): True, ("grid_sample", "cuda"): True}.get((op, device), False)

# %% right 04-reads
# Pattern matching.
def reads_enabled(op, device):
    match op, device:
        case ("conv2d" | "lstm" | "gru" | "batch_norm" | "ctc_loss" | "grid_sample"), "cuda":
            return True
    return False

# %% wrong 04-errors reason=float32
# float32 is exact enough to judge.
two_errors = lambda on, off, exact: tuple(((a - exact.float()).abs().max() / exact.abs().max()).item() for a in (on, off))

# %% wrong 04-errors reason=no-scale
# Distances are errors.
two_errors = lambda on, off, exact: tuple((a.double() - exact).abs().max().item() for a in (on, off))

# %% wrong 04-errors reason=other-scale
# Relative to the result itself.
two_errors = lambda on, off, exact: tuple(((a.double() - exact).abs().max() / on.double().abs().max()).item() for a in (on, off))

# %% wrong 04-errors reason=sides-equal
# The two sides are compared with each other.
two_errors = lambda on, off, exact: (((on.double() - off.double()).abs().max() / exact.abs().max()).item(),) * 2

# %% wrong 04-errors reason=negative
# Positive and negative errors cancel.
two_errors = lambda on, off, exact: tuple(((a.double() - exact).mean() / exact.abs().max()).item() for a in (on, off))

# %% wrong 04-errors reason=example
# The mean error counts.
two_errors = lambda on, off, exact: tuple(((a.double() - exact).abs().mean() / exact.abs().max()).item() for a in (on, off))

# %% wrong 04-errors reason=example
# Each entry relative to its own exact value.
two_errors = lambda on, off, exact: tuple(((a.double() - exact) / exact).abs().max().item() for a in (on, off))

# %% wrong 04-errors reason=two-numbers
# One side is enough.
two_errors = lambda on, off, exact: ((on.double() - exact).abs().max() / exact.abs().max()).item()

# %% right 04-errors
# Tensors of one number.
two_errors = lambda on, off, exact: [(a - exact).abs().max() / exact.abs().max() for a in (on, off)]

# %% right 04-errors
# numpy throughout.
import numpy
two_errors = lambda on, off, exact: tuple(numpy.abs(a.numpy().astype("float64") - exact.numpy()).max() / numpy.abs(exact.numpy()).max() for a in (on, off))

# %% right 04-errors
# torch's norms.
import torch
two_errors = lambda on, off, exact: tuple((torch.linalg.vector_norm(a.double() - exact, float("inf")) / torch.linalg.vector_norm(exact, float("inf"))).item()
                                          for a in (on, off))

# %% right 04-errors
# Python's numbers.
def two_errors(on, off, exact):
    truth = exact.flatten().tolist()
    scale = max(map(abs, truth))
    return tuple(max(abs(a - b) for a, b in zip(side.flatten().tolist(), truth)) / scale for side in (on, off))

# %% wrong 04-without reason=still-on
# run() is all.
without_cudnn = lambda run: run()

# %% wrong 04-without gets=partly reason=moved
# flags() sets what is named.
import torch

def without_cudnn(run):
    with torch.backends.cudnn.flags(enabled=False):
        return run()

# %% wrong 04-without gets=partly reason=left-behind
# Off is off for good.
import torch

def without_cudnn(run):
    torch.backends.cudnn.enabled = False
    return run()

# %% wrong 04-without gets=partly reason=forced-on
# It was on before.
import torch

def without_cudnn(run):
    torch.backends.cudnn.enabled = False
    try:
        return run()
    finally:
        torch.backends.cudnn.enabled = True

# %% wrong 04-without gets=partly reason=swallowed
# An exception may end here.
import torch

def without_cudnn(run):
    before, torch.backends.cudnn.enabled = torch.backends.cudnn.enabled, False
    try:
        return run()
    except Exception:
        return None
    finally:
        torch.backends.cudnn.enabled = before

# %% wrong 04-without gets=partly reason=runs
# Once to warm up, once for the result.
import torch

def without_cudnn(run):
    before, torch.backends.cudnn.enabled = torch.backends.cudnn.enabled, False
    try:
        run()
        return run()
    finally:
        torch.backends.cudnn.enabled = before

# %% wrong 04-without reason=no-result
# The result is not asked for.
import torch

def without_cudnn(run):
    before, torch.backends.cudnn.enabled = torch.backends.cudnn.enabled, False
    try:
        run()
    finally:
        torch.backends.cudnn.enabled = before

# %% wrong 04-without gets=partly reason=moved
# The neighbours' values are known.
import torch

def without_cudnn(run):
    with torch.backends.cudnn.flags(enabled=False, benchmark=True, deterministic=True, allow_tf32=False):
        return run()

# %% wrong 04-without gets=partly reason=exception
# Without an exception all is well.
import torch

def without_cudnn(run):
    before, torch.backends.cudnn.enabled = torch.backends.cudnn.enabled, False
    result = run()
    torch.backends.cudnn.enabled = before
    return result

# %% right 04-without
# The course's tool.
from course.flags import using

def without_cudnn(run):
    with using({"cudnn.enabled": False}):
        return run()

# %% right 04-without
# flags() with the present values.
import torch

def without_cudnn(run):
    cudnn = torch.backends.cudnn
    with cudnn.flags(enabled=False, benchmark=cudnn.benchmark, deterministic=cudnn.deterministic, allow_tf32=cudnn.allow_tf32,
                     benchmark_limit=cudnn.benchmark_limit):
        return run()

# %% right 04-without
# An exit stack.
import torch
from contextlib import ExitStack

def without_cudnn(run):
    with ExitStack() as stack:
        stack.callback(setattr, torch.backends.cudnn, "enabled", torch.backends.cudnn.enabled)
        torch.backends.cudnn.enabled = False
        return run()

# %% right 04-without
# The exception is caught and raised again.
import torch

def without_cudnn(run):
    before = torch.backends.cudnn.enabled
    torch.backends.cudnn.enabled = False
    try:
        result = run()
    except BaseException:
        torch.backends.cudnn.enabled = before
        raise
    torch.backends.cudnn.enabled = before
    return result

# %% wrong 04-lose reason=no-race
# An interval written down is evidence.
race = {"low": 0.98, "high": 1.02, "rounds": 40}

# %% wrong 04-lose reason=switch
# A race of nothing.
race = raced({"on": lambda: None, "off": lambda: None}, 1.0)

# %% wrong 04-lose reason=switch
# Two functions under one switch.
import torch
pool, x = torch.nn.MaxPool2d(2), torch.randn(2, 4, 8, 8)
race = raced({"on": lambda: pool(x), "off": lambda: pool(x)}, 1.0)

# %% wrong 04-lose reason=no-race
# Off is the baseline.
import torch
from course import flags
pool, x = torch.nn.MaxPool2d(2), torch.randn(2, 4, 8, 8)

def turned(value):
    return lambda: (flags.assign("mkldnn.enabled", value), pool(x))

race = raced({"off": turned(False), "on": turned(True)}, 1.0)

# %% wrong 04-lose reason=slower
# Slower by half is hardly slower.
import torch
from course import flags
pool, x = torch.nn.MaxPool2d(2), torch.randn(2, 4, 8, 8)

def turned(value):
    return lambda: (flags.assign("mkldnn.enabled", value), pool(x))

race = raced({"on": turned(True), "off": turned(False)}, 1.5)

# %% wrong 04-lose gets=inconclusive reason=rounds
# Three rounds are enough.
import torch
from course import flags
pool, x = torch.nn.MaxPool2d(2), torch.randn(2, 4, 8, 8)

def turned(value):
    return lambda: (flags.assign("mkldnn.enabled", value), pool(x))

race = raced({"on": turned(True), "off": turned(False)}, 1.0, rounds=3)

# %% wrong 04-lose gets=inconclusive reason=undecided
# An interval that reaches beyond 1.05 is close enough.
import torch
from course import flags
pool, x = torch.nn.MaxPool2d(2), torch.randn(2, 4, 8, 8)

def turned(value):
    return lambda: (flags.assign("mkldnn.enabled", value), pool(x))

race = raced({"on": turned(True), "off": turned(False)}, 1.0, 0.2)

# %% right 04-lose
# Pooling.
import torch
from course import flags
pool, x = torch.nn.MaxPool2d(2), torch.randn(2, 4, 8, 8)

def turned(value):
    return lambda: (flags.assign("mkldnn.enabled", value), pool(x))

race = raced({"on": turned(True), "off": turned(False)}, 1.0)

# %% right 04-lose
# A product in float64, switched by hand.
import torch
a = torch.randn(16, 16, dtype=torch.float64)

def turned(value):
    def run():
        torch.backends.mkldnn.enabled = value
        return a @ a
    return run

race = raced({"on": turned(True), "off": turned(False)}, 1.02)

# %% right 04-lose
# Sorting, quicker without.
import torch
from course import flags
a = torch.randn(100)

def turned(value):
    return lambda: (flags.assign("mkldnn.enabled", value), torch.sort(a))

race = raced({"on": turned(True), "off": turned(False)}, 0.9)

# %% right 04-lose
# A whole row of layers that never ask.
import torch
from course import flags
net, x = torch.nn.Sequential(torch.nn.MaxPool2d(2), torch.nn.Hardtanh(), torch.nn.Flatten()), torch.randn(2, 4, 8, 8)

def turned(value):
    return torch.no_grad()(lambda: (flags.assign("mkldnn.enabled", value), net(x)))

race = raced({"on": turned(True), "off": turned(False)}, 1.01)
