"""Run in a small file system of its own: bring a file in while hardly anything is free, then again with room.

Prints a JSON list, one entry a try: {"status", "said", "works" after the full disk, "tree" after the second run}.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
import sys
from pathlib import Path

from grader.cli import main
from tests.support.grading_class import copy_of
from tests.support.grading_fixtures import LESSON
from tests.support.import_fuzz import tree, works


def one_try(place: Path, before: Path, file: Path, free: int) -> dict:
    """Bring ``file`` into a copy of ``before`` while ``free`` bytes are free."""
    root = copy_of(before, place / "class")
    filler, said = place / "filler", io.StringIO()
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as out:
        while True:
            out.write(bytes(4096))
    with filler.open("r+b") as out:
        out.truncate(max(0, filler.stat().st_size - free))
    words = ["import", str(file), "--lesson", LESSON, "--dir", str(root)]
    with contextlib.redirect_stdout(said):
        status = main(words)
    found = {"status": status, "said": said.getvalue(), "works": works(root)}
    filler.unlink()
    with contextlib.redirect_stdout(io.StringIO()):
        found["again"] = main(words)
    found["tree"] = tree(root)
    shutil.rmtree(root)
    return found


if __name__ == "__main__":
    place, old, new, tries, seed, most = sys.argv[1:]
    rng = random.Random(int(seed))
    print(json.dumps([one_try(Path(place), Path(old), Path(new), rng.randrange(int(most))) for _ in range(int(tries))]))
