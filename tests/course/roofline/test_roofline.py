"""The roofline: arithmetic on given peaks, what is said of it and drawn, and peaks that are really measured."""

from __future__ import annotations

import random
import statistics
import sys
import time
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from course.core.i18n import speaking
from course.roofline import Peaks, Roofline, peaks, place
from course.roofline.layer import OUTSIDE, row_of
from course.roofline.replay import moved, tensors
from course.timing.rounds import rounds_end_within

peaks_module = sys.modules["course.roofline.peaks"]
GIVEN = Peaks(100e9, 20e9, "float32", "cpu", 1, {}, "2026-05-01T09:30:00Z")  # ridge: 5 FLOPs a byte
STEADY = (0.97, 0.97, 0.97, 0.98, 0.99, 1.0, 1.0, 1.01, 1.02, 1.03, 1.03, 1.03)


def layer(flops: int, moved: int, time_ms: float, name: str = "fc", kind: str = "Linear", **more) -> tuple:
    """What a row is made of."""
    samples = [time_ms * part / 1e3 for part in more.get("spread", STEADY)]
    return name, kind, 1, (flops, moved), samples, GIVEN, more.get("overhead_ms", 0.0) / 1e3


def outside(time_ms: float) -> tuple:
    return layer(0, 0, time_ms, OUTSIDE, "")


def of(*layers: tuple, **more) -> Roofline:
    whole = row_of(*layer(1_002_000_000, 44_000_000, 25.0, "", "Net"))
    every = (
        sum(statistics.median(one[4]) for one in layers),
        [sum(one) for one in zip(*(one[4] for one in layers), strict=True)],
    )
    return Roofline([whole, *(row_of(*one, every) for one in layers)], GIVEN, **more)


def roofline(**more) -> Roofline:
    layers = (
        layer(1_000_000_000, 20_000_000, 20.0, "conv", "Conv2d"),
        layer(0, 20_000_000, 2.0, "act", "ReLU"),
        layer(2_000_000, 4_000_000, 1.0),
    )
    return of(*layers, outside(2.0), **more)


# ---- arithmetic


def test_ridge_and_roof():
    assert GIVEN.ridge == 5
    assert GIVEN.roof(1) == 20e9 and GIVEN.roof(5) == 100e9 and GIVEN.roof(50) == 100e9


@pytest.mark.parametrize(
    ("flops", "moved_bytes", "time_ms", "overhead_ms", "bound", "intensity", "roof", "share"),
    [
        (10**9, 2 * 10**7, 20.0, 0.0, "compute", 50, 100e9, 0.5),
        (2 * 10**6, 4 * 10**6, 1.0, 0.0, "memory", 0.5, 10e9, 0.2),
        (0, 2 * 10**7, 2.0, 0.0, "memory", 0, 0, 0.5),  # moves only
        (0, 0, 0.001, 0.0, "memory", 0, 0, None),  # neither work nor traffic
        (10**6, 10**4, 0.02, 0.012, "overhead", 100, 100e9, 0.5),
        (10**6, 10**4, 0.2, 0.012, "compute", 100, 100e9, 0.05),  # slow for another reason
        (10**9, 10**4, 0.02, 0.012, "compute", 10**5, 100e9, 500),  # the roof asks for more
    ],
)
def test_a_layer_under_its_roof(flops, moved_bytes, time_ms, overhead_ms, bound, intensity, roof, share):
    row = row_of(*layer(flops, moved_bytes, time_ms, overhead_ms=overhead_ms))
    assert (row["bound"], row["flops_per_byte"], row["roof_flops_per_s"]) == (bound, intensity, roof)
    assert row["share_of_roof"] == (share and pytest.approx(share))
    assert row["flops_per_s"] == pytest.approx(flops / time_ms * 1e3)


