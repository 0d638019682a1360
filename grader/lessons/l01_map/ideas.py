# Wrong ideas and right variants of lesson 01 (see grader/ideas.py).

# %% wrong 01-t-inside-flags loses=default,others
# What is not asked for stays as it was.
def inside_flags(before, defaults, asked):
    return {**before, **asked}

# %% wrong 01-t-inside-flags loses=others
# The call knows every switch there is.
def inside_flags(before, defaults, asked):
    return {**defaults, **asked}

# %% wrong 01-t-inside-flags loses=asked,default
# Defaults are written last.
def inside_flags(before, defaults, asked):
    return {**before, **asked, **defaults}

# %% wrong 01-t-inside-flags loses=default,others
# Inside there is what was asked for and nothing else.
def inside_flags(before, defaults, asked):
    return dict(asked)

# %% wrong 01-t-inside-flags loses=default,others
# A default counts only where nothing is stored yet.
def inside_flags(before, defaults, asked):
    return {**defaults, **before, **asked}

# %% wrong 01-t-inside-flags loses=others
# What the call does not know is switched off.
def inside_flags(before, defaults, asked):
    return {name: asked.get(name, defaults.get(name, False)) for name in before}

# %% wrong 01-t-inside-flags loses=asked,default,others
# A switch that was on stays on.
def inside_flags(before, defaults, asked):
    return {name: before[name] or asked.get(name, defaults.get(name, False)) for name in before}

# %% right 01-t-inside-flags
# One switch after the other.
def inside_flags(before, defaults, asked):
    inside = {}
    for name in before:
        if name in asked:
            inside[name] = asked[name]
        elif name in defaults:
            inside[name] = defaults[name]
        else:
            inside[name] = before[name]
    return inside

# %% right 01-t-inside-flags
# A ChainMap asks three dictionaries in turn.
from collections import ChainMap

def inside_flags(before, defaults, asked):
    return dict(ChainMap(asked, defaults, before))

# %% right 01-t-inside-flags
# The union of dictionaries, into an ordered one.
from collections import OrderedDict

def inside_flags(before, defaults, asked):
    return OrderedDict(before | defaults | asked)

# %% right 01-t-inside-flags
# Updates of a copy; numpy's bools come back.
import numpy

def inside_flags(before, defaults, asked):
    inside = dict(before)
    inside.update(defaults)
    inside.update(asked)
    return {name: numpy.bool_(value) for name, value in inside.items()}

# %% wrong 01-t-replay loses=threads,apart
# A thread gets a copy of its own.
def replay(events):
    value, seen = {"main": False}, []
    for kind, who, *rest in events:
        if kind == "set":
            value[who] = rest[0]
        elif kind == "read":
            seen.append(value[who])
        else:
            value[rest[0]] = False if kind == "spawn" else value[who]
    return seen

# %% wrong 01-t-replay loses=fork
# A fork starts with the default.
def replay(events):
    home, value, seen = {"main": "main"}, {"main": False}, []
    for kind, who, *rest in events:
        if kind == "set":
            value[home[who]] = rest[0]
        elif kind == "thread":
            home[rest[0]] = home[who]
        elif kind in ("fork", "spawn"):
            home[rest[0]] = rest[0]
            value[rest[0]] = False
        else:
            seen.append(value[home[who]])
    return seen

# %% wrong 01-t-replay loses=spawn
# A spawned process inherits.
def replay(events):
    home, value, seen = {"main": "main"}, {"main": False}, []
    for kind, who, *rest in events:
        if kind == "set":
            value[home[who]] = rest[0]
        elif kind == "thread":
            home[rest[0]] = home[who]
        elif kind in ("fork", "spawn"):
            home[rest[0]] = rest[0]
            value[rest[0]] = value[home[who]]
        else:
            seen.append(value[home[who]])
    return seen

# %% wrong 01-t-replay loses=fork,spawn,apart
# There is one switch for everybody.
def replay(events):
    value, seen = False, []
    for kind, who, *rest in events:
        if kind == "set":
            value = rest[0]
        elif kind == "read":
            seen.append(value)
    return seen

