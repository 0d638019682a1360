# Wrong ideas and right variants of lesson 11 (see grader/ideas.py).

# %% wrong 11-t-verdict loses=symptom,left,order,repaired
# Only the output counts.
def verdict(before, after, limit):
    old, new = before["output"], after["output"]
    same = len(old) == len(new) and all(abs(a - b) <= 1e-4 for a, b in zip(old, new))
    return "repaired" if same else "output"

# %% wrong 11-t-verdict loses=output,order
# What is fast is repaired.
def verdict(before, after, limit):
    if after["ratio"] > limit:
        return "symptom"
    return "left over" if after["left"] else "repaired"

# %% wrong 11-t-verdict loses=repaired
# The outputs must agree to the last bit.
def verdict(before, after, limit):
    if before["output"] != after["output"]:
        return "output"
    if after["ratio"] > limit:
        return "symptom"
    return "left over" if after["left"] else "repaired"

# %% wrong 11-t-verdict loses=output
# The shorter output decides how much is compared.
def verdict(before, after, limit):
    if any(abs(a - b) > 1e-4 for a, b in zip(before["output"], after["output"])):
        return "output"
    if after["ratio"] > limit:
        return "symptom"
    return "left over" if after["left"] else "repaired"

# %% wrong 11-t-verdict loses=left,order
# Who leaves something over is still repaired.
def verdict(before, after, limit):
    old, new = before["output"], after["output"]
    if len(old) != len(new) or any(abs(a - b) > 1e-4 for a, b in zip(old, new)):
        return "output"
    if after["left"]:
        return "repaired"
    return "symptom" if after["ratio"] > limit else "repaired"

# %% wrong 11-t-verdict loses=order
# What is left over is looked at first.
def verdict(before, after, limit):
    if after["left"]:
        return "left over"
    old, new = before["output"], after["output"]
    if len(old) != len(new) or any(abs(a - b) > 1e-4 for a, b in zip(old, new)):
        return "output"
    return "symptom" if after["ratio"] > limit else "repaired"

# %% wrong 11-t-verdict loses=repaired
# The limit is not allowed any more.
def verdict(before, after, limit):
    old, new = before["output"], after["output"]
    if len(old) != len(new) or any(abs(a - b) > 1e-4 for a, b in zip(old, new)):
        return "output"
    if after["ratio"] >= limit:
        return "symptom"
    return "left over" if after["left"] else "repaired"

# %% wrong 11-t-verdict loses=symptom
# Faster than before is enough, or within a limit of one's own.
def verdict(before, after, limit):
    old, new = before["output"], after["output"]
    if len(old) != len(new) or any(abs(a - b) > 1e-4 for a, b in zip(old, new)):
        return "output"
    if after["ratio"] > 1.5:
        return "symptom"
    return "left over" if after["left"] else "repaired"

# %% right 11-t-verdict
# Lengths, then the largest difference.
def verdict(before, after, limit):
    old, new = before["output"], after["output"]
    if len(old) != len(new):
        return "output"
    if max((abs(a - b) for a, b in zip(old, new)), default=0.0) > 1e-4:
        return "output"
    if not after["ratio"] <= limit:
        return "symptom"
    if len(after["left"]) > 0:
        return "left over"
    return "repaired"

# %% right 11-t-verdict
# A list of questions in their order.
def verdict(before, after, limit):
    old, new = before["output"], after["output"]
    close = len(old) == len(new) and all(abs(a - b) <= 1e-4 for a, b in zip(old, new))
    asked = [("output", not close), ("symptom", after["ratio"] > limit), ("left over", bool(after["left"]))]
    return next((name for name, true in asked if true), "repaired")

# %% right 11-t-verdict
# torch compares.
import torch

def verdict(before, after, limit):
    old, new = torch.tensor(before["output"]).double(), torch.tensor(after["output"]).double()
    if old.shape != new.shape or not torch.allclose(old, new, rtol=0, atol=1e-4):
        return "output"
    if after["ratio"] > limit:
        return "symptom"
    return ["repaired", "left over"][len(after["left"]) > 0]

# %% right 11-t-verdict
# From the last to the first.
def verdict(before, after, limit):
    found = "repaired"
    if after["left"] != {}:
        found = "left over"
    if after["ratio"] > limit:
        found = "symptom"
    old, new = before["output"], after["output"]
    if len(old) != len(new) or sum(abs(a - b) > 1e-4 for a, b in zip(old, new)):
        found = "output"
    return found

