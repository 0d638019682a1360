"""The dress rehearsal: every CUDA and MPS experiment runs from end to end on a stand-in GPU (tests/support/rehearsal.py).

A wrong name, shape, device, fence, subprocess argument or missing field fails here, and not in front of the first
learner with a GPU. The stand-in's numbers mean nothing; what is checked is that a fenced time holds the work it is
about, that a record is whole and can be told and drawn, and that nobody takes more time than it has.
"""

from __future__ import annotations

import re

import pytest

from course.experiment import base
from tests.course.experiment.test_every_experiment import BETS
from tests.support.rehearsal import rehearse

pytestmark = pytest.mark.slow

OP_S = 0.005
OP_MS = OP_S * 1e3
STEADY, STEADY_S = (
    "05-flip-cuda",
    0.2,
)  # its verdict hangs on 5 %: an operation long against the noise of a busy machine
SIZES = {
    "02-stopwatches-cuda": {"sizes": [16, 32]}, "02-where-you-wait": {"gpu_size": 16},
    "04-ops-cuda": {"larger": 1},
    "05-sizes-cuda": {"batch": 1, "sizes": [6, 8, 10]},
    "05-flip-cuda": {"batch": 1, "sizes": [8, 10]},
    "05-pays-cuda": {"steps": 20, "batch": 1, "size": 32},
    "05-networks-cuda": {"networks": ["mobilenet_v2"], "steps": 6, "batch": 2, "size": 32},
    "06-truth-table-cuda": {"channels": 4, "size": 8},
    "07-speed-cuda": {"sizes": [32, 64]},
    "08-speed-mps": {"sizes": [16, 32]}, "08-fence-mps": {"size": 16},
    "08-half-mps": {"sizes": [16]},
    "12-gpu-trace-cuda": {"batch": 1, "size": 8}, 
}  # fmt: skip
"""What makes an experiment small; the rest is small by itself."""
SECONDS = {
    "04-ops-cuda": 40, "05-flip-cuda": 400,
    "05-pays-cuda": 100,
    "05-networks-cuda": 200, "05-sizes-cuda": 25, "06-truth-table-cuda": 30,
    "07-speed-cuda": 20,
}  # fmt: skip
"""Budgets on the stage's clock, where a wait costs nothing; 6 s for the rest."""
SETTLED = {"05-flip-cuda": {"05-bet-flip": "b"}, "06-truth-table-cuda": {"06-bet-both": "c"}}
"""The stand-in keeps plans as PyTorch's source does, so what the source says comes out."""
FENCED = {
    "02-stopwatches-cuda": ("median_ms", lambda row: row["stopwatch"] != "no fence", 10 * OP_MS),
    "02-where-you-wait": ("read_ms", lambda row: row["where"] != "cpu" and row["where"] != "toy", 0.9 * OP_MS),
    "05-sizes-cuda": ("call_ms", lambda row: True, OP_MS), "05-flip-cuda": ("call_ms", lambda row: True, OP_MS),
    "05-pays-cuda": ("samples_ms", lambda row: True, 20 * OP_MS),
    "05-networks-cuda": ("step_ms", lambda row: True, 20 * OP_MS),
    "06-truth-table-cuda": ("later_ms", lambda row: True, 2 * OP_MS),
    "07-speed-cuda": ("tf32_ms", lambda row: True, 0.99 * OP_MS), "04-ops-cuda": ("on_ms", lambda row: True, 0.99 * OP_MS),
    "08-speed-mps": ("mps_ms", lambda row: True, 0.99 * OP_MS),
    "08-fence-mps": ("samples_ms", lambda row: row["read"] != "at once", 10 * OP_MS),
}  # fmt: skip
"""Times that must hold the work they are about: column, rows, milliseconds. Without its fence each falls far below."""
NAMES = {kind: [name for name, one in base.load_all().items() if one.needs == kind] for kind in ("cuda", "mps")}
NAMES["cuda"].append("02-where-you-wait")
NAMES["mps"].append("02-where-you-wait")
CASES = [
    pytest.param("cuda", NAMES["cuda"][::2], id="cuda"),
    pytest.param("cuda", NAMES["cuda"][1::2], id="more cuda", marks=pytest.mark.long),
    pytest.param("mps", NAMES["mps"], id="mps"),
]


def unfenced(name, rows):
    """Times of an experiment that are too short to hold their work."""
    column, which, least = FENCED.get(name, ("", lambda row: False, 0.0))
    times = [row[column] for row in rows if which(row)]
    return [ms for one in times for ms in (one if isinstance(one, list) else [one]) if ms < least]


@pytest.mark.parametrize(("kind", "names"), CASES)
def test_experiments_run_and_are_told_drawn_and_settled_on_a_stand_in(kind, names):
    names = [name for name in names if name != STEADY]
    found = rehearse(kind, {name: SECONDS.get(name, 6) for name in names}, SIZES, op_s=OP_S)
    for name in names:
        good(kind, name, found[name])


def test_the_bet_that_hangs_on_five_percent_is_settled_on_a_stand_in():
    good("cuda", STEADY, rehearse("cuda", {STEADY: SECONDS[STEADY]}, SIZES, op_s=STEADY_S)[STEADY])


def good(kind, name, found):
    """What came of an experiment is whole, told in both languages, settled, and its times hold their work."""
    assert "error" not in found, f"{name}: {found['error']}"
    assert found["rows"] and found["device"] == (kind if base.get(name).needs == kind else "cpu"), name
    said = found["en"] + found["zh"]
    assert not re.search(r"\b(nan|None)\b|[{}]", said) and not said.startswith("Inconclusive: too few"), said
    assert re.search(r"[一-鿿]", found["zh"]) and not re.search(r"[一-鿿]", found["en"]), said
    assert set(found["settles"]) == {bet for bet, item in BETS.items() if item.experiment == name}, name
    assert SETTLED.get(name, found["settles"]) == found["settles"], name
    assert not unfenced(name, found["rows"]), name
    timed = any(key.endswith("_ms") for row in found["rows"] for key in row)
    assert not timed or name in FENCED, f"{name}: say in FENCED what its times must hold"
