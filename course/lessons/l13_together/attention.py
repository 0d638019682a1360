"""Attention seen from outside: which kernel computed it, how much memory it took, and why a kernel was refused.

Sources: aten/src/ATen/native/transformers/attention.cpp and sdp_utils_cpp.h; torch/nn/attention/__init__.py.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from course.core import arguments

if TYPE_CHECKING:
    from course.timing import Comparison

Call = Callable[[], Any]
KERNELS = {
    "aten::_scaled_dot_product_flash_attention_for_cpu": "flash",
    "aten::_scaled_dot_product_flash_attention": "flash",
    "aten::_scaled_dot_product_efficient_attention": "efficient",
    "aten::_scaled_dot_product_cudnn_attention": "cudnn",
    "aten::_scaled_dot_product_fused_attention_overrideable": "overrideable",
    "aten::_scaled_dot_product_attention_math": "math",
    "aten::_scaled_dot_product_attention_math_for_mps": "math",
}
"""Operator in a profile -> the name of its kernel."""


def _profile(call: Call, memory: bool = False, shapes: bool = False) -> Any:
    """The profile of one call on the CPU. KINETO_LOG_LEVEL: else each profile writes two lines to stderr.

    torch.profiler.profile around it would import torch's compiler first, which takes seconds.
    """
    arguments.function("call", call)
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")
    from torch.autograd.profiler import profile

    with profile(profile_memory=memory, record_shapes=shapes, acc_events=True) as recording:
        call()
    return recording


def operators_of(call: Call) -> set[str]:
    """The names of all operators that a profile of ``call`` shows."""
    return {event.name for event in _profile(call).function_events}


def kernel_of(call: Call) -> str:
    """The attention kernel that ``call`` ran, read from a profile: "flash", "math", ...; "" where it ran none."""
    return ", ".join(sorted({KERNELS[name] for name in operators_of(call) if name in KERNELS}))


def size_of(call: Call) -> tuple[int, int]:
    """How many keys attention in ``call`` has, and the width of a head; (0, 0) where a profile shows no attention."""
    shapes = [event.input_shapes[1] for event in _profile(call, shapes=True).function_events if event.name in KERNELS]
    return (shapes[0][-2], shapes[0][-1]) if shapes else (0, 0)


def peak_mib(call: Call) -> float:
    """The most memory that torch held at once for ``call``, in MiB, over what it held before. CPU tensors only."""
    events = [one for one in _profile(call, memory=True).kineto_results.events() if one.name() == "[memory]"]
    held = most = 0
    for event in sorted(events, key=lambda one: one.start_ns()):
        held += event.nbytes()
        most = max(most, held)
    return most / 2**20


def refusal(call: Call) -> str:
    """Why the flash kernel may not compute ``call``, in torch's words; "" where it may. "-" where torch gives no reason."""
    with warnings.catch_warnings(record=True) as said, sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        warnings.simplefilter("always")
        try:
            call()
        except RuntimeError as error:
            if "No available kernel" not in str(error):
                raise
            reasons = [str(one.message).split(" (Triggered")[0].strip() for one in said]
            return next((one for one in reasons if not one.endswith("because:")), "-")
    return ""


def flash_math(call: Call, max_time: float = 1.0) -> Comparison:
    """Race the kernels on one thread, forward only: ratio = time with flash / time with math, so below 1 flash helps.

    ``call`` computes attention; without flash it falls to math. Each side puts the switch back after each call, in the same
    steps; switches and threads are as before afterwards.
    """
    from course import flags
    from course.timing import compare

    read, switch = torch.backends.cuda.flash_sdp_enabled, torch.backends.cuda.enable_flash_sdp

    def allowed(flash: bool) -> Call:
        def run() -> Any:
            before = read()
            switch(flash)
            try:
                return call()
            finally:
                switch(before)

        return run

    with flags.using({"torch.num_threads": 1, "cuda.enable_flash_sdp": True}), torch.inference_mode():
        return compare({"math": allowed(False), "flash": allowed(True)}, baseline="math", max_time=max_time)
