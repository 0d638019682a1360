"""The version of the course: written into every log entry, record and answer sheet."""

__version__ = "0.1.0"
OLDEST_TORCH = (2, 9)
"""What the lessons are written for: pyproject.toml asks for it too."""
