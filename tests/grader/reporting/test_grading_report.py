"""The report: a class whose figures were worked out by hand, and the page that shows them."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from course.core.i18n import both, pick
from course.questions.items import Trap
from grader.cli import main
from grader.handin.answers import keyed_items
from grader.project.task import tasks
from grader.reporting.report import Row, Seen, page, tally
from tests.support.graded_class import make_class
from tests.support.grading_fixtures import LESSON, make_project

CHOICE, NUMBER, TASK = "90-c-single", "90-c-number", "90-t-contrast"
RIGHT, WRONG, NOT = "correct", "incorrect", "not attempted"


def chosen(*options, number=None):
    return {"options": list(options), "number": number}


@pytest.fixture(scope="module")
def subjects(tmp_path_factory) -> dict:
    """Three of the fixture's questions: one of the options and a number of the second stand for an idea."""
    project = make_project(tmp_path_factory.mktemp("project"))
    items = keyed_items(project, LESSON)
    number = replace(items[NUMBER].number, traps=(Trap(4.0, 4.0, "four", "x"),))
    return {CHOICE: items[CHOICE], NUMBER: replace(items[NUMBER], number=number), TASK: tasks(project, LESSON)[TASK]}


def seen(subjects, points, states, parts=None, answers=None, without=()):
    asked = {name: one for name, one in subjects.items() if name not in without}
    given = dict(zip(subjects, points, strict=True)), dict(zip(subjects, states, strict=True))
    return Seen(asked, *given, {TASK: parts} if parts else {}, answers or {})


def figures_of(subjects, without=()) -> dict:
    """A class of five; without: what all papers but ada's do not ask."""
    right = {CHOICE: chosen("b"), NUMBER: chosen(number=3.0)}
    wrong = {CHOICE: chosen("a"), NUMBER: chosen(number=4.0)}
    found = {
        "ada": seen(subjects, (2, 1, 3), (RIGHT,) * 3, {"typical": True, "edge": True}, right),
        "bob": seen(subjects, (0, 0, 2), (WRONG, WRONG, "partly"), {"typical": True, "edge": False}, wrong, without),
        "cyd": seen(subjects, (0, 0, 0), (WRONG, NOT, NOT), None, {CHOICE: chosen("a")}, without),
        "dee": seen(subjects, (0, 0, 0), (NOT,) * 3, None, None, without),
        "<script>eva": None,
    }
    about = {"lesson": LESSON, "top": 6.0, "idle": ["fay"], "beliefs": {"x": both("All is X.", "都是 X。")}}
    about["remedies"] = {"x": {"experiments": ["90-see"], "practice": ["90-one", "90-two"]}}
    return {**about, **tally({name: Row(one, one.points) for name, one in subjects.items()}, found)}


def test_the_figures_of_a_class_worked_out_by_hand(subjects):
    found = figures_of(subjects)
    assert (found["handed_in"], found["counted"], found["blank"]) == (5, 3, ["dee"])
    assert found["without_grade"] == ["<script>eva"] and found["totals"] == [6, 2, 0]
    assert [row.subject.id for row in found["rows"]] == [CHOICE, NUMBER, TASK], "the fewest points first"
    assert [row.share for row in found["rows"]] == pytest.approx([1 / 3, 1 / 3, 5 / 9])
    assert [row.skipped for row in found["rows"]] == [0, 1, 1] and {row.n for row in found["rows"]} == {3}
    choice, number, task = (row.worst for row in found["rows"])
    assert (choice["count"], choice["text"], choice["belief"]) == (2, subjects[CHOICE].option("a").text, "x")
    assert (number["count"], number["text"]["zh"], number["belief"]) == (1, "4 条边", "x")
    assert (task["count"], task["text"]["en"], task["belief"]) == (1, "Wrong where one is zero or both equal.", None)


def test_what_a_paper_does_not_ask_and_what_was_lost_is_no_fault_of_the_class(subjects):
    row = next(row for row in figures_of(subjects, [CHOICE])["rows"] if row.subject.id == CHOICE)
    assert (row.n, row.share, row.skipped, row.worst) == (1, 1.0, 0, None)
    nobody = {**figures_of(subjects), **tally({}, {"eva": None})}
    assert "No marked submission" in page(nobody) and "还没有已评分" in page(nobody, "zh")


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
def test_the_page_is_whole_loads_nothing_and_names_nobody(language, subjects):
    text = page(figures_of(subjects), language)
    assert Reader(text).loads == []
    assert not any(name in text for name in ("ada", "bob", "cyd", "dee<", "eva", "fay"))
    assert "33 %" in text and 'observe("90-see")' in text and 'review("90-one", "90-two")' in text
    assert (
        pick(subjects[CHOICE].option("a").text, language) in text
        and pick(both("All is X.", "都是 X。"), language) in text
    )
    script = "<script>alert(1)</script>"
    hostile = figures_of({**subjects, CHOICE: replace(subjects[CHOICE], stem=script)})
    assert "<script" not in page({**hostile, "beliefs": {"x": script}}, language)


def test_what_meets_a_belief_exists_in_the_course():
    from course.experiment.base import load_all
    from grader.project import HERE, Project, practice_items
    from grader.project.beliefs import MOST, remedies

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
