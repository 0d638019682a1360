"""Code tasks of lesson 10: which settings may be called the best, and a large batch in small pieces."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course.i18n import both
from course.slips import data
from course.verdict import Verdict, correct, incorrect, not_attempted

# --- 10-best-set ------------------------------------------------------------------------------------------


def row(name: str, low: float, ratio: float, high: float, error: float) -> dict[str, Any]:
    """One measured setting: time over today's with its interval, and its error."""
    return {"name": name, "low": low, "ratio": ratio, "high": high, "error": error}


def best_rule(rows: Sequence[Mapping[str, Any]], limit: float) -> list[str]:
    """Those within the limit whose interval overlaps the interval of the fastest of them."""
    allowed = [one for one in rows if one["error"] <= limit]
    if not allowed:
        return []
    best = min(allowed, key=lambda one: one["ratio"])
    return [one["name"] for one in allowed if one["low"] <= best["high"]]


SETTINGS: dict[str, tuple[list[dict[str, Any]], float]] = {
    "one is clearly best": ([row("a", 0.95, 1.0, 1.05, 0.0), row("b", 0.45, 0.5, 0.55, 0.0)], 0.01),
    "two overlap": (
        [row("a", 0.49, 0.52, 0.56, 0.0), row("b", 0.47, 0.5, 0.54, 0.0), row("c", 0.68, 0.7, 0.72, 0.0)],
        0.01,
    ),
    "the fastest breaks the limit": ([row("a", 0.1, 0.11, 0.12, 0.02), row("b", 0.4, 0.42, 0.44, 0.005)], 0.01),
    "exactly at the limit": ([row("a", 0.4, 0.42, 0.44, 0.01), row("b", 0.9, 1.0, 1.1, 0.0)], 0.01),
    "nothing is within the limit": ([row("a", 0.4, 0.5, 0.6, 0.5)], 0.01),
    "the ends just touch": ([row("a", 0.4, 0.5, 0.6, 0.0), row("b", 0.6, 0.7, 0.8, 0.0)], 0.01),
    "a wide one beside it": ([row("a", 0.3, 0.9, 1.6, 0.0), row("b", 0.45, 0.5, 0.55, 0.0)], 0.01),
    "what is out must not set the bar": (
        [row("a", 0.2, 0.3, 0.9, 0.5), row("b", 0.45, 0.5, 0.55, 0.0), row("c", 0.7, 0.8, 0.85, 0.0)],
        0.01,
    ),
}


def drawn_rows(rng: random.Random) -> tuple[list[dict[str, Any]], float]:
    """Three to seven settings, some of them beyond the limit."""
    rows = []
    for name in "abcdefg"[: rng.randint(3, 7)]:
        ratio, down, up = rng.uniform(0.2, 1.4), rng.uniform(0.01, 0.15), rng.uniform(0.01, 0.15)
        ends = (round(value, 4) for value in (ratio - down, ratio, ratio + up))
        rows.append(row(name, *ends, error=rng.choice([0.0, 0.004, 0.01, 0.02, 0.3])))
    return rows, 0.01


def check_best_set(best_set: Callable[..., list[str]]) -> Verdict:
    """One case for each thing that goes wrong, and sixty drawn ones."""
    for name, (rows, limit) in SETTINGS.items():
        got = data(best_set([dict(one) for one in rows], limit))
        if got is None or got is Ellipsis:
            return not_attempted(
                both("`best_set` returns nothing yet.", "`best_set` 还没有返回值。"), reason="placeholder"
            )
        if not isinstance(got, list) or any(not isinstance(one, str) for one in got):
            return incorrect(
                both(f"A list of names is expected, not {got!r}.", f"应返回名字的列表，而不是 {got!r}。"),
                reason="no-list",
            )
        expected = best_rule(rows, limit)
        if sorted(got) != sorted(expected):
            return incorrect(
                both(
                    f"Case “{name}”: expected {expected}, got {got}. {WHY[name][0]}",
                    f"“{WHY[name][2]}”这一例：应为 {expected}，得到 {got}。{WHY[name][1]}",
                ),
                reason=name.replace(" ", "-"),
            )
    rng = random.Random(10)
    for _ in range(60):
        rows, limit = drawn_rows(rng)
        got, expected = data(best_set([dict(one) for one in rows], limit)), best_rule(rows, limit)
        if not isinstance(got, list) or sorted(got) != sorted(expected):
            return incorrect(
                both(
                    f"For {rows} it should be {expected}, not {got}.", f"对于 {rows}，应为 {expected}，而不是 {got}。"
                ),
                reason="drawn",
            )
    return correct(
        both(
            "First the limit, then the intervals. What overlaps with the best cannot be told from it.",
            "先看上限，再看区间。和最好的重叠，就分不出高下。",
        )
    )


