"""The report: a class whose figures were worked out by hand, and the page that shows them."""

from __future__ import annotations

import copy
import json
import math
from html.parser import HTMLParser

import pytest

from course.i18n import both
from grader.commands import main
from grader.reporting import pictures
from grader.reporting.numbers import analyse
from grader.reporting.page import page
from grader.reporting.statistics import correlation, fisher, quartiles, wilson
from grader.reporting.words import teach_again
from tests.graded_class import make_class
from tests.grading_fixtures import LESSON

CELLS = [
    {
        "id": "q",
        "kind": "single",
        "top": 2.0,
        "stem": both("Which `one`?", "哪个？"),
        "right": ["b"],
        "offered": ["X", "Y"],
        "options": [
            {"id": "a", "text": both("first", "一"), "right": False, "belief": "X"},
            {"id": "b", "text": both("second", "二"), "right": True, "belief": None},
            {"id": "c", "text": both("third", "三"), "right": False, "belief": "Y"},
        ],
    },
    {
        "id": "n",
        "kind": "number",
        "top": 1.0,
        "stem": "How many?",
        "right": [],
        "options": [],
        "offered": ["X"],
        "number": {
            "value": 3.0,
            "low": 3.0,
            "high": 3.0,
            "unit": both("sides", "条边"),
            "traps": [{"low": 4.0, "high": 4.0, "belief": "X"}],
        },
    },
    {
        "id": "t",
        "kind": "task",
        "top": 3.0,
        "stem": "`contrast`",
        "offered": [],
        "parts": [
            {"id": "typical", "top": 2.0, "reason": both("wrong usually", "一般情况不对")},
            {"id": "edge", "top": 1.0, "reason": both("wrong at the edge", "边界不对")},
        ],
    },
]


def answer(*options, number=None, sure=None, time="2026-03-01T10:00:00.000000Z"):
    return {"options": list(options), "number": number, "confidence": sure, "time": time}


def student(name, points, states, parts=None, answers=None, beliefs=None, history=(), graded=True):
    return {
        "name": name,
        "graded": graded,
        "points": dict(zip("qnt", points, strict=False)) if graded else {},
        "manual": [],
        "texts": [],
        "states": dict(zip("qnt", states, strict=False)),
        "parts": {"t": parts} if parts else {},
        "answers": answers or {},
        "beliefs": beliefs or {},
        "history": [list(pair) for pair in history],
        "asked": list("qnt"),
        "later": [],
        "lost": False,
    }


AT = "2026-03-01T10:{:02}:00.000000Z".format
CLASS = {
    "lesson": "90_fixture",
    "top": sum(cell["top"] for cell in CELLS),
    "cells": CELLS,
    "beliefs": {"X": both("All is X.", "都是 X。"), "Y": both("All is Y.", "都是 Y。")},
    "students": [
        student(
            "ada",
            (2, 1, 3),
            ("correct",) * 3,
            {"typical": 2.0, "edge": 1.0},
            {"q": answer("b", sure=3), "n": answer(number=3.0, sure=2)},
            {"q": [], "n": []},
            [("q", answer("a", time=AT(0))), ("n", answer(number=3.0, time=AT(4))), ("q", answer("b", time=AT(10)))],
        ),
        student(
            "bob",
            (0, 0, 2),
            ("incorrect", "incorrect", "partly"),
            {"typical": 2.0, "edge": 0.0},
            {"q": answer("a", sure=3), "n": answer(number=4.0)},
            {"q": ["X"], "n": ["X"]},
            [("q", answer("a", time=AT(0))), ("n", answer(number=4.0, time=AT(30)))],
        ),
        student(
            "cyd", (0, 0, 0), ("incorrect", "not attempted", "not attempted"), None, {"q": answer("a")}, {"q": ["X"]}
        ),
        student("dee", (0, 0, 0), ("not attempted",) * 3),
        student("eva", (), (), graded=False),
    ],
    "idle": ["fay"],
}


