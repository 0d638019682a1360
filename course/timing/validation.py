"""Check the arguments of `measure` and `compare`; a TimingError says in a sentence what is wrong and what to do
next."""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from course.core.i18n import t


class TimingError(ValueError):
    """Something that cannot be timed as given. A notebook shows its sentence alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def refuse(en: str, zh: str) -> TimingError:
    """A TimingError that says this in the learner's language."""
    return TimingError(t(en, zh))


def require_callable(name: str, f: Any) -> None:
    """Raise TimingError unless `f` can be called."""
    if not callable(f):
        kind = type(f).__name__
        raise refuse(
            f"{name} is of type {kind}, not a function. Wrap the call, so that the timer makes it: `lambda: ...`. "
            'A function named as text, "module:function", needs fresh_process=True.',
            f"{name} 的类型是 {kind}，不是函数。请把调用包起来，让计时器去调用：`lambda: ...`。"
            '用文本 "模块:函数" 指名的函数需要 fresh_process=True。',
        )


def require_candidates(candidates: Any, baseline: str | None) -> str:
    """Check the mapping given to `compare` and return the name of the baseline."""
    if not isinstance(candidates, Mapping) or len(candidates) < 2:
        raise refuse(
            'compare takes a dict of at least two functions, such as compare({"a": f, "b": g}); to time a single one use measure(f).',
            'compare 需要一个至少含两个函数的字典，例如 compare({"a": f, "b": g})；只测一个请用 measure(f)。',
        )
    base = next(iter(candidates)) if baseline is None else baseline
    if base not in candidates:
        listed = ", ".join(map(str, candidates))
        raise refuse(
            f'The baseline "{baseline}" is none of the candidates ({listed}).',
            f"基准“{baseline}”不在候选之中（{listed}）。",
        )
    return base


def require_positive(**values: float) -> None:
    """Raise TimingError naming the first value that is not a positive, finite number."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
            raise refuse(
                f"{name} must be a finite number greater than 0, not {value!r}.",
                f"{name} 必须是大于 0 的有限数，而不是 {value!r}。",
            )


def checked(name: str, f: Callable[..., Any], kept: list[Any]) -> Callable[..., Any]:
    """`f` for its first call: raises TimingError when the call returns something that has not run yet. kept: gets the result."""

    def first() -> Any:
        result = f()
        kept.append(result)
        lazy = inspect.isgenerator(result) or inspect.iscoroutine(result) or isinstance(result, (map, filter, zip))
        if lazy or hasattr(result, "add_done_callback"):
            kind = type(result).__name__
            raise refuse(
                f"Calling {name} only created a {kind}: the work has not been done yet. Time a function that does it, such as "
                "`lambda: list(f())`, `lambda: f().result()` or `lambda: asyncio.run(f())`.",
                f"调用 {name} 只是创建了一个 {kind}，活还没有干。请计时真正把活干完的函数，例如 "
                "`lambda: list(f())`、`lambda: f().result()` 或 `lambda: asyncio.run(f())`。",
            )
        return result

    return first


@contextlib.contextmanager
def named_errors(name: str, call: int) -> Iterator[None]:
    """Turn an exception of the learner's function into a TimingError that names it; `call` counts from 1."""
    try:
        yield
    except (TimingError, KeyboardInterrupt):
        raise
    except (Exception, SystemExit) as error:
        said = ": ".join(filter(None, [type(error).__name__, str(error).strip().split("\n")[0][:300].rstrip(".")]))
        english = "Call it by itself, without arguments, make that work, then time it."
        chinese = "请先单独调用（不带参数）并修好，再来计时。"
        if call > 1:
            english = "It worked at first: each call must find things as the first one did, so create inside the function what it uses up."
            chinese = "开头几次没事：每次调用都要面对同样的起点，会被用掉的东西请放在函数里面创建。"
        raise refuse(f"{name} raised {said}. {english}", f"{name} 抛出了 {said}。{chinese}") from error


def print_note(printed: str) -> list[str]:
    """The remark about printing, when there was any."""
    line = printed.strip().split("\n")[0][:40]
    said = t(
        f'It prints ("{line}"). The output was hidden, but printing is part of the time: take it out.',
        f"它会打印（“{line}”）。输出已隐藏，但打印也算进了时间：请去掉它。",
    )
    return [said] if printed else []
