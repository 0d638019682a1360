# Wrong ideas and right variants of lesson 07 (see grader/ideas.py).

# %% wrong 07-t-spacing loses=typical,powers,small,negative
# The gap is the one of Python's own floats.
import math

def spacing(x, bits):
    return math.ulp(abs(x))

# %% wrong 07-t-spacing loses=typical,powers,small,negative
# frexp's exponent is the number's.
import math

def spacing(x, bits):
    return 2.0 ** (math.frexp(abs(x))[1] - bits)

# %% wrong 07-t-spacing loses=typical,small,negative
# The gap is a share of the number.
def spacing(x, bits):
    return abs(x) * 2.0 ** -bits

# %% wrong 07-t-spacing loses=typical,powers,small,negative
# All numbers are the same distance apart.
def spacing(x, bits):
    return 2.0 ** -bits

# %% wrong 07-t-spacing loses=powers
# At a power of two the gap is the one below.
import math

def spacing(x, bits):
    fraction, exponent = math.frexp(abs(x))
    return 2.0 ** (exponent - 1 - bits - (fraction == 0.5))

# %% wrong 07-t-spacing loses=small
# Cutting off the logarithm finds the exponent.
import math

def spacing(x, bits):
    return 2.0 ** (int(math.log2(abs(x))) - bits)

# %% wrong 07-t-spacing loses=negative
# A negative number has a negative gap.
import math

def spacing(x, bits):
    return math.copysign(2.0 ** (math.floor(math.log2(abs(x))) - bits), x)

# %% wrong 07-t-spacing loses=negative
# There are no negative numbers.
import math

def spacing(x, bits):
    return 2.0 ** (math.floor(math.log2(x)) - bits)

# %% wrong 07-t-spacing loses=typical,small,negative
# Rounding the logarithm up.
import math

def spacing(x, bits):
    return 2.0 ** (math.ceil(math.log2(abs(x))) - bits)

# %% wrong 07-t-spacing loses=typical,powers,small,negative
# Every format stores ten bits.
import math

def spacing(x, bits):
    return 2.0 ** (math.frexp(abs(x))[1] - 1 - 10)

# %% right 07-t-spacing
# The floor of the logarithm.
import math

def spacing(x, bits):
    return 2 ** (math.floor(math.log2(abs(x))) - bits)

# %% right 07-t-spacing
# Halve or double until the number lies between 1 and 2.
def spacing(x, bits):
    x, step = abs(x), 1.0
    while x >= 2:
        x, step = x / 2, step * 2
    while x < 1:
        x, step = x * 2, step / 2
    return step / 2**bits

# %% right 07-t-spacing
# Python's gap, scaled: it stores 52 bits.
import math

def spacing(x, bits):
    return math.ldexp(math.ulp(abs(x)), 52 - bits)

# %% right 07-t-spacing
# torch.frexp, a tensor of one number back.
import torch

def spacing(x, bits):
    exponent = torch.frexp(torch.tensor(x, dtype=torch.float64).abs()).exponent - 1
    return torch.ldexp(torch.tensor(1.0, dtype=torch.float64), exponent - bits)

# %% right 07-t-spacing
# numpy's, from the exponent's digits.
import numpy

def spacing(x, bits):
    return numpy.float64(2.0) ** (int(abs(x).hex().split("p")[1]) - bits)

# %% wrong 07-t-leaves loses=branch,root
# Only what a leaf holds counts.
def tf32_leaves(stored):
    leaves = [f"{branch}.{kind}" for branch in ("cuda", "mkldnn") for kind in ("conv", "matmul", "rnn")]
    return sorted(leaf for leaf in leaves if stored.get(leaf) == "tf32")

# %% wrong 07-t-leaves loses=root
# The root reaches nobody.
def tf32_leaves(stored):
    leaves = [f"{branch}.{kind}" for branch in ("cuda", "mkldnn") for kind in ("conv", "matmul", "rnn")]
    own = {leaf: stored.get(leaf, "none") for leaf in leaves}
    return sorted(leaf for leaf in leaves if "tf32" == (own[leaf] if own[leaf] != "none" else stored.get(leaf.split(".")[0])))

# %% wrong 07-t-leaves loses=branch,root
# The branch beats its leaves.
def tf32_leaves(stored):
    leaves = [f"{branch}.{kind}" for branch in ("cuda", "mkldnn") for kind in ("conv", "matmul", "rnn")]
    chain = {leaf: [stored.get(node, "none") for node in (leaf.split(".")[0], leaf, "root")] for leaf in leaves}
    return sorted(leaf for leaf in leaves if next((v for v in chain[leaf] if v != "none"), "") == "tf32")

