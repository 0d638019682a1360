"""Dates: what an instructor writes is what students read, also around a change of clocks."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from dateutil import tz

from grader.project import ProjectError, dates


@pytest.mark.parametrize(
    ("written", "zone", "moment"),
    [
        *(
            (f"2026-12-01 {clock} Europe/Berlin", "Asia/Tokyo", (2026, 12, 1, 22, 59))
            for clock in ("23:59", "23.59", "23：59", "23:59:00")
        ),
        ("2026-12-01 23:59", "Europe/Berlin", (2026, 12, 1, 22, 59)),
        ("2026-07-01", "Europe/Berlin", (2026, 7, 1, 21, 59, 59)),
    ],
)
def test_a_moment_is_in_the_zone_it_names_or_in_that_of_the_course_and_becomes_utc(written, zone, moment):
    assert dates.utc(written, zone) == datetime(*moment)


CLOCKS = ("23", "2359", "23.5", "25:00", "23:60", "11:59 PM", "23h")
NO_MOMENTS = [
    "",
    "2026-12-01 23:59",
    "tomorrow",
    "2026-12-01 23:59 Mars/Base",
    *(f"2026-12-01 {one} UTC" for one in CLOCKS),
]


@pytest.mark.parametrize("said", NO_MOMENTS)
def test_what_is_no_moment_is_refused(said):
    with pytest.raises(ProjectError):
        dates.utc(said)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Sydney", "Asia/Shanghai", "UTC"])
@pytest.mark.parametrize("friday", ["2026-03-27", "2026-10-23", "2026-03-06", "2026-10-30", "2026-04-03", "2026-10-02"])
def test_a_due_date_is_shown_as_it_was_written_in_every_hour_of_the_weekends_on_which_clocks_change(zone, friday):
    place = tz.gettz(zone)
    for hour in range(24 * 4):
        clock = datetime.fromisoformat(friday) + timedelta(hours=hour, minutes=30)
        if tz.datetime_exists(clock, place):
            assert dates.shown(dates.utc(f"{clock:%Y-%m-%d %H:%M}", zone), zone) == f"{clock:%Y-%m-%d %H:%M} {zone}"


@pytest.mark.parametrize(("said", "zone"), [("Asia/Tokyo", "Asia/Tokyo"), ("Nowhere/Else", "UTC")])
def test_the_time_zone_of_the_machine_has_a_name(monkeypatch, said, zone):
    monkeypatch.setenv("TZ", said)
    assert dates.of_machine() == zone
