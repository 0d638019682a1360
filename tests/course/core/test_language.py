"""The language a process starts with, what a kernel says after a restart, unclear factors in Chinese, and a page's text."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from jupyter_client.manager import start_new_kernel

import course
from course.core import i18n
from course.core.i18n import remember, set_language
from course.core.plain_text import text_of
from course.core.tables import as_html
from tests.conftest import ROOT

START = "import course; from course.core import i18n; print(i18n.language())"


@pytest.mark.parametrize(
    ("chosen", "asked", "system", "language"),
    [
        ("", "", "C.UTF-8", "en"),
        ("", "", "zh_CN.UTF-8", "zh"),
        ("", "", "de_DE.UTF-8", "en"),
        ("en", "", "zh_CN.UTF-8", "en"),
        ("zh", "", "C.UTF-8", "zh"),
        ("zh", "en", "C.UTF-8", "en"),
        ("", "fr", "zh_TW", "zh"),
    ],
)
def test_a_new_process_speaks_the_language_chosen_last(chosen, asked, system, language, tmp_path, monkeypatch):
    """chosen: by the learner, in an earlier process. asked: COURSE_LANGUAGE. system: LANG."""
    home = tmp_path / "home"
    monkeypatch.setenv("COURSE_HOME", str(home))
    if chosen:
        course.language(chosen)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("LC_")}
    env = kept | {"COURSE_LANGUAGE": asked, "LANG": system, "PYTHONUTF8": "1"}
    done = subprocess.run([sys.executable, "-c", START], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == language


@pytest.mark.parametrize(
    ("setting", "language"),
    [("Chinese (Simplified)_China.936", "zh"), ("English_United States.1252", "en"), ("UTF-8", "en"), ("C", "en")],
)
def test_where_no_variable_names_it_the_language_is_that_of_windows(setting, language, monkeypatch):
    for name in (*i18n.SAYS_SO, "COURSE_LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(i18n.locale, "setlocale", lambda category: setting)
    assert next((one for one in i18n.wishes() if one in course.core.i18n.LANGUAGES), "en") == language


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_memory(tmp_path, monkeypatch):
    (tmp_path / "home").write_text("a file where a folder should be")
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "home"))
    remember("zh")
    assert (tmp_path / "home").read_text() == "a file where a folder should be"


@pytest.mark.slow
@pytest.mark.parametrize(("language", "hint"), [("en", "is not there yet"), ("zh", "内核刚刚重启过")])
def test_after_a_restart_a_name_of_the_course_says_what_to_do(language, hint, monkeypatch):
    """In a real kernel of this environment, in the language chosen last; every other missing name stays an error."""
    course.language(language)
    monkeypatch.delenv("COURSE_LANGUAGE")
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(ROOT))
    said = []

    def run(code):
        said.clear()
        reply = client.execute_interactive(code, timeout=60, output_hook=lambda one: said.append(one["content"]))
        return reply["content"]["status"], " ".join(one.get("text", "") for one in said)

    try:
        for code in ('predict("05-bet-revisit")', "observe", "torch.ones(3)"):
            status, words = run(code)
            assert hint in words and "Run All Above Selected Cell" in words and "Traceback" not in words
        assert run("not_of_the_course")[0] == "error"
        assert run("from course import predict; predict")[0] == "ok"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


NUMBER = r"(?:[两二三四五六七八九百千]|\d+)"
UNCLEAR = re.compile(rf"(?<![至最很])[多长高大小少低慢]了约?\s?{NUMBER}\s?倍|[慢快]上?一半|差了?\s?[两二2]\s?倍")
"""Say 是……的 N 倍, or 耗时是……的 N 倍."""
SEARCHED = re.compile(r"^\s+(?:asked|also): .*$", re.M)  # what people type


def test_no_text_of_the_course_has_an_unclear_factor():
    folders = [ROOT / "course" / "lessons", ROOT / "grader" / "lessons"]
    files = [path for folder in folders for kind in ("*.yaml", "*.md") for path in folder.rglob(kind)]
    files += [*ROOT.glob("docs/*.zh-CN.md"), ROOT / "README.zh-CN.md"]
    found = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for path in files
        for hit in UNCLEAR.finditer(SEARCHED.sub("", path.read_text("utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<style>p{}</style><h3><span>One.</span> <span>Two.</span></h3><p>a <b>b</b>\n c<br>d &lt;e&gt;</p>", "One. Two.\na b c\nd <e>"),
        ('<img alt="A &amp; B"><img alt="A &amp; B"><svg aria-label="drawn"><text>no</text></svg>', "A & B\ndrawn"),
        ('<p>3 / 4<span aria-hidden="true"><i>no</i></span></p><script>no()</script>', "3 / 4"),
        ("<details><summary>More</summary><p>in</p><details><summary>Again:</summary>x</details></details><p>out</p>",
         "More:\n  in\n  Again:\n    x\nout"),
        ("<ul><li>a</li><li><code>b</code></li></ul>", "• a\n• b"),
        ("<ol><li>a</li><li>b</li></ol><ul style='list-style:none'><li><b>a)</b> <code>  x</code><br>why</li></ul>",
         "1. a\n2. b\na)   x\nwhy"),
        ("<dl><dt>name</dt><dd>text</dd><dt>more</dt><dd>words</dd></dl>", "name: text\nmore: words"),
        ("<table><tr><td>a<small>b</small></td></tr></table><a href='https://x.org/a'>read on</a>", "a b\nread on (https://x.org/a)"),
        ("<details><summary>🎴 <b>One</b><div>Which?</div></summary>x</details>", "🎴 One\nWhich?\n  x"),
        ("<p>never closed <b>bold", "never closed bold"),
        ("<pre><code>if a:\n    b &lt; 1</code></pre>", "if a:\n    b < 1"),
        (as_html([["", "n"], ["one", "1"], ["two", "22"]]), "      n\none   1\ntwo  22"),
        ("<table><tr><th>a</th><th>b</th></tr><tr><td colspan=2>… 3 more …</td></tr><tr><td>c</td><td>d</td></tr></table>",
         "a  b\n… 3 more …\nc  d"),
    ],
)  # fmt: skip
def test_every_word_once_and_in_order(html, text):
    set_language("en")
    assert text_of(html) == text


def test_a_table_too_broad_for_a_terminal_is_told_line_by_line_with_its_heads():
    broad = as_html([["case", "x", "y"], ["one", "a" * 100, "b" * 100], ["two", "c", "–"]])
    assert text_of(broad).split("\n") == [f"one: x: {'a' * 100}; y: {'b' * 100}", "two: x: c"]
