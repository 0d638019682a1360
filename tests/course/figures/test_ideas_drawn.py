"""The pictures of the lessons' main ideas: every word has room on a wide and on a narrow page, in both languages."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from course.core.i18n import LANGUAGES, speaking
from course.figures.svg import BROAD, PHONE, SLIM, wide
from course.lessons.l01_map.who import who_does_what
from course.lessons.l11_bug_hunt.three_steps import three_steps
from course.lessons.l13_together.moments import moments
from course.lessons.l14_export.kitchens import kitchens

IDEAS = (who_does_what, three_steps, moments, kitchens)


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("width", [BROAD, SLIM, PHONE])
@pytest.mark.parametrize("idea", IDEAS, ids=lambda one: one.__name__)
def test_every_word_stays_in_its_panel(idea, width, code):
    with speaking(code):
        svg = ElementTree.fromstring(idea().picture.svg(width, dark=False))
    frames = [[float(mark.get(name)) for name in ("x", "y", "width", "height")] for mark in svg if "rect" in mark.tag]
    words = [
        mark for mark in svg if "text" in mark.tag and not mark.get("text-anchor") and mark.get("font-size") != "12"
    ]
    assert len(frames) == 3 and len(words) >= 9
    for mark in words:
        left, y = float(mark.get("x")), float(mark.get("y"))
        right = left + wide(mark.text, float(mark.get("font-size")), bool(mark.get("font-weight")))
        assert any(x < left and right < x + w and top < y < top + h for x, top, w, h in frames), mark.text


@pytest.mark.parametrize("idea", IDEAS, ids=lambda one: one.__name__)
def test_the_picture_is_told_in_both_languages(idea):
    told = {}
    for code in LANGUAGES:
        with speaking(code):
            block = idea()
        told[code] = str(block).split("\n")
        assert told[code] == [block.headline, block.picture.alt]
        assert block._repr_html_().count("<img") == 6, "three widths, two themes"
    assert not set(told["en"]) & set(told["zh"])
