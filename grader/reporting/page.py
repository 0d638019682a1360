"""The report as one HTML page: no external files, no script; light, dark and in print."""

from __future__ import annotations

import html
from typing import Any

from course.i18n import Text, pick
from course.markup import inline
from course.units import format_points
from grader.reporting import pictures
from grader.reporting.statistics import quartiles
from grader.reporting.style import CSS
from grader.reporting.words import (
    CONFIDENCE,
    DISCRIMINATION,
    NOTES,
    PAGE,
    TIME_NOTE,
    percent,
    remedy,
    teach_again,
    weighed,
)

Data = dict[str, Any]


def page(found: Data, language: str = "en", names: bool = False) -> str:
    """The page as HTML. found: the result of ``numbers.analyse``; names: also name the students without a grade."""
    made = _Page(language, found["belief_texts"])
    title = html.escape(made.say("title", lesson=found["lesson"]))
    body = [
        f"<h1>{title}</h1>",
        made.summary(found),
        made.teach(found),
        made.overview(found),
        made.beliefs(found),
        f"<h2>{made.say('each')}</h2>",
        *(made.cell(cell, found["counted"]) for cell in found["cells"]),
        made.sure(found),
        made.time(found),
        made.who(found, names),
        f"<h2>{made.say('how')}</h2><ul>{''.join(f'<li>{inline(pick(note, language))}</li>' for note in NOTES)}</ul>",
    ]
    lang = {"en": "en", "zh": "zh-Hans"}[language]
    return (
        f'<!doctype html><html lang="{lang}" class="tb-page"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width, initial-scale=1"><title>{title}</title><style>{CSS}</style></head>'
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )


