"""What a kernel sends and a student writes, on its way to a page: well formed, harmless, read in a moment; cells do in the sandbox what
they do in a real Jupyter kernel.
"""

from __future__ import annotations

import re

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from grader.marking.outputs import clean, markdown, sound
from grader.marking.running import Run
from grader.sandbox import launch
from grader.sandbox.limits import Limits
from grader.sandbox.warm import shared
from tests.conftest import missing


@pytest.mark.parametrize(
    "forged",
    [
        {},
        {"output_type": None},
        {"output_type": [1]},
        {"output_type": "stream"},
        {"output_type": "stream", "name": "x", "text": ""},
        {"output_type": "stream", "name": "stdout", "text": 3},
        {"output_type": "error", "traceback": "x"},
        {"output_type": "display_data", "data": None},
        {"output_type": "execute_result", "data": [1]},
    ],
)
def test_forged_outputs_are_dropped(forged):
    assert sound(forged) is None


def test_of_an_output_only_known_kinds_and_texts_are_kept():
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    rich = {
        "text/plain": "x\ud800",
        "text/html": 5,
        "text/vnd.mermaid": "x",
        "application/javascript": "x",
        "image/png": "AA==",
    }
    made = [
        sound({"output_type": "execute_result", "execution_count": "x", "data": rich, "metadata": {"filenames": 3}}),
        sound({"output_type": "error", "ename": 1, "evalue": [2], "traceback": [3, "x"]}),
        sound({"output_type": "stream", "name": "stderr", "text": "x\udfff"}),
    ]
    assert made[0].data == {"text/plain": "x?", "image/png": "AA=="} and made[1].traceback == ["x"]
    nbformat.validate(new_notebook(cells=[new_code_cell("", outputs=made)]))


@pytest.mark.parametrize(
    "html",
    [
        "<script>1</script>",
        "<img src=x onerror=1>",
        "<a href='javascript:1'>x</a>",
        "<a href=' jAvascript:alert(1)'>x</a>",
        "<a href='java\tscript:alert(1)'>x</a>",
        "<a href='data:text/html,1'>x</a>",
        "<svg onload=1>",
        "<iframe src='//x.y'></iframe>",
        "<img src='https://x.y/z.png'>",
        "<style>*{}</style>",
        "<div style='background:url(//x.y)'>",
        "<form action='//x.y'><input name=a>",
        "<base href='//x.y'>",
        "<img src='data:text/html;base64,AAAA'>",
        "<meta http-equiv=refresh content='0;url=//x.y'>",
        "<object data=x>",
        "<math><mi xlink:href='javascript:1'>",
        "<details ontoggle=1 open>",
        "<p id='x' onclick='1'>",
    ],
)
def test_nothing_in_a_page_runs_or_fetches(html):
    kept = clean(f"before {html} after").lower()
    bad = r"<script|javascript:|\son\w+=|<svg|<iframe|//x\.y|<style|url\(|<form|<base|<meta|data:text|<object"
    assert not re.search(bad, kept)
    assert kept.startswith("before ") and "after" in kept


def test_what_marks_and_texts_need_stays():
    page = (
        '<h2>x</h2><table><tbody><tr><td style="padding: 3px;">1</td></tr></tbody></table>'
        '<div class="course-mark"><p><b>2</b></p></div><img src="data:image/png;base64,AA=="><a href="https://pytorch.org">x</a>'
    )
    assert clean(page) == page
    code = '<div class="highlight hl-ipython3"><span class="kn">import</span></div><span class="ansi-red-fg">x</span>'
    assert clean(code + '<table class="dataframe"></table>') == code + '<table class="dataframe"></table>'


@pytest.mark.parametrize(
    "html",
    [
        '<p id="90-t-contrast">x</p>',
        '<p class="score">x</p>',
        '<div class="modal in">x</div>',
        '<p class="course-mark navbar-fixed-top">x</p>',
    ],
)
def test_nothing_of_a_student_passes_for_a_part_of_formgraders_page(html):
    assert not re.search("id=|class=", clean(html))
    assert not re.search("id=|class=", markdown({"cell": {}}, f"# 90-t-contrast\n\n{html}"))


@pytest.mark.parametrize(
    "piece", ["<b><p>", "<div>", "<b>x", "<a>", "<", "<p a='1' b='2' ", "<div><b></div>", "<table>x", "&lt;", "<b></x>"]
)
def test_what_a_parser_would_take_hours_for_is_shown_as_it_is_written(piece):
    assert clean("kept words" + piece * 200_000).startswith("<pre>kept words")
    assert markdown({"cell": {}}, "kept words" + "\\begin{a}[x](" * 3_500).startswith("<pre>kept words")


