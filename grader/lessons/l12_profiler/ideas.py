# Wrong ideas and right variants of lesson 12 (see grader/ideas.py).

# %% wrong 12-own-times reason=totals
# Own time and total time are the same.
def own_times(events):
    return [one["us"] for one in events]

# %% wrong 12-own-times reason=grandchildren
# All later events are inside the first.
def own_times(events):
    own = [one["us"] for one in events]
    if own:
        own[0] -= sum(own[1:])
    return own

# %% wrong 12-own-times reason=grandchildren
# Grandchildren are taken off as well.
def own_times(events):
    own = [one["us"] for one in events]
    for one in events:
        above = one["parent"]
        while above is not None:
            own[above] -= one["us"]
            above = events[above]["parent"]
    return own

# %% wrong 12-own-times reason=wrong-times
# Only the first child is taken off.
def own_times(events):
    own, seen = [one["us"] for one in events], set()
    for one in events:
        if one["parent"] is not None and one["parent"] not in seen:
            seen.add(one["parent"])
            own[one["parent"]] -= one["us"]
    return own

# %% wrong 12-own-times reason=grandchildren
# Event 0 has no children: `if parent` is False for 0.
def own_times(events):
    own = [one["us"] for one in events]
    for one in events:
        if one["parent"]:
            own[one["parent"]] -= one["us"]
    return own

# %% wrong 12-own-times reason=grandchildren
# A child loses its parent's time.
def own_times(events):
    return [one["us"] if one["parent"] is None else one["us"] - events[one["parent"]]["us"] for one in events]

# %% wrong 12-own-times reason=wrong-times
# The sum instead of the list.
def own_times(events):
    return sum(one["us"] for one in events if one["parent"] is None)

# %% wrong 12-own-times gets=partly reason=changed
# The events themselves are changed.
def own_times(events):
    totals = [one["us"] for one in events]
    for one, us in zip(events, totals):
        if one["parent"] is not None:
            events[one["parent"]]["us"] -= us
    return [one["us"] for one in events]

# %% right 12-own-times
# Each event looks for its children.
def own_times(events):
    return [
        one["us"] - sum(other["us"] for other in events if other["parent"] == place)
        for place, one in enumerate(events)
    ]

# %% right 12-own-times
# Backwards, with a list of what the children took.
def own_times(events):
    taken = [0.0] * len(events)
    for one in reversed(events):
        if one["parent"] is not None:
            taken[one["parent"]] += one["us"]
    return [one["us"] - inside for one, inside in zip(events, taken)]

# %% right 12-own-times
# A tensor of torch.
import torch

def own_times(events):
    own = torch.tensor([one["us"] for one in events], dtype=torch.float64)
    for one in events:
        if one["parent"] is not None:
            own[one["parent"]] -= one["us"]
    return own

# %% right 12-own-times
# Counter with None as the parent of all.
from collections import Counter

def own_times(events):
    inside = Counter()
    for one in events:
        inside[one["parent"]] += one["us"]
    return tuple(one["us"] - inside[place] for place, one in enumerate(events))

# %% wrong 12-which-line reason=often
# The single largest row.
def line_that_pays(rows):
    known = [row for row in rows if row["line"]]
    return max(known, key=lambda row: row["self_us"])["line"] if known else None

# %% wrong 12-which-line reason=nested
# Total times are added up.
def line_that_pays(rows):
    sums = {}
    for row in rows:
        if row["line"]:
            sums[row["line"]] = sums.get(row["line"], 0.0) + row["us"]
    return max(sums, key=sums.get) if sums else None

# %% wrong 12-which-line reason=unknown
# Rows without a line count as a line.
def line_that_pays(rows):
    sums = {}
    for row in rows:
        sums[row["line"]] = sums.get(row["line"], 0.0) + row["self_us"]
    return max(sums, key=sums.get) if sums else None

# %% wrong 12-which-line reason=nested
# The line that is called most often.
from collections import Counter

