"""A released checkpoint brings its questions along: what stands in it counts, not what the student has installed."""

from __future__ import annotations

import json

import pytest

import course
from course.verbs import state
from course.verbs.checkpoints import embedded_questions
from grader.authoring.leaks import leaks
from grader.project import Project
from grader.project.build import checkpoint_notebook
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project


@pytest.fixture
def released(tmp_path):
    return json.loads(json.dumps(checkpoint_notebook(make_project(tmp_path / "project"), LESSON, "en")))


@pytest.fixture
def opened(tmp_path, monkeypatch):
    def open_(notebook, name=f"{NOTEBOOK}.ipynb"):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(state, "now", state.State())
        monkeypatch.setenv("COURSE_TEXT", "1")
        monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / name))
        (tmp_path / name).write_text(json.dumps(notebook), encoding="utf-8")
        course.checkpoint(notebook["metadata"]["course"]["lesson"])

    return open_


def test_a_mended_typo_needs_no_newer_package(opened, capsys):
    notebook = json.loads(json.dumps(checkpoint_notebook(Project(), "05_cudnn_benchmark", "en")))
    notebook["metadata"]["course"]["questions"][0]["stem"]["en"] = "A mended question, word for word?"
    opened(notebook, "handed out.ipynb")
    course.question(notebook["metadata"]["course"]["questions"][0]["id"])
    said = capsys.readouterr().out
    assert "A mended question, word for word?" in said


def test_a_checkpoint_that_no_package_knows_is_answered_and_kept(opened, released, capsys):
    opened(released)
    course.question("90-c-single")
    course.answer("90-c-single", "b")
    course.check("90-t-contrast")
    said = capsys.readouterr().out
    assert "Which letter is second?" in said and "There is no `contrast` yet" in said or "no contrast yet" in said
    assert state.now.sheet.answers["90-c-single"]["options"] == ["b"]


def test_of_the_saved_notebooks_the_one_of_this_checkpoint_counts_and_unknown_questions_are_told(released):
    items, tasks, said = embedded_questions([None, {}, released], LESSON)
    assert len(items) == 4 and tasks == {"90-t-contrast": "contrast", "90-t-report": "report"} and said == []
    released["metadata"]["course"]["questions"][0]["kind"] = "invented"
    assert embedded_questions([released], LESSON)[0] == [] and len(embedded_questions([released], LESSON)[2]) == 1
    assert embedded_questions([released], "02_timing") == ([], {}, [])


def test_what_travels_unseen_is_looked_through_for_keys(tmp_path):
    project = make_project(tmp_path)
    made = checkpoint_notebook(project, LESSON, "en")
    path = project.notebooks / "en" / "checkpoints" / f"{NOTEBOOK}.ipynb"
    assert leaks(project, {path: json.dumps(made)}) == []
    made.metadata.course.questions[0]["why"] = "The secret reason for option a stands here."
    assert any("explanation" in sentence for sentence in leaks(project, {path: json.dumps(made)}))
