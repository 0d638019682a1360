"""The one look of all cards: CSS for JupyterLab, VS Code and Colab, in light and in dark.

It asks for no variable of any of them. Colours are our own pairs with a contrast of at least 4.5 : 1, on a
surface of our own, so a card can be read on whatever page it stands. A state is always in words too; colour
only repeats it. Room is kept for what appears later, so that nothing moves when a card is answered.
"""

LIGHT = """
--q-bg:#fff;--q-fg:#1f2328;--q-soft:#57606a;--q-line:#d4d9e0;--q-edge:#858d98;--q-fill:#f5f7f9;
--q-main:#1a5fb4;--q-hover:#154c91;--q-onmain:#fff;--q-pick:#eaf2fd;--q-good:#176b35;--q-goodbg:#ebf7ee;
--q-bad:#a52a1d;--q-badbg:#fdf0ee;--q-part:#7d5200;--q-partbg:#fdf6e3;color-scheme:light
"""
DARK = """
--q-bg:#1c1f24;--q-fg:#e6e9ed;--q-soft:#adb5bf;--q-line:#3b424b;--q-edge:#79828e;--q-fill:#272b31;
--q-main:#8fbcff;--q-hover:#b3d2ff;--q-onmain:#10151c;--q-pick:#1d2f49;--q-good:#7fd99a;--q-goodbg:#17301f;
--q-bad:#ffa195;--q-badbg:#3a201d;--q-part:#f1c567;--q-partbg:#352b14;color-scheme:dark
"""
# JupyterLab, Colab and VS Code say their theme; where nobody says it, the system's choice counts.
_DARK_THEMES = (
    "[data-jp-theme-light=false] .tbq",
    "html[theme=dark] .tbq",
    "body.vscode-dark .tbq",
    "body.vscode-high-contrast:not(.vscode-high-contrast-light) .tbq",
)
_NO_THEME = "html:not([theme]) body:not([data-jp-theme-light]):not([class*=vscode-]) .tbq"

FRAME = """
.tbq{container-type:inline-size;background:var(--q-bg);color:var(--q-fg);border:1px solid var(--q-line);
border-radius:14px;padding:18px 22px 20px;margin:8px 2px 14px;max-width:820px;box-sizing:border-box;
overflow:visible!important;font:400 15.5px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",
"PingFang SC","Microsoft YaHei","Noto Sans CJK SC","Noto Sans SC",sans-serif;overflow-wrap:anywhere}
.tbq *{box-sizing:border-box}.tbq :lang(zh){line-break:strict;line-height:1.65}
.tbq .widget-box,.tbq .widget-html,.tbq .widget-html-content{overflow:visible!important;margin:0;padding:0;
font:inherit;line-height:inherit!important;color:inherit;width:100%;min-width:0;height:auto!important;
box-sizing:border-box}
.tbq a{color:inherit;text-decoration:underline}
.tbq p{margin:0 0 10px;font-size:inherit;line-height:inherit;color:inherit}.tbq p:last-child{margin-bottom:0}
.tbq code{font:.88em/1.5 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;
background:var(--q-fill);color:inherit;border-radius:5px;padding:.1em .35em;white-space:break-spaces}
.tbq pre{background:var(--q-fill);color:inherit;border:1px solid var(--q-line);border-radius:10px;
padding:12px 16px;margin:12px 0 0;overflow-x:auto;line-height:1.55}
.tbq pre code{background:none;padding:0;font-size:13.5px;white-space:pre}
.tbq-head{display:flex;gap:2px 12px;align-items:baseline;flex-wrap:wrap;color:var(--q-soft);font-size:13px;
margin-bottom:10px}
.tbq .tbq-head h3{margin:0;padding:0;border:0;font-weight:700;font-size:13px;line-height:1.5;font-family:inherit;
color:var(--q-main);letter-spacing:.03em}
.tbq .tbq-head code{background:none;padding:0;margin-left:auto;color:var(--q-soft);font-size:12px}
.tbq-stem{font-size:17px;line-height:1.55;margin-bottom:16px;text-wrap:pretty}.tbq-stem+pre{margin:-4px 0 16px}
.tbq p.tbq-dead{display:none}.tbq.jupyter-widgets-disconnected p.tbq-dead{display:block;color:var(--q-bad);
background:var(--q-badbg);border-radius:10px;padding:10px 16px}
.tbq.jupyter-widgets-disconnected::before,.tbq .jupyter-widgets-disconnected::before{display:none!important}
.tbq.jupyter-widgets-disconnected button,.tbq.jupyter-widgets-disconnected input{pointer-events:none;
filter:grayscale(1) opacity(.6)}
.tbq p.tbq-note{color:var(--q-soft);font-size:13.5px;margin:4px 0 8px}
"""

