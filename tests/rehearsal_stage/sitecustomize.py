"""Found first on the path of a rehearsal's processes: puts the stand-in GPU into each (see tests/rehearsal.py)."""

from tests.rehearsal import enter

enter()
