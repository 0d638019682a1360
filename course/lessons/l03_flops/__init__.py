"""03_flops: How much work is that model?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson("03_flops", both("How much work is that model?", "这个模型要干多少活？"))
