# Wrong ideas and right variants of lesson 16 (see grader/ideas.py).

# %% wrong 16-best-order reason=vector-last
# Left to right is always as good as it gets.
def best_order(a, b, c, d):
    return "left", a * b * c + a * c * d

# %% wrong 16-best-order reason=vector-last
# The second product costs nothing.
def best_order(a, b, c, d):
    left, right = a * b * c, b * c * d
    return ("left", left) if left <= right else ("right", right)

# %% wrong 16-best-order reason=small-intermediate
# The smaller intermediate result is the cheaper order.
def best_order(a, b, c, d):
    if a * c <= b * d:
        return "left", a * b * c + a * c * d
    return "right", b * c * d + a * b * d

# %% wrong 16-best-order reason=tie
# Equally many: the other way round.
def best_order(a, b, c, d):
    left, right = a * b * c + a * c * d, b * c * d + a * b * d
    return ("left", left) if left < right else ("right", right)

# %% wrong 16-best-order reason=adapter
# Begin with the smallest matrix.
def best_order(a, b, c, d):
    if a * b <= c * d:
        return "left", a * b * c + a * c * d
    return "right", b * c * d + a * b * d

# %% wrong 16-best-order reason=vector-last
# A multiplication and its addition are two.
def best_order(a, b, c, d):
    left, right = 2 * (a * b * c + a * c * d), 2 * (b * c * d + a * b * d)
    return ("left", left) if left <= right else ("right", right)

# %% wrong 16-best-order reason=form
# The number is enough.
def best_order(a, b, c, d):
    return min(a * b * c + a * c * d, b * c * d + a * b * d)

# %% right 16-best-order
# min over pairs.
def best_order(a, b, c, d):
    count, _, order = min((a * b * c + a * c * d, 0, "left"), (b * c * d + a * b * d, 1, "right"))
    return order, count

# %% right 16-best-order
# A dictionary, and min keeps the first of equals.
def best_order(a, b, c, d):
    costs = {"left": a * c * (b + d), "right": b * d * (c + a)}
    order = min(costs, key=costs.get)
    return [order, costs[order]]

# %% right 16-best-order
# A function for one product.
def best_order(a, b, c, d):
    product = lambda m, n, p: m * n * p
    left = product(a, b, c) + product(a, c, d)
    right = product(b, c, d) + product(a, b, d)
    return ("right", right) if right < left else ("left", left)

# %% right 16-best-order
# numpy counts.
import numpy

def best_order(a, b, c, d):
    costs = numpy.array([a * b * c + a * c * d, b * c * d + a * b * d])
    first = int(costs.argmin())
    return ("left", "right")[first], costs[first]

# %% wrong 16-sixteen-bits reason=largest
# Integers are exact.
def dot_in_16_bits(inputs, weights):
    return sum(x * w for x, w in zip(inputs, weights))

# %% wrong 16-sixteen-bits reason=largest
# Only the total is cut off.
def dot_in_16_bits(inputs, weights):
    return max(-32768, min(32767, sum(x * w for x, w in zip(inputs, weights))))

# %% wrong 16-sixteen-bits reason=largest
# It wraps around instead of saturating.
def dot_in_16_bits(inputs, weights):
    products = [x * w for x, w in zip(inputs, weights)]
    wrap = lambda value: (value + 32768) % 65536 - 32768
    return sum(wrap(sum(products[i : i + 2])) for i in range(0, len(products), 2))

# %% wrong 16-sixteen-bits reason=largest
# Each product is cut off by itself.
def dot_in_16_bits(inputs, weights):
    return sum(max(-32768, min(32767, x * w)) for x, w in zip(inputs, weights))

# %% wrong 16-sixteen-bits reason=largest
# 16 bits end at 65535.
def dot_in_16_bits(inputs, weights):
    products = [x * w for x, w in zip(inputs, weights)]
    return sum(max(-65536, min(65535, sum(products[i : i + 2]))) for i in range(0, len(products), 2))

# %% wrong 16-sixteen-bits reason=negative
# There is no end below.
def dot_in_16_bits(inputs, weights):
    products = [x * w for x, w in zip(inputs, weights)]
    return sum(min(32767, sum(products[i : i + 2])) for i in range(0, len(products), 2))

# %% wrong 16-sixteen-bits reason=odd
# A number that stands alone is left out.
def dot_in_16_bits(inputs, weights):
    products = [x * w for x, w in zip(inputs, weights)]
    return sum(max(-32768, min(32767, products[i] + products[i + 1])) for i in range(0, len(products) - 1, 2))

# %% right 16-sixteen-bits
# Two slices, the second filled up with a 0.
def dot_in_16_bits(inputs, weights):
    products = [x * w for x, w in zip(inputs, weights)] + [0]
    pairs = zip(products[::2], products[1::2])
    return sum(max(-32768, min(32767, a + b)) for a, b in pairs)

