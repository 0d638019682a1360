"""`place`: real tiny runs, what it leaves behind (nothing), what is out of the ordinary, and where the time of one run goes."""

from __future__ import annotations

import dataclasses
import itertools
import sys
import threading
from collections import OrderedDict
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook

from course import flags
from course.core.i18n import speaking
from course.core.profiled import events_of
from course.flops import CountError
from course.roofline import Peaks, RooflineError, inside, place, replay
from course.roofline.layer import OUTSIDE
from course.roofline.place import _Run

place_module, peaks_module = (sys.modules[f"course.roofline.{name}"] for name in ("place", "peaks"))
ABOUT = ("float32", "cpu", torch.get_num_threads(), {}, "2026-05-01T00:00:00Z")
BEYOND = Peaks(1e18, 1e18, *ABOUT)  # a roof no layer here can beat


@pytest.fixture(autouse=True)
def small_sweep(monkeypatch):
    """The cache is emptied by reading 2 MiB."""
    monkeypatch.setattr(replay, "LARGEST_SWEEP", 2 << 20)


def placed(model, *inputs, **more):
    return place(model, *inputs, **({"peaks": BEYOND, "max_time": 0.1} | more))


def named(found):
    return {row["layer"]: SimpleNamespace(**row) for row in found.rows()[1:] if row["layer"] != OUTSIDE}


def whole(found):
    return SimpleNamespace(**found.rows()[0])


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
        if self.stop:
            raise RuntimeError("in the middle")
        return self.head(self.drop(x.mean((2, 3))))


def traces(model):
    return (
        [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()],
        list(model.state_dict()),
        model.ran,
        model.training,
    )


@pytest.mark.parametrize("stop", [False, True])
def test_nothing_stays_behind_also_after_an_exception(stop):
    model, x = Net(stop).train(), torch.randn(2, 3, 8, 8, requires_grad=True)
    before, buffers, inputs = traces(model), [b.clone() for b in model.buffers()], x.detach().clone()
    generator = torch.get_rng_state()
    if stop:
        with pytest.raises(CountError, match="with RuntimeError: in the middle"):
            placed(model, x)
    else:
        placed(model, x)
    assert traces(model) == before
    assert all(torch.equal(a, b) for a, b in zip(model.buffers(), buffers, strict=True))
    assert torch.equal(x, inputs) and torch.equal(generator, torch.get_rng_state())
    assert all(p.grad is None for p in model.parameters()) and torch.is_grad_enabled()


def test_a_real_tiny_run():
    found = placed(Net().eval(), torch.randn(2, 3, 8, 8), max_time=0.5)
    assert [row["layer"] for row in found.rows()] == ["", "act", "conv", "norm", "drop", "head", OUTSIDE]
    act, conv, norm, drop, head = named(found).values()
    assert act.calls == 2 and act.bytes == 4 * 2 * (2 * 3 * 64 + 2 * 4 * 36)
    assert conv.flops == 2 * 2 * 4 * 36 * 27 and conv.bytes == 4 * (2 * 3 * 64 + 112 + 2 * 4 * 36)
    assert norm.flops == drop.bytes == 0 and head.flops == 2 * 2 * 8
    assert whole(found).flops == conv.flops + head.flops
    weights = sum(one.numel() * one.element_size() for one in Net().state_dict().values())
    assert whole(found).bytes == 4 * (2 * 3 * 64 + 2 * 2) + weights  # as one layer: in, out, every weight
    assert found.rounds >= 6
    assert act.overhead_ms == 2 * conv.overhead_ms > 0


def test_default_peaks_fit_the_model_and_are_measured_once_for_the_settings_of_now(monkeypatch):
    asked = []
    monkeypatch.setattr(peaks_module, "peaks", lambda *given: asked.append(given) or BEYOND)
    peaks_module.kept_peaks.cache_clear()
    for _ in range(2):
        found = placed(nn.Linear(4, 2).double(), torch.randn(2, 4).double(), peaks=None)
    assert asked == [("cpu", torch.float64)] and len(found.rows()) == 1
    with flags.using({"mkldnn.matmul.fp32_precision": "bf16"}):
        placed(nn.Linear(4, 2).double(), torch.randn(2, 4).double(), peaks=None)
    assert len(asked) == 2
    peaks_module.kept_peaks.cache_clear()


