"""The exam in a small class that is really marked: everybody has a paper of their own, a copied one earns what it deserves and
shows, marks are the same wherever and however often they are made, and the student's kernel finds no key.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil

import nbformat
import pytest

from course.learning.marking import mark
from grader.cli import main
from grader.cli.made_up import Student, answers, work
from grader.course import Course, init
from grader.course.marks import cell_marks
from grader.handin.answers import keyed_items
from grader.handin.papers import answered_papers, paper_of, released_salt
from grader.marking.autograde import How, autograde
from grader.marking.outcomes import outcomes
from grader.marking.step import grade_id
from grader.project import Infrastructure, Project
from grader.project.build import answer_id
from grader.project.task import tasks
from grader.release.run import release
from grader.reporting.export import final_points
from grader.reporting.report import figures
from grader.reporting.summary import summary
from tests.support.grading_class import copy_of, stock

pytestmark = pytest.mark.slow
PROJECT, LESSON, WHEN = Project(), "15_review", "2026-03-01 12:00:00.000000 UTC"
NOTEBOOK = f"{LESSON}_checkpoint"
QUIET = How(jobs=1)
PUPILS = (
    Student("ada"),
    Student("bob", quiz="half", tasks="first"),
    Student("cyd"),  # hands in ada's files
    Student("dee"),  # typed "deee" when asked whose paper it is
    Student("eve", quiz="wrong", tasks="none"),  # looks for the keys instead
)
# Finds the formulas of the keys, the secret or a module of the grader, in all files and all objects of its process. It knows
# them by their hashes alone, or it would find its own words.
SPY = """
import gc, hashlib, os, sys
def known(words): return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest() in {HASHES}
def count_searches(events):
    return 0
found = [name for name in sys.modules if name.split(".")[0] == "grader" and "sandbox" not in name]
for folder, inner, names in os.walk("/"):
    if folder.startswith(("/proc", "/sys", "/dev")):
        inner.clear()
    found += [name for name in names if known(name)]
gc.unfreeze()  # what was there before the fork
looked = 0
for one in gc.get_objects():
    for inside in (list(one.values()) if type(one) is dict else one if type(one) in (list, tuple) else ()):
        looked += 1
        if type(inside) is str and len(inside) < 400 and known(inside):
            found.append("the formula of a key")
