"""07_precision: Who turned my float32 into TF32?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson("07_precision", both("Who turned my float32 into TF32?", "谁把我的 float32 变成了 TF32？"))
