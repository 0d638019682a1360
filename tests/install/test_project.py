"""Protects who installs: the project's own papers agree with each other, and a learner's package holds the course alone."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import socket
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tests.conftest import ROOT

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib


def name_of(requirement: str) -> str:
    return re.split(r"[ <>=!~;\[]", requirement, maxsplit=1)[0].lower()


def pyproject() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def environment() -> list[str]:
    listed = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))["dependencies"]
    return next(entry["pip"] for entry in listed if isinstance(entry, dict))


def test_environment_yml_names_what_pyproject_names():
    project = pyproject()["project"]
    asked = {name_of(r) for r in project["dependencies"]}
    asked |= {
        name_of(r)
        for extra in ("course", "export", "einsum", "lab", "grading")
        for r in project["optional-dependencies"][extra]
    }
    pip = environment()
    listed = {name_of(entry) for entry in pip if not entry.startswith("-")}
    assert {"torch", "jupyterlab", "ipywidgets", "nbgrader", "matplotlib", "thop", "ptflops"} <= listed <= asked
    assert "-c constraints.txt" in pip and "-e .[lab,grading]" in pip


@pytest.mark.slow
def test_without_the_packages_of_learners_a_verb_names_all_of_them_at_once(tmp_path):
    """What `pip install FOLDER` leaves out: one sentence that brings them all, in both languages."""
    extra = {name_of(r) for r in pyproject()["project"]["optional-dependencies"]["course"]} - {"setuptools"}
    modules = sorted({"pyyaml": "yaml"}.get(name, name) for name in extra)
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({modules})); import course; from course.verbs import say\n"
        f"assert sorted(say.OF_LEARNERS) == {modules}\n"
        "for language in ('en', 'zh'): course.lesson('00_start', language=language)"
    )
    done = run_python(code, ROOT, COURSE_HOME=str(tmp_path))
    assert 'Run %pip install "FOLDER[course]" (FOLDER: the path of the course)' in done.stdout, done
    assert '请运行 %pip install "文件夹[course]"（“文件夹”换成课程的路径）' in done.stdout, done


def test_every_requirement_is_pinned_by_constraints():
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pinned = {name_of(line) for line in lines if line and not line.startswith("#")}
    project = pyproject()["project"]
    asked = {name_of(r) for r in project["dependencies"]}
    asked |= {name_of(r) for extra in project["optional-dependencies"].values() for r in extra}
    assert asked - {"torch-backends-course"} <= pinned
    assert "torch==2.13.0" in lines


def test_no_pinned_version_needs_a_later_release_of_a_python_it_is_pinned_for():
    """Debian 12 has Python 3.11.2: where a pinned version asks for 3.11.5, nothing can be installed there."""
    looked = 0
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        pinned = Requirement(line)
        try:
            about = metadata.metadata(pinned.name)
        except metadata.PackageNotFoundError:
            continue
        if pinned.specifier.contains(about["Version"], prereleases=True):
            looked += 1
            for first in ("3.11.0", "3.12.0", "3.13.0"):
                wanted = {"python_version": first.removesuffix(".0"), "python_full_version": first}
                if pinned.marker is None or pinned.marker.evaluate(wanted):
                    assert first in SpecifierSet(about.get("Requires-Python") or ""), line
    assert looked > 100


def built_wheel(folder):
    """The wheel, built from a copy of the checkout: building leaves traces, and would pick up those of an earlier build."""
    copy = folder / "checkout"
    ignored = shutil.ignore_patterns(".venv", ".git", "build", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, copy, ignore=ignored)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(copy)],
        check=True,
        capture_output=True,
    )
    return next(folder.glob("*.whl"))


@pytest.mark.one_of_each  # an install
@pytest.mark.slow
def test_wheel_holds_the_course_alone_with_its_data_and_an_install_of_it_answers(tmp_path):
    wheel, place = built_wheel(tmp_path), tmp_path / "place"
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"course"}
    assert "course/lessons/l05_cudnn_benchmark/items.yaml" in names
    assert "course/lessons/l05_cudnn_benchmark/checkpoint.yaml" in names
    assert "course/cards/static/card.js" in names
    for package in ROOT.glob("course/**/*.py"):
        assert str(package.relative_to(ROOT)) in names
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(place), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    code = (
        "import course; from course.flops import count; from torch import nn, randn\n"
        "print(course.__file__); course.lesson('05_cudnn_benchmark'); course.question('05-what-for')\n"
        "course.answer('05-what-for', 'a'); print(count(nn.Linear(8, 8), randn(1, 8)).macs)"
    )
    done = run_python(code, tmp_path, PYTHONPATH=str(place), COURSE_TEXT="1", COURSE_DEBUG="1")
    told = done.stdout.splitlines()
    assert done.returncode == 0 and Path(told[0]).parent == place / "course" and told[-1] == "64", done


SERVER = "type('Server', (), {'wait': lambda self: 0})()"  # one that ends at once


def run_env_script(code: str) -> subprocess.CompletedProcess:
    return run_python(code, ROOT / "tools")


def run_python(code: str, folder: Path, **variables: str) -> subprocess.CompletedProcess:
    """Run code in a new process that speaks UTF-8, whatever the machine's encoding is."""
    env = os.environ | {"PYTHONIOENCODING": "utf-8"} | variables
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8"
    )


