"""Sources of notebooks for tests, cell by cell."""

from __future__ import annotations


def text(body: str, language: str = "en", more: str = "") -> str:
    """A text cell. more: what else its metadata say, such as ``, "essay": "50-e-why"``."""
    return f'+++ {{"lang": "{language}"{more}}}\n\n{body}\n\n'


def code(body: str, option: str = "") -> str:
    """A code cell. option: such as ``:task: 90-t-contrast``."""
    return "```{code-cell} ipython3\n" + (f"{option}\n\n" if option else "") + f"{body}\n```\n\n"


def question(identity: str) -> str:
    """The cell of a question."""
    return code(f'question("{identity}")')


BOOTSTRAP = code("# bootstrap")
