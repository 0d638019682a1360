"""A question in a person's own words."""

from __future__ import annotations

import re

import pytest

import course
from course.questions import answers, knowledge, messages


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
