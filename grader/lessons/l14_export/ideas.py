# Wrong ideas and right variants of lesson 14 (see grader/ideas.py).

# %% wrong 14-ready reason=train-mode
# Export as it stands.
import torch

def ready(model, x):
    return torch.export.export(model, (x,), dynamic_shapes=({0: torch.export.Dim("batch")},))

# %% wrong 14-ready reason=train-mode
# no_grad is as good as eval.
import copy
import torch

def ready(model, x):
    with torch.no_grad():
        return torch.export.export(copy.deepcopy(model), (x,), dynamic_shapes=({0: torch.export.Dim("batch")},))

# %% wrong 14-ready gets=partly reason=modes
# eval() in place; nobody trains it any more.
import torch

def ready(model, x):
    return torch.export.export(model.eval(), (x,), dynamic_shapes=({0: torch.export.Dim("batch")},))

# %% wrong 14-ready gets=partly reason=modes
# train() brings everything back.
import torch

def ready(model, x):
    program = torch.export.export(model.eval(), (x,), dynamic_shapes=({0: torch.export.Dim("batch")},))
    model.train()
    return program

# %% wrong 14-ready gets=partly reason=one-size
# An exported program takes any batch.
import copy
import torch

def ready(model, x):
    return torch.export.export(copy.deepcopy(model).eval(), (x,))

# %% wrong 14-ready gets=partly reason=one-size
# The example is the largest batch there will be.
import copy
import torch

def ready(model, x):
    batch = torch.export.Dim("batch", min=1, max=len(x))
    return torch.export.export(copy.deepcopy(model).eval(), (x,), dynamic_shapes=({0: batch},))

# %% wrong 14-ready reason=no-program
# A traced module is an export.
import copy
import torch

def ready(model, x):
    return torch.jit.trace(copy.deepcopy(model).eval(), (x,))

# %% wrong 14-ready reason=no-program
# Give back something to call.
import copy
import torch

def ready(model, x):
    batch = torch.export.Dim("batch")
    return torch.export.export(copy.deepcopy(model).eval(), (x,), dynamic_shapes=({0: batch},)).module()

# %% wrong 14-ready gets=partly reason=changed
# Fresh statistics do no harm.
import copy
import torch

def ready(model, x):
    program = torch.export.export(copy.deepcopy(model).eval(), (x,), dynamic_shapes=({0: torch.export.Dim("batch")},))
    model.norm.reset_running_stats()
    return program

# %% right 14-ready
# Dim.DYNAMIC, by the name of the argument.
import copy
import torch

def ready(model, x):
    return torch.export.export(copy.deepcopy(model).eval(), (x,), dynamic_shapes={"x": {0: torch.export.Dim.DYNAMIC}})

# %% right 14-ready
# Remember every mode, and put each back.
import torch

def ready(model, x):
    before = [(part, part.training) for part in model.modules()]
    model.eval()
    try:
        return torch.export.export(model, (x,), dynamic_shapes=[{0: torch.export.Dim("n", max=4096)}])
    finally:
        for part, mode in before:
            part.training = mode

# %% right 14-ready
# Dim.AUTO for all dimensions: export finds out which may be free.
import copy
import torch

def ready(model, x):
    auto = torch.export.Dim.AUTO
    return torch.export.export(copy.deepcopy(model).eval(), (x,), dynamic_shapes=((auto, None, None, None),))

# %% right 14-ready
# A new network with the old weights.
import torch

def ready(model, x):
    sent = type(model)()
    sent.load_state_dict(model.state_dict())
    return torch.export.export(sent.eval(), (x,), dynamic_shapes=({0: torch.export.Dim("batch")},))

# %% wrong 14-agrees reason=too-low
# A difference has a sign.
def agrees(ours, theirs, rtol, atol):
    return ours.shape == theirs.shape and bool((theirs - ours <= atol + rtol * ours.abs()).all())

# %% wrong 14-agrees reason=one-of-many
# The mean difference counts.
def agrees(ours, theirs, rtol, atol):
    return ours.shape == theirs.shape and bool((theirs - ours).abs().mean() <= (atol + rtol * ours.abs()).mean())

# %% wrong 14-agrees reason=near-zero
# A relative tolerance is enough.
def agrees(ours, theirs, rtol, atol):
    return ours.shape == theirs.shape and bool(((theirs - ours).abs() <= rtol * ours.abs()).all())

