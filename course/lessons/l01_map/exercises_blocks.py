"""Code tasks of lesson 01 on blocks that put switches back: fill in what `flags` takes, change only what is named."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from course.exercises.told import Told

STATES = ((True, True, False), (False, False, True), (True, False, True))
NAMES = ("enabled", "benchmark", "allow_tf32", "deterministic")


def _around_block(block: Callable[[], Any], state: tuple[bool, ...], crash: bool) -> tuple[dict, dict]:
    """The switches of cuDNN inside the learner's block, entered in ``state``, and after it; ``crash``: left by an exception."""
    import torch

    from course.flags import using

    def read() -> dict[str, bool]:
        return {name: getattr(torch.backends.cudnn, name) for name in NAMES}

    inside: dict[str, bool] = {}
    with using({f"cudnn.{name}": value for name, value in zip(NAMES, state, strict=True)}):
        with contextlib.suppress(_Strange), block():
            inside = read()
            if crash:
                raise _Strange
        return inside, read()


def check_fill_the_blanks(deterministic_block: Callable[[], Any]) -> None:
    """Enter the block in three states; inside only ``deterministic`` may differ, and afterwards nothing."""
    for state in STATES:
        before = dict(zip(NAMES, (*state, False), strict=True))
        for crash in (False, True):
            inside, after = _around_block(deterministic_block, tuple(before.values()), crash)
            if not inside["deterministic"]:
                raise Told("not-deterministic")
            for name in NAMES[:3]:
                if inside[name] != before[name]:
                    raise Told("fixed-value", name=name, was=before[name], now=inside[name])
            if after != before:
                raise Told("left-behind")


class _Strange(Exception):
    """Raised inside the learner's block, to see whether it comes out and the switches go back."""


def _panel() -> SimpleNamespace:
    return SimpleNamespace(enabled=True, benchmark=True, deterministic=False)


def _after_an_exception(only: Callable[..., Any]) -> tuple[SimpleNamespace, bool]:
    """The panel after an exception inside the block, and whether the exception came out."""
    panel = _panel()
    try:
        with only(panel, enabled=False):
            raise _Strange
    except _Strange:
        return panel, True
    return panel, False


def _after_a_typo(only: Callable[..., Any]) -> tuple[SimpleNamespace, bool]:
    """The panel after a block with a misspelt switch, and whether anything was raised (AttributeError comes by itself,
    ValueError says it in words).
    """
    panel = _panel()
    try:
        with only(panel, deterministic=True, benchmarks=False):
            pass
    except Exception:
        return panel, True
    return panel, False


def _on_the_real_panels(only: Callable[..., Any]) -> bool:
    """The promises on torch's own cudnn and mkldnn, whose modules are not plain ones."""
    from torch.backends import cudnn, mkldnn

    from course import flags

    with flags.preserved():
        for module, name, prefix in (
            (cudnn, "deterministic", "cudnn."),
            (mkldnn, "deterministic", "mkldnn."),
            (cudnn, "benchmark", "cudnn."),
        ):
            before = flags.snapshot()
            wanted = not getattr(module, name)
            try:
                with only(module, **{name: wanted}):
                    inside = flags.snapshot()
                    raise _Strange
            except _Strange:
                pass
            if inside != {**before, f"{prefix}{name}": wanted} or flags.snapshot() != before:
                return False
    return True


def _inside_and_after(only: Callable[..., Any]) -> tuple[dict, dict]:
    """Two panels in nested blocks, as one dict: what they hold inside, and afterwards."""
    panel, other = _panel(), SimpleNamespace(immediate=False)
    with only(panel, deterministic=True), only(other, immediate=True):
        inside = {**vars(panel), **vars(other)}
    return inside, {**vars(panel), **vars(other)}


def check_only(only: Callable[..., Any]) -> None:
    """Four promises, tried on a stand-in panel of switches, one point each."""
    try:
        _promises_kept(only)
    except AttributeError as error:
        if error.name not in ("flags", "set_flags"):
            raise
        raise Told("own-flags") from None


def _promises_kept(only: Callable[..., Any]) -> None:
    if not hasattr(only(_panel(), deterministic=True), "__enter__"):
        raise Told("no-block")
    start = {**vars(_panel()), "immediate": False}
    inside, after = _inside_and_after(only)
    broken, came_out = _after_an_exception(only)
    misspelt, noticed = _after_a_typo(only)
    promises = {
        "moved": inside == {**start, "deterministic": True, "immediate": True},
        "left-behind": after == start,
        "exception": came_out and vars(broken) == vars(_panel()),
        "typo": noticed and vars(misspelt) == vars(_panel()),
    }
    if missing := [name for name, kept in promises.items() if not kept]:
        raise Told(*missing, points=(4 - len(missing), 4), inside=inside, start=start)
    try:
        real = _on_the_real_panels(only)
    except Exception:
        real = False
    if not real:
        raise Told("real-module", points=(3, 4))


CHECKS = {"01-fill-the-blanks": check_fill_the_blanks, "01-only": check_only}
