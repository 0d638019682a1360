"""Lesson 07: the rounding is what torch does, the tree of precisions is torch's own."""

from __future__ import annotations

import itertools

import pytest
import torch

from course import flags
from course.exercises.exercise import all_exercises
from course.exercises.slips import arguments
from course.models.rounding import FORMATS, pattern, product, relative_error, round_bits, rounded
from grader.project import Project
from grader.project.task import tasks
from tests.lessons.live import as_rows, measured

LESSON = "07_precision"
TREE = all_exercises()["07-in-force"].cases


@pytest.mark.parametrize(("bits", "dtype", "scale"), [(7, torch.bfloat16, 20.0), (10, torch.float16, 1.0)])
def test_keeping_bits_is_what_the_dtype_of_as_many_bits_does(bits, dtype, scale):
    torch.manual_seed(bits)
    x = torch.randn(20000) * torch.exp2(torch.randn(20000) * scale)
    x = x[(x.abs() < 6e4) & (x.abs() > 1e-4)] if dtype == torch.float16 else x
    assert torch.equal(round_bits(x, bits), x.to(dtype).float())


def test_ties_go_to_even_and_odd_values_stay():
    step = 2.0**-10
    ties = torch.tensor([1 + step / 2, 1 + 3 * step / 2, -1 - step / 2])
    assert round_bits(ties, 10).tolist() == [1.0, 1 + 2 * step, -1.0]
    strange = round_bits(torch.tensor([float("inf"), -float("inf"), 0.0, -0.0]), 10)
    assert strange.tolist() == [float("inf"), -float("inf"), 0.0, 0.0] and strange[3].signbit()
    assert round_bits(torch.tensor(float("nan")), 3).isnan()
    x = torch.randn(100)
    assert torch.equal(round_bits(x, 23), x) and round_bits(x, 23) is not x


@pytest.mark.parametrize("number", [0.1, -2.5, 1000.2, 1e-5, 3.0])
def test_the_bits_give_the_value_kept(number):
    for name, shape in FORMATS.items():
        sign, exponent, mantissa = pattern(number, name)
        assert (len(exponent), len(mantissa)) == (shape.exponent, shape.mantissa)
        bias = 2 ** (shape.exponent - 1) - 1
        if int(exponent, 2):
            value = (1 + int(mantissa, 2) / 2**shape.mantissa) * 2.0 ** (int(exponent, 2) - bias)
            assert (-value if sign == "1" else value) == rounded(torch.tensor(number), name).item()


def test_only_the_inputs_lose_bits():
    torch.manual_seed(0)
    a, b = torch.randn(16, 64), torch.randn(64, 16)
    exact = a.double() @ b.double()
    errors = [relative_error(product(a, b, name), exact) for name in ("float32", "tf32", "bfloat16")]
    assert errors[0] < 1e-5 < 1e-4 < errors[1] < 1e-3 < errors[2] < 1e-2
    cut_a, cut_b = round_bits(a, 10), round_bits(b, 10)
    assert relative_error(product(a, b, "tf32"), cut_a.double() @ cut_b.double()) < 1e-6


NODES = {
    "root": lambda v: setattr(torch.backends, "fp32_precision", v),
    "cuda": lambda v: setattr(torch.backends.cudnn, "fp32_precision", v),
    "mkldnn": lambda v: torch.backends.mkldnn.set_flags(_fp32_precision=v),  # the attribute writes the root
    "cuda.matmul": lambda v: setattr(torch.backends.cuda.matmul, "fp32_precision", v),
    "mkldnn.conv": lambda v: setattr(torch.backends.mkldnn.conv, "fp32_precision", v),
    "mkldnn.rnn": lambda v: setattr(torch.backends.mkldnn.rnn, "fp32_precision", v),
}


