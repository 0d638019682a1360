"""The passport tells what a machine is on any machine, and nothing about its owner."""

from __future__ import annotations

import getpass
import json
import platform
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from course.core import machine  # noqa: E402
from course.core.i18n import pick  # noqa: E402

KEYS = set(machine.passport())


def test_the_passport_is_plain_data_that_survives_json():
    about = machine.passport()
    assert json.loads(json.dumps(about)) == about
    assert all(value is None or isinstance(value, (str, int, float)) for value in about.values())
    assert about["torch"] == torch.__version__ and about["python"] == platform.python_version()
    assert about["device"] in ("cpu", "cuda", "mps") and about["device_name"]
    assert about["threads"] == torch.get_num_threads()


def test_the_passport_names_no_person_no_host_and_no_path():
    told = json.dumps(machine.passport())
    for private in (socket.gethostname(), platform.node()):
        assert len(private) < 4 or private not in told
    user = getpass.getuser()
    assert len(user) < 5 or user not in told
    assert "/home" not in told and "/root" not in told and "\\\\" not in told


def test_the_passport_survives_a_machine_that_answers_nothing(monkeypatch):
    """No /proc, no sysconf, no nvidia-smi, a driver that crashes, torch without versions or queries."""

    def broken(*_args, **_kwargs):
        raise OSError("no answer")

    monkeypatch.setattr("builtins.open", broken)
    monkeypatch.setattr(subprocess, "run", broken)
    for name in ("sysconf", "sched_getaffinity", "cpu_count"):
        monkeypatch.setattr(machine.os, name, broken, raising=False)
    for name in ("release", "machine"):
        monkeypatch.setattr(machine.platform, name, lambda: "")
    monkeypatch.setattr(torch.cuda, "is_available", broken)
    monkeypatch.setattr(torch.backends.cudnn.m, "version", broken)
    monkeypatch.setattr(torch.__config__, "show", broken)
    monkeypatch.setattr(torch, "get_num_threads", broken)
    about = machine.passport()
    assert set(about) == KEYS and about["device"] == "cpu" and about["cpu"] is None
    assert pick(machine.one_line())


def test_a_gpu_is_described(monkeypatch):
    properties = SimpleNamespace(name="Tesla T4", major=7, minor=5, total_memory=15 * 2**30)
    monkeypatch.setattr(machine, "_works", lambda device: device == "cuda")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: properties)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(machine, "_driver", lambda: "550.54.15")
    about = machine.passport()
    assert (about["device"], about["device_name"], about["capability"]) == ("cuda", "Tesla T4", "sm_75")
    assert about["memory_gib"] == 15.0 and about["driver"] == "550.54.15" and set(about) == KEYS
    assert "Tesla T4" in machine.one_line()["en"] and machine.can("cuda")


def test_a_gpu_that_is_there_but_does_not_work_counts_as_none(monkeypatch):
    def no_kernel(*_args, **_kwargs):
        raise RuntimeError("CUDA error: no kernel image is available for execution on the device")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch, "ones", no_kernel)
    assert not machine.can("cuda") and machine.passport()["device"] == "cpu"


def test_an_amd_gpu_answers_to_cuda_and_runs_no_experiment_about_cudnn(monkeypatch):
    """There torch.backends.cudnn drives MIOpen: what an experiment says of cuDNN would be said of another library."""
    monkeypatch.setattr(machine, "_works", lambda device: device == "cuda")
    monkeypatch.setattr(torch.version, "hip", "6.4")
    assert machine.on_rocm() and not machine.can("cuda") and machine.passport()["device"] == "cuda"


def test_can_answers_for_every_need_and_refuses_another():
    assert machine.can("cpu") and all(machine.can(need) in (True, False) for need in machine.NEEDS)
    assert machine.can("mkldnn") == torch.backends.mkldnn.is_available()
    with pytest.raises(ValueError, match="cuda"):
        machine.can("tpu")


def test_without_torch_the_passport_still_answers():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from course.core import machine\nprint(machine.passport()['device'], machine.can('mkldnn'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.strip() == "cpu False", done.stderr
