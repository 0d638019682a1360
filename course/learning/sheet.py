"""The answer sheet of a checkpoint: stores the answers in an output of the notebook and in a file beside it.

Each of the two is enough for grading. ``harvest``, which the grader uses, reads both without running code. IPython is
imported only when something is shown.
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from course.core import colab
from course.core.catalog import checkpoint_names
from course.core.i18n import language, t
from course.core.version import __version__
from course.learning.entry import after, now, stamp
from course.learning.harvesting import MIME, SCHEMA, Answers, decoded, harvest, history_of, latest, read_sheet
from course.learning.marking import Response
from course.questions.items import Item
from course.questions.variants import Paper, same_student

__all__ = ["MIME", "AnswerSheet", "current_sheet", "harvest", "open_sheet"]


class AnswerSheet:
    """The answers of one checkpoint, in memory, in the notebook's output and in
    ``<checkpoint>.answers.json``.

    items: ids of the questions, in order. folder: where the notebook is. Earlier answers are restored from
    the file and from the saved notebook, so running the first cell again loses nothing.
    """

    def __init__(self, checkpoint: str, items: Iterable[str], folder: Path | str = ".") -> None:
        self.checkpoint, self.items, self.folder = checkpoint, list(items), Path(folder).absolute()
        self.path = self.folder / f"{checkpoint}.answers.json"
        self.notices: list[str] = []
        self.shown = False
        self.salt, self.student = "", ""  # where students have different papers: the release's salt, the student's id
        saved, self.history = self._restore()
        self.answers: Answers = saved

    def _restore(self) -> tuple[Answers, list[dict[str, Any]]]:
        answers, history = self._sidecar()
        for notebook in saved_notebooks(self.checkpoint, self.folder):
            found, _ = harvest(notebook, None, self.checkpoint)
            answers = latest([*answers.items(), *found.items()])
        return answers, history

    def _sidecar(self) -> tuple[Answers, list[dict[str, Any]]]:
        """(answers, history) of the file; a damaged file is renamed and reported."""
        try:
            text = self.path.read_text("utf-8", errors="replace")
        except FileNotFoundError:
            return {}, []
        except OSError as error:
            self.notices.append(
                t(
                    f"{self.path.name} cannot be read ({error.strerror}).",
                    f"无法读取 {self.path.name}（{error.strerror}）。",
                )
            )
            return {}, []
        payload = decoded(text)
        found, problems = read_sheet(payload, self.path.name, self.checkpoint)
        if problems:
            self._set_aside()
        past = history_of(payload)
        return latest([*past, *found]), [{"item": item, **answer} for item, answer in past]

    def _set_aside(self) -> None:
        aside = self.path.with_name(f"{self.path.name}.damaged-{now():%Y%m%dT%H%M%S}")
        try:
            aside.write_bytes(self.path.read_bytes())
        except OSError:
            return
        self.notices.append(
            t(
                f"{self.path.name} was damaged; a copy was kept as {aside.name}. "
                "Look through the list and answer again what is missing.",
                f"{self.path.name} 已损坏，副本保存为 {aside.name}。请检查下面的列表，缺少的题重新作答。",
            )
        )

    def response(self, item_id: str) -> Response | None:
        """The answer recorded for an item, or None."""
        saved = self.answers.get(item_id)
        return Response(tuple(saved["options"]), saved["number"], saved["confidence"]) if saved else None

    @property
    def paper(self) -> Paper | None:
        """The paper of this student; None where all students have the same, or the student's id is not known yet."""
        return Paper(self.student, self.checkpoint, self.salt) if self.salt and self.student else None

    def asks(self, item: Item) -> bool:
        """Whether this variant of a question belongs to this paper."""
        if not item.varies or not self.salt:
            return not item.seed
        return self.paper is not None and item.seed == self.paper.seed(item.id)

    def own(self, item: Item) -> Response | None:
        """The answer recorded for an item; None where it was given to another variant, on another paper."""
        return None if item.varies and self.on_another(item.id) is not None else self.response(item.id)

    def on_another(self, item_id: str) -> str | None:
        """Whose paper an answer was given on, "" for nobody's; None where it is this paper."""
        given = self.answers.get(item_id, {})
        if given.get("paper", self.salt) != self.salt:
            return t("another class", "另一个班")
        other = given.get("student", "")
        return other if same_student(other) != same_student(self.student) else None

    @property
    def last_student(self) -> str:
        """The student named in the newest of the restored answers; "" where none names one."""
        said = [one for one in self.answers.values() if one.get("student")]
        return max(said, key=lambda one: one["time"])["student"] if said else ""

    def record(self, item_id: str, response: Response, at: datetime | None = None) -> datetime:
        """Store an answer, write the file, update the display; returns the local time of recording.

        If the file cannot be written, a notice says so; the notebook itself still contains the answer.
        """
        others, history = self._sidecar()
        before = latest([*self.answers.items(), *others.items()])
        moment = at or after(now(), before.get(item_id, {}).get("time", ""))
        answer = {
            "options": list(response.options),
            "number": response.number,
            "confidence": response.confidence,
            "time": stamp(moment),
            **({"student": self.student, "paper": self.salt} if self.student else {}),
        }
        known = {(one["item"], one["time"]) for one in history}
        self.history = [
            *history,
            *(one for one in self.history if (one["item"], one["time"]) not in known),
            {"item": item_id, **answer},
        ]
        self.answers = {**before, item_id: answer}
        self._save()
        self.renew()
        return moment.astimezone()

    def take_in(self, other: AnswerSheet) -> None:
        """Add the answers of another sheet of this checkpoint; of two answers to a question the later one counts."""
        self.history += [one for one in other.history if one not in self.history]
        merged = latest([*self.answers.items(), *other.answers.items()])
        if merged != self.answers:
            self.answers = merged
            self._save()

    def _save(self) -> None:
        """Write the file; adds a notice if that fails."""
        try:
            self._write()
        except OSError as error:
            why = error.strerror or error
            self.notices.append(
                t(
                    f"{self.path.name} could not be written ({why}). The answer is in the notebook: "
                    "save the notebook before you close it.",
                    f"无法写入 {self.path.name}（{why}）。答案已存进 notebook，关闭前请务必保存 notebook。",
                )
            )

    def payload(self) -> dict[str, Any]:
        """The data that is stored under the course's MIME type."""
        return {
            "schema": SCHEMA,
            "checkpoint": self.checkpoint,
            "course_version": __version__,
            "language": language(),
            "answers": self.answers,
        }

    def _write(self) -> None:
        from course.core.home import replace_file

        content = json.dumps({**self.payload(), "history": self.history}, ensure_ascii=False, indent=1)
        replace_file(self.path, content.encode() + b"\n")

    @property
    def display_id(self) -> str:
        """The display id with which the notebook's output is updated."""
        return f"torch-backends-course-answers-{self.checkpoint}"

    def bundle(self) -> dict[str, Any]:
        """The MIME bundle of the output: the data under the course's MIME type, and a readable list as HTML and as text."""
        return {MIME: self.payload(), "text/html": sheet_html(self), "text/plain": sheet_text(self)}

    def show(self) -> None:
        """Display the sheet; every later answer updates this output."""
        from IPython.display import display

        display(self.bundle(), raw=True, display_id=self.display_id)
        self.shown = True

    def renew(self) -> None:
        """Update the output in the notebook."""
        if self.shown:
            from IPython.display import update_display

            update_display(self.bundle(), raw=True, display_id=self.display_id)

    def take_notices(self) -> list[str]:
        """The notices for the learner since the last call."""
        taken, self.notices = list(dict.fromkeys(self.notices)), []
        return taken


