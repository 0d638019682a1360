"""00_start: Does everything work here, and what is this machine?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson(
    "00_start",
    both("Does everything work here, and what is this machine?", "这里一切正常吗？这是一台什么机器？"),
    checkpoint=False,
)
