"""Protects a learner's switches: described, read, set for a block, put back exactly; and what is told of leaks, typos and cells."""

from __future__ import annotations

import random
import sys
import textwrap
import warnings

import pytest
import torch

from course import flags
from course.core.i18n import set_language
from course.experiment.new_process import answer_of
from course.flags import precision


@pytest.fixture(autouse=True)
def untouched():
    """Each test leaves every switch, the baseline and the modules' attributes as it found them."""
    with flags.preserved():
        flags.remember()
        yield
    flags.unwatch()


def disturb(rng: random.Random) -> None:
    """Set some of the precision switches, or of the values stored in the tree, at random."""
    for _ in range(rng.randint(1, 6)):
        which = rng.randrange(10)
        if which == 0:
            torch.backends.cudnn.allow_tf32 = rng.random() < 0.5
        elif which == 1:
            torch.backends.cuda.matmul.allow_tf32 = rng.random() < 0.5
        elif which == 2:
            torch.set_float32_matmul_precision(rng.choice(["highest", "high", "medium"]))
        else:
            node = rng.choice([precision.ROOT, *precision.BRANCHES, *precision.LEAVES])
            allowed = ["none", "ieee", "tf32"] + ["bf16"] * (node[0] != "cuda")
            torch._C._set_fp32_precision_setter(*node, rng.choice(allowed))


@pytest.fixture(scope="module")
def newborn() -> dict:
    """Facts about a process in which nothing was set yet."""
    code = """
        import sys
        from course import flags
        from course.core import machine
        told = {"imported": [name for name in ("torch", "IPython") if name in sys.modules]}
        import random, torch

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
        torch.backends.fp32_precision = "tf32"
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
        from tests.course.flags.test_flags import disturb
        rng, told["random trees"] = random.Random(5), 0
        for _ in range(200):
            disturb(rng)
            saved, seen = flags.precision.save(), flags.read()
            assert flags.read() == seen and flags.precision.save() == saved
            disturb(rng)
            pinned = flags.precision.restore(saved)
            assert flags.read() == seen and (pinned or flags.precision.save() == saved)
            told["random trees"] += 1
        answer(told)
        """
    return answer_of(textwrap.dedent(code))[0]


@pytest.fixture(scope="module")
def frozen() -> dict:
    """Facts about a process after torch.backends.disable_global_flags()."""
    code = """
        import torch
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
        answer({"refused": refused, "inside": inside, "outside": outside})
        """
    return answer_of(textwrap.dedent(code))[0]


# --- the data ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_defaults_are_those_of_a_new_process(newborn):
    """Which loaded neither torch nor IPython with the module."""
    assert newborn["wrong defaults"] == [] == newborn["leaks"] and newborn["imported"] == []


@pytest.mark.slow
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
    with pytest.raises(flags.FlagError, match="does not exist"):
        flags.using({"cudnn.depthwise_kernel": "auto"})
    with flags.using({"cudnn.depthwise_kernel": "auto", "cudnn.benchmark": True}, skip_absent=True):
        assert torch.backends.cudnn.benchmark


def test_a_mix_of_old_and_new_precision_calls_is_shown_as_unreadable():
    with flags.using({"fp32_precision": "tf32"}):
        value = flags.read()["cuda.matmul.allow_tf32"]
        assert isinstance(value, flags.Unreadable) and value.reason
    assert flags.read()["cuda.matmul.allow_tf32"] is False


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("cudnn.benchmarks", "cudnn.benchmark"),
        ("mkldnn.enable", "mkldnn.enabled"),
        ("nnpack.enabled", "nnpack.set_flags"),
        ("cudnn.conv.precision", "cudnn.conv.fp32_precision"),
        ("cuda.allow_tf32", "cuda.matmul.allow_tf32"),
        ("cudnn.allowtf32", "cudnn.allow_tf32"),
        ("float32_matmul_precison", "torch.float32_matmul_precision"),
        ("cuda.float32_matmul_precision", "torch.float32_matmul_precision"),
    ],
)
def test_a_mistyped_name_is_answered_with_the_right_one(typed, meant):
    with pytest.raises(flags.FlagError, match=meant):
        flags.using({typed: True})