def test_a_python_that_is_too_old_gets_a_sentence():
    done = run_env_script(
        "import env, sys; sys.version_info = (3, 8, 1); env.shutil.which = lambda name: None; env.find_python()"
    )
    assert done.returncode != 0
    assert "3.10 to 3.13, and this is Python 3.8" in done.stderr
    assert "Next step" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("windows", "start"), [(False, "python3.12 lab.py lab"), (True, "C:\\Python312\\python.exe lab.py lab")]
)
def test_in_a_bundle_the_next_step_is_how_it_was_started(windows, start):
    """No Makefile is there; on Windows every supported Python is asked of its launcher, newest first."""
    done = run_env_script(
        "import env, sys, types; env.WHEELS = ['x.whl']; sys.version_info = (3, 14, 0); env.shutil.which = lambda name: None\n"
        f"if {windows}:\n"
        "    env.os = types.SimpleNamespace(**{**vars(env.os), 'name': 'nt'})\n"
        "    def asked(command, **more): print(command[:2]); raise OSError\n"
        "    env.subprocess.check_output = asked\n"
        "env.find_python()"
    )
    assert start in done.stderr and "make" not in done.stderr and "Traceback" not in done.stderr, done
    tried = [f"['py', '-3.{minor}']" for minor in (13, 12, 11, 10)] if windows else []
    assert done.stdout.splitlines() == tried


def test_a_folder_too_deep_for_windows_is_named_before_anything_is_installed():
    code = "import env, types; env.os = types.SimpleNamespace(**{**vars(env.os), 'name': 'nt'}); env.not_too_deep('C:' + 'x' * %d)"
    assert run_env_script(code % 40).returncode == 0
    said = run_env_script(code % 90)
    assert said.returncode == 1 and "C:\\course" in said.stderr and "Traceback" not in said.stderr


def test_a_taken_port_is_named_and_the_next_one_used():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = run_env_script(f"import env; print(env.free_port({port}))")
    assert f"Port {port} is taken" in done.stdout
    assert int(done.stdout.split()[-1]) > port


def test_an_environment_without_pip_is_made_again_and_filled(tmp_path):
    done = run_env_script(
        f"import env, os; env.VENV = {str(tmp_path)!r};"
        "python = env.venv_python(); os.makedirs(os.path.dirname(python)); os.symlink('/bin/false', python);"
        "open(os.path.join(env.VENV, 'installed-lab'), 'w').write(env.wanted('lab'));"
        "env.subprocess.call = lambda command, **k: print(command) or int('import pip' in command);"
        "env.run_with_clock = lambda words, command: print('filled');"
        "env.ensure('lab')"
    )
    assert "'-m', 'venv'" in done.stdout and "filled" in done.stdout, done


def test_the_address_that_jupyterlab_prints_is_that_of_the_lesson(tmp_path):
    done = run_env_script(
        f"import env; env.VENV = {str(tmp_path)!r}; env.ensure = lambda extra: None; env.tell_font = lambda: None;"
        f"env.subprocess.Popen = lambda command, **k: print(command) or {SERVER};"
        "env.lab('zh', 9999)"
    )
    assert "--LabApp.default_url=/lab/tree/zh/lessons/00_start.ipynb" in done.stdout
    assert (ROOT / "notebooks/zh/lessons/00_start.ipynb").exists()


def test_ctrl_c_lets_jupyterlab_end_its_kernels_and_stops_the_rest_with_a_sentence(tmp_path):
    done = run_env_script(
        f"import env, sys, unittest.mock as m; env.VENV = {str(tmp_path)!r}; env.ensure = lambda extra: None;"
        "server = m.Mock(**{'wait.side_effect': [KeyboardInterrupt, 0]}); env.subprocess.Popen = lambda *a, **k: server;"
        "sys.argv = ['env.py', 'lab'];\n"
        "try: env.main()\n"
        "except SystemExit as end: print('ended', end.code, server.method_calls)\n"
        "def ensure(extra): raise KeyboardInterrupt\n"
        "env.ensure = ensure; env.main()"
    )
    assert "ended 0 [call.wait(), call.wait()]" in done.stdout, done
    assert done.returncode == 1 and "The same command goes on where it was" in done.stderr, done
    assert "Traceback" not in done.stderr


