"""Messages, said by torch itself, each cured; what people type and ask finds what answers it, or they hear that it is not here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

import course
from course import flags
from course.core.i18n import LANGUAGES, pick, speaking
from course.experiment import base
from course.experiment.new_process import answer_of
from course.questions import answers, knowledge, messages
from course.questions.bank import read_yaml
from course.verbs.keeping import message_html, what

KNOWN = messages.read()
PROVOKED = [one for one in KNOWN.values() if one.provoke]
BUILD = "cuda" if torch.version.cuda else "cpu"
CURED = [one for one in KNOWN.values() if one.cure_code]


def test_messages_are_sound_and_lead_to_what_is_there():
    assert len(KNOWN) >= 60 and len(PROVOKED) >= 20
    parts = [part for one in KNOWN.values() for said in one.says for part in said.split(messages.VARIES)]
    assert [part for part in parts if len(messages.letters(part)) < 8] == [], "too short to be known by"
    assert {one.group for one in KNOWN.values()} <= set(messages.GROUPS)
    assert {name for one in KNOWN.values() for name in one.switches} <= set(flags.TABLE)
    assert {one.experiment for one in KNOWN.values() if one.experiment} <= set(base.load_all())
    for code in LANGUAGES:
        with speaking(code):
            assert all(pick(one.versions) in message_html(one) for one in KNOWN.values())


def said_by(code: str) -> str:
    """All that torch says while the code runs in a process of its own: its error, its warnings, what it logs."""
    wrapped = (
        "import os, warnings\nos.dup2(1, 2)\ntorch = __import__('torch')\nnn = torch.nn\nwarnings.simplefilter('always')\n"
        f"try:\n    exec({code!r})\nexcept Exception as error:\n    print('Error:', error)\nanswer(None)\n"
    )
    return answer_of(wrapped, warm=True)[1]


@pytest.mark.parametrize("one", PROVOKED, ids=lambda one: one.id)
def test_torch_says_the_message_and_it_is_found(one):
    if one.build not in ("", BUILD):
        pytest.skip(f"only the {one.build} build says it")
    said = said_by(one.provoke)
    assert one in messages.find(said, KNOWN.values()), said


@pytest.mark.parametrize("one", CURED, ids=lambda one: one.id)
def test_the_cure_runs_and_the_message_is_gone(one):
    said = said_by(one.cure_code + one.cure_check)
    assert "Error:" not in said and one not in messages.find(said, KNOWN.values()), said


# --- however it was pasted ---

FILLED = re.compile(messages.VARIES)


def shapes(said: str) -> list[str]:
    """A message as people paste it."""
    filled = FILLED.sub("aten::thing 3.40", said)
    return [
        filled,
        f'Traceback (most recent call last):\n  File "/home/me/train.py", line 12, in <module>\n    y = model(x)\n'
        f"RuntimeError: {filled} (Triggered internally at ../aten/src/ATen/native/Thing.cpp:919.)\n",
        "\n".join(filled[at : at + 23] for at in range(0, len(filled), 23)),
        f"\x1b[31m[rank0]: {filled.upper()}\x1b[0m",
        f"> {filled.replace(' ', '  ')}",
    ]


@pytest.mark.parametrize("one", KNOWN.values(), ids=list(KNOWN))
def test_a_message_is_found_in_every_shape_and_by_a_part(one):
    for said in one.says:
        for pasted in shapes(said):
            assert one in messages.find(pasted, KNOWN.values()), pasted
    longest = max(one.says, key=len)
    part = longest[: max(20, len(longest) * 2 // 3)]
    assert one in messages.find(part, KNOWN.values()) + messages.part_of(part, KNOWN.values()), part


def test_what_is_no_message_finds_none():
    for words in ("", "loss is nan after ten epochs", "hello", "显存", "KeyError: 'label'", "install cudnn version"):
        assert messages.find(words, KNOWN.values()) == [] == messages.part_of(words, KNOWN.values()), words


def test_a_message_inside_another_is_left_out():
    said = "UserWarning: cuDNN version incompatibility: PyTorch was compiled against 90100 but found 8902"
    assert [one.id for one in messages.find(said, KNOWN.values())] == ["cudnn-version"]


@pytest.mark.parametrize("code", LANGUAGES)
def test_what_shows_meaning_check_and_cure(code, capsys):
    with speaking(code):
        course.what("RuntimeError: GET was unable to find an engine\n to execute this computation")
        said = capsys.readouterr().out
        for name, text in KNOWN["cudnn-no-engine"].rows():
            assert name in said and re.sub(r"[`*]", "", text) in said


def test_a_status_that_is_not_known_is_not_taken_for_another():
    known = messages.read().values()
    assert messages.part_of("RuntimeError: cuDNN error: CUDNN_STATUS_SUCCESS", known) == []
    (found, *_) = messages.part_of("RuntimeError: cuDNN error: CUDNN_STATUS_BAD_PARM", known)  # misspelt
    assert "CUDNN_STATUS_BAD_PARAM" in found.says


@pytest.mark.parametrize(
    ("pasted", "family"),
    [
        ("CUBLAS_STATUS_MAPPING_ERROR", "CUBLAS_STATUS_NOT_INITIALIZED"),
        ("RuntimeError: CUDA error: CUBLAS_STATUS_LICENSE_ERROR when calling cublasCreate(handle)", "CUBLAS_STATUS_"),
        ("NCCL_ERROR_INVALID_USAGE", ""),
        ("could not execute a primitive", "could not create a primitive"),
    ],
)
def test_a_message_that_the_course_does_not_have_is_answered_by_no_other_entry(pasted, family, capsys):
    course.what(pasted)
    said = capsys.readouterr().out
    assert "is not in this course" in said and family in said and "What it means" not in said


def test_what_people_wrote_finds_what_answers_it_or_they_hear_that_it_is_not_here(capsys):
    """No message is answered by the entry of another, no question by what is merely near; at most three find nothing that fits."""
    missed = []
    for one in (asked := read_yaml(Path(__file__).with_name("asked.yaml"))):
        what(one["asked"])
        head = re.sub("(?m)^Nearest to these words:\n", "", capsys.readouterr().out)
        named = head.splitlines()[0] + "".join(re.findall("(?m)^(?:See also|- ).*", head))
        if re.match("[🎴🚑📖🎛]", head):  # what is shown may not be another's
            assert any(opened in head.splitlines()[0] for opened in one["opens"]), one
        if one["thread"] == "none":  # a name and a symptom: what fits both comes first
            assert one["opens"][0] in re.findall("(?m)^(?:🎴|📖|🎛|🚑|-) ?.*", head)[0], one
        if one["opens"]:
            missed += [] if any(opened in named for opened in one["opens"]) else [one["thread"]]
        else:
            assert "not in this course" in named, one
    assert len(asked) >= 52 and len(missed) <= 3, missed


def test_a_question_shows_the_nearest_card_and_nonsense_none(capsys):
    what("how to set the seed")
    assert "Nearest to these words" in (said := capsys.readouterr().out) and "🎴 Seeds" in said
    what("how to set the random seed of every process")  # near is not the same: it is named, not shown
    assert "🎴" not in (said := capsys.readouterr().out) and '- keep("seeds")' in said
    what("qwxz vbnm")
    assert "🎴" not in capsys.readouterr().out


# --- what answers a question is ranked ---


def test_every_card_answers_what_it_says_that_people_type():
    """As the first, or the second, where two cards say much the same."""
    cards = knowledge.read().values()
    asked = [(one, phrase) for one in cards for text in one.asked.values() for phrase in re.split("[;；]", text)]
    late = [(one.id, phrase) for one, phrase in asked if one not in answers.near(phrase, (knowledge.Knowledge,), 2)]
    assert len(asked) > 400 and late == []


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
