"""The table of common claims: well made, and met by questions."""

from __future__ import annotations

import pytest
import yaml

from grader.authoring.reference import claims, claims_met
from grader.project import Project, ProjectError, beliefs
from tests.conftest import ROOT
from tests.support.grading_fixtures import write

MET = claims_met(Project())


def test_every_claim_is_well_made_and_met_by_a_practice_question():
    known = claims(Project())
    assert len(known) >= 35 and [one for one in known if one not in MET] == []


def test_a_claim_that_is_half_made_is_named(tmp_path):
    row = {"en": "One.", "zh": "一。", "truth": {"en": "Two.", "zh": "二。"}, "source": "https://example.org"}
    for fault in ({"source": None}, {"truth": {"en": "Only English."}}):
        half = {name: value for name, value in {**row, **fault}.items() if value is not None}
        write(tmp_path / "course" / "lessons" / "misconceptions.yaml", yaml.safe_dump({"right": row, "half": half}))
        with pytest.raises(ProjectError, match="half: .*go together"):
            claims(Project(tmp_path))


def test_every_belief_is_named_by_a_question():
    """Practice or checkpoint; one that nobody names is dead."""
    keys = "".join(path.read_text("utf-8") for path in (ROOT / "grader" / "lessons").glob("*/keys.yaml"))
    assert [one for one in beliefs(Project()) if one not in MET and one not in keys] == []
