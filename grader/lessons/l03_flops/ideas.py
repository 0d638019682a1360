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