def test_parts_add_up_to_all_and_have_their_ranges():
    rows = roofline().rows()
    assert [row["layer"] for row in rows] == ["", "conv", "act", "fc", OUTSIDE]
    assert [row["share_of_time"] for row in rows] == pytest.approx([1, 20 / 25, 2 / 25, 1 / 25, 2 / 25])
    wild = layer(2_000_000, 4_000_000, 1.0, spread=random.Random(1).sample(range(1, 40), 12))
    for row in of(layer(1_000_000_000, 20_000_000, 20.0, "conv", "Conv2d"), wild).rows()[1:]:
        low, high = row["share_of_time_low"], row["share_of_time_high"]
        assert low <= row["share_of_time"] <= high <= 1 and low < high


def test_traffic_counts_each_tensor_once():
    x = torch.zeros(4, 8)
    linear = nn.Linear(8, 2)
    assert moved(linear, tensors(((x, x), {})), linear(x), False) == 4 * (32 + 18 + 8)
    assert moved(nn.Flatten(), [x], nn.Flatten()(x), False) == 0
    assert moved(nn.ReLU(inplace=True), [x], x, True) == 4 * 64
    table, rows = nn.Embedding(1000, 4), torch.tensor([1, 2])
    assert moved(table, [rows], table(rows), False) == 16 + 32 + 32
    assert moved(nn.Identity(), [torch.zeros(1, 8).expand(100, 8)], torch.zeros(2), False) == 32 + 8


# ---- what is said


def test_a_layer_is_named_only_where_the_intervals_leave_no_doubt():
    clear, close = layer(10**9, 2 * 10**7, 20.0, "a"), layer(10**9, 3 * 10**7, 19.5, "b")
    wild = (0.5, 0.5, 0.6, 0.6, 1, 1, 1, 1, 1.5, 1.5, 1.6, 1.6)
    other, noisy = layer(10**9, 3 * 10**7, 15.0, "b"), layer(10**9, 3 * 10**7, 15.0, "b", spread=wild)
    assert of(clear, other).named["layer"] == "a"
    assert [of(clear, doubt).named for doubt in (close, noisy)] == [None, None]
    few = [layer(10**9, 2 * 10**7, time_ms, name, spread=(1.0,) * 3) for name, time_ms in (("a", 20.0), ("b", 15.0))]
    assert of(*few).named is None
    waves = (1.0, 3.0, 1.0, 9.0, 1.0, 2.0, 5.0, 1.0, 2.0, 1.0, 4.0, 1.1)  # a busy machine slows both in the same rounds
    jitter = [[wave * (1 + 0.01 * (at % 2)) for at, wave in enumerate(waves)], waves]
    slowed = [layer(10**9, 2 * 10**7, x, n, spread=s) for n, x, s in zip("ab", (20.0, 15.0), jitter, strict=True)]
    assert of(*slowed).named["layer"] == "a"
    small = [layer(10**9, 3 * 10**7, 18.0, f"c{at}", "Conv2d") for at in range(12)]
    assert of(clear, *small).named is None  # the longest, with 8 % of the time
    act = layer(0, 10**7, 1.0, "act", "ReLU")
    assert of(clear, close, act).sentence() == (
        "No layer stands out. Of the time 98% is limited by compute, 2.5% is limited by memory."
    )


def test_most_of_the_time_outside_the_layers_is_what_is_said():
    found = of(layer(10**6, 10**6, 0.1), outside(9.9))
    assert "99%" in found.sentence() and "outside the layers" in found.sentence() and "forward()" in found.try_first()
    assert "Linear" not in found.sentence() + found.try_first()


def test_overhead_is_said_and_never_more_than_all():
    tiny = layer(10**6, 10**4, 0.02, "tiny", overhead_ms=0.012)
    assert "limited by overhead: issuing the calls is 60% of it" in of(tiny).sentence()
    assert "is 100% of it" in of(layer(0, 10**4, 0.002, "tiny", overhead_ms=0.012)).sentence()


