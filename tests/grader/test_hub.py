"""The JupyterHub of the documents: its config, read as the Hub reads it, and a course folder on a machine with a Hub."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from types import SimpleNamespace

import pytest
from traitlets.config import Config

from grader.course import init
from tests.conftest import ROOT

CONFIG = ROOT / "docs" / "hub" / "jupyterhub_config.py"


def read(monkeypatch, missing: str = "") -> Config:
    """The config on a machine with the accounts of the document but one."""
    names = {"grader-spring", "grader-autumn", "ines", "otto", "ada", "bob", "cem", "dee"} - {missing}
    monkeypatch.setattr(pwd, "getpwall", lambda: [SimpleNamespace(pw_name=name) for name in sorted(names)])
    config = Config()
    exec(compile(CONFIG.read_text("utf-8"), str(CONFIG), "exec"), {"get_config": lambda: config})
    return config


def test_each_course_has_its_own_people_and_only_they_get_in(monkeypatch):
    config = read(monkeypatch)
    groups, services = config.JupyterHub.load_groups, config.JupyterHub.services
    roles = {role["name"]: role for role in config.JupyterHub.load_roles}
    assert {name: group["users"] for name, group in groups.items()} == {
        "formgrade-spring": ["ines"], "nbgrader-spring": ["ada", "bob"],
        "formgrade-autumn": ["otto"], "nbgrader-autumn": ["cem", "dee"],
    }  # fmt: skip
    for one in services:
        course = one["name"]
        assert one["user"] == f"grader-{course}" and one["cwd"] == f"/home/grader-{course}/{course}"
        who = [role["groups"] for role in roles.values() if f"access:services!service={course}" in role["scopes"]]
        assert who == [[f"formgrade-{course}"]]
    assert config.Authenticator.allowed_users == {"ines", "otto", "ada", "bob", "cem", "dee"}


@pytest.mark.slow
def test_in_a_course_folder_nbgrader_asks_no_hub_for_the_courses_of_its_owner(tmp_path):
    """The setting for students holds for the whole machine; the formgrader's owner is no user of the Hub."""
    (tmp_path / "etc").mkdir()
    setting = 'c = get_config()\nc.Authenticator.plugin_class = "nbgrader.auth.JupyterHubAuthPlugin"\n'
    assert setting.splitlines()[1] in CONFIG.read_text("utf-8")
    exchange = tmp_path / "exchange"  # for the whole machine, too: nbgrader's own place is not on every machine
    everywhere = f"{setting}c.Exchange.root = {str(exchange)!r}\n"
    (tmp_path / "etc" / "nbgrader_config.py").write_text(everywhere, "utf-8")
    init(tmp_path / "course", exchange=exchange)
    env = os.environ | {"JUPYTER_CONFIG_PATH": str(tmp_path / "etc"), "HOME": str(tmp_path)}

    def listed(folder):
        return subprocess.run(
            [sys.executable, "-m", "nbgrader", "list", "--inbound"], cwd=folder, env=env, capture_output=True, text=True
        )

    done = listed(tmp_path / "course")
    assert done.returncode == 0 and "Submitted assignments" in done.stderr, done.stderr
    assert "JUPYTERHUB_USER" in listed(tmp_path / "etc").stderr  # anywhere else the setting holds