CELLS = [
    "a = 3\na",
    "print('x')\n5",
    "5;",
    "import sys\nprint('to stderr', file=sys.stderr)\nprint('to stdout')",
    "display(1, 'two')",
    "from IPython.display import HTML, Markdown, display, clear_output\nHTML('<b>x</b>')",
    "print(1)\nclear_output()\nprint(2)",
    "print(1)\nclear_output(wait=True)\nprint(2)",
    "class Rich:\n    def _repr_html_(self): return '<i>rich</i>'\n    def __repr__(self): return 'plain'\nRich()",
    "class Broken:\n    def __repr__(self): return 1 / 0\nBroken()",
    "1 / 0",
    "def f(:\n    pass",
    "def outer():\n    raise ValueError('inside')\nouter()",
    "try:\n    1 / 0\nexcept Exception as error:\n    raise KeyError('then') from error",
    "import warnings\nwarnings.warn('careful')",
    "import asyncio\nawait asyncio.sleep(0)\nasync def coming(): return 7\nawait coming()",
    "%%capture caught\nprint('hidden')",
    "!echo from the shell",
    "%%bash\necho in bash",
    "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);",
    "figure, axes = plt.subplots()",
    "input('?')",
    "import getpass\ngetpass.getpass()",
    "get_ipython().execution_count",
    "import threading\none = threading.Thread(target=print, args=('from a thread',))\none.start()\none.join()",
    "from tqdm.auto import tqdm\nlen(list(tqdm(range(3), disable=True)))",
]
ODD = {  # evalue alone differs: who cannot answer says it in other words
    "StdinNotImplementedError"
}


def plain(output) -> dict:
    """An output without what may differ from run to run: colours, addresses, names of temporary files, picture bytes."""
    output = {key: output[key] for key in output if key not in ("metadata", "transient")}
    if output.get("ename") in ODD:
        return {"ename": output["ename"]}
    if "traceback" in output:
        trace = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(output["traceback"]))
        output["traceback"] = re.findall(r"^-+> (\d+)", trace, re.M)[-1:], trace.splitlines()[-1]
    for name in ("image/png",):
        if name in output.get("data", {}):
            output["data"] = {**output["data"], name: len(output["data"][name]) > 1000}
    text = re.sub(r"0x[0-9a-f]+", "0x", repr(output))
    text = re.sub(
        r"/tmp/ipykernel_\d+/\d+\.py|<ipython-input-\d+-\w+>|<ipython-input-\S+?>|/\S*?\.py|\b\d+\.py", "FILE", text
    )
    return {"kind": output["output_type"], "text": re.sub(r"FILE:\d+", "FILE", text)}


def joined(outputs) -> list:
    """The outputs, a stream of one name whole: a real kernel may send a print in two pieces."""
    whole = []
    for output in outputs:
        if (
            whole
            and output["output_type"] == whole[-1]["output_type"] == "stream"
            and output["name"] == whole[-1]["name"]
        ):
            output = {**output, "text": whole.pop()["text"] + output["text"]}
        whole.append(dict(output))
    return whole


def here() -> list[list[dict]]:
    notebook = new_notebook(cells=[new_code_cell(source) for source in CELLS])
    Run(notebook, {}, {}, "en", Limits()).go(shared(), {})
    return [cell.outputs for cell in notebook.cells]


def real(folder) -> list[list[dict]]:
    """What nbclient gets from a real ipykernel."""
    from nbclient import NotebookClient

    notebook = new_notebook(cells=[new_code_cell(source) for source in CELLS])
    client = NotebookClient(
        notebook, timeout=120, kernel_name="python3", allow_errors=True, resources={"metadata": {"path": folder}}
    )
    client.execute()
    return [cell.outputs for cell in notebook.cells]


@pytest.mark.slow
def test_cells_do_what_they_do_in_a_real_kernel(tmp_path, monkeypatch):
    if reason := launch.obstacle():
        missing("the sandbox", reason)
    for name in ("MPLBACKEND", "COURSE_HOME"):
        monkeypatch.delenv(name, raising=False)
    ours, theirs, different = here(), real(str(tmp_path)), []
    for source, mine, other in zip(CELLS, ours, theirs, strict=True):
        one, two = [plain(output) for output in joined(mine)], [plain(output) for output in joined(other)]
        if one != two:
            different.append(f"{source!r}\n  here: {one}\n  real: {two}")
    assert not different, "\n".join(different)
