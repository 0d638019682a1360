"""Probes in a new process (`course.core.new_process`), within the time that a running experiment has left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from course.core.new_process import NewProcess, NewProcessError
from course.experiment.ending import time_left


class ProbeError(RuntimeError):
    """The new process ended without an answer; the text says what it said last."""


def call_in_new_process(
    module: str, function: str, *arguments: Any,
    variables: Mapping[str, str | None] | None = None, timeout_s: float = 120.0, warm: bool = True,
) -> tuple[Any, str]:  # fmt: skip
    """What ``module.function(*arguments)`` returns in a new process, and all that it printed.

    Arguments and value are JSON data. variables, warm: see `NewProcess`. Raises ProbeError, in a sentence.
    """
    timeout_s = min(timeout_s, time_left() + 1)  # where an interrupt does not wake it
    try:
        with NewProcess(variables, warm) as process:
            return process.call(f"{module}:{function}", *arguments, timeout_s=timeout_s), process.printed()
    except NewProcessError as error:
        raise ProbeError(f"The new process stopped: {': '.join(filter(None, (error.kind, str(error))))}") from error


def answer_of(
    code: str, *arguments: Any,
    variables: Mapping[str, str | None] | None = None, timeout_s: float = 120.0, warm: bool = False,
) -> tuple[Any, str]:  # fmt: skip
    """What ``code`` gave to its function ``answer(value)`` in a new process, and all that it printed; see `call_in_new_process`.

    The code finds the arguments in the list ``arguments``.
    """
    more: dict[str, Any] = {"variables": variables, "timeout_s": timeout_s, "warm": warm}
    return call_in_new_process("course.core.new_process", "execute", code, *arguments, **more)


def rows_of(
    module: str, function: str, *arguments: Any,
    variables: Mapping[str, str | None] | None = None, timeout_s: float = 120.0,
) -> list[dict]:  # fmt: skip
    """The rows, flat dicts of JSON data, that ``module.function(*arguments)`` returns in a new process."""
    return call_in_new_process(module, function, *arguments, variables=variables, timeout_s=timeout_s)[0]
