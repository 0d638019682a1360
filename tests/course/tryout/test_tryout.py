"""`try_switches`: it finds what matters and nothing else, leaves everything as it was, and says what it could not try."""

from __future__ import annotations

import contextlib
import copy
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import nn

from course import flags, try_switches
from course.core.i18n import speaking
from course.timing import TimingError
from course.timing.processes import in_turns
from course.tryout import running, verdicts, worker
from course.tryout.result import Tried
from course.tryout.running import Venue
from course.tryout.settings import all_settings, chosen, look_at, under
from course.tryout.worker import Digits, differs
from tests.conftest import ROOT
from tests.support.timing_clocks import Cost, NoisyClock

SETTINGS = {one.id: one for one in all_settings()}


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """One thread, on a machine that nobody else uses."""
    monkeypatch.setattr(running.cpu_load.Since, "others", lambda self: 0.0)
    monkeypatch.setattr(running.cpu_load, "others", lambda: 0.0)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with flags.preserved():
        yield
    torch.set_num_threads(before)


def parts():
    torch.manual_seed(0)
    return nn.Conv2d(2, 2, 3), nn.MultiheadAttention(2, 1).eval(), torch.randn(2, 2, 6, 6)


def digits_of(step, *held):
    """The results of a step that holds these modules and tensors; what is moved is put back before each call."""
    tensors = [one for part in held for one in (part.parameters() if isinstance(part, nn.Module) else [part])]
    kept = [(one, one.data.clone()) for one in tensors]

    def copied():
        for one, data in kept:
            one.data = data.clone()
        return step, tensors

    return Digits(copied)


class Planted:
    """A step of convolution, product, attention and gelu that costs less on a NoisyClock where `holds` says so."""

    def __init__(self, holds, factor: float = 0.9) -> None:
        self.conv, _, self.x = parts()
        self.attention = nn.MultiheadAttention(2, 2, batch_first=True).eval().requires_grad_(False)
        self.cost = lambda step: factor if holds(step) else 1

    def __call__(self):
        y = nn.functional.gelu(self.conv(self.x)).mean((2, 3))[None]
        self.attention(*[y.detach()] * 3, need_weights=False)  # without a graph, or the fast path is not taken
        y[0] @ y[0].T
        nn.functional.scaled_dot_product_attention(*[y[None]] * 3)  # four dimensions, or flash refuses
        return Cost(0.001 * self.cost(self))


HOLDS = {
    "channels_last": lambda step: step.x.is_contiguous(memory_format=torch.channels_last),
    "autocast-bfloat16": lambda step: torch.is_autocast_enabled("cpu"),
    "inference_mode": lambda step: torch.is_inference_mode_enabled(),
    "oneDNN-off": lambda step: not torch.backends.mkldnn.enabled,
    "matmul-medium": lambda step: torch.get_float32_matmul_precision() == "medium",
    "conv-bf16": lambda step: torch.backends.mkldnn.conv.fp32_precision == "bf16",
    "fastpath-off": lambda step: not torch.backends.mha.get_fastpath_enabled(),
    "attention-math": lambda step: not torch.backends.cuda.flash_sdp_enabled(),
    "deterministic": lambda step: torch.are_deterministic_algorithms_enabled(),
}
"""Setting -> whether it is in force in a call."""


class Pretended(Venue):
    """Copies of the step in this process, on a clock that only pretends."""

    def __init__(self, step, folder):
        self.step, self.clock = step, NoisyClock(5)
        self.most, self.held, self.find_held = 99, [], lambda: None

    def __call__(self):
        step = copy.deepcopy(self.step)
        return step, [*step.conv.parameters(), step.x]

    def probe(self, wanted, seconds):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(worker, "Copies", lambda folder: self)
            return worker.probe("", wanted, seconds)

    @contextlib.contextmanager
    def open(self, sides, rough_s, device):
        copies = {name: (*self(), [SETTINGS[one] for one in ids]) for name, ids in sides.items()}

        def block(name):
            step, tensors, settings = copies[name]
            with under(step, settings, tensors, device) as run:
                return self.clock.block(run, 1)

        yield block


