"""14_export: Do these switches survive export?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson("14_export", both("Do these switches survive export?", "导出之后，这些开关还在吗？"))
