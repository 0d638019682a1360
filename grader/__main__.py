"""The commands ``python -m grader ...`` for authors and instructors."""

from __future__ import annotations

import sys

from grader.cli import main

if __name__ == "__main__":  # the marking processes import this file too
    sys.exit(main())
