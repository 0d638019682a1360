"""04_cudnn_enabled: What happens when cuDNN is off?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson("04_cudnn_enabled", both("What happens when cuDNN is off?", "关掉 cuDNN 会怎样？"))
