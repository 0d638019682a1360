# Wrong ideas and right variants of lesson 15 (see grader/ideas.py).

# %% wrong 15-home-of gets=partly reason=places
# Everything on a GPU is cuDNN's.
home_of = {"benchmark": "cudnn", "enable_flash_sdp": "cudnn", "is_macos_or_newer": "mps", "verbose": "mkldnn", "immediate": "cudnn", "set_fastpath_enabled": "cudnn", "strategy": "opt_einsum", "engine": "quantized", "get_cpu_capability": "cpu"}

# %% wrong 15-home-of gets=incorrect reason=no-dictionary
# A list of the names is the map.
home_of = ["cudnn", "cuda", "mps", "mkldnn"]

# %% wrong 15-home-of gets=partly reason=places
# The name of a submodule is that of its library.
home_of = {"benchmark": "cuDNN", "enable_flash_sdp": "cuda", "is_macos_or_newer": "mps", "verbose": "onednn", "immediate": "miopen", "set_fastpath_enabled": "mha", "strategy": "opt_einsum", "engine": "quantized", "get_cpu_capability": "cpu"}

# %% wrong 15-home-of gets=not_attempted reason=placeholder
# The empty places are the answer.
home_of = {"benchmark": ..., "engine": ...}

# %% wrong 15-home-of gets=partly reason=places
# What speaks of a CPU belongs to mkldnn.
home_of = {"benchmark": "cudnn", "enable_flash_sdp": "cuda", "is_macos_or_newer": "mps", "verbose": "mkldnn", "immediate": "miopen", "set_fastpath_enabled": "mha", "strategy": "opt_einsum", "engine": "mkldnn", "get_cpu_capability": "mkldnn"}

# %% wrong 15-home-of gets=partly reason=places
# Whatever makes attention fast belongs to cuda.
home_of = {"benchmark": "cuda", "enable_flash_sdp": "cuda", "is_macos_or_newer": "mps", "verbose": "mkldnn", "immediate": "miopen", "set_fastpath_enabled": "cuda", "strategy": "opt_einsum", "engine": "quantized", "get_cpu_capability": "cpu"}

# %% wrong 15-home-of gets=incorrect reason=places
# The other way round: submodule to switch.
home_of = {"cudnn": "benchmark", "cuda": "enable_flash_sdp", "benchmark": "enabled", "engine": "verbose"}

# %% right 15-home-of
# Made by a call, in another order.
home_of = dict(zip(
    ["get_cpu_capability", "engine", "strategy", "set_fastpath_enabled", "immediate", "verbose", "is_macos_or_newer", "enable_flash_sdp", "benchmark"],
    ["cpu", "quantized", "opt_einsum", "mha", "miopen", "mkldnn", "mps", "cuda", "cudnn"],
))

# %% right 15-home-of
# With one name more than asked for.
home_of = {"benchmark": "cudnn", "enable_flash_sdp": "cuda", "is_macos_or_newer": "mps", "verbose": "mkldnn", "immediate": "miopen", "set_fastpath_enabled": "mha", "strategy": "opt_einsum", "engine": "quantized", "get_cpu_capability": "cpu", "enabled": "cudnn"}

# %% right 15-home-of
# MKL has a log too: its name stands in two submodules.
home_of = {"benchmark": "cudnn", "enable_flash_sdp": "cuda", "is_macos_or_newer": "mps", "verbose": "mkl", "immediate": "miopen", "set_fastpath_enabled": "mha", "strategy": "opt_einsum", "engine": "quantized", "get_cpu_capability": "cpu"}

# %% right 15-home-of
# With the whole path written out.
home_of = {name: "torch.backends." + home for name, home in {"benchmark": "cudnn", "enable_flash_sdp": "cuda", "is_macos_or_newer": "mps", "verbose": "mkldnn", "immediate": "miopen", "set_fastpath_enabled": "mha", "strategy": "opt_einsum", "engine": "quantized", "get_cpu_capability": "cpu"}.items()}

# %% wrong 15-claim reason=unclear
# The ratio decides.
def claim(ratio, low, high):
    return "faster" if ratio < 0.98 else "slower" if ratio > 1.02 else "same"

# %% wrong 15-claim reason=unclear
# An interval that holds 1 shows that there is no difference.
def claim(ratio, low, high):
    if low <= 1 <= high:
        return "same"
    return "faster" if high < 1 else "slower"

# %% wrong 15-claim reason=same
# What leaves 1 is a difference, however small.
def claim(ratio, low, high):
    if high < 1:
        return "faster"
    if low > 1:
        return "slower"
    return "same" if 0.98 <= low and high <= 1.02 else "unclear"

