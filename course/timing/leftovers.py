"""What the first call of a candidate leaves behind that changes what is timed afterwards: a switch of torch left on, or a result
kept by functools.lru_cache so that later calls do nothing."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from course.i18n import t


class Switches:
    """Every switch of torch as it was when this was made; empty in a process without torch."""

    def __init__(self) -> None:
        self._saved: Any = None
        if "torch" in sys.modules:
            from course.flags import SWITCHES
            from course.flags.state import Saved, snapshot

            self._before = snapshot()
            self._saved = Saved([name for name, switch in SWITCHES.items() if switch.changeable])

    def restore(self) -> None:
        """Set them all, with the same steps whatever values they have."""
        if self._saved is not None:
            self._saved.put_back()

    def put_back(self) -> list[str]:
        """Restore them all, if one has another value; gives the paths of those that had."""
        if self._saved is None:
            return []
        from course.flags import SWITCHES, changes
        from course.flags.state import snapshot

        found = [SWITCHES[change.name].path for change in changes(self._before, snapshot())]
        if found:
            self.restore()
        return found


@contextlib.contextmanager
def kept_results(f: Callable[..., Any], found: list[str]) -> Iterator[None]:
    """Add to `found` the names of functions with functools.lru_cache that `f` calls inside the block without running them: their
    results were all kept from calls before.
    """
    before = {name: one.cache_info() for name, one in _cached(f).items()}
    yield
    for name, one in _cached(f).items():
        then, now = before[name], one.cache_info()
        if name not in found and now.hits > then.hits and now.misses == then.misses:
            found.append(name)


def _cached(f: Any) -> dict[str, Any]:
    """The functions with functools.lru_cache that `f` is or names: name -> function."""
    f = f.func if isinstance(f, functools.partial) else f
    named: dict[str, Any] = {getattr(f, "__name__", "f"): f}
    code = getattr(f, "__code__", None)
    if code is not None:
        named |= {name: f.__globals__[name] for name in code.co_names if name in f.__globals__}
        for name, cell in zip(code.co_freevars, f.__closure__ or (), strict=False):
            with contextlib.suppress(ValueError):  # empty so far
                named[name] = cell.cell_contents
    return {name: one for name, one in named.items() if isinstance(one, functools._lru_cache_wrapper)}


def notes(left: Mapping[str, Sequence[str]], kept: Mapping[str, Sequence[str]]) -> list[str]:
    """The remarks. left: candidate -> switches that it leaves with another value; kept: candidate -> functions with kept results."""
    said = []
    for name, switches in left.items():
        if switches:
            said.append(
                t(
                    f"{name} leaves {', '.join(switches)} with another value. It was put back after every block of {name}, so the others "
                    "are timed without it. Set it inside `with using({...}):` of course.flags, or outside of the function.",
                    f"{name} 改动了 {'、'.join(switches)} 而没有还原。{name} 的每一块之后都已还原，因此其他候选不受影响。"
                    "请在 course.flags 的 `with using({...}):` 里设置，或放到函数外面。",
                )
            )
    for name, functions in kept.items():
        if functions:
            said.append(
                t(
                    f"Only the first call of {name} did the work: {', '.join(functions)} keeps its results (functools.lru_cache), so what "
                    f"was timed is a look-up. To time the work, call `{functions[0]}.__wrapped__`.",
                    f"{name} 只有第一次调用真的干了活：{'、'.join(functions)} 会保存结果（functools.lru_cache），所以计时的只是查表。"
                    f"要测运算本身，请调用 `{functions[0]}.__wrapped__`。",
                )
            )
    return said