def line_that_pays(rows):
    counts = Counter(row["line"] for row in rows if row["line"])
    return counts.most_common(1)[0][0] if counts else None

# %% wrong 12-which-line reason=same-number
# Line numbers alone, without the file.
def line_that_pays(rows):
    sums, first = {}, {}
    for row in rows:
        if row["line"]:
            number = row["line"].split(":")[1]
            first.setdefault(number, row["line"])
            sums[number] = sums.get(number, 0.0) + row["self_us"]
    return first[max(sums, key=sums.get)] if sums else None

# %% wrong 12-which-line gets=partly reason=none
# Nothing found is an empty text.
def line_that_pays(rows):
    sums = {"": 0.0}
    for row in rows:
        if row["line"]:
            sums[row["line"]] = sums.get(row["line"], 0.0) + row["self_us"]
    return max(sums, key=sums.get)

# %% wrong 12-which-line reason=once
# The smallest.
def line_that_pays(rows):
    sums = {}
    for row in rows:
        if row["line"]:
            sums[row["line"]] = sums.get(row["line"], 0.0) + row["self_us"]
    return min(sums, key=sums.get) if sums else None

# %% right 12-which-line
# Counter and most_common.
from collections import Counter

def line_that_pays(rows):
    sums = Counter()
    for row in rows:
        sums[row["line"]] += row["self_us"]
    del sums[""]
    return sums.most_common(1)[0][0] if sums else None

# %% right 12-which-line
# A set of lines, each added up anew.
def line_that_pays(rows):
    lines = sorted({row["line"] for row in rows} - {""})
    return max(lines, key=lambda line: sum(row["self_us"] for row in rows if row["line"] == line), default=None)

# %% right 12-which-line
# Sorted and grouped.
from itertools import groupby

def line_that_pays(rows):
    known = sorted((row["line"], row["self_us"]) for row in rows if row["line"])
    sums = [(sum(us for _, us in group), line) for line, group in groupby(known, key=lambda pair: pair[0])]
    return max(sums)[1] if sums else None

# %% right 12-which-line
# defaultdict, and a loop for the largest.
from collections import defaultdict

def line_that_pays(rows):
    sums, best = defaultdict(float), None
    for row in rows:
        sums[row["line"]] += row["self_us"]
    for line, us in sums.items():
        if line and (best is None or us > sums[best]):
            best = line
    return best

# %% wrong 12-row-spreads gets=partly reason=loop
# As it stood there: right numbers, one by one.
import torch

def row_spreads(table):
    return torch.tensor([row.max().item() - row.min().item() for row in table])

# %% wrong 12-row-spreads gets=partly reason=loop
# No .item() any more, but still row by row.
import torch

def row_spreads(table):
    return torch.stack([row.max() - row.min() for row in table])

# %% wrong 12-row-spreads gets=partly reason=loop
# All numbers to Python at once, and the loop there.
import torch

def row_spreads(table):
    return torch.tensor([max(row) - min(row) for row in table.tolist()])

# %% wrong 12-row-spreads gets=partly reason=loop
# By way of NumPy: a question all the same.
import torch

def row_spreads(table):
    numbers = table.numpy()
    return torch.from_numpy(numbers.max(1) - numbers.min(1))

# %% wrong 12-row-spreads reason=shape
# The spread of the whole table.
def row_spreads(table):
    return table.max() - table.min()

# %% wrong 12-row-spreads reason=shape
# Down the columns.
def row_spreads(table):
    return table.amax(dim=0) - table.amin(dim=0)

# %% wrong 12-row-spreads reason=numbers
# The deviation is another spread.
def row_spreads(table):
    return table.std(dim=1, correction=0)

# %% wrong 12-row-spreads gets=partly reason=type
# In float64, to be on the safe side.
def row_spreads(table):
    wide = table.double()
    return wide.amax(dim=1) - wide.amin(dim=1)

# %% wrong 12-row-spreads reason=changed
# Sorted in place.
def row_spreads(table):
    table.copy_(table.sort(dim=1).values)
    return table[:, -1] - table[:, 0]