# %% right 16-sixteen-bits
# numpy clips.
import numpy

def dot_in_16_bits(inputs, weights):
    products = numpy.array(inputs, dtype=int) * numpy.array(weights, dtype=int)
    products = numpy.append(products, [0] * (len(products) % 2)).astype(int)
    return products.reshape(-1, 2).sum(1).clip(-32768, 32767).sum()

# %% right 16-sixteen-bits
# torch clamps.
import torch

def dot_in_16_bits(inputs, weights):
    products = torch.tensor(inputs, dtype=torch.int64) * torch.tensor(weights, dtype=torch.int64)
    products = torch.nn.functional.pad(products, (0, len(inputs) % 2))
    return products.view(-1, 2).sum(1).clamp(-32768, 32767).sum()

# %% right 16-sixteen-bits
# A loop that holds one product back.
def dot_in_16_bits(inputs, weights):
    total, waiting = 0, None
    for x, w in zip(inputs, weights):
        if waiting is None:
            waiting = x * w
        else:
            total += sorted((-32768, waiting + x * w, 32767))[1]
            waiting = None
    return total if waiting is None else total + sorted((-32768, waiting, 32767))[1]

# %% wrong 16-share-kept reason=late
# The switch holds for the process.
def share_kept(events, threads):
    on = [one for one in events if one != "threads"]
    return 0.0 if on and on[-1] == "set" else 1.0

# %% wrong 16-share-kept reason=late
# Once the threads run, nothing changes any more.
def share_kept(events, threads):
    caller = False
    for event in events:
        if event == "threads":
            break
        caller = event == "set"
    return 0.0 if caller else 1.0

# %% wrong 16-share-kept reason=late
# The caller does not work itself.
def share_kept(events, threads):
    caller, others = False, None
    for event in events:
        if event == "threads":
            others = caller
        else:
            caller = event == "set"
    others = caller if others is None else others
    return 0.0 if others else 1.0

# %% wrong 16-share-kept reason=late-of-four
# It is always one half.
def share_kept(events, threads):
    if "set" not in events:
        return 1.0
    return 0.5 if events[0] == "threads" else 0.0

# %% wrong 16-share-kept reason=early
# New threads start with the default.
def share_kept(events, threads):
    caller = False
    for event in events:
        if event != "threads":
            caller = event == "set"
    return (int(not caller) + threads - 1) / threads

# %% wrong 16-share-kept reason=taken-back
# Taking back reaches everybody.
def share_kept(events, threads):
    if "unset" in events and events[-1] != "set":
        return 1.0
    caller, others = False, None
    for event in events:
        if event == "threads":
            others = caller
        else:
            caller = event == "set"
    others = caller if others is None else others
    return (int(not caller) + (threads - 1) * int(not others)) / threads

# %% wrong 16-share-kept reason=never
# What is asked for is the flushed part.
def share_kept(events, threads):
    caller, others = False, None
    for event in events:
        if event == "threads":
            others = caller
        else:
            caller = event == "set"
    others = caller if others is None else others
    return (int(caller) + (threads - 1) * int(others)) / threads

# %% right 16-share-kept
# Numbers of kept parts.
def share_kept(events, threads):
    mine = theirs = 1
    started = False
    for event in events:
        started = started or event == "threads"
        if event != "threads":
            mine = 0 if event == "set" else 1
            theirs = theirs if started else mine
    return (mine + (threads - 1) * theirs) / threads

# %% right 16-share-kept
# The list is cut where the threads start.
def share_kept(events, threads):
    def last(some):
        words = [one for one in some if one != "threads"]
        return bool(words) and words[-1] == "set"
    cut = events.index("threads") if "threads" in events else len(events)
    flushes = [last(events)] + [last(events[:cut])] * (threads - 1)
    return flushes.count(False) / threads

# %% right 16-share-kept
# One switch a thread, in a list.
def share_kept(events, threads):
    switches = [False]
    for event in [*events, "threads"]:
        if event == "threads":
            if len(switches) == 1:
                switches += [switches[0]] * (threads - 1)
        else:
            switches[0] = event == "set"
    return sum(not one for one in switches) / len(switches)

# %% right 16-share-kept
# Fractions, and a float at the end.
from fractions import Fraction

def share_kept(events, threads):
    caller, others = 1, None
    for event in events:
        if event == "threads" and others is None:
            others = caller
        elif event != "threads":
            caller = int(event == "unset")
    others = caller if others is None else others
    return float(Fraction(caller + (threads - 1) * others, threads))

# %% wrong 16-make-it-lose reason=no-race
# An interval written down is evidence.
losing = {"race": {"low": 1.2, "high": 1.4, "rounds": 40}}

