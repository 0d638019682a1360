"""Roofline: arithmetic on given peaks, what is kept, what is left behind (nothing), and real tiny runs."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from course import flags
from course.i18n import set_language
from course.roofline import Layer, Peaks, Roofline, RooflineError, peaks, place, probes, replay, stored_peaks
from course.roofline.layer import by_bound
from course.roofline.memory import buffer_bytes, cache_bytes, free_bytes
from course.roofline.traffic import moved, tensors
from course.roofline.words import percent
from course.timing.clock import ThreadClock, WallClock
from course.units import scaled

mpl = pytest.importorskip("matplotlib")
peaks_module, place_module = (sys.modules[f"course.roofline.{name}"] for name in ("peaks", "place"))
ABOUT = {
    "device": "cpu",
    "dtype": "float32",
    "threads": torch.get_num_threads(),
    "precision": "none",
    "convolution_precision": "none",
    "machine": {"cpu": "a processor", "device_name": "a processor"},
    "created": "2026-05-01T09:30:00Z",
}
GIVEN = Peaks(100e9, 20e9, **ABOUT)  # ridge: 5 FLOPs a byte
BEYOND = Peaks(1e18, 1e18, **ABOUT)  # a roof no layer here can beat
STEADILY, WILDLY = [1.0, 1.01] * 12, [1.0, 2.0] * 12
STEADY = (0.97, 0.97, 0.97, 0.98, 0.99, 1.0, 1.0, 1.01, 1.02, 1.03, 1.03, 1.03)


def layer(flops: int, moved: int, time_ms: float, name: str = "fc", kind: str = "Linear", **more) -> Layer:
    samples = tuple(time_ms * part for part in more.pop("spread", STEADY))
    return Layer(name, kind, flops, moved, time_ms, 1, GIVEN, samples, **more)


def of(*layers: Layer, **more) -> Roofline:
    return Roofline(layer(1_002_000_000, 44_000_000, 25.0, "", "Net"), layers, GIVEN, **more)


def roofline(**more) -> Roofline:
    layers = (
        layer(1_000_000_000, 20_000_000, 20.0, "conv", "Conv2d"),
        layer(0, 20_000_000, 2.0, "act", "ReLU"),
        layer(2_000_000, 4_000_000, 1.0),
    )
    return of(*layers, **more)


def named(found: Roofline) -> dict[str, Layer]:
    return {one.name: one for one in found.layers}


def axes():
    from matplotlib.figure import Figure

    return Figure(figsize=(7, 4.4)).add_subplot()


@pytest.fixture
def small_probes(monkeypatch):
    """Peaks of buffers of 2 MiB and small products: right in kind, quick to get."""
    monkeypatch.setattr(probes, "cache_bytes", lambda device: 1 << 18)
    monkeypatch.setattr(probes, "SQUARES", {"cpu": (32, 64)})
    monkeypatch.setattr(probes, "PRODUCTS", {"cpu": ((16, 32, 8),)})
    monkeypatch.setattr(probes, "BATCHED", {"cpu": ((2, 32),)})
    monkeypatch.setattr(probes, "CONVOLUTIONS", {"cpu": ((3, 4, 4, 8, 1),)})


def measured(work: float = 3.0, traffic: float = 2.0, got: float = 1.0):
    """In place of measuring: two peaks, and the share of the processor this process got."""
    best = peaks_module.Best
    return lambda *_: (best(work, "mm", got), best(work / 2, "conv", got), best(traffic, "read", 1.0))


# ---- arithmetic -------------------------------------------------------------------------------------------


def test_ridge_roof_and_least_time():
    assert GIVEN.ridge == 5 == GIVEN.rows()[0]["ridge"] and GIVEN.rows()[0]["created"] == ABOUT["created"]
    assert GIVEN.roof(1) == 20e9 and GIVEN.roof(5) == 100e9 and GIVEN.roof(50) == 100e9
    assert GIVEN.least_s(1e9, 20e6) == pytest.approx(0.01)
    assert GIVEN.least_s(1e6, 20e6) == pytest.approx(0.001)


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
    row = layer(flops, moved_bytes, time_ms, overhead_ms=overhead_ms).row()
    assert (row["bound"], row["flops_per_byte"], row["roof_flops_per_s"]) == (bound, intensity, roof)
    assert row["share_of_roof"] == (share and pytest.approx(share)) and row["memory_only"] == (flops == 0)
    assert row["times_from_roof"] == (share and pytest.approx(1 / share))
    assert row["flops_per_s"] == pytest.approx(flops / time_ms * 1e3)


def test_rows_have_the_whole_model_first_and_say_where_the_time_goes():
    rows = roofline().rows()
    assert [row["layer"] for row in rows] == ["", "conv", "act", "fc"]
    assert [row["share_of_time"] for row in rows] == pytest.approx([1, 20 / 23, 2 / 23, 1 / 23])
    assert all(row["share_of_time_low"] <= row["share_of_time"] <= row["share_of_time_high"] for row in rows)
    conv, _, fc = roofline().layers
    noisy = of(conv, replace(fc, samples_ms=tuple(random.Random(1).sample(range(1, 40), 20)))).rows()[2]
    alone = of(fc).rows()[1]
    assert noisy["share_of_time_low"] < noisy["share_of_time_high"]
    assert alone["share_of_time_low"] == alone["share_of_time_high"] == 1


def test_quantities_have_three_figures_and_a_prefix():
    said = {0: "0 B", 999: "999 B", 1000: "1.00 kB", 9.996e5: "1.00 MB", 2.5e10: "25.0 GB"}
    assert {value: scaled(value, "B") for value in said} == said


def test_traffic_counts_each_tensor_once():
    x = torch.zeros(4, 8)
    linear = nn.Linear(8, 2)
    assert moved(linear, tensors(((x, x), {})), linear(x), False) == 4 * (32 + 18 + 8)
    flat = nn.Flatten()
    assert moved(flat, [x], flat(x), False) == 0
    assert moved(nn.ReLU(inplace=True), [x], x, True) == 4 * 64
    table, rows = nn.Embedding(1000, 4), torch.tensor([1, 2])
    assert moved(table, [rows], table(rows), False) == 16 + 32 + 32
    wide = torch.zeros(1, 8).expand(100, 8)
    assert moved(nn.Identity(), [wide], torch.zeros(2), False) == 32 + 8


def test_buffers_are_far_larger_than_the_cache_or_refused():
    assert cache_bytes("mps") == 64 << 20 and free_bytes("mps") is None
    assert cache_bytes("cpu") >= 1 << 15
    assert free_bytes("cpu") is None or free_bytes("cpu") > 1 << 20
    assert buffer_bytes(32 << 20, None, "cpu") == 256 << 20
    assert buffer_bytes(1 << 30, None, "cpu") == 2 << 30
    assert buffer_bytes(32 << 20, 600 << 20, "cpu") == 100 << 20
    with pytest.raises(RooflineError, match="Too little free memory on cpu"):
        buffer_bytes(32 << 20, 100 << 20, "cpu")


# ---- texts and picture ------------------------------------------------------------------------------------


def test_text_and_html_in_both_languages():
    found = roofline(notes=("a <note>",))
    assert (
        found.sentence()
        == ("conv (Conv2d) takes 87% of the layers' time and reaches 49% to 52% of its compute roof.")
        == repr(found)
    )
    text, html = str(found), found._repr_html_()
    assert "whole model: Net" in text and "memory only" in text and "2026-05-01" in text
    assert "measured peak" in text.lower() and "a &lt;note&gt;" in html and html.count("<tr>") == 5
    set_language("zh")
    assert "仅访存" in str(found) and "实测峰值" in str(found) and "计算屋顶" in found._repr_html_()


def test_a_layer_is_named_only_where_the_intervals_leave_no_doubt():
    clear, close = layer(10**9, 2 * 10**7, 20.0, "a"), layer(10**9, 3 * 10**7, 19.5, "b")
    other = layer(10**9, 3 * 10**7, 15.0, "b")
    noisy = replace(
        other, samples_ms=tuple(15.0 * part for part in (0.5, 0.5, 0.6, 0.6, 1, 1, 1, 1, 1.5, 1.5, 1.6, 1.6))
    )
    few = replace(other, samples_ms=other.samples_ms[:3])
    assert of(clear, other).named.first is clear
    assert [of(clear, doubt).named for doubt in (close, noisy, few)] == [None, None, None]
    waves = (1.0, 3.0, 1.0, 9.0, 1.0, 2.0, 5.0, 1.0, 2.0, 1.0, 4.0, 1.0)  # a busy machine slows both in the same rounds
    slowed = [replace(one, samples_ms=tuple(one.time_ms * wave for wave in waves)) for one in (clear, other)]
    assert of(*slowed).named.first is slowed[0]
    act = layer(0, 10**7, 1.0, "act", "ReLU")
    assert of(clear, close, act).sentence() == (
        "No layer stands out. Of the layers' time 98% is limited by compute, 2.5% is limited by memory."
    )


def test_layers_alike_are_taken_together_round_by_round():
    def conv(name, spread=STEADY, shape="1x8 -> 1x8"):
        return layer(10**9, 2 * 10**7, 10.0, name, "Conv2d", shape=shape, spread=spread)

    found = of(conv("a"), layer(10**9, 2 * 10**7, 14.0, "big", "Conv2d", shape="1x9 -> 1x9"), conv("b", STEADY[::-1]))
    both = found.named
    assert [one.name for one in both.layers] == ["a", "b"] and both.time_ms == 20
    assert both.interval_ms == (20, 20)  # what one loses in a round the other gains
    assert found.sentence().startswith("a (Conv2d) and 1 like it take 58% to 60% of the layers' time and reach 100%")
    assert of(conv("a", shape=""), conv("b", shape="")).groups[0].layers[1:] == ()  # of unknown shape: alike with none


def test_overhead_and_page_faults_are_said():
    tiny = layer(10**6, 10**4, 0.02, "tiny", overhead_ms=0.012)
    assert "limited by overhead: issuing the calls is 60% of it" in of(tiny).sentence()
    assert "is 100% of it" in of(layer(0, 10**4, 0.002, "tiny", overhead_ms=0.012)).sentence()  # never more than all
    paging = layer(0, 10**6, 1.0, "act", "ReLU", faults=500.0, fault_share=0.6)
    assert "Page faults, not work, fill 60% of that." in of(paging).sentence()
    assert "500 pages" in str(of(paging)) and "memory; page faults 60%" in str(of(paging))
    assert of(tiny, paging).rows()[2]["page_faults"] == 500


def test_a_long_model_shows_its_longest_layers_and_folds_the_rest():
    layers = tuple(layer(1_000_000, 1_000_000, float(ms), f"at{ms}") for ms in range(1, 41))
    html = replace(roofline(), layers=layers)._repr_html_()
    shown, folded = html.split("<details>")
    assert shown.count("<tr>") == 14 and folded.count("<tr>") == 42  # head, whole model, layers
    assert shown.index("at40") < shown.index("at29") and "at28" not in shown and "40" in folded[:120]


def test_more_than_the_roof_is_explained():
    fast = of(layer(0, 20_000_000, 0.1, "act", "ReLU"))
    assert "Over 100 %" in str(fast) and "Over 100 %" not in str(roofline())


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("code", ["en", "zh"])
def test_picture(code, dark):
    from course.figures.style import cjk_font, style

    set_language(code)
    with style(dark):
        ax = roofline().plot(axes())
        ax.figure.canvas.draw()
        words = " ".join(item.get_text() for item in ax.figure.findobj(mpl.text.Text))
    assert ax.get_xscale() == ax.get_yscale() == "log"
    chinese = code == "zh" and cjk_font() is not None
    assert ("占各层耗时的 87%" if chinese else "takes 87% of the layers'") in words.replace("\n", " ")
    assert ("受限于访存：占耗时 13%" if chinese else "limited by memory: 13% of the time") in words
    assert "100 GFLOP/s (float32), 20.0 GB/s" in words and "conv" in words
    sizes = sorted(size for points in ax.collections for size in points.get_sizes())
    assert len(sizes) == 5 and sizes[4] > 5 * sizes[0]  # conv, fc, act (in its strip), two in the legend


def test_picture_of_its_own_and_of_a_model_that_is_one_memory_only_layer():
    mpl.use("Agg")
    alone = Roofline(layer(0, 20_000_000, 2.0, "", "ReLU"), (), GIVEN)
    ax = alone.plot()
    assert "ReLU reaches 49% to 52% of its memory roof." in ax.get_title(loc="left")
    import matplotlib.pyplot as plt

    plt.close(ax.figure)


def test_the_picture_names_the_layer_of_its_title_and_lists_what_it_does_not_draw():
    crowd = [layer(10**9, 20_000_000, 20.0, f"crowd.{at}.conv", "Conv2d") for at in range(30)]
    silent = layer(0, 10**8, 90.0, "features.act", "ReLU")
    found = of(*crowd, silent, layer(0, 0, 0.1, "drop", "Dropout"))
    ax = found.plot(axes())
    assert found.named.first is silent
    assert "features.act" in [text.get_text() for text in ax.texts]
    assert "1 layer (Dropout)" in " ".join(text.get_text() for text in ax.get_legend().get_texts())


def test_the_legend_and_the_text_name_the_same_parts_of_the_time():
    """Also where a layer that has no place in the picture has one of the limits."""
    drop = layer(0, 0, 40.0, "drop", "Dropout", overhead_ms=40.0)
    tiny = layer(10**3, 10**3, 10.0, "tiny", overhead_ms=10.0)
    found = of(layer(10**9, 20_000_000, 50.0, "a"), tiny, drop)
    said = " ".join(text.get_text() for text in found.plot(axes()).get_legend().get_texts())
    parts = by_bound(found.layers)
    assert drop.bound == tiny.bound and percent(parts[tiny.bound]) == "50%"
    assert len(parts) == 2 and said.count("50% of the time") == 2


def test_names_in_the_picture_cover_neither_each_other_nor_a_point():
    from course.roofline.picture import draw

    crowd = [layer(10**9 + 10**7 * at, 20_000_000, 20.0 + at, f"features.{at}.conv", "Conv2d") for at in range(12)]
    ax = draw(crowd, GIVEN, "", axes())
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert 3 <= len(boxes) <= 6
    assert not any(a.overlaps(b) for at, a in enumerate(boxes) for b in boxes[:at])
    spots = ax.transData.transform([(one.intensity, one.flops_per_s) for one in crowd])
    assert not any(box.contains(*spot) for box in boxes for spot in spots)


# ---- peaks and what is kept -------------------------------------------------------------------------------


def test_peaks_are_measured_kept_and_measured_again_on_request(small_probes, own_home, monkeypatch):
    monkeypatch.setattr(peaks_module, "QUIET", 0)
    state = torch.get_rng_state()  # the probes compute with random numbers of their own
    first = peaks("cpu", max_time=0.1)
    assert torch.equal(state, torch.get_rng_state())
    assert first.flops_per_s == max(first.products_per_s, first.convolutions_per_s) and first.bytes_per_s > 0
    assert min(first.products_per_s, first.convolutions_per_s) > 0
    assert first.work_by.split()[0] in ("mm", "bmm", "conv")
    assert first.traffic_by in ("read", "copy", "triad", "in place")
    assert (first.device, first.dtype, first.threads) == ("cpu", "float32", torch.get_num_threads())
    assert first.machine["torch"] == torch.__version__ and first.notes == ()
    assert (own_home / "peaks.json").exists()
    monkeypatch.setattr(peaks_module, "_measured", measured())
    assert peaks("cpu") == first
    again = peaks("cpu", refresh=True)
    assert (again.ridge, again.notes) == (1.5, ())
    assert peaks("cpu") == again
    other = peaks("cpu", torch.float64, threads=1)
    assert (other.dtype, other.threads) == ("float64", 1)
    assert len(json.loads((own_home / "peaks.json").read_text())["peaks"]) == 2


def test_peaks_of_a_busy_machine_are_not_kept(own_home, monkeypatch):
    monkeypatch.setattr(peaks_module, "_measured", measured(got=0.5))
    found = peaks("cpu")
    assert "only 50% of the processor time" in str(found) and not (own_home / "peaks.json").exists()
    set_language("zh")
    assert "50%" in peaks("cpu").notes[0] and peaks("cpu").notes[0].endswith("。")


def test_thread_count_is_set_back(monkeypatch):
    before, seen = torch.get_num_threads(), []

    def stop(*_):
        seen.append(torch.get_num_threads())
        raise KeyboardInterrupt

    monkeypatch.setattr(peaks_module, "_measured", stop)
    with pytest.raises(KeyboardInterrupt):
        peaks("cpu", threads=before + 1)
    assert seen == [before + 1] and torch.get_num_threads() == before


@pytest.mark.parametrize("content", ["{half", "[]", '{"schema": 3, "peaks": [{}]}', "\x00\xff"])
def test_a_damaged_file_is_set_aside_and_said_so(content, own_home, monkeypatch):
    monkeypatch.setattr(peaks_module, "_measured", measured())
    own_home.mkdir()
    (own_home / "peaks.json").write_text(content, encoding="latin-1")
    found = peaks("cpu")
    assert len(found.notes) == 1 and "is now called peaks.json.damaged" in str(found)
    assert (own_home / "peaks.json.damaged").read_text(encoding="latin-1") == content
    assert peaks("cpu").notes == ()


def test_a_home_that_cannot_be_written_costs_only_the_keeping(tmp_path, monkeypatch):
    monkeypatch.setattr(peaks_module, "_measured", measured())
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "file"))
    assert "could not be saved" in str(peaks("cpu"))


def test_what_is_kept_belongs_to_machine_type_threads_and_precision():
    assert stored_peaks.add(GIVEN) == ()
    asked = {name: ABOUT[name] for name in stored_peaks.ASKED}
    assert stored_peaks.find(asked, ABOUT["machine"])[0]["flops_per_s"] == 100e9
    for change in ({"dtype": "float64"}, {"threads": 99}, {"precision": "bf16"}, {"convolution_precision": "tf32"}):
        assert stored_peaks.find(asked | change, ABOUT["machine"]) == (None, ())
    assert stored_peaks.find(asked, {"cpu": "another"}) == (None, ())


@pytest.mark.parametrize("code", ["en", "zh"])
@pytest.mark.parametrize(
    "arguments",
    [
        {"dtype": torch.int8},
        {"threads": 0},
        {"threads": True},
        {"max_time": 0},
        {"device": "toaster"},
        {"device": ["cpu", "cpu"]},
    ],
)
def test_odd_requests_get_a_sentence(arguments, code):
    set_language(code)
    with pytest.raises(ValueError) as caught:
        peaks(**({"device": "cpu"} | arguments))
    assert caught.value._render_traceback_() == [str(caught.value)]
    assert ("。" in str(caught.value)) == (code == "zh")


def test_products_that_do_not_fit_are_left_out_unless_none_fits(small_probes, monkeypatch):
    real, largest = torch.randn, 32

    def randn(size, *args, **more):
        if max(size) > largest:
            raise RuntimeError("out of memory")
        return real(size, *args, **more)

    monkeypatch.setattr(torch, "randn", randn)
    assert peaks("cpu", max_time=0.05).flops_per_s > 0
    largest = 1
    with pytest.raises(RooflineError, match="Too little free memory"):
        peaks("cpu", max_time=0.05, refresh=True)


# ---- placing ----------------------------------------------------------------------------------------------


class Net(nn.Module):
    """In training mode with buffers, an in-place layer, a shared layer and random numbers."""

    def __init__(self, stop: bool = False) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)
        self.act, self.drop = nn.ReLU(True), nn.Dropout()
        self.head, self.stop, self.ran = nn.Linear(4, 2), stop, 0

    def forward(self, x):
        self.ran += 1
        x = self.act(self.norm(self.conv(self.act(x))))
        if self.stop and self.conv._forward_hooks:
            raise RuntimeError("in the middle")
        return self.head(self.drop(x.mean((2, 3))))


@pytest.fixture
def small_sweep(monkeypatch):
    """The cache is emptied by reading 2 MiB."""
    monkeypatch.setattr(replay, "LARGEST_SWEEP", 2 << 20)


@pytest.fixture
def counted_time(small_sweep, monkeypatch):
    """Budgets are counted in looks at the clock, 10 ms each, so the number of rounds is the same on any machine."""

    class Counted(WallClock):
        looks = 0

        def now(self):
            self.looks += 1
            return self.looks / 100

    monkeypatch.setattr(place_module, "undisturbed", lambda clock: Counted(clock.device))


def traces(model):
    return (
        [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()],
        list(model.state_dict()),
        [b.clone() for b in model.buffers()],
        model.ran,
        model.training,
    )


@pytest.mark.parametrize("stop", [False, True])
def test_nothing_stays_behind_also_after_an_exception(stop, small_sweep):
    model, x = Net(stop).train(), torch.randn(2, 3, 8, 8)
    before, inputs, generator = traces(model), x.clone(), torch.get_rng_state()
    if stop:
        with pytest.raises(RooflineError, match="in the middle"):
            place(model, x, peaks=GIVEN, max_time=0.1)
    else:
        place(model, x, peaks=GIVEN, max_time=0.1)
    after = traces(model)
    assert after[:2] == before[:2] and after[3:] == before[3:]
    assert all(torch.equal(a, b) for a, b in zip(after[2], before[2], strict=True))
    assert torch.equal(x, inputs) and torch.equal(generator, torch.get_rng_state())
    assert all(p.grad is None for p in model.parameters())


def test_a_real_tiny_run(counted_time):
    found = place(Net().eval(), torch.randn(2, 3, 8, 8), peaks=BEYOND, max_time=0.5)
    assert list(named(found)) == ["act", "conv", "norm", "drop", "head"]
    act, conv, norm, drop, head = found.layers
    assert act.calls == 2 and act.moved == 4 * 2 * (2 * 3 * 64 + 2 * 4 * 36)
    assert conv.flops == 2 * 2 * 4 * 36 * 27 and conv.moved == 4 * (2 * 3 * 64 + 112 + 2 * 4 * 36)
    assert norm.memory_only and drop.moved == 0 and head.flops == 2 * 2 * 8
    assert found.whole.flops == conv.flops + head.flops
    weights = sum(one.numel() * one.element_size() for one in Net().state_dict().values())
    assert found.whole.moved == 4 * (2 * 3 * 64 + 2 * 2) + weights  # as one layer: in, out, every weight
    assert "Interrupted" not in str(found) and found.rounds >= 6
    for one in (found.whole, *found.layers):
        low, high = one.interval_ms
        assert 0 < low <= one.time_ms <= high
    assert all(len(one.samples_ms) == found.rounds for one in found.layers)
    assert act.shape == "2x3x8x8 -> 2x3x8x8" and act.overhead_ms == 2 * conv.overhead_ms > 0


def test_default_peaks_fit_the_model(small_probes, monkeypatch):
    monkeypatch.setattr(peaks_module, "_measured", measured())
    found = place(nn.Linear(4, 2).double(), torch.randn(2, 4).double(), max_time=0.1)
    assert found.peaks.dtype == "float64" and found.layers == () and len(found.rows()) == 1


def test_a_module_that_does_its_childrens_work_is_one_layer():
    x = torch.randn(1, 4, 8)
    found = place(nn.MultiheadAttention(8, 2, batch_first=True).eval(), x, x, x, peaks=GIVEN, max_time=0.1)
    assert found.layers == () and found.whole.flops > 0
    assert found.whole.moved >= 4 * (32 + 8 * 24 + 24 + 72 + 32)


def test_work_outside_the_layers_is_said():
    class Bare(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 4)

        def forward(self, x):
            return self.fc(x) @ x

    found = place(Bare(), torch.randn(4, 4), peaks=GIVEN, max_time=0.1)
    assert "50% of the work is done outside the layers" in str(found)


def test_an_interrupt_returns_the_samples_so_far(counted_time, monkeypatch):
    real, samples = replay.Call.time, []

    def interrupted(self, clock):
        samples.append(self)
        if len(samples) == 29:  # three rounds of 9 calls and one of the model are done
            raise KeyboardInterrupt
        real(self, clock)

    monkeypatch.setattr(replay.Call, "time", interrupted)
    found = place(Net().eval(), torch.randn(2, 3, 8, 8), peaks=BEYOND)
    assert list(named(found)) == ["act", "conv", "norm", "drop", "head"]
    assert all(len(layer.samples_ms) == 3 for layer in found.layers)
    assert "Interrupted" in str(found)
    samples[:] = [None] * 28
    with pytest.raises(KeyboardInterrupt):
        place(Net().eval(), torch.randn(2, 3, 8, 8), peaks=BEYOND)


def test_out_of_memory_is_a_sentence(monkeypatch):
    def full(*_args, **_more):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")

    monkeypatch.setattr(replay.Call, "time", full)
    with pytest.raises(RooflineError, match="Too little free memory on cpu"):
        place(nn.Linear(4, 2), torch.randn(2, 4), peaks=GIVEN, max_time=0.1)


def test_a_layer_that_beats_the_roof_raises_it_as_far_as_its_interval_is_sure(counted_time):
    low = Peaks(1.0, 1.0, **ABOUT)
    model, x = nn.Sequential(nn.Linear(64, 64), nn.ReLU()), torch.randn(64, 64)
    found = place(model, x, peaks=low, max_time=0.5)
    linear = named(found)["0"]
    assert found.peaks.flops_per_s == pytest.approx(linear.flops / linear.interval_ms[1] * 1e3)
    assert found.peaks.work_by == "0 (Linear)" and "the roof is raised" in str(found)
    assert all(row["share_low"] <= 1 + 1e-9 for row in found.rows()[1:])


def test_calls_are_caught_part_by_part_where_memory_is_short(small_sweep, monkeypatch):
    monkeypatch.setattr(replay, "free_bytes", lambda device: 0)
    model, x = Net().eval(), torch.randn(2, 3, 8, 8)
    units = [replay.Unit(name, module) for name, module in model.named_children()]
    parts = replay.Capture(units, lambda: model(x.clone()), "cpu", training=False).parts()
    found = [[unit.name for unit in units for call in part if call in unit.timed] for part in parts]
    assert found == [["act"], ["conv"], ["norm"], ["act"], ["drop"], ["head"]]
    layers = named(place(model, x, peaks=BEYOND, max_time=0.05))
    assert list(layers) == ["act", "conv", "norm", "drop", "head"] and layers["act"].calls == 2


def test_a_layer_under_autocast_is_repeated_under_it(small_sweep):
    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Linear(8, 8), nn.Linear(8, 8)

        def forward(self, x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return self.two(self.one(x))

    found = place(Mixed(), torch.randn(4, 8), peaks=BEYOND, max_time=0.05)
    assert list(named(found)) == ["one", "two"]
    assert named(found)["two"].moved == 2 * 32 + 4 * 72 + 2 * 32


def test_one_cpu_thread_is_timed_without_what_other_programs_take(one_thread):
    clock = peaks_module.undisturbed(WallClock("cpu"))
    assert isinstance(clock, ThreadClock) and clock.block(lambda: time.sleep(0.05), 1) < 0.05
    assert not isinstance(peaks_module.undisturbed(WallClock("cuda")), ThreadClock)


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_a_busy_machine_is_said(counted_time, monkeypatch):
    monkeypatch.setattr(place_module.time, "thread_time", lambda: 0.0)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    assert "got only 0% of the time" in str(place(nn.Linear(4, 2), torch.randn(2, 4), peaks=BEYOND, max_time=0.2))


def test_on_an_accelerator_the_thread_that_issues_the_calls_is_the_overhead():
    clock = SimpleNamespace(device="mps", block=lambda f, calls: 1e-9, issue_s=lambda f: 1e-5, waits=lambda f: False)
    call = replay.Call(forward=torch.relu, arguments=((torch.zeros(4),), {}))
    call.time(clock)
    assert call.samples_s == call.issue_s == [1e-5] and not call.faults


def test_what_cannot_be_copied_is_said_and_results_with_gradients_are_no_hindrance(small_sweep):
    model = nn.Linear(4, 2)
    model.last = model(torch.randn(1, 4))
    assert place(model, torch.randn(2, 4), peaks=BEYOND, max_time=0.05).whole.flops == 32
    model.lock = threading.Lock()
    with pytest.raises(RooflineError, match="cannot be copied"):
        place(model, torch.randn(2, 4), peaks=BEYOND)


def test_peaks_of_something_else_are_said():
    other = replace(GIVEN, dtype="bfloat16", threads=GIVEN.threads + 1)
    notes = " ".join(place(nn.Linear(4, 2), torch.randn(2, 4), peaks=other, max_time=0.1).notes)
    assert "bfloat16 on cpu, the model is float32 on cpu" in notes and "threads" in notes


@pytest.mark.parametrize("code", ["en", "zh"])
@pytest.mark.parametrize(
    "arguments",
    [
        (nn.Linear,),
        (torch.relu, torch.zeros(2)),
        (nn.Linear(2, 2),),
        (nn.Linear(2, 2), (1, 2)),
        (nn.Linear(2, 2), torch.zeros(2, 5)),
        (nn.Linear(2, 2), torch.zeros(2, 2, device="meta")),
        (nn.Linear(2, 2, device="meta"), torch.zeros(2, 2, device="meta")),
        (nn.LazyLinear(2), torch.zeros(2, 2)),
        (nn.Sequential(torch.jit.ScriptModule()), torch.zeros(2)),
    ],
)
def test_odd_models_get_a_sentence(arguments, code):
    set_language(code)
    with pytest.raises(RooflineError) as caught:
        place(*arguments, peaks=GIVEN)
    assert caught.value._render_traceback_() == [str(caught.value)]
    assert ("。" in str(caught.value)) == (code == "zh")


class _ByName(nn.Module):
    """A forward that takes its inputs by name."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 4)

    def forward(self, rows=None, *, twice=False):
        return self.inner(rows) * (2 if twice else 1)