# %% right 12-row-spreads
# max and min with their values.
def row_spreads(table):
    return table.max(dim=1).values - table.min(dim=1).values

# %% right 12-row-spreads
# aminmax does both.
import torch

def row_spreads(table):
    low, high = torch.aminmax(table, dim=1)
    return high - low

# %% right 12-row-spreads
# Sorted, last minus first.
def row_spreads(table):
    rows = table.sort(dim=-1).values
    return rows[:, -1] - rows[:, 0]

# %% right 12-row-spreads
# vmap over the rows.
import torch

def row_spreads(table):
    return torch.vmap(lambda row: row.max() - row.min())(table)

# %% wrong 12-make-it-lose reason=too-large
# Large products do not notice.
import torch
from course.lessons.l12_profiler.cases import profiled

large = torch.zeros(64, 64)

def work():
    large @ large

race = raced({"plain": work, "profiled": profiled(work)}, 1.03)

# %% wrong 12-make-it-lose reason=sides
# Two different works.
from course.lessons.l12_profiler.cases import profiled

race = raced({"plain": lambda: 1, "profiled": profiled(lambda: 1)}, 3.0)

# %% wrong 12-make-it-lose reason=sides
# The profiled side is the baseline.
from course.lessons.l12_profiler.cases import profiled

def work():
    return 1

race = raced({"profiled": profiled(work), "plain": work}, 3.0)

# %% wrong 12-make-it-lose reason=sides
# No profiler on either side.
race = raced({"plain": lambda: 1, "profiled": lambda: 2}, 3.0)

# %% wrong 12-make-it-lose reason=no-comparison
# A number instead of the race.
race = 3.0

# %% wrong 12-make-it-lose gets=inconclusive reason=rounds
# Too few rounds.
from course.lessons.l12_profiler.cases import profiled

def work():
    return 1

race = raced({"plain": work, "profiled": profiled(work)}, 3.0, rounds=3)

# %% wrong 12-make-it-lose gets=inconclusive reason=undecided
# The interval holds 1.5.
from course.lessons.l12_profiler.cases import profiled

def work():
    return 1

race = raced({"plain": work, "profiled": profiled(work)}, 1.5, width=0.2)

# %% right 12-make-it-lose
# Many small additions.
import torch
from course.lessons.l12_profiler.cases import profiled

small = torch.zeros(8)

def work():
    for _ in range(400):
        small + 1

race = raced({"plain": work, "profiled": profiled(work)}, 2.4)

# %% right 12-make-it-lose
# Views only.
import torch
from course.lessons.l12_profiler.cases import profiled

cube = torch.zeros(2, 3, 4)

def work():
    for _ in range(200):
        cube.permute(2, 0, 1).unsqueeze(0).flatten(1)

race = raced({"plain": work, "profiled": profiled(work)}, 1.9, width=0.3)

# %% right 12-make-it-lose
# Nearly nothing at all: the start of the profiler alone.
from course.lessons.l12_profiler.cases import profiled

work = lambda: None
race = raced({"plain": work, "profiled": profiled(work)}, 900.0, width=50.0)

# %% right 12-make-it-lose
# Just above the mark.
from course.lessons.l12_profiler.cases import profiled

def work():
    return [one for one in range(9)]

race = raced({"plain": work, "profiled": profiled(work)}, 1.56, width=0.05)

# %% wrong 12-t-gap loses=nested,overlap,beyond
# Durations are added up, whatever they hold.
def outside_us(events, start, end):
    return end - start - sum(stop - begin for begin, stop in events)

# %% wrong 12-t-gap loses=apart,nested,overlap,beyond
# From the first start to the last end all is covered.
def outside_us(events, start, end):
    if not events:
        return end - start
    return end - start - (max(stop for _, stop in events) - min(begin for begin, _ in events))

