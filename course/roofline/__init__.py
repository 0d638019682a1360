"""The roofline of a model: `peaks` measures what this machine can do at most, `place` compares each layer with that.

>>> from course.roofline import peaks, place
>>> place(model, x)                  # doctest: +SKIP
"""

from __future__ import annotations

from course.roofline.layer import Peaks, RooflineError
from course.roofline.peaks import peaks
from course.roofline.place import place
from course.roofline.result import Roofline

__all__ = ["Peaks", "Roofline", "RooflineError", "peaks", "place"]
