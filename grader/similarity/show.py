"""Pairs to look at, as text and as a page with the evidence side by side. For the instructor alone."""

from __future__ import annotations

import html
from collections.abc import Mapping

from grader.reporting.style import CSS
from grader.similarity.evidence import Look, SharedCode, Work

READ_FIRST = (
    "Look at these. "
    "What two submissions share has many innocent reasons: learning together where that was allowed, the same page read, the same habit. "
    "Nothing here says that anybody did anything. The more bits, the rarer in this class is what the two share."
)
NOTHING = "No pair has enough in common to be worth a look."


def text(found: list[Look], most: int) -> str:
    """The pairs in a few lines each."""
    if not found:
        return NOTHING
    said = [READ_FIRST, ""]
    for place, look in enumerate(found[:most], start=1):
        said += [
            f"{place}. {' and '.join(look.pair)} ({look.bits:.0f} bits)",
            *(f"   {line}" for line in evidence(look)),
        ]
    if len(found) > most:
        said.append(f"{len(found) - most} more pairs; --top shows more")
    return "\n".join(said)


def evidence(look: Look) -> list[str]:
    """What a pair shares, a sentence for each thing."""
    first, second = look.pair
    said = [
        f"{one.task}: {one.shared} fingerprints of code in common ({one.of[0]} of {first}, {one.of[1]} of {second}), "
        f"rare in this class; starter code and our solution not counted ({one.bits:.0f} bits)"
        for one in look.code
    ]
    said += [
        f"{item}: both answered {answer!r}, which is not right; {having} students did ({weight:.0f} bits)"
        for item, answer, having, weight in look.wrong
    ]
    for name in dict.fromkeys(name for name, _ in look.others):
        items = ", ".join(item for one, item in look.others if one == name)
        said.append(
            f"{name} handed in answers that say they were given on the paper of {first if name == second else second}: {items}"
        )
    if look.times:
        said.append(f"answers recorded at the same microsecond: {', '.join(dict.fromkeys(look.times))}")
    return said


def page(lesson: str, found: list[Look], works: Mapping[str, Work], most: int) -> str:
    """The page: each pair with its evidence, the code side by side, lines in common marked."""
    pairs = "".join(_pair(look, works) for look in found[:most])
    title = f"{html.escape(lesson)}: pairs to look at"
    rest = f"<p>{len(found) - most} more pairs; --top shows more.</p>" if len(found) > most else ""
    return (
        f'<!doctype html><html lang="en" class="tb-page"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, '
        f'initial-scale=1"><title>{title}</title><style>{CSS}</style></head><body><main><h1>{title}</h1>'
        f"<p>{READ_FIRST if found else NOTHING}</p>{pairs}{rest}</main></body></html>\n"
    )


def _pair(look: Look, works: Mapping[str, Work]) -> str:
    said = "".join(f"<li>{html.escape(line)}</li>" for line in evidence(look))
    code = "".join(_side_by_side(one, look, works) for one in look.code)
    return f'<section class="pair"><h2>{html.escape(" and ".join(look.pair))}</h2><ul>{said}</ul>{code}</section>'


def _side_by_side(one: SharedCode, look: Look, works: Mapping[str, Work]) -> str:
    sides = "".join(
        f"<div><b>{html.escape(name)}</b>{_marked(works[name].code[one.task], lines)}</div>"
        for name, lines in zip(look.pair, one.lines, strict=True)
    )
    return f'<h3><code>{html.escape(one.task)}</code></h3><div class="two">{sides}</div>'


def _marked(source: str, ranges: list[tuple[int, int]]) -> str:
    rows = []
    for number, line in enumerate(source.splitlines(), start=1):
        same = any(first <= number <= last for first, last in ranges)
        rows.append(f"<span{' class=same' if same else ''}>{html.escape(line)}</span>")
    return f"<pre>{''.join(rows)}</pre>"
