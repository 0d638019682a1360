"""What this machine is and can run: the passport that travels with every measurement.

It holds no host name, user name, path or serial number. No question put to the machine can make it fail: what
cannot be told is None.
"""

from __future__ import annotations

import importlib
import os
import platform
import re
import shutil
import sys
import warnings
from collections.abc import Callable
from importlib import metadata
from typing import Any, TypeVar

from course.core.i18n import Text, both, t
from course.core.version import __version__

ONNX = ("onnx", "onnxscript", "onnxruntime")  # the extra `export` of pyproject.toml
COMPILERS = {"darwin": "clang++", "win32": "cl"}  # that torch.compile calls on a CPU where CXX names none; else g++
Found = TypeVar("Found")


_CAN: dict[str, Callable[[], Any]] = {
    "cpu": lambda: True,
    "mkldnn": lambda: _torch()._C._has_mkldnn,
    "onnx": lambda: all(map(importlib.import_module, ONNX)),
    "opt_einsum": lambda: importlib.import_module("opt_einsum"),
    "compiler": lambda: _compiler(),
    "two_cores": lambda: _cores() >= 2,
    "cuda": lambda: not on_rocm() and _works("cuda"),
    "mps": lambda: _works("mps"),
}
NEEDS = tuple(_CAN)


def device_of(needs: str) -> str:
    """The device on which an experiment runs that needs this: 'cuda', 'mps', else 'cpu', also on a machine with a GPU."""
    return needs if needs in ("cuda", "mps") else "cpu"


def device_name(device: str) -> str | None:
    """What this machine calls its 'cuda', 'mps' or 'cpu': the model of the GPU or of the processor; None where it has no such GPU."""
    if device == "cuda":
        return _safe(lambda: _torch().cuda.get_device_properties(_torch().cuda.current_device()).name)
    return device == "mps" and _safe(_mps_name) or _safe(_cpu_name) or platform.machine() or None


def passport(device: str | None = None) -> dict[str, Any]:
    """This machine as plain data (str, int, float, bool, None), the same keys everywhere.

    device: the one that a measurement ran on (default: the accelerator that works here, else 'cpu'). device_name: the GPU, or the
    processor.
    capability: 'sm_75' and the like. memory_gib: of the GPU, or of the machine. driver: of the GPU, as
    nvidia-smi tells it, when known. torch, cuda, cudnn, onednn, mkl: versions.
    threads, interop_threads, cores: counts. cpu, cpu_capability, os, arch, python, course: in words.
    """
    device = device or _safe(_device) or "cpu"
    about = {"capability": None, "memory_gib": _safe(_memory_gib), "driver": None}
    if device == "cuda":
        about.update(_safe(_cuda_facts) or {"memory_gib": None})
    return {
        "device": device,
        "device_name": device_name(device),
        **about,
        "torch": _safe(lambda: _torch().__version__),
        "cuda": _safe(lambda: _torch().version.cuda),
        "hip": _safe(lambda: _torch().version.hip),
        "cudnn": _safe(lambda: _torch().backends.cudnn.version()),
        "onednn": _safe(lambda: _built_with(r"MKL-DNN v([\w.]+)")),
        "mkl": _safe(lambda: _built_with(r"Math Kernel Library Version ([\w.]+)")),
        "threads": _safe(lambda: _torch().get_num_threads()),
        "interop_threads": _safe(lambda: _torch().get_num_interop_threads()),
        "cores": _safe(_cores),
        "cpu": device_name("cpu"),
        "cpu_capability": _safe(lambda: _torch().backends.cpu.get_cpu_capability()),
        "os": _safe(_system),
        "arch": _safe(platform.machine),
        "python": platform.python_version(),
        "course": __version__,
    }


def can(needs: str) -> bool:
    """Whether this machine can run what `needs` names, one of NEEDS.

    'mkldnn' asks for oneDNN in this build; 'onnx' for the packages that write and run ONNX files; 'opt_einsum' for
    that package; 'compiler' for the C++ compiler that torch.compile calls on a CPU; 'two_cores' for two processors that this
    process may use; 'cuda' and 'mps' for a device that does a small sum. 'cuda' means NVIDIA's: a ROCm build answers to the same name,
    but there torch.backends.cudnn drives MIOpen, and what is said of cuDNN would be said of another library.
    Raises ValueError, in words, for any other name.
    """
    if needs not in NEEDS:
        raise ValueError(
            t(
                f"An experiment needs one of {', '.join(NEEDS)}, not {needs!r}.",
                f"实验的需求只能是 {'、'.join(NEEDS)} 之一，而不是 {needs!r}。",
            )
        )
    return bool(_safe(_CAN[needs]))


def can_fork() -> bool:
    """Whether processes are forked here: Windows cannot, and libraries of macOS do not survive it."""
    return sys.platform == "linux" and hasattr(os, "fork")


