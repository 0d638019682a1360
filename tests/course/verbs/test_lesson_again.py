"""The first cell of a lesson run again later, in a real kernel: nothing of what was done is lost."""

from __future__ import annotations

import pytest
from jupyter_client.manager import start_new_kernel

BEFORE = """
from course import *
lesson("05_cudnn_benchmark", language="en")
record = observe("05-toy-race", bet=False)
answer("05-revisit", "a")
check("05-count-searches", lambda shapes: -1)
hint("05-count-searches")
import torch
torch.backends.cudnn.benchmark = True
"""
AGAIN = 'lesson("05_cudnn_benchmark")'
AFTER = """
explain("05-revisit")
hint("05-count-searches")
finish()
record
"""


@pytest.mark.slow
def test_lesson_again_keeps_answers_hints_results_and_the_switch_that_was_left_on(tmp_path, monkeypatch):
    for name, value in {"COURSE_HOME": str(tmp_path), "COURSE_REPLAY": "1", "COURSE_TEXT": "1"}.items():
        monkeypatch.setenv(name, value)
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(tmp_path))
    said: list[str] = []

    def note(message) -> None:
        content = message["content"]
        said.append(content.get("text") or content.get("data", {}).get("text/plain") or content.get("evalue", ""))

    try:
        for cell in (BEFORE, AGAIN, AFTER):
            said.append(f"--- {cell}")
            reply = client.execute_interactive(cell, timeout=120, output_hook=note)
            assert reply["content"]["status"] == "ok", said
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    _, again, after = "".join(said).split("--- ")[1:]
    assert "05_cudnn_benchmark: 1 of" in again
    assert "Your answer:" in after and "Hint 1 of" in after and "The toy's search pays" in after
    assert "cudnn.benchmark is now True; it was False" in after
