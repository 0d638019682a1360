"""06_cudnn_deterministic: What does “reproducible” really need?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson("06_cudnn_deterministic", both("What does “reproducible” really need?", "“可复现”到底需要什么？"))
