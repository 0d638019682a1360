"""Whether the candidates of a comparison return the same: a digest of each first result, and the difference in words.

A digest is plain data (it fits into JSON, so it crosses processes): shapes, types and at most SAMPLE values of every
array, evenly spaced. A difference confined to a few elements of a large array can therefore be missed.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from course.i18n import t
from course.timing.results import Paired

SAMPLE = 16_384
"""Values kept of one array; all of a smaller one."""
MOST_PARTS = 200
"""Entries of containers looked at, in all."""
PLAIN = (bool, int, float, str, type(None))
EPSILON = {
    "float64": 2.2e-16,
    "complex128": 2.2e-16,
    "float32": 1.2e-7,
    "complex64": 1.2e-7,
    "float16": 9.8e-4,
    "bfloat16": 7.8e-3,
    "float": 2.2e-16,
}


UNREAD = ("other", "left out")
"""Kinds of which only the type is known."""


def digest(result: Any) -> dict[str, Any]:
    """Returns the digest of a result: of tensors, arrays, numbers, text, and of lists, tuples, dicts and dataclasses
    of them.

    Of anything else the digest has only the name of its type: see `unread`. The result is not changed.
    """
    return _digest(result, [MOST_PARTS])


def _digest(result: Any, left: list[int]) -> dict[str, Any]:
    left[0] -= 1
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if type(result) in PLAIN:
        return {"kind": "value", "type": type(result).__name__, "value": result}
    try:
        if torch is not None and isinstance(result, torch.Tensor):
            return _array(result, *_tensor_values(result))
        if numpy is not None and isinstance(result, (numpy.ndarray, numpy.generic)):
            flat = numpy.ravel(result)[:: _stride(result.size)]
            parts = numpy.stack([flat.real, flat.imag], -1).ravel() if numpy.iscomplexobj(flat) else flat
            return _array(result, parts.tolist(), str(result.dtype))
    except Exception:  # noqa: BLE001  (sparse, fake, nested: kinds of arrays without values to read)
        kind = f"{type(result).__name__} ({getattr(result, 'layout', result.dtype)}, {result.device})"
        return {"kind": "other", "type": kind.replace("torch.", "")}
    if left[0] > 0 and isinstance(result, Mapping):
        return {"kind": "parts", "parts": {repr(k): _digest(v, left) for k, v in list(result.items())[: left[0]]}}
    if left[0] > 0 and isinstance(result, (list, tuple)):
        return {"kind": "parts", "parts": {str(k): _digest(v, left) for k, v in enumerate(result[: left[0]])}}
    if left[0] > 0 and dataclasses.is_dataclass(result) and not isinstance(result, type):
        fields = [field.name for field in dataclasses.fields(result) if hasattr(result, field.name)]
        return {"kind": "parts", "parts": {name: _digest(getattr(result, name), left) for name in fields[: left[0]]}}
    return {"kind": "other" if left[0] > 0 else "left out", "type": type(result).__name__}


def _array(result: Any, values: list[Any], dtype: str) -> dict[str, Any]:
    return {"kind": "array", "shape": list(result.shape), "type": dtype, "values": values}


def _stride(size: int) -> int:
    return max(1, -(-size // SAMPLE))


def _tensor_values(tensor: Any) -> tuple[list[Any], str]:
    """Sampled values of a tensor, real and imaginary parts side by side, and its type."""
    import torch

    with torch.no_grad():
        flat = tensor.detach().reshape(-1)[:: _stride(tensor.numel())]
        if flat.is_quantized:
            flat = flat.dequantize()
        if flat.is_complex():
            flat = torch.view_as_real(flat.resolve_conj()).reshape(-1)
        if flat.is_floating_point():
            flat = flat.double() if flat.device.type != "mps" else flat.float()
        return flat.cpu().tolist(), str(tensor.dtype).removeprefix("torch.")


def difference(one: Mapping[str, Any], two: Mapping[str, Any], tolerance: float | None = None) -> str | None:
    """How the second digest differs from the first, in words; None where it does not.

    tolerance: largest difference as a share of the largest value of that array. None: half the digits of the coarser
    floating-point type, none for whole numbers, text and types. With a tolerance, floating-point types may differ.
    """
    return _difference(one, two, tolerance, "")


def _difference(one: Mapping[str, Any], two: Mapping[str, Any], tolerance: float | None, at: str) -> str | None:
    where = f"{at.strip('.')}: " if at else ""
    if one["kind"] != two["kind"] or (one["kind"] in UNREAD and one["type"] != two["type"]):
        kinds = [part.get("type") or t("several parts", "若干部分") for part in (one, two)]
        return where + t(f"{kinds[1]} instead of {kinds[0]}", f"是 {kinds[1]}，不是 {kinds[0]}")
    if one["kind"] == "parts":
        if list(one["parts"]) != list(two["parts"]):
            counts = len(one["parts"]), len(two["parts"])
            return where + t(
                f"other parts ({counts[1]} instead of {counts[0]}, or under other names)",
                f"组成部分不同（{counts[1]} 个，不是 {counts[0]} 个；或名字不同）",
            )
        found = (_difference(part, two["parts"][key], tolerance, f"{at}[{key}]") for key, part in one["parts"].items())
        return next(filter(None, found), None)
    if one["kind"] == "array":
        return _arrays(one, two, tolerance, where)
    if one["kind"] == "value":
        return _values([one["value"]], [two["value"]], _allowed(one, two, tolerance), where)
    return None


def _arrays(one: Mapping[str, Any], two: Mapping[str, Any], tolerance: float | None, where: str) -> str | None:
    if one["shape"] != two["shape"]:
        return where + t(
            f"shape {two['shape']} instead of {one['shape']}", f"形状是 {two['shape']}，不是 {one['shape']}"
        )
    if one["type"] != two["type"] and (tolerance is None or not {one["type"], two["type"]} <= set(EPSILON)):
        return where + t(f"{two['type']} instead of {one['type']}", f"类型是 {two['type']}，不是 {one['type']}")
    return _values(one["values"], two["values"], _allowed(one, two, tolerance), where)


def _allowed(one: Mapping[str, Any], two: Mapping[str, Any], tolerance: float | None) -> float:
    """Largest difference allowed, as a share of the largest value."""
    if tolerance is not None:
        return tolerance
    return math.sqrt(max(EPSILON.get(part["type"], 0.0) for part in (one, two)))


def _values(one: Sequence[Any], two: Sequence[Any], allowed: float, where: str) -> str | None:
    """The first way in which the values differ by more than `allowed` of the largest."""
    if not all(isinstance(v, (bool, int, float)) for v in (*one, *two)):
        pair = next(((a, b) for a, b in zip(one, two, strict=True) if a != b), None)
        return (
            None
            if pair is None
            else where + t(f"{pair[1]!r:.40} instead of {pair[0]!r:.40}", f"是 {pair[1]!r:.40}，不是 {pair[0]!r:.40}")
        )
    gaps, reach = [0.0], 0.0
    for a, b in zip(one, two, strict=True):
        if a == b or (a != a and b != b):
            reach = max(reach, abs(a)) if math.isfinite(a) else reach
        elif math.isfinite(a) and math.isfinite(b):
            gaps.append(abs(a - b))
            reach = max(reach, abs(a), abs(b))
        else:
            return where + t(f"{b} where the other has {a}", f"一个是 {b}，另一个是 {a}")
    if max(gaps) <= allowed * reach:
        return None
    return where + t(
        f"largest difference {max(gaps):.3g}, where values reach {reach:.3g}",
        f"最大相差 {max(gaps):.3g}，而数值最大为 {reach:.3g}",
    )


def unread(kept: Mapping[str, Any]) -> str:
    """The type of the first part of a digest whose values are not known; empty where there is none."""
    if kept["kind"] == "other":
        return str(kept["type"])
    return next(filter(None, map(unread, kept.get("parts", {}).values())), "")


def notes(pairs: Mapping[str, Paired]) -> list[str]:
    """The remarks on candidates whose results differ or could not be compared."""
    return [*_differing(pairs), *_not_compared([p for p in pairs.values() if p.not_compared])]


def _not_compared(pairs: Sequence[Paired]) -> list[str]:
    if not pairs:
        return []
    types = ", ".join(dict.fromkeys(p.not_compared for p in pairs))
    names = ", ".join(map(str, (pairs[0].baseline, *(p.name for p in pairs))))
    return [
        t(
            f"The results of {names} were not compared: they are, or hold, objects of type {types}. Let each function return "
            "what counts in them as tensors, numbers or text (in a tuple, list, dict or dataclass); same=False asks for no "
            "comparison.",
            f"{names} 的结果没有比较：它们是（或含有）{types} 类型的对象。请让每个函数返回其中要紧的张量、数字或文本"
            "（放在元组、列表、字典或 dataclass 里）；写 same=False 表示不需要比较。",
        )
    ]


def _differing(pairs: Mapping[str, Paired]) -> list[str]:
    """The remarks on the candidates whose results differ."""
    said = []
    for p in (p for p in pairs.values() if p.difference):
        drawn = (
            t(
                " Inputs drawn at random differ from process to process: seed them.",
                "随机生成的输入在各进程中不同：请设定随机种子。",
            )
            if p.processes
            else ""
        )
        said.append(
            t(
                f"{p.name} does not return what {p.baseline} returns ({p.difference}): a faster way to another answer is no speed-up. "
                f"If that is meant (lower precision, random numbers), say so with same=False or a tolerance such as same=1e-2.{drawn}",
                f"{p.name} 返回的结果和 {p.baseline} 不同（{p.difference}）：更快地算出另一个答案不叫加速。"
                f"如果这是有意的（较低精度、随机数），请写 same=False，或给一个容差，例如 same=1e-2。{drawn}",
            )
        )
    return said
