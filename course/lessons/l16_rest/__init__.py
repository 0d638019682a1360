"""16_rest: What else is in the fuse box?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson("16_rest", both("What else is in the fuse box?", "配电箱里还有哪些开关？"))
