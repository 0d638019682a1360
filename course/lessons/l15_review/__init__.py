"""15_review: What can you now claim?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson("15_review", both("What can you now claim?", "现在你能说什么？"))
