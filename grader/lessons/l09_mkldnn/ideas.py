# Wrong ideas and right variants of lesson 09 (see grader/ideas.py).

# %% wrong 09-t-time loses=executed,creation,noise
# Lines are time.
from collections import Counter

def time_by_primitive(report):
    return dict(Counter(line.split(",")[5] for line in report if line.startswith("onednn_verbose") and line.split(",")[3] == "exec"))

# %% wrong 09-t-time loses=creation
# Making a primitive is work of the call.
def time_by_primitive(report):
    found = {}
    for line in report:
        fields = line.split(",")
        if fields[0] == "onednn_verbose" and len(fields) > 10 and fields[3] != "info":
            found[fields[5]] = found.get(fields[5], 0.0) + float(fields[-1])
    return found

# %% wrong 09-t-time loses=executed,creation,noise
# Each primitive runs once.
def time_by_primitive(report):
    lines = [line.split(",") for line in report if line.startswith("onednn_verbose,v1,primitive,exec,")]
    return {fields[5]: float(fields[-1]) for fields in lines}

# %% wrong 09-t-time loses=noise
# A line with the word exec was executed.
def time_by_primitive(report):
    found = {}
    for line in report:
        if "exec" in line:
            fields = line.split(",")
            found[fields[5]] = found.get(fields[5], 0.0) + float(fields[-1])
    return found

# %% wrong 09-t-time loses=noise
# A line with the field exec is oneDNN's.
def time_by_primitive(report):
    found = {}
    for line in report:
        fields = line.split(",")
        if "exec" in fields and len(fields) > 5:
            found[fields[5]] = found.get(fields[5], 0.0) + float(fields[-1])
    return found

# %% wrong 09-t-time loses=noise
# Every line is long.
def time_by_primitive(report):
    found = {}
    for line in report:
        fields = line.split(",")
        if fields[3] == "exec":
            found[fields[5]] = found.get(fields[5], 0.0) + float(fields[-1])
    return found

# %% wrong 09-t-time loses=executed,creation,noise
# The implementation is the primitive.
def time_by_primitive(report):
    found = {}
    for line in report:
        fields = line.split(",")
        if len(fields) > 6 and fields[0] == "onednn_verbose" and fields[3] == "exec":
            found[fields[6]] = found.get(fields[6], 0.0) + float(fields[-1])
    return found

# %% wrong 09-t-time loses=executed,creation,noise
# The times are seconds.
def time_by_primitive(report):
    found = {}
    for line in report:
        fields = line.split(",")
        if len(fields) > 6 and fields[0] == "onednn_verbose" and fields[3] == "exec":
            found[fields[5]] = found.get(fields[5], 0.0) + 1e3 * float(fields[-1])
    return found

# %% wrong 09-t-time loses=noise
# An empty report is an error.
def time_by_primitive(report):
    found = {}
    for line in report:
        fields = line.split(",")
        if fields[0] == "onednn_verbose" and len(fields) > 10 and fields[3] == "exec":
            found[fields[5]] = found.get(fields[5], 0.0) + float(fields[-1])
    return found or None

# %% wrong 09-t-time loses=executed,creation,noise
# Reorders are no work.
def time_by_primitive(report):
    found = {"reorder": 0.0}
    for line in report:
        fields = line.split(",")
        if len(fields) > 6 and fields[0] == "onednn_verbose" and fields[3] == "exec" and fields[5] != "reorder":
            found[fields[5]] = found.get(fields[5], 0.0) + float(fields[-1])
    return found

# %% right 09-t-time
# A regular expression and a defaultdict.
import re
from collections import defaultdict

def time_by_primitive(report):
    found = defaultdict(float)
    for line in report:
        if line_parts := re.match(r"onednn_verbose,v1,primitive,exec,\w+,(\w+),.*,([\d.e-]+)$", line):
            found[line_parts[1]] += float(line_parts[2])
    return found

# %% right 09-t-time
# The csv module reads it.
import csv

def time_by_primitive(report):
    rows = [row for row in csv.reader(report) if row[:4] == ["onednn_verbose", "v1", "primitive", "exec"]]
    return {name: sum(float(row[-1]) for row in rows if row[5] == name) for name in {row[5] for row in rows}}

# %% right 09-t-time
# Split from both ends; numpy sums.
import numpy

def time_by_primitive(report):
    found = {}
    for line in report:
        if line.startswith("onednn_verbose,") and ",exec," in line:
            found.setdefault(line.split(",", 6)[5], []).append(float(line.rsplit(",", 1)[1]))
    return {name: numpy.sum(times) for name, times in found.items()}

