"""Probes of lesson 08: when a variable is read, and which operations of a Mac fall back, each in a Python process of its own."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from course.experiment.new_process import answer_of

DEVICE = "mps"


def wait() -> None:
    """Wait until the device is idle."""
    torch.get_device_module(DEVICE).synchronize()


# --- when an environment variable is read -----------------------------------------------------------------

VARIABLES = (
    "OMP_NUM_THREADS",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "ATEN_CPU_CAPABILITY",
    "PYTORCH_NVML_BASED_CUDA_CHECK",
)
MOMENTS = ("never", "before import", "after import", "after first use")
LOOK = """
nvml = getattr(torch.cuda, "_nvml_based_avail", lambda: None)
answer({"OMP_NUM_THREADS": torch.get_num_threads(),
        "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": torch.backends.cuda.matmul.allow_tf32,
        "ATEN_CPU_CAPABILITY": torch.backends.cpu.get_cpu_capability(),
        "PYTORCH_NVML_BASED_CUDA_CHECK": nvml()})
"""
USE = "torch.get_num_threads(); torch.ones(64).exp(); torch.backends.cuda.matmul.allow_tf32\n"


def seen_at(moment: str, values: Mapping[str, str]) -> dict[str, Any]:
    """What a new process sees of the variables when ``values`` are put into os.environ at that moment."""
    put = f"import os; os.environ.update({dict(values)!r})\n"
    code = {
        "never": "import torch\n",
        "before import": put + "import torch\n",
        "after import": "import torch\n" + put,
        "after first use": "import torch\n" + USE + put,
    }[moment]
    return answer_of(code + LOOK, variables=dict.fromkeys(VARIABLES))[0]


def named_in_libraries(names: tuple[str, ...]) -> dict[str, bool]:
    """Whether the compiled libraries of this torch contain each name; a name that is absent is never read."""
    found = dict.fromkeys(names, False)
    for path in sorted((Path(torch.__file__).parent / "lib").glob("*torch*")):
        if path.suffix not in (".so", ".dylib", ".dll") or path.stat().st_size == 0:
            continue
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as library:
            for name in names:
                found[name] = found[name] or library.find(name.encode()) >= 0
    return found


# --- for the Mac ------------------------------------------------------------------------------------------

FALLBACK = "PYTORCH_ENABLE_MPS_FALLBACK"
FALLBACK_LOOK = """
import warnings
x = torch.eye(6, device="DEVICE") + 0.5
rows = []
for name in ("svd", "eigvals", "eig", "lstsq", "matrix_exp", "qr", "cholesky"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            getattr(torch.linalg, name)(*([x, x] if name == "lstsq" else [x]))
            outcome = "on CPU" if any("fall back" in str(one.message) for one in caught) else "native"
        except NotImplementedError:
            outcome = "NotImplementedError"
        except Exception as error:
            outcome = type(error).__name__
    rows.append({"op": "linalg." + name, "outcome": outcome})
answer(rows)
"""


def fallback_at(moment: str) -> list[dict[str, str]]:
    """Some operations of linear algebra on the device, with the variable set never, before or after import."""
    put = f"import os; os.environ[{FALLBACK!r}] = '1'\n"
    code = {"never": "import torch\n", "before import": put + "import torch\n", "after import": "import torch\n" + put}[
        moment
    ]
    return answer_of(code + FALLBACK_LOOK.replace("DEVICE", DEVICE), variables={FALLBACK: None})[0]
