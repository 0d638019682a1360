"""The page of all questions, as HTML or Markdown: practice first, checkpoints apart, beliefs at the end."""

from __future__ import annotations

import html
from collections.abc import Iterable
from pathlib import Path

from course.files import replace_file
from course.i18n import Text, pick, set_language, t
from course.look import css
from course.markup import code_block, inline, paragraphs
from course.questions.items import Item, Option
from grader.authoring.item_list import Listing, Row, listing
from grader.project import Project, ProjectError

CSS = Path(__file__).with_name("items.css")
SCRIPT = """
document.getElementById('find').addEventListener('input', e => {
  const words = e.target.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for (const one of document.querySelectorAll('details'))
    one.hidden = !words.every(w => one.textContent.toLowerCase().includes(w));
});
"""


def write_page(project: Project, to: Path, keys: bool = False, language: str = "en") -> str:
    """Write the page (HTML, or Markdown where the name ends in .md) and return a sentence about it.

    Raises ProjectError where it cannot be written.
    """
    set_language(language)
    found = listing(project, keys)
    text = markdown(found) if to.suffix == ".md" else page(found)
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        replace_file(to, text.encode())
    except OSError as error:
        raise ProjectError(f"{to}: cannot be written ({error.strerror}); choose another place with --to") from None
    rows = (*found.practice, *found.checkpoints)
    return (
        f"wrote {to}: {len(found.practice)} practice and {len(found.checkpoints)} checkpoint questions, "
        f"{sum(bool(row.faults) for row in rows)} to mend, {sum(bool(row.hints) for row in rows)} worth another look"
        + ("; it holds the checkpoint keys, keep it from learners" if keys else "")
    )


# --- words shared by both forms ---


def _title() -> str:
    return t("All questions", "全部题目")


def _warning() -> str:
    return t("For instructors: this page holds the keys of the checkpoints.", "仅供教师：本页含有测验的答案。")


def _parts(found: Listing) -> list[tuple[str, tuple[Row, ...]]]:
    return [(t("Practice", "练习题"), found.practice), (t("Checkpoints", "测验"), found.checkpoints)]


def _state(row: Row) -> tuple[str, str]:
    """(tone, words) of the lint state."""
    if row.faults:
        return "bad", t(f"✗ {len(row.faults)} to mend", f"✗ {len(row.faults)} 处要改")
    if row.hints:
        return "part", t(f"◐ {len(row.hints)} worth another look", f"◐ {len(row.hints)} 处可再看看")
    return "good", t("✓ no complaint", "✓ 没有问题")


def _facts(item: Item) -> str:
    asks = {"why": t("asks why", "问为什么"), "what": t("asks what", "问是什么")}[item.asks]
    level = {"easy": t("easy", "简单"), "medium": t("medium", "中等"), "hard": t("hard", "较难")}[item.difficulty]
    points = [t(f"{item.points:g} points", f"{item.points:g} 分")] if item.checkpoint else []
    return " · ".join([item.kind, level, asks, *points])


def _details(row: Row) -> list[tuple[str, str]]:
    """(name, value) of what stands beside the texts; values may hold code spans."""
    item = row.item
    lines = [
        (t("Concept", "知识点"), f"`{item.concept}`"),
        (
            t("Used in", "用在"),
            ", ".join(f"`{one}`" for one in row.used) or t("no notebook names it", "没有 notebook 用到"),
        ),
    ]
    if item.source:
        lines.append((t("Source", "依据"), item.source))
    if item.varies:
        drawn = ", ".join(f"`{name} = {value}`" for name, value in item.values.items())
        lines.append(
            (t("One of its variants", "其中一个变体"), drawn or t("one of several questions", "几道题中的一道"))
        )
    if item.experiment:
        lines.append((t("Experiment", "实验"), f"`{item.experiment}`"))
    if row.beliefs:
        lines.append((t("Misconceptions", "误解"), ", ".join(f"`{one}`" for one in row.beliefs)))
    if item.keyed or item.kind == "predict":
        verified = t("computed by a snippet", "由代码片段计算") if item.verify else t("not computed", "没有代码片段")
        lines.append(
            (
                t("Key", "答案"),
                f"{_key(item)} ({verified})" if item.kind != "predict" else t("the experiment decides", "由实验决定"),
            )
        )
    return lines


def _key(item: Item) -> str:
    if item.kind == "number" and item.number:
        number = item.number
        exact = number.low == number.high
        return f"{number.value:g}" if exact else f"{number.value:g} ({_span(number.low, number.high)})"
    return ", ".join(item.order or item.correct)


def _span(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} – {high:g}"


def _belief_lines(found: Listing) -> Iterable[tuple[str, str, str]]:
    """(id, statement, where) of every misconception."""
    for one, ids in sorted(found.tempted_by().items()):
        unused = t("no question shown here tempts with it", "这里没有题目用到")
        yield one, pick(found.beliefs.get(one, "?")), ", ".join(f"`{i}`" for i in ids) or unused


# --- HTML ---


