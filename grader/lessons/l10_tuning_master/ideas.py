# Wrong ideas and right variants of lesson 10 (see grader/ideas.py).

# %% wrong 10-t-choose loses=limit,nothing
# Speed is all that counts.
def choose(rows, today, limit):
    if not rows:
        return None
    best = min(rows, key=lambda row: row["ratio"])
    now = next(row for row in rows if row["name"] == today)
    return today if now["low"] <= best["high"] else best["name"]

# %% wrong 10-t-choose loses=today
# The smallest number wins, whatever its interval.
def choose(rows, today, limit):
    allowed = [row for row in rows if row["error"] <= limit]
    return min(allowed, key=lambda row: row["ratio"])["name"] if allowed else None

# %% wrong 10-t-choose loses=fastest,limit,nothing
# Never change a running system.
def choose(rows, today, limit):
    return today

# %% wrong 10-t-choose loses=limit
# The best of all sets the bar, permitted or not.
def choose(rows, today, limit):
    allowed = {row["name"]: row for row in rows if row["error"] <= limit}
    if not allowed:
        return None
    fastest = min(rows, key=lambda row: row["ratio"])
    if today in allowed and allowed[today]["low"] <= fastest["high"]:
        return today
    return min(allowed.values(), key=lambda row: row["ratio"])["name"]

# %% wrong 10-t-choose loses=nothing
# Where nothing is permitted, today's stays.
def choose(rows, today, limit):
    allowed = {row["name"]: row for row in rows if row["error"] <= limit}
    if not allowed:
        return today
    best = min(allowed.values(), key=lambda row: row["ratio"])
    return today if today in allowed and allowed[today]["low"] <= best["high"] else best["name"]

# %% wrong 10-t-choose loses=fastest,limit,today
# The slowest is the safest.
def choose(rows, today, limit):
    allowed = [row for row in rows if row["error"] <= limit]
    return max(allowed, key=lambda row: row["ratio"])["name"] if allowed else None

# %% wrong 10-t-choose loses=limit
# Today's is kept although it breaks the limit.
def choose(rows, today, limit):
    allowed = [row for row in rows if row["error"] <= limit]
    if not allowed:
        return None
    best = min(allowed, key=lambda row: row["ratio"])
    now = next(row for row in rows if row["name"] == today)
    return today if now["low"] <= best["high"] else best["name"]

# %% right 10-t-choose
# Sorted, then the first.
def choose(rows, today, limit):
    allowed = sorted((row for row in rows if row["error"] <= limit), key=lambda row: row["ratio"])
    if not allowed:
        return None
    for row in allowed:
        if row["name"] == today and row["low"] <= allowed[0]["high"]:
            return today
    return allowed[0]["name"]

# %% right 10-t-choose
# A plain loop.
def choose(rows, today, limit):
    best = now = None
    for row in rows:
        if row["error"] > limit:
            continue
        if best is None or row["ratio"] < best["ratio"]:
            best = row
        if row["name"] == today:
            now = row
    if best is None:
        return None
    if now is not None and not now["low"] > best["high"]:
        return now["name"]
    return best["name"]

# %% right 10-t-choose
# Tuples of ratio and name.
def choose(rows, today, limit):
    allowed = [(row["ratio"], row["name"], row["low"], row["high"]) for row in rows if row["error"] <= limit]
    if len(allowed) == 0:
        return None
    _, name, _, high = min(allowed)
    return next((one[1] for one in allowed if one[1] == today and one[2] <= high), name)

# %% right 10-t-choose
# numpy finds the smallest.
import numpy

def choose(rows, today, limit):
    allowed = [row for row in rows if row["error"] <= limit]
    if not allowed:
        return
    best = allowed[int(numpy.argmin([row["ratio"] for row in allowed]))]
    kept = [row for row in allowed if row["low"] <= best["high"] and row["name"] == today]
    return (kept or [best])[0]["name"]

# %% wrong 10-t-report loses=pairs,claim
# One pair is a proof.
report = {"today": "NCHW", "change": "channels_last", "today_ms": [2.0], "change_ms": [1.0], "low": 0.5, "high": 0.5,
          "claim": "faster", "must_not_break": "the outputs", "kept": True}

# %% wrong 10-t-report loses=requirement
# Only the time was looked at.
report = {"today": "NCHW", "change": "channels_last", "today_ms": [2.0, 2.1, 1.9, 2.0, 2.2, 2.0, 1.8, 2.1],
          "change_ms": [1.0, 1.1, 0.9, 1.05, 1.0, 1.1, 0.95, 1.0], "low": 0.47, "high": 0.53, "claim": "faster",
          "must_not_break": "...", "kept": None}

