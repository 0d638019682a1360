"""Check the arguments of `measure` and `compare`; a TimingError says in a sentence what is wrong and what to do
next."""

from __future__ import annotations

import contextlib
import inspect
import io
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
    """Raise TimingError unless `f` can be called without arguments."""
    if isinstance(f, str):
        raise refuse(
            f'{name} is the text {f!r}. Functions named as "module:function" need fresh_process=True.',
            f'{name} 是文本 {f!r}。用 "模块:函数" 指名函数时需要 fresh_process=True。',
        )
    if not callable(f):
        kind = type(f).__name__
        raise refuse(
            f"{name} is of type {kind}, not a function: the work was already done before the timer started. "
            f"Wrap the call: `lambda: ...`.",
            f"{name} 的类型是 {kind}，不是函数：计时还没开始，活已经干完了。请把调用包起来：`lambda: ...`。",
        )
    try:
        signature = inspect.signature(f)
    except ValueError:  # some built-in functions do not tell
        return
    with contextlib.suppress(TypeError):
        signature.bind()
        return
    raise refuse(
        f"{name} needs arguments, and the timer calls it without any. Wrap it: `lambda: f(x)`.",
        f"{name} 需要参数，而计时器调用时不带参数。请包一层：`lambda: f(x)`。",
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
        if inspect.iscoroutine(result):
            result.close()
        lazy = inspect.isgenerator(result) or isinstance(result, (map, filter, zip))
        if lazy or inspect.iscoroutine(result) or hasattr(result, "add_done_callback"):
            kind, way = type(result).__name__, "list(f())" if lazy else "f().result()"
            way = "asyncio.run(f())" if inspect.iscoroutine(result) else way
            raise refuse(
                f"Calling {name} only created a {kind}: the work has not been done yet. Time a function that does it: `lambda: {way}`.",
                f"调用 {name} 只是创建了一个 {kind}，活还没有干。请计时真正把活干完的函数：`lambda: {way}`。",
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
        english, chinese = "Call it by itself, make that work, then time it.", "请先单独调用并修好，再来计时。"
        if call > 1:
            english = "It worked at first: each call must find things as the first one did, so create inside the function what it uses up."
            chinese = "开头几次没事：每次调用都要面对同样的起点，会被用掉的东西请放在函数里面创建。"
        raise refuse(f"{name} raised {said}. {english}", f"{name} 抛出了 {said}。{chinese}") from error


@contextlib.contextmanager
def hidden_prints() -> Iterator[io.StringIO]:
    """Keep back what the timed functions print: thousands of lines would drown the result."""
    with contextlib.redirect_stdout(io.StringIO()) as sink:
        yield sink


def print_note(sink: io.StringIO) -> list[str]:
    """The remark about printing, when there was any."""
    line = sink.getvalue().strip().split("\n")[0][:40]
    said = t(
        f'It prints ("{line}"). The output was hidden, but printing is part of the time: take it out.',
        f"它会打印（“{line}”）。输出已隐藏，但打印也算进了时间：请去掉它。",
    )
    return [said] if sink.getvalue() else []
