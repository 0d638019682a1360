"""The answer sheet of a checkpoint: answers kept in the notebook's own output and in a file beside it.

Each copy alone is a whole submission. ``harvest`` reads both without running anything; it is used by the grader.
This file imports IPython only when something is shown.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from course.language import Text, both, language, t
from course.quiz.log import now, stamp
from course.quiz.marking import Response
from course.version import __version__

MIME = "application/vnd.torch-backends-course.answers+json"
SCHEMA = 1
Answers = dict[str, dict[str, Any]]


def clean_answer(raw: Any) -> dict[str, Any] | None:
    """{"options", "number", "confidence", "time"} of an answer as found, or None where it is no answer at all."""
    if not isinstance(raw, Mapping):
        return None
    options, number, confidence = raw.get("options") or [], raw.get("number"), raw.get("confidence")
    if not isinstance(options, (list, tuple)) or not all(isinstance(one, str) for one in options):
        return None
    if isinstance(number, bool) or not isinstance(number, (int, float, type(None))):
        return None
    if not options and number is None:
        return None
    try:
        number = None if number is None else float(number)
    except OverflowError:
        return None
    if number is not None and not math.isfinite(number):
        return None
    sure = confidence if type(confidence) is int and confidence in (1, 2, 3) else None
    return {"options": list(options)[:50], "number": number, "confidence": sure, "time": _time(raw.get("time"))}


def _time(raw: Any) -> str:
    """A time in the log's form, or "" where it is none."""
    try:
        moment = datetime.fromisoformat(str(raw).replace("Z", "+00:00"))
        return stamp(moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc))
    except (ValueError, OverflowError, OSError):
        return ""


