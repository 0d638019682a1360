"""Check the arguments of `measure` and `compare`; a TimingError says in a sentence what is wrong and what to do
next."""

from __future__ import annotations

import contextlib
import inspect
import io
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from course.core.i18n import t
from course.core.suggest import did_you_mean


class TimingError(ValueError):
    """Something that cannot be timed as given. A notebook shows its sentence alone, without a traceback.

    candidate: the name of the function that raised, where one did.
    """

    candidate: str | None = None

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def refuse(en: str, zh: str) -> TimingError:
    """A TimingError that says this in the learner's language."""
    return TimingError(t(en, zh))


class Interrupted(KeyboardInterrupt):
    """Stopped by hand before there was anything to show. A notebook shows its sentence alone."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


_propagate: ContextVar[bool] = ContextVar("course_timing_propagate", default=False)


@contextlib.contextmanager
def interrupts_propagate() -> Iterator[None]:
    """Inside this block an interrupt ends the whole block, not just the measurement it falls into."""
    token = _propagate.set(True)
    try:
        yield
    finally:
        _propagate.reset(token)


def swallow_interrupt(measured: bool) -> bool:
    """Whether an interrupt should return what was measured so far (True) or be passed on (False)."""
    return measured and not _propagate.get()


@contextlib.contextmanager
def interrupts_in_words() -> Iterator[None]:
    """Turn an interrupt in this block into Interrupted, except inside `interrupts_propagate`, which passes it on."""
    try:
        yield
    except KeyboardInterrupt:
        if _propagate.get():
            raise
        raise Interrupted(t("Interrupted before anything was measured.", "已中断：还什么都没有测到。")) from None


def interrupted_note() -> str:
    """The remark on a result that was cut short by hand."""
    return t("Interrupted: this is what was measured so far.", "已中断：以下是目前测到的结果。")


def require_callable(name: str, f: Any, with_setup: bool = False) -> None:
    """Raise TimingError unless `f` can be called without arguments, or `with_setup` with the one that setup gives."""
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
    except ValueError:
        return
    try:
        signature.bind()
    except TypeError:
        if with_setup and _takes_one(signature):
            return
        raise refuse(
            f"{name} needs arguments, and the timer calls it without any. Wrap it: `lambda: f(x)`.",
            f"{name} 需要参数，而计时器调用时不带参数。请包一层：`lambda: f(x)`。",
        ) from None


def require_no_arguments(name: str, given: tuple[Any, ...]) -> None:
    """Raise TimingError, with the right form, where arguments for the function were handed to `measure`."""
    if given:
        raise refuse(
            f"measure calls {name} without arguments and takes none for it ({len(given)} given). Wrap the call: "
            "measure(lambda: f(x)).",
            f"measure 调用 {name} 时不带参数，也不代收参数（这里给了 {len(given)} 个）。请把调用包起来：measure(lambda: f(x))。",
        )


def _takes_one(signature: inspect.Signature) -> bool:
    try:
        signature.bind(None)
    except TypeError:
        return False
    return True


def require_setup(setup: Any) -> None:
    """Raise TimingError unless `setup` is None or a function without arguments."""
    if setup is not None:
        require_callable("setup", setup)


def require_candidates(candidates: Any, baseline: str | None) -> str:
    """Check the mapping given to `compare` and return the name of the baseline."""
    if not isinstance(candidates, Mapping):
        raise refuse(
            'compare takes a dict of names and functions, such as compare({"a": f, "b": g}).',
            'compare 需要一个“名字 → 函数”的字典，例如 compare({"a": f, "b": g})。',
        )
    if len(candidates) < 2:
        raise refuse(
            "compare needs at least two functions; to time a single one use measure(f).",
            "compare 至少需要两个函数；只测一个请用 measure(f)。",
        )
    names = list(candidates)
    if baseline is None:
        return names[0]
    if baseline not in candidates:
        hint = did_you_mean(baseline, names, cutoff=0.4)
        listed = ", ".join(map(str, names))
        raise refuse(
            f'The baseline "{baseline}" is none of the candidates ({listed}).{hint}',
            f"基准“{baseline}”不在候选之中（{listed}）。{hint}",
        )
    return baseline


def require_name(name: Any, known: Mapping[Any, Any]) -> None:
    """Raise TimingError, with the names there are, unless `name` is one of them."""
    if name not in known:
        listed = ", ".join(map(str, known))
        hint = did_you_mean(str(name), list(map(str, known)), cutoff=0.4)
        raise refuse(f'There is no "{name}" here, only {listed}.{hint}', f"这里没有“{name}”，只有 {listed}。{hint}")


def require_positive(**values: float) -> None:
    """Raise TimingError naming the first value that is not a positive, finite number."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
            raise refuse(
                f"{name} must be a finite number greater than 0, not {value!r}.",
                f"{name} 必须是大于 0 的有限数，而不是 {value!r}。",
            )