@pytest.mark.parametrize(("call", "taught"), TREE.made(TREE.solution).items())
def test_the_tree_of_the_exercise_is_the_tree_of_torch(call, taught):
    (stored, leaf), _ = arguments(call)
    reads = {
        "cuda.matmul": torch.backends.cuda.matmul,
        "mkldnn.conv": torch.backends.mkldnn.conv,
        "mkldnn.rnn": torch.backends.mkldnn.rnn,
    }
    with flags.preserved():
        for node, value in stored.items():
            NODES[node](value)
        assert reads[leaf].fp32_precision == taught


def test_the_gap_is_the_one_torch_knows():
    spacing = tasks(Project(), LESSON)["07-t-spacing"].reference
    for exponent, number in itertools.product((-3, 0, 9), (1.0, 1.3, 1.99)):
        x = torch.tensor(number * 2.0**exponent)
        gap = torch.nextafter(x, torch.tensor(float("inf"))) - x
        assert gap.item() == spacing(x.item(), 23)


ONEDNN = torch.backends.mkldnn.is_available()
SINCE_2_13 = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 13)


@pytest.mark.skipif(not ONEDNN, reason="this build of PyTorch has no oneDNN")
def test_onednn_is_asked_without_a_trace():
    rows = measured("07-onednn", 60).rows
    assert {row["operation"] for row in rows} == {"matmul", "conv", "rnn", "simulated"}
    exact = [row for row in rows if row["permission"] in ("none", "ieee")]
    assert all(row["relative"] < 1e-5 for row in exact)


def test_the_cliff_is_there_and_the_mean_removes_it():
    rows = measured("07-neighbours", 60).rows

    def worst(story, offset):
        return min(row["share"] for row in rows if (row["story"], row["offset"]) == (story, offset))

    assert worst("tf32", 0) > 0.9 > 0.5 > max(r["share"] for r in rows if (r["story"], r["offset"]) == ("tf32", 300))
    assert worst("tf32, mean removed", 300) > 0.9


@pytest.mark.skipif(not SINCE_2_13, reason="an older torch reads otherwise")
def test_one_old_reading_does_not_notice_the_contradiction():
    """What the card 07-read-raises says of the last line of the picture."""
    read = {row["read"]: row["outcome"] for row in measured("07-mixing", 60).rows if row["api"] == "both"}
    assert read["get_float32_matmul_precision()"] == "high" and read["cuda.matmul.allow_tf32"] == "raises"


@pytest.mark.skipif(not SINCE_2_13, reason="before 2.13 the root did not reach cuDNN's leaves")
def test_the_tree_answers_as_the_lesson_says():
    rows = measured("07-tree", 60).rows
    after = {(row["set"], row["node"]): row["after"] for row in rows}
    assert after["nothing", "cudnn.conv"] == after["nothing", "cudnn.rnn"] == "tf32"
    assert after["fp32_precision = ieee", "cudnn.conv"] == "ieee"
    assert after["cudnn = ieee", "cuda.matmul"] == "ieee" and after["cudnn = ieee", "mkldnn.matmul"] == "none"
    assert after["cudnn.conv = ieee, fp32_precision = tf32", "cudnn.conv"] == "ieee"
    assert after["set_float32_matmul_precision(high)", "mkldnn.matmul"] == "tf32"
    assert after["mkldnn = bf16", "fp32_precision"] == "bf16"
    assert all(row["before"] == after["nothing", row["node"]] for row in rows)


# --- invented rows that settle each bet on each of its options (tests/course/experiment); nothing was measured ---


def solved(plain, low, mixed):
    errors = {"all float32": plain, "all TF32": low, "step TF32, residual float32": mixed}
    return as_rows(
        "seed story turn relative", *((0, story, turn, error) for story, error in errors.items() for turn in (1, 2))
    )


