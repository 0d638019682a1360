"""Records and probes of lesson 06: each outcome of a bet is met on invented rows; what is live keeps its form."""

from __future__ import annotations

import pytest
import torch

from course import flags
from course.experiment import base
from course.lessons.l06_cudnn_deterministic import experiments_cuda
from course.lessons.l06_cudnn_deterministic import probes as repro_probes
from course.lessons.l06_cudnn_deterministic.experiments import CURES, LESSON, PAIRS
from course.quiz.bank import Bank
from course.records import Record

NAMES = [name for name, one in base.load_all().items() if one.lesson == LESSON]

# The rows below are invented test data. Nothing was measured.


def record_of(name, rows):
    return Record(name, 1, LESSON, {}, rows)


def check_shown(name, record):
    """The sentence exists in both languages, and the picture can be drawn."""
    from matplotlib.figure import Figure

    experiment = base.get(name)
    sentence = experiment.finding(record)
    assert all(len(sentence[code]) > 15 for code in ("en", "zh"))
    experiment.draw(record, Figure().subplots())
    return sentence["en"]


def cures(alone, lines, mode):
    counts = {"seeds alone": alone, "two lines": lines, "one thread": 1, "algorithms": mode}
    return [{"cure": cure, "runs": 20, "different": counts[cure], "threads": 4} for cure in CURES]


def sums(short, long):
    return [
        {"numbers": n, "lists": 10, "lists_changed_by_threads": c, "lists_changed_by_repeating": 0}
        for n, c in ((1000, short), (1_000_000, long))
    ]


def company(change):
    return [
        {
            "batch": b,
            "same_bits": int(not change),
            "repeats": 1,
            "numbers": 512,
            "numbers_changed": 400 * bool(change),
            "largest_change": change,
        }
        for b in (1, 2)
    ] + [{"batch": 64, "same_bits": 1, "repeats": 1, "numbers": 512, "numbers_changed": 0, "largest_change": 0.0}]


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
    return [
        {"operation": name, "ratio": 1.5, "low": 1.2, "high": 1.8, "verdict": verdict, "threads": 2}
        for name, verdict in zip(("10 places", "100000 places", "torch.empty"), verdicts, strict=True)
    ]


def table(first_alone, first_both, bits_both=1):
    rows = []
    for benchmark, deterministic in PAIRS:
        first = {(0, 0): 9.0, (0, 1): 9.0, (1, 0): first_alone, (1, 1): first_both}[benchmark, deterministic]
        rows += [
            {
                "benchmark": benchmark,
                "deterministic": deterministic,
                "process": process,
                "first_ms": first,
                "later_ms": 1.0,
                "different_bits": bits_both if benchmark and deterministic else 1,
                "bits": "x",
                "kernels": "made_up",
            }
            for process in range(3)
        ]
    return rows


BETS = [
    (
        "06-cures",
        "06-bet-cure",
        [
            (cures(9, 1, 9), "a"),
            (cures(9, 9, 1), "b"),
            (cures(9, 1, 1), "c"),
            (cures(9, 9, 9), "d"),
            (cures(1, 1, 1), None),
        ],
    ),
    ("06-threads-sum", "06-bet-threads", [(sums(0, 0), "a"), (sums(3, 9), "b"), (sums(0, 9), "c"), (sums(3, 0), None)]),
    ("06-company", "06-bet-company", [(company(0.0), "a"), (company(1e-7), "b"), (company(0.1), "c")]),
    (
        "06-who-seeds",
        "06-bet-workers",
        [(seeds(0, 0), "a"), (seeds(0, 1), "b"), (seeds(1, 0), "c"), (seeds(1, 1), "d")],
    ),
    (
        "06-one-ulp",
        "06-bet-ulp",
        [(drift(1e-6), "a"), (drift(0.01), "b"), (drift(1.5), "c"), (drift(0.0), None), (drift(1.5, 0.1), None)],
    ),
    (
        "06-cost",
        "06-bet-cost",
        [
            (costs("slower", "slower", "slower"), "a"),
            (costs("faster", "same", "slower"), "b"),
            (costs("faster", "same", "same"), "c"),
            (costs("faster", "undecided", "slower"), None),
        ],
    ),
    (
        "06-truth-table-cuda",
        "06-bet-both",
        [
            (table(400.0, 9.0), "a"),
            (table(400.0, 300.0, 5), "b"),
            (table(400.0, 300.0), "c"),
            (table(10.0, 10.0), None),
            (table(400.0, 20.0), None),
        ],
    ),
]


@pytest.mark.parametrize(("name", "bet", "outcomes"), BETS, ids=[bet for _, bet, _ in BETS])
def test_the_experiment_settles_its_bet_every_way(name, bet, outcomes):
    for rows, option in outcomes:
        record = record_of(name, rows)
        assert base.get(name).settles(record) == {bet: option}
        check_shown(name, record)


def test_every_bet_is_here_and_all_its_options_can_win():
    bets = {
        item.id: (item.experiment, {option.id for option in item.options})
        for item in Bank().items(LESSON)
        if item.kind == "predict"
    }
    assert bets == {bet: (name, {option for _, option in outcomes if option}) for name, bet, outcomes in BETS}


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_record_settles_nothing_and_still_speaks(name):
    experiment, record = base.get(name), record_of(name, [])
    assert all(option is None for option in experiment.settles(record).values())
    assert experiment.finding(record)["zh"]


def test_agreement_is_never_called_a_promise():
    rows = [{"run": i, "bits": "x", "first_entry": 0.1} for i in range(10)]
    assert "not promised" in check_shown("06-two-lines", record_of("06-two-lines", rows))


