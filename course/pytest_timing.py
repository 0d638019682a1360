"""The pytest fixture `timing`: a threshold on speed that fails only on evidence.

    def test_the_new_way_is_no_slower(timing):
        timing(new, than=old, at_most=1.05)

Fails when the whole interval of time(new) / time(old) lies above `at_most`; where the time does not suffice to tell, or
the two return different things, the test passes with a warning. `timing.compare` and `timing.measure` are those of
course.timing. Installing the course brings the fixture; nothing is imported before a test asks for it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest


class TimingWarning(UserWarning):
    """A threshold on speed neither met nor missed in the time given, or functions that return different things."""


def _names(*functions: Any) -> tuple[str, str]:
    """The functions' own names where they tell them apart."""
    baseline, name = (getattr(f, "__name__", str(f)) for f in functions)
    return (baseline, name) if baseline != name else (f"{baseline} (than)", name)


class Timing:
    """What the fixture gives."""

    def __call__(
        self, f: Callable[..., Any], *, than: Callable[..., Any], at_most: float = 1.05, **settings: Any
    ) -> Any:
        """Fail when time(f) / time(than) is shown to lie above `at_most` (> 1); gives the Comparison.

        settings: of `course.timing.compare`, such as max_time, setup, same, fresh_process.
        """
        __tracebackhide__ = True
        from course.timing.validation import require_above_one

        require_above_one(at_most=at_most)
        baseline, name = _names(than, f)
        found = self.compare({baseline: than, name: f}, baseline, gate=at_most - 1, **settings)
        pair = found[name]
        if pair.shown_above(at_most):
            pytest.fail(f"more than {at_most:g} times as slow: {found}", pytrace=False)
        if pair.difference or (pair.verdict == "undecided" and (pair.high is None or pair.high > at_most)):
            warnings.warn(TimingWarning(str(found)), stacklevel=2)
        return found

    def compare(self, candidates: Any, *arguments: Any, **settings: Any) -> Any:
        """`course.timing.compare`."""
        from course.timing import compare

        return compare(candidates, *arguments, **settings)

    def measure(self, f: Any, **settings: Any) -> Any:
        """`course.timing.measure`."""
        from course.timing import measure

        return measure(f, **settings)


@pytest.fixture
def timing() -> Timing:
    """`timing(f, than=g, at_most=1.05)` fails only where f is shown to take longer; see course.pytest_timing."""
    return Timing()
