"""What the lessons' tests share: a live run measured once, records of invented rows, the words and the picture of each."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from course.core.i18n import LANGUAGES
from course.core.records import Record
from course.experiment import base
from course.experiment.reading import OPEN
from course.figures.plot import Plot, style
from course.figures.svg import PHONE, SvgPicture


@functools.cache
def measured(name: str, budget_s: float | None = None) -> Record:
    """The record of one live run, for all tests of this process; it fails where the run leaves anything changed."""
    before = _switches()
    record = base.run(name, budget_s)
    assert _switches() == before
    return record


def _switches() -> tuple[Any, ...]:
    import torch

    from course import flags

    return flags.read(), torch.get_num_threads(), torch.initial_seed(), torch.backends.flags_frozen()


def as_rows(columns: str, *lines: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Invented rows, written as a table: the names of its columns, then its lines."""
    return [dict(zip(columns.split(), line, strict=True)) for line in lines]


def record_of(name: str, rows: Sequence[dict[str, Any]], **machine: str) -> Record:
    """A record of this experiment with invented rows."""
    experiment = base.get(name)
    return Record(name, experiment.version, experiment.lesson, {"device": "cpu", **machine}, list(rows))


def check_shown(record: Record) -> str:
    """As ``check_sentence``, and the picture can be drawn; where the headline claims nothing, a row that is drawn may be missing."""
    if base.get(record.experiment).headline(record) not in OPEN:
        check_picture(record)
    return check_sentence(record)


def check_picture(record: Record, bets: dict[str, str | float] | None = None) -> Any:
    """What the experiment draws of the record: an SvgPicture, a Table or a Plot, with words, and nothing beside the paper of a phone."""
    picture = base.get(record.experiment).draw(record, bets or {})
    assert picture.alt and "nan" not in picture.alt
    assert marks(picture) if isinstance(picture, Plot) else picture.html()
    if isinstance(picture, SvgPicture):
        for mark in (paper := ElementTree.fromstring(picture.svg(PHONE))):
            _, _, *size = map(float, paper.attrib["viewBox"].split())
            for names, end in zip((("x", "cx"), ("y", "cy")), size, strict=True):
                assert all(-1 <= float(mark.get(name, 0)) <= end + 1 for name in names), ElementTree.tostring(mark)
    return picture


def marks(plot: Plot) -> int:
    """How many lines and boxes matplotlib draws in a Plot."""
    from matplotlib.figure import Figure

    with style():
        plot.paint(axes := Figure().add_subplot())
    assert axes.get_xlabel(), "name what the axis shows"
    return len(axes.lines) + len(axes.patches)


def check_sentence(record: Record) -> str:
    """The headline is a sentence in each language, with a value in every place. Gives back the English one."""
    sentence = base.get(record.experiment).headline(record)
    assert set(sentence) == set(LANGUAGES) and all(len(text) > 5 for text in sentence.values())
    assert not re.search(r"\b(nan|None)\b|[{}]", sentence["en"] + sentence["zh"])
    assert re.search(r"[一-鿿]", sentence["zh"]) and not re.search(r"[一-鿿]", sentence["en"])
    return sentence["en"]