# %% wrong 15-claim reason=faster
# A ratio above 1 is faster.
def claim(ratio, low, high):
    if low > 1.02:
        return "faster"
    if high < 0.98:
        return "slower"
    return "same" if 0.98 <= low and high <= 1.02 else "unclear"

# %% wrong 15-claim reason=unclear
# One end of the interval is enough.
def claim(ratio, low, high):
    if low < 0.98:
        return "faster"
    if high > 1.02:
        return "slower"
    return "same"

# %% wrong 15-claim reason=unclear
# There are three words: no difference is all the rest.
def claim(ratio, low, high):
    if high < 0.98:
        return "faster"
    return "slower" if low > 1.02 else "same"

# %% wrong 15-claim reason=same
# What is not shown is unclear, also where the interval is narrow.
def claim(ratio, low, high):
    if high < 0.98:
        return "faster"
    return "slower" if low > 1.02 else "unclear"

# %% right 15-claim
# The narrow one first.
def claim(ratio, low, high):
    if low >= 0.98 and high <= 1.02:
        return "same"
    return "faster" if high < 0.98 else "slower" if low > 1.02 else "unclear"

# %% right 15-claim
# As distances from 1.
def claim(ratio, low, high, gate=0.02):
    below, above = 1 - high, low - 1
    if below > gate:
        return "faster"
    if above > gate:
        return "slower"
    return "same" if max(1 - low, high - 1) <= gate + 1e-12 else "unclear"

# %% right 15-claim
# By the ends alone.
def claim(ratio, *ends):
    inside = [0.98 <= end <= 1.02 for end in ends]
    if all(inside):
        return "same"
    if any(inside) or min(ends) < 0.98 < 1.02 < max(ends):
        return "unclear"
    return "faster" if max(ends) < 1 else "slower"

# %% right 15-claim
# From the outside in, with a table of questions.
def claim(ratio, low, high):
    answers = [(high < 0.98, "faster"), (low > 1.02, "slower"), (low >= 0.98 and high <= 1.02, "same"), (True, "unclear")]
    return next(word for holds, word in answers if holds)

# %% wrong 15-advice reason=same-bits
# benchmark helps everywhere.
def advice(script):
    return {"cudnn.benchmark": True}

# %% wrong 15-advice reason=search-wasted
# Fixed sizes are enough, on every device.
def advice(script):
    if script["same_bits"]:
        return {"torch.deterministic_algorithms": True}
    return {"cudnn.benchmark": True} if script["sizes"] == "fixed" else {}

# %% wrong 15-advice reason=same-bits
# The switch of cuDNN makes everything reproducible.
def advice(script):
    if script["same_bits"]:
        return {"cudnn.deterministic": True, "cudnn.benchmark": False}
    pays = script["device"] == "cuda" and script["convolutions"] and script["sizes"] == "fixed"
    return {"cudnn.benchmark": True} if pays else {}

# %% wrong 15-advice reason=search-wasted
# deterministic makes the search harmless for equal bits.
def advice(script):
    found = {}
    if script["same_bits"]:
        found["torch.deterministic_algorithms"] = True
    if script["device"] == "cuda" and script["convolutions"] and script["sizes"] == "fixed":
        found["cudnn.benchmark"] = True
    return found

# %% wrong 15-advice reason=misspelt
# A name from memory.
def advice(script):
    if script["same_bits"]:
        return {"torch.deterministic_algorithms": True}
    pays = script["device"] == "cuda" and script["convolutions"] and script["sizes"] == "fixed"
    return {"cudnn.benchmarks": True} if pays else {}

# %% wrong 15-advice reason=not-asked
# To be on the safe side, always deterministic.
def advice(script):
    pays = script["device"] == "cuda" and script["convolutions"] and script["sizes"] == "fixed" and not script["same_bits"]
    return {"torch.deterministic_algorithms": True, **({"cudnn.benchmark": True} if pays else {})}

# %% wrong 15-advice reason=switched-off
# Equal bits: no cuDNN at all.
def advice(script):
    if script["same_bits"]:
        return {"torch.deterministic_algorithms": True, "cudnn.enabled": False}
    pays = script["device"] == "cuda" and script["convolutions"] and script["sizes"] == "fixed"
    return {"cudnn.benchmark": True} if pays else {}

# %% wrong 15-advice reason=search-missing
# The defaults are always best.
def advice(script):
    return {"torch.deterministic_algorithms": True} if script["same_bits"] else {}

# %% right 15-advice
# The defaults written out.
def advice(script):
    pays = script["device"] == "cuda" and script["convolutions"] and script["sizes"] == "fixed"
    return {
        "cudnn.enabled": True,
        "cudnn.benchmark": pays and not script["same_bits"],
        "torch.deterministic_algorithms": bool(script["same_bits"]),
    }

