"""The table of switches is complete: torch.backends is walked by attribute, and every row says all that the reference shows."""

from __future__ import annotations

import importlib
import mmap
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from course.core.catalog import BY_ID  # noqa: E402
from course.core.i18n import LANGUAGES  # noqa: E402
from course.experiment import base  # noqa: E402
from course.experiment.new_process import answer_of  # noqa: E402
from course.flags import DEPENDS, TABLE, WHEN  # noqa: E402
from course.questions import knowledge  # noqa: E402
from tests.support.walk_backends import there  # noqa: E402

ROWS = list(TABLE.values())
BACKENDS = [row for row in ROWS if row.group not in ("torch", "env")]
NAMED = {name for row in BACKENDS for name in (row.name, *row.also)}
LESSONS = {lesson[:2] for lesson in BY_ID}


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.removeprefix("<=").split(".")[:2]))


@pytest.mark.slow
def test_every_public_name_of_torch_backends_has_a_row():
    found = set(answer_of("from tests.support.walk_backends import members\nanswer(sorted(members()))")[0])
    assert len(found) > 100
    assert [one for one in sorted(found - NAMED) if not any(name.startswith(f"{one}.") for name in NAMED)] == []


@pytest.mark.parametrize("row", [row for row in BACKENDS if row.kind != "internal"], ids=lambda row: row.name)
def test_a_row_is_there_from_its_first_version_on(row):
    here = version(torch.__version__)
    expected = version(row.since) <= here and (not row.until or here <= version(row.until))
    assert {name: there(name) for name in (row.name, *row.also)} == dict.fromkeys((row.name, *row.also), expected)


def test_what_stands_beside_torch_backends_is_there_too():
    importlib.import_module("torch._inductor.config")
    for row in ROWS:
        if row.group == "torch" and version(row.since) <= version(torch.__version__):
            names = [name.removeprefix("torch.") for name in (row.name, *row.also)]
            assert any(there(name, torch) for name in names), row.name


def test_the_libraries_know_every_environment_variable():
    """Those of other devices' libraries are looked for only where this build has them; oneDNN puts its names together."""
    libraries = [
        path
        for pattern in ("*torch_c*", "*c10*")
        for path in (Path(torch.__file__).parent / "lib").glob(pattern)
        if path.suffix in (".so", ".dll")
    ]
    unknown = {
        row.name.removeprefix("env.")
        for row in ROWS
        if row.kind == "env" and version(row.since) <= version(torch.__version__)
    }
    for path in libraries:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            unknown = {name for name in unknown if text.find(name.encode()) < 0}
    elsewhere = (
        "OMP_",
        "ONEDNN_",
        "MKL_",
        "KMP_",
        "PYTORCH_ENABLE_MPS",
        "PYTORCH_MPS",
        "PYTORCH_DEBUG_MPS",
        "MIOPEN_",
        "CUDNN_",
        "NVIDIA_",
    )
    if not torch.backends.cuda.is_built():
        elsewhere += ("TORCH_CUDNN", "CUBLAS", "CUDA_", "PYTORCH_CUDA")
    assert [name for name in sorted(unknown) if not name.startswith(elsewhere)] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_field_of_a_row_is_empty(row):
    texts = [row.text, *filter(None, (row.note, row.nobody, row.depends))]
    if row.changeable:
        texts.append(row.readers)
        assert row.takes and (row.default is DEPENDS) == (row.depends is not None)
    assert all(set(text) == set(LANGUAGES) and all(text.values()) for text in texts)
    assert row.when in WHEN and row.source and version(row.since) >= (2, 9)


def test_every_row_is_shown_by_an_experiment_or_a_card_or_says_why_nobody_needs_it():
    cards = {name for card in knowledge.read().values() for name in card.switches}
    missing = [row.name for row in ROWS if not (row.experiment or row.nobody or row.name in cards)]
    both_ways = [row.name for row in ROWS if row.nobody and (row.experiment or row.name in cards)]
    assert missing == [] == both_ways
    known = set(base.load_all())
    assert [row.experiment for row in ROWS if row.experiment[:2] in LESSONS and row.experiment not in known] == []