# %% wrong 12-t-gap loses=apart,nested,overlap,beyond
# Only the gaps between events, not those at the ends.
def outside_us(events, start, end):
    free, reached = 0.0, None
    for begin, stop in sorted(events):
        if reached is not None:
            free += max(0.0, begin - reached)
        reached = stop if reached is None else max(reached, stop)
    return free

# %% wrong 12-t-gap loses=beyond
# Nothing reaches beyond the ends.
def outside_us(events, start, end):
    covered, reached = 0.0, float("-inf")
    for begin, stop in sorted(events):
        covered += max(0.0, stop - max(begin, reached))
        reached = max(reached, stop)
    return end - start - covered

# %% wrong 12-t-gap loses=overlap,beyond
# The events are in order.
def outside_us(events, start, end):
    free, reached = 0.0, start
    for begin, stop in events:
        free += max(0.0, min(begin, end) - reached)
        reached = max(reached, min(stop, end))
    return free + max(0.0, end - reached)

# %% wrong 12-t-gap loses=nested,overlap,beyond
# The last event to begin is the last to end.
def outside_us(events, start, end):
    free, reached = 0.0, start
    for begin, stop in sorted(events):
        free += max(0.0, begin - reached)
        reached = stop
    return free + max(0.0, end - reached)

# %% wrong 12-t-gap loses=apart,nested,overlap,beyond
# The time inside instead of outside.
def outside_us(events, start, end):
    covered, reached = 0.0, start
    for begin, stop in sorted(events):
        begin, stop = max(begin, reached), min(stop, end)
        if stop > begin:
            covered += stop - begin
            reached = stop
    return covered

# %% right 12-t-gap
# The free pieces, cut by each event.
def outside_us(events, start, end):
    free = [(start, end)]
    for begin, stop in events:
        free = [
            piece
            for low, high in free
            for piece in ((low, min(high, begin)), (max(low, stop), high))
            if piece[0] < piece[1]
        ]
    return sum(high - low for low, high in free)

# %% right 12-t-gap
# Between neighbouring borders: covered or not.
def outside_us(events, start, end):
    borders = sorted({start, end, *(min(max(one, start), end) for event in events for one in event)})
    return sum(
        high - low
        for low, high in zip(borders, borders[1:])
        if not any(begin <= low and high <= stop for begin, stop in events)
    )

# %% right 12-t-gap
# Starts and ends as steps of a counter.
def outside_us(events, start, end):
    steps = sorted([(begin, 1) for begin, _ in events] + [(stop, -1) for _, stop in events] + [(start, 0), (end, 0)])
    free, running, before = 0.0, 0, None
    for at, step in steps:
        if before is not None and running == 0:
            free += max(0.0, min(at, end) - max(before, start))
        running += step
        before = at
    return free

# %% right 12-t-gap
# numpy, on a running maximum.
import numpy

def outside_us(events, start, end):
    inside = numpy.array(sorted(events) or [[start, start]], dtype=float).clip(start, end)
    reached = numpy.maximum.accumulate(numpy.concatenate([[start], inside[:, 1]]))
    begins = numpy.concatenate([inside[:, 0], [end]])
    return float(numpy.maximum(begins - reached, 0).sum())

# %% wrong 12-t-self loses=nested,deep,names
# Total time by name.
def self_by_name(events):
    own = {}
    for name, begin, stop in events:
        own[name] = own.get(name, 0.0) + stop - begin
    return own

# %% wrong 12-t-self loses=deep,names
# Everything inside is taken off, grandchildren as well.
def self_by_name(events):
    own = {}
    for place, (name, begin, stop) in enumerate(events):
        inside = sum(e - b for _, b, e in events[place + 1 :] if begin <= b and e <= stop)
        own[name] = own.get(name, 0.0) + stop - begin - inside
    return own