# %% wrong 07-t-leaves loses=root
# The root beats everybody.
def tf32_leaves(stored):
    leaves = [f"{branch}.{kind}" for branch in ("cuda", "mkldnn") for kind in ("conv", "matmul", "rnn")]
    chain = {leaf: [stored.get(node, "none") for node in ("root", leaf, leaf.split(".")[0])] for leaf in leaves}
    return sorted(leaf for leaf in leaves if next((v for v in chain[leaf] if v != "none"), "") == "tf32")

# %% wrong 07-t-leaves loses=branch,root
# One tf32 anywhere on the way is permission.
def tf32_leaves(stored):
    leaves = [f"{branch}.{kind}" for branch in ("cuda", "mkldnn") for kind in ("conv", "matmul", "rnn")]
    return sorted(leaf for leaf in leaves if "tf32" in [stored.get(node) for node in (leaf, leaf.split(".")[0], "root")])

# %% wrong 07-t-leaves loses=branch,root
# A branch needs the root's permission.
def tf32_leaves(stored):
    leaves = [f"{branch}.{kind}" for branch in ("cuda", "mkldnn") for kind in ("conv", "matmul", "rnn")]
    return sorted(leaf for leaf in leaves if stored.get(leaf) == "tf32" or
                  (stored.get(leaf, "none") == "none" and stored.get(leaf.split(".")[0]) == stored.get("root") == "tf32"))

# %% wrong 07-t-leaves loses=branch,root
# The nodes that hold tf32 are the answer, branches and root as well.
def tf32_leaves(stored):
    return sorted(node for node, value in stored.items() if value == "tf32")

# %% wrong 07-t-leaves loses=leaf,branch,root
# Any order will do.
def tf32_leaves(stored):
    leaves = [f"{branch}.{kind}" for branch in ("mkldnn", "cuda") for kind in ("rnn", "matmul", "conv")]
    return [leaf for leaf in leaves if next((v for v in (stored.get(n, "none") for n in (leaf, leaf.split(".")[0], "root"))
                                            if v != "none"), "none") == "tf32"]

# %% wrong 07-t-leaves loses=branch,root
# Only cuda has leaves.
def tf32_leaves(stored):
    def asks(leaf):
        return next((v for v in (stored.get(n, "none") for n in (leaf, leaf.split(".")[0], "root")) if v != "none"), "none")
    return sorted([leaf for leaf in stored if leaf.startswith("mkldnn.") and stored[leaf] == "tf32"]
                  + [leaf for leaf in ("cuda.conv", "cuda.matmul", "cuda.rnn") if asks(leaf) == "tf32"])

# %% wrong 07-t-leaves loses=branch,root
# none at a leaf forbids.
def tf32_leaves(stored):
    leaves = [f"{branch}.{kind}" for branch in ("cuda", "mkldnn") for kind in ("conv", "matmul", "rnn")]
    return sorted(leaf for leaf in leaves if stored.get(leaf, stored.get(leaf.split(".")[0], stored.get("root"))) == "tf32")

# %% right 07-t-leaves
# Walk upwards.
def tf32_leaves(stored):
    above = {"cuda": "root", "mkldnn": "root"}
    found = []
    for branch in ("cuda", "mkldnn"):
        for kind in ("conv", "matmul", "rnn"):
            node = f"{branch}.{kind}"
            while node and stored.get(node, "none") == "none":
                node = above.get(node, None if node == "root" else branch)
            if node and stored[node] == "tf32":
                found.append(f"{branch}.{kind}")
    return found

# %% right 07-t-leaves
# Fill the tree downwards.
def tf32_leaves(stored):
    force = {"root": stored.get("root", "none")}
    for branch in ("cuda", "mkldnn"):
        own = stored.get(branch, "none")
        force[branch] = force["root"] if own == "none" else own
        for kind in ("conv", "matmul", "rnn"):
            own = stored.get(f"{branch}.{kind}", "none")
            force[f"{branch}.{kind}"] = force[branch] if own == "none" else own
    return tuple(sorted(node for node, value in force.items() if "." in node and value == "tf32"))

