"""What the learner is told: leaks, silent typos, the flags() trap, a notice after a cell, the map."""
# ruff: noqa: E402, F401, F811  (fixtures are imported by name)

from __future__ import annotations

import sys

import pytest

torch = pytest.importorskip("torch")

from course import flags
from course.core.i18n import LANGUAGES, set_language

# --- leaks ------------------------------------------------------------------------------------------------


def test_leaks_are_told_in_both_languages_and_taken_back():
    assert flags.leaks() == []
    torch.backends.cudnn.benchmark = True
    torch.set_num_threads(torch.get_num_threads() + 1)
    found = flags.leaks()
    assert [leak.name for leak in found] == ["cudnn.benchmark", "torch.num_threads"]
    assert "True; it was False" in found[0].text["en"] and "原来是 False" in found[0].text["zh"]
    assert flags.restore() == found
    assert flags.leaks() == [] and not torch.backends.cudnn.benchmark


@pytest.mark.slow
def test_in_a_new_process_defaults_count_and_there_is_nothing_to_tell(newborn):
    """Without a remembered start and outside a notebook."""
    assert newborn["leak"] == ["cudnn.deterministic"] and newborn["restored"] == [] == newborn["typos"]
    assert newborn["watch"] is False
    assert {"cudnn.allow_tf32", "cuda.matmul.allow_tf32"} & set(newborn["unreadable leaks"])


# --- typos ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "name", "meant"),
    [
        ("cudnn", "benchmarks", "cudnn.benchmark"),
        ("mps", "enabled", None),
        ("nnpack", "enabled", "nnpack.set_flags"),
        ("", "allow_tf32", "cudnn.allow_tf32"),
        ("cuda", "benchmark", "cudnn.benchmark"),
        ("", "float32_matmul_precision", "float32_matmul_precision"),
    ],
)
def test_a_silent_typo_is_found_with_what_was_meant(module, name, meant):
    owner = getattr(torch.backends, module) if module else torch.backends
    setattr(owner, name, True)
    try:
        (found,) = flags.typos()
        assert found.suggestion in (meant, f"torch.{meant}") and not found.overwritten
        assert found.name == f"{module}.{name}".lstrip(".")
        assert "del torch.backends" in found.text["en"] and "从不读取" in found.text["zh"]
        assert meant is None or meant in found.text["en"]
    finally:
        delattr(owner, name)
    assert flags.typos() == []


@pytest.mark.parametrize("name, other", [("enabled", True), ("strategy", "greedy")])
def test_a_switch_that_torch_reads_from_its_stand_in_is_no_typo(name, other):
    """opt_einsum has no property for its switches: an assignment stays where torch.einsum reads it."""
    before = getattr(torch.backends.opt_einsum, name)
    try:
        with flags.using({"opt_einsum.enabled": True}):
            setattr(torch.backends.opt_einsum, name, other)
            assert flags.typos() == []
        assert torch.backends.opt_einsum.enabled is flags.read()["opt_einsum.enabled"] and flags.typos() == []
        torch.backends.opt_einsum.enable = True
        assert [found.suggestion for found in flags.typos()] == ["opt_einsum.enabled"]
    finally:
        vars(torch.backends.opt_einsum).pop("enable", None)
        setattr(torch.backends.opt_einsum, name, before)


@pytest.mark.parametrize(
    ("module", "name", "said"),
    [
        ("mps", "is_available", "Restart the kernel"),
        ("cudnn", "is_available", "del torch.backends.cudnn.is_available"),
        ("cuda", "enable_flash_sdp", "Restart the kernel"),
    ],
)
def test_an_overwritten_function_is_found_with_the_way_back(module, name, said):
    owner = getattr(torch.backends, module)
    own = vars(owner).get(name)
    setattr(owner, name, False)
    try:
        (found,) = flags.typos()
        assert found.overwritten and said in str(found) and flags.read()["mps.is_available"] is False
    finally:
        setattr(owner, name, own) if own else delattr(owner, name)
    assert callable(getattr(owner, name)) and flags.typos() == []


# --- the flags() trap -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_trap_is_told_as_it_is_and_nothing_is_set(newborn):
    assert newborn["trap wrong"] == [] and not newborn["trap changed something"]
    call = flags.explain_flags_call("cudnn", deterministic=True)
    assert [row["name"] for row in call.surprises] == ["cudnn.enabled"]
    assert "cudnn.enabled True → False" in str(call) and "<table>" in call._repr_html_()


def test_the_trap_of_every_module_with_flags():
    (row,) = flags.explain_flags_call("mkldnn").surprises
    assert row["name"] == "mkldnn.enabled" and flags.explain_flags_call("nnpack").surprises
    assert not flags.explain_flags_call("opt_einsum").surprises
    assert not flags.explain_flags_call("").surprises
    assert "changes only what it names" in flags.explain_flags_call("cudnn", enabled=True).text["en"]


@pytest.mark.slow
def test_the_trap_says_when_the_call_would_raise(newborn):
    assert newborn["trap raised"] == ("would raise" in newborn["trap blocked"]) is True


@pytest.mark.parametrize(
    ("module", "named", "said"),
    [("mps", {}, r"has no flags\(\)"), ("cudnn", {"determinstic": True}, "it takes enabled")],
)
def test_a_wrong_question_about_the_trap_is_one_sentence(module, named, said):
    with pytest.raises(flags.FlagError, match=said):
        flags.explain_flags_call(module, **named)


# --- the notice after a cell ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def one_shell():
    """IPython lives once in a process; gone again afterwards, or later tests would think that somebody sits at a prompt."""
    testing = pytest.importorskip("IPython.testing.globalipapp")
    shell = testing.start_ipython()
    yield shell
    type(shell).clear_instance()
    for prompt in ("ps1", "ps2", "ps3"):
        sys.__dict__.pop(prompt, None)


@pytest.fixture
def shell(one_shell):
    yield one_shell
    flags.unwatch()


def test_a_cell_that_leaves_a_switch_changed_is_told_once(shell, capsys):
    assert flags.watch() and flags.watch()
    shell.run_cell("import torch\nx = 1")
    assert capsys.readouterr().out == ""
    shell.run_cell("torch.backends.cudnn.benchmark = True")
    assert capsys.readouterr().out.count("cudnn.benchmark False → True") == 1
    shell.run_cell("x = 2")
    shell.run_cell("torch.backends.cudnn.benchmark = False")
    assert capsys.readouterr().out == ""
    shell.run_cell("torch.backends.cudnn.benchmarks = True")
    try:
        assert "`torch.backends.cudnn.benchmark`" in capsys.readouterr().out
    finally:
        del torch.backends.cudnn.benchmarks
    flags.unwatch()
    shell.run_cell("torch.backends.cudnn.benchmark = True")
    assert capsys.readouterr().out == ""


# --- the map ----------------------------------------------------------------------------------------------


def test_the_map_shows_every_row_once_and_marks_the_changed_one_in_words():
    from course.lessons.l01_map.switch_map import backends_map

    with flags.using({"cudnn.benchmark": True}):
        found = backends_map()
    shown = [line for table in found.picture.tables() for line in table.lines[1:]]
    assert len(shown) == sum(row["kind"] != "tool" for row in flags.map_rows())
    assert [line for line in shown if "◆" in line[1]] == [("benchmark", "◆ True", "False")]