print("looked everywhere", "ESCAPED" if found or looked < 100000 else "nothing", looked, found[:5])
"""


def spy() -> str:
    secret = [b"bandwidth * intensity", b"images * side ** 2 * outputs * inputs * 9", b"marking_secret", b"keys.yaml"]
    assert all(one.decode() in PROJECT.keys(LESSON).read_text(encoding="utf-8") for one in secret[:2])
    return SPY.replace("{HASHES}", repr({hashlib.sha256(one).hexdigest() for one in secret}))


def hand_in(course: Course, student: Student, as_whom: str = "") -> None:
    folder = course.root / "submitted" / student.name / LESSON
    folder.mkdir(parents=True)
    if student.name == "cyd":
        shutil.copytree(course.root / "submitted" / "ada" / LESSON, folder, dirs_exist_ok=True)
        return
    shutil.copy(course.root / "release" / LESSON / f"{NOTEBOOK}.ipynb", folder)
    (folder / "timestamp.txt").write_text(WHEN)
    written = Student(as_whom or student.name, student.quiz, student.tasks)
    work(PROJECT, LESSON, "en", written, folder)
    if student.name == "eve":
        path = folder / f"{NOTEBOOK}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        next(cell for cell in notebook.cells if grade_id(cell) == answer_id("15-t-searches")).source = spy()
        nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    root = tmp_path_factory.mktemp("papers") / "class"
    init(root, "en", "papers")
    # With another secret other papers are drawn: in one of some hundred classes the copied answers fit nearly as well.
    (root / "marking_secret").write_bytes(b"of the test".ljust(32))
    made = Course(root)
    release(made, LESSON)
    for student in PUPILS:
        hand_in(made, student, "deee" if student.name == "dee" else "")
    autograde(made, LESSON, how=QUIET, say=lambda line: None)
    return made


def paper(course: Course, student: str):
    released = nbformat.read(course.root / "release" / LESSON / f"{NOTEBOOK}.ipynb", as_version=4)
    return keyed_items(PROJECT, LESSON, paper_of(released, LESSON, student, answered_papers(course.root, LESSON)))


def points(course: Course) -> dict[str, dict[str, float]]:
    return {
        name: {cell: mark.points or 0.0 for cell, mark in cells.items()}
        for name, cells in cell_marks(course, LESSON).items()
    }


def deserved(course: Course, mine: str, given_by: str, quiz: str = "right") -> dict[str, float]:
    """What the answers of one student are worth on the paper of another."""
    given = answers(Student(given_by, quiz=quiz), paper(course, given_by))
    items = paper(course, mine).items()
    return {name: mark(item, given[name]).points if name in given else 0.0 for name, item in items}


def full_tasks() -> dict[str, float]:
    return {name: float(task.points) for name, task in tasks(PROJECT, LESSON).items()}


def test_everybody_gets_what_the_own_paper_deserves_and_a_copied_one_shows(course):
    got, full = points(course), full_tasks()
    assert got["ada"] == {**{name: float(item.points) for name, item in paper(course, "ada").items()}, **full}
    assert got["bob"] == deserved(course, "bob", "bob", "half") | {"15-t-searches": 5.0, "15-t-claim": 0.0}
    assert sum(got["eve"].values()) == 0
    found = {one.student: one for one in outcomes(course, LESSON)}
    for name, whose in (("cyd", "ada"), ("dee", "deee")):
        assert (found[name].points, found[name].verdict) == (None, "look"), "no zero for a mistyped id"
        assert f"on the paper of “{whose}”" in " ".join(found[name].problems)
    assert not any("paper of" in " ".join(found[name].problems) for name in ("ada", "bob", "eve"))
    assert final_points(course, LESSON)["dee"] is None


def test_what_is_held_back_is_marked_when_somebody_has_looked_and_shows_no_key_before(course, tmp_path, capsys):
    other = Course(copy_of(course.root, tmp_path / "looked"))
    kept = (other.autograded("cyd", LESSON)).read_text(encoding="utf-8")
    assert "Held back" in kept and "right answer" not in kept
    assert "Held back" not in other.autograded("ada", LESSON).read_text(encoding="utf-8"), "hers is her own"
    assert main(["feedback", LESSON, "--early", "--dir", str(other.root)]) == 0
    page = (other.root / "feedback" / "cyd" / LESSON / f"{NOTEBOOK}.html").read_text(encoding="utf-8")
    assert "Not marked yet" in page and "→ " not in page and "right answer" not in page
    capsys.readouterr()
    assert main(["autograde", LESSON, "--accept", "cyd", "--jobs", "1", "--dir", str(other.root)]) == 0
    assert "held back until you have looked, 1: dee" in capsys.readouterr().out
    got = points(other)
    assert got["cyd"] == deserved(course, "cyd", "ada") | full_tasks()
    assert sum(got["ada"].values()) - sum(got["cyd"].values()) >= 4
    assert main(["autograde", LESSON, "--jobs", "1", "--dir", str(other.root)]) == 0 and points(other) == got


def test_a_notebook_of_another_release_is_held_and_a_class_of_them_can_be_marked_on_its_own_papers(tmp_path, capsys):
    """Last year's, or the secret was made anew: its questions hold other numbers than those that marks are computed with."""
    courses = []
    for secret in (b"of last year", b"of this year"):
        root = tmp_path / secret.decode()
        init(root, "en", "papers")
        (root / "marking_secret").write_bytes(secret.ljust(32))
        courses.append(Course(root))
        release(courses[-1], LESSON)
    old, new = courses
    for name in ("gus", "hal", "ida"):
        hand_in(old, Student(name))
        shutil.copytree(old.root / "submitted" / name, new.root / "submitted" / name)
    this_year = json.loads((new.root / "release" / LESSON / f"{NOTEBOOK}.ipynb").read_text("utf-8"))["metadata"]
    for name, says in (("hal", {}), ("ida", this_year)):  # the first cell says it, too, and each answer
        path = new.root / "submitted" / name / LESSON / f"{NOTEBOOK}.ipynb"
        path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"metadata": says}), "utf-8")
    found = autograde(new, LESSON, how=QUIET, say=lambda line: None)
    assert all(one.points is None and one.reason == "held" for one in found), "no zero"
    assert all(len(one.problems) == 1 and "in another course folder" in one.problems[0] for one in found), "told once"
    assert "made from another release, 3 (" in (said := summary(found))
    assert main(["feedback", LESSON, "--early", "--dir", str(new.root)]) == 0
    page = (new.root / "feedback" / "gus" / LESSON / f"{NOTEBOOK}.html").read_text("utf-8")
    assert "in another course folder" in page and "right answer" not in page
    (new.root / "papers.yaml").write_text(re.search(r"`(salts: .*?)`", said)[1], "utf-8")
    found = autograde(new, LESSON, how=QUIET, say=lambda line: None)
    assert [one.points for one in found] == [18, 18, 18]
    assert main(["feedback", LESSON, "--early", "--dir", str(new.root)]) == 0