GPU_ROWS = [
    {"operation": "scatter_add_", "setting": "nothing", "different": 9, "outcome": "runs", "said": ""},
    {"operation": "scatter_add_", "setting": "two lines", "different": 9, "outcome": "runs", "said": ""},
    {"operation": "scatter_add_", "setting": "algorithms", "different": 1, "outcome": "runs", "said": ""},
    *[
        {
            "operation": "cumsum",
            "setting": s,
            "different": 0 if s == "algorithms" else 1,
            "said": "",
            "outcome": "raises" if s == "algorithms" else "runs",
        }
        for s in experiments_cuda.SETTINGS_CUDA
    ],
]


def test_one_set_of_kernels_is_one_whatever_the_order_of_times_and_the_rest_is_named():
    name = "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nchwkcrs_nchw_tilesize{}_stage4_warpsize2x2x1_g1_tensor16x8x8_kernel"
    rows = table(400.0, 300.0)
    said = check_shown("06-truth-table-cuda", record_of("06-truth-table-cuda", rows))
    assert said.count("1 set(s) of kernels") == 4
    rows[0] = {**rows[0], "kernels": name.format("64x64")}
    rows[1] = {**rows[1], "kernels": name.format("128x64")}
    rows[2] = {**rows[2], "kernels": name.format("64x64")}
    said = check_shown("06-truth-table-cuda", record_of("06-truth-table-cuda", rows))
    assert (
        "2 set(s) of kernels (" in said and "tilesize64x64" in said and "tilesize128x64" in said and "xmma" not in said
    )


def test_gpu_bits_name_who_varies_and_who_is_refused():
    sentence = check_shown("06-bits-cuda", record_of("06-bits-cuda", GPU_ROWS))
    assert "use_deterministic_algorithms: none" in sentence and "algorithms: cumsum" in sentence
    assert sentence.count("scatter_add_") == 2


def test_gpu_costs_are_told_and_drawn():
    rows = [
        {**costs("slower", "same", "same")[0], "operation": "scatter_add_"},
        {"operation": "cumsum", "verdict": "raises", "said": "no"},
    ]
    assert "Refused: cumsum" in check_shown("06-cost-cuda", record_of("06-cost-cuda", rows))


# --- live, small ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["06-two-lines", "06-threads-sum", "06-company", "06-pieces", "06-one-ulp", "06-toy-table"]
)
def test_live_experiments_run_and_leave_no_trace(name):
    before = flags.read()
    record = base.run(name, 30)
    assert record.complete and record.rows
    check_shown(name, record)
    assert flags.read() == before


def test_one_thread_and_the_mode_always_agree():
    record = base.run("06-cures", 60)
    different = {row["cure"]: row["different"] for row in record.rows}
    assert different["one thread"] == different["algorithms"] == 1
    check_shown("06-cures", record)
    assert not torch.are_deterministic_algorithms_enabled()


def test_the_toys_that_are_filtered_repeat_and_are_timed():
    for row in base.run("06-toy-table", 60).rows:
        assert row["allowed"] == (3 if row["deterministic"] else 4)
        assert row["timed"] == (row["allowed"] if row["benchmark"] else 0)
        if row["deterministic"]:
            assert row["winner"] != "split_atomic" and row["different_bits"] == 1


def test_the_mode_refuses_put_and_fills_empty():
    record = base.run("06-who-raises")
    rows = {row["operation"]: row for row in record.rows}
    assert (rows["put_"]["default"], rows["put_"]["error"], rows["put_"]["warn"]) == ("runs", "raises", "warns")
    assert rows["empty"]["error"] == "fills" and rows["conv2d"]["error"] == "runs"
    assert "use_deterministic_algorithms(True)'" in rows["put_"]["said"]
    check_shown("06-who-raises", record)


def test_workers_are_seeded_by_torch_and_the_main_process_is_not():
    record = base.run("06-who-seeds", 120)
    assert base.get("06-who-seeds").settles(record) == {"06-bet-workers": "b"}
    assert not any(
        row["here"] or row["workers"] for row in record.rows if row["setting"] in ("nothing", "deterministic")
    )
    assert all(row["here"] and row["workers"] for row in record.rows if row["setting"] == "all seeds")
    check_shown("06-who-seeds", record)


def test_the_cost_is_a_whole_row_for_each_operation():
    record = base.run("06-cost", 3)
    assert [row["operation"] for row in record.rows] == ["10 places", "100000 places", "torch.empty"]
    assert all(0 < row["low"] <= row["ratio"] <= row["high"] for row in record.rows)
    check_shown("06-cost", record)


# --- what a GPU may refuse --------------------------------------------------------------------------------------


def test_an_operation_that_refuses_is_told_and_not_fatal(monkeypatch):
    def refuse():
        if torch.are_deterministic_algorithms_enabled():
            raise RuntimeError("made_up does not have a deterministic implementation. More words.")
        return torch.ones(1)

    monkeypatch.setattr(experiments_cuda, "cuda_operations", lambda device, count: {"made_up": refuse})
    monkeypatch.setattr(experiments_cuda, "GPU", "cpu")
    rows = base.run("06-bits-cuda", 6).rows
    assert [(row["different"], row["outcome"]) for row in rows] == [(1, "runs"), (1, "runs"), (0, "raises")]
    assert base.run("06-cost-cuda", 6).rows == [
        {"operation": "made_up", "verdict": "raises", "said": "made_up does not have a deterministic implementation"}
    ]
