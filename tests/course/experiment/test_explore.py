"""The explorables without a browser: words in both languages, a text of the same content, nothing from elsewhere."""

from __future__ import annotations

import json
import re

import pytest

import course
from course.core.i18n import LANGUAGES, speaking
from course.core.markup import plain
from course.experiment.explorables import page
from course.questions.bank import read_yaml

WORDS = read_yaml(page.HERE / "words.yaml")


@pytest.mark.parametrize("name", page.NAMES)
def test_every_word_of_a_script_is_there_and_every_word_is_used(name):
    """A key is a string of the script or of the Python file beside it."""
    source = "".join((page.HERE / f"{name}.{ending}").read_text("utf-8") for ending in ("js", "py"))
    asked = set(re.findall(r'\.word\("(\w+)"', source)) | set(
        re.findall(r'page\.(?:slider|choice|field|button)\("(\w+)"', source)
    )
    assert asked <= set(WORDS[name])
    with speaking("en"):
        named = json.dumps(dict(page.explorable(name).start.numbers))
    used = set(re.findall(r"\w+", source + named))
    assert set(WORDS[name]) - {"ask", "keep"} <= used


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
    assert "take one of floats" in capsys.readouterr().out