def on_a_pretended_clock(step, monkeypatch, only=tuple(HOLDS), budget=20):
    monkeypatch.setattr(running, "Venue", Pretended)
    return try_switches(step, only=only, budget=budget)


def claimed_of(found) -> dict[str, str]:
    rows = [row for row in found.rows() if "+" not in row["setting"]]
    return {row["setting"]: row["verdict"] for row in rows if row["verdict"] in ("take", "digits", "slower")}


@pytest.mark.slow
@pytest.mark.parametrize(
    "planted, factor, verdict", [*((one, 0.85, "take") for one in HOLDS), ("deterministic", 1.25, "slower")]
)
def test_a_planted_effect_is_found_and_nothing_else_is_claimed(planted, factor, verdict, monkeypatch):
    """What in the step as it is costs 1 costs this factor under one setting."""
    assert claimed_of(on_a_pretended_clock(Planted(HOLDS[planted], factor), monkeypatch)) == {planted: verdict}


def test_what_helps_is_advised_together(monkeypatch):
    """Two settings make the step faster, each by a seventh: both are advised, and nothing else."""
    helping = {"oneDNN-off", "deterministic"}
    step = Planted(None)
    step.cost = lambda step: 0.86 ** sum(HOLDS[name](step) for name in helping)
    found = on_a_pretended_clock(step, monkeypatch, [*helping, "inference_mode"], 40)
    (together,) = (row for row in found.rows() if row["setting"] == "+".join(sorted(helping)))
    assert {*claimed_of(found)} == helping and 0.7 < together["ratio"] < 0.78
    assert {"torch.backends.mkldnn.enabled = False", "torch.use_deterministic_algorithms(True)"} <= set(found.lines())
    with speaking("zh"):
        assert "2 项设置一起用：省 2" in str(found)


def values(seed, wild, effect=1.0, sets=24):
    """One ratio a set, of nine sides: the step as it is differs from set to set, and each side does; one scatters far more."""
    draw = random.Random(seed).gauss
    base = [draw(0, 0.03) for _ in range(sets)]
    return {
        name: [
            math.exp(draw(0, 0.03 * (4 if wild and name == "i" else 1)) - one) * (effect if name == "a" else 1)
            for one in base
        ]
        for name in "abcdefghi"
    }


@pytest.mark.parametrize("wild", [False, True])
def test_equal_code_is_not_called_faster_or_slower_in_300_trials_and_a_seventh_is_found(wild):
    """Looked at after every set, as the verb does."""
    wrong = found = 0
    for seed in range(100):
        ratios = values(seed, wild, 0.85)
        claims = {}
        for sets in range(running.FEWEST, 25, 4):
            for name, (ratio, low, high) in running.ranges(
                {name: some[:sets] for name, some in ratios.items()}
            ).items():
                claims[name] = verdicts.verdict_of(
                    {"ratio": ratio, "low": low, "high": high, "error": 0.0, "error_as_is": 0.0}
                )
                wrong += name != "a" and claims[name] in ("take", "slower")
        found += claims["a"] == "take"
    assert found == 100 and wrong <= 3 * wild


def test_the_budget_is_used_until_everything_is_settled(monkeypatch):
    """Nothing is called late while there is time; a larger budget is advised only where a gain is open, never a smaller one."""
    began = time.monotonic()
    found = on_a_pretended_clock(Planted(HOLDS["oneDNN-off"], 0.8), monkeypatch, ["oneDNN-off"], 30)
    assert claimed_of(found) and time.monotonic() - began < 20
    monkeypatch.setattr(running, "FEWEST", 10**6)
    began = time.monotonic()
    found = on_a_pretended_clock(Planted(HOLDS["oneDNN-off"], 0.8), monkeypatch, ["oneDNN-off"], 3)
    assert time.monotonic() - began > 2.5 and [row["verdict"] for row in found.rows()] == ["late"]
    assert "A larger budget may settle" in str(found)


