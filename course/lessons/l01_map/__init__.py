"""01_map: What is torch.backends, and what is it not?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson("01_map", both("What is torch.backends, and what is it not?", "torch.backends 是什么，又不是什么？"))