def test_the_kernel_of_a_student_finds_no_key(course):
    notebook = nbformat.read(course.autograded("eve", LESSON), as_version=4)
    shown = json.dumps([cell.get("outputs", []) for cell in notebook.cells])
    assert "looked everywhere nothing" in shown and "ESCAPED" not in shown
    released = (course.root / "release" / LESSON / f"{NOTEBOOK}.ipynb").read_text("utf-8")
    assert (
        released_salt(json.loads(released)) and (course.root / "marking_secret").read_bytes().hex()[:16] not in released
    )


def test_the_marks_are_the_same_again_elsewhere_and_under_stock_nbgrader(course, tmp_path):
    other = Course(copy_of(course.root, tmp_path / "elsewhere"))
    before, said = points(other), []
    autograde(other, LESSON, how=How(jobs=1, again=True), say=said.append)
    assert points(other) == before and said[-1] == f"{LESSON}: marked again, marks that differ: 0"
    stock(other, LESSON, "cyd")
    assert points(other) == before
    assert "on the paper of “ada”" in " ".join(one for out in outcomes(other, LESSON) for one in out.problems)


def test_releasing_again_keeps_the_papers_and_a_slip_of_the_pen_can_be_mended(course, tmp_path):
    other = Course(copy_of(course.root, tmp_path / "mended"))
    notebook = other.root / "release" / LESSON / f"{NOTEBOOK}.ipynb"
    salt = released_salt(json.loads(notebook.read_text("utf-8")))
    (other.root / "marking_secret").write_bytes(b"another".ljust(32))
    assert main(["release", LESSON, "--dir", str(other.root)]) == 0
    assert salt == released_salt(json.loads(notebook.read_text("utf-8")))
    (other.root / "papers.yaml").write_text(f"{LESSON}:\n  dee: deee\n")
    found = {one.student: one for one in autograde(other, LESSON, ["dee"], QUIET, say=lambda line: None)}
    assert sum(points(other)["dee"].values()) == sum(points(other)["ada"].values())
    assert "paper of" not in " ".join(found["dee"].problems)
    (other.root / "papers.yaml").write_text(f"{LESSON}: dee\n")
    with pytest.raises(Infrastructure, match="papers.yaml"):
        answered_papers(other.root, LESSON)


def test_the_report_puts_the_variants_of_a_question_together(course):
    found = figures(course, LESSON)
    papers = [{item.key for item in paper(course, name).values()} for name in ("ada", "bob", "eve")]
    assert found["counted"] == 3
    counts = {row.subject.id: row.n for row in found["rows"]}
    assert counts == {key: sum(key in asked for asked in papers) for key in set().union(*papers)} | dict.fromkeys(
        full_tasks(), 3
    )


def test_a_group_answers_on_the_paper_that_papers_yaml_names_for_the_first_of_it(tmp_path):
    (tmp_path / "groups.yaml").write_text(f"{LESSON}: [[ada, bob], [cyd, dee]]\n", "utf-8")
    (tmp_path / "papers.yaml").write_text(f"{LESSON}: {{ada: adda, dee: 7}}\n", "utf-8")
    assert answered_papers(tmp_path, LESSON) == {"ada": "adda", "bob": "adda", "dee": "7"}
