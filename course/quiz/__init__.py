"""The quiz engine: questions, marking, the answer log, spacing, cards and their text twin, the answer sheet.

Names are loaded when first used; importing this package loads neither torch, numpy, matplotlib nor
ipywidgets.
"""

from __future__ import annotations

import importlib
from typing import Any

_WHERE = {
    "Item": "items",
    "Option": "items",
    "Number": "items",
    "Trap": "items",
    "BankError": "items",
    "UnknownItem": "items",
    "parse_item": "items",
    "with_key": "items",
    "Bank": "bank",
    "load_bank": "bank",
    "default_bank": "bank",
    "read_yaml": "bank",
    "lint": "item_lint",
    "lint_items": "item_lint",
    "lint_lesson": "item_lint",
    "run_verify": "verify",
    "Verification": "verify",
    "Response": "marking",
    "OptionFeedback": "marking",
    "mark": "marking",
    "mark_bet": "marking",
    "feedback": "marking",
    "misconceptions_of": "marking",
    "CONFIDENCE": "marking",
    "AnswerLog": "log",
    "Entry": "entry",
    "answer_log": "log",
    "default_path": "log",
    "AnswerError": "session",
    "submit": "session",
    "place_bet": "session",
    "settle": "session",
    "earlier": "session",
    "bet_of": "session",
    "settled_of": "session",
    "Due": "schedule",
    "due": "schedule",
    "warm_up": "schedule",
    "timetable": "schedule",
    "Report": "reporting",
    "report": "reporting",
    "answer": "text",
    "card_text": "text",
    "report_text": "text",
    "text_mode": "text",
    "Sheet": "sheet",
    "harvest": "harvesting",
    "open_sheet": "sheet",
    "current_sheet": "sheet",
    "MIME": "harvesting",
    "Card": "cards",
    "card": "cards",
    "practice": "cards",
    "explain": "cards",
    "bet": "cards",
    "checkpoint": "cards",
    "answer_sheet": "cards",
    "summary": "progress",
    "Progress": "progress",
    "progress_html": "progress_view",
    "progress_text": "progress_view",
    "returning": "calibration",
    "export_to": "transfer",
    "import_from": "transfer",
}
__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(f"course.quiz.{_WHERE[name]}"), name)
    raise AttributeError(f"module 'course.quiz' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