OPTIONS = """
.tbq .tbq-row{display:grid!important;margin:0 0 10px;width:100%}
.tbq .tbq-row>*{grid-area:1/1;min-width:0}
.tbq .tbq-row>.widget-html{pointer-events:none;align-self:center}
.tbq button.tbq-opt{width:100%;height:100%!important;min-height:52px;margin:0;padding:0;
border:1.5px solid var(--q-line);border-radius:12px;background:var(--q-bg);box-shadow:none;font-size:1px;
line-height:1px;color:transparent!important;overflow:hidden;white-space:normal;opacity:1!important}
.tbq button.tbq-opt:hover:enabled{border-color:var(--q-main);background:var(--q-fill)}
.tbq .tbq-chosen button.tbq-opt,.tbq .tbq-chosen button.tbq-opt:hover:enabled{border-color:var(--q-main);
background:var(--q-pick)}
.tbq .tbq-right button.tbq-opt{border-color:var(--q-good);background:var(--q-goodbg)}
.tbq .tbq-wrong button.tbq-opt{border-color:var(--q-bad);background:var(--q-badbg)}
.tbq button:focus-visible{outline:3px solid var(--q-main)!important;outline-offset:2px}
.tbq button:disabled{opacity:1!important;cursor:default}
.tbq-face{display:flex;align-items:center;gap:14px;padding:9px 16px 9px 12px;line-height:1.45}
.tbq-face>i{flex:none;width:28px;height:28px;line-height:25px;border:1.5px solid var(--q-edge);
border-radius:50%;text-align:center;font-style:normal;font-weight:600;font-size:13.5px;box-sizing:border-box;
color:var(--q-soft)}
.tbq-face>i.sq{border-radius:8px}
.tbq-chosen .tbq-face>i{background:var(--q-main);color:var(--q-onmain);border-color:var(--q-main)}
.tbq-right .tbq-face>i{background:var(--q-good);border-color:var(--q-good);color:var(--q-bg)}
.tbq-wrong .tbq-face>i{background:var(--q-bad);border-color:var(--q-bad);color:var(--q-bg)}
.tbq-face>span{flex:1;min-width:0;overflow-wrap:anywhere}
.tbq-face em{flex:none;display:grid;text-align:right;font-style:normal;font-size:12.5px;line-height:1.4;
color:var(--q-soft)}
.tbq-face em>*{grid-area:1/1;font-weight:600;text-decoration:none}.tbq-face em>u{visibility:hidden}
.tbq-chosen .tbq-face em{color:var(--q-main)}.tbq-right .tbq-face em{color:var(--q-good)}
.tbq-wrong .tbq-face em{color:var(--q-bad)}
.tbq .tbq-pictures{display:grid!important;grid-template-columns:repeat(auto-fit,minmax(210px,1fr));gap:12px;
margin-bottom:10px}
.tbq .tbq-pictures .tbq-row{margin:0}.tbq .tbq-pictures .tbq-row>.widget-html{align-self:start}
.tbq-pictures .tbq-face{display:grid;grid-template-columns:auto 1fr;gap:4px 12px;align-items:start;
padding:12px 14px}
.tbq-pictures .tbq-face>span{padding-top:2px;text-wrap:balance}
.tbq-pictures .tbq-face em{grid-area:3/2;text-align:left}
.tbq-plot{grid-area:1/1/2/3;display:block;width:100%;height:auto;margin:0 0 6px;overflow:visible}
.tbq-plot text{font-size:11.5px;fill:var(--q-soft)}.tbq-plot .axis{fill:none;stroke:var(--q-edge)}
.tbq-plot rect,.tbq-plot circle{fill:var(--q-main)}
.tbq-plot polyline{fill:none;stroke:var(--q-main);stroke-width:2.5;stroke-linejoin:round}
"""

