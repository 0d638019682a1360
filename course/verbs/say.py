"""Output of the verbs: HTML in a notebook, the same words as text elsewhere, and sentences instead of tracebacks."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from course.core.i18n import pick, t
from course.core.markup import inline
from course.core.plain_text import text_of
from course.core.units import format_points
from course.core.verdict import Verdict
from course.verbs.state import running_shell

F = TypeVar("F", bound=Callable[..., Any])
MARKS = {"correct": "✓", "partly": "◐", "incorrect": "✗", "not attempted": "○", "inconclusive": "?", "not marked": "…"}
COLOURS = {"correct": "#2e9e6b", "partly": "#c98a00", "incorrect": "#d1495b"}


class NotReady(Exception):
    """Something in a checkpoint is still open while ``nbgrader validate`` looks; the message says what."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback."""
        return [str(self)]


def if_validated(sentence: str) -> None:
    """Raise NotReady with this sentence where nbgrader validates a notebook (its command, its button in JupyterLab).

    Without it, nbgrader would say that an untouched checkpoint passes all tests. It is not raised when a learner runs the
    notebook or when it is marked.
    """
    if os.environ.get("NBGRADER_EXECUTION") == "validate":
        raise NotReady(sentence)


class Spoken:
    """Words in two forms; a notebook picks the HTML, a terminal the text, which is made from the HTML where none is given."""

    def __init__(self, html: str, text: str = "") -> None:
        self._html, self._text = html, text or text_of(html)

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return self._text


def present(thing: object) -> None:
    """Display ``thing`` in a notebook, print it elsewhere; a sign that the terminal lacks becomes a question mark."""
    if running_shell() is None:
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        print(str(thing).encode(encoding, "replace").decode(encoding))
        return
    from IPython.display import display

    display(thing)


def put(html: str, text: str = "") -> None:
    """Display ``html`` in a notebook, print ``text`` elsewhere: by default the words of the HTML."""
    present(Spoken(html, text))


def say(*sentences: str) -> None:
    """A plain paragraph; backticks and bold work."""
    body = "<br>".join(inline(sentence) for sentence in sentences if sentence)
    put(f'<div role="status" style="margin:.3em 0">{body}</div>')


def state_words(state: str) -> str:
    """The state of a verdict in the learner's language."""
    english = {"not marked": "form is fine, not marked yet"}.get(state, state)
    return t(
        english,
        {
            "correct": "正确",
            "partly": "部分正确",
            "incorrect": "不正确",
            "not attempted": "尚未作答",
            "inconclusive": "无法判定",
            "not marked": "形式没问题，尚未评分",
        }[state],
    )


def say_verdict(verdict: Verdict, title: str = "") -> None:
    """A verdict: its state in words and colour, the points where they are parts of a whole, the reasons."""
    words = state_words(verdict.state)
    if verdict.state == "partly":
        points, most = format_points(verdict.points), format_points(verdict.max_points)
        words += t(f" ({points} of {most})", f"（{points} / {most}）")
    head = f"{MARKS[verdict.state]} {words}" + (f" · {title}" if title else "")
    reasons = [pick(message) for message in verdict.messages if pick(message)]
    items = "".join(f"<li>{inline(reason)}</li>" for reason in reasons)
    listed = f'<ul style="margin:.2em 0">{items}</ul>' if items else ""
    put(
        f'<div role="status" style="border-left:4px solid {COLOURS.get(verdict.state, "#7a869a")};padding:.2em .8em;margin:.4em 0">'
        f"<strong>{inline(head)}</strong>{listed}</div>"
    )


OF_LEARNERS = {"ipywidgets", "matplotlib", "yaml", "fsrs", "thop", "ptflops"}
"""What the extra ``course`` in pyproject.toml installs: where one is missing, all may be."""


def _not_installed(module: str) -> str:
    package = module.split(".")[0]
    english = chinese = f"`%pip install {package}`"
    if package in OF_LEARNERS:
        english = '`%pip install "FOLDER[course]"` (FOLDER: the path of the course)'
        chinese = '`%pip install "文件夹[course]"`（“文件夹”换成课程的路径）'
    return t(
        f"`{module}` is not installed in this kernel. "
        f"Run {english} or choose the kernel in which the course is installed, then restart the kernel "
        "and run the first cell again. "
        "Your answers are safe.",
        f"当前内核里没有安装 `{module}`。请运行 {chinese}，或者换成装有本课程的内核，"
        f"然后重启内核，重新运行第一个单元格。你的答案都还在。",
    )


def in_words(verb: F) -> F:
    """Decorator for verbs: shows a sentence with the next step instead of a traceback.

    Errors that the course raises for the learner have that sentence as their message. Any other exception is a fault of the
    course, and the sentence says so. With COURSE_DEBUG=1 every error is raised, for authors and for the tests.
    """

    form = inspect.signature(verb)

    @functools.wraps(verb)
    def spoken(*args: Any, **kwargs: Any) -> Any:
        try:
            form.bind(*args, **kwargs)
        except TypeError as error:
            call = f"{verb.__name__}({', '.join(str(one.replace(annotation=one.empty)) for one in form.parameters.values())})"
            say(
                t(
                    f"`{verb.__name__}` cannot be called like this: {error}. Its form is `{call}`.",
                    f"`{verb.__name__}` 不能这样调用（{error}）。它的写法是 `{call}`。",
                )
            )
            return None
        try:
            return verb(*args, **kwargs)
        except NotReady:
            raise
        except KeyboardInterrupt:
            say(
                t(
                    "Stopped, as you asked. Nothing is lost; run the cell again when you like.",
                    "已按你的要求停止，没有丢失任何内容；随时可以重新运行这个单元格。",
                )
            )
        except Exception as error:
            if os.environ.get("COURSE_DEBUG"):
                raise
            if type(error).__module__.startswith("course."):
                say(str(error))
            elif isinstance(error, ModuleNotFoundError) and not str(error.name).startswith("course"):
                say(_not_installed(str(error.name)))
            else:
                say(
                    t(
                        f"`{verb.__name__}` could not finish because of a fault in the course itself ({type(error).__name__}: {error}). "
                        "Your answers are safe; go on with the next cell.",
                        f"`{verb.__name__}` 没能完成，这是课程自身的问题（{type(error).__name__}：{error}）。"
                        f"你的答案都还在，请继续下一个单元格。",
                    )
                )
        return None

    return spoken  # type: ignore[return-value]
