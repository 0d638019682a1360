"""Our own SVG: what is drawn stays on the paper, says its words, knows both themes; a bet that cannot be drawn is refused."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from course.core.i18n import LANGUAGES, set_language, speaking
from course.core.look import COLOURS
from course.figures.curves import cost_curve, trend
from course.figures.kinds import LEAST_ROUNDS, Bar, Bet, Ratio, Share, bars, ratio_rows, share_grid
from course.figures.lanes import Scene, Span, timed_lanes
from course.figures.panels import Panel, panels
from course.figures.svg import BROAD, PHONE, SLIM
from course.figures.timeline import timeline_plot
from course.figures.timing import paired_plot
from course.figures.words import fold, ratio_words
from course.lessons.l01_map.who import who_does_what
from course.lessons.l11_bug_hunt.three_steps import three_steps
from course.lessons.l13_together.moments import moments
from course.lessons.l14_export.kitchens import kitchens
from course.timing.stats import FEWEST_ROUNDS

SIDES = ("it pays", "it costs")
RATIOS = [
    Ratio("one <size>", 0.57, 0.55, 0.6, "1 search"),
    Ratio("new", 10.5, 10.4, 11.0),
    Ratio("few", 1, None, None, "", 4),
]
SCENES = [
    Scene("no fence", {"CPU": [Span(0, 0.1, "quiet", "gives the order")], "device": [Span(0.1, 50, "out", "the kernel")]},
          (0.0, 0.1), "the clock reads 0.1 ms"),
    Scene("two fences", {"CPU": [Span(0, 0.1, "quiet", "gives the order"), Span(0.1, 50, "open", "waits")]},
          (40.0, 50.0), "the clock reads 10 ms"),
]  # fmt: skip
PAIRS = [
    {"candidate": name, "baseline": "a", "ratio": ratio, "low": low, "high": high, "gate": 0.02,
     "ratios": [ratio * (1 + 0.01 * (n % 5)) for n in range(40)] + [9.0]}
    for name, ratio, low, high in (("b", 1.3, 1.2, 1.4), ("a long name of a candidate <c>", 0.5, None, None))
]  # fmt: skip
CALLS = [
    {"name": f"aten::operation_{n % 6}", "start_us": 100.0 * n, "us": 90.0, "self_us": 50.0 + n % 6, "depth": n % 3, "kind": "work",
     "device": "cuda" if n % 5 == 0 else "cpu"}
    for n in range(30)
]  # fmt: skip
KINDS = {
    "ratio_rows": (lambda bet: ratio_rows(RATIOS, SIDES, bet), [Bet("x", rows={0: "left", 1: "middle", 2: "right"})]),
    "bars": (
        lambda bet: bars([Bar("a", 3, "3 MiB", True), Bar("b", 0, "0 MiB")], bet),
        [Bet("x", rows=[0]), Bet("x", rows=[1], span=(0, 9))],
    ),
    "share_grid": (
        lambda bet: share_grid([Share("a", [1] * 20, "never"), Share("b", [20], "always")], bet),
        [Bet("x", rows=[1]), Bet("x", above=1), Bet("x", each=[10, 9, 1])],
    ),
    "cost_curve": (
        lambda bet: cost_curve(1.5, 0.23, 0.09, ("off", "on"), ("not yet", "paid", "after 11 steps"), bet),
        [Bet("x", at=500), Bet("x", above=1)],
    ),
    "trend": (
        lambda bet: trend([1, 10, 100], {"a": [1, 2, 3], "b": [3, None, 1]}, "Alt.", bet),
        [Bet("x", span=(1, 2))],
    ),
    "panels": (
        lambda bet: panels(
            [Panel("One", ["+told", "-quiet", "plain"], "a foot"), Panel("Two", ["a longer line"])], "Alt.", ["then"]
        ),
        [],
    ),
    "timed_lanes": (lambda bet: timed_lanes(SCENES, "ms"), []),
    "paired_plot": (lambda bet: paired_plot(PAIRS, "b is slower.").picture, []),
    "timeline_plot": (lambda bet: timeline_plot(CALLS, "Where the time goes.").picture, []),
}


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_everything_stays_on_the_paper_at_both_widths(kind, code):
    set_language(code)
    make, bets = KINDS[kind]
    for bet in [None, *bets]:
        sheet = make(bet)
        for width in (BROAD, SLIM, PHONE):
            root = ElementTree.fromstring(sheet.svg(width))
            _, _, w, h = map(float, root.attrib["viewBox"].split())
            assert w == width and 40 < h < 500 and root.attrib["aria-label"] == sheet.alt
            for mark in root:
                xs = [float(mark.get(name)) for name in ("x", "cx") if mark.get(name)]
                ys = [float(mark.get(name)) for name in ("y", "cy") if mark.get(name)]
                assert all(-1 <= x <= w + 1 for x in xs) and all(-1 <= y <= h + 1 for y in ys), ElementTree.tostring(
                    mark
                )
                size = float(mark.get("font-size", 12))
                assert size >= 11 or kind == "share_grid"  # its small numbers repeat what the words beside them say
                if mark.get("width"):
                    assert float(mark.get("width")) >= 0 and float(mark.get("x")) + float(mark.get("width")) <= w + 1


@pytest.mark.parametrize(
    ("ratio", "whole", "en", "zh"),
    [
        (1.96, False, "It takes twice as long.", "要花两倍的时间。"),
        (2.1, False, "It takes 2.1 times as long.", "要花 2.1 倍的时间。"),
        (7.3, True, "It takes 7 times as long.", "要花 7 倍的时间。"),
        (12.4, False, "It takes 12 times as long.", "要花 12 倍的时间。"),
        (1066, True, "It takes 1,100 times as long.", "要花 1,100 倍的时间。"),
    ],
)
def test_a_ratio_is_said_as_people_say_it(ratio, whole, en, zh):
    assert fold(ratio, "It takes {} as long.", "要花{}的时间。", whole) == {"en": en, "zh": zh}


def test_an_amount_stands_where_its_number_says():
    """The widths of two bars are as their values, the bet's outline as its span."""
    root = ElementTree.fromstring(bars([Bar("a", 4, "4"), Bar("b", 2, "2")], Bet("x", rows=[1], span=(0, 3))).svg())
    widths = [float(one.get("width")) for one in root if one.tag.endswith("rect")]
    assert widths == [widths[0], pytest.approx(widths[0] / 2, abs=1), pytest.approx(widths[0] * 0.75, abs=1)]


