"""One HTML file that holds everything: no request to anywhere, both languages, light and dark, made to be printed."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from course.i18n import LANGUAGES, speaking, t
from course.version import __version__

CSS = """
:root{color-scheme:light;--d-bg:#f6f7f9;--d-fg:#1f2328;--d-soft:#57606a;--d-line:#c9ced6;--d-main:#1657b8}
html[theme=dark]{color-scheme:dark;--d-bg:#101215;--d-fg:#e6e9ed;--d-soft:#adb5bf;--d-line:#454c56;--d-main:#8ab4f8}
*{box-sizing:border-box}
body{margin:0;background:var(--d-bg);color:var(--d-fg);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",
"PingFang SC","Hiragino Sans GB","Microsoft YaHei","Noto Sans CJK SC","Noto Sans SC",sans-serif;overflow-wrap:anywhere}
header,main{max-width:1120px;margin:0 auto;padding:12px 20px}main{padding-bottom:60px}
h1{font-size:1.6rem;margin:.4em 0}h2{font-size:1.25rem;margin:2em 0 .4em;padding-top:.5em;border-top:2px solid var(--d-line)}
a{color:var(--d-main)}nav ul{display:flex;flex-wrap:wrap;gap:4px 18px;list-style:none;padding:0;margin:0}
.bar{display:flex;flex-wrap:wrap;gap:8px;margin-bottom:8px}
button{font:inherit;min-height:44px;padding:4px 16px;border:1px solid var(--d-soft);border-radius:10px;background:none;color:inherit;
cursor:pointer}
button[aria-pressed=true]{background:var(--d-main);border-color:var(--d-main);color:var(--d-bg)}
:focus-visible{outline:3px solid var(--d-main);outline-offset:2px}
.skip{position:absolute;left:-999px}.skip:focus{left:16px;top:8px;background:var(--d-bg);padding:8px 12px}
.wide{overflow:auto;border:1px solid var(--d-line);border-radius:12px}.wide svg{display:block;max-width:none}
details.ask{border:1px solid var(--d-line);border-radius:12px;padding:4px 16px;margin:0 0 10px}
details.ask summary{cursor:pointer;padding:8px 0;font-weight:600}details.ask h4{margin:.6em 0 .2em;font-size:1em}
.tbp,.tbk{max-width:none!important;margin-left:0!important;margin-right:0!important}
[hidden]{display:none!important}
@page{size:A4;margin:8mm 10mm}@page poster{size:A3;margin:8mm}
@media print{body{background:#fff;font-size:10pt}header .bar,nav,.skip{display:none}main{padding:0;max-width:none}
h2{break-before:page;border:0;margin-top:0}section.first h2{break-before:auto}.wide{border:0;overflow:visible;page:poster}
.wide svg{width:100%;height:auto}.tbp-own{break-before:page}h2+style+.tbp-own{break-before:auto}
details.ask{break-inside:avoid}.scroll{overflow:visible!important}}
"""
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
    """One part of the file. name: for its address. title, body: in one language; body is HTML."""

    name: str
    title: str
    body: str


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
        f'<!DOCTYPE html>\n<html lang="{_tag(first)}" data-first="{first}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><title>torch.backends</title>'
        f'<meta name="generator" content="torch-backends-course {__version__}"><style>{CSS}</style></head><body>'
        f'<header><div class="bar">{speak}</div>{"".join(bars)}</header>{mains}<script>{SCRIPT}</script></body></html>\n'
    )


def _tag(code: str) -> str:
    return {"zh": "zh-Hans"}.get(code, code)


def _main(code: str, parts: Sequence[Part], shown: bool) -> str:
    with speaking(code):
        title = t("torch.backends: what I can claim", "torch.backends：我能说什么")
        links = "".join(f'<li><a href="#{code}-{part.name}">{html.escape(part.title)}</a></li>' for part in parts)
        sections = "".join(
            f'<section{" class=first" if not place else ""} id="{code}-{part.name}"><h2>{html.escape(part.title)}</h2>{part.body}</section>'
            for place, part in enumerate(parts)
        )
        note = t("Made on this machine from your own records and answers.", "由你自己的测量和作答在本机生成。")
        return (
            f'<main lang="{_tag(code)}" data-language="{code}"{"" if shown else " hidden"}><h1>{title}</h1><p>{note}</p>'
            f'<nav aria-label="{t("Parts", "目录")}"><ul>{links}</ul></nav>{sections}</main>'
        )
