"""Dates around a change of clocks: what an instructor writes is what students read, and a day is a day of the calendar."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from dateutil import tz

from grader import dates
from grader.late_rules import Extension, Rules, Table
from grader.project import ProjectError

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Sydney", "Asia/Shanghai", "UTC")
WEEKENDS = (
    "2026-03-27",
    "2026-10-23",
    "2026-03-06",
    "2026-10-30",
    "2026-04-03",
    "2026-10-02",
)  # the Friday before each change
HOURS = 24 * 4


@pytest.mark.parametrize("written", ["23:59", "23.59", "23：59", "23:59:00", "23.59.00"])
def test_a_clock_is_read_with_colons_and_with_dots(written):
    assert dates.utc(f"2026-12-01 {written} Europe/Berlin") == datetime(2026, 12, 1, 22, 59)


@pytest.mark.parametrize("written", ["23", "2359", "23.5", "25:00", "23:60", "11:59 PM", "23h"])
def test_a_clock_that_is_not_clear_is_refused(written):
    with pytest.raises(ProjectError, match="write it like"):
        dates.utc(f"2026-12-01 {written} Europe/Berlin")


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("friday", WEEKENDS)
def test_every_hour_of_the_weekends_on_which_clocks_change(zone, friday):
    """The due date is shown as it was written; an extension by days ends at the same time of day; who hands in at that time of day
    so many days later is so many days late, and a minute later begins the next day.
    """
    start, place = datetime.fromisoformat(friday), tz.gettz(zone)
    rules = Rules(Table(per_day_percent=1), extensions=(Extension("ada", days=2),), timezone=zone)
    for hour in range(HOURS):
        clock = start + timedelta(hours=hour, minutes=30)
        if not tz.datetime_exists(clock, place):
            continue
        due = dates.utc(f"{clock:%Y-%m-%d %H:%M} {zone}")
        assert dates.shown(due, zone) == f"{clock:%Y-%m-%d %H:%M} {zone}"
        for days in (1, 2, 3):
            after = clock + timedelta(days=days)
            if not tz.datetime_exists(after, place):
                continue
            same = dates.utc(f"{after:%Y-%m-%d %H:%M} {zone}")
            assert dates.later(due, days, zone) == same
            taken = [rules.penalty("05", due, same + timedelta(seconds=s), 100, 100) for s in (0, 60)]
            assert taken == [days, days + 1], (clock, days)
            if days == 2:
                assert rules.due("05", "ada", due) == same
        assert (
            rules.penalty("05", due, due, 100, 100) == 0
            and rules.penalty("05", due, due + timedelta(seconds=1), 100, 100) == 1
        )