# %% right 15-advice
# Equal bits with both switches.
def advice(script):
    if script["same_bits"]:
        return {"torch.deterministic_algorithms": True, "cudnn.deterministic": True, "cudnn.benchmark": False}
    if (script["device"], script["convolutions"], script["sizes"]) == ("cuda", True, "fixed"):
        return {"cudnn.benchmark": True}
    return {}

# %% right 15-advice
# By leaving out, step by step.
def advice(script):
    found = {"cudnn.benchmark": True}
    if script["device"] != "cuda" or not script["convolutions"] or script["sizes"] == "changing":
        found.pop("cudnn.benchmark", None)
    if script["same_bits"]:
        found = {"torch.deterministic_algorithms": True}
    return found

# %% right 15-advice
# As a list of lines, then a dictionary.
def advice(script):
    lines = []
    if script["same_bits"]:
        lines.append(("torch.deterministic_algorithms", True))
    elif all([script["device"] == "cuda", script["convolutions"], script["sizes"] != "changing"]):
        lines.append(("cudnn.benchmark", True))
    return dict(lines)

# %% wrong 15-t-searches loses=sizes,flip,restart
# With the switch on every call searches.
def count_searches(events):
    on, searches = False, 0
    for event in events:
        if isinstance(event, str):
            on = event == "on"
        else:
            searches += on
    return searches

# %% wrong 15-t-searches loses=sizes,flip,restart
# The batch is not in the key.
def count_searches(events):
    seen, on, searches = set(), False, 0
    for event in events:
        if event == "restart":
            seen, on = set(), False
        elif isinstance(event, str):
            on = event == "on"
        elif event[1] not in seen:
            seen.add(event[1])
            searches += on
    return searches

# %% wrong 15-t-searches loses=flip,restart
# What runs while the switch is off leaves no plan.
def count_searches(events):
    seen, on, searches = set(), False, 0
    for event in events:
        if event == "restart":
            seen, on = set(), False
        elif isinstance(event, str):
            on = event == "on"
        elif on and tuple(event) not in seen:
            seen.add(tuple(event))
            searches += 1
    return searches

# %% wrong 15-t-searches loses=flip,restart
# Turning the switch on makes it search all afresh.
def count_searches(events):
    seen, on, searches = set(), False, 0
    for event in events:
        if event == "restart":
            seen, on = set(), False
        elif isinstance(event, str):
            if event == "on" and not on:
                seen = set()
            on = event == "on"
        elif tuple(event) not in seen:
            seen.add(tuple(event))
            searches += on
    return searches

# %% wrong 15-t-searches loses=restart
# The cache outlives the process.
def count_searches(events):
    seen, on, searches = set(), False, 0
    for event in events:
        if isinstance(event, str):
            on = event == "on"
        elif tuple(event) not in seen:
            seen.add(tuple(event))
            searches += on
    return searches

# %% wrong 15-t-searches loses=restart
# A new process keeps the switch.
def count_searches(events):
    seen, on, searches = set(), False, 0
    for event in events:
        if event == "restart":
            seen = set()
        elif isinstance(event, str):
            on = event == "on"
        elif tuple(event) not in seen:
            seen.add(tuple(event))
            searches += on
    return searches

# %% wrong 15-t-searches loses=flip,restart
# The switch makes no difference: a new size is searched.
def count_searches(events):
    seen, searches = set(), 0
    for event in events:
        if event == "restart":
            seen = set()
        elif not isinstance(event, str) and tuple(event) not in seen:
            seen.add(tuple(event))
            searches += 1
    return searches

# %% right 15-t-searches
# A dictionary of plans, and what each was found by.
def count_searches(events):
    found, plans, on = [], {}, False
    for event in events:
        if event == "restart":
            found += plans.values()
            plans, on = {}, False
        elif event == "on":
            on = True
        elif event == "off":
            on = False
        else:
            plans.setdefault(tuple(event), on)
    return sum([*found, *plans.values()])

# %% right 15-t-searches
# Process by process.
def count_searches(events):
    total, sessions = 0, [[]]
    for event in events:
        if event == "restart":
            sessions.append([])
        else:
            sessions[-1].append(event)
    for session in sessions:
        on, seen = False, []
        for event in session:
            if event in ("on", "off"):
                on = event == "on"
            elif event not in seen:
                seen.append(event)
                total += 1 if on else 0
    return total

# %% right 15-t-searches
# Keys as text.
def count_searches(events):
    seen, on, searches = set(), 0, 0
    for event in map(str, events):
        if event == "restart":
            seen.clear()
            on = 0
        elif event in ("on", "off"):
            on = int(event == "on")
        else:
            searches += on * (event not in seen)
            seen.add(event)
    return searches