# %% wrong 11-t-culprit loses=none,company
# The first repair without a symptom convicts everybody in it.
def culprit(runs):
    controls = [symptom for repaired, symptom in runs if not repaired]
    if not controls or not all(controls):
        return None
    good = {name for repaired, symptom in runs if symptom and len(repaired) == 1 for name in repaired}
    gone = [name for repaired, symptom in runs if not symptom for name in repaired if name not in good]
    return sorted(gone)[0] if gone else None

# %% wrong 11-t-culprit loses=control
# A control is a waste of time.
def culprit(runs):
    alone = {}
    for repaired, symptom in runs:
        if len(repaired) == 1:
            alone.setdefault(repaired[0], []).append(symptom)
    convicted = [name for name, symptoms in alone.items() if not any(symptoms)]
    return convicted[0] if len(convicted) == 1 else None

# %% wrong 11-t-culprit loses=control
# One control with the symptom is enough.
def culprit(runs):
    if not any(symptom for repaired, symptom in runs if not repaired):
        return None
    alone = {}
    for repaired, symptom in runs:
        if len(repaired) == 1:
            alone.setdefault(repaired[0], []).append(symptom)
    convicted = [name for name, symptoms in alone.items() if not any(symptoms)]
    return convicted[0] if len(convicted) == 1 else None

# %% wrong 11-t-culprit loses=again
# Gone once is gone.
def culprit(runs):
    controls = [symptom for repaired, symptom in runs if not repaired]
    if not controls or not all(controls):
        return None
    convicted = {repaired[0] for repaired, symptom in runs if len(repaired) == 1 and not symptom}
    return convicted.pop() if len(convicted) == 1 else None

# %% wrong 11-t-culprit loses=none,again
# The first one that helps is it.
def culprit(runs):
    controls = [symptom for repaired, symptom in runs if not repaired]
    if not controls or not all(controls):
        return None
    return next((repaired[0] for repaired, symptom in runs if len(repaired) == 1 and not symptom), None)

# %% wrong 11-t-culprit loses=one,none,company,again,control
# The symptom convicts.
def culprit(runs):
    controls = [symptom for repaired, symptom in runs if not repaired]
    if not controls or not all(controls):
        return None
    guilty = {repaired[0] for repaired, symptom in runs if len(repaired) == 1 and symptom}
    return guilty.pop() if len(guilty) == 1 else None

# %% right 11-t-culprit
# Sets of names.
def culprit(runs):
    controls = [symptom for repaired, symptom in runs if repaired == []]
    if False in controls or not controls:
        return None
    tried = {repaired[0] for repaired, _ in runs if len(repaired) == 1}
    failed = {repaired[0] for repaired, symptom in runs if len(repaired) == 1 and symptom}
    convicted = tried - failed
    return convicted.pop() if len(convicted) == 1 else None

# %% right 11-t-culprit
# A question for each name.
def culprit(runs):
    def outcomes(names):
        return [symptom for repaired, symptom in runs if repaired == names]

    control = outcomes([])
    if control.count(True) == 0 or control.count(False) > 0:
        return None
    names = sorted({name for repaired, _ in runs for name in repaired})
    convicted = [name for name in names if outcomes([name]) and not any(outcomes([name]))]
    if len(convicted) != 1:
        return None
    return convicted[0]

# %% right 11-t-culprit
# One pass, counting.
from collections import Counter

def culprit(runs):
    gone, there, control = Counter(), Counter(), []
    for repaired, symptom in runs:
        if not repaired:
            control.append(symptom)
        elif len(repaired) == 1:
            (there if symptom else gone)[repaired[0]] += 1
    if not control or not all(control):
        return None
    convicted = [name for name in gone if not there[name]]
    return convicted[0] if len(convicted) == 1 else None

# %% right 11-t-culprit
# Raise and catch.
def culprit(runs):
    try:
        assert min(symptom for repaired, symptom in runs if not repaired)
        (name,) = {
            repaired[0]
            for repaired, _ in runs
            if len(repaired) == 1 and not any(symptom for other, symptom in runs if other == repaired)
        }
        return name
    except (AssertionError, ValueError):
        return None

# %% wrong 11-first-bad gets=partly reason=slow
# Line by line.
def first_bad(lines, symptom):
    for count in range(1, lines + 1):
        if symptom(count):
            return count

