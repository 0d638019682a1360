"""12_profiler: Where did the time go?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson("12_profiler", both("Where did the time go?", "时间都去哪儿了？"))