# %% wrong 12-t-self loses=names
# The last of a name counts.
def self_by_name(events):
    own, open_ones, found = [], [], {}
    for place, (name, begin, stop) in enumerate(events):
        while open_ones and events[open_ones[-1]][2] <= begin:
            open_ones.pop()
        if open_ones:
            own[open_ones[-1]] -= stop - begin
        own.append(stop - begin)
        open_ones.append(place)
    for (name, _, _), us in zip(events, own):
        found[name] = us
    return found

# %% wrong 12-t-self loses=nested,deep,names
# Only events that call nothing count.
def self_by_name(events):
    own = {}
    for place, (name, begin, stop) in enumerate(events):
        if not any(begin <= b and e <= stop for _, b, e in events[place + 1 :]):
            own[name] = own.get(name, 0.0) + stop - begin
    return own

# %% wrong 12-t-self loses=nested,deep,names
# Only the outermost count.
def self_by_name(events):
    own, reached = {}, float("-inf")
    for name, begin, stop in events:
        if begin >= reached:
            own[name] = own.get(name, 0.0) + stop - begin
            reached = stop
    return own

# %% wrong 12-t-self loses=flat,nested,deep,names
# The event before is always the parent.
def self_by_name(events):
    own, before = {}, None
    for name, begin, stop in events:
        if before is not None:
            own[before] -= stop - begin
        own[name] = own.get(name, 0.0) + stop - begin
        before = name
    return own

# %% wrong 12-t-self loses=flat,nested,deep,names
# Shares instead of times.
def self_by_name(events):
    own = {}
    for name, begin, stop in events:
        own[name] = own.get(name, 0.0) + stop - begin
    whole = sum(own.values()) or 1.0
    return {name: us / whole for name, us in own.items()} or None

# %% right 12-t-self
# The smallest event around it is the parent.
def self_by_name(events):
    own = {}
    for name, begin, stop in events:
        own[name] = own.get(name, 0.0) + stop - begin
    for place, (_, begin, stop) in enumerate(events):
        around = [one for one in events[:place] if one[1] <= begin and stop <= one[2]]
        if around:
            own[min(around, key=lambda one: one[2] - one[1])[0]] -= stop - begin
    return own

# %% right 12-t-self
# Own times by place first, names afterwards.
from collections import defaultdict

def self_by_name(events):
    own, stack = [stop - begin for _, begin, stop in events], []
    for place, (_, begin, stop) in enumerate(events):
        while stack and events[stack[-1]][2] < stop:
            stack.pop()
        while stack and events[stack[-1]][2] <= begin:
            stack.pop()
        if stack:
            own[stack[-1]] -= stop - begin
        stack.append(place)
    found = defaultdict(float)
    for (name, _, _), us in zip(events, own):
        found[name] += us
    return dict(found)

# %% right 12-t-self
# A recursion over what is left.
def self_by_name(events):
    own, left = {}, list(events)

    def take():
        name, begin, stop = left.pop(0)
        own[name] = own.get(name, 0.0) + stop - begin
        while left and left[0][1] < stop:
            own[name] -= left[0][2] - left[0][1]
            take()

    while left:
        take()
    return own

# %% right 12-t-self
# In thousandths, as whole numbers, and back.
def self_by_name(events):
    own, open_ones = {}, []
    for name, begin, stop in events:
        begin, stop = round(1000 * begin), round(1000 * stop)
        open_ones = [one for one in open_ones if one[1] > begin]
        if open_ones:
            own[open_ones[-1][0]] -= stop - begin
        own[name] = own.get(name, 0) + stop - begin
        open_ones.append((name, stop))
    return {name: us / 1000 for name, us in own.items()}

# %% wrong 12-t-report loses=pairs,interval,claim
# Another work, one number, a feeling.
report = {"work": "my model", "plain_ms": 1.0, "profiled_ms": 2.0, "low": None, "high": None, "claim": "much slower"}

# %% wrong 12-t-report loses=pairs,interval
# Too few pairs.
report = {"work": "many small", "plain_ms": [1.0, 1.1, 1.0], "profiled_ms": [2.0, 2.1, 2.2],
          "low": 1.9, "high": 2.2, "claim": "slower"}