# --- using ------------------------------------------------------------------------------------------------

# The cuDNN leaves of the precision tree are written in processes of their own: torch cannot take that back.
EVERY = {
    "cudnn.enabled": False,
    "cudnn.benchmark": True,
    "cudnn.deterministic": True,
    "cudnn.fp32_precision": "ieee",
    "cuda.matmul.fp32_precision": "tf32",
    "cuda.matmul.allow_bf16_reduced_precision_reduction": False,
    "cuda.matmul.allow_fp16_accumulation": True,
    "cuda.enable_flash_sdp": False,
    "cuda.enable_math_sdp": False,
    "cuda.allow_fp16_bf16_reduction_math_sdp": True,
    "mkldnn.enabled": False,
    "mkldnn.deterministic": True,
    "mkldnn.fp32_precision": "bf16",
    "mkldnn.matmul.fp32_precision": "bf16",
    "miopen.immediate": True,
    "nnpack.set_flags": False,
    "mha.set_fastpath_enabled": False,
    "torch.num_threads": 1,
    "torch.fill_uninitialized_memory": False,
    "torch.float32_matmul_precision": "high",
    "fp32_precision": "ieee",
}


@pytest.mark.parametrize(("name", "value"), EVERY.items())
def test_each_switch_is_set_inside_and_back_outside(name, value):
    before = flags.snapshot()
    with flags.using({name: value}):
        assert flags.SWITCHES[name].read() == value
        if name not in precision.LINKED:
            assert [change.name for change in flags.changes(before, flags.snapshot())] in ([name], [])
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


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"cudnn.enabled": 1}, "not 1"),
        ({"cudnn.benchmark": "yes"}, "takes True or False"),
        ({"torch.num_threads": True}, "whole"),
        ({"torch.num_threads": 0}, "torch refused"),
        ({"fp32_precision": "fp16"}, "fp32_precision = 'fp16'"),
        ({"cudnn.fp32_precision": "bf16"}, "cudnn.fp32_precision = 'bf16'"),
        ({"torch.float32_matmul_precision": "fast"}, "'highest', 'high' or 'medium'"),
        ({"mps.is_available": False}, "cannot be set"),
        (
            {"cuda.matmul.allow_bf16_reduced_precision_reduction_split_k": False},
            "torch refused|does not exist in this build",
        ),  # torch 2.9 has none
        ({3: True}, "string"),
        ({"torch.deterministic_algorithms": "soft"}, "True, False or 'warn'"),
    ],
)
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


def test_a_leaf_wins_over_the_shortcut_beside_it_and_a_list_is_no_setting():
    both = {"mkldnn.matmul.fp32_precision": "ieee", "torch.float32_matmul_precision": "medium"}
    with flags.using(both):
        assert torch.backends.mkldnn.matmul.fp32_precision == "ieee"
    with pytest.raises(flags.FlagError, match="dictionary"):
        flags.using(["cudnn.benchmark"])


def test_what_needs_a_running_gpu_is_unreadable_with_cuda_and_absent_without(monkeypatch):
    name = "cuda.cufft_plan_cache.max_size"
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: False)
    assert flags.read()[name] == flags.ABSENT
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    assert isinstance(flags.read()[name], flags.Unreadable) and "CUDA" in flags.read()[name].reason


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


@pytest.mark.slow
def test_using_still_works_after_the_freeze(frozen):
    assert frozen["inside"] == [True, "ieee"] and frozen["outside"] == [False, "none", True]


# --- the precision tree -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_tree_is_restored_with_what_it_inherits(newborn):
    """Random states, each saved, disturbed and restored: stored values, not only what they read; what cannot be restored is told."""
    assert newborn["random trees"] == 200
    assert newborn["tree after a block"] and newborn["tree restored"] and newborn["same readings"]
    assert newborn["pinned"] == (["cudnn.conv.fp32_precision"] if newborn["factory"] else [])


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