# %% wrong 01-t-replay loses=apart
# A fork reads its parent's switch until it writes one of its own.
def replay(events):
    home, parent, value, seen = {"main": "main"}, {}, {"main": False}, []

    def look(process):
        return value[process] if process in value else look(parent[process])

    for kind, who, *rest in events:
        if kind == "set":
            value[home[who]] = rest[0]
        elif kind == "thread":
            home[rest[0]] = home[who]
        elif kind == "fork":
            home[rest[0]], parent[rest[0]] = rest[0], home[who]
        elif kind == "spawn":
            home[rest[0]], value[rest[0]] = rest[0], False
        else:
            seen.append(look(home[who]))
    return seen

# %% wrong 01-t-replay loses=fork
# Every process is forked off main.
def replay(events):
    home, value, seen = {"main": "main"}, {"main": False}, []
    for kind, who, *rest in events:
        if kind == "set":
            value[home[who]] = rest[0]
        elif kind == "thread":
            home[rest[0]] = home[who]
        elif kind in ("fork", "spawn"):
            home[rest[0]] = rest[0]
            value[rest[0]] = value["main"] if kind == "fork" else False
        else:
            seen.append(value[home[who]])
    return seen

# %% wrong 01-t-replay loses=apart
# Every thread belongs to main.
def replay(events):
    home, value, seen = {"main": "main"}, {"main": False}, []
    for kind, who, *rest in events:
        if kind == "set":
            value[home[who]] = rest[0]
        elif kind == "thread":
            home[rest[0]] = "main"
        elif kind in ("fork", "spawn"):
            home[rest[0]] = rest[0]
            value[rest[0]] = value[home[who]] if kind == "fork" else False
        else:
            seen.append(value[home[who]])
    return seen

# %% wrong 01-t-replay loses=threads,fork,spawn,apart
# A read sees whether somebody with that name ever switched on.
def replay(events):
    return [["set", who, True] in events for kind, who, *rest in events if kind == "read"]

# %% right 01-t-replay
# Everybody holds a box; threads hold the same one.
def replay(events):
    boxes, seen = {"main": [False]}, []
    for kind, who, *rest in events:
        if kind == "set":
            boxes[who][0] = rest[0]
        elif kind == "read":
            seen.append(boxes[who][0])
        else:
            boxes[rest[0]] = {"thread": boxes[who], "fork": list(boxes[who]), "spawn": [False]}[kind]
    return seen

# %% right 01-t-replay
# Objects for processes; the reads as a tuple.
class Process:
    def __init__(self, value=False):
        self.value = value

def replay(events):
    of, seen = {"main": Process()}, ()
    for event in events:
        kind, who = event[0], event[1]
        if kind == "set":
            of[who].value = event[2]
        elif kind == "thread":
            of[event[2]] = of[who]
        elif kind == "fork":
            of[event[2]] = Process(of[who].value)
        elif kind == "spawn":
            of[event[2]] = Process()
        else:
            seen += (of[who].value,)
    return seen

# %% right 01-t-replay
# Look back from each read, without keeping a state.
def replay(events):
    def look(who, before):
        for at in range(before - 1, -1, -1):
            kind, actor, *rest = events[at]
            if kind == "set" and home(actor, at) == home(who, before):
                return rest[0]
            if kind == "spawn" and rest[0] == home(who, before):
                return False
            if kind == "fork" and rest[0] == home(who, before):
                return look(actor, at)
        return False

    def home(who, before):
        for at in range(before):
            kind, actor, *rest = events[at]
            if kind == "thread" and rest[0] == who:
                return home(actor, at)
        return who

    return [look(event[1], at) for at, event in enumerate(events) if event[0] == "read"]

# %% right 01-t-replay
# Process numbers in numpy arrays.
import numpy

def replay(events):
    process, values, seen = {"main": 0}, numpy.zeros(len(events) + 1, dtype=bool), []
    for number, (kind, who, *rest) in enumerate(events, start=1):
        if kind == "set":
            values[process[who]] = rest[0]
        elif kind == "read":
            seen.append(values[process[who]])
        else:
            process[rest[0]] = process[who] if kind == "thread" else number
            values[number] = kind == "fork" and values[process[who]]
    return numpy.array(seen)

# %% wrong 01-find-typos reason=long-names
# Typos keep their long names.
def find_typos(lines, known):
    names = [line.split("=")[0].strip() for line in lines]
    return [name for name in names if name.removeprefix("torch.backends.") not in known]

