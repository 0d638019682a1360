"""Where a model stands under its machine's roof: measured peaks, and every layer placed against them.

>>> from course.roofline import peaks, place
>>> place(model, x)                  # doctest: +SKIP
"""

from __future__ import annotations

from course.roofline.peaks import Peaks, peaks
from course.roofline.place import place
from course.roofline.result import Layer, Roofline
from course.roofline.words import RooflineError

__all__ = ["Layer", "Peaks", "Roofline", "RooflineError", "peaks", "place"]
