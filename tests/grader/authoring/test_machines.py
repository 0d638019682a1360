"""The page of cards: every cell is read from what it names, and a wrong name gets a sentence."""

from __future__ import annotations

import pytest

from course.core import records
from course.experiment import base
from grader.authoring import machines

NAMES, ROWS = machines.read()


def test_every_cell_has_a_source_that_is_there():
    for cell in (cell for row in ROWS for cell in row.cells):
        assert cell.source.startswith("https://") or (machines.FILE.parent / cell.source).is_file()
        assert cell.ratio > 0 and (cell.low is None or cell.low <= cell.ratio <= cell.high), cell


def test_no_cell_comes_from_a_run_that_was_changed_since():
    """A recording of an older version is shown nowhere, so not here either."""
    for cell in (cell for row in ROWS for cell in row.cells if cell.source.endswith(".json")):
        record = records.load(machines.FILE.parent / cell.source)
        assert record.experiment_version == base.get(record.experiment).version, cell.source


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"machine": "toaster"}, "no machine"),
        ({"recording": "07-nothing"}, "no recording"),
        ({"row": {"operation": "dance"}}, "nothing measured fits"),
    ],
)
def test_a_cell_without_its_source_gets_a_sentence(changed, said):
    cell = {"machine": "h100", "what": "x", "recording": "07-speed-cuda", "row": {"operation": "matmul", "size": 256}}
    assert machines._cell(cell, {"h100": "H100"}).ratio < 1
    with pytest.raises(machines.CardsError, match=said):
        machines._cell(cell | changed, {"h100": "H100"})


def test_groups_inverses_and_figures_are_put_into_ratios():
    rows = [{"side": "a", "ms": [9, 2, 2]}, {"side": "b", "ms": "4"}]
    assert machines._ratio({"value": "ms", "with": {"side": "a"}, "without": {"side": "b"}}, rows)[0] == 0.5
    assert (
        machines._ratio({"value": "ms", "with": {"side": "a"}, "without": {"side": "b"}, "inverse": True}, rows)[0] == 2
    )
    assert machines._published({"times": 5})[0] == 0.2
    assert machines._published({"with": 2, "without": 4, "inverse": True})[0] == 2
    assert machines._ratio({"row": {}, "inverse": True}, [{"ratio": 2, "low": 1, "high": 4}]) == (0.5, 0.25, 1)
