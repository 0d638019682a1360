"""The ranks of a game as a ladder: where the learner stands, how far the last case brought them, what the next rank takes."""

from __future__ import annotations

import html
from pathlib import Path

from course.game.board import Career
from course.i18n import pick, t
from course.units import format_points

CSS = (Path(__file__).parent / "ladder.css").read_text("utf-8")


def career_lines(found: Career) -> list[str]:
    """The rank and what the next one takes; then the mean, and whether the last case raised it. With marks."""
    sign, name = found.rank
    if found.mean is None:
        return [t("No case closed yet: the night is young.", "还一个都没做完：夜还长着呢。")]
    rank = f"{sign} **{pick(name)}**" + (f" · {next_words(found)}" if found.next else "")
    mean = format_points(round(found.mean, 1))
    said = t(
        f"{mean} of 10 on average, {found.closed} of {found.all} cases closed.",
        f"平均 {mean} 分（满分 10），做完 {found.closed} 个（共 {found.all} 个）。",
    )
    gain = found.mean - found.before if found.before is not None else 0.0
    if gain > 0.05:
        said += t(" Up with the last case. The coffee helps.", "上一题拉高了平均分，咖啡没白喝。")
    elif gain < -0.05:
        said += t(" Down a little: the last case was a good teacher.", "上一题拉低了一点，不过学到了不少。")
    return [rank, said]


def next_words(found: Career) -> str:
    """What the next rank takes."""
    least, cases, sign, name = found.next
    points, more = max(0.0, least - (found.mean or 0.0)), max(0, cases - found.closed)
    missing = format_points(round(points, 1))
    takes = [
        t(f"{more} more {'case' if more == 1 else 'cases'}", f"再做完 {more} 个") if more else "",
        t(f"{missing} more on average", f"平均再高 {missing} 分") if points else "",
    ]
    rank, said = f"{sign} {pick(name)}", t(" and ", "、").join(filter(None, takes))
    return t(f"{said} to {rank}", f"{said}，就是 {rank}")


def ladder_html(found: Career) -> str:
    """The ranks side by side, filled up to where the learner stands; what the last case added is striped. ``career_lines`` says it."""
    reached = found.rank if found.mean is not None else None
    steps = "".join(
        f'<p style="left:{100 * place / len(found.ranks):g}%"{" class=on" if (sign, name) == reached else ""}>{sign}'
        f"<span> {html.escape(pick(name))}</span></p>"
        for place, (_, _, sign, name) in enumerate(found.ranks)
    )
    before = min(found.climbed_before, found.climbed)
    rail = f'<u style="width:{100 * found.climbed:.3g}%"></u><u class="was" style="width:{100 * before:.3g}%"></u>'
    return f'<div class="tbl" aria-hidden="true"><div class="tbl-rail">{rail}</div>{steps}</div>'
