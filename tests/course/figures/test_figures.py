"""What a learner sees of a record, in both languages and themes, with and without a Chinese font; our own SVG."""

from __future__ import annotations

import re
import sys
from html import unescape
from xml.etree import ElementTree

import pytest

from course.core.i18n import LANGUAGES, both, language, pick, set_language, t
from course.core.look import COLOURS
from course.core.records import Record
from course.experiment.base import Experiment
from course.experiment.reading import CUT_SHORT, FAULT, SOME_FEW, TOO_FEW, TOO_NOISY, Reading
from course.experiment.result import block
from course.figures.block import Betted
from course.figures.curves import cost_curve, trend
from course.figures.kinds import Bar, Bet, Ratio, Share, bars, ratio_rows, share_grid
from course.figures.panels import Panel, panels
from course.figures.plot import Plot
from course.figures.svg import BROAD, PHONE, SLIM
from course.figures.timeline import timeline_plot
from course.figures.timing import paired_plot
from course.lessons.l02_timing.lanes import Scene, Span, timed_lanes
from course.timing import compare
from tests.conftest import tell
from tests.support.timing_clocks import NoisyClock, costing

pytestmark = pytest.mark.filterwarnings("error")
style_module = sys.modules["course.figures.plot"]

MACHINE = {"device": "cpu", "device_name": "AMD EPYC", "torch": "2.13.0"}
ROWS = [
    {"layer": "conv", "ratio": 0.62, "low": 0.60, "high": 0.65, "seen": ["a", "b", "c", "d"]},
    {"layer": "Linear <b>", "ratio": 1.01, "low": 0.99, "high": 1.02},
]
ALT = both('"conv": 0.62 of the time', "“conv”：0.62 倍")
BET = Betted("twice as fast", "a third faster", "It came out", why="Because.", others=(("twice as fast", "No."),))


def record(rows=ROWS, **more) -> Record:
    fields = {
        "experiment": "09-x",
        "experiment_version": 1,
        "lesson": "09_mkldnn",
        "machine": MACHINE,
        "rows": rows,
        "created": "2026-05-01T09:30:00Z",
    }
    return Record(**(fields | more))


def draw(rec, bets):
    def paint(ax):
        ax.plot([row["ratio"] for row in rec.rows], [row["layer"] for row in rec.rows], "o")
        ax.set_xlabel(t("time with / without", "开启 / 关闭的用时"))

    return Plot(paint, pick(ALT))


HEADLINE = both("oneDNN is faster.", "oneDNN 更快。")


@pytest.fixture(autouse=True)
def words(monkeypatch):
    """What the made-up experiment says."""
    tell(monkeypatch, "09-x", HEADLINE)


def experiment(read=lambda rows: Reading("a"), draw=draw) -> Experiment:
    return Experiment("09-x", "09_mkldnn", 1, "cpu", 1, lambda budget: [], read, draw)


EXPERIMENT = experiment()


@pytest.mark.parametrize("code", ["en", "zh"])
def test_the_block_reads_from_the_headline_down(code):
    set_language(code)
    html = block(record(), EXPERIMENT, said=[BET])._repr_html_()
    html = html[html.index("</style>") :]
    parts = [
        pick(HEADLINE),
        "<img",
        "📼",
        t("You bet", "你押的是"),
        BET.out,
        BET.why,
        t("The other answers", "其他选项"),
        t("The numbers", "全部数字"),
        "Linear &lt;b&gt;",
    ]
    assert [html.index(part) for part in parts] == sorted(html.index(part) for part in parts)
    assert re.findall(r'<img [^>]*alt="([^"]*)"', html) == [pick(ALT).replace('"', "&quot;")] * 2
    assert html.count("data:image/webp;base64,") == 2 and "Linear <b>" not in html and "0.62" in html
    assert t("a, b, c, … 1 more", "a, b, c，……另有 1 个") + "</td>" in html


def test_without_a_chinese_font_labels_are_english(monkeypatch):
    monkeypatch.setattr(style_module, "cjk_font", lambda: None)
    set_language("zh")
    seen = []
    shown = block(
        record(), experiment(draw=lambda rec, bets: Plot(lambda ax: seen.append(t("en", "zh")), "另一种文字"))
    )
    assert shown.picture.png() and set(seen) == {"en"}
    assert language() == "zh" and "另一种文字" in shown._repr_html_()


