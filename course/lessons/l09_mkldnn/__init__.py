"""09_mkldnn: What does oneDNN do on my CPU?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson("09_mkldnn", both("What does oneDNN do on my CPU?", "oneDNN 在我的 CPU 上做什么？"))
