"""A syntax error is the student's own, unless a newer Python than the grader's really reads the code."""

from __future__ import annotations

import sys

import pytest

from grader.marking.newer_syntax import needs_newer

NEWER = (
    "x = {'a': 1}\nprint(f'{x['a']}')",
    "print(f'{'; '.join(['a'])}')",
    "%matplotlib inline\nprint(f'{x['a']:>{w['b']}} {y!r} {z['c']=}')",
    "f'''{\n x # the field's comment\n}'''",
    "type Point = tuple[int, int]",
    "def first[T](x: list[T]) -> T:\n    return x[0]",
    "try:\n    pass\nexcept ValueError, TypeError:\n    pass",
    "print(t'hello {name!r:>{10}}')",
)
WRONG = (
    "if epochs = 0:\n    pass",
    "print(f'{x +}')",
    "print(f'{x['a' +]}')",
    "print('a",
    "for i in range(3)\n    print(i)",
    "f'{x['a']}' +",
    "def f[T](x:\n    pass",
    "except:\n    pass",
)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads most of these itself")
@pytest.mark.parametrize("source", NEWER)
def test_what_a_newer_python_reads_is_told(source):
    assert needs_newer(source)


@pytest.mark.parametrize("source", [*WRONG, "x = 1", "!ls\nf'{a != b}'", "# it's\nx = 1"])
def test_what_no_python_reads_and_what_this_one_reads_is_not(source):
    assert not needs_newer(source)
