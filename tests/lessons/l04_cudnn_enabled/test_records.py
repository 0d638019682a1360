"""Records of lesson 04: each outcome of a bet is met once, on invented rows, and every record is told and drawn."""

from __future__ import annotations

import pytest
import torch

from course import flags
from course.experiment import base
from course.lessons.l04_cudnn_enabled import experiments
from course.lessons.l04_cudnn_enabled.experiments import LESSON
from course.quiz.bank import Bank
from course.records import Record

# The rows below are invented test data. Nothing was measured.

NAMES = [name for name, one in base.load_all().items() if one.lesson == LESSON]


def record_of(name, rows):
    return Record(name, 1, LESSON, {}, rows)


def check_shown(name, record):
    """The sentence exists in both languages, and the picture can be drawn."""
    from matplotlib.figure import Figure

    sentence = base.get(name).finding(record)
    assert all(len(sentence[code]) > 15 for code in ("en", "zh"))
    base.get(name).draw(record, Figure().subplots())
    return sentence["en"]


def races(**verdicts):
    ratios = {"slower": 2.0, "faster": 0.5, "same": 1.0, "undecided": 1.1}
    return [
        {
            "operation": name,
            "ratio": ratios[verdict],
            "low": ratios[verdict] * 0.9,
            "high": ratios[verdict] * 1.1,
            "verdict": verdict,
            "same_bits": int(verdict == "same"),
        }
        for name, verdict in verdicts.items()
    ]


def gpu_races(**verdicts):
    """In float32 on both sides; the convolution once more with TF32, which must not settle anything."""
    rows = [{"tf32_allowed": 0, **row} for row in races(**verdicts)]
    return [*rows, {"tf32_allowed": 1, **races(Conv2d="slower")[0]}]


def choices(cudnn, onednn):
    return [
        {"case": "plain", "as_it_is": "Mkldnn", "cudnn_off": cudnn, "onednn_off": onednn},
        {"case": "float64", "as_it_is": "Slow2d", "cudnn_off": "Slow2d", "onednn_off": "Slow2d"},
    ]


def inputs(on_nearer, off_nearer, differ=100):
    return [
        {
            "input": i,
            "values": 200,
            "differ": differ,
            "on_nearer": on_nearer,
            "off_nearer": off_nearer,
            "on_error": 3e-7,
            "off_error": 4e-7,
            "between": 5e-7,
        }
        for i in range(3)
    ]


def managers(*moving):
    return [
        row
        for name in ("cudnn", "mkldnn", "miopen")
        for row in (
            {"manager": name, "named": "", "moved": 0, "which": ""},
            {
                "manager": name,
                "named": "x",
                "moved": int(name in moving),
                "which": f"{name}.enabled" * (name in moving),
            },
        )
    ]


BETS = [
    (
        "04-cpu-enabled",
        "04-bet-cpu",
        [
            (races(Conv2d="same", LSTM="same"), "b"),
            (races(Conv2d="slower", LSTM="same"), "a"),
            (races(Conv2d="faster", LSTM="undecided"), "c"),
            (races(Conv2d="same", LSTM="undecided"), None),
            (races(Conv2d="slower", LSTM="faster"), None),
        ],
    ),
    (
        "04-dispatch",
        "04-bet-dispatch",
        [
            (choices("Slow2d", "Mkldnn"), "a"),
            (choices("Mkldnn", "Slow2d"), "b"),
            (choices("Slow2d", "Slow2d"), "c"),
            (choices("Mkldnn", "Mkldnn"), "d"),
        ],
    ),
    (
        "04-onednn-ops",
        "04-bet-onednn",
        [
            (races(Conv2d="slower", LSTM="slower"), "a"),
            (races(Conv2d="slower", GRU="same", LSTM="undecided"), "b"),
            (races(Conv2d="same", LSTM="faster"), "c"),
            (races(Conv2d="slower", LSTM="undecided"), None),
            (races(Conv2d="undecided", LSTM="same"), None),
        ],
    ),
    (
        "04-bits",
        "04-bet-bits",
        [(inputs(99, 1), "a"), (inputs(1, 99), "b"), (inputs(50, 48), "c"), (inputs(0, 0, differ=0), "d")],
    ),
    (
        "04-census",
        "04-bet-census",
        [
            (managers(), "a"),
            (managers("cudnn"), "b"),
            (managers("cudnn", "mkldnn"), "c"),
            (managers("cudnn", "mkldnn", "miopen"), "d"),
            (managers("mkldnn"), "c"),
        ],
    ),
    (
        "04-ops-cuda",
        "04-bet-gpu",
        [
            (gpu_races(Conv2d="slower", Linear="slower", MaxPool2d="slower"), "a"),
            (gpu_races(Linear="same", MaxPool2d="slower"), "b"),
            (gpu_races(Linear="slower", MaxPool2d="faster"), "c"),
            (gpu_races(Linear="same", MaxPool2d="same"), "d"),
            (gpu_races(Linear="undecided", MaxPool2d="same"), None),
            (gpu_races(Linear="same"), None),
        ],
    ),
]


@pytest.mark.parametrize(("name", "bet", "outcomes"), BETS)
def test_the_experiment_settles_its_bet_every_way(name, bet, outcomes):
    for rows, option in outcomes:
        record = record_of(name, rows)
        assert base.get(name).settles(record) == {bet: option}
        check_shown(name, record)


