"""05_cudnn_benchmark: When does the search pay, and when does it cost?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson(
    "05_cudnn_benchmark", both("When does the search pay, and when does it cost?", "搜索什么时候划算，什么时候亏本？")
)