def saved_notebooks(checkpoint: str, folder: Path | str = ".") -> Iterator[Any]:
    """The saved notebooks of this checkpoint that can be found: under the session's name, under the checkpoint's names, on Colab."""
    session = Path(os.environ.get("JPY_SESSION_NAME", "")).name
    for name in dict.fromkeys((session, *(f"{name}.ipynb" for name in checkpoint_names(checkpoint)))):
        if name.endswith(".ipynb"):
            with suppress(OSError, ValueError, RecursionError):
                yield json.loads((Path(folder) / name).read_text("utf-8"))
    yield colab.notebook()


_open: dict[str, AnswerSheet] = {}


def open_sheet(checkpoint: str, items: Iterable[str], folder: Path | str = ".") -> AnswerSheet:
    """Open the sheet of a checkpoint with its earlier answers and make it the current one."""
    _open.clear()
    return _open.setdefault(checkpoint, AnswerSheet(checkpoint, items, folder))


def current_sheet() -> AnswerSheet | None:
    """The sheet opened last in this kernel, or None."""
    return next(iter(_open.values()), None)


def _rows(sheet: AnswerSheet) -> list[tuple[str, str, str]]:
    """(item, answer in words, local time) for every question of the checkpoint."""
    rows = []
    for item in dict.fromkeys([*sheet.items, *sheet.answers]):
        if other := _other(sheet, item):
            rows.append((item, t(f"there is an answer of {other}'s paper", f"这里有一个答案，属于 {other} 的试卷"), ""))
        elif given := _given(sheet, item):
            rows.append((item, t("answered: ", "已作答：") + given, local_time(sheet.answers[item]["time"])))
        else:
            rows.append((item, t("not answered", "未作答"), ""))
    return rows