def test_records_without_rows_or_with_too_few_still_speak():
    empty = block(record([], complete=False, live=True), EXPERIMENT)
    assert "Nothing was measured" in empty.headline and "observe(" in empty.step and empty.picture is None

    def fails(rec, *_):
        raise KeyError("ratio")

    broken = block(record(live=True), experiment(fails, fails))
    assert broken.headline == FAULT["en"] and "KeyError" in broken.step  # complete rows: never told as noise
    assert broken.picture is None
    noisy = block(record(live=True, complete=False), experiment(fails, fails))
    assert noisy.headline == CUT_SHORT["en"] and "quiet" in noisy.step
    assert noisy.picture.alt == "No picture from these rows (KeyError)."
    undrawn = block(record(), experiment(draw=fails))
    unpainted = block(record(), experiment(draw=lambda rec, bets: Plot(fails, "its words")))
    assert "<p>its words</p>" in unpainted._repr_html_() and HEADLINE["en"] in unpainted._repr_html_()
    for shown in (undrawn._repr_html_(), str(undrawn)):
        assert HEADLINE["en"] in shown and "A fault of the course (KeyError" in shown


def test_too_few_rounds_are_said_in_words_with_the_next_step():
    rows = [{"rounds": 4, "ratio": 1, "low": None, "high": None}, {"rounds": 30, "ratio": 1, "low": 0.9, "high": 1.1}]
    few = block(record(rows, live=True), experiment(lambda rows: None, lambda rec, bets: None))
    assert few.headline == SOME_FEW["en"] and "4 of at least 12" in few.step and 'observe("09-x")' in few.step
    assert not re.search(r"[\[\]]", few.headline + few.step)
    all_few = block(record(rows[:1], live=True), experiment(lambda rows: None, lambda rec, bets: None))
    assert all_few.headline == TOO_FEW["en"] and "4 of at least 12" in all_few.step
    noisy = block(record(rows[1:], live=True), experiment(lambda rows: None, lambda rec, bets: None))
    assert noisy.headline == TOO_NOISY["en"]


@pytest.mark.parametrize("code, words", [("en", "outside"), ("zh", "图外")])
def test_a_comparison_draws_itself_below_its_sentence(code, words):
    set_language(code)
    found = compare({"plain": costing(1e-4), "a $ b": costing(2e-4), 3: costing(1e-4)}, clock=NoisyClock(1), seed=1)
    shown = found.plot()
    drawn = unescape(shown.picture.svg())
    assert shown.headline == found.sentence() and "a $ b" in drawn and words in drawn
    assert str(shown).split("\n")[1] == shown.picture.alt
    one_round = compare({"a": costing(3.0), "b": costing(4.0)}, max_time=1, clock=NoisyClock(0, 0, 0, 0), seed=1)
    assert "nan" not in one_round.plot()._repr_html_()


def test_the_route_says_what_backend_selection_says_and_leaves_the_switch_alone():
    import torch

    from course import flags
    from course.figures.route import route, who_computes

    layer, x = torch.nn.Conv2d(3, 8, 3, stride=2), torch.randn(8, 3, 32, 32)
    found = {}
    for enabled in (True, False):
        with flags.using({"mkldnn.enabled": enabled}):
            shown, found[enabled] = route(layer, x), who_computes(layer, x)
            assert flags.read()["mkldnn.enabled"] is enabled
            way = [words for words in re.findall(r'font-weight="700">([^<]*)<', shown.picture.svg()) if words[1] != "."]
            assert way == ["CPU", f"mkldnn.enabled = {enabled}", found[enabled]] and found[enabled] in shown.headline
    assert found[False] != "oneDNN"
    assert (found[True] == "oneDNN") == torch.backends.mkldnn.is_available()


