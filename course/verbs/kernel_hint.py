"""An IPython extension: after a kernel restart a name of the course says what to do, instead of a bare NameError.

``tools/env.py`` loads it into the kernels of the project's environment. It loads neither torch nor ipywidgets.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from course import VERBS
from course.core.i18n import t

FIRST_CELL_BRINGS = {*VERBS, "torch"}


def load_ipython_extension(shell: Any) -> None:
    """Called by IPython when a kernel starts."""
    shell.set_custom_exc((NameError,), explain)


def explain(shell: Any, kind: type, error: NameError, trace: TracebackType, tb_offset: int | None = None) -> None:
    """Print the next step for a missing name that the first cell brings; any other NameError is shown as usual."""
    if getattr(error, "name", "") not in FIRST_CELL_BRINGS:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        return
    print(
        t(
            f"`{error.name}` is not there yet: the kernel was started anew, or the first code cell has not run.\n"
            "Next step: select this cell, then in the menu Run: “Run All Above Selected Cell”. Your answers are kept.",
            f"这里还没有 `{error.name}`：内核刚刚重启过，或者第一个代码单元格还没运行。\n"
            "下一步：选中这个单元格，然后在菜单“运行”（Run）里点“运行选中单元格之前的所有单元格”"
            "（Run All Above Selected Cell）。之前的作答都在。",
        )
    )
