"""What lesson 13 compiles under changing switches.

torch alone is needed. Every function returns rows of plain data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

from course.lessons.l13_together.attention import kernel_of, operators_of


class Counting:
    """A backend of torch.compile that counts what it is given to compile, and hands it on.

    after: the backend that does the work: "eager" (runs what was captured as it is) or "aot_eager" (traced
    further, down to the operators that the dispatcher calls).
    """

    def __init__(self, after: str = "eager") -> None:
        from torch._dynamo import lookup_backend

        self.count, self._next = 0, lookup_backend(after)

    def __call__(self, graph: Any, inputs: Any, **options: Any) -> Any:
        self.count += 1
        return self._next(graph, inputs, **options)


# --- which change makes torch.compile compile again ---------------------------------------------------------


def _assign(owner: Any, name: str, value: Any) -> Callable[[], None]:
    return lambda: setattr(owner, name, value)


def _moves() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """setting -> (move it, put it back)."""
    b, threads = torch.backends, torch.get_num_threads()
    return {
        "nothing": (lambda: None, lambda: None),
        "cudnn.benchmark": (_assign(b.cudnn, "benchmark", True), _assign(b.cudnn, "benchmark", False)),
        "cudnn.deterministic": (_assign(b.cudnn, "deterministic", True), _assign(b.cudnn, "deterministic", False)),
        "mkldnn.enabled": (_assign(b.mkldnn, "enabled", False), _assign(b.mkldnn, "enabled", True)),
        "enable_flash_sdp": (lambda: b.cuda.enable_flash_sdp(False), lambda: b.cuda.enable_flash_sdp(True)),
        "set_num_threads": (lambda: torch.set_num_threads(threads + 1), lambda: torch.set_num_threads(threads)),
        "use_deterministic_algorithms": (
            lambda: torch.use_deterministic_algorithms(True),
            lambda: torch.use_deterministic_algorithms(False),
        ),
        "cuda.matmul.allow_tf32": (
            _assign(b.cuda.matmul, "allow_tf32", True),
            _assign(b.cuda.matmul, "allow_tf32", False),
        ),
        "set_default_dtype": (
            lambda: torch.set_default_dtype(torch.float64),
            lambda: torch.set_default_dtype(torch.float32),
        ),
        "no_grad": (lambda: torch.set_grad_enabled(False), lambda: torch.set_grad_enabled(True)),
        "autocast": (lambda: torch.set_autocast_enabled("cpu", True), lambda: torch.set_autocast_enabled("cpu", False)),
    }


def recompiles() -> list[dict]:
    """For each setting: moved after the first call, how many further compilations the second call needs, and torch's reason."""
    x, weight = torch.randn(1, 3, 8, 8), torch.randn(4, 3, 3, 3)
    rows = []
    for setting, (move, back) in _moves().items():
        torch.compiler.reset()
        counting = Counting()
        compiled = torch.compile(lambda x: F.conv2d(x, weight).relu(), backend=counting)
        compiled(x)
        first = counting.count
        move()
        try:
            compiled(x)
            again = counting.count - first
        finally:
            back()
        compiled(x)
        rows.append({"setting": setting, "first": first, "again": again, "back": counting.count - first - again})
    return rows


# --- an attention switch moved after compiling --------------------------------------------------------------


def _attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, k, v)


def _attend_math_inside(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel(SDPBackend.MATH):
        return F.scaled_dot_product_attention(q, k, v)


def _seen(call: Callable[[], Any]) -> str:
    """The attention kernel of a call that has run before; "written out" where compiling left its products and a softmax."""
    ran = operators_of(call)
    return kernel_of(call) or ("written out" if {"aten::bmm", "aten::_softmax"} & ran else "")


def baked() -> list[dict]:
    """Which kernel computes attention before and after flash is switched off: plain, compiled by eager, by aot_eager."""
    rows, (q, k, v) = [], (torch.randn(1, 2, 64, 16) for _ in range(3))
    flash = torch.backends.cuda.enable_flash_sdp
    for name, function, backend in (
        ("none", _attend, ""),
        ("eager", _attend, "eager"),
        ("aot_eager", _attend, "aot_eager"),
        ("inside", _attend_math_inside, "aot_eager"),
    ):
        torch.compiler.reset()
        flash(True)
        counting = Counting(backend or "eager")
        run = torch.compile(function, backend=counting) if backend else function
        call = lambda run=run: run(q, k, v)  # noqa: E731
        with torch.no_grad():
            call()
            first, before = counting.count, _seen(call)
            flash(False)
            after, again = _seen(call), counting.count - first
            torch.compiler.reset()
            call()
            reset = _seen(call)
        rows.append({"backend": name, "before": before, "after": after, "reset": reset, "again": again})
    return rows


def flip_flop() -> int:
    """How often a function is compiled that is called six times while the deterministic mode goes off and on."""
    counting, x = Counting(), torch.randn(4)
    compiled = torch.compile(lambda x: x * 2, backend=counting)
    for step in range(6):
        torch.use_deterministic_algorithms(step % 2 == 1)
        compiled(x)
    return counting.count
