"""The process in which a copy of the user's step is tried; it says what is known, a line of JSON at a time.

python -m course.tryout.worker FOLDER '{"seconds": 30}'
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from course.flags import SWITCHES, using
from course.i18n import set_language
from course.tryout.measuring import Bench, Row, Tell, said_of
from course.tryout.reach import device_of
from course.tryout.settings import TryError, all_settings, chosen, why_not
from course.tryout.work import Work, loaded

Spec = dict[str, Any]
"""only, compile, cores: as `settings.chosen` takes them. language, grad, dtype, switches: of the user's process. seconds: for all
of it. together: ids of settings to apply all at once, and nothing else. here: whether this is the user's own process.
"""


def main(folder: Path, more: Spec) -> None:
    """Do what is asked for and say it."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the step prints

    def tell(row: Row) -> None:
        answers.write(json.dumps(row) + "\n")
        answers.flush()

    spec = as_there(folder) | more
    find_out(loaded(folder / "step"), spec, tell)


def as_there(folder: Path) -> Spec:
    """Set this process up as the user's was; returns what was written for it."""
    spec: Spec = json.loads((folder / "spec.json").read_text("utf-8"))
    set_language(spec["language"])
    torch.set_grad_enabled(spec["grad"])
    torch.set_default_dtype(getattr(torch, spec["dtype"]))
    differing = {name: value for name, value in spec["switches"].items() if SWITCHES[name].read() != value}
    using(differing, skip_absent=True).__enter__()  # for good
    return spec


def find_out(step: Callable[[], Any], spec: Spec, tell: Tell) -> None:
    """Tell everything that can be found in one process; or what the step raised as it is."""
    try:
        _find_out(step, spec, tell)
    except TryError:
        raise
    except Exception as error:  # noqa: BLE001  (the user's step runs)
        tell({"raised": said_of(error)})


def _find_out(step: Callable[[], Any], spec: Spec, tell: Tell) -> None:
    until = time.monotonic() + spec["seconds"]
    bench = Bench(step)
    if ids := spec.get("together"):
        joint = [one for one in all_settings(spec["cores"]) if one.id in ids]
        tell({"id": "together", **bench.digits(joint)})
        if not any(one.kept for one in joint):
            tell({"id": "together", **bench.race(joint, max(1.0, until - time.monotonic()))})
        return
    look = bench.look
    tell({"look": {**asdict(look), "operators": sorted(look.operators)}, "random": bench.random})
    settings = chosen(spec["only"], spec["compile"], spec["cores"])
    can = [one for one in settings if not why_not(one, look) and not (spec.get("here") and (one.pins or one.kept))]
    bench.all(can, max(spec["seconds"] / 2, until - time.monotonic()), tell)


def ready(folder: str, ids: list[str]) -> Callable[[], Any]:
    """The step that was saved, in this process for good with the settings of these ids."""
    spec = as_there(Path(folder))
    step = loaded(Path(folder) / "step")
    return Work(step, device_of(step)).for_good([one for one in all_settings(spec["cores"]) if one.id in ids])


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
    os._exit(0)  # taking torch down in order takes up to a second, and nothing here needs it
