"""From sources to notebooks: both languages, nothing that gives an answer away, the same bytes each time."""

from __future__ import annotations

import json

import jupytext
import nbformat
import pytest

from grader.authoring import reference
from grader.authoring.leaks import leaks
from grader.authoring.lint import lint
from grader.project import Project, ProjectError
from grader.project.build import (
    assignment_notebook,
    build_all,
    checkpoint_notebook,
    leftovers,
    practice_notebook,
    text_of,
)
from grader.project.build import write as publish
from grader.project.source import read
from grader.project.texts import bootstrap
from tests.support.grading_fixtures import BET, CHECKPOINT, LESSON, LESSON_SOURCE, make_project, write
from tests.support.sources import BOOTSTRAP, code, question, text


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path)


def sources(notebook):
    return [cell.source for cell in notebook.cells]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (text("x", "fr"), "source:1: this text says no language"),
        (code("x = 1") + "+++\n\nwords\n", "source:5: this text says no language"),
        (text("why?", more=', "essay": "50-e-why"'), "source:1: the text '50-e-why' says no points"),
        (text("x") + code(""), "source:5: this cell is empty"),
        ("+++ {lang\n\nx\n", "source: "),
    ],
)
def test_a_bad_source_is_one_sentence_with_its_line(source, sentence, tmp_path):
    (tmp_path / "source").write_text(source, "utf-8")
    with pytest.raises(ProjectError, match=sentence):
        read(tmp_path / "source")


