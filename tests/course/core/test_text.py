"""The text of a page is made from its HTML: every word once, in the order of the page, and nothing that is not seen."""

from __future__ import annotations

import pytest

from course.core.i18n import set_language
from course.core.tables import as_html
from course.core.text import text_of


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
