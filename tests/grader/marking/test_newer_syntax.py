"""A syntax error is the student's own, unless a newer Python than the grader's might read what it stands at."""

from __future__ import annotations

import sys

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from grader.marking.machine import Raised, lacking

NEWER = (
    "x = {'a': 1}\nprint(f'{x['a']}')",
    "print(f'{'; '.join(['a'])}')",
    "f'''{\n x # the field's comment\n}'''",
    "print(f'{\n    x\n}')",
    "type Point = tuple[int, int]",
    "def first[T](x: list[T]) -> T:\n    return x[0]",
    "try:\n    pass\nexcept ValueError, TypeError:\n    pass",
    "print(t'hello {name!r:>{10}}')",
)
WRONG = (
    "if epochs = 0:\n    pass",
    "print(f'{x +}')",
    "print('a",
    "for i in range(3)\n    print(i)",
    "type = = 1",
    "except:\n    pass",
)


def held(source: str, python: str) -> bool:
    """Whether a submission with this cell, saved by that Python, is held back."""
    with pytest.raises(SyntaxError) as stopped:
        compile(source, "cell", "exec")
    nb = new_notebook(cells=[new_code_cell(source)], metadata={"language_info": {"name": "python", "version": python}})
    return lacking(nb, {0: Raised("SyntaxError", f"{stopped.value.msg} (cell, line 1)")}, {}) is not None


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads most of these itself")
@pytest.mark.parametrize("source", NEWER)
def test_what_a_newer_python_may_read_is_held_where_one_wrote_it(source):
    assert held(source, "3.14.0") and held(source, "") and not held(source, "3.10.2")
    assert held(source, "3.13.1") is (source not in NEWER[-2:]), "of 3.14"


@pytest.mark.parametrize("source", WRONG)
def test_what_no_python_reads_is_an_error_of_the_code(source):
    assert not held(source, "3.14.0")