# %% wrong 10-t-report loses=claim
# A middle below one is a gain.
report = {"today": "one thread", "change": "two threads", "today_ms": [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0],
          "change_ms": [1.6, 2.2, 1.9, 2.1, 1.8, 2.3, 1.7, 1.95], "low": 0.8, "high": 1.15, "claim": "faster",
          "must_not_break": "the outputs", "kept": True}

# %% wrong 10-t-report loses=claim
# An interval of one's own making.
report = {"today": "one thread", "change": "two threads", "today_ms": [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0],
          "change_ms": [1.6, 2.2, 1.9, 2.1, 1.8, 2.3, 1.7, 1.95], "low": 0.1, "high": 0.2, "claim": "faster",
          "must_not_break": "the outputs", "kept": True}

# %% wrong 10-t-report loses=pairs
# It does not matter what was compared.
report = {"today": "", "change": "", "today_ms": [2.0, 2.1, 1.9, 2.0, 2.2, 2.0, 1.8, 2.1],
          "change_ms": [1.0, 1.1, 0.9, 1.05, 1.0, 1.1, 0.95, 1.0], "low": 0.47, "high": 0.53, "claim": "faster",
          "must_not_break": "the outputs", "kept": True}

# %% wrong 10-t-report loses=pairs,claim
# Measured on different days.
report = {"today": "NCHW", "change": "channels_last", "today_ms": [2.0, 2.1, 1.9, 2.0, 2.2, 2.0],
          "change_ms": [1.0, 1.1, 0.9, 1.05, 1.0, 1.1, 0.95, 1.0], "low": 0.47, "high": 0.53, "claim": "faster",
          "must_not_break": "the outputs", "kept": True}

# %% right 10-t-report
# Faster, and kept.
report = {"today": "NCHW", "change": "channels_last", "today_ms": [2.0, 2.1, 1.9, 2.0, 2.2, 2.0, 1.8, 2.1],
          "change_ms": [1.0, 1.1, 0.9, 1.05, 1.0, 1.1, 0.95, 1.0], "low": 0.47, "high": 0.53, "claim": "faster",
          "must_not_break": "outputs within 1e-5", "kept": True}

# %% right 10-t-report
# Slower is a result too.
report = {"today": "float32", "change": "bfloat16", "today_ms": [1.0, 1.1, 0.9, 1.05, 1.0, 1.1, 0.95, 1.0],
          "change_ms": [2.0, 2.1, 1.9, 2.0, 2.2, 2.0, 1.8, 2.1], "low": 1.89, "high": 2.2, "claim": "slower",
          "must_not_break": "error at most 1 %", "kept": False}

# %% right 10-t-report
# Undecided is a result too.
report = {"today": "one thread", "change": "two threads", "today_ms": [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0],
          "change_ms": [1.6, 2.2, 1.9, 2.1, 1.8, 2.3, 1.7, 1.95], "low": 0.8, "high": 1.15, "claim": "undecided",
          "must_not_break": "the labels", "kept": True}

# %% right 10-t-report
# Capital letters, and numpy's own numbers.
import numpy

report = {"today": "Eager", "change": "no_grad", "today_ms": list(numpy.linspace(2.0, 2.1, 12)),
          "change_ms": list(numpy.linspace(1.5, 1.6, 12)), "low": numpy.float64(0.75), "high": numpy.float64(0.762),
          "claim": "Faster", "must_not_break": "BatchNorm's averages", "kept": True}

# %% wrong 10-best-set reason=the-fastest-breaks-the-limit
# Speed is all that counts.
def best_set(rows, limit):
    if not rows:
        return []
    best = min(rows, key=lambda r: r["ratio"])
    return [r["name"] for r in rows if r["low"] <= best["high"]]

# %% wrong 10-best-set reason=two-overlap
# There is one best.
def best_set(rows, limit):
    allowed = [r for r in rows if r["error"] <= limit]
    return [min(allowed, key=lambda r: r["ratio"])["name"]] if allowed else []

# %% wrong 10-best-set reason=exactly-at-the-limit
# The limit itself is too much.
def best_set(rows, limit):
    allowed = [r for r in rows if r["error"] < limit]
    if not allowed:
        return []
    best = min(allowed, key=lambda r: r["ratio"])
    return [r["name"] for r in allowed if r["low"] <= best["high"]]

# %% wrong 10-best-set reason=the-ends-just-touch
# Ends that touch are apart.
def best_set(rows, limit):
    allowed = [r for r in rows if r["error"] <= limit]
    if not allowed:
        return []
    best = min(allowed, key=lambda r: r["ratio"])
    return [r["name"] for r in allowed if r["low"] < best["high"]]

# %% wrong 10-best-set reason=the-fastest-breaks-the-limit
# The fastest sets the bar, permitted or not.
def best_set(rows, limit):
    if not rows:
        return []
    best = min(rows, key=lambda r: r["ratio"])
    return [r["name"] for r in rows if r["error"] <= limit and r["low"] <= best["high"]]