def test_inputs_by_name_are_placed_like_others():
    model, rows = _ByName(), torch.zeros(3, 8)
    placed = place(model, rows=rows, twice=True, peaks=GIVEN, max_time=0.05)
    assert placed.whole.flops == place(model, rows, peaks=GIVEN, max_time=0.05).whole.flops == 2 * 3 * 4 * 8
    with pytest.raises(RooflineError, match="needs inputs"):
        place(model, peaks=GIVEN)


# ---- the table


def test_the_table_in_the_order_they_ran_by_time_and_as_a_tree():
    names = ("stem.conv", "body.0.fc", "body.0.act", "body.1.fc")
    times = (1.0, 4.0, 2.0, 3.0)
    found = of(*(layer(10**6, 10**6, ms, name, params=7) for name, ms in zip(names, times, strict=True)))

    def first(order):
        return [line.split()[0] for line in found.table(order).splitlines()[2:]]

    assert first("run") == list(names) and first("time") == ["body.0.fc", "body.1.fc", "body.0.act", "stem.conv"]
    assert first("tree") == ["stem", "conv", "body", "0", "fc", "act", "1", "fc"]
    body = found.table("tree").splitlines()[4].split()
    assert body[1:5] == ["21", "3.00", "M", "3.00"] and "90%" in body  # three layers: parameters, FLOPs, bytes, time
    with pytest.raises(RooflineError, match="tree"):
        found.table("size")