# %% right 07-t-leaves
# torch's own exception is modelled: untouched, cuda.conv and cuda.rnn hold tf32.
def tf32_leaves(stored):
    built_in = {"cuda.conv": "tf32", "cuda.rnn": "tf32"}
    found = []
    for leaf in ("cuda.conv", "cuda.matmul", "cuda.rnn", "mkldnn.conv", "mkldnn.matmul", "mkldnn.rnn"):
        said = [stored[node] for node in (leaf, leaf.partition(".")[0], "root") if stored.get(node, "none") != "none"]
        untouched = leaf not in stored and not said
        if (said + [built_in.get(leaf, "none") if untouched else "none"])[0] == "tf32":
            found.append(leaf)
    return found

# %% right 07-t-leaves
# `or` passes on what is empty; numpy's array back.
import numpy

def tf32_leaves(stored):
    said = {node: value for node, value in stored.items() if value != "none"}
    leaves = ["cuda.conv", "cuda.matmul", "cuda.rnn", "mkldnn.conv", "mkldnn.matmul", "mkldnn.rnn"]
    return numpy.array([leaf for leaf in leaves
                        if (said.get(leaf) or said.get(leaf[:leaf.index(".")]) or said.get("root")) == "tf32"], dtype=str)

# %% wrong 07-t-report loses=reference
# float32 is exact.
report = {"reference": "float32", "errors": [4e-4, 3e-4, 5e-4, 4.5e-4, 3.5e-4, 4.2e-4], "tolerance": 1e-3, "low": 3e-4, "high": 5e-4,
          "claim": "harmless"}

# %% wrong 07-t-report loses=errors,claim
# One input shows it.
report = {"reference": "float64", "errors": [4e-4], "tolerance": 1e-3, "low": 4e-4, "high": 4e-4, "claim": "harmless"}

# %% wrong 07-t-report loses=claim
# The median is the interval.
report = {"reference": "float64", "errors": [4e-4, 3e-4, 5e-4, 4.5e-4, 3.5e-4, 4.2e-4], "tolerance": 1e-3, "low": 4.1e-4, "high": 4.1e-4,
          "claim": "harmless"}

# %% wrong 07-t-report loses=claim
# From nothing to everything is always honest.
report = {"reference": "float64", "errors": [4e-4, 3e-4, 5e-4, 4.5e-4, 3.5e-4, 4.2e-4], "tolerance": 1e-3, "low": 1e-9, "high": 1.0,
          "claim": "undecided"}

# %% wrong 07-t-report loses=claim
# A tolerance inside the interval is met.
report = {"reference": "float64", "errors": [4e-4, 3e-4, 5e-4, 4.5e-4, 3.5e-4, 4.2e-4], "tolerance": 4e-4, "low": 3e-4, "high": 5e-4,
          "claim": "harmless"}

# %% wrong 07-t-report loses=claim
# Errors and interval need not be of one measurement.
report = {"reference": "float64", "errors": [4e-4, 3e-4, 5e-4, 4.5e-4, 3.5e-4, 4.2e-4], "tolerance": 1e-3, "low": 6e-4, "high": 8e-4,
          "claim": "harmless"}

# %% wrong 07-t-report loses=claim
# No tolerance was needed.
report = {"reference": "float64", "errors": [4e-4, 3e-4, 5e-4, 4.5e-4, 3.5e-4, 4.2e-4], "tolerance": 0, "low": 3e-4, "high": 5e-4,
          "claim": "harmful"}

# %% wrong 07-t-report loses=errors,claim
# An error has a sign.
report = {"reference": "float64", "errors": [4e-4, -3e-4, 5e-4, -4.5e-4, 3.5e-4, 4.2e-4], "tolerance": 1e-3, "low": -3e-4, "high": 5e-4,
          "claim": "harmless"}

# %% right 07-t-report
# torch's own dtype, and a tensor of errors.
import torch

errors = torch.tensor([4e-4, 3e-4, 5e-4, 4.5e-4, 3.5e-4, 4.2e-4])
report = {"reference": torch.float64, "errors": errors, "tolerance": 1e-3, "low": errors.min(), "high": errors.max(), "claim": "harmless"}

# %% right 07-t-report
# The dtype as torch prints it, tuples.
report = {"reference": "torch.float64", "errors": (4e-4, 3e-4, 5e-4, 4.5e-4, 3.5e-4, 4.2e-4), "tolerance": 1e-4, "low": 3e-4,
          "high": 5e-4, "claim": "Harmful"}

# %% right 07-t-report
# numpy's type, and exact products.
import numpy

report = {"reference": numpy.float64, "errors": numpy.zeros(8), "tolerance": 1e-6, "low": 0, "high": 0, "claim": "harmless"}

