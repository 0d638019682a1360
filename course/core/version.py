"""The version of the course, written into every log entry, record and answer sheet; and the address where it is published."""

from __future__ import annotations

from importlib import metadata

__version__ = "1.0.0"
OLDEST_TORCH = (2, 9)
"""What the lessons are written for: pyproject.toml asks for it too."""


def address() -> str:
    """Where the course is published: the repository that pyproject.toml names, as the installed package knows it; empty where none is."""
    try:
        urls = metadata.metadata("torch-backends-course").get_all("Project-URL") or ()
    except metadata.PackageNotFoundError:
        return ""
    named = dict(one.split(", ", 1) for one in urls)
    return next((url for name, url in named.items() if name.lower() == "repository"), "")
