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
