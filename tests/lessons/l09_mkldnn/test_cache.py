"""Lesson 09: the primitive cache holds what was made, and a size that was seen is never made again."""

from __future__ import annotations

import pytest
import torch

from course.lessons.l09_mkldnn.experiments_cache import BATCHES, VISITS
from tests.lessons.live import check_shown, measured


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this PyTorch has no oneDNN")
def test_a_new_size_misses_and_a_seen_one_hits_in_every_round():
    record = measured("09-cache")
    check_shown(record)
    expected = ["cache_hit" if size in VISITS[:call] else "cache_miss" for call, size in enumerate(VISITS)]
    for batch in BATCHES:
        assert [row["event"] for row in record.rows if row["batch"] == batch] == expected
