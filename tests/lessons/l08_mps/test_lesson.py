"""Lesson 08: the simulated machines answer as machines do."""

from __future__ import annotations

import pytest
import torch

from course.experiment import base
from course.lessons.l08_mps import probes as apple_probes
from course.lessons.l08_mps.machines import KINDS, MACHINES, pretend
from tests.lessons.live import as_rows, measured


@pytest.mark.parametrize("name", MACHINES)
def test_a_simulated_machine_answers_as_one(name):
    questions = [
        torch.cuda.is_available,
        torch.backends.mps.is_available,
        torch.backends.mps.is_built,
        torch.xpu.is_available,
        torch.accelerator.is_available,
        torch.accelerator.current_accelerator,
    ]
    before = [ask() for ask in questions]
    with pretend(name) as machine:
        answers = {kind: getattr(torch, kind).is_available() for kind in KINDS}
        assert answers == {kind: machine.best == kind for kind in KINDS}
        assert torch.accelerator.is_available() == machine.usable == (torch.accelerator.device_count() == 1)
        assert torch.backends.mps.is_available() == (machine.best == "mps")
        accelerator = torch.accelerator.current_accelerator()
        assert (accelerator and accelerator.type) == machine.built
    assert [ask() for ask in questions] == before


@pytest.mark.long
def test_variables_are_read_at_moments_of_their_own():
    record = measured("08-env-when", 240)  # four processes, each importing torch, on a busy machine
    counted = {(row["variable"], row["moment"]): row["counted"] for row in record.rows}
    assert counted["TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "after import"] == "no"
    assert counted["PYTORCH_NVML_BASED_CUDA_CHECK", "after first use"] == "yes"
    assert base.get("08-env-when").settles(record) == {"08-bet-env": "b"}
    if not torch.backends.mps.is_built():
        assert counted[apple_probes.FALLBACK, "any"] == "nobody reads it"


def test_what_float32_loses_is_cured():
    record = measured("08-float32-loses", 60)
    rows = {row["case"]: row for row in record.rows}
    assert [rows["count"][c] for c in ("float64", "float32", "cured")] == ["10.0", "0.0", "10.0"]
    assert [rows["elapsed"][c] for c in ("float64", "float32", "cured")] == ["30.0", "0.0", "30.0"]
    assert rows["log_det"]["float32"] == "-inf" and abs(float(rows["log_det"]["cured"]) + 200) < 1e-3


# --- invented rows that settle each bet on each of its options (tests/course/experiment); nothing was measured ---


def variables(counted):
    return [{"variable": f"V{n}", "moment": "after import", "counted": one} for n, one in enumerate(counted.split())]


def lost(*cases):
    """(float32, rewritten) of results that are 10 in float64."""
    names = ("count", "elapsed", "spread")
    return as_rows(
        "case float64 float32 cured", *((name, "10.0", *both) for name, both in zip(names, cases, strict=False))
    )


def races(*verdicts):
    columns = "op size ratio low high verdict cpu_ms mps_ms"
    return as_rows(columns, *(("matmul", 64 * 8**at, 0.6, 0.5, 0.7, one, 1.0, 0.6) for at, one in enumerate(verdicts)))


def halves(*verdicts):
    columns = "format size ratio low high verdict relative"
    return as_rows(columns, *(("float16", 512 * 2**at, 0.6, 0.5, 0.7, one, 1e-3) for at, one in enumerate(verdicts)))


def fence(at_once_ms, after_ms):
    times = (("at once", [at_once_ms] * 20), ("after synchronize", [after_ms] * 20))
    return as_rows("read samples_ms", *times)


def fallen(never, before, after):
    """How many of three operations are computed on the CPU when the variable is set then."""
    counts = {"never": never, "before import": before, "after import": after}
    return [
        {"moment": moment, "op": op, "outcome": "on CPU" if at < count else "native"}
        for moment, count in counts.items()
        for at, op in enumerate("abc")
    ]


ROWS = {
    "08-bet-env": {"a": variables("no no no no"), "b": variables("no yes no no"), "c": variables("yes yes yes yes")},
    "08-bet-counter": {option: lost((low, "10.0")) for option, low in (("a", "10.0"), ("b", "0.0"), ("c", "4.0"))},
}
FURTHER = {
    "08-bet-env": [(variables("unclear unclear unclear no"), None)],
    "08-bet-counter": [(lost(("0.0", "10.0"), ("10.0", "10.0")), "b"), (lost(("0.0", "0.0"), ("0.0", "10.0")), "b")],
}
BRANCHES = {
    "08-speed-mps": [
        races("slower", "faster"),
        races("slower", "same"),
        races("undecided", "slower"),
        races("faster", "faster"),
    ],
    "08-fence-mps": [fence(0.1, 9.0), fence(6.0, 9.0), fence(9.0, 9.0)],
    "08-fallback-mps": [fallen(1, 1, 1), fallen(0, 2, 0), fallen(0, 2, 2)],
    "08-half-mps": [halves("faster", "undecided"), halves("same", "slower"), halves("undecided", "same")],
}