def _other(sheet: AnswerSheet, item: str) -> str:
    """The student of the paper on which a question was answered, where it is another paper; "" otherwise."""
    return (sheet.on_another(item) or "") if sheet.student else ""


def _given(sheet: AnswerSheet, item: str) -> str:
    """The answer in words, such as "b", "c, a, d" or "3"; "" where nothing is chosen."""
    saved = sheet.answers.get(item)
    return Response(tuple(saved["options"]), saved["number"]).words if saved else ""


def local_time(time: str) -> str:
    """A time of the log in this machine's time zone, such as 2026-03-01 09:30:00."""
    if not time:
        return ""
    return datetime.fromisoformat(time.replace("Z", "+00:00")).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _summary(sheet: AnswerSheet) -> str:
    done = sum(bool(_given(sheet, item)) and not _other(sheet, item) for item in sheet.items)
    whose = t(f"Paper of {sheet.student}. ", f"{sheet.student} 的试卷。") if sheet.student else ""
    return whose + t(f"{done} of {len(sheet.items)} questions answered.", f"{len(sheet.items)} 题中已作答 {done} 题。")


def _where(sheet: AnswerSheet) -> str:
    return t(
        f"Your answers are kept in this output and in {sheet.path.name}. Save the notebook before you hand it in. "
        "After reloading the page, run this cell again.",
        f"答案保存在这个输出和 {sheet.path.name} 中。交卷前请保存 notebook；重新打开页面后，请再运行一次本单元格。",
    )


def sheet_html(sheet: AnswerSheet) -> str:
    """The list as an HTML table with a caption. No meaning depends on colour."""
    head = "".join(
        f'<th scope="col" style="text-align:left">{one}</th>'
        for one in (t("Question", "题目"), t("State", "状态"), t("Time", "时间"))
    )
    body = "".join(
        f'<tr><th scope="row" style="text-align:left;font-weight:normal">'
        f"<code>{html.escape(item)}</code></th>"
        f'<td style="text-align:left">{"✓" if time else "○"} {html.escape(state)}</td>'
        f'<td style="text-align:left">{time}</td></tr>'
        for item, state, time in _rows(sheet)
    )
    title = t("Answer sheet", "答题卡")
    notices = "".join(f"<p>{html.escape(one)}</p>" for one in sheet.notices)
    return (
        f'<table><caption style="text-align:left;white-space:nowrap"><strong>{title} · '
        f"{html.escape(sheet.checkpoint)}</strong> · "
        f"{html.escape(_summary(sheet))}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p>{html.escape(_where(sheet))}</p>{notices}"
    )


def sheet_text(sheet: AnswerSheet) -> str:
    """The list as plain text."""
    lines = [f"{t('Answer sheet', '答题卡')} · {sheet.checkpoint} · {_summary(sheet)}"]
    lines += [f"  {item}: {state} {time}".rstrip() for item, state, time in _rows(sheet)]
    return "\n".join([*lines, _where(sheet), *sheet.notices])
