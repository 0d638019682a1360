"""Kernels that are ready at once: each is forked from a process that holds what lessons import, torch and matplotlib.

A kernel of its own for every notebook, as with a learner; only the start, seconds of importing, is done once for all.
`python -m tests.support.warm_kernel` is that process: a line of JSON in, the number of the new kernel's process out.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

PRELOADED = (
    "ipykernel.kernelapp", "ipykernel.ipkernel", "IPython", "ipywidgets", "torch", "torch.export", "torch._dynamo",
    "torch._inductor.config", "torch._meta_registrations", "torch.utils.flop_counter", "matplotlib.pyplot", "yaml", "fsrs",
)  # fmt: skip
NAME = "warm"


class Forked:
    """A kernel's process, with as much of `subprocess.Popen` as a provisioner asks for."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:  # the server does not keep the dead
            return 0
        return None

    wait = poll

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


class Provisioner(LocalProvisioner):
    """Asks the server for a kernel where Jupyter would start a new Python."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        asked = {"argv": cmd[cmd.index("-m") + 2 :], "cwd": str(kwargs["cwd"]), "env": dict(kwargs["env"])}
        server = _server()
        server.stdin.write(json.dumps(asked) + "\n")
        server.stdin.flush()
        self.pid = self.pgid = int(server.stdout.readline())
        self.process = Forked(self.pid)
        return self.connection_info


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the rest of this test, kernels of this process come from the server."""
    factory = KernelProvisionerFactory.instance()
    made = EntryPoint(NAME, f"{__name__}:Provisioner", KernelProvisionerFactory.GROUP_NAME)
    monkeypatch.setitem(factory.provisioners, NAME, made)
    monkeypatch.setattr(factory, "default_provisioner_name", NAME)


@functools.cache
def _server() -> subprocess.Popen[str]:
    env = os.environ | {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    return subprocess.Popen(
        [sys.executable, "-m", __name__], env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def serve() -> None:
    """The server's life: it ends with its input, and its kernels with it."""
    for name in PRELOADED:
        __import__(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a kernel ended
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            _become_kernel(**json.loads(line))
        print(pid, flush=True)


def _become_kernel(argv: list[str], cwd: str, env: dict[str, str]) -> None:
    from ipykernel.kernelapp import launch_new_instance

    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["ipykernel_launcher", *argv]
    launch_new_instance(argv)
    os._exit(0)


if __name__ == "__main__":
    serve()