# %% wrong 16-make-it-lose reason=no-dictionary
# The word is enough.
losing = "a tiny layer"

# %% wrong 16-make-it-lose reason=layers
# Other work is slower, too.
import torch
x = torch.randn(64)
losing = {"race": raced({"float32": lambda: x + 1, "int8": lambda: x + 1}, 1.5)}

# %% wrong 16-make-it-lose reason=layers
# A larger layer in int8.
from course.lessons.l16_rest.int8_race import sides
losing = {"race": raced({"float32": sides(1, 8, 8)["float32"], "int8": sides(64, 512, 512)["int8"]}, 4.0)}

# %% wrong 16-make-it-lose reason=won
# int8 wins.
from course.lessons.l16_rest.int8_race import sides
losing = {"race": raced(sides(1, 8, 8), 0.5)}

# %% wrong 16-make-it-lose gets=inconclusive reason=undecided
# An interval with 1 in it decides.
from course.lessons.l16_rest.int8_race import sides
losing = {"race": raced(sides(1, 8, 8), 1.0)}

# %% wrong 16-make-it-lose gets=inconclusive reason=rounds
# Two rounds are enough.
from course.lessons.l16_rest.int8_race import sides
losing = {"race": raced(sides(1, 8, 8), 1.5, rounds=2)}

# %% wrong 16-make-it-lose reason=no-race
# int8 is the baseline.
from course.lessons.l16_rest.int8_race import sides
both = sides(1, 8, 8)
losing = {"race": raced({"int8": both["int8"], "float32": both["float32"]}, 1.5)}

# %% right 16-make-it-lose
# A tiny layer.
from course.lessons.l16_rest.int8_race import sides
losing = {"race": raced(sides(1, 8, 8), 5.0)}

# %% right 16-make-it-lose
# One row of a middling layer.
from course.lessons.l16_rest.int8_race import sides
losing = {"race": raced(sides(1, 64, 64), 1.4)}

# %% right 16-make-it-lose
# Hardly slower, with a narrow interval.
from course.lessons.l16_rest.int8_race import sides
losing = {"race": raced(sides(2, 16, 16), 1.05, width=0.01)}

# %% right 16-make-it-lose
# A long race.
from course.lessons.l16_rest.int8_race import sides
losing = {"race": raced(sides(1, 4, 4), 8.0, rounds=200), "why": "the call itself"}

