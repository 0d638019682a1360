"""The table of common claims: well made, met by questions, and the page in step with both."""

from __future__ import annotations

import shutil

import pytest
import yaml

from grader.authoring import claims
from grader.project import Project
from tests.conftest import ROOT

CLAIMS, FAULTS = claims.read(Project())
MET = claims.met(Project())


@pytest.fixture
def copy(tmp_path):
    """A project with the real questions, where a test may spoil things."""
    shutil.copytree(ROOT / "course" / "lessons", tmp_path / "course" / "lessons")
    return Project(tmp_path)


def rewrite(project, change):
    path = claims.path_of(project)
    rows = yaml.safe_load(path.read_text("utf-8"))
    change(rows)
    path.write_text(yaml.safe_dump(rows, allow_unicode=True, sort_keys=False), "utf-8")


def test_every_claim_is_well_made_and_met():
    assert FAULTS == [] and claims.problems(Project()) == []
    assert len(CLAIMS) >= 35


@pytest.mark.parametrize(
    "change, rule, named",
    [
        (lambda rows: rows["mib-is-mb"].pop("source"), "schema", "go together"),
        (lambda rows: rows["mib-is-mb"].update(truth={"en": "Only English."}), "schema", "truth.zh"),
        (lambda rows: rows["mib-is-mb"].pop("zh"), "schema", "mib-is-mb: zh"),
        (lambda rows: rows.update({"new-idea": rows["mib-is-mb"]}), "claim-not-met", "new-idea"),
    ],
)
def test_a_faulty_entry_is_named(copy, change, rule, named):
    rewrite(copy, change)
    assert [one for one in claims.problems(copy) if one.rule == rule and named in one]


def test_every_belief_is_named_by_a_question():
    """Practice or checkpoint; one that nobody names is dead."""
    keys = "".join(path.read_text("utf-8") for path in (ROOT / "grader" / "lessons").glob("*/keys.yaml"))
    known = yaml.safe_load(claims.path_of(Project()).read_text("utf-8"))
    assert [one for one in known if one not in MET and one not in keys] == []
