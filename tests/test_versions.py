"""What a run on other versions tells: the outcomes that pytest counted, and what could not be installed."""

from __future__ import annotations

import subprocess
import sys

from benchmarks import versions


def test_outcomes_are_read_from_what_pytest_says(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "def test_good(): pass\n"
        "def test_bad(): assert False\n"
        "@pytest.fixture\ndef broken(): raise OSError\n"
        "def test_ugly(broken): pass\n"
        "@pytest.mark.skip\ndef test_left_out(): pass\n",
        encoding="utf-8",
    )
    run = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "test_it.py"]
    said = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True).stdout
    assert versions.counted(said) == {"passed": 1, "failed": 1, "error": 1, "skipped": 1}
    assert set(versions.names_of_failures(said)) == {"test_it.py::test_bad", "test_it.py::test_ugly"}


def test_the_table_tells_what_ran_what_failed_and_what_could_not_be_installed():
    found = [
        versions.Outcome("3.11", "2.13.0", {"passed": 7}, [], 1.5),
        versions.Outcome("3.11", "2.14.1", {"passed": 6, "failed": 1}, ["tests/test_a.py::test_b"], 1.25),
        versions.Outcome("3.10", "2.15.0", {}, [], 0.0, "no such Python"),
    ]
    text = "\n".join(versions.report(found))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| 3.")]
    assert rows[0] == ["3.11", "2.13.0", "7", "0", "0", "0", "1.5"] and rows[2][2:6] == ["-"] * 4
    assert "- `tests/test_a.py::test_b`" in text and "Python 3.10, torch 2.15.0: no such Python" in text


def test_every_part_of_the_suite_that_runs_elsewhere_is_there():
    assert [name for name in versions.TESTS if not (versions.ROOT / name).exists()] == []
