"""The verbs speak in sentences, whatever a learner types; `observe` is a short way; a lesson begun again loses nothing."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys

import pytest

import course
from course.core import catalog, i18n
from course.core.i18n import LANGUAGES, pick
from course.core.markup import plain
from course.core.records import Record
from course.exercises.exercise import all_exercises
from course.experiment import base, reading
from course.experiment.reading import Reading
from course.learning.bets import bet_of
from course.verbs import experiments, state
from course.verbs.lessons import MOST, take_away
from course.verbs.say import in_words
from tests.conftest import ROOT, tell

EXERCISE = all_exercises()["05-count-searches"]
BET = "05-bet-revisit"


@pytest.fixture(autouse=True)
def fresh_kernel(monkeypatch):
    monkeypatch.setattr(state, "now", state.State(lesson="05_cudnn_benchmark"))
    monkeypatch.setenv("COURSE_TEXT", "1")
    monkeypatch.delenv("COURSE_DEBUG", raising=False)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: course.lesson("05_cudnn"), '"05_cudnn_benchmark"?'),
        (lambda: course.observe("05-primitive-cash"), '"05-primitive-cache"?'),
        (lambda: course.check("05-count-serches"), '"05-count-searches"?'),
        (lambda: course.hint("nothing-like-it"), "nothing-like-it"),
        (lambda: course.review("05-revisitt"), "05-revisit"),
        (lambda: course.review(due="many"), "number of cards"),
        (lambda: course.predict("05-revisit"), "is not a bet"),
        (lambda: course.question("05-c-epoch"), "Run the first cell of this checkpoint first"),
        (lambda: course.question("05-revisit"), "is a practice card"),
        (lambda: course.explain(), "explain(item_id)"),
        (lambda: course.answer("05-revisit", option="a"), "answer(item_id, *options, confidence=None, because='')"),
        (lambda: course.checkpoint("00_start"), "00_start"),
        (lambda: course.language("fr"), '"en" and "zh"'),
        (lambda: course.solution(EXERCISE.id), "opens after an attempt of your own"),
        (lambda: course.hint("05-t-run"), "no hints: it counts"),
    ],
)
def test_a_slip_gets_a_sentence(call, words, capsys):
    call()
    said = capsys.readouterr().out
    assert words in said
    assert "Traceback" not in said and "a fault in the course" not in said


def test_a_missing_package_is_named_with_its_cure_and_is_no_fault_of_the_course(capsys):
    @in_words
    def verb():
        raise ModuleNotFoundError("No module named 'onnx.x'", name="onnx.x")

    verb()
    said = capsys.readouterr().out
    assert "%pip install onnx or" in said and "restart the kernel" in said and "fault" not in said


def test_without_torch_the_lesson_and_an_experiment_ask_for_torch():
    code = (
        "import sys; sys.modules['torch'] = None; from course import *; lesson('02_timing'); "
        "observe('02-where-you-wait')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.count("%pip install torch") == 2 and "fault" not in done.stdout


@pytest.mark.slow
def test_a_terminal_without_the_signs_gets_question_marks_and_no_error():
    code = "from course import *; lesson('00_start'); check('00-my-numbers', (1, 2, 3)); progress()"
    narrow = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, env=narrow, check=True)
    assert b"fault" not in done.stdout and b"? incorrect" in done.stdout


def test_a_torch_that_is_too_old_is_said_at_the_start(capsys, monkeypatch):
    import torch

    monkeypatch.setattr(torch, "__version__", "2.8.1+cu126")
    course.lesson("00_start")
    assert "2.9" in capsys.readouterr().out
    assert 'torch>=2.9"' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_a_fault_of_the_course_is_named_as_such_and_never_a_traceback(capsys, monkeypatch):
    @in_words
    def verb():
        raise ZeroDivisionError("division by zero")

    verb()
    assert "(ZeroDivisionError" in capsys.readouterr().out
    monkeypatch.setenv("COURSE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        verb()


def test_each_call_gives_the_next_hint_and_the_solution_after_an_attempt_which_an_untouched_stub_is_not(capsys):
    def stub(shapes):
        raise NotImplementedError

    course.check(EXERCISE.id, stub)
    course.hint(EXERCISE.id)
    said = capsys.readouterr().out
    assert "not attempted" in said and "opens after an attempt" in said and "Hint 1" not in said
    course.check(EXERCISE.id, lambda shapes: -1)
    for _ in range(4):
        course.hint(EXERCISE.id)
    assert re.findall(r"Hint (\d) of 3", capsys.readouterr().out) == ["1", "2", "3", "3"]
    course.solution(EXERCISE.id)
    assert "len(set(" in capsys.readouterr().out


def synthetic(monkeypatch, winner, bet=BET, live=True):
    """Let the experiment of the bet return a record that names ``winner``."""
    experiment = base.get(state.now.bank[bet].experiment)
    record = Record(experiment.name, experiment.version, experiment.lesson, {"device": "cpu"}, [{"x": 1}], live=live)
    reading = Reading(None if winner is None else "a", bets={bet: winner})
    tell(monkeypatch, experiment.name, {"en": "A finding.", "zh": "一个发现。"}, bets={bet: {}})
    own = {"own_read": lambda rows: reading, "own_draw": lambda record, bets: None}
    monkeypatch.setitem(base.REGISTRY, experiment.name, dataclasses.replace(experiment, **own))
    monkeypatch.setattr(base, "load_or_run", lambda name, budget_s=None, replay=False: record)


@pytest.mark.parametrize(
    "choice, winner, words",
    [("a", "a", "It came out: as you bet"), ("b", "a", "It came out: miss"), ("a", None, "stays open")],
)
def test_a_bet_locks_and_is_settled_by_its_experiment(choice, winner, words, monkeypatch, capsys):
    course.answer(BET, choice, confidence=2)
    course.answer(BET, "c")
    assert "locked" in capsys.readouterr().out
    synthetic(monkeypatch, winner)
    course.observe("05-primitive-cache")
    said = capsys.readouterr().out
    assert "You bet: miss" in said and words in said
    reason = plain(pick(state.now.bank[BET].option(choice).why))
    assert (reason in said) is (winner is not None)  # an open bet keeps its explanation for later
    assert bet_of(state.now.bank[BET], state.now.log.entries()).options == (choice,)


def test_an_experiment_that_fails_does_not_take_the_next_one_along(monkeypatch, capsys):
    synthetic(monkeypatch, "a")
    good = base.load_or_run

    def load_or_run(one, *_):
        if one.name != "05-primitive-cache":
            raise base.ExperimentError("It stopped.")
        return good(one)

    monkeypatch.setattr(base, "load_or_run", load_or_run)
    assert course.observe(["05-toy-cost", "05-primitive-cache"]).experiment == "05-primitive-cache"
    said = capsys.readouterr().out
    assert "It stopped." in said and "A finding." in said


def test_a_reading_that_fails_is_told_as_a_fault_of_the_course_and_leaves_the_bet_open(monkeypatch, capsys):
    course.answer(BET, "a")
    synthetic(monkeypatch, "a")
    broken = dataclasses.replace(base.get("05-primitive-cache"), own_read=lambda rows: rows[0]["no such column"])
    monkeypatch.setitem(base.REGISTRY, broken.name, broken)
    course.observe(broken.name)
    said = capsys.readouterr().out
    assert reading.FAULT["en"] in said and "KeyError" in said and "stays open" in said


def test_claims_keep_own_numbers_recordings_and_open_ends_apart(monkeypatch, capsys):
    def shown(name, live, sentence, place="elsewhere"):
        experiment = base.get(name)
        tell(monkeypatch, name, sentence or "")
        reading = Reading("a") if sentence else None
        monkeypatch.setitem(base.REGISTRY, name, dataclasses.replace(experiment, own_read=lambda rows: reading))
        state.now.records[name] = Record(name, 1, experiment.lesson, {"device_name": place}, [{"x": 1}], live=live)

    shown("05-toy-race", True, {"en": "Measured here.", "zh": "？"})
    shown("05-flip-cuda", False, {"en": "Measured there.", "zh": "？"})
    shown("05-toy-cost", True, None)
    course.finish()
    said = capsys.readouterr().out
    own, _, rest = said.partition("Measured on another machine")
    replayed, _, unsettled = rest.partition("Not settled")
    assert "Measured here." in own.partition("on this machine")[2]
    assert "Measured there. (" in replayed and "elsewhere" in replayed
    assert "noisy" not in said and "05-toy-cost" in unsettled


def test_a_lesson_ends_with_five_headlines_those_of_its_take_away_first(monkeypatch, capsys):
    chosen = take_away("05_cudnn_benchmark")
    names = [name for name, one in base.load_all().items() if one.lesson == "05_cudnn_benchmark"][:8]
    for name in [*names, *chosen.experiments]:
        tell(monkeypatch, name, {"en": f"{name}.", "zh": "。"})
        found = dataclasses.replace(base.get(name), own_read=lambda rows: Reading("a"))
        monkeypatch.setitem(base.REGISTRY, name, found)
        state.now.records[name] = Record(name, 1, "05_cudnn_benchmark", {}, [{"x": 1}], live=True)
    course.finish()
    said = capsys.readouterr().out
    told = [line[2:-1] for line in said.splitlines() if line.startswith("• ")]
    assert len(told) == 5 and told[: len(chosen.experiments)] == list(chosen.experiments)
    assert plain(pick(chosen.own_code)) in said


def test_what_a_lesson_leaves_behind_exists_and_stands_in_both_languages():
    left = [found for lesson in catalog.BY_ID if (found := take_away(lesson))]
    known = set(base.load_all())
    assert left and all(set(one.own_code) == set(LANGUAGES) and set(one.experiments) <= known for one in left)
    assert all(1 <= len(one.experiments) <= MOST for one in left)


@pytest.mark.parametrize("winner, head", [("a", "on this machine"), (None, "Not settled")])
def test_finish_counts_what_was_measured_before_the_kernel_was_restarted(winner, head, monkeypatch, capsys):
    synthetic(monkeypatch, winner)
    course.lesson("05_cudnn_benchmark")
    course.observe("05-primitive-cache")
    date = state.now.records["05-primitive-cache"].created[:10]
    monkeypatch.setattr(state.now, "records", {})  # what a new kernel has
    capsys.readouterr()
    course.finish()
    said = capsys.readouterr().out
    assert head in said and ("• A finding." in said) is (winner is not None)
    assert (date in said.partition(head)[2]) is (winner is not None)


def test_finish_leaves_other_lessons_to_themselves(monkeypatch, capsys):
    synthetic(monkeypatch, "a")
    course.observe("05-primitive-cache")
    course.lesson("01_map")  # in the same kernel
    capsys.readouterr()
    course.finish()
    assert "A finding." not in capsys.readouterr().out


# --- asked before a bet is spoilt ---


def test_an_open_bet_is_asked_for_before_its_experiment_gives_it_away(monkeypatch, capsys):
    monkeypatch.setattr("course.verbs.experiments.somebody_there", lambda: True)
    synthetic(monkeypatch, "a")
    assert course.observe("05-primitive-cache") is None
    said = capsys.readouterr().out
    assert f"[{BET}]" in said and 'observe("05-primitive-cache", bet=False)' in said and "A finding." not in said
    assert not state.now.seen("observe", "05-primitive-cache")
    course.observe("05-primitive-cache", bet=False)
    course.observe(["05-primitive-cache"])  # who has looked is not asked again
    assert capsys.readouterr().out.count("A finding.") == 2


def test_a_waiting_cell_ends_without_an_error_and_the_next_error_is_shown_again():
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    with pytest.MonkeyPatch.context() as patch, capture_output() as said:
        # set by IPython; left behind, later tests would think that somebody sits there
        for prompt in ("ps1", "ps2", "ps3"):
            patch.setattr(sys, prompt, "", raising=False)
        shell = InteractiveShell()
        shell.user_ns["stop"] = lambda: experiments.wait()
        patch.setattr(state, "running_shell", lambda: shell)
        ended = shell.run_cell("stop()\nafter = 1")
        assert type(ended.error_in_exec).__name__ == "Waiting" and "after" not in shell.user_ns
        assert said.stdout == said.stderr == ""
        shell.run_cell("1 / 0")
        assert "ZeroDivisionError" in said.stdout + said.stderr


# --- what went wrong once ---


def test_starting_a_lesson_keeps_the_language_in_use(capsys):
    course.language("zh")
    for name in ("02_timing", "02_timin"):
        course.lesson(name)
        assert i18n.language() == "zh"
    course.lesson("02_timing", language="de")
    assert i18n.language() == "zh" and "课程自身" not in capsys.readouterr().out


def test_explain_and_review_show_the_same_card_with_the_answer_given_before(capsys):
    course.answer("05-revisit", "a")
    course.answer(BET, "a")
    capsys.readouterr()
    course.explain("05-revisit")
    explained = capsys.readouterr().out
    course.review("05-revisit")
    assert capsys.readouterr().out == explained and "Your answer:" in explained
    course.review(BET)
    assert "Your answer:" in capsys.readouterr().out


def test_the_third_failed_check_brings_the_first_hint(capsys):
    for _ in range(3):
        assert "Hint 1" not in capsys.readouterr().out
        course.check(EXERCISE.id, lambda shapes: -1)
    said = capsys.readouterr().out
    assert "☕" in said and "1 of 3" in said and "Hint 2" not in said


MOST_FUNCTIONS, MOST_FILES, MOST_STOPS = 120, 30, 8
COUNT = """
import contextlib, io, json, sys
from pathlib import Path
import course

