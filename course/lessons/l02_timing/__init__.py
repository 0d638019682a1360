"""02_timing: Why is my stopwatch lying?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson("02_timing", both("Why is my stopwatch lying?", "我的秒表为什么在撒谎？"))