# %% wrong 01-find-typos reason=wrong-names
# There is a space before every equals sign.
def find_typos(lines, known):
    names = [line.split(" =")[0].removeprefix("torch.backends.") for line in lines]
    return [name for name in names if name not in known]

# %% wrong 01-find-typos reason=space
# A space at the end belongs to the name.
def find_typos(lines, known):
    names = [line.split("=")[0].removeprefix("torch.backends.") for line in lines]
    return [name for name in names if name.strip() not in known]

# %% wrong 01-find-typos reason=wrong-names
# What is known is the answer.
def find_typos(lines, known):
    names = [line.split("=")[0].strip().removeprefix("torch.backends.") for line in lines]
    return [name for name in names if name in known]

# %% wrong 01-find-typos reason=wrong-names
# A name that begins like a known one is right.
def find_typos(lines, known):
    names = [line.split("=")[0].strip().removeprefix("torch.backends.") for line in lines]
    return [name for name in names if not any(one.startswith(name) or name.startswith(one) for one in known)]

# %% wrong 01-find-typos reason=wrong-names
# Only cudnn has switches.
def find_typos(lines, known):
    names = [line.split("=")[0].strip().removeprefix("torch.backends.") for line in lines]
    return [name for name in names if name.startswith("cudnn") and name not in known]

# %% wrong 01-find-typos reason=text
# The first typo is the answer.
def find_typos(lines, known):
    names = [line.split("=")[0].strip().removeprefix("torch.backends.") for line in lines]
    return next((name for name in names if name not in known), "")

# %% wrong 01-find-typos reason=wrong-names
# Every name is worth a look.
def find_typos(lines, known):
    return [line.split("=")[0].strip().removeprefix("torch.backends.") for line in lines]

# %% wrong 01-find-typos reason=wrong-names
# Printing is giving back.
def find_typos(lines, known):
    print("\n".join(lines))

# %% right 01-find-typos
# A regular expression.
import re

def find_typos(lines, known):
    return [name for line in lines if (name := re.match(r"torch\.backends\.([\w.]+)", line)[1]) not in known]

# %% right 01-find-typos
# Partition, and a tuple.
def find_typos(lines, known):
    return tuple(name for name in (line.partition("=")[0].rstrip()[len("torch.backends."):] for line in lines) if name not in set(known))

# %% right 01-find-typos
# Python's own parser reads the script.
import ast

def find_typos(lines, known):
    names = [ast.unparse(ast.parse(line).body[0].targets[0]).replace("torch.backends.", "") for line in lines]
    return [name for name in names if name not in known]

# %% right 01-find-typos
# A loop, and a generator.
def find_typos(lines, known):
    for line in lines:
        *_, module, switch = line.split("=")[0].strip().split(".")
        if f"{module}.{switch}" not in known:
            yield f"{module}.{switch}"

# %% wrong 01-what-leaked reason=no-dictionary
# The names alone.
def what_leaked(before, after):
    return [name for name in before if before[name] != after[name]]

# %% wrong 01-what-leaked reason=reversed
# First after, then before.
def what_leaked(before, after):
    return {name: (after[name], before[name]) for name in before if before[name] != after[name]}

# %% wrong 01-what-leaked reason=wrong-pairs
# Everything, changed or not.
def what_leaked(before, after):
    return {name: (before[name], after[name]) for name in before}

# %% wrong 01-what-leaked reason=wrong-pairs
# A switch leaks when it is left on.
def what_leaked(before, after):
    return {name: (before[name], after[name]) for name in before if after[name] is True and before[name] is False}

# %% wrong 01-what-leaked reason=wrong-pairs
# A switch is on or off.
def what_leaked(before, after):
    return {name: (before[name], after[name]) for name in before if bool(before[name]) != bool(after[name])}

# %% wrong 01-what-leaked reason=input-changed
# Sorting out in place.
def what_leaked(before, after):
    for name in list(before):
        if before[name] == after[name]:
            del before[name]
    return {name: (value, after[name]) for name, value in before.items()}

# %% wrong 01-what-leaked reason=wrong-pairs
# The new values are enough.
def what_leaked(before, after):
    return {name: after[name] for name in before if before[name] != after[name]}