def _content(answer: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(answer["options"]), answer["number"]


def _payloads(notebook: Any) -> Iterator[Any]:
    """Every answer sheet in the outputs of a notebook, however damaged the rest is."""
    cells = notebook.get("cells") if isinstance(notebook, Mapping) else None
    for cell in cells if isinstance(cells, list) else ():
        outputs = cell.get("outputs") if isinstance(cell, Mapping) else None
        for output in outputs if isinstance(outputs, list) else ():
            data = output.get("data") if isinstance(output, Mapping) else None
            if isinstance(data, Mapping) and MIME in data:
                yield data[MIME]


def _decoded(payload: Any) -> Any:
    """A sheet that some tool stored as text is decoded; anything else comes back as it is."""
    if isinstance(payload, list) and all(isinstance(one, str) for one in payload):
        payload = "".join(payload)
    try:
        return json.loads(payload) if isinstance(payload, (str, bytes)) else payload
    except (ValueError, RecursionError):
        return None


def _read(payload: Any, where: Text, checkpoint: str | None) -> tuple[list[tuple[str, dict[str, Any]]], list[Text]]:
    """((item, answer) pairs of one sheet, problems)."""
    en, zh = (where["en"], where["zh"]) if isinstance(where, Mapping) else (where, where)
    payload = _decoded(payload)
    answers = payload.get("answers") if isinstance(payload, Mapping) else None
    if not isinstance(answers, Mapping):
        return [], [both(f"The answers in {en} are damaged and could not be read.", f"{zh}中的答案已损坏，无法读取。")]
    if checkpoint and payload.get("checkpoint") not in (None, checkpoint):
        other = str(payload.get("checkpoint"))[:60]
        return [], [both(f"The answers in {en} belong to another checkpoint, {other}; they were not used.",
                         f"{zh}中的答案属于另一个检查点 {other}，未采用。")]
    found, problems = [], []
    if isinstance(payload.get("schema"), int) and payload["schema"] > SCHEMA:
        problems.append(both(f"The answers in {en} were written by a newer course version; they were read as far as "
                             "possible.", f"{zh}中的答案由更新版本的课程写入，已尽量读取。"))
    for item, raw in answers.items():
        answer = clean_answer(raw)
        if answer is None:
            problems.append(both(f"The answer to {str(item)[:60]} in {en} is damaged.",
                                 f"{zh}中 {str(item)[:60]} 的答案已损坏。"))
            continue
        if not answer["time"]:
            problems.append(both(f"The answer to {str(item)[:60]} in {en} has no valid time; it counts as the oldest.",
                                 f"{zh}中 {str(item)[:60]} 的答案没有有效时间，按最早处理。"))
        found.append((str(item), answer))
    return found, problems


def history_of(payload: Any) -> list[tuple[str, dict[str, Any]]]:
    """(item, answer) pairs of a sidecar's history, oldest first; what cannot be read is left out."""
    history = payload.get("history") if isinstance(payload, Mapping) else None
    pairs = [(str(one.get("item")), clean_answer(one)) for one in (history if isinstance(history, list) else ())
             if isinstance(one, Mapping)]
    return [(item, answer) for item, answer in pairs if answer is not None]


def latest(pairs: Iterable[tuple[str, dict[str, Any]]]) -> Answers:
    """The newest answer of each item."""
    newest: Answers = {}
    for item, answer in pairs:
        if item not in newest or answer["time"] >= newest[item]["time"]:
            newest[item] = answer
    return newest


def harvest(notebook: Any, sidecar: str | None = None, checkpoint: str | None = None) -> tuple[Answers, list[Text]]:
    """(latest answer of each item, problems) from a notebook (nbformat dict) and the text of the file beside it.

    An older answer in one copy is normal; copies that differ in a way the file's history does not explain are reported
    as a problem, and the later one counts. Never raises, whatever the inputs hold.
    """
    problems: list[Text] = []
    in_notebook: list[tuple[str, dict[str, Any]]] = []
    for payload in _payloads(notebook):
        found, faults = _read(payload, both("the notebook", "笔记本"), checkpoint)
        in_notebook += found
        problems += faults
    in_file: list[tuple[str, dict[str, Any]]] = []
    past: list[tuple[str, dict[str, Any]]] = []
    if sidecar is not None:
        in_file, faults = _read(sidecar, both("the file beside the notebook", "笔记本旁边的文件"), checkpoint)
        past = history_of(_decoded(sidecar)) if in_file else []
        problems += faults
    first, second = latest(in_notebook), latest(in_file)
    if in_notebook and in_file:
        problems += _disagreements(first, second, past)
    return latest([*in_notebook, *in_file]), problems


def _disagreements(first: Answers, second: Answers, past: list[tuple[str, dict[str, Any]]]) -> list[Text]:
    known = {(item, answer["time"], _content(answer)) for item, answer in past}
    problems = []
    for item in sorted(set(first) & set(second)):
        one, other = first[item], second[item]
        if _content(one) == _content(other) or (item, one["time"], _content(one)) in known:
            continue
        problems.append(both(
            f"The notebook and the file beside it hold different answers to {item}; the later one was taken.",
            f"笔记本和旁边的文件中 {item} 的答案不一致，采用较晚的一份。"))
    return problems


class Sheet:
    """The answers of one checkpoint, in memory, in the notebook's output and in ``<checkpoint>.answers.json``.

    items: ids of the questions, in order. folder: where the notebook is. Earlier answers are restored from the file
    and from the saved notebook, so running the first cell again loses nothing.
    """

    def __init__(self, checkpoint: str, items: Iterable[str], folder: Path | str = ".") -> None:
        self.checkpoint, self.items, self.folder = checkpoint, list(items), Path(folder).absolute()
        self.path = self.folder / f"{checkpoint}.answers.json"
        self.notices: list[str] = []
        self.shown = False
        saved, self.history = self._restore()
        self.answers: Answers = saved

    def _restore(self) -> tuple[Answers, list[dict[str, Any]]]:
        answers, history = self._sidecar()
        for path in self._notebooks():
            try:
                notebook = json.loads(path.read_text("utf-8"))
            except (OSError, ValueError):
                continue
            found, _ = harvest(notebook, None, self.checkpoint)
            answers = latest([*answers.items(), *found.items()])
        return answers, history

    def _notebooks(self) -> list[Path]:
        """Where this notebook may be saved: the name Jupyter gives the session, else the checkpoint's own."""
        session = Path(os.environ.get("JPY_SESSION_NAME", "")).name
        return [self.folder / name for name in dict.fromkeys((session, f"{self.checkpoint}.ipynb"))
                if name.endswith(".ipynb") and (self.folder / name).is_file()]

    def _sidecar(self) -> tuple[Answers, list[dict[str, Any]]]:
        """(answers, history) of the file; a damaged file is renamed and reported."""
        try:
            text = self.path.read_text("utf-8", errors="replace")
        except FileNotFoundError:
            return {}, []
        except OSError as error:
            self.notices.append(t(f"{self.path.name} cannot be read ({error.strerror}).",
                                  f"无法读取 {self.path.name}（{error.strerror}）。"))
            return {}, []
        payload = _decoded(text)
        found, problems = _read(payload, self.path.name, self.checkpoint)
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
        self.notices.append(t(
            f"{self.path.name} was damaged; a copy was kept as {aside.name}. Look through your answers in the list "
            "and answer again what is missing.",
            f"{self.path.name} 已损坏，副本保存为 {aside.name}。请检查下面的列表，缺少的题重新作答。"))

    def response(self, item_id: str) -> Response | None:
        """The answer recorded for an item, or None."""
        saved = self.answers.get(item_id)
        return Response(tuple(saved["options"]), saved["number"], saved["confidence"]) if saved else None

    def record(self, item_id: str, response: Response, at: datetime | None = None) -> datetime:
        """Keep an answer, write the file, renew the display; returns the local time of recording.

        A file that cannot be written becomes a notice: the notebook itself still carries the answer.
        """
        moment = at or now()
        answer = {"options": list(response.options), "number": response.number, "confidence": response.confidence,
                  "time": stamp(moment)}
        others, history = self._sidecar()
        known = {(one["item"], one["time"]) for one in history}
        self.history = [*history, *(one for one in self.history if (one["item"], one["time"]) not in known),
                        {"item": item_id, **answer}]
        self.answers = {**latest([*self.answers.items(), *others.items()]), item_id: answer}
        try:
            self._write()
        except OSError as error:
            self.notices.append(t(
                f"{self.path.name} could not be written ({error.strerror or error}). The answer is in the notebook: "
                "save the notebook before you close it.",
                f"无法写入 {self.path.name}（{error.strerror or error}）。答案已存进笔记本，关闭前请务必保存笔记本。"))
        self._update()
        return moment.astimezone()

    def payload(self) -> dict[str, Any]:
        """What is stored under our MIME type."""
        return {"schema": SCHEMA, "checkpoint": self.checkpoint, "course_version": __version__,
                "language": language(), "answers": self.answers}

    def _write(self) -> None:
        from course.quiz.files import replace_file

        content = json.dumps({**self.payload(), "history": self.history}, ensure_ascii=False, indent=1)
        replace_file(self.path, content.encode() + b"\n")

    @property
    def display_id(self) -> str:
        """The id under which the notebook's output is renewed."""
        return f"torch-backends-course-answers-{self.checkpoint}"

    def bundle(self) -> dict[str, Any]:
        """The display: our MIME type beside a list to read, as HTML and as text."""
        from course.quiz.sheet_view import sheet_html, sheet_text

        return {MIME: self.payload(), "text/html": sheet_html(self), "text/plain": sheet_text(self)}

    def show(self) -> None:
        """Display the sheet; from now on every answer renews this output."""
        from IPython.display import display

        display(self.bundle(), raw=True, display_id=self.display_id)
        self.shown = True

    def _update(self) -> None:
        if self.shown:
            from IPython.display import update_display

            update_display(self.bundle(), raw=True, display_id=self.display_id)

    def take_notices(self) -> list[str]:
        """Sentences for the learner, each handed over once."""
        taken, self.notices = list(dict.fromkeys(self.notices)), []
        return taken


_open: dict[str, Sheet] = {}


def open_sheet(checkpoint: str, items: Iterable[str], folder: Path | str = ".") -> Sheet:
    """Open the sheet of a checkpoint, earlier answers restored, and make it the current one."""
    _open.clear()
    return _open.setdefault(checkpoint, Sheet(checkpoint, items, folder))


def current_sheet() -> Sheet | None:
    """The sheet opened last in this kernel, or None."""
    return next(iter(_open.values()), None)
