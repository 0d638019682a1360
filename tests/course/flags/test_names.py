"""Protects who asks about a switch: every public name of torch.backends is found by ``keep`` and ``what``, as programs write it."""

from __future__ import annotations

import pytest

import course
from course.flags import TABLE
from course.flags.names import named

ROWS = [row for row in TABLE.values() if row.kind != "internal"]
WRITTEN = [(path, row.name) for row in ROWS for path in (row.path, *map(row.path_of, row.also))]


@pytest.mark.parametrize(
    "line", ["{}", "{}()", "{} = True", "    with {}(enabled=False):", "print({})", "# sets `{}`, then"]
)
def test_every_name_is_found_in_every_line(line):
    """Names of one word, such as flags_frozen, need a dot or an underscore to be told from prose."""
    found = {path: [row.name for row in named(line.format(path))] for path, _ in WRITTEN}
    assert {path: name for path, name in WRITTEN if name not in found[path]} == {}


@pytest.mark.parametrize(
    "typed, name",
    [
        ("benchmark", "cudnn.benchmark"),
        ("cudnn_benchmark", "cudnn.benchmark"),
        ("cudnn.benchmark=True", "cudnn.benchmark"),
        ("import torch.backends.cudnn as cudnn; cudnn.deterministic = True", "cudnn.deterministic"),
        ('os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"', "env.CUBLAS_WORKSPACE_CONFIG"),
        ("export OMP_NUM_THREADS=4", "env.OMP_NUM_THREADS"),
        ("torch.set_num_threads(4)", "torch.num_threads"),
        ("set_float32_matmul_precision", "torch.float32_matmul_precision"),
        ("use_deterministic_algorithms", "torch.deterministic_algorithms"),
        ("cufft_plan_cache", "cuda.cufft_plan_cache.max_size"),
        ("nnpack", "nnpack.set_flags"),
        ("torch.backends.nnpack.enabled = False", "nnpack.set_flags"),
        ("PYTORCH_ENABLE_MPS_FALLBACK=1 python train.py", "env.PYTORCH_ENABLE_MPS_FALLBACK"),
    ],
)
def test_a_name_is_known_as_people_write_it(typed, name, capsys):
    assert name in [row.name for row in named(typed)]
    for verb in (course.what, course.keep):
        verb(typed)
        said = capsys.readouterr().out
        assert "no knowledge card" not in said and "neither a term" not in said, said


def test_prose_names_no_switch():
    for words in (
        "",
        "why is my model slow",
        "the version of flags",
        "loss is nan",
        "显存不够",
        "enabled and available",
    ):
        assert named(words) == [], words