def test_every_option_of_every_bet_can_win():
    reached = {bet: (name, {option for _, option in outcomes if option}) for name, bet, outcomes in BETS}
    bets = [item for item in Bank().items(LESSON) if item.kind == "predict"]
    assert {item.id: (item.experiment, {option.id for option in item.options}) for item in bets} == reached


def kernels(operation, on, off):
    return [
        {"operation": operation, "cudnn": setting, "place": 1, "kernel": kernel}
        for setting, kernel in ((1, on), (0, off))
    ]


OTHERS = {
    "04-kernels-cuda": kernels("Conv2d", "void made_up_fast<float, 3>()", "made_up_plain")
    + kernels("MaxPool2d", "made_up_pool<1>", "made_up_pool<1>")
    + kernels("GRU", "made_up<1>", "made_up<2>"),
    "04-bits-cuda": [{**row, "operation": "Conv2d", "tf32_allowed": tf32} for tf32 in (1, 0) for row in inputs(3, 2)],
    "04-memory-cuda": [
        {"size": size, "cudnn": setting, "result_mib": 8.0, "peak_mib": 10.0 + size}
        for size in (56, 112)
        for setting in (1, 0)
    ],
    "04-attention-cuda": [
        {"cudnn": setting, "ran": 1, "kernel": "made_up_attention", "error": ""} for setting in (1, 0)
    ],
    "04-pretend-gpu": [
        {"case": "plain", "on": "Cudnn", "off": "Slow2d", "cudnn_built": 1},
        {"case": "dilated", "on": "Cudnn", "off": "SlowDilated2d", "cudnn_built": 1},
    ],
    "04-gates": [
        {"group": group, "switch": switch, "open": state}
        for group, switch, state in (
            ("layers", "cudnn.enabled", 0),
            ("attention", "cuda.enable_cudnn_sdp", 1),
            ("products", "", -1),
            ("rest", "", -1),
        )
    ],
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_record_is_told_and_drawn(name):
    check_shown(name, record_of(name, OTHERS[name]))


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (1.2, 1.6, "slower"),
        (0.4, 0.6, "faster"),
        (0.98, 0.99, "same"),
        (1.01, 1.04, "same"),
        (0.9, 1.2, "undecided"),
        (1.02, 1.5, "undecided"),
    ],
)
def test_a_slight_difference_is_none(low, high, said):
    assert experiments.verdict(low, high) == said


def test_sentences_say_what_the_rows_say():
    assert "made_up_attention" in check_shown(
        "04-attention-cuda", record_of("04-attention-cuda", OTHERS["04-attention-cuda"])
    )
    refused = [{"cudnn": 0, "ran": 0, "kernel": "", "error": "no such kernel"}]
    assert "stays open" in check_shown("04-attention-cuda", record_of("04-attention-cuda", refused))
    kernel_words = check_shown("04-kernels-cuda", record_of("04-kernels-cuda", OTHERS["04-kernels-cuda"]))
    assert "Conv2d, GRU. The same kernel: MaxPool2d" in kernel_words
    told = check_shown("04-gates", record_of("04-gates", OTHERS["04-gates"]))
    assert "cudnn.enabled was off and attention's own switch on" in told
    assert "cuDNN takes 2 of 2" in check_shown("04-pretend-gpu", record_of("04-pretend-gpu", OTHERS["04-pretend-gpu"]))
    unseen = [
        OTHERS["04-pretend-gpu"][0],
        {"case": "dilated", "on": "SlowDilated2d", "off": "SlowDilated2d", "cudnn_built": 1},
    ]
    assert "looks for a real GPU" in check_shown("04-pretend-gpu", record_of("04-pretend-gpu", unseen))
    seen = Record("04-pretend-gpu", 1, LESSON, {"device": "cuda"}, unseen)
    assert "real GPU" not in check_shown("04-pretend-gpu", seen)
    busy = record_of("04-cpu-enabled", races(Conv2d="undecided", LSTM="same"))
    assert "Every interval holds 1" in check_shown("04-cpu-enabled", busy)
    odd = record_of("04-cpu-enabled", races(Conv2d="slower", LSTM="faster"))
    assert "too busy" in check_shown("04-cpu-enabled", odd)


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_record_settles_nothing_and_still_speaks(name):
    experiment, record = base.get(name), record_of(name, [])
    assert all(option is None for option in experiment.settles(record).values())
    assert experiment.finding(record)["en"] and experiment.finding(record)["zh"]


@pytest.mark.parametrize(
    "name", ["04-gates", "04-dispatch", "04-pretend-gpu", "04-cpu-enabled", "04-bits", "04-onednn-ops"]
)
def test_live_experiments_run_and_leave_no_trace(name):
    if base.get(name).needs == "mkldnn" and not torch.backends.mkldnn.is_available():
        pytest.skip("this build of PyTorch has no oneDNN")
    before, threads = flags.read(), torch.get_num_threads()
    check_shown(name, base.run(name, 2))
    assert (flags.read(), torch.get_num_threads()) == (before, threads)


def test_the_price_list_keeps_precision_apart_from_the_library():
    """cuDNN in TF32 against products in float32 would compare two precisions; that race stands in a sentence of its own."""
    rows = gpu_races(Conv2d="same", Linear="same", MaxPool2d="same")
    sentence = check_shown("04-ops-cuda", record_of("04-ops-cuda", rows))
    assert "within 5 % of 1: Conv2d, Linear" in sentence and "TF32 as it comes" in sentence
    assert "TF32" not in check_shown("04-ops-cuda", record_of("04-ops-cuda", rows[:-1]))
