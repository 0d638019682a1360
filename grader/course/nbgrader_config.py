"""The settings with which stock nbgrader commands in a course directory give the course's own marks.

``python -m grader init`` writes a short ``nbgrader_config.py`` there, which calls ``configure``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grader.project import HERE

SANITIZE = [
    "grader.marking.execute.Sanitize",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.DeduplicateIds",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
AUTOGRADE = [
    "grader.marking.execute.CourseExecute",
    "nbgrader.preprocessors.IgnorePattern",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "grader.marking.held.HoldBack",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
FEEDBACK = [
    "nbgrader.preprocessors.AssignLatePenalties",  # a text may have been marked since
    "nbgrader.preprocessors.GetGrades",
    "grader.reporting.feedback.Overview",
    "grader.marking.outputs.Shorten",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]
FILE = '''"""Written by `python -m grader init`: stock nbgrader commands here give the course's own marks."""
import sys
from pathlib import Path

CHECKOUT = {checkout!r}
if CHECKOUT not in sys.path:
    sys.path.insert(0, CHECKOUT)

from grader.course.nbgrader_config import configure  # noqa: E402

c = get_config()  # noqa: F821
configure(c, Path(__file__).resolve().parent, language={language!r}, course_id={course_id!r},
          exchange={exchange!r}, project_root={project_root!r}, timezone={timezone!r})

# Your own settings go below. Points for late submissions, percent of the points earned for each day begun after the due date:
# c.LatePoints.grace_minutes = 15
# c.LatePoints.per_day_percent = 10
# c.LatePoints.cap_percent = 50
'''


def configure(
    c: Any,
    root: Path,
    language: str = "en",
    course_id: str = "torch-backends",
    exchange: str | None = None,
    project_root: str | None = None,
    timezone: str = "UTC",
) -> None:
    """Set everything the course needs on the traitlets config ``c`` of the course directory ``root``.

    exchange: the folder assignments are handed out through, by default ``exchange/`` beside the config.
    project_root: the checkout with sources, keys and tasks, by default the one this file is in. timezone: in which dates are
    read and shown.
    """
    from grader.project.build import STUB, TEXT_STUB, preprocessors

    c.CourseDirectory.root = str(root)
    c.CourseDirectory.course_id = course_id
    c.CourseDirectory.include = ["*"]  # `*.answers.json` must be handed in with the notebook
    c.Exchange.root = exchange or str(root / "exchange")
    c.Authenticator.plugin_class = "nbgrader.auth.NoAuthPlugin"  # a Hub is asked who its students are by them alone
    c.ExchangeFactory.collect = "grader.handin.exchange.CollectChecked"
    c.ClearSolutions.code_stub = {"python": STUB[language]}
    c.ClearSolutions.text_stub = TEXT_STUB[language]
    c.GenerateAssignment.preprocessors = preprocessors()
    c.CourseStep.project_root = project_root or str(HERE)
    c.CourseStep.course_root = str(root)
    c.CourseStep.course_language = language
    c.CourseStep.course_timezone = timezone
    c.Autograde.sanitize_preprocessors = SANITIZE
    c.Autograde.autograde_preprocessors = AUTOGRADE
    c.GenerateFeedback.preprocessors = FEEDBACK
    c.Autograde.pre_convert_hook = "grader.handin.stock.before_autograde"
    c.AssignLatePenalties.plugin_class = "grader.course.late.LatePoints"
    c.ExportApp.plugin_class = "grader.reporting.export.CourseExport"
    c.CourseExport.course_root = str(root)
    c.GenerateFeedback.exporter_class = "grader.reporting.feedback.FeedbackPage"
    c.FeedbackPage.template_name = "course_feedback"
    c.FeedbackPage.extra_template_basedirs = [str(HERE / "grader" / "reporting" / "templates")]
    c.HTMLExporter.sanitize_html = True  # feedback and formgrader show what students wrote
    c.HTMLExporter.filters = {
        "clean_html": "grader.marking.outputs.clean",
        "markdown2html": "grader.marking.outputs.markdown",
    }