# %% right 01-what-leaked
# Pairs as lists.
def what_leaked(before, after):
    return {name: [value, after[name]] for name, value in before.items() if value != after[name]}

# %% right 01-what-leaked
# The difference of two sets of pairs.
def what_leaked(before, after):
    return {name: (before[name], after[name]) for name, _ in before.items() - after.items()}

# %% right 01-what-leaked
# A loop.
def what_leaked(before, after):
    leaked = {}
    for name in sorted(before):
        if not before[name] == after[name]:
            leaked[name] = before[name], after[name]
    return leaked

# %% right 01-what-leaked
# A mapping that cannot be changed.
from types import MappingProxyType

def what_leaked(before, after):
    return MappingProxyType({name: pair for name, pair in zip(before, zip(before.values(), (after[n] for n in before))) if pair[0] != pair[1]})

# %% wrong 01-fill-the-blanks reason=fixed-value
# A switch that one wants is True.
import torch

def deterministic_block():
    cudnn = torch.backends.cudnn
    return cudnn.flags(enabled=True, benchmark=True, allow_tf32=cudnn.allow_tf32, deterministic=True)

# %% wrong 01-fill-the-blanks reason=fixed-value
# What is not named stays as it is.
import torch

def deterministic_block():
    return torch.backends.cudnn.flags(deterministic=True)

# %% wrong 01-fill-the-blanks reason=fixed-value
# benchmark off is the same as untouched.
import torch

def deterministic_block():
    cudnn = torch.backends.cudnn
    return cudnn.flags(enabled=cudnn.enabled, benchmark=False, allow_tf32=cudnn.allow_tf32, deterministic=True)

# %% wrong 01-fill-the-blanks reason=not-deterministic
# deterministic may stay as it is.
import torch

def deterministic_block():
    cudnn = torch.backends.cudnn
    return cudnn.flags(enabled=cudnn.enabled, benchmark=cudnn.benchmark, allow_tf32=cudnn.allow_tf32, deterministic=cudnn.deterministic)

# %% wrong 01-fill-the-blanks reason=left-behind
# Nothing has to be put back.
import contextlib, torch

@contextlib.contextmanager
def deterministic_block():
    torch.backends.cudnn.deterministic = True
    yield

# %% wrong 01-fill-the-blanks reason=left-behind
# After an exception nobody looks.
import contextlib, torch

@contextlib.contextmanager
def deterministic_block():
    before = torch.backends.cudnn.deterministic
    torch.backends.cudnn.deterministic = True
    yield
    torch.backends.cudnn.deterministic = before

# %% wrong 01-fill-the-blanks reason=fixed-value
# The two values change places.
import torch

def deterministic_block():
    cudnn = torch.backends.cudnn
    return cudnn.flags(enabled=cudnn.benchmark, benchmark=cudnn.enabled, allow_tf32=cudnn.allow_tf32, deterministic=True)

# %% right 01-fill-the-blanks
# All values at once.
import torch

def deterministic_block():
    cudnn = torch.backends.cudnn
    present = {name: getattr(cudnn, name) for name in ("enabled", "benchmark", "allow_tf32")}
    return cudnn.flags(**present, deterministic=True)

# %% right 01-fill-the-blanks
# One switch, by hand.
import contextlib, torch

@contextlib.contextmanager
def deterministic_block():
    before = torch.backends.cudnn.deterministic
    torch.backends.cudnn.deterministic = True
    try:
        yield
    finally:
        torch.backends.cudnn.deterministic = before

# %% right 01-fill-the-blanks
# The course's tool.
from course.flags import using

def deterministic_block():
    return using({"cudnn.deterministic": True})

# %% right 01-fill-the-blanks
# A class of one's own.
import torch

class deterministic_block:
    def __enter__(self):
        self.before, torch.backends.cudnn.deterministic = torch.backends.cudnn.deterministic, True

    def __exit__(self, *error):
        torch.backends.cudnn.deterministic = self.before

# %% wrong 01-only gets=partly reason=exception
# Without an exception all is well.
from contextlib import contextmanager

@contextmanager
def only(module, **changes):
    old = {name: getattr(module, name) for name in changes}
    for name, value in changes.items():
        setattr(module, name, value)
    yield
    for name, value in old.items():
        setattr(module, name, value)

