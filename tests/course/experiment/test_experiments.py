"""Experiments: registry, budget, run, restore, live or replay, recording on a bare machine; a run ends in time; explorables."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import course
from course.core.i18n import LANGUAGES, pick, set_language, speaking
from course.core.markup import plain
from course.core.records import load, save
from course.experiment import base
from course.experiment.base import Experiment, ExperimentError, experiment, get, load_or_run, run, run_experiment
from course.experiment.ending import time_left
from course.experiment.explorables import page
from course.experiment.new_process import answer_of


@pytest.fixture
def registry(monkeypatch):
    """A registry of the test's own, without the lessons."""
    monkeypatch.setattr(base, "REGISTRY", {})
    monkeypatch.setattr(base, "load_all", lambda: base.REGISTRY)
    return base.REGISTRY


def add(function, name="99-a", **more):
    return experiment(**({"name": name, "lesson": "99_test", "seconds": 1} | more))(function)


def test_a_list_or_yielded_rows_become_a_live_record(registry):
    add(lambda budget: [{"a": 1, "budget": budget.seconds}])
    add(lambda budget: ({"i": i} for i in range(3)), name="99-b", version=4)
    record = run("99-a", 2.5)
    assert record.rows == [{"a": 1, "budget": 2.5}] and record.complete and record.live
    assert record.machine["torch"] == torch.__version__
    second = run("99-b")
    assert (len(second.rows), second.experiment_version, second.budget_s) == (3, 4, 1.0)


def test_a_row_without_an_interval_is_left_out_and_the_record_says_it_is_not_whole(registry):
    rows = [{"op": "a", "low": 0.9, "high": 1.1}, {"op": "b", "low": None, "high": None}, {"op": "c"}]
    add(lambda budget: rows)
    found = base.run("99-a")
    assert [row["op"] for row in found.rows] == ["a", "c"] and not found.complete


def test_an_interrupt_keeps_the_rows_so_far_and_restores(registry):
    def stopped(budget):
        torch.backends.mkldnn.enabled = False
        yield {"i": 1}
        raise KeyboardInterrupt

    add(stopped)
    before = torch.backends.mkldnn.enabled
    record = run("99-a")
    assert record.rows == [{"i": 1}] and record.interrupted and not record.complete
    assert torch.backends.mkldnn.enabled == before


def test_an_interrupt_inside_a_comparison_ends_the_experiment(registry):
    from course.timing import compare

    calls = iter(range(50))

    def f():
        if next(calls, None) is None:
            raise KeyboardInterrupt

    def body(budget):
        yield {"i": 0}
        compare({"a": f, "b": f}, max_time=1, device="cpu")
        yield {"i": 1}

    add(body)
    assert run("99-a").rows == [{"i": 0}]


@pytest.mark.parametrize("code", ["en", "zh"])
def test_a_failure_is_a_sentence_and_everything_is_restored(registry, code):
    def broken(budget):
        torch.backends.cudnn.benchmark = not torch.backends.cudnn.benchmark
        torch.set_num_threads(1)
        torch.manual_seed(123)
        raise ValueError("no such layer")

    add(broken)
    threads, benchmark = torch.get_num_threads(), torch.backends.cudnn.benchmark
    state = torch.get_rng_state()
    set_language(code)
    with pytest.raises(ExperimentError) as caught:
        run("99-a")
    assert "99-a" in str(caught.value) and "no such layer" in str(caught.value)
    assert caught.value._render_traceback_() == [str(caught.value)]
    assert torch.backends.cudnn.benchmark == benchmark and torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_a_loop_that_ran_out_marks_the_record(registry):
    def slow(budget):
        for i in budget.loop(range(1000)):
            torch.zeros(1).add_(1)
            yield {"i": i}

    add(slow)
    record = run("99-a", budget_s=0.0)
    assert len(record.rows) == 1 and not record.complete


def test_wrong_names_and_doubles_are_told(registry):
    add(lambda budget: [], name="99-abc")
    with pytest.raises(ExperimentError, match='"99-abc"'):
        get("99-abd")
    with pytest.raises(ValueError, match="99-abc"):
        add(lambda budget, other=1: [], name="99-abc") and add(run, name="99-abc")
    with pytest.raises(ValueError, match="needs='tpu'"):
        add(lambda budget: [], name="99-t", needs="tpu")