# %% right 09-t-time
# A Counter of floats.
from collections import Counter

def time_by_primitive(report):
    total = Counter()
    for fields in map(lambda line: line.split(","), report):
        try:
            mark, _, _, event, _, name, *_, ms = fields
        except ValueError:
            continue
        if mark == "onednn_verbose" and event == "exec":
            total[name] += float(ms)
    return total

# %% wrong 09-t-report loses=pairs,claim
# One pair is a proof.
report = {"layer": "Conv2d", "threads": 2, "lines": 3, "on_ms": [1.0], "off_ms": [2.0], "low": 0.5, "high": 0.5, "claim": "faster"}

# %% wrong 09-t-report loses=claim
# The median is the interval.
report = {"layer": "Conv2d", "threads": 2, "lines": 3, "on_ms": [1.0, 1.1, 0.9, 1.2, 1.0, 1.1], "off_ms": [2.0] * 6, "low": 0.525,
          "high": 0.525, "claim": "faster"}

# %% wrong 09-t-report loses=witness
# No log, no doubt.
report = {"layer": "Conv2d", "threads": 2, "lines": 0, "on_ms": [1.0, 1.1, 0.9, 1.2, 1.0, 1.1], "off_ms": [2.0] * 6, "low": 0.45,
          "high": 0.6, "claim": "faster"}

# %% wrong 09-t-report loses=claim
# oneDNN is faster, whatever was measured.
report = {"layer": "Conv2d", "threads": 2, "lines": 3, "on_ms": [1.9, 2.1, 2.0, 2.2, 1.8, 2.0], "off_ms": [2.0] * 6, "low": 0.9,
          "high": 1.1, "claim": "faster"}

# %% wrong 09-t-report loses=claim
# From nothing to everything is always honest.
report = {"layer": "Conv2d", "threads": 2, "lines": 3, "on_ms": [1.0, 1.1, 0.9, 1.2, 1.0, 1.1], "off_ms": [2.0] * 6, "low": 0.001,
          "high": 1000.0, "claim": "undecided"}

# %% wrong 09-t-report loses=pairs
# The number of threads does not matter.
report = {"layer": "Conv2d", "threads": None, "lines": 3, "on_ms": [1.0, 1.1, 0.9, 1.2, 1.0, 1.1], "off_ms": [2.0] * 6, "low": 0.45,
          "high": 0.6, "claim": "faster"}

# %% wrong 09-t-report loses=claim
# The ratio the other way round.
report = {"layer": "Conv2d", "threads": 2, "lines": 3, "on_ms": [1.0, 1.1, 0.9, 1.2, 1.0, 1.1], "off_ms": [2.0] * 6, "low": 1.6,
          "high": 2.2, "claim": "faster"}

# %% wrong 09-t-report loses=pairs,witness,claim
# Words are a report.
report = {"layer": "Conv2d", "threads": "all", "lines": "many", "on_ms": "quick", "off_ms": "slow", "low": None, "high": None,
          "claim": "faster"}

# %% right 09-t-report
# Tuples.
report = {"layer": "LSTM", "threads": 1, "lines": 7, "on_ms": (2.0, 2.2, 2.1, 2.3, 2.0, 2.4), "off_ms": (1.0,) * 6, "low": 2.0, "high": 2.4,
          "claim": "slower"}

# %% right 09-t-report
# Arrays, and the lines themselves in place of their number.
import numpy

on, off = numpy.array([1.0, 1.1, 0.9, 1.2, 1.0, 1.1, 0.95]), numpy.full(7, 2.0)
report = {"layer": "Conv2d", "threads": numpy.int32(2), "lines": ["onednn_verbose,...", "onednn_verbose,..."], "on_ms": on, "off_ms": off,
          "low": (on / off).min(), "high": (on / off).max(), "claim": "faster"}

# %% right 09-t-report
# Tensors; oneDNN never ran, so an interval off 1 is noise.
import torch

on, off = torch.tensor([1.02, 1.03, 1.01, 1.05, 1.02, 1.04]), torch.ones(6)
report = {"layer": "MaxPool2d", "threads": torch.get_num_threads(), "lines": 0, "on_ms": on, "off_ms": off, "low": on.min(),
          "high": on.max(), "claim": "undecided"}

# %% right 09-t-report
# A bootstrap interval in place of the course's.
import random
from statistics import median

