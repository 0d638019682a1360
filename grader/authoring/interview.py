"""The questions of ``python -m grader new-item``: from the answers of an author to a draft."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from typing import Any

from course.lessons import BY_ID
from course.quiz.bank import Bank
from course.quiz.schema import KINDS
from course.suggest import did_you_mean
from grader.authoring.asking import Asker, Refused
from grader.authoring.ids import known_ids
from grader.project import Project

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
LETTERS = "abcdefgh"


def interview(project: Project, asker: Asker) -> dict[str, Any]:
    """Ask for everything a question needs and return the draft (see new_item)."""
    bank, known = Bank(project.learner_rooms), known_ids(project)
    ask = asker.ask
    lesson = ask("lesson", "Lesson, such as 05 or 05_cudnn_benchmark", _lesson)
    asker.write(f"  {lesson}")
    graded = BY_ID[lesson].checkpoint and ask(
        "where", "Practice or checkpoint? p, c", _one_of(["practice", "checkpoint"])) == "checkpoint"
    kinds = [kind for kind in KINDS if not (graded and kind == "predict")]
    kind = ask("kind", f"Kind: {', '.join(kinds)}", _one_of(kinds))
    start = f"{lesson[:2]}-c-" if graded else f"{lesson[:2]}-"
    draft: dict[str, Any] = {"id": ask("id", f"Id, without its start {start}", _new_id(start, known["item"])),
                             "lesson": lesson, "kind": kind, **({"checkpoint": True} if graded else {})}
    concepts = sorted({item.concept for item in bank.items(lesson)})
    asker.write(f"  Concepts of this lesson: {', '.join(concepts) or '-'}")
    draft["concept"] = ask("concept", "Concept, one of these or a new one", _slug)
    draft["difficulty"] = ask("difficulty", "Difficulty: easy, medium, hard", _one_of(["easy", "medium", "hard"]))
    draft["asks"] = ask("asks", "Does it ask why or what?", _one_of(["why", "what"]))
    if graded:
        draft["points"] = ask("points", "Points", _number(0.5), "2")
    needed = kind == "predict"
    settles = "Experiment that settles the bet" if needed else "Experiment that shows it (Enter for none)"
    if experiment := ask("experiment", settles, _known(known["experiment"], "experiment", needed)):
        draft["experiment"] = experiment
    draft["source"] = ask("source", "Source of the key (documentation address, PyTorch source file, experiment)", _text)
    draft["stem"] = _both(ask, "stem", "Question")
    if code := asker.block("code", "Code to show"):
        draft["code"] = code
    beliefs: dict[str, Any] = {}
    needs_belief = _belief(asker, bank.misconceptions(), beliefs)
    if kind == "number":
        draft["number"] = _ask_number(ask, needs_belief)
    else:
        draft["options"] = _ask_options(asker, kind, needs_belief)
        if kind == "order":
            _mix(draft)
    if kind != "predict" and (verify := asker.block("verify", "Python that computes the key on a CPU, leaving it in `result`")):
        draft["verify"] = verify
    if beliefs:
        draft["new_misconceptions"] = beliefs
    return draft


# --- parts ---


def _both(ask: Callable[..., Any], name: str, what: str, empty_ends: bool = False) -> dict[str, str] | None:
    """A text in both languages; None where it may be left empty and is."""
    english = ask(f"{name}.en", f"{what}, in English", str if empty_ends else _text)
    if not english:
        return None
    return {"en": english.replace("\\n", "\n"), "zh": ask(f"{name}.zh", f"{what}, in Chinese", _text).replace("\\n", "\n")}


def _ask_options(asker: Asker, kind: str, belief: Callable[..., str]) -> list[dict[str, Any]]:
    asker.write({"order": "Options: first the lines in their right order, then those that do not belong.",
                 "predict": "Options: every outcome the experiment can have."}.get(
                     kind, "Options: 3 or 4; the right one is not the longest."))
    options: list[dict[str, Any]] = []
    for letter in LETTERS:
        name = f"option {letter}"
        text = _both(asker.ask, f"{name}.text", f"Option {letter}{'' if len(options) < 2 else ' (Enter: no more)'}",
                     len(options) >= 2)
        if text is None:
            break
        option: dict[str, Any] = {"id": letter, "text": text}
        right = kind == "predict" or asker.ask(
            f"{name}.right", "  Does it belong? y, n" if kind == "order" else "  Is it right? y, n",
            _one_of(["yes", "no"])) == "yes"
        if right and kind in ("single", "multiple"):
            option["correct"] = True
        option["why"] = _both(asker.ask, f"{name}.why", "  Why it is right, or why it tempts and what shows it is not")
        if not right or kind == "predict":
            found = belief(f"{name}.misconception", kind != "predict")
            option |= {"misconception": found} if found else {}
        option["_right"] = right
        options.append(option)
        if kind == "single" and right and sum(one["_right"] for one in options) > 1:
            asker.write("  That is the second right option; a question of kind single has one. It will be asked again.")
            asker.forget(f"{name}.right")
            return _ask_options(asker, kind, belief)
    if kind in ("single", "multiple") and not any(one["_right"] for one in options):
        asker.write("  No option is right so far. Which are, is asked again.")
        asker.forget(*(f"option {one['id']}.right" for one in options))
        return _ask_options(asker, kind, belief)
    for one in options:
        if kind != "order":
            del one["_right"]
    return options


def _mix(draft: dict[str, Any]) -> None:
    """Letters in another order than the right one, the same each time for one id."""
    options = draft["options"]
    right = [one for one in options if one["_right"]]
    mixed = list(options)
    rng = random.Random(draft["id"])
    while len(right) > 1 and [one for one in mixed if one["_right"]] == right:
        rng.shuffle(mixed)
    for letter, one in zip(LETTERS, mixed, strict=False):
        one["id"] = letter
    draft["order"] = [one["id"] for one in right]
    draft["options"] = [{k: v for k, v in one.items() if k != "_right"} for one in mixed]


def _ask_number(ask: Callable[..., Any], belief: Callable[..., str]) -> dict[str, Any]:
    number: dict[str, Any] = {"value": ask("number.value", "The right number", _number())}
    low, high, factor = ask("number.range", "Accepted: Enter for exactly that, a factor such as x1.1, or a range 3..4",
                            _range)
    if factor:
        number["factor"] = factor
    elif low is not None:
        number |= {"low": low, "high": high}
    number["unit"] = _both(ask, "number.unit", "Unit")
    number["why"] = _both(ask, "number.why", "Why it is that number")
    traps = []
    for place in range(1, 6):
        low, high, _ = ask(f"trap {place}.range", "A tempting wrong number, or a range 3..4 (Enter: no more)", _trap)
        if low is None:
            break
        traps.append({"low": low, "high": high, "why": _both(ask, f"trap {place}.why", "  Why it tempts"),
                      "misconception": belief(f"trap {place}.misconception", True)})
    return number | ({"traps": traps} if traps else {})


def _belief(asker: Asker, known: dict[str, Any], new: dict[str, Any]) -> Callable[[str, bool], str]:
    """Asks for a misconception; one that is not in the list yet is asked for in words."""

    def ask(name: str, needed: bool) -> str:
        def check(typed: str) -> str:
            if not typed and not needed:
                return ""
            slug = _slug(typed)
            if slug not in known and slug not in new and did_you_mean(slug, known, cutoff=0.75):
                raise Refused(f"{slug} is not in the list.{did_you_mean(slug, known, 3, 0.6)} "
                              "For a new one choose an id that is not so near to another.")
            return slug

        found = asker.ask(name, f"  Misconception behind it{'' if needed else ' (Enter for none)'}", check)
        if found and found not in known and found not in new:
            asker.write(f"  {found} is new. Say the belief as somebody holding it would.")
            new[found] = _both(asker.ask, f"belief {found}", "  The belief")
        return found

    return ask


# --- checks of one answer ---


def _text(typed: str) -> str:
    if not typed:
        raise Refused("Write something here.")
    return typed


def _lesson(typed: str) -> str:
    near = [one for one in BY_ID if one == typed or (typed and one.startswith(typed))]
    if len(near) != 1:
        raise Refused(f"There is no lesson {typed!r}.{did_you_mean(typed, BY_ID, cutoff=0.3)} They are: {', '.join(BY_ID)}.")
    return near[0]


def _one_of(words: Iterable[str]) -> Callable[[str], str]:
    words = list(words)

    def check(typed: str) -> str:
        near = [one for one in words if typed and one.startswith(typed.lower())]
        near = [typed.lower()] if typed.lower() in words else near
        if len(near) != 1:
            raise Refused(f"Choose one of {', '.join(words)}.")
        return near[0]

    return check


def _slug(typed: str) -> str:
    if not SLUG.fullmatch(typed):
        raise Refused("Use small letters, digits and hyphens, such as cache-key.")
    return typed


def _new_id(start: str, taken: set[str]) -> Callable[[str], str]:
    def check(typed: str) -> str:
        found = start + _slug(typed.removeprefix(start))
        if found in taken:
            raise Refused(f"{found} is taken; choose another.")
        if start.count("-") == 1 and found.startswith(f"{start}c-"):
            raise Refused(f"{start}c-... is for checkpoint questions; choose another.")
        return found

    return check


def _known(names: set[str], what: str, needed: bool) -> Callable[[str], str]:
    def check(typed: str) -> str:
        if (typed or needed) and typed not in names:
            raise Refused(f"There is no {what} {typed!r}.{did_you_mean(typed, names, 3, 0.4)}")
        return typed

    return check


def _number(least: float | None = None) -> Callable[[str], int | float]:
    def check(typed: str) -> int | float:
        try:
            value = float(typed.replace(",", "").replace("_", ""))
        except ValueError:
            raise Refused("Write a number, such as 3, 0.25 or 9.4e6.") from None
        if value - value != 0 or (least is not None and value < least):
            raise Refused(f"Write a number{'' if least is None else f' of at least {least:g}'}, such as 3 or 9.4e6.")
        return int(value) if value == int(value) and abs(value) < 1e15 else value

    return check


def _range(typed: str) -> tuple[float | None, float | None, float | None]:
    """(low, high, factor) of what was typed."""
    if not typed:
        return None, None, None
    if typed[0] in "xX×":
        return None, None, _number(1)(typed[1:])
    low, dots, high = typed.partition("..")
    if not dots:
        raise Refused("Write a factor such as x1.1, a range such as 3..4, or nothing.")
    low, high = _number()(low), _number()(high)
    if low > high:
        raise Refused(f"The range ends before it starts: {low:g}..{high:g}.")
    return low, high, None


def _trap(typed: str) -> tuple[float | None, float | None, float | None]:
    return _range(f"{typed}..{typed}" if typed and ".." not in typed else typed)