def test_a_module_that_calls_no_other_one_is_one_layer():
    x = torch.randn(1, 4, 8)
    found = placed(nn.MultiheadAttention(8, 2, batch_first=True).eval(), x, x, x)
    assert len(found.rows()) == 1 and whole(found).flops > 0
    assert whole(found).bytes >= 4 * (32 + 8 * 24 + 24 + 72 + 32)


def test_a_layer_that_beats_the_roof_raises_it_as_far_as_its_interval_is_sure():
    model, roof = nn.Sequential(nn.Linear(64, 64), nn.ReLU()), Peaks(1.0, 1.0, *ABOUT)
    with flags.using({"torch.num_threads": 1}):  # threads that wait for one another make few rounds on a busy machine
        found = placed(model, torch.randn(64, 64), peaks=roof, max_time=2.0)
    linear = found.rows()[1]
    assert found.peaks.flops_per_s == pytest.approx(linear["flops"] / linear["high_ms"] * 1e3)
    assert "the roof is raised to it" in str(found)
    assert all(row["share_of_roof_low"] <= 1 + 1e-9 for row in found.rows()[1:3])


def test_a_layer_under_autocast_is_repeated_under_it():
    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Linear(8, 8), nn.Linear(8, 8)

        def forward(self, x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return self.two(self.one(x))

    layers = named(placed(Mixed(), torch.randn(4, 8)))
    assert list(layers) == ["one", "two"] and layers["two"].bytes == 2 * 32 + 4 * 72 + 2 * 32


@pytest.mark.parametrize(("max_time", "fewest", "most"), [(0.1, 4, 4), (1.0, 19, 20), (9.0, 100, 100)])
def test_a_budget_is_used_and_kept(monkeypatch, max_time, fewest, most):
    """Rounds of 50 ms; twice of the budget where they are too few for ranges."""
    looks = itertools.count()
    pretended = SimpleNamespace(perf_counter=lambda: next(looks) / 20, thread_time=lambda: 0.0)
    monkeypatch.setattr(place_module, "time", pretended)
    found = placed(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.randn(2, 4), max_time=max_time)
    assert fewest <= found.rounds <= most


def test_a_disturbed_run_or_roof_says_so_once_and_a_quiet_one_does_not(monkeypatch):
    quiet, poor = place_module.time.perf_counter, dataclasses.replace(BEYOND, got=0.5)
    for thread_time, roof, said in ((lambda: 0.0, poor, 1), (quiet, poor, 1), (quiet, BEYOND, 0)):
        monkeypatch.setattr(place_module.time, "thread_time", thread_time)
        assert str(placed(nn.Linear(4, 2), torch.randn(2, 4), peaks=roof)).count("Disturbed") == said


def test_an_interrupt_puts_everything_back(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(place_module, "timed_round", stop)
    model, generator = Net(), torch.get_rng_state()
    with pytest.raises(KeyboardInterrupt):
        placed(model, torch.randn(2, 3, 8, 8, generator=torch.Generator()))
    assert model.ran == 0 and torch.equal(generator, torch.get_rng_state())


class Twice(nn.Module):
    """Calls one of its layers twice, and does work of its own in between."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
        self.head = nn.Linear(4, 2)

    def forward(self, x, shift=0.1):
        return {"y": self.head(self.body[1](self.body(x) - shift).mean((2, 3)))}


def exported(model, *inputs):
    return torch.export.export(model, inputs).module()


def test_an_exported_model_shows_the_modules_it_came_from():
    x, model = torch.randn(2, 3, 8, 8), Twice().eval()
    graph = exported(model, x)
    code, plain, found = graph.code, placed(model, x), placed(graph, x)
    kinds = {"body.0": "Conv2d", "body.1": "ReLU", "body.1@1": "ReLU", "head": "Linear"}
    assert {name: one.kind for name, one in named(found).items()} == kinds
    assert found.rows()[-1]["layer"] == OUTSIDE and graph.code == code
    for name in ("body.0", "head"):
        one, other = named(found)[name], named(plain)[name]
        assert (one.flops, one.bytes) == (other.flops, other.bytes)


def test_an_exported_model_has_the_layers_and_the_work_of_the_plain_one():
    """Also where a module that calls others computes by itself, and where one has a name as torch gives its parts."""
    head = nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))
    x, model = torch.randn(2, 3, 16, 16), nn.Sequential(OrderedDict(submod_1=Small(), head_1=head))
    plain, found = placed(model, x), placed(exported(model, x), x)
    about = [[(row["layer"], row["kind"], row["flops"]) for row in one.rows()[1:]] for one in (plain, found)]
    assert about[0] == about[1]
    assert list(named(plain)) == ["submod_1.conv", "submod_1.act", "submod_1.head", "head_1"]


# ---- what cannot be placed


@pytest.mark.parametrize(
    "arguments",
    [
        (nn.Linear,),
        (torch.relu, torch.zeros(2)),
        (nn.Linear(2, 2),),
        (nn.Linear(2, 2), (1, 2)),
        (nn.Linear(2, 2), torch.zeros(2, 5)),
        (nn.Linear(2, 2), torch.zeros(2, 2, device="meta")),
    ],
    ids=["class", "function", "no inputs", "numbers", "wrong shape", "meta"],
)
def test_what_cannot_be_placed_gets_a_sentence(arguments):
    with speaking("zh"), pytest.raises((RooflineError, CountError), match="。") as caught:
        placed(*arguments)
    assert caught.value._render_traceback_() == [str(caught.value)]


def test_what_cannot_be_copied_is_said_and_results_with_gradients_and_locks_are_no_hindrance():
    model = nn.Linear(4, 2)
    model.last, model.lock = model(torch.randn(1, 4)), threading.Lock()
    assert whole(placed(model, torch.randn(2, 4))).flops == 32
    steps = (x for x in [1, 2])
    model.register_forward_hook(lambda *_: next(steps) and None)
    with pytest.raises(CountError, match="uses a generator, which cannot be copied"):
        placed(model, torch.randn(2, 4))


# ---- out of the ordinary, and placed


@dataclasses.dataclass
class Answer:
    rows: torch.Tensor


class Telling(nn.Sequential):
    def forward(self, x):
        return Answer(super().forward(x))


def test_a_dataclass_as_output_has_bytes():
    told, plain = (whole(placed(form(nn.Linear(4, 4)), torch.randn(2, 4))) for form in (Telling, nn.Sequential))
    assert told.bytes == plain.bytes


class Cache:
    """As a cache of keys and values: grows in each forward."""

    def __init__(self):
        self.kept = [torch.zeros(1, 4)]


class Growing(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)

    def forward(self, x, cache):
        cache.kept.append(self.net(x))
        return torch.cat(cache.kept)


def test_a_cache_among_the_inputs_stays_as_it_was_and_no_run_sees_a_longer_one():
    cache = Cache()
    found = placed(Growing(), torch.ones(1, 4), cache)
    assert len(cache.kept) == 1 and whole(found).bytes == 4 * (4 + 4 + 20 + 8)


@pytest.mark.parametrize(
    "wrap", [nn.utils.spectral_norm, nn.utils.parametrizations.weight_norm], ids=["by a hook", "parametrized"]
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_layer_whose_weight_is_made_in_each_forward_is_one_layer(wrap):
    found = placed(nn.Sequential(wrap(nn.Conv2d(3, 4, 3)), nn.ReLU()), torch.randn(1, 3, 8, 8))
    assert list(named(found)) == ["0", "1"] and named(found)["0"].flops > 0


class Ensemble(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 8), nn.ReLU())

    def forward(self, x):
        weights = {name: torch.stack([p] * 3) for name, p in self.net.named_parameters()}
        return torch.vmap(lambda w: torch.func.functional_call(self.net, w, (x,)))(weights)


def test_layers_that_cannot_be_repeated_one_by_one_are_refused(monkeypatch):
    with pytest.raises(RooflineError, match="inside torch.vmap"):
        placed(Ensemble(), torch.randn(4, 8))
    monkeypatch.setattr(replay, "passport", lambda device: {"memory_gib": 1e-9})
    with pytest.raises(RooflineError, match="do not fit into memory"):
        placed(Net().eval(), torch.randn(2, 3, 8, 8))


# ---- hooks of the user


def test_a_hook_that_looks_writes_to_copies():
    seen, model = [], nn.Sequential(nn.Linear(8, 8), nn.ReLU())
    model[0].register_forward_hook(lambda module, args, out: seen.append(out.mean().item()))
    placed(model, torch.randn(3, 8))
    assert seen == []
    model(torch.randn(3, 8))  # and is still there
    assert len(seen) == 1


def test_hooks_of_all_modules_run_as_often_as_in_one_forward():
    seen = []
    handle = register_module_forward_hook(lambda module, args, out: seen.append(1))
    try:
        placed(nn.Sequential(nn.Linear(8, 8), nn.ReLU()), torch.randn(3, 8))
    finally:
        handle.remove()
    assert len(seen) == 3


def test_a_hook_that_changes_what_passes_is_part_of_the_forward():
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(4, 2))
    model[0].register_forward_hook(lambda module, args, out: out[:, :4])
    assert list(named(placed(model, torch.randn(3, 8)))) == ["0", "1"]


GIVEN = Peaks(1e18, 1e18, "float32", "cuda", torch.get_num_threads(), {}, "2026-05-01T00:00:00Z")


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.act, self.head = nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.act(self.conv(x)).mean((2, 3)))


def test_the_parts_add_up_to_all_there_is():
    model, x, looks, call = Small(), torch.randn(2, 3, 16, 16), itertools.count(), nn.Module.__call__
    layers = dict(model.named_children())
    parts = inside.by_clock(lambda: model(x), layers, lambda: next(looks))
    assert parts == {"conv": 1, "act": 1, "head": 1, OUTSIDE: 4} and nn.Module.__call__ is call


class Between(nn.Module):
    """A layer, then the same operator in the forward itself, then Python."""

    def __init__(self):
        super().__init__()
        self.one, self.rows = nn.Linear(8, 8), nn.Parameter(torch.randn(8, 8))

    def forward(self, x):
        x = nn.functional.linear(self.one(x), self.rows)
        sum(range(300_000))
        return x


def test_python_between_the_layers_is_a_row_with_its_part():
    found = place(Between(), torch.randn(2, 8), peaks=GIVEN, max_time=0.5)
    one, rest = found.rows()[1:]
    assert (one["layer"], rest["layer"]) == ("one", OUTSIDE) and rest["share_of_time"] > 0.8
    assert one["share_of_time"] + rest["share_of_time"] == pytest.approx(1)
    assert rest["flops"] >= one["flops"] > 0  # of the function that the forward calls


@pytest.fixture
def as_cuda(monkeypatch):
    """`place` takes its way for a GPU, over a real profile of the CPU."""
    monkeypatch.setattr(inside, "events_of", lambda work, on_cuda: events_of(work, on_cuda=False))
    monkeypatch.setattr(inside, "kernels_us", lambda event: event.self_cpu_time_total * (not event.is_user_annotation))
    monkeypatch.setattr(_Run, "on_cuda", True)


def test_a_model_is_placed_by_its_kernels(as_cuda):
    found = place(Small(), torch.randn(2, 3, 16, 16), peaks=GIVEN, max_time=0.3)
    assert [row["layer"] for row in found.rows()] == ["", "conv", "act", "head", OUTSIDE]
    assert sum(row["share_of_time"] for row in found.rows()[1:]) == pytest.approx(1)
    assert 0 <= found.idle < 1 and whole(found).overhead_ms == pytest.approx(found.idle * whole(found).time_ms)
    assert all(row["overhead_ms"] == 0 and row["bound"] != "overhead" for row in found.rows()[1:])
    assert named(found)["conv"].flops > 0 and named(found)["conv"].calls == 1 and found.rounds >= 1
    assert "The GPU idles" in str(found)
