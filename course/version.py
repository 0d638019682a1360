"""The version of the course: written into every log entry, record and answer sheet."""

__version__ = "0.1.0"