ORDER = """
.tbq .tbq-pair{border-left:3px solid var(--q-line);padding:0 0 0 12px;margin:4px 0 12px}
.tbq .tbq-pair .tbq-row:last-child{margin-bottom:0}
.tbq .tbq-line{display:flex!important;flex-flow:row nowrap!important;gap:6px;align-items:center;min-height:44px;
border:1.5px solid var(--q-line);border-radius:10px;background:var(--q-pick);padding:4px 6px 4px 12px;
margin:0 0 6px}
.tbq .tbq-line .widget-html{flex:1 1 0;width:auto}
.tbq .tbq-free{border-style:dashed;background:transparent}.tbq .tbq-free .tbq-move{visibility:hidden}
.tbq p.tbq-slot{display:flex;gap:12px;margin:0;line-height:1.4}.tbq-slot b{min-width:1em;color:var(--q-main)}
.tbq-slot em{color:var(--q-soft);font-style:normal;font-size:13.5px}
.tbq button.tbq-move{flex:none;width:34px!important;height:34px!important;margin:0;padding:0 0 0 10px;border-radius:8px;
border:1.5px solid var(--q-edge);background:var(--q-bg);color:var(--q-fg)!important;font-size:15px;
line-height:30px;text-align:left;white-space:pre;overflow:hidden;text-overflow:clip;box-shadow:none;
display:block}
.tbq button.tbq-move:hover:enabled{border-color:var(--q-main);color:var(--q-main)!important}
.tbq button.tbq-move:disabled{visibility:hidden}
"""

ANSWER = """
.tbq .tbq-bar{border-top:1px solid var(--q-line);margin-top:8px;padding-top:14px}
.tbq .tbq-bar p{color:var(--q-soft);font-size:14px;margin:0 0 8px}
.tbq .tbq-sure{display:grid!important;grid-template-columns:repeat(3,1fr);gap:10px}
.tbq button.tbq-go,.tbq button.tbq-sub{width:auto;height:auto!important;min-height:44px;padding:7px 12px;
margin:0;border-radius:11px;font-weight:600;font-size:14.5px;line-height:1.3;font-family:inherit;white-space:normal;
text-wrap:balance;word-break:keep-all;
overflow-wrap:anywhere;box-shadow:none;border:1.5px solid var(--q-main);background:var(--q-bg);
color:var(--q-main)!important}
.tbq button.tbq-go:hover:enabled,.tbq button.tbq-sub:hover:enabled{background:var(--q-pick)}
.tbq .tbq-ready button.tbq-go:not(.tbq-sub),
.tbq:has(.tbq-number input:enabled:not(:placeholder-shown)) .tbq-bar button.tbq-go:not(.tbq-sub){
background:var(--q-main);color:var(--q-onmain)!important}
.tbq .tbq-ready button.tbq-go:not(.tbq-sub):hover:enabled,
.tbq:has(.tbq-number input:enabled:not(:placeholder-shown)) .tbq-bar button.tbq-go:not(.tbq-sub):hover:enabled{
background:var(--q-hover);border-color:var(--q-hover)}
.tbq:has(.tbq-number input:enabled:not(:placeholder-shown)) .tbq-because{visibility:visible!important}
.tbq .widget-text{display:flex;flex-flow:row wrap;align-items:center;gap:4px 10px;width:auto;max-width:100%;
height:auto;margin:2px 0 10px}
.tbq .widget-text .widget-label{width:auto!important;max-width:100%;height:auto;margin:0;padding:0;
white-space:normal;text-align:left;color:var(--q-fg);font:inherit;line-height:1.4}
.tbq .widget-text input{flex:0 1 240px!important;width:240px;min-width:120px;font-family:inherit;
font-size:17px!important;height:44px!important;border:1.5px solid var(--q-edge)!important;border-radius:10px;
background:var(--q-bg)!important;color:var(--q-fg)!important;padding:4px 12px;opacity:1!important;
-webkit-text-fill-color:var(--q-fg)}
.tbq .widget-text input::placeholder{color:var(--q-soft);-webkit-text-fill-color:var(--q-soft);opacity:1}
.tbq .widget-text input:focus{border-color:var(--q-main)!important;outline:2px solid var(--q-main)!important}
.tbq .widget-text.tbq-letters{margin:0 0 4px}.tbq .tbq-letters .widget-label{color:var(--q-soft);font-size:13.5px}
.tbq .widget-text.tbq-letters input{flex-basis:96px!important;width:96px;min-width:64px;height:34px!important;
font-size:15px!important;border-radius:8px;padding:2px 10px}
.tbq .tbq-lines-row{display:flex!important;flex-flow:row wrap!important;gap:4px 18px;align-items:center}
.tbq .tbq-lines-row .tbq-because{flex:1 1 300px}.tbq .tbq-ask .tbq-sure,.tbq.tbq-ask .tbq-sure{margin-top:12px;
grid-template-columns:repeat(2,1fr)}
.tbq .widget-text.tbq-because{margin:2px 0 0;flex-flow:row nowrap}.tbq .tbq-because .widget-label{color:var(--q-soft);
font-size:13.5px;flex:none}.tbq .widget-text.tbq-because input{flex:1 1 0!important;width:auto;min-width:80px;
height:38px!important;font-size:14.5px!important;border-style:dashed!important;border-radius:10px}
.tbq .widget-text.tbq-because input:focus{border-style:solid!important}
.tbq .tbq-typed{display:flex!important;flex-flow:row wrap!important;gap:4px 10px;align-items:center}
.tbq .tbq-typed .widget-text input{flex-basis:110px!important;width:110px;min-width:80px}
.tbq .tbq-typed button.tbq-move{width:44px!important;height:44px!important;padding-left:14px;font-size:18px;
margin-bottom:8px;border-radius:10px}
.tbq .tbq-scale{display:block!important;margin:0 0 14px}
.tbq-over{position:relative;height:40px;display:flow-root}.tbq-over .tbq-note{padding-top:8px;text-align:center}
.tbq .tbq-knob{position:absolute;top:4px;margin:0;transform:translateX(-50%);z-index:1}
.tbq-knob b{display:block;background:var(--q-main);color:var(--q-onmain);border-radius:9px;padding:2px 10px;
font-size:14.5px;line-height:1.5;white-space:nowrap}
.tbq-knob::after{content:"";position:absolute;left:50%;top:100%;width:2px;height:26px;margin-left:-1px;
background:var(--q-main)}
.tbq .tbq-track{display:flex!important;flex-flow:row nowrap!important;border:1.5px solid var(--q-edge);
border-radius:12px;overflow:hidden!important;background:var(--q-fill)}
.tbq button.tbq-mark{flex:1 1 0;min-width:0;width:auto;height:46px!important;margin:0;padding:18px 0 0;border:0;
border-radius:0;background:linear-gradient(var(--q-edge),var(--q-edge)) 50% 0/1.5px 14px no-repeat;
color:var(--q-fg)!important;font-weight:500;font-size:13px;line-height:1.4;font-family:inherit;box-shadow:none;overflow:hidden}
.tbq button.tbq-mark:hover:enabled{background-color:var(--q-pick)}
"""