# %% right 15-t-searches
# Back to front: a call searches if it is the first of its size since the start of its process, and the switch was on.
def count_searches(events):
    searches = 0
    for place, event in enumerate(events):
        if isinstance(event, str):
            continue
        start = max((k + 1 for k in range(place) if events[k] == "restart"), default=0)
        before = events[start:place]
        flips = [one for one in before if one in ("on", "off")]
        searches += event not in before and flips[-1:] == ["on"]
    return int(searches)

# %% wrong 15-t-claim loses=clear,drift,few
# The middle ratio decides.
def claim(before_ms, after_ms):
    ratios = sorted(after / before for before, after in zip(before_ms, after_ms))
    if not ratios:
        return "undecided"
    middle = ratios[len(ratios) // 2]
    return "faster" if middle < 1 else "slower" if middle > 1 else "undecided"

# %% wrong 15-t-claim loses=clear,drift,few
# The sums decide.
def claim(before_ms, after_ms):
    return "faster" if sum(after_ms) < sum(before_ms) else "slower"

# %% wrong 15-t-claim loses=clear,drift,few
# Upside down: before over after.
def claim(before_ms, after_ms):
    ratios = sorted(before / after for before, after in zip(before_ms, after_ms))
    if len(ratios) < 9:
        return "undecided"
    return "faster" if ratios[-2] < 1 else "slower" if ratios[1] > 1 else "undecided"

# %% wrong 15-t-claim loses=clear
# One bad reading spoils all.
def claim(before_ms, after_ms):
    ratios = [after / before for before, after in zip(before_ms, after_ms)]
    if len(ratios) < 9:
        return "undecided"
    return "faster" if max(ratios) < 1 else "slower" if min(ratios) > 1 else "undecided"

# %% wrong 15-t-claim loses=few
# Two pairs are enough.
def claim(before_ms, after_ms):
    ratios = sorted(after / before for before, after in zip(before_ms, after_ms))[1:-1]
    if not ratios:
        return "undecided"
    return "faster" if ratios[-1] < 1 else "slower" if ratios[0] > 1 else "undecided"

# %% wrong 15-t-claim loses=few
# Nine are not enough yet.
def claim(before_ms, after_ms):
    ratios = sorted(after / before for before, after in zip(before_ms, after_ms))
    if len(ratios) <= 9:
        return "undecided"
    return "faster" if ratios[-2] < 1 else "slower" if ratios[1] > 1 else "undecided"

# %% wrong 15-t-claim loses=few
# A tie is as good as a gain.
def claim(before_ms, after_ms):
    ratios = sorted(after / before for before, after in zip(before_ms, after_ms))
    if len(ratios) < 9:
        return "undecided"
    return "faster" if ratios[-2] <= 1 else "slower" if ratios[1] >= 1 else "undecided"

# %% wrong 15-t-claim loses=clear,drift,few
# Each list by itself: the slowest of one against the fastest of the other.
def claim(before_ms, after_ms):
    before, after = sorted(before_ms), sorted(after_ms)
    if len(before) < 9:
        return "undecided"
    return "faster" if after[-2] < before[1] else "slower" if after[1] > before[-2] else "undecided"

# %% right 15-t-claim
# Count the pairs on each side; one exception is allowed.
def claim(before_ms, after_ms):
    pairs = list(zip(before_ms, after_ms))
    if len(pairs) < 9:
        return "undecided"
    if sum(after >= before for before, after in pairs) <= 1:
        return "faster"
    return "slower" if sum(after <= before for before, after in pairs) <= 1 else "undecided"

# %% right 15-t-claim
# Drop the two extremes from the list.
def claim(before_ms, after_ms):
    ratios = [after / before for before, after in zip(before_ms, after_ms)]
    if len(ratios) < 9:
        return "undecided"
    ratios.remove(max(ratios))
    ratios.remove(min(ratios))
    if all(one < 1 for one in ratios):
        return "faster"
    return "slower" if all(one > 1 for one in ratios) else "undecided"

# %% right 15-t-claim
# With numpy.
def claim(before_ms, after_ms):
    import numpy
    if len(before_ms) < 9:
        return "undecided"
    kept = numpy.sort(numpy.array(after_ms) / numpy.array(before_ms))[1:-1]
    return "faster" if (kept < 1).all() else "slower" if (kept > 1).all() else "undecided"

# %% right 15-t-claim
# The logarithm of the ratio has a sign.
def claim(before_ms, after_ms):
    from math import log
    logs = sorted(log(after / before) for before, after in zip(before_ms, after_ms))
    if len(logs) < 9 or logs[1] <= 0 <= logs[-2]:
        return "undecided"
    return "faster" if logs[-2] < 0 else "slower"
