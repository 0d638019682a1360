"""Code tasks of lesson 01: blocks that put back what they moved, a switch that loses."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from course.exercises.checking import Step, comparison, enough_rounds, watched
from course.exercises.told import Told, listed

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


PRICES = 4  # a gap of fewer prices of the empty block may be that block alone


def _price_of_asking_ms() -> float:
    """Milliseconds that the polite request takes around nothing, here and now."""
    import torch

    from course.timing import measure

    def nothing() -> None:
        with torch.backends.mkldnn.flags(deterministic=True):
            pass

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measure(nothing, max_time=0.05).median_ms


def check_make_it_lose(evidence: Any) -> dict[str, float]:
    """A Comparison whose interval excludes 1, or (without oneDNN) the two states as a dict."""
    from torch.backends import mkldnn

    if isinstance(evidence, Mapping) and not mkldnn.is_available():
        _check_states(evidence)
    pairs = getattr(evidence, "pairs", None)
    if not pairs:
        raise Told("no-comparison")
    if len(pairs) != 1:
        raise Told("two-functions")
    _is_the_request(evidence)
    enough_rounds(evidence)
    interval = {"ratio": evidence.ratio, "low": evidence.low, "high": evidence.high}
    if evidence.low <= 1 <= evidence.high:
        raise Told("undecided", **interval)
    price_ms, gap_ms = _price_of_asking_ms(), abs(evidence.ratio - 1) * evidence.medians_ms[evidence.baseline]
    if gap_ms < PRICES * price_ms:
        raise Told("price", gap_us=gap_ms * 1e3, price_us=price_ms * 1e3)
    return interval


def _is_the_request(evidence: Any) -> None:
    """Raises Told unless the two functions do the same work, one of them inside the request."""
    found = comparison(evidence)
    if found is None:
        raise Told("no-comparison, of two")
    steps = [watched(call, "mkldnn.deterministic") for call in found.functions.values()]
    asked = [sorted({step.switches["mkldnn.deterministic"] for step in one}) for one in steps]
    if not all(steps):
        raise Told("no-work")
    if sorted(asked) != [[False], [True]]:
        raise Told("switch")
    if not _same_work(*steps):
        raise Told("other-work")


def _same_work(one: list[Step], other: list[Step]) -> bool:
    """Whether two watched calls computed the same: the same operations, and results that differ by rounding at most."""
    import torch

    def close(a: Any, b: Any) -> bool:
        if isinstance(a, (tuple, list)):
            return isinstance(b, (tuple, list)) and len(a) == len(b) and all(map(close, a, b))
        if not isinstance(a, torch.Tensor):
            return True
        return (
            isinstance(b, torch.Tensor)
            and a.shape == b.shape
            and torch.allclose(a.detach().double(), b.detach().double(), rtol=1e-2, atol=1e-3, equal_nan=True)
        )

    return [step.name for step in one] == [step.name for step in other] and all(
        close(a.result, b.result) for a, b in zip(one, other, strict=True)
    )


def _check_states(states: Mapping[str, Any]) -> None:
    """{"named": [...], "before": {...}, "inside": {...}}: a switch moved that was not named."""
    try:
        before, inside = states["before"], states["inside"]
        moved = [name for name in before if before[name] != inside[name] and name not in states["named"]]
    except (KeyError, TypeError, AttributeError):
        raise Told("no-states") from None
    raise Told("right, states" if moved else "nothing-moved", moved=listed(moved))


CHECKS = {"01-fill-the-blanks": check_fill_the_blanks, "01-only": check_only, "01-make-it-lose": check_make_it_lose}
