"""The language a process starts with, and what a kernel says of the course's names after a restart."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import pytest
from jupyter_client.manager import start_new_kernel

import course
from course.core import i18n
from course.core.i18n import remember
from tests.conftest import ROOT

START = "import course; from course.core import i18n; print(i18n.language())"


@pytest.mark.parametrize(
    ("chosen", "asked", "system", "language"),
    [
        ("", "", "C.UTF-8", "en"),
        ("", "", "zh_CN.UTF-8", "zh"),
        ("", "", "de_DE.UTF-8", "en"),
        ("en", "", "zh_CN.UTF-8", "en"),
        ("zh", "", "C.UTF-8", "zh"),
        ("zh", "en", "C.UTF-8", "en"),
        ("", "fr", "zh_TW", "zh"),
    ],
)
def test_a_new_process_speaks_the_language_chosen_last(chosen, asked, system, language, tmp_path, monkeypatch):
    """chosen: by the learner, in an earlier process. asked: COURSE_LANGUAGE. system: LANG."""
    home = tmp_path / "home"
    monkeypatch.setenv("COURSE_HOME", str(home))
    if chosen:
        course.language(chosen)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("LC_")}
    env = kept | {"COURSE_LANGUAGE": asked, "LANG": system, "PYTHONUTF8": "1"}
    done = subprocess.run([sys.executable, "-c", START], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == language


@pytest.mark.parametrize(
    ("setting", "language"),
    [("Chinese (Simplified)_China.936", "zh"), ("English_United States.1252", "en"), ("UTF-8", "en"), ("C", "en")],
)
def test_where_no_variable_names_it_the_language_is_that_of_windows(setting, language, monkeypatch):
    for name in (*i18n.SAYS_SO, "COURSE_LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(i18n.locale, "setlocale", lambda category: setting)
    assert next((one for one in i18n.wishes() if one in course.core.i18n.LANGUAGES), "en") == language


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_memory(tmp_path, monkeypatch):
    (tmp_path / "home").write_text("a file where a folder should be")
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "home"))
    remember("zh")
    assert (tmp_path / "home").read_text() == "a file where a folder should be"


def _misused():
    """A slip with each toy."""
    import torch

    from course.figures import route
    from course.flags import access
    from course.lessons.l02_timing.toy_device import ToyDevice, VirtualDevice
    from course.lessons.l04_cudnn_enabled import probes
    from course.lessons.l05_cudnn_benchmark.experiments import costs
    from course.lessons.l05_cudnn_benchmark.search_tree import search_tree
    from course.lessons.l06_cudnn_deterministic.training import fingerprint, small_training
    from course.lessons.l08_mps.machines import pretend
    from course.lessons.l12_profiler.cases import show_code
    from course.lessons.l12_profiler.kernel_names import read_aloud
    from course.lessons.l13_together import attention
    from course.lessons.l14_export.ways_out import flags_in_trace, images
    from course.lessons.l16_rest.int8_race import int8_race
    from course.models import rounding, toy_search
    from course.trace import onednn_log

    layer, ones = torch.nn.Conv2d(3, 4, 3, padding="same"), torch.ones(1, 3, 8, 8)
    return [
        lambda: toy_search.run_schedule(["x"], True),
        lambda: toy_search.image(8.5),
        lambda: toy_search.ToyConv()(3, toy_search.kernel()),
        lambda: ToyDevice().launch(math.nan),
        lambda: ToyDevice().event().elapsed_ms(3),
        lambda: VirtualDevice().launch(-1),
        lambda: small_training(threads=99),
        lambda: fingerprint([1.0]),
        lambda: search_tree(3),
        lambda: costs(None),
        lambda: rounding.rounded(1.0, "bf17"),
        lambda: rounding.product([1.0], [1.0], ["tf32"]),
        lambda: rounding.round_bits(torch.ones(1), 40),
        lambda: rounding.relative_error(ones, 3.0),
        lambda: rounding.pattern("x", "tf32"),
        lambda: pretend("x").__enter__(),
        lambda: onednn_log.log_of(3),
        lambda: onednn_log.on_off(lambda: 1, threads=0),
        lambda: attention.kernel_of(3),
        lambda: probes.longest_kernels(3),
        lambda: probes.on_and_off(lambda: 3, "cudnn.enabled"),
        lambda: route.who_computes(layer, ones),
        lambda: route.route(torch.nn.Conv2d(3, 4, 3, device="meta"), ones.to("meta")),
        lambda: show_code(3),
        lambda: read_aloud(3),
        lambda: images(-1),
        lambda: flags_in_trace(layer, 3),
        lambda: int8_race(4, 8, 8.5),
        lambda: access._set_matmul(None, "very high"),
    ]


def test_a_toy_used_wrongly_answers_in_the_learners_language():
    for misuse in _misused():
        said = []
        for code in course.core.i18n.LANGUAGES:
            with course.core.i18n.speaking(code), pytest.raises(ValueError) as caught:
                misuse()
            said.append(str(caught.value))
        assert said[0].isascii() and any("一" <= sign <= "鿿" for sign in said[1]), said


@pytest.mark.slow
@pytest.mark.parametrize("words", [["course.cards", "anki", "--to", "/no/such/deck.txt"], ["grader", "--help"]])
def test_a_command_speaks_the_language_chosen_last(words, tmp_path):
    (tmp_path / "language").write_text("zh\n", "ascii")
    kept = {key: value for key, value in os.environ.items() if key not in ("COURSE_LANGUAGE", "LC_ALL")}
    env = kept | {"COURSE_HOME": str(tmp_path), "LANG": "C.UTF-8", "PYTHONUTF8": "1"}
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, env=env, capture_output=True, encoding="utf-8")
    assert any("一" <= sign <= "鿿" for sign in done.stdout + done.stderr), done


@pytest.mark.slow
def test_after_a_restart_a_name_of_the_course_says_what_to_do():
    """In a real kernel of this environment; every other missing name stays an error."""
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(ROOT))
    said = []

    def run(code):
        said.clear()
        reply = client.execute_interactive(code, timeout=60, output_hook=lambda one: said.append(one["content"]))
        return reply["content"]["status"], " ".join(one.get("text", "") for one in said)

    try:
        for code in ('predict("05-bet-revisit")', "observe", "torch.ones(3)"):
            status, words = run(code)
            assert "Run All Above Selected Cell" in words and "Traceback" not in words
        assert run("not_of_the_course")[0] == "error"
        assert run("from course import predict; predict")[0] == "ok"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
