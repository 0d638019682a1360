"""The report: a class whose figures were worked out by hand, and the page that shows them."""

from __future__ import annotations

import copy
from html.parser import HTMLParser

import pytest

from course.core.i18n import both
from grader.cli import main
from grader.reporting.report import analyse, page
from tests.support.graded_class import make_class
from tests.support.grading_fixtures import LESSON


def option(name, text, belief=None):
    return {"id": name, "text": text, "right": name == "b", "belief": belief}


CHOICE = {
    "id": "q",
    "kind": "single",
    "top": 2.0,
    "stem": both("Which `one`?", "哪个？"),
    "right": ["b"],
    "options": [option("a", both("first", "一"), "X"), option("b", "second"), option("c", "third", "Y")],
}
NUMBER = {
    "id": "n",
    "kind": "number",
    "top": 1.0,
    "stem": "How many?",
    "right": [],
    "options": [],
    "number": {
        "low": 3.0,
        "high": 3.0,
        "unit": both("sides", "条边"),
        "traps": [{"low": 4.0, "high": 4.0, "belief": "X"}],
    },
}
TASK = {
    "id": "t",
    "kind": "task",
    "top": 3.0,
    "stem": "`contrast`",
    "parts": [{"id": "typical", "reason": "wrong usually"}, {"id": "edge", "reason": "wrong at the edge"}],
}


def student(name, points, states, parts=None, answers=None, graded=True):
    return {
        "name": name,
        "graded": graded,
        "points": dict(zip("qnt", points, strict=False)),
        "texts": [],
        "states": dict(zip("qnt", states, strict=False)),
        "parts": {"t": parts} if parts else {},
        "answers": answers or {},
        "asked": list("qnt"),
    }


def chosen(*options, number=None):
    return {"options": list(options), "number": number}


RIGHT, WRONG, NOT = "correct", "incorrect", "not attempted"
CLASS = {
    "lesson": "90_fixture",
    "top": 6.0,
    "cells": [CHOICE, NUMBER, TASK],
    "beliefs": {"X": both("All is X.", "都是 X。"), "Y": both("All is Y.", "都是 Y。")},
    "remedies": {"X": {"experiments": ["90-see"], "practice": ["90-one", "90-two"]}},
    "students": [
        student(
            "ada", (2, 1, 3), (RIGHT,) * 3, {"typical": 2.0, "edge": 1.0}, {"q": chosen("b"), "n": chosen(number=3.0)}
        ),
        student(
            "bob",
            (0, 0, 2),
            (WRONG, WRONG, "partly"),
            {"typical": 2.0, "edge": 0.0},
            {"q": chosen("a"), "n": chosen(number=4.0)},
        ),
        student("cyd", (0, 0, 0), (WRONG, NOT, NOT), None, {"q": chosen("a")}),
        student("dee", (0, 0, 0), (NOT,) * 3),
        student("<script>eva", (), (), graded=False),
    ],
    "idle": ["fay"],
}


def test_the_figures_of_a_class_worked_out_by_hand():
    found = analyse(CLASS)
    assert (found["handed_in"], found["counted"], found["blank"]) == (5, 3, ["dee"])
    assert found["without_grade"] == ["<script>eva"] and found["totals"] == [6, 2, 0]
    rows = {row["id"]: row for row in found["rows"]}
    assert [row["id"] for row in found["rows"]] == ["q", "n", "t"], "the fewest points first"
    assert [row["share"] for row in found["rows"]] == pytest.approx([1 / 3, 1 / 3, 5 / 9])
    assert [row["skipped"] for row in found["rows"]] == [0, 1, 1] and {row["n"] for row in found["rows"]} == {3}
    assert (rows["q"]["wrong"]["count"], rows["q"]["wrong"]["text"]["en"], rows["q"]["idea"]["en"]) == (
        2,
        "first",
        "All is X.",
    )
    assert (rows["n"]["wrong"]["count"], rows["n"]["wrong"]["text"]["zh"], rows["n"]["idea"]["en"]) == (
        1,
        "4 条边",
        "All is X.",
    )
    assert (rows["t"]["wrong"]["count"], rows["t"]["wrong"]["text"], rows["t"]["idea"]) == (
        1,
        "wrong at the edge",
        None,
    )
    assert rows["q"]["remedy"]["practice"] == ["90-one", "90-two"] and rows["t"]["remedy"] == {}


def test_what_a_paper_does_not_ask_and_what_was_lost_is_no_fault_of_the_class():
    papers = copy.deepcopy(CLASS)
    for one in papers["students"][1:]:
        one["asked"] = ["n", "t"]
    row = next(row for row in analyse(papers)["rows"] if row["id"] == "q")
    assert (row["n"], row["share"], row["skipped"], row["wrong"]) == (1, 1.0, 0, None)
    papers["students"][0]["asked"] = ["n", "t"]
    assert [row["id"] for row in analyse(papers)["rows"]] == ["n", "t"]
    nobody = {**CLASS, "students": CLASS["students"][3:]}
    assert "No marked submission" in page(analyse(nobody)) and "还没有已评分" in page(analyse(nobody), "zh")


class Reader(HTMLParser):
    """Whether the tags of a page close, and what it would load."""

    def __init__(self, text):
        super().__init__()
        self.open, self.loads = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.loads += [value for name, value in attributes if name in ("src", "data", "href")]
        self.loads += [tag] if tag in ("script", "link") else []
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_is_whole_loads_nothing_and_names_nobody(language):
    text = page(analyse(CLASS), language)
    assert Reader(text).loads == []
    assert not any(name in text for name in ("ada", "bob", "cyd", "dee<", "eva", "fay"))
    assert "33 %" in text and 'observe("90-see")' in text and 'review("90-one", "90-two")' in text
    assert ("first" if language == "en" else "都是 X。") in text
    hostile = copy.deepcopy(CLASS)
    hostile["cells"][0]["stem"] = hostile["beliefs"]["X"] = "<script>alert(1)</script>"
    assert "<script" not in page(analyse(hostile), language)


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


@pytest.mark.slow
def test_the_command_on_a_class_that_was_really_marked(tmp_path, capsys):
    _, course = make_class(tmp_path)
    to = tmp_path / "page.html"
    assert main(["report", LESSON, "--dir", str(course.root), "--to", str(to)]) == 0
    assert str(to) in capsys.readouterr().out
    text = to.read_text()
    assert "3 of 4 submissions counted (nothing attempted: 1, no grade: 0)" in text and "67 %" in text
    Reader(text)
    assert main(["report", LESSON, "--dir", str(course.root), "--language", "zh"]) == 0
    assert "哪些要再讲" in (course.root / f"report-{LESSON}.html").read_text()
