"""What a name that is not known probably meant: mistyped, or of something the course no longer has. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from course.core.i18n import t

GONE = Path(__file__).parents[1] / "lessons" / "gone.yaml"


def nearest(typed: object, known: Iterable[object], most: int = 1, cutoff: float = 0.6) -> list[str]:
    """The known names most like ``typed``, best first, at most ``most``; cutoff: how alike, 0 to 1."""
    return get_close_matches(str(typed), [str(name) for name in known], most, cutoff)


def did_you_mean(typed: object, known: Iterable[object], most: int = 1, cutoff: float = 0.6) -> str:
    """A sentence with the nearest known names, to follow another sentence; empty where none is near."""
    near = nearest(typed, known, most, cutoff)
    if not near:
        return ""
    english, chinese = (joint.join(near) for joint in ('" or "', "”或“"))
    return t(f' Did you mean "{english}"?', f"是不是想写“{chinese}”？")


@lru_cache(maxsize=1)
def _gone() -> dict[str, str | None]:
    try:
        import yaml
    except ModuleNotFoundError:  # recording and measuring need torch, numpy and tqdm alone
        return {}
    listed = yaml.safe_load(GONE.read_text("utf-8"))
    return dict.fromkeys(listed["nothing"]) | listed["instead"]


def no_longer(name: object) -> str:
    """What became of a question, experiment, case or exercise that was taken out; empty for any other name."""
    if str(name) not in _gone():
        return ""
    now = _gone()[str(name)]
    instead = t(f" What it showed is in {now} now.", f"它讲的内容现在在 {now} 里。") if now else ""
    return t(
        f"{name} is no longer in the course.{instead} What you answered to it stays in your log.",
        f"{name} 已经不在课程里了。{instead}你当时的回答还留在记录里。",
    )
