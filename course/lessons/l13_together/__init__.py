"""13_together: How do the switches meet the rest of torch?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson("13_together", both("Who listens to which switch, and when?", "哪个开关，谁在听，什么时候听？"))
