"""A checkpoint of an instructor's own, in the course directory: a first version that works, to be changed."""

from __future__ import annotations

import re
from pathlib import Path

from grader.authoring.lint import lint
from grader.project import Project, ProjectError

NAME = re.compile(r"\d\d_[a-z0-9_]+")
SOURCE = {
    "en": "# Checkpoint {number}: {title[0]}\n#\n# {{{{worth}}}} **Save the notebook** before you hand it in.",
    "zh": "# 测验 {number}：{title[1]}\n#\n# {{{{worth}}}}交卷前请**保存 notebook**。",
}
TWO = {
    "en": "## Write, and say why\n#\n# One function, then a few sentences.",
    "zh": "## 写一写，说明理由\n#\n# 先写一个函数，再写几句话。",
}
TITLE = ("say what is asked here", "在这里写它问什么")
STEMS = {
    "first": ("The first question of your own?", "你自己的第一道题？"),
    "second": ("The second question of your own?", "你自己的第二道题？"),
}
YES, NO, WHY = ("This is right.", "这个对。"), ("This is not.", "这个不对。"), ("Say here why.", "在这里说明原因。")
BELIEF = "replace-me"
TASK = {"en": "en: Give back the sum of the values, 0 for none.", "zh": "zh: 返回这些值的和；没有值时返回 0。"}
ESSAY = {
    "en": "en: **In your own words.** Would you switch `benchmark` on for your own work? Give a reason and what you would measure.\n"
    "# en:\n# en: Criteria: a reason of your own (1), a measurement that could prove it wrong (2), clear words (1).",
    "zh": "zh: **用你自己的话。** 在你自己的工作里，会打开 `benchmark` 吗？说明理由，以及你会测量什么。\n"
    "# zh:\n# zh: 评分标准：自己的理由（1 分），能证伪它的测量（2 分），表述清楚（1 分）。",
}
TASKS = '''"""The hidden tasks of checkpoint {number}: inputs are drawn at grading time and compared with the reference."""

from course.i18n import both
from grader.task import Case, Part, Task


def cases(rng):
    drawn = [Case("typical", ([rng.randint(-9, 9) for _ in range(rng.randint(2, 6))],)) for _ in range(6)]
    return [*drawn, Case("edge", ([],)), Case("edge", ([rng.randint(1, 9)],))]


def reference(values):
    return sum(values)


TASKS = [
    Task(id="{number}-t-sum", name="total_of", cases=cases, reference=reference,
         parts={{"typical": Part(3, both("The sum of several values is wrong.", "多个值的和不对。")),
                "edge": Part(1, both("No value, or a single one, is wrong.", "没有值或只有一个值时不对。"))}}),
]
'''
QUESTION = """- id: {number}-c-{which}
  lesson: {name}
  concept: {which}
  kind: single
  points: 2
  difficulty: easy
  asks: what
  source: your own
  stem: {stem}
  options:
    - {{id: a, text: {yes}}}
    - {{id: b, text: {no}}}
"""
KEY = """{number}-c-{which}:
  correct: [a]
  why: {{a: {why}, b: {why}}}
  misconception: {{b: {belief}}}
  source: your own
"""


def new_checkpoint(project: Project, name: str, languages: tuple[str, ...]) -> tuple[Path, list[str]]:
    """Make ``checkpoints/lNAME`` unless it is there; (the folder, what the linter says of it). Raises ProjectError."""
    if not NAME.fullmatch(name):
        raise ProjectError(
            f"{name!r}: two digits, an underscore, small letters, such as 50_our_cluster; the digits begin the ids of its questions"
        )
    if project.own_room(name) is None:
        taken = [one for one in {*project.checkpoints(), *project.lessons()} if one[:2] == name[:2]]
        if taken:
            raise ProjectError(f"{name!r}: {taken[0]} has these digits already; take others, such as 50 to 99")
        _write(project.own / f"l{name}", name, languages)
    return project.own / f"l{name}", lint(project, name)


def left_over(project: Project, name: str) -> list[str]:
    """A sentence for each file of an own checkpoint in which words of the first version still stand, for students to read."""
    room, said = project.own_room(name), []
    words = [*TITLE, *YES, *NO, *WHY, *(word for stem in STEMS.values() for word in stem), BELIEF]
    for path in (room / "checkpoint.py", room / "checkpoint.yaml", room / "keys.yaml") if room else ():
        rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        found = [number for number, row in enumerate(rows, 1) if any(word in row for word in words)]
        if found:
            said.append(
                f"STILL THE TEMPLATE'S WORDS: {path}, line {', '.join(map(str, found))}; students would read them"
            )
    return said


def _write(room: Path, name: str, languages: tuple[str, ...]) -> None:
    number, both = name[:2], len(languages) > 1

    def prose(texts: dict[str, str]) -> str:
        return "".join(f"# %% [markdown] {one}\n# {texts[one]}\n" for one in languages).format(
            number=number, title=TITLE
        )

    def text(en: str, zh: str) -> str:
        return f'{{en: "{en}", zh: "{zh}"}}' if both else f'"{en if languages[0] == "en" else zh}"'

    questions = [f"# %% question {number}-c-{which}\n" for which in ("first", "second")]
    source = (
        prose(SOURCE)
        + "# %% bootstrap\n"
        + "".join(questions)
        + prose(TWO)
        + f"# %% task {number}-t-sum\n"
        + "".join(f"# {TASK[one]}\n" for one in languages)
        + "def total_of(values):\n    ### BEGIN SOLUTION\n    return sum(values)\n    ### END SOLUTION\n"
        + f"# %% essay {number}-e-why points=4\n"
        + "".join(f"# {ESSAY[one]}\n" for one in languages)
    )
    items = "".join(
        QUESTION.format(number=number, name=name, which=one, stem=text(*stem), yes=text(*YES), no=text(*NO))
        for one, stem in STEMS.items()
    )
    keys = "".join(KEY.format(number=number, which=one, why=text(*WHY), belief=BELIEF) for one in STEMS)
    room.mkdir(parents=True, mode=0o700)
    tasks = TASKS.format(number=number)
    for file, content in (
        ("checkpoint.py", source),
        ("checkpoint.yaml", items),
        ("keys.yaml", keys),
        ("tasks.py", tasks),
    ):
        (room / file).write_text(content, encoding="utf-8")
