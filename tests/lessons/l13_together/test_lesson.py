"""Lesson 13: what it measures with, what its probes give here, and what no outcome may decide. No speed is asserted."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from course import flags
from course.core.machine import can
from course.exercises.exercise import all_exercises
from course.exercises.slips import arguments
from course.experiment.new_process import answer_of
from course.lessons.l13_together.attention import flash_math, kernel_of, peak_mib, refusal
from course.lessons.l13_together.experiments import _cases
from tests.lessons.live import as_rows, measured

pytestmark = pytest.mark.slow

q = torch.randn(1, 2, 16, 8)
FUSED = all_exercises()["13-stays-fused"].cases
VERSION = tuple(map(int, torch.__version__.split(".")[:2]))


def attend(**options):
    return F.scaled_dot_product_attention(q, q, q, **options)


# --- the tools --------------------------------------------------------------------------------------------


def test_the_kernel_is_read_from_what_ran():
    assert kernel_of(attend) == "flash"
    assert kernel_of(lambda: attend(dropout_p=0.5)) == "math"
    assert kernel_of(lambda: q @ q.mT) == ""
    with flags.using({"cuda.enable_flash_sdp": False}):
        assert kernel_of(attend) == "math"


def test_memory_is_what_was_held_at_once():
    mib = 2**18  # numbers of float32
    assert peak_mib(lambda: torch.empty(3 * mib)) == pytest.approx(3, abs=0.01)
    assert peak_mib(lambda: [torch.empty(mib) for _ in range(4)] and None) == pytest.approx(4, abs=0.01)
    assert peak_mib(lambda: [torch.empty(mib).sum() for _ in range(4)] and None) == pytest.approx(1, abs=0.01)


def test_a_refusal_comes_in_torchs_words_and_leaves_the_switches_alone():
    before = flags.read()
    assert refusal(attend) == ""
    assert "dropout" in refusal(lambda: attend(dropout_p=0.5))
    with pytest.raises(RuntimeError, match="dtype"):
        refusal(lambda: F.scaled_dot_product_attention(q, q.double(), q))
    assert flags.read() == before


def test_a_race_runs_both_kernels_and_puts_everything_back():
    before = flags.read()
    race = flash_math(attend, max_time=0.05)
    assert [kernel_of(race.functions[name]) for name in ("flash", "math")] == ["flash", "math"]
    assert flags.read() == before
    assert not any("enable_flash_sdp" in note for note in race.notes), "the course moved the switch, not the learner"


# --- the probes, as they run here --------------------------------------------------------------------------


def test_attention_on_this_cpu_runs_as_the_lesson_says():
    found = {row["case"]: row for row in measured("13-who-attends", 30).rows}
    assert list(found) == list(_cases())
    refused = {"dropout", "learnt mask", "narrow values", "transposed"} | (
        {"three dimensions"} if VERSION < (2, 14) else set()
    )
    assert {case for case, row in found.items() if row["kernel"] != "flash"} == refused
    assert {case for case, row in found.items() if row["refusal"]} == refused


@pytest.fixture(scope="module")
def compiled():
    """The rows of both probes that compile, from one new process."""
    return answer_of(
        "from course.lessons.l13_together.probes import baked, recompiles\nanswer([recompiles(), baked()])"
    )[0]


def test_what_is_checked_before_compiled_code_runs(compiled):
    found = {row["setting"]: row for row in compiled[0]}
    assert {name for name, row in found.items() if row["again"]} == {
        "set_num_threads",
        "use_deterministic_algorithms",
        "cuda.matmul.allow_tf32",
        "set_default_dtype",
        "no_grad",
        "autocast",
    }
    assert all(row["first"] == 1 for row in found.values())
    # Put back, TF32 of products reads another word than before it was moved (2.15): the one that is compiled once more.
    assert {name for name, row in found.items() if row["back"]} <= {"cuda.matmul.allow_tf32"}


def test_an_attention_kernel_is_chosen_while_compiling(compiled):
    found = {row["backend"]: (row["before"], row["after"], row["reset"]) for row in compiled[1]}
    assert found == {
        "none": ("flash", "math", "math"),
        "eager": ("flash", "math", "math"),
        "aot_eager": ("flash", "flash", "written out"),
        "inside": ("written out", "written out", "written out"),
    }


# --- the tasks --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("call", "taught"), FUSED.made(FUSED.solution).items())
def test_the_taught_reasons_are_torchs(call, taught):
    """Asked to use flash alone, torch runs the call or refuses it, as the solution says."""
    tensors, given = arguments(call)
    options = {"attn_mask": given.get("mask"), "dropout_p": given.get("dropout", 0.0)}
    assert (refusal(lambda: F.scaled_dot_product_attention(*tensors, **options)) == "") == taught


# --- frozen code, and an order of one's own ------------------------------------------------------------------

FROZEN = """
import torch
import torch._inductor.config as inductor
from course.trace.onednn_log import log_of

