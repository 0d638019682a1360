"""``python -m grader ...``: what an author and an instructor run."""

from __future__ import annotations

import sys

from grader.commands import main

sys.exit(main())
