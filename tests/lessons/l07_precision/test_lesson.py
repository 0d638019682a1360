"""Lesson 07: exercises, tasks and keys give the verdicts they should; the rounding is what torch does."""

from __future__ import annotations

import itertools

import pytest
import torch

from course import flags
from course.exercise import all_exercises, judge
from course.figures.bits import show_bits
from course.lessons.l07_precision.exercises import TREE_CASES
from course.quiz.bank import Bank
from course.rounding import FORMATS, cut_bits, keep_bits, pattern, product, relative_error, rounded
from grader.project import Project, tasks

LESSON = "07_precision"
BANK = Bank()
PRACTICE = BANK.items(LESSON)


# --- rounding ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bits", "dtype", "scale"), [(7, torch.bfloat16, 20.0), (10, torch.float16, 1.0)])
def test_keeping_bits_is_what_the_dtype_of_as_many_bits_does(bits, dtype, scale):
    torch.manual_seed(bits)
    x = torch.randn(20000) * torch.exp2(torch.randn(20000) * scale)
    x = x[(x.abs() < 6e4) & (x.abs() > 1e-4)] if dtype == torch.float16 else x
    assert torch.equal(keep_bits(x, bits), x.to(dtype).float())


def test_ties_go_to_even_and_odd_values_stay():
    step = 2.0**-10
    ties = torch.tensor([1 + step / 2, 1 + 3 * step / 2, -1 - step / 2])
    assert keep_bits(ties, 10).tolist() == [1.0, 1 + 2 * step, -1.0]
    strange = keep_bits(torch.tensor([float("inf"), -float("inf"), 0.0, -0.0]), 10)
    assert strange.tolist() == [float("inf"), -float("inf"), 0.0, 0.0] and strange[3].signbit()
    assert keep_bits(torch.tensor(float("nan")), 3).isnan()
    x = torch.randn(100)
    assert torch.equal(keep_bits(x, 23), x) and keep_bits(x, 23) is not x


def test_cutting_goes_towards_zero_and_drops_the_rest():
    x = torch.tensor([1.9999, -1.9999, 1000.7, 3.0, float("inf"), -0.0])
    assert cut_bits(x, 10).tolist() == [2 - 2.0**-10, -2 + 2.0**-10, 1000.5, 3.0, float("inf"), 0.0]
    y = torch.randn(1000)
    assert (cut_bits(y, 7).abs() <= y.abs()).all() and torch.equal(cut_bits(y, 23), y)
    assert cut_bits(torch.tensor(float("nan")), 3).isnan()


@pytest.mark.parametrize("bits", [0, 24])
def test_an_impossible_number_of_bits_is_named(bits):
    with pytest.raises(ValueError, match="1 to 23"):
        keep_bits(torch.ones(1), bits)
    with pytest.raises(ValueError, match="1 to 23"):
        cut_bits(torch.ones(1), bits)
    with pytest.raises(ValueError, match="there is no format"):
        rounded(torch.ones(1), "fp8")


@pytest.mark.parametrize("number", [0.1, -2.5, 1000.2, 1e-5, 3.0])
def test_the_bits_shown_give_the_value_kept(number):
    shown = show_bits(number)
    for name, shape in FORMATS.items():
        sign, exponent, mantissa = pattern(number, name)
        assert (len(exponent), len(mantissa)) == (shape.exponent, shape.mantissa)
        bias = 2 ** (shape.exponent - 1) - 1
        if int(exponent, 2):
            value = (1 + int(mantissa, 2) / 2**shape.mantissa) * 2.0 ** (int(exponent, 2) - bias)
            assert (-value if sign == "1" else value) == shown.values[name]
    assert "TF32" in str(shown) and "mantissa" in shown._repr_html_()
    assert show_bits(0).error("tf32") == 0


