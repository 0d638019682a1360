"""Hidden side of checkpoint 01: what `flags(...)` leaves inside, and who reads what in which process."""

from __future__ import annotations

import random

from grader.project.task import Case, Task, parts_beside

SWITCHES = ("enabled", "benchmark", "deterministic", "allow_tf32", "immediate", "verbose")


# --- 01-t-inside-flags ------------------------------------------------------------------------------------


def _known(rng: random.Random) -> tuple[dict, dict]:
    """A state and the defaults of a call that knows all its switches; every value differs from its default."""
    names = rng.sample(SWITCHES, rng.randint(2, 4))
    defaults = {name: rng.random() < 0.5 for name in names}
    return {name: not value for name, value in defaults.items()}, defaults


def inside_cases(rng: random.Random) -> list[Case]:
    """Asked for everything; asked for some or for nothing; a state with switches the call does not know."""
    cases = []
    for default in (True, False):
        for wanted in (True, False):
            before, defaults = _known(rng)
            asked = {name: rng.random() < 0.5 for name in defaults}
            first = next(iter(defaults))
            before[first], defaults[first], asked[first] = not default, default, wanted
            cases.append(Case("asked", (before, defaults, asked)))
    for _ in range(4):
        before, defaults = _known(rng)
        first = next(iter(defaults))
        cases.append(Case("default", (before, defaults, {first: not defaults[first]})))
        cases.append(Case("default", (before, defaults, {})))
    for _ in range(3):
        before, defaults = _known(rng)
        stranger = rng.choice([name for name in SWITCHES if name not in defaults])
        cases.append(Case("others", ({**before, stranger: True}, defaults, dict(defaults))))
        cases.append(Case("others", ({**before, stranger: False}, defaults, {})))
    return cases


# --- 01-t-replay ------------------------------------------------------------------------------------------


REPLAYED = {  # part -> events in a row; on and off: the two values of a round; yes and no: True and False
    "threads": (
        "set main off, thread main a, set a on, read main, read a",
        "set main off, thread main a, thread a b, set main on, read b, set b off, read a",
    ),
    "fork": (
        "set main yes, fork main a, read a, set a on, read a",
        "fork main a, set a yes, set main on, fork a b, read b, read main",
    ),
    "spawn": ("set main yes, spawn main a, read a, set a yes, spawn a b, read b, read a, set a on, read a",),
    "apart": ("fork main a, set main yes, read a, set a yes, set main no, read a, read main, set main on, read main",),
}
LAST = {
    "spawn": "set main yes, spawn main a, read main, read a",
    "apart": "fork main a, thread a b, set b yes, read main, read a, spawn main c, set c yes, read main",
}


def replay_cases(rng: random.Random) -> list[Case]:
    """Names and values are drawn, reads repeated; each part needs one idea more."""

    def case(part: str, events: str, on: bool = True) -> Case:
        """The events after a start of drawn values, main False again; every read once to three times over."""
        words = rng.sample(("loader", "helper", "worker", "logger"), 3)
        said = {"main": "main", **{key: f"{word}{rng.randint(1, 99)}" for key, word in zip("abc", words, strict=True)}}
        said |= {"on": on, "off": not on, "yes": True, "no": False}
        start = [
            ["set", "main", rng.random() < 0.5] if rng.random() < 0.5 else ["read", "main"]
            for _ in range(rng.randint(0, 4))
        ]
        told = [[kind, *map(said.__getitem__, rest)] for kind, *rest in map(str.split, events.split(", "))]
        repeated = [event for event in told for _ in range(rng.randint(1, 3) if event[0] == "read" else 1)]
        return Case(part, ([*start, ["set", "main", False], *repeated],))

    cases = [case(part, one, on) for on in (True, False) for part, rows in REPLAYED.items() for one in rows]
    return [*cases, *(case(part, one) for part, one in LAST.items())]


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="01-t-inside-flags", name="inside_flags", cases=inside_cases, parts=PARTS["01-t-inside-flags"]),
    Task(id="01-t-replay", name="replay", cases=replay_cases, parts=PARTS["01-t-replay"]),
]
