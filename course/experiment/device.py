"""The device of the experiments that need a GPU. Without one they run on the CPU, which tests their form alone."""

from __future__ import annotations

import torch


def device() -> str:
    """cuda where there is one, else cpu."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def wait() -> None:
    """Until the GPU has finished; nothing on a CPU."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