# %% right 07-t-report
# numpy's dtype object, and a bootstrap.
import numpy

rng = numpy.random.default_rng(0)
errors = rng.uniform(3e-4, 5e-4, 30)
medians = numpy.median(rng.choice(errors, (500, 30)), axis=1)
low, high = numpy.quantile(medians, [0.025, 0.975])
report = {"reference": numpy.dtype("float64"), "errors": errors, "tolerance": float(numpy.median(errors)), "low": low, "high": high,
          "claim": "undecided"}

# %% right 07-t-report
# Called double.
report = {"reference": "double", "errors": [4e-4, 3e-4, 5e-4, 4.5e-4, 3.5e-4, 4.2e-4], "tolerance": 1, "low": 3.2e-4, "high": 4.6e-4,
          "claim": "harmless"}

# %% wrong 07-round-to reason=too-coarse
# frexp's fraction has as many bits as are stored.
import math

def round_to(x, bits):
    f, e = math.frexp(x)
    return math.ldexp(round(f * 2 ** bits), e - bits)

# %% wrong 07-round-to reason=too-fine
# Two bits stand in front.
import math

def round_to(x, bits):
    f, e = math.frexp(x)
    return math.ldexp(round(f * 2 ** (bits + 2)), e - bits - 2)

# %% wrong 07-round-to reason=cut-off
# Cutting off is rounding.
import math

def round_to(x, bits):
    f, e = math.frexp(x)
    return math.ldexp(int(f * 2 ** (bits + 1)), e - bits - 1)

# %% wrong 07-round-to reason=wrong-value
# Bits are decimal places.
round_to = lambda x, bits: round(x, bits)

# %% wrong 07-round-to reason=too-fine
# The step is the same everywhere.
round_to = lambda x, bits: round(x * 2**bits) / 2**bits

# %% wrong 07-round-to reason=wrong-value
# A half goes up, always.
import math

def round_to(x, bits):
    f, e = math.frexp(x)
    return math.ldexp(math.floor(f * 2 ** (bits + 1) + 0.5), e - bits - 1)

# %% wrong 07-round-to reason=wrong-value
# Rounding up is to the nearest.
import math

def round_to(x, bits):
    f, e = math.frexp(x)
    return math.ldexp(math.ceil(f * 2 ** (bits + 1)), e - bits - 1)

# %% wrong 07-round-to gets=partly reason=zero
# Zero is not a number to round.
import math

def round_to(x, bits):
    f, e = math.frexp(x)
    return math.ldexp(round(f * 2 ** (bits + 1)), e - bits - 1) if x else 1.0

# %% wrong 07-round-to reason=no-number
# A number is what it looks like.
round_to = lambda x, bits: str(x)

# %% right 07-round-to
# In steps of the number's size.
import math

def round_to(x, bits):
    if x == 0:
        return x
    step = 2.0 ** (math.floor(math.log2(abs(x))) - bits)
    return round(x / step) * step

# %% right 07-round-to
# Hexadecimal tells the exponent.
def round_to(x, bits):
    if not x:
        return 0.0
    scale = 2.0 ** (bits - int(float(x).hex().split("p")[1]))
    return round(x * scale) / scale

# %% right 07-round-to
# numpy's rint, its own float.
import numpy

def round_to(x, bits):
    f, e = numpy.frexp(numpy.float64(x))
    return numpy.ldexp(numpy.rint(f * 2.0 ** (bits + 1)), e - bits - 1)

# %% right 07-round-to
# Exact fractions.
import math
from fractions import Fraction

def round_to(x, bits):
    if x == 0:
        return 0
    step = Fraction(2) ** (math.frexp(x)[1] - 1 - bits)
    return float(round(Fraction(x) / step) * step)

# %% wrong 07-in-force reason=none
# What a leaf holds is in force.
in_force = lambda stored, leaf: stored[leaf]

# %% wrong 07-in-force reason=none
# The root rules.
in_force = lambda stored, leaf: stored["root"]

# %% wrong 07-in-force reason=root
# From the root downwards.
in_force = lambda stored, leaf: next((stored[n] for n in ("root", leaf.split(".")[0], leaf) if stored[n] != "none"), "none")

# %% wrong 07-in-force reason=none
# Leaf, then root.
in_force = lambda stored, leaf: next((stored[n] for n in (leaf, "root") if stored[n] != "none"), "none")

