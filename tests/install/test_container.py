"""Protects who grades in the container: its papers are in step with the checkout, and its first command really opens formgrader."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
import yaml

from grader.sandbox import launch
from tests.conftest import ROOT, free_port, missing
from tests.support import ordinary_user

FOLDER = ROOT / "container"


def test_what_the_image_takes_is_there_and_nothing_else_is_sent_to_be_built():
    lines = re.findall(r"^COPY (.+)$", (FOLDER / "Dockerfile").read_text(encoding="utf-8"), re.M)
    copied = {source for line in lines for source in line.split()[:-1]}
    assert copied == {*re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.M)}
    assert all((ROOT / source).exists() for source in copied)


def test_the_checkout_in_the_image_is_out_of_the_sight_of_submissions_and_the_user_is_an_ordinary_one(monkeypatch):
    text = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
    place = Path(re.search(r"^WORKDIR (/srv\S+)$", text, re.M)[1])
    monkeypatch.setattr(sys, "prefix", "/usr/local")  # where the image's Python is
    monkeypatch.setattr(sys, "base_prefix", "/usr/local")
    for folder in (place, Path("/class")):
        assert launch.visible(folder) is None
    assert re.search(r"^USER (\S+)$", text, re.M)[1] != "root" and "bubblewrap" in text
    extras = re.search(r'"\.\[(.+?)\]"', text)[1].split(",")
    assert {*extras} == {"lab", "grading", "scale"}


def test_compose_lets_the_sandbox_be_made_and_bounds_the_whole():
    service = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))["services"]["grader"]
    build = service["build"]
    assert (FOLDER / build["context"]).resolve() == ROOT and (ROOT / build["dockerfile"]).is_file()
    assert {"seccomp=unconfined", "systempaths=unconfined", "no-new-privileges=true"} <= {*service["security_opt"]}
    assert (
        service["cap_drop"] == ["ALL"]
        and "privileged" not in service
        and service["mem_limit"]
        and service["pids_limit"]
    )
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


@pytest.mark.slow
def test_the_start_command_makes_the_course_folder_and_opens_formgrader_as_an_ordinary_user(tmp_path):
    if reason := launch.obstacle():
        missing("the sandbox", reason)
    path, port, place = f"{Path(sys.executable).parent}:{os.environ['PATH']}", free_port(), tmp_path / "class"
    if shutil.which("jupyter", path=path) is None:
        missing("jupyter", "pip install jupyterlab")
    place.mkdir()
    ordinary_user.give(tmp_path)
    told = {"PATH": path, "HOME": str(tmp_path), "USER": "grader", "COURSE": str(place), "PORT": str(port)}
    environment = {**os.environ, **told, "ADDRESS": "127.0.0.1", "JUPYTER_TOKEN": "word"}
    words = [*ordinary_user.prefix(), "sh", str(FOLDER / "start")]
    address = f"http://127.0.0.1:{port}/formgrader/manage_assignments?token=word"
    with (tmp_path / "log").open("w") as log:
        run = subprocess.Popen(words, env=environment, cwd=place, stdout=log, stderr=log, start_new_session=True)
        try:
            until, page = time.monotonic() + 180, ""
            while "formgrader" not in page.lower() and time.monotonic() < until and run.poll() is None:
                time.sleep(0.5)
                with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=30) as answer:
                    page = answer.read().decode()
            assert "formgrader" in page.lower(), (tmp_path / "log").read_text()[-2000:]
            assert (place / "nbgrader_config.py").exists()
        finally:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
