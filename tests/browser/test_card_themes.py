"""The style sheets outside JupyterLab: the marks by which Colab, VS Code and the system tell their theme."""

from __future__ import annotations

import pytest

from course.cards.render import SHEET
from course.core.look import COLOURS

PLACES = [  # html tag, body tag, what the system prefers, whether the card is to be dark
    ("<html>", '<body data-jp-theme-light="true">', "dark", False),
    ("<html>", '<body data-jp-theme-light="false">', "light", True),
    ('<html theme="dark">', "<body>", "light", True),
    ('<html theme="light">', "<body>", "dark", False),
    ("<html>", '<body class="vscode-light">', "dark", False),
    ("<html>", '<body class="vscode-dark">', "light", True),
    ("<html>", '<body class="vscode-high-contrast">', "light", True),
    ("<html>", '<body class="vscode-high-contrast vscode-high-contrast-light">', "dark", False),
    ("<html>", "<body>", "light", False),
    ("<html>", "<body>", "dark", True),
]


@pytest.fixture
def page(fresh_page):
    return fresh_page


def test_the_look_follows_the_place(page):
    for html, body, system, dark in PLACES:
        page.emulate_media(color_scheme=system)
        page.set_content(f"<!doctype html>{html}<head>{SHEET}</head>{body}<div class='tbq'>text</div></body></html>")
        shown = page.evaluate("""() => { const style = getComputedStyle(document.querySelector('.tbq'));
                                         return [style.backgroundColor, style.color, style.borderRadius]; }""")
        expected = page.evaluate(
            """([bg, fg]) => [bg, fg].map(colour => { const probe = document.createElement('i');
            probe.style.color = colour; document.body.append(probe); return getComputedStyle(probe).color; })""",
            [COLOURS[name][dark] for name in ("paper", "fg")],
        )
        assert shown == [*expected, "14px"], (html, body, system)