def test_pictures_and_timing_mean_the_same_by_too_few():
    assert LEAST_ROUNDS == FEWEST_ROUNDS


def test_too_few_rounds_have_boxes_and_no_place_on_the_axis():
    svg = ratio_rows([RATIOS[2]], SIDES).svg()
    assert svg.count('fill="var(--p-out') == 4 and "<circle" not in svg and "too few rounds to tell" in svg


def test_both_themes_are_written_out_and_the_page_decides_inside_widgets():
    sheet = KINDS["ratio_rows"][0](None)
    assert COLOURS["out"][0] in sheet.svg(dark=False) and COLOURS["out"][1] in sheet.svg(dark=True)
    assert f"var(--p-out,{COLOURS['out'][0]})" in sheet.svg() and "<script" not in sheet.svg()
    assert sheet.html().count("<img") == 6 and sheet.html(saved=False).count("<svg") == 3
    assert "one &lt;size&gt;" in sheet.svg() and not re.search(r' id="|<style|<clipPath', sheet.svg())


@pytest.mark.parametrize("kind", sorted(kind for kind, (_, bets) in KINDS.items() if bets))
def test_a_bet_that_the_picture_cannot_draw_is_refused(kind):
    with pytest.raises(ValueError, match="draws a bet by"):
        KINDS[kind][0](Bet("nothing at all"))


def test_the_words_of_a_picture_tell_rows_of_one_name_apart():
    set_language("en")
    twice = bars([Bar("64", 9, "9 ms", remark="first time"), Bar("64", 1, "1 ms", remark="again"), Bar("", 2, "2 ms")])
    assert twice.alt == "64 (first time): 9 ms; 64 (again): 1 ms; 2 ms."
    assert ratio_words(1 / 100) == "1/100 of it"


# --- the pictures of the lessons' main ideas ---


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