def test_the_figures_of_a_class_worked_out_by_hand():
    found = analyse(CLASS)
    assert (found["handed_in"], found["counted"], found["blank"], found["without_grade"]) == (5, 3, ["dee"], ["eva"])
    assert found["totals"] == [1.0, pytest.approx(1 / 3, abs=1e-4), 0.0]
    q, n, t = found["cells"]
    assert q["facility"] == {
        "share": pytest.approx(1 / 3, abs=1e-4),
        "low": 0.0615,
        "high": 0.7923,
        "n": 3,
    }  # Wilson, 1 of 3
    assert t["facility"]["share"] == pytest.approx(5 / 9, abs=1e-4)
    assert (q["not_attempted"], n["not_attempted"], t["not_attempted"]) == (0, 1, 1)
    assert [(row["id"], row["count"], row["rest_points"]) for row in q["options"]] == [
        ("a", 2, 1.0),
        ("b", 1, 4.0),
        ("c", 0, None),
    ]
    assert [(row["value"], row["count"], row["right"], row["belief"]) for row in n["numbers"]] == [
        (3.0, 1, True, None),
        (4.0, 1, False, "X"),
    ]
    assert [(part["id"], part["share"], part["n"]) for part in t["parts"]] == [
        ("typical", pytest.approx(2 / 3, abs=1e-4), 3),
        ("edge", pytest.approx(1 / 3, abs=1e-4), 3),
    ]
    (belief,) = found["beliefs"]
    assert (belief["id"], belief["holds"], belief["n"], belief["in_several"], belief["cells"]) == (
        "X",
        2,
        3,
        1,
        ["q", "n"],
    )
    assert [(row["level"], row["right"], row["n"]) for row in found["confidence"]] == [(2, 1, 1), (3, 1, 2)]
    assert q["changed"] == {"students": 1, "with_history": 2, "median_minutes": 10.0}
    assert found["time"] == {"with_history": 2, "quartiles_minutes": [15.0, 20.0, 25.0]}
    assert {cell["discrimination"]["words"] for cell in found["cells"]} == {"few"}
    assert json.loads(json.dumps(found)) == found


def test_the_statistics():
    assert wilson(0.5, 10) == (pytest.approx(0.2366, abs=1e-4), pytest.approx(0.7634, abs=1e-4))
    assert wilson(0.0, 5) == (pytest.approx(0.0), pytest.approx(0.4345, abs=1e-4)) and wilson(1.0, 0) == (0.0, 1.0)
    assert correlation([1, 1, 1], [1, 2, 3]) is None and quartiles([]) is None and quartiles([4.0]) == (4.0, 4.0, 4.0)
    low, high = fisher(0.6, 10)
    assert (round(low, 3), round(high, 3)) == (round(math.tanh(0.6931 - 0.7408), 3), 0.892)


def of(pairs):
    """A class of (points for q out of 2, points for t out of 3)."""
    people = [student(f"s{k}", (q, 1, t), ("correct",) * 3) for k, (q, t) in enumerate(pairs)]
    return analyse({**CLASS, "students": people})


def test_discrimination_by_hand_and_in_words():
    ten = [(2, 3), (2, 3), (2, 3), (2, 3), (2, 1), (0, 1), (0, 1), (0, 1), (0, 1), (0, 3)]  # r = (2.6 - 1.4) / 1 * 0.5
    first = of(ten)["cells"][0]["discrimination"]
    assert first["r"] == 0.6 and first["words"] == "unclear" and first["low"] < 0 < first["high"]
    twice = of(ten * 2)["cells"]
    assert twice[0]["discrimination"]["words"] == "strong" and twice[1]["discrimination"]["words"] == "constant"
    backwards = of([(2 - q, t) for q, t in ten * 2])
    assert backwards["cells"][0]["discrimination"]["words"] == "backwards"
    assert said(backwards)[2] == ("backwards", "q")
    assert of(ten[:9])["cells"][0]["discrimination"] == {"words": "few", "r": None}


def said(found):
    return [(one.reason, one.about) for one in teach_again(found)]