rng = random.Random(1)
on, off = [1 + rng.random() / 5 for _ in range(20)], [1 + rng.random() / 5 for _ in range(20)]
ratios = [a / b for a, b in zip(on, off)]
medians = sorted(median(rng.choices(ratios, k=20)) for _ in range(1000))
low, high = medians[25], medians[975]
report = dict(layer="Linear", threads=4, lines=2, on_ms=on, off_ms=off, low=low, high=high,
              claim="faster" if high < 1 else "slower" if low > 1 else "Undecided")

# %% wrong 09-reorder-share reason=lines
# Lines are time.
def reorder_share(report):
    names = [line.split(",")[5] for line in report if ",exec," in line]
    return names.count("reorder") / len(names) if names else 0.0

# %% wrong 09-reorder-share reason=raised
# A line with the word exec was executed.
def reorder_share(report):
    lines = [line.split(",") for line in report if "exec" in line]
    total = sum(float(fields[-1]) for fields in lines)
    return sum(float(fields[-1]) for fields in lines if fields[5] == "reorder") / total if total else 0.0

# %% wrong 09-reorder-share reason=creation
# Creating is executing.
def reorder_share(report):
    lines = [line.split(",") for line in report if line.count(",") > 9 and "info" not in line]
    total = sum(float(fields[-1]) for fields in lines)
    return sum(float(fields[-1]) for fields in lines if fields[5] == "reorder") / total if total else 0.0

# %% wrong 09-reorder-share reason=of-the-rest
# Reorders against the rest.
def reorder_share(report):
    lines = [line.split(",") for line in report if ",exec," in line]
    rest = sum(float(fields[-1]) for fields in lines if fields[5] != "reorder")
    return sum(float(fields[-1]) for fields in lines if fields[5] == "reorder") / rest if rest else 0.0

# %% wrong 09-reorder-share reason=milliseconds
# Milliseconds are a share.
def reorder_share(report):
    return sum(float(line.split(",")[-1]) for line in report if ",exec," in line and ",reorder," in line)

# %% wrong 09-reorder-share gets=partly reason=empty-report
# There is always a line.
def reorder_share(report):
    lines = [line.split(",") for line in report if ",exec," in line]
    return sum(float(fields[-1]) for fields in lines if fields[5] == "reorder") / sum(float(fields[-1]) for fields in lines)

# %% wrong 09-reorder-share reason=wrong-share
# A share is a percentage.
def reorder_share(report):
    lines = [line.split(",") for line in report if ",exec," in line]
    total = sum(float(fields[-1]) for fields in lines)
    return 100 * sum(float(fields[-1]) for fields in lines if fields[5] == "reorder") / total if total else 0.0

# %% wrong 09-reorder-share reason=header
# Every line is long.
def reorder_share(report):
    lines = [fields for fields in (line.split(",") for line in report) if fields[5] and fields[3] == "exec"]
    total = sum(float(fields[-1]) for fields in lines)
    return sum(float(fields[-1]) for fields in lines if fields[5] == "reorder") / total if total else 0.0

# %% right 09-reorder-share
# The course's own reader.
from course.onednn_log import parse

def reorder_share(report):
    lines = [line for line in parse("\n".join(report)) if line.event == "exec"]
    total = sum(line.time_ms for line in lines)
    return sum(line.time_ms for line in lines if line.primitive == "reorder") / (total or 1.0)

# %% right 09-reorder-share
# A dictionary of primitives.
from collections import defaultdict

def reorder_share(report):
    ms = defaultdict(float)
    for line in report:
        fields = line.split(",")
        if len(fields) > 4 and fields[3] == "exec":
            ms[fields[5]] += float(fields[-1])
    return ms["reorder"] / sum(ms.values()) if sum(ms.values()) else 0

# %% right 09-reorder-share
# numpy, its own float.
import numpy

def reorder_share(report):
    rows = [line.split(",") for line in report if ",exec," in line]
    if not rows:
        return 0.0
    ms = numpy.array([float(row[-1]) for row in rows])
    return ms[numpy.array([row[5] == "reorder" for row in rows])].sum() / ms.sum()

# %% right 09-reorder-share
# A regular expression.
import re

def reorder_share(report):
    found = re.findall(r"^onednn_verbose,v1,primitive,exec,\w+,(\w+),.*,([\d.]+)$", "\n".join(report), re.MULTILINE)
    total = sum(float(ms) for _, ms in found)
    return sum(float(ms) for name, ms in found if name == "reorder") / total if total > 0 else 0.0

# %% wrong 09-goes-to-onednn reason=none-holds
# Everything goes there.
goes_to_onednn = lambda n, c, h, w, k, g=1: True

# %% wrong 09-goes-to-onednn reason=one-is-enough
# All four conditions are needed.
goes_to_onednn = lambda n, c, h, w, k, g=1: g > 1 and k > 3 and n > 1 and n * c * h * w > 20480