def checked(name: str, f: Callable[..., Any], kept: list[Any] | None = None) -> Callable[..., Any]:
    """`f` for its first call: raises TimingError when the call returns something that has not run yet. kept: gets the result."""

    def first(*given: Any) -> Any:
        result = f(*given)
        if kept is not None:
            kept.append(result)
        way = ""
        if inspect.isgenerator(result) or inspect.isasyncgen(result) or isinstance(result, (map, filter, zip)):
            way = "`lambda: list(f())`"
        elif hasattr(result, "add_done_callback"):
            way = "`lambda: f().result()`"
        elif inspect.iscoroutine(result):
            result.close()
            way = "`lambda: asyncio.run(f())`"
        if way:
            kind = type(result).__name__
            raise refuse(
                f"Calling {name} only created a {kind}: the work has not been done yet. Time a function that does it: {way}.",
                f"调用 {name} 只是创建了一个 {kind}，活还没有干。请计时真正把活干完的函数：{way}。",
            )
        return result

    return first


@contextlib.contextmanager
def named_errors(name: str | Callable[[], str], call: int) -> Iterator[None]:
    """Turn an exception of the learner's function into a TimingError that names it; `call` counts from 1.

    name: the name, or a function that returns it and is called after an exception only.
    """
    try:
        yield
    except (TimingError, KeyboardInterrupt):
        raise
    except (Exception, SystemExit) as error:
        name = name if isinstance(name, str) else name()
        kind, text = type(error).__name__, str(error).strip().split("\n")[0][:300].rstrip(".")
        said_en, said_zh = (f": {text}", f"：{text}") if text else ("", "")
        when = t("on the first call", "第一次调用时") if call <= 1 else t("after some calls", "调用若干次后")
        said = t(f"{name} raised {kind} {when}{said_en}. ", f"{name} {when}抛出了 {kind}{said_zh}。")
        named = TimingError(said + _next_step(error, text, call))
        named.candidate = name
        raise named from error


def _next_step(error: BaseException, text: str, call: int) -> str:
    """What to do about an exception of the timed function."""
    if isinstance(error, MemoryError) or "out of memory" in text or "allocate memory" in text:
        return t(
            "The memory is full: use a smaller input or batch, `del` what is no longer needed, or restart the kernel.",
            "内存（或显存）不够：请减小输入或 batch，用 `del` 释放不再需要的对象，或重启内核。",
        )
    if call <= 1:
        return t("Call it once by itself, make that work, then time it.", "请先单独调用一次并修好，再来计时。")
    return t(
        "Each call must find things as the first one did: create inside the function what it uses up.",
        "每次调用都要面对同样的起点：会被用掉的东西请放在函数里面创建。",
    )


class _Sink(io.TextIOBase):
    """Counts what is printed and keeps the beginning."""

    def __init__(self) -> None:
        self.head, self.count = "", 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.count += len(text)
        if len(self.head) < 60:
            self.head += text[:60]
        return len(text)


@contextlib.contextmanager
def hidden_prints() -> Iterator[_Sink]:
    """Swallow what the timed functions print: thousands of lines would drown the result."""
    sink = _Sink()
    saved, sys.stdout = sys.stdout, sink
    try:
        yield sink
    finally:
        sys.stdout = saved


def print_note(sink: _Sink) -> list[str]:
    """The remark about printing, when there was any."""
    if not sink.count:
        return []
    line = sink.head.strip().split("\n")[0][:40]
    return [
        t(
            f'It prints ("{line}"). The output was hidden, but printing is part of the time: take it out.',
            f"它会打印（“{line}”）。输出已隐藏，但打印也算进了时间：请去掉它。",
        )
    ]