def test_all_and_test_long_share_the_tests():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    asked = [words.strip('"') for words in re.findall(r"\$\(PYTEST\) -m (.+)", makefile)]
    marks = ("slow", "one_of_each", "long")
    for carried in itertools.product((False, True), repeat=len(marks)):
        quick, all_but_long, long = (eval(words, dict(zip(marks, carried, strict=True))) for words in asked)
        assert all_but_long != long and quick <= all_but_long, dict(zip(marks, carried, strict=True))
    assert {line.partition(":")[0] for line in pyproject()["tool"]["pytest"]["ini_options"]["markers"]} == {*marks}


def skeleton(path: Path) -> tuple:
    """What a page has in any language: levels of headings, rows of tables, words in code marks, commands without comments,
    language and time zone; of a drawing its boxes and arrows.
    """
    text = re.sub(
        r"```mermaid.*?```", lambda drawing: re.sub('"[^"]*"', '""', drawing[0]), path.read_text("utf-8"), flags=re.S
    )
    commands = [
        re.sub(r" *#.*|--language \w+|[A-Z]\w+/[A-Z]\w+", "", block)
        for block in re.findall(r"```.*?\n(.*?)```", text, flags=re.S)
    ]
    rest = re.sub(r"```.*?```", "", text, flags=re.S)
    marks = {" ".join(words.split()) for words in re.findall(r"`([^`]+)`", rest)}
    return re.findall(r"^#+ |^\|", rest, flags=re.M), commands, marks


@pytest.mark.parametrize(
    "page", ["CONTRIBUTING", "docs/instructors", "docs/authoring", "docs/architecture", "docs/cards"]
)
def test_a_page_and_its_chinese_twin_name_the_same_commands_and_each_other(page):
    one, other = ROOT / f"{page}.md", ROOT / f"{page}.zh-CN.md"
    assert skeleton(one) == skeleton(other)
    for page, twin in ((one, other), (other, one)):
        assert f"]({twin.name})" in page.read_text("utf-8").splitlines()[0]


def test_every_make_command_that_a_page_names_is_there_and_both_readmes_name_every_lesson():
    from course.core.catalog import LESSONS

    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), flags=re.M))
    for page in [*ROOT.glob("README*.md"), *ROOT.glob("CONTRIBUTING*.md"), *ROOT.glob("docs/*.md")]:
        named = set(re.findall(r"(?:^|`)make ([a-z][a-z-]*)", page.read_text("utf-8"), flags=re.M))
        assert named <= targets, page
    for page, code in (("README.md", "en"), ("README.zh-CN.md", "zh")):
        told = (ROOT / page).read_text("utf-8")
        assert [one.id for one in LESSONS if f"`{one.id}` | {one.question[code]} |" not in told] == []


def test_every_link_between_pages_leads_to_a_file():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        links = re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", page.read_text("utf-8"))
        assert [link for link in links if not (page.parent / link).exists()] == [], page


@pytest.mark.parametrize(
    "fault",
    [
        "env.OLDEST = env.NEWEST = (3, 99); env.find_python()",
        "env.lab('fr', 9999)",
        "env.VENV = '.'; env.run_with_clock('x', ['false'])",
    ],
)
def test_the_start_script_speaks_chinese_also_of_its_faults(tmp_path, fault):
    done = run_env_script(f"import env, os; os.chdir({str(tmp_path)!r}); env.LANGUAGE = 'zh'; {fault}")
    assert "下一步：" in done.stderr and "Next step" not in done.stderr
    assert ("PIP_INDEX_URL" in done.stderr and "镜像" in done.stderr) is ("clock" in fault)


def test_the_menus_are_chinese_only_when_asked_for(tmp_path):
    for menus, extra in (("en", "lab"), ("zh", "lab,menus")):
        done = run_env_script(
            f"import env; env.VENV = {str(tmp_path)!r}; env.ensure = print; env.tell_font = lambda: None;"
            f"env.subprocess.Popen = lambda command, **k: {SERVER}; env.lab('zh', 9999, {menus!r})"
        )
        assert done.stdout.splitlines()[0] == extra
        settings = (tmp_path / "share/jupyter/lab/settings/overrides.json").read_text("utf-8")
        assert ("zh_CN" in settings) is (menus == "zh")