def test_only_the_inputs_lose_bits():
    torch.manual_seed(0)
    a, b = torch.randn(16, 64), torch.randn(64, 16)
    exact = a.double() @ b.double()
    errors = [relative_error(product(a, b, name), exact) for name in ("float32", "tf32", "bfloat16")]
    assert errors[0] < 1e-5 < 1e-4 < errors[1] < 1e-3 < errors[2] < 1e-2
    cut_a, cut_b = keep_bits(a, 10), keep_bits(b, 10)
    assert relative_error(product(a, b, "tf32"), cut_a.double() @ cut_b.double()) < 1e-6


# --- exercises --------------------------------------------------------------------------------------------


def state_of(exercise_id: str, source: str) -> str:
    exercise = all_exercises()[exercise_id]
    space = {"torch": torch}
    exec(source, space)
    return judge(exercise, space[exercise.name]).state


ROUND = "import math\ndef round_to(x, bits):\n    f, e = math.frexp(x)\n    "
FORCE = "def in_force(stored, leaf):\n    own, branch, root = stored[leaf], stored[leaf.split('.')[0]], stored['root']\n    "
WITH = "leaf = torch.backends.cuda.matmul\ndef with_tf32(run):\n    "
NONE = "return next((v for v in ({}) if v != 'none'), 'none')"


@pytest.mark.parametrize("exercise_id", ["07-round-to", "07-in-force", "07-with-tf32", "07-make-it-lose"])
def test_solution_is_correct(exercise_id):
    assert state_of(exercise_id, all_exercises()[exercise_id].solution) == "correct"


@pytest.mark.parametrize(
    ("exercise_id", "source", "state"),
    [
        ("07-round-to", ROUND + "return math.ldexp(round(f * 2 ** bits), e - bits)", "incorrect"),
        ("07-round-to", ROUND + "return math.ldexp(round(f * 2 ** (bits + 2)), e - bits - 2)", "incorrect"),
        ("07-round-to", ROUND + "return math.ldexp(int(f * 2 ** (bits + 1)), e - bits - 1)", "incorrect"),
        ("07-round-to", ROUND + "return round(x, bits)", "incorrect"),
        ("07-round-to", ROUND + "return str(x)", "incorrect"),
        ("07-round-to", ROUND + "return math.ldexp(round(f * 2 ** ...), e - ...)", "not attempted"),
        ("07-round-to", ROUND + "return math.ldexp(round(f * 2 ** (bits + 1)), e - bits - 1) if x else 1.0", "partly"),
        (
            "07-round-to",
            "def round_to(x, bits):\n    if x == 0: return x\n    import math\n"
            "    step = 2.0 ** (math.floor(math.log2(abs(x))) - bits)\n    return round(x / step) * step",
            "correct",
        ),
        ("07-in-force", FORCE + "return own", "incorrect"),
        ("07-in-force", FORCE + "return root", "incorrect"),
        ("07-in-force", FORCE + NONE.format("root, branch, own"), "incorrect"),
        ("07-in-force", FORCE + NONE.format("own, root"), "incorrect"),
        ("07-in-force", FORCE + NONE.format("own, root, branch"), "incorrect"),
        ("07-in-force", FORCE + NONE.format("own, branch, root"), "correct"),
        ("07-in-force", FORCE + "raise NotImplementedError", "not attempted"),
        ("07-with-tf32", WITH + "return run()", "incorrect"),
        ("07-with-tf32", WITH + "leaf.fp32_precision = 'tf32'\n    return run()", "partly"),
        (
            "07-with-tf32",
            WITH + "leaf.fp32_precision = 'tf32'\n    r = run()\n    leaf.fp32_precision = 'none'\n    return r",
            "partly",
        ),
        ("07-with-tf32", WITH + "with torch.backends.flags(fp32_precision='tf32'):\n        return run()", "partly"),
        (
            "07-with-tf32",
            WITH + "torch.set_float32_matmul_precision('high')\n    try: return run()\n"
            "    finally: torch.set_float32_matmul_precision('highest')",
            "partly",
        ),
        ("07-with-tf32", WITH + "leaf.fp32_precision = 'tf32'\n    run()", "incorrect"),
        (
            "07-with-tf32",
            "from course import flags\ndef with_tf32(run):\n"
            "    with flags.using({'cuda.matmul.fp32_precision': 'tf32'}):\n        return run()",
            "correct",
        ),
        (
            "07-make-it-lose",
            "cases = {'ruined': (torch.tensor([[3., 4.]]), torch.ones(2, 1)),"
            " 'harmless': (torch.eye(3), torch.eye(3))}",
            "incorrect",
        ),
        (
            "07-make-it-lose",
            "cases = {'ruined': (torch.tensor([[1e7 + 1, -1e7]]), torch.tensor([[1.1], [1.1]])),"
            " 'harmless': (torch.eye(3), torch.eye(3))}",
            "inconclusive",
        ),
        (
            "07-make-it-lose",
            "p = (torch.tensor([[1000.3, -1000.1]]), torch.ones(2, 1))\ncases = {'ruined': p, 'harmless': p}",
            "partly",
        ),
        ("07-make-it-lose", "cases = {'ruined': (torch.ones(2, 3), torch.ones(2, 3)), 'harmless': None}", "incorrect"),
        ("07-make-it-lose", "cases = {'ruined': (torch.zeros(1, 2), torch.ones(2, 1)), 'harmless': None}", "incorrect"),
        ("07-make-it-lose", "cases = 0.5", "incorrect"),
        ("07-make-it-lose", "cases = {'ruined': ..., 'harmless': ...}", "not attempted"),
    ],
)
def test_typical_answers_get_what_they_deserve(exercise_id, source, state):
    before = flags.read()
    assert state_of(exercise_id, source) == state
    assert flags.read() == before