def test_obtain_runs_live_or_replays_the_nearest(registry, monkeypatch, tmp_path):
    add(lambda budget: [{"a": 1}], needs="cuda", version=2)
    one = registry["99-a"]
    monkeypatch.setattr(base, "can", lambda needs: needs == "cuda")
    recorded = load_or_run(one)
    assert recorded.live
    monkeypatch.setattr(base, "can", lambda needs: False)
    monkeypatch.setattr("course.core.records.LESSONS", tmp_path)
    assert load_or_run(one) is None
    save(recorded, tmp_path / "l99_test" / "recordings")
    replayed = load_or_run(one)
    assert replayed == recorded and not replayed.live and "recorded on" in pick(replayed.label())
    monkeypatch.setattr(base, "can", lambda needs: True)
    assert load_or_run(one).live and not load_or_run(one, replay=True).live
    monkeypatch.setenv("COURSE_REPLAY", "1")
    assert load_or_run(one) == recorded and not load_or_run(one).live


# ---- recording --------------------------------------------------------------------------------------------


BLOCKED = ("matplotlib", "yaml", "ipywidgets", "IPython", "fsrs", "notebook")
BARE = """
import contextlib, io, json, sys
for name in BLOCKED: sys.modules[name] = None
from course.experiment import base
from course.experiment.__main__ import main
def told(line):
    if line is None: return register()
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try: code = main(line)
        except SystemExit as end: code = end.code
    return code, out.getvalue(), err.getvalue()
def register():
    base.load_all = lambda: {name: one for name, one in sorted(base.REGISTRY.items()) if name.startswith("99-")}
    def make(name, function, read=lambda rows: base.Reading("told"), **more):
        base.experiment(name=name, lesson="00_start", read=read, seconds=0.1, **more)(function)
    def bad(budget): raise RuntimeError("broken on purpose")
    make("99-a", lambda budget: [{"a": 1}])
    make("99-bad", bad)
    make("99-c", lambda budget: [{"c": 2}])
    make("99-m", lambda budget: [{"m": 1}], lambda rows: rows[0]["nothing"], needs="mkldnn")
print(json.dumps([told(line) for line in json.loads(sys.argv[1])]))
"""
EXPERIMENTS_OF_THE_TEST = None
"""In a list of command lines: from here on there are only the experiments of this test."""


def bare(home: Path, *lines: list[str] | None) -> list:
    """What command lines return and print, one after the other in a new process where only torch, numpy and tqdm can be
    imported besides the course."""
    done = subprocess.run(
        [sys.executable, "-c", BARE.replace("BLOCKED", repr(BLOCKED)), json.dumps(lines)],
        env={**os.environ, "COURSE_HOME": str(home)}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """By name: what a command line on the bare machine returned, printed and recorded (the experiments, in order)."""
    folder = tmp_path_factory.mktemp("recordings")

    def record(name: str, *more: str) -> list[str]:
        return ["--record", str(folder / name), *more]

    names = ["nothing", "lesson", "experiments of the test", "all", "needs", "heard", "one", "wrong"]
    home = folder / "home"
    found = bare(
        home,
        [],
        record("lesson", "--only", "08-float32-loses"),
        EXPERIMENTS_OF_THE_TEST,
        record("all", "--missing"),
        record("needs", "--needs", "mkldnn"),
        record("heard", "--only", "99-a"),
        record("one", "--only", "99-c", "--budget", "0.1"),
        record("wrong", "--only", "99-d"),
    )
    _, again = bare(home, EXPERIMENTS_OF_THE_TEST, record("all", "--missing"))

    def recorded(name: str) -> list[str]:
        return [load(path).experiment for path in sorted((folder / name).glob("*.json"))]

    by_name = zip([*names, "again"], [*found, again], strict=True)
    return {name: (*one, recorded(name)) for name, one in by_name if one}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "code", "words", "recorded"),
    [
        ("nothing", 2, [], []),
        ("lesson", 0, ["1 recorded, 0 skipped, 0 failed"], ["08-float32-loses"]),
        ("all", 1, ["3 recorded, 0 skipped, 2 failed", "broken on purpose"], ["99-a", "99-c", "99-m"]),
        ("again", 1, ["0 recorded, 0 skipped, 1 failed"], ["99-a", "99-c", "99-m"]),
        ("needs", 1, ["1 recorded, 0 skipped, 1 failed", "99-m: recorded, but not understood: KeyError"], ["99-m"]),
        ("heard", 0, ["         told"], ["99-a"]),
        ("one", 0, [], ["99-c"]),
        ("wrong", 2, ["Did you mean"], []),
    ],
)
def test_recording_needs_torch_numpy_and_tqdm_alone(line, code, words, recorded, told):
    """It goes on after a failure and where it stopped, and tells what was found and what was not understood."""
    found, out, err, files = told[line]
    assert found == code and all(one in out + err for one in words), out + err
    assert files == recorded or line == "again"
    assert line != "again" or "99-a" not in out