def page(found: Listing) -> str:
    """The page as one file without outside parts."""
    body = [f"<h1>{_title()}</h1>"]
    if found.keys:
        body.append(f'<p class="warn">{_warning()}</p>')
    body.append(f'<p><label for="find">{t("Find", "查找")}</label> <input id="find" type="search"></p>')
    body += [f'<p class="bad">✗ {html.escape(one)}</p>' for one in found.faults]
    for title, rows in _parts(found):
        body.append(f"<h2>{title} ({len(rows)})</h2>")
        for lesson in dict.fromkeys(row.item.lesson for row in rows):
            body.append(f"<h3><code>{lesson}</code></h3>")
            body += [_row_html(row) for row in rows if row.item.lesson == lesson]
    body.append(f"<h2>{t('Misconceptions', '误解')} ({len(found.beliefs)})</h2><ul>")
    body += [
        f"<li><code>{one}</code> {inline(text)} <small>{inline(where)}</small></li>"
        for one, text, where in _belief_lines(found)
    ]
    return (
        f'<!doctype html><html lang="{t("en", "zh")}" class="tb-page"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width,initial-scale=1"><title>{_title()}</title><style>{css(CSS)}</style></head><body>'
        f"{''.join(body)}</ul><script>{SCRIPT}</script></body></html>\n"
    )


def _row_html(row: Row) -> str:
    item, (tone, words) = row.item, _state(row)
    first = pick(item.stem).strip().split("\n")[0]
    lines = "".join(f"<li>{name}{t(': ', '：')}{inline(value)}</li>" for name, value in _details(row))
    mend = "".join(f'<li class="bad">✗ {html.escape(one)}</li>' for one in row.faults)
    mend += "".join(f'<li class="part">◐ {html.escape(one)}</li>' for one in row.hints)
    code = code_block(pick(item.code)) if item.code else ""
    number = ""
    if item.number:
        number = _two(item.number.unit)
        number += _two(item.number.why) if item.number.why else ""
        for trap in item.number.traps:
            number += (
                f'<div class="option">✗ {_span(trap.low, trap.high)} {_belief(trap.misconception)}'
                f"{_two(trap.why)}</div>"
            )
    return (
        f'<details id="{item.id}"><summary><b>{item.id}</b><small>{_facts(item)}</small>'
        f'<span class="{tone}">{words}</span><span class="first">{inline(first)}</span></summary>'
        f"<ul>{mend}{lines}</ul>{_two(item.stem)}{code}{''.join(_option_html(item, one) for one in item.options)}"
        f"{number}</details>"
    )


def _belief(identity: str | None) -> str:
    return f"<code>{identity}</code>" if identity else ""


def _option_html(item: Item, option: Option) -> str:
    right = option.correct or option.id in item.order
    mark = ("✓ " if right else "✗ ") if item.keyed else ""
    belief = " " + _belief(option.misconception) if option.misconception else ""
    why = f'<div class="soft">{_two(option.why)}</div>' if option.why else ""
    return f'<div class="option"><b>{mark}{option.id}</b>{belief}{_two(option.text)}{why}</div>'


def _two(text: Text) -> str:
    """A text in both languages side by side."""
    if isinstance(text, str):
        return f"<div>{inline(text)}</div>"
    sides = "".join(f'<div lang="{code}">{paragraphs(text[code])}</div>' for code in ("en", "zh"))
    return f'<div class="two">{sides}</div>'


# --- Markdown ---


def markdown(found: Listing) -> str:
    """The same as Markdown."""
    lines = [f"# {_title()}", ""]
    if found.keys:
        lines += [f"**{_warning()}**", ""]
    lines += [f"- ✗ {one}" for one in found.faults]
    for title, rows in _parts(found):
        lines += ["", f"## {title} ({len(rows)})"]
        for lesson in dict.fromkeys(row.item.lesson for row in rows):
            lines += ["", f"### `{lesson}`"]
            for row in rows:
                if row.item.lesson == lesson:
                    lines += _row_markdown(row)
    lines += ["", f"## {t('Misconceptions', '误解')} ({len(found.beliefs)})", ""]
    lines += [f"- `{one}` {text} ({where})" for one, text, where in _belief_lines(found)]
    return "\n".join(lines) + "\n"


def _row_markdown(row: Row) -> list[str]:
    item = row.item
    lines = ["", f"#### {item.id}", "", f"{_facts(item)} · {_state(row)[1]}", ""]
    lines += [f"- {name}{t(': ', '：')}{value}" for name, value in _details(row)]
    lines += [f"- ✗ {one}" for one in row.faults] + [f"- ◐ {one}" for one in row.hints]
    lines += ["", *(_quote(pick(item.stem, code)) for code in ("en", "zh"))]
    if item.code:
        lines += ["", "```python", pick(item.code).strip("\n"), "```"]
    for one in item.options:
        mark = ("✓ " if one.correct or one.id in item.order else "✗ ") if item.keyed else ""
        lines.append(
            f"- {mark}**{one.id}** {pick(one.text, 'en')} / {pick(one.text, 'zh')}"
            + (f" (`{one.misconception}`)" if one.misconception else "")
        )
    return lines


def _quote(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.strip().split("\n")) + "\n>"
