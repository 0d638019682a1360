"""The feedback page for a student: the marks, the beliefs to look at again, then the notebook with a reason for each answer."""

from __future__ import annotations

import html
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode

from course.core.i18n import both, pick
from course.core.look import css
from course.core.markup import inline, plain
from course.core.units import format_points
from course.learning.marking import misconceptions_of
from course.questions.items import Item
from grader.handin.answers import keyed_items, stored
from grader.handin.papers import paper_in
from grader.marking.render import WORDS
from grader.marking.step import STATE, CourseStep, grade_id
from grader.project import Infrastructure
from grader.project.beliefs import known_beliefs
from grader.project.dates import shown
from grader.project.notebook_name import name_of, notebook_in
from grader.reporting.collect import remedies

CSS = Path(__file__).with_name("feedback.css")
SIGNS = {"correct": "✓", "partly": "◐", "incorrect": "✗", "not attempted": "–", "inconclusive": "?"}
AGAIN = (
    "damaged",
    "wrong-file",
    "two-works",
    "two-cells",
    "other-release",
)  # held back until the student hands in another file
LONGEST = 90  # characters of a question in the table
SAY = {
    "title": both("Checkpoint {lesson}", "测验 {lesson}"),
    "score": both("{points} of {top:g} points", "{points} / {top:g} 分"),
    "one": both("{points} of 1 point", "{points} / 1 分"),
    "counts": both(
        "{right} right, {partly} partly right, {wrong} not right, {skipped} not attempted",
        "正确 {right}，部分正确 {partly}，不正确 {wrong}，未作答 {skipped}",
    ),
    "held": both("Not marked yet", "还没有评分"),
    "pending": both("Pending: a text waits to be marked", "待定：文字题还没有批改"),
    "again by": both("Send it again by {when}.", "请在 {when} 之前重新提交。"),
    "again soon": both(
        "Send it again as soon as you can, and ask your instructor until when it counts.",
        "请尽快重新提交，并问老师最晚什么时候还算数。",
    ),
    "none": both("–", "–"),
    "late": both("Handed in late: {points} taken off.", "迟交扣分：{points}。"),
    "late one": both("Handed in late: 1 point taken off.", "迟交扣分：1。"),
    "number": both("Question {n}", "第 {n} 题"),
    "question": both("question or task", "题目"),
    "points": both("points", "得分"),
    "state": both("how it went", "结果"),
    "ideas": both("Ideas to look at again", "值得再想一想的地方"),
    "ideas note": both(
        "Ideas that your answers suggest, each with an experiment that tests it. You can run the experiments in any lesson.",
        "从你的答案看，你可能有下面这些误解；每条都配了能检验它的实验，在任何一课里都可以运行。",
    ),
    "measure": both("Measure it: {}.", "动手测一测：{}。"),
    "practise": both("Practise: {}.", "练一练：{}。"),
    "again": both("It showed before, in {}.", "以前也出现过：{}。"),
    "before": both("Your checkpoints so far", "你之前的测验"),
    "up": both("to the top", "回到页首"),
    "yours": both("Your answer", "你的作答"),
    "comment": both("Comment:", "评语："),
    "by hand": both("marked by hand", "人工评分"),
    "stands": both("What counts, marked by hand: {points}.", "以人工评分为准：{points}。"),
    "untouched": both("No response.", "未作答。"),
    "waits": both("not marked yet", "尚未评分"),
    "text": both("written answer", "文字作答"),
    "whose": both("{student}", "{student}"),
    "due": both("due {when}", "截止 {when}"),
    "look": both(
        "If you think that a mark is wrong, write to your instructor: name the question and say why.",
        "觉得哪题判得不对，就写信给任课老师：写明题号和理由。",
    ),
    "not there": both("not in the release that your copy is of", "你那一版里还没有这题"),
}
END = both(".", "。")
BRACKETS = both(" ({})", "（{}）")
Data = dict[str, Any]