def test_a_record_names_the_processor_where_the_experiment_ran_on_it(monkeypatch):
    """Label and file name, too, also on a machine with a GPU."""
    from course.core import machine
    from course.experiment import base

    monkeypatch.setattr(machine, "_device", lambda: "cuda")
    monkeypatch.setattr(machine, "_cpu_name", lambda: "Some Processor")
    exp = base.Experiment("09-x", "l09", 1, "mkldnn", 1.0, lambda budget: [{"a": 1}])
    record = base.run_experiment(exp)
    assert "Some Processor" in record.label()["en"] and record.file_name().startswith("09-x--some-processor--")


def test_without_a_gpu_it_says_so_and_stops(tmp_path, monkeypatch, capsys):
    from course.experiment import __main__ as experiments

    monkeypatch.setattr(experiments, "can", lambda needs: False)
    assert experiments.main(["--record", str(tmp_path / "x"), "--needs", "cuda", "--missing"]) == 0
    assert "There is no NVIDIA GPU here" in capsys.readouterr().out and not (tmp_path / "x").exists()


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("name", page.NAMES)
def test_it_opens_with_a_question_and_ends_with_a_sentence_also_as_text(name, code):
    with speaking(code):
        found = page.explorable(name)
        shown, said = found._repr_html_(), str(found)
    assert plain(found.words["ask"]).rstrip().endswith(("?", "？"))
    assert said.startswith(plain(found.words["ask"])) and said.endswith(plain(found.words["keep"]))
    assert all(cell in shown for line in found.start.lines for cell in line[:1])
    assert not re.search(r"(?:src|href)=|https?://|import\(|fetch\(", shown), "nothing from elsewhere"
    assert "</script" not in page.script(name)


def test_the_verb_prints_the_text_and_names_what_there_is(capsys):
    course.explore("floats")
    assert "bfloat16" in capsys.readouterr().out
    course.explore("float")
    assert "there are floats, roofline" in (said := capsys.readouterr().out) and "fault" not in said


def of(function):
    """An experiment of the test's own."""
    return Experiment("99-a", "99_test", 1, "cpu", 1.0, function)


LATE: list[str] = []
"""Who went on after a sleep that had to be cut off."""


def asleep(budget):
    yield {"i": 1}
    time.sleep(60)
    LATE.append("asleep")


def busy(budget):
    yield {"i": 1}
    while True:
        sum(range(1000))


def in_a_new_process(budget):
    yield {"i": 1}
    answer_of("import time; time.sleep(60)")
    LATE.append("in a new process")


def wrapped(budget):
    """As a library does that turns every error of what it runs into one of its own."""
    yield {"i": 1}
    try:
        time.sleep(60)
        LATE.append("wrapped")
    except KeyboardInterrupt as error:
        raise RuntimeError("the compiler failed") from error


def answers_errors(budget):
    """An experiment whose finding is which error comes; what comes of an interrupt is none."""
    yield {"i": 1}
    try:
        list(wrapped(budget))
    except Exception as error:
        yield {"i": type(error).__name__}
    yield {"i": 3}


@pytest.mark.slow
@pytest.mark.parametrize("function", [asleep, busy, in_a_new_process, wrapped, answers_errors])
def test_a_run_keeps_its_rows_when_its_time_is_out(function):
    record = run_experiment(of(function), limit_s=0.5)
    assert record.rows == [{"i": 1}] and not record.complete and not record.interrupted and not LATE


def test_a_run_ends_in_time_where_interrupts_are_ignored_as_in_a_background_script():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        record = run_experiment(of(asleep), limit_s=0.5)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert record.rows == [{"i": 1}] and not record.complete


def test_a_run_that_is_in_time_is_whole_and_nothing_comes_after_it():
    record = run_experiment(of(lambda budget: [{"i": 1}]), limit_s=0.3)
    time.sleep(0.6)
    assert record.rows == [{"i": 1}] and record.complete and time_left() == float("inf")


def test_a_module_that_is_being_loaded_is_not_cut_off(tmp_path, monkeypatch):
    """A later run in the same session would find torch._dynamo half loaded."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "slow_to_load.py").write_text("import time\ntime.sleep(1.5)\nwhole = True\n")

    def loads(budget):
        yield {"i": 1}
        import slow_to_load

        assert slow_to_load.whole
        yield {"i": 2}
        time.sleep(60)
        LATE.append("loads")

    record = run_experiment(of(loads), limit_s=0.3)
    assert not record.complete and record.rows[0] == {"i": 1} and not LATE
    assert sys.modules["slow_to_load"].whole