# %% wrong 14-agrees reason=both-parts
# The larger of the two tolerances.
import torch

def agrees(ours, theirs, rtol, atol):
    limit = torch.clamp(rtol * ours.abs(), min=atol)
    return ours.shape == theirs.shape and bool(((theirs - ours).abs() <= limit).all())

# %% wrong 14-agrees reason=negative
# Without abs around ours.
def agrees(ours, theirs, rtol, atol):
    return ours.shape == theirs.shape and bool(((theirs - ours).abs() <= atol + rtol * ours + 1e-9).all() or (ours < -1).all())

# %% wrong 14-agrees reason=whose-scale
# The tolerance is a part of what came back.
def agrees(ours, theirs, rtol, atol):
    return ours.shape == theirs.shape and bool(((theirs - ours).abs() <= atol + rtol * theirs.abs()).all())

# %% wrong 14-agrees gets=partly reason=NaN
# Look for one that is too far away.
def agrees(ours, theirs, rtol, atol):
    return ours.shape == theirs.shape and not bool(((theirs - ours).abs() > atol + rtol * ours.abs()).any())

# %% wrong 14-agrees gets=partly reason=shape
# allclose knows best.
import torch

def agrees(ours, theirs, rtol, atol):
    return torch.allclose(theirs, ours, rtol=rtol, atol=atol)

# %% wrong 14-agrees gets=partly reason=shape
# Shapes that differ are somebody else's problem.
import torch

def agrees(ours, theirs, rtol, atol):
    return all(abs(a - b) <= atol + rtol * abs(a) for a, b in zip(torch.unbind(ours), torch.unbind(theirs)))

# %% right 14-agrees
# isclose, after the shapes.
import torch

def agrees(ours, theirs, rtol, atol):
    return ours.shape == theirs.shape and bool(torch.isclose(theirs, ours, rtol=rtol, atol=atol).all())

# %% right 14-agrees
# numpy, and its own bool.
import numpy

def agrees(ours, theirs, rtol, atol):
    if ours.shape != theirs.shape:
        return False
    return numpy.all(numpy.abs(theirs.numpy() - ours.numpy()) <= atol + rtol * numpy.abs(ours.numpy()))

# %% right 14-agrees
# Value by value.
def agrees(ours, theirs, rtol, atol):
    if tuple(ours.shape) != tuple(theirs.shape):
        return False
    for mine, other in zip(ours.flatten().tolist(), theirs.flatten().tolist()):
        if not abs(mine - other) <= atol + rtol * abs(mine):
            return False
    return True

# %% right 14-agrees
# torch's own test, its error taken as a no.
import torch

def agrees(ours, theirs, rtol, atol):
    try:
        torch.testing.assert_close(theirs, ours, rtol=rtol, atol=atol)
    except AssertionError:
        return False
    return True

# %% wrong 14-gate reason=refused
# As it was.
def gate(x):
    if x.sum() > 0:
        return x * 2
    return x - 1

# %% wrong 14-gate reason=refused
# A number instead of a tensor.
def gate(x):
    return x * 2 if float(x.sum()) > 0 else x - 1

# %% wrong 14-gate reason=refused
# item() is what graphs like.
import torch

def gate(x):
    positive = bool((x.sum() > 0).item())
    return torch.where(torch.tensor(positive), x * 2, x - 1)

# %% wrong 14-gate reason=function
# Each value chooses for itself.
import torch

def gate(x):
    return torch.where(x > 0, x * 2, x - 1)

# %% wrong 14-gate reason=function
# A sum of 0 is positive.
import torch

def gate(x):
    return torch.where(x.sum() >= 0, x * 2, x - 1)

# %% wrong 14-gate reason=function
# The sides swapped.
import torch

def gate(x):
    return torch.where(x.sum() > 0, x - 1, x * 2)

# %% wrong 14-gate reason=function
# One branch is enough.
def gate(x):
    return x * 2

# %% right 14-gate
# The other way round.
import torch

def gate(x):
    return torch.where(x.sum() <= 0, x - 1, x * 2)

# %% right 14-gate
# Arithmetic with a 0 or a 1.
def gate(x):
    on = (x.sum() > 0).to(x.dtype)
    return on * (x * 2) + (1 - on) * (x - 1)