root, ran, ours, importing, longest = str(Path(course.__file__).parent), set(), [], 0, []

def seen(frame, event, argument):
    global importing, longest
    code = frame.f_code
    if code.co_filename.startswith("<frozen importlib") and code.co_name == "_find_and_load":
        importing += {"call": 1, "return": -1}.get(event, 0)
    if importing or not code.co_filename.startswith(root) or code.co_name.startswith("<"):
        return
    if event == "call":
        ran.add((code.co_filename, code.co_name, code.co_firstlineno))
        ours.append(code.co_filename[len(root) + 1 :])
        longest = max(longest, list(dict.fromkeys(ours)), key=len)
    elif event == "return":
        ours.pop()

with contextlib.redirect_stdout(io.StringIO()) as shown:
    sys.setprofile(seen)
    course.observe("05-pays-cuda", replay=True)
    sys.setprofile(None)
lessons = {name.split(".")[2] for name in sys.modules if name.startswith("course.lessons.l")}
print(json.dumps([len(ran), len({one[0] for one in ran}), longest, sorted(lessons), shown.getvalue()]))
"""


def test_a_replay_imports_its_own_lesson_and_is_a_short_way(tmp_path):
    about = os.environ | {"COURSE_HOME": str(tmp_path), "COURSE_TEXT": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-c", COUNT], env=about, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    functions, files, stops, lessons, shown = json.loads(done.stdout)
    print(f"{functions} functions in {files} files; the longest way in has {len(stops)} stops: {' > '.join(stops)}")
    assert lessons == ["l05_cudnn_benchmark"] and "05-pays-cuda" in shown
    assert functions <= MOST_FUNCTIONS and files <= MOST_FILES and len(stops) <= MOST_STOPS


def test_lesson_again_keeps_answers_hints_results_and_the_switch_that_was_left_on(monkeypatch, capsys):
    import torch

    monkeypatch.setenv("COURSE_REPLAY", "1")
    course.lesson("05_cudnn_benchmark", language="en")
    course.observe("05-toy-race", bet=False)
    course.answer("05-revisit", "a")
    course.check(EXERCISE.id, lambda shapes: -1)
    course.hint(EXERCISE.id)
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", True)
    capsys.readouterr()
    course.lesson("05_cudnn_benchmark")
    assert "05_cudnn_benchmark: 1 of" in capsys.readouterr().out
    course.explain("05-revisit")
    course.hint(EXERCISE.id)
    course.finish()
    after = capsys.readouterr().out
    assert "Your answer:" in after and "Hint 2 of" in after and "The toy's search pays" in after
    assert "cudnn.benchmark is now True; it was False" in after and "06_cudnn_deterministic" in after
