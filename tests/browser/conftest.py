"""A real JupyterLab and a real Chromium, shared by the browser tests of one worker."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from course.cards.widgets import DOUBLE_CLICK_S
from course.core.i18n import LANGUAGES
from tests.conftest import ROOT, free_port, hurried, missing

CHROMIUM_ARGS = """--no-sandbox --disable-gpu --disable-background-networking --no-first-run --disable-component-update
 --disable-sync --disable-quic""".split()
NO_NEWS = {"fetchNews": "false", "checkForUpdates": False}
VIEW = {"width": 1280, "height": 1000}
REPLAY = "import os; os.environ['COURSE_REPLAY'] = '1'\n"
"""Code that has a kernel show recordings, also of what this machine could measure."""
AXE = """([within, options]) => {
  for (const one of document.getAnimations()) if (one.effect.getComputedTiming().endTime !== Infinity) one.finish();
  return axe.run(within ?? document, options).then(found => found.violations
  .filter(one => ['serious', 'critical'].includes(one.impact))
  .map(one => `${one.id} (${one.impact}): ${one.help}: ` + one.nodes.slice(0, 3).map(node => node.html.slice(0, 160))))}"""
"""Colours are judged where a fade ends: in the middle of one, text and background may be equally grey for a tenth of a second."""


def assert_open_to_all(page, moment: str, within: str | None = None, colours_alone: bool = False) -> None:
    """axe-core finds nothing serious or critical, on the page or in the elements of a selector.

    colours_alone: only whether colours can be told apart, where everything else was looked at in the other theme.
    """
    try:
        from axe_playwright_python.base import AXE_SCRIPT
    except ImportError:
        missing("axe-playwright-python", "python -m pip install axe-playwright-python -c constraints.txt")
    if page.evaluate("window.axe === undefined"):
        page.evaluate(AXE_SCRIPT)
    options = {"resultTypes": ["violations"], "preload": False} | (
        {"runOnly": ["color-contrast"]} if colours_alone else {}
    )
    assert page.evaluate(AXE, [within, options]) == [], moment


OURS = """within => '<style>' + [...document.querySelectorAll('style')].map(one => one.textContent)
  .filter(text => text.includes('.tbq') || text.includes('.tbg') || text.includes('.tbr')).join('\\n') + '</style>'
  + [...document.querySelectorAll(within)].map(one => one.outerHTML).join('')"""


def assert_colours_hold(page, moment: str, within: str) -> None:
    """What a notebook shows in the elements of a selector can be read in both themes.

    Looked at in a page of its own: within JupyterLab's panels axe takes every element for hidden, and its colours for good.
    """
    shown = page.evaluate(OURS, within)
    copy = page.context.new_page()
    try:
        for light in ("true", "false"):
            copy.set_content(
                f'<!doctype html><html lang="en"><body data-jp-theme-light="{light}">{shown}</body></html>'
            )
            assert_open_to_all(copy, f"{moment}, {'light' if light == 'true' else 'dark'}", within, colours_alone=True)
    finally:
        copy.close()


def comes_to(page, read: Callable[[], Any], wanted: Any, timeout_s: float = 30) -> None:
    """What is read becomes the wanted, at the latest after some seconds."""
    end = time.monotonic() + timeout_s
    while read() != wanted and time.monotonic() < end:
        page.wait_for_timeout(100)
    assert read() == wanted


def languages(daily: str) -> list:
    """Parameters: the same steps in both languages, `daily` every day, the other among the long tests."""
    return [pytest.param(code, marks=() if code == daily else pytest.mark.long) for code in LANGUAGES]


def chromium_path() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    return missing("Chromium", "install it (on Debian: apt install chromium) and run the tests again")


class Lab:
    """One JupyterLab server on a folder of its own, or started in the folder ``work``.

    It asks Node at no load of a page whether its own parts want to be built anew; all else is what learners get.
    """

    def __init__(self, folder: Path, work: Path | None = None):
        self.folder, self.port = folder, free_port()
        for path, told in {
            "settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
            "settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings": NO_NEWS,
            "config/labconfig/page_config.json": {"buildCheck": False, "buildAvailable": False},
        }.items():
            (folder / path).parent.mkdir(parents=True)
            (folder / path).write_text(json.dumps(told))
        self.work = work or folder / "work"
        self.work.mkdir(exist_ok=True)
        env = os.environ | {
            "COURSE_HOME": str(folder / "home"),
            "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        }
        words = "-m jupyter lab --no-browser --allow-root --expose-app-in-browser --ServerApp.port_retries=0".split()
        own = ["--IdentityProvider.token=", f"--port={self.port}", f"--ServerApp.root_dir={self.work}"]
        log = open(folder / "server.log", "wb")
        self.process = subprocess.Popen(
            [sys.executable, *words, *own], cwd=work, env=env, stdout=log, stderr=subprocess.STDOUT
        )
        self._wait()

    def _wait(self) -> None:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api", timeout=2)
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.5)
        raise RuntimeError((self.folder / "server.log").read_text()[-3000:])

    def url(self, notebook: str) -> str:
        return f"http://127.0.0.1:{self.port}/lab/tree/{notebook}?reset"

    def write(self, name: str, *cells: str | nbformat.NotebookNode) -> str:
        """Put a notebook of these cells, texts being code, into the served folder and return its name there."""
        made = [nbformat.v4.new_code_cell(one) if isinstance(one, str) else one for one in cells]
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        nbformat.write(nbformat.v4.new_notebook(cells=made, metadata=kernel), self.work / name)
        return name

    def put(self, source: Path, name: str) -> str:
        """Copy a notebook into the served folder and return its name there."""
        (self.work / name).write_text(hurried(source.read_text("utf-8")), "utf-8")
        return name

    def forget(self) -> None:
        """Throw away every answer given so far: a learner who starts afresh."""
        shutil.rmtree(self.folder / "home", ignore_errors=True)
        for sheet in self.work.glob("*.answers.json"):
            sheet.unlink()

    def sessions(self) -> list[dict]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/sessions") as answer:
            return json.load(answer)

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    server = Lab(tmp_path_factory.mktemp("lab"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGS)
        yield browser
        browser.close()


def new_tab(chromium):
    context = chromium.new_context(viewport=VIEW)
    tab = context.new_page()
    tab.set_default_timeout(30_000)
    return tab


@pytest.fixture
def fresh_page(chromium):
    """An empty tab of a browser that has seen nothing yet."""
    tab = new_tab(chromium)
    yield tab
    tab.context.close()


@pytest.fixture(scope="session")
def kept_tabs():
    """The tab in which one test after the other opens its notebook: none, or one."""
    return []


@pytest.fixture
def page(request, chromium, kept_tabs):
    """The tab of this worker, with JupyterLab already loaded after the first test; a new one after a test that failed."""
    failed = request.session.testsfailed
    if not kept_tabs:
        kept_tabs.append(new_tab(chromium))
    (tab,) = kept_tabs
    tab.set_viewport_size(VIEW)
    yield tab
    if request.session.testsfailed > failed:
        kept_tabs.pop().context.close()


CLOSE_ALL = """async () => {
  const {shell, serviceManager} = window.jupyterapp;
  for (const one of [...shell.widgets('main')]) one.dispose();
  await serviceManager.sessions.shutdownAll(); }"""


class Notebook:
    """An open notebook: what a person would do in it."""

    def __init__(self, page, lab: Lab, name: str):
        self.page, self.lab, self.name = page, lab, name

    def open(self) -> Notebook:
        """Open it in the JupyterLab of the tab, every other closed and its kernel ended; or load JupyterLab with it."""
        if self.page.evaluate("window.jupyterapp !== undefined && !document.querySelector('.jp-Dialog')"):
            self.page.evaluate(CLOSE_ALL)
            self.command("docmanager:open", json.dumps({"path": self.name}))
        else:
            self.page.goto(self.lab.url(self.name))
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=90_000)
        self.page.wait_for_function("window.jupyterapp && window.jupyterapp.shell.currentWidget", timeout=60_000)
        return self

    def command(self, name: str, args: str = "{}") -> None:
        """Run a command of JupyterLab. What it returns stays there: a whole widget takes seconds to be told."""
        self.page.evaluate(f"async () => {{ await window.jupyterapp.commands.execute('{name}', {args}) }}")

    def started(self) -> None:
        """Wait until the kernel has started and has nothing to do."""
        self.page.wait_for_function(
            "window.jupyterapp.shell.currentWidget.sessionContext?.session?.kernel?.status === 'idle'", timeout=90_000
        )

    def rested(self) -> None:
        """Wait until the kernel has done what was pressed, and the next press is no half of a double click."""
        self.started()
        self.page.wait_for_timeout(1000 * DOUBLE_CLICK_S + 100)

    def tell_kernel(self, code: str) -> None:
        """Have the kernel run something that stands in no cell, without waiting for it."""
        self.started()
        self.page.evaluate(
            "code => { window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({code}) }",
            code,
        )

    def replay(self) -> None:
        """Run REPLAY in the kernel."""
        self.tell_kernel(REPLAY)

    def run_all(self, timeout_s: float = 240, command: str = "notebook:run-all-cells") -> None:
        """Run all cells and wait until none is running or waiting."""
        self.started()
        self.page.evaluate(
            """([ms, command]) => Promise.race([window.jupyterapp.commands.execute(command),
                                  new Promise((_, late) => setTimeout(late, ms, 'the cells still run'))])""",
            [timeout_s * 1000, command],
        )
        self.page.wait_for_function(
            """() => ![...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]
                      .some(p => p.textContent.includes('*'))
                  && window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'""",
            timeout=timeout_s * 1000,
        )

    def run_to(self, text: str) -> None:
        """Run all cells down to the one whose source holds ``text``."""
        self.page.evaluate(
            """text => { const {content} = window.jupyterapp.shell.currentWidget;
              content.activeCellIndex = 1 + content.widgets.findIndex(one => one.model.type === 'code'
                && one.model.sharedModel.getSource().includes(text)); }""",
            text,
        )
        self.run_all(command="notebook:run-all-above")

    def restart_and_run_all(self) -> None:
        """A new kernel, as after closing the notebook; then all cells."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
        self.run_all()

    def cell(self, text: str):
        """The code cell whose source holds ``text``."""
        return self.page.locator(".jp-CodeCell", has=self.page.locator(".jp-InputArea", has_text=text)).first

    def save(self) -> None:
        self.command("docmanager:save")
        self.page.wait_for_function("!window.jupyterapp.shell.currentWidget.context.model.dirty")

    def theme(self, dark: bool) -> None:
        name = "JupyterLab Dark" if dark else "JupyterLab Light"
        self.command("apputils:change-theme", json.dumps({"theme": name}))
        self.page.wait_for_function(f"document.body.dataset.jpThemeName === '{name}'")
        self.page.wait_for_timeout(400)  # colours fade over


@pytest.fixture
def notebook(page, lab):
    """Open a built notebook: ``notebook("en", "lessons", "05_cudnn_benchmark")``."""

    lab.forget()

    def opened(language: str, kind: str, stem: str) -> Notebook:
        source = ROOT / "notebooks" / language / kind / f"{stem}.ipynb"
        name = lab.put(source, f"{stem}.{language}.{kind}.ipynb")
        return Notebook(page, lab, name).open()

    return opened
