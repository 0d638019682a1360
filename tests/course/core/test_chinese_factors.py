"""A reader of Chinese is never left to guess which factor is meant: 多了 3 倍 is 3 or 4 times, 慢一半 is 1.5 or 2 times the time."""

from __future__ import annotations

import re

from tests.conftest import ROOT

NUMBER = r"(?:[两二三四五六七八九百千]|\d+)"
UNCLEAR = re.compile(rf"(?<![至最很])[多长高大小少低慢]了约?\s?{NUMBER}\s?倍|[慢快]上?一半|差了?\s?[两二2]\s?倍")
"""Say 是……的 N 倍, or 耗时是……的 N 倍."""
SEARCHED = re.compile(r"^\s+(?:asked|also): .*$", re.M)  # what people type


def test_no_text_of_the_course_has_an_unclear_factor():
    folders = [ROOT / "course" / "lessons", ROOT / "grader" / "lessons"]
    files = [path for folder in folders for kind in ("*.yaml", "*.md") for path in folder.rglob(kind)]
    files += [*ROOT.glob("docs/*.zh-CN.md"), ROOT / "README.zh-CN.md"]
    found = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for path in files
        for hit in UNCLEAR.finditer(SEARCHED.sub("", path.read_text("utf-8")))
    ]
    assert found == []