def test_three_sentences_say_what_to_teach_again():
    found = analyse(CLASS)
    assert said(found) == [("hardest", "q"), ("belief", "X"), ("weakest-part", "t")]
    first, second, third = (one.text for one in teach_again(found))
    assert first["en"].startswith("Start with `q`: the class got 33 % of its points (95 % interval 6 % to 79 %)")
    assert "a hint, no more" in first["en"]
    assert "in 2 of 3 students (`q`, `n`): “All is X.”" in second["en"] and "都是 X。" in second["zh"]
    assert "33 %: “wrong at the edge”" in third["en"]
    many = copy.deepcopy(CLASS)
    many["students"] = [copy.deepcopy(CLASS["students"][1]) for _ in range(6)]
    sure = teach_again(analyse(many))[2]
    assert sure.reason == "certain-and-wrong" and "6" in sure.text["en"] and "0 %" in sure.text["en"]
    good = copy.deepcopy(CLASS)
    good["students"] = [copy.deepcopy(CLASS["students"][0]) for _ in range(6)]
    assert [reason for reason, _ in said(analyse(good))] == ["nothing-hard", "no-belief", "nothing-else"]
    papers = copy.deepcopy(good)
    papers["cells"][0]["varies"] = True
    for place, one in enumerate(papers["students"]):
        one["asked"] = ["q"] if place < 4 else []
        if place < 2:
            del one["answers"]["q"]
    assert said(analyse(papers))[2] == ("skipped", "q")
    assert "by 2 of 4" in teach_again(analyse(papers))[2].text["en"], "two of six did not have it"
    assert analyse(papers)["cells"][0]["without"] == 0, "papers differ by intention"
    nobody = {**CLASS, "students": CLASS["students"][3:]}
    assert said(analyse(nobody)) == [("nobody", "")]
    assert "eva" in page(analyse(nobody), "zh", names=True) and "fay" in page(analyse(nobody), names=True)


def test_what_no_copy_asked_and_what_is_worth_nothing_is_no_fault_of_the_class():
    late = copy.deepcopy(CLASS)
    for one in late["students"][1:]:
        one |= {"asked": ["n", "t"], "later": ["q"]}
    found = analyse(late)
    q, n, _ = found["cells"]
    assert (q["facility"]["n"], q["without"], n["without"], found["unasked"]) == (1, 2, 0, [])
    assert q["options"][0]["count"] == 0 and said(found)[0] == ("hardest", "n")
    assert "2 of the 3 counted copies did not have it" in page(found) and "有 2 份还没有它" in page(found, "zh")
    late["students"][0] |= {"asked": ["n", "t"], "later": ["q"]}
    found = analyse(late)
    assert [cell["id"] for cell in found["cells"]] == ["n", "t"] and found["unasked"] == ["q"]
    assert "in none of the copies counted: <code>q</code>" in page(found)
    assert "q" not in [about for _, about in said(found)]
    unread = copy.deepcopy(CLASS)
    for one in unread["students"][:3]:
        one |= {"asked": ["t"], "lost": True, "answers": {}}
    found = analyse(unread)
    assert [cell["id"] for cell in found["cells"]] == ["t"] and found["lost"] == ["ada", "bob", "cyd"]
    assert "not counted for the questions: 3" in page(found) and "题目部分不计入：3" in page(found, "zh")
    free = copy.deepcopy(CLASS)
    free["cells"] = [{**free["cells"][0], "top": 0.0}]
    assert said(analyse(free)) == [("no-points", "")] and "worth nothing" in page(analyse(free))


def test_the_report_says_what_to_do_on_monday():
    remedies = {"X": {"experiments": ["90-see"], "practice": ["90-one", "90-two"]}}
    found = analyse({**CLASS, "remedies": remedies})
    first, second, _ = (one.text for one in teach_again(found))
    assert "by 2 of 3: “first”" in first["en"] and "“一”" in first["zh"]
    assert second["en"].endswith(
        'Let the class bet, then run `observe("90-see")`. To practise: `review("90-one", "90-two")`.'
    )
    assert '先让全班下注，再运行 `observe("90-see")`。练习：`review("90-one", "90-two")`。' in second["zh"]
    made = page(found, "en")
    box = made[made.index('class="teach"') : made.index("</section>")]
    assert (
        '<a href="#q"><code>q</code></a>' in box
        and 'id="q"' in made
        and "observe(" in made[made.index("False beliefs") :]
    )


