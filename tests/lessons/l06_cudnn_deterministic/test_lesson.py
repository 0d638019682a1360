"""Lesson 06: its toys compute what they should. Nothing is timed."""

from __future__ import annotations

import pytest
import torch

from course.experiment import base
from course.experiment.new_process import answer_of
from course.lessons.l06_cudnn_deterministic import probes as repro_probes
from course.lessons.l06_cudnn_deterministic import training as toy_repro
from course.lessons.l06_cudnn_deterministic.experiments import PAIRS
from tests.lessons.live import as_rows, check_shown, measured


def test_small_training_repeats_itself_and_pieces_change_its_bits():
    one, again, cut = (toy_repro.small_training(pieces=n) for n in (1, 1, 4))
    assert one.equal(again) and not one.equal(cut)
    torch.testing.assert_close(one, cut, atol=1e-5, rtol=1e-5)
    assert toy_repro.fingerprint(one) == toy_repro.fingerprint(again) != toy_repro.fingerprint(cut)
    threads = torch.get_num_threads()
    with pytest.raises(ValueError, match="1 to 16"):
        toy_repro.small_training(pieces=0)
    assert torch.get_num_threads() == threads


DRAWN = """
import torch
torch.set_num_threads(1)
torch.manual_seed(0)
drawn = {"capability": torch.backends.cpu.get_cpu_capability(), "randn": torch.randn(1000).tolist(), "rand": torch.rand(1000).tolist()}
answer({**drawn, "softmax": torch.arange(4096.0).sin().mul(5).softmax(0).tolist()})
"""


@pytest.mark.slow
def test_other_instructions_give_other_bits_for_one_seed_and_one_thread():
    here, other = (answer_of(DRAWN, variables={"ATEN_CPU_CAPABILITY": one})[0] for one in (None, "default"))
    if here["capability"] == other["capability"]:
        pytest.skip("this CPU has no instructions that could be left out")
    assert here["rand"] == other["rand"]
    assert here["randn"] != other["randn"] and here["softmax"] != other["softmax"]


def test_the_workspace_variable_is_still_documented_for_rnn_and_lstm_alone():
    named = [one.__name__ for one in (torch.nn.RNN, torch.nn.GRU, torch.nn.LSTM) if "determinism" in one.__doc__]
    assert named == ["RNN", "LSTM"]


def test_one_thread_and_the_mode_always_agree():
    record = measured("06-cures", 60)
    different = {row["cure"]: row["different"] for row in record.rows}
    assert different["one thread"] == different["algorithms"] == 1
    check_shown(record)


@pytest.mark.long
def test_workers_are_seeded_by_torch_and_the_main_process_is_not():
    record = base.run("06-who-seeds", 120)  # what a process draws unseeded: these must not be forks of one process
    assert base.get("06-who-seeds").settles(record) == {"06-bet-workers": "b"}
    assert not any(
        row["here"] or row["workers"] for row in record.rows if row["setting"] in ("nothing", "deterministic")
    )
    assert all(row["here"] and row["workers"] for row in record.rows if row["setting"] == "all seeds")
    check_shown(record)


def test_the_cost_is_a_whole_row_for_each_operation():
    record = measured("06-cost", 20)  # seconds; a race ends when it is decided, mostly at once
    assert [row["operation"] for row in record.rows] == ["10 places", "100000 places", "torch.empty"]
    assert all(0 < row["low"] <= row["ratio"] <= row["high"] for row in record.rows)
    check_shown(record)


# --- invented rows that settle each bet on each of its options (tests/course/experiment); nothing was measured ---


def cures(alone, lines, mode):
    counts = {"seeds alone": alone, "two lines": lines, "one thread": 1, "algorithms": mode}
    return as_rows(
        "cure runs different each threads",
        *((cure, 20, kinds, [21 - kinds] + [1] * (kinds - 1), 4) for cure, kinds in counts.items()),
    )