WHY = {
    "one is clearly best": ("Its interval lies below the other one.", "它的区间整个更低。", "一个明显最好"),
    "two overlap": (
        "Overlapping intervals cannot be told apart: both belong to it.",
        "区间重叠就分不出高下：两个都算。",
        "两个重叠",
    ),
    "the fastest breaks the limit": ("First the limit, then the speed.", "先看上限，再比快慢。", "最快的超限"),
    "exactly at the limit": ("At most means: the limit itself is allowed.", "“不超过”包括正好等于。", "正好等于上限"),
    "nothing is within the limit": ("Then the list is empty.", "那就返回空列表。", "全都超限"),
    "the ends just touch": (
        "Ends that touch overlap: `low <= high`.",
        "端点相接也算重叠：`low <= high`。",
        "端点刚好相接",
    ),
    "a wide one beside it": (
        "The fastest is the one with the smallest `ratio`; a wide interval that reaches it belongs to the set.",
        "最快的看 `ratio` 最小；区间宽到够得着它的，也算在内。",
        "旁边有个很宽的",
    ),
    "what is out must not set the bar": (
        "Look for the fastest among the permitted ones only.",
        "只在合格的里面找最快的。",
        "出局的不能当标杆",
    ),
}


# --- 10-pieces --------------------------------------------------------------------------------------------


def check_pieces(step: Callable[..., Any]) -> Verdict:
    """Gradients as of the whole batch; no piece larger than asked for; the last piece may be smaller; the peak falls."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    from course.experiment.base import restored

    sizes: list[int] = []

    def counted(module: nn.Module, inputs: tuple) -> None:
        sizes.append(len(inputs[0]))

    with restored():
        torch.manual_seed(0)
        for total, micro in ((8, 8), (8, 4), (8, 2), (6, 4)):
            model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))
            x, y = torch.randn(total, 5), torch.randint(0, 3, (total,))
            F.cross_entropy(model(x), y).backward()
            wanted = [one.grad.clone() for one in model.parameters()]
            model.zero_grad()
            sizes.clear()
            handle = model.register_forward_pre_hook(counted)
            step(model, x, y, micro)
            handle.remove()
            if all(one.grad is None for one in model.parameters()):
                return not_attempted(
                    both("No gradient was computed yet: call `backward()`.", "还没有算出梯度：要调用 `backward()`。"),
                    reason="placeholder",
                )
            if fault := _pieces_fault(sizes, total, micro):
                return fault
            got = [one.grad if one.grad is not None else torch.zeros_like(one) for one in model.parameters()]
            if not all(torch.allclose(a, b, rtol=1e-4, atol=1e-6) for a, b in zip(got, wanted, strict=True)):
                factor = float(got[-1].norm() / wanted[-1].norm())
                return incorrect(
                    both(
                        f"{total} rows in pieces of {micro}: the gradients are {factor:.3g} times as long as those of the whole batch. "
                        "By what do you divide?",
                        f"{total} 行、每份 {micro} 行：梯度长度是整批的 {factor:.3g} 倍。你除以了什么？",
                    ),
                    reason="gradients",
                )
    return correct(
        both(
            "The same step in pieces: gradients add up, activations live only as long as their piece.",
            "同样的一步，分成几份：梯度会累加，激活只活到自己那份算完。",
        )
    )


def _pieces_fault(sizes: list[int], total: int, micro: int) -> Verdict | None:
    if sizes and max(sizes) > micro:
        return incorrect(
            both(
                f"The model saw {max(sizes)} rows at once, and {micro} are allowed.",
                f"模型一次看到了 {max(sizes)} 行，而最多允许 {micro} 行。",
            ),
            reason="too-large",
        )
    if sum(sizes) != total:
        return incorrect(
            both(f"The model saw {sum(sizes)} of {total} rows.", f"模型看到了 {sum(sizes)} 行，应为 {total} 行。"),
            reason="rows",
        )
    return None


CHECKS = {"10-best-set": check_best_set, "10-pieces": check_pieces}
