"""What people type and ask finds what answers it, or they hear that it is not here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import course
from course.questions import answers, knowledge, messages
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


# --- what answers a question is ranked ---


def test_every_card_answers_what_it_says_that_people_type():
    """As the first, or the second, where two cards say much the same."""
    cards = knowledge.read().values()
    asked = [(one, phrase) for one in cards for text in one.asked.values() for phrase in re.split("[;；]", text)]
    late = [(one.id, phrase) for one, phrase in asked if one not in answers.near(phrase, (knowledge.Knowledge,), 2)]
    assert len(asked) > 400 and late == []


@pytest.mark.parametrize(
    "question, card, row",
    [
        ("is it worth setting torch.backends.cudnn.benchmark=True for images of many sizes", "cudnn.benchmark", "cudnn.benchmark"),
        ("torch.backends.cudnn.benchmark=True 到底要不要加", "cudnn.benchmark", "cudnn.benchmark"),
        ("why does torch.use_deterministic_algorithms(True) slow down my training", "deterministic_algorithms", "deterministic_algorithms"),
    ],
)  # fmt: skip
def test_prose_about_a_switch_shows_the_card_and_names_the_row(question, card, row, capsys):
    course.what(question)
    first, _, rest = capsys.readouterr().out.partition("\n")[2].partition("\n")
    assert first.startswith("🎴") and answers.near(question, (knowledge.Knowledge,), 1)[0].id == card
    assert row in rest.rpartition("what(")[2]


@pytest.mark.parametrize("verb", [course.what, course.keep])
@pytest.mark.parametrize(
    "said, other",
    [
        ("put_ does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True)'. You can turn off "
         "determinism just for this operation", "no-deterministic-warning"),
        ("put_ does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True, warn_only=True)'. "
         "You can file an issue", "no-deterministic"),
    ],
)  # fmt: skip
def test_an_error_and_its_warning_are_told_apart(verb, said, other, capsys):
    verb(said)
    told = capsys.readouterr().out
    assert ("warn_only=True)'\n" in told) == ("warn_only" in said)
    assert [one.id for one in messages.find(said, messages.read().values())] != [other]


def test_the_title_of_a_message_is_the_wording_that_was_pasted(capsys):
    course.what("UserWarning: cuDNN attention has been runtime disabled.")
    assert capsys.readouterr().out.startswith("🚑 cuDNN attention has been runtime disabled")


@pytest.mark.parametrize(
    "name, told",
    [
        ("torch._dynamo.config.recompile_limit", "recompile_limit"),
        ("cache_size_limit", "cache_size_limit"),
        ("allow_splitk", "reduced_precision_reduction_split_k"),
        ("KMP_DUPLICATE_LIB_OK", "OpenMP"),
        ("KMP_BLOCKTIME", "KMP_BLOCKTIME=0"),
    ],
)
@pytest.mark.parametrize("verb", [course.what, course.keep])
def test_a_name_outside_torch_backends_is_answered(verb, name, told, capsys):
    verb(name)
    assert told in capsys.readouterr().out
