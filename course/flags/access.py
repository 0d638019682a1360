"""How a switch is read and set where its plain attribute is not enough. What the switches are stands in switches.json.

Each function of GET receives the module torch, each function of SET torch and the value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.core.i18n import t
from course.flags.switch import ABSENT, CUDA_ASLEEP

ATTENTION = {
    "enable_flash_sdp": "flash_sdp_enabled",
    "enable_mem_efficient_sdp": "mem_efficient_sdp_enabled",
    "enable_math_sdp": "math_sdp_enabled",
    "enable_cudnn_sdp": "cudnn_sdp_enabled",
    "allow_fp16_bf16_reduction_math_sdp": "fp16_bf16_reduction_math_sdp_allowed",
}
LIBRARIES = ("preferred_linalg_library", "preferred_blas_library", "preferred_rocm_fa_library")


def _limit(torch: Any) -> Any:
    """A build without cuDNN has a plain attribute here that nobody reads: no switch."""
    return torch.backends.cudnn.benchmark_limit if torch.backends.cudnn.is_available() else ABSENT


def _started(torch: Any, name: str) -> Any:
    """This member of torch.backends.cuda, once CUDA runs: a reading must not start it."""
    member = getattr(torch.backends.cuda, name)
    if not torch.backends.cuda.is_built():
        raise AttributeError(name)
    if not torch.cuda.is_initialized():
        raise RuntimeError(CUDA_ASLEEP)
    return member


def _half(kind: str, position: int) -> Callable[[Any, Any], None]:
    """Sets one half of the (reduced precision, split k) pair and keeps the other."""
    name = f"allow_{kind}_reduced_precision_reduction"

    def write(torch: Any, value: bool) -> None:
        matmul = torch.backends.cuda.matmul
        if not hasattr(matmul, f"{name}_split_k"):
            setattr(matmul, name, value)
            return
        pair = [getattr(matmul, name), getattr(matmul, f"{name}_split_k")]
        pair[position] = value
        setattr(matmul, name, tuple(pair))

    return write


def _called(group: str, name: str) -> Callable[..., Any]:
    """The function torch.backends.<group>.<name>, called with the value where there is one."""
    return lambda torch, *value: getattr(getattr(torch.backends, group), name)(*value)


def _library(name: str) -> Callable[[Any], str]:
    """The preferred library as its lower-case name."""
    return lambda torch: getattr(torch.backends.cuda, name)().name.lower()


def _deterministic(torch: Any) -> Any:
    if not torch.are_deterministic_algorithms_enabled():
        return False
    return "warn" if torch.is_deterministic_algorithms_warn_only_enabled() else True


def _set_matmul(torch: Any, value: str) -> None:
    """torch only warns about a word it does not know; here that is an error."""
    if value not in ("highest", "high", "medium"):
        raise ValueError(
            t(
                f"{value!r} is not one of 'highest', 'high' or 'medium'",
                f"{value!r} 不是 'highest'、'high'、'medium' 之一",
            )
        )
    torch.set_float32_matmul_precision(value)


GET: dict[str, Callable[[Any], Any]] = {
    "cudnn.benchmark_limit": _limit,
    "cuda.cufft_plan_cache.max_size": lambda torch: _started(torch, "cufft_plan_cache").max_size,
    "cuda.cublas_workspace_size": lambda torch: _started(torch, "cublas_workspace_size")(),
    **{f"cuda.{name}": _library(name) for name in LIBRARIES},
    **{f"cuda.{name}": _called("cuda", getter) for name, getter in ATTENTION.items()},
    "nnpack.set_flags": lambda torch: torch._C._get_nnpack_enabled(),
    "mha.set_fastpath_enabled": _called("mha", "get_fastpath_enabled"),
    "xnnpack.enabled": lambda torch: torch._C._is_xnnpack_enabled(),
    "mps.is_macos_or_newer": lambda torch: torch.backends.mps.is_macos_or_newer(14, 0),
    "torch.num_threads": lambda torch: torch.get_num_threads(),
    "torch.num_interop_threads": lambda torch: torch.get_num_interop_threads(),
    "torch.deterministic_algorithms": _deterministic,
    "torch.fill_uninitialized_memory": lambda torch: torch.utils.deterministic.fill_uninitialized_memory,
    "torch.float32_matmul_precision": lambda torch: torch.get_float32_matmul_precision(),
}

SET: dict[str, Callable[[Any, Any], Any]] = {
    **{
        f"cuda.matmul.allow_{kind}_reduced_precision_reduction{half}": _half(kind, position)
        for kind in ("fp16", "bf16")
        for position, half in enumerate(("", "_split_k"))
    },
    **{f"cuda.{name}": _called("cuda", name) for name in (*LIBRARIES, *ATTENTION)},
    # The plain assignment writes the root of the tree (torch/backends/mkldnn/__init__.py).
    "mkldnn.fp32_precision": lambda torch, value: torch._C._set_fp32_precision_setter("mkldnn", "all", value),
    "nnpack.set_flags": _called("nnpack", "set_flags"),
    "mha.set_fastpath_enabled": _called("mha", "set_fastpath_enabled"),
    "torch.num_threads": lambda torch, value: torch.set_num_threads(value),
    "torch.deterministic_algorithms": lambda torch, value: torch.use_deterministic_algorithms(
        bool(value), warn_only=value == "warn"
    ),
    "torch.fill_uninitialized_memory": lambda torch, value: setattr(
        torch.utils.deterministic, "fill_uninitialized_memory", value
    ),
    "torch.float32_matmul_precision": _set_matmul,
}
