"""The look of the report: system fonts, one accent colour, dark where the reader's system is dark."""

CSS = """
:root{--bg:#fff;--fg:#1d1d1f;--soft:#55585e;--line:#d4d7dc;--fill:#f1f3f6;--main:#1657b8;--good:#176b2c;--bad:#a32116}
@media (prefers-color-scheme:dark){:root{--bg:#16181c;--fg:#e8eaed;--soft:#b3b8c0;--line:#3d424a;--fill:#22262c;
--main:#8ab4f8;--good:#7fd896;--bad:#ff9c90}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,-apple-system,"Segoe UI","Noto Sans CJK SC",
"PingFang SC","Microsoft YaHei",sans-serif}
main{max-width:900px;margin:0 auto;padding:24px 20px 60px}
h1{font-size:1.7em;margin:.2em 0}h2{font-size:1.25em;margin:2em 0 .5em}h3{font-size:1.05em;margin:1.2em 0 .4em}
p{margin:.4em 0}.soft{color:var(--soft);font-size:.9em;font-weight:400}.good{color:var(--good)}.bad{color:var(--bad)}
a{color:var(--main)}code{font-family:Menlo,Consolas,monospace;font-size:.88em;background:var(--fill);border-radius:4px;
padding:1px 4px}
.teach{border:2px solid var(--main);border-radius:12px;padding:12px 18px 14px;margin:18px 0}.teach h2{margin:0 0 .3em}
.cell{border-top:1px solid var(--line);padding-bottom:8px}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;min-width:620px;margin:.5em 0}td a code{white-space:nowrap}
th,td{text-align:left;vertical-align:top;padding:5px 12px 5px 0;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600;font-size:.85em}.num{text-align:right;white-space:nowrap}
.track{display:inline-block;width:90px;height:10px;background:var(--fill);border-radius:5px;overflow:hidden;
vertical-align:baseline}.track .fill{display:block;height:100%;background:var(--main)}
td:has(.track){white-space:nowrap}
svg{width:100%;min-width:560px;height:auto;display:block;margin:.5em 0}svg text{fill:var(--fg);font-size:13px}
svg .tick{fill:var(--soft);font-size:12px}svg .grid{stroke:var(--line)}svg .axis{stroke:var(--soft)}
svg .bar{stroke:var(--main);stroke-width:3;stroke-linecap:round;opacity:.55}svg .dot,svg .fill{fill:var(--main)}
@media (max-width:640px){td:last-child{min-width:190px}}
@media print{:root{--bg:#fff;--fg:#000;--soft:#333;--line:#bbb;--fill:#eee;--main:#1657b8;--good:#176b2c;--bad:#a32116}
body{font-size:11pt}table,svg{min-width:0}.wide{overflow:visible}.cell,.teach,svg{break-inside:avoid}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
a{color:inherit;text-decoration:none}}
"""
