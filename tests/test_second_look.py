"""A student asks for a second look with a text file; the instructor reads all of them as one list."""

from __future__ import annotations

import random
import re

import pytest

from grader.commands import main
from grader.marking.probe import MIME, results
from grader.marking.tasks import judge_task
from grader.project import Project
from grader.reporting.second_look import contact, form, listed, requests
from grader.task import tasks
from tests.graded_class import make_class
from tests.grading_fixtures import LESSON

REPORTS = [task for lesson in Project().checkpoints() for task in tasks(Project(), lesson).values() if task.judge]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return make_class(tmp_path_factory.mktemp("look"))[1]


@pytest.mark.slow
def test_what_the_page_asks_to_send_is_read_and_listed_with_the_marks(course, capsys):
    assert listed(course) == []
    folder = course.root / "second-look"
    folder.mkdir()
    english = form(LESSON, "dee", ["90-c-single", "90-c-number"], "en")
    (folder / "mail 1.txt").write_text(
        english.replace("90-c-single: ", "90-c-single: I meant b,\nas in the lesson"), "utf-8"
    )
    chinese = form(LESSON, "bob", ["90-c-number"], "zh")
    (folder / "2.txt").write_text(chinese.replace("90-c-number：", "90-c-number：单位是 \x1b[31mms，不是 s"), "utf-8")
    (folder / "3.txt").write_text(english.replace("dee", "nobody").replace("90-c-single: ", "90-c-single: x"), "utf-8")
    (folder / "4.txt").write_bytes(b"\xff\xfe" * 40_000)
    (folder / "5.txt").write_text(english, "utf-8")
    said = {line.split()[0].strip(":"): line for line in listed(course)}
    assert any("dee  90-c-single (0 of" in one and "I meant b, as in the lesson" in one for one in listed(course))
    assert any("bob  90-c-number" in one and "不是 s" in one and "\x1b" not in one for one in listed(course))
    assert "has no marks" in said["3.txt"] and "look at the file" in said["4.txt"] and "no reason" in said["5.txt"]
    assert len(requests(course)) == 5 and contact(course.root) == ""
    assert main(["second-look", "--dir", str(course.root)]) == 0 and "I meant b" in capsys.readouterr().out


@pytest.mark.parametrize("task", REPORTS, ids=lambda task: task.id)
@pytest.mark.parametrize("zeros", [308, 400, 5000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_a_number_beyond_all_floats_stops_no_judge(task, zeros, sign):
    """In every field of a report, alone and in lists: it is judged, not left for a look by hand."""
    fields = set(re.findall(r"`(\w+)`", str(task.judge({"x": 1})))) | {
        "low",
        "high",
        "ratios",
        "gate",
        "claim",
        "device",
    }
    digits = f"{sign}1{'0' * zeros}"
    for inner in (digits, f"[{digits}, {digits}, 1, 2, 3, 4, 5]"):
        report = ", ".join(f'"{name}": {inner}' for name in sorted(fields))
        sent = f'{{"call": 0, "state": "value", "value": {{{report}}}}}'
        found = results([{"output_type": "display_data", "data": {MIME: sent}}])
        verdict = judge_task(task, None, found)
        assert "by_hand" not in verdict.evidence, verdict.evidence


def test_a_function_that_returns_such_a_number_is_wrong_and_nothing_more():
    task = tasks(Project(), "08_mps")["08-t-step"]
    cases = task.draw(random.Random(1))
    sent = [f'{{"call": {n}, "state": "value", "value": {"9" * (400 + n)}}}' for n in range(len(cases))]
    found = results([{"output_type": "display_data", "data": {MIME: one}} for one in sent])
    assert judge_task(task, cases, found).points == 0
