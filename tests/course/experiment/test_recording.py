"""``python -m course.experiment --record``: goes on where it stopped, and says so where the device is missing."""

from __future__ import annotations

import pytest

from course.core.i18n import set_language
from course.experiment import __main__ as experiments


def test_a_second_run_records_only_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(experiments, "lesson_folder", lambda lesson: tmp_path / "lesson")
    first, second = "01-typos", "04-gates"
    words = ["--record", str(tmp_path), "--missing", "--budget", "1"]
    assert experiments.main([*words, "--only", first]) == 0
    assert experiments.main([*words, "--only", first, "--only", second]) == 0
    said = capsys.readouterr().out
    assert said.count(f": {first} ") == 1 and f"1 of 1: {second}" in said


@pytest.mark.parametrize(("language", "words"), [("en", "There is no NVIDIA GPU here"), ("zh", "这里没有 NVIDIA GPU")])
def test_without_a_gpu_it_says_so_and_stops(tmp_path, monkeypatch, capsys, language, words):
    set_language(language)
    monkeypatch.setattr(experiments, "can", lambda needs: False)
    assert experiments.main(["--record", str(tmp_path / "x"), "--needs", "cuda", "--missing"]) == 0
    assert words in capsys.readouterr().out and not (tmp_path / "x").exists()
