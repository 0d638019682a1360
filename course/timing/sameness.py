"""Whether the candidates of a comparison return the same: a digest of each first result, and the difference in words.

A digest is plain data (it fits into JSON, so it crosses processes): for each part of the result its place, its type, and of an array
its shape and at most SAMPLE values, evenly spaced. A difference confined to a few elements of a large array can therefore be missed.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from course.core.i18n import t
from course.timing.results import Paired
from course.timing.stats import Interval, Plan

SAMPLE = 4096
"""Values kept of one array; all of a smaller one."""
MOST_PARTS = 200
"""Parts of a result looked at, in all."""
EPSILON = {"float64": 2.2e-16, "float32": 1.2e-7, "float16": 9.8e-4, "bfloat16": 7.8e-3, "float": 2.2e-16} | {
    "complex128": 2.2e-16, "complex64": 1.2e-7,
}  # fmt: skip

Part = dict[str, Any]


def digest(result: Any) -> list[Part]:
    """The digest of a result: of tensors, arrays, numbers, text, and of lists, tuples, dicts and dataclasses of them.

    Of anything else it has only the name of its type. The result is not changed.
    """
    return [part for part, _ in zip(_parts(result, ""), range(MOST_PARTS), strict=False)]


def _parts(result: Any, at: str) -> Iterator[Part]:
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    name = type(result).__name__
    inside: Mapping[Any, Any] | None = None
    if type(result) in (bool, int, float, str, type(None)):
        yield {"at": at, "type": name, "shape": None, "values": [result]}
    elif torch is not None and isinstance(result, torch.Tensor):
        try:
            yield {"at": at, "type": str(result.dtype)[6:], "shape": list(result.shape), "values": _tensor(result)}
        except Exception:  # noqa: BLE001  (sparse, meta, nested: kinds of tensors without values to read)
            yield {"at": at, "type": f"{name} ({result.layout}, {result.device})".replace("torch.", ""), "values": None}
    elif numpy is not None and isinstance(result, (numpy.ndarray, numpy.generic)) and result.dtype != object:
        flat = numpy.ravel(result)[:: _stride(result.size)]
        flat = numpy.stack([flat.real, flat.imag], -1).ravel() if numpy.iscomplexobj(flat) else flat
        yield {"at": at, "type": str(result.dtype), "shape": list(result.shape), "values": flat.tolist()}
    elif isinstance(result, Mapping):
        inside = result
    elif isinstance(result, (list, tuple)):
        inside = dict(enumerate(result))
    elif dataclasses.is_dataclass(result) and not isinstance(result, type):
        inside = {field.name: getattr(result, field.name, None) for field in dataclasses.fields(result)}
    else:
        yield {"at": at, "type": name, "values": None}
    for key, value in (inside or {}).items():
        yield from _parts(value, f"{at}[{key!r}]")


def _stride(size: int) -> int:
    return max(1, -(-size // SAMPLE))


def _tensor(tensor: Any) -> list[Any]:
    """Sampled values of a tensor, real and imaginary parts side by side."""
    import torch

    with torch.no_grad():
        flat = tensor.detach().reshape(-1)[:: _stride(tensor.numel())]
        flat = flat.dequantize() if flat.is_quantized else flat
        flat = torch.view_as_real(flat.resolve_conj()).reshape(-1) if flat.is_complex() else flat
        flat = flat.float() if flat.dtype in (torch.float16, torch.bfloat16) else flat
        return flat.cpu().tolist()


def difference(one: Sequence[Part], two: Sequence[Part], tolerance: float | None = None) -> str | None:
    """How the second digest differs from the first, in words; None where it does not.

    tolerance: largest difference as a share of the largest value of that array. None: half the digits of the coarser
    floating-point type, none for whole numbers, text and types. With a tolerance, floating-point types may differ.
    """
    if [part["at"] for part in one] != [part["at"] for part in two]:
        return t(f"{len(two)} parts instead of {len(one)}", f"组成部分不同（{len(two)} 个，不是 {len(one)} 个）")
    for a, b in zip(one, two, strict=True):
        said = _differs(a, b, tolerance)
        if said:
            return f"{a['at']}: {said}" if a["at"] else said
    return None


def _differs(a: Part, b: Part, tolerance: float | None) -> str | None:
    floats = tolerance is not None and {a["type"], b["type"]} <= {*EPSILON}
    for what in ("type",) * (not floats) + ("shape",):
        if a.get(what) != b.get(what):
            return t(f"{what} {b.get(what)} instead of {a.get(what)}", f"是 {b.get(what)}，不是 {a.get(what)}")
    if a["values"] is None or b["values"] is None:
        return None
    if not all(isinstance(value, (bool, int, float)) for value in (*a["values"], *b["values"])):
        pair = next(((x, y) for x, y in zip(a["values"], b["values"], strict=True) if x != y), None)
        return pair and t(f"{pair[1]!r:.40} instead of {pair[0]!r:.40}", f"是 {pair[1]!r:.40}，不是 {pair[0]!r:.40}")
    allowed = math.sqrt(max(EPSILON.get(part["type"], 0.0) for part in (a, b))) if tolerance is None else tolerance
    gap = reach = 0.0
    for x, y in zip(a["values"], b["values"], strict=True):
        if math.isfinite(x) and math.isfinite(y):
            gap, reach = max(gap, abs(x - y)), max(reach, abs(x), abs(y))
        elif not (x == y or (x != x and y != y)):
            return t(f"{y} where the other has {x}", f"一个是 {y}，另一个是 {x}")
    if gap <= allowed * reach:
        return None
    return t(
        f"largest difference {gap:.3g}, where values reach {reach:.3g}", f"最大相差 {gap:.3g}，而数值最大为 {reach:.3g}"
    )


def paired(
    name: str,
    plan: Plan,
    ratios: Sequence[float],
    ratio: float,
    interval: Interval | None,
    verdict: str,
    results: tuple[Sequence[Part], Sequence[Part]],
    **more: Any,
) -> Paired:
    """A candidate beside the baseline, with how their results differ. results: their digests, the baseline's first. more: other fields."""
    found, hidden = None, ""
    if plan.same is not False:
        found = difference(*results, None if plan.same is True else plan.same) or ""
        hidden = "" if found else next((str(part["type"]) for part in results[0] if part["values"] is None), "")
    return Paired(
        name=name,
        baseline=plan.baseline,
        ratio=ratio,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        verdict=verdict,
        ratios=tuple(ratios),
        gate=plan.gate,
        difference=None if hidden else found,
        not_compared=hidden,
        **more,
    )


def notes(pairs: Mapping[str, Paired]) -> list[str]:
    """The remarks on candidates whose results differ or could not be compared."""
    said = [
        t(
            f"{p.name} does not return what {p.baseline} returns ({p.difference}): a faster way to another answer is no speed-up. "
            "If that is meant (lower precision, random numbers), say so with same=False or a tolerance such as same=1e-2.",
            f"{p.name} 返回的结果和 {p.baseline} 不同（{p.difference}）：更快地算出另一个答案不叫加速。"
            "如果这是有意的（较低精度、随机数），请写 same=False，或给一个容差，例如 same=1e-2。",
        )
        for p in pairs.values()
        if p.difference
    ]
    if types := ", ".join(dict.fromkeys(p.not_compared for p in pairs.values() if p.not_compared)):
        said.append(
            t(
                f"Results were not compared: they are, or hold, objects of type {types}. Let each function return what counts in them as "
                "tensors, numbers or text (in a tuple, list, dict or dataclass); same=False asks for no comparison.",
                f"结果没有比较：它们是（或含有）{types} 类型的对象。请让每个函数返回其中要紧的张量、数字或文本"
                "（放在元组、列表、字典或 dataclass 里）；写 same=False 表示不需要比较。",
            )
        )
    return said