# %% wrong 07-in-force reason=none
# Leaf, then branch.
in_force = lambda stored, leaf: next((stored[n] for n in (leaf, leaf.split(".")[0]) if stored[n] != "none"), "none")

# %% wrong 07-in-force reason=other
# There is one branch.
in_force = lambda stored, leaf: next((stored.get(n, "none") for n in (leaf, "cuda", "root") if stored.get(n, "none") != "none"), "none")

# %% wrong 07-in-force reason=none
# tf32 anywhere wins.
in_force = lambda stored, leaf: "tf32" if "tf32" in stored.values() else stored[leaf]

# %% wrong 07-in-force reason=root
# Leaf, root, and the branch last.
in_force = lambda stored, leaf: next((stored[n] for n in (leaf, "root", leaf.split(".")[0]) if stored[n] != "none"), "none")

# %% right 07-in-force
# Walk upwards.
def in_force(stored, leaf):
    node = leaf
    while stored[node] == "none" and node != "root":
        node = node.split(".")[0] if "." in node else "root"
    return stored[node]

# %% right 07-in-force
# A list of what is said.
def in_force(stored, leaf):
    said = [stored[node] for node in (leaf, leaf.partition(".")[0], "root") if stored[node] != "none"]
    return said[0] if said else "none"

# %% right 07-in-force
# Recursion.
def in_force(stored, node):
    if stored[node] != "none" or node == "root":
        return stored[node]
    return in_force(stored, node.split(".")[0] if "." in node else "root")

# %% right 07-in-force
# torch's own tree is asked.
import torch
from course import flags

def in_force(stored, leaf):
    write = {"root": lambda v: setattr(torch.backends, "fp32_precision", v), "cuda": lambda v: setattr(torch.backends.cudnn, "fp32_precision", v),
             "mkldnn": lambda v: torch.backends.mkldnn.set_flags(_fp32_precision=v)}
    module = {"cuda.matmul": torch.backends.cuda.matmul, "mkldnn.conv": torch.backends.mkldnn.conv, "mkldnn.rnn": torch.backends.mkldnn.rnn}[leaf]
    with flags.preserved():
        for node in ("root", "cuda", "mkldnn"):
            if node in stored:
                write[node](stored[node])
        module.fp32_precision = stored[leaf]
        return module.fp32_precision

# %% wrong 07-with-tf32 reason=not-in-force
# It may be used anyway.
with_tf32 = lambda run: run()

# %% wrong 07-with-tf32 gets=partly reason=left-behind
# Allowed once, allowed for good.
import torch

def with_tf32(run):
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    return run()

# %% wrong 07-with-tf32 gets=partly reason=left-behind
# Before, there was none.
import torch

def with_tf32(run):
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    try:
        return run()
    finally:
        torch.backends.cuda.matmul.fp32_precision = "none"

# %% wrong 07-with-tf32 gets=partly reason=moved
# A neighbour may come along.
import torch

def with_tf32(run):
    leaf, other = torch.backends.cuda.matmul, torch.backends.mkldnn.conv
    before, there = leaf.fp32_precision, other.fp32_precision
    leaf.fp32_precision = other.fp32_precision = "tf32"
    try:
        return run()
    finally:
        leaf.fp32_precision, other.fp32_precision = before, there

# %% wrong 07-with-tf32 gets=partly reason=moved
# The root is the switch.
import torch

def with_tf32(run):
    with torch.backends.flags(fp32_precision="tf32"):
        return run()

# %% wrong 07-with-tf32 reason=not-in-force
# cuDNN's switch is for all of CUDA.
import torch

def with_tf32(run):
    leaf = torch.backends.cudnn.conv
    before, leaf.fp32_precision = leaf.fp32_precision, "tf32"
    try:
        return run()
    finally:
        leaf.fp32_precision = before

# %% wrong 07-with-tf32 reason=no-result
# The result is not asked for.
import torch

def with_tf32(run):
    leaf = torch.backends.cuda.matmul
    before, leaf.fp32_precision = leaf.fp32_precision, "tf32"
    try:
        run()
    finally:
        leaf.fp32_precision = before

# %% wrong 07-with-tf32 gets=partly reason=exception
# Without an exception all is well.
import torch

def with_tf32(run):
    leaf = torch.backends.cuda.matmul
    before, leaf.fp32_precision = leaf.fp32_precision, "tf32"
    result = run()
    leaf.fp32_precision = before
    return result

# %% wrong 07-with-tf32 gets=partly reason=moved
# The precision of products is one setting for all devices.
import torch