# %% wrong 01-only gets=partly reason=left-behind
# Nothing has to be put back.
from contextlib import contextmanager

@contextmanager
def only(module, **changes):
    for name, value in changes.items():
        setattr(module, name, value)
    yield

# %% wrong 01-only gets=partly reason=exception
# The defaults are what was there.
from contextlib import contextmanager

@contextmanager
def only(module, **changes):
    for name, value in changes.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name in changes:
            setattr(module, name, False)

# %% wrong 01-only gets=partly reason=exception
# An exception may end here.
from contextlib import contextmanager

@contextmanager
def only(module, **changes):
    old = {name: getattr(module, name) for name in changes}
    for name, value in changes.items():
        setattr(module, name, value)
    try:
        yield
    except Exception:
        pass
    for name, value in old.items():
        setattr(module, name, value)

# %% wrong 01-only gets=partly reason=real-module
# A module's switches are all that dir() lists.
from contextlib import contextmanager

@contextmanager
def only(module, **changes):
    old = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    for name in changes:
        if name not in old:
            raise AttributeError(name)
    try:
        for name, value in changes.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in old.items():
            setattr(module, name, value)

# %% wrong 01-only gets=partly reason=typo
# A new name may be set as well.
from contextlib import contextmanager

@contextmanager
def only(module, **changes):
    old = {name: getattr(module, name, None) for name in changes}
    try:
        for name, value in changes.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in old.items():
            setattr(module, name, value)

# %% wrong 01-only reason=own-flags
# The module's own flags() sets what is named.
from contextlib import contextmanager

@contextmanager
def only(module, **changes):
    with module.flags(**changes):
        yield

# %% wrong 01-only reason=no-block
# A function that sets is enough.
def only(module, **changes):
    for name, value in changes.items():
        setattr(module, name, value)

# %% wrong 01-only gets=partly reason=real-module
# What patches any object patches torch's.
from unittest.mock import patch

def only(module, **changes):
    return patch.multiple(module, **changes)

# %% right 01-only
# ValueError for a typo, in words.
from contextlib import contextmanager

@contextmanager
def only(module, **changes):
    for name in changes:
        if not hasattr(module, name):
            raise ValueError(f"no switch {name}")
    old = {name: getattr(module, name) for name in changes}
    try:
        for name, value in changes.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in old.items():
            setattr(module, name, value)

# %% right 01-only
# An exit stack that remembers what to do.
from contextlib import ExitStack, contextmanager

@contextmanager
def only(module, **changes):
    old = {name: getattr(module, name) for name in changes}
    with ExitStack() as stack:
        for name, value in changes.items():
            stack.callback(setattr, module, name, old[name])
            setattr(module, name, value)
        yield module

# %% right 01-only
# A class.
class only:
    def __init__(self, module, **changes):
        self.module, self.changes = module, changes

    def __enter__(self):
        self.old = [(name, getattr(self.module, name)) for name in self.changes]
        for name, value in self.changes.items():
            setattr(self.module, name, value)

    def __exit__(self, *error):
        for name, value in self.old:
            setattr(self.module, name, value)
        return False

# %% right 01-only
# Two loops and a flag.
from contextlib import contextmanager

@contextmanager
def only(module, **changes):
    old, done = [getattr(module, name) for name in changes], False
    try:
        [setattr(module, *pair) for pair in changes.items()]
        yield module
        done = True
    finally:
        for name, value in zip(changes, old):
            setattr(module, name, value)

# %% wrong 01-make-it-lose reason=switch
# Two layers of different size differ in time: no request anywhere.
import torch

small, large, x = torch.nn.Conv2d(8, 8, 3), torch.nn.Conv2d(8, 64, 3), torch.randn(2, 8, 24, 24)
my_comparison = raced({"plain": lambda: small(x), "asked": lambda: large(x)}, 2.0)

# %% wrong 01-make-it-lose reason=other-work
# The one that asks may do more.
import torch

layer, x = torch.nn.Conv2d(8, 8, 3), torch.randn(2, 8, 24, 24)

def asked():
    with torch.backends.mkldnn.flags(deterministic=True):
        layer(x), layer(x)