def permissions(bf16, units="no"):
    rows = as_rows(
        "operation permission relative same_bits bf16_units",
        *(
            (name, allowed, bf16 if (name, allowed) == ("matmul", "bf16") else 2e-7, 1, units)
            for name in ("matmul", "conv", "rnn")
            for allowed in ("none", "ieee", "tf32", "bf16")
        ),
    )
    simulated = [("simulated", "tf32", 3e-4), ("simulated", "bf16", 2.4e-3)]
    return [*rows, *as_rows("operation permission relative", *simulated)]


def races(*verdicts):
    return as_rows(
        "operation size ratio low high verdict ieee_ms tf32_ms",
        *(("matmul", 256 * 4**i, 0.5, 0.4, 0.6, verdict, 1.0, 0.5) for i, verdict in enumerate(verdicts)),
    )


STORED = ("fp32_precision", "cudnn", "mkldnn", "mkldnn.matmul", "mkldnn.conv", "mkldnn.rnn")


def untouched(conv, rnn, matmul):
    found = dict.fromkeys(STORED, "none") | {"cudnn.conv": conv, "cudnn.rnn": rnn, "cuda.matmul": matmul}
    return as_rows("set node before after", *(("nothing", node, value, value) for node, value in found.items()))


def read(outcome):
    return [{"wrote": "fp32_precision = tf32", "api": "new", "read": "cuda.matmul.allow_tf32", "outcome": outcome}]


def gradients(batch):
    return [{"draw": n, "batch": batch * (1 + 0.01 * n), "tf32": 4e-4, "bfloat16": 3e-3} for n in range(12)]


def crowd(plain, low, cured):
    shares = {"float32": plain, "tf32": low, "tf32, mean removed": cured}
    return [
        {"seed": seed, "offset": offset, "story": story, "share": share if offset else 1.0}
        for seed in range(6)
        for offset in (0, 100, 300)
        for story, share in shares.items()
    ]


ROWS = {
    "07-bet-default": {
        "a": untouched("none", "none", "none"),
        "b": untouched("tf32", "tf32", "none"),
        "c": untouched("none", "none", "tf32"),
        "d": untouched("tf32", "tf32", "tf32"),
    },
    "07-bet-mixing": {"a": read("True"), "b": read("False"), "c": read("raises")},
    "07-bet-onednn": {"a": permissions(2.4e-3, "yes"), "b": permissions(4e-7, "unknown")},
    "07-bet-solve": {"a": solved(1e-7, 3e-4, 2.9e-4), "b": solved(1e-7, 3e-4, 1.2e-7), "c": solved(1e-7, 3e-4, 0.1)},
    "07-bet-noise": {"a": gradients(1e-5), "b": gradients(1e-3), "c": gradients(1.0)},
    "07-bet-speed": {"a": races("faster", "faster"), "b": races("same", "faster"), "c": races("same", "slower")},
}
FURTHER = {
    "07-bet-solve": [(solved(1e-7, 3e-4, 1e-5), None), (solved(1e-7, 5e-7, 1e-7), None)],
    "07-bet-noise": [([{**row, "batch": 4e-3 * (0.2 + 0.3 * row["draw"])} for row in gradients(4e-3)], None)],
    "07-bet-onednn": [(permissions(5e-5, "no"), None)],
    "07-bet-default": [(untouched("tf32", "none", "none"), None)],
    "07-bet-mixing": [(read("Maybe"), None)],
    "07-bet-speed": [
        (races("slower", "faster"), "b"),
        (races("undecided", "faster"), None),
        (races("undecided", "faster", "same"), "b"),  # only this option is left
    ],
}
BRANCHES = {"07-neighbours": [crowd(*shares) for shares in ((1, 0.5, 0.5), (0.99, 0.95, 1), (0.99, 0.5, 0.99))]}
RECORDED = {"07-speed-cuda": ("TF32 is up to 7.1 times as fast, but not faster everywhere.", {"07-bet-speed": "b"})}
"""What the recordings made on a GPU say, derived by hand from their rows: experiment -> headline, bets."""
