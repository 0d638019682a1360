# Wrong ideas and right variants of lesson 03 (see grader/ideas.py).

# %% wrong 03-t-layer loses=plain,groups
# The output is as large as the input.
def layer_macs(kind, n, c_in, c_out, kernel, size, stride, padding, groups):
    return n * size**2 * c_out * (c_in // groups) * kernel**2

# %% wrong 03-t-layer loses=plain,groups,transposed
# A MAC is two operations, so count two.
def layer_macs(kind, n, c_in, c_out, kernel, size, stride, padding, groups):
    side = size if kind == "transposed" else (size + 2 * padding - kernel) // stride + 1
    return 2 * n * side**2 * c_out * (c_in // groups) * kernel**2

# %% wrong 03-t-layer loses=plain,groups,transposed
# The batch is free.
def layer_macs(kind, n, c_in, c_out, kernel, size, stride, padding, groups):
    side = size if kind == "transposed" else (size + 2 * padding - kernel) // stride + 1
    return side**2 * c_out * (c_in // groups) * kernel**2

# %% wrong 03-t-layer loses=groups,transposed
# Groups only sort the channels.
def layer_macs(kind, n, c_in, c_out, kernel, size, stride, padding, groups):
    side = size if kind == "transposed" else (size + 2 * padding - kernel) // stride + 1
    return n * side**2 * c_out * c_in * kernel**2

# %% wrong 03-t-layer loses=groups,transposed
# Groups divide both kinds of channels.
def layer_macs(kind, n, c_in, c_out, kernel, size, stride, padding, groups):
    side = size if kind == "transposed" else (size + 2 * padding - kernel) // stride + 1
    return n * side**2 * (c_out // groups) * (c_in // groups) * kernel**2

# %% wrong 03-t-layer loses=transposed
# A transposed convolution shrinks like any other.
def layer_macs(kind, n, c_in, c_out, kernel, size, stride, padding, groups):
    side = (size + 2 * padding - kernel) // stride + 1
    return n * side**2 * c_out * (c_in // groups) * kernel**2

# %% wrong 03-t-layer loses=transposed
# A transposed convolution works once for each of its outputs.
def layer_macs(kind, n, c_in, c_out, kernel, size, stride, padding, groups):
    side = (size + 2 * padding - kernel) // stride + 1
    if kind == "transposed":
        side = (size - 1) * stride - 2 * padding + kernel
    return n * side**2 * c_out * (c_in // groups) * kernel**2

# %% wrong 03-t-layer loses=plain,groups
# Padding changes nothing.
def layer_macs(kind, n, c_in, c_out, kernel, size, stride, padding, groups):
    side = size if kind == "transposed" else (size - kernel) // stride + 1
    return n * side**2 * c_out * (c_in // groups) * kernel**2

# %% wrong 03-t-layer loses=plain,groups,transposed
# A kernel is a line of taps.
def layer_macs(kind, n, c_in, c_out, kernel, size, stride, padding, groups):
    side = size if kind == "transposed" else (size + 2 * padding - kernel) // stride + 1
    return n * side**2 * c_out * (c_in // groups) * kernel

# %% right 03-t-layer
# Count the positions by walking.
def layer_macs(kind, n, c_in, c_out, kernel, size, stride, padding, groups):
    starts = range(size) if kind == "transposed" else range(-padding, size + padding - kernel + 1, stride)
    return n * len(starts) * len(starts) * (c_in // groups) * (c_out // groups) * groups * kernel * kernel

# %% right 03-t-layer
# Floats with a true division.
def layer_macs(kind, n, c_in, c_out, kernel, size, stride, padding, groups):
    weights = c_in * c_out / groups * kernel**2
    side = size if kind == "transposed" else 1 + (size + 2 * padding - kernel) // stride
    return n * weights * side * side

# %% right 03-t-layer
# Ask torch for the shapes, on no memory.
import torch

def layer_macs(kind, n, c_in, c_out, kernel, size, stride, padding, groups):
    make = torch.nn.ConvTranspose2d if kind == "transposed" else torch.nn.Conv2d
    layer = make(c_in, c_out, kernel, stride, padding, groups=groups, bias=False, device="meta")
    x = torch.empty(n, c_in, size, size, device="meta")
    positions = x if kind == "transposed" else layer(x)
    return positions.shape[0] * positions.shape[2] * positions.shape[3] * layer.weight.numel()

# %% right 03-t-layer
# numpy integers.
import numpy

def layer_macs(kind, n, c_in, c_out, kernel, size, stride, padding, groups):
    side = {"conv": (size + 2 * padding - kernel) // stride + 1, "transposed": size}[kind]
    return numpy.prod([n, side, side, c_out, c_in // groups, kernel, kernel], dtype=numpy.int64)

# %% wrong 03-t-step loses=whole,front,inside
# Backward costs twice the forward, everywhere.
def step_macs(macs, trained):
    return 3 * sum(macs)

# %% wrong 03-t-step loses=front,inside
# Freezing saves nothing.
def step_macs(macs, trained):
    return 3 * sum(macs) - macs[0]

# %% wrong 03-t-step loses=front,inside
# A frozen layer costs its forward, a trained one three.
def step_macs(macs, trained):
    return sum(work * (3 if learns and place else 2 if learns else 1) for place, (work, learns) in enumerate(zip(macs, trained)))

# %% wrong 03-t-step loses=inside
# A frozen layer stops the gradient for itself: it costs its forward alone.
def step_macs(macs, trained):
    return sum(work * (1 + learns * (1 + any(trained[:place]))) for place, (work, learns) in enumerate(zip(macs, trained)))

# %% wrong 03-t-step loses=whole,front,inside
# Gradients are needed where something trained comes later.
def step_macs(macs, trained):
    return sum(work * (1 + learns + any(trained[place + 1:])) for place, (work, learns) in enumerate(zip(macs, trained)))

# %% wrong 03-t-step loses=whole,front,inside
# Backward costs as much as forward.
def step_macs(macs, trained):
    return sum(work * (1 + learns) for work, learns in zip(macs, trained))

# %% wrong 03-t-step loses=front,inside
# Every layer but the first needs the gradient of its input.
def step_macs(macs, trained):
    return sum(work * (1 + learns + (place > 0)) for place, (work, learns) in enumerate(zip(macs, trained)))

# %% wrong 03-t-step loses=whole,front,inside
# The data in front need a gradient as well.
def step_macs(macs, trained):
    return sum(work * (1 + learns + any(trained[:place + 1])) for place, (work, learns) in enumerate(zip(macs, trained)))

# %% right 03-t-step
# The first trained layer divides the chain.
def step_macs(macs, trained):
    first = trained.index(True) if True in trained else len(macs)
    return sum(macs) + sum(work for work, learns in zip(macs, trained) if learns) + sum(macs[first + 1:])

# %% right 03-t-step
# Backwards, as autograd walks.
def step_macs(macs, trained):
    total = 0
    for place in reversed(range(len(macs))):
        wanted = sum([1, bool(trained[place]), max(trained[:place], default=False)])
        total += wanted * macs[place]
    return total

# %% right 03-t-step
# numpy: a running maximum.
import numpy

def step_macs(macs, trained):
    learns = numpy.array(trained, dtype=int)
    before = numpy.concatenate([[0], numpy.maximum.accumulate(learns)[:-1]])
    return (numpy.array(macs) * (1 + learns + before)).sum()

# %% right 03-t-step
# Let autograd say who wants what.
import torch

def step_macs(macs, trained):
    total, x = 0, torch.ones(1)
    for work, learns in zip(macs, trained):
        weight = torch.ones(1, requires_grad=learns)
        total += work * (1 + weight.requires_grad + x.requires_grad)
        x = x * weight
    return total

# %% wrong 03-conv-macs reason=flops
# Two operations each.
conv_macs = lambda n, c_in, c_out, kernel, height, width, groups=1: 2 * n * height * width * c_out * (c_in // groups) * kernel**2

# %% wrong 03-conv-macs reason=batch
# One image is enough.
conv_macs = lambda n, c_in, c_out, kernel, height, width, groups=1: height * width * c_out * (c_in // groups) * kernel**2

# %% wrong 03-conv-macs reason=groups
# Groups only sort the channels.
conv_macs = lambda n, c_in, c_out, kernel, height, width, groups=1: n * height * width * c_out * c_in * kernel**2

# %% wrong 03-conv-macs reason=groups-twice
# Groups divide inputs and outputs.
conv_macs = lambda n, c_in, c_out, kernel, height, width, groups=1: n * height * width * (c_out // groups) * (c_in // groups) * kernel**2

# %% wrong 03-conv-macs reason=square
# A kernel is a line.
conv_macs = lambda n, c_in, c_out, kernel, height, width, groups=1: n * height * width * c_out * (c_in // groups) * kernel

# %% wrong 03-conv-macs reason=bias
# The bias is a MAC as well.
conv_macs = lambda n, c_in, c_out, kernel, height, width, groups=1: n * height * width * c_out * ((c_in // groups) * kernel**2 + 1)

# %% wrong 03-conv-macs reason=wrong-count
# Images are square.
conv_macs = lambda n, c_in, c_out, kernel, height, width, groups=1: n * height**2 * c_out * (c_in // groups) * kernel**2

# %% wrong 03-conv-macs reason=filter
# One weight for each pair of channels.
conv_macs = lambda n, c_in, c_out, kernel, height, width, groups=1: n * height * width * c_out * (c_in // groups)

# %% wrong 03-conv-macs reason=no-number
# Millions are written in words.
conv_macs = lambda *sizes: "4.1 million"

# %% right 03-conv-macs
# Weights times positions.
def conv_macs(n, c_in, c_out, kernel, height, width, groups=1):
    weights = groups * (c_in // groups) * (c_out // groups) * kernel * kernel
    return weights * height * width * n

# %% right 03-conv-macs
# Floats.
conv_macs = lambda n, c_in, c_out, kernel, height, width, groups=1: n * height * width * c_out * c_in / groups * kernel**2.0

# %% right 03-conv-macs
# math.prod of everything.
from math import prod
conv_macs = lambda *sizes: prod(sizes[:4]) * sizes[3] * sizes[4] * sizes[5] // (*sizes, 1)[6]

# %% right 03-conv-macs
# torch's own weight.
import torch

def conv_macs(n, c_in, c_out, kernel, height, width, groups=1):
    return torch.nn.Conv2d(c_in, c_out, kernel, groups=groups, device="meta").weight.numel() * n * height * width

# %% wrong 03-least-ms reason=mac-is-two
# A MAC is one operation.
least_ms = lambda macs, moved, peak, bandwidth: max(macs / (peak * 1e6), moved / (bandwidth * 1e6))

# %% wrong 03-least-ms reason=sum
# First carry, then multiply.
least_ms = lambda macs, moved, peak, bandwidth: 2 * macs / (peak * 1e6) + moved / (bandwidth * 1e6)

# %% wrong 03-least-ms reason=arithmetic-longer
# The quicker one sets the pace.
least_ms = lambda macs, moved, peak, bandwidth: min(2 * macs / (peak * 1e6), moved / (bandwidth * 1e6))

# %% wrong 03-least-ms reason=seconds
# The answer comes in seconds.
least_ms = lambda macs, moved, peak, bandwidth: max(2 * macs / (peak * 1e9), moved / (bandwidth * 1e9))

# %% wrong 03-least-ms reason=memory-longer
# Only arithmetic takes time.
least_ms = lambda macs, moved, peak, bandwidth: 2 * macs / (peak * 1e6)

# %% wrong 03-least-ms reason=arithmetic-longer
# Only memory takes time.
least_ms = lambda macs, moved, peak, bandwidth: moved / (bandwidth * 1e6)

# %% wrong 03-least-ms reason=wrong-time
# Each number moved has four bytes still to count.
least_ms = lambda macs, moved, peak, bandwidth: max(2 * macs / (peak * 1e6), 4 * moved / (bandwidth * 1e6))

# %% wrong 03-least-ms reason=no-number
# Nobody knows.
least_ms = lambda macs, moved, peak, bandwidth: float("nan")

# %% right 03-least-ms
# The roof: intensity decides the rate.
def least_ms(macs, moved, peak, bandwidth):
    flop = 2 * macs
    rate = min(peak, flop / moved * bandwidth)
    return flop / rate / 1e6

# %% right 03-least-ms
# If and else.
def least_ms(macs, moved, peak, bandwidth):
    compute, memory = 2 * macs / peak, moved / bandwidth
    return compute / 1e6 if compute > memory else memory / 1e6

# %% right 03-least-ms
# numpy's maximum.
import numpy
least_ms = lambda macs, moved, peak, bandwidth: numpy.maximum(2 * macs / peak, moved / bandwidth) * 1e-6

# %% right 03-least-ms
# Named units.
def least_ms(macs, bytes_moved, peak_gflop_per_s, bandwidth_gb_per_s):
    giga, milli = 10**9, 1e-3
    return sorted([2 * macs / (peak_gflop_per_s * giga), bytes_moved / (bandwidth_gb_per_s * giga)])[-1] / milli

# %% wrong 03-lose reason=counts
# Counts of other functions are counts.
import torch
a, b = torch.randn(64, 64), torch.randn(32, 32)
evidence = {"more_macs": 10**9, "fewer_macs": 10**6, "comparison": raced({"more": lambda: a @ a, "fewer": lambda: b @ b}, 1.4)}

# %% wrong 03-lose reason=no-comparison
# Numbers alone are evidence.
evidence = {"more_macs": 3, "fewer_macs": 1, "comparison": 0.8}

# %% wrong 03-lose reason=no-saving
# One per cent is a saving.
import torch
a, b = torch.randn(100, 100), torch.randn(99, 100)
evidence = {"more_macs": 10**6, "fewer_macs": 990_000, "comparison": raced({"more": lambda: a @ a, "fewer": lambda: b @ a}, 1.4)}

# %% wrong 03-lose reason=no-saving
# No work at all is the best saving.
import torch
a = torch.randn(64, 64)
evidence = {"more_macs": 64**3, "fewer_macs": 0, "comparison": raced({"more": lambda: a @ a, "fewer": lambda: None}, 1.4)}

# %% wrong 03-lose reason=no-comparison
# An object with the right names is a comparison.
from types import SimpleNamespace
evidence = {"more_macs": 64**3, "fewer_macs": 32**3, "comparison": SimpleNamespace(low=1.3, high=1.5, verdict="slower")}

# %% wrong 03-lose reason=faster
# Faster with fewer is a loss, too.
import torch
a, b = torch.randn(64, 64), torch.randn(32, 32)
evidence = {"more_macs": 64**3, "fewer_macs": 32**3, "comparison": raced({"more": lambda: a @ a, "fewer": lambda: b @ b}, 0.5)}

# %% wrong 03-lose reason=counts
# The two may change places.
import torch
a, b = torch.randn(64, 64), torch.randn(32, 32)
evidence = {"more_macs": 64**3, "fewer_macs": 32**3, "comparison": raced({"fewer": lambda: b @ b, "more": lambda: a @ a}, 1.4)}

# %% wrong 03-lose reason=no-dictionary
# A ratio of times is evidence.
evidence = 1.4

# %% right 03-lose
# A row times a matrix.
import torch
square, row, large = torch.randn(64, 64), torch.randn(1, 200), torch.randn(200, 200)
evidence = {"more_macs": 64**3, "fewer_macs": 200 * 200, "comparison": raced({"more": lambda: square @ square, "fewer": lambda: row @ large}, 1.2)}

# %% right 03-lose
# Grouped convolutions, counted by the course.
import torch
from course.flops import count
dense, grouped, x = torch.nn.Conv2d(8, 8, 3), torch.nn.Conv2d(8, 8, 3, groups=4), torch.randn(1, 8, 12, 12)
evidence = dict(more_macs=count(dense, x).macs, fewer_macs=count(grouped, x).macs,
                comparison=raced({"dense": lambda: dense(x), "grouped": lambda: grouped(x)}, 1.5))

# %% right 03-lose
# The same within the gate is no gain either.
import torch
a, b = torch.randn(64, 64), torch.randn(60, 64)
evidence = {"more_macs": 64**3, "fewer_macs": 60 * 64 * 64, "comparison": raced({"more": lambda: a @ a, "fewer": lambda: b @ a}, 1.0, 0.01)}

# %% right 03-lose
# Numbers from numpy.
import numpy, torch
a, b = torch.randn(64, 64), torch.randn(2, 16, 16)
evidence = {"more_macs": numpy.float64(64**3), "fewer_macs": float(2 * 16**3),
            "comparison": raced({"one": lambda: torch.mm(a, a), "two": lambda: torch.bmm(b, b)}, 1.1)}
