"""A class before its exam: the roster with the id to type, a notebook for each student, and an exam that waits for its day."""

from __future__ import annotations

import nbformat
import pytest

from course.verbs import state
from course.verbs.questions import checkpoint
from course.verbs.student_id import i_am
from grader.cli import main
from grader.course import Course, init
from grader.project import Project
from grader.release.bundling.build import contents

LESSON = "15_review"
ROSTER = "First name,Last name,ID number,Email address\nAda,Lovelace,ada,ada@x.org\nKim,Lee,k1,kim1@x.org\nKim,Lee,k2,kim2@x.org\n"


@pytest.mark.slow
def test_each_student_gets_the_own_notebook_and_nobody_else_gets_the_exam(tmp_path, capsys, monkeypatch):
    root = tmp_path / "class"
    init(root, "en", "exam")
    (tmp_path / "list.csv").write_text(ROSTER, encoding="utf-8")
    assert main(["release", LESSON, "--personal", "--dir", str(root)]) == 1
    assert "roster FILE" in capsys.readouterr().out
    assert main(["roster", str(tmp_path / "list.csv"), "--dir", str(root)]) == 0
    said = capsys.readouterr().out
    assert "Ada Lovelace  ada\n" in said and "3 students, 3 new" in said
    assert (root / "roster.csv").read_text(encoding="utf-8") == ROSTER
    assert main(["release", LESSON, "--personal", "--dir", str(root)]) == 0
    assert "for 3 students" in capsys.readouterr().out
    course = Course(root)
    assert not list((root / "exchange").rglob("*.ipynb"))
    monkeypatch.setattr(
        "grader.release.bundling.build.wheel_of", lambda project: ("course.whl", b"PK\x05\x06" + bytes(18))
    )
    assert not any("checkpoints" in name for name in contents(Project(), ["en"], course))
    notebook = nbformat.read(root / "personal" / LESSON / "k1" / f"{LESSON}_checkpoint.ipynb", as_version=4)
    first = next(cell for cell in notebook.cells if cell.get("id") == "bootstrap").source
    assert 'student="k1"' in first
    assert main(["release", LESSON, "--dir", str(root)]) == 0, "on its day"
    assert list((root / "exchange").rglob("*.ipynb"))
    assert any("checkpoints" in name for name in contents(Project(), ["en"], course))


def test_a_notebook_that_was_made_for_one_student_is_no_others(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUPYTERHUB_USER", "bob")
    checkpoint(LESSON, language="en", paper="0123456789abcdef", student="ada")
    assert state.now.sheet.student == "ada", "the file says whose it is, not the account"
    capsys.readouterr()
    i_am("adda")
    assert state.now.sheet.student == "ada" and "made for ada" in capsys.readouterr().out
    i_am("ADA")
    assert state.now.sheet.student == "ADA"
