"""``check_file``: look at a checkpoint's file before handing it in."""

from __future__ import annotations

import os
from pathlib import Path

from course.core.catalog import checkpoint_names
from course.core.i18n import t
from course.learning.hand_in import missing_in, told
from course.learning.sheet import current_sheet
from course.verbs.say import in_words, say


@in_words
def check_file(name: str = "") -> None:
    """Say what a grader will find in the saved file of a checkpoint; by default of this notebook."""
    if os.environ.get("NBGRADER_EXECUTION"):  # it is being marked or validated, from another place
        return
    sheet = current_sheet()
    name = name or Path(os.environ.get("JPY_SESSION_NAME", "")).name
    if not name and sheet:
        known = [f"{one}.ipynb" for one in checkpoint_names(sheet.checkpoint)]
        name = next((one for one in known if Path(one).exists()), known[0])
    try:
        lines = told(Path(name))
        unsaved = missing_in(Path(name), sheet.answers) if sheet else 0
    except OSError:
        say(
            t(
                f'There is no file `{name}` here. Save the notebook, and name its file: `check_file("my file.ipynb")`.',
                f'这里没有文件 `{name}`。请保存 notebook，并写上它的文件名：`check_file("我的文件.ipynb")`。',
            )
        )
        return
    for line in lines:
        say(line)
    if unsaved:
        say(
            t(
                f"**Not saved yet: {unsaved} of your answers are not in the file. Save the notebook, then look again.**",
                f"**还没有保存：你有 {unsaved} 个回答不在文件里。请先保存 notebook，再检查一次。**",
            )
        )
