"""Recordings of somebody else's GPU: recorded on a stand-in, interrupted, continued, packed, checked, and added only when whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest

from course.core.records import LESSONS, load
from course.experiment import __main__ as experiments
from course.experiment import base, recording_zip
from tests.conftest import ROOT

STAND_IN = """
import sys, torch
from tests.support.rehearsal import Clock, install
install(torch, "cuda", Clock())
from course.core import machine; machine._driver = lambda: "1.0"
import course.experiment.__main__ as run
raise SystemExit(run.main(sys.argv[1:]))
"""
TWO = ["--only", "12-gpu-trace-cuda", "--only", "04-attention-cuda"]


def on_stand_in(folder, *words):
    """``python -m course.experiment --record`` on the stand-in GPU."""
    done = subprocess.run(
        [sys.executable, "-c", STAND_IN, "--record", str(folder), "--needs", "cuda", "--missing", "--zip", *words],
        cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1", "COURSE_LANGUAGE": "en"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_gpu_is_recorded_with_progress_goes_on_where_it_stopped_and_ends_with_one_file(tmp_path, capsys):
    folder = tmp_path / "my-gpu"
    said = on_stand_in(folder, *TWO[:2])
    assert "1 of 1: 12-gpu-trace-cuda" in said and f"one file to send: {folder}.zip" in said
    said = on_stand_in(folder, *TWO)
    assert (
        "1 of 1: 04-attention-cuda" in said and "12-gpu-trace-cuda" not in said
    )  # a new session: the first one is kept
    records, faults = recording_zip.unpack(tmp_path / "my-gpu.zip")
    assert {one.experiment for one in records} == {*TWO[1::2]} and not faults
    faults = recording_zip.check(records)
    assert {fault.split(": ", 1)[1] for fault in faults} == {"cudnn is not told"}  # the stand-in is found out
    assert experiments.main(["--add", str(tmp_path / "my-gpu.zip")]) == 1 and "added" not in capsys.readouterr().out


@pytest.fixture
def sent(tmp_path):
    """A ZIP of recordings that come with the course, changed as a test wants; the function that makes it."""

    def make(*changes, name="sent.zip"):
        whole = [load(path) for path in sorted(LESSONS.glob("*_precision/recordings/*amd-epyc*.json"))][:2]
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for number, one in enumerate(whole):
                data = json.loads(one.to_json())
                for change in changes if number == 0 else ():
                    change(data)
                archive.writestr(f"{number}.json", json.dumps(data))
        return tmp_path / name

    return make


def test_what_is_whole_is_added_to_its_lessons(sent, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(recording_zip, "lesson_recordings", lambda exp: tmp_path / exp.lesson)
    assert experiments.main(["--check", str(sent())]) == 0 and not (tmp_path / "07_precision").exists()
    assert experiments.main(["--add", str(sent())]) == 0
    assert "2 recordings, 0 faults" in capsys.readouterr().out
    assert len(list((tmp_path / "07_precision").glob("*.json"))) == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.pop("machine"), "it lacks machine"),
        (lambda data: data.update(schema=99), "newer version"),
        (lambda data: data.update(experiment="07-none"), "no experiment of this name"),
        (lambda data: data.update(experiment_version=99), "recorded for version 99"),
        (lambda data: data.update(complete=False), "not complete"),
        (lambda data: data.update(created="2199-01-01T00:00:00Z"), "created in the future"),
        (lambda data: data.update(created="yesterday"), "no time in UTC"),
        (lambda data: data.update(rows=[{"nothing_ms": -3}]), "nothing_ms is -3"),
        (lambda data: data.update(rows=[{"nothing": 1}]), "cannot be told"),
        (lambda data: data["machine"].update(host="mine"), "told otherwise than by the course: host"),
        (lambda data: data["machine"].update(device_name=""), "the machine has no name"),
        (lambda data: data["machine"].update(torch="2.4.1"), "the course begins at 2.9"),
        (lambda data: data["machine"].update(torch="2.12.0"), "not one machine: torch"),
        (lambda data: data["machine"].update(device="cuda"), "driver is not told"),
    ],
)
def test_what_speaks_against_a_recording_is_said_and_nothing_is_added(
    sent, tmp_path, monkeypatch, capsys, change, words
):
    monkeypatch.setattr(recording_zip, "lesson_recordings", lambda exp: tmp_path / exp.lesson)
    assert experiments.main(["--add", str(sent(change))]) == 1
    assert words in capsys.readouterr().err and not (tmp_path / "07_precision").exists()


def test_a_recording_twice_or_from_the_wrong_device_or_no_zip_at_all_is_refused(tmp_path):
    one = load(next(LESSONS.glob("*_mps/recordings/08-float32-loses--*.json")))
    assert recording_zip.check([one, one]) == ["08-float32-loses: recorded 2 times"]
    gpu = base.get("07-speed-cuda")
    wrong = replace(one, experiment=gpu.name, experiment_version=gpu.version)
    assert any("it needs cuda and was recorded on cpu" in fault for fault in recording_zip.check([wrong]))
    (tmp_path / "x.zip").write_text("no ZIP", "utf-8")
    assert recording_zip.unpack(tmp_path / "x.zip")[1] and recording_zip.check([]) == ["there is no recording in it"]


@pytest.mark.parametrize(("language", "words"), [("en", "There is no NVIDIA GPU here"), ("zh", "这里没有 NVIDIA GPU")])
def test_without_a_gpu_it_says_so_and_stops(tmp_path, monkeypatch, capsys, language, words):
    from course.core.i18n import set_language

    set_language(language)
    monkeypatch.setattr(experiments, "can", lambda needs: False)
    assert experiments.main(["--record", str(tmp_path / "x"), "--needs", "cuda", "--missing", "--zip"]) == 0
    assert words in capsys.readouterr().out and not (tmp_path / "x").exists()