def test_dropout_is_left_out_where_results_are_compared():
    """Wherever the step has it: in a layer, as a function, inside an attention."""
    torch.manual_seed(0)
    attention, layer, x = nn.MultiheadAttention(4, 1, dropout=0.5), nn.Dropout(0.5), torch.randn(3, 1, 4)

    def step():
        return layer(nn.functional.dropout(attention(x, x, x)[0], 0.5))

    found = digits_of(step, layer, attention, x)
    assert not found.random and found.exact is not None
    attention.eval(), layer.eval()
    found.copies()
    assert torch.allclose(found.as_is[0], attention(x, x, x)[0].double(), atol=1e-6)


# --- everything as before -------------------------------------------------------------------------------------


class Training:
    """A step that changes everything a step can: parameters, optimizer, statistics, a list, a counter, random numbers, a switch."""

    def __init__(self, lock=None) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(
            nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.Dropout(0.2), nn.Flatten(), nn.Linear(64, 3)
        )
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.x, self.losses, self.count, self.lock = torch.randn(4, 2, 6, 6), [], 0, lock

    def __call__(self):
        self.count += 1
        self.optimizer.zero_grad()
        loss = self.model(self.x).square().mean()
        loss.backward()
        self.optimizer.step()
        self.losses.append(float(loss.detach()))
        torch.backends.cudnn.benchmark = not torch.backends.cudnn.benchmark
        random.random()
        return loss.detach()


def photograph(step: Training):
    memory = [(one.data_ptr(), one._version, one.grad) for one in [*step.model.state_dict().values(), step.x]]
    state = [one.training for one in step.model.modules()], [*step.losses], step.count, [*step.optimizer.state]
    return memory, state, torch.get_rng_state().tolist(), random.getstate(), flags.snapshot()


def test_nothing_of_the_step_runs_here():
    step = Training()
    before = photograph(step)
    found = try_switches(step, only="channels_last", budget=12)
    assert photograph(step) == before and found.found["channels_last"]["error"] < 1e-4


def test_a_step_that_cannot_be_copied_is_refused_unused():
    taken = iter(range(100))
    source = (one for one in taken)
    lock = Training(threading.Lock())
    before = photograph(lock)
    for step, named in ((lambda: torch.ones(2) * next(source), "generator"), (lock, "_thread.lock")):
        with pytest.raises(TimingError, match=f"that failed: .*{named}.*mylab.py"):
            try_switches(step, budget=5)
    assert next(taken) == 0 and photograph(lock) == before


def test_what_a_module_of_the_users_keeps_is_part_of_the_step(tmp_path, monkeypatch):
    """A step in a file, such as one that cannot be copied: its tensors are moved and put back, and a call that depends on the one
    before is not compared."""
    (tmp_path / "of_a_file.py").write_text(
        "import threading\nimport torch\nlock, w = threading.Lock(), torch.ones(4, 1, 3, 3)\nx = torch.randn(1, 1, 9, 9)\n"
        "calls = []\ndef still():\n    lock.acquire(), lock.release()\n    return torch.conv2d(x, w)\n"
        "def moving():\n    calls.append(1)\n    return torch.conv2d(x, w) * len(calls)\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import of_a_file

    for step, compared in ((of_a_file.still, True), (of_a_file.moving, False)):
        folder = tmp_path / step.__name__
        folder.mkdir()
        found = Venue(step, str(folder)).probe({"one": ["channels_last"], "two": ["deterministic"]}, 60)
        assert found["random"] != compared and found["rows"]["one"]["float64"]
        assert found["rows"]["two"]["bits"] is (True if compared else None)


# --- what is tried, and what is said --------------------------------------------------------------------------


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda one: one.id)
def test_the_lines_to_paste_do_what_was_tried(setting):
    lines = [line if isinstance(line, str) else line["en"] for line in setting.lines]
    code = compile("\n".join(["import torch", *lines]), setting.id, "exec")
    assert set(setting.flags) <= set(flags.SWITCHES)
    if setting.flags and "with " not in " ".join(lines):
        exec(code, {})
        assert {name: flags.SWITCHES[name].read() for name in setting.flags} == dict(setting.flags)