FEEDBACK = """
.tbq-say{display:flow-root}.tbq p.tbq-notice{margin:14px 0 0}.tbq-verdict{margin-top:16px;
border-left:4px solid var(--q-main);border-radius:10px;background:var(--q-fill);padding:12px 16px}
.tbq .tbq-verdict h4{margin:0;padding:0;border:0;font-family:inherit;font-weight:700;font-size:18px;
line-height:1.4;color:var(--q-main)}
.tbq-verdict h4 i{font-style:normal;margin-right:8px}.tbq .tbq-verdict p{margin:4px 0 0}
.tbq-verdict.good{border-color:var(--q-good);background:var(--q-goodbg)}.tbq .good h4{color:var(--q-good)}
.tbq-verdict.bad{border-color:var(--q-bad);background:var(--q-badbg)}.tbq .bad h4{color:var(--q-bad)}
.tbq-verdict.part{border-color:var(--q-part);background:var(--q-partbg)}.tbq .part h4{color:var(--q-part)}
.tbq-verdict code{background:var(--q-bg)}
.tbq ul.tbq-lines{list-style:none;margin:14px 0 0;padding:0}
.tbq .tbq-lines li{display:flex;gap:14px;margin:0;padding:12px 0;border-top:1px solid var(--q-line)}
.tbq .tbq-lines li:first-child{border-top:0}
.tbq-lines li>b{flex:none;width:26px;height:26px;line-height:26px;border-radius:8px;text-align:center;
font-size:13.5px;background:var(--q-fill);color:var(--q-soft)}
.tbq-lines li>div{flex:1;min-width:0}.tbq .tbq-lines p{margin:0 0 4px;text-wrap:pretty}
.tbq .tbq-lines p.what{font-weight:600}.tbq-lines small{font-size:12.5px;margin-left:8px;color:var(--q-soft);
white-space:nowrap}
.tbq-lines .good>b{background:var(--q-goodbg);color:var(--q-good)}.tbq-lines .good small{color:var(--q-good)}
.tbq-lines .bad>b{background:var(--q-badbg);color:var(--q-bad)}.tbq-lines .bad small{color:var(--q-bad)}
.tbq .tbq-lines p.belief{color:var(--q-soft);font-size:14.5px}
.tbq .tbq-reason{border-top:1px solid var(--q-line);padding-top:12px;margin-top:8px}
.tbq .tbq-reason .tbq-marks{display:flex!important;flex-flow:row wrap!important;gap:8px}
.tbq .tbq-reason p.tbq-own{font-size:14.5px}.tbq .tbq-reason button.tbq-sub{font-size:13.5px;min-height:38px;padding:5px 10px}
.tbq p.tbq-next{background:var(--q-pick);border-radius:10px;padding:10px 16px;margin:8px 0 0}
.tbq-next code{background:var(--q-bg)}.tbq .tbq-try{margin-top:10px;align-items:flex-start}
.tbq .tbq-ruler{padding:14px 18px 26px;margin-top:6px}.tbq-ruler>div{position:relative;height:18px;
border-bottom:2px solid var(--q-edge)}
.tbq-ruler s{position:absolute;bottom:-2px;height:12px;background:var(--q-good);opacity:.35;border-radius:3px}
.tbq-ruler i{position:absolute;bottom:-8px;width:1.5px;height:8px;background:var(--q-edge)}
.tbq-ruler u{position:absolute;font-style:normal;white-space:nowrap;top:9px;left:0;transform:translateX(-50%);font-weight:400;
font-size:12px;line-height:1.4;font-family:inherit;text-decoration:none;color:var(--q-soft)}
.tbq-ruler b{position:absolute;bottom:-2px;width:4px;height:24px;margin-left:-2px;border-radius:2px}
.tbq b.given{background:var(--q-main)}.tbq b.truth{background:var(--q-good)}.tbq b.band{background:var(--q-good);
opacity:.35}
.tbq p.tbq-legend{display:flex;flex-wrap:wrap;gap:2px 18px;font-size:13px;color:var(--q-soft)}
.tbq-legend b{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:6px;vertical-align:-1px}
"""

