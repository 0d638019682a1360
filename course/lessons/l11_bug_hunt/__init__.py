"""11_bug_hunt: Which line hurts, why, and what instead?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson("11_bug_hunt", both("Which line hurts, why, and what instead?", "哪一行有毛病，为什么，怎么改？"))
