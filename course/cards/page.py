"""The look of the pages a verb shows (progress, bets): CSS that follows the theme, tables, bars, lists.

A state is always in words; colour and bars repeat it. Wide tables scroll inside their own box.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from course.i18n import t

CSS = """
.tbp{--p-bg:var(--jp-layout-color1,#fff);--p-fg:var(--jp-content-font-color1,#1d1d1f);--p-soft:#55585e;
--p-line:#d5d8dd;--p-fill:#f0f2f5;--p-main:#1657b8;--p-good:#176b2c;--p-part:#855300;--p-bad:#a32116;
container-type:inline-size;background:var(--p-bg);color:var(--p-fg);border:1px solid var(--p-line);
border-radius:12px;padding:14px 18px;
margin:6px 2px 10px;max-width:900px;box-sizing:border-box;line-height:1.5;font-size:14.5px;
font-family:var(--jp-content-font-family,system-ui,-apple-system,"Segoe UI",sans-serif);overflow-wrap:anywhere}
[data-jp-theme-light=false] .tbp,html[theme=dark] .tbp,body.vscode-dark .tbp,
body.vscode-high-contrast:not(.vscode-high-contrast-light) .tbp{--p-soft:#b3b8c0;--p-line:#4a4f57;
--p-fill:#25282d;--p-main:#8ab4f8;--p-good:#7fd896;--p-part:#f0c05a;--p-bad:#ff9c90}
html[theme=dark] .tbp,body.vscode-dark .tbp,body.vscode-high-contrast:not(.vscode-high-contrast-light) .tbp{
--p-bg:#1b1d21;--p-fg:#e8eaed}
.tbp h3{font-size:17px;margin:0 0 6px}.tbp h4{font-size:15px;margin:14px 0 4px}.tbp p{margin:4px 0}
.tbp ul{margin:4px 0;padding-left:20px}.tbp li{margin:2px 0}.tbp small{color:var(--p-soft);font-size:12.5px}
.tbp .scroll{overflow-x:auto}.tbp table{border-collapse:collapse;width:100%;font-size:13.5px;margin:6px 0!important;
table-layout:auto!important;border:0!important}
.tbp th,.tbp td{text-align:left!important;padding:6px 12px 6px 0!important;border:0;vertical-align:top!important;
border-bottom:1px solid var(--p-line)!important;background:none!important;color:var(--p-fg);max-width:none!important;
white-space:normal!important}.tbp thead th{color:var(--p-soft);font-weight:600;white-space:nowrap!important}
.tbp th[scope=row]{font-weight:600}.tbp th[scope=row] small{font-weight:400;display:block}
.tbp code{background:var(--p-fill);color:inherit;border-radius:4px;padding:1px 4px;font-size:.92em}
.tbp .good{color:var(--p-good);font-weight:600}.tbp .part{color:var(--p-part);font-weight:600}
.tbp .bad{color:var(--p-bad);font-weight:600}.tbp .main{color:var(--p-main);font-weight:600}
.tbp .nowrap,.tbp th code{white-space:nowrap!important}
.tbp .meter{display:block;width:84px;height:6px;border-radius:3px;background:var(--p-fill);
border:1px solid var(--p-line);margin-top:3px;overflow:hidden}.tbp .meter i{display:block;height:100%;
background:var(--p-main)}
.tbp img{max-width:100%;height:auto}
@container (max-width:560px){.tbp thead{display:none}.tbp tr{display:block;padding:6px 0;
border-bottom:1px solid var(--p-line)}.tbp th[scope=row],.tbp td{display:block;border:0!important;
padding:1px 0!important}.tbp td::before{content:attr(data-label);color:var(--p-soft)}}
"""


def page(title: str, *blocks: str) -> str:
    """The whole page."""
    return f'<style>{CSS}</style><div class="tbp"><h3>{html.escape(title)}</h3>{"".join(blocks)}</div>'


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], label: str) -> str:
    """A table; cells are HTML, the first of each row names the row. label: its name for screen readers."""
    head = "".join(f'<th scope="col">{html.escape(one)}</th>' for one in heads)
    names = [html.escape(one + t(": ", "："), quote=True) for one in heads]
    body = ""
    for row in rows:
        cells = (f'<td data-label="{name}">{cell}</td>' for name, cell in zip(names[1:], row[1:], strict=True))
        body += f'<tr><th scope="row">{row[0]}</th>{"".join(cells)}</tr>'
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(label, quote=True)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def meter(done: int, total: int) -> str:
    """done / total in figures, with a bar that repeats it."""
    width = round(100 * done / total) if total else 0
    return f'{done} / {total}<span class="meter" aria-hidden="true"><i style="width:{width}%"></i></span>'


def listing(title: str, lines: Sequence[str], note: str = "") -> str:
    """A headed list; nothing without lines. lines and note are HTML."""
    if not lines:
        return ""
    small = f"<p><small>{note}</small></p>" if note else ""
    return f"<h4>{html.escape(title)}</h4>{small}<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"
