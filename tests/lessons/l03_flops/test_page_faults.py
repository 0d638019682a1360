"""Page faults are counted, one a page."""

from __future__ import annotations

import mmap

import pytest

from course.lessons.l03_flops import page_faults as faults

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


def test_where_nothing_is_counted_nothing_is_said(monkeypatch):
    monkeypatch.setattr(faults, "resource", None)
    with faults.count_faults() as seen:
        touch(10)
    assert seen.minor is None
