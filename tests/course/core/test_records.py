"""Records: byte-for-byte round trip, refusal of what JSON cannot hold, whole files, the nearest recording."""

from __future__ import annotations

import json
import math

import pytest

from course.core.i18n import set_language
from course.core.records import Record, RecordError, load, nearest, save

T4 = {"device": "cuda", "device_name": "Tesla T4", "torch": "2.13.0", "threads": 2}
A100 = {"device": "cuda", "device_name": "NVIDIA A100-SXM4-40GB", "torch": "2.13.0", "threads": 12}
CPU = {"device": "cpu", "device_name": "AMD EPYC", "torch": "2.13.0", "threads": 2}


def make(machine=CPU, **more) -> Record:
    fields = {
        "experiment": "05-x",
        "experiment_version": 1,
        "lesson": "05_cudnn_benchmark",
        "machine": machine,
        "rows": [{"shape": "1×3", "median_ms": 0.1 + 0.2, "ok": True, "none": None, "samples_ms": [1e-9, 1.5, 3]}],
        "created": "2026-05-01T09:30:00Z",
        "budget_s": 3.0,
    }
    return Record(**(fields | more))


def test_round_trip_is_byte_for_byte(tmp_path):
    record = make(rows=[{"b": 1, "a": '中文 \n "quote"'}, {}, {"x": -0.0, "y": 1e300}])
    text = record.to_json()
    assert Record.from_json(text) == record
    assert Record.from_json(text).to_json() == text
    path = save(record, tmp_path / "new")
    assert path.read_bytes() == text.encode()
    assert load(path).to_json() == text
    assert make(rows=[]).to_json() == Record.from_json(make(rows=[]).to_json()).to_json()
    assert list(json.loads(text)["rows"][0]) == ["b", "a"]


def test_numpy_numbers_become_plain_ones():
    np = pytest.importorskip("numpy")
    record = make(rows=[{"a": np.float32(0.5), "b": np.int64(3), "c": (1, np.bool_(True))}])
    assert record.rows == [{"a": 0.5, "b": 3, "c": [1, True]}]
    assert type(record.rows[0]["b"]) is int


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, [1.0, math.nan], object(), 1j, b"x"])
def test_what_json_cannot_hold_is_refused_by_name(value):
    with pytest.raises(RecordError, match="row 0"):
        make(rows=[{"speed": value}])


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda s: s[:-30], "damaged"),
        (lambda s: "", "damaged"),
        (lambda s: "[1]", "damaged"),
        (lambda s: s.replace('"schema": 1', '"schema": 2'), "version"),
        (lambda s: s.replace('"lesson"', '"lessen"'), "lesson"),
        (lambda s: s.replace('"complete": true', '"complete": "yes"'), "complete"),
        (lambda s: s.replace('"schema": 1,', '"schema": 1, "more": 2,'), "more"),
    ],
)
@pytest.mark.parametrize("code", ["en", "zh"])
def test_bad_files_get_a_sentence(tmp_path, change, words, code):
    set_language(code)
    path = tmp_path / "r.json"
    path.write_text(change(make().to_json()), encoding="utf-8")
    with pytest.raises(RecordError) as caught:
        load(path)
    assert "r.json" in str(caught.value)
    assert words in str(caught.value) if code == "en" else max(str(caught.value)) > "一"
    assert caught.value._render_traceback_() == [str(caught.value)]


def test_missing_and_binary_files_get_a_sentence(tmp_path):
    with pytest.raises(RecordError, match="no record at"):
        load(tmp_path / "none.json")
    (tmp_path / "b.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordError, match="not text"):
        load(tmp_path / "b.json")


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("course.core.home.os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save(make(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nearest_prefers_name_then_kind_then_newest(tmp_path):
    old, new = make(T4), make(T4, created="2026-06-01T00:00:00Z")
    for record in (old, new, make(A100, created="2026-07-01T00:00:00Z"), make(experiment="05-x-other")):
        save(record, tmp_path)
    assert nearest("05-x", T4, [tmp_path]) == new
    assert nearest("05-x", A100, [tmp_path]).machine == A100
    assert nearest("05-x", CPU, [tmp_path]).machine == A100
    save(make(CPU), tmp_path)
    assert nearest("05-x", CPU | {"device_name": "Intel"}, [tmp_path]).machine == CPU
    assert nearest("05-none", CPU, [tmp_path]) is None
    assert nearest("05-x", CPU, [tmp_path], version=2) is None
    assert nearest("05-x", CPU, [tmp_path / "missing"]) is None


def test_a_damaged_recording_is_passed_over_with_a_warning(tmp_path):
    path = save(make(), tmp_path)
    path.write_text("{")
    with pytest.warns(UserWarning, match="damaged"):
        assert nearest("05-x", CPU, [tmp_path]) is None


def test_label_tells_live_from_replay_in_both_languages():
    assert "measured here" in make(live=True).label()["en"]
    replay = make(T4, complete=False).label()
    assert "Tesla T4 with torch 2.13.0 on 2026-05-01" in replay["en"]
    assert "incomplete" in replay["en"]
    assert "回放" in replay["zh"] and "不完整" in replay["zh"]
    assert not Record.from_json(make(live=True).to_json()).live
