"""10_tuning_master: Which configuration for this team?"""

from course.i18n import both
from course.lessons.lesson import Lesson

LESSON = Lesson("10_tuning_master", both("Which configuration for this team?", "这个团队，该用哪一套配置？"))
