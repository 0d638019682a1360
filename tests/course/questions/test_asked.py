"""What people type and ask finds what answers it, or they hear that it is not here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from course.questions.bank import read_yaml
from course.verbs.keeping import what

SHORT = {
    "mps not available": "Is there an Apple GPU?",
    "cudnn not available": "torch.backends.cudnn.is_available",
    "channels_last slower": "channels_last",
    "deterministic mode slow": "use_deterministic_algorithms",
    "replace allow_tf32 with fp32_precision": "fp32_precision",
    "allow_tf32 no speedup": "cuda.matmul.allow_tf32",
    "OMP_NUM_THREADS ignored": "Threads in a container",
    "benchmark ViT 变慢": "cudnn.benchmark",
    "batch size changes result": "The order of a sum",
    "first call slow": "Five steps of a fair measurement",
    "trained weights slower than random": "torch.set_flush_denormal",
    "warmup": "warm-up",
}
"""A name and a symptom in a few words -> the title of what is shown first."""


@pytest.mark.parametrize(("words", "title"), SHORT.items())
def test_a_name_and_a_symptom_find_what_fits_both(words, title, capsys):
    what(words)
    shown = capsys.readouterr().out.replace("Nearest to these words:\n", "").splitlines()[0]
    assert shown.partition(" ")[2].strip() == title


def test_what_people_wrote_finds_what_answers_it_or_they_hear_that_it_is_not_here(capsys):
    """No message is answered by the entry of another; at most three questions find nothing that fits."""
    missed = []
    for one in (asked := read_yaml(Path(__file__).with_name("asked.yaml"))):
        what(one["asked"])
        head = re.sub("(?m)^Nearest to these words:\n", "", capsys.readouterr().out)
        named = head.splitlines()[0] + "".join(re.findall("(?m)^(?:See also|- ).*", head))
        if one["opens"]:
            missed += [] if any(opened in named for opened in one["opens"]) else [one["thread"]]
        else:
            assert "not in this course" in named and not re.match("[🎴🚑📖🎛]", head), one
    assert len(asked) >= 40 and len(missed) <= 3, missed


@pytest.mark.parametrize(
    ("typed", "name"),
    [("float32_matmul_precison", "torch.float32_matmul_precision"), ("cudnn.benchmrak", "cudnn.benchmark")],
)
def test_a_switch_that_is_misspelt_is_named(typed, name, capsys):
    what(typed)
    assert f'Perhaps what("{name}")?' in capsys.readouterr().out


def test_a_question_shows_the_nearest_card_and_nonsense_none(capsys):
    what("how to set the random seed")
    assert "Nearest to these words" in (said := capsys.readouterr().out) and "🎴 Seeds" in said
    what("qwxz vbnm")
    assert "🎴" not in capsys.readouterr().out
