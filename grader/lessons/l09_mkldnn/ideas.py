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
