"""Fixtures of the flag tests: a process left as it was found, and facts told by new processes."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from functools import cache

import pytest

from course import flags


@pytest.fixture(autouse=True)
def untouched():
    """Each test leaves every switch, the baseline and the modules' attributes as it found them."""
    with flags.preserved():
        flags.remember()
        yield
    flags.unwatch()


@cache
def new_process(code: str) -> dict:
    """What a new Python process prints as JSON."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def newborn() -> dict:
    """Facts about a process in which nothing was set yet."""
    return new_process("""
        import json, sys
        from course import flags
        from course.core import machine
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
