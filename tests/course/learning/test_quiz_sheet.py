"""The answer sheet: two copies, one rule; nothing lost; harvesting never fails."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta, timezone

import pytest

from course.core.catalog import checkpoint_names
from course.learning.harvesting import MIME, harvest
from course.learning.marking import Response
from course.learning.sheet import AnswerSheet, sheet_html, sheet_text

START = datetime(2026, 3, 1, 9, tzinfo=timezone.utc)
ITEMS = ["05-c-one", "05-c-count"]


@pytest.fixture
def sheet(tmp_path):
    return AnswerSheet("05_x", ITEMS, tmp_path)


def notebook(*payloads):
    outputs = [
        {"output_type": "display_data", "data": {MIME: one, "text/plain": ""}, "metadata": {}} for one in payloads
    ]
    return {
        "cells": [{"cell_type": "markdown", "source": ""}, {"cell_type": "code", "outputs": outputs}],
        "nbformat": 4,
    }


def answers(harvested):
    return {item: one["options"] or one["number"] for item, one in harvested[0].items()}


def test_either_copy_alone_is_a_whole_submission(sheet):
    sheet.record("05-c-one", Response(("b",), None, 2), START)
    sheet.record("05-c-count", Response((), 3.0, None), START)
    alone = {"05-c-one": ["b"], "05-c-count": 3.0}
    book, text = notebook(sheet.bundle()[MIME]), sheet.path.read_text("utf-8")
    for one in (harvest(book), harvest({"cells": []}, text), harvest(json.loads(json.dumps(book)), text, "05_x")):
        assert answers(one) == alone and one[1] == []
    assert harvest(book)[0]["05-c-one"] == {
        "options": ["b"],
        "number": None,
        "confidence": 2,
        "time": "2026-03-01T09:00:00.000000Z",
    }


def test_the_latest_answer_counts_and_history_is_kept(sheet):
    sheet.record("05-c-one", Response(("a",)), START)
    old = notebook(json.loads(json.dumps(sheet.payload())))
    sheet.record("05-c-one", Response(("b",)), START + timedelta(minutes=1))
    text = sheet.path.read_text("utf-8")
    assert len(json.loads(text)["history"]) == 2
    assert answers(harvest(old, text)) == {"05-c-one": ["b"]} and harvest(old, text)[1] == []
    assert answers(harvest(old)) == {"05-c-one": ["a"]}


def test_a_clock_set_back_leaves_the_last_answer_the_last(sheet, tmp_path, monkeypatch):
    sheet.record("05-c-one", Response(("a",)), START)
    monkeypatch.setattr("course.learning.sheet.now", lambda: START - timedelta(minutes=10))
    sheet.record("05-c-one", Response(("b",)))
    assert AnswerSheet("05_x", ITEMS, tmp_path).response("05-c-one").options == ("b",)
    old = notebook({"answers": {"05-c-one": {"options": ["a"], "time": "2026-03-01T09:00:00Z"}}})
    assert answers(harvest(old, sheet.path.read_text("utf-8"))) == {"05-c-one": ["b"]}


def test_copies_that_disagree_without_a_reason_are_reported(sheet):
    sheet.record("05-c-one", Response(("b",)), START)
    edited = json.loads(json.dumps(sheet.payload()))
    edited["answers"]["05-c-one"] = {"options": ["c"], "time": "2026-03-01T10:00:00.000000Z"}
    found = harvest(notebook(edited), sheet.path.read_text("utf-8"))
    assert answers(found) == {"05-c-one": ["c"]} and "05-c-one" in found[1][0]["en"]


def test_running_the_first_cell_again_restores_from_the_file_or_the_notebook(sheet, tmp_path):
    sheet.record("05-c-one", Response(("b",), None, 3), START)
    again = AnswerSheet("05_x", ITEMS, tmp_path)
    assert again.response("05-c-one") == Response(("b",), None, 3) and again.history == sheet.history
    for name in checkpoint_names("05_x"):
        saved = tmp_path / f"{name}.ipynb"
        saved.write_text(json.dumps(notebook(sheet.payload())), "utf-8")
        sheet.path.unlink(missing_ok=True)
        assert AnswerSheet("05_x", ITEMS, tmp_path).response("05-c-one").options == ("b",)
        saved.unlink()


def test_two_kernels_do_not_overwrite_each_other(sheet, tmp_path):
    other = AnswerSheet("05_x", ITEMS, tmp_path)
    sheet.record("05-c-one", Response(("b",)), START)
    other.record("05-c-count", Response((), 3.0), START)
    assert answers(harvest({}, sheet.path.read_text("utf-8"))) == {"05-c-one": ["b"], "05-c-count": 3.0}
    assert [one["item"] for one in json.loads(sheet.path.read_text("utf-8"))["history"]] == ITEMS


def test_a_damaged_file_is_set_aside_and_the_work_goes_on(tmp_path):
    path = tmp_path / "05_x.answers.json"
    path.write_bytes(b'{"schema": 1, "answers": {"05-c-\xff')
    sheet = AnswerSheet("05_x", ITEMS, tmp_path)
    assert "damaged" in sheet.take_notices()[0] and list(tmp_path.glob("*.damaged-*"))
    sheet.record("05-c-one", Response(("b",)), START)
    assert answers(harvest({}, path.read_text("utf-8"))) == {"05-c-one": ["b"]}


def test_a_file_that_cannot_be_written_is_said_and_the_notebook_keeps_the_answer(tmp_path):
    sheet = AnswerSheet("05_x", ITEMS, tmp_path / "nowhere")
    sheet.record("05-c-one", Response(("b",)), START)
    assert "could not be written" in sheet.take_notices()[0]
    assert answers(harvest(notebook(sheet.bundle()[MIME]))) == {"05-c-one": ["b"]}
    assert not (tmp_path / "nowhere").exists()


def test_the_list_says_in_words_what_is_answered(sheet):
    sheet.record("05-c-one", Response(()), START)
    assert "0 of 2" in sheet_text(sheet) and "0 of 2" in sheet_html(sheet), "nothing chosen is no answer"
    sheet.record("05-c-one", Response(("b",)), START)
    assert "1 of 2" in sheet_text(sheet) and "05-c-count: not answered" in sheet_text(sheet)
    html = sheet_html(sheet)
    assert '<th scope="col"' in html and "<caption" in html and "answered: b" in html


def test_an_answer_given_in_another_class_is_none_of_this_paper(tmp_path):
    for salt, said in (("last year", "1 of 2"), ("this year", "0 of 2")):
        sheet = AnswerSheet("05_x", ITEMS, tmp_path)
        sheet.salt, sheet.student = salt, "ada"
        if salt == "last year":
            sheet.record("05-c-one", Response(("b",)), START)
        assert said in sheet_text(sheet)
    assert "another class's paper" in sheet_text(sheet) and sheet.on_another("05-c-one")


def test_every_answer_renews_one_display(sheet, monkeypatch):
    import IPython.display

    calls = []
    monkeypatch.setattr(IPython.display, "display", lambda bundle, **more: calls.append((bundle, more)))
    monkeypatch.setattr(IPython.display, "update_display", lambda bundle, **more: calls.append((bundle, more)))
    sheet.show()
    sheet.record("05-c-one", Response(("b",)), START)
    assert {more["display_id"] for _, more in calls} == {sheet.display_id} and all(more["raw"] for _, more in calls)
    assert calls[-1][0][MIME]["answers"]["05-c-one"]["options"] == ["b"]


def test_another_checkpoint_and_odd_forms_are_told_apart(sheet):
    sheet.record("05-c-one", Response(("b",)), START)
    found, problems = harvest(notebook(sheet.payload()), None, "06_y")
    assert found == {} and "another checkpoint" in problems[0]["en"]
    as_text = json.dumps(sheet.payload())
    assert answers(harvest(notebook(as_text))) == {"05-c-one": ["b"]}
    assert answers(harvest(notebook([as_text[:9], as_text[9:]]))) == {"05-c-one": ["b"]}


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {},
        {"options": "b"},
        {"options": [1]},
        {"number": True},
        {"number": "3"},
        {"number": 10**400},
        {"number": float("nan")},
        {"options": [], "number": None},
    ],
)
def test_a_damaged_answer_is_reported_and_the_others_count(answer):
    payload = {
        "schema": 1,
        "checkpoint": "05_x",
        "answers": {"05-c-one": answer, "05-c-count": {"number": 3, "time": "2026-03-01T09:00:00Z"}},
    }
    found, problems = harvest(notebook(payload))
    assert list(found) == ["05-c-count"] and "05-c-one" in problems[0]["en"] and problems[0]["zh"]


def test_an_answer_without_a_time_counts_as_the_oldest():
    bare = {"answers": {"05-c-one": {"options": ["a"]}}}
    dated = {"answers": {"05-c-one": {"options": ["b"], "time": "2020-01-01T00:00:00+08:00"}}}
    found, problems = harvest(notebook(dated, bare))
    assert found["05-c-one"]["options"] == ["b"] and "no valid time" in problems[0]["en"]


def test_harvest_never_raises_whatever_is_in_the_files(sheet):
    sheet.record("05-c-one", Response(("b",)), START)
    text = sheet.path.read_text("utf-8")
    rng = random.Random(5)
    junk = [None, 1, "x", [], {}, [1], {"cells": 3}, {"cells": [1, {"outputs": [1, {"data": 2}]}]}]
    for one in junk:
        harvest(one, text)
        harvest(notebook(one), text[: rng.randrange(len(text))])
    for _ in range(300):
        place = rng.randrange(len(text))
        broken = text[:place] + rng.choice('{}[]",:0x\\') + text[place + rng.randrange(3) :]
        harvest(notebook(broken), broken)
    harvest({}, "[" * 100_000)