def test_the_reason_given_fits_the_mistake():
    exercises = all_exercises()
    own = judge(exercises["07-in-force"], lambda stored, leaf: stored[leaf])
    assert "ask the next node" in own.messages[0]["en"]
    root = judge(
        exercises["07-in-force"],
        lambda stored, leaf: next(
            (stored[n] for n in ("root", leaf.split(".")[0], leaf) if stored[n] != "none"), "none"
        ),
    )
    assert "root speaks last" in root.messages[0]["en"]
    half = judge(exercises["07-make-it-lose"], {"ruined": (torch.ones(1, 1), torch.ones(1, 1)), "harmless": None})
    assert half.state == "not attempted" and '"harmless" is still empty' in half.messages[0]["en"]


NODES = {
    "root": lambda v: setattr(torch.backends, "fp32_precision", v),
    "cuda": lambda v: setattr(torch.backends.cudnn, "fp32_precision", v),
    "mkldnn": lambda v: torch.backends.mkldnn.set_flags(_fp32_precision=v),  # the attribute writes the root
    "cuda.matmul": lambda v: setattr(torch.backends.cuda.matmul, "fp32_precision", v),
    "mkldnn.conv": lambda v: setattr(torch.backends.mkldnn.conv, "fp32_precision", v),
    "mkldnn.rnn": lambda v: setattr(torch.backends.mkldnn.rnn, "fp32_precision", v),
}


@pytest.mark.parametrize(("stored", "leaf", "expected"), TREE_CASES)
def test_the_tree_of_the_exercise_is_the_tree_of_torch(stored, leaf, expected):
    reads = {
        "cuda.matmul": torch.backends.cuda.matmul,
        "mkldnn.conv": torch.backends.mkldnn.conv,
        "mkldnn.rnn": torch.backends.mkldnn.rnn,
    }
    with flags.preserved():
        for node, value in stored.items():
            NODES[node](value)
        assert reads[leaf].fp32_precision == expected


# --- checkpoint tasks -------------------------------------------------------------------------------------


def test_the_gap_is_the_one_torch_knows():
    spacing = tasks(Project(), LESSON)["07-t-spacing"].reference
    for exponent, number in itertools.product((-3, 0, 9), (1.0, 1.3, 1.99)):
        x = torch.tensor(number * 2.0**exponent)
        gap = torch.nextafter(x, torch.tensor(float("inf"))) - x
        assert gap.item() == spacing(x.item(), 23)


# --- questions --------------------------------------------------------------------------------------------