@pytest.mark.parametrize("code", ["en", "zh"])
def test_one_thing_to_try_first_follows_from_the_limit(code):
    set_language(code)
    size = {"en": "batch size", "zh": "批大小"}[code]
    cases = {
        "channels_last": layer(10**9, 2 * 10**7, 40.0, kind="Conv2d"),
        size: layer(10**9, 2 * 10**7, 40.0),
        "bfloat16": layer(10**9, 2 * 10**7, 11.0),
        "torch.compile": layer(0, 2 * 10**7, 9.0, kind="GELU"),
        "inplace=True": layer(0, 2 * 10**7, 9.0, kind="ReLU", fault_share=0.6),
    }
    said = {word: of(one).try_first() for word, one in cases.items()}
    assert all(word in sentence for word, sentence in said.items()) and len(set(said.values())) == len(cases)
    assert "torch.compile" in of(layer(10**6, 10**4, 0.02, overhead_ms=0.012)).try_first()
    many = (layer(10**9, (2 + at) * 10**7, 17.0, f"c{at}", "Conv2d") for at in range(3))  # no layer stands out
    assert "c0 (Conv2d)" in of(layer(0, 2 * 10**7, 17.1, "act", "ReLU"), *many).try_first()
    assert said[size] in str(of(cases[size])) and said[size].endswith("。" if code == "zh" else ".")


