"""What is kept: knowledge cards and the words of the course, complete in both languages and true to the code."""

from __future__ import annotations

import ast
import os
import re
from dataclasses import MISSING, fields
from unittest import mock

import pytest

import course
from course import flags
from course.cards.knowledge_view import card_html
from course.core.catalog import BY_ID, FOLDER
from course.core.i18n import LANGUAGES, pick, speaking
from course.core.plain_text import text_of
from course.questions import glossary, knowledge, messages
from course.questions.bank import read_yaml
from course.questions.lint import language_faults
from course.verbs import state
from grader.project.texts import prose

CARDS, TERMS = knowledge.read(), glossary.read()


ENTRIES = [*CARDS.values(), *TERMS.values(), *messages.read().values()]


@pytest.mark.parametrize("one", ENTRIES, ids=lambda one: one.id)
def test_an_entry_says_everything_in_both_languages_and_its_code_is_python(one):
    codes = ("code", "provoke", "cure_code", "cure_check")
    texts = {name: text for name, text in vars(one).items() if text and name not in codes}
    told = {name: text for name, text in texts.items() if isinstance(text, dict)}
    assert all(set(text) == set(LANGUAGES) and all(text.values()) for text in told.values())
    assert [fault for name, text in told.items() for fault in language_faults(name, text)] == []
    needed = [field.name for field in fields(one) if field.default is MISSING]
    assert all(vars(one)[name] for name in needed if name not in ("switches", "code"))
    for code in filter(None, (vars(one).get(name) for name in codes)):
        for language in LANGUAGES:
            ast.parse(pick(code, language))
            assert len(pick(code, language).strip("\n").splitlines()) <= 6 or "code" not in vars(one)


def test_ids_and_names_belong_to_one_entry_and_lessons_exist():
    written = [raw["id"] for path in FOLDER.glob("l*/knowledge.yaml") for raw in read_yaml(path)]
    assert len(set(written)) == len(written)
    assert {card.lesson for card in CARDS.values()} <= set(BY_ID) and len(TERMS) >= 60
    assert {term.lesson for term in TERMS.values() if term.lesson} <= {*BY_ID, "10_tuning_master", "12_profiler"}
    names = [name for term in TERMS.values() for name in set(term.names())]
    assert len(set(names)) == len(names) and all(glossary.MARK.fullmatch(f"[[{one}]]") for one in TERMS)


def test_every_switch_of_a_card_is_in_the_table_of_switches():
    unknown = {card.id: set(card.switches) - set(flags.TABLE) for card in CARDS.values()}
    assert not any(unknown.values()), unknown
    named = [card for card in CARDS.values() if card.id in flags.TABLE]
    assert all(card.id in card.switches for card in named) and len(named) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("card", CARDS.values(), ids=list(CARDS))
def test_the_code_of_a_card_runs_and_compares_results_that_agree_or_are_meant_to_differ(card, capsys):
    """The languages differ in comments and in what is printed, never in what is called: one of them runs."""
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.LazyLinear(2))
    x = torch.randn(2, 3, 8, 8)
    model(x)
    names = {
        "torch": torch,
        "nn": nn,
        "model": model,
        "x": x,
        "DataLoader": DataLoader,
        "data": TensorDataset(torch.randn(130, 3, 8, 8)),
    }
    with flags.preserved(), mock.patch.dict(os.environ):
        exec(compile(pick(card.code, "zh"), card.id, "exec"), names)
    assert "does not return what" not in capsys.readouterr().out
    assert calls(pick(card.code, "en")) == calls(pick(card.code, "zh"))


def calls(code: str) -> str:
    """The code without its comments and the texts in it."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_card_says_the_same_on_screen_and_as_text_and_escapes_what_it_shows(code):
    card = CARDS["cudnn.benchmark"]
    with speaking(code):
        shown, text = card_html(card), text_of(card_html(card))
        for name, words in card.rows():
            plain = re.sub(r"[`*]", "", words)
            assert name in shown and name in text and plain in text
        assert shown.count("<details>") == 1
        assert 'tabindex="0"' in shown and "<script" not in shown


def test_keep_shows_one_or_those_of_the_lessons_met_and_helps_with_a_slip(capsys, monkeypatch):
    monkeypatch.setattr(state, "now", state.State())
    course.keep("cudnn.benchmark")
    assert "up to ten plans" in capsys.readouterr().out
    course.keep("cudnn.benchmrk")
    assert '"cudnn.benchmark"' in capsys.readouterr().out
    course.keep()
    said = capsys.readouterr().out
    assert all(re.sub(r"[`*]", "", pick(card.what)) in said for card in CARDS.values()), "nothing met yet: all"
    course.answer("05-revisit", "b")
    capsys.readouterr()
    state.now.lesson = "09_mkldnn"
    course.keep()
    said = capsys.readouterr().out
    shown = {card.lesson for card in CARDS.values() if re.sub(r"[`*]", "", pick(card.what)) in said}
    assert shown == {"05_cudnn_benchmark", "09_mkldnn"}


@pytest.mark.parametrize(
    "typed, identity",
    [("NHWC", "channels_last"), ("执行计划", "plan"), ("T4", "compute-capability"), ("flash", "sdpa")],
)
def test_what_knows_a_word_by_all_its_names(typed, identity, capsys):
    course.what(typed)
    assert pick(TERMS[identity].means)[:20] in capsys.readouterr().out


# --- in the notebooks ---


def test_a_mark_becomes_a_word_with_its_meaning_and_code_stays_code():
    text = prose("A **[[plan]]**, two [[plan|plans & more]]; `[[plan]]`\n```\n[[plan]]\n```\n[[1, 2], [3, 4]]", "en")
    assert text.count("<abbr title=") == 2 and ">plans &amp; more</abbr>" in text and "what(&quot;plan&quot;)" in text
    assert "`[[plan]]`" in text and "```\n[[plan]]\n```" in text and "[[1, 2], [3, 4]]" in text
    assert ">执行计划 (plan)</abbr>" in prose("[[plan]]", "zh")