x, net, lines = torch.randn(4, 8, 32, 32), torch.nn.Conv2d(8, 16, 3).eval(), {}
with torch.no_grad():
    for frozen in (False, True):
        torch.compiler.reset()
        inductor.freezing = frozen
        compiled = torch.compile(net)
        compiled(x)
        for enabled in (True, False):
            torch.backends.mkldnn.enabled = enabled
            lines[f"{frozen} {enabled}"] = sum(line.primitive == "convolution" for line in log_of(lambda: compiled(x)))
        torch.backends.mkldnn.enabled = True
answer(lines)
"""


@pytest.mark.long  # two compilations in C++
@pytest.mark.skipif(not can("compiler"), reason="Inductor wants a C++ compiler")
def test_a_compiled_convolution_reads_onednns_switch_at_each_call_unless_it_is_frozen():
    lines = answer_of(FROZEN, timeout_s=600)[0]
    assert lines == {"False True": 1, "False False": 0, "True True": 1, "True False": 1}


def test_a_cpu_notes_down_an_order_of_kernels_and_keeps_its_own():
    wanted = [SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]
    with sdpa_kernel(wanted, set_priority=True):
        assert torch._C._get_sdp_priority_order()[:2] == [int(one) for one in wanted]
        assert kernel_of(attend) == "flash"
    assert hasattr(torch.nn.attention, "activate_flash_attention_impl") == (VERSION >= (2, 10))


# --- invented rows that settle each bet on each of its options (tests/course/experiment); nothing was measured ---


def attends(plain="flash", refused="dropout"):
    """Every case runs flash, except one, and the plain one if told so."""
    kernel = {"plain": plain, refused: "math"}
    reason = {refused: "A made-up reason."}
    return as_rows(
        "case kernel refusal", *((case, kernel.get(case, "flash"), reason.get(case, "")) for case in _cases())
    )


def memory(share):
    """Flash holds ``share`` of what math holds."""
    columns = "tokens flash math flash_mib math_mib flash_ms math_ms ratio low high verdict difference"
    race = (1.0, 2.0, 0.5, 0.48, 0.52, "faster", 1e-7)
    return as_rows(columns, *((n, "flash", "math", share * n / 100, n / 100, *race) for n in (64, 1024)))


def compiled_rows(mkldnn, threads):
    again = {"nothing": 0, "mkldnn.enabled": mkldnn, "set_num_threads": threads, "no_grad": 1}
    return [{"setting": name, "first": 1, "again": count, "back": 0} for name, count in again.items()]


def baked(after, again):
    return as_rows(
        "backend before after reset again",
        ("none", "flash", "math", "math", 0),
        ("aot_eager", "flash", after, "math", again),
        ("inside", "written out", "written out", "written out", 0),
    )


def libraries(inside):
    return as_rows(
        "operation outside inside lines_outside lines_inside",
        ("Linear", "float32", "bfloat16", 0, inside),
        ("Conv2d", "float32", "bfloat16", 3, 3),
        ("relu", "float32", "float32", 0, 0),
    )


ROWS = {
    "13-bet-cpu": {"a": attends("math"), "b": attends(), "c": attends("efficient")},
    "13-bet-inputs": {
        option: attends(refused=case)
        for option, case in (("a", "mask"), ("b", "dropout"), ("c", "bfloat16"), ("d", "gradients"))
    },
    "13-bet-memory": {"a": memory(0.9), "b": memory(0.5), "c": memory(0.05)},
    "13-bet-recompile": {
        "a": compiled_rows(1, 0),
        "b": compiled_rows(0, 1),
        "c": compiled_rows(1, 1),
        "d": compiled_rows(0, 0),
    },
    "13-bet-baked": {"a": baked("math", 1), "b": baked("math", 0), "c": baked("flash", 0)},
    "13-bet-library": {"a": libraries(0), "b": libraries(2)},
}
FURTHER = {
    "13-bet-inputs": [
        ([{**row, "kernel": "math"} for row in attends()], None),
        ([{**row, "kernel": "flash"} for row in attends()], None),
        (attends(refused="float64"), None),
    ],
    "13-bet-memory": [([{**row, "math": "flash"} for row in memory(0.05)], None), (memory(1.5), "a")],
    "13-bet-recompile": [([{**row, "again": 1} for row in compiled_rows(0, 1)], None)],
    "13-bet-baked": [([{**row, "before": "math"} for row in baked("math", 0)], None)],
    "13-bet-library": [
        ([{**row, "lines_outside": 2} for row in libraries(2)], None),
        ([{**row, "lines_outside": 0} for row in libraries(0)], None),
        ([{**row, "lines_outside": 2} for row in libraries(0)], None),
        ([{**row, "lines_outside": 0, "lines_inside": 0} for row in libraries(0)], None),
        ([{**row, "inside": "float32"} for row in libraries(2)], None),
        ([{**row, "inside": "RuntimeError", "lines_inside": 0} for row in libraries(2)], None),
    ],
}