# %% wrong 11-first-bad reason=wrong
# The last good line instead of the first bad one.
def first_bad(lines, symptom):
    good, bad = 0, lines
    while bad - good > 1:
        middle = (good + bad) // 2
        if symptom(middle):
            bad = middle
        else:
            good = middle
    return good

# %% wrong 11-first-bad reason=wrong
# The answer is taken the wrong way round.
def first_bad(lines, symptom):
    good, bad = 0, lines
    while bad - good > 1:
        middle = (good + bad) // 2
        if symptom(middle):
            good = middle
        else:
            bad = middle
    return bad

# %% wrong 11-first-bad gets=partly reason=slow
# From the end.
def first_bad(lines, symptom):
    count = lines
    while count > 1 and symptom(count - 1):
        count -= 1
    return count

# %% wrong 11-first-bad reason=range
# It asks beyond the last line.
def first_bad(lines, symptom):
    step = 1
    while not symptom(step):
        step += 7
    return next(count for count in range(max(1, step - 6), step + 1) if symptom(count))

# %% wrong 11-first-bad reason=wrong
# One question, then a guess.
def first_bad(lines, symptom):
    return max(1, lines // 2) if symptom(max(1, lines // 2)) else lines

# %% wrong 11-first-bad gets=not_attempted reason=placeholder
# Nothing is given back.
def first_bad(lines, symptom):
    symptom(lines)

# %% right 11-first-bad
# bisect looks it up.
import bisect

def first_bad(lines, symptom):
    return bisect.bisect_left(range(lines + 1), True, key=lambda count: bool(symptom(count)))

# %% right 11-first-bad
# By recursion.
def first_bad(lines, symptom, good=0):
    if lines - good <= 1:
        return lines
    middle = (good + lines) // 2
    return first_bad(middle, symptom, good) if symptom(middle) else first_bad(lines, symptom, middle)

# %% right 11-first-bad
# Closed bounds.
def first_bad(lines, symptom):
    low, high = 1, lines
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if symptom(middle) else (middle + 1, high)
    return low

# %% right 11-first-bad
# Steps that halve.
def first_bad(lines, symptom):
    good, step = 0, 1
    while step < lines:
        step *= 2
    while step:
        if good + step < lines and not symptom(good + step):
            good += step
        step //= 2
    return good + 1

# %% wrong 11-next-test reason=dear
# The likeliest first.
def test_order(suspects):
    return [one[0] for one in sorted(suspects, key=lambda one: -one[1])]

# %% wrong 11-next-test reason=dear
# The cheapest first.
def test_order(suspects):
    return [one[0] for one in sorted(suspects, key=lambda one: one[2])]

# %% wrong 11-next-test reason=dear
# As they stand.
def test_order(suspects):
    return [name for name, chance, minutes in suspects]

# %% wrong 11-next-test reason=dear
# Dearest for each chance first.
def test_order(suspects):
    return [one[0] for one in sorted(suspects, key=lambda one: one[2] / one[1], reverse=True)]

# %% wrong 11-next-test reason=dear
# Chance times minutes.
def test_order(suspects):
    return [one[0] for one in sorted(suspects, key=lambda one: one[1] * one[2])]

# %% wrong 11-next-test reason=names
# The whole entries.
def test_order(suspects):
    return sorted(suspects, key=lambda one: one[2] / one[1])

# %% wrong 11-next-test reason=changed
# The list it was given is sorted in place.
def test_order(suspects):
    suspects.sort(key=lambda one: one[2] / one[1])
    return [one[0] for one in suspects]

# %% right 11-next-test
# Chance per minute, largest first.
def test_order(suspects):
    return [one[0] for one in sorted(suspects, key=lambda one: one[1] / one[2], reverse=True)]

# %% right 11-next-test
# Every order is tried.
from itertools import permutations

def test_order(suspects):
    def average(order):
        spent = total = 0
        for _, chance, minutes in order:
            spent += minutes
            total += chance * spent
        return total

    return [name for name, *_ in min(permutations(suspects), key=average)]

# %% right 11-next-test
# The best of the rest, again and again.
def test_order(suspects):
    rest, names = list(suspects), []
    while rest:
        best = max(rest, key=lambda one: one[1] / one[2])
        rest.remove(best)
        names.append(best[0])
    return names

# %% right 11-next-test
# A copy is sorted.
def test_order(suspects):
    ranked = [*suspects]
    ranked.sort(key=lambda one: one[2] / one[1])
    return tuple(one[0] for one in ranked)