def company(change):
    other = (int(not change), 1, 512, 400 * bool(change), change)
    return as_rows(
        "batch same_bits repeats numbers numbers_changed largest_change",
        (1, *other),
        (2, *other),
        (64, 1, 1, 512, 0, 0.0),
    )


def seeds(here, workers):
    return [
        {"setting": setting, "source": source, "here": here, "workers": workers}
        for setting in repro_probes.SETTINGS
        for source in ("random", "numpy", "torch")
    ]


def drift(far, control=0.0):
    return [
        {"story": story, "step": step, "loss": 2.0, "difference": size}
        for story, size in (("gan", far), ("line", 1e-7), ("control", control))
        for step in (1, 2)
    ]


def costs(*verdicts):
    names = ("10 places", "100000 places", "torch.empty")
    columns = "operation ratio low high verdict threads"
    return as_rows(columns, *((name, 1.5, 1.2, 1.8, verdict, 2) for name, verdict in zip(names, verdicts, strict=True)))


def table(first_alone, first_both, bits_both=1, kernels_both=("made_up",) * 3):
    """kernels_both: of each process with both switches on; another set gives other bits."""
    rows = []
    for benchmark, deterministic in PAIRS:
        both = benchmark and deterministic
        first = {(0, 0): 9.0, (0, 1): 9.0, (1, 0): first_alone, (1, 1): first_both}[benchmark, deterministic]
        rows += as_rows(
            "benchmark deterministic process first_ms later_ms different_bits bits kernels",
            *(
                (benchmark, deterministic, process, first, 1.0, bits_both if both else 1, kernels, kernels)
                for process, kernels in enumerate(kernels_both if both else ("made_up",) * 3)
            ),
        )
    return rows


def trainings(kinds):
    return [
        {"run": run, "threads": 4, "bits": f"made up {run % kinds}", "first_entry": 1.0 + 1e-6 * (run % kinds)}
        for run in range(1, 11)
    ]


ROWS = {
    "06-bet-agree": {"a": trainings(1), "b": trainings(3), "c": trainings(10)},
    "06-bet-cure": {"a": cures(9, 1, 9), "b": cures(9, 9, 1), "c": cures(9, 1, 1), "d": cures(9, 9, 9)},
    "06-bet-company": {"a": company(0.0), "b": company(1e-7), "c": company(0.1)},
    "06-bet-workers": {"a": seeds(0, 0), "b": seeds(0, 1), "c": seeds(1, 0), "d": seeds(1, 1)},
    "06-bet-ulp": {"a": drift(1e-6), "b": drift(0.01), "c": drift(1.5)},
    "06-bet-cost": {
        "a": costs("slower", "slower", "slower"),
        "b": costs("faster", "same", "slower"),
        "c": costs("faster", "same", "same"),
    },
    "06-bet-both": {"a": table(400.0, 9.0), "b": table(400.0, 300.0, 5), "c": table(400.0, 300.0)},
}
FURTHER = {
    "06-bet-cure": [(cures(1, 1, 1), None)],
    "06-bet-ulp": [(drift(0.0), None), (drift(1.5, 0.1), None)],
    "06-bet-cost": [
        (costs("faster", "undecided", "slower"), "b"),  # only this option is left
        (costs("slower", "undecided", "slower"), None),
        (costs("same", "undecided", "same"), None),
        (costs("same", "same", "slower"), "b"),
        (costs("same", "same", "same"), "c"),
    ],
    "06-bet-both": [
        (table(400.0, 9.0, kernels_both=("other", "made_up", "other")), "c"),  # kernels need no clock
        (table(10.0, 10.0), None),
        (table(400.0, 20.0), None),
    ],
}
RECORDED = {
    "06-truth-table-cuda": (
        "`deterministic` is not enough across processes: with the search on, results differ.",
        {"06-bet-both": "c"},
    )
}
"""What the recordings made on a GPU say, derived by hand from their rows: experiment -> headline, bets."""
