"""The verbs of a checkpoint: start it, show a question, say whose paper it is, look at the file before handing it in."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from course.core import catalog, colab
from course.core.i18n import t
from course.learning.hand_in import missing_in, told
from course.learning.harvesting import clean_student
from course.learning.sheet import AnswerSheet, current_sheet, open_sheet, saved_notebooks
from course.questions.items import BankError, Item, completed, parse_item, redrawn
from course.questions.schema import KINDS
from course.verbs import colab_notice, state
from course.verbs.experiments import new_card
from course.verbs.lessons import speak
from course.verbs.say import if_validated, in_words, say


@in_words
def checkpoint(lesson_id: str, language: str | None = None, paper: str = "") -> None:
    """Start a checkpoint: shows the answer sheet, which fills as you answer.

    paper: is written in checkpoints in which each student has other numbers; leave it as it is.
    """
    if not speak(language):
        return
    items, tasks, notices = embedded_questions(saved_notebooks(lesson_id), lesson_id)
    if not items and (lesson_id not in catalog.BY_ID or not catalog.BY_ID[lesson_id].checkpoint):
        say(t(f"There is no checkpoint `{lesson_id}`.", f"没有名为 `{lesson_id}` 的测验。"))
        return
    state.now.lesson = lesson_id
    if items:
        state.now.bank.embed(lesson_id, items)
    state.now.tasks = tasks
    for notice in (*notices, *colab_notice.before_answering()):
        say(notice)
    ids = [item.id for item in state.now.bank.items(lesson_id, checkpoint=True)]
    sheet = state.now.sheet = open_answers(lesson_id, ids)
    sheet.salt = paper
    if paper and (known := os.environ.get("JUPYTERHUB_USER") or sheet.last_student):
        use_student(known)
    sheet.show()
    if paper and not sheet.student:
        say(whose())
    for notice in (*to_hand_in(sheet), *sheet.take_notices(), *state.now.log.take_notices()):
        say(notice)


@in_words
def question(item_id: str) -> None:
    """A checkpoint question: your answer is recorded, without right or wrong, and can be changed."""
    item = state.now.bank[item_id]
    if not item.checkpoint:
        say(
            t(
                f'`{item_id}` is a practice card; show it with `review("{item_id}")`.',
                f'`{item_id}` 是练习卡片；请用 `review("{item_id}")` 显示它。',
            )
        )
        return
    if state.now.sheet is None:
        say(
            t(
                f'Run the first cell of this checkpoint first: `checkpoint("{item.lesson}")`.',
                f'请先运行这个测验的第一个单元格：`checkpoint("{item.lesson}")`。',
            )
        )
        return
    if state.now.sheet.asks(item):
        new_card(item, state.now.sheet).show()
    else:
        say(whose())
    if state.now.sheet.own(item) is None:
        if_validated(t(f"{item_id}: not answered yet.", f"{item_id}：尚未作答。"))


def open_answers(lesson: str, items: Sequence[str]) -> AnswerSheet:
    """Open the answer sheet of a checkpoint: beside the notebook, on Colab on Drive, because there the notebook is no file."""
    drive = state.now.log.path.parent
    if not (colab.here() and colab_notice.outlives_runtime(drive)):
        return open_sheet(lesson, items)
    with contextlib.suppress(OSError):  # said with the first answer
        drive.mkdir(parents=True, exist_ok=True)
    sheet = open_sheet(lesson, items, drive)
    sheet.take_in(AnswerSheet(lesson, items))  # from before Drive was mounted
    return sheet


def to_hand_in(sheet: AnswerSheet) -> list[str]:
    """A sentence on how to hand in from Colab; nothing elsewhere."""
    if not colab.here():
        return []
    return [
        t(
            "To hand in from Colab: run this cell once more, then choose File → Download → Download .ipynb. "
            f"Hand in `{sheet.path.name}` with it: `{colab.download(sheet.path)}`.",
            f"从 Colab 交卷：请再运行一次本单元格，然后选“文件 → 下载 → 下载 .ipynb”。请连同 `{sheet.path.name}` 一起交："
            f"`{colab.download(sheet.path)}`。",
        )
    ]


def use_student(student: str) -> None:
    """Use the questions of this student's paper from now on."""
    bank, sheet = state.now.bank, state.now.sheet
    sheet.student = clean_student(student)
    items = bank.items(sheet.checkpoint, checkpoint=True)
    bank.embed(sheet.checkpoint, [redrawn(item, sheet.paper.seed(item.id)) for item in items])


