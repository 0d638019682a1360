"""The table of common claims: well made, met by questions, and the page in step with both."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest
import yaml

from course.core.catalog import BY_ID
from course.core.i18n import LANGUAGES
from grader.authoring import claims
from grader.project import Project, ProjectError
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
    path.write_text(yaml.safe_dump(rows, allow_unicode=True), "utf-8")


def test_every_claim_is_well_made_and_every_false_one_is_met():
    assert FAULTS == [] and claims.problems(Project()) == []
    assert len(CLAIMS) > 80


def test_what_the_page_says_of_a_claim(copy):
    text = claims.pages(copy)[claims.page_path(copy)]
    english, chinese = text.split("# 中文\n")
    for part, code in ((english, "en"), (chinese, "zh")):
        for claim in CLAIMS:
            row = next(line for line in part.splitlines() if line.startswith(f"| {claim.id} |"))
            assert claim.says[code] in row and claims.VERDICTS[claim.verdict][code] in row
            for item in MET.get(claim.id, []):
                assert f"`{item.id}`" in row
            assert claim.id in MET or (claims.LATER if claim.later else claims.NOWHERE)[code] in row
    assert "`05-false-how`" in english


def test_a_claim_of_a_lesson_that_does_not_exist_yet_is_left_for_later():
    ahead = [claim for claim in CLAIMS if claim.later]
    assert all(claim.lesson not in BY_ID for claim in ahead)
    assert {claim.lesson for claim in CLAIMS} - {claim.lesson for claim in ahead} <= set(BY_ID)


def test_a_false_claim_that_nobody_meets_is_named(copy):
    path = copy.items("05_cudnn_benchmark")
    path.write_text(path.read_text("utf-8").replace('["0-5", "2-15"]', '["2-15"]'), "utf-8")
    [found] = claims.problems(copy)
    assert found.rule == "claim-not-met" and "0-5" in found
    rewrite(copy, lambda rows: next(row for row in rows if row["id"] == "0-5").update(lesson="99_later"))
    assert claims.problems(copy) == []
    rewrite(
        copy,
        lambda rows: next(row for row in rows if row["id"] == "0-5").update(
            lesson="05_cudnn_benchmark", verdict="misleading"
        ),
    )
    assert claims.problems(copy) == []


def test_an_item_that_refutes_an_unknown_claim_is_named(copy):
    path = copy.items("05_cudnn_benchmark")
    path.write_text(path.read_text("utf-8").replace('["0-5", "2-15"]', '["0-5", "2-15", "9-9"]'), "utf-8")
    [found] = claims.problems(copy)
    assert found.rule == "unknown-claim" and found.startswith("05-false-how: ") and "9-9" in found


@pytest.mark.slow
@pytest.mark.parametrize(
    "change, rule, named",
    [
        (lambda rows: rows[0].pop("truth"), "schema", "entry 1"),
        (lambda rows: rows[0].update(verdict=False), "schema", "verdict"),
        (lambda rows: rows[0].update(verdict="wrong"), "schema", "'wrong'"),
        (lambda rows: rows[0].update(says={"en": "Only English."}), "schema", "says.zh"),
        (lambda rows: rows[0].update(id="one"), "schema", "'one'"),
        (lambda rows: rows[0].update(lesson="five"), "schema", "'five'"),
        (lambda rows: rows.append(dict(rows[0])), "id-taken", CLAIMS[0].id),
        (lambda rows: rows.append("text"), "schema", f"entry {len(CLAIMS) + 1}"),
    ],
)
def test_a_faulty_entry_is_named(copy, change, rule, named):
    rewrite(copy, change)
    assert [one for one in claims.problems(copy) if one.rule == rule and named in one]


def test_no_list_is_an_error_with_the_file(copy):
    claims.path_of(copy).write_text("a: b", "utf-8")
    with pytest.raises(ProjectError, match=r"claims\.yaml"):
        claims.read(copy)


def test_sentences_end_and_no_language_is_mixed_in():
    for claim in CLAIMS:
        for text in (claim.says, claim.truth):
            assert set(text) == set(LANGUAGES)
            assert text["en"].endswith((".", "?")) and text["zh"].endswith(("。", "？"))
            assert text["en"].isascii() or "×" in text["en"]


def test_a_learner_loads_nothing_of_this():
    code = (
        "import sys; from course.questions.bank import Bank; Bank().items(); Bank().faults(); "
        "assert 'grader' not in sys.modules and 'claims' not in ' '.join(Bank().lessons())"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