@pytest.mark.parametrize(
    ("samples", "enough"),
    [
        ([STEADILY], True),
        ([WILDLY], False),
        ([WILDLY, WILDLY], True),  # the machine's mood: the parts stay
        ([STEADILY, WILDLY], False),
        ([[1000.0] * 24, WILDLY], True),  # a layer too small to matter may be unsure
    ],
)
def test_it_stops_when_the_ranges_are_narrow(samples, enough):
    """Times that repeat are enough after the first look, times that do not never are."""
    units = [replay.Unit("", nn.ReLU(), timed=[replay.Samples(seconds)]) for seconds in samples]
    assert place_module.narrow(units) == enough


def test_a_budget_is_not_used_up_where_the_ranges_are_narrow(counted_time, monkeypatch):
    def steady(self, clock):
        self.samples_s.append(1e-4)

    monkeypatch.setattr(replay.Call, "time", steady)
    found = place(nn.GELU(), torch.randn(8, 8), peaks=BEYOND)
    assert found.rounds == place_module.LOOK


def test_a_training_step(counted_time):
    model, x = Net().train(), torch.randn(2, 3, 8, 8)
    before, generator = traces(model), torch.get_rng_state()
    found = place(model, x, peaks=BEYOND, max_time=0.5, training=True)
    assert list(named(found)) == ["act", "conv", "norm", "drop", "head"]
    forward = 2 * 2 * 4 * 36 * 27
    assert (
        named(found)["conv"].flops == 2 * forward and named(found)["head"].flops == 3 * 2 * 2 * 8
    )  # the image needs no gradient
    ins, out, weights = 2 * 4, 2 * 2, 10
    assert named(found)["head"].moved == 4 * (ins + weights + out) + 4 * (out + ins + weights + ins + weights)
    assert "training step" in str(found) and found.whole.flops == 2 * forward + 3 * 2 * 2 * 8
    assert all(p.grad is None for p in model.parameters()) and torch.equal(generator, torch.get_rng_state())
    after = traces(model)
    assert after[:2] == before[:2] and all(torch.equal(a, b) for a, b in zip(after[2], before[2], strict=True))