# %% right 14-gate
# torch.cond computes the one that is taken.
import torch

def gate(x):
    return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))

# %% right 14-gate
# lerp between the two.
import torch

def gate(x):
    return torch.lerp(x - 1, x * 2, (x.sum() > 0).float())

# %% wrong 14-t-differ loses=place,agree,odd
# The first value that is not equal.
def first_difference(ours, theirs, rtol, atol):
    for place, (mine, other) in enumerate(zip(ours, theirs)):
        if mine != other:
            return place
    return -1

# %% wrong 14-t-differ loses=odd
# A NaN is not too far away; missing values are no difference.
def first_difference(ours, theirs, rtol, atol):
    for place, (mine, other) in enumerate(zip(ours, theirs)):
        if abs(other - mine) > atol + rtol * abs(mine):
            return place
    return -1

# %% wrong 14-t-differ loses=agree
# The tolerance itself is too far.
def first_difference(ours, theirs, rtol, atol):
    if len(ours) != len(theirs):
        return None
    for place, (mine, other) in enumerate(zip(ours, theirs)):
        if mine != other and not abs(other - mine) < atol + rtol * abs(mine):
            return place
    return -1

# %% wrong 14-t-differ loses=place
# Only a value that is too high.
def first_difference(ours, theirs, rtol, atol):
    if len(ours) != len(theirs):
        return None
    for place, (mine, other) in enumerate(zip(ours, theirs)):
        if not other - mine <= atol + rtol * abs(mine):
            return place
    return -1

# %% wrong 14-t-differ loses=place,agree
# The scale keeps its sign.
def first_difference(ours, theirs, rtol, atol):
    if len(ours) != len(theirs):
        return None
    for place, (mine, other) in enumerate(zip(ours, theirs)):
        if not abs(other - mine) <= atol + rtol * mine:
            return place
    return -1

# %% wrong 14-t-differ loses=place
# The largest difference instead of the first.
def first_difference(ours, theirs, rtol, atol):
    if len(ours) != len(theirs):
        return None
    over = [(abs(b - a) - atol - rtol * abs(a), -place) for place, (a, b) in enumerate(zip(ours, theirs))]
    wrong = [-place for excess, place in over if not excess <= 0]
    return min(wrong, key=lambda place: -abs(theirs[place] - ours[place])) if wrong else -1

# %% wrong 14-t-differ loses=place,agree,odd
# Counted from one.
def first_difference(ours, theirs, rtol, atol):
    if len(ours) != len(theirs):
        return None
    for place, (mine, other) in enumerate(zip(ours, theirs), start=1):
        if not abs(other - mine) <= atol + rtol * abs(mine):
            return place
    return -1

# %% wrong 14-t-differ loses=agree
# The larger of the two tolerances.
def first_difference(ours, theirs, rtol, atol):
    if len(ours) != len(theirs):
        return None
    for place, (mine, other) in enumerate(zip(ours, theirs)):
        if not abs(other - mine) <= max(atol, rtol * abs(mine)):
            return place
    return -1

# %% right 14-t-differ
# numpy, and its own whole number.
import numpy

def first_difference(ours, theirs, rtol, atol):
    if len(ours) != len(theirs):
        return None
    a, b = numpy.array(ours, dtype=float), numpy.array(theirs, dtype=float)
    wrong = numpy.flatnonzero(~(numpy.abs(b - a) <= atol + rtol * numpy.abs(a)))
    return wrong[0] if len(wrong) else -1

# %% right 14-t-differ
# next with a default.
def first_difference(ours, theirs, rtol, atol):
    if len(ours) - len(theirs):
        return None
    far = (p for p in range(len(ours)) if not abs(theirs[p] - ours[p]) <= atol + rtol * abs(ours[p]))
    return next(far, -1)

# %% right 14-t-differ
# NaN asked for by name.
import math

def first_difference(ours, theirs, rtol, atol):
    if len(ours) != len(theirs):
        return None
    for place in range(len(ours)):
        difference = abs(ours[place] - theirs[place])
        if math.isnan(difference) or difference > atol + rtol * abs(ours[place]):
            return place
    return -1

# %% right 14-t-differ
# torch's isclose.
import torch

