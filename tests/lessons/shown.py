"""A record as the tests of the lessons need it: of given rows, settled, told and drawn."""

from __future__ import annotations

import re

from course.experiment import base
from course.records import Record


def record_of(name, rows, complete=True, **machine):
    """A record of the experiment ``name`` with these rows, from a CPU."""
    experiment = base.get(name)
    about = {"device": "cpu", **machine}
    return Record(name, experiment.version, experiment.lesson, about, rows, complete=complete)


def settled(name, rows):
    """bet -> option, None where these rows leave it open."""
    return base.get(name).settles(record_of(name, rows))


def check_shown(record):
    """The sentence exists in both languages, and the picture can be drawn. Returns the English sentence."""
    from matplotlib.figure import Figure

    experiment = base.get(record.experiment)
    sentence = experiment.finding(record)
    assert all(len(sentence[code]) > 15 for code in ("en", "zh"))
    assert not re.search(r"\b(nan|None)\b", sentence["en"])
    experiment.draw(record, Figure().subplots())
    return sentence["en"]
