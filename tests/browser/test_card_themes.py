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


def luminance(colour: str) -> float:
    """Relative luminance of #rgb or #rrggbb, WCAG 2."""
    digits = colour.lstrip("#")
    digits = "".join(c * 2 for c in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [0, 1], ids=["light", "dark"])
def test_every_pair_of_colours_can_be_read(dark):
    found = {name: pair[dark] for name, pair in COLOURS.items()}
    texts = [
        ("fg", "paper page fill wash goodbg badbg partbg betwash"),
        ("soft", "paper page fill"),
        ("out", "paper page fill wash"),
        ("bet", "paper wash betwash"),
        ("onout", "out hover"),
        ("good", "paper goodbg"),
        ("bad", "paper badbg"),
        ("part", "paper partbg"),
        ("paper", "good bad"),
    ]
    for text, surfaces in texts:
        for surface in surfaces.split():
            assert contrast(found[text], found[surface]) >= 4.5, (text, surface)
    assert contrast(found["edge"], found["paper"]) >= 3  # edges of controls


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
