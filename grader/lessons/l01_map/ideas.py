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