# %% wrong 16-t-copies loses=refuses
# What does not fit is left out in silence.
def place_copies(cores, copies, per_copy):
    return [cores[i * per_copy : (i + 1) * per_copy] for i in range(min(copies, len(cores) // per_copy))]

# %% wrong 16-t-copies loses=fits,edges
# Each copy may use all cores.
def place_copies(cores, copies, per_copy):
    return [list(cores)] * copies if copies * per_copy <= len(cores) and copies > 0 else "error"

# %% wrong 16-t-copies loses=fits,edges
# Cores are numbered from 0.
def place_copies(cores, copies, per_copy):
    if copies < 1 or copies * per_copy > len(cores):
        return "error"
    return [list(range(i * per_copy, (i + 1) * per_copy)) for i in range(copies)]

# %% wrong 16-t-copies loses=fits,edges
# The cores are dealt out like cards.
def place_copies(cores, copies, per_copy):
    if copies < 1 or copies * per_copy > len(cores):
        return "error"
    return [cores[i : copies * per_copy : copies] for i in range(copies)]

# %% wrong 16-t-copies loses=refuses
# Copies may overlap where cores are missing.
def place_copies(cores, copies, per_copy):
    if copies < 1:
        return "error"
    many = cores * (copies * per_copy // max(1, len(cores)) + 1)
    return [many[i * per_copy : (i + 1) * per_copy] for i in range(copies)]

# %% wrong 16-t-copies loses=refuses
# Zero copies are a plan, too.
def place_copies(cores, copies, per_copy):
    if copies * per_copy > len(cores):
        return "error"
    return [cores[i * per_copy : (i + 1) * per_copy] for i in range(copies)]

# %% wrong 16-t-copies loses=fits
# What is left over goes to the last copy.
def place_copies(cores, copies, per_copy):
    if copies < 1 or copies * per_copy > len(cores):
        return "error"
    plan = [cores[i * per_copy : (i + 1) * per_copy] for i in range(copies)]
    plan[-1] = plan[-1] + cores[copies * per_copy :]
    return plan

# %% right 16-t-copies
# An iterator hands the cores out.
def place_copies(cores, copies, per_copy):
    if not 0 < copies * per_copy <= len(cores):
        return "error"
    left = iter(cores)
    return [[next(left) for _ in range(per_copy)] for _ in range(copies)]

# %% right 16-t-copies
# numpy reshapes.
import numpy

def place_copies(cores, copies, per_copy):
    needed = copies * per_copy
    if needed == 0 or needed > len(cores):
        return "error"
    return numpy.array(cores[:needed]).reshape(copies, per_copy)

# %% right 16-t-copies
# Taking from the front of a list.
def place_copies(cores, copies, per_copy):
    left, plan = list(cores), []
    for _ in range(copies):
        if len(left) < per_copy:
            return "error"
        plan.append(left[:per_copy])
        del left[:per_copy]
    return plan or "error"

# %% right 16-t-copies
# Tuples are lists as well.
def place_copies(cores, copies, per_copy):
    fits = copies >= 1 and copies * per_copy <= len(cores)
    return tuple(tuple(cores[k * per_copy : k * per_copy + per_copy]) for k in range(copies)) if fits else "error"

# %% wrong 16-t-report loses=pairs,claim
# Two pairs are enough.
report = {"engine": "x86", "shape": [64, 256, 256], "threads": 1, "int8_ms": [1.0, 1.1], "float32_ms": [2.0, 2.1],
          "low": 0.5, "high": 0.53, "error": 0.01, "claim": "faster"}

# %% wrong 16-t-report loses=claim
# A claim needs no interval.
report = {"engine": "x86", "shape": [64, 256, 256], "threads": 1, "int8_ms": [1.0, 1.2, 0.9, 1.1, 1.0, 1.3, 0.8],
          "float32_ms": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], "low": None, "high": None, "error": 0.01, "claim": "faster"}

# %% wrong 16-t-report loses=claim
# An interval with 1 in it says slower.
report = {"engine": "x86", "shape": [64, 256, 256], "threads": 1, "int8_ms": [1.0, 1.2, 0.9, 1.1, 1.0, 1.3, 0.8],
          "float32_ms": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], "low": 0.8, "high": 1.3, "error": 0.01, "claim": "slower"}

# %% wrong 16-t-report loses=witness
# The engine goes without saying.
report = {"shape": [64, 256, 256], "threads": 1, "int8_ms": [1.0, 1.2, 0.9, 1.1, 1.0, 1.3, 0.8],
          "float32_ms": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], "low": 0.8, "high": 1.3, "error": 0.01, "claim": "undecided"}

# %% wrong 16-t-report loses=witness
# int8 is exact, so the error is 0.
report = {"engine": "x86", "shape": [64, 256, 256], "threads": 1, "int8_ms": [1.0, 1.2, 0.9, 1.1, 1.0, 1.3, 0.8],
          "float32_ms": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], "low": 0.8, "high": 1.3, "error": 0.0, "claim": "undecided"}

# %% wrong 16-t-report loses=pairs
# The conditions go without saying.
report = {"engine": "x86", "int8_ms": [1.0, 1.2, 0.9, 1.1, 1.0, 1.3, 0.8],
          "float32_ms": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], "low": 0.8, "high": 1.3, "error": 0.01, "claim": "undecided"}

# %% wrong 16-t-report loses=pairs,witness,claim
# Sentences instead of figures.
report = {"engine": "the fast one", "shape": "small", "threads": "one", "int8_ms": "about 1", "float32_ms": "about 2",
          "low": "half", "high": "half", "error": "tiny", "claim": "faster"}

# %% right 16-t-report
# Undecided, with the whole range as its interval.
report = {"engine": "x86", "shape": [64, 256, 256], "threads": 2, "int8_ms": [1.0, 1.2, 0.9, 1.1, 1.0, 1.3, 0.8],
          "float32_ms": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], "low": 0.8, "high": 1.3, "error": 0.02, "claim": "undecided"}

# %% right 16-t-report
# Faster, and written as tuples.
report = {"engine": "onednn", "shape": (128, 512, 512), "threads": 1, "int8_ms": (1.0, 1.1, 1.0, 1.2, 0.9, 1.0),
          "float32_ms": (2.0, 2.0, 2.0, 2.0, 2.0, 2.0), "low": 0.45, "high": 0.6, "error": 0.003, "claim": "Faster"}

# %% right 16-t-report
# Slower, from a numpy array.
import numpy
report = {"engine": "qnnpack", "shape": [1, 8, 8], "threads": 4, "int8_ms": list(numpy.array([2.0, 2.1, 2.2, 1.9, 2.0, 2.0, 2.3])),
          "float32_ms": [1.0] * 7, "low": 1.9, "high": 2.3, "error": 0.1, "claim": "slower"}

# %% right 16-t-report
# With more in it than asked for.
report = {"machine": "a laptop", "engine": "fbgemm", "shape": [32, 64, 64], "threads": 1,
          "int8_ms": [0.5, 0.6, 0.5, 0.55, 0.5, 0.52], "float32_ms": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
          "low": 0.5, "high": 0.6, "error": 0.01, "claim": "faster"}
