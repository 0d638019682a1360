"""The words of the roofline that several pages share, and the error that carries them."""

from __future__ import annotations

from course.core.i18n import t


class RooflineError(ValueError):
    """Something that cannot be placed as given. A notebook shows its sentence alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def cannot(english: str, chinese: str) -> RooflineError:
    """The error to raise, with its sentence in the learner's language."""
    return RooflineError(t(english, chinese))


def percent(share: float) -> str:
    """A share as a percentage with two significant figures or whole per cents."""
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"


def between(low: float, high: float) -> str:
    """An interval of shares: 52 % where both ends read the same, else 48% to 55%."""
    ends = percent(low), percent(high)
    return ends[0] if ends[0] == ends[1] else t(f"{ends[0]} to {ends[1]}", f"{ends[0]} 至 {ends[1]}")


def bound_word(bound: str) -> str:
    """`compute`, `memory`, `overhead` or `outside` in the learner's language."""
    words = {"compute": t("compute", "计算"), "memory": t("memory", "访存"), "overhead": t("overhead", "调用开销")}
    return words.get(bound, t("code outside the layers", "各层之外的代码"))
