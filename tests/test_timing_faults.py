"""Page faults: counted, priced, and named where they fill the time."""

from __future__ import annotations

import mmap

import pytest

from course.timing import faults

pytestmark = pytest.mark.skipif(faults.minor_faults() is None, reason="this system does not count page faults")


def touch(pages: int) -> None:
    with mmap.mmap(-1, pages * mmap.PAGESIZE) as fresh:
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            fresh.madvise(mmap.MADV_NOHUGEPAGE)
        for at in range(0, len(fresh), mmap.PAGESIZE):
            fresh[at] = 1


def test_fresh_pages_are_counted_one_by_one():
    with faults.count_faults() as seen:
        touch(500)
    assert 500 <= seen.minor < 1000


def test_the_count_stands_also_after_an_exception():
    with pytest.raises(KeyError), faults.count_faults() as seen:
        touch(100)
        raise KeyError
    assert seen.minor >= 100


def test_only_faults_that_fill_the_time_get_a_remark(monkeypatch):
    monkeypatch.setattr(faults, "fault_seconds", lambda: 1e-6)
    assert faults.fault_share(400, 1e-3) == pytest.approx(0.4)
    assert faults.fault_share(9000, 1e-3) == 1 and faults.fault_share(None, 1.0) == 0
    assert "400" in faults.fault_note("f", 400, 1e-3)
    assert faults.fault_note("f", 100, 1e-3) is None and faults.fault_note("f", None, 1e-3) is None


def test_where_nothing_is_counted_nothing_is_said(monkeypatch):
    monkeypatch.setattr(faults, "resource", None)
    with faults.count_faults() as seen:
        touch(10)
    assert seen.minor is None and faults.fault_note("f", seen.minor, 1e-3) is None