def test_one_look_says_what_can_matter():
    conv, _, x = parts()
    seen = {name: look_at(step) for name, step in {"conv": lambda: conv(x), "add": lambda: x + 1}.items()}
    can = {name: {one.id for one in SETTINGS.values() if not one.why_not(look)} for name, look in seen.items()}
    assert {"channels_last", "oneDNN-off", "autocast-bfloat16", "inference_mode"} <= can["conv"]
    assert not can["add"] & {"channels_last", "oneDNN-off", "autocast-bfloat16", "inference_mode"}
    assert "tf32-products" not in can["conv"]


def test_a_recorded_graph_is_seen_whether_or_not_the_result_still_holds_it():
    """A step that ends in argmax or item() records one, too, and inference_mode spares it."""
    conv, _, x = parts()

    def taken(step: Callable[[], object]) -> bool:
        return not SETTINGS["inference_mode"].why_not(look_at(step))

    assert taken(lambda: conv(x)) and taken(lambda: conv(x).argmax(1)) and taken(lambda: conv(x).mean().item())
    assert not taken(torch.no_grad()(lambda: conv(x))) and not taken(lambda: conv(x).mean().backward())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: try_switches(nn.Linear(2, 2)), "that failed: TypeError: Linear.forward() missing"),
        (lambda: try_switches(3), "is of type int, not a function"),
        (lambda: try_switches(fails, budget=5), "that failed: RuntimeError: mat1 and mat2"),
        (lambda: try_switches(print, only=3), '"3" cannot be tried.'),
        (lambda: try_switches(print, only="onednn"), "oneDNN"),
        (lambda: try_switches(print, budget=0), "budget must be"),
    ],
)
def test_a_wrong_call_gets_a_sentence(call, said):
    with pytest.raises(TimingError) as error:
        call()
    assert said in str(error.value)


def fails():
    return torch.ones(2, 3) @ torch.ones(2, 3)


class RaisesLate(Planted):
    """Raises where `holds` is true, in the third call of each copy: a look makes two, a set at least four."""

    def __init__(self, holds) -> None:
        super().__init__(lambda step: False)
        self.raises, self.calls = holds, 0

    def __call__(self):
        self.calls += 1
        if self.calls > 2 and self.raises(self):
            raise RuntimeError("too many calls")
        return super().__call__()


@pytest.mark.skipif(sum("threads" in one for one in SETTINGS) < 2, reason="one core")
def test_threads_are_not_judged_on_a_busy_machine(monkeypatch):
    """One process of several threads waits for the slowest: fewer of them win there, and nowhere else."""
    step = Planted(None)
    step.cost = lambda step: 0.5 if torch.get_num_threads() > 1 else 1
    monkeypatch.setattr(running.cpu_load.Since, "others", lambda self: 0.8)
    found = on_a_pretended_clock(step, monkeypatch, ["threads", "oneDNN-off"], 8)
    rows = [row for row in found.rows() if row["family"] == "threads"]
    assert rows and all(row["verdict"] == "untried" and "too busy" in row["why"] and row["low"] is None for row in rows)
    assert "Other programs used 80 % of this machine" in str(found)


THREE = ["oneDNN-off", "matmul-medium", "channels_last"]


def after_sets(step, sets, monkeypatch) -> Tried:
    """What is known of THREE after so many sets, however long they take."""
    monkeypatch.setattr(running, "Venue", Pretended)
    trial = running.Trial(step, chosen(THREE), 1e9)
    trial.look("")
    for _ in range(sets):
        trial.compare([one for one in THREE if "why" not in trial.out.found[one]])
    return trial.out


def test_a_setting_that_raises_late_is_named_and_the_others_are_judged(monkeypatch):
    found = after_sets(RaisesLate(HOLDS["matmul-medium"]), 1 + running.FEWEST, monkeypatch)
    verdict = {row["setting"]: row["verdict"] for row in found.rows()}
    assert verdict.pop("matmul-medium") == "untried" and not {"late", "untried"} & set(verdict.values())
    assert "float32 matmul=medium: RuntimeError: too many calls" in found.not_tried()


def test_a_step_that_raises_late_is_said_to_raise(monkeypatch):
    """And no setting is blamed for it."""
    with pytest.raises(TimingError, match="The step failed after some calls: RuntimeError: too many calls"):
        after_sets(RaisesLate(lambda step: True), 1, monkeypatch)


