"""Lesson 04: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from course.lessons.l04_cudnn_enabled.experiments import WITHOUT_ONEDNN


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


def all_races(verdict, **others):
    """All operations of 04-onednn-ops, those in ``others`` with a verdict of their own."""
    return races(**dict.fromkeys(WITHOUT_ONEDNN, verdict) | others)


def gpu_races(**verdicts):
    """In float32 on both sides; the convolution once more with TF32, which must not settle anything."""
    rows = [{"tf32_allowed": 0, **row} for row in races(**verdicts)]
    return [*rows, {"tf32_allowed": 1, **races(Conv2d="slower")[0]}]


def failed(operation):
    return {"tf32_allowed": 0, "error": "made up", "operation": operation}


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


FURTHER = {
    "04-bet-cpu": [
        (races(Conv2d="same", LSTM="same"), "b"),
        (races(Conv2d="slower", LSTM="same"), "a"),
        (races(Conv2d="faster", LSTM="undecided"), "c"),
        (races(Conv2d="same", LSTM="undecided"), None),
        (races(Conv2d="slower", LSTM="faster"), None),
    ],
    "04-bet-onednn": [
        (all_races("slower"), "a"),
        (races(Conv2d="slower", GRU="same", LSTM="undecided"), "b"),
        (all_races("same", LSTM="faster"), "c"),
        (all_races("slower", LSTM="undecided"), None),
        (all_races("same", Conv2d="undecided"), None),
        (all_races("slower")[:-1], None),  # the one that is missing could be no slower
    ],
    "04-bet-bits": [(inputs(99, 1), "a"), (inputs(1, 99), "b"), (inputs(50, 48), "c"), (inputs(0, 0, differ=0), "d")],
    "04-bet-gpu": [
        (gpu_races(Conv2d="slower", Linear="slower", MaxPool2d="slower"), "a"),
        (gpu_races(Linear="same", MaxPool2d="slower"), "b"),
        (gpu_races(Linear="slower", MaxPool2d="faster"), "c"),
        (gpu_races(Linear="same", MaxPool2d="same"), "d"),
        (gpu_races(Linear="undecided", MaxPool2d="same"), None),
        (gpu_races(Linear="same"), None),
        # one operation that failed takes no other along; the two of the bet must be there
        ([*gpu_races(Linear="same", MaxPool2d="same"), failed("ctc_loss")], "d"),
        ([*gpu_races(Linear="same"), failed("MaxPool2d")], None),
    ],
}


SHOWN = {
    "04-attention-cuda": [
        {"cudnn": setting, "ran": 1, "kernel": "made_up_attention", "error": ""} for setting in (1, 0)
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


ROWS = {bet: {option: rows for rows, option in outcomes if option} for bet, outcomes in FURTHER.items()}
UNTOLD = [{**row, "low": None, "high": None, "rounds": 4, "same_bits": 1} for row in races(Conv2d="undecided")]
BRANCHES = {
    "04-cpu-enabled": [UNTOLD, [{**row, "same_bits": 0} for row in races(Conv2d="same", LSTM="same")]],
    "04-onednn-ops": [],
    "04-attention-cuda": [
        [
            {"cudnn": setting, "ran": ran and setting, "kernel": "made_up" * (ran and setting), "error": "made up"}
            for setting in (1, 0)
        ]
        for ran in (0, 1)
    ],
}
"""Further outcomes that have words of their own: experiment -> rows of each."""
RECORDED = {"04-attention-cuda": ("Attention does not ask `cudnn.enabled`: switched off, it still runs.", {})}
"""What the recordings made on a GPU say, derived by hand from their rows: experiment -> headline, bets."""
