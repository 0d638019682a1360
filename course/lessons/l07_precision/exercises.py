"""The code task of lesson 07 that computes: ruin a product."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from course.core.i18n import both
from course.core.verdict import Verdict, correct, inconclusive, incorrect, not_attempted, partly

RUINED, FINE = 0.1, 1e-3
"""Relative errors: above the first a product is ruined, below the second nobody needs to care (here)."""


def check_cases(cases: Any) -> Verdict:
    """Accept on evidence: TF32 inputs ruin one product that float32 gets right, and leave the other alone."""
    import torch

    from course.models.rounding import product, relative_error

    if not isinstance(cases, Mapping) or not {"ruined", "harmless"} <= set(cases):
        return incorrect(
            both(
                '`cases` is a dictionary with "ruined" and "harmless", each a pair (a, b).',
                '`cases` 应是字典，含 "ruined" 和 "harmless"，各是一对 (a, b)。',
            ),
            reason="no-dictionary",
        )
    errors: dict[str, dict[str, float]] = {}
    for name in ("ruined", "harmless"):
        if cases[name] is None or cases[name] is ...:
            return not_attempted(
                both(
                    f'"{name}" is still empty: a pair (a, b) belongs there.',
                    f'"{name}" 还是空的：那里要放一对 (a, b)。',
                ),
                reason="placeholder",
            )
        try:
            a, b = (torch.as_tensor(one, dtype=torch.float32).detach() for one in cases[name])
            exact = a.double() @ b.double()
            errors[name] = {kind: relative_error(product(a, b, kind), exact) for kind in ("float32", "tf32")}
        except (RuntimeError, TypeError, ValueError) as error:
            return incorrect(
                both(
                    f'"{name}" is not a pair of matrices that can be multiplied: {error}',
                    f'"{name}" 不是一对可以相乘的矩阵：{error}',
                ),
                reason="no-product",
            )
        if not all(math.isfinite(value) for value in errors[name].values()):
            return incorrect(
                both(
                    f'"{name}": the exact result is 0 or not finite, so there is no relative error.',
                    f'"{name}"：精确结果是 0 或不是有限数，谈不上相对误差。',
                ),
                reason="no-relative-error",
            )
    return _judged(errors["ruined"], errors["harmless"])


def _judged(ruined: dict[str, float], harmless: dict[str, float]) -> Verdict:
    low, plain = ruined["tf32"], ruined["float32"]
    if plain > 0.01:
        return inconclusive(
            both(
                f'"ruined": float32 itself is off by {plain:.1e}. Find one that float32 gets right: less cancellation.',
                f'"ruined"：float32 自己就偏了 {plain:.1e}。找一个 float32 能算对的：抵消得少一点。',
            ),
            reason="float32-fails",
        )
    if low < RUINED:
        return incorrect(
            both(
                f'"ruined": with TF32 inputs the error is {low:.1e}; ruined means {RUINED:g} or more. Let '
                f"large terms almost cancel.",
                f'"ruined"：TF32 输入时误差是 {low:.1e}；达到 {RUINED:g} 才算毁了。让大数几乎抵消试试。',
            ),
            reason="not-ruined",
        )
    if harmless["tf32"] >= FINE:
        return partly(
            0.5,
            1.0,
            both(
                f'"ruined" is (error {low:.1e}). But "harmless" has {harmless["tf32"]:.1e}; it '
                f"should stay below {FINE:g}.",
                f'"ruined" 成立（误差 {low:.1e}）。但 "harmless" 的误差是 {harmless["tf32"]:.1e}，应低于 {FINE:g}。',
            ),
            reason="not-harmless",
        )
    return correct(
        both(
            f"Accepted: error {low:.1e} in one case, {harmless['tf32']:.1e} in the other, by the same rounding. "
            "What differs is what the numbers do to each other.",
            f"通过：同样的舍入，一个误差 {low:.1e}，另一个 {harmless['tf32']:.1e}。差别在于数与数之间发生了什么。",
        ),
        ruined=low,
        harmless=harmless["tf32"],
    )


CHECKS = {"07-make-it-lose": check_cases}
