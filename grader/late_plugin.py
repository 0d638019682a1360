"""nbgrader's plugin for late submissions, with the rules of ``late.yaml``. Stock commands and ours take the same points."""

from __future__ import annotations

from pathlib import Path

from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Unicode

from grader.late_rules import course_rules


class LateRules(LateSubmissionPlugin):
    """Set by ``grader.nbgrader_config`` as ``c.AssignLatePenalties.plugin_class``.

    Extensions given in nbgrader itself (``grant_extension``) count as well; the later date holds.
    """

    course_root = Unicode(".", help="the course directory with late.yaml").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """The points to take for a submission after the due date, or None for none. Raises ProjectError."""
        rules, lesson = course_rules(Path(self.course_root), self.config), self.parent.assignment_id
        submission = self.parent.gradebook.find_submission(lesson, student_id)
        handed_in, due = submission.timestamp, submission.duedate
        due = rules.due(lesson, student_id, due)
        return rules.penalty(lesson, due, handed_in, score, submission.max_score) or None