my_comparison = raced({"plain": lambda: layer(x), "asked": asked}, 2.0)

# %% wrong 01-make-it-lose reason=other-work
# Other inputs are the same work.
import torch

layer = torch.nn.Conv2d(8, 8, 3)

def asked():
    with torch.backends.mkldnn.flags(deterministic=True):
        layer(torch.ones(2, 8, 48, 48))

my_comparison = raced({"plain": lambda: layer(torch.ones(2, 8, 24, 24)), "asked": asked}, 2.0)

# %% wrong 01-make-it-lose reason=no-work
# The request around nothing costs, too.
import torch

def asked():
    with torch.backends.mkldnn.flags(deterministic=True):
        pass

my_comparison = raced({"plain": lambda: None, "asked": asked}, 2.0)

# %% wrong 01-make-it-lose reason=switch
# Asking cudnn is asking oneDNN.
import torch

layer, x = torch.nn.LSTM(16, 32), torch.randn(4, 2, 16)

def asked():
    with torch.backends.cudnn.flags(deterministic=True):
        layer(x)

my_comparison = raced({"plain": lambda: layer(x), "asked": asked}, 2.0)

# %% wrong 01-make-it-lose reason=no-comparison
# A number is evidence.
my_comparison = 2.5

# %% wrong 01-make-it-lose reason=no-comparison
# Two states written down are evidence.
my_comparison = {"named": ["deterministic"], "before": {"deterministic": 0, "enabled": 1}, "inside": {"deterministic": 1, "enabled": 0}}

# %% wrong 01-make-it-lose reason=switch
# Both ask.
import torch

layer, x = torch.nn.LSTM(16, 32), torch.randn(4, 2, 16)

def asked():
    with torch.backends.mkldnn.flags(deterministic=True):
        layer(x)

my_comparison = raced({"plain": asked, "asked": asked}, 2.0)

# %% wrong 01-make-it-lose gets=inconclusive reason=undecided
# An interval with 1 in it shows a difference.
import torch

layer, x = torch.nn.LSTM(16, 32), torch.randn(4, 2, 16)

def asked():
    with torch.backends.mkldnn.flags(deterministic=True):
        layer(x)

my_comparison = raced({"plain": lambda: layer(x), "asked": asked}, 1.0)

# %% wrong 01-make-it-lose reason=price
# The price of asking is the price of what is asked.
import torch

x = torch.ones(4)

def asked():
    with torch.backends.mkldnn.flags(deterministic=True):
        return x + x

my_comparison = raced({"plain": lambda: x + x, "asked": asked}, 6.3, baseline_ms=0.0002)

# %% right 01-make-it-lose
# A convolution, quicker when asked.
import torch

layer, x = torch.nn.Conv2d(8, 8, 3), torch.randn(2, 8, 24, 24)

def asked():
    with torch.backends.mkldnn.flags(deterministic=True):
        return layer(x)

my_comparison = raced({"plain": lambda: layer(x), "asked": asked}, 0.7)

# %% right 01-make-it-lose
# Asked first, under other names.
import torch

layer, x = torch.nn.LSTM(16, 32), torch.randn(4, 2, 16)

def polite():
    with torch.inference_mode(), torch.backends.mkldnn.flags(deterministic=True):
        layer(x)

def rude():
    with torch.inference_mode():
        layer(x)

my_comparison = raced({"polite": polite, "rude": rude}, 0.5)

# %% right 01-make-it-lose
# Only the two switches that matter are set, by hand.
import torch
from course.flags import using

a, b = torch.randn(64, 64), torch.randn(64, 64)

def asked():
    with using({"mkldnn.deterministic": True, "mkldnn.enabled": False}):
        torch.nn.functional.linear(a, b)

my_comparison = raced({"plain": lambda: torch.nn.functional.linear(a, b), "asked": asked}, 1.5)

# %% right 01-make-it-lose
# Several layers in a row.
import torch

net, x = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Conv2d(8, 8, 3)), torch.randn(1, 3, 20, 20)

@torch.no_grad()
def plain():
    return net(x)

def asked():
    with torch.backends.mkldnn.flags(enabled=False, deterministic=True):
        return plain()

my_comparison = raced({"plain": plain, "asked": asked}, 3.0)
