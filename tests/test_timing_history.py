"""Timing: results on disk, today against last week, the command line, the pytest fixture."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import replace

import pytest

from course.timing import TimingError, against, compare, history, load, measure
from course.timing.__main__ import main
from course.timing.processes import Replicates, repeated
from course.timing.rounds import Plan
from tests.timing_clocks import NoisyClock, Processes, costing

pytest_plugins = ["pytester"]


def over_processes(ratio: float, seed: int):
    machine = Processes({"a": 2e-4, "b": 2e-4 * ratio}, lambda noise: 1 + noise.gauss(0, 0.01), seed)
    return Replicates(
        Plan("a", 0.005, 12.0, 0.02, True, 12.0, random.Random(seed)), ["a", "b"], machine.open, machine.now
    ).go()


def measured(ms: float, count: int = 5, name: str = "f", relative: bool = True):
    found = measure(costing(1e-3), clock=NoisyClock(1), seed=1, calibrate=costing(1e-3), max_time=0.05, name=name)
    values = iter([ms * (1 + 0.004 * (at % 3)) for at in range(count)])
    if count == 1:
        return replace(found, median_ms=ms)

    def one():
        value = next(values)
        return replace(found, median_ms=value, relative=value / 3 if relative else None)

    return repeated(one, count)


def raced():
    return compare({"a": costing(1e-3), "b": costing(2e-3)}, max_time=0.1, seed=1, clock=NoisyClock(1))


@pytest.mark.parametrize("make", [lambda: measured(1.0), lambda: over_processes(1.2, 1)])
def test_a_result_comes_back_as_it_was(tmp_path, make):
    result = make()
    path = result.save(tmp_path / "kept.json")
    kept = load(path)
    assert kept.result == result and kept.machine["python"] and kept.created.endswith("+00:00")
    assert [p.name for p in tmp_path.iterdir()] == ["kept.json"]


@pytest.mark.parametrize(
    "content, words",
    [
        (None, "cannot be read"),
        ("", "holds no result"),
        ('{"format": "course.timing", "ver', "holds no result"),
        ("[]", "holds no"),
        ('{"format": "course.timing", "version": 99}', "version"),
        (
            '{"format": "course.timing", "version": 1, "kind": "Measurement", "result": {}, "machine": {}, "created": ""}',
            "damaged",
        ),
        ('{"format": "course.timing", "version": 1, "kind": "Cake"}', "damaged"),
    ],
)
def test_a_file_that_is_none_gets_a_sentence(tmp_path, content, words):
    path = tmp_path / "odd.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(TimingError, match=words):
        load(path)


def test_a_file_without_its_machine_and_what_is_no_path_get_a_sentence(tmp_path):
    path, result = tmp_path / "kept.json", measured(1.0)
    result.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, "machine": None}), encoding="utf-8")
    with pytest.raises(TimingError, match="damaged"):
        against(path, result)
    for attempt in (lambda: against(result, result), lambda: result.save(None), lambda: load(3)):
        with pytest.raises(TimingError, match="path"):
            attempt()


def test_a_folder_that_is_not_there_gets_a_sentence(tmp_path):
    with pytest.raises(TimingError, match="cannot be written"):
        measured(1.0).save(tmp_path / "none" / "kept.json")


def test_a_slower_function_is_found_against_last_week(tmp_path):
    path = measured(1.0).save(tmp_path / "then.json")
    change = against(path, measured(1.2))
    assert change["f"].verdict == "slower" and change["f"].ratio == pytest.approx(1.2) and not change.notes
    assert against(path, measured(1.001)).pairs["f"].verdict == "same"
    assert change.rows()[0]["processes"] == 5 and "slower" in str(change) and "<table>" in change._repr_html_()


def test_comparisons_of_two_weeks_are_set_side_by_side(tmp_path):
    path = over_processes(1.0, 1).save(tmp_path / "then.json")
    assert against(path, over_processes(1.2, 2))["b / a"].verdict == "slower"
    assert against(path, over_processes(1.0, 3))["b / a"].verdict != "slower"


def test_a_single_process_gives_no_verdict_against_last_week(tmp_path):
    for then, now in ((measured(1.0, 1), measured(1.5, 1)), (raced(), raced())):
        change = against(then.save(tmp_path / "then.json"), now)
        assert {pair.verdict for pair in change.pairs.values()} == {"undecided"} and "One process" in change.notes[-1]
    assert set(change.pairs) == {"b / a"}


def test_another_machine_gives_no_verdict_and_another_torch_is_said(tmp_path, monkeypatch):
    path = measured(1.0).save(tmp_path / "then.json")
    here = history.passport()
    monkeypatch.setattr(history, "passport", lambda: here | {"cpu": "Some other CPU"})
    change = against(path, measured(1.5))
    assert change["f"].verdict == "undecided" and "Some other CPU" in change.notes[0] and set(change.machine) == {"cpu"}
    monkeypatch.setattr(history, "passport", lambda: here | {"torch": "9.9"})
    change = against(path, measured(1.5))
    assert change["f"].verdict == "slower" and "9.9" in change.notes[0]


def test_results_that_do_not_match_get_a_sentence(tmp_path):
    path = measured(1.0).save(tmp_path / "then.json")
    with pytest.raises(TimingError, match="cannot be compared with"):
        against(path, over_processes(1.0, 1))
    with pytest.raises(TimingError, match="no name in common"):
        against(path, measured(1.0, name="g"))
    cold = replace(measured(1.0), cache="cold")
    assert against(path, cold)["f"].verdict == "undecided"


def test_a_change_draws_itself(tmp_path):
    import matplotlib.pyplot as plt

    ax = against(measured(1.0).save(tmp_path / "then.json"), measured(1.2)).plot()
    assert "slower" in ax.get_title("left")
    plt.close(ax.figure)


# ---- the command line -------------------------------------------------------------------------------------

QUICK = ["--max-time", "0.2", "--device", "cpu"]


def test_statements_are_compared_and_evidence_sets_the_exit_code(capsys):
    twice = ["sum(range(2000))", "sum(range(6000))", "--different", *QUICK]
    assert main(twice) == 0
    assert main([*twice, "--fail-above", "1.5"]) == 1
    assert main([*twice, "--fail-above", "9"]) == 0
    assert main([*twice, "--fail-above", "1.5", "--baseline", "2"]) == 0
    assert "sum(range(6000)) takes" in capsys.readouterr().out


def test_rows_come_as_json_alone(capsys, tmp_path):
    assert (
        main(["sum(range(2000))", "sum(list(range(2000)))", "--json", "--name", "plain", "--name", "list", *QUICK]) == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found["rows"][0]["candidate"] == "list" and found["rows"][0]["baseline"] == "plain" and found["notes"] == []
    assert main(["sum(range(2000))", "--json", str(tmp_path / "rows.json"), *QUICK]) == 0
    assert json.loads((tmp_path / "rows.json").read_text("utf-8"))["rows"][0]["median_ms"] > 0


@pytest.mark.slow
def test_a_reader_that_stops_early_gets_no_traceback_and_the_exit_code_stays():
    """`... | head -1`: the pipe is closed before anything is written."""
    command = [sys.executable, "-m", "course.timing", "sum(range(400))", "sum(range(9000))", "--max-time", "0.2"]
    with subprocess.Popen([*command, "--fail-above", "1.5"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdout.close()
        said = run.stderr.read().decode()
    assert (run.returncode, said) == (1, "")


def test_setup_is_shared_and_statements_may_be_several_lines(capsys):
    setup = "import random\nx = [random.random() for _ in range(200)]"
    assert main(["sorted(x)", "y = list(x)\ny.sort()", "--setup", setup, "--different", *QUICK]) == 0
    assert main(["sum(x)", "sum(list(x))", "--setup", setup, *QUICK]) == 0
    assert "does not return" not in capsys.readouterr().out, "both saw the same random numbers"


def test_today_against_a_file(capsys, tmp_path):
    path = str(tmp_path / "then.json")
    assert main(["sum(range(2000))", "--save", path, *QUICK]) == 0
    assert main(["sum(range(2000))", "--against", path, "--fail-above", "1.01", *QUICK]) == 0, (
        "one process is no evidence"
    )
    assert "One process" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["sum(range("], "SyntaxError"),
        (["x"], "NameError"),
        (["1", "--setup", "import nosuchlab"], "ModuleNotFoundError"),
        (["1", "--fail-above", "1.2"], "--fail-above"),
        (["1", "2", "--baseline", "3"], "1 to 2"),
        (["1", "--processes", "2"], "processes"),
        (["1", "--device", "gpu"], "Unknown device"),
    ],
)
def test_what_cannot_be_measured_is_told_on_stderr(arguments, words, capsys):
    assert main([*arguments, "--max-time", "0.05"]) == 2
    told = capsys.readouterr()
    assert words in told.err and told.out == "" and "Traceback" not in told.err


def test_new_processes_run_statements(capsys):
    assert main(["sum(range(2000))", "sum(range(6000))", "--fresh-process", "--different", "--max-time", "0.1"]) == 0
    assert "new process" in capsys.readouterr().out


# ---- the fixture ------------------------------------------------------------------------------------------


def test_the_fixture_fails_only_on_evidence(pytester, monkeypatch):
    monkeypatch.setenv(
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1"
    )  # an installed course brings the plugin by itself, and once is enough
    pytester.makepyfile("""
        import pytest
        from course.timing import clock as clocks
        from tests.timing_clocks import Cost, NoisyClock, costing

        def test_fine(timing):
            assert timing(costing(1.02e-3), than=costing(1e-3), at_most=1.1, clock=NoisyClock(1), seed=1).verdict in ("same", "slower")

        def test_slow(timing):
            timing(costing(1.3e-3), than=costing(1e-3), at_most=1.1, clock=NoisyClock(1), seed=1)

        def test_noisy(timing):
            with pytest.warns(UserWarning, match="undecided|too few"):
                timing(costing(1.1e-3), than=costing(1e-3), at_most=1.1, clock=NoisyClock(1, jitter=3.0), max_time=0.05, seed=1)

        def test_nonsense(timing):
            timing(costing(1), than=costing(1), at_most=0.9)

        def test_both_verbs(timing):
            assert timing.compare({"a": costing(1e-3), "b": costing(2e-3)}, clock=NoisyClock(1), seed=1).verdict == "slower"
            assert timing.measure(costing(1e-3), clock=NoisyClock(1), calibrate=None).median_ms > 0
    """)
    result = pytester.runpytest_inprocess("-p", "course.pytest_timing", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(["*more than 1.1 times as slow: <lambda> takes*", "*at_most is how many times*"])


def test_the_plugin_loads_nothing_before_a_test_asks():
    code = "import sys, course.pytest_timing; assert not [m for m in sys.modules if m.startswith('course.timing') or m == 'torch']"
    subprocess.run([sys.executable, "-c", code], check=True)