def test_each_language_gets_its_prose_and_its_comments(project):
    english, chinese = (practice_notebook(project, LESSON, language) for language in ("en", "zh"))
    assert "# Why does a fixture exist?" in sources(english)
    assert "# 为什么需要一个夹具？" in sources(chinese)
    assert "# step 1\nvalue_1 = 1" in sources(english)
    assert "# 第 1 步\nvalue_1 = 1" in sources(chinese)
    assert [cell.id for cell in english.cells] == [cell.id for cell in chinese.cells]
    assert english.cells[-1].metadata.tags == ["raises-exception"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_bootstrap_says_how_to_install_and_is_short(project, language):
    code = next(cell.source for cell in practice_notebook(project, LESSON, language).cells if cell.id == "bootstrap")
    shown = []
    said = {"print": lambda *words: shown.append(" ".join(words))}
    exec(code.replace("from course import *", "import a_package_nobody_has"), said)
    assert "`a_package_nobody_has`" in shown[0] and "%pip install" in shown[0]
    called = []
    names = {"lesson": lambda *a, **k: called.append((a, k))}
    exec(code.replace("from course import *", "pass"), names)
    assert called == [((LESSON,), {"language": language})] and "torch" in names


def test_the_bootstrap_installs_from_the_repository_or_a_folder_never_by_name(project):
    pyproject = project.root / "pyproject.toml"
    pyproject.write_text('[project]\nname = "torch-backends-course"\n')
    assert "torch-backends-course" not in bootstrap(project, "lesson", LESSON, "en")
    pyproject.write_text('[project.urls]\nRepository = "https://example.org/c.git"\n')
    code = bootstrap(project, "lesson", LESSON, "en")
    assert '`%pip install "torch-backends-course[course]@git+https://example.org/c.git"`' in code


def test_the_notebooks_are_valid_and_the_same_each_time(project):
    for build in (practice_notebook, checkpoint_notebook, assignment_notebook):
        for language in ("en", "zh"):
            notebook = build(project, LESSON, language)
            nbformat.validate(notebook)
            assert text_of(notebook) == text_of(build(project, LESSON, language))
            assert notebook.metadata.kernelspec.name == "python3"
            assert all(not cell.get("outputs") for cell in notebook.cells)


def test_the_checkpoint_carries_points_and_ids_and_no_solution(project):
    notebook = checkpoint_notebook(project, LESSON, "en")
    graded = {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if "nbgrader" in cell.metadata}
    points = {name: cell.metadata.nbgrader.points for name, cell in graded.items() if cell.metadata.nbgrader.grade}
    assert points == {
        "90-c-single": 2,
        "90-c-multiple": 2,
        "90-c-number": 1,
        "90-c-order": 2,
        "90-t-contrast": 3,
        "90-t-report": 3,
    }
    assert graded["90-c-single"].source == 'question("90-c-single")'
    assert graded["90-t-contrast"].source == 'check("90-t-contrast")'
    answer = graded["90-t-contrast-answer"]
    assert answer.metadata.nbgrader.solution and "difference_of_both" not in answer.source
    assert answer.source.endswith("    # YOUR CODE HERE\n    raise NotImplementedError")
    inside = assignment_notebook(project, LESSON, "en")
    assert any("difference_of_both" in cell.source for cell in inside.cells)


def test_what_is_out_of_step_is_written_and_what_has_no_source_is_named(project):
    made, problems = build_all(project)
    assert problems == [] and len(made) == 4
    assert len(publish(made)) == 4 and publish(made) == []
    changed, extra = next(iter(made)), project.notebooks / "en" / "lessons" / "91_gone.ipynb"
    changed.write_text("{}")
    write(extra, "{}")
    assert publish(made) == [changed] and leftovers(project, made) == [extra]


@pytest.mark.parametrize(
    ("old", "new", "rule", "named"),
    [
        (text("## 第 1 步看得见\n几个字，带 `code` 和**重点**。", "zh"), "", "twin-missing", ""),
        ('predict("90-bet")', 'predict("90-lost")', "unknown-id", "'90-lost'"),
        ('predict("90-bet")', 'observe("90-run")', "unknown-id", "'90-run'"),
        ('predict("90-bet")', 'observe(["90-run"])', "unknown-id", "'90-run'"),
        ("# Why does a fixture exist?", "# Why does a [[nonsense]] exist?", "unknown-term", "[[nonsense]] is not in"),
        (BOOTSTRAP, "", "bootstrap-first", ""),
        ("value_1 = 1", "value_1 = = 1", "code-syntax", ""),
        ("".join(LESSON_SOURCE.partition(BET)[1:]), "", None, ""),
    ],
)
def test_lint_names_rule_file_and_line(project, old, new, rule, named):
    assert old in LESSON_SOURCE
    write(project.lesson_source(LESSON), LESSON_SOURCE.replace(old, new, 1))
    found = lint(project)
    assert [one for one in found if one.rule != rule] == []
    assert all(one.startswith(f"{project.lesson_source(LESSON)}:") and named in one for one in found)
    assert rule in [one.rule for one in found] if rule else found == []


@pytest.mark.parametrize(
    ("old", "new", "rule", "named"),
    [
        (question("90-c-order"), "", "never-asked", "'90-c-order'"),
        (question("90-c-order"), question("90-c-lost"), "unknown-id", "'90-c-lost'"),
        ("### BEGIN SOLUTION", "# nothing", "solution-marks", "'90-t-contrast'"),
        (question("90-c-order"), question("90-c-order") * 2, "asked-twice", "'90-c-order'"),
        (":task: 90-t-report", ":task: 90-t-lost", "task-missing", "grader/lessons/l90_fixture/tasks.py"),
    ],
)
def test_lint_reads_a_checkpoint_with_its_items_keys_and_tasks(project, old, new, rule, named):
    write(project.checkpoint_source(LESSON), CHECKPOINT.replace(old, new, 1))
    assert [one for one in lint(project) if one.rule == rule and named in one]


@pytest.mark.parametrize(
    ("path", "text", "rule"),
    [
        (
            "course/hints.py",
            "def f(high, low):\n    difference_of_both = high - low\n    return difference_of_both / (high + low)\n",
            "leaked-solution",
        ),
        ("course/a.yaml", "x: The secret reason for option b stands here.", "leaked-explanation"),
        ("course/b.py", "from grader.project import Project\n", "imports-grader"),
        (
            "course/c.py",
            "def check(low, high):\n"
            "    typical = [Case('typical', (rng.randint(2, 50), rng.randint(51, 1000)))"
            " for _ in range(5)]\n    return typical + [Case('edge', (0, 7)), Case('edge', (5, 5))]\n",
            "leaked-task",
        ),
    ],
)
def test_the_leak_scan_finds_what_a_learner_must_not_get(project, path, text, rule):
    write(project.root / path, text)
    found = leaks(project, {})
    assert {one.rule for one in found} == {rule} and all(one.startswith(f"{project.root / path}: ") for one in found)


def test_a_key_among_the_questions_is_found(project):
    path = project.checkpoint_items(LESSON)
    path.write_text(path.read_text("utf-8").replace("points: 2", "points: 2\n  correct: [b]", 1), "utf-8")
    assert any(one.rule == "schema" and "'correct'" in one for one in lint(project))


def test_the_leak_scan_finds_a_solution_line_in_a_checkpoint(project):
    made, _ = build_all(project)
    path = next(p for p in made if p.parent.name == "checkpoints")
    notebook = json.loads(made[path])
    notebook["cells"][-1]["source"] = ["x = 1\n", 'report = {"median_ms": 1.25, "repeats": 7}']
    assert {one.rule for one in leaks(project, {path: json.dumps(notebook)})} == {"leaked-solution"}


def test_a_source_saved_by_jupyterlab_unchanged_stays_the_same(tmp_path):
    project = Project()
    sources = [
        *map(project.lesson_source, project.lessons()),
        *map(project.checkpoint_source, project.checkpoints()),
        *(
            project.practice_source(kind, name)
            for kind in ("tool", "project")
            for name in getattr(project, f"{kind}s")()
        ),
    ]
    assert len(sources) == 35
    for source in sources:
        text = source.read_text("utf-8")
        notebook = jupytext.reads(text, fmt="md:myst")
        notebook.metadata["language_info"] = {"name": "python", "version": "3.12", "pygments_lexer": "ipython3"}
        assert jupytext.writes(notebook, fmt="md:myst") == text, source


@pytest.mark.slow
def test_the_project_itself_is_in_step_and_sound():
    """Its notebooks, and the pages of docs/ that are made from data."""
    project = Project()
    made, problems = build_all(project)
    assert problems + lint(project) + leaks(project) + leftovers(project, made) == []
    differing = [path for path, text in (made | reference.pages(project)).items() if path.read_text("utf-8") != text]
    assert differing == [], "make notebooks"
