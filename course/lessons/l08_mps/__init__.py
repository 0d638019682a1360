"""08_mps: What does Apple's backend switch, and what not?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson(
    "08_mps", both("What does Apple's backend switch, and what not?", "苹果的后端能切换什么，不能切换什么？")
)
