"""A headline is one plain sentence that can be repeated, whatever came out; a picture shows every bet there can be.

Looked at: the invented rows of every branch (``ROWS``, ``FURTHER`` and ``SHOWN`` of each lesson's ``rows.py``) and the recordings.
"""

from __future__ import annotations

import html
import re
from unicodedata import east_asian_width

import pytest

from course.core.i18n import LANGUAGES, set_language, speaking
from course.core.records import LESSONS, load
from course.core.tables import Table
from course.experiment.reading import OPEN
from course.experiment.result import NoPicture, block, outcome
from course.figures.svg import BROAD, PHONE, SLIM, SvgPicture, wide
from tests.course.experiment.test_bet_rows import BETS
from tests.course.experiment.test_every_experiment import EXPERIMENTS, examples
from tests.lessons.live import check_picture, marks, record_of

NOT_DRAWN: dict[str, str] = {}
"""Bets that have no place in the picture of what came out, and why; they stand below it in words."""
SHARE = re.compile(r"\b1/\d[\d,]*|\b\d+ of (?:the |these )?\d+\b|\b\d+ [个种次][^，。]*里.*?\d+")
"""1/31, and n of m in English or Chinese, which count as one number."""
RECORDINGS = sorted(LESSONS.glob("*/recordings/*.json"))


def records(name):
    """Every record there is of an experiment: invented rows, recordings, and one that is empty."""
    found = [record_of(name, rows) for rows in examples(name)]
    kept = [load(path) for path in RECORDINGS if path.name.startswith(f"{name}--")]
    return [*found, *(one for one in kept if one.experiment == name)]


def faults(text, code):
    """What is wrong with a headline in one language."""
    found = []
    signs = sum(1 if east_asian_width(sign) in "WF" else 0.5 for sign in text if sign != " ")
    if code == "en" and len(text.split()) > 15:
        found.append(f"{len(text.split())} words, at most 15")
    if code == "zh" and signs > 28:
        found.append(f"{signs:g} signs, at most 28 (a Latin letter or digit counts half)")
    numbers = re.findall(r"(?<![A-Za-z\d_.])\d[\d.,]*(?![A-Za-z])", SHARE.sub("1", text))
    if len(numbers) > 1:
        found.append(f"more than one number: {numbers}")
    if re.search(r"[\[\]()（）【】{}=]", text):
        found.append("a bracket or an equals sign")
    if re.search(r"\d[.,]\d+ ?%", text):
        found.append("a percentage with decimals")
    if re.search(r"\b2 times\b|(?<![\d.]) ?2 倍", text):
        found.append("two times is said “twice”, 两倍")
    if not text.endswith((".", "。", "?", "？")):
        found.append("no full stop")
    if bool(re.search(r"[一-鿿]", text)) != (code == "zh") or re.search(r"\bnan\b|None", text):
        found.append("the wrong language, or a missing value")
    return found


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_a_headline_can_be_repeated(name):
    for record in records(name):
        said = EXPERIMENTS[name].headline(record)  # an error here is not caught, as it would be for a learner
        wrong = {text: found for code, text in said.items() if (found := faults(text, code))}
        assert not wrong and set(said) == set(LANGUAGES)


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_a_recording_says_something_and_is_drawn(name):
    for path in RECORDINGS:
        if path.name.startswith(f"{name}--"):
            recorded = load(path)
            assert outcome(recorded, EXPERIMENTS[name]).headline not in OPEN
            assert not isinstance(block(recorded, EXPERIMENTS[name]).picture, NoPicture)


@pytest.mark.slow
@pytest.mark.parametrize("bet", sorted(bet for bet, item in BETS.items() if bet not in NOT_DRAWN))
def test_the_picture_shows_every_bet_there_can_be(bet):
    """On the rows of every outcome; without a bet the picture shows none."""
    item = BETS[bet]
    every = [one.id for one in item.options]
    for number, record in enumerate(records(item.experiment)):
        if outcome(record, EXPERIMENTS[item.experiment]).headline in OPEN:
            continue
        set_language(LANGUAGES[number % 2])
        plain = check_picture(record)
        for option in every:
            picture = check_picture(record, {bet: option})
            if isinstance(picture, SvgPicture):
                dashed = re.findall(r"<[^>]*--p-bet[^>]*stroke-dasharray[^>]*>", picture.svg())
                assert dashed and not re.search(r"--p-bet", plain.svg())
            elif isinstance(picture, Table):
                assert picture.bets and picture.html() != plain.html()
            else:
                assert picture.alt != plain.alt and marks(picture) > marks(plain)


WORDS = re.compile(
    r'<text x="([-\d.]+)"[^>]*font-size="([\d.]+)"(?: text-anchor="(\w+)")?( font-weight="700")?[^>]*>([^<]*)</text>'
)
SLACK = 3
"""Pixels by which the width of words may be estimated too broad."""


@pytest.mark.parametrize("code", LANGUAGES)
def test_no_words_of_a_picture_are_cut_on_a_wide_page_a_narrow_one_or_a_phone(code):
    cut = []
    with speaking(code):
        for path in RECORDINGS:
            record = load(path)
            picture = block(record, EXPERIMENTS[record.experiment]).picture
            for broad in (BROAD, SLIM, PHONE) if isinstance(picture, SvgPicture) else ():
                for x, size, anchor, bold, words in WORDS.findall(picture.svg(broad)):
                    needed = wide(html.unescape(words), float(size), bool(bold))
                    left = float(x) - {"": 0, "middle": needed / 2, "end": needed}[anchor]
                    if left < -SLACK or left + needed > broad + SLACK:
                        cut.append((record.experiment, broad, words))
    assert not cut


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_recording_becomes_a_block(code):
    with speaking(code):
        for path in RECORDINGS:
            record = load(path)
            shown = block(record, EXPERIMENTS[record.experiment])
            first = str(shown).splitlines()[0]
            assert not shown.headline or first.rstrip("。.") in shown.headline.replace("`", "")
            assert "📼" in shown.small
