"""The one look of all cards: CSS that follows the theme of JupyterLab, VS Code and Colab.

Colours are our own pairs, chosen for contrast of at least 4.5 : 1 on the card in light and in dark;
JupyterLab's variables give the surface where they exist. A state is always in words too; colour only repeats
it.
"""

CSS = """
.tbq{--q-bg:var(--jp-layout-color1,#fff);--q-fg:var(--jp-content-font-color1,#1d1d1f);--q-soft:#55585e;
--q-line:#c9ccd2;--q-fill:#f4f5f7;--q-main:#1657b8;--q-onmain:#fff;--q-pick:#e8f0fd;--q-good:#176b2c;
--q-goodbg:#e9f6ec;
--q-bad:#a32116;--q-badbg:#fdeeec;--q-part:#855300;
--q-mono:var(--jp-code-font-family,Menlo,Consolas,monospace);
container-type:inline-size;background:var(--q-bg);color:var(--q-fg);border:1px solid var(--q-line);
border-radius:12px;
padding:16px 20px 14px;margin:6px 2px 10px;max-width:860px;box-sizing:border-box;overflow:visible!important;
font-family:var(--jp-content-font-family,system-ui,-apple-system,"Segoe UI",sans-serif);font-size:15px;
line-height:1.5;overflow-wrap:anywhere}
[data-jp-theme-light=false] .tbq,html[theme=dark] .tbq,body.vscode-dark .tbq,
body.vscode-high-contrast:not(.vscode-high-contrast-light) .tbq{
--q-soft:#b3b8c0;--q-line:#4a4f57;--q-fill:#25282d;--q-main:#8ab4f8;--q-onmain:#10141a;--q-pick:#1e2f4a;
--q-good:#7fd896;
--q-goodbg:#16301d;--q-bad:#ff9c90;--q-badbg:#3a1d1a;--q-part:#f0c05a}
html[theme=dark] .tbq,body.vscode-dark .tbq,body.vscode-high-contrast:not(.vscode-high-contrast-light) .tbq{
--q-bg:#1b1d21;--q-fg:#e8eaed}
.tbq .widget-box,.tbq .widget-html,.tbq .widget-html-content{overflow:visible!important;margin:0;
line-height:1.5!important;
font-size:15px;color:var(--q-fg);width:100%;min-width:0;height:auto!important;box-sizing:border-box}
.tbq p{margin:0 0 8px}.tbq code{font-family:var(--q-mono);font-size:.9em;background:var(--q-fill);
color:inherit;border-radius:4px;
padding:1px 4px;white-space:break-spaces}
.tbq pre{background:var(--q-fill);color:inherit;border:1px solid var(--q-line);border-radius:8px;
padding:10px 12px;margin:4px 0 10px;overflow-x:auto;line-height:1.45}
.tbq pre code{background:none;padding:0;font-size:13px;white-space:pre}
.tbq-head{display:flex;gap:8px;align-items:baseline;flex-wrap:wrap;color:var(--q-soft);font-size:13px;
margin-bottom:6px}
.tbq-head b{color:var(--q-main);font-size:13px;letter-spacing:.02em}.tbq-head code{background:none;padding:0}
.tbq-stem{font-size:16px}.tbq-note{color:var(--q-soft);font-size:13px}
.tbq .tbq-row{display:grid!important;margin:0 0 8px;width:100%}
.tbq .tbq-row>*{grid-area:1/1;min-width:0}
.tbq .tbq-row>.widget-html{pointer-events:none;align-self:center}
.tbq button.tbq-opt{width:100%;height:100%!important;min-height:46px;margin:0;
border:1.5px solid var(--q-line);border-radius:10px;
background:var(--q-bg);box-shadow:none;font-size:1px;line-height:1px;color:transparent!important;
overflow:hidden;white-space:normal;opacity:1!important}
.tbq button.tbq-opt:hover:enabled{border-color:var(--q-main);background:var(--q-fill)}
.tbq button:focus-visible{outline:3px solid var(--q-main)!important;outline-offset:2px}
.tbq button:disabled{opacity:1!important;cursor:default}.tbq button.tbq-small:disabled{opacity:.4!important}
.tbq .tbq-chosen button.tbq-opt{border-color:var(--q-main);background:var(--q-pick)}
.tbq .tbq-right button.tbq-opt{border-color:var(--q-good);background:var(--q-goodbg)}
.tbq .tbq-wrong button.tbq-opt{border-color:var(--q-bad);background:var(--q-badbg)}
.tbq-face{display:flex;align-items:center;gap:12px;padding:8px 14px 8px 10px}
.tbq-face i{flex:none;width:26px;height:26px;line-height:24px;border:1.5px solid currentColor;
border-radius:50%;text-align:center;font-style:normal;
font-weight:600;font-size:13px;box-sizing:border-box;color:var(--q-soft)}.tbq-face i.sq{border-radius:6px}
.tbq-chosen .tbq-face i{background:var(--q-main);color:var(--q-onmain);border-color:var(--q-main)}
.tbq-right .tbq-face i{background:var(--q-good);border-color:var(--q-good);color:var(--q-bg)}
.tbq-wrong .tbq-face i{background:var(--q-bad);border-color:var(--q-bad);color:var(--q-bg)}
.tbq-face span{flex:1;min-width:0;overflow-wrap:anywhere}
.tbq-face em{flex:none;min-width:6.2em;text-align:right;font-style:normal;font-size:12.5px;font-weight:600;
color:var(--q-soft)}
.tbq-chosen .tbq-face em{color:var(--q-main)}
.tbq-right .tbq-face em{color:var(--q-good)}.tbq-wrong .tbq-face em{color:var(--q-bad)}
.tbq .tbq-bar{flex-flow:row wrap!important;gap:8px;align-items:center;margin:4px 0 2px;width:100%}
.tbq .tbq-bar .widget-html{width:auto;flex:0 0 auto;color:var(--q-soft)}
.tbq button.tbq-go,.tbq button.tbq-sub{width:auto;height:auto!important;min-height:38px;padding:6px 14px;
margin:0;border-radius:9px;
font-size:14px;font-weight:600;line-height:1.3;white-space:normal;box-shadow:none;
border:1.5px solid var(--q-main);background:var(--q-main);color:var(--q-onmain)!important}
.tbq button.tbq-go:hover:enabled{filter:brightness(1.08)}
.tbq button.tbq-sub{background:transparent;color:var(--q-main)!important}
.tbq button.tbq-small{min-height:32px;padding:4px 9px;font-size:13px;font-weight:500}
.tbq .tbq-line{flex-flow:row wrap!important;gap:6px;align-items:center;border:1px solid var(--q-line);
border-radius:10px;
background:var(--q-pick);padding:5px 8px 5px 12px;margin:0 0 6px;box-sizing:border-box}
.tbq .tbq-line .widget-html{flex:1 1 200px;width:auto}
.tbq .widget-text{width:min(100%,420px);height:auto;margin:2px 0 8px}.tbq .widget-text .widget-label{
width:auto;color:var(--q-fg);font-size:15px}
.tbq .widget-text input{font-size:16px;height:38px;border:1.5px solid var(--q-line);border-radius:8px;
background:var(--q-bg);color:var(--q-fg);padding:4px 10px}
.tbq .widget-text input:focus{border-color:var(--q-main);outline:2px solid var(--q-main)!important}
.tbq-say{min-height:1.5em;margin-top:8px}.tbq-say h4{font-size:16px;margin:4px 0 6px;font-weight:700}
.tbq-say .good{color:var(--q-good)}.tbq-say .bad{color:var(--q-bad)}.tbq-say .part{color:var(--q-part)}
.tbq-say .calm{color:var(--q-main)}
.tbq-say dl{margin:8px 0 0;border-top:1px solid var(--q-line)}.tbq .tbq-say dt,.tbq .tbq-say dd{float:none;
width:auto;clear:both;display:block;padding:0;margin:0}
.tbq .tbq-say dt{margin-top:10px;font-weight:600;padding-left:34px;text-indent:-34px}.tbq .tbq-say dt *{
text-indent:0}.tbq .tbq-say dd{margin:2px 0 4px;padding-left:34px}
.tbq-say dt b{display:inline-block;width:26px;font-weight:700;margin-right:8px;text-align:center}
.tbq-say dt small{font-size:12.5px;font-weight:600;margin-left:6px;white-space:nowrap}
.tbq-say .belief{color:var(--q-soft);font-size:14px;margin-top:2px}
.tbq-say .next{background:var(--q-fill);border-left:4px solid var(--q-main);border-radius:4px;
padding:8px 12px;margin:12px 0 0}
@container (max-width:520px){.tbq-face{flex-wrap:wrap;row-gap:0;padding:8px 10px}.tbq-face em{
flex-basis:100%;text-align:left;padding-left:38px;min-height:1.5em}
.tbq-face span{flex:1 1 60%}.tbq .tbq-say dd{padding-left:0}.tbq .tbq-bar .widget-html{flex-basis:100%}
.tbq button.tbq-go{flex:1 1 auto}}
@media (forced-colors:active){.tbq button.tbq-opt{font-size:14px;line-height:1.5;color:ButtonText!important}
.tbq-row>.widget-html{display:none}}
@media (prefers-reduced-motion:no-preference){.tbq button{transition:background-color .12s,border-color .12s}}
"""

SHEET = f"<style>{CSS}</style>"
