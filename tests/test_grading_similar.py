"""Signals that two submissions share something: planted copies come first, being right is no signal."""

from __future__ import annotations

import random

import pytest

from grader.commands import main
from grader.similarity.evidence import Work, bits, least_bits, looks, words
from grader.similarity.shingles import LENGTH, WINDOW, shingles, tokens, winnowed
from grader.similarity.show import READ_FIRST, page, text
from tests.graded_class import make_class
from tests.grading_fixtures import LESSON

STARTER = "def plan(steps, gain):\n    # YOUR CODE HERE\n    raise NotImplementedError\n"
TINY = "def contrast(low, high):\n    return (high - low) / (high + low)\n"
PIECES = (  # each student writes each step in a way of their own
    ("seen = {}\n", "known = set()\n", "counts = dict()\n", "order = []\n", "table = collections.Counter()\n"),
    (
        "for step in steps:\n    key = tuple(step)\n",
        "for place in range(len(steps)):\n    key = str(steps[place])\n",
        "for index, one in enumerate(steps):\n    key = tuple(one[:2])\n",
        "while steps:\n    key = repr(steps.pop(0))\n",
    ),
    (
        "    if key not in seen:\n        seen[key] = 0\n    seen[key] += 1\n",
        "    known.add(key) if key else None\n    total += 1\n",
        "    counts[key] = counts.get(key, 0) + 1\n",
        "    try:\n        order.index(key)\n    except ValueError:\n        order.append(key)\n",
    ),
    (
        "cost = gain * len(seen)\nreturn cost < 3 * sum(seen.values())\n",
        "return not (len(known) * gain >= total * 3)\n",
        "left = max(counts.values(), default=0)\nreturn left * 3 > gain\n",
        "better = 0\nfor one in order:\n    better -= gain\nreturn better + 3 * len(steps) > 0\n",
        "return bool(min(gain, 1e3) / (1 + len(order)) < 3.5)\n",
    ),
)


def detail(rng):
    """A line of the kind that nobody else writes quite like that."""
    left, right = (
        rng.choice(("gain", "len(steps)", "abs(gain)", "steps[0]", "max(gain, 1)", "2.5", "total", "sum(steps)"))
        for _ in range(2)
    )
    op, test = rng.choice("+-*/%"), rng.choice(("<", ">=", "==", "is not"))
    return rng.choice(
        (
            f"extra = {left} {op} {right}\n",
            f"if {left} {test} {right}:\n    gain {op}= {rng.randrange(2, 9)}\n",
            f"extra = [{left} for one in steps if one {test} {right}]\n",
            f"assert {left} {test} {right}, 'no'\n",
        )
    )


def own_code(rng):
    """Usual steps that many write alike, with details between them."""
    body = detail(rng) + "".join(
        rng.choice(piece) + (detail(rng) if place != 1 else "") for place, piece in enumerate(PIECES[:-1])
    )
    body += detail(rng) + rng.choice(PIECES[-1])
    return "def plan(steps, gain):\n" + "".join(f"    {line}\n" for line in body.splitlines())


def renamed(source):
    """The same code with other names, comments and layout."""
    for old, new in (
        ("steps", "shapes"),
        ("key", "what"),
        ("seen", "cache"),
        ("known", "visited"),
        ("counts", "tally"),
        ("order", "listing"),
        ("gain", "win"),
        ("total", "amount"),
        ("one", "item"),
        ("better", "score"),
    ):
        source = source.replace(old, new)
    return "# my own solution\n" + source.replace("\n", "   # a remark\n").replace(" = ", "  =  ")


def the_class(seed, size=24):
    rng = random.Random(seed)
    people = {}
    for k in range(size):
        wrong = {f"q{q}": rng.choice("abcd") for q in range(6) if rng.random() < 0.4}
        if rng.random() < 0.5:
            wrong["number"] = "400"  # the usual trap
        times = frozenset((f"q{q}", f"2026-03-01T10:00:00.{rng.randrange(10**6):06}Z") for q in range(6))
        people[f"s{k:02}"] = Work({"plan": own_code(rng), "contrast": TINY}, wrong, times)
    return people


KNOWN = {"plan": [STARTER], "contrast": ["def contrast(low, high):\n    raise NotImplementedError\n"]}


