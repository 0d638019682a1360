"""Switches are read, set for a block and put back exactly; leaks, typos and the flags() trap are told."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import warnings

import pytest

torch = pytest.importorskip("torch")

from course import flags  # noqa: E402
from course.flags import precision  # noqa: E402
from course.language import LANGUAGES, pick, set_language  # noqa: E402


@pytest.fixture(autouse=True)
def untouched():
    """Each test leaves every switch, the baseline and the modules' attributes as it found them."""
    with flags.preserved():
        flags.remember()
        yield
    flags.unwatch()


def new_process(code: str) -> dict:
    """What a new Python process prints as JSON."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def newborn() -> dict:
    """Facts about a process in which nothing was set yet."""
    return new_process("""
        import json, sys
        from course import flags, machine
        told = {"imported": [name for name in ("torch", "IPython") if name in sys.modules]}
        import random, torch

        rng = random.Random(5)

        def disturb():
            from course.flags.precision import BRANCHES, LEAVES, ROOT
            for _ in range(rng.randint(1, 6)):
                which = rng.randrange(10)
                if which == 0:
                    torch.backends.cudnn.allow_tf32 = rng.random() < 0.5
                elif which == 1:
                    torch.backends.cuda.matmul.allow_tf32 = rng.random() < 0.5
                elif which == 2:
                    torch.set_float32_matmul_precision(rng.choice(["highest", "high", "medium"]))
                else:
                    node = rng.choice([ROOT, *BRANCHES, *LEAVES])
                    allowed = ["none", "ieee", "tf32"] + ["bf16"] * (node[0] != "cuda")
                    torch._C._set_fp32_precision_setter(*node, rng.choice(allowed))

        import torch.backends.xeon, torch.backends.xnnpack
        told["leaks"] = [str(leak) for leak in flags.leaks()]
        told["wrong defaults"] = [
            name for name, value in flags.snapshot().items()
            if value != flags.ABSENT and flags.SWITCHES[name].default is not flags.DEPENDS
            and value != flags.SWITCHES[name].default]
        told["typos"] = [typo.name for typo in flags.typos()]
        told["watch"] = flags.watch()
        torch.backends.cudnn.deterministic = True
        told["leak"] = [leak.name for leak in flags.leaks()]
        flags.restore()
        told["restored"] = [leak.name for leak in flags.leaks()]
        flags.remember()
        tree = flags.precision.save()
        torch.backends.fp32_precision = "ieee"
        unreadable = [leak for leak in flags.leaks() if isinstance(leak.after, flags.Unreadable)]
        told["unreadable leaks"] = [leak.name for leak in unreadable if "no longer tells" in str(leak)]
        flags.restore()
        told["tree restored"] = flags.precision.save() == tree
        with flags.using({"fp32_precision": "ieee", "mkldnn.conv.fp32_precision": "tf32",
                          "cudnn.benchmark": True, "torch.float32_matmul_precision": "high"}) as block:
            pass
        told["tree after a block"] = flags.precision.save() == tree and not block.pinned
        told["factory"] = "factory" in tree.nodes.values()
        before = flags.read()
        with flags.using({"cudnn.conv.fp32_precision": "ieee"}) as block:
            pass
        told["same readings"], told["pinned"] = flags.read() == before, block.pinned
        call = flags.explain_flags_call("cudnn", deterministic=True)
        told["trap changed something"] = flags.read() != before
        with torch.backends.cudnn.flags(deterministic=True):
            really = flags.read()
        told["trap wrong"] = [row["name"] for row in call.rows
                              if row["now"] != flags.ABSENT and row["inside"] != really[row["name"]]]
        torch.backends.cudnn.conv.fp32_precision = "ieee"
        told["trap blocked"] = flags.explain_flags_call("cudnn", enabled=True).text["en"]
        try:
            with torch.backends.cudnn.flags(enabled=True):
                told["trap raised"] = False
        except RuntimeError:
            told["trap raised"] = True
        told["random trees"] = 0
        for _ in range(200):
            disturb()
            saved, seen = flags.precision.save(), flags.read()
            assert flags.read() == seen and flags.precision.save() == saved
            disturb()
            pinned = flags.precision.restore(saved)
            assert flags.read() == seen and (pinned or flags.precision.save() == saved)
            told["random trees"] += 1
        print(json.dumps(told))
        """)


@pytest.fixture(scope="module")
def frozen() -> dict:
    """Facts about a process after torch.backends.disable_global_flags()."""
    return new_process("""
        import json, torch
        from course import flags
        torch.backends.disable_global_flags()
        refused = []
        for name, switch in flags.SWITCHES.items():
            owner, *path = torch.backends, *name.split(".")
            try:
                for part in path[:-1]:
                    owner = getattr(owner, part)
                value = getattr(owner, path[-1])
                if switch.kind == "switch" and value is not None:
                    setattr(owner, path[-1], value)
            except RuntimeError as error:
                refused += [name] if "disable_global_flags" in str(error) else []
            except (AttributeError, AssertionError):
                continue
        with flags.using({"cudnn.benchmark": True, "fp32_precision": "ieee", "miopen.immediate": True}):
            inside = [torch.backends.cudnn.benchmark, torch.backends.fp32_precision]
        outside = [torch.backends.cudnn.benchmark, torch.backends.fp32_precision,
                   torch.backends.flags_frozen()]
        print(json.dumps({"refused": refused, "inside": inside, "outside": outside}))
        """)


# --- the data ---------------------------------------------------------------------------------------------

def test_every_switch_is_complete_in_both_languages():
    for name, switch in flags.SWITCHES.items():
        assert switch.kind in ("switch", "setter", "query", "tool"), name
        texts = [switch.text, switch.readers, *([switch.note] if switch.note else [])]
        for text in texts:
            assert set(text) == set(LANGUAGES) and all(text.values()), name
        assert any("\u4e00" <= char <= "\u9fff" for char in switch.text["zh"]), name
        assert switch.text["en"].endswith((".", "?")) and switch.text["zh"].endswith(("。", "？")), name
        assert bool(switch.takes) == switch.changeable, name


def test_the_catalogue_knows_every_flag_of_the_switchable_modules():
    backends = torch.backends
    for group in ("cudnn", "mkldnn", "miopen", "opt_einsum"):
        found = {f"{group}.{name}" for name, value in vars(type(getattr(backends, group))).items()
                 if hasattr(value, "__set__") and not name.startswith("_")}
        assert found <= set(flags.SWITCHES), found - set(flags.SWITCHES)
    functions = {name for name in backends.mps.__all__}
    assert {f"mps.{name}" for name in functions} <= set(flags.SWITCHES)


def test_defaults_are_those_of_a_new_process(newborn):
    assert newborn["wrong defaults"] == [] == newborn["leaks"]


def test_frozen_switches_are_those_that_torch_refuses_after_the_freeze(frozen):
    there = {name for name, value in flags.snapshot().items() if value != flags.ABSENT}
    assert set(frozen["refused"]) == {name for name in there if flags.SWITCHES[name].frozen}


# --- reading ----------------------------------------------------------------------------------------------

def test_reading_changes_nothing_and_never_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = flags.read(), flags.read()
    assert first == second
    assert first["cudnn.benchmark"] is False and first["mkldnn.enabled"] is True


def test_what_a_version_lacks_is_absent_not_an_error(monkeypatch):
    monkeypatch.delattr(type(torch.backends.cudnn), "depthwise_kernel", raising=False)
    for owner in (torch.backends, torch.backends.m):
        monkeypatch.delattr(owner, "python_native", raising=False)
    now = flags.read()
    assert now["cudnn.depthwise_kernel"] == flags.ABSENT
    assert now["python_native.triton.enabled"] == flags.ABSENT
    assert "does not have it" in pick(flags.describe("cudnn.depthwise_kernel"))
    with pytest.raises(flags.FlagError, match="does not exist in this build"):
        flags.using({"cudnn.depthwise_kernel": "auto"})
    with flags.using({"cudnn.depthwise_kernel": "auto", "cudnn.benchmark": True}, skip_absent=True):
        assert torch.backends.cudnn.benchmark


def test_a_mix_of_old_and_new_precision_calls_is_shown_as_unreadable():
    with flags.using({"fp32_precision": "tf32"}):
        value = flags.read()["cuda.matmul.allow_tf32"]
        assert isinstance(value, flags.Unreadable) and value.reason
        assert "does not tell" in pick(flags.describe("cuda.matmul.allow_tf32"))
    assert flags.read()["cuda.matmul.allow_tf32"] is False


def test_importing_the_module_loads_no_torch_and_no_ipython(newborn):
    assert newborn["imported"] == []


@pytest.mark.parametrize(("typed", "meant"), [
    ("cudnn.benchmarks", "cudnn.benchmark"), ("mkldnn.enable", "mkldnn.enabled"),
    ("nnpack.enabled", "nnpack.set_flags"), ("cudnn.conv.precision", "cudnn.conv.fp32_precision"),
    ("cuda.allow_tf32", "cuda.matmul.allow_tf32"), ("cudnn.allowtf32", "cudnn.allow_tf32"),
])
def test_a_mistyped_name_is_answered_with_the_right_one(typed, meant):
    for call in (flags.describe, lambda name: flags.using({name: True})):
        for code in LANGUAGES:
            set_language(code)
            with pytest.raises(flags.FlagError, match=meant):
                call(typed)


def test_describe_takes_the_name_as_a_program_writes_it():
    assert flags.describe("torch.backends.cudnn.version()") == flags.describe("cudnn.version")
    assert "Here: `False`" in flags.describe("cudnn.benchmark")["en"]
    with pytest.raises(flags.FlagError, match="queries only"):
        flags.describe("mps.enabled")


# --- using ------------------------------------------------------------------------------------------------

# The cuDNN leaves of the precision tree are written in processes of their own: torch cannot take that back.
EVERY = {
    "cudnn.enabled": False, "cudnn.benchmark": True, "cudnn.deterministic": True,
    "cudnn.fp32_precision": "ieee", "cuda.matmul.fp32_precision": "tf32",
    "cuda.matmul.allow_bf16_reduced_precision_reduction": False, "cuda.matmul.allow_fp16_accumulation": True,
    "cuda.enable_flash_sdp": False, "cuda.enable_math_sdp": False,
    "cuda.allow_fp16_bf16_reduction_math_sdp": True,
    "mkldnn.enabled": False, "mkldnn.deterministic": True, "mkldnn.fp32_precision": "bf16",
    "mkldnn.matmul.fp32_precision": "bf16", "miopen.immediate": True, "nnpack.set_flags": False,
    "mha.set_fastpath_enabled": False, "torch.num_threads": 1, "torch.fill_uninitialized_memory": False,
    "torch.float32_matmul_precision": "high", "fp32_precision": "ieee",
}


@pytest.mark.parametrize(("name", "value"), EVERY.items())
def test_each_switch_is_set_inside_and_back_outside(name, value):
    before = flags.snapshot()
    with flags.using({name: value}):
        assert flags.SWITCHES[name].read() == value
        if name not in precision.LINKED:
            assert [change.name for change in flags.changes(before, flags.snapshot())] in ([name], [])
    assert flags.snapshot() == before


def test_everything_at_once_comes_back():
    before = flags.snapshot()
    with flags.using(EVERY):
        assert flags.changes(before, flags.snapshot())
    assert flags.snapshot() == before


@pytest.mark.parametrize("stop", [ZeroDivisionError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_restored_whatever_ends_the_block(stop):
    before = flags.snapshot()
    with pytest.raises(stop):
        with flags.using({"cudnn.benchmark": True, "torch.num_threads": 1, "fp32_precision": "ieee"}):
            torch.backends.cudnn.benchmark = False
            torch.set_num_threads(2)
            raise stop
    assert flags.snapshot() == before


def test_only_what_is_named_is_restored():
    with flags.using({"cudnn.benchmark": True}):
        torch.backends.mkldnn.enabled = False
    assert not torch.backends.mkldnn.enabled and not torch.backends.cudnn.benchmark


def test_nested_blocks_and_the_decorator():
    @flags.using({"cudnn.deterministic": True})
    def inside() -> tuple[bool, bool]:
        return torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark

    with flags.using({"cudnn.deterministic": False, "cudnn.benchmark": True}):
        assert inside() == (True, True) == inside()
        assert not torch.backends.cudnn.deterministic
    assert not torch.backends.cudnn.benchmark


@pytest.mark.parametrize(("settings", "said"), [
    ({"cudnn.enabled": 1}, "takes True or False, not 1"),
    ({"cudnn.benchmark": "yes"}, "takes True or False"),
    ({"torch.num_threads": True}, "takes a whole number"),
    ({"torch.num_threads": 0}, "torch refused"),
    ({"fp32_precision": "fp16"}, "Unknown precision"),
    ({"torch.float32_matmul_precision": "fast"}, "'highest', 'high' or 'medium'"),
    ({"mps.is_available": False}, "cannot be set"),
    ({"cuda.matmul.allow_bf16_reduced_precision_reduction_split_k": False}, "torch refused"),
    ({3: True}, "named by a string"),
])
def test_a_wrong_setting_is_one_sentence_and_changes_nothing(settings, said):
    before = flags.snapshot()
    with pytest.raises(flags.FlagError, match=said):
        with flags.using({"cudnn.benchmark": True, **settings}):
            pass
    assert flags.snapshot() == before
    set_language("zh")
    with pytest.raises(flags.FlagError, match="[\u4e00-\u9fff]"):
        with flags.using(settings):
            pass


def test_a_pair_whose_order_matters_comes_back():
    pair = "cuda.matmul.allow_fp16_reduced_precision_reduction"
    off = {pair: False, f"{pair}_split_k": False}
    if flags.read()[f"{pair}_split_k"] == flags.ABSENT:
        pytest.skip("this torch has no split_k switches")
    with flags.using(off):
        with flags.using(off):
            torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = (True, True)
        assert flags.read()[pair] is False and flags.read()[f"{pair}_split_k"] is False
    assert flags.read()[pair] is True and flags.read()[f"{pair}_split_k"] is True


def test_mkldnn_precision_leaves_the_rest_of_the_tree_alone():
    with flags.using({"mkldnn.fp32_precision": "bf16"}):
        now = flags.read()
        assert now["mkldnn.conv.fp32_precision"] == "bf16"
        assert now["fp32_precision"] == "none" and now["cudnn.conv.fp32_precision"] == "tf32"


def test_using_still_works_after_the_freeze(frozen):
    assert frozen["inside"] == [True, "ieee"] and frozen["outside"] == [False, "none", True]


# --- the precision tree -----------------------------------------------------------------------------------

def test_the_tree_is_restored_with_what_it_inherits(newborn):
    """Random states, each saved, disturbed and restored: stored values, not only what they read."""
    assert newborn["random trees"] == 200


def test_a_block_that_does_not_write_the_cudnn_leaves_keeps_their_factory_value(newborn):
    assert newborn["tree after a block"] and newborn["tree restored"]


def test_what_cannot_be_restored_reads_the_same_and_is_told(newborn):
    assert newborn["same readings"]
    assert newborn["pinned"] == (["cudnn.conv.fp32_precision"] if newborn["factory"] else [])


# --- leaks ------------------------------------------------------------------------------------------------

def test_leaks_are_told_in_both_languages_and_taken_back():
    assert flags.leaks() == []
    torch.backends.cudnn.benchmark = True
    torch.set_num_threads(1)
    found = flags.leaks()
    assert [leak.name for leak in found] == ["cudnn.benchmark", "torch.num_threads"]
    assert "is now True; it was False" in found[0].text["en"] and "原来是 False" in found[0].text["zh"]
    assert flags.restore() == found
    assert flags.leaks() == [] and not torch.backends.cudnn.benchmark


def test_a_leak_that_makes_other_switches_unreadable_says_so(newborn):
    assert {"cudnn.allow_tf32", "cuda.matmul.allow_tf32"} & set(newborn["unreadable leaks"])


def test_without_a_remembered_start_the_defaults_count(newborn):
    assert newborn["leak"] == ["cudnn.deterministic"] and newborn["restored"] == []


# --- typos ------------------------------------------------------------------------------------------------

def test_a_clean_torch_has_no_typos(newborn):
    assert newborn["typos"] == []


@pytest.mark.parametrize(("module", "name", "meant"), [
    ("cudnn", "benchmarks", "cudnn.benchmark"), ("mps", "enabled", None),
    ("nnpack", "enabled", "nnpack.set_flags"),
    ("", "allow_tf32", "cudnn.allow_tf32"), ("mkldnn", "enable", "mkldnn.enabled"), ("", "xx", None),
    ("cuda", "benchmark", "cudnn.benchmark"),
])
def test_a_silent_typo_is_found_with_what_was_meant(module, name, meant):
    owner = getattr(torch.backends, module) if module else torch.backends
    setattr(owner, name, True)
    try:
        (found,) = flags.typos()
        assert found.suggestion == meant and not found.overwritten
        assert found.name == f"{module}.{name}".lstrip(".")
        assert "del torch.backends" in found.text["en"] and "从不读取" in found.text["zh"]
        assert meant is None or meant in found.text["en"]
    finally:
        delattr(owner, name)
    assert flags.typos() == []


def test_an_overwritten_query_is_found(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", False)
    (found,) = flags.typos()
    assert found.overwritten and "Restart the kernel" in str(found)
    assert flags.read()["mps.is_available"] is False


def test_an_overwritten_function_of_a_stand_in_comes_back_with_del():
    torch.backends.cudnn.is_available = True
    try:
        (found,) = flags.typos()
        assert found.overwritten and "del torch.backends.cudnn.is_available" in str(found)
    finally:
        del torch.backends.cudnn.is_available
    assert callable(torch.backends.cudnn.is_available)


# --- the flags() trap -------------------------------------------------------------------------------------

def test_the_trap_is_told_as_it_is_and_nothing_is_set(newborn):
    assert newborn["trap wrong"] == [] and not newborn["trap changed something"]
    call = flags.explain_flags_call("cudnn", deterministic=True)
    assert [row["name"] for row in call.surprises] == ["cudnn.enabled"]
    assert "cudnn.enabled True → False" in str(call) and "<table>" in call._repr_html_()


def test_the_trap_of_every_module_with_flags():
    (row,) = flags.explain_flags_call(torch.backends.mkldnn).surprises
    assert row["name"] == "mkldnn.enabled" and flags.explain_flags_call("nnpack").surprises
    assert not flags.explain_flags_call("opt_einsum").surprises
    assert not flags.explain_flags_call(torch.backends).surprises
    assert "changes nothing" in flags.explain_flags_call("cudnn", enabled=True).text["en"]


def test_the_trap_says_when_the_call_would_raise(newborn):
    assert newborn["trap raised"] == ("would raise" in newborn["trap blocked"]) is True


@pytest.mark.parametrize(("module", "named", "said"), [
    ("cudn", {}, 'Did you mean "cudnn"'), ("mps", {}, r"has no flags\(\)"),
    ("cudnn", {"determinstic": True}, 'Did you mean "deterministic"'),
])
def test_a_wrong_question_about_the_trap_is_one_sentence(module, named, said):
    with pytest.raises(flags.FlagError, match=said):
        flags.explain_flags_call(module, **named)


# --- the notice after a cell ------------------------------------------------------------------------------

@pytest.fixture
def shell():
    testing = pytest.importorskip("IPython.testing.globalipapp")
    shell = testing.start_ipython() or testing.get_ipython()
    yield shell
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
        assert "Did you mean `torch.backends.cudnn.benchmark`" in capsys.readouterr().out
    finally:
        del torch.backends.cudnn.benchmarks
    flags.unwatch()
    shell.run_cell("torch.backends.cudnn.benchmark = True")
    assert capsys.readouterr().out == ""


def test_many_changes_make_one_short_sentence(shell, capsys):
    flags.watch()
    shell.run_cell("import torch; torch.backends.fp32_precision = 'ieee'")
    assert capsys.readouterr().out.count("\n") == 1
    set_language("zh")
    shell.run_cell("torch.backends.mkldnn.enabled = False")
    assert "整个进程" in capsys.readouterr().out


def test_outside_a_notebook_there_is_nothing_to_watch(newborn):
    assert newborn["watch"] is False


# --- the map ----------------------------------------------------------------------------------------------

def test_the_map_has_every_switch_and_marks_what_changed():
    with flags.using({"cudnn.benchmark": True}):
        rows = flags.map_rows()
    assert {row["name"] for row in rows} == set(flags.SWITCHES)
    assert [row["name"] for row in rows if row["changed"]] == ["cudnn.benchmark"]


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_map_is_one_picture_with_words_for_it(code):
    figures = pytest.importorskip("course.figures.map")
    set_language(code)
    with flags.using({"cudnn.benchmark": True}):
        picture = figures.backends_map()
    light, dark = picture.png(dpi=40), picture.png(dark=True, dpi=40)
    assert light.startswith(b"\x89PNG") and dark.startswith(b"\x89PNG") and light != dark
    assert "cudnn.benchmark = True" in picture.alt["en"] and "cudnn.benchmark = True" in picture.alt["zh"]
    assert "mkldnn.enabled" in str(picture)
    picture.png = lambda dark: b""  # drawn above; the page needs only the words
    assert picture._repr_html_().count("cudnn.benchmark = True") == 2


def test_every_row_of_the_map_is_drawn():
    figures = pytest.importorskip("course.figures.map")
    rows = [row for row in flags.map_rows() if row["kind"] != "tool"]
    drawn = [row["name"] for column in figures._columns(rows) for _, part in column for row in part]
    assert sorted(drawn) == sorted(row["name"] for row in rows)