def test_one_thing_to_try_first_follows_from_the_limit():
    cases = {
        "channels_last": layer(10**9, 2 * 10**7, 40.0, kind="Conv2d"),
        "larger batch where": layer(10**6, 2 * 10**7, 9.0),
        "joins small calls": layer(10**6, 10**4, 0.02, overhead_ms=0.012),
    }
    assert all(word in of(one).try_first() for word, one in cases.items())
    many = (layer(10**9, (2 + at) * 10**7, 17.0, f"c{at}", "Conv2d") for at in range(3))  # no layer stands out
    assert "c0 (Conv2d)" in of(layer(0, 2 * 10**7, 17.1, "act", "ReLU"), *many).try_first()
    assert "the GPU idles 40%" in of(layer(1, 1, 1.0), idle=0.4).try_first()


# ---- peaks


@pytest.fixture
def small_probes(monkeypatch):
    """Peaks of buffers of 2 MiB and small products: right in kind, quick to get."""
    monkeypatch.setattr(peaks_module, "cache_bytes", lambda device: 1 << 18)
    monkeypatch.setattr(peaks_module, "PRODUCTS", {"cpu": ((32, 32, 32), (16, 32, 8))})
    monkeypatch.setattr(peaks_module, "CONVOLUTIONS", {"cpu": ((3, 4, 4, 8, 1),)})


def test_peaks_are_measured_and_name_their_settings(small_probes, monkeypatch):
    monkeypatch.setattr("course.roofline.layer.QUIET", 0)
    state = torch.get_rng_state()  # the probes compute with random numbers of their own
    first = peaks("cpu", max_time=0.1)
    assert torch.equal(state, torch.get_rng_state())
    assert first.flops_per_s > 0 < first.bytes_per_s
    assert (first.device, first.dtype, first.threads) == ("cpu", "float32", torch.get_num_threads())
    assert "Disturbed" not in repr(first)
    before = torch.backends.mkldnn.conv.fp32_precision
    torch.backends.mkldnn.conv.fp32_precision = "tf32"
    try:
        assert peaks_module.precision("cpu") != first.precision
    finally:
        torch.backends.mkldnn.conv.fp32_precision = before


def test_peaks_and_layers_take_one_round_where_rounds_have_to_end(small_probes):
    with rounds_end_within(0):
        roof = peaks("cpu", max_time=60)
        found = place(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.randn(1, 4), peaks=roof)
    assert found.rounds == 1


def test_peaks_of_a_busy_machine_say_so(small_probes, monkeypatch):
    monkeypatch.setattr(peaks_module.time, "process_time", lambda: 0.0)
    assert "only 0%" in repr(peaks("cpu", max_time=0.05))


@pytest.mark.parametrize("arguments", [{"max_time": 0}, {"device": "toaster"}])
def test_odd_requests_get_a_sentence(arguments, small_probes):
    with speaking("zh"), pytest.raises(ValueError, match="。") as caught:
        peaks(**({"device": "cpu"} | arguments))
    assert caught.value._render_traceback_() == [str(caught.value)]


def test_the_best_block_of_a_probe_is_its_rate():
    took_s = iter([0.5, 0.5, 0.25, 1.0])  # the first one says how many calls make a block
    clock = SimpleNamespace(
        device="cpu", block_s=1e-3, now=time.perf_counter, block=lambda f, calls: calls * next(took_s)
    )
    probe = peaks_module.Probe(100.0, lambda: None, clock)
    assert [probe.time().rate for _ in range(3)] == [200.0, 400.0, 400.0]


def test_products_that_do_not_fit_are_left_out(small_probes, monkeypatch):
    real = torch.randn

    def randn(size, *args, **more):
        if max(size) > 16 + 16:
            raise RuntimeError("out of memory")
        return real(size, *args, **more)

    monkeypatch.setattr(torch, "randn", randn)
    monkeypatch.setattr(peaks_module, "PRODUCTS", {"cpu": ((16, 32, 8), (64, 64, 64))})
    assert peaks("cpu", max_time=0.05).flops_per_s > 0


def test_one_cpu_thread_is_timed_without_what_other_programs_take(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    now = peaks_module.clock("cpu").reader()
    began = now()
    time.sleep(0.05)
    assert now() - began < 0.05