# %% wrong 12-t-report loses=pairs,interval
# The lists have different lengths.
report = {"work": "many small", "plain_ms": [1.0] * 8, "profiled_ms": [2.0] * 7, "low": 2.0, "high": 2.0,
          "claim": "slower"}

# %% wrong 12-t-report loses=pairs
# A work that nobody knows.
report = {"work": "tiny", "plain_ms": [1.0, 1.1, 0.9, 1.0, 1.05, 1.0, 0.95, 1.0],
          "profiled_ms": [2.0, 2.1, 1.9, 2.2, 2.1, 2.0, 1.9, 2.05], "low": 1.92, "high": 2.19, "claim": "slower"}

# %% wrong 12-t-report loses=interval
# An interval of times, not of ratios.
report = {"work": "many small", "plain_ms": [1.0, 1.1, 0.9, 1.0, 1.05, 1.0, 0.95, 1.0],
          "profiled_ms": [4.0, 4.1, 3.9, 4.2, 4.1, 4.0, 3.9, 4.05], "low": 4.3, "high": 4.6, "claim": "slower"}

# %% wrong 12-t-report loses=claim
# Slower, though the interval holds 1.
report = {"work": "few large", "plain_ms": [10.0, 11.0, 9.0, 10.0, 10.5, 10.0, 9.5, 10.0],
          "profiled_ms": [10.1, 10.5, 9.2, 9.9, 10.9, 10.0, 9.4, 10.2], "low": 0.956, "high": 1.037, "claim": "slower"}

# %% wrong 12-t-report loses=claim
# Undecided, though it lies clear of 1.
report = {"work": "many small", "plain_ms": [1.0, 1.1, 0.9, 1.0, 1.05, 1.0, 0.95, 1.0],
          "profiled_ms": [2.0, 2.1, 1.9, 2.2, 2.1, 2.0, 1.9, 2.05], "low": 1.92, "high": 2.19, "claim": "undecided"}

# %% wrong 12-t-report loses=claim
# The same, though nobody can say so within a tenth.
report = {"work": "few large", "plain_ms": [10.0, 11.0, 9.0, 10.0, 10.5, 10.0, 9.5, 10.0],
          "profiled_ms": [8.0, 12.1, 9.2, 13.0, 10.9, 10.0, 8.4, 12.2], "low": 0.8, "high": 1.3, "claim": "same"}

# %% right 12-t-report
# Many small: slower.
report = {"work": "many small", "plain_ms": [1.0, 1.1, 0.9, 1.0, 1.05, 1.0, 0.95, 1.0],
          "profiled_ms": [2.0, 2.1, 1.9, 2.2, 2.1, 2.0, 1.9, 2.05], "low": 1.92, "high": 2.19, "claim": "slower"}

# %% right 12-t-report
# Few large: the same, within a tenth.
report = {"work": "few large", "plain_ms": [10.0, 11.0, 9.0, 10.0, 10.5, 10.0, 9.5, 10.0],
          "profiled_ms": [10.1, 10.5, 9.2, 9.9, 10.9, 10.0, 9.4, 10.2], "low": 0.956, "high": 1.037, "claim": "same"}

# %% right 12-t-report
# A busy machine: undecided.
report = {"work": "few large", "plain_ms": [10.0, 11.0, 9.0, 10.0, 10.5, 10.0, 9.5, 10.0],
          "profiled_ms": [8.0, 12.1, 9.2, 13.0, 10.9, 10.0, 8.4, 12.2], "low": 0.8, "high": 1.3, "claim": "Undecided"}

# %% right 12-t-report
# The wider interval of another method, in capitals.
report = {"work": "Many small", "plain_ms": [1.0, 1.1, 0.9, 1.0, 1.05, 1.0, 0.95, 1.0],
          "profiled_ms": [3.0, 3.1, 2.9, 3.2, 3.1, 3.0, 2.9, 3.05], "low": 2.82, "high": 3.22, "claim": "SLOWER"}
