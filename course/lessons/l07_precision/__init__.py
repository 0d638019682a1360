"""07_precision: When may float32 be computed with fewer digits?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson(
    "07_precision", both("When may float32 be computed with fewer digits?", "float32 什么时候可以少算几位？")
)
