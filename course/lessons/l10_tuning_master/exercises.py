"""The code task of lesson 10 that trains: a large batch in small pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.core.i18n import both
from course.core.verdict import Verdict, correct, incorrect, not_attempted

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


CHECKS = {"10-pieces": check_pieces}
