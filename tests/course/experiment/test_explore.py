"""The explorables without a browser: words in both languages, a text of the same content, nothing from elsewhere."""

from __future__ import annotations

import re

import pytest

import course
from course.core.i18n import LANGUAGES, speaking
from course.core.markup import plain
from course.experiment.explorables import page
from course.questions.bank import read_yaml

WORDS = read_yaml(page.HERE / "words.yaml")


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("name", page.NAMES)
def test_it_opens_with_a_question_and_ends_with_a_sentence_also_as_text(name, code):
    with speaking(code):
        found = page.explorable(name)
        shown, said = found._repr_html_(), str(found)
    assert plain(found.words["ask"]).rstrip().endswith(("?", "？"))
    assert said.startswith(plain(found.words["ask"])) and said.endswith(plain(found.words["keep"]))
    assert all(cell in shown for line in found.start.lines for cell in line[:1])
    assert not re.search(r"(?:src|href)=|https?://|import\(|fetch\(", shown), "nothing from elsewhere"
    assert "</script" not in page.script(name)


def test_the_verb_prints_the_text_and_names_what_there_is(capsys):
    course.explore("floats")
    assert "bfloat16" in capsys.readouterr().out
    course.explore("float")
    assert "there are floats, roofline" in (said := capsys.readouterr().out) and "fault" not in said