# %% wrong 09-goes-to-onednn gets=partly reason=limit
# The limit itself is large.
goes_to_onednn = lambda n, c, h, w, k, g=1: g > 1 or k > 3 or n > 1 or c * h * w >= 20480

# %% wrong 09-goes-to-onednn reason=one-is-enough
# A large kernel begins at five.
goes_to_onednn = lambda n, c, h, w, k, g=1: g > 1 or k > 4 or n > 1 or c * h * w > 20480

# %% wrong 09-goes-to-onednn reason=one-is-enough
# Few groups are none.
goes_to_onednn = lambda n, c, h, w, k, g=1: g > 8 or k > 3 or n > 1 or c * h * w > 20480

# %% wrong 09-goes-to-onednn reason=size
# Images are square.
goes_to_onednn = lambda n, c, h, w, k, g=1: g > 1 or k > 3 or n > 1 or c * h * h > 20480

# %% wrong 09-goes-to-onednn reason=size
# Channels do not count.
goes_to_onednn = lambda n, c, h, w, k, g=1: g > 1 or k > 3 or n > 1 or h * w > 20480

# %% wrong 09-goes-to-onednn reason=one-is-enough
# Groups do not matter.
goes_to_onednn = lambda n, c, h, w, k, g=1: k > 3 or n > 1 or c * h * w > 20480

# %% wrong 09-goes-to-onednn reason=no-bool
# Yes is an answer.
goes_to_onednn = lambda n, c, h, w, k, g=1: "yes"

# %% right 09-goes-to-onednn
# The batch counted in.
goes_to_onednn = lambda n, c, h, w, k, g=1: g > 1 or k > 3 or n > 1 or n * c * h * w > 20480

# %% right 09-goes-to-onednn
# What stays behind.
goes_to_onednn = lambda n, c, h, w, k, g=1: not (g == 1 and k <= 3 and n == 1 and c * h * w <= 20480)

# %% right 09-goes-to-onednn
# any of a list.
goes_to_onednn = lambda batch, channels, height, width, kernel, groups=1: any([groups > 1, kernel > 3, batch > 1, channels * height * width > 20 * 1024])

# %% right 09-goes-to-onednn
# One condition after the other.
from math import prod

def goes_to_onednn(*sizes):
    batch, channels, height, width, kernel, *groups = sizes
    if batch != 1 or kernel >= 4:
        return True
    if groups and groups[0] != 1:
        return True
    return prod((channels, height, width)) > 20480

# %% wrong 09-without-onednn reason=still-on
# run() is all.
without_onednn = lambda run: run()

# %% wrong 09-without-onednn reason=left-behind
# Off is off for good.
from torch.backends import mkldnn

def without_onednn(run):
    mkldnn.enabled = False
    return run()

# %% wrong 09-without-onednn gets=partly reason=forced-on
# It was on before.
from torch.backends import mkldnn

def without_onednn(run):
    mkldnn.enabled = False
    try:
        return run()
    finally:
        mkldnn.enabled = True

# %% wrong 09-without-onednn gets=partly reason=moved
# flags() sets what is named.
from torch.backends import mkldnn

def without_onednn(run):
    with mkldnn.flags(enabled=False):
        return run()

# %% wrong 09-without-onednn gets=partly reason=exception
# Without an exception all is well.
from torch.backends import mkldnn

def without_onednn(run):
    before, mkldnn.enabled = mkldnn.enabled, False
    result = run()
    mkldnn.enabled = before
    return result

# %% wrong 09-without-onednn reason=no-result
# The result is not asked for.
from torch.backends import mkldnn

def without_onednn(run):
    before, mkldnn.enabled = mkldnn.enabled, False
    try:
        run()
    finally:
        mkldnn.enabled = before

# %% wrong 09-without-onednn gets=partly reason=swallowed
# An exception may end here.
from torch.backends import mkldnn

def without_onednn(run):
    before, mkldnn.enabled = mkldnn.enabled, False
    try:
        return run()
    except Exception:
        return None
    finally:
        mkldnn.enabled = before

# %% wrong 09-without-onednn gets=partly reason=runs
# Once to warm up, once for the result.
from torch.backends import mkldnn

def without_onednn(run):
    before, mkldnn.enabled = mkldnn.enabled, False
    try:
        run()
        return run()
    finally:
        mkldnn.enabled = before

# %% right 09-without-onednn
# The course's tool.
from course.flags import using

def without_onednn(run):
    with using({"mkldnn.enabled": False}):
        return run()