class FeedbackPage(HTMLExporter):
    """Makes the page with the course's own template; its content comes from ``Overview``."""


class Overview(CourseStep):
    """Puts the content of the page above the notebook into ``resources["course_page"]``, after the grades were read."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Collect the content. For a notebook that is no checkpoint of the course it has no beliefs and the names of the cells."""
        language, said = self.language(nb), resources["nbgrader"]
        items = self._items(nb, resources)
        grades = self._grades(said)
        state = nb.metadata.get(STATE, {})
        cells = {grade_id(cell): cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade")}
        later = {name for name in grades if name not in cells or name in state.get("later", ())}
        states = {name: _state(name, grade, state, name in later) for name, grade in grades.items()}
        asides = {name: aside for name, grade in grades.items() if (aside := _aside(grade, name in later))}
        names = {
            name: _name(items.get(name), name, self._asks(resources).get(name), cells.get(name), language)
            for name in grades
        }
        for cell in nb.cells:
            if cell.metadata.get("nbgrader", {}).get("comment") == SAY["untouched"]["en"]:  # nbgrader's own words
                cell.metadata.nbgrader.comment = _say("untouched", language)
        is_held, waits = state.get("held"), any(grade["waits"] for grade in grades.values())
        ideas = {} if is_held else items  # beliefs are not shown for another student's answers
        resources["course_page"] = {
            "lang": {"en": "en", "zh": "zh-Hans"}[language],
            "css": css(CSS),
            "states": {n: s.replace(" ", "-") for n, s in states.items()},
            "title": _say("title", language, lesson=said["assignment"]),
            "score": _say("held" if is_held else "pending", language)
            if is_held or waits
            else _points(max(0.0, said["score"]), said["max_score"], language),
            "counts": self._next_step(state, said, language)
            if is_held
            else _say("counts", language, **_counts(states)),
            "lost": bool(
                is_held and state.get("lost")
            ),  # the wrong file came: there is nothing of the student's to show
            "late": "" if is_held or waits else _late(said["late_penalty"], language),
            "heads": [_say(name, language) for name in ("question", "points", "state")],
            "rows": [
                {
                    "id": name,
                    "here": name in cells,
                    "name": names[name],
                    "state": states[name].replace(" ", "-"),
                    "points": _say("none", language)
                    if grade["waits"]
                    else _points(grade["points"], grade["top"], language),
                    "words": _words(states[name], asides.get(name), language),
                }
                for name, grade in grades.items()
            ],
            "asides": {
                name: _say("stands", language, points=_points(grades[name]["points"], grades[name]["top"], language))
                if aside == "by hand"
                else _sentence(_say(aside, language), language)
                for name, aside in asides.items()
                if aside != "waits"
            },
            "names": {
                name: names[name] if name not in items else _say("number", language, n=place)
                for place, name in enumerate(grades, start=1)
            },
            **self._ideas(state, ideas, resources, language),
            **self._before(said, language),
            **self._head(said, language),
            **{name: _say(name, language) for name in ("up", "yours", "comment", "look")},
        }
        return nb, resources

    def _next_step(self, state: dict, said: dict, language: str) -> str:
        """A sentence for a student whose marks are held back: what to do, and until when."""
        sentence = pick(state["said"], language)
        if state["held"] not in AGAIN:
            return sentence
        until = self._due(said)
        if until is None or until < datetime.now(timezone.utc).replace(tzinfo=None):
            return sentence + (" " if language == "en" else "") + _say("again soon", language)
        return sentence + (" " if language == "en" else "") + _say("again by", language, when=self._shown(until))

    def _head(self, said: dict, language: str) -> Data:
        """The student's name and the due date."""
        due = self._due(said)
        return {
            "whose": _say("whose", language, student=said["student"]),
            "due": _say("due", language, when=self._shown(due)) if due else "",
        }

    def _due(self, said: dict) -> datetime | None:
        """The due date of this student, with an extension; naive, UTC."""
        from nbgrader.api import Gradebook

        with Gradebook(said["db_url"]) as gradebook:
            if gradebook.find_assignment(said["assignment"]).duedate is None:
                return None
            return gradebook.find_submission(said["assignment"], said["student"]).duedate

    def _shown(self, due: datetime) -> str:
        return shown(due, self.course_timezone)

    def _items(self, nb: NotebookNode, resources: dict) -> dict[str, Item]:
        try:
            if not self.ours(resources):
                return {}
            return keyed_items(self.project, self.lesson(resources), self.paper(nb, resources))
        except Infrastructure:  # a key was removed after marking: show the marks with the names of the cells
            return {}

    def _asks(self, resources: dict) -> dict[str, str]:
        return {name: task.name for name, task in self.tasks(resources).items()} if self.ours(resources) else {}

    def _grades(self, said: dict) -> dict[str, Data]:
        """Graded cell -> points, most points, and whether a person gave them; in the order of the checkpoint."""
        from nbgrader.api import Gradebook

        with Gradebook(said["db_url"]) as gradebook:
            submission = gradebook.find_submission_notebook(said["notebook"], said["assignment"], said["student"])
            found = {
                grade.name: {
                    "points": grade.score,
                    "top": grade.max_score,
                    "manual": grade.manual_score is not None,
                    "waits": grade.auto_score is None and grade.manual_score is None,
                }
                for grade in submission.grades
            }
        return {name: found[name] for name in self._order(said, found)}

    def _order(self, said: dict, found: dict) -> list[str]:
        import nbformat

        path = notebook_in(Path(self.course_root), "release", said["assignment"])
        cells = nbformat.read(path, as_version=4).cells if path.exists() else []
        known = [grade_id(cell) for cell in cells if grade_id(cell) in found]
        return [*dict.fromkeys(known), *sorted(set(found) - set(known))]

    def _ideas(self, state: dict, items: dict[str, Item], resources: dict, language: str) -> Data:
        """The false beliefs that the answers show, each with experiments and questions that help."""
        held = _beliefs(state, items)
        texts = known_beliefs(self.project)
        meet = remedies(self.project, self.lesson(resources)) if held else {}
        earlier = self._earlier_beliefs(resources["nbgrader"]) if held else {}
        ideas = []
        for belief in held:
            parts = [inline(pick(texts.get(belief, belief), language))]
            known = meet.get(belief, {"experiments": [], "practice": []})
            for name, call, found in (
                ("measure", "observe", known["experiments"]),
                ("practise", "review", known["practice"]),
            ):
                if found:
                    parts.append(inline(_say(name, language).format(", ".join(f'`{call}("{one}")`' for one in found))))
            if where := earlier.get(belief):
                parts.append(inline(_say("again", language).format(", ".join(f"`{one}`" for one in where))))
            ideas.append((" " if language == "en" else "").join(parts))
        return {"ideas": ideas, "ideas_head": _say("ideas", language), "ideas_note": _say("ideas note", language)}

    def _earlier_beliefs(self, said: dict) -> dict[str, list[str]]:
        import nbformat

        found: dict[str, list[str]] = {}
        for lesson in self._given_back(said):
            path = (
                Path(self.course_root)
                / "autograded"
                / said["student"]
                / lesson
                / f"{name_of(Path(self.course_root), lesson)}.ipynb"
            )
            if path.exists() and self.project.checkpoint_source(lesson).exists():
                state = nbformat.v4.reads(path.read_text(encoding="utf-8")).metadata.get(STATE, {})
                paper = paper_in(Path(self.course_root), lesson, said["student"], state.get("salt", ""))
                for belief in _beliefs(state, keyed_items(self.project, lesson, paper)):
                    found.setdefault(belief, []).append(lesson)
        return found

    def _given_back(self, said: dict) -> list[str]:
        """The other checkpoints of this student with a feedback page, so that the student knows the marks already."""
        root = Path(self.course_root)
        pages = (root / "feedback" / said["student"]).glob("*/*.html")
        found = {path.parent.name for path in pages if path.stem == name_of(root, path.parent.name)}
        return sorted(found - {said["assignment"]})

    def _before(self, said: dict, language: str) -> Data:
        from nbgrader.api import Gradebook, MissingEntry

        rows = []
        with Gradebook(said["db_url"]) as gradebook:
            for lesson in self._given_back(said):
                try:
                    one = gradebook.find_submission(lesson, said["student"])
                except MissingEntry:
                    continue
                left = max(0.0, one.score - (one.late_submission_penalty or 0.0))
                grades = [grade for notebook in one.notebooks for grade in notebook.grades]
                waits = any(grade.auto_score is None and grade.manual_score is None for grade in grades)
                points = _say("none", language) if waits else _points(left, one.max_score, language)
                rows.append({"name": lesson, "points": points})
        return {"before": rows, "before_head": _say("before", language)}


def _beliefs(state: dict, items: dict[str, Item]) -> list[str]:
    answers = state.get("answers", {})
    return list(
        dict.fromkeys(
            belief
            for name, item in items.items()
            if name in answers
            for belief in misconceptions_of(item, stored(answers[name]))
        )
    )


def _state(name: str, grade: Data, state: dict, later: bool) -> str:
    """The state of a mark: as stored while marking, or by the points where a person or nobody marked. later: the question was
    added after this copy was released.
    """
    if grade["waits"]:
        return "inconclusive"
    if later and not grade["manual"]:
        return "not attempted"
    marked = state.get("verdicts", {}).get(name, {}).get("state")
    if marked and not grade["manual"]:
        return marked
    share = grade["points"] / grade["top"] if grade["top"] else 1.0
    return "correct" if share >= 1 else "partly" if share > 0 else "incorrect"


def _aside(grade: Data, later: bool) -> str | None:
    """A key of ``SAY``: the remark beside a mark, or None."""
    if grade["waits"]:
        return "waits"
    if later and not grade["manual"]:
        return "not there"
    return "by hand" if grade["manual"] else None


def _words(state: str, aside: str | None, language: str) -> str:
    if aside == "waits":
        return f"… {_say(aside, language)}"
    said = f"{SIGNS[state]} {pick(WORDS[state], language)}"
    return said + pick(BRACKETS, language).format(_say(aside, language)) if aside else said


def _sentence(said: str, language: str) -> str:
    return f"{said[0].upper()}{said[1:]}{pick(END, language)}"


def _name(item: Item | None, name: str, asks: str | None, cell: NotebookNode | None, language: str) -> str:
    """The name of a cell as HTML: the question, the name of the function, the heading of a text; else its id."""
    if item is not None:
        text = " ".join(plain(pick(item.stem, language)).split())
        return html.escape(text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0] + " …")
    if asks:
        return f"<code>{html.escape(asks)}</code>"
    if cell is not None and cell.cell_type == "markdown":
        return f"{_say('text', language)} <code>{html.escape(name)}</code>"
    return html.escape(name)


def _counts(states: dict[str, str]) -> dict[str, int]:
    all_states = list(states.values())
    return {
        "right": all_states.count("correct"),
        "partly": all_states.count("partly"),
        "wrong": all_states.count("incorrect"),
        "skipped": all_states.count("not attempted"),
    }


def _points(points: float, top: float, language: str) -> str:
    return _say("one" if top == 1 else "score", language, points=format_points(points), top=top)


def _late(taken: float, language: str) -> str:
    return _say("late one" if taken == 1 else "late", language, points=format_points(taken)) if taken else ""


def _say(name: str, language: str, **values: Any) -> str:
    return pick(SAY[name], language).format(**values) if values else pick(SAY[name], language)