class _Page:
    """The parts of the page in one language."""

    def __init__(self, language: str, beliefs: dict[str, Text]) -> None:
        self.language, self.belief_texts = language, beliefs

    def say(self, name: str, **values: object) -> str:
        return pick(PAGE[name], self.language).format(**values)

    def text(self, text: Text) -> str:
        return inline(pick(text, self.language))

    def points(self, top: float) -> str:
        return self.say("point" if top == 1 else "points", top=top)

    def table(self, heads: list[str], rows: list[list[str]], numeric: tuple[int, ...] = ()) -> str:
        def cells(tag: str, row: list[str]) -> str:
            return "".join(
                f"<{tag}{' class=num' if place in numeric else ''}>{cell}</{tag}>" for place, cell in enumerate(row)
            )

        body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
        return (
            f'<div class="wide"><table><thead><tr>{cells("th", heads)}</tr></thead><tbody>{body}</tbody></table></div>'
        )

    def summary(self, found: Data) -> str:
        said = [self.say("counted", **found), self.say("no_grade", n=len(found["without_grade"]))]
        for name in ("blank", "idle", "lost"):
            if found[name]:
                said.append(self.say(name, n=len(found[name])))
        if found["manual_marks"]:
            said.append(self.say("manual", n=found["manual_marks"]))
        if middle := quartiles(found["totals"]):
            said.append(self.say("median", median=format_points(middle[1] * found["top"]), top=found["top"]))
        if found["unasked"]:
            said.append(self.say("unasked", cells=", ".join(f"<code>{cell}</code>" for cell in found["unasked"])))
        return f'<p class="soft">{" · ".join(said)}</p>'

    def teach(self, found: Data) -> str:
        said = "".join(f"<p>{self.text(one.text)}</p>" for one in teach_again(found))
        for cell in found["cells"]:
            said = said.replace(f"<code>{cell['id']}</code>", f'<a href="#{cell["id"]}"><code>{cell["id"]}</code></a>')
        return f'<section class="teach"><h2>{self.say("teach")}</h2>{said}</section>'

    def overview(self, found: Data) -> str:
        cells = weighed(found)
        if not (found["counted"] and cells):
            return ""
        shares = [(cell["id"], *(cell["facility"][name] for name in ("share", "low", "high"))) for cell in cells]
        rows = [
            [
                f'<a href="#{cell["id"]}"><code>{cell["id"]}</code></a>',
                percent(cell["facility"]["share"]),
                f"{100 * cell['facility']['low']:.0f} – {percent(cell['facility']['high'])}",
                str(cell["full"]),
                str(cell["not_attempted"] or ""),
                self.rest(cell),
            ]
            for cell in cells
        ]
        heads = [self.say(name) for name in ("cell", "facility", "interval", "full", "skipped", "rest")]
        return (
            f"<h2>{self.say('overview')}</h2>{pictures.intervals(shares, self.say('overview'))}"
            f"{self.table(heads, rows, (1, 2, 3, 4))}<h3>{self.say('totals')}</h3>"
            f"{pictures.histogram(found['totals'], self.say('totals'))}"
        )

    def rest(self, cell: Data) -> str:
        found = cell["discrimination"]
        words = self.text(DISCRIMINATION[found["words"]])
        if found["r"] is None:
            return f'<span class="soft">{words}</span>'
        tone = {"backwards": ' class="bad"', "unclear": ' class="soft"'}.get(found["words"], "")
        return f'<span{tone}>{words}</span> <span class="soft">(r = {found["r"]:.2f}, {found["low"]:.2f} … {found["high"]:.2f})</span>'

    def beliefs(self, found: Data) -> str:
        if not found["beliefs"]:
            return f"<h2>{self.say('beliefs')}</h2><p>{self.say('no_beliefs')}</p>"
        rows = []
        for one in found["beliefs"]:
            several = (
                f'<br><span class="soft">{self.say("several", n=one["in_several"])}</span>' if one["in_several"] else ""
            )
            places = ", ".join(f'<a href="#{cell}"><code>{cell}</code></a>' for cell in one["cells"])
            meet = self.text(remedy(one))
            belief = self.text(one["text"]) + (f'<br><span class="soft">{meet}</span>' if meet else "")
            rows.append([belief, _bar(one["holds"], one["n"]) + several, places])
        heads = [self.say("belief"), self.say("holds"), self.say("where")]
        return f"<h2>{self.say('beliefs')}</h2>{self.table(heads, rows)}"

    def cell(self, cell: Data, counted: int) -> str:
        worth = f"{self.points(cell['top'])} · {self.say('facility')} {percent(cell['facility']['share'])}"
        head = (
            f'<h3 id="{cell["id"]}"><code>{cell["id"]}</code> <span class="soft">'
            f"{worth if cell['top'] else self.say('for nothing')}</span></h3><p>{self.text(cell['stem'])}</p>"
        )
        if cell["without"]:
            head += f'<p class="soft">{self.say("without", without=cell["without"], counted=counted)}</p>'
        body = self.parts(cell) if cell["kind"] == "task" else self.answers(cell) + self.changed(cell)
        return f'<section class="cell">{head}{body}</section>'

    def parts(self, cell: Data) -> str:
        rows = [
            [
                f"<code>{part['id']}</code>: {self.text(part['reason'])}",
                self.points(part["top"]),
                _bar(round(part["share"] * part["n"]), part["n"]),
            ]
            for part in cell["parts"]
        ]
        heads = [self.say("part"), "", self.say("part_right")]
        return self.table(heads, rows) if rows else ""

    def answers(self, cell: Data) -> str:
        counted = cell["facility"]["n"]
        said = f'<p class="soft">{self.say("varies")}</p>' if cell.get("varies") else ""
        if cell["kind"] == "number":
            rows = [[self.number(row, cell), _bar(row["count"], counted), self.stands(row)] for row in cell["numbers"]]
            heads = [self.say("answer"), self.say("chosen"), self.say("stands")]
        else:
            if cell["kind"] == "order":
                rows = [
                    [
                        f"<code>{' → '.join(map(html.escape, row['order']))}</code>",
                        _bar(row["count"], counted),
                        self.stands({**row, "belief": None}),
                    ]
                    for row in cell["orders"]
                ]
                said += self.table([self.say("order"), self.say("chosen"), self.say("stands")], rows)
            rows = [
                [
                    f"<b>{row['id']}</b> {self.text(row['text'])}",
                    _bar(row["count"], counted),
                    self.stands(row),
                    "" if row["rest_points"] is None else format_points(row["rest_points"]),
                ]
                for row in cell["options"]
            ]
            heads = [self.say("option"), self.say("chosen"), self.say("stands"), self.say("elsewhere")]
        if cell["not_attempted"]:
            rows.append([f"<i>{self.say('none')}</i>", _bar(cell["not_attempted"], counted), *[""] * (len(heads) - 2)])
        return said + self.table(heads, rows, (3,))

    def number(self, row: Data, cell: Data) -> str:
        if "others" in row:
            return f"<i>{self.say('others', n=row['others'])}</i>"
        return f"{row['value']:.10g} {self.text(cell['unit'])}"

    def stands(self, row: Data) -> str:
        if row["right"]:
            return f'<b class="good">✓ {self.say("right")}</b>'
        return "" if row["belief"] is None else self.text(self.belief_texts[row["belief"]])

    def changed(self, cell: Data) -> str:
        found = cell["changed"]
        if not found["with_history"]:
            return ""
        if not found["students"]:
            said = self.say("unchanged", known=found["with_history"])
        else:
            said = self.say(
                "changed", n=found["students"], known=found["with_history"], minutes=f"{found['median_minutes']:.1f}"
            )
        return f'<p class="soft">{said}</p>'

    def sure(self, found: Data) -> str:
        rows = found["confidence"]
        if not rows:
            return f"<h2>{self.say('sure')}</h2><p>{self.say('no_sure')}</p>"
        plotted = [
            (pick(CONFIDENCE[row["level"]], self.language), row["share"], row["low"], row["high"]) for row in rows
        ]
        table = self.table(
            [self.say("said"), self.say("answers"), self.say("were_right")],
            [[self.text(CONFIDENCE[row["level"]]), str(row["n"]), _bar(row["right"], row["n"])] for row in rows],
            (1,),
        )
        return (
            f"<h2>{self.say('sure')}</h2>{pictures.intervals(plotted, self.say('sure'))}{table}"
            f'<p class="soft">{self.say("sure_note")}</p>'
        )

    def time(self, found: Data) -> str:
        spent = found["time"]
        if not spent["with_history"]:
            return f"<h2>{self.say('time')}</h2><p>{self.say('no_time')}</p>"
        low, middle, high = (f"{one:.0f}" for one in spent["quartiles_minutes"])
        said = self.say("spent", n=spent["with_history"], low=low, middle=middle, high=high)
        return f'<h2>{self.say("time")}</h2><p>{said}</p><p class="soft">{self.text(TIME_NOTE)}</p>'

    def who(self, found: Data, names: bool) -> str:
        made = ""
        for head, listed in (("who", found["without_grade"]), ("who_idle", found["idle"])):
            said = ", ".join(map(html.escape, listed)) if names else f"{len(listed)}. {self.say('ask_names')}"
            made += f"<h2>{self.say(head)}</h2><p>{said if listed else self.say('nobody')}</p>"
        return made


def _bar(count: int, n: int) -> str:
    """A count of n as a bar with its numbers."""
    share = count / n if n else 0.0
    return f'<span class="track"><span class="fill" style="width:{100 * share:.0f}%"></span></span> {count}/{n}'