# %% right 09-without-onednn
# flags() with the present values.
from torch.backends import mkldnn

def without_onednn(run):
    with mkldnn.flags(enabled=False, deterministic=mkldnn.deterministic):
        return run()

# %% right 09-without-onednn
# An exit stack.
from contextlib import ExitStack
from torch.backends import mkldnn

def without_onednn(run):
    with ExitStack() as stack:
        stack.callback(setattr, mkldnn, "enabled", mkldnn.enabled)
        mkldnn.enabled = False
        return run()

# %% right 09-without-onednn
# The exception is caught and raised again.
from torch.backends import mkldnn

def without_onednn(run):
    before = mkldnn.is_available() and mkldnn.enabled
    try:
        mkldnn.enabled = False
        result = run()
    except BaseException:
        mkldnn.enabled = before
        raise
    mkldnn.enabled = before
    return result

# %% wrong 09-make-it-lose reason=no-race
# An interval written down is evidence.
import torch
layer, x = torch.nn.Conv2d(16, 16, 3), torch.randn(4, 16, 24, 24)
losing = {"call": lambda: layer(x), "race": {"low": 1.2, "high": 1.4, "rounds": 40}}

# %% wrong 09-make-it-lose reason=no-line
# The call that is shown need not be the one that raced.
import torch
layer, x, y = torch.nn.Conv2d(16, 16, 3), torch.randn(4, 16, 24, 24), torch.randn(8).double()
losing = {"call": lambda: layer(x), "race": raced({"off": lambda: y + 1, "on": lambda: y + 1}, 1.5)}

# %% wrong 09-make-it-lose reason=faster
# oneDNN wins.
import torch
layer, x = torch.nn.Conv2d(16, 16, 3), torch.randn(4, 16, 24, 24)
losing = {"call": lambda: layer(x), "race": raced({"off": lambda: layer(x), "on": lambda: layer(x)}, 0.6)}

# %% wrong 09-make-it-lose gets=inconclusive reason=undecided
# An interval with 1 in it decides.
import torch
layer, x = torch.nn.Conv2d(16, 16, 3), torch.randn(4, 16, 24, 24)
losing = {"call": lambda: layer(x), "race": raced({"off": lambda: layer(x), "on": lambda: layer(x)}, 1.0)}

# %% wrong 09-make-it-lose reason=baseline
# On is the baseline.
import torch
layer, x = torch.nn.Conv2d(16, 16, 3), torch.randn(4, 16, 24, 24)
losing = {"call": lambda: layer(x), "race": raced({"on": lambda: layer(x), "off": lambda: layer(x)}, 1.5)}

# %% wrong 09-make-it-lose gets=inconclusive reason=rounds
# Two rounds are enough.
import torch
layer, x = torch.nn.Conv2d(16, 16, 3), torch.randn(4, 16, 24, 24)
losing = {"call": lambda: layer(x), "race": raced({"off": lambda: layer(x), "on": lambda: layer(x)}, 1.5, rounds=2)}

# %% wrong 09-make-it-lose reason=no-dictionary
# The race alone.
import torch
layer, x = torch.nn.Conv2d(16, 16, 3), torch.randn(4, 16, 24, 24)
losing = raced({"off": lambda: layer(x), "on": lambda: layer(x)}, 1.5)

# %% right 09-make-it-lose
# A convolution.
import torch
layer, x = torch.nn.Conv2d(16, 16, 3), torch.randn(4, 16, 24, 24)
losing = {"call": lambda: layer(x), "race": raced({"off": lambda: layer(x), "on": lambda: layer(x)}, 1.5)}

# %% right 09-make-it-lose
# One step of an LSTM.
import torch
layer, x = torch.nn.LSTM(32, 64), torch.randn(1, 1, 32)
call = torch.no_grad()(lambda: layer(x))
losing = dict(call=call, race=raced({"off": call, "on": call}, 2.0))

# %% right 09-make-it-lose
# Grouped, and more in the dictionary.
import torch
layer, x = torch.nn.Conv2d(16, 16, 3, groups=4), torch.randn(1, 16, 9, 9)
losing = {"layer": layer, "call": lambda: layer(x), "race": raced({"off": lambda: layer(x), "on": lambda: layer(x)}, 1.1)}

# %% right 09-make-it-lose
# A new shape at each call.
import itertools, torch
layer, sizes = torch.nn.Conv2d(16, 16, 3), itertools.cycle(range(9, 30))

def call():
    return layer(torch.zeros(2, 16, next(sizes), 20))

losing = {"call": call, "race": raced({"off": call, "on": call}, 1.4)}
