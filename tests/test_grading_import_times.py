"""When a hand-in came, as the platforms say it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from grader.importing.place import stamp
from grader.importing.times import Times
from tests.grading_fixtures import LESSON

DUE = datetime(2026, 11, 23, 22, 59)  # 23:59 in Berlin


def stamps(zone: str | None = "Europe/Berlin", due: datetime | None = DUE) -> Times:
    return Times(LESSON, due, zone, 15, {"bob": DUE + timedelta(days=2)})


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Monday, 23 November 2026, 11:59 PM", "2026-11-23 22:59:00 UTC"),
        ("Tuesday, 24 November 2026, 00:05", "2026-11-23 23:05:00 UTC"),
        ("2026年11月23日 星期一 下午11:59", "2026-11-23 22:59:00 UTC"),
        ("2026年11月23日 星期一 23:59", "2026-11-23 22:59:00 UTC"),
        ("-", None),
        ("sometime", None),
    ],
)
def test_a_worksheet_says_when_in_the_time_zone_of_the_course(said, told):
    assert stamps().of({"Last modified (submission)": said}, None, "") == told
    without = stamps(None)
    assert without.of({"Last modified (submission)": said}, None, "") is None
    assert bool(without.said) == (said != "-")


def test_canvas_says_only_who_is_late_and_an_extension_holds():
    times = stamps()
    late = times.of({}, True, "")
    assert late == "2026-11-23 23:15:00 UTC" and times.is_late("ada", late) and not times.is_late("bob", late)
    assert any("counted as 16 minutes" in one for one in times.said)
    assert times.of({}, False, late) == "" and times.of({}, False, "") is None, "late no more: the stamp goes"
    unset = stamps(due=None)
    assert unset.of({}, True, "") is None and any("no due date" in one for one in unset.said)


def test_a_time_written_by_hand_outlives_the_next_import(tmp_path):
    path = tmp_path / "submitted" / "ada" / LESSON / "timestamp.txt"
    path.parent.mkdir(parents=True)

    def put(when: str | None, before: str) -> str | None:
        return stamp(tmp_path, "ada", LESSON, when, before)

    assert put("2026-11-23 23:15:00 UTC", "") is None and path.read_text() == "2026-11-23 23:15:00 UTC"
    assert put("2026-11-24 23:15:00 UTC", path.read_text()) is None and path.read_text() == "2026-11-24 23:15:00 UTC"
    path.write_text("2026-11-28 08:00:00 UTC\n")
    for when in ("2026-11-24 23:15:00 UTC", "", None):
        assert put(when, "2026-11-24 23:15:00 UTC") == "2026-11-28 08:00:00 UTC" and path.exists()
    assert put("", path.read_text()) is None and not path.exists()