def test_a_bet_stands_in_its_line_where_it_came_true_and_below_it_otherwise():
    from course.core.tables import Table

    table = Table([["", "who"], ["first", "x86"], ["second", "qnnpack"]], {(1, 1): "told"})
    assert table.bet_on(0, ["x86"]) == Table(table.lines, table.marks, {(0, 1)})
    lost = table.bet_on(0, ["nobody"])
    assert lost.lines[2] == ["", "nobody"] and lost.bets == {(1, 1)} and lost.marks == {(2, 1): "told"}
    assert table.bet_on(None, ["x86"]).lines[-1] == ["", "x86"]


SIDES = ("it pays", "it costs")
RATIOS = [
    Ratio("one <size>", 0.57, 0.55, 0.6, "1 search"),
    Ratio("new", 10.5, 10.4, 11.0),
    Ratio("few", 1, None, None, "", 4),
]


CALLS = [
    {"name": f"aten::operation_{n % 6}", "start_us": 100.0 * n, "us": 90.0, "self_us": 50.0 + n % 6, "depth": n % 3,
     "kind": "work", "device": "cuda" if n % 5 == 0 else "cpu"}
    for n in range(30)
]  # fmt: skip
PAIRS = [
    {"name": name, "baseline": "a", "ratio": ratio, "low": low, "high": high, "gate": 0.02,
     "ratios": [ratio * (1 + 0.01 * (n % 5)) for n in range(40)] + [9.0]}
    for name, ratio, low, high in (("b", 1.3, 1.2, 1.4), ("a long name of a candidate <c>", 0.5, None, None))
]  # fmt: skip
SCENES = [
    Scene("no fence", {"CPU": [Span(0, 0.1, "quiet", "orders")], "device": [Span(0.1, 50, "out", "the kernel")]},
          (0.0, 0.1), "the clock reads 0.1 ms"),
    Scene("two fences", {"CPU": [Span(0, 0.1, "quiet", "orders"), Span(0.1, 50, "open", "waits")]},
          (40.0, 50.0), "the clock reads 10 ms"),
]  # fmt: skip
PANELS = [
    Panel("One", ["+told", "-quiet", "plain"], "a foot"),
    Panel("Two", ["a line that is a good deal longer"]),
    Panel("Three", []),
]
# a kind -> how it is drawn with a bet, then the bets
KINDS = {
    "ratio_rows": (lambda bet: ratio_rows(RATIOS, SIDES, bet), Bet("x", rows={0: "left", 1: "middle", 2: "right"})),
    "bars": (
        lambda bet: bars([Bar("a", 3, "3 MiB", True), Bar("b", 0, "0 MiB")], bet),
        Bet("x", rows=[0]),
        Bet("x", rows=[1], span=(0, 9)),
    ),
    "share_grid": (
        lambda bet: share_grid([Share("a", [1] * 20, "never"), Share("b", [20], "always")], bet),
        Bet("x", rows=[1]),
        Bet("x", each=[10, 9, 1]),
    ),
    "cost_curve": (
        lambda bet: cost_curve(1.5, 0.23, 0.09, ("off", "on"), ("not yet", "paid", "after 11 steps"), bet),
        Bet("x", at=500),
        Bet("x", at=0),
    ),
    "trend": (
        lambda bet: trend([1, 10, 100], {"a": [1, 2, 3], "b": [3, None, 1]}, "Alt.", bet, across="size"),
        Bet("x", span=(1, 2)),
    ),
    "panels": (lambda bet: panels(PANELS, "Alt.", ["then", ""]),),
    "timed_lanes": (lambda bet: timed_lanes(SCENES, "ms"),),
    "paired_plot": (lambda bet: paired_plot(PAIRS, "b is slower.").picture,),
    "timeline_plot": (lambda bet: timeline_plot(CALLS, "Where the time goes.").picture,),
}