def first_difference(ours, theirs, rtol, atol):
    if len(ours) != len(theirs):
        return None
    a, b = torch.tensor(ours, dtype=torch.float64), torch.tensor(theirs, dtype=torch.float64)
    far = (~torch.isclose(b, a, rtol=rtol, atol=atol)).nonzero().flatten().tolist()
    return far[0] if far else -1

# %% wrong 14-t-accepts loses=range,names,rank
# Only the example's shape.
def accepts(example, free, requests):
    return [shape == example for shape in requests]

# %% wrong 14-t-accepts loses=fixed,range,names,rank
# A program takes anything.
def accepts(example, free, requests):
    return [True for _ in requests]

# %% wrong 14-t-accepts loses=names
# Names are only words.
def accepts(example, free, requests):
    def fits(shape):
        return len(shape) == len(example) and all(
            size == fixed if one is None else one[1] <= size <= one[2] for size, fixed, one in zip(shape, example, free))
    return [fits(shape) for shape in requests]

# %% wrong 14-t-accepts loses=range,names,rank
# The end is not included, as in range().
def accepts(example, free, requests):
    def fits(shape):
        seen = {}
        return len(shape) == len(example) and all(
            size == fixed if one is None else one[1] <= size < one[2] and seen.setdefault(one[0], size) == size
            for size, fixed, one in zip(shape, example, free))
    return [fits(shape) for shape in requests]

# %% wrong 14-t-accepts loses=rank
# Dimensions beyond the last are not looked at.
def accepts(example, free, requests):
    def fits(shape):
        seen = {}
        return all(size == fixed if one is None else one[1] <= size <= one[2] and seen.setdefault(one[0], size) == size
                   for size, fixed, one in zip(shape, example, free))
    return [fits(shape) for shape in requests]

# %% wrong 14-t-accepts loses=range,names
# A free dimension is free: least and most are advice.
def accepts(example, free, requests):
    def fits(shape):
        seen = {}
        return len(shape) == len(example) and all(
            size == fixed if one is None else seen.setdefault(one[0], size) == size
            for size, fixed, one in zip(shape, example, free))
    return [fits(shape) for shape in requests]

# %% wrong 14-t-accepts loses=names
# All free dimensions must be equal, whatever their names.
def accepts(example, free, requests):
    def fits(shape):
        if len(shape) != len(example):
            return False
        sizes = {size for size, one in zip(shape, free) if one}
        return len(sizes) <= 1 and all(
            size == fixed if one is None else one[1] <= size <= one[2] for size, fixed, one in zip(shape, example, free))
    return [fits(shape) for shape in requests]

# %% right 14-t-accepts
# A set of sizes for each name.
def accepts(example, free, requests):
    answers = []
    for shape in requests:
        good, sizes = len(shape) == len(example), {}
        for size, fixed, one in zip(shape, example, free):
            if one is None:
                good = good and size == fixed
            else:
                sizes.setdefault(one[0], set()).add(size)
                good = good and size in range(one[1], one[2] + 1)
        answers.append(good and all(len(group) == 1 for group in sizes.values()))
    return answers

# %% right 14-t-accepts
# Faults are counted.
def accepts(example, free, requests):
    def faults(shape):
        if len(shape) - len(example):
            return 1
        count, first = 0, {}
        for place, size in enumerate(shape):
            name, least, most = free[place] or (place, example[place], example[place])
            count += not least <= size <= most
            count += first.setdefault(name, size) != size
        return count
    return [faults(shape) == 0 for shape in requests]

# %% right 14-t-accepts
# A fixed dimension is a free one with one size.
def accepts(example, free, requests):
    dims = [one or [f"fixed {place}", size, size] for place, (one, size) in enumerate(zip(free, example))]
    def fits(shape):
        bound = {}
        return len(shape) == len(dims) and all(
            least <= size <= most and bound.setdefault(name, size) == size for size, (name, least, most) in zip(shape, dims))
    return list(map(fits, requests))

# %% right 14-t-accepts
# An exception ends a shape that does not fit; a tuple comes back.
def accepts(example, free, requests):
    def fits(shape):
        try:
            assert len(shape) == len(example)
            names = {}
            for size, fixed, one in zip(shape, example, free):
                assert size == fixed if one is None else one[1] <= size <= one[2]
                assert one is None or names.setdefault(one[0], size) == size
        except AssertionError:
            return False
        return True
    return tuple(fits(shape) for shape in requests)
