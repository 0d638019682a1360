"""One HTML file that holds everything: no request to anywhere, both languages, light and dark, made to be printed."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from course.core.i18n import LANGUAGES, speaking, t
from course.core.look import css
from course.core.version import __version__

CSS = [Path(__file__).with_name(name) for name in ("document.css", "paper.css")]
SCRIPT = """
const root=document.documentElement,all=s=>[...document.querySelectorAll(s)];
function theme(v){root.setAttribute("theme",v);
for(const b of all("[data-theme]"))b.setAttribute("aria-pressed",String(b.dataset.theme===v));}
function language(v){root.lang=v==="zh"?"zh-Hans":v;for(const m of all("[data-language]"))m.hidden=m.dataset.language!==v;
for(const b of all("[data-speak]"))b.setAttribute("aria-pressed",String(b.dataset.speak===v));
document.title=document.querySelector(`main[data-language="${v}"] h1`).textContent;}
let shown=matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light",opened=[];
theme(shown);language(root.dataset.first);
addEventListener("click",e=>{const b=e.target.closest("button");if(!b)return;
if(b.dataset.theme)theme(shown=b.dataset.theme);if(b.dataset.speak)language(b.dataset.speak);if("print" in b.dataset)print();});
addEventListener("beforeprint",()=>{theme("light");opened=all("details:not([open],.names)");for(const d of opened)d.open=true;});
addEventListener("afterprint",()=>{theme(shown);for(const d of opened)d.open=false;});
"""


@dataclass(frozen=True)
class Part:
    """One part of the file. name: for its address. title, body: in one language; body is HTML. flows: on paper it begins where
    the part before it ends.
    """

    name: str
    title: str
    body: str
    flows: bool = False


def document(parts: Mapping[str, Sequence[Part]], first: str) -> str:
    """The whole file. parts: language -> its parts. first: the language it opens in."""
    mains = "".join(_main(code, parts[code], code == first) for code in LANGUAGES)
    names = {"en": "English", "zh": "中文"}
    speak = "".join(
        f'<button type="button" data-speak="{code}" lang="{_tag(code)}" aria-pressed="{str(code == first).lower()}">{name}</button>'
        for code, name in names.items()
    )
    bars = []
    for code in LANGUAGES:
        with speaking(code):
            bars.append(
                f'<div class="bar" data-language="{code}"{"" if code == first else " hidden"}>'
                f'<button type="button" data-theme="light" aria-pressed="true">{t("Light", "浅色")}</button>'
                f'<button type="button" data-theme="dark" aria-pressed="false">{t("Dark", "深色")}</button>'
                f'<button type="button" data-print>{t("Print", "打印")}</button></div>'
            )
    return (
        f'<!DOCTYPE html>\n<html lang="{_tag(first)}" class="tb-page" data-first="{first}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><title>torch.backends</title>'
        f'<meta name="generator" content="torch-backends-course {__version__}"><style>{css(*CSS)}</style></head><body>'
        f'<header><div class="bar">{speak}</div>{"".join(bars)}</header>{mains}<script>{SCRIPT}</script></body></html>\n'
    )


def _tag(code: str) -> str:
    return {"zh": "zh-Hans"}.get(code, code)


def _main(code: str, parts: Sequence[Part], shown: bool) -> str:
    with speaking(code):
        title = t("torch.backends: what I can claim", "torch.backends：我能说什么")
        links = "".join(f'<li><a href="#{code}-{part.name}">{html.escape(part.title)}</a></li>' for part in parts)
        sections = "".join(
            f'<section class="{"flows" if part.flows or not place else ""}" id="{code}-{part.name}">'
            f"<h2>{html.escape(part.title)}</h2>{part.body}</section>"
            for place, part in enumerate(parts)
        )
        note = t("Made on this machine from your own records and answers.", "由你自己的测量和作答在本机生成。")
        return (
            f'<main lang="{_tag(code)}" data-language="{code}"{"" if shown else " hidden"}><h1>{title}</h1><p>{note}</p>'
            f'<nav aria-label="{t("Parts", "目录")}"><ul>{links}</ul></nav>{sections}</main>'
        )