def whose() -> str:
    """The question for the id, and how to answer by typing."""
    return t(
        "Every student has a paper of their own here. Say in a new cell whose this is, with the id your class knows you by: "
        '`i_am("your id")`. Then run the cells of the questions.',
        '这份测验每人一份不同的试卷。请先在一个新单元格里用班里登记的学号或用户名说明你是谁：`i_am("你的学号")`，再运行各题的单元格。',
    )


@in_words
def i_am(student: str) -> None:
    """Say who you are, with the id you have in your class: your checkpoint then asks questions with your own numbers."""
    sheet = state.now.sheet
    if sheet is None or not sheet.salt:
        say(
            t(
                "Nothing to do: no checkpoint is open in which every student has another paper.",
                "不用说明：当前没有打开“每人一份不同试卷”的测验。",
            )
        )
    elif not isinstance(student, str) or not clean_student(student):
        say(whose())
    else:
        use_student(student)
        sheet.renew()
        say(
            t(
                f"This is the paper of **{sheet.student}**. "
                "It is marked as that student's, so look at it twice; then run the cells of the questions (again).",
                f"这是 **{sheet.student}** 的试卷，评分时也按这个身份算，请再核对一遍；然后（重新）运行各题的单元格。",
            )
        )


@in_words
def check_file(name: str = "") -> None:
    """Say what a grader will find in the saved file of a checkpoint; by default of this notebook."""
    if os.environ.get("NBGRADER_EXECUTION"):  # it is being marked or validated, from another place
        return
    sheet = current_sheet()
    name = name or Path(os.environ.get("JPY_SESSION_NAME", "")).name
    if not name and sheet:
        known = [f"{one}.ipynb" for one in catalog.checkpoint_names(sheet.checkpoint)]
        name = next((one for one in known if Path(one).exists()), known[0])
    try:
        lines = told(Path(name))
        unsaved = missing_in(Path(name), sheet.answers) if sheet else 0
    except OSError:
        say(
            t(
                (f"There is no file `{name}` here. " if name else "")
                + 'Save the notebook, and name its file: `check_file("my file.ipynb")`.',
                (f"这里没有文件 `{name}`。" if name else "")
                + '请保存 notebook，并写上它的文件名：`check_file("我的文件.ipynb")`。',
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


def embedded_questions(notebooks: Iterable[Any], checkpoint: str) -> tuple[list[Item], dict[str, str], list[str]]:
    """(questions, task id -> the name it asks for, sentences for the learner) from the first of the notebooks that is this
    checkpoint and contains questions. A question that this version cannot read is left out.
    """
    for notebook in notebooks:
        said = _part(_part(notebook, "metadata"), "course")
        raw = said.get("questions")
        if said.get("lesson") == checkpoint and isinstance(raw, list):
            try:
                entries = [completed(one, checkpoint, True) for one in raw]
                items = [parse_item(one, checkpoint, checkpoint=True, check=False) for one in entries]
                if strange := {one.kind for one in items} - set(KINDS):
                    raise BankError(f"unknown kinds: {strange}")
                notices = []
            except (BankError, AttributeError, LookupError, TypeError):
                items = []
                notices = [
                    t(
                        "The questions of this notebook cannot be read, so those of your course package are shown. "
                        "A newer package may read them.",
                        "无法读取这份 notebook 自带的题目，改用课程包里的题目；新版课程包也许读得了。",
                    )
                ]
            tasks = {str(one): str(name) for one, name in _part(said, "tasks").items()}
            return items, tasks, notices
    return [], {}, []


def _part(value: Any, name: str) -> Mapping[str, Any]:
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}
