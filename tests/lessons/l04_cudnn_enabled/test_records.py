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
from tests.lessons.l04_cudnn_enabled.rows import BETS, OTHERS, gpu_races, races

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
