"""Small changes of solutions that keep full marks, and why each is as right as the solution. Held by test_mutants.py."""

from __future__ import annotations

LAST = "the list has one element here, so its first is its last"
FLOAT = "the change is far below the relative tolerance of 1e-6 that times are compared with"
UTF_8 = "Python reads utf-8_ as another spelling of utf-8"
ON_THE_GATE = "an interval that ends on the gate itself is no case: a rounding error decides on which side it lies"

EQUIVALENT: dict[str, dict[str, str]] = {
    "01-t-replay": {"5: 0 -> -1": LAST, "7: 0 -> -1": LAST, "9: 0 -> -1": LAST, "10: 0 -> -1": LAST},
    "02-t-interval": {
        "10: 0 -> 1": "one case in 2**n more changes k for no n up to 60",
        "13: missed > 0.05 * 2 ** n -> missed >= 0.05 * 2 ** n": "a twentieth of a power of two is never a whole number",
    },
    "06-t-obstacles": {
        "10: a['seed'] is None or b['seed'] is None -> a['seed'] is None and b['seed'] is None": "where only one seed is None the two differ, which is found above",  # noqa: E501  (a line of a solution, whole)
        "10: a['seed'] is None or b['seed'] is None -> False or b['seed'] is None": "where only one seed is None the two differ",
        "10: a['seed'] is None or b['seed'] is None -> a['seed'] is None or False": "where only one seed is None the two differ",
    },
    "07-t-leaves": {"9: 'none' -> 'none_'": "what is given back where nothing is said is only compared with tf32"},
    "08-t-device": {"7: built and usable -> True and usable": "nothing built is never usable"},
    "09-t-time": {
        "9: 3 -> 2": "field 2 of a line of oneDNN is the word primitive, never exec",
        "9: 4 -> 5": "field 4 of a line of oneDNN is the engine, never exec",
    },
    "13-t-kernel": {
        f"12: 0 -> {place}": "all three shapes have to agree, so any of them may be the one compared with"
        for place in (1, -1)
    },
    "13-in-thread": {"12: 1 -> 2": "a pool of two starts one thread for one task"},
    "12-t-gap": {"8: stop > begin -> stop >= begin": "an event without length covers nothing either way"},
    "12-which-line": {
        f"5: 0.0 -> {value}": "every sum starts from the same number, so the largest stays the largest"
        for value in ("1.0", "-1.0")
    },
    "11-t-culprit": {
        "15: 0 -> -1": "a list of one name has its first name last",
        "17: 0 -> -1": "a list of one name has its first name last",
    },
    "own-race": {f"3: 9 -> {rounds}": "eight or ten rounds have as good a median as nine" for rounds in (8, 10)},
    "own-save": {"6: '.new' -> '.new_'": "the file beside it may have any name", "7: 'utf-8' -> 'utf-8_'": UTF_8},
    "own-load": {"5: 'utf-8' -> 'utf-8_'": UTF_8},
    "own-usable": {
        "10: (found - right).abs().max() <= 0.001 * right.abs().max() -> (found - right).abs().max() < 0.001 * right.abs().max()": "no way is off by the tolerance itself, and no image is nothing but zeros"  # noqa: E501  (a line of a solution, whole)
    },
    "03-least-ms": {
        f"{line}: 1000000000.0 -> {value}": FLOAT for line in (2, 3) for value in ("1000000001.0", "999999999.0")
    },
    "14-ready": {"6: 'batch' -> 'batch_'": "the name of a dimension is free"},
    "11-first-bad": {"2: 0 -> -1": "that many lines are good as well; it costs one question at most"},
    "08-pick-device": {
        "8: ' here, only cpu and ' -> ' here, only cpu and _'": "the words of the refusal are free",
        "8: 'no usable ' -> 'no usable _'": "the words of the refusal are free",
    },
    "09-goes-to-onednn": {"1: 1 -> 0": "no groups and one group are both not more than one"},
    "15-claim": {
        "2: high < 0.98 -> high <= 0.98": ON_THE_GATE,
        "4: low > 1.02 -> low >= 1.02": ON_THE_GATE,
        "6: 0.98 <= low -> 0.98 < low": ON_THE_GATE,
        "6: high <= 1.02 -> high < 1.02": ON_THE_GATE,
    },
}
