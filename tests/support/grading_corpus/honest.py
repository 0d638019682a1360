"""What must cost nobody a point: honest work of others; noise, control characters, markup and long names, which a reader gets as text."""

from __future__ import annotations

from tests.support.grading_corpus.base import ANSWERS, RIGHT, SOLVED, Hostile, dumped, sheet

STUB = "def contrast(low, high):\n    raise NotImplementedError\n"
HTML = "<script>document.title='CORPUS_CANARY'</script><img src=x onerror=\"document.title='CORPUS_CANARY'\">"

CASES = (
    *(Hostile(f"honest-{number}", points=13, files={ANSWERS: dumped(sheet(*RIGHT))}) for number in range(3)),
    Hostile("honest-half", points=3 + 2, task=STUB, files={ANSWERS: dumped(sheet(RIGHT[0]))}),
    Hostile(
        "honest-wrong", points=0, verdict="wrong", task="def contrast(low, high): return low\n", report="report = {}\n"
    ),
    Hostile(
        "honest-shadows-built-ins",
        points=13,
        files={ANSWERS: dumped(sheet(*RIGHT))},
        harm="list = str = dict = type = bool = int = float = tuple = isinstance = getattr = callable = print = exec = 7\n"
        "from numpy import *\nfrom json import *",
    ),
    Hostile("honest-late-stub", points=3, report="report = None\n"),
    Hostile(
        "warns",
        harm="import sys, warnings\nwarnings.warn('careful')\nprint('noise', file=sys.stderr)\n"
        "import logging\nlogging.error('more noise')",
    ),
    Hostile(
        "warns-below-python", harm="import os\nos.write(2, b'native noise\\n')\n!echo noise >&2", shows="native noise"
    ),
    Hostile(
        "warns-when-called",
        task="import sys, os, warnings\ndef contrast(low, high):\n    print('x', file=sys.stderr)\n"
        "    os.write(2, b'x')\n    warnings.warn('x')\n    return (high - low) / (high + low)\n",
    ),
    Hostile("controls-the-terminal", harm="print('\\x1b[2J\\x1b]0;owned\\x07\\x1b[31mred\\x00\\x08')"),
    Hostile(
        "scripts-in-outputs",
        harm=f"from IPython.display import HTML, Javascript, Markdown, SVG, display\n"
        f"page = '''{HTML}'''\nfor kind in (HTML, Markdown): display(kind(page))\ndisplay(Javascript('1'))\n"
        "display(SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"><script>1</script></svg>'))\n"
        "display({'text/vnd.mermaid': page, 'application/vnd.x+json': {}, 'text/plain': page}, raw=True)\n"
        "raise ValueError(page)",
        verdict="raised",
    ),
    Hostile(
        "scripts-for-pictures",
        harm="from IPython.display import display\npage = '\"><img src=x onerror=alert(1)>'\n"
        "for kind in ('image/png', 'image/jpeg', 'image/svg+xml', 'text/latex'):\n"
        "    display({kind: page, 'text/plain': ''}, metadata={kind: {'width': page}, 'filenames': {kind: page}}, raw=True)",
    ),
    Hostile("nests-a-page", harm="from IPython.display import HTML, display\ndisplay(HTML('<div>' * 40_000))"),
    Hostile(
        "scripts-in-answer-names",
        points=None,
        verdict="look",
        says="damaged",
        files={ANSWERS: dumped(sheet(answers={"<script src=//x.y></script>": 7, "\x1b[2J\u202e": 7, "\ud800": 7}))},
    ),
    Hostile(
        "unicode-names", task="变量 = 2\ndef contrast(low, high):\n    𝔵 = high - low\n    return x / (high + low)\n"
    ),
    Hostile("very-long-names", harm=f"{'a' * 100_000} = 1\nprint({'a' * 100_000})"),
    Hostile("very-long-line", harm="x = (" + "1 + " * 20_000 + "1)", verdict="ANY"),
    Hostile("syntax-error", harm="this is not Python", verdict="raised"),
    Hostile("shell-cells", harm="%%bash\necho hello\nexit 3", verdict="raised"),
    Hostile("magics", harm="%time 1 + 1\n%timeit -n 1 -r 1 None\n%matplotlib inline\n%load_ext autoreload\n%who"),
    Hostile("asks", harm="input('your password?')", verdict="raised"),
    Hostile("asks-when-called", task="def contrast(low, high): return float(input())\n", points=3, verdict="raised"),
    Hostile("awaits", harm="import asyncio\nawait asyncio.sleep(0)"),
    Hostile("prints-after-the-cell", harm="import threading, time\nthreading.Timer(0.2, print, ['later']).start()"),
    Hostile("catches-everything", task="try:\n    1 / 0\nexcept ZeroDivisionError:\n    pass\n" + SOLVED),
)