def test_a_layer_is_held_against_the_peak_of_its_own_kind():
    both = Peaks(100e9, 20e9, products_per_s=50e9, convolutions_per_s=100e9, **ABOUT)
    conv, linear, other = (
        replace(layer(10**9, 10**6, 40.0, kind=kind), peaks=both) for kind in ("Conv2d", "Linear", "Mine")
    )
    assert [one.share for one in (conv, linear, other)] == pytest.approx([0.25, 0.5, 0.25])
    raised = both.raised(60e9, 0.0, "a", "Linear")
    assert (raised.products_per_s, raised.flops_per_s, raised.convolutions_per_s) == (60e9, 100e9, 100e9)
    assert both.raised(120e9, 0.0, "a", "Conv2d").flops_per_s == 120e9
    assert "Products reach 50.0 GFLOP/s, convolutions 100 GFLOP/s" in both.sentence()


def test_both_precisions_are_read_where_torch_keeps_them():
    with flags.using({"mkldnn.matmul.fp32_precision": "bf16", "mkldnn.conv.fp32_precision": "tf32"}):
        assert (
            peaks_module.precision_of("cpu", "matmul") == "bf16" and peaks_module.precision_of("cpu", "conv") == "tf32"
        )
    assert peaks_module.precision_of("cuda", "conv") == str(torch.backends.cudnn.conv.fp32_precision)
    assert peaks_module.precision_of("mps", "conv") == ""