def test_what_meets_a_belief_exists_in_the_course():
    from course.experiment.base import load_all
    from grader.project import HERE, Project, practice_items
    from grader.reporting.collect import MOST, remedies

    found, known = remedies(Project(HERE), "05_cudnn_benchmark"), practice_items(Project(HERE))
    assert len(found) > 50 and all(len(one[kind]) <= MOST for one in found.values() for kind in one)
    assert {name for one in found.values() for name in one["practice"]} <= set(known)
    assert all(known[name]["kind"] != "predict" for one in found.values() for name in one["practice"])
    shown = [name for one in found.values() for name in one["experiments"]]
    assert shown and set(shown) <= set(load_all())


class Reader(HTMLParser):
    """Whether the tags of a page close, and what it would load."""

    def __init__(self, text):
        super().__init__()
        self.open, self.loads = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.loads += [value for name, value in attributes if name in ("src", "data")] + (
            [tag] if tag in ("script", "link") else []
        )
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert tag in ("line", "circle", "rect")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_is_whole_loads_nothing_and_names_nobody(language):
    found = copy.deepcopy(CLASS)
    found["students"][4]["name"] = "<script>alert(1)</script>"
    text = page(analyse(found), language)
    assert Reader(text).loads == []
    for name in ("ada", "bob", "cyd", "dee", "alert"):
        assert f">{name}" not in text and f" {name}" not in text
    assert ("What should I teach again?" if language == "en" else "哪些需要重讲？") in text
    assert "33 %" in text and "prefers-color-scheme:dark" in text and "@media print" in text
    named = page(analyse(found), language, names=True)
    assert "&lt;script&gt;" in named and "<script" not in named


def test_the_plots_stand_where_the_numbers_are():
    text = pictures.intervals([("a<b", 0.5, 0.25, 1.0)], "plot")
    middle = pictures.LEFT + (pictures.WIDTH - pictures.LEFT - pictures.RIGHT) / 2
    assert f'cx="{middle}"' in text and f'x2="{float(pictures.WIDTH - pictures.RIGHT)}"' in text and "a&lt;b" in text
    text = pictures.histogram([0.0, 0.1, 0.95, 1.0], "plot")
    assert text.count(">1<") == 2 and text.count(">2<") == 1


@pytest.mark.slow
def test_the_command_on_a_class_that_was_really_marked(tmp_path, capsys):
    _, course = make_class(tmp_path)
    to, numbers = tmp_path / "page.html", tmp_path / "numbers.json"
    assert main(["report", LESSON, "--dir", str(course.root), "--to", str(to), "--json", str(numbers)]) == 0
    assert "Start with" in capsys.readouterr().out
    found = json.loads(numbers.read_text())
    assert (found["handed_in"], found["counted"], found["blank"], found["without_grade"]) == (4, 3, 1, 0)
    cells = {cell["id"]: cell for cell in found["cells"]}
    assert cells["90-c-single"]["facility"]["share"] == pytest.approx(2 / 3, abs=1e-4)
    assert [part["share"] for part in cells["90-t-contrast"]["parts"]] == [pytest.approx(2 / 3, abs=1e-4)] * 2
    assert {row["id"]: row["count"] for row in cells["90-c-single"]["options"]} == {"a": 1, "b": 2, "c": 0}
    assert found["beliefs"][0]["id"] == "x" and cells["90-c-order"]["orders"][0]["count"] == 2
    Reader(to.read_text())
    assert main(["report", LESSON, "--dir", str(course.root), "--to", str(to), "--language", "zh"]) == 0
    assert "哪些需要重讲？" in to.read_text()
