"""What stands behind a case in code: how its script is run and watched, how the symptom is told, what a repair must show.

The words of a case are in ``cases.yaml``. Importing this, or any scene, loads no torch: a scene runs in a new process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from course.core.i18n import Text

if TYPE_CHECKING:
    from course.lessons.l11_bug_hunt.stage import Stage

Facts = dict[str, Any]
"""What a scene saw, as JSON data."""


@dataclass(frozen=True)
class Scene:
    """watch(stage) -> facts, in the new process. told(facts): the symptom as it was seen, in one sentence. objection(facts): what
    still speaks against a repair, or None. innocence(as it is, as wished): why the facts of both scripts do not prove that nothing
    is wrong, or None where they do; only scenes of innocent scripts have it.
    """

    watch: Callable[[Stage], Facts]
    told: Callable[[Facts], Text]
    objection: Callable[[Facts], Text | None]
    innocence: Callable[[Facts, Facts], Text | None] | None = None