@pytest.mark.parametrize("seed", range(5))
def test_planted_copies_come_first_and_others_stay_below(seed):
    people = the_class(seed)
    honest = looks(people, KNOWN)
    people["code-copy"] = Work({"plan": renamed(people["s03"].code["plan"]), "contrast": TINY})
    people["answer-copy"] = Work(
        {"plan": STARTER, "contrast": TINY}, {**people["s05"].wrong, "number": "17.25", "q8": "b d"}
    )
    people["s05"] = Work(
        people["s05"].code, {**people["s05"].wrong, "number": "17.25", "q8": "b d"}, people["s05"].times
    )
    people["file-copy"] = Work({"plan": STARTER, "contrast": TINY}, {}, people["s07"].times)
    found = looks(people, KNOWN)
    planted = {("code-copy", "s03"), ("answer-copy", "s05"), ("file-copy", "s07")}
    assert {look.pair for look in found[:3]} == planted
    least = min(look.bits for look in found[:3])
    assert all(look.bits < least for look in honest) and len(honest) <= 1, [(look.pair, look.bits) for look in honest]


def test_the_same_right_solution_of_a_tiny_task_is_no_signal():
    right = {f"s{k}": Work({"contrast": TINY.replace("low", "ab"[k % 2])}) for k in range(12)}
    assert looks(right, KNOWN) == []
    few = {f"s{k}": Work({"contrast": TINY if k < 2 else "def contrast(a, b):\n    return 0\n"}) for k in range(30)}
    assert looks(few, KNOWN) == []  # also where only two of thirty found it


def test_our_own_solution_and_the_starter_never_count():
    solution = own_code(random.Random(1))
    people = {name: Work({"plan": renamed(solution)}) for name in ("ada", "bob")} | {
        f"s{k}": Work({"plan": STARTER}) for k in range(20)
    }
    assert looks(people, {"plan": [STARTER, solution]}) == []
    assert [look.pair for look in looks(people, {"plan": [STARTER]})] == [("ada", "bob")]


def test_rare_things_weigh_more_than_usual_ones():
    assert bits(2, 16) == 4.0 and bits(17, 16) == 0.0 and bits(1, 16) == 0.0 and bits(3, 16) == 3.0
    people = {f"s{k}": Work(wrong={"q": "a", "r": "usual"}) for k in range(16)}
    assert looks(people, {}) == []
    people["ada"] = people["bob"] = Work(wrong={f"q{k}": "c" for k in range(3)})
    (look,) = looks(people, {})
    assert look.pair == ("ada", "bob") and [row[:3] for row in look.wrong] == [(f"q{k}", "c", 2) for k in range(3)]
    assert look.bits == pytest.approx(12.6, abs=0.1) and least_bits(16) < 11 < least_bits(1000)


def test_tokens_forget_names_comments_and_layout_and_survive_broken_code():
    first = "total = len(values)  # count\nprint(total.real, 'x')\n"
    second = 'n=len( others )\n\n# something\nprint(n.real, "another")\n'
    assert [t for t, _ in tokens(first)] == [t for t, _ in tokens(second)]
    assert [t for t, _ in tokens(first)] != [t for t, _ in tokens(first.replace("len", "sum"))]
    assert tokens("def f(:\n  'never closed\n") != [] and tokens("") == [] and winnowed("x") == {}
    assert [line for _, line in tokens("a\n\nb")] == [1, 3]


def test_any_long_enough_run_is_found():
    shared = "for i in range(7):\n    x = i * 3 + y[i] - 1\n"
    assert len(tokens(shared)) >= LENGTH + WINDOW - 1
    left, right = f"a = [1, 2]\n{shared}b = (3,)\n", f"while True:\n    pass\nc = {{}}\n{shared}"
    assert set(winnowed(left)) & set(winnowed(right))
    assert set(winnowed(left)) <= {value for value, _, _ in shingles(left)}


def test_the_page_shows_both_sides_and_escapes_what_students_wrote():
    people = the_class(1)
    people["<b>eve"] = Work({"plan": renamed(people["s03"].code["plan"]) + "print('<script>')\n"})
    found = looks(people, KNOWN)
    shown = page("05_x", found, people, 20)
    assert "<script>" not in shown and "&lt;b&gt;eve" in shown and "class=same" in shown and READ_FIRST in shown
    assert text(found, 1).startswith(READ_FIRST) and "1. <b>eve and s03" in text(found, 1)
    assert "cheat" not in shown.lower() and "copied" not in shown.lower() and "plagiar" not in shown.lower()
    assert words({"options": ["a", "c"], "number": None}) == "a c" and words({"options": [], "number": 2.5}) == "2.5"


@pytest.mark.slow
def test_the_command_on_a_class_that_was_really_marked(tmp_path, capsys):
    import shutil

    from grader.autograding import How, autograde

    _, course = make_class(tmp_path)
    shutil.copytree(course.root / "submitted" / "bob", course.root / "submitted" / "zoe")
    autograde(course, LESSON, how=How(), say=lambda line: None)
    to = tmp_path / "look.html"
    assert main(["similar", LESSON, "--dir", str(course.root), "--to", str(to)]) == 0
    said = capsys.readouterr().out
    assert "1. bob and zoe" in said and "the same microsecond" in said and "2. " not in said
    assert "bob and zoe" in to.read_text()
