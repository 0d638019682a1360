"""The pictures of the lessons' main ideas: every word has room on a wide and on a narrow page, in both languages."""

from __future__ import annotations

import pytest

from course.core.i18n import LANGUAGES, speaking
from course.lessons.l01_map.who import who_does_what
from course.lessons.l11_bug_hunt.three_steps import three_steps
from course.lessons.l13_together.moments import moments
from course.lessons.l14_export.kitchens import kitchens

IDEAS = (who_does_what, three_steps, moments, kitchens)


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
