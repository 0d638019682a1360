"""The look of the feedback page: system fonts, right and wrong in sign, word and colour, dark where the reader's system is dark."""

CSS = """
:root{--bg:#fff;--fg:#1d1d1f;--soft:#55585e;--line:#d4d7dc;--fill:#f4f5f8;--main:#1657b8;--good:#176b2c;--half:#8a5a00;--bad:#a32116;
--key:#8a1a7a;--str:#1c6b32;--num:#0b5fa5}
@media (prefers-color-scheme:dark){:root{--bg:#16181c;--fg:#e8eaed;--soft:#b3b8c0;--line:#3d424a;--fill:#22262c;--main:#8ab4f8;
--good:#7fd896;--half:#f2c063;--bad:#ff9c90;--key:#e0a6f0;--str:#9ad8a8;--num:#93c7ff}}
*{box-sizing:border-box}html{scroll-behavior:smooth;color-scheme:light dark}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.55 system-ui,-apple-system,"Segoe UI","Noto Sans CJK SC","PingFang SC",
"Microsoft YaHei",sans-serif}
main{max-width:860px;margin:0 auto;padding:24px 20px 60px;overflow-wrap:break-word}
h1{font-size:1.6em;margin:.2em 0}h2{font-size:1.2em;margin:0 0 .3em}h3{font-size:1em;margin:0 0 .5em;line-height:1.45}
.soft{color:var(--soft);font-weight:400}.score{font-size:1.05em;margin:.2em 0 1em}.score b{font-size:1.5em;margin-right:.5em}
.late{color:var(--bad)}a{color:var(--main)}
table{border-collapse:collapse}.cells{width:100%;margin:.5em 0 1.5em}
th,td{text-align:left;vertical-align:top;padding:6px 14px 6px 0;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600;font-size:.88em}.num,.state{white-space:nowrap}.state{font-weight:600}
.correct{--tone:var(--good)}.partly{--tone:var(--half)}.incorrect{--tone:var(--bad)}.not-attempted,.inconclusive{--tone:var(--soft)}
td.state{color:var(--tone)}
.ideas{border:2px solid var(--main);border-radius:12px;padding:14px 18px;margin:0 0 1.5em}.ideas p{margin:0 0 .4em;font-size:.92em}
.ideas ul{margin:0;padding-left:1.2em}.ideas li{margin:.35em 0}.before{margin:0 0 1.5em}.before summary{cursor:pointer;color:var(--main)}
section{margin:1.1em 0}.graded{border:1px solid var(--line);border-left:6px solid var(--tone);border-radius:8px;padding:12px 16px 8px}
.graded .course-mark>p:first-child>b{color:var(--tone)}.graded p{margin:.4em 0}.graded .top{
text-align:right;font-size:.85em;margin:.3em 0 0}
.answer h3{font-size:.9em;margin:0 0 .3em}.comment{border-left:4px solid var(--main);padding:4px 12px;margin:.6em 0;background:var(--fill)}
.comment p{display:inline}.notes{border:1px solid var(--half);border-radius:8px;padding:4px 16px}
.text>:first-child{margin-top:.2em}.text h1{font-size:1.35em}.text h2{font-size:1.2em}
code,pre{font-family:Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.88em}code{background:var(--fill);border-radius:4px;
padding:1px 4px}
pre{margin:0;white-space:pre-wrap}pre code{background:none;padding:0}
.source,.output_stream,.output_error,.output_text{background:var(--fill);border:1px solid var(--line);border-radius:6px;padding:8px 12px;
margin:.3em 0;max-height:30em;overflow:auto}
.output_text pre,.output_error pre{color:var(--fg)}.output_stderr{border-style:dashed}.output_html{overflow-x:auto}
.output_html table{font-size:.95em}img{max-width:100%;background:#fff}
.highlight{background:none}.k,.kn,.kd,.kc,.ow,.nb{color:var(--key)}.s,.s1,.s2,.sa,.sd,.se,.si{color:var(--str)}.mi,.mf,.mh{color:var(--num)}
.c,.c1,.ch,.cm{color:var(--soft);font-style:italic}.ansi-red-fg,.ansi-red-intense-fg{color:var(--bad)}.ansi-green-fg{color:var(--good)}
.ansi-blue-fg,.ansi-cyan-fg{color:var(--main)}.ansi-bold{font-weight:700}
@media (max-width:560px){.cells{font-size:.88em}th,td{padding-right:8px}main{padding:16px 12px 40px}}
@media print{:root{--bg:#fff;--fg:#000;--soft:#333;--line:#bbb;--fill:#f4f4f4;--good:#176b2c;--half:#8a5a00;--bad:#a32116;--main:#1657b8}
body{font-size:11pt}.top{display:none}.graded,.answer,tr{break-inside:avoid}.source,.output_stream{max-height:none;overflow:visible}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""