def _compiler() -> str | None:
    """The C++ compiler that torch.compile calls on a CPU; None where there is none."""
    return shutil.which(os.environ.get("CXX") or COMPILERS.get(sys.platform, "g++"))


def next_step(needs: str) -> Text:
    """What a learner can do where `can` says no; empty where only another machine or another PyTorch helps."""
    if needs == "compiler":
        return both(
            "Next step: install it (Debian, Ubuntu: `sudo apt install g++ python3-dev`; macOS: `xcode-select --install`; "
            "Windows: the Build Tools for Visual Studio), then restart the kernel.",
            "下一步：装上编译器（Debian、Ubuntu：`sudo apt install g++ python3-dev`；macOS：`xcode-select --install`；"
            "Windows：Visual Studio 生成工具），然后重启内核。",
        )
    if needs == "opt_einsum":
        return both(
            "Next step: run `%pip install opt-einsum` in a cell, then restart the kernel.",
            "下一步：在单元格里运行 `%pip install opt-einsum`，然后重启内核。",
        )
    if needs != "onnx":
        return both("", "")
    here = {name: _safe(lambda name=name: metadata.version(name)) for name in ("numpy", "protobuf")}
    command = " ".join(["%pip install", *ONNX, *(f"{name}=={version}" for name, version in here.items() if version)])
    return both(
        f"Next step: run `{command}` in a cell, then restart the kernel. numpy and protobuf stay as they are.",
        f"下一步：在单元格里运行 `{command}`，然后重启内核。numpy 和 protobuf 保持原来的版本。",
    )


def on_rocm() -> bool:
    """Whether this torch is built for AMD GPUs."""
    return bool(_safe(lambda: _torch().version.hip))


def one_line() -> Text:
    """Device, torch and the library that matters here, in one line of both languages."""
    about = passport()
    name = about["device_name"] or about["device"]
    extra = ""
    if about["device"] == "cuda":
        library = f"ROCm {about['hip']}" if about["hip"] else f"CUDA {about['cuda']}"
        extra = f" · {library}" + (f" · cuDNN {about['cudnn']}" if about["cudnn"] else "")
    elif about["device"] == "cpu" and about["onednn"]:
        extra = f" · oneDNN {about['onednn']}"
    torch = about["torch"] or "?"
    threads = about["threads"] or 1
    return both(
        f"{about['device'].upper()}: {name} · torch {torch}{extra} · {threads} thread{'s' * (threads != 1)}",
        f"{about['device'].upper()}：{name} · torch {torch}{extra} · {threads} 个线程",
    )


def _safe(question: Callable[[], Found]) -> Found | None:
    """The answer, or None when the machine cannot give it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return question()
    except Exception:  # noqa: BLE001  (drivers fail in many types; a passport never does)
        return None


def _torch() -> Any:
    import torch

    return torch


def _device() -> str:
    return next((name for name in ("cuda", "mps") if _safe(lambda name=name: _works(name))), "cpu")


def _works(device: str) -> bool:
    """Whether one small sum comes back from the device: a present but unusable GPU counts as none."""
    torch = _torch()
    # Straight to the core: the public mps query may have been overwritten by a learner's assignment.
    here = torch.cuda.is_available() if device == "cuda" else torch._C._mps_is_available()
    return bool(here) and float(torch.ones(2, device=device).sum()) == 2.0


def _cuda_facts() -> dict[str, Any]:
    torch = _torch()
    found = torch.cuda.get_device_properties(torch.cuda.current_device())
    name = found.gcnArchName if torch.version.hip else f"sm_{found.major}{found.minor}"
    return {"capability": name, "memory_gib": round(found.total_memory / 2**30, 1), "driver": _safe(_driver)}


def _driver() -> str | None:
    """The NVIDIA driver version."""
    return next(iter(_said_by("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").split()), None)


def _said_by(*command: str) -> str:
    """What a program of the system printed."""
    import subprocess

    return subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", timeout=5, check=True
    ).stdout


def _mps_name() -> str:
    return _torch()._C._mps_get_name()


def _built_with(pattern: str) -> str | None:
    """A version out of torch's own build summary."""
    found = re.search(pattern, _torch().__config__.show())
    return found.group(1) if found else None


def _cores() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cpu_name() -> str | None:
    system = platform.system()
    if system == "Darwin":
        return _said_by("sysctl", "-n", "machdep.cpu.brand_string").strip() or None
    if system == "Windows":
        return platform.processor() or None
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        found = re.search(r"^(?:model name|Model|Hardware|cpu model)\s*:\s*(.+)$", file.read(), re.MULTILINE)
    return re.sub(r"\s+", " ", found.group(1)).strip() if found else None


def _memory_gib() -> float:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)


def _system() -> str:
    """The operating system and its version, without the host's name."""
    if platform.system() == "Darwin":
        return f"macOS {platform.mac_ver()[0]}"
    return f"{platform.system()} {platform.release().split('-')[0]}"
