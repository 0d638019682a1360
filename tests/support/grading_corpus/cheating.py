"""Attempts to get points without the work, from within the kernel. What decides a mark is outside it."""

from __future__ import annotations

from tests.support.grading_corpus.base import SOLVED, Hostile

WRONG = "def contrast(low, high):\n    return 0.5\n"


def cheat(name: str, harm: str, **more) -> Hostile:
    """A wrong task and something that ought to hide it: the report's points, and no more."""
    return Hostile(name, harm=harm, task=WRONG, **{"points": 3, "verdict": "wrong", **more})


EVIL = """
class Evil(float):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __hash__ = float.__hash__
    def __repr__(self): return '1.0'
    def __float__(self): return 1.0
def contrast(low, high): return Evil(0.5)
"""

CASES = (
    cheat(
        "patches-builtins",
        "import builtins\nbuiltins.len = lambda x: 0\nbuiltins.sum = lambda *x: 1\n"
        "builtins.isinstance = lambda *x: True\nbuiltins.abs = lambda x: 0",
        verdict="ANY",
    ),
    cheat(
        "patches-json",
        "import json\njson.dumps = lambda *a, **k: '{\"call\": 0}'\njson.loads = lambda *a, **k: {}",
        verdict="timeout",
    ),
    cheat(
        "patches-torch",
        "import torch\ntorch.allclose = torch.equal = lambda *a, **k: True\n"
        "torch.Tensor.__eq__ = lambda a, b: True\ntorch.backends.cudnn = None",
    ),
    cheat("equal-to-everything", EVIL),
    cheat(
        "transforms-input",
        "ip = get_ipython()\nip.input_transformers_cleanup.append(lambda lines: ['x = 1\\n'])",
        points=0,
        verdict="ANY",
    ),
    cheat(
        "transforms-ast",
        "import ast\nclass T(ast.NodeTransformer):\n    def visit_Constant(self, node):\n"
        "        return ast.copy_location(ast.Constant(1), node)\nget_ipython().ast_transformers.append(T())",
        points=0,
        verdict="ANY",
    ),
    cheat(
        "patches-display",
        "import IPython.display as d\nimport IPython.core.display_functions as f\n"
        "d.display = f.display = lambda *a, **k: None",
    ),
    cheat(
        "patches-the-publisher",
        "ip = get_ipython()\ntype(ip.display_pub).publish = lambda *a, **k: None",
        verdict="ANY",
        points=0,
    ),
    cheat(
        "redefines-get-ipython",
        "def get_ipython(): return None\ndef display(*x): return 13.0\n"
        "import builtins\nbuiltins.get_ipython = get_ipython\nbuiltins.display = display",
    ),
    cheat(
        "traces",
        "import sys\ndef tracer(frame, event, argument):\n    if '_course_probe' in frame.f_code.co_name:\n"
        "        frame.f_locals.update(result={'state': 'value', 'value': 1})\n    return tracer\nsys.settrace(tracer)",
    ),
    cheat(
        "reads-frames",
        "import sys\nseen = []\ndef contrast(low, high):\n    frame = sys._getframe()\n"
        "    while frame:\n        seen.append(dict(frame.f_locals))\n        frame = frame.f_back\n"
        "    return seen[1].get('expected', seen[1].get('reference', 0.5))",
    ),
    cheat(
        "collects-garbage",
        "import gc\ndef contrast(low, high):\n    found = [o for o in gc.get_objects() if "
        "isinstance(o, dict) and 'reference' in o and 'cases' in o]\n    return 1.0 if found else 0.5",
        hides="raised",
    ),
    cheat("patches-the-shell", "get_ipython().run_cell = lambda *a, **k: None", points=0, verdict="ANY"),
    cheat("replaces-the-outlet", "import inside.shell as s\ns.OUTLET.put = lambda *a: None", verdict="timeout|killed"),
    cheat(
        "time-travel",
        "import time\ntime.time = time.monotonic = time.perf_counter = lambda: 0.0\ntime.sleep = lambda s: None",
    ),
    cheat(
        "gives-itself-a-mark",
        "from IPython.display import display\ndisplay({'text/plain': '3.0'}, raw=True)\n"
        "display({'text/html': '<div class=\"course-mark\"><b>13 of 13 points</b></div>'}, raw=True)\n3.0",
    ),
    cheat(
        "returns-a-coroutine",
        "async def contrast(low, high): return (high - low) / (high + low)",
        shows="not plain data",
    ),
    cheat("returns-a-generator", "def contrast(low, high): yield (high - low) / (high + low)", shows="not plain data"),
    cheat(
        "returns-lies-lazily",
        "class Lazy:\n    n = 0\n    def tolist(self):\n        Lazy.n += 1\n"
        "        return self\ndef contrast(low, high): return Lazy()",
        shows="not plain data",
    ),
    cheat(
        "returns-an-endless-iterator",
        "import time\nclass Endless(dict):\n    def items(self):\n        while True: time.sleep(0.1); yield 'a', 1\n"
        "def contrast(low, high): return Endless(a=1)",
        verdict="ANY",
    ),
    cheat(
        "returns-an-evil-dataclass",
        "import dataclasses\n@dataclasses.dataclass\nclass D:\n    x: object\n"
        "    def __deepcopy__(self, memo): raise SystemExit\n    def __getattribute__(self, name): raise OSError\n"
        "def contrast(low, high): return D(1)",
        verdict="raised",
    ),
    cheat(
        "returns-a-pickle",
        "import pickle\nclass P:\n    def __reduce__(self): return (print, ('ESC' + 'APED',))\n"
        "def contrast(low, high): return pickle.dumps(P())",
        shows="not plain data",
    ),
    cheat("returns-megabytes", "def contrast(low, high): return 'x' * 10_000_000", shows="far too large"),
    cheat("returns-a-huge-integer", "def contrast(low, high): return 10 ** 5000"),
    cheat("returns-nan", "def contrast(low, high): return float('nan')"),
    cheat("returns-infinity", "def contrast(low, high): return float('inf')"),
    cheat("returns-itself", "x = []\nx.append(x)\ndef contrast(low, high): return x", shows="not plain data"),
    cheat(
        "raises-the-input",
        "def contrast(low, high): raise ValueError(f'INPUT {low} {high}')",
        verdict="raised",
        hides="INPUT 0 7",
    ),
    cheat(
        "raises-keyboard-interrupt", "def contrast(low, high): raise KeyboardInterrupt", shows="the time was used up"
    ),
    cheat(
        "shows-the-input",
        "from IPython.display import display\nhandle = display('x', display_id=True)\n"
        "def contrast(low, high):\n    print('INPUT', low, high)\n    handle.update(f'INPUT {low} {high}')\n    return 0.5",
        hides="INPUT 0 7",
    ),
    cheat(
        "returns-a-subclassed-string",
        "class S(str):\n    def __eq__(self, other): return True\n    __hash__ = str.__hash__\n"
        "def contrast(low, high): return S('1.0')",
    ),
    cheat(
        "returns-a-subclassed-integer",
        "class I(int):\n    def __repr__(self): return '0.5'\n    __str__ = __repr__\n"
        "def contrast(low, high): return I(3)",
    ),
    cheat(
        "knows-that-it-is-watched",
        "import sys\ndef contrast(low, high):\n    frame = sys._getframe()\n    while frame:\n"
        "        if frame.f_code.co_name == '_course_probe': return 0.5\n        frame = frame.f_back\n"
        "    return (high - low) / (high + low)",
    ),
    cheat(
        "tells-by-exceptions",
        "import builtins\nkinds = sorted(n for n, e in vars(builtins).items() if isinstance(e, type) and "
        "issubclass(e, Exception))\ndef contrast(low, high): raise getattr(builtins, kinds[high % len(kinds)])(f'INPUT {low}')",
        verdict="raised|memory",
        hides="INPUT",
    ),
    cheat(
        "guesses-the-seed",
        "import random\ndef contrast(low, high):\n    for when in ('2026-01-02 10:00:00.000000 UTC', '90_fixture'):\n"
        "        rng = random.Random(when)\n        if (rng.randint(2, 50), rng.randint(51, 1000)) == (low, high):\n"
        "            return 'ESC' + 'APED'\n"
        "    return 0.5",
    ),
    cheat(
        "sends-results-without-values",
        "import json\nreal = json.dumps\ndef dumps(x, *a, **k):\n"
        "    if isinstance(x, dict) and 'call' in x: x = {'call': x['call'], 'state': 'value'}\n    return real(x, *a, **k)\n"
        "json.dumps = dumps",
        points=0,
    ),
    Hostile("returns-minus-zero", task=SOLVED.replace("return ", "return -0.0 if low == high else ")),
    Hostile(
        "returns-true-for-one",
        task=SOLVED.replace("return ", "return True if low == 0 else "),
        points=5,
        verdict="wrong",
    ),
    Hostile(
        "returns-nan-once",
        task=SOLVED.replace("return ", "return float('nan') if low == 0 else "),
        points=5,
        verdict="wrong",
    ),
    Hostile("report-is-all-true", report="report = {'median_ms': True, 'repeats': True}\n", points=4, verdict="wrong"),
    Hostile("report-is-enormous", report="report = {'median_ms': 1, 'repeats': 10 ** 4000}\n", points=6),
    Hostile(
        "report-is-forged",
        report="class R(dict):\n    def __contains__(self, x): return True\n"
        "    def get(self, *a): return 99\nreport = R()\n",
        points=3,
        verdict="wrong",
    ),
    Hostile("report-is-infinite", report="report = {'median_ms': float('inf'), 'repeats': float('nan')}\n", points=6),
    Hostile(
        "report-has-odd-kinds",
        report="report = {'median_ms': 1, 'repeats': 'seven'}\n",
        points=3,
        verdict="look",
        says="look by hand",
    ),
    Hostile("report-is-huge", report="report = {'median_ms': [0] * 10**6}\n", points=3, verdict="wrong"),
    Hostile("resets-everything", harm="%reset -f", points=3, verdict="ok|timeout"),
    Hostile("deletes-all-names", harm="for name in list(globals()): del globals()[name]", points=3, verdict="ANY"),
    Hostile(
        "right-for-typical-inputs",
        task=SOLVED.replace("return", "if low == 0: return None\n    return"),
        points=5,
        verdict="wrong",
    ),
)