def extents(mark):
    """Left, right, top, bottom of one mark of a drawing, its words about as wide as a browser sets them."""
    x, y, w, h, r, size = (float(mark.get(name, 0)) for name in ("x", "y", "width", "height", "r", "font-size"))
    if mark.get("points"):
        xs, ys = zip(*(map(float, point.split(",")) for point in mark.get("points").split()), strict=True)
        return min(xs), max(xs), min(ys), max(ys)
    if mark.get("d"):
        xs, ys, longs = zip(*(map(float, re.split("[ h]", one)) for one in mark.get("d").split("M")[1:]), strict=True)
        return min(xs), max(map(sum, zip(xs, longs, strict=True))), min(ys), max(ys)
    if mark.get("cx"):
        x, y = float(mark.get("cx")), float(mark.get("cy"))
        return x - r, x + r, y - r, y + r
    if mark.text:
        w = size * sum(0.55 if sign.isascii() else 1 for sign in mark.text)
        x -= w * {"middle": 0.5, "end": 1}.get(mark.get("text-anchor"), 0)
        return x, x + w, y - 0.75 * size, y
    return x, x + w, y, y + h


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("width", (BROAD, SLIM, PHONE))
@pytest.mark.parametrize("kind", KINDS)
def test_everything_stays_on_the_paper_and_no_words_cover_words(kind, width, code):
    set_language(code)
    make, *bets = KINDS[kind]
    for bet in (None, *bets):
        root = ElementTree.fromstring(make(bet).svg(width))
        w, h = map(float, root.attrib["viewBox"].split()[2:])
        assert w == width and 40 < h < 500
        words = []
        for mark in root:
            left, right, top, bottom = extents(mark)
            assert -1 <= left <= right <= w + 1 and -1 <= top <= bottom <= h + 1, ElementTree.tostring(mark)
            if mark.text:
                free = (left >= x1 or right <= x0 or top >= y1 or bottom <= y0 for x0, x1, y0, y1 in words)
                assert all(free), mark.text
                words.append((left, right, top, bottom))


def test_an_amount_stands_where_its_number_says():
    """The widths of two bars are as their values, the bet's outline as its span."""
    root = ElementTree.fromstring(bars([Bar("a", 4, "4"), Bar("b", 2, "2")], Bet("x", rows=[1], span=(0, 3))).svg())
    widths = [float(one.get("width")) for one in root if one.tag.endswith("rect")]
    assert widths == [widths[0], pytest.approx(widths[0] / 2, abs=1), pytest.approx(widths[0] * 0.75, abs=1)]


def test_a_ratio_lies_in_its_range_the_gate_around_1_and_calls_are_as_long_as_they_took():
    root = ElementTree.fromstring(ratio_rows(RATIOS[:1], SIDES).svg())
    (dot,) = (one for one in root if one.get("cx"))
    left, right, top, bottom = extents(next(one for one in root if one.get("opacity")))  # the likely range
    assert left < float(dot.get("cx")) < right and top < float(dot.get("cy")) < bottom
    assert {f"← {SIDES[0]}", f"{SIDES[1]} →"} <= {one.text for one in root}
    root = ElementTree.fromstring(paired_plot(PAIRS, "").picture.svg())
    gate, one = extents(root[0]), extents(root[1])  # the shaded band lies around the line at 1
    assert gate[0] < one[0] < gate[1] and one[0] - gate[0] == pytest.approx(gate[1] - one[0], abs=1)
    root = ElementTree.fromstring(timeline_plot(CALLS, "").picture.svg())
    calls = [float(one) for mark in root for one in re.findall(r"h([^M]+)", mark.get("d", ""))]
    assert calls == pytest.approx([calls[0]] * len(CALLS), abs=0.2) and calls[0] > 9


def test_too_few_rounds_have_boxes_and_no_place_on_the_axis():
    svg = ratio_rows([RATIOS[2]], SIDES).svg()
    assert svg.count('fill="var(--p-out') == 4 and "<circle" not in svg and "too few rounds to tell" in svg


def test_both_themes_are_written_out_and_the_page_decides_inside_widgets():
    sheet = ratio_rows(RATIOS, SIDES)
    assert COLOURS["out"][0] in sheet.svg(dark=False) and COLOURS["out"][1] in sheet.svg(dark=True)
    assert f"var(--p-out,{COLOURS['out'][0]})" in sheet.svg() and "<script" not in sheet.svg()
    assert sheet.html().count("<img") == 6 and sheet.html(saved=False).count("<svg") == 3
    assert "one &lt;size&gt;" in sheet.svg() and not re.search(r' id="|<style|<clipPath', sheet.svg())
