"""Fill in a sentence in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from course.core.i18n import LANGUAGES, Text


def filled(text: Mapping[str, str], values: Mapping[str, Any]) -> Text:
    """The sentence with its values; a value may have two languages itself."""
    own = {
        code: {name: one[code] if isinstance(one, Mapping) else one for name, one in values.items()}
        for code in LANGUAGES
    }
    return {code: text[code].format(**own[code]) for code in LANGUAGES}