def test_a_gradient_that_is_rounding_alone_has_no_digit_to_lose():
    """A bias before a batch normalization has the gradient 0; channels_last was said to move the second digit of it."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 2))
    x = torch.randn(4, 3, 8, 8)

    def copied():
        one, given = copy.deepcopy(model), x.clone()

        def step():
            one(given).square().mean().backward()
            return [each.grad for each in one.parameters()]

        return step, [*one.parameters(), *one.buffers(), given]

    bench = Digits(copied)
    found = bench.of([SETTINGS["channels_last"]])
    assert not found["bits"] and found["error"] < 1e-5 and found["error_as_is"] < 1e-5
    assert not verdicts.loses(found), "returned, and left in the model"
    small = min(range(len(bench.as_is)), key=lambda at: float(bench.as_is[at].abs().max()))
    blown = [one + (at == small) for at, one in enumerate(bench.as_is)]
    assert differs(bench.exact, blown, bench.sizes) > 1, "what becomes large there is seen all the same"


def test_integers_hide_digits():
    """A step that ends in argmax gives the same numbers where the scores before it moved: they are not compared."""
    conv, _, x = parts()
    same = digits_of(lambda: conv(x).argmax(1), conv, x).of([SETTINGS["channels_last"]])
    assert same["bits"] is None is same["error"]


def _times_two(x, _):
    return x * 2


def test_each_setting_is_timed_in_a_process_of_its_own(tmp_path):
    """All of them take turns; what one keeps does not reach the others, nor this one."""
    venue = Venue(partial(_times_two, torch.ones(100_000), None), str(tmp_path))
    with venue.open({running.AS_IS: [], "a": ["matmul-medium"], "b": ["deterministic"]}, 1e-4, "cpu") as block:
        found = in_turns(block, [running.AS_IS, "a", "b"], 0.1)
    assert {*found} == {running.AS_IS, "a", "b"} and min(map(min, found.values())) > 0 and venue.used_s > 0
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_step_of_a_notebook_that_calls_torch_backends_reaches_new_processes(tmp_path):
    x = torch.randn(4)

    def step():  # cloudpickle takes it by value, with the modules it names
        return x + torch.backends.mkldnn.enabled + torch.backends.cudnn.enabled

    venue = Venue(step, str(tmp_path))
    assert venue.probe({"one": ["deterministic"]}, 60)["rows"]["one"]["bits"] is True


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_interrupt_while_new_processes_compare_ends_it_and_them(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import torch\nfrom course import try_switches\nx = torch.ones(1000)\ndef step():\n    return x * 2\n"
        "if __name__ == '__main__':\n    import mine\n    print(try_switches(mine.step, only='deterministic', budget=300))\n",
        "utf-8",
    )
    pipe, environment = subprocess.PIPE, {**os.environ, "PYTHONPATH": str(ROOT)}
    listen = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    asked = subprocess.Popen(
        [sys.executable, "mine.py"],
        cwd=tmp_path,
        env=environment,
        stdout=pipe,
        stderr=pipe,
        text=True,
        preexec_fn=listen,
    )
    try:
        deadline = time.monotonic() + 120
        while not (begun := _descendants(asked.pid)[1:]) and time.monotonic() < deadline:
            time.sleep(0.1)
        asked.send_signal(signal.SIGINT)
        _, errors = asked.communicate(timeout=60)
    finally:
        asked.kill()
    assert "KeyboardInterrupt" in errors
    time.sleep(1)
    assert begun and not any(Path(f"/proc/{pid}").exists() for pid in begun)


def _descendants(pid: int) -> list[int]:
    """The process that forks, and what it forked."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("utf-8").rpartition(")")[2].split()
        except OSError:  # ended meanwhile
            continue
        if int(fields[1]) == pid:
            found += [int(path.parent.name), *_descendants(int(path.parent.name))]
    return found


def test_copies_of_a_large_step_do_not_fill_the_memory(tmp_path, monkeypatch):
    """Fewer settings are timed at once, so that all copies together keep below half of it."""
    monkeypatch.setattr("course.tryout.running.passport", lambda device: {"memory_gib": 1.0})
    assert Venue(partial(_times_two, torch.zeros(2**25), None), str(tmp_path)).most == 2
