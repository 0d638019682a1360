"""Run the snippet of an item that computes its key, in a new process, so that nothing of it is left here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from course.core.new_process import NewProcess, NewProcessError
from course.questions.items import Item, within

LIMIT_S = 60.0


class Verification(NamedTuple):
    """Whether the computed result agrees with the key. message: the computed result and the key in a sentence."""

    ok: bool
    message: str


def run_verify(item: Item, limit_s: float = LIMIT_S) -> Verification:
    """Execute ``item.verify`` and compare its variable ``result`` with the key. Its variables are the values drawn for a variant.

    limit_s: seconds after which it is ended. For a snippet that fails, is ended or leaves no ``result``, the Verification is not ok.
    """
    number = item.kind == "number"
    try:
        with NewProcess() as process:
            got = process.call(f"{__name__}:result_of", item.verify, dict(item.values), number, timeout_s=limit_s)
    except NewProcessError as error:
        said = ": ".join(filter(None, (error.kind, str(error))))
        return Verification(False, f"The verify snippet of {item.id} stopped with {said}.")
    if number:
        key, ok = item.number.value, within(got, item.number.low, item.number.high)
    else:
        key = list(item.order or item.correct)
        ok = got == key if item.order else sorted(got) == sorted(key)
    return Verification(ok, f"{item.id}: the snippet computed {got!r}, the key says {key!r}.")


def result_of(snippet: str, values: Mapping[str, Any], number: bool) -> float | list[str]:
    """What a snippet leaves in ``result``: a number, or the ids of options."""
    space = {"__name__": "verify", **values}
    exec(compile(snippet, "<verify>", "exec"), space)
    if "result" not in space:
        raise ValueError("it leaves no variable named result")
    got = space["result"]
    if number:
        return float(got)
    return [got] if isinstance(got, str) else [str(one) for one in got]