# %% wrong 10-best-set reason=raised
# Somebody is always permitted.
def best_set(rows, limit):
    allowed = [r for r in rows if r["error"] <= limit]
    best = min(allowed, key=lambda r: r["ratio"])
    return [r["name"] for r in allowed if r["low"] <= best["high"]]

# %% right 10-best-set
# Sorted first.
def best_set(rows, limit):
    allowed = sorted((r for r in rows if r["error"] <= limit), key=lambda r: r["ratio"])
    return [r["name"] for r in allowed if not r["low"] > allowed[0]["high"]]

# %% right 10-best-set
# A plain loop.
def best_set(rows, limit):
    best = None
    for r in rows:
        if r["error"] <= limit and (best is None or r["ratio"] < best["ratio"]):
            best = r
    names = []
    for r in rows:
        if best is not None and r["error"] <= limit and r["low"] <= best["high"]:
            names.append(r["name"])
    return names

# %% right 10-best-set
# numpy masks.
import numpy

def best_set(rows, limit):
    allowed = [r for r in rows if r["error"] <= limit]
    if len(allowed) == 0:
        return []
    ratio, low, high = (numpy.array([r[k] for r in allowed]) for k in ("ratio", "low", "high"))
    return [r["name"] for r, near in zip(allowed, low <= high[ratio.argmin()]) if near]

# %% right 10-best-set
# filter and a tuple handed back.
def best_set(rows, limit):
    allowed = tuple(filter(lambda r: r["error"] <= limit, rows))
    bar = min(((r["ratio"], r["high"]) for r in allowed), default=(0, 0))[1]
    return tuple(r["name"] for r in allowed if r["low"] <= bar)

# %% wrong 10-pieces reason=gradients
# Divide by the piece.
from torch.nn import functional as F

def step(model, x, y, micro):
    for a, b in zip(x.split(micro), y.split(micro)):
        F.cross_entropy(model(a), b).backward()

# %% wrong 10-pieces reason=too-large
# All at once is all the same.
from torch.nn import functional as F

def step(model, x, y, micro):
    F.cross_entropy(model(x), y).backward()

# %% wrong 10-pieces reason=gradients
# The mean of the means.
from torch.nn import functional as F

def step(model, x, y, micro):
    pieces = list(zip(x.split(micro), y.split(micro)))
    for a, b in pieces:
        (F.cross_entropy(model(a), b) / len(pieces)).backward()

# %% wrong 10-pieces reason=gradients
# Each piece starts afresh.
from torch.nn import functional as F

def step(model, x, y, micro):
    for a, b in zip(x.split(micro), y.split(micro)):
        model.zero_grad()
        (F.cross_entropy(model(a), b, reduction="sum") / len(x)).backward()

# %% wrong 10-pieces reason=rows
# The last small piece is left out.
from torch.nn import functional as F

def step(model, x, y, micro):
    for i in range(0, len(x) // micro * micro, micro):
        (F.cross_entropy(model(x[i:i + micro]), y[i:i + micro], reduction="sum") / len(x)).backward()

# %% wrong 10-pieces reason=gradients
# The sum is the mean.
from torch.nn import functional as F

def step(model, x, y, micro):
    for a, b in zip(x.split(micro), y.split(micro)):
        F.cross_entropy(model(a), b, reduction="sum").backward()

# %% right 10-pieces
# Slices by hand.
from torch.nn import functional as F

def step(model, x, y, micro):
    for i in range(0, len(x), micro):
        loss = F.cross_entropy(model(x[i:i + micro]), y[i:i + micro], reduction="sum")
        (loss / x.shape[0]).backward()

# %% right 10-pieces
# The mean of a piece, weighted by its rows.
from torch.nn import functional as F

def step(model, x, y, micro):
    for a, b in zip(x.split(micro), y.split(micro)):
        (F.cross_entropy(model(a), b) * len(a) / len(x)).backward()

# %% right 10-pieces
# Chunks, and a loss of one's own.
import torch

def step(model, x, y, micro):
    for rows in torch.arange(len(x)).split(micro):
        logits = model(x[rows]).log_softmax(1)
        (-logits[range(len(rows)), y[rows]].sum() / len(x)).backward()

# %% right 10-pieces
# torch.autograd.grad, added by hand.
import torch
from torch.nn import functional as F

def step(model, x, y, micro):
    params = list(model.parameters())
    total = [torch.zeros_like(p) for p in params]
    for a, b in zip(x.split(micro), y.split(micro)):
        loss = F.cross_entropy(model(a), b, reduction="sum") / len(x)
        total = [t + g for t, g in zip(total, torch.autograd.grad(loss, params))]
    for p, g in zip(params, total):
        p.grad = g