EDGES = """
@container (max-width:520px){.tbq-face{flex-wrap:wrap;gap:2px 12px;padding:10px 12px}
.tbq-face>span{flex:1 1 60%}.tbq-face em{flex-basis:100%;text-align:left;padding-left:40px}
.tbq-pictures .tbq-face em{padding-left:0}.tbq-stem{font-size:16px}.tbq .tbq-sure{gap:6px}
.tbq button.tbq-go{padding:6px;font-size:13.5px}.tbq .tbq-head code{margin-left:0}
.tbq button.tbq-mark{font-size:12px}.tbq-lines small{white-space:normal}.tbq .tbq-lines li{gap:10px}
.tbq .tbq-pictures{grid-template-columns:1fr}.tbq-pictures .tbq-face{grid-template-columns:136px auto 1fr}
.tbq-pictures .tbq-plot{grid-area:1/1/3/2;margin:0}.tbq-pictures .tbq-face em{grid-area:2/3}
.tbq-plot text{font-size:15px}}
@media (forced-colors:active){.tbq button.tbq-opt{font-size:14px;line-height:1.5;color:ButtonText!important}
.tbq-row>.widget-html{display:none}}
@media (prefers-reduced-motion:no-preference){.tbq button{transition:background-color .12s,border-color .12s}}
"""


def themed(selector: str) -> str:
    """The colours of a part of the page, light and dark, as variables."""
    dark = ",".join(_DARK_THEMES).replace(".tbq", selector)
    return (
        f"{selector}{{{LIGHT}}}{dark}{{{DARK}}}"
        f"@media (prefers-color-scheme:dark){{{_NO_THEME.replace('.tbq', selector)}{{{DARK}}}}}"
    )


CSS = f"{themed('.tbq')}{FRAME}{OPTIONS}{ORDER}{ANSWER}{FEEDBACK}{EDGES}"
SHEET = f"<style>{CSS}</style>"
