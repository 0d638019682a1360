"""Running the snippet of an item that computes its key."""

from __future__ import annotations

from typing import Any, NamedTuple

from course.quiz.items import Item
from course.quiz.marking import within


class Verification(NamedTuple):
    """Whether the computed result agrees with the key; ``message`` says what was computed and what the key
    says.
    """

    ok: bool
    message: str
    got: Any = None


def run_verify(item: Item) -> Verification:
    """Execute ``item.verify`` in a namespace of its own (this process) and compare its ``result`` with the
    key.

    Never raises: a snippet that fails, or leaves no ``result``, is a Verification that is not ok. Ctrl-C
    passes.
    """
    if not item.verify:
        return Verification(False, f"{item.id} has no verify snippet.")
    space: dict[str, Any] = {"__name__": f"verify_{item.id.replace('-', '_')}"}
    try:
        exec(compile(item.verify, f"<verify of {item.id}>", "exec"), space)
    except Exception as error:
        return Verification(
            False, f"The verify snippet of {item.id} stopped with {type(error).__name__}: {error}."
        )
    if "result" not in space:
        return Verification(False, f"The verify snippet of {item.id} leaves no variable named result.")
    got, key = space["result"], _key(item)
    ok = _agrees(item, got)
    return Verification(ok, f"{item.id}: the snippet computed {got!r}, the key says {key!r}.", got)


def _key(item: Item) -> Any:
    if item.kind == "number":
        return item.number.value
    return list(item.order if item.kind == "order" else item.correct)


def _agrees(item: Item, got: Any) -> bool:
    if item.kind == "number":
        try:
            return within(float(got), item.number.low, item.number.high)
        except (TypeError, ValueError):
            return False
    if not isinstance(got, (str, list, tuple, set)):
        return False
    ids = [got] if isinstance(got, str) else [str(one) for one in got]
    return ids == list(item.order) if item.kind == "order" else sorted(ids) == sorted(item.correct)