def with_tf32(run):
    torch.set_float32_matmul_precision("high")
    try:
        return run()
    finally:
        torch.set_float32_matmul_precision("highest")

# %% right 07-with-tf32
# The course's tool.
from course.flags import using

def with_tf32(run):
    with using({"cuda.matmul.fp32_precision": "tf32"}):
        return run()

# %% right 07-with-tf32
# A context manager.
import torch
from contextlib import contextmanager

@contextmanager
def allowed():
    before = torch.backends.cuda.matmul.fp32_precision
    try:
        torch.backends.cuda.matmul.fp32_precision = "tf32"
        yield
    finally:
        torch.backends.cuda.matmul.fp32_precision = before

def with_tf32(run):
    with allowed():
        return run()

# %% right 07-with-tf32
# An exit stack.
import torch
from contextlib import ExitStack

def with_tf32(run):
    leaf = torch.backends.cuda.matmul
    with ExitStack() as stack:
        stack.callback(setattr, leaf, "fp32_precision", leaf.fp32_precision)
        leaf.fp32_precision = "tf32"
        return run()

# %% right 07-with-tf32
# The exception is caught and raised again.
import torch

def with_tf32(run):
    leaf = torch.backends.cuda.matmul
    before = leaf.fp32_precision
    leaf.fp32_precision = "tf32"
    try:
        result = run()
    except BaseException:
        leaf.fp32_precision = before
        raise
    leaf.fp32_precision = before
    return result

# %% wrong 07-make-it-lose reason=not-ruined
# Large numbers are ruined.
import torch
cases = {"ruined": (torch.tensor([[1e8, 2e8]]), torch.ones(2, 1)), "harmless": (torch.eye(3), torch.eye(3))}

# %% wrong 07-make-it-lose gets=inconclusive reason=float32-fails
# What ruins float32 ruins TF32 as well.
import torch
cases = {"ruined": (torch.tensor([[1e7 + 1, -1e7]]), torch.tensor([[1.1], [1.1]])), "harmless": (torch.eye(3), torch.eye(3))}

# %% wrong 07-make-it-lose gets=partly reason=not-harmless
# One pair does for both.
import torch
pair = (torch.tensor([[1000.3, -1000.1]]), torch.ones(2, 1))
cases = {"ruined": pair, "harmless": pair}

# %% wrong 07-make-it-lose reason=no-relative-error
# An exact zero is as ruined as can be.
import torch
cases = {"ruined": (torch.tensor([[1.0, -1.0]]), torch.ones(2, 1)), "harmless": (torch.eye(3), torch.eye(3))}

# %% wrong 07-make-it-lose reason=no-product
# A row times a row.
import torch
cases = {"ruined": (torch.ones(2, 3), torch.ones(2, 3)), "harmless": (torch.eye(3), torch.eye(3))}

# %% wrong 07-make-it-lose reason=not-ruined
# Long sums ruin.
import torch
cases = {"ruined": (torch.ones(1, 5000), torch.ones(5000, 1)), "harmless": (torch.eye(3), torch.eye(3))}

# %% wrong 07-make-it-lose reason=no-dictionary
# Numbers are cases.
cases = 0.5

# %% wrong 07-make-it-lose gets=not_attempted reason=placeholder
# One case stands for both.
import torch
cases = {"ruined": (torch.ones(1, 1), torch.ones(1, 1)), "harmless": None}

# %% right 07-make-it-lose
# Lists of lists.
cases = {"ruined": ([[1000.3, -1000.1]], [[1.0], [1.0]]), "harmless": ([[3.0, 0.5]], [[1.0], [2.0]])}

# %% right 07-make-it-lose
# numpy arrays in float64.
import numpy
cases = {"ruined": (numpy.array([[5000.7, -5000.2]]), numpy.ones((2, 1))), "harmless": (numpy.eye(4), numpy.eye(4))}

# %% right 07-make-it-lose
# Cancellation in the second factor.
import torch
cases = dict(ruined=(torch.ones(1, 2), torch.tensor([[2000.6], [-2000.1]])), harmless=(torch.full((2, 2), 0.25), torch.full((2, 2), 4.0)))

# %% right 07-make-it-lose
# Distances of far neighbours, with gradients on.
import torch
cases = {"ruined": (torch.tensor([[300.3, -300.2, 0.0]], requires_grad=True), torch.ones(3, 1)),
         "harmless": (torch.ones(1, 8), torch.ones(8, 1))}
