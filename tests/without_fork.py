"""As on a machine whose GPU is in use: CUDA says that it is initialised, and nothing can fork."""

from __future__ import annotations

import os

import pytest
import torch


@pytest.fixture(autouse=True)
def without_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """Import it into a file of tests: none of them may need a child."""
    monkeypatch.delattr(os, "fork", raising=False)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
