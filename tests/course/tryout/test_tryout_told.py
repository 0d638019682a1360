"""What `try_switches` concludes from its rows: verdicts, sentences, lines to paste."""

from __future__ import annotations

import pytest

from course.core.i18n import both, pick, speaking
from course.tryout import verdicts
from course.tryout.result import Tried
from course.tryout.settings import all_settings

SETTINGS = {one.id: one for one in all_settings()}


def row(name, ratio, error=1e-7, **more):
    return {
        "setting": name, "name": name, "family": name, "ratio": ratio, "low": ratio * 0.99, "high": ratio * 1.01, "sets": 8,
        "bits": False, "error": error, "error_as_is": 1e-7, "float64": True, "lossy": False, **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "None of these settings can matter here."),
        ([row("a", 1.0)], "Nothing tried helps: leave your step as it is."),
        ([row("a", 1.0), row("b", 1.0, low=0.7, high=1.4)], "No gain is sure: leave your step as it is."),
        ([row("a", 1.0), row("b", 0.9, low=0.8, high=1.02)], "No gain is sure yet."),
        ([row("a", 1.03, low=1.01, high=1.2)], "Nothing tried helps: leave your step as it is."),
        ([row("a", 0.98, low=0.97, high=0.99)], "Nothing tried helps: leave your step as it is."),
        ([row("a", 1.0, low=None, high=None)], "Too little was measured to tell."),
        ([row("a", 0.5)], "50 % less time with a; results about as exact."),
        ([row("a", 0.5, error=None)], "50 % less time with a; its results were not compared."),
        ([row("a", 0.55, 4e-4)], "45 % less time with a, but results have fewer right digits."),
        ([row("a", 0.8), row("b", 0.7, 1e-2)], "20 % less time with a; results about as exact."),
        ([row("a", 0.8), row("b", 0.7), row("a+b", 0.55)], "45 % less time with 2 settings; results about as exact."),
        ([row("a", 0.8), row("b", 0.7), row("a+b", 0.72)], "30 % less time with b; results about as exact."),
        ([row("a", 0.004)], "1/250 of the time with a; results about as exact."),
    ],
)  # fmt: skip
def test_the_sentence_says_what_the_rows_carry(rows, said):
    assert verdicts.headline(rows)["en"] == said


def test_verdicts():
    expected = {
        "take": row("a", 0.9),
        "digits": row("a", 0.9, 1e-3),
        "same": row("a", 1.01),
        "slower": row("a", 1.1),
        "none": row("a", 1.04, low=1.005, high=1.2),
        "unsure": row("a", 0.97, low=0.8, high=1.1),
        "untried": {"why": "RuntimeError"},
        "late": {},
    }
    assert {name: verdicts.verdict_of(one) for name, one in expected.items()} == {name: name for name in expected}
    assert verdicts.verdict_of(row("a", 0.9, None, lossy=True)) == "digits"
    told = [row("a", 0.5), row("a", 0.5, low=0.4, high=0.6), row("a", 1.1), row("a", 0.97, low=0.8, high=1.1)]
    assert [verdicts.settled(one) for one in told] == [True, False, True, False], (
        "a gain known to a third is measured on"
    )
    coarse = {"error_as_is": 0.17}
    assert [verdicts.verdict_of(row("a", 0.9, error) | coarse) for error in (0.2, 0.78)] == ["take", "digits"]
    assert verdicts.verdict_of(row("a", 0.37, low=0.03, high=0.52)) == "unsure", "a range that wide promises nothing"
    with speaking("zh"):
        assert len({pick(verdicts.WORDS[name]) for name in expected}) == len(expected)


def test_blocks_to_paste_stand_around_one_step():
    """Two blocks one after the other would run the step twice, each time under one of them."""
    measured = row("a", 0.5, error=1e-7)
    ids = ["attention-math", "oneDNN-off", "inference_mode"]
    rows = {one: measured for one in ids} | {"+".join(sorted(ids)): row("c", 0.2)}
    found = Tried([SETTINGS[one] for one in ids], both("here", "本机"), rows)
    code = [line.split("  #")[0] for line in found.lines() if not line.startswith("#")]
    assert code == [
        "import torch",
        "from torch.nn.attention import SDPBackend, sdpa_kernel",
        "torch.backends.mkldnn.enabled = False",
        "with sdpa_kernel(SDPBackend.MATH):",
        "    with torch.inference_mode():",
        "        ...",
    ]
